// SPDX-License-Identifier: MIT
/*
 * command_buffer.c - command buffers: recorded once, enqueued often, changed in between
 */
#include <limits.h>

#include "ocl.h"
#include "kselftest_harness.h"
#include "script_compiler.h"

/* Debian's header declares older versions of these functions. */
typedef cl_int ndrange_fn(cl_command_buffer_khr, cl_command_queue, const cl_properties *, cl_kernel,
			  cl_uint, const size_t *, const size_t *, const size_t *, cl_uint,
			  const cl_sync_point_khr *, cl_sync_point_khr *, cl_mutable_command_khr *);
typedef cl_int fill_fn(cl_command_buffer_khr, cl_command_queue, const cl_properties *, cl_mem,
		       const void *, size_t, size_t, size_t, cl_uint, const cl_sync_point_khr *,
		       cl_sync_point_khr *, cl_mutable_command_khr *);
typedef cl_int update_fn(cl_command_buffer_khr, cl_uint, const cl_uint *, const void **);

struct dispatch_config {
	cl_mutable_command_khr command;
	cl_uint num_args, num_svm_args, num_exec_infos, work_dim;
	const cl_mutable_dispatch_arg_khr *arg_list;
	const void *arg_svm_list, *exec_info_list;
	const size_t *offset, *items, *group;
};

static const char source[] =
	"kernel void add(global uint *out, uint value) { out[get_global_id(0)] += value; }\n"
	"kernel void stray(global uint *out, ulong far) { out[far] = 1; }\n";

#define MUTABLE 2

FIXTURE(command_buffer) {
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	cl_kernel kernel;
	cl_mem mem;
	cl_command_buffer_khr buffer;
	clCreateCommandBufferKHR_fn create;
	clFinalizeCommandBufferKHR_fn finalize;
	clReleaseCommandBufferKHR_fn release;
	clEnqueueCommandBufferKHR_fn enqueue;
	ndrange_fn *ndrange;
	fill_fn *fill;
	update_fn *update;
};

FIXTURE_VARIANT(command_buffer) {
	cl_command_queue_properties properties;
};

FIXTURE_VARIANT_ADD(command_buffer, in_order) { .properties = 0 };
FIXTURE_VARIANT_ADD(command_buffer, out_of_order) {
	.properties = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
};

FIXTURE_SETUP(command_buffer)
{
	const cl_queue_properties properties[] = { CL_QUEUE_PROPERTIES, variant->properties, 0 };
	const cl_command_buffer_properties_khr flags[] = {
		CL_COMMAND_BUFFER_FLAGS_KHR, MUTABLE, 0
	};
	cl_device_id device = ocl_device();
	cl_platform_id platform;
	cl_int err;

	ASSERT_NE(NULL, device);
	ASSERT_EQ(0, clGetPlatformIDs(1, &platform, NULL));
#define FIND(name) clGetExtensionFunctionAddressForPlatform(platform, name)
	self->create = FIND("clCreateCommandBufferKHR");
	self->finalize = FIND("clFinalizeCommandBufferKHR");
	self->release = FIND("clReleaseCommandBufferKHR");
	self->enqueue = FIND("clEnqueueCommandBufferKHR");
	self->ndrange = FIND("clCommandNDRangeKernelKHR");
	self->fill = FIND("clCommandFillBufferKHR");
	self->update = FIND("clUpdateMutableCommandsKHR");
	ASSERT_TRUE(self->create && self->finalize && self->release && self->enqueue &&
		    self->ndrange && self->fill && self->update);
	self->context = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
	ASSERT_EQ(0, err);
	self->queue = clCreateCommandQueueWithProperties(self->context, device, properties, &err);
	ASSERT_EQ(0, err);
	self->program = ocl_build(self->context, source, NULL);
	ASSERT_NE(NULL, self->program);
	self->kernel = clCreateKernel(self->program, "add", &err);
	ASSERT_EQ(0, err);
	self->mem = clCreateBuffer(self->context, 0, 4096, NULL, &err);
	ASSERT_EQ(0, err);
	self->buffer = self->create(1, &self->queue, flags, &err);
	ASSERT_EQ(0, err);
}

