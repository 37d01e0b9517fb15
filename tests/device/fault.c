// SPDX-License-Identifier: MIT
/*
 * fault.c - how faults of kernels are classified and reported in a batch's result
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "fault.h"
#include "gpu_fixture.h"

/* Written by the GPU */
#define READ(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)

struct bad_args {
	uint8_t *address;
	uint32_t how;
	uint32_t item;
};

/* Item @item of each group executes an invalid operation. */
RIG_KERNEL static void bad(RIG_KERNEL_ARGS)
{
	const struct bad_args *a = args;
	volatile uint8_t frame[64];
	uint64_t i;

	if (item && item->local_id[0] != a->item)
		return;
	switch (a->how) {
	case 0:
		*(volatile uint8_t *)a->address = 1;
		break;
	case 1:
		(void)*(volatile uint8_t *)a->address;
		break;
	case 2:
		__asm__ volatile("xor %%ecx, %%ecx; div %%ecx" ::: "eax", "ecx", "edx");
		break;
	case 3:
		__asm__ volatile("ud2");
		break;
	case 4:
		__asm__ volatile("hlt");
		break;
	case 5:
		__asm__ volatile("int3");
		break;
	case 6:
		__asm__ volatile("mov $0x1b3, %%ecx; rdmsr" ::: "eax", "ecx", "edx");
		break;
	case 7:
		for (i = 0;; i++)
			*(frame - i) = 1;
		break;
	case 8:
		__asm__ volatile("int $0x42");
		break;
	}
}

static struct drm_salvo_command bad_command(struct rig *rig, bool barriers)
{
	struct drm_salvo_command command = rig_dispatch(rig, bad, 24, 8, 0,
							sizeof(struct bad_args));

	if (barriers)
		command.flags = DRM_SALVO_DISPATCH_BARRIERS;
	command.eu_mask = 1;
	return command;
}

TEST_F(gpu, each_kind_of_fault_has_a_name)
{
	static const struct {
		uint32_t how, kind;
		uint64_t address;
	} cases[] = {
		{ 0, SALVO_FAULT_PAGE, 0x10000 }, { 1, SALVO_FAULT_PAGE, 0x10000 },
		/* A non-canonical address: the processor does not report it. */
		{ 0, SALVO_FAULT_PAGE, 1ull << 55 },
		{ 2, SALVO_FAULT_ARITHMETIC, 0 }, { 3, SALVO_FAULT_INSTRUCTION, 0 },
		{ 4, SALVO_FAULT_INSTRUCTION, 0 }, { 5, SALVO_FAULT_INSTRUCTION, 0 },
		{ 6, SALVO_FAULT_INSTRUCTION, 0 }, { 7, SALVO_FAULT_STACK, 0 },
		{ 8, SALVO_FAULT_INSTRUCTION, 0 },
	};
	struct rig *rig = self->rig;
	unsigned int i, barriers;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (barriers = 0; barriers < 2; barriers++) {
			const struct bad_args args = {
				(void *)cases[i].address, cases[i].how, 5,
			};
			const struct drm_salvo_command command = bad_command(rig, barriers);
			const struct salvo_packet_result *result = rig_result(rig, rig->seqno + 1);

			/*
			 * Below item 0's stack there is no other stack; for other items the canary
			 * shows it.
			 */
			ASSERT_EQ(SALVO_STATUS_FAULT,
				  rig_run(rig, &command, 1, &args, sizeof(args)))
				TH_LOG("case %u", i);
			EXPECT_EQ(cases[i].kind, result->fault)
				TH_LOG("case %u", i);
			EXPECT_EQ(rig->regs->fault.kind, result->fault);
			EXPECT_EQ(rig->regs->fault.address, result->address);
			EXPECT_EQ(rig->regs->fault.access, result->access);
			if (cases[i].how < 2 && cases[i].address < 1ull << 47)
				EXPECT_EQ(cases[i].address, result->address);
			EXPECT_EQ(0, result->group);
			EXPECT_EQ(barriers ? 5 : ~0u, result->item)
				TH_LOG("case %u", i);
		}
	}
}

TEST_F(gpu, M6_stray_access_names_command_item_address_and_nearest_allocation)
{
	struct rig *rig = self->rig;
	const uint64_t past = rig->data_address + RIG_DATA_BYTES;
	const struct {
		uint64_t address, nearest, bytes;
	} cases[] = {
		{ past, rig->data_address, RIG_DATA_BYTES },
		{ past + 100000, rig->data_address, RIG_DATA_BYTES },
		{ rig->code_address - 1, rig->code_address, RIG_CODE_BYTES },
		{ rig->code_address + 8, rig->code_address, RIG_CODE_BYTES },
	};
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct bad_args args = { (void *)cases[i].address, 0, 3 };
		struct drm_salvo_command commands[] = {
			{ .type = DRM_SALVO_FILL, .dst = rig->data_address, .size = 4 },
			bad_command(rig, true),
			rig_pair(1, 0),
		};
		const struct salvo_packet_result *result = rig_result(rig, rig->seqno + 1);

		ASSERT_EQ(SALVO_STATUS_FAULT, rig_run(rig, commands, 3, &args, sizeof(args)))
			TH_LOG("case %u", i);
		EXPECT_EQ(1, result->command);
		EXPECT_EQ(1, result->done);
		EXPECT_EQ(3, result->item);
		EXPECT_EQ(cases[i].address, result->address);
		EXPECT_EQ(SALVO_ACCESS_WRITE, result->access);
		EXPECT_EQ(cases[i].nearest, rig->regs->fault.nearest);
		EXPECT_EQ(cases[i].bytes, rig->regs->fault.nearest_bytes);
	}
}

