// SPDX-License-Identifier: MIT
/* queue.c - submission: order, overlap, waits, completions, errors and bans */
#include "kselftest_harness.h"

#include <time.h>

#include "lib_test.h"

FIXTURE(queue) {
	struct bench b;
	struct salvo_kernel *store;
	struct salvo_queue *second;
};

FIXTURE_SETUP(queue)
{
	ASSERT_EQ(0, bench_open(&self->b));
	self->store = bench_kernel(&self->b, "store");
	ASSERT_NE(NULL, self->store);
	ASSERT_EQ(0, salvo_queue_create(self->b.device, 0, &self->second));
}

FIXTURE_TEARDOWN(queue)
{
	salvo_kernel_destroy(self->store);
	salvo_queue_destroy(self->second);
	bench_close(&self->b);
}

/* A batch that touches address 0. */
static struct salvo_fence *submit_wild(struct bench *b, struct salvo_queue *queue)
{
	struct salvo_kernel *wild = bench_kernel(b, "wild");
	struct salvo_fence *fence = NULL;
	const uint32_t one = 1;

	salvo_batch_reset(b->batch);
	if (salvo_kernel_set_bo(wild, 0, NULL, 0) ||
	    salvo_kernel_set_grid(wild, 1, &one, NULL) ||
	    salvo_batch_dispatch(b->batch, wild) < 0 ||
	    salvo_queue_submit(queue, b->batch, NULL, 0, &fence))
		fence = NULL;
	salvo_kernel_destroy(wild);
	return fence;
}

TEST_F(queue, wrong_arguments)
{
	struct salvo_fence *none = NULL, *fence = (void *)1;
	struct salvo_queue *queue = (void *)1;
	struct salvo_device *device;
	struct salvo_batch *batch;

	if (self->b.info.units < 64) {
		EXPECT_EQ(-EINVAL, salvo_queue_create(self->b.device,
						      1ull << self->b.info.units, &queue));
		EXPECT_EQ(NULL, queue);
	}
	EXPECT_EQ(-EINVAL, salvo_queue_submit(self->b.queue, self->b.batch, NULL, 0, &fence));
	EXPECT_EQ(NULL, fence);
	EXPECT_STREQ("the batch is empty", salvo_batch_error(self->b.batch));
	ASSERT_EQ(0, bench_store(&self->b, self->store, 0, 1));
	EXPECT_EQ(-EINVAL, salvo_queue_submit(self->b.queue, self->b.batch, NULL, 1, &fence));
	EXPECT_EQ(-EINVAL, salvo_queue_submit(self->b.queue, self->b.batch, &none, 1, &fence));

	ASSERT_EQ(0, open_device(&device));
	ASSERT_EQ(0, salvo_batch_create(device, &batch));
	EXPECT_EQ(-EINVAL, salvo_queue_submit(self->b.queue, batch, NULL, 0, &fence));
	salvo_batch_destroy(batch);
	salvo_device_close(device);
	EXPECT_EQ(0, bench_run(&self->b));
}

TEST_F(queue, B6_one_packet_one_interrupt_one_completion_for_a_batch)
{
	struct salvo_device_stats before, after;
	int i, n;

	for (n = 1; n <= 1000; n = n == 1 ? 33 : n == 33 ? 1000 : 1001) {
		salvo_batch_reset(self->b.batch);
		for (i = 0; i < n; i++)
			ASSERT_EQ(i, bench_store(&self->b, self->store, i, n + i));
		ASSERT_EQ(0, salvo_device_get_stats(self->b.device, &before));
		ASSERT_EQ(0, bench_run(&self->b));
		ASSERT_EQ(0, salvo_device_get_stats(self->b.device, &after));
		EXPECT_EQ(1, after.packets - before.packets);
		EXPECT_EQ(1, after.doorbells - before.doorbells);
		EXPECT_EQ(1, after.interrupts - before.interrupts);
		EXPECT_EQ(1, after.completions - before.completions);
		for (i = 0; i < n; i++)
			EXPECT_EQ(n + i, self->b.map[i]);
	}
}

/*
 * Records a dispatch that sets the word @mine of the buffer and polls until the word @theirs is
 * set, @patience times at most. Returns the command's index or -errno.
 */
