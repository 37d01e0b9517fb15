// SPDX-License-Identifier: MIT
/*
 * slots.c - slots of address spaces that are processes: ATTACH, DETACH, changes of bindings while
 * tasks run, kills, processes that die, and the registers that show it
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

#include "salvo_leaf.h"
#include "space_block.h"
#include "spaces_fixture.h"

/* In the data of RIG_ASID: slots from here on, and words that kernels write */
#define SLOT_AT		(1u << 20)
#define WORDS_AT	(2u << 20)

struct word_args {
	uint64_t *word;
	uint64_t value;
};

/* Adds @value to a word. */
RIG_KERNEL static void add_word(RIG_KERNEL_ARGS)
{
	const struct word_args *a = args;

	if (!group->group_id[0])
		*(volatile uint64_t *)a->word += a->value;
}

/* Runs until the word is not 0. */
RIG_KERNEL static void spin(RIG_KERNEL_ARGS)
{
	const struct word_args *a = args;

	while (!*(volatile uint64_t *)a->word)
		;
}

/* A system call: the process's unit gets SIGSYS, which is a fault. */
RIG_KERNEL static void touch(RIG_KERNEL_ARGS)
{
	const struct word_args *a = args;

	*(volatile uint64_t *)a->word = a->value;
}

/* Writes the number of each work-group to its word. */
RIG_KERNEL static void number_groups(RIG_KERNEL_ARGS)
{
	const struct word_args *a = args;
	const uint32_t at = group->group_id[0];

	((volatile uint64_t *)a->word)[at] += a->value;
}

/* Tasks that ring, and words of their log: the slots that they were in */
#define TURNS	60u
#define TURNS_LOG	2

/* Logs its slot, and rings those of a mask: the value is the slot and the mask << 8. */
RIG_KERNEL static void take_turn(RIG_KERNEL_ARGS)
{
	const struct word_args *a = args;
	volatile uint64_t *words = (volatile uint64_t *)a->word;
	const uint64_t turn = words[0]++;
	unsigned int i;

	words[TURNS_LOG + turn] = a->value & 0xff;
	for (i = 0; i < 8 && turn < TURNS; i++)
		if (a->value >> (8 + i) & 1)
			((volatile struct salvo_slot_regs *)(words[1] +
				(uint64_t)i * SALVO_SLOT_BYTES))->doorbell = 1;
}

static struct salvo_slot_regs *slot_at(struct rig *rig, unsigned int number)
{
	return (void *)(rig->data + SLOT_AT + number * SALVO_SLOT_BYTES);
}

static volatile uint64_t *word_at(struct rig *rig, unsigned int number)
{
	return (volatile uint64_t *)(rig->data + WORDS_AT + number * 64);
}

static uint64_t word_address(struct rig *rig, unsigned int number)
{
	return rig->data_address + WORDS_AT + number * 64;
}

static uint64_t submit_attach(struct rig *rig, const struct salvo_pack_slot *slot, uint32_t asid)
{
	struct salvo_ring_entry entry = rig_next_entry(rig, 0, SALVO_PACK_SPACE_BYTES);

	entry.asid = asid;
	salvo_pack_attach(slot, rig_result_address(entry.seqno), rig_next_packet(rig));
	salvo_pack_set_fence(rig_next_packet(rig), entry.seqno);
	rig_push(rig, &entry);
	rig_ring(rig);
	return entry.seqno;
}

static uint32_t attach_as(struct rig *rig, const struct salvo_pack_slot *slot, uint32_t asid)
{
	const uint64_t seqno = submit_attach(rig, slot, asid);

	return rig_wait(rig, seqno) ? rig_result(rig, seqno)->status : ~0u;
}

static struct salvo_pack_slot slot_of(struct rig *rig, unsigned int number)
{
	return (struct salvo_pack_slot){
		.number = number, .ctx = 1, .units = 1,
		.address = rig->data_address + SLOT_AT + number * SALVO_SLOT_BYTES,
	};
}

