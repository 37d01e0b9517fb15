// SPDX-License-Identifier: MIT
/*
 * batch.c - what a batch costs and how batches run, with kernels (B of systems.md)
 *
 * Interrupts are those that the kernel counted in /proc/interrupts; packets,
 * doorbells and completions those that the driver reports for this file.
 */
#include "kselftest_harness.h"

#include <string.h>
#include <unistd.h>

#include "rendernode.h"
#include "salvo.h"

#define WORKLOADS	33u
#define ITEMS		256u
#define SECONDS(n)	((n) * INT64_C(1000000000))

FIXTURE(batch) {
	struct salvo_device *device;
	struct salvo_device_info info;
	struct salvo_queue *queue, *other;
	struct salvo_program *basic, *waiting;
	struct salvo_batch *batch;
	struct salvo_bo *bo;
	uint32_t *words;
};

FIXTURE_SETUP(batch)
{
	ASSERT_EQ(salvo_device_open(node_path(), &self->device), 0);
	salvo_device_get_info(self->device, &self->info);
	ASSERT_EQ(salvo_queue_create(self->device, 0, &self->queue), 0);
	ASSERT_EQ(salvo_queue_create(self->device, 0, &self->other), 0);
	ASSERT_EQ(salvo_program_load_file(self->device, "kernels/basic.salvo", &self->basic), 0);
	ASSERT_EQ(salvo_program_load_file(self->device, "kernels/rendezvous.salvo",
					  &self->waiting), 0);
	ASSERT_EQ(salvo_batch_create(self->device, &self->batch), 0);
	ASSERT_EQ(salvo_bo_create(self->device, 1 << 20, 0, &self->bo), 0);
	ASSERT_EQ(salvo_bo_map(self->bo, (void **)&self->words), 0);
}

FIXTURE_TEARDOWN(batch)
{
	salvo_bo_destroy(self->bo);
	salvo_batch_destroy(self->batch);
	salvo_program_destroy(self->waiting);
	salvo_program_destroy(self->basic);
	salvo_queue_destroy(self->other);
	salvo_queue_destroy(self->queue);
	salvo_device_close(self->device);
}

/* Adds the kernel "tiny": @items words at word @at become @value. */
static int add_tiny(FIXTURE_DATA(batch) *self, uint32_t at, uint32_t items, uint32_t value)
{
	struct salvo_kernel *kernel;
	int ret;

	ret = salvo_kernel_create(self->basic, "tiny", &kernel);
	if (ret)
		return ret;
	ret = salvo_kernel_set_bo(kernel, 0, self->bo, at * 4);
	if (!ret)
		ret = salvo_kernel_set_value(kernel, 1, &value, sizeof(value));
	if (!ret)
		ret = salvo_kernel_set_grid(kernel, 1, &items, NULL);
	if (!ret)
		ret = salvo_batch_dispatch(self->batch, kernel);
	salvo_kernel_destroy(kernel);
	return ret;
}

/* Adds "spin": sets word @arrived, then waits until word @go is 1. */
static int add_spin(FIXTURE_DATA(batch) *self, uint32_t arrived, uint32_t go)
{
	const uint32_t one = 1;
	struct salvo_kernel *kernel;
	int ret;

	ret = salvo_kernel_create(self->waiting, "spin", &kernel);
	if (ret)
		return ret;
	ret = salvo_kernel_set_bo(kernel, 0, self->bo, arrived * 4);
	if (!ret)
		ret = salvo_kernel_set_bo(kernel, 1, self->bo, go * 4);
	if (!ret)
		ret = salvo_kernel_set_value(kernel, 2, &one, sizeof(one));
	if (!ret)
		ret = salvo_kernel_set_grid(kernel, 1, &one, &one);
	if (!ret)
		ret = salvo_batch_dispatch(self->batch, kernel);
	salvo_kernel_destroy(kernel);
	return ret;
}

static bool becomes(const uint32_t *word, uint32_t value)
{
	int i;

	for (i = 0; i < 2000; i++) {
		if (__atomic_load_n(word, __ATOMIC_ACQUIRE) == value)
			return true;
		usleep(5000);
	}
	return false;
}

static int run_batch(FIXTURE_DATA(batch) *self)
{
	struct salvo_fence *fence;
	int ret = salvo_queue_submit(self->queue, self->batch, NULL, 0, &fence);

	if (ret)
		return ret;
	ret = salvo_fence_wait(fence, SECONDS(20));
	salvo_fence_destroy(fence);
	return ret;
}

