// SPDX-License-Identifier: MIT
/*
 * implicit.c - implicit fences of shared buffers, in both directions
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <linux/dma-buf.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include <xf86drm.h>

#include "dmabuf.h"
#include "rendernode.h"

#define SIZE	(1u << 20)

FIXTURE(implicit) {
	int fd, vgem;
	uint32_t ctx;
	struct vgem_bo frame;
	struct bo bo, vram;
	struct drm_salvo_sync done;
};

FIXTURE_SETUP(implicit)
{
	self->vgem = vgem_open();
	if (self->vgem < 0)
		SKIP_TEST("there is no vgem");
	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(ctx_create(self->fd, &self->ctx), 0);
	ASSERT_EQ(bo_create(self->fd, SIZE, 0, &self->vram), 0);
	ASSERT_EQ(bo_map(self->fd, &self->vram), 0);
	ASSERT_EQ(vgem_create(self->vgem, SIZE, DRM_CLOEXEC | DRM_RDWR, &self->frame), 0);
	self->done.handle = syncobj_create(self->fd);
}

FIXTURE_TEARDOWN(implicit)
{
	vgem_destroy(self->vgem, &self->frame);
	close(self->fd);
	close(self->vgem);
}

static int import(int fd, int dmabuf, struct bo *bo)
{
	struct drm_salvo_bo_query query = { 0 };
	int err;

	if (drmPrimeFDToHandle(fd, dmabuf, &query.handle))
		return -errno;
	err = call(fd, DRM_IOCTL_SALVO_BO_QUERY, &query);
	*bo = (struct bo){ query.size, query.address, query.handle, NULL };
	return err;
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

/* The batch has not run, since the fence is not signalled. */
#define EXPECT_HELD(syncobj) EXPECT_EQ(syncobj_wait(self->fd, syncobj, 0.1), -ETIME)

TEST_F(implicit, batch_waits_for_the_writer)
{
	uint32_t fence;

	ASSERT_EQ(import(self->fd, self->frame.fd, &self->bo), 0);
	ASSERT_EQ(vgem_fence_attach(self->vgem, &self->frame, true, &fence), 0);
	ASSERT_EQ(submit_one(self->fd, self->ctx, copy(self->vram.address, self->bo.address, SIZE),
			     NULL, &self->done), 0);
	EXPECT_HELD(self->done.handle);
	self->frame.map[SIZE / 4 - 1] = 42;
	ASSERT_EQ(vgem_fence_signal(self->vgem, fence), 0);
	ASSERT_EQ(syncobj_wait(self->fd, self->done.handle, 20), 0);
	EXPECT_EQ(((uint32_t *)self->vram.map)[SIZE / 4 - 1], 42);
}

TEST_F(implicit, batch_waits_for_readers_since_it_may_write)
{
	uint32_t fence;

	ASSERT_EQ(import(self->fd, self->frame.fd, &self->bo), 0);
	ASSERT_EQ(vgem_fence_attach(self->vgem, &self->frame, false, &fence), 0);
	ASSERT_EQ(submit_one(self->fd, self->ctx, fill(self->bo.address, SIZE, 7), NULL,
			     &self->done), 0);
	EXPECT_HELD(self->done.handle);
	EXPECT_EQ(self->frame.map[0], 0);
	ASSERT_EQ(vgem_fence_signal(self->vgem, fence), 0);
	ASSERT_EQ(syncobj_wait(self->fd, self->done.handle, 20), 0);
	EXPECT_EQ(self->frame.map[0], 7);
}

TEST_F(implicit, readers_of_a_read_only_buffer_do_not_wait_for_each_other)
{
	struct vgem_bo frame;
	uint32_t fence;

	ASSERT_EQ(vgem_create(self->vgem, SIZE, DRM_CLOEXEC, &frame), 0);
	ASSERT_EQ(import(self->fd, frame.fd, &self->bo), 0);
	ASSERT_EQ(vgem_fence_attach(self->vgem, &frame, false, &fence), 0);
	ASSERT_EQ(submit_one(self->fd, self->ctx, copy(self->vram.address, self->bo.address, SIZE),
			     NULL, &self->done), 0);
	EXPECT_EQ(syncobj_wait(self->fd, self->done.handle, 20), 0);
	EXPECT_EQ(vgem_fence_signal(self->vgem, fence), 0);
	vgem_destroy(self->vgem, &frame);
}

