// SPDX-License-Identifier: MIT
/*
 * map.c - maps of buffers: addresses, order, the application's own memory, what devices do not have
 */
#include "ocl.h"
#include "kselftest_harness.h"

#define WORDS	1024
#define BYTES	(WORDS * sizeof(cl_uint))

FIXTURE(map) {
	cl_context context;
	cl_command_queue queue;
	/* Memory of the application, of which @odd is not aligned */
	char *memory, *odd;
};

FIXTURE_SETUP(map)
{
	ASSERT_EQ(0, ocl_open(NULL, &self->context, &self->queue));
	self->memory = aligned_alloc(4096, 4 * BYTES);
	memset(self->memory, 0, 4 * BYTES);
	self->odd = self->memory + 2 * BYTES + 4;
}

FIXTURE_TEARDOWN(map)
{
	EXPECT_EQ(0, clReleaseCommandQueue(self->queue));
	EXPECT_EQ(0, clReleaseContext(self->context));
	free(self->memory);
}

static cl_uint *map_all(cl_command_queue queue, cl_mem mem, cl_map_flags flags)
{
	return clEnqueueMapBuffer(queue, mem, CL_TRUE, flags, 0, BYTES, 0, NULL, NULL, NULL);
}

/* Fill by the GPU, read and write by a map, copy by the GPU. */
static void check(struct __test_metadata *_metadata, FIXTURE_DATA(map) *self, cl_mem_flags flags,
		  void *pointer)
{
	const cl_uint pattern = 5;
	cl_uint *words, i, count;
	cl_mem mem, copy;
	cl_int err;

	mem = clCreateBuffer(self->context, flags, BYTES, pointer, &err);
	ASSERT_EQ(0, err);
	copy = clCreateBuffer(self->context, 0, BYTES, NULL, &err);
	ASSERT_EQ(0, err);
	words = map_all(self->queue, mem, CL_MAP_WRITE);
	ASSERT_NE(NULL, words);
	if (flags & CL_MEM_USE_HOST_PTR)
		EXPECT_EQ(pointer, words);
	ASSERT_EQ(0, clGetMemObjectInfo(mem, CL_MEM_MAP_COUNT, sizeof(count), &count, NULL));
	EXPECT_EQ(1, count);
	for (i = 0; i < WORDS; i++)
		words[i] = i;
	ASSERT_EQ(0, clEnqueueUnmapMemObject(self->queue, mem, words, 0, NULL, NULL));
	ASSERT_EQ(0, clEnqueueCopyBuffer(self->queue, mem, copy, 0, 0, BYTES, 0, NULL, NULL));
	ASSERT_EQ(0,
		  clEnqueueFillBuffer(self->queue, mem, &pattern, 4, 0, BYTES / 2, 0, NULL, NULL));
	words = map_all(self->queue, mem, CL_MAP_READ | CL_MAP_WRITE);
	ASSERT_NE(NULL, words);
	for (i = 0; i < WORDS; i++)
		EXPECT_EQ(i < WORDS / 2 ? 5 : i, words[i]);
	words[0] = 77;
	ASSERT_EQ(0, clEnqueueUnmapMemObject(self->queue, mem, words, 0, NULL, NULL));
	ASSERT_EQ(0, clEnqueueCopyBuffer(self->queue, mem, copy, 0, 0, 4, 0, NULL, NULL));
	words = map_all(self->queue, copy, CL_MAP_READ);
	ASSERT_NE(NULL, words);
	for (i = 0; i < WORDS; i++)
		EXPECT_EQ(i ? i : 77, words[i]);
	ASSERT_EQ(0, clEnqueueUnmapMemObject(self->queue, copy, words, 0, NULL, NULL));
	EXPECT_EQ(0, clFinish(self->queue));
	EXPECT_EQ(0, clReleaseMemObject(mem));
	EXPECT_EQ(0, clReleaseMemObject(copy));
}

TEST_F(map, buffers)
{
	check(_metadata, self, 0, NULL);
	check(_metadata, self, CL_MEM_ALLOC_HOST_PTR, NULL);
}

TEST_F(map, memory_of_the_application)
{
	check(_metadata, self, CL_MEM_USE_HOST_PTR, self->memory);
	check(_metadata, self, CL_MEM_USE_HOST_PTR, self->memory);
	check(_metadata, self, CL_MEM_USE_HOST_PTR, self->odd);
}

