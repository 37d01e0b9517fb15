// SPDX-License-Identifier: MIT
/*
 * reduce.c - combine all elements of a field
 *
 * It is a statement: its result is a field with one element for each task of the operand, on the
 * node that the task is on, so nothing moves. The partial results are combined in the order of
 * the tasks, so the same map gives the same result whoever was faster.
 */
#include <errno.h>
#include <stdlib.h>

#include "field.h"

/* The task whose number is the index of the partial result. */
static void task_region(void *data, const struct salvo_agile_grid *task,
			struct salvo_agile_grid *region)
{
	uint32_t block;

	agile_task_grid(data, task->offset[0], region, &block);
}

/* Partial results lie in segments as the tasks do. */
static int make_partials(struct salvo_agile_field *field, size_t bytes,
			 struct salvo_agile_field **out)
{
	const struct salvo_agile_field_info info = { bytes, { 0 }, { 1 } };
	const struct salvo_agile_grid grid = { 1, { 0 }, { field->task_count } };
	const struct salvo_agile_map *map = field->map;
	struct salvo_agile_segment *segments = calloc(map->count, sizeof(*segments));
	struct salvo_agile_map *partials;
	unsigned int s;
	int err;

	*out = NULL;
	if (!segments)
		return agile_fail(field->agile, -ENOMEM, "out of memory");
	for (s = 0; s < map->count; s++) {
		const uint32_t end = s + 1 < map->count ?
			field->blocks[field->first_block[s + 1]].first_task : field->task_count;

		segments[s].node = map->segments[s].node;
		segments[s].grid.rank = 1;
		segments[s].grid.offset[0] = field->blocks[field->first_block[s]].first_task;
		segments[s].grid.extent[0] = end - segments[s].grid.offset[0];
	}
	err = agile_map_from_segments(field->agile, "partial results", &grid, segments, map->count,
				      &partials);
	if (err)
		return err;
	err = salvo_agile_field_create(field->agile, "partial results", partials, &info, out);
	salvo_agile_map_destroy(partials);
	return err;
}

int agile_partials(struct salvo_agile_kernel *kernel, struct salvo_agile_field *field,
		   const struct salvo_agile_value *values, unsigned int value_count, size_t bytes,
		   struct salvo_agile_field **out)
{
	const struct salvo_agile_operand operand = { field, task_region, field };
	struct salvo_agile_statement statement = {
		.kernel = kernel, .operands = &operand, .operand_count = 1,
		.values = values, .value_count = value_count,
	};
	int err = make_partials(field, bytes, out);

	if (err)
		return err;
	statement.result = *out;
	err = salvo_agile_forall(field->agile, &statement);
	if (!err)
		return 0;
	salvo_agile_field_destroy(*out);
	*out = NULL;
	return err;
}

int salvo_agile_reduce(struct salvo_agile *agile, struct salvo_agile_kernel *kernel,
		       struct salvo_agile_field *field, const struct salvo_agile_value *values,
		       unsigned int value_count, size_t bytes,
		       void (*combine)(void *accumulated, const void *partial), void *accumulated)
{
	const struct salvo_agile_grid grid = { 1, { 0 }, { field->task_count } };
	struct salvo_agile_field *partials;
	struct salvo_agile_tile tile;
	uint32_t i;
	int err = agile_partials(kernel, field, values, value_count, bytes, &partials);

	if (err)
		return err;
	if (!agile->planning) {
		err = salvo_agile_tile_open(partials, agile->first, &grid, SALVO_AGILE_READ, &tile);
		for (i = 0; i < field->task_count && !err; i++)
			combine(accumulated, (uint8_t *)tile.data + i * bytes);
		if (!err)
			err = salvo_agile_tile_close(&tile);
	}
	salvo_agile_field_destroy(partials);
	return err;
}
