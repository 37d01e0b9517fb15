// SPDX-License-Identifier: MIT
/*
 * build_layer.c - a layer of the OpenCL loader that times clBuildProgram
 *
 * The loader calls the layer that OPENCL_LAYERS names instead of the driver. Those entries of the
 * layer's table that are NULL are the driver's own. At the end of the process the number of calls
 * and their wall time, a line "CALLS SECONDS", is written to the file that BUILD_LAYER_OUT names.
 */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <CL/cl_layer.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct _cl_icd_dispatch *driver;
static struct _cl_icd_dispatch table;
static struct {
	unsigned long long calls, nanoseconds;
} spent;

static unsigned long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static cl_int CL_API_CALL build(cl_program program, cl_uint count, const cl_device_id *devices,
				const char *options, void (CL_CALLBACK *done)(cl_program, void *),
				void *data)
{
	const unsigned long long start = now();
	const cl_int err = driver->clBuildProgram(program, count, devices, options, done, data);

	/* Threads may build at the same time. */
	__atomic_fetch_add(&spent.nanoseconds, now() - start, __ATOMIC_RELAXED);
	__atomic_fetch_add(&spent.calls, 1, __ATOMIC_RELAXED);
	return err;
}

__attribute__((destructor)) static void report(void)
{
	const char *path = getenv("BUILD_LAYER_OUT");
	FILE *out = path ? fopen(path, "w") : NULL;

	if (!out)
		return;
	fprintf(out, "%llu %.6f\n", spent.calls, spent.nanoseconds / 1e9);
	fclose(out);
}

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t size, void *value,
					       size_t *size_ret)
{
	const cl_layer_api_version version = CL_LAYER_API_VERSION_100;

	if (name != CL_LAYER_API_VERSION || (value && size < sizeof(version)))
		return CL_INVALID_VALUE;
	if (value)
		memcpy(value, &version, sizeof(version));
	if (size_ret)
		*size_ret = sizeof(version);
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entries,
					    const struct _cl_icd_dispatch *target,
					    cl_uint *entries_ret,
					    const struct _cl_icd_dispatch **table_ret)
{
	if (!target || !entries_ret || !table_ret || entries * sizeof(void *) < sizeof(table))
		return CL_INVALID_VALUE;
	driver = target;
	table.clBuildProgram = build;
	*entries_ret = sizeof(table) / sizeof(void *);
	*table_ret = &table;
	return CL_SUCCESS;
}
