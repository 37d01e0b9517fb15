// SPDX-License-Identifier: MIT
/*
 * lost.c - the GPU dies or stops under the driver
 *
 * Runs in the VM; tests/vm/lost.sh on the host does what the lines "# host: ..." ask
 * for: it kills, stops or continues the worker process of salvo-gpu.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <xf86drm.h>

#include "binding.h"
#include "dmabuf.h"
#include "host.h"
#include "rendernode.h"
#include "system.h"

/* Seconds; a new worker and a bind are slow on a debug kernel and a loaded machine. */
#define TIMEOUT	200
#define SYSLOG_ACTION_READ_ALL	3

FIXTURE(lost) {
	int fd;
	uint32_t ctx, syncobj;
	struct bo bo, exec;
};

/* Waits until the node cannot be opened any more. */
static bool becomes_gone(void)
{
	int i;

	for (i = 0; i < 600 && node_path(); i++)
		usleep(50000);
	return !node_path();
}

FIXTURE_SETUP(lost)
{
	int i;

	for (i = 0; i < 200 && !node_path(); i++)
		usleep(50000);
	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(ctx_create(self->fd, &self->ctx), 0);
	ASSERT_EQ(bo_create(self->fd, 4096, 0, &self->bo), 0);
	ASSERT_EQ(bo_create(self->fd, 4096, DRM_SALVO_BO_EXEC, &self->exec), 0);
	ASSERT_EQ(bo_map(self->fd, &self->bo), 0);
	ASSERT_EQ(bo_map(self->fd, &self->exec), 0);
	self->syncobj = syncobj_create(self->fd);
}

FIXTURE_TEARDOWN(lost)
{
	close(self->fd);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

static void tell_noticed(double since)
{
	printf("# noticed after %.2f s\n", seconds() - since);
	fflush(stdout);
}

/* How often the driver's log has said so far that the GPU does not answer. */
static int unanswered(void)
{
	static char log[1 << 20];
	int bytes = klogctl(SYSLOG_ACTION_READ_ALL, log, sizeof(log) - 1), count = 0;
	const char *at = log;

	log[bytes > 0 ? bytes : 0] = 0;
	while ((at = strstr(at, "the GPU does not answer"))) {
		count++;
		at++;
	}
	return count;
}

/* Number of attachments of all devices to dma-bufs. */
static int attachments(void)
{
	FILE *file = fopen("/sys/kernel/debug/dma_buf/bufinfo", "re");
	char line[256];
	int count = 0, n;

	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, "devices attached") && sscanf(line, "Total %d", &n) == 1)
			count += n;
	if (file)
		fclose(file);
	return count;
}

static void expect_gone(struct __test_metadata *_metadata, FIXTURE_DATA(lost) *self)
{
	const struct drm_salvo_command command = fill(self->bo.address, 64, 1);
	struct bo bo;
	uint32_t ctx;

	EXPECT_TRUE(becomes_gone());
	EXPECT_EQ(bo_create(self->fd, 4096, 0, &bo), -ENODEV);
	EXPECT_EQ(ctx_create(self->fd, &ctx), -ENODEV);
	EXPECT_EQ(run(self->fd, self->ctx, &command, 1), -ENODEV);
	/* A mapping that was not touched before, and one that was. */
	EXPECT_GE(*(volatile int *)self->bo.map, 0);
	*(volatile int *)self->exec.map = 1;
	EXPECT_EQ(bo_close(self->fd, &self->bo), 0);
}

/* The driver works when it is bound again to the new worker. */
static void expect_works_when_bound_again(struct __test_metadata *_metadata)
{
	struct drm_salvo_command command;
	int fd, err = -ENODEV, i;
	uint32_t ctx;
	struct bo bo;

	for (i = 0; i < 50 && err; i++) {
		err = driver_rebind();
		if (err)
			usleep(100000);
	}
	ASSERT_EQ(err, 0);
	fd = node_open();
	ASSERT_GE(fd, 0);
	ASSERT_EQ(ctx_create(fd, &ctx), 0);
	ASSERT_EQ(bo_create(fd, 4096, 0, &bo), 0);
	command = fill(bo.address, 64, 1);
	EXPECT_EQ(run(fd, ctx, &command, 1), 0);
	close(fd);
}