static int meet(struct bench *b, uint32_t mine, uint32_t theirs, uint32_t patience)
{
	struct salvo_kernel *kernel = bench_kernel(b, "meet");
	const uint32_t one = 1;
	int index;

	if (!kernel)
		return -ENOENT;
	salvo_kernel_set_bo(kernel, 0, b->bo, 0);
	salvo_kernel_set_value(kernel, 1, &mine, sizeof(mine));
	salvo_kernel_set_value(kernel, 2, &theirs, sizeof(theirs));
	salvo_kernel_set_value(kernel, 3, &patience, sizeof(patience));
	salvo_kernel_set_grid(kernel, 1, &one, NULL);
	index = salvo_batch_dispatch(b->batch, kernel);
	salvo_kernel_destroy(kernel);
	return index;
}

/* Two dispatches of a batch wait until each has seen the other one run. */
TEST_F(queue, B2_dispatches_without_pipe_controls_run_at_the_same_time)
{
	struct salvo_profile first, second;

	if (self->b.info.units < 2)
		SKIP(return, "the device has one unit");
	ASSERT_EQ(0, meet(&self->b, 0, 1, 2000000000));
	ASSERT_EQ(1, meet(&self->b, 1, 0, 2000000000));
	ASSERT_EQ(0, salvo_batch_enable_profile(self->b.batch));
	ASSERT_EQ(0, bench_run(&self->b));
	EXPECT_EQ(1, self->b.map[2]);
	EXPECT_EQ(1, self->b.map[3]);
	ASSERT_EQ(0, salvo_batch_get_profile(self->b.batch, 0, &first));
	ASSERT_EQ(0, salvo_batch_get_profile(self->b.batch, 1, &second));
	EXPECT_LT(first.started, second.ended);
	EXPECT_LT(second.started, first.ended);
}

/* A pipe control prevents the two from overlapping: the first one reaches its poll limit. */
TEST_F(queue, B3_a_consumer_starts_after_its_producer_has_ended)
{
	struct salvo_profile a, b;

	ASSERT_EQ(0, meet(&self->b, 0, 1, 1000000));
	ASSERT_EQ(1, meet(&self->b, 1, 0, 1000000));
	ASSERT_EQ(2, salvo_batch_pipe_control(self->b.batch, 1, 0));
	ASSERT_EQ(0, salvo_batch_enable_profile(self->b.batch));
	ASSERT_EQ(0, bench_run(&self->b));
	EXPECT_EQ(2, self->b.map[2]);
	EXPECT_EQ(1, self->b.map[3]);
	ASSERT_EQ(0, salvo_batch_get_profile(self->b.batch, 0, &a));
	ASSERT_EQ(0, salvo_batch_get_profile(self->b.batch, 1, &b));
	EXPECT_LE(a.ended, b.started);
}

TEST_F(queue, B5_the_fence_waits_for_every_command)
{
	struct salvo_fence *fence;
	int i;

	/* The first command ends last, and only the fence waits for it. */
	ASSERT_EQ(0, bench_gate(&self->b, 0, 1, 5));
	for (i = 1; i < 33; i++)
		ASSERT_EQ(i, bench_store(&self->b, self->store, 1 + i, i));
	ASSERT_EQ(0, salvo_queue_submit(self->b.queue, self->b.batch, NULL, 0, &fence));
	EXPECT_EQ(-ETIME, salvo_fence_wait(fence, 0));
	EXPECT_EQ(-ETIME, salvo_fence_wait(fence, SECOND_NS / 20));
	open_gate(&self->b, 0);
	EXPECT_EQ(0, salvo_fence_wait(fence, 20 * SECOND_NS));
	EXPECT_EQ(5, self->b.map[1]);
	for (i = 1; i < 33; i++)
		EXPECT_EQ(i, self->b.map[1 + i]);
	EXPECT_EQ(0, salvo_fence_wait(fence, 0));
	EXPECT_EQ(0, salvo_fence_wait(fence, -1));
	salvo_fence_destroy(fence);
}

