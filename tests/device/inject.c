// SPDX-License-Identifier: MIT
/*
 * inject.c - fault injection: the text, and what the GPU then reports
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "gpu.h"
#include "gpu_fixture.h"
#include "inject.h"

TEST(all_faults_are_understood)
{
	struct salvo_inject inject;
	char why[SALVO_GPU_WHY] = "";

	EXPECT_EQ(0, salvo_inject_parse(&inject, "lost-irq@3,late-fence@5:200ms,wrong-seqno@6,"
					"wrong-seqno@7:-5,corrupt@8:magic,corrupt@8:head,"
					"corrupt@8:fence,crash@1000000000,bad-result@9,stuck-units@9", why));
	EXPECT_EQ(10, inject.count);
	EXPECT_EQ(5, inject.item[1].batch);
	EXPECT_EQ(200, inject.item[1].value);
	EXPECT_EQ(-5, inject.item[3].value);
	EXPECT_EQ(SALVO_INJECT_CRASH, inject.item[7].kind);
	EXPECT_EQ(SALVO_INJECT_BAD_RESULT, inject.item[8].kind);
	EXPECT_EQ(0, salvo_inject_parse(&inject, "", why));
	EXPECT_EQ(0, inject.count);
}

TEST(errors_name_the_fault_and_the_limit)
{
	static const struct {
		const char *text, *why;
	} wrong[] = {
		{ "crash", "'crash': unknown fault" },
		{ "crash@", "'crash@': batch: a number is missing" },
		{ "crash@0", "'crash@0': batch: not from 1 to 1000000000" },
		{ "crash@1000000001", "'crash@1000000001': batch: not from 1 to 1000000000" },
		{ "crash@99999999999999999999", "'crash@99999999999999999999': batch: not from 1 to 1000000000" },
		{ "crash@1 ", "'crash@1 ': unexpected ' '" },
		{ "crash@1,", "'': unknown fault" },
		{ "lost-irq@1,late-fence@2", "'late-fence@2': the time is missing, as in :200ms" },
		{ "late-fence@2:5", "'late-fence@2:5': time: ms is missing" },
		{ "late-fence@2:60001ms", "'late-fence@2:60001ms': time: not from 1 to 60000" },
		{ "wrong-seqno@1:5", "'wrong-seqno@1:5': difference: + or - is missing" },
		{ "wrong-seqno@1:+0", "'wrong-seqno@1:+0': difference: not from 1 to 1000000000" },
		{ "corrupt@1:tail", "'corrupt@1:tail': register: not :magic, :head or :fence" },
		{ "crash@1,crash@2,crash@3,crash@4,crash@5,crash@6,crash@7,crash@8,crash@9,"
		  "crash@10,crash@11,crash@12,crash@13,crash@14,crash@15,crash@16,crash@17",
		  "'crash@17': more than 16 faults" },
	};
	struct salvo_inject inject;
	char why[SALVO_GPU_WHY];
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		EXPECT_EQ(-EINVAL, salvo_inject_parse(&inject, wrong[i].text, why));
		EXPECT_STREQ(wrong[i].why, why);
	}
}

static char taken[64];

static void take(void *cookie, const char *line)
{
	strcat(strcat(taken, line ? line : "TOO LONG"), ";");
}

TEST(lines_are_read_whole)
{
	struct salvo_inject_control control = { .length = 0 };
	char many[1200];
	int pipes[2], i;

	ASSERT_EQ(0, pipe(pipes));
	memset(many, 'x', sizeof(many));
	ASSERT_EQ(7, write(pipes[1], "one\ntwo", 7));
	salvo_inject_control_read(&control, pipes[0], take, NULL);
	EXPECT_STREQ("one;", taken);
	ASSERT_EQ(2, write(pipes[1], "2\n", 2));
	salvo_inject_control_read(&control, pipes[0], take, NULL);
	EXPECT_STREQ("one;two2;", taken);
	ASSERT_EQ(sizeof(many), write(pipes[1], many, sizeof(many)));
	ASSERT_EQ(7, write(pipes[1], "\nthree\n", 7));
	for (i = 0; i < 3; i++)
		salvo_inject_control_read(&control, pipes[0], take, NULL);
	EXPECT_STREQ("one;two2;TOO LONG;three;", taken);
	close(pipes[0]);
	close(pipes[1]);
}

static uint64_t submit_fill(struct rig *rig, uint32_t pattern)
{
	const struct drm_salvo_command command = {
		.type = DRM_SALVO_FILL, .dst = rig->data_address, .size = 4096, .pattern = pattern,
	};

	return rig_submit(rig, 1, &(struct salvo_batch_desc){ .commands = &command, .count = 1 });
}

static int inject(struct rig *rig, const char *text)
{
	char why[SALVO_GPU_WHY];

	return salvo_gpu_inject(rig->gpu, text, why);
}

/* The fence register may be wrong, so wait for the batch's result. */
static bool wait_result(struct rig *rig, uint64_t seqno)
{
	int i;

	for (i = 0; i < 20000; i++) {
		if (rig_peek_status(rig, seqno))
			return true;
		usleep(1000);
	}
	return false;
}

