// SPDX-License-Identifier: MIT
/*
 * kernels.c - dispatches: bursts, chains, times, failures, queues of several threads
 */
#include "ocl.h"
#include <pthread.h>
#include <stdatomic.h>
#include "kselftest_harness.h"
#include "sanitizer.h"

static const char source[] =
	"kernel void add(global uint *out, uint value) { out[get_global_id(0)] += value; }\n"
	"kernel void sizes(global uint *out) {\n"
	"	size_t i = get_group_id(0) * get_local_size(0) + get_local_id(0);\n"
	"	if (i == get_global_id(0)) out[i] = get_local_size(0);\n"
	"}\n"
	"kernel void place(local ulong16 *a, local char *b, local double16 *c, global ulong *out) {\n"
	"	out[0] = (ulong)a;\n"
	"	out[1] = (ulong)b;\n"
	"	out[2] = (ulong)c;\n"
	"}\n"
	"kernel void gate(global volatile uint *go) { while (!*go); }\n"
	"kernel void stray(global uint *out, ulong far) { out[far + get_global_id(0)] = 1; }\n"
	"kernel void hang(global volatile uint *out, uint n) { while (n) out[0]++; }\n";

FIXTURE(kernels) {
	cl_context context;
	cl_device_id device;
	cl_command_queue queue;
	cl_program program;
	cl_mem buffer;
	char notified[512];
	atomic_bool told;
};

FIXTURE_VARIANT(kernels) {
	cl_command_queue_properties properties;
};

FIXTURE_VARIANT_ADD(kernels, in_order) { .properties = 0 };
FIXTURE_VARIANT_ADD(kernels, profiled) { .properties = CL_QUEUE_PROFILING_ENABLE };

static void CL_CALLBACK note(const char *message, const void *data, size_t size, void *user)
{
	FIXTURE_DATA(kernels) *self = user;

	/* The first one: a batch that is cancelled because of it is another. */
	if (atomic_load(&self->told))
		return;
	snprintf(self->notified, sizeof(self->notified), "%s", message);
	atomic_store(&self->told, true);
}

FIXTURE_SETUP(kernels)
{
	const cl_queue_properties properties[] = { CL_QUEUE_PROPERTIES, variant->properties, 0 };
	cl_int err;

	self->device = ocl_device();
	ASSERT_NE(NULL, self->device);
	self->context = clCreateContext(NULL, 1, &self->device, note, self, &err);
	ASSERT_EQ(0, err);
	self->queue = clCreateCommandQueueWithProperties(self->context, self->device, properties,
							 &err);
	ASSERT_EQ(0, err);
	self->program = ocl_build(self->context, source, NULL);
	ASSERT_NE(NULL, self->program);
	self->buffer = clCreateBuffer(self->context, 0, 65536, NULL, &err);
	ASSERT_EQ(0, err);
}

FIXTURE_TEARDOWN(kernels)
{
	EXPECT_EQ(0, clReleaseMemObject(self->buffer));
	EXPECT_EQ(0, clReleaseProgram(self->program));
	EXPECT_EQ(0, clReleaseCommandQueue(self->queue));
	EXPECT_EQ(0, clReleaseContext(self->context));
}

static cl_int add(cl_kernel kernel, cl_command_queue queue, cl_mem buffer, cl_uint value,
		  size_t items, cl_event *event)
{
	clSetKernelArg(kernel, 0, sizeof(buffer), &buffer);
	clSetKernelArg(kernel, 1, sizeof(value), &value);
	return clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, event);
}

static cl_uint first_word(cl_command_queue queue, cl_mem buffer)
{
	cl_uint value = ~0u;

	clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof(value), &value, 0, NULL, NULL);
	return value;
}

TEST_F(kernels, a_long_burst_keeps_its_order)
{
	cl_kernel kernel = clCreateKernel(self->program, "add", NULL);
	unsigned int i;

	ASSERT_NE(NULL, kernel);
	for (i = 0; i < 5000; i++)
		ASSERT_EQ(0, add(kernel, self->queue, self->buffer, 1, 1, NULL));
	EXPECT_EQ(5000, first_word(self->queue, self->buffer));
	EXPECT_EQ(0, clReleaseKernel(kernel));
}

TEST_F(kernels, objects_may_be_released_while_they_are_used)
{
	cl_kernel kernel = clCreateKernel(self->program, "add", NULL);
	cl_event event;
	cl_mem buffer;
	cl_int err;

	ASSERT_NE(NULL, kernel);
	buffer = clCreateBuffer(self->context, 0, 1 << 20, NULL, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, add(kernel, self->queue, buffer, 1, 1 << 18, &event));
	EXPECT_EQ(0, clReleaseMemObject(buffer));
	EXPECT_EQ(0, clReleaseKernel(kernel));
	EXPECT_EQ(0, clWaitForEvents(1, &event));
	EXPECT_EQ(0, clReleaseEvent(event));
}

