// SPDX-License-Identifier: MIT
/*
 * several.c - contexts of several GPUs: contents follow the commands that access them
 *
 * All devices of the platform are in one context: tests/vm/opencl.sh has two render nodes and the
 * embedded GPU. With one device there is nothing to test.
 */
#include "ocl.h"
#include "kselftest_harness.h"

#define MOST	4
#define WORDS	1024
#define BYTES	(WORDS * sizeof(cl_uint))
#define PART	(BYTES / MOST)

static const char source[] =
	"kernel void add(global uint *data, uint n) { data[get_global_id(0)] += n; }\n";

FIXTURE(several) {
	cl_device_id devices[MOST];
	cl_uint count;
	cl_context context;
	cl_command_queue queues[MOST];
	cl_program program;
	cl_kernel kernel;
	cl_mem buffer;
	cl_uint words[WORDS];
};

FIXTURE_SETUP(several)
{
	cl_platform_id platform;
	cl_uint i;
	cl_int err;

	ASSERT_EQ(0, clGetPlatformIDs(1, &platform, NULL));
	ASSERT_EQ(0, clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MOST, self->devices,
				    &self->count));
	if (self->count < 2)
		return;
	ASSERT_GE(MOST, self->count);
	self->context = clCreateContext(NULL, self->count, self->devices, NULL, NULL, &err);
	ASSERT_EQ(0, err);
	for (i = 0; i < self->count; i++) {
		self->queues[i] = clCreateCommandQueueWithProperties(
			self->context, self->devices[i], NULL, &err);
		ASSERT_EQ(0, err);
	}
	self->program = ocl_build(self->context, source, NULL);
	ASSERT_NE(NULL, self->program);
	self->kernel = clCreateKernel(self->program, "add", &err);
	ASSERT_EQ(0, err);
	self->buffer = clCreateBuffer(self->context, CL_MEM_COPY_HOST_PTR, BYTES, self->words,
				      &err);
	ASSERT_EQ(0, err);
}

FIXTURE_TEARDOWN(several)
{
	cl_uint i;

	if (!self->context)
		return;
	for (i = 0; i < self->count; i++)
		EXPECT_EQ(0, clReleaseCommandQueue(self->queues[i]));
	EXPECT_EQ(0, clReleaseMemObject(self->buffer));
	EXPECT_EQ(0, clReleaseKernel(self->kernel));
	EXPECT_EQ(0, clReleaseProgram(self->program));
	EXPECT_EQ(0, clReleaseContext(self->context));
}

#define NEEDS_SEVERAL()						\
	do {							\
		if (!self->context)				\
			SKIP(return, "there is one GPU");	\
	} while (0)

/* Add @n to all words on a GPU, after an event, whose reference it drops. */
static cl_int add(FIXTURE_DATA(several) *self, cl_uint gpu, cl_mem mem, cl_uint n, cl_event *after)
{
	const size_t items = WORDS;
	cl_event before = *after;
	cl_int err;

	clSetKernelArg(self->kernel, 0, sizeof(mem), &mem);
	clSetKernelArg(self->kernel, 1, sizeof(n), &n);
	err = clEnqueueNDRangeKernel(self->queues[gpu], self->kernel, 1, NULL, &items, NULL,
				     !!before, before ? &before : NULL, after);
	if (before)
		clReleaseEvent(before);
	return err;
}

static int count_other(const cl_uint *words, cl_uint first, cl_uint count, cl_uint want)
{
	int others = 0;
	cl_uint i;

	for (i = first; i < first + count; i++)
		others += words[i] != want;
	return others;
}