TEST_F_TIMEOUT(lost, worker_dies_with_a_batch, TIMEOUT)
{
	double since = seconds();

	ASSERT_EQ(submit_endless(self->fd, self->ctx, &self->exec, self->syncobj), 0);
	ask_host("kill");
	ASSERT_EQ(syncobj_wait(self->fd, self->syncobj, 30), 0);
	tell_noticed(since);
	EXPECT_EQ(syncobj_error(self->fd, self->syncobj), -ENODEV);
	expect_gone(_metadata, self);
	expect_works_when_bound_again(_metadata);
}

/* Batches of each priority, on the rings and queued: all fences signal. */
TEST_F_TIMEOUT(lost, worker_dies_with_batches_on_all_rings, TIMEOUT)
{
	struct drm_salvo_ctx_create ctx[6] = { 0 };
	uint32_t syncobj[36], i;

	for (i = 0; i < 6; i++) {
		ctx[i].priority = i % 3;
		ASSERT_EQ(call(self->fd, DRM_IOCTL_SALVO_CTX_CREATE, &ctx[i]), 0);
	}
	for (i = 0; i < 36; i++) {
		self->ctx = ctx[i % 6].id;
		self->syncobj = syncobj[i] = syncobj_create(self->fd);
		ASSERT_EQ(submit_endless(self->fd, self->ctx, &self->exec, self->syncobj), 0);
	}
	EXPECT_TRUE(ring_wait_busy(0));
	EXPECT_TRUE(ring_wait_busy(1));
	ask_host("kill");
	for (i = 0; i < 36; i++) {
		ASSERT_EQ(syncobj_wait(self->fd, syncobj[i], 30), 0);
		EXPECT_EQ(syncobj_error(self->fd, syncobj[i]), -ENODEV);
	}
	expect_gone(_metadata, self);
	expect_works_when_bound_again(_metadata);
}

TEST_F_TIMEOUT(lost, worker_stops_with_a_batch, TIMEOUT)
{
	double since = seconds();

	ASSERT_EQ(submit_endless(self->fd, self->ctx, &self->exec, self->syncobj), 0);
	ask_host("stop");
	ASSERT_EQ(syncobj_wait(self->fd, self->syncobj, 30), 0);
	tell_noticed(since);
	EXPECT_EQ(syncobj_error(self->fd, self->syncobj), -ENODEV);
	expect_gone(_metadata, self);
	ask_host("kill");
	expect_works_when_bound_again(_metadata);
}

/* As on a starved host, there is no heartbeat for two seconds; no batch fails. */
TEST_F_TIMEOUT(lost, worker_that_pauses_is_not_given_up, TIMEOUT)
{
	const struct drm_salvo_command command = fill(self->bo.address, 4096, 5);
	const struct drm_salvo_sync signal = { .handle = self->syncobj };
	const struct batch batch = {
		.ctx = self->ctx, .commands = &command, .count = 1,
		.signals = &signal, .signal_count = 1,
	};
	const long long kills = device_counter("kills"), resets = device_counter("resets");
	int i;

	ask_host("stop for 2 s");
	/* Batches before, in and after the pause. */
	for (i = 0; i < 30; i++) {
		ASSERT_EQ(submit(self->fd, &batch), 0);
		ASSERT_EQ(syncobj_wait(self->fd, self->syncobj, 30), 0);
		ASSERT_EQ(syncobj_error(self->fd, self->syncobj), 0);
		usleep(100000);
	}
	EXPECT_EQ(((uint32_t *)self->bo.map)[0], 5);
	EXPECT_EQ(device_counter("kills"), kills);
	EXPECT_EQ(device_counter("resets"), resets);
	EXPECT_EQ(device_counter("gone"), 0);
}

