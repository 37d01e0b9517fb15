// SPDX-License-Identifier: MIT
/*
 * overlap.c - batches of a queue that overlap where their memory allows it
 */
#include "kselftest_harness.h"
#include "lib_test.h"
#include "sanitizer.h"

#include <time.h>

/* Words of the buffer: the gate, what it writes, words that commands work on */
#define GATE		1024u
#define GATED		1028u
#define NEVER		1032u
#define FIRST		1u
#define SECOND		2u
#define THIRD		3u
#define FOURTH		4u

static bool await(const uint32_t *word)
{
	const time_t deadline = time(NULL) + 20;

	while (!__atomic_load_n(word, __ATOMIC_ACQUIRE))
		if (time(NULL) > deadline)
			return false;
	return true;
}

FIXTURE(overlap) {
	struct bench b;
	struct salvo_kernel *gate, *add;
	struct salvo_batch *second;
};

static int set_word(struct salvo_kernel *kernel, unsigned int argument, struct salvo_bo *bo,
		    uint32_t word)
{
	return salvo_kernel_set_bo_range(kernel, argument, bo, word * 4ull, 4);
}

static int add_copy(struct bench *b, struct salvo_batch *batch, uint32_t from, uint32_t to)
{
	return salvo_batch_copy(batch, b->bo, to * 4ull, b->bo, from * 4ull, 4);
}

FIXTURE_SETUP(overlap)
{
	const uint32_t one = 1, value = 7;
	struct bench *b = &self->b;

	ASSERT_EQ(bench_open(b), 0);
	ASSERT_EQ(salvo_batch_create(b->device, &self->second), 0);
	ASSERT_EQ(salvo_queue_enable_overlap(b->queue), 0);
	ASSERT_EQ(salvo_queue_enable_overlap(b->queue), 0);
	ASSERT_EQ(salvo_batch_enable_hazards(b->batch), 0);
	ASSERT_EQ(salvo_batch_enable_hazards(self->second), 0);
	self->gate = bench_kernel(b, "wait_for_host");
	self->add = bench_kernel(b, "add");
	ASSERT_NE(self->gate, NULL);
	ASSERT_NE(self->add, NULL);
	memset(b->map, 0, 65536);
	b->map[SECOND] = 5;
	ASSERT_EQ(set_word(self->gate, 0, b->bo, GATE), 0);
	ASSERT_EQ(set_word(self->gate, 1, b->bo, GATED), 0);
	ASSERT_EQ(salvo_kernel_set_value(self->gate, 2, &value, sizeof(value)), 0);
	ASSERT_EQ(salvo_kernel_set_grid(self->gate, 1, &one, NULL), 0);
	/* For some time after a change of context the driver puts one batch of each on a ring. */
	ASSERT_GE(add_copy(b, b->batch, FOURTH, FOURTH + 1), 0);
	ASSERT_EQ(bench_run(b), 0);
	salvo_batch_reset(b->batch);
	usleep(100000);
}

FIXTURE_TEARDOWN(overlap)
{
	salvo_kernel_destroy(self->gate);
	salvo_kernel_destroy(self->add);
	salvo_batch_destroy(self->second);
	bench_close(&self->b);
}

#define NEED_UNITS(count) do { \
	if (self->b.info.units < (count)) \
		SKIP(return, "the GPU has fewer than " #count " units"); \
} while (0)

/* The frame's head writes FIRST, its tail waits at the gate. */
static int submit_first(struct bench *b, struct salvo_kernel *gate, struct salvo_fence **fence)
{
	int err = add_copy(b, b->batch, SECOND, FIRST);

	if (err >= 0)
		err = salvo_batch_dispatch(b->batch, gate);
	return err < 0 ? err : salvo_queue_submit(b->queue, b->batch, NULL, 0, fence);
}