TEST_F(several, a_buffer_follows_a_chain_of_kernels_through_all_gpus)
{
	cl_event last = NULL;
	cl_uint round, i;

	NEEDS_SEVERAL();
	for (round = 0; round < 3; round++)
		for (i = 0; i < self->count; i++)
			ASSERT_EQ(0, add(self, i, self->buffer, i + 1, &last));
	ASSERT_EQ(0, clEnqueueReadBuffer(self->queues[0], self->buffer, CL_TRUE, 0, BYTES,
					 self->words, 1, &last, NULL));
	EXPECT_EQ(0, count_other(self->words, 0, WORDS, 3 * self->count * (self->count + 1) / 2));
	EXPECT_EQ(0, clReleaseEvent(last));
}

TEST_F(several, a_user_event_holds_back_a_chain)
{
	cl_event user, last;
	cl_uint i;
	cl_int err;

	NEEDS_SEVERAL();
	user = clCreateUserEvent(self->context, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, clRetainEvent(user));
	last = user;
	for (i = self->count; i-- > 0; )
		ASSERT_EQ(0, add(self, i, self->buffer, 1, &last));
	for (i = 0; i < self->count; i++)
		ASSERT_EQ(0, clFlush(self->queues[i]));
	ASSERT_EQ(0, clSetUserEventStatus(user, CL_COMPLETE));
	EXPECT_EQ(0, clWaitForEvents(1, &last));
	ASSERT_EQ(0, clEnqueueReadBuffer(self->queues[0], self->buffer, CL_TRUE, 0, BYTES,
					 self->words, 0, NULL, NULL));
	EXPECT_EQ(0, count_other(self->words, 0, WORDS, self->count));
	EXPECT_EQ(0, clReleaseEvent(last));
	EXPECT_EQ(0, clReleaseEvent(user));
}

TEST_F(several, parts_of_a_buffer_may_be_on_different_gpus_at_once)
{
	cl_mem parts[MOST];
	cl_uint i, round, pattern;
	cl_int err;

	NEEDS_SEVERAL();
	for (i = 0; i < MOST; i++) {
		const cl_buffer_region region = { i * PART, PART };

		parts[i] = clCreateSubBuffer(self->buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region,
					     &err);
		ASSERT_EQ(0, err);
	}
	for (round = 0; round < 2; round++) {
		for (i = 0; i < MOST; i++) {
			pattern = 10 * round + i;
			ASSERT_EQ(0, clEnqueueFillBuffer(
					self->queues[(i + round) % self->count], parts[i],
					&pattern, 4, 0, PART, 0, NULL, NULL));
		}
		for (i = 0; i < self->count; i++)
			ASSERT_EQ(0, clFinish(self->queues[i]));
		ASSERT_EQ(0, clEnqueueReadBuffer(self->queues[1], self->buffer, CL_TRUE, 0, BYTES,
						 self->words, 0, NULL, NULL));
		for (i = 0; i < MOST; i++)
			EXPECT_EQ(0, count_other(self->words, i * (WORDS / MOST), WORDS / MOST,
						 10 * round + i));
	}
	for (i = 0; i < MOST; i++)
		EXPECT_EQ(0, clReleaseMemObject(parts[i]));
}

TEST_F(several, all_may_read_the_same_at_once)
{
	const cl_uint pattern = 7;
	cl_mem copies[MOST];
	cl_uint i;
	cl_int err;

	NEEDS_SEVERAL();
	ASSERT_EQ(0, clEnqueueFillBuffer(self->queues[0], self->buffer, &pattern, 4, 0, BYTES, 0,
					 NULL, NULL));
	ASSERT_EQ(0, clFinish(self->queues[0]));
	for (i = 0; i < self->count; i++) {
		copies[i] = clCreateBuffer(self->context, 0, BYTES, NULL, &err);
		ASSERT_EQ(0, err);
		ASSERT_EQ(0, clEnqueueCopyBuffer(self->queues[i], self->buffer, copies[i], 0, 0,
						 BYTES, 0, NULL, NULL));
		ASSERT_EQ(0, clFlush(self->queues[i]));
	}
	for (i = 0; i < self->count; i++) {
		ASSERT_EQ(0, clEnqueueReadBuffer(self->queues[i], copies[i], CL_TRUE, 0, BYTES,
						 self->words, 0, NULL, NULL));
		EXPECT_EQ(0, count_other(self->words, 0, WORDS, 7));
		EXPECT_EQ(0, clReleaseMemObject(copies[i]));
	}
}

