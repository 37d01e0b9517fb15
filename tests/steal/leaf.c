// SPDX-License-Identifier: MIT
/* leaf.c - kernels as leaf tasks: on slots alone, and as leaves of a pool with 0 units and more */
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib_test.h"
#include "salvo_slot.h"
#include "sanitizer.h"
#include "steal_test.h"

FIXTURE(leaf) {
	struct bench b;
	struct salvo_slot *slot;
};

/* Four units, however many cores there are. */
FIXTURE_SETUP(leaf)
{
	setenv("SALVO_TOPOLOGY", "4", 1);
	ASSERT_EQ(0, bench_open(&self->b));
	ASSERT_EQ(4, self->b.info.units);
	self->slot = NULL;
}

FIXTURE_TEARDOWN(leaf)
{
	salvo_slot_detach(self->slot);
	bench_close(&self->b);
}

/* A kernel "store" that writes @value at word @index. */
static struct salvo_kernel *store_of(struct bench *b, uint32_t index, uint32_t value)
{
	struct salvo_kernel *kernel = bench_kernel(b, "store");
	const uint32_t one = 1;

	salvo_kernel_set_bo(kernel, 0, b->bo, 0);
	salvo_kernel_set_value(kernel, 1, &index, sizeof(index));
	salvo_kernel_set_value(kernel, 2, &value, sizeof(value));
	salvo_kernel_set_grid(kernel, 1, &one, NULL);
	return kernel;
}

/* "add" on @items words from @first on. */
static struct salvo_kernel *add_of(struct bench *b, uint32_t first, uint32_t items,
				   uint32_t group, uint32_t value)
{
	struct salvo_kernel *kernel = bench_kernel(b, "add");

	salvo_kernel_set_bo(kernel, 0, b->bo, first * 4);
	salvo_kernel_set_value(kernel, 1, &value, sizeof(value));
	salvo_kernel_set_grid(kernel, 1, &items, &group);
	return kernel;
}

/* "wait_for_host": it ends when word 0 is set, and stores 9 in word 1. */
static struct salvo_kernel *waiting_of(struct bench *b)
{
	struct salvo_kernel *kernel = bench_kernel(b, "wait_for_host");
	const uint32_t one = 1, value = 9;

	salvo_kernel_set_bo(kernel, 0, b->bo, 0);
	salvo_kernel_set_bo(kernel, 1, b->bo, 4);
	salvo_kernel_set_value(kernel, 2, &value, sizeof(value));
	salvo_kernel_set_grid(kernel, 1, &one, NULL);
	return kernel;
}

/* There each attaching starts a process, and a test takes longer. */
static bool on_driver(void)
{
	return getenv("SALVO_DEVICE");
}

static int run_slot(struct salvo_slot *slot, const struct salvo_kernel *kernel)
{
	int err = salvo_slot_start(slot, kernel);

	while (!err && (err = salvo_slot_poll(slot)) == -EBUSY) {
		sched_yield();
		err = 0;
	}
	return err;
}

TEST_F(leaf, W4_task_goes_through_the_slot_without_a_packet)
{
	struct salvo_kernel *kernel = store_of(&self->b, 3, 77);
	struct salvo_device_stats before, after;

	ASSERT_EQ(0, salvo_slot_attach(self->b.queue, 1, NULL, NULL, &self->slot));
	EXPECT_EQ(0, salvo_slot_poll(self->slot));
	salvo_device_get_stats(self->b.device, &before);
	ASSERT_EQ(0, run_slot(self->slot, kernel));
	salvo_device_get_stats(self->b.device, &after);
	EXPECT_EQ(77, self->b.map[3]);
	EXPECT_EQ(1, salvo_slot_completion(self->slot));
	EXPECT_EQ(before.packets, after.packets);
	EXPECT_EQ(before.interrupts, after.interrupts);
	salvo_kernel_destroy(kernel);
}