FIXTURE_TEARDOWN(command_buffer)
{
	EXPECT_EQ(0, self->release(self->buffer));
	EXPECT_EQ(0, clReleaseMemObject(self->mem));
	EXPECT_EQ(0, clReleaseKernel(self->kernel));
	EXPECT_EQ(0, clReleaseProgram(self->program));
	EXPECT_EQ(0, clReleaseCommandQueue(self->queue));
	EXPECT_EQ(0, clReleaseContext(self->context));
}

static cl_uint word(cl_command_queue queue, cl_mem mem, unsigned int index)
{
	cl_uint value = ~0u;

	clFinish(queue);
	clEnqueueReadBuffer(queue, mem, CL_TRUE, index * 4, 4, &value, 0, NULL, NULL);
	return value;
}

/* A fill with 10, then "add" twice, each after the one before. */
static cl_int record(FIXTURE_DATA(command_buffer) *self, cl_mutable_command_khr *handle)
{
	const cl_uint ten = 10, one = 1;
	const size_t items = 16;
	cl_sync_point_khr points[2];
	cl_int err;

	clSetKernelArg(self->kernel, 0, sizeof(self->mem), &self->mem);
	clSetKernelArg(self->kernel, 1, sizeof(one), &one);
	err = self->fill(self->buffer, NULL, NULL, self->mem, &ten, 4, 0, 4096, 0, NULL, &points[0],
			 NULL);
	if (!err)
		err = self->ndrange(self->buffer, NULL, NULL, self->kernel, 1, NULL, &items, NULL,
				    1, &points[0], &points[1], NULL);
	if (!err)
		err = self->ndrange(self->buffer, NULL, NULL, self->kernel, 1, NULL, &items, NULL,
				    1, &points[1], NULL, handle);
	return err ? err : self->finalize(self->buffer);
}

TEST_F(command_buffer, runs_each_time_in_the_order_of_its_sync_points)
{
	unsigned int i;

	ASSERT_EQ(0, record(self, NULL));
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, self->enqueue(0, NULL, self->buffer, 0, NULL, NULL));
		ASSERT_EQ(12, word(self->queue, self->mem, i % 16));
		ASSERT_EQ(10, word(self->queue, self->mem, 16));
	}
}

/* More than a batch holds; each command waits for the one before. */
TEST_F(command_buffer, a_long_one_goes_in_parts)
{
	enum { LENGTH = 5000, BEFORE = 900 };
	const cl_uint one = 1, hundred = 100, zero = 0, kinds[2] = { 0, 0 };
	const cl_mutable_dispatch_arg_khr arg = { 1, sizeof(hundred), &hundred };
	struct dispatch_config changes[2] = {
		{ .num_args = 1, .work_dim = 1, .arg_list = &arg },
		{ .num_args = 1, .work_dim = 1, .arg_list = &arg },
	};
	const void *configs[] = { &changes[0], &changes[1] };
	cl_sync_point_khr point = 0;
	cl_mutable_command_khr handle;
	const size_t items = 1;
	cl_event event = NULL;
	cl_int status;
	unsigned int i;

	ASSERT_EQ(0, clEnqueueFillBuffer(self->queue, self->mem, &zero, 4, 0, 4, 0, NULL, &event));
	clSetKernelArg(self->kernel, 0, sizeof(self->mem), &self->mem);
	clSetKernelArg(self->kernel, 1, sizeof(one), &one);
	for (i = 0; i < LENGTH; i++) {
		ASSERT_EQ(0, self->ndrange(self->buffer, NULL, NULL, self->kernel, 1, NULL, &items,
					   NULL, i ? 1 : 0, i ? &point : NULL, &point, &handle));
		if (i == 0)
			changes[0].command = handle;
	}
	changes[1].command = handle;
	ASSERT_EQ(0, self->finalize(self->buffer));
	for (i = 0; i < BEFORE; i++) {
		const cl_event before = event;

		ASSERT_EQ(0, clEnqueueNDRangeKernel(self->queue, self->kernel, 1, NULL, &items,
						    NULL, 1, &before, &event));
		clReleaseEvent(before);
	}
	for (i = 0; i < 3; i++) {
		const cl_event before = event;

		ASSERT_EQ(0, self->enqueue(0, NULL, self->buffer, 1, &before, &event));
		clReleaseEvent(before);
		if (!i)
			ASSERT_EQ(0, self->update(self->buffer, 2, kinds, configs));
	}
	ASSERT_EQ(0, clWaitForEvents(1, &event));
	EXPECT_EQ(0, clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status),
				    &status, NULL));
	EXPECT_EQ(CL_COMPLETE, status);
	clReleaseEvent(event);
	EXPECT_EQ(BEFORE + 3 * LENGTH + 2 * 2 * 99, word(self->queue, self->mem, 0));
}

