/* SPDX-License-Identifier: MIT */
/*
 * agile_test.h - nodes, kernels and fields for the tests of agile arrays
 *
 * The nodes are embedded GPUs, each a device of its own, or those that SALVO_AGILE_DEVICES
 * names, separated by commas, in turn.
 */
#ifndef AGILE_TEST_H
#define AGILE_TEST_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "salvo_agile.h"

#define NODES 4

struct cluster {
	struct salvo_device *devices[NODES];
	struct salvo_agile *agile;
	void *image;
	size_t bytes;
};

/* The device of node @i. */
static inline int cluster_device(unsigned int i, struct salvo_device **out)
{
	const char *names = getenv("SALVO_AGILE_DEVICES");
	char list[256] = "soft", *name, *next;
	unsigned int count = 1;

	if (names)
		snprintf(list, sizeof(list), "%s", names);
	for (next = list; (next = strchr(next, ',')); next++)
		count++;
	next = list;
	name = strsep(&next, ",");
	for (i %= count; i; i--)
		name = strsep(&next, ",");
	return salvo_device_open(name, out);
}

static inline int cluster_open(struct cluster *c, unsigned int nodes)
{
	struct salvo_agile_node node[NODES] = { { NULL, 0 } };
	char path[4400], self[4096];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	unsigned int i;
	FILE *file;
	int err = 0;

	memset(c, 0, sizeof(*c));
	self[length < 0 ? 0 : length] = 0;
	*strrchr(self, '/') = 0;
	snprintf(path, sizeof(path), "%s/../../kernels/agile.salvo", self);
	file = fopen(path, "rbe");
	if (!file)
		return -1;
	c->image = malloc(1 << 22);
	c->bytes = fread(c->image, 1, 1 << 22, file);
	fclose(file);
	for (i = 0; i < nodes && !err; i++) {
		err = cluster_device(i, &c->devices[i]);
		node[i].device = c->devices[i];
	}
	/* Alone, or with other ranks if the environment says so. */
	return err ? err : salvo_agile_create_ranks(NULL, node, nodes, &c->agile);
}

static inline void cluster_close(struct cluster *c)
{
	unsigned int i;

	salvo_agile_destroy(c->agile);
	for (i = 0; i < NODES; i++)
		if (c->devices[i])
			salvo_device_close(c->devices[i]);
	free(c->image);
}

static inline struct salvo_agile_kernel *cluster_kernel(struct cluster *c, const char *name)
{
	struct salvo_agile_kernel *kernel = NULL;

	if (salvo_agile_kernel_create(c->agile, c->image, c->bytes, name, &kernel))
		printf("# %s\n", salvo_agile_error(c->agile));
	return kernel;
}

static inline struct salvo_agile_stats all_stats(const struct salvo_agile *agile,
						 unsigned int nodes)
{
	struct salvo_agile_stats all = { 0 }, one;
	unsigned int i;

	for (i = 0; i < nodes && !salvo_agile_get_stats(agile, i, &one); i++) {
		all.moved_bytes += one.moved_bytes;
		all.moved_blocks += one.moved_blocks;
		all.reused_blocks += one.reused_blocks;
		all.returned_bytes += one.returned_bytes;
		all.tasks += one.tasks;
		all.stolen += one.stolen;
		all.batches += one.batches;
		all.commands += one.commands;
	}
	return all;
}

/*
 * Copy a whole field to or from an array, row by row. Of several ranks the first writes, and all
 * read.
 */
static inline int field_access(struct salvo_agile *agile, struct salvo_agile_field *field,
			       const struct salvo_agile_grid *grid, void *data, size_t element,
			       int access)
{
	const size_t bytes = salvo_agile_grid_count(grid) * element;
	struct salvo_agile_tile tile;
	unsigned int first;
	int err;

	salvo_agile_nodes(agile, &first, NULL);
	err = salvo_agile_tile_open(field, first, access == SALVO_AGILE_WRITE && first ?
				    NULL : grid, access, &tile);
	if (err)
		return err;
	if (access == SALVO_AGILE_WRITE && tile.data)
		memcpy(tile.data, data, bytes);
	else if (access == SALVO_AGILE_READ)
		memcpy(data, tile.data, bytes);
	return salvo_agile_tile_close(&tile);
}

static inline uint32_t pick(uint64_t *seed, uint32_t below)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (*seed >> 33) % below;
}

/* Orders of 32-bit elements for sorts: by the upper half, and by all. */
static inline int by_upper(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a >> 16, y = *(const uint32_t *)b >> 16;

	return x < y ? -1 : x > y;
}

static inline int by_all(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

#endif