TEST_F(leaf, W4_profile_says_when_a_task_ran)
{
	struct salvo_kernel *store = store_of(&self->b, 3, 77);
	struct salvo_kernel *add = add_of(&self->b, 0, 64, 8, 1);
	struct salvo_kernel *waiting = waiting_of(&self->b);
	struct salvo_profile first, second;

	ASSERT_EQ(0, salvo_slot_attach(self->b.queue, 3, NULL, NULL, &self->slot));
	EXPECT_EQ(-ENOENT, salvo_slot_get_profile(self->slot, &first));
	EXPECT_EQ(0, first.started | first.ended);
	ASSERT_EQ(0, run_slot(self->slot, store));
	ASSERT_EQ(0, salvo_slot_get_profile(self->slot, &first));
	EXPECT_LT(0, first.started);
	EXPECT_LT(first.started, first.ended);
	EXPECT_EQ(first.started, first.queued);
	EXPECT_EQ(first.started, first.ready);
	ASSERT_EQ(0, run_slot(self->slot, add));
	ASSERT_EQ(0, salvo_slot_get_profile(self->slot, &second));
	EXPECT_LE(first.ended, second.started);
	EXPECT_LT(second.started, second.ended);
	/* "add" left 1 in the word that "wait_for_host" waits for. */
	self->b.map[0] = 0;
	ASSERT_EQ(0, salvo_slot_start(self->slot, waiting));
	EXPECT_EQ(-EBUSY, salvo_slot_get_profile(self->slot, &first));
	*(volatile uint32_t *)self->b.map = 1;
	while (salvo_slot_poll(self->slot) == -EBUSY)
		sched_yield();
	EXPECT_EQ(0, salvo_slot_get_profile(self->slot, &first));
	EXPECT_LE(second.ended, first.started);
	salvo_kernel_destroy(waiting);
	salvo_kernel_destroy(add);
	salvo_kernel_destroy(store);
}

TEST_F_TIMEOUT(leaf, W5_task_is_divided_among_the_cores_which_all_meet_before_it_ends, 120)
{
	static const uint64_t units[] = { 1, 2, 3, 5, 15 };
	static const uint32_t items[] = { 1, 3, 64, 1000, 4096 };
	uint32_t i, total = 0;
	size_t u, n;

	for (u = 0; u < sizeof(units) / sizeof(units[0]); u++) {
		struct salvo_slot *slot;

		ASSERT_EQ(0, salvo_slot_attach(self->b.queue, units[u], NULL, NULL, &slot));
		for (n = 0; n < sizeof(items) / sizeof(items[0]); n++) {
			struct salvo_kernel *kernel = add_of(&self->b, 0, items[n], 8, 1);

			memset(self->b.map, 0, 5000 * 4);
			for (total = 0; total < 20; total++) {
				ASSERT_EQ(0, run_slot(slot, kernel));
				/* The last core's part is done, too. */
				ASSERT_EQ(total + 1, self->b.map[items[n] - 1]);
			}
			for (i = 0; i < 5000; i++)
				ASSERT_EQ(i < items[n] ? 20 : 0, self->b.map[i]);
			EXPECT_EQ((1ull << __builtin_popcountll(units[u])) - 1,
				  salvo_slot_completion(slot));
			salvo_kernel_destroy(kernel);
		}
		salvo_slot_detach(slot);
	}
}

TEST_F_TIMEOUT(leaf, W5_unit_that_sleeps_is_woken, 120)
{
	struct salvo_kernel *kernel;
	uint32_t i;

	/* Both the primary core and the other sleep after 50 us. */
	ASSERT_EQ(0, salvo_slot_attach(self->b.queue, 6, NULL, NULL, &self->slot));
	for (i = 1; i <= 100; i++) {
		kernel = add_of(&self->b, 0, 16, 1, 1);
		usleep(i % 10 * 30);
		ASSERT_EQ(0, run_slot(self->slot, kernel));
		ASSERT_EQ(i, self->b.map[15]);
		salvo_kernel_destroy(kernel);
	}
}

TEST_F_TIMEOUT(leaf, W5_units_that_share_cores_do_not_wait_for_each_other, 120)
{
	static const uint64_t units[3] = { 3, 6, 5 };
	struct salvo_kernel *kernels[3];
	struct salvo_slot *slots[3];
	int i, round;

	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, salvo_slot_attach(self->b.queue, units[i], NULL, NULL, &slots[i]));
		kernels[i] = add_of(&self->b, i * 256, 256, 1, 1);
	}
	for (round = 1; round <= 100; round++) {
		for (i = 0; i < 3; i++)
			ASSERT_EQ(0, salvo_slot_start(slots[i], kernels[i]));
		for (i = 0; i < 3; i++) {
			while (salvo_slot_poll(slots[i]) == -EBUSY)
				sched_yield();
			ASSERT_EQ(0, salvo_slot_poll(slots[i]));
		}
	}
	for (i = 0; i < 768; i++)
		ASSERT_EQ(100, self->b.map[i]);
	for (i = 0; i < 3; i++) {
		salvo_slot_detach(slots[i]);
		salvo_kernel_destroy(kernels[i]);
	}
}

