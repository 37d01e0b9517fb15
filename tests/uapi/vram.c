// SPDX-License-Identifier: MIT
/*
 * vram.c - buffers as large as VRAM, and allocation when VRAM is full
 */
#include "kselftest_harness.h"

#include <sys/mman.h>
#include <unistd.h>

#include "rendernode.h"

#define PAGE	4096u
#define PIECES	16u

FIXTURE(vram) {
	int fd;
	uint32_t ctx;
	struct drm_salvo_memory_info info;
};

FIXTURE_SETUP(vram)
{
	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(ctx_create(self->fd, &self->ctx), 0);
	ASSERT_TRUE(wait_value("reclaiming", 0));
	ASSERT_EQ(memory_info(self->fd, &self->info), 0);
	ASSERT_EQ(self->info.vram_free, self->info.vram_bytes);
}

FIXTURE_TEARDOWN(vram)
{
	close(self->fd);
	EXPECT_TRUE(wait_value("vram-used", 0));
}

/* Zeroing much memory is slow on a loaded machine. */
TEST_F_TIMEOUT(vram, one_buffer_takes_all_of_it, 100)
{
	struct drm_salvo_command command;
	struct drm_salvo_memory_info full;
	struct bo all, more;
	uint32_t *words;

	ASSERT_EQ(bo_create(self->fd, self->info.vram_bytes, 0, &all), 0);
	EXPECT_EQ(all.size, self->info.vram_bytes);
	ASSERT_EQ(memory_info(self->fd, &full), 0);
	EXPECT_EQ(full.vram_free, 0);
	EXPECT_EQ(full.vram_largest, 0);
	EXPECT_EQ(bo_create(self->fd, 1, 0, &more), -ENOSPC);

	/* GPU and CPU can access all of it. */
	ASSERT_EQ(bo_map(self->fd, &all), 0);
	words = all.map;
	words[0] = 21;
	command = copy(all.address + all.size - 4, all.address, 4);
	ASSERT_EQ(run(self->fd, self->ctx, &command, 1), 0);
	EXPECT_EQ(words[all.size / 4 - 1], 21);
	command = fill(all.address + all.size - 4, 8, 1);
	EXPECT_EQ(run(self->fd, self->ctx, &command, 1), -EINVAL);

	ASSERT_EQ(bo_close(self->fd, &all), 0);
	EXPECT_EQ(bo_create(self->fd, PAGE, 0, &more), 0);
	EXPECT_EQ(bo_create(self->fd, self->info.vram_bytes, 0, &all), -ENOSPC);
	EXPECT_EQ(bo_create(self->fd, self->info.vram_bytes - PAGE, 0, &all), 0);
}

TEST_F_TIMEOUT(vram, fragments_are_told_and_grow_together_again, 100)
{
	const uint64_t piece = self->info.vram_bytes / PIECES / PAGE * PAGE;
	struct drm_salvo_memory_info now;
	struct bo pieces[PIECES], big;
	unsigned int i;

	for (i = 0; i < PIECES; i++)
		ASSERT_EQ(bo_create(self->fd, piece, 0, &pieces[i]), 0);
	for (i = 0; i < PIECES; i += 2)
		ASSERT_EQ(bo_close(self->fd, &pieces[i]), 0);
	ASSERT_TRUE(wait_value("reclaiming", 0));
	ASSERT_EQ(memory_info(self->fd, &now), 0);
	EXPECT_GE(now.vram_free, piece * PIECES / 2);
	EXPECT_LT(now.vram_largest, 2 * piece);
	/* Half of it is free, but not contiguous. */
	EXPECT_EQ(bo_create(self->fd, 2 * piece, 0, &big), -ENOSPC);
	ASSERT_EQ(bo_create(self->fd, now.vram_largest, 0, &big), 0);
	ASSERT_EQ(bo_close(self->fd, &big), 0);

	ASSERT_EQ(bo_close(self->fd, &pieces[5]), 0);
	ASSERT_TRUE(wait_value("reclaiming", 0));
	EXPECT_EQ(bo_create(self->fd, 3 * piece, 0, &big), 0);
	for (i = 1; i < PIECES; i += 2)
		if (i != 5)
			ASSERT_EQ(bo_close(self->fd, &pieces[i]), 0);
	ASSERT_EQ(bo_close(self->fd, &big), 0);
	EXPECT_EQ(bo_create(self->fd, self->info.vram_bytes, 0, &big), 0);
}

/* Memory whose free is pending must not end beside the first large buffer, but under it. */
TEST_F_TIMEOUT(vram, two_large_ones_fit_right_after_a_free, 100)
{
	const uint64_t half = self->info.vram_bytes / 100 * 49 / PAGE * PAGE;
	struct bo before, big[2];

	ASSERT_EQ(bo_create(self->fd, self->info.vram_bytes / 4 / PAGE * PAGE, 0, &before), 0);
	ASSERT_EQ(bo_close(self->fd, &before), 0);
	EXPECT_EQ(bo_create(self->fd, half, 0, &big[0]), 0);
	EXPECT_EQ(bo_create(self->fd, half, 0, &big[1]), 0);
}

TEST_F_TIMEOUT(vram, small_ones_do_not_divide_it, 100)
{
	const uint64_t half = self->info.vram_bytes / 100 * 49 / PAGE * PAGE;
	struct bo before, small, big[2];

	ASSERT_EQ(bo_create(self->fd, self->info.vram_bytes / 4 / PAGE * PAGE, 0, &before), 0);
	ASSERT_EQ(bo_create(self->fd, PAGE, 0, &small), 0);
	ASSERT_EQ(bo_close(self->fd, &before), 0);
	ASSERT_TRUE(wait_value("reclaiming", 0));
	EXPECT_EQ(bo_create(self->fd, half, 0, &big[0]), 0);
	EXPECT_EQ(bo_create(self->fd, half, 0, &big[1]), 0);
}

TEST_F_TIMEOUT(vram, another_file_has_no_part_reserved, 100)
{
	int other = node_open();
	struct bo all, more;

	ASSERT_GE(other, 0);
	ASSERT_EQ(bo_create(self->fd, self->info.vram_bytes, 0, &all), 0);
	EXPECT_EQ(bo_create(other, PAGE, 0, &more), -ENOSPC);
	close(self->fd);
	/* The allocation waits for pending frees. */
	EXPECT_EQ(bo_create(other, PAGE, 0, &more), 0);
	self->fd = other;
}

TEST_HARNESS_MAIN
