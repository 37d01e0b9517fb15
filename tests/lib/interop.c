// SPDX-License-Identifier: MIT
/* interop.c - imported and exported memory, and a time limit for kernels */
#include <fcntl.h>
#include <sys/mman.h>
#include <xf86drm.h>

#include "dmabuf.h"
#include "kselftest_harness.h"
#include "lib_test.h"

#define BYTES 16384u

FIXTURE(interop) {
	struct bench b;
	struct salvo_kernel *store;
	bool soft;
};

FIXTURE_SETUP(interop)
{
	ASSERT_EQ(0, bench_open(&self->b));
	self->store = bench_kernel(&self->b, "store");
	ASSERT_NE(NULL, self->store);
	self->soft = !strcmp(self->b.info.name, "soft");
}

FIXTURE_TEARDOWN(interop)
{
	salvo_kernel_destroy(self->store);
	bench_close(&self->b);
}

static int make_memfd(uint32_t **map)
{
	const int fd = memfd_create("test", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, BYTES))
		return -1;
	*map = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return *map == MAP_FAILED ? -1 : fd;
}

TEST_F(interop, a_memfd_is_read_and_written_in_place)
{
	struct salvo_kernel *add = bench_kernel(&self->b, "add");
	const uint32_t items = BYTES / 4, value = 1000;
	struct salvo_bo *bo;
	unsigned int i, round, wrong = 0;
	uint32_t *theirs;
	void *ours;
	int fd;

	if (!self->soft)
		SKIP(return, "the driver takes dma-bufs only");
	for (round = 0; round < 3; round++) {
		fd = make_memfd(&theirs);
		ASSERT_LE(0, fd);
		for (i = 0; i < BYTES / 4; i++)
			theirs[i] = i;
		ASSERT_EQ(0, salvo_bo_import_dmabuf(self->b.device, fd, 0, &bo));
		close(fd);
		EXPECT_EQ(BYTES, salvo_bo_size(bo));
		ASSERT_EQ(0, salvo_bo_map(bo, &ours));
		EXPECT_EQ(5, ((uint32_t *)ours)[5]);
		salvo_batch_reset(self->b.batch);
		salvo_kernel_set_bo(add, 0, bo, 0);
		salvo_kernel_set_value(add, 1, &value, sizeof(value));
		salvo_kernel_set_grid(add, 1, &items, NULL);
		ASSERT_EQ(0, salvo_batch_dispatch(self->b.batch, add));
		ASSERT_EQ(1, salvo_batch_copy(self->b.batch, self->b.bo, 0, bo, 0, BYTES));
		ASSERT_EQ(2, salvo_batch_pipe_control(self->b.batch, 1, 0));
		ASSERT_EQ(0, bench_run(&self->b));
		for (i = 0; i < BYTES / 4; i++)
			wrong += theirs[i] != i + 1000 || self->b.map[i] != i + 1000;
		EXPECT_EQ(0, wrong);
		salvo_bo_destroy(bo);
		/* The exporter's memory still exists, but the address belongs to no buffer. */
		EXPECT_EQ(1000, theirs[0]);
		EXPECT_EQ(-EINVAL, salvo_queue_submit(self->b.queue, self->b.batch, NULL, 0, NULL));
		munmap(theirs, BYTES);
	}
	salvo_kernel_destroy(add);
}

TEST_F(interop, a_memfd_that_can_only_be_read)
{
	char path[64];
	struct salvo_bo *bo;
	uint32_t *theirs;
	int fd, reader;

	if (!self->soft)
		SKIP(return, "the driver takes dma-bufs only");
	fd = make_memfd(&theirs);
	ASSERT_LE(0, fd);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	reader = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, reader);
	EXPECT_EQ(-EACCES, salvo_bo_import_dmabuf(self->b.device, reader, 0, &bo));
	EXPECT_EQ(NULL, bo);
	theirs[1] = 77;
	ASSERT_EQ(0, salvo_bo_import_dmabuf(self->b.device, reader, SALVO_BO_READONLY, &bo));
	ASSERT_EQ(0, salvo_batch_copy(self->b.batch, self->b.bo, 0, bo, 4, 4));
	ASSERT_EQ(0, bench_run(&self->b));
	EXPECT_EQ(77, self->b.map[0]);
	salvo_batch_reset(self->b.batch);
	ASSERT_EQ(0, salvo_batch_fill(self->b.batch, bo, 0, 4, 1));
	EXPECT_EQ(-EINVAL, salvo_queue_submit(self->b.queue, self->b.batch, NULL, 0, NULL));
	salvo_bo_destroy(bo);
	munmap(theirs, BYTES);
	close(reader);
	close(fd);
}

