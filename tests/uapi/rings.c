// SPDX-License-Identifier: MIT
/*
 * rings.c - batches of high priority have a ring of their own
 *
 * Fences retire in ring order. The tests check states instead of times: while one batch waits
 * for the test to open its gate, others have or have not ended.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rendernode.h"
#include "salvo.h"
#include "system.h"

#define SIZE		4096u
#define SECONDS(n)	((n) * INT64_C(1000000000))
#define ROUNDS		10
#define EACH		8

/* Of the three priorities, from low to high */
enum { LOW, NORMAL, HIGH, CLASSES };

FIXTURE(rings) {
	struct salvo_device *device;
	struct salvo_queue *queue[CLASSES];
	struct salvo_program *program;
	struct salvo_batch *batch;
	struct salvo_bo *bo, *control;
	uint32_t *words;
	/* The gate: number of batches that have reached it, and whether it is open */
	volatile uint32_t *gate;
	long long kills, resets;
};

FIXTURE_SETUP(rings)
{
	int i;

	self->kills = device_counter("kills");
	self->resets = device_counter("resets");
	ASSERT_EQ(salvo_device_open(node_path(), &self->device), 0);
	for (i = 0; i < CLASSES; i++)
		ASSERT_EQ(salvo_queue_create_priority(self->device, 0, SALVO_QUEUE_LOW + i,
						      &self->queue[i]), 0);
	ASSERT_EQ(salvo_program_load_file(self->device, "kernels/rendezvous.salvo",
					  &self->program), 0);
	ASSERT_EQ(salvo_batch_create(self->device, &self->batch), 0);
	ASSERT_EQ(salvo_bo_create(self->device, SIZE, 0, &self->bo), 0);
	ASSERT_EQ(salvo_bo_map(self->bo, (void **)&self->words), 0);
	ASSERT_EQ(salvo_bo_create(self->device, SIZE, 0, &self->control), 0);
	ASSERT_EQ(salvo_bo_map(self->control, (void **)&self->gate), 0);
}

FIXTURE_TEARDOWN(rings)
{
	int i;

	salvo_bo_destroy(self->control);
	salvo_bo_destroy(self->bo);
	salvo_batch_destroy(self->batch);
	salvo_program_destroy(self->program);
	for (i = 0; i < CLASSES; i++)
		salvo_queue_destroy(self->queue[i]);
	salvo_device_close(self->device);
	EXPECT_TRUE(wait_value("jobs", 0));
	EXPECT_TRUE(wait_value("vram-used", 0));
}

static bool is_done(struct salvo_fence *fence)
{
	return salvo_fence_wait(fence, 0) != -ETIME;
}

static int end(struct salvo_fence *fence)
{
	int ret = salvo_fence_wait(fence, SECONDS(60));

	salvo_fence_destroy(fence);
	return ret;
}

static int submit_kernel(FIXTURE_DATA(rings) *self, const char *name, struct salvo_queue *queue,
			 struct salvo_fence **fence)
{
	const bool gate = !strcmp(name, "spin");
	const uint32_t one = 1;
	struct salvo_kernel *kernel;
	int ret;

	salvo_batch_reset(self->batch);
	ret = salvo_kernel_create(self->program, name, &kernel);
	if (ret)
		return ret;
	ret = salvo_kernel_set_bo(kernel, 0, self->control, 0);
	if (!ret && gate)
		ret = salvo_kernel_set_bo(kernel, 1, self->control, 4);
	if (!ret && gate)
		ret = salvo_kernel_set_value(kernel, 2, &one, sizeof(one));
	if (!ret)
		ret = salvo_kernel_set_grid(kernel, 1, &one, &one);
	if (!ret)
		ret = salvo_batch_dispatch(self->batch, kernel);
	if (ret >= 0)
		ret = salvo_batch_barrier(self->batch);
	if (ret >= 0)
		ret = salvo_batch_fill(self->batch, self->bo, 0, 64, 1);
	salvo_kernel_destroy(kernel);
	return ret < 0 ? ret : salvo_queue_submit(queue, self->batch, NULL, 0, fence);
}