static void check_maps(struct __test_metadata *_metadata, FIXTURE_DATA(several) *self, cl_mem mem)
{
	cl_event last = NULL;
	cl_uint *map, i;
	cl_int err;

	for (i = 0; i < self->count; i++) {
		ASSERT_EQ(0, add(self, i, mem, 1, &last));
		map = clEnqueueMapBuffer(self->queues[(i + 1) % self->count], mem, CL_TRUE,
					 CL_MAP_READ | CL_MAP_WRITE, 0, BYTES, 1, &last, NULL,
					 &err);
		ASSERT_EQ(0, err);
		EXPECT_EQ(0, count_other(map, 0, 1, 2 * i + 1));
		EXPECT_EQ(0, count_other(map, 1, WORDS - 1, i + 1));
		map[0]++;
		EXPECT_EQ(0, clReleaseEvent(last));
		ASSERT_EQ(0, clEnqueueUnmapMemObject(self->queues[(i + 1) % self->count], mem, map,
						     0, NULL, &last));
	}
	EXPECT_EQ(0, clWaitForEvents(1, &last));
	EXPECT_EQ(0, clReleaseEvent(last));
}

TEST_F(several, maps_show_what_any_gpu_wrote)
{
	cl_mem mem;
	cl_int err;

	NEEDS_SEVERAL();
	check_maps(_metadata, self, self->buffer);
	mem = clCreateBuffer(self->context, CL_MEM_USE_HOST_PTR, BYTES, self->words, &err);
	ASSERT_EQ(0, err);
	check_maps(_metadata, self, mem);
	EXPECT_EQ(0, clReleaseMemObject(mem));
}

TEST_F(several, an_image_is_filled_by_one_gpu_and_read_by_another)
{
	const cl_image_format format = { CL_R, CL_UNSIGNED_INT32 };
	const cl_image_desc desc = {
		.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 32, .image_height = 32,
	};
	const size_t origin[3] = { 0 }, region[3] = { 32, 32, 1 };
	const cl_uint color[4] = { 11 };
	cl_event filled, copied;
	cl_mem image;
	cl_int err;

	NEEDS_SEVERAL();
	image = clCreateImage(self->context, 0, &format, &desc, NULL, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, clEnqueueFillImage(self->queues[1], image, color, origin, region, 0, NULL,
					&filled));
	ASSERT_EQ(0, clEnqueueCopyImageToBuffer(self->queues[0], image, self->buffer, origin,
						region, 0, 1, &filled, &copied));
	ASSERT_EQ(0, clEnqueueReadBuffer(self->queues[1], self->buffer, CL_TRUE, 0, BYTES,
					 self->words, 1, &copied, NULL));
	EXPECT_EQ(0, count_other(self->words, 0, WORDS, 11));
	EXPECT_EQ(0, clReleaseEvent(filled));
	EXPECT_EQ(0, clReleaseEvent(copied));
	EXPECT_EQ(0, clReleaseMemObject(image));
}

TEST_F(several, a_program_is_built_for_each)
{
	size_t sizes[MOST] = { 0 };
	cl_build_status status;
	cl_uint i;

	NEEDS_SEVERAL();
	ASSERT_EQ(0, clGetProgramInfo(self->program, CL_PROGRAM_BINARY_SIZES,
				      self->count * sizeof(size_t), sizes, NULL));
	for (i = 0; i < self->count; i++) {
		EXPECT_LT(0, sizes[i]);
		EXPECT_EQ(0, clGetProgramBuildInfo(self->program, self->devices[i],
						   CL_PROGRAM_BUILD_STATUS, sizeof(status), &status,
						   NULL));
		EXPECT_EQ(CL_BUILD_SUCCESS, status);
	}
}

TEST_HARNESS_MAIN
