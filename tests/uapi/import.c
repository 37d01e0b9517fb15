// SPDX-License-Identifier: MIT
/*
 * import.c - dma-bufs of system memory: the GPU reads and writes them in place
 *
 * Their memory is vgem's, or udmabuf's on kernels that have it.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include "dmabuf.h"
#include "rendernode.h"

#define SIZE	(8u << 20)
#define WORDS	(SIZE / 4)

FIXTURE(import) {
	int fd, vgem;
	uint32_t ctx;
	struct bo vram;
	struct drm_salvo_memory_info before;
};

/* All GPU addresses are free again shortly after the last reference was dropped. */
static bool window_is_whole(int fd)
{
	struct drm_salvo_memory_info now = { 0 };
	int i;

	for (i = 0; i < 500; i++) {
		if (!memory_info(fd, &now) && now.system_free == now.system_bytes)
			return true;
		usleep(10000);
	}
	return false;
}

FIXTURE_SETUP(import)
{
	self->vgem = vgem_open();
	if (self->vgem < 0)
		SKIP_TEST("there is no vgem");
	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
	/* The previous test program may have ended a moment ago. */
	ASSERT_TRUE(window_is_whole(self->fd));
	ASSERT_TRUE(wait_value("reclaiming", 0));
	ASSERT_EQ(memory_info(self->fd, &self->before), 0);
	ASSERT_EQ(ctx_create(self->fd, &self->ctx), 0);
	ASSERT_EQ(bo_create(self->fd, SIZE, 0, &self->vram), 0);
	ASSERT_EQ(bo_map(self->fd, &self->vram), 0);
}

FIXTURE_TEARDOWN(import)
{
	int fd;

	/* A mapping holds the file. */
	munmap(self->vram.map, self->vram.size);
	close(self->fd);
	close(self->vgem);
	fd = node_open();
	ASSERT_GE(fd, 0);
	EXPECT_TRUE(window_is_whole(fd));
	close(fd);
}

/* Imports a dma-buf and queries it. */
static int import(int fd, int dmabuf, struct bo *bo, uint32_t *flags)
{
	struct drm_salvo_bo_query query = { 0 };
	int err;

	if (drmPrimeFDToHandle(fd, dmabuf, &query.handle))
		return -errno;
	err = call(fd, DRM_IOCTL_SALVO_BO_QUERY, &query);
	*bo = (struct bo){ query.size, query.address, query.handle, NULL };
	if (flags)
		*flags = query.flags;
	return err;
}

static uint32_t word(size_t i, uint32_t seed)
{
	return (uint32_t)i * 2654435761u + seed;
}

static size_t wrong_words(const uint32_t *words, uint32_t seed)
{
	size_t i, wrong = 0;

	for (i = 0; i < WORDS; i++)
		wrong += words[i] != word(i, seed);
	return wrong;
}

static void write_words(uint32_t *words, uint32_t seed)
{
	size_t i;

	for (i = 0; i < WORDS; i++)
		words[i] = word(i, seed);
}

TEST_F(import, gpu_reads_and_writes_in_place)
{
	struct drm_salvo_command command;
	struct drm_salvo_memory_info now;
	struct vgem_bo frame;
	uint32_t flags;
	struct bo bo;

	ASSERT_EQ(vgem_create(self->vgem, SIZE, DRM_CLOEXEC | DRM_RDWR, &frame), 0);
	write_words(frame.map, 1);
	ASSERT_EQ(import(self->fd, frame.fd, &bo, &flags), 0);
	EXPECT_EQ(flags, DRM_SALVO_BO_IMPORTED);
	EXPECT_EQ(bo.size, SIZE);
	ASSERT_EQ(memory_info(self->fd, &now), 0);
	EXPECT_EQ(now.system_free, self->before.system_free - SIZE);
	EXPECT_EQ(now.vram_free, self->before.vram_free - SIZE);

	command = copy(self->vram.address, bo.address, SIZE);
	ASSERT_EQ(run(self->fd, self->ctx, &command, 1), 0);
	EXPECT_EQ(wrong_words(self->vram.map, 1), 0);

	write_words(self->vram.map, 2);
	command = copy(bo.address, self->vram.address, SIZE);
	ASSERT_EQ(run(self->fd, self->ctx, &command, 1), 0);
	EXPECT_EQ(wrong_words(frame.map, 2), 0);

	/* Later writes of the CPU are visible: the import did not copy. */
	frame.map[WORDS - 1] = 77;
	command = copy(self->vram.address, bo.address + SIZE - 4, 4);
	ASSERT_EQ(run(self->fd, self->ctx, &command, 1), 0);
	EXPECT_EQ(*(uint32_t *)self->vram.map, 77);
	vgem_destroy(self->vgem, &frame);
}

