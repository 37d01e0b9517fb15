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
/* Calls of membarrier() by this thread */
static __thread int barriers;

/*
 * The library's: a worker that goes to sleep calls membarrier() after it has stored that it sleeps
 * and before it looks for work a last time. As the C library's, it reads six arguments also where
 * the caller passes fewer, which AddressSanitizer would report.
 */
__attribute__((no_sanitize_address)) long syscall(long number, ...)
{
	static long (*real)(long number, ...);
	long a[6];
	va_list args;
	int i;

	va_start(args, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	barriers += number == SYS_membarrier;
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

/* --- how long a worker searches */

struct wait_for_calls {
	struct salvo_condition wait;
	struct salvo_worker *worker;
	/* The wait ends with this many more calls, or when the worker is @woken. */
	int calls;
	bool armed;
	pthread_t thread;
	_Atomic bool woken;
};

static bool count_down(struct salvo_condition *wait)
{
	struct wait_for_calls *w = (struct wait_for_calls *)wait;

	return !w->calls || !--w->calls;
}

/* A worker searches at least 64 times, however long that takes. */
static int wait_for_some_searches(struct salvo_worker *worker, void *data)
{
	struct wait_for_calls w = { .wait = { .done = count_down }, .calls = 30 };
	const int before = barriers;

	(void)data;
	salvo_worker_until(worker, &w.wait);
	return barriers - before;
}

TEST(W1_wait_that_ends_while_the_worker_searches_costs_no_barrier)
{
	EXPECT_EQ(0, run_on(1, wait_for_some_searches, NULL));
}

static bool was_woken(struct salvo_condition *wait)
{
	return atomic_load(&((struct wait_for_calls *)wait)->woken);
}

static void *wake_later(void *data)
{
	struct wait_for_calls *w = data;

	usleep(2000);
	atomic_store(&w->woken, true);
	salvo_worker_wake(w->worker);
	return NULL;
}

static void arm_thread(struct salvo_condition *wait)
{
	struct wait_for_calls *w = (struct wait_for_calls *)wait;

	if (!w->armed)
		w->armed = !pthread_create(&w->thread, NULL, wake_later, w);
}

/* Return: how much longer than the least time it searches after a wait of 2 ms */
static uint32_t wait_for_long(struct salvo_worker *worker)
{
	struct wait_for_calls w = { { .done = was_woken, .arm = arm_thread }, .worker = worker };

	salvo_worker_until(worker, &w.wait);
	pthread_join(w.thread, NULL);
	return worker->patience_ns;
}

static void wake_at_once(struct salvo_condition *wait)
{
	atomic_store(&((struct wait_for_calls *)wait)->woken, true);
}

/*
 * The wait ends just after the worker has given up its search. It may be a long one nevertheless:
 * if another program has the core.
 */
static uint32_t wait_briefly(struct salvo_worker *worker, uint32_t patience_ns)
{
	struct wait_for_calls w = { .wait = { .done = was_woken, .arm = wake_at_once } };
	int i;

	for (i = 0; i < 1000 && worker->patience_ns <= patience_ns; i++) {
		atomic_store(&w.woken, false);
		salvo_worker_until(worker, &w.wait);
	}
	return worker->patience_ns;
}

static int wait_long_and_briefly(struct salvo_worker *worker, void *data)
{
	const uint32_t most = wait_briefly(worker, 0);

	(void)data;
	if (!most || wait_for_long(worker) > most / 2 || wait_for_long(worker) > most / 4)
		return -ERANGE;
	return wait_briefly(worker, most / 4) == most ? 0 : -ERANGE;
}

TEST(W1_worker_searches_long_after_short_waits_and_briefly_after_long_ones)
{
	EXPECT_EQ(0, run_on(1, wait_long_and_briefly, NULL));
}

TEST_HARNESS_MAIN
