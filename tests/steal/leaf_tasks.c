// SPDX-License-Identifier: MIT
/* leaf_tasks.c - kernels as leaves of pools: who runs them, and how deep workers nest meanwhile */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib_test.h"
#include "steal_test.h"

FIXTURE(leaf_tasks) {
	struct bench b;
};

FIXTURE_SETUP(leaf_tasks)
{
	setenv("SALVO_TOPOLOGY", "2", 1);
	ASSERT_EQ(0, bench_open(&self->b));
	ASSERT_LE(2, self->b.info.units);
}

FIXTURE_TEARDOWN(leaf_tasks)
{
	bench_close(&self->b);
}

#define LEAVES	8
/* The word that a leaf waits for */
#define GATE	100

struct leaves {
	struct bench *b;
	struct salvo_kernel *kernels[LEAVES];
	/* Leaves that each worker has begun; the first of them waits for the word GATE. */
	_Atomic int begun[2];
	_Atomic bool held;
};

static void let_leaves_end(struct leaves *leaves)
{
	__atomic_store_n(&leaves->b->map[GATE], 1, __ATOMIC_RELEASE);
}

static int run_leaves(struct salvo_worker *worker, void *data, uint64_t begin, uint64_t end)
{
	struct leaves *leaves = data;
	int err = 0;

	for (; begin < end && !err; begin++) {
		atomic_fetch_add(&leaves->begun[salvo_worker_index(worker)], 1);
		err = salvo_worker_leaf(worker, leaves->kernels[begin], NULL);
	}
	return err;
}

/* Keeps its worker until the other one waits for its first leaf, and has had time to do more. */
static int hold_worker(struct salvo_worker *worker, void *data)
{
	struct leaves *leaves = data;
	const int other = !salvo_worker_index(worker);
	int i;

	atomic_store(&leaves->held, true);
	while (!atomic_load(&leaves->begun[other]))
		sched_yield();
	for (i = 0; i < 100; i++)
		usleep(1000);
	return 0;
}

static int share_leaves(struct salvo_worker *worker, void *data)
{
	struct leaves *leaves = data;
	struct salvo_task task;
	int err, other;

	salvo_task_fork(worker, &task, hold_worker, data);
	while (!atomic_load(&leaves->held))
		sched_yield();
	err = salvo_worker_for(worker, LEAVES, 1, run_leaves, data);
	other = salvo_task_join(worker, &task);
	return err ? err : other;
}

/* Begun by a worker before the gate opens: one that runs, and one that waits for the unit */
#define BOTH	2

/* The gate opens when both workers have begun these, or after a while in which one has not. */
static void *keep_gate(void *data)
{
	struct leaves *leaves = data;
	int i;

	for (i = 0; i < 2000 && (leaves->begun[0] < BOTH || leaves->begun[1] < BOTH); i++)
		usleep(1000);
	let_leaves_end(leaves);
	return NULL;
}

static struct salvo_kernel *leaf_of(struct bench *b, uint32_t i)
{
	struct salvo_kernel *kernel = bench_kernel(b, "wait_for_host");
	const uint32_t one = 1, value = i + 1;

	salvo_kernel_set_bo(kernel, 0, b->bo, GATE * 4);
	salvo_kernel_set_bo(kernel, 1, b->bo, i * 4);
	salvo_kernel_set_value(kernel, 2, &value, sizeof(value));
	salvo_kernel_set_grid(kernel, 1, &one, NULL);
	return kernel;
}

TEST_F_TIMEOUT(leaf_tasks, W3_worker_whose_units_are_busy_leaves_other_leaves_to_thieves, 120)
{
	const struct salvo_pool_options options = {
		.workers = 2, .units = 1, .device = self->b.device,
	};
	struct leaves leaves = { .b = &self->b };
	struct salvo_pool *pool;
	pthread_t gate;
	uint32_t i;

	memset(self->b.map, 0, 4096);
	for (i = 0; i < LEAVES; i++)
		leaves.kernels[i] = leaf_of(&self->b, i);
	ASSERT_EQ(0, salvo_pool_create(&options, &pool));
	ASSERT_EQ(0, pthread_create(&gate, NULL, keep_gate, &leaves));
	EXPECT_EQ(0, salvo_pool_run(pool, NULL, share_leaves, &leaves));
	pthread_join(gate, NULL);
	/* Neither has begun more than one that runs and one that waits before the other came. */
	EXPECT_LE(BOTH, leaves.begun[0]);
	EXPECT_LE(BOTH, leaves.begun[1]);
	for (i = 0; i < LEAVES; i++)
		EXPECT_EQ(i + 1, self->b.map[i]);
	salvo_pool_destroy(pool);
	for (i = 0; i < LEAVES; i++)
		salvo_kernel_destroy(leaves.kernels[i]);
}

/* --- stacks */

/* In the virtual machine a leaf takes longer. */
#define MANY	(getenv("SALVO_DEVICE") ? 1000 : 4000)

static int run_many(struct salvo_worker *worker, void *data, uint64_t begin, uint64_t end)
{
	struct bench *b = data;
	int err = 0;

	for (; begin < end && !err; begin++) {
		struct salvo_kernel *kernel = bench_kernel(b, "store");
		const uint32_t one = 1, value = begin + 1, index = begin;

		salvo_kernel_set_bo(kernel, 0, b->bo, 0);
		salvo_kernel_set_value(kernel, 1, &index, sizeof(index));
		salvo_kernel_set_value(kernel, 2, &value, sizeof(value));
		salvo_kernel_set_grid(kernel, 1, &one, NULL);
		err = salvo_worker_leaf(worker, kernel, NULL);
		salvo_kernel_destroy(kernel);
	}
	return err;
}

static int many_leaves(struct salvo_worker *worker, void *data)
{
	return salvo_worker_for(worker, MANY, 1, run_many, data);
}

/* While it waits for a leaf it begins another one, and another, ... */
TEST_F_TIMEOUT(leaf_tasks, W3_workers_that_wait_for_leaves_do_not_run_over_their_stacks, 120)
{
	static const unsigned int units[] = { 1, 0 };
	size_t u;
	int i;

	for (u = 0; u < 2; u++) {
		const struct salvo_pool_options options = {
			.workers = 1, .units = units[u], .device = self->b.device,
			.stack_bytes = 256 << 10,
		};
		struct salvo_pool *pool;

		memset(self->b.map, 0, MANY * 4);
		ASSERT_EQ(0, salvo_pool_create(&options, &pool));
		EXPECT_EQ(0, run_on_threads(pool, many_leaves, &self->b));
		for (i = 0; i < MANY; i++)
			ASSERT_EQ(i + 1, self->b.map[i]);
		salvo_pool_destroy(pool);
	}
}

TEST_HARNESS_MAIN
