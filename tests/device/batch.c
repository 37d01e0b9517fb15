// SPDX-License-Identifier: MIT
/*
 * batch.c - batches on the GPU: overlap, order, completion, profile
 */
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "gcq.h"
#include "gpu_fixture.h"

/* Long enough that only a broken GPU reaches the limit */
#define LONG_SPIN (1u << 29)

struct meet_args {
	uint64_t *mine;
	uint64_t *other;
	uint64_t *met;
	uint64_t limit;
};

/* Sets its own word and waits for the other's. */
RIG_KERNEL static void meet(RIG_KERNEL_ARGS)
{
	const struct meet_args *a = args;
	uint64_t i;

	__atomic_store_n(a->mine, 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < a->limit; i++) {
		if (__atomic_load_n(a->other, __ATOMIC_SEQ_CST)) {
			*a->met = 1;
			return;
		}
		__builtin_ia32_pause();
	}
}

/* Waits until the CPU, or another kernel, opens the gate. */
RIG_KERNEL static void gate(RIG_KERNEL_ARGS)
{
	const struct meet_args *a = args;
	uint64_t i;

	__atomic_store_n(a->mine, 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < a->limit && !__atomic_load_n(a->other, __ATOMIC_SEQ_CST); i++)
		__builtin_ia32_pause();
	*a->met = 1;
}

RIG_KERNEL static void count_up(RIG_KERNEL_ARGS)
{
	const struct meet_args *a = args;

	__atomic_fetch_add(a->mine, 1, __ATOMIC_SEQ_CST);
}

static void await(const uint64_t *word)
{
	while (!__atomic_load_n(word, __ATOMIC_SEQ_CST))
		sched_yield();
}

static void set(uint64_t *word)
{
	__atomic_store_n(word, 1, __ATOMIC_SEQ_CST);
}

TEST_F(gpu, B2_two_dispatches_of_a_batch_run_at_once)
{
	struct rig *rig = self->rig;
	uint64_t *g = self->gpu_data;
	const struct meet_args args[2] = {
		{ &g[0], &g[8], &g[16], LONG_SPIN }, { &g[8], &g[0], &g[17], LONG_SPIN },
	};
	const struct drm_salvo_command commands[2] = {
		rig_dispatch(rig, meet, 1, 1, 0, sizeof(args[0])),
		rig_dispatch(rig, meet, 1, 1, sizeof(args[0]), sizeof(args[0])),
	};

	if (rig->regs->units < 2)
		SKIP(return, "needs two execution units");
	ASSERT_EQ(SALVO_STATUS_DONE, rig_run(rig, commands, 2, args, sizeof(args)));
	EXPECT_EQ(1, self->data[16]);
	EXPECT_EQ(1, self->data[17]);
}

/* Elements of one work-group share a queue entry; a long one must not delay the others. */
TEST_F(gpu, B2_all_others_run_while_one_takes_long)
{
	struct rig *rig = self->rig;
	uint64_t *g = self->gpu_data;
	const struct meet_args args[] = {
		{ &g[0], &g[1], &g[2], ~0ull }, { &g[8], NULL, NULL, 0 },
	};
	struct drm_salvo_command commands[33];
	const struct salvo_batch_desc batch = {
		.commands = commands, .count = 33, .args = args, .args_size = sizeof(args),
	};
	uint64_t seqno;
	unsigned int i, round;

	if (rig->regs->units < 2 || rig->regs->nodes > 1)
		SKIP(return, "needs two execution units, and none far away that fetches many at once");
	for (round = 0; round < 20; round++) {
		for (i = 0; i < 33; i++)
			commands[i] = rig_dispatch(rig, count_up, 1, 1, sizeof(args[0]),
						   sizeof(args[1]));
		commands[0] = rig_dispatch(rig, gate, 1, 1, 0, sizeof(args[0]));
		memset(self->data, 0, 9 * sizeof(self->data[0]));
		seqno = rig_submit(rig, 1, &batch);
		while (__atomic_load_n(&self->data[8], __ATOMIC_SEQ_CST) != 32)
			sched_yield();
		set(&self->data[1]);
		ASSERT_TRUE(rig_wait(rig, seqno));
	}
}

