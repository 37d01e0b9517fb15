// SPDX-License-Identifier: MIT
/*
 * block.c - kernels in native code that corrupt what their process shares with the device
 *
 * The block (space_block.h) is the only memory of the device that a kernel can write. The hostile
 * kernel writes every harmful value to every word while packets are in flight. Its own batch may
 * end with any status, or is killed as the driver would do it. The other address space must compute
 * the right result, no fault may be attributed to it, and the device must keep working. If the
 * environment variable SALVO_ROUNDS is at least the number of combinations, all are tested;
 * otherwise every n-th, for ROUNDS or SALVO_ROUNDS rounds.
 */
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include "element.h"
#include "gpu.h"
#include "group.h"
#include "space_block.h"
#include "spaces_fixture.h"

#define ROUNDS	300u
/* Words of the packet area that are overwritten: more than the packets of this test take */
#define PACKET_WORDS	256u
#define GOODS	10u

struct lie_args {
	/* Write @value to @words 32-bit words from @at on, @times times. */
	uint64_t at, words;
	uint64_t value;
	uint64_t times;
	/* Then loop forever. */
	uint64_t stays;
};

RIG_KERNEL static void lie(RIG_KERNEL_ARGS)
{
	const struct salvo_runner *runner =
		(const void *)((const char *)group - offsetof(struct salvo_runner, group));
	volatile uint32_t *block = (volatile uint32_t *)runner->chunk.element->job->jobs->regs;
	const struct lie_args lie = *(const struct lie_args *)args;
	uint64_t i, n;

	for (n = 0; n < lie.times; n++) {
		for (i = 0; i < lie.words; i++)
			block[lie.at / 4 + i] = lie.value;
		for (i = 0; i < 200; i++)
			__builtin_ia32_pause();
	}
	while (lie.stays)
		__builtin_ia32_pause();
}

/* Overwrites the whole block again and again, as often as asked. */
RIG_KERNEL static void scribble(RIG_KERNEL_ARGS)
{
	const struct salvo_runner *runner =
		(const void *)((const char *)group - offsetof(struct salvo_runner, group));
	volatile uint32_t *block = (volatile uint32_t *)runner->chunk.element->job->jobs->regs;
	const struct lie_args lie = *(const struct lie_args *)args;
	uint64_t random = lie.value, i;

	for (i = 0; i < lie.times; i++) {
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		block[(random >> 33) % lie.words] = random >> 16;
	}
}

struct desert_args {
	/* Result to report in the first slot of the ring, unless 0 */
	uint64_t status, fault, command;
};

/* Reports all batches as done and wakes the device, then loops forever on all units. */
RIG_KERNEL static void desert(RIG_KERNEL_ARGS)
{
	const struct salvo_runner *runner =
		(const void *)((const char *)group - offsetof(struct salvo_runner, group));
	struct salvo_space_block *block = (void *)runner->chunk.element->job->jobs->regs;
	volatile struct salvo_packet_result *how = &block->results[0][0];
	const struct desert_args *a = args;
	uint64_t result;

	how->status = a->status;
	how->fault = a->fault;
	how->command = a->command;
	__atomic_store_n(&block->regs.ring[0].fence, ~0ull, __ATOMIC_RELEASE);
	atomic_fetch_add(&block->completion_seq, 1);
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(SYS_futex), "D"(&block->completion_seq), "S"(FUTEX_WAKE), "d"(1)
			 : "rcx", "r11", "memory");
	for (;;)
		__builtin_ia32_pause();
}

static uint64_t submit_lie(struct rig *rig, salvo_kernel_fn fn, const struct lie_args *args)
{
	const struct drm_salvo_command command = rig_dispatch(rig, fn, 1, 1, 0, sizeof(*args));

	return submit_to(rig, RIG_ASID, &command, args, sizeof(*args));
}

/* Every fault is attributed to the hostile address space. */
static void expect_only_the_liar_blamed(struct __test_metadata *_metadata, struct rig *rig)
{
	if (rig->regs->fault.sequence)
		ASSERT_EQ(RIG_ASID, rig->regs->fault.asid);
}

