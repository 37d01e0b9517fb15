// SPDX-License-Identifier: MIT
/* batch.c - tasks submit batches and wait for them, and their worker runs other tasks meanwhile */
#include <pthread.h>
#include <sched.h>

#include "kselftest_harness.h"
#include "lib_test.h"
#include "steal_test.h"

FIXTURE(batch) {
	struct bench b;
};

FIXTURE_SETUP(batch)
{
	ASSERT_EQ(0, bench_open(&self->b));
}

FIXTURE_TEARDOWN(batch)
{
	bench_close(&self->b);
}

static int open_the_gate(struct salvo_worker *worker, void *data)
{
	open_gate(data, 0);
	return 0;
}

/* The batch ends only when the forked task has run. */
static int wait_and_open(struct salvo_worker *worker, void *data)
{
	struct bench *b = data;
	struct salvo_task task;
	struct salvo_fence *fence;
	int err, other;

	b->map[0] = 0;
	fence = submit_gate(b, b->queue, 0, 1);
	if (!fence)
		return -EINVAL;
	salvo_task_fork(worker, &task, open_the_gate, b);
	err = salvo_worker_wait(worker, fence);
	if (!err && b->map[1] != 1)
		err = -EIO;
	salvo_fence_destroy(fence);
	other = salvo_task_join(worker, &task);
	return err ? err : other;
}

TEST_F(batch, W2_worker_runs_other_tasks_while_a_task_waits_for_its_batch)
{
	struct salvo_pool *pool = pool_of(1, 0);
	int i;

	ASSERT_NE(NULL, pool);
	for (i = 0; i < 50; i++)
		ASSERT_EQ(0, salvo_pool_run(pool, NULL, wait_and_open, &self->b));
	salvo_pool_destroy(pool);
}

static int just_wait(struct salvo_worker *worker, void *data)
{
	return salvo_worker_wait(worker, data);
}

struct opener {
	struct bench *b;
	struct salvo_pool *pool;
	uint64_t sleeps;
	pthread_t thread;
};

/* Opens the gate once the worker sleeps. */
static void *open_when_asleep(void *arg)
{
	struct opener *opener = arg;
	struct salvo_pool_stats stats;

	do {
		sched_yield();
		salvo_pool_get_stats(opener->pool, &stats);
	} while (stats.sleeps == opener->sleeps || !stats.roots);
	open_gate(opener->b, 0);
	return NULL;
}

TEST_F(batch, end_of_a_batch_wakes_the_worker_that_sleeps)
{
	struct opener opener = { .b = &self->b, .pool = pool_of(1, 0) };
	struct salvo_pool_stats stats;
	struct salvo_fence *fence;

	ASSERT_NE(NULL, opener.pool);
	do
		salvo_pool_get_stats(opener.pool, &stats);
	while (!stats.sleeps);
	opener.sleeps = stats.sleeps;
	fence = submit_gate(&self->b, self->b.queue, 0, 1);
	ASSERT_NE(NULL, fence);
	ASSERT_EQ(0, pthread_create(&opener.thread, NULL, open_when_asleep, &opener));
	EXPECT_EQ(0, salvo_pool_run(opener.pool, NULL, just_wait, fence));
	EXPECT_EQ(1, self->b.map[1]);
	pthread_join(opener.thread, NULL);
	salvo_fence_destroy(fence);
	salvo_pool_destroy(opener.pool);
}

TEST_F(batch, failure_of_a_batch_comes_back)
{
	struct salvo_kernel *wild = bench_kernel(&self->b, "wild");
	const uint32_t items = 1;
	struct salvo_fence *fence;

	ASSERT_NE(NULL, wild);
	salvo_kernel_set_bo(wild, 0, NULL, 0);
	salvo_kernel_set_grid(wild, 1, &items, NULL);
	ASSERT_EQ(0, salvo_batch_dispatch(self->b.batch, wild));
	ASSERT_EQ(0, salvo_queue_submit(self->b.queue, self->b.batch, NULL, 0, &fence));
	EXPECT_EQ(-ECANCELED, run_on(1, just_wait, fence));
	salvo_fence_destroy(fence);
	salvo_kernel_destroy(wild);
}

TEST_HARNESS_MAIN
