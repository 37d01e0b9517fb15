// SPDX-License-Identifier: MIT
/* ctx.c - CTX_CREATE, CTX_DESTROY, CTX_QUERY: one wrong field per case */
#include "kselftest_harness.h"

#include <unistd.h>

#include "rendernode.h"

FIXTURE(ctx) {
	int fd;
	uint32_t id;
	struct bo bo;
};

FIXTURE_SETUP(ctx)
{
	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(ctx_create(self->fd, &self->id), 0);
	ASSERT_EQ(bo_create(self->fd, 4096, 0, &self->bo), 0);
}

FIXTURE_TEARDOWN(ctx)
{
	close(self->fd);
}

TEST_F(ctx, ids_are_not_zero_and_differ)
{
	uint32_t other;

	ASSERT_EQ(ctx_create(self->fd, &other), 0);
	EXPECT_NE(self->id, 0);
	EXPECT_NE(other, 0);
	EXPECT_NE(other, self->id);
}

TEST_F(ctx, query_counts_batches)
{
	const struct drm_salvo_command command = fill(self->bo.address, 4096, 1);
	struct drm_salvo_ctx_query query;

	ASSERT_EQ(ctx_query(self->fd, self->id, &query), 0);
	EXPECT_EQ(query.submitted, 0);
	ASSERT_EQ(run(self->fd, self->id, &command, 1), 0);
	ASSERT_EQ(run(self->fd, self->id, &command, 1), 0);
	ASSERT_EQ(ctx_query(self->fd, self->id, &query), 0);
	EXPECT_EQ(query.state, 0);
	EXPECT_EQ(query.submitted, 2);
	EXPECT_EQ(query.completed, 2);
	EXPECT_EQ(query.failed, 0);
}

TEST_F(ctx, create_wrong_flags)
{
	struct drm_salvo_ctx_create args = { .flags = 1 };

	EXPECT_EQ(call(self->fd, DRM_IOCTL_SALVO_CTX_CREATE, &args), -EINVAL);
}

TEST_F(ctx, create_wrong_eu_mask)
{
	struct drm_salvo_device_info info = { 0 };
	struct drm_salvo_dev_query query = {
		.size = sizeof(info), .pointer = (uintptr_t)&info,
	};
	struct drm_salvo_ctx_create args = { 0 };

	ASSERT_EQ(call(self->fd, DRM_IOCTL_SALVO_DEV_QUERY, &query), 0);
	if (info.units == 64)
		SKIP(return, "every bit of the mask is a unit");
	args.eu_mask = 1ull << info.units;
	EXPECT_EQ(call(self->fd, DRM_IOCTL_SALVO_CTX_CREATE, &args), -EINVAL);
	args.eu_mask = 1ull << (info.units - 1);
	EXPECT_EQ(call(self->fd, DRM_IOCTL_SALVO_CTX_CREATE, &args), 0);
}

TEST_F(ctx, dispatch_units_must_be_the_contexts)
{
	struct drm_salvo_ctx_create create = { .eu_mask = 1 };
	struct drm_salvo_device_info info = { 0 };
	struct drm_salvo_dev_query query = {
		.size = sizeof(info), .pointer = (uintptr_t)&info,
	};
	struct drm_salvo_command command = {
		.type = DRM_SALVO_DISPATCH, .eu_mask = 2, .dims = 1,
		.items = { 1, 1, 1 }, .group = { 1, 1, 1 },
	};
	struct bo code;

	ASSERT_EQ(call(self->fd, DRM_IOCTL_SALVO_DEV_QUERY, &query), 0);
	if (info.units < 2)
		SKIP(return, "the GPU has one unit");
	ASSERT_EQ(bo_create(self->fd, 4096, DRM_SALVO_BO_EXEC, &code), 0);
	command.entry = code.address;
	ASSERT_EQ(call(self->fd, DRM_IOCTL_SALVO_CTX_CREATE, &create), 0);
	EXPECT_EQ(run(self->fd, create.id, &command, 1), -EINVAL);
}

TEST_F(ctx, destroy_takes_the_id_away)
{
	struct drm_salvo_ctx_destroy args = { .id = self->id };
	const struct drm_salvo_command command = fill(self->bo.address, 4096, 1);
	struct drm_salvo_ctx_query query;

	ASSERT_EQ(call(self->fd, DRM_IOCTL_SALVO_CTX_DESTROY, &args), 0);
	EXPECT_EQ(call(self->fd, DRM_IOCTL_SALVO_CTX_DESTROY, &args), -ENOENT);
	EXPECT_EQ(ctx_query(self->fd, self->id, &query), -ENOENT);
	EXPECT_EQ(run(self->fd, self->id, &command, 1), -ENOENT);
}

TEST_F(ctx, destroy_wrong_id)
{
	struct drm_salvo_ctx_destroy args = { .id = 0 };

	EXPECT_EQ(call(self->fd, DRM_IOCTL_SALVO_CTX_DESTROY, &args), -ENOENT);
	args.id = self->id + 1;
	EXPECT_EQ(call(self->fd, DRM_IOCTL_SALVO_CTX_DESTROY, &args), -ENOENT);
}

TEST_F(ctx, destroy_wrong_pad)
{
	struct drm_salvo_ctx_destroy args = { .id = self->id, .pad = 1 };

	EXPECT_EQ(call(self->fd, DRM_IOCTL_SALVO_CTX_DESTROY, &args), -EINVAL);
}

TEST_F(ctx, query_wrong_id)
{
	struct drm_salvo_ctx_query query;

	EXPECT_EQ(ctx_query(self->fd, 0, &query), -ENOENT);
	EXPECT_EQ(ctx_query(self->fd, self->id + 1, &query), -ENOENT);
}

TEST_F(ctx, belongs_to_its_file)
{
	struct drm_salvo_ctx_query query;
	int other = node_open();

	ASSERT_GE(other, 0);
	EXPECT_EQ(ctx_query(other, self->id, &query), -ENOENT);
	close(other);
}

TEST_HARNESS_MAIN
