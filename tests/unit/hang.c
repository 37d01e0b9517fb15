// SPDX-License-Identifier: MIT
/*
 * hang.c - salvo_hang.c: which samples count as run time of a batch
 */
#include "kselftest_harness.h"
#include "salvo_hang.h"

#define UNITS	3u
#define LONG	1000u

FIXTURE(hang) {
	struct salvo_hang batch;
	struct salvo_unit_regs units[UNITS];
};

FIXTURE_SETUP(hang)
{
	self->batch = (struct salvo_hang){ .ctx = 5, .seqno = 50 };
}

FIXTURE_TEARDOWN(hang)
{
}

static void busy(FIXTURE_DATA(hang) *self, unsigned int unit, uint32_t ctx, uint64_t seqno)
{
	self->units[unit] = (struct salvo_unit_regs){
		.state = SALVO_UNIT_BUSY, .ctx = ctx, .seqno = seqno,
	};
}

static uint32_t sample(FIXTURE_DATA(hang) *self, bool oldest)
{
	return salvo_hang_sample(&self->batch, oldest, self->units, UNITS);
}

TEST_F(hang, a_sample_counts_if_a_unit_works_for_it)
{
	uint32_t i;

	/* Once, however many do, and whether it is the oldest or not. */
	for (i = 0; i < UNITS; i++)
		busy(self, i, 5, 50);
	for (i = 1; i < LONG; i++)
		EXPECT_EQ(i, sample(self, i % 2));
	/* While others run: a hung one is found. */
	busy(self, 0, 6, 60);
	busy(self, 2, 7, 70);
	EXPECT_EQ(i, sample(self, false));
}

TEST_F(hang, while_units_work_for_others_it_waits)
{
	uint32_t i;

	busy(self, 0, 5, 50);
	EXPECT_EQ(1, sample(self, true));
	for (i = 0; i < LONG; i++) {
		/* One before it of its own context, and one of another ring with its number. */
		busy(self, 0, 5, 49);
		busy(self, 2, 6, 50);
		EXPECT_EQ(1, sample(self, true));
	}
	/* What it has had it keeps. */
	busy(self, 0, 5, 50);
	EXPECT_EQ(2, sample(self, true));
}

TEST_F(hang, only_units_that_it_may_use_hold_it)
{
	uint32_t i;

	self->batch.eu_mask = 4;
	busy(self, 2, 6, 60);
	for (i = 0; i < LONG; i++)
		EXPECT_EQ(0, sample(self, true));
	self->units[2].state = SALVO_UNIT_IDLE;
	busy(self, 0, 6, 60);
	busy(self, 1, 6, 60);
	EXPECT_EQ(0, sample(self, true));
	EXPECT_EQ(1, sample(self, true));
}

TEST_F(hang, a_fence_that_does_not_come_counts_half_for_the_oldest)
{
	EXPECT_EQ(0, sample(self, false));
	EXPECT_EQ(0, sample(self, true));
	EXPECT_EQ(1, sample(self, true));
	EXPECT_EQ(1, sample(self, false));
	EXPECT_EQ(1, sample(self, true));
	EXPECT_EQ(2, sample(self, true));
}

TEST_HARNESS_MAIN