static uint32_t attach(struct rig *rig, unsigned int number)
{
	const struct salvo_pack_slot slot = slot_of(rig, number);

	return attach_as(rig, &slot, RIG_ASID);
}

static uint64_t submit_detach(struct rig *rig, unsigned int number)
{
	const struct salvo_ring_entry entry = rig_next_entry(rig, 0, SALVO_PACK_SPACE_BYTES);

	salvo_pack_detach(number, rig_result_address(entry.seqno), rig_next_packet(rig));
	salvo_pack_set_fence(rig_next_packet(rig), entry.seqno);
	rig_push(rig, &entry);
	rig_ring(rig);
	return entry.seqno;
}

static uint32_t detach(struct rig *rig, unsigned int number)
{
	const uint64_t seqno = submit_detach(rig, number);

	return rig_wait(rig, seqno) ? rig_result(rig, seqno)->status : ~0u;
}

static void store_task(struct rig *rig, unsigned int number, salvo_kernel_fn fn, unsigned int word,
		       uint64_t value)
{
	const uint32_t groups = fn == number_groups ? 8 : 1;
	struct salvo_slot_regs *slot = slot_at(rig, number);
	const struct word_args args = { (void *)(uintptr_t)word_address(rig, word), value };

	slot->dispatch = (struct salvo_op_dispatch){
		.entry = rig_entry(rig, fn), .items = { groups, 1, 1 }, .group = { 1, 1, 1 },
		.args_size = sizeof(args), .dims = 1,
	};
	memcpy(slot->args, &args, sizeof(args));
	slot->opcode = SALVO_SLOT_RUN;
}

/* As the worker does, and as the driver does for it. */
static void start(struct rig *rig, unsigned int number, salvo_kernel_fn fn, unsigned int word,
		  uint64_t value)
{
	struct salvo_slot_regs *slot = slot_at(rig, number);

	store_task(rig, number, fn, word, value);
	__atomic_store_n(&slot->doorbell, 1, __ATOMIC_RELEASE);
	salvo_slot_fence();
	if (__atomic_load_n(&slot->sleeping, __ATOMIC_RELAXED)) {
		__atomic_store_n(&rig->regs->slot_wake[number], rig->regs->slot_wake[number] + 1,
				 __ATOMIC_RELEASE);
		salvo_gpu_doorbell(rig->gpu, SALVO_DOORBELL_RING(0));
	}
}

/* Heartbeats, as of the device's timer, go on meanwhile. */
static bool wait_idle(struct rig *rig, unsigned int number)
{
	struct salvo_slot_regs *slot = slot_at(rig, number);
	const time_t deadline = time(NULL) + 20;
	unsigned int polls = 0;

	while (__atomic_load_n(&slot->doorbell, __ATOMIC_ACQUIRE)) {
		if (time(NULL) > deadline)
			return false;
		if (!(++polls % 10000))
			salvo_gpu_heartbeat(rig->gpu);
		sched_yield();
	}
	return true;
}

/* Returns the status in the slot. */
static uint32_t run_task(struct rig *rig, unsigned int number, salvo_kernel_fn fn,
			 unsigned int word, uint64_t value)
{
	start(rig, number, fn, word, value);
	return wait_idle(rig, number) ? slot_at(rig, number)->status : ~0u;
}

static uint32_t kill_ctx(struct rig *rig, uint32_t ctx)
{
	const uint32_t request = rig->regs->kill_ack + 1;
	const time_t deadline = time(NULL) + 20;

	rig->regs->kill_ctx = ctx;
	__atomic_store_n(&rig->regs->kill_request, request, __ATOMIC_RELEASE);
	salvo_gpu_doorbell(rig->gpu, SALVO_DOORBELL_KILL);
	while (__atomic_load_n(&rig->regs->kill_ack, __ATOMIC_ACQUIRE) != request) {
		if (time(NULL) > deadline)
			return ~0u;
		salvo_gpu_heartbeat(rig->gpu);
		usleep(1000);
	}
	return 0;
}

