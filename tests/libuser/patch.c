// SPDX-License-Identifier: MIT
/* patch.c - reuse of batches: submitted again, patched, appended, captured */
#include "kselftest_harness.h"
#include "batch.h"
#include "salvo_hw.h"
#include "lib_test.h"

FIXTURE(patch) {
	struct bench b;
	struct salvo_kernel *store;
	struct salvo_kernel *add;
	struct salvo_batch *other;
};

FIXTURE_SETUP(patch)
{
	ASSERT_EQ(0, bench_open(&self->b));
	self->store = bench_kernel(&self->b, "store");
	self->add = bench_kernel(&self->b, "add");
	ASSERT_NE(NULL, self->store);
	ASSERT_NE(NULL, self->add);
	ASSERT_EQ(0, salvo_batch_create(self->b.device, &self->other));
}

FIXTURE_TEARDOWN(patch)
{
	salvo_batch_destroy(self->other);
	salvo_kernel_destroy(self->add);
	salvo_kernel_destroy(self->store);
	bench_close(&self->b);
}

/* The call must fail and set an error message. */
#define EXPECT_REFUSED(err, call) do { \
	EXPECT_EQ(err, call); \
	EXPECT_NE(0, strlen(salvo_batch_error(self->b.batch))); \
} while (0)

TEST_F(patch, values_buffers_and_grids)
{
	struct salvo_batch *batch = self->b.batch;
	struct salvo_bo *second;
	uint32_t items = 4, value = 1, round, i;
	void *map;

	ASSERT_EQ(0, salvo_bo_create(self->b.device, 4096, 0, &second));
	ASSERT_EQ(0, salvo_bo_map(second, &map));
	salvo_kernel_set_bo(self->add, 0, self->b.bo, 0);
	salvo_kernel_set_value(self->add, 1, &value, sizeof(value));
	salvo_kernel_set_grid(self->add, 1, &items, NULL);
	ASSERT_EQ(0, bench_store(&self->b, self->store, 100, 1));
	ASSERT_EQ(1, salvo_batch_dispatch(batch, self->add));
	for (round = 0; round < 33; round++) {
		value = 1 + round;
		items = 4 + round;
		ASSERT_EQ(0, salvo_batch_patch_value(batch, 1, 1, &value, sizeof(value)));
		ASSERT_EQ(0, salvo_batch_patch_grid(batch, 1, 1, &items, NULL));
		ASSERT_EQ(0, salvo_batch_patch_value(batch, 0, 2, &value, sizeof(value)));
		ASSERT_EQ(0, salvo_batch_patch_bo(batch, 1, 0, round % 2 ? second : self->b.bo, 0,
						  0));
		ASSERT_EQ(0, bench_run(&self->b));
		EXPECT_EQ(1 + round, self->b.map[100]);
	}
	/* Of the first words each even round was added to one buffer, each odd one to the other. */
	EXPECT_EQ(17 * 17, self->b.map[0]);
	EXPECT_EQ(16 * 17, ((uint32_t *)map)[0]);
	/* Only the last grid had word 35. */
	for (i = 36; i < 64; i++)
		EXPECT_EQ(0, self->b.map[i]);
	EXPECT_EQ(33, self->b.map[35]);
	salvo_bo_destroy(second);
}

