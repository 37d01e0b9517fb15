// SPDX-License-Identifier: MIT
/*
 * unplug_waits.c - unbinding the driver waits neither for other drivers nor for user memory
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sync_file.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xf86drm.h>

#include "binding.h"
#include "dmabuf.h"
#include "rendernode.h"

#define TIMEOUT	120

FIXTURE(unplug_waits) {
	char pci[32];		/* name of the PCI function */
	int fd;
	uint32_t ctx, syncobj;
	struct bo bo;
};

FIXTURE_SETUP(unplug_waits)
{
	ASSERT_EQ(driver_function(self->pci, sizeof(self->pci)), 0);
	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(ctx_create(self->fd, &self->ctx), 0);
	ASSERT_EQ(bo_create(self->fd, 4096, 0, &self->bo), 0);
	self->syncobj = syncobj_create(self->fd);
}

FIXTURE_TEARDOWN(unplug_waits)
{
	if (self->fd >= 0)
		close(self->fd);
}

/* Whether the fence of a sync_file has not signalled. */
static bool is_pending(int sync_file)
{
	struct sync_file_info info = { 0 };

	return !ioctl(sync_file, SYNC_IOC_FILE_INFO, &info) && !info.status;
}

/* The status of the fence of a sync_file, which has signalled: 1, or a negative errno. */
static int status(int sync_file)
{
	struct sync_file_info info = { 0 };

	return ioctl(sync_file, SYNC_IOC_FILE_INFO, &info) ? -errno : info.status;
}

/*
 * A batch waits for a fence of vgem, which signals after ten seconds by itself, and vgem's
 * fence is pending yet when the driver is unbound; with an open file or after its end.
 */
static void unbind_with_waiting_batch(struct __test_metadata *_metadata,
				      FIXTURE_DATA(unplug_waits) *self, bool closed)
{
	const struct drm_salvo_sync signal = { .handle = self->syncobj };
	const struct drm_salvo_command command = fill(self->bo.address, 64, 1);
	struct drm_salvo_sync wait = { .handle = syncobj_create(self->fd) };
	const struct batch batch = {
		.ctx = self->ctx, .commands = &command, .count = 1,
		.waits = &wait, .wait_count = 1, .signals = &signal, .signal_count = 1,
	};
	int vgem = vgem_open(), foreign, own;
	struct vgem_bo frame;
	uint32_t fence;

	ASSERT_GE(vgem, 0);
	ASSERT_EQ(vgem_create(vgem, 4096, DRM_CLOEXEC | DRM_RDWR, &frame), 0);
	ASSERT_EQ(vgem_fence_attach(vgem, &frame, true, &fence), 0);
	foreign = dmabuf_sync_file(frame.fd, true);
	ASSERT_GE(foreign, 0);
	ASSERT_EQ(drmSyncobjImportSyncFile(self->fd, wait.handle, foreign), 0);
	ASSERT_EQ(submit(self->fd, &batch), 0);
	ASSERT_EQ(drmSyncobjExportSyncFile(self->fd, self->syncobj, &own), 0);
	EXPECT_TRUE(is_pending(own));
	if (closed) {
		close(self->fd);
		self->fd = -1;
	}
	EXPECT_EQ(driver_unbind(self->pci), 0);
	EXPECT_TRUE(is_pending(foreign));
	EXPECT_EQ(status(own), -ENODEV);
	vgem_fence_signal(vgem, fence);
	close(own);
	close(foreign);
	vgem_destroy(vgem, &frame);
	close(vgem);
	ASSERT_EQ(driver_bind(self->pci), 0);
	EXPECT_TRUE(driver_wait());
}

TEST_F_TIMEOUT(unplug_waits, batch_that_waits_for_another_driver_does_not_hold_up_unbind, TIMEOUT)
{
	int vgem = vgem_open();

	if (vgem < 0)
		SKIP(return, "there is no vgem");
	close(vgem);
	unbind_with_waiting_batch(_metadata, self, false);
}

TEST_F_TIMEOUT(unplug_waits, nor_does_one_whose_file_was_closed, TIMEOUT)
{
	int vgem = vgem_open();

	if (vgem < 0)
		SKIP(return, "there is no vgem");
	close(vgem);
	unbind_with_waiting_batch(_metadata, self, true);
}

/* Memory whose page faults are answered by a test, or not at all. */
static int userfaultfd_open(void *memory, size_t bytes)
{
	struct uffdio_register region = {
		.range = { (uintptr_t)memory, bytes }, .mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	struct uffdio_api api = { .api = UFFD_API };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0 && (ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &region))) {
		close(fd);
		return -1;
	}
	return fd;
}

struct submission {
	int fd, err;
	struct batch batch;
};

static void *submit_thread(void *cookie)
{
	struct submission *s = cookie;

	s->err = submit(s->fd, &s->batch);
	return NULL;
}

TEST_F_TIMEOUT(unplug_waits, page_fault_of_submit_does_not_hold_up_unbind, TIMEOUT)
{
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_zeropage zero = { .range = { (uintptr_t)memory, 4096 } };
	struct submission s = {
		.fd = self->fd,
		.batch = { .ctx = self->ctx, .commands = memory, .count = 1 },
	};
	int uffd, i, wstatus = -1;
	struct pollfd event;
	pthread_t thread;
	pid_t child, done = 0;

	ASSERT_NE(memory, MAP_FAILED);
	uffd = userfaultfd_open(memory, 4096);
	if (uffd < 0)
		SKIP(return, "there is no userfaultfd");
	ASSERT_EQ(pthread_create(&thread, NULL, submit_thread, &s), 0);
	event = (struct pollfd){ .fd = uffd, .events = POLLIN };
	ASSERT_EQ(poll(&event, 1, 60000), 1);

	/* A process of its own, since it may be stuck. */
	child = fork();
	ASSERT_GE(child, 0);
	if (!child)
		_exit(-driver_unbind(self->pci));
	for (i = 0; i < 300 && !done; i++) {
		usleep(100000);
		done = waitpid(child, &wstatus, WNOHANG);
	}
	EXPECT_EQ(done, child) {
		TH_LOG("unbind waits for a page fault of SUBMIT");
	}
	EXPECT_EQ(ioctl(uffd, UFFDIO_ZEROPAGE, &zero), 0);
	pthread_join(thread, NULL);
	if (!done)
		ASSERT_EQ(waitpid(child, &wstatus, 0), child);
	EXPECT_EQ(wstatus, 0);
	EXPECT_EQ(s.err, -ENODEV);
	close(uffd);
	ASSERT_EQ(driver_bind(self->pci), 0);
	EXPECT_TRUE(driver_wait());
}

TEST_HARNESS_MAIN
