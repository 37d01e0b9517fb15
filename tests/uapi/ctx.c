// SPDX-License-Identifier: MIT
/* ctx.c - CTX_CREATE, CTX_DESTROY, CTX_QUERY: one invalid field per case */
#include "kselftest_harness.h"

#include <linux/capability.h>
#include <string.h>
#include <sys/syscall.h>
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
	EXPECT_EQ(query.guilty, 0);
	EXPECT_EQ(query.innocent, 0);
	EXPECT_EQ(query.fault.kind, DRM_SALVO_FAULT_NONE);
	EXPECT_EQ(query.fault.batch, 0);
}

TEST_F(ctx, create_wrong_flags)
{
	struct drm_salvo_ctx_create args = { .flags = 1 };

	EXPECT_EQ(call(self->fd, DRM_IOCTL_SALVO_CTX_CREATE, &args), -EINVAL);
}

TEST_F(ctx, create_wrong_pad)
{
	struct drm_salvo_ctx_create args = { .pad = 1 };

	EXPECT_EQ(call(self->fd, DRM_IOCTL_SALVO_CTX_CREATE, &args), -EINVAL);
}

TEST_F(ctx, create_wrong_priority)
{
	struct drm_salvo_ctx_create args = { .priority = DRM_SALVO_PRIORITY_HIGH + 1 };

	EXPECT_EQ(call(self->fd, DRM_IOCTL_SALVO_CTX_CREATE, &args), -EINVAL);
	args.priority = ~0u;
	EXPECT_EQ(call(self->fd, DRM_IOCTL_SALVO_CTX_CREATE, &args), -EINVAL);
}

TEST_F(ctx, every_priority_runs)
{
	const struct drm_salvo_command command = fill(self->bo.address, 4096, 1);
	struct drm_salvo_ctx_create args = { 0 };

	for (; args.priority <= DRM_SALVO_PRIORITY_HIGH; args.priority++) {
		ASSERT_EQ(call(self->fd, DRM_IOCTL_SALVO_CTX_CREATE, &args), 0);
		EXPECT_EQ(run(self->fd, args.id, &command, 1), 0);
	}
}

TEST_F(ctx, high_priority_needs_a_privilege)
{
	struct drm_salvo_ctx_create args = { .priority = DRM_SALVO_PRIORITY_HIGH };
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct all[2], less[2];

	ASSERT_EQ(syscall(SYS_capget, &header, all), 0);
	memcpy(less, all, sizeof(all));
	less[0].effective &= ~(1u << CAP_SYS_NICE);
	ASSERT_EQ(syscall(SYS_capset, &header, less), 0);
	EXPECT_EQ(call(self->fd, DRM_IOCTL_SALVO_CTX_CREATE, &args), -EACCES);
	args.priority = DRM_SALVO_PRIORITY_LOW;
	EXPECT_EQ(call(self->fd, DRM_IOCTL_SALVO_CTX_CREATE, &args), 0);
	args.priority = DRM_SALVO_PRIORITY_NORMAL;
	EXPECT_EQ(call(self->fd, DRM_IOCTL_SALVO_CTX_CREATE, &args), 0);
	ASSERT_EQ(syscall(SYS_capset, &header, all), 0);
}

TEST_F_TIMEOUT(ctx, as_many_as_the_limit_says, 200)
{
	struct drm_salvo_ctx_create args = { 0 };
	struct drm_salvo_device_info info;
	struct drm_salvo_ctx_destroy last;
	uint32_t i;

	ASSERT_EQ(device_info(self->fd, &info), 0);
	/* The fixture has created one. */
	for (i = 1; i < info.max_contexts; i++)
		ASSERT_EQ(call(self->fd, DRM_IOCTL_SALVO_CTX_CREATE, &args), 0);
	last = (struct drm_salvo_ctx_destroy){ .id = args.id };
	EXPECT_EQ(call(self->fd, DRM_IOCTL_SALVO_CTX_CREATE, &args), -E2BIG);
	ASSERT_EQ(call(self->fd, DRM_IOCTL_SALVO_CTX_DESTROY, &last), 0);
	EXPECT_EQ(call(self->fd, DRM_IOCTL_SALVO_CTX_CREATE, &args), 0);
	EXPECT_EQ(args.id, last.id);
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