TEST_F(patch, transfers)
{
	struct salvo_batch *batch = self->b.batch;

	ASSERT_EQ(0, salvo_batch_fill(batch, self->b.bo, 0, 16, 5));
	ASSERT_EQ(1, salvo_batch_barrier(batch));
	ASSERT_EQ(2, salvo_batch_copy(batch, self->b.bo, 64, self->b.bo, 0, 16));
	ASSERT_EQ(3, salvo_batch_timestamp(batch, self->b.bo, 4096));
	ASSERT_EQ(0, bench_run(&self->b));
	ASSERT_EQ(0, salvo_batch_patch_bo(batch, 0, 0, self->b.bo, 1024, 0));
	ASSERT_EQ(0, salvo_batch_patch_bo(batch, 2, 0, self->b.bo, 2048, 0));
	ASSERT_EQ(0, salvo_batch_patch_bo(batch, 2, 1, self->b.bo, 1024, 0));
	ASSERT_EQ(0, salvo_batch_patch_bo(batch, 3, 0, self->b.bo, 8192, 0));
	self->b.map[0] = 0;
	ASSERT_EQ(0, bench_run(&self->b));
	EXPECT_EQ(0, self->b.map[0]);
	EXPECT_EQ(5, self->b.map[256]);
	EXPECT_EQ(5, self->b.map[512]);
	EXPECT_NE(0, self->b.map[2048]);

	EXPECT_REFUSED(-EINVAL, salvo_batch_patch_bo(batch, 1, 0, self->b.bo, 0, 0));
	EXPECT_REFUSED(-EINVAL, salvo_batch_patch_bo(batch, 0, 1, self->b.bo, 0, 0));
	EXPECT_REFUSED(-EINVAL, salvo_batch_patch_bo(batch, 0, 0, self->b.bo, 65532, 0));
	EXPECT_REFUSED(-EINVAL, salvo_batch_patch_bo(batch, 0, 0, self->b.bo, 0, 4));
	/* Errors that a patch cannot detect are reported at submission. */
	ASSERT_EQ(0, salvo_batch_patch_bo(batch, 2, 0, self->b.bo, 1032, 0));
	EXPECT_REFUSED(-EINVAL, salvo_queue_submit(self->b.queue, batch, NULL, 0, NULL));
	ASSERT_EQ(0, salvo_batch_patch_bo(batch, 2, 0, self->b.bo, 2048, 0));
	EXPECT_EQ(0, bench_run(&self->b));
}

TEST_F(patch, wrong_patches)
{
	struct salvo_batch *batch = self->b.batch;
	const uint32_t one = 1, zero = 0;

	ASSERT_EQ(0, bench_store(&self->b, self->store, 0, 7));
	ASSERT_EQ(1, salvo_batch_barrier(batch));
	EXPECT_REFUSED(-EINVAL, salvo_batch_patch_value(batch, 1, 1, &one, 4));
	EXPECT_REFUSED(-EINVAL, salvo_batch_patch_value(batch, 2, 1, &one, 4));
	EXPECT_REFUSED(-EINVAL, salvo_batch_patch_value(batch, ~0u, 1, &one, 4));
	EXPECT_REFUSED(-EINVAL, salvo_batch_patch_value(batch, 0, 0, &one, 4));
	EXPECT_REFUSED(-EINVAL, salvo_batch_patch_value(batch, 0, 3, &one, 4));
	EXPECT_REFUSED(-EINVAL, salvo_batch_patch_value(batch, 0, 1, &one, 2));
	EXPECT_REFUSED(-EINVAL, salvo_batch_patch_value(batch, 0, 1, NULL, 4));
	EXPECT_REFUSED(-EINVAL, salvo_batch_patch_bo(batch, 1, 0, self->b.bo, 0, 0));
	EXPECT_REFUSED(-EINVAL, salvo_batch_patch_bo(batch, 0, 1, self->b.bo, 0, 0));
	EXPECT_REFUSED(-EINVAL, salvo_batch_patch_bo(batch, 0, 9, self->b.bo, 0, 0));
	EXPECT_REFUSED(-EINVAL, salvo_batch_patch_bo(batch, 0, 0, self->b.bo, 65536, 0));
	EXPECT_REFUSED(-EINVAL, salvo_batch_patch_bo(batch, 0, 0, NULL, 4, 0));
	EXPECT_REFUSED(-EINVAL, salvo_batch_patch_grid(batch, 1, 1, &one, NULL));
	EXPECT_REFUSED(-EINVAL, salvo_batch_patch_grid(batch, 0, 1, &zero, NULL));
	EXPECT_REFUSED(-EINVAL, salvo_batch_patch_grid(batch, 0, 4, &one, NULL));
	EXPECT_EQ(0, bench_run(&self->b));
	EXPECT_EQ(7, self->b.map[0]);
}