TEST_F(queue, B11_fences_of_a_queue_end_in_the_order_of_submission)
{
	enum { COUNT = 50 };
	struct salvo_fence *fences[COUNT], *gate;
	int i;

	gate = submit_gate(&self->b, self->b.queue, 0, 1);
	ASSERT_NE(NULL, gate);
	for (i = 0; i < COUNT; i++) {
		/*
		 * Every batch writes the same word: it gets the last value if they stay in order.
		 */
		fences[i] = submit_store(&self->b, self->store, self->b.queue, 2, i, NULL, 0);
		ASSERT_NE(NULL, fences[i]);
	}
	for (i = 0; i < COUNT; i++)
		EXPECT_EQ(-ETIME, salvo_fence_wait(fences[i], 0));
	open_gate(&self->b, 0);
	EXPECT_EQ(0, salvo_fence_wait(fences[COUNT - 1], 20 * SECOND_NS));
	for (i = 0; i < COUNT; i++) {
		EXPECT_EQ(0, salvo_fence_wait(fences[i], 0));
		salvo_fence_destroy(fences[i]);
	}
	EXPECT_EQ(COUNT - 1, self->b.map[2]);
	EXPECT_EQ(0, salvo_fence_wait(gate, 0));
	salvo_fence_destroy(gate);
}

TEST_F(queue, a_batch_waits_for_fences_of_other_queues)
{
	struct salvo_fence *gate, *held, *behind;

	gate = submit_gate(&self->b, self->b.queue, 0, 1);
	ASSERT_NE(NULL, gate);
	held = submit_store(&self->b, self->store, self->second, 2, 7, &gate, 1);
	ASSERT_NE(NULL, held);
	/* Batches of its queue stay in order. */
	behind = submit_store(&self->b, self->store, self->second, 2, 8, NULL, 0);
	ASSERT_NE(NULL, behind);
	EXPECT_EQ(-ETIME, salvo_fence_wait(held, SECOND_NS / 50));
	EXPECT_EQ(-ETIME, salvo_fence_wait(behind, 0));
	EXPECT_EQ(0, self->b.map[2]);
	open_gate(&self->b, 0);
	EXPECT_EQ(0, salvo_fence_wait(behind, 20 * SECOND_NS));
	EXPECT_EQ(0, salvo_fence_wait(held, 0));
	EXPECT_EQ(0, salvo_fence_wait(gate, 0));
	EXPECT_EQ(8, self->b.map[2]);
	salvo_fence_destroy(gate);
	salvo_fence_destroy(held);
	salvo_fence_destroy(behind);
}

TEST_F(queue, fences_may_be_destroyed_before_their_batch_has_run)
{
	struct salvo_fence *gate, *held, *last;

	gate = submit_gate(&self->b, self->b.queue, 0, 1);
	held = submit_store(&self->b, self->store, self->second, 2, 7, &gate, 1);
	salvo_fence_destroy(gate);
	last = submit_store(&self->b, self->store, self->b.queue, 3, 8, &held, 1);
	salvo_fence_destroy(held);
	open_gate(&self->b, 0);
	ASSERT_NE(NULL, last);
	EXPECT_EQ(0, salvo_fence_wait(last, 20 * SECOND_NS));
	EXPECT_EQ(7, self->b.map[2]);
	EXPECT_EQ(8, self->b.map[3]);
	salvo_fence_destroy(last);
}

/* Two queues alternate: each batch waits for the previous one, in the other queue. */
TEST_F(queue, a_long_chain_across_queues)
{
	enum { COUNT = 500 };
	struct salvo_kernel *chain = bench_kernel(&self->b, "chain");
	struct salvo_fence *previous = NULL, *fence;
	uint32_t factor, term, expected = 1;
	const uint32_t one = 1;
	int i;

	self->b.map[0] = 1;
	for (i = 0; i < COUNT; i++) {
		factor = 3 + i % 5;
		term = i;
		expected = expected * factor + term;
		salvo_batch_reset(self->b.batch);
		salvo_kernel_set_bo(chain, 0, self->b.bo, i * 4);
		salvo_kernel_set_bo(chain, 1, self->b.bo, i * 4 + 4);
		salvo_kernel_set_value(chain, 2, &factor, sizeof(factor));
		salvo_kernel_set_value(chain, 3, &term, sizeof(term));
		salvo_kernel_set_grid(chain, 1, &one, NULL);
		ASSERT_EQ(0, salvo_batch_dispatch(self->b.batch, chain));
		ASSERT_EQ(0, salvo_queue_submit(i % 2 ? self->second : self->b.queue,
						self->b.batch, &previous, previous ? 1 : 0,
						&fence));
		salvo_fence_destroy(previous);
		previous = fence;
	}
	EXPECT_EQ(0, salvo_fence_wait(previous, 20 * SECOND_NS));
	EXPECT_EQ(expected, self->b.map[COUNT]);
	salvo_fence_destroy(previous);
	salvo_kernel_destroy(chain);
}