/* What is aligned is not copied: the GPU's work is in the application's memory without a map. */
TEST_F(map, aligned_memory_of_the_application_is_the_gpus)
{
	const cl_uint pattern = 9;
	cl_mem mem, other;
	cl_int err;
	int i;

	if (getenv("SALVO_DEVICE"))
		SKIP(return, "only the embedded GPU has the memory of the host");
	mem = clCreateBuffer(self->context, CL_MEM_USE_HOST_PTR, BYTES, self->memory, &err);
	ASSERT_EQ(0, err);
	/* The same memory again is undefined, but may not fail. */
	other = clCreateBuffer(self->context, CL_MEM_USE_HOST_PTR, BYTES, self->memory, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, clEnqueueFillBuffer(self->queue, mem, &pattern, 4, 0, BYTES, 0, NULL, NULL));
	ASSERT_EQ(0, clFinish(self->queue));
	for (i = 0; i < WORDS; i++)
		EXPECT_EQ(9, ((cl_uint *)self->memory)[i]);
	EXPECT_EQ(0, clReleaseMemObject(mem));
	EXPECT_EQ(0, clReleaseMemObject(other));
}

TEST_F(map, checks)
{
	cl_mem mem, hidden;
	cl_int err, word;

	mem = clCreateBuffer(self->context, 0, BYTES, NULL, &err);
	ASSERT_EQ(0, err);
	hidden = clCreateBuffer(self->context, CL_MEM_HOST_NO_ACCESS, BYTES, NULL, &err);
	ASSERT_EQ(0, err);
#define MAP(mem, flags, offset, size) \
	(clEnqueueMapBuffer(self->queue, mem, CL_TRUE, flags, offset, size, 0, NULL, NULL, &err), \
	 err)
	EXPECT_EQ(CL_INVALID_VALUE, MAP(mem, CL_MAP_READ, 0, BYTES + 1));
	EXPECT_EQ(CL_INVALID_VALUE, MAP(mem, CL_MAP_READ, SIZE_MAX, 2));
	EXPECT_EQ(CL_INVALID_VALUE, MAP(mem, CL_MAP_READ, 0, 0));
	EXPECT_EQ(CL_INVALID_VALUE, MAP(mem, CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION, 0, 4));
	EXPECT_EQ(CL_INVALID_VALUE, MAP(mem, 1u << 20, 0, 4));
	EXPECT_EQ(CL_INVALID_OPERATION, MAP(hidden, CL_MAP_READ, 0, 4));
	EXPECT_EQ(CL_INVALID_OPERATION, MAP(hidden, CL_MAP_WRITE, 0, 4));
	EXPECT_EQ(CL_INVALID_MEM_OBJECT, MAP(NULL, CL_MAP_READ, 0, 4));
	EXPECT_EQ(CL_INVALID_VALUE,
		  clEnqueueUnmapMemObject(self->queue, mem, &word, 0, NULL, NULL));
	EXPECT_EQ(CL_INVALID_VALUE,
		  clEnqueueMigrateMemObjects(self->queue, 0, NULL, 0, 0, NULL, NULL));
	EXPECT_EQ(CL_INVALID_VALUE,
		  clEnqueueMigrateMemObjects(self->queue, 1, &mem, 1u << 9, 0, NULL, NULL));
	EXPECT_EQ(CL_SUCCESS,
		  clEnqueueMigrateMemObjects(self->queue, 1, &mem, CL_MIGRATE_MEM_OBJECT_HOST, 0,
					     NULL, NULL));
	EXPECT_EQ(0, clReleaseMemObject(mem));
	EXPECT_EQ(0, clReleaseMemObject(hidden));
}

TEST_F(map, no_shared_virtual_memory_and_no_pipes)
{
	char byte = 0;
	cl_int err;

	EXPECT_EQ(NULL, clSVMAlloc(self->context, CL_MEM_READ_WRITE, 64, 0));
	clSVMFree(self->context, NULL);
	EXPECT_EQ(CL_INVALID_OPERATION,
		  clEnqueueSVMMemFill(self->queue, &byte, &byte, 1, 1, 0, NULL, NULL));
	EXPECT_EQ(NULL, clCreatePipe(self->context, 0, 4, 4, NULL, &err));
	EXPECT_EQ(CL_INVALID_OPERATION, err);
}

TEST_HARNESS_MAIN
