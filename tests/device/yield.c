// SPDX-License-Identifier: MIT
/*
 * yield.c - who polls stops yielding a core that another program keeps
 */
#include "kselftest_harness.h"
#include "yield.h"

#define LONG	SALVO_YIELD_LONG_NS
#define MIN	SALVO_CROWDED_MIN_NS
#define MAX	SALVO_CROWDED_MAX_NS

TEST(short_yields_go_on)
{
	struct salvo_yield yield = {};
	uint64_t now;

	for (now = MAX; now < MAX + 1000ull * LONG; now += LONG - 1) {
		salvo_yield_account(&yield, now, now + LONG - 1);
		ASSERT_FALSE(salvo_yield_is_crowded(&yield, now + LONG - 1));
	}
}

TEST(a_long_yield_is_the_last_for_a_period)
{
	struct salvo_yield yield = {};

	salvo_yield_account(&yield, MAX, MAX + LONG);
	EXPECT_TRUE(salvo_yield_is_crowded(&yield, MAX + LONG));
	EXPECT_TRUE(salvo_yield_is_crowded(&yield, MAX + LONG + MIN - 1));
	EXPECT_FALSE(salvo_yield_is_crowded(&yield, MAX + LONG + MIN));
}

TEST(the_period_doubles_up_to_a_limit)
{
	struct salvo_yield yield = {};
	uint64_t now = MAX, period = MIN;
	unsigned int i;

	for (i = 0; i < 20; i++) {
		salvo_yield_account(&yield, now, now + LONG);
		now += LONG + period;
		EXPECT_TRUE(salvo_yield_is_crowded(&yield, now - 1));
		EXPECT_FALSE(salvo_yield_is_crowded(&yield, now));
		if (2 * period <= MAX)
			period *= 2;
	}
	EXPECT_LE(period, MAX);
	EXPECT_GT(2 * period, MAX);
}

TEST(many_short_yields_make_the_period_short_again)
{
	struct salvo_yield yield = {};
	uint64_t now = MAX;
	unsigned int i;

	for (i = 0; i < 2; i++, now += MAX)
		salvo_yield_account(&yield, now, now + LONG);
	for (i = 0; i < SALVO_YIELD_MANY; i++)
		salvo_yield_account(&yield, now, now + 1);
	salvo_yield_account(&yield, now, now + LONG);
	EXPECT_TRUE(salvo_yield_is_crowded(&yield, now + LONG + MIN - 1));
	EXPECT_FALSE(salvo_yield_is_crowded(&yield, now + LONG + MIN));
}

TEST(a_real_yield_tells_the_time)
{
	struct salvo_yield yield = {};
	const uint64_t before = salvo_clock(), after = salvo_yield(&yield, before);

	EXPECT_LE(before, after);
	EXPECT_LE(after, salvo_clock());
}

TEST_HARNESS_MAIN
