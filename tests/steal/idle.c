// SPDX-License-Identifier: MIT
/* idle.c - a worker that was searching, or that was woken for a task, goes on with its own */
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/syscall.h>
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

/* --- a place is taken while its worker parks */

static _Atomic bool hold, held;
/* Workers that have looked for work a last time */
static _Atomic int parked;

/*
 * The library's: a worker that goes to sleep calls membarrier() after it has stored that it sleeps
 * and before it looks for work a last time.
 */
long syscall(long number, ...)
{
	static long (*real)(long number, ...);
	long a[6];
	va_list args;
	int i;

	va_start(args, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_membarrier && atomic_load(&hold)) {
		atomic_store(&held, true);
		while (atomic_load(&hold))
			sched_yield();
	}
	if (number == SYS_futex && a[1] == FUTEX_WAIT_PRIVATE)
		atomic_fetch_add(&parked, 1);
	if (!__atomic_load_n(&real, __ATOMIC_RELAXED))
		__atomic_store_n(&real, dlsym(RTLD_NEXT, "syscall"), __ATOMIC_RELAXED);
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static int wait_in_place(struct salvo_worker *worker, void *data)
{
	struct wait_for_root *w = data;
	int i;

	atomic_store(&hold, false);
	for (i = 0; i < 1000 && !atomic_load(&w->ran); i++)
		usleep(10000);
	return atomic_load(&w->ran) ? (int)salvo_worker_index(worker) : -ETIME;
}

/* As salvo_pool_run() does while a worker searches, which it leaves the root to. */
static void leave_root(struct salvo_pool *pool, struct salvo_task *root)
{
	pthread_mutex_lock(&pool->roots_lock);
	*pool->roots_end = root;
	pool->roots_end = &root->next;
	atomic_fetch_add(&pool->root_count, 1);
	pthread_mutex_unlock(&pool->roots_lock);
}

TEST(W1_root_left_to_a_worker_that_loses_its_place_is_run_by_another)
{
	struct wait_for_root w = { .added = false };
	struct salvo_task root = { .function = note_run, .data = &w };
	cpu_set_t one;

	atomic_store(&parked, 0);
	w.pool = pool_of(2, 0);
	ASSERT_NE(NULL, w.pool);
	if (!w.pool->membarrier) {
		salvo_pool_destroy(w.pool);
		SKIP(return, "no membarrier()");
	}
	while (atomic_load(&parked) < 2)
		sched_yield();
	/* The first worker finds nothing and parks again; this thread is to take its place. */
	atomic_store(&hold, true);
	salvo_idle_wake_one(w.pool);
	while (!atomic_load(&held))
		sched_yield();
	leave_root(w.pool, &root);
	if (w.pool->workers[0].core >= 0) {
		CPU_ZERO(&one);
		CPU_SET(w.pool->workers[0].core, &one);
		ASSERT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
	}
	EXPECT_EQ(0, salvo_pool_run(w.pool, NULL, wait_in_place, &w));
	salvo_pool_destroy(w.pool);
}

TEST_HARNESS_MAIN