/* Loads and stores of a kernel, not only COPY commands. */
TEST_F(import, kernels_work_on_it)
{
	/*
	 * mov (%rdi),%rax; mov 8(%rdi),%rcx;
	 * 1: addl $3,(%rax); add $4,%rax; dec %rcx; jnz 1b; ret
	 */
	static const unsigned char code[] = {
		0x48, 0x8b, 0x07, 0x48, 0x8b, 0x4f, 0x08, 0x83, 0x00, 0x03, 0x48, 0x83, 0xc0, 0x04,
		0x48, 0xff, 0xc9, 0x75, 0xf4, 0xc3,
	};
	struct drm_salvo_sync done = { .handle = syncobj_create(self->fd) };
	struct drm_salvo_command command = {
		.type = DRM_SALVO_DISPATCH, .dims = 1, .items = { 1, 1, 1 }, .group = { 1, 1, 1 },
		.args_size = 16,
	};
	uint64_t args[2] = { 0, WORDS };
	const struct batch batch = {
		.ctx = self->ctx, .commands = &command, .count = 1, .signals = &done,
		.signal_count = 1, .args = args, .args_size = sizeof(args),
	};
	struct vgem_bo frame;
	struct bo bo, exec;

	ASSERT_EQ(bo_create(self->fd, 4096, DRM_SALVO_BO_EXEC, &exec), 0);
	ASSERT_EQ(bo_map(self->fd, &exec), 0);
	memcpy(exec.map, code, sizeof(code));
	munmap(exec.map, exec.size);
	command.entry = exec.address;
	ASSERT_EQ(vgem_create(self->vgem, SIZE, DRM_CLOEXEC | DRM_RDWR, &frame), 0);
	write_words(frame.map, 5);
	ASSERT_EQ(import(self->fd, frame.fd, &bo, NULL), 0);
	args[0] = bo.address;
	ASSERT_EQ(submit(self->fd, &batch), 0);
	ASSERT_EQ(syncobj_wait(self->fd, done.handle, 20), 0);
	ASSERT_EQ(syncobj_error(self->fd, done.handle), 0);
	EXPECT_EQ(wrong_words(frame.map, 8), 0);

	/* After it was closed a kernel cannot access it either. */
	ASSERT_EQ(bo_close(self->fd, &bo), 0);
	ASSERT_TRUE(wait_value("reclaiming", 0));
	ASSERT_EQ(submit(self->fd, &batch), 0);
	ASSERT_EQ(syncobj_wait(self->fd, done.handle, 20), 0);
	EXPECT_EQ(syncobj_error(self->fd, done.handle), -ECANCELED);
	EXPECT_EQ(wrong_words(frame.map, 8), 0);
	vgem_destroy(self->vgem, &frame);
}

TEST_F(import, same_buffer_same_handle_in_a_file_and_one_more_in_another)
{
	struct drm_salvo_command command;
	int other = node_open();
	struct vgem_bo frame;
	struct bo a, b, c;
	uint32_t ctx;

	ASSERT_GE(other, 0);
	ASSERT_EQ(ctx_create(other, &ctx), 0);
	ASSERT_EQ(vgem_create(self->vgem, SIZE, DRM_CLOEXEC | DRM_RDWR, &frame), 0);
	ASSERT_EQ(import(self->fd, frame.fd, &a, NULL), 0);
	ASSERT_EQ(import(self->fd, frame.fd, &b, NULL), 0);
	EXPECT_EQ(a.handle, b.handle);
	ASSERT_EQ(import(other, frame.fd, &c, NULL), 0);

	command = fill(a.address, SIZE / 2, 5);
	ASSERT_EQ(run(self->fd, self->ctx, &command, 1), 0);
	command = fill(c.address + SIZE / 2, SIZE / 2, 6);
	ASSERT_EQ(run(other, ctx, &command, 1), 0);
	EXPECT_EQ(frame.map[WORDS / 2 - 1], 5);
	EXPECT_EQ(frame.map[WORDS / 2], 6);
	/* The address belongs to the other file. */
	if (a.address != c.address)
		EXPECT_EQ(run(self->fd, self->ctx, &command, 1), -EINVAL);
	close(other);
	vgem_destroy(self->vgem, &frame);
}

