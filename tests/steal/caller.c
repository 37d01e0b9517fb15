// SPDX-License-Identifier: MIT
/* caller.c - a thread that is no worker runs its task itself, in the place of a worker */
#include <pthread.h>
#include <sched.h>
#include <ucontext.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "steal_test.h"
#include "worker.h"

static void wait_until_parked(struct salvo_pool *pool)
{
	while (atomic_load(&pool->idle) != ~0ull >> (64 - pool->count))
		sched_yield();
}

/* --- which thread */

static int thread_of(struct salvo_worker *worker, void *data)
{
	*(pid_t *)data = gettid();
	return salvo_worker_index(worker);
}

static long sleeps_of(struct salvo_pool *pool)
{
	struct salvo_pool_stats stats;

	salvo_pool_get_stats(pool, &stats);
	return stats.sleeps;
}

static int fork_one(struct salvo_worker *worker, void *data)
{
	struct salvo_task task;
	pid_t here = 0;

	salvo_task_fork(worker, &task, thread_of, &here);
	salvo_task_join(worker, &task);
	*(pid_t *)data = here;
	return 0;
}

TEST(W1_caller_runs_its_task_and_wakes_no_worker)
{
	struct salvo_pool *pool = pool_of(1, 0);
	long sleeps;
	pid_t tid;
	int i;

	ASSERT_NE(NULL, pool);
	wait_until_parked(pool);
	sleeps = sleeps_of(pool);
	for (i = 0; i < 1000; i++) {
		tid = 0;
		ASSERT_EQ(0, salvo_pool_run(pool, NULL, fork_one, &tid));
		ASSERT_EQ(gettid(), tid);
	}
	/* Its thread has not been awake. */
	EXPECT_EQ(sleeps, sleeps_of(pool));
	salvo_pool_destroy(pool);
}

TEST(W1_caller_takes_the_place_of_the_worker_of_its_core)
{
	struct salvo_pool *pool;
	cpu_set_t allowed, one;
	unsigned int i, cores;
	pid_t tid;

	ASSERT_EQ(0, sched_getaffinity(0, sizeof(allowed), &allowed));
	ASSERT_EQ(0, salvo_pool_create(NULL, &pool));
	cores = salvo_pool_workers(pool);
	for (i = 0; i < cores; i++) {
		wait_until_parked(pool);
		CPU_ZERO(&one);
		CPU_SET(pool->workers[i].core, &one);
		ASSERT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
		EXPECT_EQ((int)i, salvo_pool_run(pool, NULL, thread_of, &tid));
		EXPECT_EQ(gettid(), tid);
	}
	salvo_pool_destroy(pool);
}

/* --- stacks */

struct small {
	struct salvo_pool *pool;
	pid_t caller, ran;
};

static void *run_on_small_stack(void *data)
{
	struct small *small = data;

	small->caller = gettid();
	salvo_pool_run(small->pool, NULL, thread_of, &small->ran);
	return NULL;
}

TEST(W1_caller_without_the_stack_of_a_worker_leaves_the_task_to_one)
{
	const struct salvo_pool_options large = { .workers = 1, .stack_bytes = 1 << 20 };
	struct small small = { .caller = 0 };
	pthread_attr_t attr;
	pthread_t thread;

	ASSERT_EQ(0, salvo_pool_create(&large, &small.pool));
	wait_until_parked(small.pool);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 1 << 20);
	ASSERT_EQ(0, pthread_create(&thread, &attr, run_on_small_stack, &small));
	pthread_join(thread, NULL);
	EXPECT_NE(0, small.ran);
	EXPECT_NE(small.caller, small.ran);
	wait_until_parked(small.pool);
	pthread_attr_setstacksize(&attr, 4 << 20);
	ASSERT_EQ(0, pthread_create(&thread, &attr, run_on_small_stack, &small));
	pthread_join(thread, NULL);
	EXPECT_EQ(small.caller, small.ran);
	pthread_attr_destroy(&attr);
	salvo_pool_destroy(small.pool);
}

static ucontext_t outside, coroutine;
static struct small from_coroutine;

static void run_in_coroutine(void)
{
	run_on_small_stack(&from_coroutine);
}

