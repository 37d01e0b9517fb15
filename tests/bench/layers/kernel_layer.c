// SPDX-License-Identifier: MIT
/*
 * kernel_layer.c - a layer that times each launch of a kernel
 *
 * Each launch runs alone: its queue is finished before and after it. A line "KERNEL CPU WALL",
 * the nanoseconds that the process took between the two, is written for it to the file that
 * KERNEL_LAYER_OUT names. Programs get every device, whichever type they ask for.
 */
#include "layer.h"

#include <stdio.h>
#include <stdlib.h>

/* Its lock keeps the lines of several threads apart. */
static FILE *out;

static cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
				 const size_t *offset, const size_t *global, const size_t *local,
				 cl_uint waits, const cl_event *list, cl_event *event)
{
	const struct _cl_icd_dispatch *driver = layer_driver;
	unsigned long long cpu, wall;
	char name[256] = "";
	cl_int err;

	if (!out || driver->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof(name), name,
					    NULL) || driver->clFinish(queue))
		return driver->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global,
						      local, waits, list, event);
	cpu = layer_clock(CLOCK_PROCESS_CPUTIME_ID);
	wall = layer_clock(CLOCK_MONOTONIC);
	err = driver->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local,
					     waits, list, event);
	driver->clFinish(queue);
	wall = layer_clock(CLOCK_MONOTONIC) - wall;
	cpu = layer_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	if (!err)
		fprintf(out, "%s %llu %llu\n", name, cpu, wall);
	return err;
}

static cl_int CL_API_CALL devices(cl_platform_id platform, cl_device_type type, cl_uint most,
				  cl_device_id *ids, cl_uint *count)
{
	(void)type;
	return layer_driver->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, most, ids, count);
}

static cl_context CL_API_CALL context(const cl_context_properties *properties, cl_device_type type,
				      void (CL_CALLBACK *notify)(const char *, const void *, size_t,
								 void *), void *data, cl_int *err)
{
	(void)type;
	return layer_driver->clCreateContextFromType(properties, CL_DEVICE_TYPE_ALL, notify, data,
						     err);
}

void layer_init(struct _cl_icd_dispatch *table)
{
	const char *path = getenv("KERNEL_LAYER_OUT");

	if (path)
		out = fopen(path, "we");
	table->clEnqueueNDRangeKernel = launch;
	table->clGetDeviceIDs = devices;
	table->clCreateContextFromType = context;
}