/* The next batch of the hostile address space runs in a new process: its bindings have changed. */
static void start_anew(struct __test_metadata *_metadata, struct rig *rig)
{
	const uint64_t page = rig->data_address + OTHER_AT;

	ASSERT_EQ(SALVO_STATUS_DONE, unbind(rig, rig->data_address, OTHER_AT));
	ASSERT_EQ(SALVO_STATUS_DONE, rig_space(rig, RIG_ASID, SALVO_OP_BIND, rig->data_address,
					       page - rig->data_address,
					       SALVO_ACCESS_READ | SALVO_ACCESS_WRITE));
}

static const struct part {
	size_t at, bytes;
} parts[] = {
	{ offsetof(struct salvo_space_block, regs), sizeof(struct salvo_regs) },
	{ offsetof(struct salvo_space_block, doorbell_seq),
	  offsetof(struct salvo_space_block, entries) -
		  offsetof(struct salvo_space_block, doorbell_seq) },
	{ offsetof(struct salvo_space_block, entries),
	  sizeof(((struct salvo_space_block *)0)->entries) },
	{ offsetof(struct salvo_space_block, results),
	  sizeof(((struct salvo_space_block *)0)->results) },
	{ offsetof(struct salvo_space_block, packets), 4 * PACKET_WORDS },
	{ offsetof(struct salvo_space_block, packets[1]), 4 * PACKET_WORDS },
};

#define PARTS (sizeof(parts) / sizeof(parts[0]))
/* 0, 1, all ones, the sign bit, a random value; and all ones in two adjacent words */
#define VALUES 6u

static unsigned int count_words(void)
{
	unsigned int i, words = 0;

	for (i = 0; i < PARTS; i++)
		words += parts[i].bytes / 4;
	return words;
}

static struct lie_args nth_lie(unsigned int n, unsigned int *seed)
{
	const unsigned int value = n % VALUES;
	unsigned int word = n / VALUES, i;
	struct lie_args lie = { .words = 1, .times = 3 };

	for (i = 0; word >= parts[i].bytes / 4; i++)
		word -= parts[i].bytes / 4;
	lie.at = parts[i].at + 4 * word;
	switch (value) {
	case 0:
		break;
	case 1:
		lie.value = 1;
		break;
	case 2:
		lie.value = ~0u;
		break;
	case 3:
		lie.value = 1u << 31;
		break;
	case 4:
		lie.value = rand_r(seed);
		break;
	default:
		lie.value = ~0u;
		lie.words = word % 2 ? 1 : 2;
	}
	return lie;
}

TEST_F_TIMEOUT(spaces, every_word_of_the_block_may_be_a_lie, 7200)
{
	const char *wanted = getenv("SALVO_ROUNDS");
	const unsigned int all = count_words() * VALUES;
	unsigned int rounds = wanted ? strtoul(wanted, NULL, 10) : ROUNDS, i, seed = 5;
	struct rig *rig = self->rig;

	if (rounds > all)
		rounds = all;
	for (i = 0; i < rounds; i++) {
		const unsigned int n = (uint64_t)i * all / rounds;
		const struct lie_args args = nth_lie(n, &seed);
		const uint64_t before = submit_good(rig, n);
		const uint64_t liar = submit_lie(rig, lie, &args);
		const uint64_t after = submit_good(rig, n);

		end_somehow(_metadata, rig, liar);
		expect_good(_metadata, rig, before, n);
		expect_good(_metadata, rig, after, n);
		ASSERT_NE(SALVO_STATUS_PENDING, rig_result(rig, liar)->status)
			TH_LOG("value %lx at %lx", args.value, args.at);
		expect_only_the_liar_blamed(_metadata, rig);
		if (i % 16 == 15)
			start_anew(_metadata, rig);
	}
	rig_reset(rig);
	EXPECT_EQ(0, count_spaces());
}

TEST_F(spaces, all_of_the_block_may_change_all_the_time)
{
	struct lie_args args = {
		.words = sizeof(struct salvo_space_block) / 4, .times = 300000, .value = 3,
	};
	struct rig *rig = self->rig;
	uint64_t liar, good[GOODS];
	unsigned int round, i;

	for (round = 0; round < 8; round++) {
		/* Registers, doorbell and rings; in odd rounds the whole block. */
		args.words = round % 2 ? sizeof(struct salvo_space_block) / 4 :
					 offsetof(struct salvo_space_block, packets) / 4;
		liar = submit_lie(rig, scribble, &args);
		for (i = 0; i < GOODS; i++)
			good[i] = submit_good(rig, round);
		/* Fences retire in the order of the ring. */
		end_somehow(_metadata, rig, liar);
		for (i = 0; i < GOODS; i++)
			expect_good(_metadata, rig, good[i], round);
		expect_only_the_liar_blamed(_metadata, rig);
		args.value += round;
	}
	rig_reset(rig);
	EXPECT_EQ(0, count_spaces());
}

