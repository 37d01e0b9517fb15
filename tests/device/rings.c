// SPDX-License-Identifier: MIT
/*
 * rings.c - a GPU with two command rings: what they share and what they do not
 *
 * The rig drives ring 0; here ring 1 is added, with its own packets and results.
 */
#include <sched.h>
#include <string.h>
#include <time.h>
#include "gpu_fixture.h"
#include "jobs.h"

#define RING_AT		12288u
#define ENTRIES		SALVO_RING_MIN_ENTRIES
/* Slots and results that ring 0 does not use */
#define SLOT		32u
#define RESULT		3000u
/* Ring 1 has its own sequence numbers. */
#define FIRST_SEQNO	100000u
#define LONG_SPIN	(1ull << 29)

struct gate_args {
	uint64_t *begun;
	const uint64_t *open;
	uint64_t *ended;
	uint64_t limit;
};

RIG_KERNEL static void gate(RIG_KERNEL_ARGS)
{
	const struct gate_args *a = args;
	uint64_t i;

	__atomic_store_n(a->begun, 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < a->limit && !__atomic_load_n(a->open, __ATOMIC_SEQ_CST); i++)
		__builtin_ia32_pause();
	__atomic_store_n(a->ended, 1, __ATOMIC_SEQ_CST);
}

static struct gate_args gate_args(FIXTURE_DATA(gpu) *self)
{
	uint64_t *g = self->gpu_data;

	return (struct gate_args){ &g[0], &g[1], &g[2], LONG_SPIN };
}

/* A batch on ring 0 whose one work-group runs until self->data[1] is not 0. */
static uint64_t submit_gate(FIXTURE_DATA(gpu) *self, uint32_t ctx)
{
	const struct gate_args args = gate_args(self);
	const struct drm_salvo_command command = rig_dispatch(self->rig, gate, 1, 1, 0,
							      sizeof(args));
	const uint64_t seqno = rig_submit(self->rig, ctx, &(struct salvo_batch_desc){
		.commands = &command, .count = 1, .args = &args, .args_size = sizeof(args),
	});

	while (!__atomic_load_n(&self->data[0], __ATOMIC_SEQ_CST))
		sched_yield();
	return seqno;
}

static void open_gate(FIXTURE_DATA(gpu) *self)
{
	__atomic_store_n(&self->data[1], 1, __ATOMIC_SEQ_CST);
}

static void enable(struct rig *rig)
{
	struct salvo_ring_regs *ring = &rig->regs->ring[1];

	ring->base = RING_AT;
	ring->entries = ENTRIES;
	__atomic_store_n(&ring->enable, 1, __ATOMIC_RELEASE);
}

static struct salvo_packet_result *result_of(struct rig *rig, uint32_t n)
{
	return rig_result(rig, RESULT + n);
}

/* The @n-th entry of ring 1: a batch of a context of an address space. */
static void submit_batch(struct rig *rig, uint32_t n, uint32_t asid, uint32_t ctx,
			 uint64_t seqno, const struct salvo_batch_desc *batch)
{
	const uint32_t bytes = rig_pack_for(rig, asid, ctx, batch);
	const uint64_t address = RIG_SLOT_BYTES * (uint64_t)(1 + SLOT + n % SLOT);
	struct salvo_packet *packet = (void *)(rig->system + address);
	struct salvo_ring_entry *ring = (void *)(rig->system + RING_AT);

	memcpy(packet, rig_next_packet(rig), bytes);
	packet->result = rig_result_address(RESULT + n);
	salvo_pack_set_fence(packet, seqno);
	memset(result_of(rig, n), 0, sizeof(*result_of(rig, n)));
	ring[n % ENTRIES] = (struct salvo_ring_entry){
		.packet = address, .packet_bytes = bytes, .flags = SALVO_RING_IRQ,
		.seqno = seqno, .asid = asid, .ctx = ctx,
	};
	__atomic_store_n(&rig->regs->ring[1].tail, n + 1, __ATOMIC_RELEASE);
	salvo_gpu_doorbell(rig->gpu, SALVO_DOORBELL_RING(1));
}

/* The same, of one command. */
static void submit_command(struct rig *rig, uint32_t n, uint32_t asid, uint32_t ctx,
			   uint64_t seqno, const struct drm_salvo_command *command)
{
	submit_batch(rig, n, asid, ctx, seqno,
		     &(struct salvo_batch_desc){ .commands = command, .count = 1 });
}

/* The same for a timestamp, which is stored at self->data[8 + n]. */
static void submit_stamp(FIXTURE_DATA(gpu) *self, uint32_t n, uint32_t ctx, uint64_t seqno)
{
	const struct drm_salvo_command command = {
		.type = DRM_SALVO_TIMESTAMP, .dst = (uintptr_t)&self->gpu_data[8 + n],
	};

	submit_command(self->rig, n, RIG_ASID, ctx, seqno, &command);
}

