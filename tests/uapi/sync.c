// SPDX-License-Identifier: MIT
/*
 * sync.c - batches that wait for syncobjs and signal them
 */
#include "kselftest_harness.h"

#include <poll.h>
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

/* Index of the first word of the copy that is not @value, or the number of words. */
static size_t first_not(const struct bo *bo, uint32_t value)
{
	const uint32_t *words = bo->map;
	size_t i;

	for (i = 0; i < bo->size / 4 && words[i] == value; i++)
		;
	return i;
}

/*
 * The scheduler must not run the second batch as soon as the first is on the ring, since
 * the GPU overlaps batches of different contexts.
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

/* A fence that is exported and imported again is the same. */
TEST_F(sync, sync_file_of_a_batch_is_waited_for_by_another)
{
	const struct drm_salvo_sync made = binary(syncobj_create(self->fd));
	const struct drm_salvo_sync taken = binary(syncobj_create(self->fd));
	const struct drm_salvo_sync done = binary(syncobj_create(self->fd));
	uint32_t round;
	int sync_file;

	for (round = 1; round <= 10; round++) {
		ASSERT_EQ(submit_one(self->fd, self->a, fill(self->from.address, SIZE, round),
				     NULL, &made), 0);
		ASSERT_EQ(drmSyncobjExportSyncFile(self->fd, made.handle, &sync_file), 0);
		ASSERT_EQ(drmSyncobjImportSyncFile(self->fd, taken.handle, sync_file), 0);
		close(sync_file);
		ASSERT_EQ(submit_one(self->fd, self->b,
				     copy(self->to.address, self->from.address, SIZE),
				     &taken, &done), 0);
		ASSERT_EQ(syncobj_wait(self->fd, done.handle, 20), 0);
		ASSERT_EQ(first_not(&self->to, round), SIZE / 4);
	}
}

TEST_F(sync, sync_file_of_a_point_of_a_timeline)
{
	const uint32_t timeline = syncobj_create(self->fd), one = syncobj_create(self->fd);
	const struct drm_salvo_sync made = point(timeline, 7), done = binary(one);
	struct pollfd pollfd = { .events = POLLIN };

	ASSERT_EQ(submit_one(self->fd, self->a, fill(self->to.address, SIZE, 3), NULL, &made), 0);
	ASSERT_EQ(drmSyncobjTransfer(self->fd, one, 0, timeline, 7, 0), 0);
	ASSERT_EQ(drmSyncobjExportSyncFile(self->fd, one, &pollfd.fd), 0);
	EXPECT_EQ(poll(&pollfd, 1, 20000), 1);
	EXPECT_EQ(first_not(&self->to, 3), SIZE / 4);
	close(pollfd.fd);
	ASSERT_EQ(submit_one(self->fd, self->b, fill(self->to.address, SIZE, 4), &done, &done), 0);
	EXPECT_EQ(syncobj_wait(self->fd, one, 20), 0);
}

/* A point includes all earlier ones; a point without a fence is refused. */
TEST_F(sync, points_of_a_timeline)
{
	uint32_t timeline = syncobj_create(self->fd);
	const struct drm_salvo_sync fifth = point(timeline, 5), third = point(timeline, 3);
	const struct drm_salvo_sync ninth = point(timeline, 9);
	uint64_t at = 4, value = 0;

	ASSERT_EQ(submit_one(self->fd, self->a, fill(self->from.address, SIZE, 6), NULL,
			     &fifth), 0);
	EXPECT_EQ(submit_one(self->fd, self->b, fill(self->to.address, 64, 1), &ninth, NULL),
		  -EINVAL);
	ASSERT_EQ(submit_one(self->fd, self->b, copy(self->to.address, self->from.address, SIZE),
			     &third, &ninth), 0);
	ASSERT_EQ(drmSyncobjTimelineWait(self->fd, &timeline, &at, 1, INT64_MAX, 0, NULL), 0);
	at = 9;
	ASSERT_EQ(drmSyncobjTimelineWait(self->fd, &timeline, &at, 1, INT64_MAX, 0, NULL), 0);
	ASSERT_EQ(drmSyncobjQuery(self->fd, &timeline, &value, 1), 0);
	EXPECT_EQ(value, 9);
	EXPECT_EQ(first_not(&self->to, 6), SIZE / 4);
}

/* Points that the CPU signals order batches as well. */
TEST_F(sync, batch_waits_for_a_point_that_the_cpu_has_signalled)
{
	uint32_t timeline = syncobj_create(self->fd);
	const struct drm_salvo_sync first = point(timeline, 1), second = point(timeline, 2);
	uint64_t at = 1;

	EXPECT_EQ(submit_one(self->fd, self->a, fill(self->to.address, SIZE, 2), &first, &second),
		  -EINVAL);
	ASSERT_EQ(drmSyncobjTimelineSignal(self->fd, &timeline, &at, 1), 0);
	ASSERT_EQ(submit_one(self->fd, self->a, fill(self->to.address, SIZE, 2), &first,
			     &second), 0);
	at = 2;
	ASSERT_EQ(drmSyncobjTimelineWait(self->fd, &timeline, &at, 1, INT64_MAX, 0, NULL), 0);
	EXPECT_EQ(first_not(&self->to, 2), SIZE / 4);
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
