// SPDX-License-Identifier: MIT
/* bo.c - BO_CREATE, BO_MMAP_OFFSET, GEM_CLOSE: memory, and one invalid field per case */
#include "kselftest_harness.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rendernode.h"

#define PAGE	4096u

FIXTURE(bo) {
	int fd;
	struct bo bo;
};

FIXTURE_SETUP(bo)
{
	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(bo_create(self->fd, 3 * PAGE, 0, &self->bo), 0);
}

FIXTURE_TEARDOWN(bo)
{
	bo_close(self->fd, &self->bo);
	close(self->fd);
}

static size_t nonzero_bytes(const struct bo *bo)
{
	const unsigned char *bytes = bo->map;
	size_t i, count = 0;

	for (i = 0; i < bo->size; i++)
		count += bytes[i] != 0;
	return count;
}

TEST_F(bo, create_rounds_up_and_gives_an_address)
{
	struct bo other;

	ASSERT_EQ(bo_create(self->fd, PAGE + 1, 0, &other), 0);
	EXPECT_EQ(other.size, 2 * PAGE);
	EXPECT_NE(other.handle, 0);
	EXPECT_NE(other.handle, self->bo.handle);
	EXPECT_EQ(other.address % PAGE, 0);
	EXPECT_TRUE(other.address >= self->bo.address + self->bo.size ||
		    other.address + other.size <= self->bo.address);
	EXPECT_EQ(bo_close(self->fd, &other), 0);
}

TEST_F(bo, mmap_reads_back_what_was_written)
{
	unsigned int *words;
	size_t i, wrong = 0;
	struct bo other;

	ASSERT_EQ(bo_create(self->fd, 100 * PAGE, 0, &other), 0);
	ASSERT_EQ(bo_map(self->fd, &other), 0);
	words = other.map;
	for (i = 0; i < other.size / 4; i++)
		words[i] = i * 2654435761u;
	munmap(other.map, other.size);
	ASSERT_EQ(bo_map(self->fd, &other), 0);
	words = other.map;
	for (i = 0; i < other.size / 4; i++)
		wrong += words[i] != (unsigned int)(i * 2654435761u);
	EXPECT_EQ(wrong, 0);
	EXPECT_EQ(bo_close(self->fd, &other), 0);
}

TEST_F(bo, part_of_a_buffer_can_be_unmapped_and_moved)
{
	unsigned char *map, *moved;

	ASSERT_EQ(bo_map(self->fd, &self->bo), 0);
	map = self->bo.map;
	map[0] = 1;
	map[2 * PAGE] = 3;
	ASSERT_EQ(munmap(map + PAGE, PAGE), 0);
	moved = mremap(map + 2 * PAGE, PAGE, PAGE, MREMAP_MAYMOVE);
	ASSERT_NE(moved, MAP_FAILED);
	EXPECT_EQ(moved[0], 3);
	EXPECT_EQ(map[0], 1);
	self->bo.map = NULL;
	munmap(map, PAGE);
	munmap(moved, PAGE);
}

TEST_F(bo, is_zeroed_also_when_the_memory_was_used_before)
{
	struct bo first, second;

	ASSERT_TRUE(wait_value("reclaiming", 0));
	ASSERT_EQ(bo_create(self->fd, 1 << 20, 0, &first), 0);
	ASSERT_EQ(bo_map(self->fd, &first), 0);
	EXPECT_EQ(nonzero_bytes(&first), 0);
	memset(first.map, 0xa5, first.size);
	ASSERT_EQ(bo_close(self->fd, &first), 0);
	ASSERT_TRUE(wait_value("reclaiming", 0));
	ASSERT_EQ(bo_create(self->fd, 1 << 20, 0, &second), 0);
	EXPECT_EQ(second.address, first.address);
	ASSERT_EQ(bo_map(self->fd, &second), 0);
	EXPECT_EQ(nonzero_bytes(&second), 0);
	EXPECT_EQ(bo_close(self->fd, &second), 0);
}

TEST_F(bo, closing_gives_memory_back)
{
	struct bo other;
	long long used;

	ASSERT_TRUE(wait_value("reclaiming", 0));
	used = device_counter("vram-used");
	ASSERT_EQ(bo_create(self->fd, 5 * PAGE, 0, &other), 0);
	EXPECT_EQ(device_counter("vram-used"), used + 5 * PAGE);
	ASSERT_EQ(bo_close(self->fd, &other), 0);
	EXPECT_TRUE(wait_value("vram-used", used));
}

TEST_F(bo, mapping_outlives_the_handle)
{
	struct drm_gem_close gem_close = { .handle = self->bo.handle };
	struct bo other;
	unsigned char *map;

	ASSERT_EQ(bo_map(self->fd, &self->bo), 0);
	map = self->bo.map;
	ASSERT_EQ(call(self->fd, DRM_IOCTL_GEM_CLOSE, &gem_close), 0);
	ASSERT_TRUE(wait_value("reclaiming", 0));
	map[PAGE] = 7;
	ASSERT_EQ(bo_create(self->fd, 3 * PAGE, 0, &other), 0);
	EXPECT_NE(other.address, self->bo.address);
	ASSERT_EQ(bo_map(self->fd, &other), 0);
	EXPECT_EQ(nonzero_bytes(&other), 0);
	EXPECT_EQ(map[PAGE], 7);
	EXPECT_EQ(bo_close(self->fd, &other), 0);
}