TEST_F(kernels, groups_that_the_library_chooses_divide_the_grid)
{
	static const size_t grids[] = { 1, 7, 64, 1000, 1024, 1021, 16384 };
	cl_kernel kernel = clCreateKernel(self->program, "sizes", NULL);
	static cl_uint out[16384];
	size_t i, j;

	ASSERT_NE(NULL, kernel);
	ASSERT_EQ(0, clSetKernelArg(kernel, 0, sizeof(self->buffer), &self->buffer));
	for (i = 0; i < sizeof(grids) / sizeof(grids[0]); i++) {
		ASSERT_EQ(0, clEnqueueNDRangeKernel(self->queue, kernel, 1, NULL, &grids[i], NULL,
						    0, NULL, NULL));
		ASSERT_EQ(0, clEnqueueReadBuffer(self->queue, self->buffer, CL_TRUE, 0,
						 grids[i] * sizeof(*out), out, 0, NULL, NULL));
		for (j = 0; j < grids[i]; j++)
			ASSERT_EQ(out[0], out[j]);
		EXPECT_EQ(0, grids[i] % out[0]);
	}
	EXPECT_EQ(0, clReleaseKernel(kernel));
}

TEST_F(kernels, an_empty_range_is_a_marker)
{
	cl_kernel kernel = clCreateKernel(self->program, "add", NULL);
	cl_event event;

	ASSERT_NE(NULL, kernel);
	ASSERT_EQ(0, add(kernel, self->queue, self->buffer, 1, 0, &event));
	EXPECT_EQ(0, clWaitForEvents(1, &event));
	EXPECT_EQ(0, first_word(self->queue, self->buffer));
	EXPECT_EQ(0, clReleaseEvent(event));
	EXPECT_EQ(0, clReleaseKernel(kernel));
}

TEST_F(kernels, times_are_in_order)
{
	static const cl_profiling_info names[] = {
		CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
		CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END,
	};
	cl_kernel kernel = clCreateKernel(self->program, "add", NULL);
	cl_ulong times[4] = { 0 };
	cl_event event;
	unsigned int i;
	cl_int err;

	ASSERT_NE(NULL, kernel);
	ASSERT_EQ(0, add(kernel, self->queue, self->buffer, 1, 16384, &event));
	ASSERT_EQ(0, clWaitForEvents(1, &event));
	for (i = 0; i < 4; i++) {
		err = clGetEventProfilingInfo(event, names[i], sizeof(times[i]), &times[i], NULL);
		EXPECT_EQ(variant->properties ? 0 : CL_PROFILING_INFO_NOT_AVAILABLE, err);
		if (i)
			EXPECT_LE(times[i - 1], times[i]);
	}
	if (variant->properties)
		EXPECT_LT(times[2], times[3]);
	EXPECT_EQ(0, clReleaseEvent(event));
	EXPECT_EQ(0, clReleaseKernel(kernel));
}

TEST_F(kernels, a_failed_command_fails_its_event_tells_the_context_and_leaves_the_queue_usable)
{
	cl_kernel stray = clCreateKernel(self->program, "stray", NULL);
	cl_kernel kernel = clCreateKernel(self->program, "add", NULL);
	const cl_ulong far = 1ull << 45;
	const size_t items = 8;
	cl_event failed, later;
	cl_int status = 0;
	unsigned int i;

	ASSERT_NE(NULL, stray);
	ASSERT_NE(NULL, kernel);
	ASSERT_EQ(0, clSetKernelArg(stray, 0, sizeof(self->buffer), &self->buffer));
	ASSERT_EQ(0, clSetKernelArg(stray, 1, sizeof(far), &far));
	ASSERT_EQ(0, clEnqueueNDRangeKernel(self->queue, stray, 1, NULL, &items, NULL, 0, NULL,
					    &failed));
	EXPECT_EQ(0, clFlush(self->queue));
	ASSERT_EQ(0, add(kernel, self->queue, self->buffer, 5, 1, &later));
	EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, &failed));
	EXPECT_EQ(0, clGetEventInfo(failed, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status),
				    &status, NULL));
	EXPECT_GT(0, status);
	if (!clWaitForEvents(1, &later)) {
		EXPECT_EQ(5, first_word(self->queue, self->buffer));
	} else {
		/* The kernel's driver cancels what follows in the queue, if it was submitted. */
		EXPECT_NE(NULL, getenv("SALVO_DEVICE"));
		EXPECT_GE(5, first_word(self->queue, self->buffer));
	}
	for (i = 0; i < 10000 && !atomic_load(&self->told); i++)
		usleep(1000);
	ASSERT_TRUE(atomic_load(&self->told));
	EXPECT_NE(NULL, strstr(self->notified, "stray")) {
		TH_LOG("notified: %s", self->notified);
	}
	EXPECT_EQ(CL_OUT_OF_RESOURCES, clFinish(self->queue));
	EXPECT_EQ(0, clFinish(self->queue));
	EXPECT_EQ(0, clReleaseEvent(failed));
	EXPECT_EQ(0, clReleaseEvent(later));
	EXPECT_EQ(0, clReleaseKernel(stray));
	EXPECT_EQ(0, clReleaseKernel(kernel));
}

