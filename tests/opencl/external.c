// SPDX-License-Identifier: MIT
/*
 * external.c - buffers over memory of others: cl_khr_external_memory_dma_buf
 *
 * The embedded GPU imports a memfd as it does a dma-buf; a render node imports a buffer of vgem.
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "dmabuf.h"
#include "ocl.h"
#include "kselftest_harness.h"

#define WORDS	4096
#define BYTES	(WORDS * sizeof(cl_uint))

FIXTURE(external) {
	cl_device_id device;
	cl_platform_id platform;
	cl_context context;
	cl_command_queue queue;
	int fd;
	int vgem;
	cl_uint *theirs;
};

FIXTURE_SETUP(external)
{
	cl_int err;

	self->device = ocl_device();
	ASSERT_NE(NULL, self->device);
	ASSERT_EQ(0, clGetPlatformIDs(1, &self->platform, NULL));
	self->context = clCreateContext(NULL, 1, &self->device, NULL, NULL, &err);
	ASSERT_EQ(0, err);
	self->queue = clCreateCommandQueueWithProperties(self->context, self->device, NULL, &err);
	ASSERT_EQ(0, err);
	self->vgem = -1;
	if (getenv("SALVO_DEVICE")) {
		struct vgem_bo bo;

		self->vgem = vgem_open();
		ASSERT_LE(0, self->vgem);
		ASSERT_EQ(0, vgem_create(self->vgem, BYTES, O_RDWR | O_CLOEXEC, &bo));
		self->fd = bo.fd;
		self->theirs = bo.map;
	} else {
		self->fd = memfd_create("test", MFD_CLOEXEC);
		ASSERT_LE(0, self->fd);
		ASSERT_EQ(0, ftruncate(self->fd, BYTES));
		self->theirs = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd, 0);
		ASSERT_NE(MAP_FAILED, self->theirs);
	}
}

FIXTURE_TEARDOWN(external)
{
	EXPECT_EQ(0, clReleaseCommandQueue(self->queue));
	EXPECT_EQ(0, clReleaseContext(self->context));
	munmap(self->theirs, BYTES);
	close(self->fd);
	if (self->vgem >= 0)
		close(self->vgem);
}

TEST_F(external, a_file_is_read_and_written_in_place)
{
	const cl_mem_properties properties[] = {
		CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR, self->fd,
		CL_MEM_DEVICE_HANDLE_LIST_KHR, (cl_mem_properties)(uintptr_t)self->device,
		CL_MEM_DEVICE_HANDLE_LIST_END_KHR, 0,
	};
	clEnqueueAcquireExternalMemObjectsKHR_fn acquire =
		clGetExtensionFunctionAddressForPlatform(self->platform,
							 "clEnqueueAcquireExternalMemObjectsKHR");
	clEnqueueReleaseExternalMemObjectsKHR_fn release =
		clGetExtensionFunctionAddressForPlatform(self->platform,
							 "clEnqueueReleaseExternalMemObjectsKHR");
	cl_mem_properties back[8];
	const cl_uint pattern = 5;
	cl_uint word = 0;
	cl_mem mem, own;
	size_t size;
	cl_int err;
	int i;

	ASSERT_NE(NULL, acquire);
	ASSERT_NE(NULL, release);
	mem = clCreateBufferWithProperties(self->context, properties, 0, BYTES, NULL, &err);
	ASSERT_EQ(0, err);
	own = clCreateBuffer(self->context, 0, BYTES, NULL, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, clGetMemObjectInfo(mem, CL_MEM_PROPERTIES, sizeof(back), back, &size));
	EXPECT_EQ(sizeof(properties), size);
	EXPECT_EQ(0, memcmp(properties, back, sizeof(properties)));
	self->theirs[7] = 77;
	ASSERT_EQ(0, acquire(self->queue, 1, &mem, 0, NULL, NULL));
	ASSERT_EQ(0, clEnqueueReadBuffer(self->queue, mem, CL_TRUE, 28, 4, &word, 0, NULL, NULL));
	EXPECT_EQ(77, word);
	ASSERT_EQ(0, clEnqueueFillBuffer(self->queue, mem, &pattern, 4, 0, BYTES, 0, NULL, NULL));
	ASSERT_EQ(0, release(self->queue, 1, &mem, 0, NULL, NULL));
	ASSERT_EQ(0, clFinish(self->queue));
	for (i = 0; i < WORDS; i++)
		EXPECT_EQ(5, self->theirs[i]);
	EXPECT_EQ(CL_INVALID_MEM_OBJECT, acquire(self->queue, 1, &own, 0, NULL, NULL));
	EXPECT_EQ(CL_INVALID_VALUE, acquire(self->queue, 1, NULL, 0, NULL, NULL));
	EXPECT_EQ(CL_SUCCESS, acquire(self->queue, 0, NULL, 0, NULL, NULL));
	EXPECT_EQ(0, clReleaseMemObject(mem));
	EXPECT_EQ(0, clReleaseMemObject(own));
}

/* What a failed command has not written may be there after others had the memory. */
TEST_F(external, memory_that_comes_back_from_others_can_be_read)
{
	const char *text = "kernel void stray(global uint *out, ulong far) { out[far] = 1; }";
	const cl_mem_properties properties[] = {
		CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR, self->fd, 0,
	};
	clEnqueueAcquireExternalMemObjectsKHR_fn acquire =
		clGetExtensionFunctionAddressForPlatform(self->platform,
							 "clEnqueueAcquireExternalMemObjectsKHR");
	const cl_ulong far = 1ull << 45;
	const size_t item = 1;
	cl_program program;
	cl_kernel kernel;
	cl_uint word = 0;
	cl_mem mem;
	cl_int err;

	mem = clCreateBufferWithProperties(self->context, properties, 0, BYTES, NULL, &err);
	ASSERT_EQ(0, err);
	program = ocl_build(self->context, text, NULL);
	ASSERT_NE(NULL, program);
	kernel = clCreateKernel(program, "stray", &err);
	ASSERT_EQ(0, err);
	clSetKernelArg(kernel, 0, sizeof(mem), &mem);
	clSetKernelArg(kernel, 1, sizeof(far), &far);
	ASSERT_EQ(0, clEnqueueNDRangeKernel(self->queue, kernel, 1, NULL, &item, NULL, 0, NULL,
					    NULL));
	EXPECT_EQ(CL_OUT_OF_RESOURCES, clEnqueueReadBuffer(self->queue, mem, CL_TRUE, 28, 4, &word,
							   0, NULL, NULL));
	self->theirs[7] = 77;
	ASSERT_EQ(0, acquire(self->queue, 1, &mem, 0, NULL, NULL));
	EXPECT_EQ(0, clEnqueueReadBuffer(self->queue, mem, CL_TRUE, 28, 4, &word, 0, NULL, NULL));
	EXPECT_EQ(77, word);
	EXPECT_EQ(CL_OUT_OF_RESOURCES, clFinish(self->queue));
	EXPECT_EQ(0, clReleaseMemObject(mem));
	EXPECT_EQ(0, clReleaseKernel(kernel));
	EXPECT_EQ(0, clReleaseProgram(program));
}

