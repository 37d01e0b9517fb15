// SPDX-License-Identifier: MIT
/* idle.c - a worker that was searching, or that was woken for a task, goes on with its own */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "steal_test.h"
#include "worker.h"

struct wait_for_root {
	struct salvo_condition wait;
	struct salvo_pool *pool;
	pthread_t thread;
	bool added;
	_Atomic bool ran;
};

static int note_run(struct salvo_worker *worker, void *data)
{
	struct wait_for_root *w = data;

	(void)worker;
	atomic_store(&w->ran, true);
	return 0;
}

/* Of another pool, as a caller that is no worker takes the place of one that sleeps. */
static int run_root(struct salvo_worker *worker, void *data)
{
	struct wait_for_root *w = data;

	return salvo_pool_run(w->pool, worker, note_run, w);
}

static void *add_root(void *data)
{
	run_on(1, run_root, data);
	return NULL;
}

/* While the worker searches a root is added, which wakes nobody as the worker will find it. */
static bool add_root_and_end(struct salvo_condition *wait)
{
	struct wait_for_root *w = (struct wait_for_root *)wait;

	if (!w->added && atomic_load(&w->pool->searching)) {
		w->added = true;
		pthread_create(&w->thread, NULL, add_root, w);
		while (!atomic_load(&w->pool->root_count))
			sched_yield();
		usleep(20000);
	}
	return w->added;
}

static int stop_searching(struct salvo_worker *worker, void *data)
{
	struct wait_for_root *w = data;
	int i;

	/* The other worker sleeps. */
	while (!atomic_load(&w->pool->idle))
		sched_yield();
	salvo_worker_until(worker, &w->wait);
	/* The other worker runs it: this one has something else to do. */
	for (i = 0; i < 1000 && !atomic_load(&w->ran); i++)
		usleep(10000);
	return atomic_load(&w->ran) ? 0 : -ETIME;
}

TEST(W1_who_stops_searching_leaves_no_task_to_workers_that_sleep)
{
	struct wait_for_root w = { .wait = { .done = add_root_and_end } };

	w.pool = pool_of(2, 0);
	ASSERT_NE(NULL, w.pool);
	EXPECT_EQ(0, salvo_pool_run(w.pool, NULL, stop_searching, &w));
	pthread_join(w.thread, NULL);
	salvo_pool_destroy(w.pool);
}

TEST_HARNESS_MAIN