TEST_F(overlap, the_next_frame_starts_while_the_tail_of_this_one_runs)
{
	struct bench *b = &self->b;
	struct salvo_fence *first, *second;

	NEED_UNITS(2);
	/* It reads what the tail writes, and what the head has written. */
	ASSERT_GE(add_copy(b, self->second, GATED, FOURTH), 0);
	ASSERT_GE(add_copy(b, self->second, FIRST, THIRD), 0);
	/* Its links so far are to itself. */
	ASSERT_EQ(salvo_queue_submit(b->queue, self->second, NULL, 0, NULL), 0);
	ASSERT_EQ(salvo_queue_submit(b->queue, self->second, NULL, 0, NULL), 0);
	ASSERT_EQ(salvo_queue_wait(b->queue, 0, 20 * SECOND_NS), 0);
	ASSERT_EQ(submit_first(b, self->gate, &first), 0);
	ASSERT_EQ(salvo_queue_submit(b->queue, self->second, NULL, 0, &second), 0);
	EXPECT_TRUE(await(&b->map[THIRD]));
	EXPECT_EQ(salvo_fence_wait(first, 0), -ETIME);
	EXPECT_EQ(salvo_fence_wait(second, 0), -ETIME);
	EXPECT_EQ(salvo_queue_completed(b->queue), 3);
	open_gate(b, GATE);
	EXPECT_EQ(salvo_fence_wait(second, 20 * SECOND_NS), 0);
	EXPECT_EQ(salvo_fence_wait(first, 0), 0);
	EXPECT_EQ(b->map[FIRST], 5);
	EXPECT_EQ(b->map[THIRD], 5);
	EXPECT_EQ(b->map[FOURTH], 7);
	salvo_fence_destroy(first);
	salvo_fence_destroy(second);
}

/* Not asked for, or one of them is not tracked. */
TEST_F(overlap, other_batches_run_one_after_another)
{
	struct bench *b = &self->b;
	struct salvo_queue *plain, *other;
	struct salvo_batch *untracked, *later;
	struct salvo_fence *fence;
	unsigned int round;

	NEED_UNITS(2);
	ASSERT_EQ(salvo_queue_create(b->device, 0, &other), 0);
	ASSERT_EQ(salvo_batch_create(b->device, &later), 0);
	ASSERT_GE(add_copy(b, later, SECOND, FOURTH), 0);
	ASSERT_EQ(salvo_batch_create(b->device, &untracked), 0);
	ASSERT_EQ(salvo_queue_create(b->device, 0, &plain), 0);
	for (round = 0; round < 3; round++) {
		struct salvo_batch *first = round == 1 ? untracked : b->batch;
		struct salvo_batch *second = round == 2 ? untracked : self->second;
		struct salvo_queue *queue = round ? b->queue : plain;

		salvo_batch_reset(first);
		salvo_batch_reset(second);
		memset(b->map, 0, 65536);
		b->map[SECOND] = 5;
		ASSERT_GE(salvo_batch_dispatch(first, self->gate), 0);
		ASSERT_GE(add_copy(b, second, GATED, THIRD), 0);
		ASSERT_EQ(salvo_queue_submit(queue, first, NULL, 0, NULL), 0);
		ASSERT_EQ(salvo_queue_submit(queue, second, NULL, 0, &fence), 0);
		/* What comes after it has run, so it would have, too. */
		ASSERT_EQ(salvo_queue_submit(other, later, NULL, 0, NULL), 0);
		EXPECT_TRUE(await(&b->map[FOURTH]));
		open_gate(b, GATE);
		EXPECT_EQ(salvo_fence_wait(fence, 20 * SECOND_NS), 0);
		EXPECT_EQ(b->map[THIRD], 7);
		salvo_fence_destroy(fence);
	}
	salvo_queue_destroy(plain);
	salvo_queue_destroy(other);
	salvo_batch_destroy(untracked);
	salvo_batch_destroy(later);
}

