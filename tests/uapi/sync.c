// SPDX-License-Identifier: MIT
/*
 * sync.c - batches that wait for syncobjs and signal them
 */
#include "kselftest_harness.h"

#include <string.h>
#include <unistd.h>
#include <xf86drm.h>

#include "rendernode.h"

#define SIZE	(4u << 20)

FIXTURE(sync) {
	int fd;
	uint32_t a, b;		/* contexts */
	struct bo from, to;
};

FIXTURE_SETUP(sync)
{
	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(ctx_create(self->fd, &self->a), 0);
	ASSERT_EQ(ctx_create(self->fd, &self->b), 0);
	ASSERT_EQ(bo_create(self->fd, SIZE, 0, &self->from), 0);
	ASSERT_EQ(bo_create(self->fd, SIZE, 0, &self->to), 0);
	ASSERT_EQ(bo_map(self->fd, &self->to), 0);
}

FIXTURE_TEARDOWN(sync)
{
	close(self->fd);
}

static struct drm_salvo_sync binary(uint32_t handle)
{
	return (struct drm_salvo_sync){ .handle = handle };
}

static struct drm_salvo_sync point(uint32_t handle, uint64_t point)
{
	return (struct drm_salvo_sync){ handle, DRM_SALVO_SYNC_TIMELINE, point };
}

static int submit_one(int fd, uint32_t ctx, struct drm_salvo_command command,
		      const struct drm_salvo_sync *wait, const struct drm_salvo_sync *signal)
{
	const struct batch batch = {
		.ctx = ctx, .commands = &command, .count = 1,
		.waits = wait, .wait_count = !!wait,
		.signals = signal, .signal_count = !!signal,
	};

	return submit(fd, &batch);
}

/* Word of the copy that is not @value, or the number of words. */
static size_t first_not(const struct bo *bo, uint32_t value)
{
	const uint32_t *words = bo->map;
	size_t i;

	for (i = 0; i < bo->size / 4 && words[i] == value; i++)
		;
	return i;
}

/*
 * The scheduler must not let the second batch start when the first is only on the
 * ring, for the GPU overlaps batches of different contexts.
 */
TEST_F(sync, batch_of_another_context_waits_for_the_end)
{
	const struct drm_salvo_sync made = binary(syncobj_create(self->fd));
	const struct drm_salvo_sync done = binary(syncobj_create(self->fd));
	uint32_t round;

	for (round = 1; round <= 30; round++) {
		ASSERT_EQ(submit_one(self->fd, self->a, fill(self->from.address, SIZE, round),
				     NULL, &made), 0);
		ASSERT_EQ(submit_one(self->fd, self->b,
				     copy(self->to.address, self->from.address, SIZE),
				     &made, &done), 0);
		ASSERT_EQ(syncobj_wait(self->fd, done.handle, 20), 0);
		ASSERT_EQ(first_not(&self->to, round), SIZE / 4);
	}
}

TEST_F(sync, timeline_points_order_batches)
{
	uint32_t timeline = syncobj_create(self->fd);
	uint64_t at, value = 0;
	uint32_t round;

	for (round = 1; round <= 20; round++) {
		const struct drm_salvo_sync last = point(timeline, 2 * round - 2);
		const struct drm_salvo_sync made = point(timeline, 2 * round - 1);
		const struct drm_salvo_sync done = point(timeline, 2 * round);

		ASSERT_EQ(submit_one(self->fd, self->a, fill(self->from.address, SIZE, round),
				     round > 1 ? &last : NULL, &made), 0);
		ASSERT_EQ(submit_one(self->fd, self->b,
				     copy(self->to.address, self->from.address, SIZE),
				     &made, &done), 0);
	}
	at = 40;
	ASSERT_EQ(drmSyncobjTimelineWait(self->fd, &timeline, &at, 1, INT64_MAX, 0, NULL), 0);
	ASSERT_EQ(drmSyncobjQuery(self->fd, &timeline, &value, 1), 0);
	EXPECT_EQ(value, 40);
	EXPECT_EQ(first_not(&self->to, 20), SIZE / 4);
}

