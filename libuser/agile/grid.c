// SPDX-License-Identifier: MIT
/*
 * grid.c - indices and grids (A1 of CN102609244)
 */
#include "salvo_agile.h"

#include <string.h>

uint64_t salvo_agile_grid_count(const struct salvo_agile_grid *grid)
{
	uint64_t count = 1;
	unsigned int d;

	for (d = 0; d < grid->rank; d++)
		count *= grid->extent[d];
	return count;
}

int salvo_agile_grid_contains(const struct salvo_agile_grid *grid,
			      const struct salvo_agile_index *index)
{
	unsigned int d;

	for (d = 0; d < grid->rank; d++)
		if (index->at[d] - grid->offset[d] >= grid->extent[d])
			return 0;
	return 1;
}

uint64_t salvo_agile_grid_number(const struct salvo_agile_grid *grid,
				 const struct salvo_agile_index *index)
{
	uint64_t number = 0;
	unsigned int d;

	for (d = 0; d < grid->rank; d++)
		number = number * grid->extent[d] + (index->at[d] - grid->offset[d]);
	return number;
}

struct salvo_agile_index salvo_agile_grid_index(const struct salvo_agile_grid *grid,
						uint64_t number)
{
	struct salvo_agile_index index = { { 0 } };
	unsigned int d;

	for (d = grid->rank; d--; number /= grid->extent[d])
		index.at[d] = grid->offset[d] + number % grid->extent[d];
	return index;
}

int salvo_agile_grid_intersect(const struct salvo_agile_grid *a, const struct salvo_agile_grid *b,
			       struct salvo_agile_grid *out)
{
	struct salvo_agile_grid common = { .rank = a->rank };
	unsigned int d;

	for (d = 0; d < a->rank; d++) {
		const uint64_t a_end = a->offset[d] + a->extent[d];
		const uint64_t b_end = b->offset[d] + b->extent[d];
		const uint64_t end = a_end < b_end ? a_end : b_end;

		common.offset[d] = a->offset[d] > b->offset[d] ? a->offset[d] : b->offset[d];
		if (common.offset[d] >= end)
			return 0;
		common.extent[d] = end - common.offset[d];
	}
	*out = common;
	return 1;
}

void salvo_agile_transposed(void *data, const struct salvo_agile_grid *task,
			    struct salvo_agile_grid *region)
{
	const unsigned int last = task->rank - 1;

	(void)data;
	*region = *task;
	region->offset[0] = task->offset[last];
	region->extent[0] = task->extent[last];
	region->offset[last] = task->offset[0];
	region->extent[last] = task->extent[0];
}

void salvo_agile_halo(void *data, const struct salvo_agile_grid *task,
		      struct salvo_agile_grid *region)
{
	const uint64_t halo = *(const uint64_t *)data;
	unsigned int d;

	*region = *task;
	for (d = 0; d < task->rank; d++) {
		const uint64_t before = task->offset[d] < halo ? task->offset[d] : halo;

		region->offset[d] -= before;
		region->extent[d] += before + halo;
	}
}

void salvo_agile_fixed(void *data, const struct salvo_agile_grid *task,
		       struct salvo_agile_grid *region)
{
	(void)task;
	memcpy(region, data, sizeof(*region));
}