/* Each batch uses the result of an earlier one, of any queue, and waits for it. */
TEST_F(queue, random_graphs_across_queues)
{
	enum { QUEUES = 6, BATCHES = 400 };
	struct salvo_kernel *chain = bench_kernel(&self->b, "chain");
	struct salvo_fence *fences[BATCHES], *waits[3];
	struct salvo_queue *queues[QUEUES];
	uint32_t expected[BATCHES + 1], random = 12345, parent, factor, term;
	const uint32_t one = 1;
	unsigned int i, j, count, wrong = 0;

	for (i = 0; i < QUEUES; i++)
		ASSERT_EQ(0, salvo_queue_create(self->b.device, 0, &queues[i]));
	self->b.map[0] = expected[0] = 99;
	for (i = 0; i < BATCHES; i++) {
		random = random * 1664525 + 1013904223;
		parent = (random >> 8) % (i + 1);
		factor = random >> 20 | 1;
		term = random;
		expected[i + 1] = expected[parent] * factor + term;
		count = 0;
		if (parent)
			waits[count++] = fences[parent - 1];
		for (j = 0; i && j < (random >> 4) % 3; j++)
			waits[count++] = fences[(random >> (12 + j)) % i];
		salvo_batch_reset(self->b.batch);
		salvo_kernel_set_bo(chain, 0, self->b.bo, parent * 4);
		salvo_kernel_set_bo(chain, 1, self->b.bo, i * 4 + 4);
		salvo_kernel_set_value(chain, 2, &factor, sizeof(factor));
		salvo_kernel_set_value(chain, 3, &term, sizeof(term));
		salvo_kernel_set_grid(chain, 1, &one, NULL);
		ASSERT_EQ(0, salvo_batch_dispatch(self->b.batch, chain));
		ASSERT_EQ(0, salvo_queue_submit(queues[(random >> 28) % QUEUES], self->b.batch,
						waits, count, &fences[i]));
	}
	for (i = 0; i < BATCHES; i++) {
		EXPECT_EQ(0, salvo_fence_wait(fences[i], 20 * SECOND_NS));
		wrong += self->b.map[i + 1] != expected[i + 1];
		salvo_fence_destroy(fences[i]);
	}
	EXPECT_EQ(0, wrong);
	for (i = 0; i < QUEUES; i++)
		salvo_queue_destroy(queues[i]);
	salvo_kernel_destroy(chain);
}

/* More batches in flight than any ring has entries. */
static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * SECOND_NS + now.tv_nsec;
}

TEST_F(queue, many_batches_in_flight)
{
	const bool soft = !strcmp(self->b.info.name, "soft");
	const uint64_t since = now_ns();
	struct salvo_fence *gate, *last = NULL;
	struct salvo_bo *bo;
	int i, count;

	gate = submit_gate(&self->b, self->b.queue, 0, 1);
	ASSERT_NE(NULL, gate);
	/* The driver's timeout resets the GPU after 2 s, and a virtual machine is slow. */
	for (i = 0; i < (soft ? 1500 : 300) && (soft || now_ns() - since < SECOND_NS); i++) {
		salvo_fence_destroy(last);
		last = submit_store(&self->b, self->store, self->b.queue, 2 + i, i + 1, NULL, 0);
		ASSERT_NE(NULL, last);
	}
	count = i;
	open_gate(&self->b, 0);
	EXPECT_LT(20, count);
	EXPECT_EQ(0, salvo_fence_wait(last, 20 * SECOND_NS));
	for (i = 0; i < count; i++)
		ASSERT_EQ(i + 1, self->b.map[2 + i]);
	EXPECT_EQ(0, salvo_bo_create(self->b.device, 4096, 0, &bo));
	salvo_bo_destroy(bo);
	salvo_fence_destroy(last);
	salvo_fence_destroy(gate);
}

TEST_F(queue, a_queue_may_be_destroyed_with_batches_in_flight)
{
	struct salvo_fence *gate, *held;

	gate = submit_gate(&self->b, self->b.queue, 0, 1);
	held = submit_store(&self->b, self->store, self->second, 2, 7, &gate, 1);
	salvo_queue_destroy(self->second);
	self->second = NULL;
	open_gate(&self->b, 0);
	ASSERT_NE(NULL, held);
	EXPECT_EQ(0, salvo_fence_wait(held, 20 * SECOND_NS));
	EXPECT_EQ(7, self->b.map[2]);
	salvo_fence_destroy(gate);
	salvo_fence_destroy(held);
}