/* Each round starts another process for the address space, which is slow on a debug kernel. */
TEST_F_TIMEOUT(import, comes_and_goes_many_times, 120)
{
	struct drm_salvo_command command;
	struct vgem_bo frame;
	uint32_t round;
	struct bo bo;

	ASSERT_EQ(vgem_create(self->vgem, SIZE, DRM_CLOEXEC | DRM_RDWR, &frame), 0);
	for (round = 1; round <= 20; round++) {
		ASSERT_EQ(import(self->fd, frame.fd, &bo, NULL), 0);
		command = fill(bo.address, SIZE, round);
		ASSERT_EQ(run(self->fd, self->ctx, &command, 1), 0);
		EXPECT_EQ(frame.map[0], round);
		EXPECT_EQ(frame.map[WORDS - 1], round);
		ASSERT_EQ(bo_close(self->fd, &bo), 0);
	}
	vgem_destroy(self->vgem, &frame);
}

/* A batch keeps its buffers although their handles are closed. */
TEST_F(import, handles_may_be_closed_while_a_batch_runs)
{
	struct drm_salvo_sync done = { .handle = syncobj_create(self->fd) };
	struct drm_salvo_command commands[16];
	struct batch batch = {
		.ctx = self->ctx, .commands = commands, .count = 16,
		.signals = &done, .signal_count = 1,
	};
	struct vgem_bo frame;
	uint32_t round, i;
	struct bo bo;

	for (round = 0; round < 5; round++) {
		ASSERT_EQ(vgem_create(self->vgem, SIZE, DRM_CLOEXEC | DRM_RDWR, &frame), 0);
		write_words(frame.map, round);
		ASSERT_EQ(import(self->fd, frame.fd, &bo, NULL), 0);
		for (i = 0; i < 16; i++)
			commands[i] = copy(self->vram.address + SIZE / 16 * i,
					   bo.address + SIZE / 16 * i, SIZE / 16);
		ASSERT_EQ(submit(self->fd, &batch), 0);
		ASSERT_EQ(bo_close(self->fd, &bo), 0);
		vgem_destroy(self->vgem, &frame);
		ASSERT_EQ(syncobj_wait(self->fd, done.handle, 20), 0);
		ASSERT_EQ(syncobj_error(self->fd, done.handle), 0);
		EXPECT_EQ(wrong_words(self->vram.map, round), 0);
	}
}

TEST_F(import, file_may_be_closed_while_a_batch_runs)
{
	struct drm_salvo_command command;
	struct vgem_bo frame;
	struct batch batch = { .commands = &command, .count = 1 };
	int round, other;
	struct bo bo;

	ASSERT_EQ(vgem_create(self->vgem, SIZE, DRM_CLOEXEC | DRM_RDWR, &frame), 0);
	for (round = 1; round <= 5; round++) {
		other = node_open();
		ASSERT_GE(other, 0);
		ASSERT_EQ(ctx_create(other, &batch.ctx), 0);
		ASSERT_EQ(import(other, frame.fd, &bo, NULL), 0);
		command = fill(bo.address, SIZE, round);
		ASSERT_EQ(submit(other, &batch), 0);
		close(other);
		/* Its fence is on the dma-buf. */
		ASSERT_TRUE(dmabuf_poll(frame.fd, false, 20000));
		EXPECT_EQ(frame.map[WORDS - 1], round);
	}
	vgem_destroy(self->vgem, &frame);
}

TEST_F(import, can_be_mapped_through_the_render_node)
{
	struct vgem_bo frame;
	struct bo bo;

	ASSERT_EQ(vgem_create(self->vgem, SIZE, DRM_CLOEXEC | DRM_RDWR, &frame), 0);
	ASSERT_EQ(import(self->fd, frame.fd, &bo, NULL), 0);
	ASSERT_EQ(bo_map(self->fd, &bo), 0);
	write_words(bo.map, 9);
	EXPECT_EQ(wrong_words(frame.map, 9), 0);
	/* The mapping outlives both handles. */
	vgem_destroy(self->vgem, &frame);
	ASSERT_EQ(call(self->fd, DRM_IOCTL_GEM_CLOSE,
		       &(struct drm_gem_close){ .handle = bo.handle }), 0);
	EXPECT_EQ(wrong_words(bo.map, 9), 0);
	munmap(bo.map, bo.size);
}

TEST_F(import, is_exported_as_what_it_was)
{
	struct vgem_bo frame;
	uint32_t handle = 0;
	struct bo bo;
	int fd;

	ASSERT_EQ(vgem_create(self->vgem, 4096, DRM_CLOEXEC | DRM_RDWR, &frame), 0);
	ASSERT_EQ(import(self->fd, frame.fd, &bo, NULL), 0);
	ASSERT_EQ(drmPrimeHandleToFD(self->fd, bo.handle, DRM_CLOEXEC | DRM_RDWR, &fd), 0);
	ASSERT_EQ(drmPrimeFDToHandle(self->vgem, fd, &handle), 0);
	EXPECT_EQ(handle, frame.handle);
	close(fd);
	vgem_destroy(self->vgem, &frame);
}

