// SPDX-License-Identifier: MIT
/*
 * kill.c - one context is killed, all others keep running
 */
#include "gpu.h"
#include "gpu_fixture.h"
#include "sanitizer.h"
#include "space.h"
#include "spaces.h"

#include <string.h>
#include <time.h>

#define GUILTY		3u
#define INNOCENT	4u
#define GROUPS		256u

/* Never ends, and reports that it runs. */
RIG_KERNEL static void endless(RIG_KERNEL_ARGS)
{
	volatile uint64_t *running = *(uint64_t *const *)args;

	for (;;)
		*running = 1;
}

/* Each group increments its own word, slowly. */
RIG_KERNEL static void slow(RIG_KERNEL_ARGS)
{
	volatile uint64_t *word = *(uint64_t *const *)args + group->group_id[0];
	uint32_t i;

	for (i = 0; i < 20000; i++)
		*word += 1;
}

static void request_kill(struct rig *rig, uint32_t ctx)
{
	rig->regs->kill_ctx = ctx;
	__atomic_store_n(&rig->regs->kill_request, rig->regs->kill_ack + 1, __ATOMIC_RELEASE);
	salvo_gpu_doorbell(rig->gpu, SALVO_DOORBELL_KILL);
}

/* As salvo-gpu does: heartbeats until the kill is done. */
static bool finish_kill(struct rig *rig)
{
	const time_t deadline = time(NULL) + 20;
	const uint32_t request = rig->regs->kill_request;

	while (__atomic_load_n(&rig->regs->kill_ack, __ATOMIC_ACQUIRE) != request) {
		const struct timespec beat = { .tv_nsec = 5000000 };

		if (time(NULL) > deadline)
			return false;
		nanosleep(&beat, NULL);
		salvo_gpu_heartbeat(rig->gpu);
	}
	return true;
}

static bool kill_ctx(struct rig *rig, uint32_t ctx)
{
	request_kill(rig, ctx);
	return finish_kill(rig);
}

static uint64_t submit_one(struct rig *rig, uint32_t ctx, const struct drm_salvo_command *command,
			   uint64_t arg)
{
	const struct salvo_batch_desc batch = {
		.commands = command, .count = 1, .args = &arg, .args_size = sizeof(arg),
	};

	return rig_submit(rig, ctx, &batch);
}

static void wait_until(const volatile uint64_t *running)
{
	while (!*running)
		;
}

TEST_F(gpu, kill_takes_all_of_a_context_and_nothing_else)
{
	const struct drm_salvo_command forever = rig_dispatch(self->rig, endless, 64, 1, 0, 8);
	const struct drm_salvo_command work = rig_dispatch(self->rig, slow, GROUPS, 1, 0, 8);
	uint64_t hung, queued, before, after;
	uint32_t i;

	NEED_SIGNALS();
	before = submit_one(self->rig, INNOCENT, &work, (uintptr_t)self->gpu_data);
	hung = submit_one(self->rig, GUILTY, &forever, (uintptr_t)(self->gpu_data + 1024));
	wait_until(&self->data[1024]);
	after = submit_one(self->rig, INNOCENT, &work, (uintptr_t)(self->gpu_data + 512));
	queued = submit_one(self->rig, GUILTY, &work, (uintptr_t)(self->gpu_data + 2048));

	ASSERT_TRUE(kill_ctx(self->rig, GUILTY));
	ASSERT_TRUE(rig_wait(self->rig, queued));
	EXPECT_EQ(rig_result(self->rig, before)->status, SALVO_STATUS_DONE);
	EXPECT_EQ(rig_result(self->rig, hung)->status, SALVO_STATUS_KILLED);
	EXPECT_EQ(rig_result(self->rig, after)->status, SALVO_STATUS_DONE);
	EXPECT_EQ(rig_result(self->rig, queued)->status, SALVO_STATUS_KILLED);
	for (i = 0; i < GROUPS; i++) {
		ASSERT_EQ(self->data[i], 20000);
		ASSERT_EQ(self->data[512 + i], 20000);
		ASSERT_EQ(self->data[2048 + i], 0);
	}
	EXPECT_EQ(self->rig->regs->fault.sequence, 0);
}

/* A command of the batch has faulted, and another one runs on: the batch was not done. */
TEST_F(gpu, batch_with_a_fault_that_is_killed_ends_as_killed)
{
	const uint64_t args[4] = { 8, 0, (uintptr_t)self->gpu_data, 0 };
	struct drm_salvo_command commands[2] = {
		rig_dispatch(self->rig, endless, 1, 1, 0, 8),
		rig_dispatch(self->rig, endless, 1, 1, 16, 8),
	};
	const struct salvo_batch_desc batch = {
		.commands = commands, .count = 2, .args = args, .args_size = sizeof(args),
	};
	uint64_t seqno;

	NEED_SIGNALS();
	seqno = rig_submit(self->rig, GUILTY, &batch);
	wait_until(&self->data[0]);
	while (!__atomic_load_n(&self->rig->regs->fault.sequence, __ATOMIC_ACQUIRE) &&
	       !self->rig->gpu->spaces)
		;
	ASSERT_TRUE(kill_ctx(self->rig, GUILTY));
	ASSERT_TRUE(rig_wait(self->rig, seqno));
	EXPECT_EQ(rig_result(self->rig, seqno)->status, SALVO_STATUS_KILLED);
	EXPECT_EQ(rig_result(self->rig, seqno)->fault, SALVO_FAULT_NONE);
	EXPECT_EQ(rig_result(self->rig, seqno)->command, SALVO_FAULT_NO_COMMAND);
}

