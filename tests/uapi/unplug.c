// SPDX-License-Identifier: MIT
/*
 * unplug.c - the driver is unbound, unloaded and loaded again, with files open
 *
 * Every test leaves the driver bound, for the programs that follow.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <linux/sync_file.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xf86drm.h>

#include "binding.h"
#include "dmabuf.h"
#include "rendernode.h"
#include "system.h"

/* Seconds; loading a module is slow on a debug kernel and a loaded machine. */
#define TIMEOUT	150

FIXTURE(unplug) {
	char pci[32];		/* the function's name */
	int fd;
	uint32_t ctx;
	struct bo bo;
};

FIXTURE_SETUP(unplug)
{
	if (access(MODULE, R_OK))
		SKIP_TEST("there is no " MODULE " to load again");
	ASSERT_EQ(driver_function(self->pci, sizeof(self->pci)), 0);
	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(ctx_create(self->fd, &self->ctx), 0);
	ASSERT_EQ(bo_create(self->fd, 32 << 20, 0, &self->bo), 0);
}

FIXTURE_TEARDOWN(unplug)
{
	if (self->fd >= 0)
		close(self->fd);
	EXPECT_TRUE(driver_wait());
}

/* A batch of some hundred milliseconds. */
static int submit_long(int fd, uint32_t ctx, const struct bo *bo, uint32_t syncobj)
{
	const struct drm_salvo_sync signal = { .handle = syncobj };
	struct drm_salvo_command many[64];
	const struct batch batch = {
		.ctx = ctx, .commands = many, .count = 64,
		.signals = &signal, .signal_count = 1,
	};
	int i;

	for (i = 0; i < 64; i++)
		many[i] = i % 2 ? pipe_control_all() : fill(bo->address, bo->size, i);
	return submit(fd, &batch);
}

TEST_F_TIMEOUT(unplug, module_unloads_and_loads, TIMEOUT)
{
	int i;

	close(self->fd);
	self->fd = -1;
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(unload_module("salvo"), 0);
		EXPECT_EQ(node_path(), NULL);
		ASSERT_EQ(load_module(MODULE, ""), 0);
		ASSERT_TRUE(driver_wait());
	}
}

TEST_F_TIMEOUT(unplug, module_with_an_open_file_stays, TIMEOUT)
{
	EXPECT_EQ(unload_module("salvo"), -EWOULDBLOCK);
}

TEST_F_TIMEOUT(unplug, module_unloads_when_batches_of_a_closed_file_have_ended, TIMEOUT)
{
	ASSERT_EQ(submit_long(self->fd, self->ctx, &self->bo, syncobj_create(self->fd)), 0);
	ASSERT_EQ(submit_long(self->fd, self->ctx, &self->bo, syncobj_create(self->fd)), 0);
	close(self->fd);
	self->fd = -1;
	ASSERT_EQ(module_unload_soon(), 0);
	ASSERT_EQ(load_module(MODULE, ""), 0);
}

/* Status and timeline of the only fence of a sync_file. */
static int fence_status(int sync_file, char *timeline, size_t bytes)
{
	struct sync_fence_info fence = { 0 };
	struct sync_file_info info = {
		.num_fences = 1, .sync_fence_info = (uintptr_t)&fence,
	};

	if (ioctl(sync_file, SYNC_IOC_FILE_INFO, &info))
		return -errno;
	snprintf(timeline, bytes, "%.31s", fence.obj_name);
	return fence.status;
}

/* File and device are gone, but status and timeline of a fence can still be read. */
TEST_F_TIMEOUT(unplug, fences_outlive_the_driver, TIMEOUT)
{
	uint32_t syncobj[2] = { syncobj_create(self->fd), syncobj_create(self->fd) };
	int sync_file[2], i, status;
	char timeline[32];

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(submit_long(self->fd, self->ctx, &self->bo, syncobj[i]), 0);
		ASSERT_EQ(drmSyncobjExportSyncFile(self->fd, syncobj[i], &sync_file[i]), 0);
	}
	close(self->fd);
	self->fd = -1;
	ASSERT_EQ(driver_unbind(self->pci), 0);
	for (i = 0; i < 2; i++) {
		status = fence_status(sync_file[i], timeline, sizeof(timeline));
		EXPECT_TRUE(status == 1 || status == -ENODEV);
		/* Newer kernels use another name for signalled fences. */
		if (strcmp(timeline, "signaled-timeline"))
			EXPECT_STREQ(timeline, "salvo-ring0");
		/* They keep the module loaded. */
		EXPECT_EQ(unload_module("salvo"), -EWOULDBLOCK);
		close(sync_file[i]);
	}
	EXPECT_EQ(unload_module("salvo"), 0);
	ASSERT_EQ(load_module(MODULE, ""), 0);
}