static cl_int read_word(cl_command_queue queue, cl_mem buffer, cl_uint *value)
{
	return clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof(*value), value, 0, NULL, NULL);
}

/* One batch: of each buffer a chain, one of which fails in its second command. */
TEST_F(kernels, a_failed_command_takes_along_what_waits_for_it_and_nothing_else)
{
	enum { CHAINS = 8, LENGTH = 4, BAD = 3 };
	cl_kernel stray = clCreateKernel(self->program, "stray", NULL);
	cl_kernel kernel = clCreateKernel(self->program, "add", NULL);
	cl_event events[LENGTH][CHAINS];
	const cl_ulong far = 1ull << 45;
	const size_t one = 1;
	cl_mem buffers[CHAINS];
	unsigned int c, i;
	cl_uint value;
	cl_int err;

	ASSERT_NE(NULL, stray);
	ASSERT_NE(NULL, kernel);
	for (c = 0; c < CHAINS; c++) {
		value = 0;
		buffers[c] = clCreateBuffer(self->context, CL_MEM_COPY_HOST_PTR, sizeof(value),
					    &value, &err);
		ASSERT_EQ(0, err);
	}
	ASSERT_EQ(0, clSetKernelArg(stray, 0, sizeof(cl_mem), &buffers[BAD]));
	ASSERT_EQ(0, clSetKernelArg(stray, 1, sizeof(far), &far));
	for (i = 0; i < LENGTH; i++)
		for (c = 0; c < CHAINS; c++)
			ASSERT_EQ(0, c == BAD && i == 1 ?
				  clEnqueueNDRangeKernel(self->queue, stray, 1, NULL, &one, NULL, 0,
							 NULL, &events[i][c]) :
				  add(kernel, self->queue, buffers[c], 1, 1, &events[i][c]));
	EXPECT_EQ(CL_OUT_OF_RESOURCES, clFinish(self->queue));
	for (i = 0; i < LENGTH; i++)
		for (c = 0; c < CHAINS; c++)
			EXPECT_EQ(c != BAD || i == 0 ? CL_COMPLETE : i == 1 ? CL_OUT_OF_RESOURCES :
				  CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
				  ocl_end_status(events[i][c])) {
				TH_LOG("command %u of chain %u", i, c);
			}
	/* What would have been written last is not there, until something is. */
	for (c = 0; c < CHAINS; c++) {
		EXPECT_EQ(c == BAD ? CL_OUT_OF_RESOURCES : CL_SUCCESS,
			  read_word(self->queue, buffers[c], &value));
		EXPECT_EQ(c == BAD ? 1 : LENGTH, value);
	}
	EXPECT_EQ(NULL, clEnqueueMapBuffer(self->queue, buffers[BAD], CL_TRUE, CL_MAP_READ, 0, 4, 0,
					   NULL, NULL, &err));
	EXPECT_EQ(CL_OUT_OF_RESOURCES, err);
	ASSERT_EQ(0, add(kernel, self->queue, buffers[BAD], 1, 1, NULL));
	EXPECT_EQ(0, read_word(self->queue, buffers[BAD], &value));
	EXPECT_EQ(2, value);
	for (c = 0; c < CHAINS; c++)
		EXPECT_EQ(0, clReleaseMemObject(buffers[c]));
	EXPECT_EQ(0, clReleaseKernel(stray));
	EXPECT_EQ(0, clReleaseKernel(kernel));
}

static cl_mem part_of(cl_mem buffer, size_t origin)
{
	const cl_buffer_region region = { origin, 4096 };

	return clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, NULL);
}

/* Enqueues a kernel that faults and should have written to the buffer, and waits for it. */
static cl_int fail_to_write(cl_kernel stray, cl_command_queue queue, cl_mem buffer)
{
	const cl_ulong far = 1ull << 45;
	const size_t one = 1;
	cl_int err;

	clSetKernelArg(stray, 0, sizeof(buffer), &buffer);
	clSetKernelArg(stray, 1, sizeof(far), &far);
	err = clEnqueueNDRangeKernel(queue, stray, 1, NULL, &one, NULL, 0, NULL, NULL);
	return err ? err : clFinish(queue);
}

