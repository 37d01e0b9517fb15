// SPDX-License-Identifier: MIT
/*
 * export.c - buffers in VRAM as dma-bufs: mapped, and shared between files
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <linux/dma-buf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include "dmabuf.h"
#include "rendernode.h"

#define SIZE	(1u << 20)

FIXTURE(export) {
	int fd, other, dmabuf;
	uint32_t ctx, other_ctx;
	struct bo bo;
};

FIXTURE_SETUP(export)
{
	self->fd = node_open();
	self->other = node_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_GE(self->other, 0);
	ASSERT_EQ(ctx_create(self->fd, &self->ctx), 0);
	ASSERT_EQ(ctx_create(self->other, &self->other_ctx), 0);
	ASSERT_EQ(bo_create(self->fd, SIZE, 0, &self->bo), 0);
	ASSERT_EQ(drmPrimeHandleToFD(self->fd, self->bo.handle, DRM_CLOEXEC | DRM_RDWR,
				     &self->dmabuf), 0);
}

FIXTURE_TEARDOWN(export)
{
	if (self->bo.map)
		munmap(self->bo.map, self->bo.size);
	close(self->dmabuf);
	close(self->other);
	close(self->fd);
	EXPECT_TRUE(wait_value("vram-used", 0));
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

TEST_F(export, dmabuf_is_mapped_and_shows_what_the_gpu_writes)
{
	const struct drm_salvo_command command = fill(self->bo.address, SIZE, 11);
	uint32_t *map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, self->dmabuf, 0);

	ASSERT_NE(map, MAP_FAILED);
	ASSERT_EQ(run(self->fd, self->ctx, &command, 1), 0);
	ASSERT_EQ(dmabuf_sync(self->dmabuf, DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW), 0);
	EXPECT_EQ(map[0], 11);
	EXPECT_EQ(map[SIZE / 4 - 1], 11);
	map[5] = 12;
	ASSERT_EQ(dmabuf_sync(self->dmabuf, DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW), 0);
	ASSERT_EQ(bo_map(self->fd, &self->bo), 0);
	EXPECT_EQ(((uint32_t *)self->bo.map)[5], 12);
	munmap(map, SIZE);
}

TEST_F(export, part_of_it_is_mapped)
{
	uint32_t *map;

	ASSERT_EQ(bo_map(self->fd, &self->bo), 0);
	((uint32_t *)self->bo.map)[4096 * 3 / 4] = 13;
	map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, self->dmabuf, 4096 * 3);
	ASSERT_NE(map, MAP_FAILED);
	EXPECT_EQ(map[0], 13);
	munmap(map, 4096);
	EXPECT_EQ(mmap(NULL, 4096, PROT_READ, MAP_SHARED, self->dmabuf, SIZE), MAP_FAILED);
	EXPECT_EQ(mmap(NULL, SIZE + 4096, PROT_READ, MAP_SHARED, self->dmabuf, 0), MAP_FAILED);
}

TEST_F(export, private_mapping_is_refused)
{
	EXPECT_EQ(mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, self->dmabuf, 0),
		  MAP_FAILED);
	EXPECT_EQ(errno, EINVAL);
}

TEST_F(export, without_DRM_RDWR_it_is_mapped_for_reading_only)
{
	struct bo bo;
	int dmabuf;
	void *map;

	ASSERT_EQ(bo_create(self->fd, SIZE, 0, &bo), 0);
	ASSERT_EQ(drmPrimeHandleToFD(self->fd, bo.handle, DRM_CLOEXEC, &dmabuf), 0);
	EXPECT_EQ(mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, dmabuf, 0), MAP_FAILED);
	EXPECT_EQ(errno, EACCES);
	map = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, dmabuf, 0);
	EXPECT_NE(map, MAP_FAILED);
	munmap(map, SIZE);
	close(dmabuf);
}

TEST_F(export, same_file_gets_its_handle_back)
{
	struct bo again;
	int dmabuf;

	ASSERT_EQ(import(self->fd, self->dmabuf, &again), 0);
	EXPECT_EQ(again.handle, self->bo.handle);
	ASSERT_EQ(drmPrimeHandleToFD(self->fd, self->bo.handle, DRM_CLOEXEC, &dmabuf), 0);
	ASSERT_EQ(import(self->other, dmabuf, &again), 0);
	close(dmabuf);
}

TEST_F(export, another_file_has_the_same_memory_at_the_same_address)
{
	struct drm_salvo_command command = fill(self->bo.address, SIZE, 14);
	struct bo there;

	EXPECT_EQ(run(self->other, self->other_ctx, &command, 1), -EINVAL);
	ASSERT_EQ(import(self->other, self->dmabuf, &there), 0);
	EXPECT_EQ(there.address, self->bo.address);
	EXPECT_EQ(there.size, SIZE);
	ASSERT_EQ(run(self->other, self->other_ctx, &command, 1), 0);
	ASSERT_EQ(bo_map(self->fd, &self->bo), 0);
	EXPECT_EQ(((uint32_t *)self->bo.map)[SIZE / 4 - 1], 14);
	ASSERT_EQ(bo_map(self->other, &there), 0);
	EXPECT_EQ(((uint32_t *)there.map)[SIZE / 4 - 1], 14);
	ASSERT_EQ(bo_close(self->other, &there), 0);
	EXPECT_EQ(run(self->other, self->other_ctx, &command, 1), -EINVAL);
	EXPECT_EQ(run(self->fd, self->ctx, &command, 1), 0);
}

TEST_F(export, lives_as_long_as_anyone_has_it)
{
	struct drm_salvo_command command = fill(self->bo.address, SIZE, 15);
	struct bo there;
	uint32_t *map;

	ASSERT_EQ(import(self->other, self->dmabuf, &there), 0);
	ASSERT_EQ(bo_close(self->fd, &self->bo), 0);
	ASSERT_EQ(run(self->other, self->other_ctx, &command, 1), 0);
	ASSERT_EQ(bo_close(self->other, &there), 0);
	ASSERT_TRUE(wait_value("reclaiming", 0));
	EXPECT_EQ(device_counter("vram-used"), SIZE);
	map = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, self->dmabuf, 0);
	ASSERT_NE(map, MAP_FAILED);
	EXPECT_EQ(map[SIZE / 4 - 1], 15);
	/* The dma-buf alone keeps it and can be imported again. */
	ASSERT_EQ(import(self->other, self->dmabuf, &there), 0);
	EXPECT_EQ(there.address, self->bo.address);
	ASSERT_EQ(run(self->other, self->other_ctx, &command, 1), 0);
	munmap(map, SIZE);
}