static bool magic_is_right(const struct rig *rig)
{
	return __atomic_load_n(&rig->regs->magic, __ATOMIC_RELAXED) == SALVO_MAGIC;
}

TEST_F(gpu, an_interrupt_is_lost)
{
	struct rig *rig = self->rig;
	const uint32_t before = rig->fence_irqs;
	uint64_t seqno;

	EXPECT_EQ(-EINVAL, inject(rig, "lost-irq@0"));
	EXPECT_EQ(0, rig->fault_irqs);
	EXPECT_EQ(0, inject(rig, "lost-irq@2"));
	EXPECT_EQ(1, rig->fault_irqs);
	submit_fill(rig, 1);
	submit_fill(rig, 2);
	seqno = submit_fill(rig, 3);
	EXPECT_TRUE(rig_wait(rig, seqno));
	rig_stop(rig);
	EXPECT_EQ(before + 2, rig->fence_irqs);
}

TEST_F(gpu, a_fence_is_late_and_so_are_those_after_it)
{
	struct rig *rig = self->rig;
	uint64_t first, last;
	int i;

	EXPECT_EQ(0, inject(rig, "late-fence@2:100ms"));
	first = submit_fill(rig, 1);
	EXPECT_TRUE(rig_wait(rig, first));
	submit_fill(rig, 2);
	last = submit_fill(rig, 3);
	/* The fence is delayed until a heartbeat comes, however late that is. */
	usleep(150000);
	EXPECT_EQ(first, rig_fence(rig, 0));
	for (i = 0; i < 200 && rig_fence(rig, 0) != last; i++) {
		salvo_gpu_heartbeat(rig->gpu);
		usleep(10000);
	}
	EXPECT_EQ(last, rig_fence(rig, 0));
}

TEST_F(gpu, a_reset_does_not_wait_for_a_late_fence)
{
	struct rig *rig = self->rig;

	EXPECT_EQ(0, inject(rig, "late-fence@1:60000ms,late-fence@2:60000ms"));
	submit_fill(rig, 1);
	submit_fill(rig, 2);
	rig_reset(rig);
	EXPECT_EQ(0, rig_fence(rig, 0));
}

static uint32_t batches_counted(struct rig *rig)
{
	struct salvo_gpu_jobs *jobs = &rig->gpu->jobs;
	uint32_t count;

	pthread_mutex_lock(&jobs->lock);
	count = jobs->inject.batches;
	pthread_mutex_unlock(&jobs->lock);
	return count;
}

/* Faults of a batch are fixed when it is counted: a new list applies to later batches only. */
TEST_F(gpu, a_new_list_leaves_alone_what_was_counted)
{
	struct rig *rig = self->rig;
	uint64_t seqno;
	int i;

	EXPECT_EQ(0, inject(rig, "late-fence@1:1000ms,corrupt@1:magic"));
	seqno = submit_fill(rig, 1);
	while (!batches_counted(rig))
		usleep(1000);
	EXPECT_EQ(0, inject(rig, "late-fence@9:1ms,wrong-seqno@9:-1000000000"));
	for (i = 0; i < 500 && magic_is_right(rig); i++) {
		salvo_gpu_heartbeat(rig->gpu);
		usleep(10000);
	}
	EXPECT_EQ(0xa5a5a5a5, rig->regs->magic);
	EXPECT_EQ(seqno, rig_fence(rig, 0));
}

TEST_F(gpu, a_seqno_and_registers_are_wrong)
{
	struct rig *rig = self->rig;
	uint64_t seqno;
	int i;

	EXPECT_EQ(0, inject(rig, "wrong-seqno@1:+7,corrupt@2:fence,corrupt@2:head,"
				 "corrupt@3:magic"));
	seqno = submit_fill(rig, 1);
	EXPECT_TRUE(rig_wait(rig, seqno + 7));
	EXPECT_EQ(seqno + 7, rig_fence(rig, 0));
	seqno = submit_fill(rig, 2);
	EXPECT_TRUE(wait_result(rig, seqno));
	seqno = submit_fill(rig, 3);
	EXPECT_TRUE(wait_result(rig, seqno));
	for (i = 0; i < 2000 && magic_is_right(rig); i++)
		usleep(10000);
	EXPECT_FALSE(magic_is_right(rig));
	rig_stop(rig);
	EXPECT_EQ(seqno, rig_fence(rig, 0));
}

TEST_HARNESS_MAIN