TEST_F(overlap, a_batch_that_faults_does_not_fail_the_one_before)
{
	const uint32_t one = 1, value = 1;
	struct salvo_fence *first, *second;
	struct bench *b = &self->b;
	struct salvo_error error;

	ASSERT_EQ(submit_first(b, self->gate, &first), 0);
	ASSERT_EQ(salvo_kernel_set_bo(self->add, 0, NULL, 0), 0);
	ASSERT_EQ(salvo_kernel_set_value(self->add, 1, &value, sizeof(value)), 0);
	ASSERT_EQ(salvo_kernel_set_grid(self->add, 1, &one, NULL), 0);
	ASSERT_GE(salvo_batch_dispatch(self->second, self->add), 0);
	ASSERT_EQ(salvo_queue_submit(b->queue, self->second, NULL, 0, &second), 0);
	open_gate(b, GATE);
	EXPECT_EQ(salvo_fence_wait(second, 20 * SECOND_NS), -ECANCELED);
	EXPECT_EQ(salvo_fence_wait(first, 20 * SECOND_NS), 0);
	EXPECT_EQ(salvo_fence_get_error(second, &error), 0);
	EXPECT_EQ(error.kind, SALVO_ERROR_PAGE);
	EXPECT_EQ(error.command, 0);
	EXPECT_EQ(b->map[FIRST], 5);
	EXPECT_EQ(b->map[GATED], 7);
	salvo_fence_destroy(first);
	salvo_fence_destroy(second);
}

/*
 * The second batch takes the only unit while the first one has work left, and does not end. It is
 * the one that hangs; the first one ends when it is gone.
 */
TEST_F(overlap, a_batch_that_hangs_does_not_cancel_the_one_before)
{
	const uint32_t items = 2, group = 1, value = 1, one = 1;
	struct salvo_fence *first, *second;
	struct bench *b = &self->b;
	struct salvo_kernel *never = bench_kernel(b, "wait_for_host");
	struct salvo_queue *queue;
	struct salvo_error error;
	int err;

	NEED_SIGNALS();
	ASSERT_NE(never, NULL);
	err = salvo_device_set_timeout(b->device, SECOND_NS);
	ASSERT_TRUE(!err || err == -ENOTSUP);
	ASSERT_EQ(salvo_queue_create(b->device, 1, &queue), 0);
	ASSERT_EQ(salvo_queue_enable_overlap(queue), 0);
	ASSERT_GE(salvo_batch_dispatch(b->batch, self->gate), 0);
	ASSERT_EQ(salvo_kernel_set_bo_range(self->add, 0, b->bo, GATED * 4, 8), 0);
	ASSERT_EQ(salvo_kernel_set_value(self->add, 1, &value, sizeof(value)), 0);
	ASSERT_EQ(salvo_kernel_set_grid(self->add, 1, &items, &group), 0);
	ASSERT_GE(salvo_batch_dispatch(b->batch, self->add), 0);
	ASSERT_EQ(set_word(never, 0, b->bo, NEVER), 0);
	ASSERT_EQ(set_word(never, 1, b->bo, NEVER + 4), 0);
	ASSERT_EQ(salvo_kernel_set_value(never, 2, &value, sizeof(value)), 0);
	ASSERT_EQ(salvo_kernel_set_grid(never, 1, &one, NULL), 0);
	ASSERT_GE(salvo_batch_dispatch(self->second, never), 0);
	ASSERT_EQ(salvo_queue_submit(queue, b->batch, NULL, 0, &first), 0);
	ASSERT_EQ(salvo_queue_submit(queue, self->second, NULL, 0, &second), 0);
	/* The unit is the second batch's next. */
	usleep(50000);
	open_gate(b, GATE);
	EXPECT_EQ(salvo_fence_wait(second, 60 * SECOND_NS), -ECANCELED);
	EXPECT_EQ(salvo_fence_wait(first, 60 * SECOND_NS), 0);
	EXPECT_EQ(salvo_fence_get_error(second, &error), 0);
	EXPECT_EQ(error.kind, SALVO_ERROR_HANG);
	EXPECT_EQ(b->map[GATED], 8);
	EXPECT_EQ(salvo_queue_submit(queue, b->batch, NULL, 0, NULL), -EIO);
	salvo_fence_destroy(first);
	salvo_fence_destroy(second);
	salvo_queue_destroy(queue);
	salvo_kernel_destroy(never);
}