/* The change of the counters by a piece of work. */
struct cost {
	uint64_t packets, doorbells, interrupts, completions, irqs;
};

static void read_cost(struct salvo_device *device, struct cost *cost)
{
	struct salvo_device_stats stats = { 0 };

	salvo_device_get_stats(device, &stats);
	*cost = (struct cost){
		stats.packets, stats.doorbells, stats.interrupts, stats.completions, fence_irqs(),
	};
}

static void subtract_cost(struct cost *from, const struct cost *what)
{
	from->packets -= what->packets;
	from->doorbells -= what->doorbells;
	from->interrupts -= what->interrupts;
	from->completions -= what->completions;
	from->irqs -= what->irqs;
}

TEST_F(batch, B6_one_interrupt_and_one_completion_for_a_batch)
{
	struct cost before, cost;
	uint32_t i;

	for (i = 0; i < WORKLOADS; i++)
		ASSERT_EQ(add_tiny(self, i * ITEMS, ITEMS, i + 1), i);
	ASSERT_EQ(salvo_batch_count(self->batch), WORKLOADS);
	read_cost(self->device, &before);
	ASSERT_EQ(run_batch(self), 0);
	read_cost(self->device, &cost);
	subtract_cost(&cost, &before);
	EXPECT_EQ(cost.packets, 1);
	EXPECT_EQ(cost.doorbells, 1);
	EXPECT_EQ(cost.irqs, 1);
	EXPECT_EQ(cost.interrupts, 1);
	EXPECT_EQ(cost.completions, 1);
	for (i = 0; i < WORKLOADS * ITEMS; i++)
		ASSERT_EQ(self->words[i], i / ITEMS + 1);
}

TEST_F(batch, B6_one_interrupt_and_one_completion_each_when_submitted_singly)
{
	struct cost before, cost;
	uint32_t i;

	read_cost(self->device, &before);
	for (i = 0; i < WORKLOADS; i++) {
		salvo_batch_reset(self->batch);
		ASSERT_EQ(add_tiny(self, i * ITEMS, ITEMS, i + 1), 0);
		ASSERT_EQ(run_batch(self), 0);
	}
	read_cost(self->device, &cost);
	subtract_cost(&cost, &before);
	EXPECT_EQ(cost.packets, WORKLOADS);
	EXPECT_EQ(cost.doorbells, WORKLOADS);
	EXPECT_EQ(cost.irqs, WORKLOADS);
	EXPECT_EQ(cost.interrupts, WORKLOADS);
	EXPECT_EQ(cost.completions, WORKLOADS);
	for (i = 0; i < WORKLOADS * ITEMS; i++)
		ASSERT_EQ(self->words[i], i / ITEMS + 1);
}

TEST_F(batch, B6_buffers_come_and_go_without_an_interrupt)
{
	struct cost before, cost;
	struct salvo_bo *bo;
	uint32_t i;

	read_cost(self->device, &before);
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(salvo_bo_create(self->device, 4096, 0, &bo), 0);
		salvo_bo_destroy(bo);
	}
	ASSERT_TRUE(wait_value("reclaiming", 0));
	read_cost(self->device, &cost);
	subtract_cost(&cost, &before);
	EXPECT_EQ(cost.packets, 0);
	EXPECT_EQ(cost.irqs, 0);
	EXPECT_EQ(cost.interrupts, 0);
	EXPECT_EQ(cost.completions, 0);
}

TEST_F(batch, B1_a_thousand_workloads_are_one_packet)
{
	struct cost before, cost;
	uint32_t i;

	for (i = 0; i < 1024; i++)
		ASSERT_EQ(add_tiny(self, i * 16, 16, i), i);
	read_cost(self->device, &before);
	ASSERT_EQ(run_batch(self), 0);
	read_cost(self->device, &cost);
	subtract_cost(&cost, &before);
	EXPECT_EQ(cost.packets, 1);
	EXPECT_EQ(cost.irqs, 1);
	for (i = 0; i < 1024 * 16; i++)
		ASSERT_EQ(self->words[i], i / 16);
}