static bool wait_for_task(struct rig *rig, unsigned int number)
{
	const time_t deadline = time(NULL) + 20;

	while (!__atomic_load_n(&rig->regs->slot_task[number], __ATOMIC_RELAXED)) {
		if (time(NULL) > deadline)
			return false;
		salvo_gpu_heartbeat(rig->gpu);
		usleep(1000);
	}
	return true;
}

TEST_F_TIMEOUT(spaces, W4_task_runs_in_the_process_without_a_packet, 120)
{
	struct rig *rig = self->rig;
	uint64_t seqno;
	int i;

	EXPECT_EQ(SALVO_MAX_SLOTS, rig->regs->slots);
	ASSERT_EQ(SALVO_STATUS_DONE, attach(rig, 0));
	seqno = rig->seqno;
	for (i = 1; i <= 1000; i++) {
		ASSERT_EQ(SALVO_SLOT_DONE, run_task(rig, 0, add_word, 0, 2));
		ASSERT_EQ(2 * i, *word_at(rig, 0));
		if (!(i % 100))
			usleep(1000);
	}
	EXPECT_EQ(seqno, rig->seqno);
	EXPECT_EQ(SALVO_STATUS_DONE, detach(rig, 0));
	/* A task that was not begun stays. */
	start(rig, 0, add_word, 0, 1);
	usleep(20000);
	EXPECT_EQ(1, slot_at(rig, 0)->doorbell);
	EXPECT_EQ(2000, *word_at(rig, 0));
	ASSERT_EQ(SALVO_STATUS_DONE, attach(rig, 0));
	ASSERT_TRUE(wait_idle(rig, 0));
	EXPECT_EQ(2001, *word_at(rig, 0));
	expect_others_right(_metadata, rig, 1);
}

TEST_F_TIMEOUT(spaces, each_wrong_field_is_refused, 120)
{
	struct rig *rig = self->rig;
	struct salvo_pack_slot slot;

#define REFUSED(assignment) \
	do { \
		slot = slot_of(rig, 0); \
		slot.assignment; \
		EXPECT_EQ(SALVO_STATUS_BAD_PACKET, attach_as(rig, &slot, RIG_ASID)); \
	} while (0)
	REFUSED(number = SALVO_MAX_SLOTS);
	REFUSED(number = ~0u);
	REFUSED(ctx = 0);
	REFUSED(units = 0);
	REFUSED(units = ~0ull);
	REFUSED(priority = 2);
	REFUSED(priority = -2);
	REFUSED(address += 64);
	REFUSED(address = 0);
	REFUSED(address = ~0ull & ~4095);
	REFUSED(address = rig->code_address);
	/* The other address space's, and the last page of this one's. */
	REFUSED(address = rig->data_address + OTHER_AT);
	REFUSED(address = rig->data_address + OTHER_AT - 4096);
	slot = slot_of(rig, 0);
	EXPECT_EQ(SALVO_STATUS_BAD_PACKET, attach_as(rig, &slot, OTHER));
	ASSERT_EQ(SALVO_STATUS_DONE, attach(rig, 0));
	/* Its number is in use. */
	EXPECT_EQ(SALVO_STATUS_BAD_PACKET, attach(rig, 0));
	EXPECT_EQ(SALVO_STATUS_BAD_PACKET, detach(rig, SALVO_MAX_SLOTS));
	EXPECT_EQ(SALVO_STATUS_DONE, detach(rig, 1));
	EXPECT_EQ(SALVO_SLOT_DONE, run_task(rig, 0, add_word, 0, 2));
	EXPECT_EQ(2, *word_at(rig, 0));
	expect_others_right(_metadata, rig, 1);
}