/* Commands of two parts after each other; the first one is of another kernel if there is one. */
static cl_int record_parts(FIXTURE_DATA(command_buffer) *self, cl_kernel first)
{
	const size_t items = 1;
	const cl_uint one = 1;
	cl_sync_point_khr point = 0;
	cl_int err = 0;
	int i;

	clSetKernelArg(self->kernel, 0, sizeof(self->mem), &self->mem);
	clSetKernelArg(self->kernel, 1, sizeof(one), &one);
	for (i = 0; !err && i < 1500; i++)
		err = self->ndrange(self->buffer, NULL, NULL, !i && first ? first : self->kernel, 1,
				    NULL, &items, NULL, i ? 1 : 0, i ? &point : NULL, &point, NULL);
	return err ? err : self->finalize(self->buffer);
}

TEST_F(command_buffer, a_failure_in_its_first_part_fails_it)
{
	cl_kernel stray = clCreateKernel(self->program, "stray", NULL);
	const cl_ulong far = 1ull << 45;
	const cl_uint zero = 0;
	cl_event event;
	cl_uint value;

	ASSERT_NE(NULL, stray);
	ASSERT_EQ(0, clEnqueueFillBuffer(self->queue, self->mem, &zero, 4, 0, 4, 0, NULL, NULL));
	ASSERT_EQ(0, clFinish(self->queue));
	clSetKernelArg(stray, 0, sizeof(self->mem), &self->mem);
	clSetKernelArg(stray, 1, sizeof(far), &far);
	ASSERT_EQ(0, record_parts(self, stray));
	ASSERT_EQ(0, self->enqueue(0, NULL, self->buffer, 0, NULL, &event));
	EXPECT_GT(0, ocl_end_status(event));
	EXPECT_GT(0, clFinish(self->queue));
	EXPECT_EQ(CL_OUT_OF_RESOURCES, clEnqueueReadBuffer(self->queue, self->mem, CL_TRUE, 0, 4,
							   &value, 0, NULL, NULL));
	EXPECT_EQ(0, clReleaseKernel(stray));
}

TEST_F(command_buffer, no_part_is_run_after_an_event_that_failed)
{
	const cl_uint zero = 0;
	cl_event user, event;
	cl_int err;

	ASSERT_EQ(0, clEnqueueFillBuffer(self->queue, self->mem, &zero, 4, 0, 4, 0, NULL, NULL));
	ASSERT_EQ(0, clFinish(self->queue));
	ASSERT_EQ(0, record_parts(self, NULL));
	user = clCreateUserEvent(self->context, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, self->enqueue(0, NULL, self->buffer, 1, &user, &event));
	ASSERT_EQ(0, clSetUserEventStatus(user, -1));
	EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, ocl_end_status(event));
	EXPECT_EQ(0, word(self->queue, self->mem, 0));
	EXPECT_EQ(0, clReleaseEvent(user));
}

