// SPDX-License-Identifier: MIT
/*
 * memory.c - memory objects of the OpenCL driver: creation, flags, parts, infos, destruction
 */
#include "ocl.h"
#include "kselftest_harness.h"

#define BYTES 4096

FIXTURE(memory) {
	cl_context context;
};

FIXTURE_SETUP(memory)
{
	cl_device_id device = ocl_device();
	cl_int err;

	ASSERT_NE(NULL, device);
	self->context = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
	ASSERT_EQ(0, err);
}

FIXTURE_TEARDOWN(memory)
{
	EXPECT_EQ(0, clReleaseContext(self->context));
}

static cl_int create(cl_context context, cl_mem_flags flags, size_t size, void *pointer)
{
	cl_int err = 1;
	cl_mem mem = clCreateBuffer(context, flags, size, pointer, &err);

	if (!mem != (err != CL_SUCCESS))
		return 1;
	if (mem)
		clReleaseMemObject(mem);
	return err;
}

TEST_F(memory, creation_checks_flags_size_and_pointer)
{
	char data[BYTES] = { 0 };

	EXPECT_EQ(CL_SUCCESS, create(self->context, 0, 1, NULL));
	EXPECT_EQ(CL_SUCCESS, create(self->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, BYTES,
				     data));
	EXPECT_EQ(CL_SUCCESS, create(self->context, CL_MEM_USE_HOST_PTR, BYTES, data));
	EXPECT_EQ(CL_SUCCESS, create(self->context, CL_MEM_ALLOC_HOST_PTR, BYTES, NULL));
	EXPECT_EQ(CL_INVALID_VALUE, create(self->context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
					   BYTES, NULL));
	EXPECT_EQ(CL_INVALID_VALUE, create(self->context, CL_MEM_HOST_READ_ONLY |
					   CL_MEM_HOST_NO_ACCESS, BYTES, NULL));
	EXPECT_EQ(CL_INVALID_VALUE, create(self->context, CL_MEM_USE_HOST_PTR |
					   CL_MEM_COPY_HOST_PTR, BYTES, data));
	EXPECT_EQ(CL_INVALID_VALUE, create(self->context, CL_MEM_USE_HOST_PTR |
					   CL_MEM_ALLOC_HOST_PTR, BYTES, data));
	EXPECT_EQ(CL_INVALID_VALUE, create(self->context, 1u << 30, BYTES, NULL));
	EXPECT_EQ(CL_INVALID_BUFFER_SIZE, create(self->context, 0, 0, NULL));
	EXPECT_EQ(CL_INVALID_BUFFER_SIZE, create(self->context, 0, SIZE_MAX, NULL));
	EXPECT_EQ(CL_INVALID_HOST_PTR, create(self->context, 0, BYTES, data));
	EXPECT_EQ(CL_INVALID_HOST_PTR, create(self->context, CL_MEM_USE_HOST_PTR, BYTES, NULL));
	EXPECT_EQ(CL_INVALID_HOST_PTR, create(self->context, CL_MEM_COPY_HOST_PTR, BYTES, NULL));
	EXPECT_EQ(CL_INVALID_CONTEXT, create(NULL, 0, BYTES, NULL));
}

static cl_int create_part(cl_mem mem, cl_mem_flags flags, size_t origin, size_t size)
{
	const cl_buffer_region region = { origin, size };
	cl_int err = 1;
	cl_mem part = clCreateSubBuffer(mem, flags, CL_BUFFER_CREATE_TYPE_REGION, &region, &err);

	if (part)
		clReleaseMemObject(part);
	return err;
}

