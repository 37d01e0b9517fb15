// SPDX-License-Identifier: MIT
/*
 * plan.c - what a statement makes nodes do: the schedule, and the memory blocks that move
 *
 * The schedule is the library's (salvo_agile_schedule()). The moves are found here block by block
 * for tasks that run where their result is stored: a block that a node reads and does not
 * store comes to it once.
 */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define MOST_MOVES (1u << 20)

static void all_region(void *data, const struct salvo_agile_grid *task,
		       struct salvo_agile_grid *region)
{
	(void)task;
	*region = *(const struct salvo_agile_grid *)data;
}

static void set_region(struct plan_field *field, struct salvo_agile_operand *operand)
{
	*operand = (struct salvo_agile_operand){ .field = field->field };
	if (!strcmp(field->region, "transposed")) {
		operand->region = salvo_agile_transposed;
	} else if (!strcmp(field->region, "halo")) {
		operand->region = salvo_agile_halo;
		operand->data = &field->halo;
	} else if (!strcmp(field->region, "all")) {
		operand->region = all_region;
		operand->data = &field->grid;
	}
}

static int add_move(struct plan *plan, const struct plan_move *move)
{
	if (!(plan->move_count & (plan->move_count - 1))) {
		const size_t room = plan->move_count ? 2 * plan->move_count : 1;
		struct plan_move *moves = realloc(plan->moves, room * sizeof(*moves));

		if (!moves)
			return cli_fail(TOOL, "out of memory");
		plan->moves = moves;
	}
	if (plan->move_count == MOST_MOVES)
		return cli_fail(TOOL, "statement: over %u memory blocks move", MOST_MOVES);
	plan->moves[plan->move_count++] = *move;
	return EXIT_OK;
}

/*
 * The next index at which to look for a block; false behind the last one. @step ends where the
 * last dimension goes on. In the others, in which blocks need not be in line, steps are as large as
 * the smallest block, and the last one ends at the region's last index, so that none is between.
 */
static bool next_block(const struct salvo_agile_grid *region, const struct salvo_agile_grid *step,
		       struct salvo_agile_index *at)
{
	unsigned int d;

	for (d = region->rank; d--;) {
		const uint64_t last = region->offset[d] + region->extent[d] - 1;
		const bool more = at->at[d] < last;

		at->at[d] = step->offset[d] + step->extent[d];
		if (at->at[d] <= last)
			return true;
		if (more && d + 1 < region->rank) {
			at->at[d] = last;
			return true;
		}
		at->at[d] = region->offset[d];
	}
	return false;
}

/* The smallest extents of a field's memory blocks. */
static void least_extents(const struct plan_field *field, struct salvo_agile_grid *least)
{
	const struct salvo_agile_field *f = field->field;
	struct salvo_agile_place place;
	unsigned int i, d;

	*least = field->grid;
	for (i = 0; !salvo_agile_field_task(f, i, &place); i++)
		for (d = 0; d < least->rank; d++)
			if (place.block_grid.extent[d] < least->extent[d])
				least->extent[d] = place.block_grid.extent[d];
}

static int find_moves(struct plan *plan, unsigned int number, bool *seen)
{
	struct plan_field *field = &plan->fields[number];
	struct salvo_agile_place to, from;
	struct salvo_agile_operand operand;
	struct salvo_agile_grid least;
	unsigned int i;
	int code = EXIT_OK;

	set_region(field, &operand);
	least_extents(field, &least);
	for (i = 0; !salvo_agile_field_task(plan->fields[0].field, i, &to) && !code; i++) {
		struct salvo_agile_grid region = to.task_grid, step;
		struct salvo_agile_index at;

		if (operand.region)
			operand.region(operand.data, &to.task_grid, &region);
		if (!salvo_agile_grid_intersect(&region, &field->grid, &region))
			continue;
		memcpy(at.at, region.offset, sizeof(at.at));
		do {
			bool *one;

			salvo_agile_field_locate(field->field, &at, &from);
			step = least;
			memcpy(step.offset, at.at, sizeof(step.offset));
			step.offset[step.rank - 1] = from.block_grid.offset[step.rank - 1];
			step.extent[step.rank - 1] = from.block_grid.extent[step.rank - 1];
			one = &seen[(size_t)from.block * plan->nodes + to.node];
			if (from.node == to.node || *one)
				continue;
			*one = true;
			code = add_move(plan, &(struct plan_move){
				number, from.block, from.node, to.node, from.block_grid,
				salvo_agile_grid_count(&from.block_grid) *
				field->info.element_bytes });
		} while (!code && next_block(&region, &step, &at));
	}
	return code;
}

int plan_make(struct plan *plan)
{
	struct salvo_agile_operand operands[PLAN_MOST_FIELDS];
	struct salvo_agile_statement statement = {
		.result = plan->fields[0].field, .operands = operands,
		.operand_count = plan->field_count - 1,
		.flags = plan->steal ? SALVO_AGILE_STEAL : 0,
	};
	unsigned int i;
	int code = EXIT_OK;

	for (i = 1; i < plan->field_count; i++)
		set_region(&plan->fields[i], &operands[i - 1]);
	plan->schedule = calloc(plan->nodes, sizeof(*plan->schedule));
	if (!plan->schedule)
		return cli_fail(TOOL, "out of memory");
	if (salvo_agile_schedule(plan->agile, &statement, plan->speeds, plan->schedule)) {
		cli_fail(TOOL, "statement: %s", salvo_agile_error(plan->agile));
		return EXIT_USAGE;
	}
	for (i = 1; i < plan->field_count && !code; i++) {
		struct salvo_agile_place last;
		bool *seen;

		salvo_agile_field_task(plan->fields[i].field,
				       salvo_agile_field_tasks(plan->fields[i].field) - 1, &last);
		seen = calloc(last.block + 1ul, plan->nodes);
		code = seen ? find_moves(plan, i, seen) : cli_fail(TOOL, "out of memory");
		free(seen);
	}
	return code;
}