TEST_F(kernels, a_part_that_was_written_since_a_failure_can_be_read)
{
	cl_kernel stray = clCreateKernel(self->program, "stray", NULL);
	cl_kernel kernel = clCreateKernel(self->program, "add", NULL);
	cl_mem first = part_of(self->buffer, 0), second = part_of(self->buffer, 4096);
	cl_event event = NULL;
	cl_uint value;

	ASSERT_NE(NULL, first);
	ASSERT_NE(NULL, second);
	EXPECT_EQ(CL_OUT_OF_RESOURCES, fail_to_write(stray, self->queue, first));
	/* Nobody releases the event of a function that has failed. */
	EXPECT_EQ(CL_OUT_OF_RESOURCES, clEnqueueReadBuffer(self->queue, first, CL_TRUE, 0, 4,
							   &value, 0, NULL, &event));
	EXPECT_EQ(NULL, event);
	EXPECT_EQ(0, read_word(self->queue, second, &value));
	ASSERT_EQ(0, add(kernel, self->queue, first, 1, 1, NULL));
	EXPECT_EQ(0, read_word(self->queue, first, &value));
	/* Another failure is none of what has been written since the first one. */
	EXPECT_EQ(CL_OUT_OF_RESOURCES, fail_to_write(stray, self->queue, second));
	EXPECT_EQ(0, read_word(self->queue, first, &value));
	EXPECT_EQ(CL_OUT_OF_RESOURCES, read_word(self->queue, second, &value));
	EXPECT_EQ(CL_OUT_OF_RESOURCES, read_word(self->queue, self->buffer, &value));
	EXPECT_EQ(0, clReleaseMemObject(first));
	EXPECT_EQ(0, clReleaseMemObject(second));
	EXPECT_EQ(0, clReleaseKernel(stray));
	EXPECT_EQ(0, clReleaseKernel(kernel));
}

/* A command that is not run, as what it waits for has failed, writes nothing. */
TEST_F(kernels, a_command_that_is_not_run_repairs_nothing)
{
	cl_kernel stray = clCreateKernel(self->program, "stray", NULL);
	cl_kernel kernel = clCreateKernel(self->program, "add", NULL);
	const size_t one = 1;
	cl_event user, later;
	cl_uint value = 1;
	cl_int err;

	EXPECT_EQ(CL_OUT_OF_RESOURCES, fail_to_write(stray, self->queue, self->buffer));
	user = clCreateUserEvent(self->context, &err);
	ASSERT_EQ(0, err);
	clSetKernelArg(kernel, 0, sizeof(self->buffer), &self->buffer);
	clSetKernelArg(kernel, 1, sizeof(value), &value);
	ASSERT_EQ(0, clEnqueueNDRangeKernel(self->queue, kernel, 1, NULL, &one, NULL, 1, &user,
					    &later));
	ASSERT_EQ(0, clSetUserEventStatus(user, -1));
	EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, ocl_end_status(later));
	EXPECT_EQ(CL_OUT_OF_RESOURCES, read_word(self->queue, self->buffer, &value));
	ASSERT_EQ(0, add(kernel, self->queue, self->buffer, 1, 1, NULL));
	EXPECT_EQ(0, read_word(self->queue, self->buffer, &value));
	EXPECT_EQ(0, clReleaseEvent(user));
	EXPECT_EQ(0, clReleaseKernel(stray));
	EXPECT_EQ(0, clReleaseKernel(kernel));
}

/* Two failures in one batch: the times of a queue that profiles say what was done. */
TEST_F(kernels, a_profile_tells_what_was_done_beside_two_failures)
{
	const cl_int good = variant->properties ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
	cl_kernel stray = clCreateKernel(self->program, "stray", NULL);
	cl_kernel kernel = clCreateKernel(self->program, "add", NULL);
	const cl_ulong far = 1ull << 45;
	const size_t one = 1;
	cl_event events[3];
	cl_mem buffers[3];
	cl_uint value = 0;
	unsigned int i;
	cl_int err;

	for (i = 0; i < 3; i++) {
		buffers[i] = clCreateBuffer(self->context, CL_MEM_COPY_HOST_PTR, sizeof(value),
					    &value, &err);
		ASSERT_EQ(0, err);
	}
	clSetKernelArg(stray, 1, sizeof(far), &far);
	for (i = 0; i < 2; i++) {
		clSetKernelArg(stray, 0, sizeof(cl_mem), &buffers[i]);
		ASSERT_EQ(0, clEnqueueNDRangeKernel(self->queue, stray, 1, NULL, &one, NULL, 0,
						    NULL, &events[i]));
	}
	ASSERT_EQ(0, add(kernel, self->queue, buffers[2], 1, 1, &events[2]));
	EXPECT_EQ(CL_OUT_OF_RESOURCES, clFinish(self->queue));
	for (i = 0; i < 2; i++) {
		EXPECT_GT(0, ocl_end_status(events[i]));
		EXPECT_EQ(CL_OUT_OF_RESOURCES, read_word(self->queue, buffers[i], &value));
	}
	EXPECT_EQ(variant->properties != 0, ocl_end_status(events[2]) == CL_COMPLETE);
	EXPECT_EQ(good, read_word(self->queue, buffers[2], &value));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, clReleaseMemObject(buffers[i]));
	EXPECT_EQ(0, clReleaseKernel(stray));
	EXPECT_EQ(0, clReleaseKernel(kernel));
}

