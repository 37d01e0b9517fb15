// SPDX-License-Identifier: MIT
/*
 * tasks.c - a queue of tasks for each node, and stealing between them (A8 of CN102609244)
 *
 * A queue has the tasks of the segments that its node stores, in their order. The node takes them
 * from the top. One whose queue is empty takes from the bottom of another's, where the tasks are
 * that the owner comes to last: of the queues that have at least half as many tasks as the
 * longest, from the one whose last task lacks the fewest bytes on the thief.
 *
 * All of it belongs to the thread that runs the statement; nothing is locked.
 */
#include "tasks.h"

#include <errno.h>
#include <stdlib.h>

#include "field.h"

int agile_tasks_init(struct agile_tasks *tasks, const struct salvo_agile_field *field)
{
	const struct salvo_agile_map *map = field->map;
	uint32_t i, first = 0;
	unsigned int n;

	*tasks = (struct agile_tasks){ .nodes = field->agile->count, .left = field->task_count };
	tasks->queues = calloc(tasks->nodes, sizeof(*tasks->queues));
	tasks->all = calloc(field->task_count, sizeof(*tasks->all));
	if (!tasks->queues || !tasks->all)
		return agile_fail(field->agile, -ENOMEM, "out of memory");
	/* First how many, then which. */
	for (i = 0; i < field->block_count; i++)
		tasks->queues[map->segments[field->blocks[i].segment].node].top +=
			(i + 1 < field->block_count ? field->blocks[i + 1].first_task :
			 field->task_count) - field->blocks[i].first_task;
	for (n = 0; n < tasks->nodes; n++) {
		tasks->queues[n].tasks = tasks->all + first;
		first += tasks->queues[n].top;
		tasks->queues[n].top = 0;
	}
	for (i = 0; i < field->block_count; i++) {
		struct agile_queue *queue = &tasks->queues[agile_block_node(field, i)];
		const uint32_t end = i + 1 < field->block_count ? field->blocks[i + 1].first_task :
								  field->task_count;
		uint32_t task;

		for (task = field->blocks[i].first_task; task < end; task++)
			queue->tasks[queue->bottom++] = task;
	}
	return 0;
}

void agile_tasks_within(struct agile_tasks *tasks, const struct salvo_agile_field *field,
			const struct salvo_agile_grid *range)
{
	struct salvo_agile_grid grid;
	uint32_t i, kept, block;
	unsigned int n;

	for (n = 0; n < tasks->nodes; n++) {
		struct agile_queue *queue = &tasks->queues[n];

		for (i = 0, kept = 0; i < queue->bottom; i++) {
			agile_task_grid(field, queue->tasks[i], &grid, &block);
			if (salvo_agile_grid_intersect(&grid, range, &grid))
				queue->tasks[kept++] = queue->tasks[i];
		}
		tasks->left -= queue->bottom - kept;
		queue->bottom = kept;
	}
}

void agile_tasks_keep(struct agile_tasks *tasks, unsigned int first, unsigned int local)
{
	unsigned int n;

	for (n = 0; n < tasks->nodes; n++)
		if (n - first >= local) {
			tasks->left -= tasks->queues[n].bottom;
			tasks->queues[n].bottom = 0;
		}
}

void agile_tasks_fini(struct agile_tasks *tasks)
{
	free(tasks->queues);
	free(tasks->all);
}

bool agile_tasks_take(struct agile_tasks *tasks, unsigned int node, bool steal,
		      agile_missing_fn missing, void *data, uint32_t *task)
{
	struct agile_queue *own = &tasks->queues[node], *best = NULL;
	uint64_t least = 0;
	uint32_t most = 0;
	unsigned int n;

	if (own->top < own->bottom) {
		*task = own->tasks[own->top++];
		tasks->left--;
		return true;
	}
	if (!steal || !tasks->left)
		return false;
	for (n = 0; n < tasks->nodes; n++)
		if (tasks->queues[n].bottom - tasks->queues[n].top > most)
			most = tasks->queues[n].bottom - tasks->queues[n].top;
	for (n = 0; n < tasks->nodes; n++) {
		struct agile_queue *queue = &tasks->queues[n];
		const uint32_t left = queue->bottom - queue->top;
		uint64_t lacks;

		if (!left || 2 * left < most)
			continue;
		lacks = missing ? missing(data, queue->tasks[queue->bottom - 1], node) : 0;
		if (!best || lacks < least) {
			best = queue;
			least = lacks;
		}
	}
	*task = best->tasks[--best->bottom];
	tasks->left--;
	return true;
}