TEST_F(external, properties_are_checked)
{
	const cl_mem_properties twice[] = {
		CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR, self->fd,
		CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR, self->fd, 0,
	};
	const cl_mem_properties unknown[] = { 0x1234, self->fd, 0 };
	const cl_mem_properties alone[] = {
		CL_MEM_DEVICE_HANDLE_LIST_KHR, (cl_mem_properties)(uintptr_t)self->device, 0, 0,
	};
	const cl_mem_properties stranger[] = {
		CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR, self->fd,
		CL_MEM_DEVICE_HANDLE_LIST_KHR, (cl_mem_properties)(uintptr_t)self->context, 0, 0,
	};
	const cl_mem_properties good[] = { CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR, self->fd, 0 };
	const cl_mem_properties closed[] = { CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR, 9999, 0 };
	cl_int err;

#define CREATE(properties, flags, size) \
	(clCreateBufferWithProperties(self->context, properties, flags, size, NULL, &err), err)
	EXPECT_EQ(CL_INVALID_PROPERTY, CREATE(twice, 0, BYTES));
	EXPECT_EQ(CL_INVALID_PROPERTY, CREATE(unknown, 0, BYTES));
	EXPECT_EQ(CL_INVALID_PROPERTY, CREATE(alone, 0, BYTES));
	EXPECT_EQ(CL_INVALID_DEVICE, CREATE(stranger, 0, BYTES));
	EXPECT_EQ(CL_INVALID_VALUE, CREATE(good, CL_MEM_ALLOC_HOST_PTR, BYTES));
	EXPECT_EQ(CL_INVALID_VALUE, CREATE(good, 0, BYTES + 1));
	EXPECT_NE(CL_SUCCESS, CREATE(closed, 0, BYTES));
}

TEST_F(external, devices_say_what_they_import)
{
	cl_external_memory_handle_type_khr type = 0;
	size_t size;

	ASSERT_EQ(0,
		  clGetDeviceInfo(self->device, CL_DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR,
				  sizeof(type), &type, &size));
	EXPECT_EQ(sizeof(type), size);
	EXPECT_EQ(CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR, type);
	ASSERT_EQ(0, clGetPlatformInfo(self->platform,
				       CL_PLATFORM_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR,
				       sizeof(type), &type, &size));
	EXPECT_EQ(CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR, type);
}

TEST_HARNESS_MAIN