TEST_F(import, what_is_not_writable_is_not_written)
{
	struct drm_salvo_command command;
	struct vgem_bo frame;
	uint32_t flags;
	struct bo bo;

	ASSERT_EQ(vgem_create(self->vgem, SIZE, DRM_CLOEXEC, &frame), 0);
	ASSERT_EQ(import(self->fd, frame.fd, &bo, &flags), 0);
	EXPECT_EQ(flags, DRM_SALVO_BO_IMPORTED | DRM_SALVO_BO_READONLY);
	command = copy(self->vram.address, bo.address, SIZE);
	EXPECT_EQ(run(self->fd, self->ctx, &command, 1), 0);
	command = fill(bo.address, 4096, 1);
	EXPECT_EQ(run(self->fd, self->ctx, &command, 1), -EINVAL);
	/* It cannot be mapped for writing either. */
	EXPECT_EQ(bo_map(self->fd, &bo), -EACCES);
	vgem_destroy(self->vgem, &frame);
}

TEST_F(import, is_no_place_for_code_or_profiles)
{
	struct drm_salvo_command command = {
		.type = DRM_SALVO_DISPATCH, .dims = 1, .items = { 1, 1, 1 }, .group = { 1, 1, 1 },
	};
	struct batch batch = { .ctx = self->ctx, .commands = &command, .count = 1 };
	struct vgem_bo frame;
	struct bo bo;

	ASSERT_EQ(vgem_create(self->vgem, SIZE, DRM_CLOEXEC | DRM_RDWR, &frame), 0);
	ASSERT_EQ(import(self->fd, frame.fd, &bo, NULL), 0);
	command.entry = bo.address;
	EXPECT_EQ(submit(self->fd, &batch), -EINVAL);
	command = fill(self->vram.address, 4096, 1);
	batch.profile = bo.address;
	EXPECT_EQ(submit(self->fd, &batch), -EINVAL);
	batch.profile = self->vram.address;
	EXPECT_EQ(submit(self->fd, &batch), 0);
	vgem_destroy(self->vgem, &frame);
}

TEST_F(import, range_past_the_buffer_is_refused)
{
	struct drm_salvo_command command;
	struct vgem_bo frame;
	struct bo bo;

	ASSERT_EQ(vgem_create(self->vgem, 4096, DRM_CLOEXEC | DRM_RDWR, &frame), 0);
	ASSERT_EQ(import(self->fd, frame.fd, &bo, NULL), 0);
	command = fill(bo.address, 8192, 1);
	EXPECT_EQ(run(self->fd, self->ctx, &command, 1), -EINVAL);
	command = fill(bo.address + 4096, 4, 1);
	EXPECT_EQ(run(self->fd, self->ctx, &command, 1), -EINVAL);
	vgem_destroy(self->vgem, &frame);
}

TEST_F(import, wrong_fd)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	uint32_t handle;

	EXPECT_NE(drmPrimeFDToHandle(self->fd, -1, &handle), 0);
	EXPECT_EQ(errno, EBADF);
	EXPECT_NE(drmPrimeFDToHandle(self->fd, fd, &handle), 0);
	EXPECT_EQ(errno, EINVAL);
	close(fd);
}

TEST_F(import, memory_of_a_process)
{
	struct drm_salvo_command command;
	uint32_t *map;
	struct bo bo;
	int fd;

	fd = udmabuf_create(SIZE, &map);
	if (fd == -ENOENT)
		SKIP(return, "this kernel has no udmabuf");
	ASSERT_GE(fd, 0);
	write_words(map, 3);
	ASSERT_EQ(import(self->fd, fd, &bo, NULL), 0);
	command = copy(self->vram.address, bo.address, SIZE);
	ASSERT_EQ(run(self->fd, self->ctx, &command, 1), 0);
	EXPECT_EQ(wrong_words(self->vram.map, 3), 0);
	command = fill(bo.address, SIZE, 4);
	ASSERT_EQ(run(self->fd, self->ctx, &command, 1), 0);
	EXPECT_EQ(map[0], 4);
	EXPECT_EQ(map[WORDS - 1], 4);
	ASSERT_EQ(bo_map(self->fd, &bo), 0);
	EXPECT_EQ(*(uint32_t *)bo.map, 4);
	ASSERT_EQ(bo_close(self->fd, &bo), 0);
	munmap(map, SIZE);
	close(fd);
}

TEST_HARNESS_MAIN