/* One command faults, another one does not end: the error is that of the hang alone. */
TEST_F(overlap, a_hang_beside_a_fault_has_no_address)
{
	struct bench *b = &self->b;
	struct salvo_kernel *wild;
	const uint32_t one = 1;
	struct salvo_queue *queue;
	struct salvo_fence *fence;
	struct salvo_error error;
	int err;

	NEED_SIGNALS();
	wild = bench_kernel(b, "wild");
	ASSERT_NE(wild, NULL);
	err = salvo_device_set_timeout(b->device, SECOND_NS);
	ASSERT_TRUE(!err || err == -ENOTSUP);
	ASSERT_EQ(salvo_queue_create(b->device, 1, &queue), 0);
	ASSERT_EQ(salvo_kernel_set_bo(wild, 0, NULL, 0), 0);
	ASSERT_EQ(salvo_kernel_set_grid(wild, 1, &one, NULL), 0);
	ASSERT_GE(salvo_batch_dispatch(b->batch, wild), 0);
	ASSERT_GE(bench_gate(b, NEVER, NEVER + 4, 1), 0);
	ASSERT_EQ(salvo_queue_submit(queue, b->batch, NULL, 0, &fence), 0);
	EXPECT_EQ(salvo_fence_wait(fence, 60 * SECOND_NS), -ECANCELED);
	EXPECT_EQ(salvo_fence_get_error(fence, &error), 0);
	EXPECT_EQ(error.kind, SALVO_ERROR_HANG);
	EXPECT_EQ(error.access, 0);
	EXPECT_EQ(error.address, 0);
	EXPECT_EQ(error.done, 0);
	salvo_fence_destroy(fence);
	salvo_queue_destroy(queue);
	salvo_kernel_destroy(wild);
}

/* The application orders what the library does not see. */
TEST_F(overlap, a_batch_waits_for_a_fence_of_its_own_queue)
{
	struct bench *b = &self->b;
	struct salvo_fence *first, *second;

	NEED_UNITS(2);
	ASSERT_EQ(submit_first(b, self->gate, &first), 0);
	ASSERT_GE(add_copy(b, self->second, SECOND, THIRD), 0);
	ASSERT_EQ(salvo_queue_submit(b->queue, self->second, &first, 1, &second), 0);
	/* Without the wait it would run now. */
	usleep(100000);
	EXPECT_EQ(b->map[THIRD], 0);
	open_gate(b, GATE);
	EXPECT_EQ(salvo_fence_wait(second, 20 * SECOND_NS), 0);
	EXPECT_EQ(b->map[THIRD], 5);
	salvo_fence_destroy(first);
	salvo_fence_destroy(second);
}

/* --- random batches ----------------------------------------------------------- */

#define WORDS		48u
#define BATCHES		6u
#define COMMANDS	10u
#define ROUNDS		400u

static uint64_t seed = 1;

static uint32_t pick(uint32_t below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 33) % below;
}

/* One more command, and what it does to @host. */
static int add_random(struct bench *b, struct salvo_batch *batch, struct salvo_kernel *add,
		      uint32_t *host)
{
	const uint32_t low = pick(WORDS / 2), high = pick(WORDS / 2), value = pick(1000);
	const uint32_t most = WORDS / 2 - (low > high ? low : high);
	const uint32_t count = 1 + pick(most < 4 ? most : 4);
	const bool back = pick(2);
	const uint32_t src = back ? WORDS / 2 + high : low, dst = back ? low : WORDS / 2 + high;
	uint32_t i;

	switch (pick(8)) {
	case 0:
		return pick(3) ? 0 : salvo_batch_barrier(batch);
	case 1:
	case 2:
		for (i = 0; i < count; i++)
			host[dst + i] = value;
		return salvo_batch_fill(batch, b->bo, dst * 4, count * 4, value);
	case 3:
	case 4:
		for (i = 0; i < count; i++)
			host[dst + i] += value;
		salvo_kernel_set_bo_range(add, 0, b->bo, dst * 4, count * 4);
		salvo_kernel_set_value(add, 1, &value, sizeof(value));
		salvo_kernel_set_grid(add, 1, &count, NULL);
		return salvo_batch_dispatch(batch, add);
	default:
		memcpy(host + dst, host + src, count * 4);
		return salvo_batch_copy(batch, b->bo, dst * 4, b->bo, src * 4, count * 4);
	}
}