/* Bindings come and go while tasks run: each task runs once, and sees what was bound before it. */
TEST_F_TIMEOUT(spaces, tasks_and_changes_of_bindings, 200)
{
	const uint32_t rw = SALVO_ACCESS_READ | SALVO_ACCESS_WRITE;
	struct rig *rig = self->rig;
	const uint64_t page = rig->data_address + (8u << 20);
	int i, j;

	ASSERT_EQ(SALVO_STATUS_DONE, unbind(rig, rig->data_address, OTHER_AT));
	ASSERT_EQ(SALVO_STATUS_DONE, rig_space(rig, RIG_ASID, SALVO_OP_BIND, rig->data_address,
					       4u << 20, rw));
	for (i = 0; i < 4; i++)
		ASSERT_EQ(SALVO_STATUS_DONE, attach(rig, i));
	for (i = 0; i < 100; i++) {
		for (j = 0; j < 4; j++)
			start(rig, j, add_word, j, 1);
		ASSERT_EQ(SALVO_STATUS_DONE, rig_space(rig, RIG_ASID, SALVO_OP_BIND, page, 4096,
						       rw));
		for (j = 0; j < 4; j++) {
			ASSERT_TRUE(wait_idle(rig, j));
			ASSERT_EQ(SALVO_SLOT_DONE, slot_at(rig, j)->status);
			ASSERT_EQ(i + 1, *word_at(rig, j));
		}
		/* Bound by now: word (8 - 2) MiB from the first one. */
		ASSERT_EQ(SALVO_SLOT_DONE, run_task(rig, i % 4, touch, (6u << 20) / 64, i));
		ASSERT_EQ(i, *word_at(rig, (6u << 20) / 64));
		for (j = 0; j < 3; j++)
			start(rig, j, add_word, 10 + j, 1);
		ASSERT_EQ(SALVO_STATUS_DONE, unbind(rig, page, 4096));
		ASSERT_EQ(SALVO_SLOT_FAILED, run_task(rig, 3, touch, (6u << 20) / 64, i));
		EXPECT_EQ(SALVO_FAULT_PAGE, slot_at(rig, 3)->parts[0].kind);
		EXPECT_EQ(page, slot_at(rig, 3)->parts[0].address);
		for (j = 0; j < 3; j++) {
			ASSERT_TRUE(wait_idle(rig, j));
			ASSERT_EQ(i + 1, *word_at(rig, 10 + j));
		}
	}
	expect_others_right(_metadata, rig, 1);
}

/* Slots of several units that share cores come and go while others run. */
TEST_F_TIMEOUT(spaces, slots_come_and_go_while_others_run, 200)
{
	struct rig *rig = self->rig;
	const uint64_t all = rig->regs->units < 64 ? (1ull << rig->regs->units) - 1 : ~0ull;
	uint64_t expected[8] = { 0 };
	int i, j, k;

	for (i = 0; i < 8; i++) {
		struct salvo_pack_slot slot = slot_of(rig, i);

		slot.units = all & (all >> i % rig->regs->units);
		slot.ctx = i + 1;
		ASSERT_EQ(SALVO_STATUS_DONE, attach_as(rig, &slot, RIG_ASID));
	}
	for (i = 0; i < 300; i++) {
		const int out = i % 8;
		struct salvo_pack_slot slot = slot_of(rig, out);

		slot.units = all & (all >> i % rig->regs->units);
		slot.ctx = out + 1;
		for (j = 0; j < 8; j++) {
			start(rig, j, number_groups, j * 8, 1);
			expected[j]++;
		}
		ASSERT_TRUE(wait_idle(rig, out));
		ASSERT_EQ(SALVO_STATUS_DONE, detach(rig, out));
		ASSERT_EQ(SALVO_STATUS_DONE, attach_as(rig, &slot, RIG_ASID));
		for (j = 0; j < 8; j++) {
			ASSERT_TRUE(wait_idle(rig, j));
			ASSERT_EQ(SALVO_SLOT_DONE, slot_at(rig, j)->status);
			for (k = 0; k < 8; k++)
				ASSERT_EQ(expected[j], word_at(rig, j * 8)[k]);
		}
	}
}