TEST_F(gpu, B5_fence_is_held_until_every_command_is_done)
{
	struct rig *rig = self->rig;
	uint64_t *g = self->gpu_data;
	const struct meet_args args = { &g[0], &g[1], &g[2], ~0ull };
	const struct drm_salvo_command commands[2] = {
		{ .type = DRM_SALVO_FILL, .dst = (uintptr_t)&g[8], .size = 8, .pattern = 1 },
		rig_dispatch(rig, gate, 1, 1, 0, sizeof(args)),
	};
	const struct salvo_batch_desc batch = {
		.commands = commands, .count = 2, .args = &args, .args_size = sizeof(args),
	};
	const uint64_t seqno = rig_submit(rig, 1, &batch);

	await(&self->data[8]);
	await(&self->data[0]);
	EXPECT_EQ(seqno - 1, rig_fence(rig, 0));
	EXPECT_EQ(SALVO_STATUS_PENDING, rig_peek_status(rig, seqno));
	set(&self->data[1]);
	ASSERT_TRUE(rig_wait(rig, seqno));
	EXPECT_EQ(1, self->data[2]);
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(rig, seqno)->status);
}

TEST_F(gpu, B6_one_interrupt_for_a_batch_of_33)
{
	struct rig *rig = self->rig;
	struct drm_salvo_command commands[33];
	const uint32_t before = rig->fence_irqs;
	uint32_t i;

	for (i = 0; i < 33; i++)
		commands[i] = (struct drm_salvo_command) {
			.type = DRM_SALVO_FILL, .dst = rig->data_address + 64 * i, .size = 64,
			.pattern = i,
		};
	for (i = 0; i < 10; i++)
		ASSERT_EQ(SALVO_STATUS_DONE, rig_run(rig, commands, 33, NULL, 0));
	/* The units are stopped: no interrupt can come late. */
	rig_stop(rig);
	EXPECT_EQ(before + 10, rig->fence_irqs);
	EXPECT_EQ(0, rig->fault_irqs);
}

TEST_F(gpu, B11_fences_retire_in_the_order_of_the_ring)
{
	struct rig *rig = self->rig;
	uint64_t *g = self->gpu_data;
	const struct meet_args args = { &g[0], &g[1], &g[2], ~0ull };
	const struct drm_salvo_command slow = rig_dispatch(rig, gate, 1, 1, 0, sizeof(args));
	const struct drm_salvo_command quick = {
		.type = DRM_SALVO_FILL, .dst = (uintptr_t)&g[8], .size = 8, .pattern = 1,
	};
	const struct salvo_batch_desc first = {
		.commands = &slow, .count = 1, .args = &args, .args_size = sizeof(args),
	}, second = { .commands = &quick, .count = 1 };
	uint64_t seqno[2];

	if (rig->regs->units < 2)
		SKIP(return, "needs two execution units");
	seqno[0] = rig_submit(rig, 1, &first);
	seqno[1] = rig_submit(rig, 2, &second);
	EXPECT_EQ(seqno[0] + 1, seqno[1]);

	/* The second context's batch overlaps, and its fence waits. */
	await(&self->data[8]);
	EXPECT_EQ(seqno[0] - 1, rig_fence(rig, 0));
	set(&self->data[1]);
	ASSERT_TRUE(rig_wait(rig, seqno[1]));
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(rig, seqno[0])->status);
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(rig, seqno[1])->status);
}