TEST_F(implicit, our_fence_is_on_the_buffer)
{
	struct drm_salvo_sync held = { .handle = syncobj_create(self->fd) };
	struct drm_salvo_sync after = { .handle = syncobj_create(self->fd) };
	struct vgem_bo gate;
	uint32_t fence;
	int sync_file;

	/* A syncobj with a fence that the test signals. */
	ASSERT_EQ(vgem_create(self->vgem, 4096, DRM_CLOEXEC | DRM_RDWR, &gate), 0);
	ASSERT_EQ(vgem_fence_syncobj(self->vgem, &gate, &fence, self->fd,
				     held.handle), 0);

	ASSERT_EQ(import(self->fd, self->frame.fd, &self->bo), 0);
	EXPECT_TRUE(dmabuf_poll(self->frame.fd, false, 0));
	ASSERT_EQ(submit_one(self->fd, self->ctx, fill(self->bo.address, SIZE, 3), &held,
			     &self->done), 0);
	EXPECT_FALSE(dmabuf_poll(self->frame.fd, false, 0));
	EXPECT_FALSE(dmabuf_poll(self->frame.fd, true, 100));
	sync_file = dmabuf_sync_file(self->frame.fd, false);
	ASSERT_GE(sync_file, 0);
	ASSERT_EQ(drmSyncobjImportSyncFile(self->fd, after.handle, sync_file), 0);
	close(sync_file);
	EXPECT_HELD(after.handle);

	ASSERT_EQ(vgem_fence_signal(self->vgem, fence), 0);
	EXPECT_EQ(syncobj_wait(self->fd, after.handle, 20), 0);
	EXPECT_TRUE(dmabuf_poll(self->frame.fd, true, 20000));
	EXPECT_EQ(self->frame.map[SIZE / 4 - 1], 3);
	vgem_destroy(self->vgem, &gate);
}

/* DMA_BUF_IOCTL_SYNC waits for the GPU. */
TEST_F(implicit, cpu_access_waits_for_the_batch)
{
	uint32_t round;

	ASSERT_EQ(import(self->fd, self->frame.fd, &self->bo), 0);
	for (round = 1; round <= 30; round++) {
		ASSERT_EQ(submit_one(self->fd, self->ctx, fill(self->bo.address, SIZE, round),
				     NULL, NULL), 0);
		ASSERT_EQ(dmabuf_sync(self->frame.fd, DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ), 0);
		ASSERT_EQ(self->frame.map[SIZE / 4 - 1], round);
		ASSERT_EQ(dmabuf_sync(self->frame.fd, DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ), 0);
	}
}

/* Within a file, only syncobjs order batches. */
TEST_F(implicit, batches_of_the_same_file_do_not_wait_for_each_other)
{
	struct drm_salvo_sync held = { .handle = syncobj_create(self->fd) };
	struct drm_salvo_sync other = { .handle = syncobj_create(self->fd) };
	struct vgem_bo gate;
	uint32_t fence, ctx;

	ASSERT_EQ(ctx_create(self->fd, &ctx), 0);
	ASSERT_EQ(vgem_create(self->vgem, 4096, DRM_CLOEXEC | DRM_RDWR, &gate), 0);
	ASSERT_EQ(vgem_fence_syncobj(self->vgem, &gate, &fence, self->fd,
				     held.handle), 0);

	ASSERT_EQ(import(self->fd, self->frame.fd, &self->bo), 0);
	ASSERT_EQ(submit_one(self->fd, self->ctx, fill(self->bo.address, SIZE, 1), &held,
			     &self->done), 0);
	ASSERT_EQ(submit_one(self->fd, ctx, fill(self->bo.address, SIZE, 2), NULL, &other), 0);
	EXPECT_EQ(syncobj_wait(self->fd, other.handle, 20), 0);
	EXPECT_EQ(self->frame.map[0], 2);
	EXPECT_HELD(self->done.handle);
	ASSERT_EQ(vgem_fence_signal(self->vgem, fence), 0);
	EXPECT_EQ(syncobj_wait(self->fd, self->done.handle, 20), 0);
	vgem_destroy(self->vgem, &gate);
}