TEST_F_TIMEOUT(spaces, detach_waits_for_the_task_that_runs, 120)
{
	struct rig *rig = self->rig;
	uint64_t seqno;

	ASSERT_EQ(SALVO_STATUS_DONE, attach(rig, 0));
	start(rig, 0, spin, 0, 0);
	ASSERT_TRUE(wait_for_task(rig, 0));
	seqno = submit_detach(rig, 0);
	usleep(50000);
	EXPECT_GT(seqno, rig_fence(rig, 0));
	*word_at(rig, 0) = 1;
	ASSERT_TRUE(rig_wait(rig, seqno));
	EXPECT_EQ(0, slot_at(rig, 0)->doorbell);
	EXPECT_EQ(SALVO_SLOT_DONE, slot_at(rig, 0)->status);
}

TEST_F_TIMEOUT(spaces, kill_ends_the_tasks_of_a_context_alone, 120)
{
	struct rig *rig = self->rig;
	struct salvo_pack_slot slot = slot_of(rig, 1);

	slot.ctx = 2;
	slot.units = 2;
	ASSERT_EQ(SALVO_STATUS_DONE, attach(rig, 0));
	ASSERT_EQ(SALVO_STATUS_DONE, attach_as(rig, &slot, RIG_ASID));
	start(rig, 0, spin, 0, 0);
	start(rig, 1, spin, 1, 0);
	ASSERT_TRUE(wait_for_task(rig, 0));
	ASSERT_TRUE(wait_for_task(rig, 1));
	start(rig, 1, spin, 1, 0);
	ASSERT_EQ(0, kill_ctx(rig, 1));
	ASSERT_TRUE(wait_idle(rig, 0));
	EXPECT_EQ(SALVO_SLOT_DETACHED, slot_at(rig, 0)->status);
	*word_at(rig, 1) = 1;
	ASSERT_TRUE(wait_idle(rig, 1));
	EXPECT_EQ(SALVO_SLOT_DONE, slot_at(rig, 1)->status);
	EXPECT_EQ(SALVO_SLOT_DONE, run_task(rig, 1, add_word, 2, 3));
	EXPECT_EQ(3, *word_at(rig, 2));
	/* Its number is free. */
	EXPECT_EQ(SALVO_STATUS_DONE, attach(rig, 0));
	EXPECT_EQ(SALVO_SLOT_DONE, run_task(rig, 0, add_word, 3, 3));
	expect_others_right(_metadata, rig, 1);
}

TEST_F_TIMEOUT(spaces, kill_of_the_only_context, 120)
{
	struct rig *rig = self->rig;

	ASSERT_EQ(SALVO_STATUS_DONE, attach(rig, 0));
	start(rig, 0, spin, 0, 0);
	ASSERT_TRUE(wait_for_task(rig, 0));
	ASSERT_EQ(0, kill_ctx(rig, 1));
	slot_at(rig, 0)->doorbell = 0;
	ASSERT_EQ(SALVO_STATUS_DONE, attach(rig, 0));
	EXPECT_EQ(SALVO_SLOT_DONE, run_task(rig, 0, add_word, 3, 3));
}

static void kill_process(void *cookie, const char *pid)
{
	kill(atoi(pid), SIGKILL);
}

