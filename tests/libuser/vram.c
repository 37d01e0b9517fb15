// SPDX-License-Identifier: MIT
/* vram.c - the allocator of the embedded GPU's video memory */
#include "kselftest_harness.h"

#include <errno.h>

#include "vram.h"

#define PAGE 4096ull
#define MIB (1ull << 20)

TEST(find_only_what_was_allocated)
{
	struct salvo_vram vram;
	uint64_t a, b;

	salvo_vram_init(&vram, 64 * PAGE);
	EXPECT_EQ(NULL, salvo_vram_find(&vram, 0));
	ASSERT_EQ(0, salvo_vram_alloc(&vram, 2 * PAGE, 1, &a));
	ASSERT_EQ(0, salvo_vram_alloc(&vram, PAGE, 3, &b));
	ASSERT_NE(NULL, salvo_vram_find(&vram, a));
	EXPECT_EQ(a, salvo_vram_find(&vram, a + 2 * PAGE - 1)->offset);
	EXPECT_EQ(1, salvo_vram_find(&vram, a)->access);
	EXPECT_EQ(3, salvo_vram_find(&vram, b)->access);
	EXPECT_EQ(NULL, salvo_vram_find(&vram, b + PAGE));
	EXPECT_EQ(NULL, salvo_vram_find(&vram, UINT64_MAX));
	salvo_vram_fini(&vram);
}

TEST(M6_a_page_stays_free_between_buffers)
{
	struct salvo_vram vram;
	uint64_t a, b, c;

	salvo_vram_init(&vram, 64 * PAGE);
	ASSERT_EQ(0, salvo_vram_alloc(&vram, PAGE, 1, &a));
	ASSERT_EQ(0, salvo_vram_alloc(&vram, PAGE, 1, &b));
	ASSERT_EQ(0, salvo_vram_alloc(&vram, PAGE, 1, &c));
	EXPECT_EQ(NULL, salvo_vram_find(&vram, a + PAGE));
	EXPECT_EQ(NULL, salvo_vram_find(&vram, b + PAGE));
	/* A hole of three pages holds one page and its guards, not two. */
	salvo_vram_free(&vram, b);
	ASSERT_EQ(0, salvo_vram_alloc(&vram, 2 * PAGE, 1, &b));
	EXPECT_GT(b, c);
	ASSERT_EQ(0, salvo_vram_alloc(&vram, PAGE, 1, &b));
	EXPECT_LT(b, c);
	salvo_vram_fini(&vram);
}

TEST(all_of_it_and_no_more)
{
	struct salvo_vram vram;
	uint64_t a, b;

	salvo_vram_init(&vram, 16 * PAGE);
	EXPECT_EQ(-ENOSPC, salvo_vram_alloc(&vram, 17 * PAGE, 1, &a));
	EXPECT_EQ(-ENOSPC, salvo_vram_alloc(&vram, 0, 1, &a));
	EXPECT_EQ(0, salvo_vram_alloc(&vram, 16 * PAGE, 1, &a));
	EXPECT_EQ(0, a);
	EXPECT_EQ(-ENOSPC, salvo_vram_alloc(&vram, PAGE, 1, &b));
	salvo_vram_free(&vram, a);
	EXPECT_EQ(0, salvo_vram_alloc(&vram, 15 * PAGE, 1, &a));
	EXPECT_EQ(-ENOSPC, salvo_vram_alloc(&vram, PAGE, 1, &b));
	salvo_vram_fini(&vram);
}

TEST(a_large_range_starts_with_a_huge_page_if_there_is_room)
{
	struct salvo_vram vram;
	uint64_t a, b, c, d;

	salvo_vram_init(&vram, 16 * MIB);
	ASSERT_EQ(0, salvo_vram_alloc(&vram, PAGE, 1, &a));
	ASSERT_EQ(0, salvo_vram_alloc(&vram, 3 * MIB, 1, &b));
	EXPECT_EQ(2 * MIB, b);
	/* Smaller ones fill the hole before it. */
	ASSERT_EQ(0, salvo_vram_alloc(&vram, MIB, 1, &c));
	EXPECT_LT(c, b);
	EXPECT_EQ(-ENOSPC, salvo_vram_alloc(&vram, 11 * MIB, 1, &d));
	ASSERT_EQ(0, salvo_vram_alloc(&vram, 11 * MIB - PAGE, 1, &d));
	EXPECT_EQ(5 * MIB + PAGE, d);
	salvo_vram_free(&vram, d);
	ASSERT_EQ(0, salvo_vram_alloc(&vram, 10 * MIB, 1, &d));
	EXPECT_EQ(6 * MIB, d);
	salvo_vram_fini(&vram);
}

/* Compares with a map of pages, for many steps. */
TEST(random_steps_keep_ranges_apart)
{
	enum { PAGES = 512, SLOTS = 64 };
	struct { uint64_t offset, pages; } slots[SLOTS] = { 0 };
	uint8_t owner[PAGES] = { 0 };
	struct salvo_vram vram;
	uint32_t random = 1;
	unsigned int step, i, wrong = 0, refused = 0;
	uint64_t j;

	salvo_vram_init(&vram, PAGES * PAGE);
	for (step = 0; step < 20000; step++) {
		random = random * 1664525 + 1013904223;
		i = random >> 26;
		if (slots[i].pages) {
			for (j = 0; j < slots[i].pages; j++)
				owner[slots[i].offset / PAGE + j] = 0;
			salvo_vram_free(&vram, slots[i].offset);
			slots[i].pages = 0;
			continue;
		}
		slots[i].pages = 1 + (random >> 16) % 20;
		if (salvo_vram_alloc(&vram, slots[i].pages * PAGE, 1, &slots[i].offset)) {
			slots[i].pages = 0;
			refused++;
			continue;
		}
		for (j = 0; j < slots[i].pages; j++) {
			uint8_t *page = &owner[slots[i].offset / PAGE + j];

			wrong += slots[i].offset / PAGE + j >= PAGES || *page;
			*page = i + 1;
			wrong += salvo_vram_find(&vram, slots[i].offset + j * PAGE + 7) == NULL;
		}
	}
	EXPECT_EQ(0, wrong);
	EXPECT_GT(refused, 0);
	salvo_vram_fini(&vram);
}

TEST_HARNESS_MAIN
