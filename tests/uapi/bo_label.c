// SPDX-License-Identifier: MIT
/* bo_label.c - BO_SET_LABEL: labels in debugfs, and one invalid field per case */
#include "kselftest_harness.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rendernode.h"

FIXTURE(bo_label) {
	int fd;
	struct bo bo;
	struct drm_salvo_device_info info;
	struct drm_salvo_bo_set_label args;
};

FIXTURE_SETUP(bo_label)
{
	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(device_info(self->fd, &self->info), 0);
	ASSERT_EQ(bo_create(self->fd, 4096, 0, &self->bo), 0);
	self->args = (struct drm_salvo_bo_set_label){
		.handle = self->bo.handle, .label = (uintptr_t)"frame 17 in",
	};
}

FIXTURE_TEARDOWN(bo_label)
{
	close(self->fd);
}

#define TRY() call(self->fd, DRM_IOCTL_SALVO_BO_SET_LABEL, &self->args)

TEST_F(bo_label, is_shown_until_it_changes_or_the_buffer_goes)
{
	EXPECT_FALSE(buffer_listed("frame 17 in"));
	ASSERT_EQ(TRY(), 0);
	EXPECT_TRUE(buffer_listed("frame 17 in"));
	self->args.label = (uintptr_t)"frame 17 out";
	ASSERT_EQ(TRY(), 0);
	EXPECT_FALSE(buffer_listed("frame 17 in"));
	EXPECT_TRUE(buffer_listed("frame 17 out"));
	self->args.label = 0;
	ASSERT_EQ(TRY(), 0);
	EXPECT_FALSE(buffer_listed("frame 17 out"));
	self->args.label = (uintptr_t)"to be closed";
	ASSERT_EQ(TRY(), 0);
	ASSERT_EQ(bo_close(self->fd, &self->bo), 0);
	ASSERT_TRUE(wait_value("reclaiming", 0));
	EXPECT_FALSE(buffer_listed("to be closed"));
}

/* debugfs is printed on terminals, so control characters are escaped. */
TEST_F(bo_label, shows_no_control_characters)
{
	self->args.label = (uintptr_t)"one\ntwo\x1b[2J";
	ASSERT_EQ(TRY(), 0);
	EXPECT_TRUE(buffer_listed("one\\ntwo\\x1b[2J"));
}

TEST_F(bo_label, wrong_handle)
{
	self->args.handle = 0;
	EXPECT_EQ(TRY(), -ENOENT);
	self->args.handle = self->bo.handle + 1000;
	EXPECT_EQ(TRY(), -ENOENT);
}

TEST_F(bo_label, wrong_pad)
{
	self->args.pad = 1;
	EXPECT_EQ(TRY(), -EINVAL);
}

TEST_F(bo_label, wrong_label)
{
	self->args.label = 8;
	EXPECT_EQ(TRY(), -EFAULT);
	self->args.label = 1ull << 63;
	EXPECT_EQ(TRY(), -EFAULT);
}

TEST_F(bo_label, longest)
{
	char label[4096];

	ASSERT_LT(self->info.max_label_bytes, sizeof(label));
	memset(label, 'x', sizeof(label));
	self->args.label = (uintptr_t)label;
	label[self->info.max_label_bytes - 1] = '\0';
	EXPECT_EQ(TRY(), 0);
	label[self->info.max_label_bytes - 1] = 'x';
	label[self->info.max_label_bytes] = '\0';
	EXPECT_EQ(TRY(), -E2BIG);
}

TEST_F(bo_label, may_end_at_the_end_of_memory)
{
	char *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(map, MAP_FAILED);
	ASSERT_EQ(munmap(map + 4096, 4096), 0);
	memcpy(map + 4092, "end", 4);
	self->args.label = (uintptr_t)map + 4092;
	EXPECT_EQ(TRY(), 0);
	map[4095] = '!';
	EXPECT_EQ(TRY(), -EFAULT);
	munmap(map, 4096);
}

TEST_HARNESS_MAIN