TEST_F(interop, wrong_files)
{
	struct salvo_bo *bo = (void *)1;
	int fd, pipes[2];

	EXPECT_EQ(-EBADF, salvo_bo_import_dmabuf(self->b.device, -1, 0, &bo));
	EXPECT_EQ(NULL, bo);
	ASSERT_EQ(0, pipe(pipes));
	EXPECT_EQ(-EINVAL, salvo_bo_import_dmabuf(self->b.device, pipes[0], 0, &bo));
	EXPECT_EQ(-EINVAL, salvo_bo_import_dmabuf(self->b.device, pipes[0], 1u << 30, &bo));
	close(pipes[0]);
	close(pipes[1]);
	fd = memfd_create("test", MFD_CLOEXEC);
	EXPECT_EQ(-EINVAL, salvo_bo_import_dmabuf(self->b.device, fd, 0, &bo));
	ASSERT_EQ(0, ftruncate(fd, 100));
	EXPECT_EQ(-EINVAL, salvo_bo_import_dmabuf(self->b.device, fd, 0, &bo));
	close(fd);
}

TEST_F(interop, an_exported_buffer_comes_back_as_itself)
{
	struct salvo_bo *bo, *again, *twice;
	int fd, err;
	void *map;

	ASSERT_EQ(0, salvo_bo_create(self->b.device, BYTES, 0, &bo));
	err = salvo_bo_export_dmabuf(bo, &fd);
	if (self->soft) {
		EXPECT_EQ(-ENOTSUP, err);
		EXPECT_EQ(-1, fd);
		salvo_bo_destroy(bo);
		SKIP(return, "the embedded GPU's buffers are no dma-bufs");
	}
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, salvo_bo_import_dmabuf(self->b.device, fd, 0, &again));
	ASSERT_EQ(0, salvo_bo_import_dmabuf(self->b.device, fd, 0, &twice));
	close(fd);
	EXPECT_EQ(salvo_bo_address(bo), salvo_bo_address(again));
	EXPECT_EQ(BYTES, salvo_bo_size(again));
	/* Each handle keeps the memory. */
	salvo_bo_destroy(bo);
	salvo_bo_destroy(twice);
	ASSERT_EQ(0, salvo_batch_fill(self->b.batch, again, 0, 64, 9));
	ASSERT_EQ(0, bench_run(&self->b));
	ASSERT_EQ(0, salvo_bo_map(again, &map));
	EXPECT_EQ(9, ((uint32_t *)map)[15]);
	salvo_bo_destroy(again);
}

TEST_F(interop, a_dmabuf_that_can_only_be_read)
{
	struct vgem_bo theirs, open;
	struct salvo_bo *bo;
	void *map;
	int vgem;

	if (self->soft)
		SKIP(return, "the embedded GPU takes memfds; there is a test with one");
	vgem = vgem_open();
	if (vgem < 0)
		SKIP(return, "no vgem here");
	ASSERT_EQ(0, vgem_create(vgem, BYTES, DRM_CLOEXEC, &theirs));
	EXPECT_EQ(-EACCES, salvo_bo_import_dmabuf(self->b.device, theirs.fd, 0, &bo));
	EXPECT_EQ(NULL, bo);
	ASSERT_EQ(0, salvo_bo_import_dmabuf(self->b.device, theirs.fd, SALVO_BO_READONLY, &bo));
	self->b.map[0] = 5;
	ASSERT_EQ(0, salvo_batch_copy(self->b.batch, self->b.bo, 0, bo, 4, 4));
	ASSERT_EQ(0, bench_run(&self->b));
	EXPECT_EQ(0, self->b.map[0]);
	ASSERT_EQ(0, salvo_bo_map(bo, &map));
	EXPECT_EQ(0, *(uint32_t *)map);
	EXPECT_EQ(-1, mprotect(map, BYTES, PROT_READ | PROT_WRITE));
	salvo_batch_reset(self->b.batch);
	ASSERT_EQ(0, salvo_batch_fill(self->b.batch, bo, 0, 4, 1));
	EXPECT_EQ(-EINVAL, salvo_queue_submit(self->b.queue, self->b.batch, NULL, 0, NULL));
	salvo_bo_destroy(bo);
	vgem_destroy(vgem, &theirs);

	/* The driver cannot import this buffer read-only. */
	ASSERT_EQ(0, vgem_create(vgem, BYTES, DRM_CLOEXEC | DRM_RDWR, &open));
	EXPECT_EQ(-ENOTSUP, salvo_bo_import_dmabuf(self->b.device, open.fd, SALVO_BO_READONLY,
						   &bo));
	ASSERT_EQ(0, salvo_bo_import_dmabuf(self->b.device, open.fd, 0, &bo));
	salvo_batch_reset(self->b.batch);
	ASSERT_EQ(0, salvo_batch_fill(self->b.batch, bo, 0, 4, 9));
	ASSERT_EQ(0, bench_run(&self->b));
	EXPECT_EQ(9, open.map[0]);
	salvo_bo_destroy(bo);
	vgem_destroy(vgem, &open);
	close(vgem);
}