TEST_F(patch, a_batch_in_flight_is_not_patched)
{
	struct salvo_batch *batch = self->b.batch;
	struct salvo_fence *fences[3];
	const uint32_t value = 9, one = 1;
	int i;

	ASSERT_EQ(0, bench_gate(&self->b, 0, 1, 5));
	/* Several submissions are in flight at once; the library tracks each. */
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, salvo_queue_submit(self->b.queue, batch, NULL, 0, &fences[i]));
	EXPECT_REFUSED(-EBUSY, salvo_batch_patch_value(batch, 0, 2, &value, sizeof(value)));
	EXPECT_NE(NULL, strstr(salvo_batch_error(batch), "in flight"));
	EXPECT_REFUSED(-EBUSY, salvo_batch_patch_bo(batch, 0, 0, self->b.bo, 4, 0));
	EXPECT_REFUSED(-EBUSY, salvo_batch_patch_grid(batch, 0, 1, &one, NULL));
	open_gate(&self->b, 0);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(0, salvo_fence_wait(fences[i], 20 * SECOND_NS));
		salvo_fence_destroy(fences[i]);
	}
	EXPECT_EQ(5, self->b.map[1]);
	EXPECT_EQ(0, salvo_batch_patch_value(batch, 0, 2, &value, sizeof(value)));
	EXPECT_EQ(0, bench_run(&self->b));
	EXPECT_EQ(9, self->b.map[1]);
}

/* The library skips validation of an unchanged batch, but not after a buffer was destroyed. */
TEST_F(patch, a_buffer_that_has_gone_is_noticed)
{
	struct salvo_bo *gone;

	ASSERT_EQ(0, salvo_bo_create(self->b.device, 1 << 20, 0, &gone));
	ASSERT_EQ(0, salvo_batch_fill(self->b.batch, gone, 0, 1 << 20, 1));
	ASSERT_EQ(0, bench_run(&self->b));
	ASSERT_EQ(0, bench_run(&self->b));
	salvo_bo_destroy(gone);
	EXPECT_REFUSED(-EINVAL, salvo_queue_submit(self->b.queue, self->b.batch, NULL, 0, NULL));
}

TEST_F(patch, hazards_are_found_again_when_a_buffer_moves)
{
	struct salvo_batch *batch = self->b.batch;
	struct salvo_hazard hazard;

	ASSERT_EQ(0, salvo_batch_enable_hazards(batch));
	ASSERT_EQ(0, salvo_batch_fill(batch, self->b.bo, 0, 64, 1));
	ASSERT_EQ(1, bench_store(&self->b, self->store, 0, 7));
	EXPECT_EQ(0, salvo_batch_get_hazard(batch, 0, &hazard));
	EXPECT_EQ(0, salvo_batch_patch_bo(batch, 1, 0, self->b.bo, 64, 0));
	EXPECT_EQ(-ENOENT, salvo_batch_get_hazard(batch, 0, &hazard));
	EXPECT_EQ(0, bench_run(&self->b));
	EXPECT_EQ(7, self->b.map[16]);
	EXPECT_EQ(0, salvo_batch_patch_bo(batch, 0, 0, self->b.bo, 32, 0));
	EXPECT_EQ(0, salvo_batch_get_hazard(batch, 0, &hazard));
	EXPECT_EQ(32, hazard.size);
	EXPECT_EQ(0, bench_run(&self->b));
	EXPECT_EQ(7, self->b.map[16]);
}

/* bench_store() into another batch than the bench's own */
static int store_into(struct bench *b, struct salvo_batch *batch, struct salvo_kernel *store,
		      uint32_t index, uint32_t value)
{
	struct bench other = *b;

	other.batch = batch;
	return bench_store(&other, store, index, value);
}

TEST_F(patch, a_batch_is_appended_to_another)
{
	const uint32_t items = 4, value = 100;
	uint32_t later = 50;
	int i;

	salvo_kernel_set_bo(self->add, 0, self->b.bo, 0);
	salvo_kernel_set_value(self->add, 1, &value, sizeof(value));
	salvo_kernel_set_grid(self->add, 1, &items, NULL);
	for (i = 0; i < 4; i++)
		ASSERT_EQ(i, store_into(&self->b, self->other, self->store, i, i));
	ASSERT_EQ(4, salvo_batch_dispatch(self->other, self->add));
	for (i = 0; i < 4; i++)
		ASSERT_EQ(5 + i, salvo_batch_pipe_control(self->other, 4, i));
	ASSERT_EQ(0, bench_store(&self->b, self->store, 10, 10));
	EXPECT_EQ(1, salvo_batch_append(self->b.batch, self->other));
	EXPECT_EQ(10, salvo_batch_count(self->b.batch));
	EXPECT_EQ(10, salvo_batch_barrier(self->b.batch));
	EXPECT_EQ(11, salvo_batch_append(self->b.batch, self->other));
	/* The part is not referenced and not changed. */
	salvo_batch_reset(self->other);
	/* Appended commands can be patched like those that were built here. */
	EXPECT_EQ(0, salvo_batch_patch_value(self->b.batch, 15, 1, &later, sizeof(later)));
	ASSERT_EQ(0, bench_run(&self->b));
	for (i = 0; i < 4; i++)
		EXPECT_EQ(50 + i, self->b.map[i]);
	EXPECT_EQ(10, self->b.map[10]);
	EXPECT_EQ(20, salvo_batch_append(self->b.batch, self->other));
	EXPECT_EQ(20, salvo_batch_count(self->b.batch));
	EXPECT_REFUSED(-EINVAL, salvo_batch_append(self->b.batch, self->b.batch));
}

