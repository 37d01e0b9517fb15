// SPDX-License-Identifier: MIT
/*
 * build_layer.c - a layer that times clBuildProgram
 *
 * At the end of the process the number of calls and their wall time, a line "CALLS SECONDS", is
 * written to the file that BUILD_LAYER_OUT names.
 */
#include "layer.h"

#include <stdio.h>
#include <stdlib.h>

static struct {
	unsigned long long calls, nanoseconds;
} spent;

static cl_int CL_API_CALL build(cl_program program, cl_uint count, const cl_device_id *devices,
				const char *options, void (CL_CALLBACK *done)(cl_program, void *),
				void *data)
{
	const unsigned long long start = layer_clock(CLOCK_MONOTONIC);
	const cl_int err = layer_driver->clBuildProgram(program, count, devices, options, done,
							data);

	/* Threads may build at the same time. */
	__atomic_fetch_add(&spent.nanoseconds, layer_clock(CLOCK_MONOTONIC) - start,
			   __ATOMIC_RELAXED);
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

void layer_init(struct _cl_icd_dispatch *table)
{
	table->clBuildProgram = build;
}