/*
 * The GPU stops before its PCI function is reset: the reset waits until the GPU is found dead, and
 * not once more for its answer, nor for batches that have failed then.
 */
TEST_F_TIMEOUT(lost, worker_stops_before_a_reset_of_the_function, TIMEOUT)
{
	const struct drm_salvo_command command = fill(self->bo.address, 64, 1);
	const struct drm_salvo_sync signal = { .handle = self->syncobj };
	const struct batch batch = {
		.ctx = self->ctx, .commands = &command, .count = 1,
		.signals = &signal, .signal_count = 1,
	};
	char pci[32], path[128];
	int before = unanswered();
	double since;

	ASSERT_EQ(driver_function(pci, sizeof(pci)), 0);
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/reset", pci);
	if (access(path, W_OK))
		SKIP(return, "the function has no reset");
	/* The host does not tell when it has done so: then a batch does not end. */
	ask_host("stop");
	do {
		ASSERT_EQ(submit(self->fd, &batch), 0);
	} while (!syncobj_wait(self->fd, self->syncobj, 1));
	since = seconds();
	EXPECT_EQ(write_file(path, "1"), 0);
	printf("# the reset took %.2f s\n", seconds() - since);
	fflush(stdout);
	EXPECT_EQ(syncobj_wait(self->fd, self->syncobj, 0), 0);
	EXPECT_EQ(syncobj_error(self->fd, self->syncobj), -ENODEV);
	EXPECT_EQ(unanswered() - before, 1);
	expect_gone(_metadata, self);
	ask_host("kill");
	expect_works_when_bound_again(_metadata);
}

TEST_F_TIMEOUT(lost, worker_stops_with_nothing_to_do, TIMEOUT)
{
	ask_host("stop");
	expect_gone(_metadata, self);
	ask_host("kill");
	expect_works_when_bound_again(_metadata);
}

/* While the heartbeat continues, a reset may take as long as it does on a loaded host. */
TEST_F_TIMEOUT(lost, slow_reset_loses_no_device, TIMEOUT)
{
	struct drm_salvo_command command = fill(self->bo.address, 64, 1);
	double since;
	char path[64];

	ASSERT_EQ(submit_endless(self->fd, self->ctx, &self->exec, self->syncobj), 0);
	ask_host("end no process for 5 s");
	sleep(1);
	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%s/salvo_reset",
		 strstr(node_path(), "renderD") + 7);
	since = seconds();
	ASSERT_EQ(write_file(path, "1"), 0);
	ASSERT_EQ(syncobj_wait(self->fd, self->syncobj, 30), 0);
	printf("# the reset took %.2f s\n", seconds() - since);
	fflush(stdout);
	EXPECT_EQ(syncobj_error(self->fd, self->syncobj), -ECANCELED);
	ASSERT_NE(node_path(), NULL);
	/* On a slow machine the batch was found hung before that. */
	ASSERT_EQ(ctx_create(self->fd, &self->ctx), 0);
	EXPECT_EQ(run(self->fd, self->ctx, &command, 1), 0);
}

/* A stopped worker could write to imported memory later, so it stays attached until it is dead. */
TEST_F_TIMEOUT(lost, worker_stops_with_imported_memory, TIMEOUT)
{
	struct drm_salvo_bo_query query = { 0 };
	int vgem = vgem_open(), i;
	struct vgem_bo frame;

	if (vgem < 0)
		SKIP(return, "there is no vgem");
	ASSERT_EQ(vgem_create(vgem, 4 << 20, DRM_CLOEXEC | DRM_RDWR, &frame), 0);
	ASSERT_EQ(drmPrimeFDToHandle(self->fd, frame.fd, &query.handle), 0);
	ASSERT_EQ(call(self->fd, DRM_IOCTL_SALVO_BO_QUERY, &query), 0);
	ASSERT_EQ(submit_endless(self->fd, self->ctx, &self->exec, self->syncobj), 0);
	ask_host("stop");
	expect_gone(_metadata, self);
	ASSERT_EQ(call(self->fd, DRM_IOCTL_GEM_CLOSE,
		       &(struct drm_gem_close){ .handle = query.handle }), 0);
	usleep(100000);
	EXPECT_EQ(attachments(), 1);
	ask_host("kill");
	expect_works_when_bound_again(_metadata);
	for (i = 0; i < 100 && attachments(); i++)
		usleep(50000);
	EXPECT_EQ(attachments(), 0);
	vgem_destroy(vgem, &frame);
	close(vgem);
}

