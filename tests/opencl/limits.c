// SPDX-License-Identifier: MIT
/*
 * limits.c - many queues, many events, and the largest objects
 *
 * On a render node, whose machine is emulated, and under a sanitizer there are fewer of them.
 */
#include <sys/resource.h>
#include <unistd.h>

#include "ocl.h"
#include "kselftest_harness.h"
#include "sanitizer.h"

#define SCALE	(SANITIZER_RUNS || getenv("SALVO_DEVICE") ? 100u : 1u)

static const char source[] =
	"kernel void add(global uint *out, uint value) { out[get_global_id(0)] += value; }\n";

FIXTURE(limits) {
	cl_context context;
	cl_device_id device;
	cl_command_queue queue;
	cl_program program;
	cl_kernel kernel;
	cl_mem buffer;
};

FIXTURE_SETUP(limits)
{
	const cl_uint one = 1, zero = 0;
	cl_int err;

	self->device = ocl_device();
	ASSERT_EQ(0, ocl_open(NULL, &self->context, &self->queue));
	self->program = ocl_build(self->context, source, NULL);
	ASSERT_NE(NULL, self->program);
	self->kernel = clCreateKernel(self->program, "add", &err);
	ASSERT_EQ(0, err);
	self->buffer = clCreateBuffer(self->context, 0, sizeof(zero), NULL, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, clEnqueueWriteBuffer(self->queue, self->buffer, CL_TRUE, 0, sizeof(zero),
					  &zero, 0, NULL, NULL));
	ASSERT_EQ(0, clSetKernelArg(self->kernel, 0, sizeof(self->buffer), &self->buffer));
	ASSERT_EQ(0, clSetKernelArg(self->kernel, 1, sizeof(one), &one));
}

FIXTURE_TEARDOWN(limits)
{
	EXPECT_EQ(0, clReleaseMemObject(self->buffer));
	EXPECT_EQ(0, clReleaseKernel(self->kernel));
	EXPECT_EQ(0, clReleaseProgram(self->program));
	EXPECT_EQ(0, clReleaseCommandQueue(self->queue));
	EXPECT_EQ(0, clReleaseContext(self->context));
}

static cl_int add(FIXTURE_DATA(limits) *self, cl_command_queue queue, cl_event *event)
{
	const size_t one = 1;

	return clEnqueueNDRangeKernel(queue, self->kernel, 1, NULL, &one, NULL, 0, NULL, event);
}

static cl_uint sum(FIXTURE_DATA(limits) *self)
{
	cl_uint value = ~0u;

	clEnqueueReadBuffer(self->queue, self->buffer, CL_TRUE, 0, sizeof(value), &value, 0, NULL,
			    NULL);
	return value;
}

/* Linux allows a process 65,530 mappings, and a buffer with its guard page takes two. */
TEST_F_TIMEOUT(limits, many_buffers_live_at_a_time, 100)
{
	const unsigned int most = 40000 / SCALE;
	cl_mem *buffers = calloc(most, sizeof(*buffers));
	unsigned int i, refused = 0;
	cl_int err;

	ASSERT_NE(NULL, buffers);
	for (i = 0; i < most; i++) {
		buffers[i] = clCreateBuffer(self->context, 0, 4, NULL, &err);
		refused += err != 0;
	}
	EXPECT_EQ(0, refused);
	/* Others come between those that are left. */
	for (i = 0; i < most; i += 3) {
		EXPECT_EQ(0, clReleaseMemObject(buffers[i]));
		buffers[i] = clCreateBuffer(self->context, i % 2 ? CL_MEM_READ_ONLY : 0, 4, NULL,
					    &err);
		EXPECT_EQ(0, err);
	}
	for (i = 0; i < most; i += most / 7 + 1) {
		const cl_uint zero = 0;

		EXPECT_EQ(0, clEnqueueWriteBuffer(self->queue, buffers[i], CL_TRUE, 0,
						  sizeof(zero), &zero, 0, NULL, NULL));
		EXPECT_EQ(0, clSetKernelArg(self->kernel, 0, sizeof(buffers[i]), &buffers[i]));
		EXPECT_EQ(0, add(self, self->queue, NULL));
	}
	EXPECT_EQ(0, clSetKernelArg(self->kernel, 0, sizeof(self->buffer), &self->buffer));
	EXPECT_EQ(0, add(self, self->queue, NULL));
	EXPECT_EQ(1, sum(self));
	for (i = most; i--;)
		EXPECT_EQ(0, clReleaseMemObject(buffers[i]));
	free(buffers);
}