static bool beat_until_spaces(struct rig *rig, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < 100 && count_spaces() != count; i++) {
		usleep(50000);
		salvo_gpu_heartbeat(rig->gpu);
	}
	return count_spaces() == count;
}

/* Its batch is done, so the driver does not request a kill. */
TEST_F(spaces, who_says_that_it_is_done_and_goes_on_is_ended)
{
	const struct desert_args args = { 0 };
	const struct drm_salvo_command command = rig_dispatch(self->rig, desert, 64, 1, 0,
							      sizeof(args));
	struct rig *rig = self->rig;
	unsigned int i;

	expect_others_right(_metadata, rig, 1);
	ASSERT_NE(~0u, run_in(rig, RIG_ASID, &command, &args, sizeof(args)));
	ASSERT_EQ(2, count_spaces());
	EXPECT_TRUE(beat_until_spaces(rig, 1));
	/* The other process is idle and must survive. */
	for (i = 0; i < 10; i++) {
		usleep(20000);
		salvo_gpu_heartbeat(rig->gpu);
	}
	EXPECT_EQ(1, count_spaces());
	expect_others_right(_metadata, rig, 2);
	expect_only_the_liar_blamed(_metadata, rig);
}

/* A result that a process reports counts only where it is possible. */
TEST_F(spaces, who_lies_about_how_a_batch_ended_is_believed_only_what_can_be)
{
	static const struct {
		struct desert_args says;
		uint32_t status, fault, command;
	} cases[] = {
		{ { SALVO_STATUS_BAD_PACKET, SALVO_FAULT_PACKET, 0 },
		  SALVO_STATUS_BAD_PACKET, SALVO_FAULT_PACKET, 0 },
		{ { SALVO_STATUS_BAD_PACKET, SALVO_FAULT_PACKET, SALVO_FAULT_NO_COMMAND },
		  SALVO_STATUS_BAD_PACKET, SALVO_FAULT_PACKET, SALVO_FAULT_NO_COMMAND },
		{ { SALVO_STATUS_BAD_PACKET, SALVO_FAULT_PACKET, 1 },
		  SALVO_STATUS_FAULT, SALVO_FAULT_KERNEL, SALVO_FAULT_NO_COMMAND },
		{ { SALVO_STATUS_BAD_PACKET, SALVO_FAULT_DMA, 0 },
		  SALVO_STATUS_FAULT, SALVO_FAULT_KERNEL, SALVO_FAULT_NO_COMMAND },
		{ { SALVO_STATUS_FAULT, SALVO_FAULT_PACKET, 0 },
		  SALVO_STATUS_FAULT, SALVO_FAULT_KERNEL, SALVO_FAULT_NO_COMMAND },
		{ { SALVO_STATUS_FAULT, SALVO_FAULT_PAGE, 0 },
		  SALVO_STATUS_FAULT, SALVO_FAULT_PAGE, 0 },
		{ { SALVO_STATUS_FAULT, SALVO_FAULT_PAGE, 1 },
		  SALVO_STATUS_FAULT, SALVO_FAULT_KERNEL, SALVO_FAULT_NO_COMMAND },
		{ { 77, 0, 0 }, SALVO_STATUS_FAULT, SALVO_FAULT_KERNEL, SALVO_FAULT_NO_COMMAND },
	};
	struct rig *rig = self->rig;
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct drm_salvo_command command =
			rig_dispatch(rig, desert, 1, 1, 0, sizeof(cases[i].says));

		EXPECT_EQ(cases[i].status, run_in(rig, RIG_ASID, &command, &cases[i].says,
						  sizeof(cases[i].says))) TH_LOG("%u", i);
		EXPECT_EQ(cases[i].fault, rig_result(rig, rig->seqno)->fault) TH_LOG("%u", i);
		EXPECT_EQ(cases[i].command, rig_result(rig, rig->seqno)->command) TH_LOG("%u", i);
		start_anew(_metadata, rig);
	}
	expect_others_right(_metadata, rig, 3);
	expect_only_the_liar_blamed(_metadata, rig);
}

TEST_HARNESS_MAIN