/* --- time limit ------------------------------------------------------------- */

TEST_F(interop, a_kernel_that_never_ends_is_ended)
{
	struct salvo_queue *other;
	struct salvo_fence *hung, *behind, *good;
	struct salvo_error error;

	if (!self->soft) {
		EXPECT_EQ(-ENOTSUP, salvo_device_set_timeout(self->b.device, SECOND_NS));
		SKIP(return, "the driver has a time limit of its own");
	}
#ifdef __SANITIZE_THREAD__
	SKIP(return, "ThreadSanitizer holds back the signal that ends a kernel");
#endif
	ASSERT_EQ(0, salvo_queue_create(self->b.device, 0, &other));
	ASSERT_EQ(0, salvo_device_set_timeout(self->b.device, SECOND_NS / 5));
	ASSERT_EQ(0, bench_store(&self->b, self->store, 3, 3));
	ASSERT_EQ(1, bench_gate(&self->b, 0, 1, 5));
	ASSERT_EQ(2, salvo_batch_pipe_control(self->b.batch, 1, 0));
	ASSERT_EQ(0, salvo_queue_submit(self->b.queue, self->b.batch, NULL, 0, &hung));
	ASSERT_EQ(0, salvo_queue_submit(self->b.queue, self->b.batch, NULL, 0, &behind));
	salvo_batch_reset(self->b.batch);
	ASSERT_EQ(0, bench_store(&self->b, self->store, 8, 7));
	ASSERT_EQ(0, salvo_queue_submit(other, self->b.batch, NULL, 0, &good));
	EXPECT_EQ(-ECANCELED, salvo_fence_wait(hung, 20 * SECOND_NS));
	EXPECT_EQ(-ECANCELED, salvo_fence_wait(behind, 20 * SECOND_NS));
	EXPECT_EQ(0, salvo_fence_wait(good, 20 * SECOND_NS));
	EXPECT_EQ(7, self->b.map[8]);
	ASSERT_EQ(0, salvo_fence_get_error(hung, &error));
	EXPECT_EQ(SALVO_ERROR_HANG, error.kind);
	EXPECT_EQ(1, error.command);
	EXPECT_STREQ("wait_for_host", error.kernel);
	ASSERT_EQ(0, salvo_fence_get_error(behind, &error));
	EXPECT_EQ(SALVO_ERROR_NONE, error.kind);
	EXPECT_EQ(-EIO, salvo_queue_submit(self->b.queue, self->b.batch, NULL, 0, NULL));
	EXPECT_EQ(0, salvo_device_set_timeout(self->b.device, 0));
	salvo_fence_destroy(hung);
	salvo_fence_destroy(behind);
	salvo_fence_destroy(good);
	salvo_queue_destroy(other);
}

TEST_F(interop, batches_within_the_time_limit_are_left_alone)
{
	struct salvo_fence *fence;
	int i;

	if (!self->soft)
		SKIP(return, "the driver has a time limit of its own");
	ASSERT_EQ(0, salvo_device_set_timeout(self->b.device, 5 * SECOND_NS));
	for (i = 0; i < 200; i++) {
		salvo_batch_reset(self->b.batch);
		ASSERT_EQ(0, bench_store(&self->b, self->store, 0, i));
		ASSERT_EQ(0, salvo_queue_submit(self->b.queue, self->b.batch, NULL, 0, &fence));
		if (i % 10)
			EXPECT_EQ(0, salvo_fence_wait(fence, 20 * SECOND_NS));
		salvo_fence_destroy(fence);
	}
	EXPECT_EQ(0, salvo_queue_wait(self->b.queue, 0, 20 * SECOND_NS));
}

TEST_F(interop, to_set_the_time_limit_takes_no_time_from_a_batch)
{
	struct salvo_fence *fence;
	int i;

	if (!self->soft)
		SKIP(return, "the driver has a time limit of its own");
	ASSERT_EQ(0, bench_gate(&self->b, 0, 1, 5));
	ASSERT_EQ(0, salvo_queue_submit(self->b.queue, self->b.batch, NULL, 0, &fence));
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, salvo_device_set_timeout(self->b.device, i % 2 * 100 * SECOND_NS));
		usleep(10000);
	}
	open_gate(&self->b, 0);
	EXPECT_EQ(0, salvo_fence_wait(fence, 20 * SECOND_NS));
	EXPECT_EQ(5, self->b.map[1]);
	salvo_fence_destroy(fence);
}

TEST_HARNESS_MAIN