TEST_F(gpu, result_counts_the_commands_that_ended_well)
{
	struct rig *rig = self->rig;
	const struct bad_args args = { NULL, 3, 0 };
	struct drm_salvo_command commands[40];
	uint64_t seqno;
	unsigned int i;

	for (i = 0; i < 40; i++)
		commands[i] = (struct drm_salvo_command){
			.type = DRM_SALVO_FILL, .dst = rig->data_address + 4 * i, .size = 4,
		};
	seqno = rig->seqno + 1;
	ASSERT_EQ(SALVO_STATUS_DONE, rig_run(rig, commands, 40, NULL, 0));
	EXPECT_EQ(40, rig_result(rig, seqno)->done);
	EXPECT_EQ(SALVO_FAULT_NONE, rig_result(rig, seqno)->fault);

	commands[20] = rig_all();
	commands[21] = bad_command(rig, false);
	commands[22] = rig_all();
	seqno = rig->seqno + 1;
	ASSERT_EQ(SALVO_STATUS_FAULT, rig_run(rig, commands, 40, &args, sizeof(args)));
	EXPECT_EQ(20, rig_result(rig, seqno)->done);

	/* Coalesced with others into one queue entry */
	for (i = 0; i < 40; i++)
		commands[i] = (struct drm_salvo_command){
			.type = DRM_SALVO_FILL, .dst = rig->data_address + 4 * i, .size = 4,
		};
	commands[30] = bad_command(rig, false);
	commands[30].eu_mask = 0;
	seqno = rig_submit(rig, 1, &(struct salvo_batch_desc){
		.commands = commands, .count = 40, .args = &args, .args_size = sizeof(args),
	});
	ASSERT_TRUE(rig_wait(rig, seqno));
	EXPECT_EQ(SALVO_STATUS_FAULT, rig_result(rig, seqno)->status);
	EXPECT_EQ(30, rig_result(rig, seqno)->command);
	EXPECT_EQ(39, rig_result(rig, seqno)->done);
}

struct wait_args {
	uint64_t *go;
	uint64_t *running;
};

RIG_KERNEL static void wait_for_go(RIG_KERNEL_ARGS)
{
	const struct wait_args *a = args;

	__atomic_store_n(a->running, 1, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(a->go, __ATOMIC_SEQ_CST))
		__builtin_ia32_pause();
}

/* Commands of one batch, of which the first faults; those from GATE on wait for each other. */
enum { FAULTS, APART, GATE = APART + 20, CHAIN, WAITS = CHAIN + 20, BEHIND, ALL };

/* In different places, as dispatches need different ones */
struct neighbour_args {
	struct bad_args bad;
	struct wait_args wait __attribute__((aligned(16)));
};

/* WAITS waits for the fault, too. */
static unsigned int add_neighbours(struct rig *rig, struct drm_salvo_command *commands)
{
	unsigned int count = ALL, i;

	commands[FAULTS] = bad_command(rig, false);
	for (i = APART; i < ALL; i++)
		commands[i] = (struct drm_salvo_command){
			.type = DRM_SALVO_FILL, .dst = rig->data_address + 64 + 4 * i, .size = 4,
			.pattern = i,
		};
	commands[GATE] = rig_dispatch(rig, wait_for_go, 1, 1,
				      offsetof(struct neighbour_args, wait),
				      sizeof(struct wait_args));
	for (i = GATE + 1; i <= BEHIND; i++)
		commands[count++] = rig_pair(i, i - 1);
	commands[count++] = rig_pair(WAITS, FAULTS);
	return count;
}

static void run_neighbours(struct __test_metadata *_metadata, FIXTURE_DATA(gpu) *self,
			   const struct drm_salvo_command *commands, unsigned int count)
{
	const struct neighbour_args args = {
		.bad = { NULL, 3, 0 }, .wait = { self->gpu_data, self->gpu_data + 1 },
	};
	const struct salvo_batch_desc batch = {
		.commands = commands, .count = count, .args = &args, .args_size = sizeof(args),
	};
	uint64_t seqno;

	memset(self->data, 0, 64 + 4 * ALL);
	seqno = rig_submit(self->rig, 1, &batch);
	while (!__atomic_load_n(&self->data[1], __ATOMIC_SEQ_CST))
		sched_yield();
	/* The fault comes first; if not, the test still passes. */
	usleep(2000);
	__atomic_store_n(&self->data[0], 1, __ATOMIC_SEQ_CST);
	ASSERT_TRUE(rig_wait(self->rig, seqno));
	EXPECT_EQ(SALVO_STATUS_FAULT, rig_result(self->rig, seqno)->status);
	EXPECT_EQ(FAULTS, rig_result(self->rig, seqno)->command);
	EXPECT_EQ(WAITS - APART, rig_result(self->rig, seqno)->done);
}