TEST_F_TIMEOUT(spaces, process_that_dies_loses_its_slots, 120)
{
	struct rig *rig = self->rig;

	ASSERT_EQ(SALVO_STATUS_DONE, attach(rig, 0));
	start(rig, 0, spin, 0, 0);
	ASSERT_TRUE(wait_for_task(rig, 0));
	for_processes("salvo-space", kill_process, NULL);
	ASSERT_TRUE(wait_idle(rig, 0));
	EXPECT_EQ(SALVO_SLOT_DETACHED, slot_at(rig, 0)->status);
	expect_others_right(_metadata, rig, 1);
	EXPECT_EQ(SALVO_STATUS_DONE, detach(rig, 0));
	ASSERT_EQ(SALVO_STATUS_DONE, attach(rig, 0));
	EXPECT_EQ(SALVO_SLOT_DONE, run_task(rig, 0, add_word, 3, 3));
}

/* --- a process that does not show what runs */

struct forger {
	struct salvo_space_block *block;
	/** @hides: It shows that nothing runs, instead of one task after the other. */
	bool hides;
	_Atomic bool stop;
	pthread_t thread;
};

/* What a kernel can do that has found the block of its process. */
static void *forge(void *arg)
{
	struct forger *forger = arg;
	uint32_t number = 1;

	while (!atomic_load(&forger->stop)) {
		atomic_store(&forger->block->slots[0].running, forger->hides ? 0 : ++number);
		usleep(100);
	}
	return NULL;
}

/* A mapping of the block of the process that runs a task of slot 0, which outlives it. */
static struct salvo_space_block *map_block(void)
{
	struct salvo_space_block *block = NULL;
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long from, to;
	char line[256];

	while (!block && maps && fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "salvo-block") || sscanf(line, "%lx-%lx", &from, &to) != 2)
			continue;
		if (!atomic_load(&((struct salvo_space_block *)from)->slots[0].running))
			continue;
		block = mremap((void *)from, 0, sizeof(*block), MREMAP_MAYMOVE);
	}
	if (maps)
		fclose(maps);
	return block == MAP_FAILED ? NULL : block;
}

static void start_forger(struct __test_metadata *_metadata, struct forger *forger)
{
	forger->block = map_block();
	ASSERT_NE(NULL, forger->block);
	ASSERT_EQ(0, pthread_create(&forger->thread, NULL, forge, forger));
}

static void stop_forger(struct forger *forger)
{
	atomic_store(&forger->stop, true);
	pthread_join(forger->thread, NULL);
	munmap(forger->block, sizeof(*forger->block));
}

/* Counts how often it begins, and does not end until the second word is not 0. */
RIG_KERNEL static void count_and_spin(RIG_KERNEL_ARGS)
{
	volatile uint64_t *word = ((const struct word_args *)args)->word;

	word[0]++;
	while (!word[1])
		;
}

/* The driver would take it for many tasks, each within the time limit. */
TEST_F_TIMEOUT(spaces, W7_task_that_makes_up_numbers_ends, 200)
{
	struct forger forger = { .hides = false };
	const time_t deadline = time(NULL) + 150;
	struct rig *rig = self->rig;

	ASSERT_EQ(SALVO_STATUS_DONE, attach(rig, 0));
	start(rig, 0, spin, 0, 0);
	ASSERT_TRUE(wait_for_task(rig, 0));
	start_forger(_metadata, &forger);
	while (slot_at(rig, 0)->status != SALVO_SLOT_DETACHED && time(NULL) < deadline) {
		salvo_gpu_heartbeat(rig->gpu);
		usleep(10000);
	}
	EXPECT_EQ(SALVO_SLOT_DETACHED, slot_at(rig, 0)->status);
	stop_forger(&forger);
	expect_others_right(_metadata, rig, 1);
}

TEST_F_TIMEOUT(spaces, W7_task_that_is_hidden_is_lost, 200)
{
	volatile uint64_t *word = word_at(self->rig, 0);
	struct forger forger = { .hides = true };
	const time_t deadline = time(NULL) + 150;
	struct rig *rig = self->rig;

	ASSERT_EQ(SALVO_STATUS_DONE, attach(rig, 0));
	start(rig, 0, count_and_spin, 0, 0);
	ASSERT_TRUE(wait_for_task(rig, 0));
	start_forger(_metadata, &forger);
	while (word[0] < 2 && time(NULL) < deadline) {
		salvo_gpu_heartbeat(rig->gpu);
		usleep(10000);
	}
	EXPECT_EQ(2, word[0]);
	stop_forger(&forger);
	/* The next process shows it. */
	EXPECT_TRUE(wait_for_task(rig, 0));
	word[1] = 1;
	ASSERT_TRUE(wait_idle(rig, 0));
	EXPECT_EQ(SALVO_SLOT_DONE, slot_at(rig, 0)->status);
}