TEST_F(memory, parts_are_checked)
{
	const cl_buffer_region region = { 128, 256 };
	cl_mem mem, part, readonly;
	cl_int err;

	mem = clCreateBuffer(self->context, 0, BYTES, NULL, &err);
	ASSERT_EQ(0, err);
	EXPECT_EQ(CL_SUCCESS, create_part(mem, 0, 128, BYTES - 128));
	EXPECT_EQ(CL_INVALID_VALUE, create_part(mem, 0, 128, BYTES));
	EXPECT_EQ(CL_INVALID_VALUE, create_part(mem, 0, SIZE_MAX, 2));
	EXPECT_EQ(CL_INVALID_BUFFER_SIZE, create_part(mem, 0, 128, 0));
	EXPECT_EQ(CL_MISALIGNED_SUB_BUFFER_OFFSET, create_part(mem, 0, 4, 128));
	EXPECT_EQ(CL_INVALID_VALUE, create_part(mem, CL_MEM_ALLOC_HOST_PTR, 0, 128));
	readonly = clCreateBuffer(self->context, CL_MEM_READ_ONLY | CL_MEM_HOST_READ_ONLY, BYTES,
				  NULL, &err);
	ASSERT_EQ(0, err);
	EXPECT_EQ(CL_INVALID_VALUE, create_part(readonly, CL_MEM_WRITE_ONLY, 0, 128));
	EXPECT_EQ(CL_INVALID_VALUE, create_part(readonly, CL_MEM_HOST_WRITE_ONLY, 0, 128));
	EXPECT_EQ(CL_SUCCESS, create_part(readonly, CL_MEM_HOST_NO_ACCESS, 0, 128));
	part = clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err);
	ASSERT_EQ(0, err);
	EXPECT_EQ(CL_INVALID_MEM_OBJECT, create_part(part, 0, 0, 128));
	EXPECT_EQ(CL_INVALID_MEM_OBJECT, create_part((cl_mem)self->context, 0, 0, 128));
	EXPECT_EQ(0, clReleaseMemObject(part));
	EXPECT_EQ(0, clReleaseMemObject(mem));
	EXPECT_EQ(0, clReleaseMemObject(readonly));
}

TEST_F(memory, infos)
{
	const cl_buffer_region region = { 256, 512 };
	const cl_mem_properties none[] = { 0 };
	cl_mem_properties properties[3];
	cl_mem mem, part, parent;
	cl_mem_flags flags;
	cl_uint count;
	size_t size;
	cl_int err;

	mem = clCreateBufferWithProperties(self->context, none, CL_MEM_WRITE_ONLY, BYTES, NULL,
					   &err);
	ASSERT_EQ(0, err);
	part = clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, clGetMemObjectInfo(part, CL_MEM_FLAGS, sizeof(flags), &flags, NULL));
	EXPECT_EQ(CL_MEM_WRITE_ONLY, flags);
	ASSERT_EQ(0, clGetMemObjectInfo(part, CL_MEM_OFFSET, sizeof(size), &size, NULL));
	EXPECT_EQ(256, size);
	ASSERT_EQ(0, clGetMemObjectInfo(part, CL_MEM_SIZE, sizeof(size), &size, NULL));
	EXPECT_EQ(512, size);
	ASSERT_EQ(0, clGetMemObjectInfo(part, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof(parent), &parent,
					NULL));
	EXPECT_EQ(mem, parent);
	ASSERT_EQ(0, clGetMemObjectInfo(mem, CL_MEM_PROPERTIES, sizeof(properties), properties,
					&size));
	EXPECT_EQ(sizeof(none), size);
	ASSERT_EQ(0, clRetainMemObject(part));
	ASSERT_EQ(0, clGetMemObjectInfo(part, CL_MEM_REFERENCE_COUNT, sizeof(count), &count, NULL));
	EXPECT_EQ(2, count);
	EXPECT_EQ(CL_INVALID_VALUE, clGetMemObjectInfo(part, CL_MEM_SIZE, 4, &count, NULL));
	EXPECT_EQ(CL_INVALID_VALUE, clGetMemObjectInfo(part, 0, 4, &count, NULL));
	EXPECT_EQ(0, clReleaseMemObject(part));
	EXPECT_EQ(0, clReleaseMemObject(part));
	EXPECT_EQ(0, clReleaseMemObject(mem));
}

static char order[8];

static void CL_CALLBACK note(cl_mem mem, void *data)
{
	order[strlen(order)] = *(const char *)data;
}

