// SPDX-License-Identifier: MIT
/* dev_query.c - DEV_QUERY: its results, and one invalid field per case */
#include "kselftest_harness.h"

#include <string.h>
#include <unistd.h>

#include "rendernode.h"
#include "salvo_hw.h"

FIXTURE(query) {
	int fd;
	struct drm_salvo_device_info info;
	struct drm_salvo_dev_query args;
};

FIXTURE_SETUP(query)
{
	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
	memset(&self->info, 0, sizeof(self->info));
	self->args = (struct drm_salvo_dev_query){
		.type = DRM_SALVO_QUERY_DEVICE,
		.size = sizeof(self->info),
		.pointer = (uintptr_t)&self->info,
	};
}

FIXTURE_TEARDOWN(query)
{
	close(self->fd);
}

TEST_F(query, tells_the_device)
{
	ASSERT_EQ(call(self->fd, DRM_IOCTL_SALVO_DEV_QUERY, &self->args), 0);
	EXPECT_EQ(self->args.size, sizeof(self->info));
	EXPECT_EQ(self->info.hw_version >> 16, SALVO_VERSION >> 16);
	EXPECT_GE(self->info.units, 1);
	EXPECT_GE(self->info.nodes, 1);
	EXPECT_GE(self->info.isa_level, 2);
	EXPECT_GE(self->info.vram_bytes, 1 << 20);
	EXPECT_GT(self->info.clock_hz, 0);
	EXPECT_EQ(self->info.max_argument_bytes, SALVO_MAX_ARGUMENT_BYTES);
	EXPECT_GE(self->info.max_syncs, 1);
	EXPECT_EQ(self->info.max_groups, SALVO_MAX_GROUPS);
	EXPECT_EQ(self->info.max_group_items, SALVO_MAX_GROUP_ITEMS);
	EXPECT_EQ(self->info.max_local_bytes, SALVO_MAX_LOCAL_BYTES);
	EXPECT_GE(self->info.max_contexts, 1);
	EXPECT_GE(self->info.max_label_bytes, 16);
	EXPECT_EQ(self->info.page_bytes, 4096);
}

TEST_F(query, B10_takes_at_least_1024_workloads)
{
	ASSERT_EQ(call(self->fd, DRM_IOCTL_SALVO_DEV_QUERY, &self->args), 0);
	EXPECT_GE(self->info.max_commands, 4096);
	EXPECT_GE(self->info.max_dispatches, 1024);
}

TEST_F(query, size_alone)
{
	self->args.pointer = 0;
	self->args.size = 0;
	ASSERT_EQ(call(self->fd, DRM_IOCTL_SALVO_DEV_QUERY, &self->args), 0);
	EXPECT_EQ(self->args.size, sizeof(self->info));
	self->args.type = DRM_SALVO_QUERY_MEMORY;
	self->args.size = 0;
	ASSERT_EQ(call(self->fd, DRM_IOCTL_SALVO_DEV_QUERY, &self->args), 0);
	EXPECT_EQ(self->args.size, sizeof(struct drm_salvo_memory_info));
}

TEST_F(query, short_structure_gets_its_part)
{
	self->info.nodes = 77;
	self->args.size = 8;
	ASSERT_EQ(call(self->fd, DRM_IOCTL_SALVO_DEV_QUERY, &self->args), 0);
	EXPECT_GE(self->info.units, 1);
	EXPECT_EQ(self->info.nodes, 77);
	EXPECT_EQ(self->args.size, sizeof(self->info));
}

TEST_F(query, long_structure_is_zeroed_at_its_end)
{
	unsigned char buffer[sizeof(struct drm_salvo_device_info) + 9];

	memset(buffer, 0xff, sizeof(buffer));
	self->args.size = sizeof(buffer) - 1;
	self->args.pointer = (uintptr_t)buffer;
	ASSERT_EQ(call(self->fd, DRM_IOCTL_SALVO_DEV_QUERY, &self->args), 0);
	EXPECT_EQ(buffer[sizeof(buffer) - 2], 0);
	EXPECT_EQ(buffer[sizeof(buffer) - 1], 0xff);
}

TEST_F(query, tells_how_full_memory_is)
{
	struct drm_salvo_memory_info before, full, after;
	struct bo bo;

	ASSERT_TRUE(wait_value("reclaiming", 0));
	ASSERT_EQ(memory_info(self->fd, &before), 0);
	ASSERT_EQ(call(self->fd, DRM_IOCTL_SALVO_DEV_QUERY, &self->args), 0);
	EXPECT_EQ(before.vram_bytes, self->info.vram_bytes);
	EXPECT_EQ(before.vram_free, before.vram_bytes);
	EXPECT_EQ(before.vram_largest, before.vram_bytes);
	ASSERT_EQ(bo_create(self->fd, 1 << 20, 0, &bo), 0);
	ASSERT_EQ(memory_info(self->fd, &full), 0);
	EXPECT_EQ(full.vram_free, before.vram_free - (1 << 20));
	EXPECT_LE(full.vram_largest, full.vram_free);
	ASSERT_EQ(bo_close(self->fd, &bo), 0);
	ASSERT_TRUE(wait_value("reclaiming", 0));
	ASSERT_EQ(memory_info(self->fd, &after), 0);
	EXPECT_EQ(after.vram_free, before.vram_free);
}

TEST_F(query, wrong_type)
{
	self->args.type = 2;
	EXPECT_EQ(call(self->fd, DRM_IOCTL_SALVO_DEV_QUERY, &self->args), -EINVAL);
	self->args.type = ~0u;
	EXPECT_EQ(call(self->fd, DRM_IOCTL_SALVO_DEV_QUERY, &self->args), -EINVAL);
}

TEST_F(query, wrong_size)
{
	self->args.size = 1 << 20;
	EXPECT_EQ(call(self->fd, DRM_IOCTL_SALVO_DEV_QUERY, &self->args), -EINVAL);
}

TEST_F(query, wrong_pointer)
{
	self->args.pointer = 8;
	EXPECT_EQ(call(self->fd, DRM_IOCTL_SALVO_DEV_QUERY, &self->args), -EFAULT);
}

TEST_HARNESS_MAIN