/* Unit 0 has a batch of two commands: the second one ends only after the leaf has. */
TEST_F(leaf, W5_slots_are_polled_between_chunks_of_batches)
{
	struct salvo_kernel *kernel = store_of(&self->b, 9, 1);
	struct salvo_queue *queue;
	struct salvo_fence *fence;

	/* On the driver units are attached when the batches in flight have ended. */
	ASSERT_EQ(0, salvo_slot_attach(self->b.queue, 1, NULL, NULL, &self->slot));
	ASSERT_EQ(0, salvo_queue_create(self->b.device, 1, &queue));
	ASSERT_EQ(0, bench_gate(&self->b, 0, 100, 1));
	ASSERT_EQ(1, bench_gate(&self->b, 1, 101, 1));
	ASSERT_EQ(2, salvo_batch_pipe_control(self->b.batch, 1, 0));
	ASSERT_EQ(0, salvo_queue_submit(queue, self->b.batch, NULL, 0, &fence));
	ASSERT_EQ(0, salvo_slot_start(self->slot, kernel));
	open_gate(&self->b, 0);
	while (salvo_slot_poll(self->slot) == -EBUSY)
		sched_yield();
	EXPECT_EQ(1, self->b.map[9]);
	EXPECT_EQ(-ETIME, salvo_fence_wait(fence, 0));
	open_gate(&self->b, 1);
	EXPECT_EQ(0, salvo_fence_wait(fence, 20 * SECOND_NS));
	salvo_fence_destroy(fence);
	salvo_queue_destroy(queue);
	salvo_kernel_destroy(kernel);
}

/* "wild" writes to address 0 and on. */
static struct salvo_kernel *wild_of(struct bench *b, uint32_t items)
{
	struct salvo_kernel *kernel = bench_kernel(b, "wild");
	const uint32_t group = 1;

	salvo_kernel_set_bo(kernel, 0, NULL, 0);
	salvo_kernel_set_grid(kernel, 1, &items, &group);
	return kernel;
}

TEST_F(leaf, W6_completion_has_a_bit_for_each_core_and_a_fault_for_each_failed_part)
{
	struct salvo_kernel *wild = wild_of(&self->b, 1), *good = store_of(&self->b, 3, 5);
	struct salvo_kernel *all_wild = wild_of(&self->b, 8);
	struct salvo_error error;

	ASSERT_EQ(0, salvo_slot_attach(self->b.queue, 15, NULL, NULL, &self->slot));
	/* One work-group: it is in the part of the last core. */
	EXPECT_EQ(-ECANCELED, run_slot(self->slot, wild));
	EXPECT_EQ(7, salvo_slot_completion(self->slot));
	ASSERT_EQ(0, salvo_slot_get_error(self->slot, &error));
	EXPECT_EQ(-ECANCELED, error.error);
	EXPECT_EQ(SALVO_ERROR_PAGE, error.kind);
	EXPECT_EQ(SALVO_ERROR_WRITE, error.access);
	EXPECT_STREQ("wild", error.kernel);
	EXPECT_EQ(0, error.group);
	EXPECT_EQ(0, error.item);
	EXPECT_EQ(0, error.command);
	EXPECT_EQ(1, error.count);
	EXPECT_EQ(-ECANCELED, run_slot(self->slot, all_wild));
	EXPECT_EQ(0, salvo_slot_completion(self->slot));
	/* The unit keeps working, and the queue is not banned. */
	EXPECT_EQ(0, run_slot(self->slot, good));
	EXPECT_EQ(15, salvo_slot_completion(self->slot));
	ASSERT_EQ(0, salvo_slot_get_error(self->slot, &error));
	EXPECT_EQ(0, error.error);
	EXPECT_EQ(1, error.done);
	EXPECT_EQ(5, self->b.map[3]);
	salvo_kernel_destroy(wild);
	salvo_kernel_destroy(all_wild);
	salvo_kernel_destroy(good);
}

static void *open_soon(void *b)
{
	usleep(20000);
	open_gate(b, 0);
	return NULL;
}