TEST_F(queue, a_fault_bans_its_queue_and_no_other)
{
	struct salvo_fence *gate, *bad, *behind, *other;

	/* Delay the bad batch, so that another one is certainly behind it. */
	gate = submit_gate(&self->b, self->b.queue, 0, 1);
	ASSERT_NE(NULL, gate);
	bad = submit_wild(&self->b, self->b.queue);
	ASSERT_NE(NULL, bad);
	behind = submit_store(&self->b, self->store, self->b.queue, 2, 7, NULL, 0);
	ASSERT_NE(NULL, behind);
	other = submit_store(&self->b, self->store, self->second, 3, 8, &bad, 1);
	ASSERT_NE(NULL, other);
	open_gate(&self->b, 0);
	EXPECT_EQ(0, salvo_fence_wait(gate, 20 * SECOND_NS));
	EXPECT_EQ(-ECANCELED, salvo_fence_wait(bad, 20 * SECOND_NS));
	EXPECT_EQ(-ECANCELED, salvo_fence_wait(behind, 20 * SECOND_NS));
	EXPECT_EQ(-ECANCELED, salvo_fence_wait(bad, 0));
	EXPECT_EQ(-EIO, salvo_queue_submit(self->b.queue, self->b.batch, NULL, 0, NULL));
	/* A wait only orders: it does not propagate the error. */
	EXPECT_EQ(0, salvo_fence_wait(other, 20 * SECOND_NS));
	EXPECT_EQ(8, self->b.map[3]);
	salvo_fence_destroy(gate);
	salvo_fence_destroy(bad);
	salvo_fence_destroy(behind);
	salvo_fence_destroy(other);

	salvo_batch_reset(self->b.batch);
	ASSERT_EQ(0, bench_store(&self->b, self->store, 4, 9));
	EXPECT_EQ(0, salvo_queue_submit(self->second, self->b.batch, NULL, 0, &other));
	EXPECT_EQ(0, salvo_fence_wait(other, 20 * SECOND_NS));
	EXPECT_EQ(9, self->b.map[4]);
	salvo_fence_destroy(other);
}

TEST_F(queue, held_batches_of_a_banned_queue_are_cancelled)
{
	struct salvo_fence *gate, *bad, *held, *waiting;

	gate = submit_gate(&self->b, self->second, 0, 1);
	bad = submit_wild(&self->b, self->b.queue);
	ASSERT_NE(NULL, bad);
	held = submit_store(&self->b, self->store, self->b.queue, 2, 7, &gate, 1);
	if (!held) {
		/* The fault came first: submission already fails. */
		EXPECT_EQ(-EIO, salvo_queue_submit(self->b.queue, self->b.batch, &gate, 1, NULL));
		open_gate(&self->b, 0);
	} else {
		waiting = submit_store(&self->b, self->store, self->second, 3, 8, &held, 1);
		open_gate(&self->b, 0);
		EXPECT_EQ(-ECANCELED, salvo_fence_wait(held, 20 * SECOND_NS));
		ASSERT_NE(NULL, waiting);
		EXPECT_EQ(0, salvo_fence_wait(waiting, 20 * SECOND_NS));
		EXPECT_EQ(8, self->b.map[3]);
		salvo_fence_destroy(held);
		salvo_fence_destroy(waiting);
	}
	EXPECT_EQ(0, salvo_fence_wait(gate, 20 * SECOND_NS));
	EXPECT_EQ(-ECANCELED, salvo_fence_wait(bad, 20 * SECOND_NS));
	salvo_fence_destroy(bad);
	salvo_fence_destroy(gate);
}

TEST_F(queue, unit_masks)
{
	struct salvo_queue *one;
	struct salvo_fence *fence;

	ASSERT_EQ(0, salvo_queue_create(self->b.device, 1, &one));
	fence = submit_store(&self->b, self->store, one, 0, 5, NULL, 0);
	ASSERT_NE(NULL, fence);
	EXPECT_EQ(0, salvo_fence_wait(fence, 20 * SECOND_NS));
	EXPECT_EQ(5, self->b.map[0]);
	salvo_fence_destroy(fence);
	salvo_queue_destroy(one);
}

TEST_HARNESS_MAIN