/* Files of this driver synchronize with each other through the buffer alone. */
TEST_F(implicit, files_that_share_vram_are_ordered)
{
	int other = node_open(), dmabuf;
	struct bo made, here, there;
	uint32_t ctx, round;
	size_t i;

	ASSERT_GE(other, 0);
	ASSERT_EQ(ctx_create(other, &ctx), 0);
	ASSERT_EQ(bo_create(other, SIZE, 0, &made), 0);
	ASSERT_EQ(bo_map(other, &made), 0);
	ASSERT_EQ(bo_create(self->fd, SIZE, 0, &here), 0);
	ASSERT_EQ(drmPrimeHandleToFD(self->fd, here.handle, DRM_CLOEXEC | DRM_RDWR, &dmabuf), 0);
	ASSERT_EQ(import(other, dmabuf, &there), 0);
	EXPECT_EQ(there.address, here.address);
	for (round = 1; round <= 30; round++) {
		ASSERT_EQ(submit_one(self->fd, self->ctx, fill(here.address, SIZE, round), NULL,
				     NULL), 0);
		ASSERT_EQ(submit_one(other, ctx, copy(made.address, there.address, SIZE), NULL,
				     NULL), 0);
		ASSERT_TRUE(dmabuf_poll(dmabuf, true, 20000));
		for (i = 0; i < SIZE / 4; i += 1024)
			ASSERT_EQ(((uint32_t *)made.map)[i], round);
	}
	close(dmabuf);
	close(other);
}

/* They were submitted before the buffer was shared. */
TEST_F(implicit, batches_from_before_the_export_count)
{
	struct drm_salvo_sync held = { .handle = syncobj_create(self->fd) };
	struct vgem_bo gate;
	uint32_t fence;
	int dmabuf;

	ASSERT_EQ(vgem_create(self->vgem, 4096, DRM_CLOEXEC | DRM_RDWR, &gate), 0);
	ASSERT_EQ(vgem_fence_syncobj(self->vgem, &gate, &fence, self->fd,
				     held.handle), 0);

	ASSERT_EQ(submit_one(self->fd, self->ctx, fill(self->vram.address, SIZE, 1), &held,
			     &self->done), 0);
	ASSERT_EQ(drmPrimeHandleToFD(self->fd, self->vram.handle, DRM_CLOEXEC, &dmabuf), 0);
	EXPECT_FALSE(dmabuf_poll(dmabuf, false, 100));
	ASSERT_EQ(vgem_fence_signal(self->vgem, fence), 0);
	EXPECT_TRUE(dmabuf_poll(dmabuf, false, 20000));
	EXPECT_EQ(((uint32_t *)self->vram.map)[0], 1);
	close(dmabuf);
	vgem_destroy(self->vgem, &gate);
}

#define SHARED	20u
#define ROUNDS	100u

struct submitter {
	int fd;
	uint64_t address;
	int err;
};

static void *submit_many(void *cookie)
{
	struct submitter *s = cookie;
	uint32_t ctx, round;

	s->err = ctx_create(s->fd, &ctx);
	for (round = 0; round < ROUNDS && !s->err; round++)
		s->err = submit_one(s->fd, ctx, fill(s->address, 4096, round), NULL, NULL);
	return NULL;
}

/*
 * Two files share many buffers but list them in opposite orders, and submit at the same
 * time: the one that loses a reservation to the other has to back off.
 */
TEST_F_TIMEOUT(implicit, files_lock_the_same_buffers_in_any_order, 200)
{
	struct submitter submitters[4];
	struct vgem_bo frames[SHARED];
	pthread_t threads[4];
	int files[2] = { self->fd, node_open() };
	struct bo bo;
	uint32_t i;

	ASSERT_GE(files[1], 0);
	for (i = 0; i < SHARED; i++)
		ASSERT_EQ(vgem_create(self->vgem, 4096, DRM_CLOEXEC | DRM_RDWR, &frames[i]), 0);
	for (i = 0; i < SHARED; i++) {
		ASSERT_EQ(import(files[0], frames[i].fd, &bo), 0);
		submitters[0] = submitters[1] = (struct submitter){ files[0], bo.address, 0 };
	}
	for (i = SHARED; i--;) {
		ASSERT_EQ(import(files[1], frames[i].fd, &bo), 0);
		submitters[2] = submitters[3] = (struct submitter){ files[1], bo.address, 0 };
	}
	for (i = 0; i < 4; i++)
		ASSERT_EQ(pthread_create(&threads[i], NULL, submit_many, &submitters[i]), 0);
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		EXPECT_EQ(submitters[i].err, 0);
	}
	for (i = 0; i < SHARED; i++) {
		EXPECT_TRUE(dmabuf_poll(frames[i].fd, true, 20000));
		vgem_destroy(self->vgem, &frames[i]);
	}
	close(files[1]);
}