TEST_F(bo, many_come_and_go)
{
	struct bo many[64];
	unsigned int round, i;

	for (round = 0; round < 4; round++) {
		for (i = 0; i < 64; i++)
			ASSERT_EQ(bo_create(self->fd, (1 + i % 5) * PAGE, 0, &many[i]), 0);
		for (i = 0; i < 64; i++)
			ASSERT_EQ(bo_close(self->fd, &many[i * 37 % 64]), 0);
	}
	EXPECT_TRUE(wait_value("reclaiming", 0));
}

TEST_F(bo, all_of_vram_again_right_after_closing_it)
{
	struct drm_salvo_device_info info = { 0 };
	struct drm_salvo_dev_query query = {
		.size = sizeof(info), .pointer = (uintptr_t)&info,
	};
	unsigned int round;
	struct bo other;

	ASSERT_EQ(call(self->fd, DRM_IOCTL_SALVO_DEV_QUERY, &query), 0);
	for (round = 0; round < 3; round++) {
		ASSERT_EQ(bo_create(self->fd, info.vram_bytes / 2 + PAGE, 0, &other), 0);
		ASSERT_EQ(bo_close(self->fd, &other), 0);
	}
}

TEST_F(bo, create_wrong_size)
{
	struct bo other;

	EXPECT_EQ(bo_create(self->fd, 0, 0, &other), -EINVAL);
	EXPECT_EQ(bo_create(self->fd, ~0ull, 0, &other), -ENOSPC);
	EXPECT_EQ(bo_create(self->fd, 1ull << 40, 0, &other), -ENOSPC);
}

TEST_F(bo, create_wrong_flags)
{
	struct bo other;

	EXPECT_EQ(bo_create(self->fd, PAGE, 1 << 2, &other), -EINVAL);
	EXPECT_EQ(bo_create(self->fd, PAGE, 1u << 31, &other), -EINVAL);
}

TEST_F(bo, mmap_offset_wrong_handle)
{
	struct drm_salvo_bo_mmap_offset args = { .handle = self->bo.handle + 1000 };

	EXPECT_EQ(call(self->fd, DRM_IOCTL_SALVO_BO_MMAP_OFFSET, &args), -ENOENT);
}

TEST_F(bo, mmap_offset_wrong_pad)
{
	struct drm_salvo_bo_mmap_offset args = { .handle = self->bo.handle, .pad = 1 };

	EXPECT_EQ(call(self->fd, DRM_IOCTL_SALVO_BO_MMAP_OFFSET, &args), -EINVAL);
}

TEST_F(bo, mmap_is_refused_to_another_file)
{
	struct drm_salvo_bo_mmap_offset args = { .handle = self->bo.handle };
	int other = node_open();
	void *map;

	ASSERT_GE(other, 0);
	ASSERT_EQ(call(self->fd, DRM_IOCTL_SALVO_BO_MMAP_OFFSET, &args), 0);
	map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, other, args.offset);
	EXPECT_EQ(map, MAP_FAILED);
	EXPECT_EQ(errno, EACCES);
	close(other);
}

/* Device memory has no struct pages that a write could copy. */
TEST_F(bo, mmap_private_is_refused)
{
	struct drm_salvo_bo_mmap_offset args = { .handle = self->bo.handle };
	char *map;

	ASSERT_EQ(call(self->fd, DRM_IOCTL_SALVO_BO_MMAP_OFFSET, &args), 0);
	map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, self->fd, args.offset);
	EXPECT_EQ((void *)map, MAP_FAILED);
	EXPECT_EQ(errno, EINVAL);
	if (map != MAP_FAILED)
		EXPECT_EQ(*(volatile char *)map, 0);
}

TEST_F(bo, mmap_longer_than_the_buffer)
{
	struct drm_salvo_bo_mmap_offset args = { .handle = self->bo.handle };

	ASSERT_EQ(call(self->fd, DRM_IOCTL_SALVO_BO_MMAP_OFFSET, &args), 0);
	EXPECT_EQ(mmap(NULL, 4 * PAGE, PROT_READ, MAP_SHARED, self->fd, args.offset), MAP_FAILED);
}

TEST_F(bo, handle_of_another_file_is_unknown)
{
	struct drm_salvo_bo_mmap_offset args = { .handle = self->bo.handle };
	int other = node_open();

	ASSERT_GE(other, 0);
	EXPECT_EQ(call(other, DRM_IOCTL_SALVO_BO_MMAP_OFFSET, &args), -ENOENT);
	close(other);
}

TEST_HARNESS_MAIN
