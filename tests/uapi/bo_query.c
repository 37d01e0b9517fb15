// SPDX-License-Identifier: MIT
/* bo_query.c - BO_QUERY: its results, and one invalid field per case */
#include "kselftest_harness.h"

#include <unistd.h>

#include "rendernode.h"

FIXTURE(bo_query) {
	int fd;
	struct bo bo;
	struct drm_salvo_bo_query args;
};

FIXTURE_SETUP(bo_query)
{
	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(bo_create(self->fd, 5000, DRM_SALVO_BO_READONLY, &self->bo), 0);
	self->args = (struct drm_salvo_bo_query){ .handle = self->bo.handle };
}

FIXTURE_TEARDOWN(bo_query)
{
	close(self->fd);
}

#define TRY() call(self->fd, DRM_IOCTL_SALVO_BO_QUERY, &self->args)

TEST_F(bo_query, tells_what_create_told)
{
	ASSERT_EQ(TRY(), 0);
	EXPECT_EQ(self->args.handle, self->bo.handle);
	EXPECT_EQ(self->args.flags, DRM_SALVO_BO_READONLY);
	EXPECT_EQ(self->args.size, 8192);
	EXPECT_EQ(self->args.address, self->bo.address);
}

TEST_F(bo_query, does_not_read_what_is_out)
{
	self->args.flags = ~0u;
	self->args.size = ~0ull;
	self->args.address = ~0ull;
	ASSERT_EQ(TRY(), 0);
	EXPECT_EQ(self->args.flags, DRM_SALVO_BO_READONLY);
	EXPECT_EQ(self->args.size, 8192);
}

TEST_F(bo_query, wrong_handle)
{
	self->args.handle = 0;
	EXPECT_EQ(TRY(), -ENOENT);
	self->args.handle = self->bo.handle + 1000;
	EXPECT_EQ(TRY(), -ENOENT);
}

TEST_F(bo_query, closed_handle)
{
	ASSERT_EQ(bo_close(self->fd, &self->bo), 0);
	EXPECT_EQ(TRY(), -ENOENT);
}

TEST_F(bo_query, handle_of_another_file)
{
	int other = node_open();

	ASSERT_GE(other, 0);
	EXPECT_EQ(call(other, DRM_IOCTL_SALVO_BO_QUERY, &self->args), -ENOENT);
	close(other);
}

TEST_HARNESS_MAIN