static long resident_kib(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long pages = 0;

	if (!file || fscanf(file, "%*s %ld", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

#define MOST_ROUNDS	8u

/*
 * Rounds of the same work use the memory again that earlier ones left. How much one takes depends
 * on how many commands are pending at a time, but what leaks grows in each. Return: is another one
 * needed to tell? @before_kib: When the last one began.
 */
static bool has_grown(long before_kib)
{
	return !SANITIZER_RUNS && resident_kib() >= before_kib + before_kib / 16 + 1024;
}

TEST_F(limits, ten_thousand_queues)
{
	const unsigned int count = 10000 / SCALE;
	cl_command_queue *queues = calloc(count, sizeof(*queues));
	unsigned int round, i;
	bool grown = true;
	long before;
	cl_int err;

	ASSERT_NE(NULL, queues);
	for (round = 0; round < MOST_ROUNDS && (round < 2 || grown); round++) {
		before = resident_kib();
		for (i = 0; i < count; i++) {
			queues[i] = clCreateCommandQueueWithProperties(self->context, self->device,
								       NULL, &err);
			ASSERT_EQ(0, err);
		}
		/* They are ordered with nothing, so each has its turn. */
		for (i = 0; i < count; i++) {
			ASSERT_EQ(0, add(self, queues[i], NULL));
			ASSERT_EQ(0, clFinish(queues[i]));
		}
		ASSERT_EQ((round + 1) * count, sum(self));
		for (i = 0; i < count; i++)
			ASSERT_EQ(0, clReleaseCommandQueue(queues[i]));
		grown = has_grown(before);
	}
	EXPECT_FALSE(grown);
	free(queues);
}

TEST_F(limits, a_million_events)
{
	const unsigned int count = 1000000 / SCALE;
	cl_event *events = calloc(count, sizeof(*events));
	unsigned int round, i;
	bool grown = true;
	long before;
	cl_int status;

	ASSERT_NE(NULL, events);
	for (round = 0; round < MOST_ROUNDS && (round < 2 || grown); round++) {
		before = resident_kib();
		for (i = 0; i < count; i++)
			ASSERT_EQ(0, add(self, self->queue, &events[i]));
		ASSERT_EQ(0, clWaitForEvents(count, events));
		ASSERT_EQ((round + 1) * count, sum(self));
		ASSERT_EQ(0, clGetEventInfo(events[count - 1], CL_EVENT_COMMAND_EXECUTION_STATUS,
					    sizeof(status), &status, NULL));
		EXPECT_EQ(CL_COMPLETE, status);
		for (i = 0; i < count; i++)
			ASSERT_EQ(0, clReleaseEvent(events[i]));
		grown = has_grown(before);
	}
	EXPECT_FALSE(grown);
	free(events);
}

TEST_F(limits, one_command_waits_for_very_many_events)
{
	const unsigned int count = 300000 / SCALE;
	cl_event *events = calloc(count, sizeof(*events)), marker;
	unsigned int i;
	cl_int err;

	ASSERT_NE(NULL, events);
	for (i = 0; i < count; i++) {
		events[i] = clCreateUserEvent(self->context, &err);
		ASSERT_EQ(0, err);
	}
	ASSERT_EQ(0, clEnqueueMarkerWithWaitList(self->queue, count, events, &marker));
	for (i = 0; i < count; i++)
		ASSERT_EQ(0, clSetUserEventStatus(events[i], CL_COMPLETE));
	EXPECT_EQ(CL_COMPLETE, ocl_end_status(marker));
	for (i = 0; i < count; i++)
		ASSERT_EQ(0, clReleaseEvent(events[i]));
	free(events);
}

/* Fill the first bytes of a buffer and read the last word of them. */
static cl_int fill(FIXTURE_DATA(limits) *self, cl_mem buffer, size_t bytes, cl_uint *last)
{
	const cl_uint value = 5;
	cl_int err = clEnqueueFillBuffer(self->queue, buffer, &value, sizeof(value), 0, bytes, 0,
					 NULL, NULL);

	if (!err)
		err = clEnqueueReadBuffer(self->queue, buffer, CL_TRUE, bytes - sizeof(*last),
					  sizeof(*last), last, 0, NULL, NULL);
	return err;
}

/* Programs for GPUs want more than 1 GiB: hashcat does not start with less. */
TEST_F(limits, memory_of_an_embedded_gpu)
{
	const uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
	struct rlimit addresses;
	cl_ulong all;

	if (getenv("SALVO_DEVICE"))
		SKIP(return, "a device of the driver");
	ASSERT_EQ(0, getrlimit(RLIMIT_AS, &addresses));
	if (addresses.rlim_cur != RLIM_INFINITY)
		SKIP(return, "the addresses of processes are limited");
	ASSERT_EQ(0, clGetDeviceInfo(self->device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(all), &all,
				     NULL));
	EXPECT_LE(all, memory / 2);
	EXPECT_TRUE(all == 4ull << 30 || all > memory / 4);
}

TEST_F(limits, the_largest_buffer_and_beyond)
{
	cl_mem buffers[16] = { NULL };
	cl_uint last = 0, count = 0;
	cl_ulong most, all;
	cl_int err;

	ASSERT_EQ(0, clGetDeviceInfo(self->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(most),
				     &most, NULL));
	ASSERT_EQ(0, clGetDeviceInfo(self->device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(all), &all,
				     NULL));
	EXPECT_LE(all / 4, most);
	EXPECT_EQ(NULL, clCreateBuffer(self->context, 0, most + 1, NULL, &err));
	EXPECT_EQ(CL_INVALID_BUFFER_SIZE, err);
	EXPECT_EQ(NULL, clCreateBuffer(self->context, 0, SIZE_MAX, NULL, &err));
	EXPECT_EQ(CL_INVALID_BUFFER_SIZE, err);
	buffers[0] = clCreateBuffer(self->context, 0, most, NULL, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, fill(self, buffers[0], most & ~3ull, &last));
	EXPECT_EQ(5, last);
	/* Until there is no room: an error, and what is there can be used. */
	for (count = 1; count < 16 && !err; count++) {
		buffers[count] = clCreateBuffer(self->context, 0, most, NULL, &err);
		if (!err)
			err = fill(self, buffers[count], 4096, &last);
	}
	EXPECT_TRUE(err == CL_MEM_OBJECT_ALLOCATION_FAILURE || err == CL_OUT_OF_RESOURCES);
	EXPECT_EQ(0, add(self, self->queue, NULL));
	EXPECT_EQ(1, sum(self));
	while (count--)
		if (buffers[count])
			EXPECT_EQ(0, clReleaseMemObject(buffers[count]));
	buffers[0] = clCreateBuffer(self->context, 0, most, NULL, &err);
	ASSERT_EQ(0, err);
	EXPECT_EQ(0, clReleaseMemObject(buffers[0]));
}

/* Local memory to the last byte, static and as an argument: all add up what all wrote. */
TEST_F(limits, all_local_memory_and_beyond)
{
	static const char text[] =
		"kernel void all(global uint *out, local uint *given, uint n)"
		"{ local uint own[16384]; uint i = get_local_id(0), sum = 0;"
		"  for (uint k = i; k < n; k += 64) given[k] = k;"
		"  for (uint k = i; k < 16384; k += 64) own[k] = 3 * k;"
		"  barrier(CLK_LOCAL_MEM_FENCE);"
		"  for (uint k = 63 - i; k < n; k += 64) sum += given[k];"
		"  for (uint k = 63 - i; k < 16384; k += 64) sum += own[k];"
		"  atomic_add(out, sum); }";
	const size_t items = 128, group = 64;
	cl_program program = ocl_build(self->context, text, NULL);
	cl_uint zero = 0, out, want, n;
	cl_kernel kernel;
	cl_ulong most;
	cl_int err;

	ASSERT_NE(NULL, program);
	kernel = clCreateKernel(program, "all", &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, clGetDeviceInfo(self->device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(most), &most,
				     NULL));
	EXPECT_LE(256u << 10, most);
	n = most / 4 - 16384;
	want = 2 * (n * (cl_ulong)(n - 1) / 2 + 3 * 16384ull * 16383 / 2);
	EXPECT_EQ(0, clSetKernelArg(kernel, 0, sizeof(self->buffer), &self->buffer));
	EXPECT_EQ(0, clSetKernelArg(kernel, 1, n * 4, NULL));
	EXPECT_EQ(0, clSetKernelArg(kernel, 2, sizeof(n), &n));
	ASSERT_EQ(0, clEnqueueWriteBuffer(self->queue, self->buffer, CL_TRUE, 0, sizeof(zero),
					  &zero, 0, NULL, NULL));
	EXPECT_EQ(0, clEnqueueNDRangeKernel(self->queue, kernel, 1, NULL, &items, &group, 0, NULL,
					    NULL));
	EXPECT_EQ(0, clEnqueueReadBuffer(self->queue, self->buffer, CL_TRUE, 0, sizeof(out), &out,
					 0, NULL, NULL));
	EXPECT_EQ(want, out);
	/* One word more is refused, and the last argument stays. */
	err = clSetKernelArg(kernel, 1, n * 4 + 4, NULL);
	if (!err)
		err = clEnqueueNDRangeKernel(self->queue, kernel, 1, NULL, &items, &group, 0, NULL,
					     NULL);
	EXPECT_EQ(CL_OUT_OF_RESOURCES, err);
	EXPECT_EQ(0, clReleaseKernel(kernel));
	EXPECT_EQ(0, clReleaseProgram(program));
}

TEST_F(limits, images_of_the_largest_sizes_and_beyond)
{
	const cl_image_format format = { CL_R, CL_UNSIGNED_INT8 };
	const cl_uint color[4] = { 7 };
	const size_t zero[3] = { 0 };
	size_t width, height;
	unsigned int i;

	ASSERT_EQ(0, clGetDeviceInfo(self->device, CL_DEVICE_IMAGE2D_MAX_WIDTH, sizeof(width),
				     &width, NULL));
	ASSERT_EQ(0, clGetDeviceInfo(self->device, CL_DEVICE_IMAGE2D_MAX_HEIGHT, sizeof(height),
				     &height, NULL));
	for (i = 0; i < 4; i++) {
		const cl_image_desc desc = {
			.image_type = CL_MEM_OBJECT_IMAGE2D,
			.image_width = i == 0 ? width : i == 1 ? width + 1 : 1,
			.image_height = i == 2 ? height : i == 3 ? height + 1 : 1,
		};
		const size_t region[3] = { desc.image_width, desc.image_height, 1 };
		const size_t end[3] = { region[0] - 1, region[1] - 1, 0 }, pixel[3] = { 1, 1, 1 };
		unsigned char value = 0;
		cl_int err;
		cl_mem image = clCreateImage(self->context, 0, &format, &desc, NULL, &err);

		if (i % 2) {
			EXPECT_EQ(CL_INVALID_IMAGE_SIZE, err);
			EXPECT_EQ(NULL, image);
			continue;
		}
		ASSERT_EQ(0, err);
		EXPECT_EQ(0, clEnqueueFillImage(self->queue, image, color, zero, region, 0, NULL,
						NULL));
		EXPECT_EQ(0, clEnqueueReadImage(self->queue, image, CL_TRUE, end, pixel, 0, 0,
						&value, 0, NULL, NULL));
		EXPECT_EQ(7, value);
		EXPECT_EQ(0, clReleaseMemObject(image));
	}
}

TEST_HARNESS_MAIN