TEST_F_TIMEOUT(overlap, random_batches_give_what_the_host_computes, 200)
{
	struct bench *b = &self->b;
	struct salvo_batch *batches[BATCHES];
	uint32_t host[WORDS] = { 0 };
	struct salvo_fence *fence = NULL;
	unsigned int round, i, j;

	memset(b->map, 0, 65536);
	for (i = 0; i < BATCHES; i++) {
		ASSERT_EQ(salvo_batch_create(b->device, &batches[i]), 0);
		ASSERT_EQ(salvo_batch_enable_hazards(batches[i]), 0);
	}
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < BATCHES; i++) {
			const unsigned int count = 1 + pick(COMMANDS);

			salvo_batch_reset(batches[i]);
			for (j = 0; j < count; j++)
				ASSERT_GE(add_random(b, batches[i], self->add, host), 0);
			/* It must not be empty. */
			ASSERT_GE(add_copy(b, batches[i], 0, WORDS), 0);
			ASSERT_EQ(salvo_queue_submit(b->queue, batches[i], NULL, 0,
						     i + 1 == BATCHES ? &fence : NULL), 0)
				TH_LOG("%s", salvo_batch_error(batches[i]));
		}
		ASSERT_EQ(salvo_fence_wait(fence, 20 * SECOND_NS), 0);
		salvo_fence_destroy(fence);
		ASSERT_EQ(memcmp(b->map, host, sizeof(host)), 0);
	}
	for (i = 0; i < BATCHES; i++)
		salvo_batch_destroy(batches[i]);
}

/* One recorded batch follows itself, is changed in between, and alternates with another one. */
TEST_F(overlap, recorded_batches_follow_themselves)
{
	struct bench *b = &self->b;
	struct salvo_kernel *add = self->add;
	const uint32_t items = 4096, value = 1;
	uint32_t expected = 0, i;

	memset(b->map, 0, 65536);
	ASSERT_EQ(salvo_kernel_set_grid(add, 1, &items, NULL), 0);
	ASSERT_EQ(salvo_kernel_set_bo(add, 0, b->bo, 0), 0);
	ASSERT_EQ(salvo_kernel_set_value(add, 1, &value, sizeof(value)), 0);
	for (i = 0; i < 5; i++)
		ASSERT_GE(salvo_batch_dispatch(b->batch, add), 0);
	ASSERT_GE(salvo_batch_dispatch(self->second, add), 0);
	for (i = 0; i < 300; i++) {
		const bool other = i % 7 == 3;

		if (i % 50 == 49) {
			ASSERT_EQ(salvo_queue_wait(b->queue, 0, 20 * SECOND_NS), 0);
			ASSERT_EQ(salvo_batch_patch_bo(b->batch, 0, 0, b->bo, 0,
						       items * 4), 0);
		}
		ASSERT_EQ(salvo_queue_submit(b->queue, other ? self->second : b->batch, NULL, 0,
					     NULL), 0);
		expected += other ? 1 : 5;
	}
	ASSERT_EQ(salvo_queue_wait(b->queue, 0, 20 * SECOND_NS), 0);
	for (i = 0; i < items; i++)
		ASSERT_EQ(b->map[i], expected);
}

TEST_HARNESS_MAIN