/* While batches are submitted, and buffers and contexts are created and destroyed. */
TEST_F_TIMEOUT(lost, worker_dies_under_load, TIMEOUT)
{
	static const useconds_t delays[] = { 1000, 20000, 70000 };
	struct drm_salvo_command command;
	struct bo bo;
	uint32_t ctx;
	int fd, err;
	size_t i;

	for (i = 0; i < sizeof(delays) / sizeof(delays[0]); i++) {
		double until = seconds() + 30;

		fd = node_open();
		ASSERT_GE(fd, 0);
		ask_host("kill later");
		usleep(delays[i]);
		do {
			err = ctx_create(fd, &ctx);
			if (!err)
				err = bo_create(fd, 1 << 20, 0, &bo);
			if (!err) {
				command = fill(bo.address, bo.size, i);
				err = run(fd, ctx, &command, 1);
				if (bo_close(fd, &bo))
					err = err ?: -EIO;
			}
			if (!err)
				err = call(fd, DRM_IOCTL_SALVO_CTX_DESTROY,
					   &(struct drm_salvo_ctx_destroy){ .id = ctx });
		} while (!err && seconds() < until);
		EXPECT_EQ(err, -ENODEV);
		close(fd);
		EXPECT_TRUE(becomes_gone());
		expect_works_when_bound_again(_metadata);
	}
}

/* The worker dies while the driver is bound and unbound. */
TEST_F_TIMEOUT(lost, worker_dies_as_the_driver_is_bound, TIMEOUT)
{
	double until;
	int i, err;

	close(self->fd);
	self->fd = -1;
	for (i = 0; i < 3; i++) {
		ask_host("kill later");
		for (until = seconds() + 1; seconds() < until; ) {
			err = driver_rebind();
			EXPECT_TRUE(err == 0 || err == -ENODEV) {
				TH_LOG("binding it gave %d", err);
			}
		}
		expect_works_when_bound_again(_metadata);
	}
}

/* The GPU is lost while the system sleeps; after resume no batch waits for ever. */
TEST_F_TIMEOUT(lost, worker_dies_while_the_system_sleeps, TIMEOUT)
{
	const struct drm_salvo_sync signal = { .handle = self->syncobj };
	struct drm_salvo_command command;
	struct batch batch = {
		.ctx = self->ctx, .commands = &command, .count = 1,
		.signals = &signal, .signal_count = 1,
	};
	struct drm_salvo_bo_query query = { 0 };
	struct vgem_bo frame;
	int vgem = vgem_open();
	uint32_t fence;

	if (vgem < 0 || !getenv("SALVO_HOST_WAKES"))
		SKIP(return, "there is no vgem, or no host that wakes the system");
	/* The batch is queued and waits for the fence of the frame. */
	ASSERT_EQ(vgem_create(vgem, 4096, DRM_CLOEXEC | DRM_RDWR, &frame), 0);
	ASSERT_EQ(drmPrimeFDToHandle(self->fd, frame.fd, &query.handle), 0);
	ASSERT_EQ(call(self->fd, DRM_IOCTL_SALVO_BO_QUERY, &query), 0);
	ASSERT_EQ(vgem_fence_attach(vgem, &frame, true, &fence), 0);
	command = fill(query.address, 4096, 1);
	ASSERT_EQ(submit(self->fd, &batch), 0);

	EXPECT_EQ(sleep_until_woken("kill in 2 s, then wake"), 0);

	vgem_fence_signal(vgem, fence);
	EXPECT_EQ(syncobj_wait(self->fd, self->syncobj, 20), 0);
	EXPECT_EQ(syncobj_error(self->fd, self->syncobj), -ENODEV);
	expect_gone(_metadata, self);
	expect_works_when_bound_again(_metadata);
	vgem_destroy(vgem, &frame);
	close(vgem);
}