TEST_F(implicit, refused_batch_leaves_no_fence)
{
	ASSERT_EQ(import(self->fd, self->frame.fd, &self->bo), 0);
	EXPECT_EQ(submit_one(self->fd, self->ctx, fill(self->bo.address + SIZE, 4, 1), NULL,
			     NULL), -EINVAL);
	EXPECT_TRUE(dmabuf_poll(self->frame.fd, true, 0));
}

/* What a thread submits while another one exports a buffer. */
struct racing {
	int fd, err;
	struct batch batch;
	pthread_barrier_t *start;
	unsigned int delay_us;
};

static void *submit_at_start(void *cookie)
{
	struct racing *race = cookie;

	pthread_barrier_wait(race->start);
	if (race->delay_us)
		usleep(race->delay_us);
	race->err = submit(race->fd, &race->batch);
	return NULL;
}

#define SHARED_BUFFERS	1000u
#define RACES	40u

/*
 * Whichever is first, SUBMIT or the first export of a buffer: the batch's fence is in the
 * dma-buf. Many shared buffers make the window wide in which SUBMIT locks them.
 */
TEST_F_TIMEOUT(implicit, batch_under_submission_has_its_fence_in_a_first_export, 120)
{
	struct drm_salvo_sync held = { .handle = syncobj_create(self->fd) };
	const struct drm_salvo_command command = fill(self->vram.address, 64, 1);
	pthread_barrier_t start;
	struct vgem_bo gate;
	struct bo bo;
	unsigned int i;
	int dmabuf;

	for (i = 0; i < SHARED_BUFFERS; i++) {
		ASSERT_EQ(bo_create(self->fd, 4096, 0, &bo), 0);
		ASSERT_EQ(drmPrimeHandleToFD(self->fd, bo.handle, DRM_CLOEXEC, &dmabuf), 0);
		close(dmabuf);
	}
	ASSERT_EQ(vgem_create(self->vgem, 4096, DRM_CLOEXEC | DRM_RDWR, &gate), 0);
	ASSERT_EQ(pthread_barrier_init(&start, NULL, 2), 0);
	for (i = 0; i < RACES; i++) {
		struct racing race = {
			.fd = self->fd, .start = &start, .delay_us = i % 4 * 100,
			.batch = {
				.ctx = self->ctx, .commands = &command, .count = 1,
				.waits = &held, .wait_count = 1,
				.signals = &self->done, .signal_count = 1,
			},
		};
		pthread_t thread;
		uint32_t fence;

		ASSERT_EQ(bo_create(self->fd, 4096, 0, &bo), 0);
		ASSERT_EQ(vgem_fence_syncobj(self->vgem, &gate, &fence, self->fd,
					     held.handle), 0);
		ASSERT_EQ(pthread_create(&thread, NULL, submit_at_start, &race), 0);
		pthread_barrier_wait(&start);
		usleep(i * 50);
		EXPECT_EQ(drmPrimeHandleToFD(self->fd, bo.handle, DRM_CLOEXEC, &dmabuf), 0);
		pthread_join(thread, NULL);
		ASSERT_EQ(race.err, 0);
		EXPECT_FALSE(dmabuf_poll(dmabuf, true, 0)) {
			TH_LOG("race %u: the buffer has no fence", i);
		}
		EXPECT_EQ(vgem_fence_signal(self->vgem, fence), 0);
		EXPECT_EQ(syncobj_wait(self->fd, self->done.handle, 20), 0);
		close(dmabuf);
		bo_close(self->fd, &bo);
	}
	pthread_barrier_destroy(&start);
	vgem_destroy(self->vgem, &gate);
}

TEST_HARNESS_MAIN