/* Tasks run on, each once, in one process after the other. */
TEST_F_TIMEOUT(spaces, tasks_and_audits, 200)
{
	const time_t deadline = time(NULL) + 150;
	struct rig *rig = self->rig;
	uint32_t seq = 0, last = 0;
	unsigned int processes = 1;
	uint64_t tasks = 0;

	ASSERT_EQ(SALVO_STATUS_DONE, attach(rig, 0));
	while (processes < 3 && time(NULL) < deadline) {
		ASSERT_EQ(SALVO_SLOT_DONE, run_task(rig, 0, add_word, 0, 1));
		ASSERT_EQ(++tasks, *word_at(rig, 0));
		if (++seq % 1000)
			continue;
		salvo_gpu_heartbeat(rig->gpu);
		start(rig, 0, spin, 1, 0);
		ASSERT_TRUE(wait_for_task(rig, 0));
		/* Each process counts from 1. */
		processes += rig->regs->slot_task[0] < last;
		last = rig->regs->slot_task[0];
		*word_at(rig, 1) = 1;
		ASSERT_TRUE(wait_idle(rig, 0));
		*word_at(rig, 1) = 0;
	}
	EXPECT_EQ(3, processes);
	expect_others_right(_metadata, rig, 1);
}

/* No audit meanwhile: tasks would wait for the batch, which may wait for one of them. */
TEST_F_TIMEOUT(spaces, tasks_run_while_a_batch_runs_for_long, 200)
{
	const time_t end = time(NULL) + 5;
	struct rig *rig = self->rig;
	const struct word_args args = { (void *)(uintptr_t)word_address(rig, 1), 0 };
	struct drm_salvo_command command = rig_dispatch(rig, spin, 1, 1, 0, sizeof(args));
	uint64_t seqno, tasks = 0;

	command.eu_mask = 2;
	ASSERT_EQ(SALVO_STATUS_DONE, attach(rig, 0));
	seqno = submit_to(rig, RIG_ASID, &command, &args, sizeof(args));
	while (time(NULL) < end) {
		ASSERT_EQ(SALVO_SLOT_DONE, run_task(rig, 0, add_word, 0, 1));
		ASSERT_EQ(++tasks, *word_at(rig, 0));
		if (!(tasks % 1000))
			salvo_gpu_heartbeat(rig->gpu);
	}
	EXPECT_GT(seqno, rig_fence(rig, 0));
	*word_at(rig, 1) = 1;
	ASSERT_TRUE(rig_wait(rig, seqno));
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(rig, seqno)->status);
}

/* --- the order in which a unit serves its slots */

static uint32_t attach_with_priority(struct rig *rig, unsigned int number, int32_t priority)
{
	struct salvo_pack_slot slot = slot_of(rig, number);

	slot.ctx = number + 1;
	slot.priority = priority;
	if (attach_as(rig, &slot, RIG_ASID) != SALVO_STATUS_DONE)
		return ~0u;
	/* Afterwards the unit serves it. */
	return run_task(rig, number, add_word, 2, 1);
}

