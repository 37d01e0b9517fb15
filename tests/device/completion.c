// SPDX-License-Identifier: MIT
/*
 * completion.c - completion runs a callback that schedules the next work (M8 of CN102576314)
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "fiber.h"
#include "gpu_fixture.h"

#define ITEMS 100u

struct trail {
	struct salvo_fibers *fibers;
	uint32_t step[3 * ITEMS];
	uint32_t steps;
	bool barrier;
};

static void item(void *arg, uint32_t number)
{
	struct trail *trail = arg;

	trail->step[trail->steps++] = number;
	if (trail->barrier) {
		salvo_fibers_barrier(trail->fibers);
		trail->step[trail->steps++] = number;
	}
	/* The first item sees the last one's value only after all have ended. */
	trail->step[trail->steps++] = number | trail->fibers->finished << 16;
}

FIXTURE(items)
{
	struct salvo_fibers fibers;
	struct trail trail;
};

FIXTURE_SETUP(items)
{
	self->fibers.stacks = aligned_alloc(4096, SALVO_FIBER_BYTES);
	ASSERT_NE(NULL, self->fibers.stacks);
	self->trail.fibers = &self->fibers;
}

FIXTURE_TEARDOWN(items)
{
	free(self->fibers.stacks);
}

TEST_F(items, M8_the_end_of_an_item_starts_the_next)
{
	uint32_t i;

	ASSERT_EQ(SALVO_FIBERS_DONE, salvo_fibers_run(&self->fibers, ITEMS, item, &self->trail));
	ASSERT_EQ(2 * ITEMS, self->trail.steps);
	for (i = 0; i < ITEMS; i++) {
		EXPECT_EQ(i, self->trail.step[2 * i]);
		EXPECT_EQ(i | i << 16, self->trail.step[2 * i + 1]);
	}
}

TEST_F(items, M8_after_a_barrier_the_end_of_an_item_resumes_the_next)
{
	uint32_t i;

	self->trail.barrier = true;
	ASSERT_EQ(SALVO_FIBERS_DONE, salvo_fibers_run(&self->fibers, ITEMS, item, &self->trail));
	ASSERT_EQ(3 * ITEMS, self->trail.steps);
	for (i = 0; i < ITEMS; i++) {
		EXPECT_EQ(i, self->trail.step[i]);
		EXPECT_EQ(i, self->trail.step[ITEMS + 2 * i]);
		EXPECT_EQ(i | i << 16, self->trail.step[ITEMS + 2 * i + 1]);
	}
}

struct add_args {
	uint64_t *sum;
	uint64_t add;
};

/* sum = 2 * sum + add: depends on the order. */
RIG_KERNEL static void twice_and(RIG_KERNEL_ARGS)
{
	const struct add_args *a = args;

	*a->sum = 2 * *a->sum + a->add;
}

#define CHAIN 500u

/* No doorbell is rung meanwhile: the unit that ends a dispatch starts its consumer. */
TEST_F(gpu, M8_the_end_of_a_dispatch_starts_the_next)
{
	struct rig *rig = self->rig;
	struct salvo_gpu_recording recording = { .capacity = CHAIN };
	struct drm_salvo_command commands[2 * CHAIN];
	struct add_args args[CHAIN];
	const struct salvo_batch_desc batch = {
		.commands = commands, .count = 2 * CHAIN - 1,
		.args = args, .args_size = sizeof(args),
	};
	uint64_t expected = 0, seqno;
	uint32_t i;

	recording.spans = calloc(CHAIN, sizeof(*recording.spans));
	ASSERT_NE(NULL, recording.spans);
	salvo_gpu_record(rig->gpu, &recording);
	for (i = 0; i < CHAIN; i++) {
		args[i] = (struct add_args){ self->gpu_data, i };
		expected = 2 * expected + i;
		commands[i] = rig_dispatch(rig, twice_and, 1, 1, i * sizeof(args[0]),
					   sizeof(args[0]));
		/* Alternates between two units, if there are two. */
		commands[i].eu_mask = 1ull << i % (rig->regs->units < 2 ? 1 : 2);
	}
	for (i = 1; i < CHAIN; i++)
		commands[CHAIN + i - 1] = rig_pair(i, i - 1);
	*self->data = 0;
	seqno = rig_submit(rig, 1, &batch);
	/* The device has consumed the whole ring. */
	EXPECT_EQ(rig->tail, rig_head(rig, 0));
	ASSERT_TRUE(rig_wait(rig, seqno));
	EXPECT_EQ(expected, *self->data);
	ASSERT_EQ(CHAIN, recording.next);
	for (i = 0; i < CHAIN; i++) {
		EXPECT_EQ(commands[i].eu_mask, 1ull << recording.spans[i].unit);
		EXPECT_EQ(i, recording.spans[i].command);
		if (i)
			EXPECT_LE(recording.spans[i - 1].ended, recording.spans[i].started);
	}
	rig_stop(rig);
	free(recording.spans);
}

#define BATCHES 200u

struct relay {
	struct add_args args;
	struct drm_salvo_command command;
	struct salvo_batch_desc batch;
	uint32_t left;
};

/* Called by the GPU when a fence register has changed. */
static void submit_next(struct rig *rig, void *cookie)
{
	struct relay *relay = cookie;

	if (rig_fence(rig, 0) != rig->seqno || !relay->left)
		return;
	relay->left--;
	relay->args.add++;
	rig_submit(rig, 1, &relay->batch);
}

TEST_F(gpu, M8_the_callback_of_a_batch_submits_the_next)
{
	struct rig *rig = self->rig;
	struct relay relay = { .args = { self->gpu_data, 0 }, .left = BATCHES - 1 };
	const uint64_t last = rig->seqno + BATCHES;
	const uint32_t before = rig->fence_irqs;
	uint64_t expected = 0;
	uint32_t i;

	for (i = 0; i < BATCHES; i++)
		expected = 2 * expected + i;
	relay.command = rig_dispatch(rig, twice_and, 1, 1, 0, sizeof(relay.args));
	relay.batch = (struct salvo_batch_desc){
		.commands = &relay.command, .count = 1, .args = &relay.args,
		.args_size = sizeof(relay.args),
	};
	rig->on_fence_cookie = &relay;
	rig->on_fence = submit_next;
	*self->data = 0;
	/* From here on this thread only waits. */
	rig_submit(rig, 1, &relay.batch);
	ASSERT_TRUE(rig_wait(rig, last));
	rig_stop(rig);
	EXPECT_EQ(0, relay.left);
	EXPECT_EQ(expected, *self->data);
	EXPECT_EQ(BATCHES, rig->fence_irqs - before);
}

TEST_HARNESS_MAIN
