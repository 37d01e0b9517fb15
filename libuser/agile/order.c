// SPDX-License-Identifier: MIT
/*
 * order.c - scans and sorts of fields of rank 1
 *
 * Both go by runs: the tasks of a field in the order of their first indices.
 *
 * A scan reduces each run, adds up the partial results on the application's side, and scans each
 * run with what was before it. Two passes over the data, and nothing moves but partial results.
 *
 * A sort sorts each run where it is. Then it finds where each run must be cut, so that the pieces
 * for each run of the result have exactly as many elements as that has, and no element of a piece
 * belongs before one of an earlier piece. Pieces are copied to where they belong, the ones of
 * other nodes move, each element once, and each run is sorted again.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "move.h"

struct run {
	struct salvo_agile_grid grid;
	uint32_t task, block;
	/** @data: Of its first element, as the application sees it. */
	const uint8_t *data;
	/** @low, @high: Where it is cut, at first between which places. */
	uint64_t low, high;
};

struct runs {
	struct salvo_agile_field *field;
	struct run *all;
	/** @cuts: For each run of the result, and its end, where each run is cut. */
	uint64_t *cuts;
	unsigned int count;
};

static int by_offset(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	return x->grid.offset[0] < y->grid.offset[0] ? -1 : 1;
}

static int runs_init(struct runs *runs, struct salvo_agile_field *field, bool sort)
{
	unsigned int i;

	*runs = (struct runs){ .field = field, .count = field->task_count };
	if (field->map->grid.rank != 1)
		return agile_fail(field->agile, -EINVAL, "field %s: rank is %u, must be 1",
				  field->name, field->map->grid.rank);
	if (field->agile->planning)
		return agile_fail(field->agile, -ENOTSUP, "the nodes are there to plan only");
	if (field->agile->ranks && sort)
		return agile_fail(field->agile, -ENOTSUP,
				  "field %s: a sort over several ranks is not possible",
				  field->name);
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

static void runs_fini(struct runs *runs)
{
	free(runs->all);
	free(runs->cuts);
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
static int add_up(const struct runs *runs, const struct salvo_agile_scan *scan,
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
	struct runs runs;
	int err;

	if (from == to || from->map != to->map || from->task_count != to->task_count ||
	    from->info.task_block[0] != to->info.task_block[0] || !scan->bytes)
		return agile_fail(agile, -EINVAL,
				  "scan of %s to %s: not two fields of one map and the same tasks, or no partial result",
				  from->name, to->name);
	err = runs_init(&runs, from, false);
	if (!err)
		err = agile_partials(scan->total, from, NULL, 0, scan->bytes, &partials);
	if (!err)
		err = add_up(&runs, scan, partials);
	operands[1].field = partials;
	if (!err)
		err = salvo_agile_forall(agile, &statement);
	salvo_agile_field_destroy(partials);
	runs_fini(&runs);
	return err;
}

/* --- sort ----------------------------------------------------------------------- */

typedef int (*compare_fn)(const void *a, const void *b);

/* How many elements of a run are before @pivot, or not behind it if @equal. */
static uint64_t rank_in(const struct run *run, const uint8_t *pivot, bool equal, size_t element,
			compare_fn compare)
{
	uint64_t low = 0, high = run->grid.extent[0];

	while (low < high) {
		const uint64_t middle = (low + high) / 2;
		const int order = compare(run->data + middle * element, pivot);

		if (order < 0 || (equal && !order))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Cut all runs so that @rank elements are in front of the cuts, equal ones by the order of runs.
 * @cuts are behind those of the rank before, which lie a row in front of them.
 *
 * Return: false if @compare is no order: a step leaves the runs as they were, or the cuts do not
 * divide them.
 */
static bool cut_runs(struct runs *runs, uint64_t rank, uint64_t *cuts, compare_fn compare)
{
	const uint64_t *last = cuts - runs->count;
	const size_t element = runs->field->info.element_bytes;
	uint64_t open, left = ~0ull, sum = 0;
	unsigned int i, widest;

	for (i = 0; i < runs->count; i++) {
		runs->all[i].low = 0;
		runs->all[i].high = runs->all[i].grid.extent[0];
	}
	for (;;) {
		uint64_t before = 0, until = 0, spare;
		const uint8_t *pivot;

		for (i = 0, widest = 0, open = 0; i < runs->count; i++) {
			if (runs->all[i].high < runs->all[i].low)
				return false;
			open += runs->all[i].high - runs->all[i].low;
			if (runs->all[i].high - runs->all[i].low >
			    runs->all[widest].high - runs->all[widest].low)
				widest = i;
		}
		if (!open)
			break;
		if (open >= left)
			return false;
		left = open;
		pivot = runs->all[widest].data +
			(runs->all[widest].low + runs->all[widest].high) / 2 * element;
		for (i = 0; i < runs->count; i++) {
			before += rank_in(&runs->all[i], pivot, false, element, compare);
			until += rank_in(&runs->all[i], pivot, true, element, compare);
		}
		spare = rank - before;
		for (i = 0; i < runs->count; i++) {
			struct run *run = &runs->all[i];
			const uint64_t less = rank_in(run, pivot, false, element, compare);
			const uint64_t most = rank_in(run, pivot, true, element, compare);

			if (until <= rank) {
				run->low = most > run->low ? most : run->low;
			} else if (before > rank) {
				run->high = less < run->high ? less : run->high;
			} else {
				const uint64_t part = most - less < spare ? most - less : spare;

				run->low = run->high = less + part;
				spare -= part;
			}
		}
	}
	for (i = 0; i < runs->count; i++) {
		cuts[i] = runs->all[i].low;
		sum += cuts[i];
		if (cuts[i] < last[i])
			return false;
	}
	return sum == rank;
}

/* The elements of all runs, for the application to compare. */
static int see_runs(struct runs *runs)
{
	struct salvo_agile_field *field = runs->field;
	unsigned int i;
	int err = salvo_agile_wait(field->agile);

	for (i = 0; i < runs->count && !err; i++) {
		struct run *run = &runs->all[i];
		struct agile_part part;
		void *map;

		err = agile_block_part(field, run->block, agile_block_node(field, run->block),
				       &part);
		if (!err)
			err = salvo_bo_map(part.bo, &map);
		if (!err)
			run->data = (const uint8_t *)map + part.offset +
				    (run->grid.offset[0] - part.grid.offset[0]) *
				    field->info.element_bytes;
	}
	return err;
}

/* The pieces of one run of the result, behind each other. */
static int collect_run(struct agile_batch *b, const struct runs *runs, unsigned int number,
		       struct salvo_agile_field *to)
{
	const size_t element = to->info.element_bytes;
	const struct run *run = &runs->all[number];
	const uint64_t *cuts = runs->cuts + (size_t)number * runs->count;
	struct agile_part dst, src;
	unsigned int i;
	int err = agile_block_part(to, run->block, b->node, &dst);

	agile_use(b, to, b->node, SALVO_AGILE_WRITE);
	dst.offset += (run->grid.offset[0] - dst.grid.offset[0]) * element;
	for (i = 0; i < runs->count && !err; i++) {
		const struct run *from = &runs->all[i];
		const unsigned int owner = agile_block_node(runs->field, from->block);
		const uint64_t first = cuts[i], count = cuts[runs->count + i] - first;
		struct salvo_agile_grid grid = { 1, { 0 }, { count } };

		if (!count)
			continue;
		err = agile_block_part(runs->field, from->block, b->node, &src);
		if (!err)
			err = agile_batch_room(b, 2);
		if (err)
			break;
		agile_use(b, runs->field, owner, SALVO_AGILE_READ);
		src.offset += (from->grid.offset[0] - src.grid.offset[0] + first) * element;
		src.grid = dst.grid = grid;
		err = agile_copy_part(b, &dst, &src, &grid, element);
		dst.offset += count * element;
		if (owner != b->node)
			b->agile->nodes[b->node].stats.moved_bytes += count * element;
	}
	return err;
}

static int collect_node(struct salvo_agile *agile, const struct runs *runs, unsigned int node,
			struct salvo_agile_field *to)
{
	struct agile_batch b;
	unsigned int i;
	int err = agile_batch_init(&b, agile, node, false);

	for (i = 0; i < runs->count && !err; i++)
		if (agile_block_node(to, runs->all[i].block) == node)
			err = collect_run(&b, runs, i, to);
	if (!err)
		err = agile_batch_flush(&b);
	agile_batch_fini(&b);
	return err;
}

static int sort_runs(struct salvo_agile *agile, struct salvo_agile_kernel *kernel,
		     struct salvo_agile_field *field)
{
	const struct salvo_agile_statement statement = {
		.kernel = kernel, .result = field, .flags = SALVO_AGILE_SERIAL,
	};

	return salvo_agile_forall(agile, &statement);
}

static int exchange(struct salvo_agile *agile, struct runs *runs, compare_fn compare,
		    struct salvo_agile_field *to)
{
	const size_t row = runs->count;
	uint64_t rank = 0;
	unsigned int i;
	int err = see_runs(runs);

	runs->cuts = calloc((row + 1) * row, sizeof(*runs->cuts));
	if (!runs->cuts)
		return agile_fail(agile, -ENOMEM, "out of memory");
	for (i = 0; i < row && !err; i++) {
		rank += runs->all[i].grid.extent[0];
		if (!cut_runs(runs, rank, runs->cuts + (i + 1) * row, compare))
			err = agile_fail(agile, -EINVAL, "field %s: the comparison is no order",
					 runs->field->name);
	}
	for (i = 0; i < agile->count && !err; i++)
		if (to->storage[i].bytes)
			err = collect_node(agile, runs, i, to);
	agile_end_statement(agile);
	return err;
}

int salvo_agile_sort(struct salvo_agile *agile, struct salvo_agile_kernel *kernel,
		     int (*compare)(const void *a, const void *b), struct salvo_agile_field *field)
{
	struct salvo_agile_field *other = NULL;
	struct runs runs;
	int err = runs_init(&runs, field, true);

	if (!err && runs.count > 4096)
		err = agile_fail(agile, -E2BIG, "field %s: a sort of %u tasks, at most 4096",
				 field->name, runs.count);
	if (!err)
		err = salvo_agile_field_create(agile, "sorted", field->map, &field->info, &other);
	if (!err)
		err = sort_runs(agile, kernel, field);
	if (!err)
		err = exchange(agile, &runs, compare, other);
	if (!err)
		err = sort_runs(agile, kernel, other);
	if (!err)
		err = salvo_agile_redistribute(agile, field, other);
	salvo_agile_field_destroy(other);
	runs_fini(&runs);
	return err;
}