/* The first task keeps the unit busy until the others are there. */
TEST_F_TIMEOUT(spaces, W5_task_of_the_highest_priority_is_next, 120)
{
	static const int32_t priority[] = { 0, 0, -1, 1, 0 };
	static const unsigned int order[] = { 3, 1, 4, 2 };
	struct rig *rig = self->rig;
	unsigned int i;

	for (i = 0; i < 5; i++)
		ASSERT_EQ(SALVO_SLOT_DONE, attach_with_priority(rig, i, priority[i]));
	start(rig, 0, spin, 0, 0);
	ASSERT_TRUE(wait_for_task(rig, 0));
	for (i = 1; i < 5; i++)
		start(rig, i, take_turn, 1, i);
	*word_at(rig, 0) = 1;
	for (i = 0; i < 5; i++)
		ASSERT_TRUE(wait_idle(rig, i));
	ASSERT_EQ(4, *word_at(rig, 1));
	for (i = 0; i < 4; i++)
		EXPECT_EQ(order[i], word_at(rig, 1)[TURNS_LOG + i]);
}

/*
 * Each task rings the slots of all others before the unit looks for the next one. The one of the
 * highest priority is next each time, and the others take turns.
 */
TEST_F_TIMEOUT(spaces, W5_slots_of_one_priority_take_turns, 120)
{
	const time_t deadline = time(NULL) + 60;
	struct rig *rig = self->rig;
	unsigned int i;

	for (i = 0; i < 4; i++)
		ASSERT_EQ(SALVO_SLOT_DONE, attach_with_priority(rig, i, i == 3));
	word_at(rig, 1)[1] = rig->data_address + SLOT_AT;
	for (i = 1; i < 4; i++)
		store_task(rig, i, take_turn, 1, i | (15 & ~(1u << i)) << 8);
	start(rig, 0, take_turn, 1, 14 << 8);
	while (*word_at(rig, 1) <= TURNS && time(NULL) < deadline)
		sched_yield();
	ASSERT_LT(TURNS, *word_at(rig, 1));
	for (i = 0; i < 4; i++)
		ASSERT_TRUE(wait_idle(rig, i));
	for (i = 0; i < TURNS; i++)
		EXPECT_EQ(i % 2 ? 3 : i / 2 % 3, word_at(rig, 1)[TURNS_LOG + i]);
}

TEST_F_TIMEOUT(spaces, end_of_the_address_space_and_reset_end_tasks, 120)
{
	const uint32_t rw = SALVO_ACCESS_READ | SALVO_ACCESS_WRITE;
	struct rig *rig = self->rig;
	struct salvo_pack_slot slot = slot_of(rig, 0);

	slot.address = rig->data_address + OTHER_AT;
	ASSERT_EQ(SALVO_STATUS_DONE, attach_as(rig, &slot, OTHER));
	ASSERT_EQ(SALVO_STATUS_DONE, attach(rig, 1));
	start(rig, 1, spin, 0, 0);
	ASSERT_TRUE(wait_for_task(rig, 1));
	EXPECT_EQ(SALVO_STATUS_DONE, rig_space(rig, OTHER, SALVO_OP_SPACE_END, 0, 0, 0));
	EXPECT_EQ(SALVO_STATUS_DONE, rig_space(rig, RIG_ASID, SALVO_OP_SPACE_END, 0, 0, 0));
	rig_reset(rig);
	ASSERT_EQ(SALVO_STATUS_DONE, rig_space(rig, RIG_ASID, SALVO_OP_BIND, rig->code_address,
					       RIG_CODE_BYTES,
					       SALVO_ACCESS_READ | SALVO_ACCESS_EXEC));
	ASSERT_EQ(SALVO_STATUS_DONE, rig_space(rig, RIG_ASID, SALVO_OP_BIND, rig->data_address,
					       OTHER_AT, rw));
	slot_at(rig, 1)->doorbell = 0;
	ASSERT_EQ(SALVO_STATUS_DONE, attach(rig, 1));
	start(rig, 1, spin, 0, 0);
	ASSERT_TRUE(wait_for_task(rig, 1));
	rig_reset(rig);
	EXPECT_EQ(0, rig->regs->slot_task[1]);
}

TEST_HARNESS_MAIN