TEST_F(memory, destructor_callbacks_run_last_first_when_no_part_is_left)
{
	const cl_buffer_region region = { 0, 128 };
	cl_mem mem, part;
	cl_int err;

	mem = clCreateBuffer(self->context, 0, BYTES, NULL, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, clSetMemObjectDestructorCallback(mem, note, "a"));
	ASSERT_EQ(0, clSetMemObjectDestructorCallback(mem, note, "b"));
	EXPECT_EQ(CL_INVALID_VALUE, clSetMemObjectDestructorCallback(mem, NULL, NULL));
	part = clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err);
	ASSERT_EQ(0, err);
	EXPECT_EQ(0, clReleaseMemObject(mem));
	EXPECT_STREQ("", order);
	EXPECT_EQ(0, clReleaseMemObject(part));
	EXPECT_STREQ("ba", order);
}

#define POOL_BUFFERS 64
#define POOL_BYTES (1u << 20)

/* Objects that are there at the same time have memory of their own, whatever was there before. */
TEST_F(memory, of_released_objects_is_used_again_by_one_at_a_time)
{
	cl_mem mems[8];
	unsigned int i, round;
	cl_uint word;
	cl_command_queue queue;
	cl_int err;

	queue = clCreateCommandQueue(self->context, ocl_device(), 0, &err);
	ASSERT_EQ(0, err);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < 8; i++) {
			mems[i] = clCreateBuffer(self->context, 0, BYTES * (1 + i % 3), NULL, &err);
			ASSERT_EQ(0, err);
			word = round * 8 + i;
			EXPECT_EQ(0, clEnqueueFillBuffer(queue, mems[i], &word, sizeof(word), 0,
							 BYTES, 0, NULL, NULL));
		}
		for (i = 0; i < 8; i++) {
			EXPECT_EQ(0, clEnqueueReadBuffer(queue, mems[i], CL_TRUE, BYTES / 2,
							 sizeof(word), &word, 0, NULL, NULL));
			EXPECT_EQ(round * 8 + i, word);
			EXPECT_EQ(0, clReleaseMemObject(mems[i]));
		}
	}
	EXPECT_EQ(0, clReleaseCommandQueue(queue));
}

/* What the context keeps of them is freed for a new object that needs the room. */
TEST_F(memory, of_released_objects_makes_room_for_new_ones)
{
	cl_mem mems[POOL_BUFFERS];
	unsigned int i, count;
	cl_ulong most;
	cl_int err = 0;

	clGetDeviceInfo(ocl_device(), CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(most), &most, NULL);
	for (i = 0; i < POOL_BUFFERS; i++) {
		mems[i] = clCreateBuffer(self->context, 0, POOL_BYTES, NULL, &err);
		ASSERT_EQ(0, err);
	}
	for (i = 0; i < POOL_BUFFERS; i++)
		EXPECT_EQ(0, clReleaseMemObject(mems[i]));
	/* Two of the largest */
	for (count = 0; count < 2; count++) {
		mems[count] = clCreateBuffer(self->context, 0, most, NULL, &err);
		EXPECT_EQ(0, err);
	}
	while (count--)
		EXPECT_EQ(0, clReleaseMemObject(mems[count]));
}

#define OTHERS 12
#define SHARES 64

/* Other contexts keep memory of their released objects too, which is not lost for this one. */
TEST_F(memory, of_released_objects_of_other_contexts_makes_room_too)
{
	cl_context others[OTHERS];
	cl_device_id device = ocl_device();
	cl_ulong all, most;
	cl_mem mems[4];
	unsigned int c, i;
	cl_int err;

	clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(all), &all, NULL);
	clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(most), &most, NULL);
	for (c = 0; c < OTHERS; c++) {
		others[c] = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
		ASSERT_EQ(0, err);
		for (i = 0; i < 4; i++) {
			mems[i] = clCreateBuffer(others[c], 0, all / SHARES, NULL, &err);
			ASSERT_EQ(0, err);
		}
		for (i = 0; i < 4; i++)
			EXPECT_EQ(0, clReleaseMemObject(mems[i]));
	}
	for (i = 0; i < 2; i++) {
		mems[i] = clCreateBuffer(self->context, 0, most, NULL, &err);
		EXPECT_EQ(0, err);
	}
	while (i--)
		EXPECT_EQ(0, clReleaseMemObject(mems[i]));
	for (c = 0; c < OTHERS; c++)
		EXPECT_EQ(0, clReleaseContext(others[c]));
}

