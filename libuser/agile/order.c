// SPDX-License-Identifier: MIT
/*
 * order.c - runs and scans of fields of rank 1
 *
 * A scan reduces each run, adds up the partial results on the application's side, and scans each
 * run with what was before it. Two passes over the data, and nothing moves but partial results.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "move.h"
#include "order.h"

static int by_offset(const void *a, const void *b)
{
	const struct agile_run *x = a, *y = b;

	return x->grid.offset[0] < y->grid.offset[0] ? -1 : 1;
}

int agile_runs_init(struct agile_runs *runs, struct salvo_agile_field *field)
{
	unsigned int i;

	*runs = (struct agile_runs){ .field = field, .count = field->task_count };
	if (field->map->grid.rank != 1)
		return agile_fail(field->agile, -EINVAL, "field %s: rank is %u, must be 1",
				  field->name, field->map->grid.rank);
	if (field->agile->planning)
		return agile_fail(field->agile, -ENOTSUP, "the nodes are there to plan only");
	runs->all = calloc(runs->count, sizeof(*runs->all));
	if (!runs->all)
		return agile_fail(field->agile, -ENOMEM, "out of memory");
	for (i = 0; i < runs->count; i++) {
		runs->all[i].task = i;
		agile_task_grid(field, i, &runs->all[i].grid, &runs->all[i].block);
	}
	qsort(runs->all, runs->count, sizeof(*runs->all), by_offset);
	return 0;
}

void agile_runs_fini(struct agile_runs *runs)
{
	free(runs->all);
}

/* --- scan ----------------------------------------------------------------------- */

static void carry_region(void *data, const struct salvo_agile_grid *task,
			 struct salvo_agile_grid *region)
{
	const struct salvo_agile_field *field = data;
	const struct salvo_agile_index first = { { task->offset[0] } };
	struct salvo_agile_place place;

	salvo_agile_field_locate(field, &first, &place);
	region->offset[0] = place.task;
	region->extent[0] = 1;
}

/* Partial results become what is before each run. */
static int add_up(const struct agile_runs *runs, const struct salvo_agile_scan *scan,
		  struct salvo_agile_field *partials)
{
	const struct salvo_agile_grid grid = { 1, { 0 }, { runs->count } };
	const size_t bytes = scan->bytes;
	struct salvo_agile_tile tile;
	uint8_t *sum = malloc(2 * bytes);
	unsigned int i;
	int err;

	if (!sum)
		return agile_fail(runs->field->agile, -ENOMEM, "out of memory");
	memcpy(sum, scan->identity, bytes);
	err = salvo_agile_tile_open(partials, partials->agile->first, &grid, SALVO_AGILE_WRITE,
				    &tile);
	for (i = 0; i < runs->count && !err; i++) {
		uint8_t *partial = (uint8_t *)tile.data + runs->all[i].task * bytes;

		memcpy(sum + bytes, partial, bytes);
		memcpy(partial, sum, bytes);
		scan->combine(sum, sum + bytes);
	}
	if (!err)
		err = salvo_agile_tile_close(&tile);
	free(sum);
	return err;
}

int salvo_agile_scan(struct salvo_agile *agile, const struct salvo_agile_scan *scan,
		     struct salvo_agile_field *from, struct salvo_agile_field *to)
{
	struct salvo_agile_operand operands[2] = {
		{ from, NULL, NULL }, { NULL, carry_region, to },
	};
	const struct salvo_agile_statement statement = {
		.kernel = scan->scan, .result = to, .operands = operands, .operand_count = 2,
		.flags = SALVO_AGILE_SERIAL,
	};
	struct salvo_agile_field *partials = NULL;
	struct agile_runs runs;
	int err;

	if (from == to || from->map != to->map || from->task_count != to->task_count ||
	    from->info.task_block[0] != to->info.task_block[0] || !scan->bytes)
		return agile_fail(agile, -EINVAL,
				  "scan of %s to %s: not two fields of one map and the same tasks, or no partial result",
				  from->name, to->name);
	err = agile_runs_init(&runs, from);
	if (!err)
		err = agile_partials(scan->total, from, NULL, 0, scan->bytes, &partials);
	if (!err)
		err = add_up(&runs, scan, partials);
	operands[1].field = partials;
	if (!err)
		err = salvo_agile_forall(agile, &statement);
	salvo_agile_field_destroy(partials);
	agile_runs_fini(&runs);
	return err;
}