/* Submits a batch that fills 64 bytes of bo when the gate opens; returns once it waits there. */
static int submit_gate(FIXTURE_DATA(rings) *self, struct salvo_queue *queue,
		       struct salvo_fence **fence)
{
	int ret, i;

	ret = submit_kernel(self, "spin", queue, fence);
	for (i = 0; !ret && i < 2000 && !self->gate[0]; i++)
		usleep(5000);
	return ret ?: self->gate[0] ? 0 : -ETIME;
}

static void open_gate(FIXTURE_DATA(rings) *self)
{
	__atomic_store_n(&self->gate[1], 1, __ATOMIC_RELEASE);
}

static int submit_fill(struct salvo_batch *batch, struct salvo_queue *queue, struct salvo_bo *bo,
		       uint32_t offset, uint32_t value, struct salvo_fence **fence)
{
	int ret;

	salvo_batch_reset(batch);
	ret = salvo_batch_fill(batch, bo, offset, 64, value);
	return ret < 0 ? ret : salvo_queue_submit(queue, batch, NULL, 0, fence);
}

static int run_fill(struct salvo_batch *batch, struct salvo_queue *queue, struct salvo_bo *bo,
		    uint32_t offset, uint32_t value)
{
	struct salvo_fence *fence;
	int ret = submit_fill(batch, queue, bo, offset, value, &fence);

	return ret ?: end(fence);
}

static bool needs_two_units(FIXTURE_DATA(rings) *self)
{
	struct salvo_device_info info;

	salvo_device_get_info(self->device, &info);
	return info.units < 2;
}

TEST_F(rings, a_high_fence_waits_for_no_normal_batch)
{
	struct salvo_device *other;
	struct salvo_queue *queue;
	struct salvo_batch *batch;
	struct salvo_fence *normal;
	struct salvo_bo *fresh;
	uint32_t *words;
	int i;

	if (needs_two_units(self))
		SKIP(return, "the GPU has one unit");
	ASSERT_EQ(submit_gate(self, self->queue[NORMAL], &normal), 0);
	EXPECT_EQ(run_fill(self->batch, self->queue[HIGH], self->bo, 64, 2), 0);
	EXPECT_EQ(self->words[16], 2);
	EXPECT_FALSE(is_done(normal));
	/* Another file binds and unbinds buffers on the other ring, behind the batch. */
	ASSERT_EQ(salvo_device_open(node_path(), &other), 0);
	ASSERT_EQ(salvo_queue_create_priority(other, 0, SALVO_QUEUE_HIGH, &queue), 0);
	ASSERT_EQ(salvo_batch_create(other, &batch), 0);
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(salvo_bo_create(other, SIZE, 0, &fresh), 0);
		ASSERT_EQ(salvo_bo_map(fresh, (void **)&words), 0);
		EXPECT_EQ(run_fill(batch, queue, fresh, 0, 3 + i), 0);
		EXPECT_EQ(words[0], 3 + i);
		salvo_bo_destroy(fresh);
	}
	salvo_batch_destroy(batch);
	salvo_queue_destroy(queue);
	salvo_device_close(other);
	EXPECT_FALSE(is_done(normal));
	EXPECT_EQ(self->words[0], 0);
	open_gate(self);
	EXPECT_EQ(end(normal), 0);
	EXPECT_EQ(self->words[0], 1);
	EXPECT_EQ(device_counter("kills"), self->kills);
}

TEST_F(rings, a_low_fence_waits_for_no_high_batch)
{
	struct salvo_fence *high;

	if (needs_two_units(self))
		SKIP(return, "the GPU has one unit");
	ASSERT_EQ(submit_gate(self, self->queue[HIGH], &high), 0);
	EXPECT_EQ(run_fill(self->batch, self->queue[LOW], self->bo, 64, 2), 0);
	EXPECT_FALSE(is_done(high));
	open_gate(self);
	EXPECT_EQ(end(high), 0);
	EXPECT_EQ(self->words[0], 1);
}

