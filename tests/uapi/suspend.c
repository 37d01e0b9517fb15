// SPDX-License-Identifier: MIT
/*
 * suspend.c - the system suspends and resumes with batches in flight
 *
 * The kernel's own test mode freezes user space, suspends all devices, waits a second
 * and resumes, which is all that the driver sees of a suspend to idle. With SALVO_HOST_WAKES
 * the system really sleeps until the host presses a key.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"
#include "rendernode.h"
#include "system.h"

#define CHILDREN	4

FIXTURE(suspend) {
	int fd;
	uint32_t ctx;
	struct bo bo;
};

FIXTURE_SETUP(suspend)
{
	if (access("/sys/power/pm_test", W_OK))
		SKIP_TEST("the kernel cannot test suspend");
	if (!getenv("SALVO_HOST_WAKES")) {
		ASSERT_EQ(write_file("/sys/power/pm_test", "devices"), 0);
		write_file("/sys/module/suspend/parameters/pm_test_delay", "1");
	}
	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(ctx_create(self->fd, &self->ctx), 0);
	ASSERT_EQ(bo_create(self->fd, 16 << 20, 0, &self->bo), 0);
	ASSERT_EQ(bo_map(self->fd, &self->bo), 0);
}

FIXTURE_TEARDOWN(suspend)
{
	bo_close(self->fd, &self->bo);
	close(self->fd);
	EXPECT_EQ(write_file("/sys/power/pm_test", "none"), 0);
	EXPECT_TRUE(wait_value("vram-used", 0));
}

static long times_asleep(void)
{
	return read_number("/sys/power/suspend_stats/success");
}

static int go_to_sleep(void)
{
	const long before = times_asleep();
	const int err = getenv("SALVO_HOST_WAKES") ? sleep_until_woken("wake") :
						     write_file("/sys/power/state", "freeze");

	return err ?: times_asleep() == before + 1 ? 0 : -EAGAIN;
}

/* Buffers, address spaces and contexts are unchanged. */
TEST_F_TIMEOUT(suspend, all_is_as_before, 60)
{
	struct drm_salvo_command command = fill(self->bo.address, self->bo.size, 7);
	volatile uint32_t *words = self->bo.map;

	ASSERT_EQ(run(self->fd, self->ctx, &command, 1), 0);
	ASSERT_EQ(go_to_sleep(), 0);
	EXPECT_EQ(words[0], 7);
	EXPECT_EQ(words[self->bo.size / 4 - 1], 7);
	command = fill(self->bo.address, self->bo.size, 8);
	EXPECT_EQ(run(self->fd, self->ctx, &command, 1), 0);
	EXPECT_EQ(words[self->bo.size / 4 - 1], 8);
	EXPECT_EQ(device_counter("gone"), 0);
	/* And once more. */
	ASSERT_EQ(go_to_sleep(), 0);
	command = fill(self->bo.address, self->bo.size, 9);
	EXPECT_EQ(run(self->fd, self->ctx, &command, 1), 0);
	EXPECT_EQ(words[0], 9);
}

static void submit_until_told(int stop)
{
	int fd = node_open(), flags = fcntl(stop, F_GETFL);
	struct drm_salvo_command commands[3];
	struct bo bo;
	uint32_t ctx;
	char byte;

	fcntl(stop, F_SETFL, flags | O_NONBLOCK);
	if (fd < 0 || ctx_create(fd, &ctx) || bo_create(fd, 4 << 20, 0, &bo))
		_exit(1);
	commands[0] = fill(bo.address, bo.size, 1);
	commands[1] = pipe_control_all();
	commands[2] = fill(bo.address, bo.size, 2);
	while (read(stop, &byte, 1) < 0)
		if (run(fd, ctx, commands, 3))
			_exit(2);
	_exit(0);
}

/* Processes that are frozen while they submit continue afterwards. */
TEST_F_TIMEOUT(suspend, batches_under_way_end_well, 60)
{
	int stop[2], i, status;
	pid_t children[CHILDREN];

	ASSERT_EQ(pipe(stop), 0);
	for (i = 0; i < CHILDREN; i++) {
		children[i] = fork();
		ASSERT_GE(children[i], 0);
		if (!children[i]) {
			close(stop[1]);
			submit_until_told(stop[0]);
		}
	}
	usleep(300000);
	EXPECT_EQ(go_to_sleep(), 0);
	usleep(300000);
	close(stop[1]);
	for (i = 0; i < CHILDREN; i++) {
		ASSERT_EQ(waitpid(children[i], &status, 0), children[i]);
		EXPECT_EQ(status, 0);
	}
	close(stop[0]);
}

TEST_HARNESS_MAIN