TEST_F_TIMEOUT(leaf, W7_disconnect_while_a_task_runs_waits_for_its_end, 120)
{
	struct salvo_kernel *kernel = waiting_of(&self->b);
	pthread_t thread;
	int i;

	ASSERT_EQ(0, salvo_slot_attach(self->b.queue, 3, NULL, NULL, &self->slot));
	ASSERT_EQ(0, salvo_slot_start(self->slot, kernel));
	EXPECT_EQ(-EBUSY, salvo_slot_poll(self->slot));
	EXPECT_EQ(-EBUSY, salvo_slot_start(self->slot, kernel));
	ASSERT_EQ(0, pthread_create(&thread, NULL, open_soon, &self->b));
	salvo_slot_detach(self->slot);
	self->slot = NULL;
	EXPECT_EQ(9, self->b.map[1]);
	pthread_join(thread, NULL);
	/* All that they used is free again. */
	for (i = 0; i < (on_driver() ? 10 : 300); i++) {
		ASSERT_EQ(0, salvo_slot_attach(self->b.queue, 1 + i % 15, NULL, NULL, &self->slot));
		ASSERT_EQ(0, run_slot(self->slot, kernel));
		salvo_slot_detach(self->slot);
		self->slot = NULL;
	}
	salvo_kernel_destroy(kernel);
}

/* Unit 1 leaves the other slot while it waits for unit 2 at the barrier of this one. */
TEST_F(leaf, W7_disconnect_while_a_core_is_at_the_barrier_of_another_slot)
{
	struct salvo_kernel *kernel = waiting_of(&self->b);
	struct salvo_slot *other;

	ASSERT_EQ(0, salvo_slot_attach(self->b.queue, 6, NULL, NULL, &self->slot));
	ASSERT_EQ(0, salvo_slot_attach(self->b.queue, 3, NULL, NULL, &other));
	ASSERT_EQ(0, salvo_slot_start(self->slot, kernel));
	salvo_slot_detach(other);
	EXPECT_EQ(-EBUSY, salvo_slot_poll(self->slot));
	open_gate(&self->b, 0);
	while (salvo_slot_poll(self->slot) == -EBUSY)
		sched_yield();
	EXPECT_EQ(0, run_slot(self->slot, kernel));
	EXPECT_EQ(9, self->b.map[1]);
	salvo_kernel_destroy(kernel);
}

TEST(W7_closing_the_device_ends_a_task_that_does_not_end_by_itself)
{
	struct salvo_kernel *kernel;
	struct salvo_slot *slot;
	struct bench b;

	NEED_SIGNALS();
	ASSERT_EQ(0, bench_open(&b));
	kernel = waiting_of(&b);
	ASSERT_EQ(0, salvo_slot_attach(b.queue, 1, NULL, NULL, &slot));
	ASSERT_EQ(0, salvo_slot_start(slot, kernel));
	/* It uses what would have to be destroyed before. */
	salvo_device_close(b.device);
}

TEST_F(leaf, W7_task_that_exceeds_the_time_limit_is_given_up)
{
	struct salvo_kernel *kernel = waiting_of(&self->b);
	struct salvo_kernel *good = store_of(&self->b, 3, 5);
	struct salvo_error error;

	NEED_SIGNALS();
	ASSERT_EQ(0, salvo_slot_attach(self->b.queue, 3, NULL, NULL, &self->slot));
	if (on_driver())
		SKIP(return, "the driver has a time limit of its own: see tests/uapi/slot.c");
	ASSERT_EQ(0, salvo_device_set_timeout(self->b.device, 20000000));
	EXPECT_EQ(-ECANCELED, run_slot(self->slot, kernel));
	ASSERT_EQ(0, salvo_slot_get_error(self->slot, &error));
	EXPECT_EQ(SALVO_ERROR_HANG, error.kind);
	EXPECT_STREQ("wait_for_host", error.kernel);
	EXPECT_EQ(0, self->b.map[1]);
	EXPECT_EQ(0, salvo_device_set_timeout(self->b.device, 0));
	EXPECT_EQ(0, run_slot(self->slot, good));
	salvo_kernel_destroy(kernel);
	salvo_kernel_destroy(good);
}

