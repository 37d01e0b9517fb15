/* SPDX-License-Identifier: MIT */
/*
 * ocl.h - a test program of the OpenCL driver, through the ICD loader
 *
 * The loader is pointed at the salvo.icd of this build, so that Salvo is the only platform.
 */
#ifndef TEST_OCL_H
#define TEST_OCL_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Its name before cl_khr_external_memory 1.0.1 */
#ifndef CL_MEM_DEVICE_HANDLE_LIST_KHR
#define CL_MEM_DEVICE_HANDLE_LIST_KHR		CL_DEVICE_HANDLE_LIST_KHR
#define CL_MEM_DEVICE_HANDLE_LIST_END_KHR	CL_DEVICE_HANDLE_LIST_END_KHR
#endif

/* build/tests/opencl/NAME -> build/lib/salvo.icd */
__attribute__((constructor)) static inline void ocl_use_salvo(void)
{
	char path[4096], icd[4200];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	unsigned int up;

	path[length > 0 ? length : 0] = 0;
	for (up = 0; up < 3 && strrchr(path, '/'); up++)
		*strrchr(path, '/') = 0;
	snprintf(icd, sizeof(icd), "%s/lib/salvo.icd", path);
	setenv("OCL_ICD_VENDORS", icd, 1);
}

/* The compiler of this build, beside the folder of the icd */
static inline const char *ocl_compiler(void)
{
	static char path[4200];

	const char *icd = getenv("OCL_ICD_VENDORS");

	snprintf(path, sizeof(path), "%.*s/../bin/salvo-cc", (int)(strrchr(icd, '/') - icd), icd);
	return path;
}

/* Is it the one that SALVO_DEVICE names, the path of a render node? */
static inline bool ocl_is_chosen(cl_device_id device, const char *path)
{
	const char *node = strrchr(path, '/');
	char name[128] = "";
	size_t length;

	node = node ? node + 1 : path;
	clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof(name), name, NULL);
	length = strlen(name);
	return length >= strlen(node) && !strcmp(name + length - strlen(node), node);
}

/* The device that SALVO_DEVICE names, or else the platform's last: the embedded GPU; or NULL. */
static inline cl_device_id ocl_device(void)
{
	const char *path = getenv("SALVO_DEVICE");
	cl_device_id devices[16];
	cl_platform_id platform;
	cl_uint count, i;

	if (clGetPlatformIDs(1, &platform, NULL) ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 16, devices, &count))
		return NULL;
	if (!path)
		return devices[count - 1];
	for (i = 0; i < count; i++)
		if (ocl_is_chosen(devices[i], path))
			return devices[i];
	return NULL;
}

/* A context of the device and a queue on it. Return: CL_SUCCESS or what was refused. */
static inline cl_int ocl_open(const cl_queue_properties *properties, cl_context *context,
			      cl_command_queue *queue)
{
	cl_device_id device = ocl_device();
	cl_int err = CL_DEVICE_NOT_FOUND;

	if (!device)
		return err;
	*context = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
	if (!err)
		*queue = clCreateCommandQueueWithProperties(*context, device, properties, &err);
	return err;
}

/* A program of one source, built for all devices of @context; or NULL, and the log is printed. */
static inline cl_program ocl_build(cl_context context, const char *source, const char *options)
{
	cl_int err = CL_OUT_OF_HOST_MEMORY;
	cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &err);
	char log[4096] = "";

	if (!err)
		err = clBuildProgram(program, 0, NULL, options, NULL, NULL);
	if (!err)
		return program;
	if (program) {
		clGetProgramBuildInfo(program, ocl_device(), CL_PROGRAM_BUILD_LOG, sizeof(log), log,
				      NULL);
		clReleaseProgram(program);
	}
	fprintf(stderr, "# clBuildProgram: %d\n# %s\n", err, log);
	return NULL;
}

/* Waits for a command and releases its event. Return: the status that it ended with. */
static inline cl_int ocl_end_status(cl_event event)
{
	cl_int status = CL_QUEUED;

	clWaitForEvents(1, &event);
	clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL);
	clReleaseEvent(event);
	return status;
}

#endif /* TEST_OCL_H */