/*
 * The second batch waits for the gate, when a failure of the first one cancels it. It is run again
 * before the third one. They have a ring of their own, so that the first one ends before the gate
 * opens.
 */
TEST_F(kernels, a_cancelled_batch_is_run_again_before_later_ones)
{
	cl_kernel stray = clCreateKernel(self->program, "stray", NULL);
	cl_kernel gate = clCreateKernel(self->program, "gate", NULL);
	cl_kernel kernel = clCreateKernel(self->program, "add", NULL);
	const cl_queue_properties properties[] = {
		CL_QUEUE_PROPERTIES, variant->properties,
		CL_QUEUE_PRIORITY_KHR, CL_QUEUE_PRIORITY_HIGH_KHR, 0,
	};
	const cl_uint zero = 0, one = 1, seven = 7;
	const cl_ulong far = 1ull << 45;
	volatile cl_uint *go;
	const size_t item = 1;
	cl_command_queue queue, other;
	cl_event passed;
	cl_mem stop, word;
	cl_uint value;
	cl_int err;

	other = clCreateCommandQueueWithProperties(self->context, self->device, NULL, &err);
	ASSERT_EQ(0, err);
	queue = clCreateCommandQueueWithProperties(self->context, self->device, properties, &err);
	ASSERT_EQ(0, err);
	stop = clCreateBuffer(self->context, CL_MEM_COPY_HOST_PTR, 4, (void *)&zero, &err);
	ASSERT_EQ(0, err);
	word = clCreateBuffer(self->context, CL_MEM_COPY_HOST_PTR, 4, (void *)&zero, &err);
	ASSERT_EQ(0, err);
	go = clEnqueueMapBuffer(other, stop, CL_TRUE, CL_MAP_WRITE, 0, 4, 0, NULL, NULL, &err);
	ASSERT_EQ(0, err);
	clSetKernelArg(gate, 0, sizeof(stop), &stop);
	ASSERT_EQ(0, clEnqueueNDRangeKernel(other, gate, 1, NULL, &item, NULL, 0, NULL, &passed));
	ASSERT_EQ(0, clFlush(other));
	clSetKernelArg(stray, 0, sizeof(self->buffer), &self->buffer);
	clSetKernelArg(stray, 1, sizeof(far), &far);
	ASSERT_EQ(0, clEnqueueNDRangeKernel(queue, stray, 1, NULL, &item, NULL, 0, NULL,
					    NULL));
	ASSERT_EQ(0, clFlush(queue));
	clSetKernelArg(kernel, 0, sizeof(word), &word);
	clSetKernelArg(kernel, 1, sizeof(one), &one);
	ASSERT_EQ(0, clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &item, NULL, 1, &passed,
					    NULL));
	ASSERT_EQ(0, clFlush(queue));
	/* The failure should come first; if not, the test still passes. */
	usleep(200000);
	ASSERT_EQ(0, clEnqueueFillBuffer(queue, word, &seven, 4, 0, 4, 0, NULL, NULL));
	ASSERT_EQ(0, clFlush(queue));
	*go = 1;
	EXPECT_EQ(CL_OUT_OF_RESOURCES, clFinish(queue));
	err = read_word(queue, word, &value);
	/* The kernel's driver cancels the third batch, too, if it comes before the failure. */
	if (!err || !getenv("SALVO_DEVICE")) {
		EXPECT_EQ(0, err);
		EXPECT_EQ(seven, value);
	}
	EXPECT_EQ(0, clEnqueueUnmapMemObject(other, stop, (void *)go, 0, NULL, NULL));
	EXPECT_EQ(0, clReleaseEvent(passed));
	EXPECT_EQ(0, clReleaseMemObject(stop));
	EXPECT_EQ(0, clReleaseMemObject(word));
	EXPECT_EQ(0, clReleaseCommandQueue(queue));
	EXPECT_EQ(0, clReleaseCommandQueue(other));
	EXPECT_EQ(0, clReleaseKernel(stray));
	EXPECT_EQ(0, clReleaseKernel(gate));
	EXPECT_EQ(0, clReleaseKernel(kernel));
}

