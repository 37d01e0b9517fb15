// SPDX-License-Identifier: MIT
/*
 * lost.c - the GPU dies or stops under the driver
 *
 * Runs in the VM; tests/vm/lost.sh on the host does what the lines "# host: ..." ask
 * for: it kills, stops or continues the worker process of salvo-gpu.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rendernode.h"

#define DRIVER	"/sys/bus/pci/drivers/salvo"

FIXTURE(lost) {
	int fd;
	uint32_t ctx, syncobj;
	struct bo bo, exec;
};

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static int bind_again(void)
{
	glob_t found;
	const char *pci;
	int err;

	if (glob(DRIVER "/*:*.*", 0, NULL, &found))
		return -ENOENT;
	pci = strrchr(found.gl_pathv[0], '/') + 1;
	err = write_file(DRIVER "/unbind", pci);
	if (!err)
		err = write_file(DRIVER "/bind", pci);
	globfree(&found);
	return err;
}

static void ask_host(const char *what)
{
	printf("# host: %s\n", what);
	fflush(stdout);
}

/* Until a new file cannot be opened any more. */
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
	ASSERT_EQ(bo_map(self->fd, &self->exec), 0);
	/* jmp to itself */
	memcpy(self->exec.map, "\xeb\xfe", 2);
	self->syncobj = syncobj_create(self->fd);
}

FIXTURE_TEARDOWN(lost)
{
	close(self->fd);
}

static int submit_endless(FIXTURE_DATA(lost) *self)
{
	const struct drm_salvo_command command = {
		.type = DRM_SALVO_DISPATCH, .entry = self->exec.address, .dims = 1,
		.items = { 1, 1, 1 }, .group = { 1, 1, 1 },
	};
	const struct drm_salvo_sync signal = { .handle = self->syncobj };
	const struct batch batch = {
		.ctx = self->ctx, .commands = &command, .count = 1,
		.signals = &signal, .signal_count = 1,
	};

	return submit(self->fd, &batch);
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
	EXPECT_EQ(bo_close(self->fd, &self->bo), 0);
}

/* A new worker is a new GPU: bound again, it works. */
static void expect_works_when_bound_again(struct __test_metadata *_metadata)
{
	struct drm_salvo_command command;
	int fd, err = -ENODEV, i;
	uint32_t ctx;
	struct bo bo;

	for (i = 0; i < 50 && err; i++) {
		err = bind_again();
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

TEST_F_TIMEOUT(lost, worker_dies_with_a_batch, 60)
{
	ASSERT_EQ(submit_endless(self), 0);
	ask_host("kill");
	ASSERT_EQ(syncobj_wait(self->fd, self->syncobj, 30), 0);
	EXPECT_EQ(syncobj_error(self->fd, self->syncobj), -ENODEV);
	expect_gone(_metadata, self);
	expect_works_when_bound_again(_metadata);
}

TEST_F_TIMEOUT(lost, worker_stops_with_a_batch, 60)
{
	ASSERT_EQ(submit_endless(self), 0);
	ask_host("stop");
	ASSERT_EQ(syncobj_wait(self->fd, self->syncobj, 30), 0);
	EXPECT_EQ(syncobj_error(self->fd, self->syncobj), -ENODEV);
	expect_gone(_metadata, self);
	ask_host("kill");
	expect_works_when_bound_again(_metadata);
}

TEST_F_TIMEOUT(lost, worker_stops_with_nothing_to_do, 60)
{
	ask_host("stop");
	expect_gone(_metadata, self);
	ask_host("kill");
	expect_works_when_bound_again(_metadata);
}

TEST_HARNESS_MAIN
