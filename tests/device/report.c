// SPDX-License-Identifier: MIT
/*
 * report.c - results that do not wait for earlier packets of the ring (SALVO_RING_REPORT)
 *
 * Each batch is of an address space of its own, which may be a process.
 */
#include <string.h>
#include <time.h>
#include "gpu_fixture.h"

/* Words of the data */
#define GATE	0u
#define WORD	64u

/* Ends when the host has opened the gate. */
RIG_KERNEL static void gate(RIG_KERNEL_ARGS)
{
	const volatile uint64_t *word = *(uint64_t *const *)args;

	while (!*word)
		__builtin_ia32_pause();
}

RIG_KERNEL static void set(RIG_KERNEL_ARGS)
{
	**(uint64_t *const *)args = 5;
}

static uint64_t submit(struct rig *rig, uint32_t asid, salvo_kernel_fn fn, uint64_t arg,
		       uint32_t flags)
{
	const struct drm_salvo_command command = rig_dispatch(rig, fn, 1, 1, 0, sizeof(arg));
	const struct salvo_batch_desc batch = {
		.commands = &command, .count = 1, .args = &arg, .args_size = sizeof(arg),
	};
	struct salvo_ring_entry entry =
		rig_next_entry(rig, asid, rig_pack_for(rig, asid, asid, &batch));

	entry.asid = asid;
	entry.flags |= flags;
	rig_push(rig, &entry);
	rig_ring(rig);
	return entry.seqno;
}

static bool await_status(struct rig *rig, uint64_t seqno, uint32_t status)
{
	const time_t deadline = time(NULL) + 20;

	while (rig_peek_status(rig, seqno) != status)
		if (time(NULL) > deadline)
			return false;
	return true;
}

static bool await_irqs(struct rig *rig, uint32_t count)
{
	const time_t deadline = time(NULL) + 20;

	while (atomic_load(&rig->fence_irqs) != count)
		if (time(NULL) > deadline)
			return false;
	return true;
}

FIXTURE(report)
{
	struct rig *rig;
	uint64_t *data, *gpu;
};

FIXTURE_SETUP(report)
{
	uint32_t asid;

	self->rig = rig_create(3);
	self->data = (void *)self->rig->data;
	self->gpu = (void *)(uintptr_t)self->rig->data_address;
	memset(self->data, 0, 4096);
	rig_reset(self->rig);
	for (asid = 1; asid <= 3; asid++) {
		ASSERT_EQ(SALVO_STATUS_DONE,
			  rig_space(self->rig, asid, SALVO_OP_BIND, self->rig->code_address,
				    RIG_CODE_BYTES, SALVO_ACCESS_READ | SALVO_ACCESS_EXEC));
		ASSERT_EQ(SALVO_STATUS_DONE,
			  rig_space(self->rig, asid, SALVO_OP_BIND, self->rig->data_address,
				    4096, SALVO_ACCESS_READ | SALVO_ACCESS_WRITE));
	}
	atomic_store(&self->rig->fence_irqs, 0);
}

FIXTURE_TEARDOWN(report)
{
	rig_destroy(self->rig);
}

TEST_F(report, result_and_interrupt_do_not_wait_for_earlier_packets)
{
	struct rig *rig = self->rig;
	const uint64_t a = submit(rig, 1, gate, (uintptr_t)&self->gpu[GATE], 0);
	const uint64_t b = submit(rig, 2, set, (uintptr_t)&self->gpu[WORD], SALVO_RING_REPORT);
	const uint64_t c = submit(rig, 3, set, 0, SALVO_RING_REPORT);

	ASSERT_TRUE(await_status(rig, b, SALVO_STATUS_DONE));
	ASSERT_TRUE(await_status(rig, c, SALVO_STATUS_FAULT));
	EXPECT_TRUE(await_irqs(rig, 2));
	EXPECT_EQ(5, self->data[WORD]);
	EXPECT_EQ(1, rig_result(rig, b)->done);
	EXPECT_EQ(SALVO_FAULT_PAGE, rig_result(rig, c)->fault);
	EXPECT_EQ(0, rig_result(rig, c)->command);
	EXPECT_LT(rig_fence(rig, 0), a);

	/* The device writes neither again. */
	memset(rig_result(rig, b), 0xaa, sizeof(struct salvo_packet_result));
	__atomic_store_n(&self->data[GATE], 1, __ATOMIC_RELEASE);
	ASSERT_TRUE(rig_wait(rig, c));
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(rig, a)->status);
	EXPECT_EQ(0xaaaaaaaa, rig_result(rig, b)->status);
	EXPECT_TRUE(await_irqs(rig, 3));
}

TEST_F(report, without_the_flag_the_result_waits)
{
	struct rig *rig = self->rig;
	const uint64_t a = submit(rig, 1, gate, (uintptr_t)&self->gpu[GATE], 0);
	const uint64_t b = submit(rig, 2, set, (uintptr_t)&self->gpu[WORD], 0);
	const uint64_t c = submit(rig, 3, set, (uintptr_t)&self->gpu[WORD + 8],
				  SALVO_RING_REPORT);

	ASSERT_TRUE(await_status(rig, c, SALVO_STATUS_DONE));
	EXPECT_EQ(SALVO_STATUS_PENDING, rig_peek_status(rig, b));
	__atomic_store_n(&self->data[GATE], 1, __ATOMIC_RELEASE);
	ASSERT_TRUE(rig_wait(rig, c));
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(rig, a)->status);
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(rig, b)->status);
	EXPECT_TRUE(await_irqs(rig, 3));
}

/*
 * The fence register has one value for a packet and those after it that were reported. Else a
 * driver that finds such a packet to be the oldest would wait for an interrupt that has been.
 */
TEST_F(report, fence_passes_reported_packets_with_the_one_before)
{
	struct rig *rig = self->rig;
	uint64_t a, b, c, fence;
	int i;

	for (i = 0; i < 300; i++) {
		self->data[GATE] = 0;
		a = submit(rig, 1, gate, (uintptr_t)&self->gpu[GATE], 0);
		b = submit(rig, 2, set, (uintptr_t)&self->gpu[WORD], SALVO_RING_REPORT);
		c = submit(rig, 3, set, (uintptr_t)&self->gpu[WORD + 8], SALVO_RING_REPORT);
		ASSERT_TRUE(await_status(rig, b, SALVO_STATUS_DONE));
		ASSERT_TRUE(await_status(rig, c, SALVO_STATUS_DONE));
		__atomic_store_n(&self->data[GATE], 1, __ATOMIC_RELEASE);
		do
			fence = rig_fence(rig, 0);
		while (fence == a - 1);
		ASSERT_EQ(fence, c);
	}
	EXPECT_TRUE(await_irqs(rig, 900));
}

TEST_HARNESS_MAIN
