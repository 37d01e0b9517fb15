/* SPDX-License-Identifier: MIT */
/*
 * opencl.h - the other side of a comparison: PoCL, the first OpenCL platform
 */
#ifndef BENCH_OPENCL_H
#define BENCH_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "bench.h"

struct opencl {
	cl_context context;
	cl_command_queue queue;		/* in order */
	cl_program program;
};

/* With a program of @text. */
static inline void opencl_open(struct opencl *cl, const char *text)
{
	cl_platform_id platform;
	cl_device_id device;
	cl_int err;

	need(!clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
	need(!clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
	cl->context = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
	need(!err, "clCreateContext");
	cl->queue = clCreateCommandQueue(cl->context, device, 0, &err);
	need(!err, "clCreateCommandQueue");
	cl->program = clCreateProgramWithSource(cl->context, 1, &text, NULL, &err);
	need(!err && !clBuildProgram(cl->program, 1, &device, "", NULL, NULL), "clBuildProgram");
}

static inline void opencl_close(struct opencl *cl)
{
	clReleaseProgram(cl->program);
	clReleaseCommandQueue(cl->queue);
	clReleaseContext(cl->context);
}

static inline cl_kernel opencl_kernel(struct opencl *cl, const char *name)
{
	cl_int err;
	cl_kernel kernel = clCreateKernel(cl->program, name, &err);

	need(!err, "clCreateKernel");
	return kernel;
}

/* A copy of @data, or whatever it holds if that is NULL. */
static inline cl_mem opencl_buffer(struct opencl *cl, size_t bytes, const void *data)
{
	cl_int err;
	cl_mem buffer = clCreateBuffer(cl->context, CL_MEM_READ_WRITE |
				       (data ? CL_MEM_COPY_HOST_PTR : 0), bytes, (void *)data,
				       &err);

	need(!err, "clCreateBuffer");
	return buffer;
}

#endif /* BENCH_OPENCL_H */
