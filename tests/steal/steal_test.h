/* SPDX-License-Identifier: MIT */
/*
 * steal_test.h - what the tests of work stealing share
 */
#ifndef STEAL_TEST_H
#define STEAL_TEST_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "salvo_steal.h"

/* The numbers of workers that each program runs with */
static const unsigned int worker_counts[] = { 1, 2, 3, 8 };
#define WORKER_COUNTS (sizeof(worker_counts) / sizeof(worker_counts[0]))

static inline struct salvo_pool *pool_of(unsigned int workers, uint64_t cutoff)
{
	const struct salvo_pool_options options = { .workers = workers, .cutoff = cutoff };
	struct salvo_pool *pool;

	return salvo_pool_create(&options, &pool) ? NULL : pool;
}

/* Runs a task on a new pool of so many workers. */
static inline int run_on(unsigned int workers, salvo_task_function function, void *data)
{
	struct salvo_pool *pool = pool_of(workers, 0);
	int err = pool ? salvo_pool_run(pool, NULL, function, data) : -ENOMEM;

	salvo_pool_destroy(pool);
	return err;
}

struct run_on_threads {
	struct salvo_pool *pool;
	salvo_task_function function;
	void *data;
};

static inline int run_on_threads_task(struct salvo_worker *worker, void *data)
{
	const struct run_on_threads *run = data;

	return salvo_pool_run(run->pool, worker, run->function, run->data);
}

/* Runs a task on a pool's own threads: a caller that is a worker takes no other one's place. */
static inline int run_on_threads(struct salvo_pool *pool, salvo_task_function function, void *data)
{
	struct run_on_threads run = { pool, function, data };

	return run_on(1, run_on_threads_task, &run);
}

/* A generator of the same numbers on every machine. */
static inline uint32_t next_number(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

#endif
