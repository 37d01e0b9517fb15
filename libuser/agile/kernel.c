// SPDX-License-Identifier: MIT
/*
 * kernel.c - a kernel on all nodes: its program is loaded once for each device
 */
#include "kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node.h"

struct salvo_agile_kernel {
	unsigned int count;
	/** @programs: Of each node; NULL where a node before it has the same device. */
	struct salvo_program **programs;
	struct salvo_kernel **kernels;
	char name[64];
};

static int load(struct salvo_agile *agile, struct salvo_agile_kernel *kernel, unsigned int node,
		const void *image, size_t bytes)
{
	struct salvo_program *program = NULL;
	unsigned int n;
	int err = 0;

	for (n = 0; n < node; n++)
		if (agile->nodes[n].device == agile->nodes[node].device && kernel->programs[n])
			program = kernel->programs[n];
	if (!program) {
		err = salvo_program_load(agile->nodes[node].device, image, bytes, &program);
		kernel->programs[node] = program;
	}
	return err ? err : salvo_kernel_create(program, kernel->name, &kernel->kernels[node]);
}

int salvo_agile_kernel_create(struct salvo_agile *agile, const void *image, size_t bytes,
			      const char *name, struct salvo_agile_kernel **out)
{
	struct salvo_agile_kernel *kernel = calloc(1, sizeof(*kernel));
	unsigned int n;
	int err = 0;

	*out = NULL;
	if (!kernel)
		return agile_fail(agile, -ENOMEM, "out of memory");
	kernel->count = agile->count;
	kernel->programs = calloc(agile->count, sizeof(*kernel->programs));
	kernel->kernels = calloc(agile->count, sizeof(*kernel->kernels));
	snprintf(kernel->name, sizeof(kernel->name), "%s", name);
	if (!kernel->programs || !kernel->kernels)
		err = agile_fail(agile, -ENOMEM, "out of memory");
	for (n = agile->first; n < agile->first + agile->local && !agile->planning && !err; n++) {
		err = load(agile, kernel, n, image, bytes);
		if (err)
			agile_fail(agile, err, "kernel %s on node %u: %s", name, n,
				   strerror(-err));
	}
	if (err) {
		salvo_agile_kernel_destroy(kernel);
		return err;
	}
	*out = kernel;
	return 0;
}

void salvo_agile_kernel_destroy(struct salvo_agile_kernel *kernel)
{
	unsigned int n;

	if (!kernel)
		return;
	for (n = 0; kernel->kernels && n < kernel->count; n++)
		salvo_kernel_destroy(kernel->kernels[n]);
	for (n = 0; kernel->programs && n < kernel->count; n++)
		salvo_program_destroy(kernel->programs[n]);
	free(kernel->kernels);
	free(kernel->programs);
	free(kernel);
}

struct salvo_kernel *agile_kernel_of(struct salvo_agile_kernel *kernel, unsigned int node)
{
	return kernel->kernels[node];
}

const char *agile_kernel_name(const struct salvo_agile_kernel *kernel)
{
	return kernel->name;
}