TEST(W1_caller_on_a_stack_that_is_not_its_threads_leaves_the_task_to_a_worker)
{
#if defined(__SANITIZE_THREAD__)
	SKIP(return, "ThreadSanitizer has to be told of coroutines");
#endif
	const size_t bytes = 16 << 20;
	void *stack = malloc(bytes);

	ASSERT_NE(NULL, stack);
	from_coroutine.pool = pool_of(1, 0);
	ASSERT_NE(NULL, from_coroutine.pool);
	wait_until_parked(from_coroutine.pool);
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = stack;
	coroutine.uc_stack.ss_size = bytes;
	coroutine.uc_link = &outside;
	makecontext(&coroutine, run_in_coroutine, 0);
	ASSERT_EQ(0, swapcontext(&outside, &coroutine));
	EXPECT_NE(0, from_coroutine.ran);
	EXPECT_NE(gettid(), from_coroutine.ran);
	salvo_pool_destroy(from_coroutine.pool);
	free(stack);
}

/* --- cancelled callers */

static _Atomic bool entered, cancelled;

static int reach_cancellation_point(struct salvo_worker *worker, void *data)
{
	(void)worker;
	atomic_store(&entered, true);
	while (!atomic_load(&cancelled))
		sched_yield();
	pthread_testcancel();
	*(bool *)data = true;
	return 0;
}

struct cancel {
	struct salvo_pool *pool;
	bool ended;
};

static void *run_to_be_cancelled(void *data)
{
	struct cancel *cancel = data;

	salvo_pool_run(cancel->pool, NULL, reach_cancellation_point, &cancel->ended);
	pthread_testcancel();
	cancel->ended = false;
	return NULL;
}

TEST(caller_is_cancelled_after_its_task_has_ended)
{
	struct cancel cancel = { .pool = pool_of(1, 0) };
	pthread_t thread;
	void *result;
	pid_t tid;

	ASSERT_NE(NULL, cancel.pool);
	wait_until_parked(cancel.pool);
	ASSERT_EQ(0, pthread_create(&thread, NULL, run_to_be_cancelled, &cancel));
	while (!atomic_load(&entered))
		sched_yield();
	pthread_cancel(thread);
	atomic_store(&cancelled, true);
	pthread_join(thread, &result);
	EXPECT_EQ(PTHREAD_CANCELED, result);
	EXPECT_TRUE(cancel.ended);
	/* The place is free again. */
	EXPECT_EQ(0, salvo_pool_run(cancel.pool, NULL, thread_of, &tid));
	salvo_pool_destroy(cancel.pool);
}

/* --- many callers */

#define CALLERS	5
#define ROUNDS	400

struct crowd {
	struct salvo_pool *pool;
	/* Each place has one task at a time, but for those that nest in a wait. */
	_Atomic(pid_t) place[3];
	_Atomic bool shared;
};

struct caller {
	struct crowd *crowd;
	unsigned int sum;
};

static int add_parts(struct salvo_worker *worker, void *data, uint64_t begin, uint64_t end)
{
	struct caller *caller = data;
	_Atomic(pid_t) *place = &caller->crowd->place[salvo_worker_index(worker)];
	const pid_t before = atomic_exchange(place, gettid());

	if (before && before != gettid())
		atomic_store(&caller->crowd->shared, true);
	if (begin % 7 == 0)
		sched_yield();
	for (; begin < end; begin++)
		__atomic_fetch_add(&caller->sum, begin, __ATOMIC_RELAXED);
	atomic_store(place, before);
	return 0;
}

static int add_all(struct salvo_worker *worker, void *data)
{
	return salvo_worker_for(worker, 64, 1, add_parts, data);
}

static void *call_often(void *data)
{
	struct caller caller = { .crowd = data };
	int i;

	for (i = 0; i < ROUNDS; i++) {
		caller.sum = 0;
		if (salvo_pool_run(caller.crowd->pool, NULL, add_all, &caller) ||
		    caller.sum != 64 * 63 / 2)
			return "wrong";
		/* Now and then the workers park. */
		if (i % 32 == 0)
			usleep(200);
	}
	return NULL;
}

TEST(W1_more_callers_than_workers_share_their_places)
{
	struct crowd crowd = { .pool = pool_of(3, 0) };
	struct salvo_pool_stats stats;
	pthread_t threads[CALLERS];
	void *result;
	int i;

	ASSERT_NE(NULL, crowd.pool);
	for (i = 0; i < CALLERS; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, call_often, &crowd));
	for (i = 0; i < CALLERS; i++) {
		pthread_join(threads[i], &result);
		EXPECT_EQ(NULL, result);
	}
	EXPECT_FALSE(atomic_load(&crowd.shared));
	salvo_pool_get_stats(crowd.pool, &stats);
	EXPECT_EQ(CALLERS * ROUNDS, stats.roots);
	/* All park again. */
	wait_until_parked(crowd.pool);
	salvo_pool_destroy(crowd.pool);
}

TEST_HARNESS_MAIN