TEST_F(batch, B1_each_workload_has_a_command_of_its_own)
{
	struct salvo_profile profile[WORKLOADS];
	uint32_t i;

	ASSERT_EQ(salvo_batch_enable_profile(self->batch), 0);
	for (i = 0; i < WORKLOADS; i++)
		ASSERT_EQ(add_tiny(self, i * ITEMS, ITEMS, i), i);
	ASSERT_EQ(run_batch(self), 0);
	for (i = 0; i < WORKLOADS; i++) {
		ASSERT_EQ(salvo_batch_get_profile(self->batch, i, &profile[i]), 0);
		EXPECT_NE(profile[i].started, 0);
		EXPECT_GE(profile[i].ended, profile[i].started);
		if (i)
			EXPECT_GE(profile[i].queued, profile[i - 1].queued);
	}
}

/* The packet's set-up state carries the units of the context. */
TEST_F(batch, B8_set_up_state_holds_the_units_of_the_context)
{
	struct salvo_profile profile, last = { 0 };
	struct salvo_fence *fence;
	struct salvo_queue *narrow;
	uint32_t i;

	ASSERT_EQ(salvo_queue_create(self->device, 1, &narrow), 0);
	ASSERT_EQ(salvo_batch_enable_profile(self->batch), 0);
	for (i = 0; i < WORKLOADS; i++)
		ASSERT_EQ(add_tiny(self, i * 4096, 4096, i), i);
	ASSERT_EQ(salvo_queue_submit(narrow, self->batch, NULL, 0, &fence), 0);
	ASSERT_EQ(salvo_fence_wait(fence, SECONDS(20)), 0);
	/* A single unit runs them in sequence. */
	for (i = 0; i < WORKLOADS; i++) {
		ASSERT_EQ(salvo_batch_get_profile(self->batch, i, &profile), 0);
		EXPECT_NE(profile.started, 0);
		EXPECT_GE(profile.started, last.ended);
		last = profile;
	}
	salvo_fence_destroy(fence);
	salvo_queue_destroy(narrow);
}

TEST_F(batch, B5_the_fence_waits_for_every_command)
{
	struct salvo_fence *fence;
	uint32_t i;

	for (i = 0; i < 8; i++)
		ASSERT_EQ(add_tiny(self, 1024 + i * ITEMS, ITEMS, 9), i);
	ASSERT_EQ(add_spin(self, 0, 1), 8);
	ASSERT_EQ(salvo_queue_submit(self->queue, self->batch, NULL, 0, &fence), 0);
	ASSERT_TRUE(becomes(&self->words[0], 1));
	ASSERT_TRUE(becomes(&self->words[1024 + 8 * ITEMS - 1], 9));
	EXPECT_EQ(salvo_fence_wait(fence, SECONDS(1) / 20), -ETIME);
	__atomic_store_n(&self->words[1], 1, __ATOMIC_RELEASE);
	EXPECT_EQ(salvo_fence_wait(fence, SECONDS(20)), 0);
	salvo_fence_destroy(fence);
}

/* The result of each batch depends on the previous one. */
TEST_F(batch, B11_batches_of_a_context_run_first_in_first_out)
{
	const uint32_t rounds = 100, one = 1, items = ITEMS;
	struct salvo_fence *fence = NULL;
	struct salvo_kernel *kernel;
	struct cost before, cost;
	uint32_t i, expected = 0;

	ASSERT_EQ(salvo_kernel_create(self->basic, "chain", &kernel), 0);
	for (i = 0; i < 5; i++)
		ASSERT_EQ(salvo_kernel_set_bo(kernel, i, self->bo, 0), 0);
	ASSERT_EQ(salvo_kernel_set_value(kernel, 5, &one, 4), 0);
	ASSERT_EQ(salvo_kernel_set_grid(kernel, 1, &items, NULL), 0);
	read_cost(self->device, &before);
	for (i = 0; i < rounds; i++) {
		/* The kernel sets word 0 to salt + 3 * its old value. */
		expected = i + expected * 3;
		ASSERT_EQ(salvo_kernel_set_value(kernel, 6, &i, 4), 0);
		salvo_batch_reset(self->batch);
		ASSERT_EQ(salvo_batch_dispatch(self->batch, kernel), 0);
		salvo_fence_destroy(fence);
		fence = NULL;
		ASSERT_EQ(salvo_queue_submit(self->queue, self->batch, NULL, 0, &fence), 0);
	}
	ASSERT_EQ(salvo_fence_wait(fence, SECONDS(20)), 0);
	EXPECT_EQ(self->words[0], expected);
	salvo_fence_destroy(fence);
	salvo_kernel_destroy(kernel);

	/* Interrupts may coalesce, but there is one completion for each batch. */
	read_cost(self->device, &cost);
	subtract_cost(&cost, &before);
	EXPECT_EQ(cost.packets, rounds);
	EXPECT_EQ(cost.completions, rounds);
	EXPECT_LE(cost.interrupts, rounds);
	EXPECT_GE(cost.irqs, cost.interrupts);
}

