// SPDX-License-Identifier: MIT
/*
 * hang.c - salvo_hang.c: which batch hangs, and which one only waits
 */
#include <string.h>

#include "kselftest_harness.h"
#include "salvo_hang.h"

#define UNITS	3u
#define LIMIT	10u
#define LONG	(100 * LIMIT)

FIXTURE(hang) {
	struct salvo_hang hang;
	struct salvo_hang_batch oldest[SALVO_MAX_RINGS], guilty;
	struct salvo_unit_regs units[UNITS];
	/* Makes work-groups differ. */
	uint64_t groups;
};

FIXTURE_SETUP(hang)
{
	/* Context 5 waits, or runs, on ring 0. */
	self->oldest[0] = (struct salvo_hang_batch){ .ctx = 5, .seqno = 50 };
}

FIXTURE_TEARDOWN(hang)
{
}

/* A unit goes on with the next work-group of a batch. */
static void run(FIXTURE_DATA(hang) *self, unsigned int unit, uint32_t ctx, uint64_t seqno)
{
	self->units[unit] = (struct salvo_unit_regs){
		.state = SALVO_UNIT_BUSY, .ctx = ctx, .seqno = seqno, .asid = 1,
		.group = ++self->groups,
	};
}

static bool look(FIXTURE_DATA(hang) *self)
{
	memset(&self->guilty, 0, sizeof(self->guilty));
	return salvo_hang_look(&self->hang, self->oldest, self->units, UNITS, LIMIT,
			       &self->guilty);
}

/* How many looks it takes until something hangs, or LONG. */
static unsigned int looks(FIXTURE_DATA(hang) *self)
{
	unsigned int i;

	for (i = 0; i < LONG && !look(self); i++)
		;
	return i;
}

TEST_F(hang, a_batch_has_its_time_from_when_it_is_the_oldest)
{
	unsigned int i;

	for (i = 0; i < LIMIT; i++) {
		run(self, i % UNITS, 5, 50);
		EXPECT_FALSE(look(self));
	}
	run(self, i % UNITS, 5, 50);
	EXPECT_TRUE(look(self));
	EXPECT_EQ(5, self->guilty.ctx);
	EXPECT_EQ(50, self->guilty.seqno);
}

TEST_F(hang, the_next_one_has_as_much)
{
	unsigned int i;

	for (i = 0; i < LONG; i++) {
		self->oldest[0].seqno = 50 + i / LIMIT;
		run(self, 0, 5, self->oldest[0].seqno);
		EXPECT_FALSE(look(self));
	}
}

TEST_F(hang, while_units_work_for_others_it_waits)
{
	unsigned int i;

	self->oldest[1] = (struct salvo_hang_batch){ .ctx = 6 };
	for (i = 0; i < LONG; i++) {
		/* Of another ring or of its own, and never for long. */
		self->oldest[1].seqno = i / 2;
		run(self, 0, 6, i / 2);
		run(self, 1, 7, i / 3);
		EXPECT_FALSE(look(self));
	}
	/* Now it is its turn. */
	self->oldest[1].ctx = 0;
	memset(self->units, 0, sizeof(self->units));
	EXPECT_EQ(LIMIT - 1, looks(self));
	EXPECT_EQ(5, self->guilty.ctx);
}

TEST_F(hang, only_units_that_it_may_use_hold_it)
{
	unsigned int i;

	self->oldest[0].eu_mask = 4;
	for (i = 0; i < LONG; i++) {
		run(self, 2, 6, i);
		EXPECT_FALSE(look(self));
	}
	/* Unit 2 idles; the others may do what they like. */
	self->units[2].state = SALVO_UNIT_IDLE;
	for (i = 0; i < LONG && !look(self); i++)
		run(self, i % 2, 6, LONG + i);
	EXPECT_EQ(LIMIT - 1, i);
	EXPECT_EQ(5, self->guilty.ctx);
}

TEST_F(hang, time_that_it_waits_does_not_take_away_time_that_it_ran)
{
	unsigned int i;

	for (i = 0; i < 2 * LIMIT - 1; i++) {
		run(self, 0, i % 2 ? 5 : 6, i % 2 ? 50 : i);
		EXPECT_FALSE(look(self));
	}
	run(self, 0, 5, 50);
	EXPECT_TRUE(look(self));
	EXPECT_EQ(5, self->guilty.ctx);
}

TEST_F(hang, a_work_group_that_does_not_end_is_found_while_others_run)
{
	unsigned int i;

	run(self, 1, 8, 80);
	for (i = 0; i < LONG; i++) {
		self->oldest[0].seqno = i;
		run(self, 0, 5, i);
		run(self, 2, 6, i);
		if (look(self))
			break;
	}
	EXPECT_EQ(LIMIT, i);
	EXPECT_EQ(8, self->guilty.ctx);
	EXPECT_EQ(80, self->guilty.seqno);
}

/* The oldest waits for a unit that another one does not come away from. */
TEST_F(hang, the_batch_that_keeps_the_unit_is_guilty)
{
	unsigned int i;

	for (i = 0; i < UNITS; i++)
		run(self, i, 8, 80);
	EXPECT_EQ(LIMIT, looks(self));
	EXPECT_EQ(8, self->guilty.ctx);
}

TEST_F(hang, a_fence_that_does_not_come_is_found_when_the_units_idle)
{
	EXPECT_EQ(LIMIT, looks(self));
	EXPECT_EQ(5, self->guilty.ctx);
}

TEST_F(hang, each_ring_is_looked_at)
{
	unsigned int r;

	for (r = 0; r < SALVO_MAX_RINGS; r++) {
		memset(&self->hang, 0, sizeof(self->hang));
		memset(self->oldest, 0, sizeof(self->oldest));
		self->oldest[r] = (struct salvo_hang_batch){ .ctx = 9 + r, .seqno = 1 };
		EXPECT_EQ(LIMIT, looks(self));
		EXPECT_EQ(9 + r, self->guilty.ctx);
	}
}

TEST_F(hang, no_batch_does_not_hang)
{
	self->oldest[0].ctx = 0;
	EXPECT_EQ(LONG, looks(self));
}

TEST_HARNESS_MAIN