static bool wait_ring(struct rig *rig, uint64_t seqno)
{
	const time_t deadline = time(NULL) + 20;

	while (rig_fence(rig, 1) < seqno) {
		if (time(NULL) > deadline)
			return false;
		sched_yield();
	}
	return true;
}

TEST_F(gpu, each_ring_retires_its_own_fences)
{
	struct rig *rig = self->rig;
	const uint32_t irqs = rig->fence_irqs;
	uint64_t seqno;
	uint32_t n;

	if (rig->regs->units < 2)
		SKIP(return, "needs two execution units");
	EXPECT_EQ(SALVO_MAX_RINGS, rig->regs->rings);
	enable(rig);
	seqno = submit_gate(self, 1);
	for (n = 0; n < 2 * ENTRIES; n++) {
		submit_stamp(self, n, 2, FIRST_SEQNO + n);
		ASSERT_TRUE(wait_ring(rig, FIRST_SEQNO + n));
		ASSERT_EQ(SALVO_STATUS_DONE, result_of(rig, n)->status);
		ASSERT_NE(0, self->data[8 + n]);
	}
	/* Fences of ring 1 do not wait for those of ring 0, where an earlier batch still runs. */
	EXPECT_EQ(seqno - 1, rig_fence(rig, 0));
	EXPECT_EQ(2 * ENTRIES, rig_head(rig, 1));
	open_gate(self);
	ASSERT_TRUE(rig_wait(rig, seqno));
	rig_stop(rig);
	EXPECT_EQ(irqs + 2 * ENTRIES + 1, rig->fence_irqs);
}

TEST_F(gpu, a_context_on_two_rings_runs_one_batch_after_the_other)
{
	uint64_t seqno;

	enable(self->rig);
	seqno = submit_gate(self, 1);
	submit_stamp(self, 0, 1, FIRST_SEQNO);
	EXPECT_EQ(1, rig_head(self->rig, 1));
	EXPECT_EQ(0, rig_fence(self->rig, 1));
	EXPECT_EQ(0, self->data[8]);
	open_gate(self);
	ASSERT_TRUE(rig_wait(self->rig, seqno));
	ASSERT_TRUE(wait_ring(self->rig, FIRST_SEQNO));
	EXPECT_LE(rig_result(self->rig, seqno)->ended, self->data[8]);
}

/* No doorbell was rung for ring 0, and batch and binding are on different rings. */
TEST_F(gpu, what_was_put_on_a_lower_ring_before_is_read_before)
{
	enum { ASID = RIG_ASID + 1 };
	struct rig *rig = self->rig;
	const struct drm_salvo_command command = {
		.type = DRM_SALVO_FILL, .dst = rig->data_address, .size = 4, .pattern = 5,
	};
	struct salvo_ring_entry entry = rig_next_entry(rig, 0, SALVO_PACK_SPACE_BYTES);

	enable(rig);
	entry.asid = ASID;
	salvo_pack_space(SALVO_OP_BIND, rig->data_address, RIG_DATA_BYTES,
			 SALVO_ACCESS_READ | SALVO_ACCESS_WRITE,
			 rig_result_address(entry.seqno), rig_next_packet(rig));
	salvo_pack_set_fence(rig_next_packet(rig), entry.seqno);
	rig_push(rig, &entry);
	__atomic_store_n(&rig->regs->ring[0].tail, rig->tail, __ATOMIC_RELEASE);
	submit_command(rig, 0, ASID, 2, FIRST_SEQNO, &command);
	ASSERT_TRUE(wait_ring(rig, FIRST_SEQNO));
	EXPECT_EQ(SALVO_STATUS_DONE, result_of(rig, 0)->status);
	EXPECT_EQ(entry.seqno, rig_fence(rig, 0));
	EXPECT_EQ(5, *(uint32_t *)self->data);
}

/* Ring 0 has as many jobs in the device as it may have, and none of them ends. */
TEST_F(gpu, a_ring_that_is_full_leaves_room_for_the_other)
{
	const struct drm_salvo_command command = {
		.type = DRM_SALVO_TIMESTAMP, .dst = (uintptr_t)&self->gpu_data[4],
	};
	const struct salvo_batch_desc batch = { .commands = &command, .count = 1 };
	struct rig *rig = self->rig;
	uint64_t seqno;
	uint32_t i;

	if (rig->regs->units < 2)
		SKIP(return, "needs two execution units");
	enable(rig);
	seqno = submit_gate(self, 1);
	for (i = 1; i < SALVO_RING_JOBS; i++) {
		seqno = rig_submit(rig, 1, &batch);
		while (rig_head(rig, 0) < rig->tail)
			sched_yield();
	}
	submit_stamp(self, 0, 2, FIRST_SEQNO);
	EXPECT_TRUE(wait_ring(rig, FIRST_SEQNO));
	open_gate(self);
	ASSERT_TRUE(rig_wait(rig, seqno));
}