TEST_F(batch, B11_a_batch_retires_by_its_own_fence)
{
	struct salvo_fence *first, *second;

	ASSERT_EQ(add_spin(self, 0, 1), 0);
	ASSERT_EQ(salvo_queue_submit(self->queue, self->batch, NULL, 0, &first), 0);
	salvo_batch_reset(self->batch);
	ASSERT_EQ(add_spin(self, 2, 3), 0);
	ASSERT_EQ(salvo_queue_submit(self->queue, self->batch, NULL, 0, &second), 0);
	ASSERT_TRUE(becomes(&self->words[0], 1));
	/* Batches of one context run in order. */
	EXPECT_EQ(self->words[2], 0);
	__atomic_store_n(&self->words[1], 1, __ATOMIC_RELEASE);
	EXPECT_EQ(salvo_fence_wait(first, SECONDS(20)), 0);
	ASSERT_TRUE(becomes(&self->words[2], 1));
	EXPECT_EQ(salvo_fence_wait(second, 0), -ETIME);
	__atomic_store_n(&self->words[3], 1, __ATOMIC_RELEASE);
	EXPECT_EQ(salvo_fence_wait(second, SECONDS(20)), 0);
	salvo_fence_destroy(second);
	salvo_fence_destroy(first);
}

TEST_F(batch, batches_of_two_contexts_overlap)
{
	struct salvo_fence *first, *second;

	if (self->info.units < 2)
		SKIP(return, "the GPU has one unit");
	ASSERT_EQ(add_spin(self, 0, 1), 0);
	ASSERT_EQ(salvo_queue_submit(self->queue, self->batch, NULL, 0, &first), 0);
	ASSERT_TRUE(becomes(&self->words[0], 1));
	salvo_batch_reset(self->batch);
	/* Let the first one go on. */
	ASSERT_EQ(add_tiny(self, 1, 1, 1), 0);
	ASSERT_EQ(salvo_queue_submit(self->other, self->batch, NULL, 0, &second), 0);
	EXPECT_EQ(salvo_fence_wait(first, SECONDS(20)), 0);
	EXPECT_EQ(salvo_fence_wait(second, SECONDS(20)), 0);
	salvo_fence_destroy(second);
	salvo_fence_destroy(first);
}

TEST_F(batch, B11_a_batch_that_waits_for_another_context_starts_after_its_end)
{
	struct salvo_fence *first, *second;

	if (self->info.units < 2)
		SKIP(return, "the GPU has one unit");
	ASSERT_EQ(add_spin(self, 0, 1), 0);
	ASSERT_EQ(salvo_queue_submit(self->queue, self->batch, NULL, 0, &first), 0);
	salvo_batch_reset(self->batch);
	ASSERT_EQ(add_tiny(self, 8, 1, 5), 0);
	ASSERT_EQ(salvo_queue_submit(self->other, self->batch, &first, 1, &second), 0);
	ASSERT_TRUE(becomes(&self->words[0], 1));
	EXPECT_EQ(salvo_fence_wait(second, SECONDS(1) / 5), -ETIME);
	EXPECT_EQ(self->words[8], 0);
	__atomic_store_n(&self->words[1], 1, __ATOMIC_RELEASE);
	EXPECT_EQ(salvo_fence_wait(second, SECONDS(20)), 0);
	EXPECT_EQ(self->words[8], 5);
	salvo_fence_destroy(second);
	salvo_fence_destroy(first);
}

TEST_F(batch, busy_time_is_told)
{
	struct salvo_device_stats before = { 0 }, after = { 0 };

	ASSERT_EQ(add_spin(self, 0, 1), 0);
	ASSERT_EQ(salvo_device_get_stats(self->device, &before), 0);
	__atomic_store_n(&self->words[1], 1, __ATOMIC_RELEASE);
	ASSERT_EQ(run_batch(self), 0);
	ASSERT_EQ(salvo_device_get_stats(self->device, &after), 0);
	EXPECT_GT(after.busy_ns, before.busy_ns);
}

TEST_HARNESS_MAIN