TEST_F(rings, a_high_batch_waits_for_the_fences_it_is_given)
{
	struct salvo_fence *normal, *high, *next;
	struct salvo_queue *other;

	if (needs_two_units(self))
		SKIP(return, "the GPU has one unit");
	ASSERT_EQ(submit_gate(self, self->queue[NORMAL], &normal), 0);
	salvo_batch_reset(self->batch);
	ASSERT_GE(salvo_batch_copy(self->batch, self->bo, 128, self->bo, 0, 64), 0);
	ASSERT_EQ(salvo_queue_submit(self->queue[HIGH], self->batch, &normal, 1, &high), 0);
	/* A later batch of the same queue, and one of another queue. */
	ASSERT_EQ(submit_fill(self->batch, self->queue[HIGH], self->bo, 192, 5, &next), 0);
	ASSERT_EQ(salvo_queue_create_priority(self->device, 0, SALVO_QUEUE_HIGH, &other), 0);
	EXPECT_EQ(run_fill(self->batch, other, self->control, 64, 6), 0);
	EXPECT_FALSE(is_done(high));
	EXPECT_FALSE(is_done(next));
	open_gate(self);
	EXPECT_EQ(end(high), 0);
	EXPECT_EQ(self->words[32], 1);
	EXPECT_EQ(end(normal), 0);
	EXPECT_EQ(end(next), 0);
	EXPECT_EQ(self->words[48], 5);
	salvo_queue_destroy(other);
}

/* Buffers are created and closed between batches of all priorities; each finds its own bound. */
TEST_F_TIMEOUT(rings, batches_find_what_was_bound_before_them, 120)
{
	struct salvo_fence *fences[CLASSES][EACH];
	struct salvo_bo *bos[CLASSES][EACH];
	uint32_t *words, round;
	int c, i;

	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < EACH; i++) {
			for (c = 0; c < CLASSES; c++) {
				ASSERT_EQ(salvo_bo_create(self->device, SIZE, 0, &bos[c][i]), 0);
				ASSERT_EQ(submit_fill(self->batch, self->queue[c], bos[c][i], 64,
						      round, &fences[c][i]), 0);
			}
		}
		for (i = 0; i < EACH; i++) {
			for (c = 0; c < CLASSES; c++) {
				ASSERT_EQ(end(fences[c][i]), 0);
				ASSERT_EQ(salvo_bo_map(bos[c][i], (void **)&words), 0);
				EXPECT_EQ(words[16], round);
				salvo_bo_destroy(bos[c][i]);
			}
		}
	}
}

/* B6 holds on each ring; one interrupt may retire batches of both. */
TEST_F(rings, each_ring_counts_one_interrupt_for_a_batch)
{
	struct salvo_device_stats before, now;
	struct salvo_fence *fences[CLASSES];
	int c, i;

	ASSERT_EQ(salvo_device_get_stats(self->device, &before), 0);
	for (i = 0; i < EACH; i++)
		for (c = 0; c < CLASSES; c++)
			ASSERT_EQ(run_fill(self->batch, self->queue[c], self->bo, 64 * c, i), 0);
	ASSERT_EQ(salvo_device_get_stats(self->device, &now), 0);
	EXPECT_EQ(now.packets - before.packets, CLASSES * EACH);
	EXPECT_EQ(now.interrupts - before.interrupts, CLASSES * EACH);
	EXPECT_EQ(now.completions - before.completions, CLASSES * EACH);
	for (i = 0; i < EACH; i++) {
		for (c = 0; c < CLASSES; c++)
			ASSERT_EQ(submit_fill(self->batch, self->queue[c], self->bo, 64 * c, i,
					      &fences[c]), 0);
		for (c = 0; c < CLASSES; c++)
			ASSERT_EQ(end(fences[c]), 0);
	}
	ASSERT_EQ(salvo_device_get_stats(self->device, &before), 0);
	EXPECT_EQ(before.completions - now.completions, CLASSES * EACH);
	EXPECT_LE(before.interrupts - now.interrupts, CLASSES * EACH);
}

