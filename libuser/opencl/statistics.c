// SPDX-License-Identifier: MIT
/*
 * statistics.c - what batching did: commands enqueued, beside packets, interrupts and completions
 *
 * A program that uses OpenCL ends without a word to its driver, so the figures are printed when the
 * process runs its destructors. Those of a device are of all contexts in this process.
 */
#include "statistics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "salvo.h"
#include "device.h"
#include "platform.h"

bool salvo_cl_counting;
atomic_ulong salvo_cl_gpu_commands;
atomic_ulong salvo_cl_host_commands;

__attribute__((constructor)) static void begin(void)
{
	salvo_cl_counting = secure_getenv("SALVO_OPENCL_STATS");
}

static void print_device(cl_device_id device)
{
	struct salvo_device_stats stats;
	struct salvo_device *salvo;

	pthread_mutex_lock(&device->lock);
	salvo = device->salvo;
	pthread_mutex_unlock(&device->lock);
	if (salvo && !salvo_device_get_stats(salvo, &stats))
		fprintf(stderr, "salvo-opencl: %s: %" PRIu64 " packets, %" PRIu64 " doorbells, %" PRIu64
			" interrupts, %" PRIu64 " completions\n", device->name, stats.packets,
			stats.doorbells, stats.interrupts, stats.completions);
}

__attribute__((destructor)) static void print(void)
{
	cl_platform_id platform;
	cl_uint i;

	if (!salvo_cl_counting)
		return;
	fprintf(stderr, "salvo-opencl: %lu commands of the GPU, %lu of the host\n",
		atomic_load(&salvo_cl_gpu_commands), atomic_load(&salvo_cl_host_commands));
	platform = salvo_cl_platform();
	for (i = 0; i < platform->device_count; i++)
		print_device(platform->devices[i]);
}