TEST_F_TIMEOUT(unplug, open_file_of_an_unbound_driver_gets_ENODEV, TIMEOUT)
{
	const struct drm_salvo_command command = fill(self->bo.address, 64, 1);
	struct bo bo;
	uint32_t ctx;

	ASSERT_EQ(driver_unbind(self->pci), 0);
	EXPECT_EQ(node_path(), NULL);
	EXPECT_EQ(bo_create(self->fd, 4096, 0, &bo), -ENODEV);
	EXPECT_EQ(bo_map(self->fd, &self->bo), -ENODEV);
	EXPECT_EQ(ctx_create(self->fd, &ctx), -ENODEV);
	EXPECT_EQ(run(self->fd, self->ctx, &command, 1), -ENODEV);
	EXPECT_EQ(driver_bind(self->pci), 0);
	/* The old file stays unusable beside the new device. */
	ASSERT_TRUE(driver_wait());
	EXPECT_EQ(ctx_create(self->fd, &ctx), -ENODEV);
}

TEST_F_TIMEOUT(unplug, batches_in_flight_end_when_the_driver_is_unbound, TIMEOUT)
{
	uint32_t running = syncobj_create(self->fd), queued = syncobj_create(self->fd);
	int other = node_open(), shared[2], err;
	uint32_t handles[2];

	ASSERT_EQ(submit_long(self->fd, self->ctx, &self->bo, running), 0);
	ASSERT_EQ(submit_long(self->fd, self->ctx, &self->bo, queued), 0);
	EXPECT_EQ(drmSyncobjHandleToFD(self->fd, running, &shared[0]), 0);
	EXPECT_EQ(drmSyncobjHandleToFD(self->fd, queued, &shared[1]), 0);
	close(other);
	ASSERT_EQ(driver_unbind(self->pci), 0);
	ASSERT_EQ(driver_bind(self->pci), 0);
	ASSERT_TRUE(driver_wait());
	/* The old file is unusable; query the fences through the new device. */
	other = node_open();
	ASSERT_GE(other, 0);
	ASSERT_EQ(drmSyncobjFDToHandle(other, shared[0], &handles[0]), 0);
	ASSERT_EQ(drmSyncobjFDToHandle(other, shared[1], &handles[1]), 0);
	ASSERT_EQ(syncobj_wait(other, handles[0], 20), 0);
	ASSERT_EQ(syncobj_wait(other, handles[1], 20), 0);
	err = syncobj_error(other, handles[0]);
	EXPECT_TRUE(err == 0 || err == -ENODEV);
	EXPECT_EQ(syncobj_error(other, handles[1]), -ENODEV);
	close(shared[0]);
	close(shared[1]);
	close(other);
}

/* The content of mappings is meaningless, but accessing them is safe. */
TEST_F_TIMEOUT(unplug, mapping_of_an_unbound_driver_can_be_touched, TIMEOUT)
{
	volatile uint32_t *words;
	uint64_t i;

	ASSERT_EQ(bo_map(self->fd, &self->bo), 0);
	words = self->bo.map;
	words[0] = 1;
	ASSERT_EQ(driver_unbind(self->pci), 0);
	for (i = 0; i < self->bo.size / 4; i += 1024)
		words[i] = i;
	EXPECT_NE(words[0], 1);
	munmap(self->bo.map, 4096);
	words[2048] = 5;
	EXPECT_EQ(words[2048], 5);
	ASSERT_EQ(driver_bind(self->pci), 0);
	/* The new device does not see it either. */
	words[4096] = 7;
	self->bo.map = NULL;
}