/* Who detaches a slot waits for the unit, which is given back only by the watchdog. */
TEST_F(leaf, W7_disconnect_while_the_task_of_another_slot_exceeds_the_time_limit)
{
	struct salvo_kernel *kernel = waiting_of(&self->b);
	struct salvo_slot *other;

	NEED_SIGNALS();
	ASSERT_EQ(0, salvo_slot_attach(self->b.queue, 1, NULL, NULL, &self->slot));
	ASSERT_EQ(0, salvo_slot_attach(self->b.queue, 1, NULL, NULL, &other));
	if (on_driver())
		SKIP(return, "the driver has a time limit of its own: see tests/uapi/slot.c");
	ASSERT_EQ(0, salvo_device_set_timeout(self->b.device, 50000000));
	ASSERT_EQ(0, salvo_slot_start(self->slot, kernel));
	salvo_slot_detach(other);
	while (salvo_slot_poll(self->slot) == -EBUSY)
		sched_yield();
	EXPECT_EQ(-ECANCELED, salvo_slot_poll(self->slot));
	EXPECT_EQ(0, self->b.map[1]);
	salvo_kernel_destroy(kernel);
}

TEST_F(leaf, misuse_is_refused)
{
	struct salvo_kernel *unset = bench_kernel(&self->b, "store");
	struct salvo_kernel *kernel = store_of(&self->b, 0, 0);
	struct salvo_slot *slots[65];
	struct salvo_queue *queue;
	int i, err = 0;

	EXPECT_EQ(-EINVAL, salvo_slot_attach(self->b.queue, 0, NULL, NULL, &slots[0]));
	EXPECT_EQ(-EINVAL, salvo_slot_attach(self->b.queue, 16, NULL, NULL, &slots[0]));
	EXPECT_EQ(NULL, slots[0]);
	ASSERT_EQ(0, salvo_queue_create(self->b.device, 2, &queue));
	EXPECT_EQ(-EINVAL, salvo_slot_attach(queue, 1, NULL, NULL, &slots[0]));
	salvo_queue_destroy(queue);
	for (i = 0; i < 65 && !err; i++)
		err = salvo_slot_attach(self->b.queue, 1 << i % 4, NULL, NULL, &slots[i]);
	EXPECT_EQ(-ENOSPC, err);
	/* The driver leaves as many to other processes. */
	EXPECT_EQ(on_driver() ? 33 : 65, i);
	EXPECT_EQ(-EINVAL, salvo_slot_start(slots[0], unset));
	EXPECT_EQ(0, run_slot(slots[i - 2], kernel));
	while (i--)
		salvo_slot_detach(slots[i]);
	salvo_kernel_destroy(unset);
	salvo_kernel_destroy(kernel);
}

TEST_F(leaf, child_of_a_fork_leaves_slots_alone)
{
	struct salvo_kernel *kernel = store_of(&self->b, 3, 1);
	int status;
	pid_t pid;

	ASSERT_EQ(0, salvo_slot_attach(self->b.queue, 1, NULL, NULL, &self->slot));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		status = salvo_slot_start(self->slot, kernel) == -ENODEV &&
			 salvo_slot_poll(self->slot) == -ENODEV;
		salvo_slot_detach(self->slot);
		_exit(status ? 0 : 1);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, run_slot(self->slot, kernel));
	EXPECT_EQ(1, self->b.map[3]);
	salvo_kernel_destroy(kernel);
}

/* --- pools with units */

struct program {
	struct bench *b;
	/* A kernel for each leaf, as one belongs to one thread at a time. */
	struct salvo_kernel *kernels[64];
	int failing;
};

/* Leaf i runs kernel i; errors are collected. */
static int run_leaves(struct salvo_worker *worker, void *data, uint64_t begin, uint64_t end)
{
	struct program *p = data;
	struct salvo_error error;
	int err = 0;

	for (; begin < end && !err; begin++) {
		err = salvo_worker_leaf(worker, p->kernels[begin], &error);
		if (err != error.error || (err && error.kind != SALVO_ERROR_PAGE) ||
		    (err && strcmp(error.kernel, "wild")))
			err = -EPROTO;
	}
	return err;
}

static int run_program(struct salvo_worker *worker, void *data)
{
	struct program *p = data;
	int i, err = 0;

	for (i = 0; i < 5; i++) {
		int round = salvo_worker_for(worker, 64, 1, run_leaves, p);

		err = err ? err : round;
	}
	return err;
}

static const unsigned int unit_counts[] = { 0, 1, 2, 4 };

/* W3: with so many units a worker; W8: the same results with all of them. */
static int run_with(struct bench *b, unsigned int workers, unsigned int units, struct program *p,
		    struct salvo_pool_stats *stats)
{
	const struct salvo_pool_options options = {
		.workers = workers, .units = units, .device = b->device,
	};
	struct salvo_pool *pool;
	int err = salvo_pool_create(&options, &pool);