TEST_F(sync, many_syncobjs_are_all_waited_for_and_signalled)
{
	const struct drm_salvo_command command = copy(self->to.address, self->from.address, SIZE);
	struct drm_salvo_sync waits[16], signals[16];
	const struct batch last = {
		.ctx = self->b, .commands = &command, .count = 1,
		.waits = waits, .wait_count = 16, .signals = signals, .signal_count = 16,
	};
	uint32_t i;

	for (i = 0; i < 16; i++) {
		uint32_t ctx;

		waits[i] = binary(syncobj_create(self->fd));
		signals[i] = i % 2 ? binary(syncobj_create(self->fd)) :
				     point(syncobj_create(self->fd), 9);
		ASSERT_EQ(ctx_create(self->fd, &ctx), 0);
		ASSERT_EQ(submit_one(self->fd, ctx,
				     fill(self->from.address + SIZE / 16 * i, SIZE / 16, 3),
				     NULL, &waits[i]), 0);
	}
	ASSERT_EQ(submit(self->fd, &last), 0);
	for (i = 0; i < 16; i++) {
		uint64_t at = signals[i].point;

		EXPECT_EQ(drmSyncobjTimelineWait(self->fd, &signals[i].handle, &at, 1, INT64_MAX,
						 0, NULL), 0);
	}
	EXPECT_EQ(first_not(&self->to, 3), SIZE / 4);
}

TEST_F(sync, syncobj_goes_to_another_file)
{
	const struct drm_salvo_sync made = binary(syncobj_create(self->fd));
	const struct drm_salvo_sync done = binary(syncobj_create(self->fd));
	int other = node_open(), shared;
	struct drm_salvo_sync there = { 0 };
	struct bo bo;
	uint32_t ctx;

	ASSERT_GE(other, 0);
	ASSERT_EQ(ctx_create(other, &ctx), 0);
	ASSERT_EQ(bo_create(other, 4096, 0, &bo), 0);
	ASSERT_EQ(submit_one(self->fd, self->a, fill(self->from.address, SIZE, 1), NULL, &made), 0);
	ASSERT_EQ(drmSyncobjHandleToFD(self->fd, made.handle, &shared), 0);
	ASSERT_EQ(drmSyncobjFDToHandle(other, shared, &there.handle), 0);
	close(shared);
	ASSERT_EQ(submit_one(other, ctx, fill(bo.address, 4096, 1), &there, &there), 0);
	EXPECT_EQ(syncobj_wait(other, there.handle, 20), 0);
	/* The other file replaced the fence in the syncobj that both have. */
	ASSERT_EQ(submit_one(self->fd, self->b, fill(self->to.address, SIZE, 8), &made, &done), 0);
	EXPECT_EQ(syncobj_wait(self->fd, done.handle, 20), 0);
	EXPECT_EQ(first_not(&self->to, 8), SIZE / 4);
	close(other);
}

TEST_F(sync, context_may_end_before_its_batches)
{
	const struct drm_salvo_sync made = binary(syncobj_create(self->fd));
	const struct drm_salvo_sync done = binary(syncobj_create(self->fd));
	struct drm_salvo_ctx_destroy destroy = { .id = self->b };

	ASSERT_EQ(submit_one(self->fd, self->a, fill(self->from.address, SIZE, 4), NULL, &made), 0);
	ASSERT_EQ(submit_one(self->fd, self->b, copy(self->to.address, self->from.address, SIZE),
			     &made, &done), 0);
	ASSERT_EQ(call(self->fd, DRM_IOCTL_SALVO_CTX_DESTROY, &destroy), 0);
	ASSERT_EQ(syncobj_wait(self->fd, done.handle, 20), 0);
	EXPECT_EQ(syncobj_error(self->fd, done.handle), 0);
	EXPECT_EQ(first_not(&self->to, 4), SIZE / 4);
}

TEST_HARNESS_MAIN