/* The buffer object exists while it is referenced, its VRAM does not. */
TEST_F_TIMEOUT(unplug, exported_buffer_of_an_unbound_driver, TIMEOUT)
{
	uint32_t *map, handle;
	int dmabuf, other;

	ASSERT_EQ(drmPrimeHandleToFD(self->fd, self->bo.handle, DRM_CLOEXEC | DRM_RDWR,
				     &dmabuf), 0);
	map = mmap(NULL, self->bo.size, PROT_READ | PROT_WRITE, MAP_SHARED, dmabuf, 0);
	ASSERT_NE((void *)map, MAP_FAILED);
	map[0] = 1;
	ASSERT_EQ(driver_unbind(self->pci), 0);
	map[1024] = 2;
	EXPECT_NE(map[0], 1);
	close(self->fd);
	self->fd = -1;
	map[2048] = 3;
	ASSERT_EQ(driver_bind(self->pci), 0);
	ASSERT_TRUE(driver_wait());
	other = node_open();
	ASSERT_GE(other, 0);
	/* For the new device it is a foreign dma-buf, without pages. */
	EXPECT_NE(drmPrimeFDToHandle(other, dmabuf, &handle), 0);
	EXPECT_TRUE(errno == EOPNOTSUPP || errno == ENOSYS);
	close(other);
	munmap(map, self->bo.size);
	close(dmabuf);
}

/* While batches write to it, and the handle and the file outlive the driver. */
TEST_F_TIMEOUT(unplug, unbound_while_a_buffer_is_imported, TIMEOUT)
{
	uint32_t done = syncobj_create(self->fd), handle;
	struct drm_salvo_bo_query query = { 0 };
	int vgem = vgem_open();
	struct vgem_bo frame;
	struct bo bo;

	if (vgem < 0)
		SKIP(return, "there is no vgem");
	ASSERT_EQ(vgem_create(vgem, 8 << 20, DRM_CLOEXEC | DRM_RDWR, &frame), 0);
	ASSERT_EQ(drmPrimeFDToHandle(self->fd, frame.fd, &query.handle), 0);
	ASSERT_EQ(call(self->fd, DRM_IOCTL_SALVO_BO_QUERY, &query), 0);
	bo = (struct bo){ query.size, query.address, query.handle, NULL };
	ASSERT_EQ(submit_long(self->fd, self->ctx, &bo, done), 0);
	ASSERT_EQ(driver_unbind(self->pci), 0);
	/* No fence of this driver is pending, and it is detached from the memory. */
	EXPECT_TRUE(dmabuf_poll(frame.fd, true, 20000));
	frame.map[0] = 77;
	usleep(10000);
	EXPECT_EQ(frame.map[0], 77);
	EXPECT_NE(drmPrimeFDToHandle(self->fd, frame.fd, &handle), 0);
	EXPECT_EQ(errno, ENODEV);
	ASSERT_EQ(driver_bind(self->pci), 0);
	ASSERT_TRUE(driver_wait());
	close(self->fd);
	/* It can be imported again by the new device. */
	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
	EXPECT_EQ(drmPrimeFDToHandle(self->fd, frame.fd, &handle), 0);
	vgem_destroy(vgem, &frame);
	close(vgem);
}

#define CHILDREN	4
#define UNBINDS		10

/*
 * Opens, creates, submits, maps and closes in a loop while the device is unbound and bound.
 * Fails if an error other than that of an unplugged device occurs.
 */
static void load_until_told(int stop)
{
	struct drm_salvo_command commands[2];
	struct bo bo;
	uint32_t ctx;
	char byte;
	int fd, err;

	fcntl(stop, F_SETFL, fcntl(stop, F_GETFL) | O_NONBLOCK);
	while (read(stop, &byte, 1) < 0) {
		fd = node_open();
		if (fd < 0) {
			usleep(2000);
			continue;
		}
		do {
			err = ctx_create(fd, &ctx);
			if (!err)
				err = bo_create(fd, 2 << 20, 0, &bo);
			if (!err)
				err = bo_map(fd, &bo);
			if (err)
				break;
			commands[0] = fill(bo.address, bo.size, 1);
			commands[1] = fill(bo.address, 4096, 2);
			err = run(fd, ctx, commands, 1);
			*(volatile int *)bo.map += 1;
			bo_close(fd, &bo);
		} while (!err && read(stop, &byte, 1) < 0);
		close(fd);
		if (err && err != -ENODEV)
			_exit(-err);
	}
	_exit(0);
}

static void start_load(struct __test_metadata *_metadata, pid_t *children, int *stop)
{
	int i;

	ASSERT_EQ(pipe(stop), 0);
	for (i = 0; i < CHILDREN; i++) {
		children[i] = fork();
		ASSERT_GE(children[i], 0);
		if (!children[i]) {
			close(stop[1]);
			load_until_told(stop[0]);
		}
	}
}

static void stop_load(struct __test_metadata *_metadata, pid_t *children, int *stop)
{
	int i, status;

	close(stop[1]);
	for (i = 0; i < CHILDREN; i++) {
		ASSERT_EQ(waitpid(children[i], &status, 0), children[i]);
		EXPECT_TRUE(WIFEXITED(status));
		EXPECT_EQ(WEXITSTATUS(status), 0);
	}
	close(stop[0]);
}