	if (err)
		return -ENODEV;
	memset(b->map, 0, 65536);
	err = salvo_pool_run(pool, NULL, run_program, p);
	salvo_pool_get_stats(pool, stats);
	salvo_pool_destroy(pool);
	return err;
}

TEST_F_TIMEOUT(leaf, W3_leaves_run_on_the_units_of_their_workers, 120)
{
	struct program p = { .b = &self->b };
	struct salvo_device_stats before, after;
	struct salvo_pool_stats stats;
	int i;

	for (i = 0; i < 64; i++)
		p.kernels[i] = add_of(&self->b, i * 128, 128, 8, i + 1);
	salvo_device_get_stats(self->b.device, &before);
	ASSERT_EQ(0, run_with(&self->b, 3, 2, &p, &stats));
	salvo_device_get_stats(self->b.device, &after);
	EXPECT_EQ(5 * 64, stats.leaves);
	/* None of them was a packet. */
	EXPECT_EQ(before.interrupts, after.interrupts);
	for (i = 0; i < 64 * 128; i++)
		ASSERT_EQ(5 * (i / 128 + 1), self->b.map[i]);
	for (i = 0; i < 64; i++)
		salvo_kernel_destroy(p.kernels[i]);
}

TEST_F_TIMEOUT(leaf, W8_same_results_with_0_units_and_more_and_1_to_8_workers, 600)
{
	struct program p = { .b = &self->b };
	struct salvo_pool_stats stats;
	static uint32_t first[16384];
	unsigned int workers;
	size_t u;
	int i;

	for (i = 0; i < 64; i++)
		p.kernels[i] = i % 2 ? add_of(&self->b, i * 128, 128, 8, i + 1) :
				       store_of(&self->b, i * 128 + 5, i);
	for (u = 0; u < sizeof(unit_counts) / sizeof(unit_counts[0]); u++)
		for (workers = 1; workers <= 8; workers += on_driver() ? 3 : 1) {
			ASSERT_EQ(0, run_with(&self->b, workers, unit_counts[u], &p, &stats));
			EXPECT_EQ(unit_counts[u] ? 5 * 64 : 0, stats.leaves);
			if (!u && workers == 1)
				memcpy(first, self->b.map, sizeof(first));
			ASSERT_EQ(0, memcmp(first, self->b.map, sizeof(first)));
		}
	for (i = 0; i < 64; i++)
		salvo_kernel_destroy(p.kernels[i]);
}

TEST_F_TIMEOUT(leaf, W8_same_errors_with_0_units_and_more, 600)
{
	struct program p = { .b = &self->b };
	struct salvo_pool_stats stats;
	unsigned int workers;
	size_t u;
	int i, j;

	for (i = 0; i < 64; i++)
		p.kernels[i] = i % 9 == 4 ? wild_of(&self->b, 3) :
					    add_of(&self->b, i * 128, 128, 8, 1);
	for (u = 0; u < sizeof(unit_counts) / sizeof(unit_counts[0]); u++)
		for (workers = 1; workers <= 8; workers *= 2) {
			ASSERT_EQ(-ECANCELED,
				  run_with(&self->b, workers, unit_counts[u], &p, &stats));
			/* The leaves beside it ran. */
			for (i = 0; i < 64; i++)
				for (j = 0; j < 128; j++)
					ASSERT_EQ(i % 9 == 4 ? 0 : 5, self->b.map[i * 128 + j]);
		}
	for (i = 0; i < 64; i++)
		salvo_kernel_destroy(p.kernels[i]);
}

static int leaf_without_device(struct salvo_worker *worker, void *data)
{
	return salvo_worker_leaf(worker, data, NULL);
}

TEST_F(leaf, pools_check_their_units)
{
	struct salvo_pool_options options = { .units = 5, .device = self->b.device };
	struct salvo_kernel *kernel = store_of(&self->b, 0, 0);
	struct salvo_pool *pool;

	EXPECT_EQ(-EINVAL, salvo_pool_create(&options, &pool));
	EXPECT_EQ(NULL, pool);
	EXPECT_EQ(-EINVAL, run_on(1, leaf_without_device, kernel));
	salvo_kernel_destroy(kernel);
}

TEST_HARNESS_MAIN