/* The uevent that lets udev bind the driver again. */
TEST_F_TIMEOUT(lost, user_space_is_told, TIMEOUT)
{
	const struct sockaddr_nl all = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	struct pollfd events = {
		.fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT),
		.events = POLLIN,
	};
	bool told = false;

	ASSERT_GE(events.fd, 0);
	ASSERT_EQ(bind(events.fd, (const struct sockaddr *)&all, sizeof(all)), 0);
	ask_host("kill");
	while (!told && poll(&events, 1, 30000) > 0) {
		char event[4096] = "";
		ssize_t got = recv(events.fd, event, sizeof(event) - 1, 0);
		const char *at;

		if (got <= 0 || strncmp(event, "change@", 7))
			continue;
		for (at = event; at < event + got; at += strlen(at) + 1)
			told |= !strcmp(at, "WEDGED=rebind");
	}
	EXPECT_TRUE(told);
	close(events.fd);
	EXPECT_TRUE(becomes_gone());
	expect_works_when_bound_again(_metadata);
}

#define UDEVD	"/lib/systemd/systemd-udevd"

/* packaging/60-salvo.rules: udev binds the driver again, and sets the group of lost.sh. */
TEST_F_TIMEOUT(lost, udev_binds_the_driver_again, TIMEOUT)
{
	struct stat node;
	pid_t udevd;
	int i;

	if (access(UDEVD, X_OK))
		SKIP(return, "there is no " UDEVD);
	i = inotify_init1(IN_CLOEXEC);
	if (i < 0)
		SKIP(return, "udev needs inotify, which this kernel lacks");
	close(i);
	udevd = fork();
	ASSERT_GE(udevd, 0);
	if (!udevd) {
		execl(UDEVD, UDEVD, NULL);
		_exit(1);
	}
	/* udevd is ready when its control socket exists. */
	for (i = 0; i < 200 && access("/run/udev/control", F_OK); i++)
		usleep(50000);
	ask_host("kill");
	EXPECT_TRUE(becomes_gone());
	for (i = 0; i < 600 && !node_path(); i++)
		usleep(50000);
	ASSERT_NE(node_path(), NULL);
	for (i = 0; i < 200; i++) {
		ASSERT_EQ(stat(node_path(), &node), 0);
		if ((node.st_mode & 0777) == 0660)
			break;
		usleep(50000);
	}
	EXPECT_EQ(node.st_mode & 0777, 0660);
	EXPECT_EQ(node.st_gid, 104);
	kill(udevd, SIGTERM);
	EXPECT_EQ(waitpid(udevd, NULL, 0), udevd);
	expect_works_when_bound_again(_metadata);
}

TEST_F_TIMEOUT(lost, module_unloads, TIMEOUT)
{
	ASSERT_EQ(submit_endless(self->fd, self->ctx, &self->exec, self->syncobj), 0);
	ask_host("kill");
	EXPECT_TRUE(becomes_gone());
	EXPECT_EQ(unload_module("salvo"), -EWOULDBLOCK);
	munmap(self->bo.map, self->bo.size);
	munmap(self->exec.map, self->exec.size);
	close(self->fd);
	self->fd = -1;
	ASSERT_EQ(module_unload_soon(), 0);
	ASSERT_EQ(load_module(MODULE, ""), 0);
	expect_works_when_bound_again(_metadata);
}

TEST_HARNESS_MAIN
