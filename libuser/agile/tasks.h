/* SPDX-License-Identifier: MIT */
/*
 * tasks.h - a queue of tasks for each node, and stealing between them
 */
#ifndef SALVO_AGILE_INTERNAL_TASKS_H
#define SALVO_AGILE_INTERNAL_TASKS_H

#include <stdbool.h>
#include <stdint.h>

struct salvo_agile_field;
struct salvo_agile_grid;

/** struct agile_queue - Tasks @tasks[@top] to before @bottom are left. */
struct agile_queue {
	uint32_t *tasks;
	uint32_t top;
	uint32_t bottom;
};

struct agile_tasks {
	struct agile_queue *queues;
	uint32_t *all;
	unsigned int nodes;
	uint32_t left;
};

/** agile_tasks_init() - Each node gets the tasks of its own segments. Return: 0 or -ENOMEM. */
int agile_tasks_init(struct agile_tasks *tasks, const struct salvo_agile_field *field);
/** agile_tasks_within() - Forget the tasks that have nothing of a range. */
void agile_tasks_within(struct agile_tasks *tasks, const struct salvo_agile_field *field,
			const struct salvo_agile_grid *range);
/** agile_tasks_keep() - Forget the tasks of other ranks' nodes: these run them. */
void agile_tasks_keep(struct agile_tasks *tasks, unsigned int first, unsigned int local);
void agile_tasks_fini(struct agile_tasks *tasks);

/** agile_missing_fn - How many bytes a task lacks on a node. */
typedef uint64_t (*agile_missing_fn)(void *data, uint32_t task, unsigned int node);

/**
 * agile_tasks_take() - The next task for a node: the top of its queue.
 * @steal: If that is empty, the bottom of another's.
 * @missing: Bytes that a task lacks on a node, for the choice between queues; may be NULL.
 *
 * Return: true with @task, or false if there is none.
 */
bool agile_tasks_take(struct agile_tasks *tasks, unsigned int node, bool steal,
		      agile_missing_fn missing, void *data, uint32_t *task);

#endif