/* A hung batch on each ring: both are killed, and other batches succeed. */
TEST_F_TIMEOUT(rings, a_batch_that_hangs_on_either_ring_is_found, 120)
{
	struct salvo_fence *normal, *high;
	struct salvo_queue *good[2];
	int i;

	for (i = 0; i < 2; i++)
		ASSERT_EQ(salvo_queue_create_priority(self->device, 0, SALVO_QUEUE_NORMAL + i,
						      &good[i]), 0);
	ASSERT_EQ(submit_kernel(self, "endless", self->queue[NORMAL], &normal), 0);
	ASSERT_EQ(submit_kernel(self, "endless", self->queue[HIGH], &high), 0);
	EXPECT_EQ(end(high), -ECANCELED);
	EXPECT_EQ(end(normal), -ECANCELED);
	EXPECT_EQ(device_counter("kills"), self->kills + 2);
	EXPECT_EQ(device_counter("resets"), self->resets);
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(run_fill(self->batch, good[i], self->bo, 64, 2), 0);
		salvo_queue_destroy(good[i]);
	}
}

/* Memory that is free anyway need not wait for memory whose free is pending. */
TEST_F_TIMEOUT(rings, a_large_buffer_does_not_wait_for_another_s_batch, 120)
{
	struct drm_salvo_memory_info info;
	struct salvo_fence *normal;
	struct salvo_bo *before, *large;
	int fd = node_open();

	ASSERT_GE(fd, 0);
	ASSERT_EQ(memory_info(fd, &info), 0);
	close(fd);
	ASSERT_EQ(salvo_bo_create(self->device, SIZE, 0, &before), 0);
	ASSERT_EQ(submit_gate(self, self->queue[NORMAL], &normal), 0);
	salvo_bo_destroy(before);
	EXPECT_NE(device_counter("reclaiming"), 0);
	ASSERT_EQ(salvo_bo_create(self->device, info.vram_bytes / 4, 0, &large), 0);
	EXPECT_NE(device_counter("reclaiming"), 0);
	open_gate(self);
	EXPECT_EQ(end(normal), 0);
	salvo_bo_destroy(large);
}

static bool force_reset(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%s/salvo_reset",
		 strstr(node_path(), "renderD") + 7);
	return !write_file(path, "1");
}

TEST_F_TIMEOUT(rings, a_reset_empties_all_of_them, 120)
{
	struct salvo_fence *fences[CLASSES][2], *normal;
	int c, i;

	ASSERT_EQ(submit_gate(self, self->queue[NORMAL], &normal), 0);
	for (c = 0; c < CLASSES; c++)
		for (i = 0; i < 2; i++)
			ASSERT_EQ(submit_kernel(self, "endless", self->queue[c], &fences[c][i]), 0);
	ASSERT_TRUE(force_reset());
	EXPECT_EQ(end(normal), -ECANCELED);
	/* A batch that was queued during the reset runs after it. */
	for (c = 0; c < CLASSES; c++)
		salvo_queue_destroy(self->queue[c]);
	for (i = 0; i < 200 && device_counter("jobs"); i++)
		ASSERT_TRUE(force_reset());
	for (c = 0; c < CLASSES; c++)
		for (i = 0; i < 2; i++)
			EXPECT_EQ(end(fences[c][i]), -ECANCELED);
	EXPECT_EQ(device_counter("kills"), self->kills);
	for (c = 0; c < CLASSES; c++) {
		ASSERT_EQ(salvo_queue_create_priority(self->device, 0, SALVO_QUEUE_LOW + c,
						      &self->queue[c]), 0);
		EXPECT_EQ(run_fill(self->batch, self->queue[c], self->bo, 64 * c, c + 1), 0);
		EXPECT_EQ(self->words[16 * c], c + 1);
	}
}

TEST_HARNESS_MAIN