TEST_F_TIMEOUT(unplug, unbound_and_bound_under_load, TIMEOUT)
{
	pid_t children[CHILDREN];
	int stop[2], i;

	start_load(_metadata, children, stop);
	for (i = 0; i < 5; i++) {
		usleep(40000 * i);
		ASSERT_EQ(driver_unbind(self->pci), 0);
		ASSERT_EQ(driver_bind(self->pci), 0);
		ASSERT_TRUE(driver_wait());
	}
	stop_load(_metadata, children, stop);
	EXPECT_TRUE(wait_value("vram-used", 0));
}

/* Creates contexts until that fails; returns the error. */
static void *create_contexts(void *cookie)
{
	struct drm_salvo_ctx_destroy destroy = {};
	const int fd = *(const int *)cookie;
	intptr_t err;

	do {
		err = ctx_create(fd, &destroy.id);
		if (!err)
			err = call(fd, DRM_IOCTL_SALVO_CTX_DESTROY, &destroy);
	} while (!err);
	return (void *)err;
}

/* Whatever CTX_CREATE does while the device goes, it does not say that memory is short. */
TEST_F_TIMEOUT(unplug, context_is_created_or_the_device_is_gone, TIMEOUT)
{
	pthread_t threads[CHILDREN];
	void *err;
	int i, j;

	for (i = 0; i < UNBINDS; i++) {
		for (j = 0; j < CHILDREN; j++)
			ASSERT_EQ(pthread_create(&threads[j], NULL, create_contexts, &self->fd), 0);
		usleep(20000 + 3000 * i);
		ASSERT_EQ(driver_unbind(self->pci), 0);
		for (j = 0; j < CHILDREN; j++) {
			pthread_join(threads[j], &err);
			EXPECT_EQ((intptr_t)err, -ENODEV);
		}
		close(self->fd);
		ASSERT_EQ(driver_bind(self->pci), 0);
		ASSERT_TRUE(driver_wait());
		self->fd = node_open();
		ASSERT_GE(self->fd, 0);
	}
}

TEST_F_TIMEOUT(unplug, removed_and_found_again_under_load, TIMEOUT)
{
	char remove[96];
	pid_t children[CHILDREN];
	int stop[2], i;

	snprintf(remove, sizeof(remove), "/sys/bus/pci/devices/%s/remove", self->pci);
	start_load(_metadata, children, stop);
	for (i = 0; i < 3; i++) {
		usleep(60000 * i);
		ASSERT_EQ(write_file(remove, "1"), 0);
		EXPECT_NE(access(remove, F_OK), 0);
		ASSERT_EQ(write_file("/sys/bus/pci/rescan", "1"), 0);
		ASSERT_TRUE(driver_wait());
	}
	stop_load(_metadata, children, stop);
}

/* Unloading fails while the node is open, and succeeds when it is not for a moment. */
TEST_F_TIMEOUT(unplug, module_unloads_under_load_or_is_refused, TIMEOUT)
{
	pid_t children[CHILDREN];
	int stop[2], i, err, refused = 0;

	start_load(_metadata, children, stop);
	for (i = 0; i < 40; i++) {
		err = unload_module("salvo");
		if (err) {
			EXPECT_EQ(err, -EWOULDBLOCK);
			refused++;
		} else {
			ASSERT_EQ(load_module(MODULE, ""), 0);
			ASSERT_TRUE(driver_wait());
		}
		usleep(5000);
	}
	EXPECT_GT(refused, 0);
	stop_load(_metadata, children, stop);
}

TEST_F_TIMEOUT(unplug, works_after_it, TIMEOUT)
{
	struct drm_salvo_command command;

	ASSERT_EQ(driver_unbind(self->pci), 0);
	ASSERT_EQ(driver_bind(self->pci), 0);
	close(self->fd);
	ASSERT_TRUE(driver_wait());
	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(ctx_create(self->fd, &self->ctx), 0);
	ASSERT_EQ(bo_create(self->fd, 32 << 20, 0, &self->bo), 0);
	ASSERT_EQ(bo_map(self->fd, &self->bo), 0);
	command = fill(self->bo.address, 64, 9);
	EXPECT_EQ(run(self->fd, self->ctx, &command, 1), 0);
	EXPECT_EQ(*(int *)self->bo.map, 9);
}

TEST_HARNESS_MAIN