/* Imported again while the old vma is retiring, with and without batches in flight. */
TEST_F(export, closed_and_opened_again_at_once)
{
	struct drm_salvo_sync done = { .handle = syncobj_create(self->other) };
	struct drm_salvo_command command = fill(self->bo.address, SIZE, 16);
	const struct batch batch = {
		.ctx = self->other_ctx, .commands = &command, .count = 1,
		.signals = &done, .signal_count = 1,
	};
	struct bo there;
	int round;

	for (round = 0; round < 200; round++) {
		ASSERT_EQ(import(self->other, self->dmabuf, &there), 0);
		ASSERT_EQ(submit(self->other, &batch), 0);
		if (round % 3 == 0)
			ASSERT_EQ(syncobj_wait(self->other, done.handle, 20), 0);
		if (round % 7 == 0)
			ASSERT_TRUE(wait_value("reclaiming", 0));
		ASSERT_EQ(bo_close(self->other, &there), 0);
	}
	ASSERT_EQ(syncobj_wait(self->other, done.handle, 20), 0);
	EXPECT_EQ(syncobj_error(self->other, done.handle), 0);
	EXPECT_TRUE(wait_value("reclaiming", 0));
}

TEST_F(export, read_only_and_executable_stay_so)
{
	struct drm_salvo_bo_query query = { 0 };
	struct drm_salvo_command command;
	struct bo code, there;
	int dmabuf;

	ASSERT_EQ(bo_create(self->fd, 4096, DRM_SALVO_BO_EXEC, &code), 0);
	ASSERT_EQ(drmPrimeHandleToFD(self->fd, code.handle, DRM_CLOEXEC | DRM_RDWR, &dmabuf), 0);
	ASSERT_EQ(import(self->other, dmabuf, &there), 0);
	query.handle = there.handle;
	ASSERT_EQ(call(self->other, DRM_IOCTL_SALVO_BO_QUERY, &query), 0);
	EXPECT_EQ(query.flags, DRM_SALVO_BO_EXEC);
	command = fill(there.address, 4096, 1);
	EXPECT_EQ(run(self->other, self->other_ctx, &command, 1), -EINVAL);
	close(dmabuf);
}

TEST_F(export, other_devices_are_refused)
{
	int vgem = vgem_open();
	uint32_t handle;

	if (vgem < 0)
		SKIP(return, "there is no vgem");
	EXPECT_NE(drmPrimeFDToHandle(vgem, self->dmabuf, &handle), 0);
	/* By the driver, or by a kernel that asks first whether there are pages. */
	EXPECT_TRUE(errno == EOPNOTSUPP || errno == ENOSYS);
	close(vgem);
}

TEST_F(export, wrong_handle)
{
	int dmabuf;

	EXPECT_NE(drmPrimeHandleToFD(self->fd, self->bo.handle + 1000, DRM_CLOEXEC, &dmabuf), 0);
	EXPECT_EQ(errno, ENOENT);
	EXPECT_NE(drmPrimeHandleToFD(self->fd, self->bo.handle, 1, &dmabuf), 0);
	EXPECT_EQ(errno, EINVAL);
}

TEST_HARNESS_MAIN