TEST_F(kernels, a_marker_in_any_queue_waits_for_a_kernel_that_runs)
{
	const cl_queue_properties properties[] = {
		CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0,
	};
	cl_kernel kernel = clCreateKernel(self->program, "gate", NULL);
	cl_event ran, markers[3];
	volatile cl_uint *go;
	cl_command_queue loose;
	cl_int status, err;
	const size_t one = 1;
	unsigned int i;

	ASSERT_NE(NULL, kernel);
	loose = clCreateCommandQueueWithProperties(self->context, self->device, properties, &err);
	ASSERT_EQ(0, err);
	go = clEnqueueMapBuffer(loose, self->buffer, CL_TRUE, CL_MAP_WRITE, 0, 4, 0, NULL, NULL,
				&err);
	ASSERT_EQ(0, err);
	*go = 0;
	ASSERT_EQ(0, clSetKernelArg(kernel, 0, sizeof(self->buffer), &self->buffer));
	ASSERT_EQ(0, clEnqueueNDRangeKernel(loose, kernel, 1, NULL, &one, NULL, 0, NULL, &ran));
	ASSERT_EQ(0, clFlush(loose));
	ASSERT_EQ(0, clEnqueueMarkerWithWaitList(loose, 1, &ran, &markers[0]));
	ASSERT_EQ(0, clEnqueueBarrierWithWaitList(loose, 1, &ran, &markers[1]));
	ASSERT_EQ(0, clEnqueueMarkerWithWaitList(self->queue, 1, &ran, &markers[2]));
	for (i = 0; i < 3; i++) {
		clGetEventInfo(markers[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status),
			       &status, NULL);
		EXPECT_LT(CL_COMPLETE, status);
	}
	*go = 1;
	EXPECT_EQ(0, clWaitForEvents(3, markers));
	EXPECT_EQ(0, clEnqueueUnmapMemObject(loose, self->buffer, (void *)go, 0, NULL, NULL));
	EXPECT_EQ(0, clReleaseEvent(ran));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, clReleaseEvent(markers[i]));
	EXPECT_EQ(0, clReleaseCommandQueue(loose));
	EXPECT_EQ(0, clReleaseKernel(kernel));
}

TEST_F(kernels, a_barrier_holds_back_a_read_of_an_out_of_order_queue)
{
	const cl_queue_properties properties[] = {
		CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0,
	};
	cl_kernel kernel = clCreateKernel(self->program, "add", NULL);
	cl_command_queue loose;
	unsigned int i;
	cl_int err;

	ASSERT_NE(NULL, kernel);
	loose = clCreateCommandQueueWithProperties(self->context, self->device, properties, &err);
	ASSERT_EQ(0, err);
	for (i = 1; i <= 20; i++) {
		ASSERT_EQ(0, add(kernel, loose, self->buffer, 1, 16384, NULL));
		ASSERT_EQ(0, clEnqueueBarrierWithWaitList(loose, 0, NULL, NULL));
		ASSERT_EQ(i, first_word(loose, self->buffer));
	}
	EXPECT_EQ(0, clReleaseCommandQueue(loose));
	EXPECT_EQ(0, clReleaseKernel(kernel));
}

TEST_F(kernels, bad_ranges_are_refused)
{
	cl_kernel kernel = clCreateKernel(self->program, "add", NULL);
	const size_t items[] = { 10, 1, 1 }, three[] = { 3, 1, 1 }, big[] = { 1 << 20, 1, 1 };
	const cl_uint value = 1;

	ASSERT_NE(NULL, kernel);
	EXPECT_EQ(CL_INVALID_KERNEL_ARGS,
		  clEnqueueNDRangeKernel(self->queue, kernel, 1, NULL, items, NULL, 0, NULL, NULL));
	ASSERT_EQ(0, clSetKernelArg(kernel, 0, sizeof(self->buffer), &self->buffer));
	ASSERT_EQ(0, clSetKernelArg(kernel, 1, sizeof(value), &value));
	EXPECT_EQ(CL_INVALID_WORK_DIMENSION, clEnqueueNDRangeKernel(self->queue, kernel, 4, NULL,
								    items, NULL, 0, NULL, NULL));
	EXPECT_EQ(CL_INVALID_WORK_GROUP_SIZE, clEnqueueNDRangeKernel(self->queue, kernel, 1, NULL,
								     items, three, 0, NULL, NULL));
	EXPECT_EQ(CL_INVALID_WORK_ITEM_SIZE, clEnqueueNDRangeKernel(self->queue, kernel, 1, NULL,
								    big, big, 0, NULL, NULL));
	EXPECT_EQ(CL_INVALID_KERNEL, clEnqueueNDRangeKernel(self->queue, (cl_kernel)self->buffer, 1,
							    NULL, items, NULL, 0, NULL, NULL));
	EXPECT_EQ(0, clReleaseKernel(kernel));
}