TEST_F(gpu, a_fault_takes_along_what_waits_for_it_and_nothing_else)
{
	const uint32_t *words = (const uint32_t *)self->data + 16;
	struct drm_salvo_command commands[2 * ALL];
	const unsigned int count = add_neighbours(self->rig, commands);
	unsigned int round, i;

	for (round = 0; round < 5; round++) {
		run_neighbours(_metadata, self, commands, count);
		for (i = APART; i < ALL; i++)
			ASSERT_EQ(i < WAITS && i != GATE ? i : 0, words[i]);
	}
	/* A barrier waits for all, and all behind it for the barrier. */
	commands[WAITS] = rig_all();
	for (i = ALL; i < count; i++)
		commands[i] = commands[WAITS];
	run_neighbours(_metadata, self, commands, count);
	EXPECT_EQ(0, words[BEHIND]);
}

TEST_F(gpu, unit_registers_say_what_a_unit_runs)
{
	struct rig *rig = self->rig;
	const struct wait_args args = { self->gpu_data, self->gpu_data + 1 };
	struct drm_salvo_command commands[] = {
		{ .type = DRM_SALVO_FILL, .dst = rig->data_address + 64, .size = 4 },
		rig_dispatch(rig, wait_for_go, 1, 1, 0, sizeof(args)),
		rig_pair(1, 0),
	};
	const struct salvo_batch_desc batch = {
		.commands = commands, .count = 3, .args = &args, .args_size = sizeof(args),
	};
	const struct salvo_unit_regs *unit = &rig->regs->unit[0];
	uint64_t seqno;

	commands[1].eu_mask = 1;
	self->data[0] = 0;
	self->data[1] = 0;
	seqno = rig_submit(rig, 6, &batch);
	while (!__atomic_load_n(&self->data[1], __ATOMIC_SEQ_CST))
		sched_yield();
	/* Units of another process are sampled at the heartbeat. */
	salvo_gpu_heartbeat(rig->gpu);
	EXPECT_EQ(SALVO_UNIT_BUSY, READ(unit->state));
	EXPECT_EQ(6, READ(unit->ctx));
	EXPECT_EQ(RIG_ASID, READ(unit->asid));
	EXPECT_EQ(seqno, READ(unit->seqno));
	EXPECT_EQ(1, READ(unit->command));
	EXPECT_EQ(0, READ(unit->group));
	__atomic_store_n(&self->data[0], 1, __ATOMIC_SEQ_CST);
	ASSERT_TRUE(rig_wait(rig, seqno));
	rig_stop(rig);
	EXPECT_EQ(SALVO_UNIT_IDLE, unit->state);
}

struct writer {
	struct salvo_faults faults;
	_Atomic bool stop;
};

/* Writes faults one after the other, each with its number in every field. */
static void *write_faults(void *arg)
{
	struct writer *writer = arg;
	uint32_t n, i;

	for (n = 1; !atomic_load(&writer->stop); n++) {
		const struct salvo_fault fault = {
			.seqno = n, .address = n, .group = n, .kind = n, .asid = n, .ctx = n,
			.command = n, .access = n, .item = n, .nearest = n, .nearest_bytes = n,
		};

		salvo_fault_record(&writer->faults, &fault);
		for (i = 0; i < n % 64; i++)
			__builtin_ia32_pause();
	}
	return NULL;
}

/* As hardware.rst says: the copy is consistent if both sequence numbers are equal. */
static bool read_record(const struct salvo_fault_regs *record, struct salvo_fault_regs *copy)
{
	const uint64_t sequence = __atomic_load_n(&record->sequence, __ATOMIC_ACQUIRE);

	*copy = *(const volatile struct salvo_fault_regs *)record;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&record->begun, __ATOMIC_RELAXED) == sequence;
}

TEST(a_record_that_is_whole_is_of_one_fault)
{
	struct salvo_regs *regs = calloc(1, sizeof(*regs));
	struct writer writer = { .stop = false };
	struct salvo_fault_regs copy;
	unsigned int whole = 0;
	uint64_t last = 0;
	pthread_t thread;

	ASSERT_NE(NULL, regs);
	salvo_faults_init(&writer.faults, regs);
	ASSERT_EQ(0, pthread_create(&thread, NULL, write_faults, &writer));
	while (whole < 5000) {
		if (!read_record(&regs->fault, &copy) || copy.sequence == last)
			continue;
		whole++;
		last = copy.sequence;
		ASSERT_EQ(copy.seqno, copy.address);
		ASSERT_EQ(copy.seqno, copy.group);
		ASSERT_EQ(copy.seqno, copy.kind);
		ASSERT_EQ(copy.seqno, copy.item);
		ASSERT_EQ(copy.seqno, copy.nearest_bytes);
	}
	atomic_store(&writer.stop, true);
	pthread_join(thread, NULL);
	salvo_faults_fini(&writer.faults);
	free(regs);
}

TEST_HARNESS_MAIN