TEST_F(gpu, B11_batches_of_one_context_run_one_after_the_other)
{
	struct rig *rig = self->rig;
	uint64_t *g = self->gpu_data;
	const struct meet_args args = { &g[0], &g[1], &g[2], ~0ull };
	const struct drm_salvo_command slow = rig_dispatch(rig, gate, 1, 1, 0, sizeof(args));
	const struct drm_salvo_command copy = {
		.type = DRM_SALVO_COPY, .dst = (uintptr_t)&g[8], .src = (uintptr_t)&g[2], .size = 8,
	}, other = { .type = DRM_SALVO_FILL, .dst = (uintptr_t)&g[16], .size = 8, .pattern = 1 };
	const struct salvo_batch_desc first = {
		.commands = &slow, .count = 1, .args = &args, .args_size = sizeof(args),
	}, second = { .commands = &copy, .count = 1 }, third = { .commands = &other, .count = 1 };
	uint64_t seqno;

	if (rig->regs->units < 2)
		SKIP(return, "needs two execution units");
	rig_submit(rig, 1, &first);
	seqno = rig_submit(rig, 1, &second);
	seqno = rig_submit(rig, 2, &third);
	await(&self->data[16]);
	set(&self->data[1]);
	ASSERT_TRUE(rig_wait(rig, seqno));
	EXPECT_EQ(1, self->data[8]);
}

TEST_F(gpu, sleeping_unit_is_woken_while_the_others_are_busy)
{
	struct rig *rig = self->rig;
	uint64_t *g = self->gpu_data;
	const struct meet_args args = { &g[0], &g[1], &g[2], ~0ull };
	const struct drm_salvo_command slow = rig_dispatch(rig, gate, 1, 1, 0, sizeof(args));
	const struct drm_salvo_command quick = {
		.type = DRM_SALVO_FILL, .dst = (uintptr_t)&g[8], .size = 8, .pattern = 1,
	};
	const struct salvo_batch_desc first = {
		.commands = &slow, .count = 1, .args = &args, .args_size = sizeof(args),
	}, second = { .commands = &quick, .count = 1 };
	uint64_t seqno;

	if (rig->regs->units < 2)
		SKIP(return, "needs two execution units");
	rig_submit(rig, 1, &first);
	await(&self->data[0]);
	/* Far longer than a unit polls before it sleeps. */
	usleep(50000);
	seqno = rig_submit(rig, 2, &second);
	await(&self->data[8]);
	set(&self->data[1]);
	ASSERT_TRUE(rig_wait(rig, seqno));
}

TEST_F(gpu, unit_that_sleeps_is_woken_when_an_element_enters_late)
{
	struct rig *rig = self->rig;
	uint64_t *g = self->gpu_data;
	const struct meet_args args[] = {
		{ &g[0], &g[1], &g[2], ~0ull },
		{ &g[3], &g[0], &g[4], ~0ull },
	};
	const struct meet_args count = { &g[8], NULL, NULL, 0 };
	static struct drm_salvo_command many[SALVO_GCQ_ENTRIES];
	struct drm_salvo_command slow = rig_dispatch(rig, gate, 1, 1, 0, sizeof(args[0]));
	struct drm_salvo_command late = rig_dispatch(rig, gate, 1, 1, 0, sizeof(args[1]));
	const struct salvo_batch_desc first = {
		.commands = &slow, .count = 1, .args = &args[0], .args_size = sizeof(args[0]),
	}, full = {
		.commands = many, .count = SALVO_GCQ_ENTRIES, .args = &count,
		.args_size = sizeof(count),
	}, last = {
		.commands = &late, .count = 1, .args = &args[1], .args_size = sizeof(args[1]),
	};
	uint64_t seqno;
	unsigned int i;

	if (rig->regs->units < 2)
		SKIP(return, "needs two execution units");
	/* Two work-groups each: elements of one work-group may be coalesced into one entry. */
	for (i = 0; i < SALVO_GCQ_ENTRIES; i++)
		many[i] = rig_dispatch(rig, count_up, 2, 1, 0, sizeof(count));
	slow.eu_mask = 2;
	late.eu_mask = 1;

	/* Unit 1 is busy and has not passed any of the entries that fill the queue. */
	rig_submit(rig, 1, &first);
	await(&self->data[0]);
	rig_submit(rig, 2, &full);
	while (__atomic_load_n(&self->data[8], __ATOMIC_SEQ_CST) != 2 * SALVO_GCQ_ENTRIES)
		sched_yield();
	seqno = rig_submit(rig, 3, &last);
	/* Far longer than unit 0 polls before it sleeps. */
	usleep(50000);
	set(&self->data[1]);
	ASSERT_TRUE(rig_wait(rig, seqno));
	EXPECT_EQ(1, self->data[4]);
}

