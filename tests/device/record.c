// SPDX-License-Identifier: MIT
/*
 * record.c - the recording of the spans that the units ran
 */
#include <stdlib.h>
#include "gpu_fixture.h"

#define GROUPS 1000u

RIG_KERNEL static void touch(RIG_KERNEL_ARGS)
{
	uint64_t *const *out = args;

	(*out)[group->group_id[0]]++;
}

/* Every work-group is in exactly one span, and the spans of a unit do not overlap. */
TEST_F(gpu, each_work_group_is_recorded_once_on_the_unit_that_ran_it)
{
	static struct salvo_gpu_span spans[2 * GROUPS];
	struct salvo_gpu_recording recording = { .spans = spans, .capacity = 2 * GROUPS };
	struct drm_salvo_command command = rig_dispatch(self->rig, touch, GROUPS, 1, 0, 8);
	static unsigned int seen[GROUPS];
	uint32_t i, j;

	salvo_gpu_record(self->rig->gpu, &recording);
	ASSERT_EQ(SALVO_STATUS_DONE, rig_run(self->rig, &command, 1, &self->gpu_data, 8));
	ASSERT_GE(2 * GROUPS, recording.next);
	for (i = 0; i < recording.next; i++) {
		const struct salvo_gpu_span *span = &spans[i];

		EXPECT_GT(self->rig->regs->units, span->unit);
		EXPECT_LE(span->started, span->ended);
		EXPECT_EQ(self->rig->seqno, span->seqno);
		EXPECT_EQ(0, span->command);
		for (j = 0; j < span->count; j++)
			seen[span->group + j]++;
		for (j = 0; j < i; j++)
			if (spans[j].unit == span->unit)
				EXPECT_TRUE(spans[j].ended <= span->started ||
					    span->ended <= spans[j].started);
	}
	for (i = 0; i < GROUPS; i++)
		EXPECT_EQ(1, seen[i]);
}

TEST_F(gpu, a_recording_that_is_full_or_stopped_takes_no_more)
{
	struct salvo_gpu_span spans[2] = { 0 };
	struct salvo_gpu_recording recording = { .spans = spans, .capacity = 1 };
	struct drm_salvo_command commands[2] = {
		rig_dispatch(self->rig, touch, 1, 1, 0, 8),
		rig_dispatch(self->rig, touch, 1, 1, 0, 8),
	};

	salvo_gpu_record(self->rig->gpu, &recording);
	ASSERT_EQ(SALVO_STATUS_DONE, rig_run(self->rig, commands, 2, &self->gpu_data, 8));
	EXPECT_EQ(2, recording.next);
	EXPECT_NE(0, spans[0].ended);
	EXPECT_EQ(0, spans[1].ended);
	salvo_gpu_record(self->rig->gpu, NULL);
	ASSERT_EQ(SALVO_STATUS_DONE, rig_run(self->rig, commands, 2, &self->gpu_data, 8));
	EXPECT_EQ(2, recording.next);
}

TEST_HARNESS_MAIN
