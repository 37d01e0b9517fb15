// SPDX-License-Identifier: MIT
/*
 * contention.c - dispatches whose work-groups write to the same cache lines
 */
#include <string.h>
#include "contention.h"
#include "gpu_fixture.h"

#define KERNEL	0x1000ull
#define BOTH	3ull
#define FIRST	1ull
#define SECOND	2ull
/* Dispatches until both ways have been measured */
#define MEASURED	8u

/* The first dispatches of @kernel, of 100 items. */
static void measure(struct salvo_contention *contention, uint64_t kernel, uint64_t shared_ns,
		    uint64_t alone_ns)
{
	unsigned int i;

	for (i = 0; i < MEASURED; i++) {
		const uint64_t units = salvo_contention_choose(contention, kernel, 100, BOTH, 0);
		const bool alone = units != BOTH;

		salvo_contention_note(contention, kernel, 100, 100, alone ? alone_ns : shared_ns,
				      alone);
	}
}

/* Of the next @count dispatches, how many are run by one unit? */
static unsigned int count_alone(struct salvo_contention *contention, unsigned int count)
{
	unsigned int alone = 0;

	for (; count; count--)
		alone += salvo_contention_choose(contention, KERNEL, 100, BOTH, 0) != BOTH;
	return alone;
}

TEST(units_share_dispatches_until_one_unit_alone_takes_no_longer)
{
	struct salvo_contention contention = { 0 };

	measure(&contention, KERNEL, 100000, 51000);
	EXPECT_EQ(0, count_alone(&contention, 100));
	memset(&contention, 0, sizeof(contention));
	measure(&contention, KERNEL, 100000, 49000);
	EXPECT_EQ(100, count_alone(&contention, 100));
}

TEST(both_ways_are_measured_again_now_and_then)
{
	struct salvo_contention contention = { 0 };

	measure(&contention, KERNEL, 100000, 60000);
	EXPECT_EQ(2 * 3, count_alone(&contention, 2 * 128));
	/* With other data one unit is faster: the next time that it is measured tells. */
	EXPECT_EQ(0, count_alone(&contention, 128 - MEASURED - 3));
	measure(&contention, KERNEL, 100000, 20000);
	measure(&contention, KERNEL, 100000, 20000);
	EXPECT_EQ(100, count_alone(&contention, 100));
}

TEST(what_takes_twice_as_long_is_measured_more_rarely)
{
	struct salvo_contention contention = { 0 };

	measure(&contention, KERNEL, 100000, 5000);
	EXPECT_EQ(1024 - 3, count_alone(&contention, 1024));
}

/* As many as fit the third dispatch, when the first two have moved the data */
TEST(cold_dispatches_and_small_chunks_do_not_count)
{
	struct salvo_contention contention = { 0 };
	unsigned int i;

	for (i = 0; i < MEASURED; i++) {
		const uint64_t units = salvo_contention_choose(&contention, KERNEL, 100, BOTH, 0);
		const bool alone = units != BOTH;

		salvo_contention_note(&contention, KERNEL, 99, 100, (i < 2 ? 9 : 1) * 99000, alone);
		salvo_contention_note(&contention, KERNEL, 1, 100, alone ? 1000 : 9000, alone);
	}
	EXPECT_EQ(0, count_alone(&contention, 100));
}

TEST(long_dispatches_are_not_given_to_one_unit_to_find_out)
{
	struct salvo_contention contention = { 0 };

	measure(&contention, KERNEL, 30000000, 1);
	EXPECT_EQ(0, count_alone(&contention, 1000));
}

TEST(kernels_at_one_place_of_the_table_forget_each_other)
{
	struct salvo_contention contention = { 0 };
	uint64_t other;

	measure(&contention, KERNEL, 100000, 5000);
	for (other = KERNEL + 16; count_alone(&contention, 1); other += 16) {
		ASSERT_GT(0x100000, other);
		EXPECT_EQ(BOTH, salvo_contention_choose(&contention, other, 100, BOTH, 0));
	}
	/* A chunk of a kernel that is forgotten meanwhile counts for no other. */
	salvo_contention_note(&contention, other - 16, 100, 100, 1, true);
	measure(&contention, KERNEL, 100000, 60000);
	EXPECT_EQ(0, count_alone(&contention, 100));
}

TEST(time_of_items_is_that_of_one_unit)
{
	struct salvo_contention contention = { 0 };

	EXPECT_EQ(UINT64_MAX, salvo_contention_expect(&contention, KERNEL, 100));
	EXPECT_EQ(1, salvo_contention_choose(&contention, KERNEL, 100, 1, 0));
	EXPECT_EQ(UINT64_MAX, salvo_contention_expect(&contention, KERNEL, 100));
	salvo_contention_note(&contention, KERNEL, 100, 100, 7000, false);
	EXPECT_EQ(7000, salvo_contention_expect(&contention, KERNEL, 100));
	salvo_contention_note(&contention, KERNEL, 100, 100, 5000, true);
	EXPECT_EQ(500, salvo_contention_expect(&contention, KERNEL, 10));
	EXPECT_EQ(UINT64_MAX, salvo_contention_expect(&contention, KERNEL + 16, 10));
	salvo_contention_note(&contention, KERNEL, 1, 1, UINT64_MAX / 1000, true);
	EXPECT_GT(UINT64_MAX, salvo_contention_expect(&contention, KERNEL, UINT32_MAX));
}