TEST_F(gpu, B3_consumer_waits_for_its_producer_only)
{
	struct rig *rig = self->rig;
	uint64_t *g = self->gpu_data;
	const struct meet_args args = { &g[0], &g[1], &g[2], ~0ull };
	const struct drm_salvo_command commands[] = {
		/* Stands first, although its producers follow it. */
		rig_pair(3, 1), rig_dispatch(rig, gate, 1, 1, 0, sizeof(args)),
		{ .type = DRM_SALVO_FILL, .dst = (uintptr_t)&g[16], .size = 8, .pattern = 1 },
		{ .type = DRM_SALVO_COPY, .dst = (uintptr_t)&g[8], .src = (uintptr_t)&g[2],
		  .size = 8 },
	};
	const struct salvo_batch_desc batch = {
		.commands = commands, .count = 4, .args = &args, .args_size = sizeof(args),
	};
	uint64_t seqno;

	if (rig->regs->units < 2)
		SKIP(return, "needs two execution units");
	seqno = rig_submit(rig, 1, &batch);
	await(&self->data[16]);
	EXPECT_EQ(0, self->data[8]);
	set(&self->data[1]);
	ASSERT_TRUE(rig_wait(rig, seqno));
	EXPECT_EQ(1, self->data[8]);
}

static uint64_t clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

TEST_F(gpu, timestamps_profile_and_result_are_in_order)
{
	struct rig *rig = self->rig;
	const struct drm_salvo_profile *profile = (void *)(rig->data + 4096);
	const struct salvo_packet_result *result;
	struct drm_salvo_command commands[] = {
		{ .type = DRM_SALVO_TIMESTAMP, .dst = rig->data_address },
		{ .type = DRM_SALVO_FILL, .dst = rig->data_address + 65536, .size = 4u << 20 },
		{ .type = DRM_SALVO_TIMESTAMP, .dst = rig->data_address + 8 },
		rig_pair(1, 0), rig_pair(2, 1),
	};
	const struct salvo_batch_desc batch = {
		.commands = commands, .count = 5, .profile = rig->data_address + 4096,
	};
	const uint64_t before = clock_now();
	uint64_t seqno, after, busy;
	unsigned int i;

	memset(rig->data + 4096, 0xff, 4096);
	seqno = rig_submit(rig, 1, &batch);
	ASSERT_TRUE(rig_wait(rig, seqno));
	after = clock_now();
	result = rig_result(rig, seqno);
	busy = rig->regs->busy_ns;

	EXPECT_EQ(SALVO_STATUS_DONE, result->status);
	EXPECT_EQ(~0u, result->command);
	EXPECT_LE(before, result->started);
	EXPECT_LE(result->started, self->data[0]);
	EXPECT_LE(self->data[0], self->data[1]);
	EXPECT_LE(self->data[1], result->ended);
	EXPECT_LE(result->ended, after);
	EXPECT_LT(0, result->busy_ns);
	EXPECT_LE(result->busy_ns, busy);
	EXPECT_EQ(1000000000ull, rig->regs->clock_hz);

	for (i = 0; i < 3; i++) {
		EXPECT_LE(before, profile[i].queued);
		EXPECT_LE(profile[i].queued, profile[i].ready);
		EXPECT_LE(profile[i].ready, profile[i].started);
		EXPECT_LE(profile[i].started, profile[i].ended);
		EXPECT_LE(profile[i].ended, result->ended);
		if (i)
			EXPECT_LE(profile[i - 1].ended, profile[i].ready);
	}
	for (i = 3; i < 5; i++)
		EXPECT_EQ(0, profile[i].queued | profile[i].ready | profile[i].started |
			     profile[i].ended);
	EXPECT_EQ(~0ull, profile[5].queued);
}