TEST_F(patch, a_part_keeps_the_order_that_its_hazards_give)
{
	struct salvo_kernel *chain = bench_kernel(&self->b, "chain");
	const uint32_t factor = 3, one = 1;
	uint32_t i, expected = 1;

	ASSERT_EQ(0, salvo_batch_enable_hazards(self->other));
	salvo_kernel_set_bo_range(chain, 0, self->b.bo, 0, 4);
	salvo_kernel_set_bo_range(chain, 1, self->b.bo, 0, 4);
	salvo_kernel_set_value(chain, 2, &factor, sizeof(factor));
	salvo_kernel_set_grid(chain, 1, &one, NULL);
	for (i = 0; i < 20; i++) {
		salvo_kernel_set_value(chain, 3, &i, sizeof(i));
		ASSERT_EQ(i, salvo_batch_dispatch(self->other, chain));
		expected = expected * factor + i;
	}
	ASSERT_EQ(0, salvo_batch_append(self->b.batch, self->other));
	EXPECT_EQ(39, salvo_batch_count(self->b.batch));
	self->b.map[0] = 1;
	ASSERT_EQ(0, bench_run(&self->b));
	EXPECT_EQ(expected, self->b.map[0]);
	salvo_kernel_destroy(chain);
}

TEST_F(patch, a_full_batch_takes_no_part)
{
	unsigned int i, count;

	for (i = 0; i < 3000; i++)
		ASSERT_EQ(i, store_into(&self->b, self->other, self->store, i, i));
	EXPECT_EQ(0, salvo_batch_append(self->b.batch, self->other));
	count = salvo_batch_count(self->b.batch);
	EXPECT_REFUSED(-E2BIG, salvo_batch_append(self->b.batch, self->other));
	EXPECT_EQ(count, salvo_batch_count(self->b.batch));
	EXPECT_EQ(0, bench_run(&self->b));
	EXPECT_EQ(2999, self->b.map[2999]);
}

TEST_F(patch, submissions_are_captured)
{
	struct salvo_device_stats before, after;
	struct salvo_fence *fence;
	unsigned int hazards, i;

	for (hazards = 0; hazards < 2; hazards++) {
		salvo_batch_reset(self->other);
		if (hazards)
			ASSERT_EQ(0, salvo_batch_enable_hazards(self->other));
		ASSERT_EQ(0, salvo_queue_capture(self->b.queue, self->other));
		EXPECT_EQ(-EINVAL, salvo_queue_capture(self->b.queue, self->b.batch));
		ASSERT_EQ(0, salvo_device_get_stats(self->b.device, &before));
		for (i = 0; i < 20; i++) {
			/* All batches write the same word, and each one its own. */
			salvo_batch_reset(self->b.batch);
			ASSERT_EQ(0, bench_store(&self->b, self->store, 0, i));
			ASSERT_EQ(1, bench_store(&self->b, self->store, 1 + i, i));
			ASSERT_EQ(0, salvo_queue_submit(self->b.queue, self->b.batch, NULL, 0,
							NULL));
		}
		ASSERT_EQ(0, salvo_device_get_stats(self->b.device, &after));
		EXPECT_EQ(before.packets, after.packets);
		ASSERT_EQ(0, salvo_queue_capture(self->b.queue, NULL));
		EXPECT_EQ(hazards ? 40 : 59, salvo_batch_count(self->other));
		self->b.map[0] = ~0u;
		ASSERT_EQ(0, salvo_queue_submit(self->b.queue, self->other, NULL, 0, &fence));
		ASSERT_EQ(0, salvo_fence_wait(fence, 20 * SECOND_NS));
		salvo_fence_destroy(fence);
		ASSERT_EQ(0, salvo_device_get_stats(self->b.device, &after));
		EXPECT_EQ(1, after.completions - before.completions);
		EXPECT_EQ(19, self->b.map[0]);
		EXPECT_EQ(19, self->b.map[20]);
	}
}