/* The GPU's limits, which OpenCL does not have */
TEST_F(kernels, too_large_ranges_are_refused_with_the_limit)
{
	static const struct {
		size_t items[3], offset[3], group[3];
		const char *message;
	} cases[] = {
		{ { (1ull << 31) + 1, 1, 1 }, { 0 }, { 0 },
		  "kernel add: 2147483649 work-items in dimension 0: at most 2147483648" },
		{ { 1, 1, 1ull << 33 }, { 0 }, { 1, 1, 1 },
		  "kernel add: 8589934592 work-items in dimension 2: at most 2147483648" },
		{ { 1, 1, 1 }, { 0, 1ull << 32, 0 }, { 0 },
		  "kernel add: global offset 4294967296 in dimension 1: at most 2147483648" },
		{ { 1 << 30, 1 << 30, 1 << 30 }, { 0 }, { 0 },
		  "kernel add: more than 2147483648 work-groups" },
		{ { 1 << 16, 1 << 16, 1 }, { 0 }, { 1, 1, 1 },
		  "kernel add: more than 2147483648 work-groups" },
	};
	cl_kernel kernel = clCreateKernel(self->program, "add", NULL);
	unsigned int i;

	ASSERT_NE(NULL, kernel);
	ASSERT_EQ(0, add(kernel, self->queue, self->buffer, 5, 1, NULL));
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		atomic_store(&self->told, false);
		self->notified[0] = 0;
		EXPECT_EQ(CL_OUT_OF_RESOURCES,
			  clEnqueueNDRangeKernel(self->queue, kernel, 3, cases[i].offset,
						 cases[i].items,
						 cases[i].group[0] ? cases[i].group : NULL,
						 0, NULL, NULL));
		EXPECT_STREQ(cases[i].message, self->notified);
	}
	EXPECT_EQ(5, first_word(self->queue, self->buffer));
	EXPECT_EQ(0, clReleaseKernel(kernel));
}

/* SALVO_OPENCL_ERRORS is for applications that give no function. */
TEST_F(kernels, messages_are_printed_where_the_environment_asks)
{
	const size_t items = (1ull << 31) + 1;
	const bool asked[] = { false, true };
	FILE *printed = tmpfile();
	const int old = dup(STDERR_FILENO);
	char text[200];
	unsigned int i;

	ASSERT_NE(NULL, printed);
	for (i = 0; i < 2; i++) {
		if (asked[i])
			setenv("SALVO_OPENCL_ERRORS", "1", 1);
		cl_context context = clCreateContext(NULL, 1, &self->device, NULL, NULL, NULL);
		cl_command_queue queue =
			clCreateCommandQueueWithProperties(context, self->device, NULL, NULL);
		cl_program program = ocl_build(context, source, NULL);
		cl_kernel kernel = clCreateKernel(program, "gate", NULL);
		cl_mem buffer = clCreateBuffer(context, 0, 4, NULL, NULL);

		ASSERT_EQ(0, clSetKernelArg(kernel, 0, sizeof(buffer), &buffer));
		dup2(fileno(printed), STDERR_FILENO);
		EXPECT_EQ(CL_OUT_OF_RESOURCES,
			  clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL,
						 NULL));
		dup2(old, STDERR_FILENO);
		rewind(printed);
		text[fread(text, 1, sizeof(text) - 1, printed)] = 0;
		EXPECT_STREQ(asked[i] ? "salvo-opencl: kernel gate: 2147483649 work-items in "
					"dimension 0: at most 2147483648\n" :
					"",
			     text);
		EXPECT_EQ(0, clReleaseMemObject(buffer));
		EXPECT_EQ(0, clReleaseKernel(kernel));
		EXPECT_EQ(0, clReleaseProgram(program));
		EXPECT_EQ(0, clReleaseCommandQueue(queue));
		EXPECT_EQ(0, clReleaseContext(context));
	}
	fclose(printed);
	close(old);
}

struct worker {
	FIXTURE_DATA(kernels) *self;
	bool good;
};

static void *work(void *data)
{
	static cl_uint zeros[1024];
	struct worker *worker = data;
	cl_context context = worker->self->context;
	cl_command_queue queue;
	cl_kernel kernel;
	cl_mem buffer;
	unsigned int i;
	cl_int err;

	queue = clCreateCommandQueueWithProperties(context, worker->self->device, NULL, &err);
	buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(zeros), zeros, &err);
	kernel = clCreateKernel(worker->self->program, "add", &err);
	worker->good = queue && buffer && kernel;
	for (i = 0; i < 500 && worker->good; i++) {
		worker->good = !add(kernel, queue, buffer, 1, 4, NULL);
		if (i % 50 == 49)
			clFinish(queue);
	}
	worker->good = worker->good && first_word(queue, buffer) == 500;
	clReleaseKernel(kernel);
	clReleaseMemObject(buffer);
	clReleaseCommandQueue(queue);
	return NULL;
}