TEST_F(command_buffer, changes_count_from_the_next_time_on)
{
	const cl_uint hundred = 100, kind = 0;
	const cl_mutable_dispatch_arg_khr arg = { 1, sizeof(hundred), &hundred };
	const size_t items = 32;
	struct dispatch_config config = { .num_args = 1, .work_dim = 1, .arg_list = &arg,
					  .items = &items };
	const void *configs[] = { &config };
	cl_event event;

	ASSERT_EQ(0, record(self, &config.command));
	ASSERT_EQ(0, self->enqueue(0, NULL, self->buffer, 0, NULL, &event));
	/* While it runs: it has its own copy. */
	ASSERT_EQ(0, self->update(self->buffer, 1, &kind, configs));
	EXPECT_EQ(12, word(self->queue, self->mem, 3));
	EXPECT_EQ(10, word(self->queue, self->mem, 20));
	EXPECT_EQ(0, clReleaseEvent(event));
	ASSERT_EQ(0, self->enqueue(0, NULL, self->buffer, 0, NULL, NULL));
	EXPECT_EQ(111, word(self->queue, self->mem, 3));
	EXPECT_EQ(110, word(self->queue, self->mem, 20));
}

/* The compiler dies behind its check; the error is that of clEnqueueNDRangeKernel(). */
TEST_F(command_buffer, a_kernel_whose_code_is_never_made_is_not_recorded)
{
	char path[] = "/tmp/salvo-crash-XXXXXX", commands[PATH_MAX + 100];
	const size_t items = 1;
	cl_program program;
	cl_kernel kernel;
	cl_int err;

	if (getenv("SALVO_DEVICE"))
		SKIP(return, "the embedded GPU is enough");
	snprintf(commands, sizeof(commands), "'%s' \"$@\" > /dev/null; kill -SEGV $$",
		 ocl_compiler());
	ASSERT_TRUE(use_script(path, commands));
	program = ocl_build(self->context, source, NULL);
	ASSERT_NE(NULL, program);
	kernel = clCreateKernel(program, "add", &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, clSetKernelArg(kernel, 0, sizeof(self->mem), &self->mem));
	ASSERT_EQ(0, clSetKernelArg(kernel, 1, sizeof(cl_uint), &(cl_uint){ 1 }));
	EXPECT_EQ(CL_INVALID_PROGRAM_EXECUTABLE,
		  self->ndrange(self->buffer, NULL, NULL, kernel, 1, NULL, &items, NULL, 0, NULL,
				NULL, NULL));
	EXPECT_EQ(0, record(self, NULL));
	EXPECT_EQ(0, self->enqueue(0, NULL, self->buffer, 0, NULL, NULL));
	EXPECT_EQ(12, word(self->queue, self->mem, 3));
	forget_script(path);
	EXPECT_EQ(0, clReleaseKernel(kernel));
	EXPECT_EQ(0, clReleaseProgram(program));
}

TEST_F(command_buffer, bad_use_is_refused)
{
	const cl_sync_point_khr unknown = 7;
	const size_t items = 1;
	const cl_uint zero = 0;

	EXPECT_EQ(CL_INVALID_OPERATION, self->enqueue(0, NULL, self->buffer, 0, NULL, NULL));
	EXPECT_EQ(-1139, self->fill(self->buffer, NULL, NULL, self->mem, &zero, 4, 0, 4, 1,
				    &unknown, NULL, NULL));
	EXPECT_EQ(CL_INVALID_COMMAND_QUEUE,
		  self->fill(self->buffer, self->queue, NULL, self->mem, &zero, 4, 0, 4, 0, NULL,
			     NULL, NULL));
	ASSERT_EQ(0, record(self, NULL));
	EXPECT_EQ(CL_INVALID_OPERATION, self->finalize(self->buffer));
	EXPECT_EQ(CL_INVALID_OPERATION,
		  self->ndrange(self->buffer, NULL, NULL, self->kernel, 1, NULL, &items, NULL, 0,
				NULL, NULL, NULL));
	EXPECT_EQ(-1138, self->enqueue(0, NULL, (cl_command_buffer_khr)self->queue, 0, NULL, NULL));
}

TEST_HARNESS_MAIN
