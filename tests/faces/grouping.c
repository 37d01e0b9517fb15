// SPDX-License-Identifier: MIT
/*
 * grouping.c - grouping, clipping and ordering of rectangles
 */
#include <string.h>

#include "kselftest_harness.h"
#include "group.h"

static int equal(const struct face *f, int x, int y, int width, int height, int neighbors)
{
	return f->x == x && f->y == y && f->width == width && f->height == height &&
	       f->neighbors == neighbors;
}

TEST(without_grouping_only_order_changes)
{
	struct face f[] = { { 5, 1, 9, 9, 0 }, { 4, 2, 9, 9, 0 }, { 4, 1, 9, 9, 0 } };

	ASSERT_EQ(3, faces_group(f, 3, 0));
	EXPECT_TRUE(equal(&f[0], 4, 1, 9, 9, 0));
	EXPECT_TRUE(equal(&f[1], 4, 2, 9, 9, 0));
	EXPECT_TRUE(equal(&f[2], 5, 1, 9, 9, 0));
	EXPECT_EQ(0, faces_group(f, 0, 3));
}

TEST(a_group_needs_more_than_min_neighbors)
{
	struct face two[] = { { 10, 10, 50, 50, 0 }, { 12, 10, 50, 50, 0 } };
	struct face copy[2];

	memcpy(copy, two, sizeof(two));
	ASSERT_EQ(1, faces_group(copy, 2, 1));
	EXPECT_TRUE(equal(&copy[0], 11, 10, 50, 50, 2));
	memcpy(copy, two, sizeof(two));
	EXPECT_EQ(0, faces_group(copy, 2, 2));
}

/* The limit is 0.2 times the mean of the smaller width and height: 10 pixels for 50. */
TEST(similar_up_to_a_fifth)
{
	struct face near[] = { { 0, 0, 50, 50, 0 }, { 10, 0, 50, 50, 0 } };
	struct face far[] = { { 0, 0, 50, 50, 0 }, { 11, 0, 50, 50, 0 } };

	EXPECT_EQ(1, faces_group(near, 2, 1));
	EXPECT_EQ(0, faces_group(far, 2, 1));
}

TEST(similarity_reaches_through_others)
{
	struct face chain[] = { { 0, 0, 50, 50, 0 }, { 20, 0, 50, 50, 0 }, { 10, 0, 50, 50, 0 } };

	ASSERT_EQ(1, faces_group(chain, 3, 2));
	EXPECT_TRUE(equal(&chain[0], 10, 0, 50, 50, 3));
}

/* 1/2 and 5/2 go to the even neighbour: 0 and 2. */
TEST(means_round_to_even)
{
	struct face f[] = { { 0, 2, 50, 50, 0 }, { 1, 3, 50, 50, 0 } };

	ASSERT_EQ(1, faces_group(f, 2, 1));
	EXPECT_TRUE(equal(&f[0], 0, 2, 50, 50, 2));
}

TEST(weak_group_inside_a_strong_one_goes)
{
	struct face f[] = {
		{ 0, 0, 100, 100, 0 }, { 1, 0, 100, 100, 0 }, { 0, 1, 100, 100, 0 },
		{ 1, 1, 100, 100, 0 }, { 40, 40, 20, 20, 0 }, { 41, 40, 20, 20, 0 },
	};
	struct face apart[6];

	memcpy(apart, f, sizeof(f));
	apart[4].x += 200;
	apart[5].x += 200;
	ASSERT_EQ(1, faces_group(f, 6, 1));
	EXPECT_EQ(4, f[0].neighbors);
	EXPECT_EQ(2, faces_group(apart, 6, 1));
}

TEST(clipping)
{
	struct face f[] = {
		{ -5, -5, 10, 10, 1 }, { 95, 95, 10, 10, 2 }, { 100, 0, 10, 10, 3 },
		{ 10, 20, 5, 5, 4 },
	};

	ASSERT_EQ(3, faces_clip(f, 4, 100, 100));
	EXPECT_TRUE(equal(&f[0], 0, 0, 5, 5, 1));
	EXPECT_TRUE(equal(&f[1], 95, 95, 5, 5, 2));
	EXPECT_TRUE(equal(&f[2], 10, 20, 5, 5, 4));
}

TEST_HARNESS_MAIN