/* The signal to stop reaches a unit that runs another context's kernel, which is not stopped. */
TEST_F(gpu, kernels_of_others_run_to_their_end)
{
	struct drm_salvo_command forever = rig_dispatch(self->rig, endless, 1, 1, 0, 8);
	struct drm_salvo_command work = rig_dispatch(self->rig, slow, GROUPS, 1, 0, 8);
	uint64_t seqno;
	uint32_t round, i;

	NEED_SIGNALS();
	if (self->rig->regs->units < 2)
		SKIP(return, "one unit only");
	forever.eu_mask = 1;
	work.eu_mask = 2;
	for (round = 1; round <= 5; round++) {
		self->data[1024] = 0;
		submit_one(self->rig, GUILTY, &forever, (uintptr_t)(self->gpu_data + 1024));
		wait_until(&self->data[1024]);
		seqno = submit_one(self->rig, INNOCENT, &work, (uintptr_t)self->gpu_data);
		ASSERT_TRUE(kill_ctx(self->rig, GUILTY));
		ASSERT_TRUE(rig_wait(self->rig, seqno));
		ASSERT_EQ(rig_result(self->rig, seqno)->status, SALVO_STATUS_DONE);
		for (i = 0; i < GROUPS; i++)
			ASSERT_EQ(self->data[i], 20000 * round);
	}
}

TEST_F(gpu, kill_of_an_idle_context_is_done_at_once)
{
	const uint32_t request = self->rig->regs->kill_ack + 1;

	self->rig->regs->kill_ctx = GUILTY;
	self->rig->regs->kill_request = request;
	salvo_gpu_doorbell(self->rig->gpu, SALVO_DOORBELL_KILL);
	EXPECT_EQ(self->rig->regs->kill_ack, request);
}

/* The context number may be reused: a kill covers only what was on the ring before it. */
TEST_F(gpu, context_of_a_killed_number_runs)
{
	const struct drm_salvo_command forever = rig_dispatch(self->rig, endless, 1, 1, 0, 8);
	const struct drm_salvo_command work = rig_dispatch(self->rig, slow, GROUPS, 1, 0, 8);
	uint64_t seqno;

	NEED_SIGNALS();
	submit_one(self->rig, GUILTY, &forever, (uintptr_t)self->gpu_data);
	wait_until(&self->data[0]);
	ASSERT_TRUE(kill_ctx(self->rig, GUILTY));
	seqno = submit_one(self->rig, GUILTY, &work, (uintptr_t)self->gpu_data);
	salvo_gpu_heartbeat(self->rig->gpu);
	ASSERT_TRUE(rig_wait(self->rig, seqno));
	EXPECT_EQ(rig_result(self->rig, seqno)->status, SALVO_STATUS_DONE);
}

TEST_F(gpu, reset_takes_a_kill_with_it)
{
	const struct drm_salvo_command forever = rig_dispatch(self->rig, endless, 1, 1, 0, 8);

	NEED_SIGNALS();
	submit_one(self->rig, GUILTY, &forever, (uintptr_t)self->gpu_data);
	wait_until(&self->data[0]);
	self->rig->regs->kill_ctx = GUILTY;
	self->rig->regs->kill_request = self->rig->regs->kill_ack + 1;
	rig_reset(self->rig);
	EXPECT_EQ(self->rig->regs->kill_ack, self->rig->regs->kill_request);
}

static bool is_process_stopped(struct rig *rig)
{
	struct salvo_space *space = rig->gpu->spaces->list;
	bool stopped;

	pthread_mutex_lock(&space->lock);
	stopped = space->stopped;
	pthread_mutex_unlock(&space->lock);
	return stopped;
}

/*
 * With many hostile processes on a busy machine, each would take a second to handle the kill. A
 * process without a batch of another context is killed at once instead.
 */
TEST(process_of_nothing_but_the_killed_context_is_ended_at_once)
{
	struct drm_salvo_command forever, other;
	volatile uint64_t *data;
	struct rig *rig;
	uint64_t seqno;

	NEED_SANDBOX();
	rig = rig_create_isolated(1);
	data = (volatile uint64_t *)rig->data;
	forever = rig_dispatch(rig, endless, 1, 1, 0, 8);
	other = rig_dispatch(rig, slow, 1, 1, 0, 8);
	seqno = submit_one(rig, GUILTY, &forever, rig->data_address);
	wait_until(data);
	request_kill(rig, GUILTY);
	EXPECT_TRUE(is_process_stopped(rig));
	EXPECT_TRUE(finish_kill(rig));
	ASSERT_TRUE(rig_wait(rig, seqno));
	EXPECT_EQ(SALVO_STATUS_KILLED, rig_result(rig, seqno)->status);

	/* A process that has a batch of another context is asked to kill this one. */
	data[0] = 0;
	submit_one(rig, GUILTY, &forever, rig->data_address);
	wait_until(data);
	seqno = submit_one(rig, INNOCENT, &other, rig->data_address + 64);
	EXPECT_TRUE(kill_ctx(rig, GUILTY));
	ASSERT_TRUE(rig_wait(rig, seqno));
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(rig, seqno)->status);
	rig_destroy(rig);
}

TEST_HARNESS_MAIN