TEST_F(gpu, more_packets_than_the_device_holds_wait_in_the_ring)
{
	struct rig *rig = self->rig;
	uint64_t *g = self->gpu_data;
	const struct meet_args args = { &g[0], &g[1], &g[2], ~0ull };
	const struct drm_salvo_command slow = rig_dispatch(rig, gate, 1, 1, 0, sizeof(args));
	const struct drm_salvo_command quick = {
		.type = DRM_SALVO_FILL, .dst = (uintptr_t)&g[8], .size = 8, .pattern = 1,
	};
	const struct salvo_batch_desc first = {
		.commands = &slow, .count = 1, .args = &args, .args_size = sizeof(args),
	}, other = { .commands = &quick, .count = 1 };
	uint64_t seqno;
	unsigned int i;

	/* One ring holds fewer jobs than the device; the test must fill both. */
	ASSERT_EQ(0, rig->regs->ring[1].enable);
	rig->regs->ring[1].base = 8192 + 4096;
	rig->regs->ring[1].entries = 256;
	rig->regs->ring[1].enable = 1;
	seqno = rig_submit(rig, 1, &first);
	await(&self->data[0]);
	{
		struct salvo_ring_entry *ring = (void *)(rig->system + 8192 + 4096);
		const uint32_t bytes = rig_pack(rig, 1, &other);
		const uint8_t *packet = rig_next_packet(rig);
		uint8_t *to = rig->system + 20 * RIG_SLOT_BYTES;

		for (i = 0; i < 200; i++) {
			const uint64_t id = 1000 + i;

			memcpy(to + i * 1024, packet, bytes);
			((struct salvo_packet *)(to + i * 1024))->result = rig_result_address(id);
			salvo_pack_set_fence(to + i * 1024, id);
			ring[i] = (struct salvo_ring_entry) {
				.packet = 20 * RIG_SLOT_BYTES + i * 1024, .packet_bytes = bytes,
				.seqno = id, .asid = RIG_ASID, .ctx = 1,
			};
		}
		__atomic_store_n(&rig->regs->ring[1].tail, 200, __ATOMIC_RELEASE);
		salvo_gpu_doorbell(rig->gpu, SALVO_DOORBELL_RING(1));
	}
	EXPECT_LT(rig_head(rig, 1), 200);
	EXPECT_EQ(0, rig_fence(rig, 1));
	set(&self->data[1]);
	ASSERT_TRUE(rig_wait(rig, seqno));
	for (i = 0; i < 20000000 && rig_fence(rig, 1) != 1199; i++)
		sched_yield();
	EXPECT_EQ(1199, rig_fence(rig, 1));
	EXPECT_EQ(200, rig_head(rig, 1));
	for (i = 0; i < 200; i++)
		EXPECT_EQ(SALVO_STATUS_DONE, rig_result(rig, 1000 + i)->status);
}

/* An application may use this signal, and any thread of the process may get it. */
TEST(urgent_data_of_the_application_does_not_end_a_kernel)
{
	struct rig *rig = rig_create(1);
	uint64_t *data = (void *)rig->data;
	uint64_t *g = (void *)(uintptr_t)rig->data_address;
	const struct meet_args args = { &g[0], &g[1], &g[2], ~0ull };
	const struct drm_salvo_command slow = rig_dispatch(rig, gate, 1, 1, 0, sizeof(args));
	const struct salvo_batch_desc batch = {
		.commands = &slow, .count = 1, .args = &args, .args_size = sizeof(args),
	};
	uint64_t seqno;
	sigset_t urgent;

	sigemptyset(&urgent);
	sigaddset(&urgent, SIGURG);
	ASSERT_EQ(0, sigprocmask(SIG_BLOCK, &urgent, NULL));
	seqno = rig_submit(rig, 1, &batch);
	await(&data[0]);
	ASSERT_EQ(0, kill(getpid(), SIGURG));
	usleep(10000);
	set(&data[1]);
	ASSERT_TRUE(rig_wait(rig, seqno));
	EXPECT_EQ(1, data[2]);
	rig_destroy(rig);
}

TEST_HARNESS_MAIN