TEST_F(memory, may_be_read_some_bytes_past_its_end)
{
	static const char *source =
		"kernel void sums(global const uchar *in, global int *out) {\n"
		"	size_t i = get_global_id(0);\n"
		"	uchar4 v = vload4(0, in + 3 * i);\n"
		"	out[i] = v.x + v.y + v.z + v.w;\n"
		"}\n";
	enum { COUNT = 40 };
	const size_t items = BYTES, bytes[] = { 3 * BYTES, 4 * BYTES };
	cl_command_queue queue = clCreateCommandQueue(self->context, ocl_device(), 0, NULL);
	cl_program program = ocl_build(self->context, source, NULL);
	cl_mem mems[2 * COUNT];
	cl_kernel kernel;
	unsigned int i;

	ASSERT_NE(NULL, program);
	kernel = clCreateKernel(program, "sums", NULL);

	/* So many that some have none that follows them in memory */
	for (i = 0; i < 2 * COUNT; i++)
		mems[i] = clCreateBuffer(self->context, 0, bytes[i % 2], NULL, NULL);
	for (i = 0; i < 2 * COUNT; i += 2) {
		EXPECT_EQ(0, clSetKernelArg(kernel, 0, sizeof(cl_mem), &mems[i]));
		EXPECT_EQ(0, clSetKernelArg(kernel, 1, sizeof(cl_mem), &mems[i + 1]));
		EXPECT_EQ(0, clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL,
						    NULL));
		EXPECT_EQ(0, clFinish(queue));
	}
	for (i = 0; i < 2 * COUNT; i++)
		clReleaseMemObject(mems[i]);
	clReleaseKernel(kernel);
	clReleaseProgram(program);
	clReleaseCommandQueue(queue);
}

/* Where in a page the CPU has an object */
static size_t place(cl_command_queue queue, cl_mem mem)
{
	const char *map = clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_READ, 0, 1, 0, NULL, NULL,
					     NULL);

	clEnqueueUnmapMemObject(queue, mem, (void *)map, 0, NULL, NULL);
	return (uintptr_t)map % 4096;
}

/* See choose_start() in memory.c of the driver. */
TEST_F(memory, of_objects_in_use_together_is_far_apart_in_a_page)
{
	const cl_mem_flags mapped = CL_MEM_ALLOC_HOST_PTR;
	cl_command_queue queue;
	size_t places[4], apart;
	unsigned int i, j;
	cl_mem mems[4];
	cl_int err;

	queue = clCreateCommandQueue(self->context, ocl_device(), 0, &err);
	ASSERT_EQ(0, err);
	for (i = 0; i < 4; i++) {
		mems[i] = clCreateBuffer(self->context, 0, BYTES, NULL, &err);
		ASSERT_EQ(0, err);
		places[i] = place(queue, mems[i]);
		EXPECT_EQ(0, places[i] % 128);
		for (j = 0; j < i; j++) {
			apart = (places[i] - places[j]) % 4096;
			EXPECT_LE(512, apart);
			EXPECT_GE(4096 - 512, apart);
			/* Also in rows of a quarter of a page */
			EXPECT_NE(0, apart % 1024);
		}
	}
	for (i = 0; i < 4; i++)
		EXPECT_EQ(0, clReleaseMemObject(mems[i]));
	/* As other drivers have it: programs may count on it. */
	for (i = 0; i < 4; i++) {
		mems[i] = clCreateBuffer(self->context, mapped, BYTES, NULL, &err);
		ASSERT_EQ(0, err);
		EXPECT_EQ(0, place(queue, mems[i]));
	}
	for (i = 0; i < 4; i++)
		EXPECT_EQ(0, clReleaseMemObject(mems[i]));
	EXPECT_EQ(0, clReleaseCommandQueue(queue));
}

TEST_HARNESS_MAIN
