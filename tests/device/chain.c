// SPDX-License-Identifier: MIT
/*
 * chain.c - consumers of one work-group, which the unit that ran their producer continues with
 *
 * A gate is a kernel that waits until the host opens it. Other work must not wait for it because it
 * is a consumer of what has just ended.
 */
#include <sched.h>
#include <string.h>
#include <time.h>
#include "gpu_fixture.h"
#include "salvo_leaf.h"

#define ROOTS		400u
#define SLOT_AT		(64u << 10)

struct gate_args {
	uint64_t *entered;
	uint64_t *open;
};

RIG_KERNEL static void gate(RIG_KERNEL_ARGS)
{
	const struct gate_args *a = args;

	__atomic_store_n(a->entered, 1, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(a->open, __ATOMIC_SEQ_CST))
		__builtin_ia32_pause();
}

RIG_KERNEL static void count_up(RIG_KERNEL_ARGS)
{
	const struct gate_args *a = args;

	__atomic_fetch_add(a->entered, 1, __ATOMIC_SEQ_CST);
}

/* Returns false if it does not become @value. */
static bool await(const uint64_t *word, uint64_t value)
{
	const time_t deadline = time(NULL) + 20;

	while (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value) {
		if (time(NULL) > deadline)
			return false;
		sched_yield();
	}
	return true;
}

static void open_gate(uint64_t *word)
{
	__atomic_store_n(word, 1, __ATOMIC_SEQ_CST);
}

/* Elements of one work-group share a queue entry; a consumer of one must not delay the others. */
TEST(all_others_run_while_a_consumer_takes_long)
{
	struct rig *rig = rig_create(2);
	uint64_t *data = (void *)rig->data, *g = (void *)(uintptr_t)rig->data_address;
	const struct gate_args args[] = { { &g[0], &g[1] }, { &g[8], NULL } };
	struct drm_salvo_command commands[ROOTS + 2];
	const struct salvo_batch_desc batch = {
		.commands = commands, .count = ROOTS + 2, .args = args, .args_size = sizeof(args),
	};
	uint64_t seqno;
	unsigned int i, round;

	for (i = 0; i < ROOTS; i++)
		commands[i] = rig_dispatch(rig, count_up, 1, 1, sizeof(args[0]), sizeof(args[1]));
	commands[ROOTS] = rig_dispatch(rig, gate, 1, 1, 0, sizeof(args[0]));
	for (round = 0; round < 20; round++) {
		commands[ROOTS + 1] = rig_pair(ROOTS, 100 + 9 * round);
		memset(data, 0, 9 * sizeof(data[0]));
		seqno = rig_submit(rig, 1, &batch);
		ASSERT_TRUE(await(&data[8], ROOTS)) TH_LOG("round %u", round);
		open_gate(&data[1]);
		ASSERT_TRUE(rig_wait(rig, seqno));
	}
	rig_destroy(rig);
}

/* A unit that runs a chain of commands runs leaves of workers between two of them. */
TEST(a_leaf_runs_before_the_next_command_of_a_chain)
{
	struct rig *rig = rig_create(1);
	uint64_t *data = (void *)rig->data, *g = (void *)(uintptr_t)rig->data_address;
	struct salvo_slot_regs *slot = (void *)(rig->data + SLOT_AT);
	const struct salvo_gpu_slot_config config = {
		.asid = RIG_ASID, .units = 1, .address = rig->data_address + SLOT_AT,
	};
	const struct gate_args args[] = { { &g[0], &g[1] }, { &g[2], &g[3] } };
	const struct gate_args leaf = { &g[8], NULL };
	const struct drm_salvo_command commands[] = {
		rig_dispatch(rig, gate, 1, 1, 0, sizeof(args[0])),
		rig_dispatch(rig, gate, 1, 1, sizeof(args[0]), sizeof(args[1])),
		rig_pair(1, 0),
	};
	const struct salvo_batch_desc batch = {
		.commands = commands, .count = 3, .args = args, .args_size = sizeof(args),
	};
	uint64_t seqno;
	int number;

	number = salvo_gpu_slot_attach(rig->gpu, &config);
	ASSERT_LE(0, number);
	seqno = rig_submit(rig, 1, &batch);
	ASSERT_TRUE(await(&data[0], 1));
	slot->dispatch = (struct salvo_op_dispatch){
		.entry = rig_entry(rig, count_up), .items = { 1, 1, 1 }, .group = { 1, 1, 1 },
		.args_size = sizeof(leaf), .dims = 1,
	};
	memcpy(slot->args, &leaf, sizeof(leaf));
	slot->opcode = SALVO_SLOT_RUN;
	__atomic_store_n(&slot->doorbell, 1, __ATOMIC_RELEASE);
	open_gate(&data[1]);
	ASSERT_TRUE(await(&data[2], 1));
	EXPECT_EQ(1, __atomic_load_n(&data[8], __ATOMIC_SEQ_CST));
	open_gate(&data[3]);
	ASSERT_TRUE(rig_wait(rig, seqno));
	EXPECT_TRUE(await(&data[8], 1));
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(rig, seqno)->status);
	salvo_gpu_slot_detach(rig->gpu, number);
	rig_destroy(rig);
}

TEST_HARNESS_MAIN