/* A command of a random batch */
struct wanted {
	unsigned int kind;	/* 0 add, 1 chain, 2 fill, 3 copy */
	uint32_t offsets[2];	/* offsets of the ranges written and read */
	uint32_t size;		/* of the range that "add" uses */
	uint32_t value;
	uint32_t items;
};

static uint32_t seed;

static uint32_t pick(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

static void choose(struct wanted *w)
{
	w->offsets[0] = pick(1000) * 16;
	w->offsets[1] = 32768 + pick(1000) * 16;
	w->size = 4 * pick(100);
	w->value = pick(1000);
	w->items = 1 + pick(500);
}

static int build(struct bench *b, struct salvo_kernel *const *kernels, const struct wanted *w)
{
	struct salvo_kernel *kernel = kernels[w->kind];

	switch (w->kind) {
	case 0:
		salvo_kernel_set_bo_range(kernel, 0, b->bo, w->offsets[0], w->size);
		salvo_kernel_set_value(kernel, 1, &w->value, 4);
		salvo_kernel_set_grid(kernel, 1, &w->items, NULL);
		return salvo_batch_dispatch(b->batch, kernel);
	case 1:
		salvo_kernel_set_bo(kernel, 0, b->bo, w->offsets[1]);
		salvo_kernel_set_bo(kernel, 1, b->bo, w->offsets[0]);
		salvo_kernel_set_value(kernel, 2, &w->value, 4);
		salvo_kernel_set_value(kernel, 3, &w->value, 4);
		salvo_kernel_set_grid(kernel, 1, &w->items, NULL);
		return salvo_batch_dispatch(b->batch, kernel);
	case 2:
		return salvo_batch_fill(b->batch, b->bo, w->offsets[0], 16, 7);
	default:
		return salvo_batch_copy(b->batch, b->bo, w->offsets[0], b->bo, w->offsets[1], 16);
	}
}

static int change(struct salvo_batch *batch, struct salvo_bo *bo, unsigned int i,
		  const struct wanted *w)
{
	int err = 0;

	switch (w->kind) {
	case 0:
		err |= salvo_batch_patch_bo(batch, i, 0, bo, w->offsets[0], w->size);
		err |= salvo_batch_patch_value(batch, i, 1, &w->value, 4);
		err |= salvo_batch_patch_grid(batch, i, 1, &w->items, NULL);
		break;
	case 1:
		err |= salvo_batch_patch_grid(batch, i, 1, &w->items, NULL);
		err |= salvo_batch_patch_value(batch, i, 3, &w->value, 4);
		err |= salvo_batch_patch_value(batch, i, 2, &w->value, 4);
		err |= salvo_batch_patch_bo(batch, i, 1, bo, w->offsets[0], 0);
		err |= salvo_batch_patch_bo(batch, i, 0, bo, w->offsets[1], 0);
		break;
	case 3:
		err |= salvo_batch_patch_bo(batch, i, 1, bo, w->offsets[1], 0);
		/* fall through */
	default:
		err |= salvo_batch_patch_bo(batch, i, 0, bo, w->offsets[0], 0);
	}
	return err;
}

/* Are the cached packets equal, except for the address of the result and the seqno? */
static bool same_commands(const struct salvo_validated *a, const struct salvo_validated *b)
{
	const struct salvo_packet *head = a->packet;

	if (!a->bytes || !b->bytes)
		return a->bytes == b->bytes;
	return a->bytes == b->bytes &&
	       !memcmp(head + 1, (const struct salvo_packet *)b->packet + 1,
		       head->command_bytes - sizeof(struct salvo_op_close));
}

TEST_F(patch, a_patched_batch_is_as_if_it_had_been_built_so)
{
	struct salvo_kernel *kernels[] = { self->add, bench_kernel(&self->b, "chain"), NULL, NULL };
	struct bench fresh = self->b;
	struct wanted wanted[60];
	unsigned int round, i, count;

	fresh.batch = self->other;
	ASSERT_EQ(0, salvo_batch_enable_hazards(self->b.batch));
	ASSERT_EQ(0, salvo_batch_enable_hazards(fresh.batch));
	for (round = 0; round < 200; round++) {
		seed = round;
		count = 1 + pick(60);
		salvo_batch_reset(self->b.batch);
		salvo_batch_reset(fresh.batch);
		for (i = 0; i < count; i++) {
			wanted[i].kind = pick(4);
			choose(&wanted[i]);
			ASSERT_EQ(i, build(&self->b, kernels, &wanted[i]));
		}
		/* In most rounds a packet exists already; in some only grids change. */
		for (i = 0; i < round % 4; i++)
			ASSERT_EQ(0, bench_run(&self->b));
		for (i = 0; i < count; i++) {
			if (pick(3))
				continue;
			if (round % 8 < 4) {
				choose(&wanted[i]);
				ASSERT_EQ(0, change(self->b.batch, self->b.bo, i, &wanted[i]));
			} else if (wanted[i].kind < 2) {
				wanted[i].items = 1 + pick(500);
				ASSERT_EQ(0, salvo_batch_patch_grid(self->b.batch, i, 1,
								    &wanted[i].items, NULL));
			}
		}
		for (i = 0; i < count; i++)
			ASSERT_EQ(i, build(&fresh, kernels, &wanted[i]));
		ASSERT_EQ(fresh.batch->args_size, self->b.batch->args_size);
		ASSERT_EQ(fresh.batch->region_count, self->b.batch->region_count);
		ASSERT_EQ(0, memcmp(fresh.batch->commands, self->b.batch->commands,
				    count * sizeof(*fresh.batch->commands)));
		ASSERT_EQ(0, memcmp(fresh.batch->args, self->b.batch->args,
				    fresh.batch->args_size));
		ASSERT_EQ(0, memcmp(fresh.batch->regions, self->b.batch->regions,
				    fresh.batch->region_count * sizeof(*fresh.batch->regions)));
		for (i = 0; i < 2; i++) {
			ASSERT_EQ(0, bench_run(&self->b));
			ASSERT_EQ(0, bench_run(&fresh));
		}
		ASSERT_TRUE(same_commands(&fresh.batch->validated, &self->b.batch->validated));
	}
	salvo_kernel_destroy(kernels[1]);
}

TEST_F(patch, the_profile_of_a_refused_submission_is_not_that_of_the_one_before)
{
	struct salvo_profile profile;
	struct salvo_fence *fence;
	struct salvo_bo *readonly;

	ASSERT_EQ(0, salvo_batch_enable_profile(self->b.batch));
	ASSERT_EQ(0, bench_store(&self->b, self->store, 0, 7));
	ASSERT_EQ(1, bench_store(&self->b, self->store, 1, 7));
	ASSERT_EQ(0, bench_run(&self->b));
	EXPECT_EQ(0, salvo_batch_get_profile(self->b.batch, 1, &profile));
	ASSERT_EQ(0, salvo_bo_create(self->b.device, 4096, SALVO_BO_READONLY, &readonly));
	ASSERT_EQ(2, salvo_batch_fill(self->b.batch, readonly, 0, 16, 1));
	EXPECT_EQ(-EINVAL, salvo_queue_submit(self->b.queue, self->b.batch, NULL, 0, NULL));
	salvo_bo_destroy(readonly);
	EXPECT_REFUSED(-EINVAL, salvo_batch_get_profile(self->b.batch, 0, &profile));

	/* Nor of a batch in flight. */
	salvo_batch_reset(self->b.batch);
	ASSERT_EQ(0, bench_gate(&self->b, 4, 5, 5));
	ASSERT_EQ(0, salvo_queue_submit(self->b.queue, self->b.batch, NULL, 0, &fence));
	EXPECT_REFUSED(-EBUSY, salvo_batch_get_profile(self->b.batch, 0, &profile));
	open_gate(&self->b, 4);
	EXPECT_EQ(0, salvo_fence_wait(fence, 20 * SECOND_NS));
	salvo_fence_destroy(fence);
	EXPECT_EQ(0, salvo_batch_get_profile(self->b.batch, 0, &profile));
	EXPECT_GT(profile.ended, 0);
}

TEST_HARNESS_MAIN