TEST(the_unit_alone_is_the_last_one_or_one_that_is_idle)
{
	struct salvo_contention contention = { 0 };

	measure(&contention, KERNEL, 100000, 5000);
	EXPECT_EQ(SECOND, salvo_contention_choose(&contention, KERNEL, 100, BOTH, SECOND));
	EXPECT_EQ(SECOND, salvo_contention_choose(&contention, KERNEL, 100, BOTH, 0));
	EXPECT_EQ(SECOND, salvo_contention_choose(&contention, KERNEL, 100, BOTH, BOTH));
	EXPECT_EQ(FIRST, salvo_contention_choose(&contention, KERNEL, 100, BOTH, FIRST));
	EXPECT_EQ(FIRST, salvo_contention_choose(&contention, KERNEL, 100, BOTH, 4));
	EXPECT_EQ(4, salvo_contention_choose(&contention, KERNEL, 100, 12, BOTH));
}

struct count_args {
	uint32_t *table;
	/** @alone: Calls during which all other units were idle. */
	uint32_t *alone;
};

/* Counts each work-group in one of four words, with plain operations if that is possible. */
RIG_KERNEL static void count(RIG_KERNEL_ARGS)
{
	const struct count_args *a = args;
	volatile uint32_t *word = &a->table[group->group_id[0] % 4];
	uint32_t found, i;

	if (group->ran & SALVO_GROUP_EXCLUDES) {
		found = *word;
		for (i = 0; i < 20; i++)
			__builtin_ia32_pause();
		*word = found + 1;
		*(volatile uint32_t *)a->alone += 1;
	} else {
		__atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
	}
	(void)item;
}

static struct drm_salvo_command contended(FIXTURE_DATA(gpu) *self, uint32_t groups, uint64_t units)
{
	struct drm_salvo_command command =
		rig_dispatch(self->rig, count, groups, 1, 0, sizeof(struct count_args));

	command.flags = DRM_SALVO_DISPATCH_CONTENDS;
	command.eu_mask = units;
	return command;
}

static const uint32_t *words(FIXTURE_DATA(gpu) *self, struct count_args *args)
{
	args->table = (void *)self->gpu_data;
	args->alone = (void *)(self->gpu_data + 64);
	memset(self->data, 0, 1024);
	return (const void *)self->data;
}

/* Enough dispatches for all ways to run them, of which those of a batch run beside each other. */
TEST_F(gpu, dispatches_that_contend_run_each_item_once)
{
	struct drm_salvo_command commands[8];
	struct count_args args;
	const uint32_t *table = words(self, &args);
	unsigned int i, n = 0;

	for (i = 0; i < 8; i++) {
		commands[i] = contended(self, 100 + i, i & 3);
		n += 100 + i;
	}
	for (i = 0; i < 500; i++)
		ASSERT_EQ(SALVO_STATUS_DONE, rig_run(self->rig, commands, 8, &args, sizeof(args)));
	EXPECT_EQ(500 * n, table[0] + table[1] + table[2] + table[3]);
	EXPECT_EQ(500 * (8 * 25 + 8), table[1]);
}

/* A dispatch of one unit, in batches of their own: the other unit is idle sooner or later. */
TEST_F(gpu, kernels_learn_that_all_other_units_are_idle)
{
	struct drm_salvo_command command = contended(self, 100, 2);
	struct count_args args;
	const uint32_t *table = words(self, &args);
	unsigned int i;

	for (i = 0; i < 1000000 && !table[128]; i++)
		ASSERT_EQ(SALVO_STATUS_DONE, rig_run(self->rig, &command, 1, &args, sizeof(args)));
	EXPECT_NE(0, table[128]);
	EXPECT_EQ(i * 100, table[0] + table[1] + table[2] + table[3]);
}

/* Where both units may run it no unit is told so. */
TEST_F(gpu, kernels_of_several_units_are_not_excluded_from_others)
{
	struct drm_salvo_command command = contended(self, 100, 3);
	struct count_args args;
	const uint32_t *table = words(self, &args);

	ASSERT_EQ(SALVO_STATUS_DONE, rig_run(self->rig, &command, 1, &args, sizeof(args)));
	EXPECT_EQ(0, table[128]);
	EXPECT_EQ(100, table[0] + table[1] + table[2] + table[3]);
}

TEST_HARNESS_MAIN