/* A job that ring 0 retires meanwhile gives ring 1 no free job: ring 1 still waits. */
TEST_F(gpu, a_ring_that_was_full_goes_on_when_its_own_packets_have_ended)
{
	const struct gate_args args = gate_args(self);
	const struct drm_salvo_command command = rig_dispatch(self->rig, gate, 1, 1, 0,
							      sizeof(args));
	struct rig *rig = self->rig;
	uint32_t n;

	enable(rig);
	submit_batch(rig, 0, RIG_ASID, 1, FIRST_SEQNO, &(struct salvo_batch_desc){
		.commands = &command, .count = 1, .args = &args, .args_size = sizeof(args),
	});
	for (n = 1; n <= SALVO_RING_JOBS; n++)
		submit_stamp(self, n, 1, FIRST_SEQNO + n);
	EXPECT_EQ(SALVO_RING_JOBS, rig_head(rig, 1));
	EXPECT_EQ(SALVO_STATUS_DONE, rig_space(rig, RIG_ASID + 1, SALVO_OP_BIND,
					       rig->data_address, RIG_DATA_BYTES,
					       SALVO_ACCESS_READ));
	open_gate(self);
	EXPECT_TRUE(wait_ring(rig, FIRST_SEQNO + SALVO_RING_JOBS));
}

/* A binding is done when it is parsed, though its fence waits for a running batch before it. */
TEST_F(gpu, bindings_behind_a_batch_do_not_keep_the_other_ring_waiting)
{
	struct rig *rig = self->rig;
	const uint32_t irqs = rig->fence_irqs;
	uint64_t before, seqno;
	uint32_t i;

	if (rig->regs->units < 2)
		SKIP(return, "needs two execution units");
	enable(rig);
	before = submit_gate(self, 1);
	for (i = 0; i < 2 * SALVO_RING_JOBS; i++) {
		seqno = rig_submit_space(rig, RIG_ASID + 1 + i, SALVO_OP_BIND, rig->data_address,
					 RIG_DATA_BYTES, SALVO_ACCESS_READ);
		ASSERT_EQ(rig->tail, rig_head(rig, 0));
	}
	submit_stamp(self, 0, 2, FIRST_SEQNO);
	EXPECT_TRUE(wait_ring(rig, FIRST_SEQNO));
	EXPECT_EQ(before - 1, rig_fence(rig, 0));
	open_gate(self);
	ASSERT_TRUE(rig_wait(rig, seqno));
	EXPECT_EQ(seqno, rig_fence(rig, 0));
	for (i = 0; i < 2 * SALVO_RING_JOBS; i++)
		EXPECT_EQ(SALVO_STATUS_DONE, rig_result(rig, seqno - i)->status);
	rig_stop(rig);
	EXPECT_EQ(irqs + 2 * SALVO_RING_JOBS + 2, rig->fence_irqs);
}

TEST_F(gpu, a_ring_that_is_halted_leaves_the_other_alone)
{
	struct rig *rig = self->rig;
	const uint64_t faults = rig->regs->fault.sequence;
	const struct drm_salvo_command fill = {
		.type = DRM_SALVO_FILL, .dst = rig->data_address, .size = 4,
	};

	enable(rig);
	submit_stamp(self, 0, 2, FIRST_SEQNO);
	ASSERT_TRUE(wait_ring(rig, FIRST_SEQNO));
	/* One sequence number was skipped. */
	submit_stamp(self, 1, 2, FIRST_SEQNO + 2);
	EXPECT_EQ(faults + 1, rig->regs->fault.sequence);
	EXPECT_EQ(SALVO_FAULT_RING, rig->regs->fault.kind);
	submit_stamp(self, 2, 2, FIRST_SEQNO + 1);
	EXPECT_EQ(1, rig_head(rig, 1));
	EXPECT_EQ(SALVO_STATUS_DONE, rig_run(rig, &fill, 1, NULL, 0));
	EXPECT_EQ(FIRST_SEQNO, rig_fence(rig, 1));

	/* A reset returns both rings to their initial state. */
	rig_reset(rig);
	EXPECT_EQ(0, rig_fence(rig, 1));
	EXPECT_EQ(0, rig->regs->ring[1].enable);
}

TEST_HARNESS_MAIN