TEST_F(kernels, threads_use_a_context_at_the_same_time)
{
	struct worker workers[4];
	pthread_t threads[4];
	unsigned int i;

	for (i = 0; i < 4; i++) {
		workers[i].self = self;
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, work, &workers[i]));
	}
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		EXPECT_TRUE(workers[i].good);
	}
}

/* What is cancelled because of a batch that hangs runs again: others have to wait for that. */
TEST(what_is_cancelled_runs_again_before_those_that_wait_for_it)
{
	cl_event produced, consumed;
	cl_command_queue queue, other;
	cl_kernel hang, kernel;
	cl_mem scratch, buffer, copy;
	cl_program program;
	cl_context context;
	cl_uint zero = 0;
	cl_int err;

	NEED_SIGNALS();
	if (getenv("SALVO_DEVICE"))
		SKIP(return, "the time limit is the embedded GPU's");
	setenv("SALVO_TIMEOUT_MS", "200", 1);
	ASSERT_EQ(0, ocl_open(NULL, &context, &queue));
	other = clCreateCommandQueueWithProperties(context, ocl_device(), NULL, &err);
	ASSERT_EQ(0, err);
	program = ocl_build(context, source, NULL);
	ASSERT_NE(NULL, program);
	hang = clCreateKernel(program, "hang", &err);
	ASSERT_EQ(0, err);
	kernel = clCreateKernel(program, "add", &err);
	ASSERT_EQ(0, err);
	scratch = clCreateBuffer(context, 0, 64, NULL, &err);
	buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 4, &zero, &err);
	copy = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 4, &zero, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, add(hang, queue, scratch, 1, 1, NULL));
	ASSERT_EQ(0, clFlush(queue));
	ASSERT_EQ(0, add(kernel, queue, buffer, 5, 1, &produced));
	ASSERT_EQ(0, clFlush(queue));
	ASSERT_EQ(0, clEnqueueCopyBuffer(other, buffer, copy, 0, 0, 4, 1, &produced, &consumed));
	ASSERT_EQ(0, clFlush(other));
	if (!clWaitForEvents(1, &consumed))
		EXPECT_EQ(5, first_word(other, copy));
	if (!clWaitForEvents(1, &produced))
		EXPECT_EQ(5, first_word(queue, buffer));
	clFinish(queue);
	EXPECT_EQ(0, clReleaseEvent(produced));
	EXPECT_EQ(0, clReleaseEvent(consumed));
	EXPECT_EQ(0, clReleaseMemObject(scratch));
	EXPECT_EQ(0, clReleaseMemObject(buffer));
	EXPECT_EQ(0, clReleaseMemObject(copy));
	EXPECT_EQ(0, clReleaseKernel(hang));
	EXPECT_EQ(0, clReleaseKernel(kernel));
	EXPECT_EQ(0, clReleaseProgram(program));
	EXPECT_EQ(0, clReleaseCommandQueue(queue));
	EXPECT_EQ(0, clReleaseCommandQueue(other));
	EXPECT_EQ(0, clReleaseContext(context));
}

/* Vectors of 16 numbers of 64 bits are the largest type. */
TEST_F(kernels, local_arguments_are_aligned_to_their_types)
{
	const size_t one = 1;
	cl_ulong places[3];
	cl_kernel place;
	cl_int err;

	place = clCreateKernel(self->program, "place", &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, clSetKernelArg(place, 0, 128, NULL));
	ASSERT_EQ(0, clSetKernelArg(place, 1, 3, NULL));
	ASSERT_EQ(0, clSetKernelArg(place, 2, 128, NULL));
	ASSERT_EQ(0, clSetKernelArg(place, 3, sizeof(self->buffer), &self->buffer));
	ASSERT_EQ(0, clEnqueueNDRangeKernel(self->queue, place, 1, NULL, &one, NULL, 0, NULL,
					    NULL));
	ASSERT_EQ(0, clEnqueueReadBuffer(self->queue, self->buffer, CL_TRUE, 0, sizeof(places),
					 places, 0, NULL, NULL));
	EXPECT_EQ(0, places[0] % 128);
	EXPECT_EQ(0, places[2] % 128);
	EXPECT_GE(places[2], places[1] + 3);
	EXPECT_EQ(0, clReleaseKernel(place));
}

TEST_HARNESS_MAIN
