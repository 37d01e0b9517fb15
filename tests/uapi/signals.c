// SPDX-License-Identifier: MIT
/*
 * signals.c - signals interrupt every wait
 *
 * A signal interrupts an ioctl that waits, without side effects: with SA_RESTART the kernel
 * restarts it transparently; without, userspace gets EINTR and restarts it.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>
#include <xf86drm.h>

#include "rendernode.h"

#define BIG_ARGS	(1 << 20)
/* More packets of that size than a file may have in flight. */
#define BIG_BATCHES	72

FIXTURE(signals) {
	int fd;
	uint32_t ctx;
	struct bo bo;
};

static volatile sig_atomic_t alarms;

static void on_alarm(int signal)
{
	alarms++;
}

/* A signal every millisecond, until stop_alarms(). */
static void start_alarms(int flags)
{
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = flags };
	const struct itimerval often = { { 0, 1000 }, { 0, 1000 } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

static void stop_alarms(void)
{
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
}

FIXTURE_SETUP(signals)
{
	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(ctx_create(self->fd, &self->ctx), 0);
	ASSERT_EQ(bo_create(self->fd, 16 << 20, 0, &self->bo), 0);
	alarms = 0;
}

FIXTURE_TEARDOWN(signals)
{
	stop_alarms();
	/* The alarm of the harness is cancelled. */
	signal(SIGALRM, SIG_DFL);
	close(self->fd);
	EXPECT_TRUE(wait_value("jobs", 0));
	EXPECT_TRUE(wait_value("vram-used", 0));
}

/* A slow batch, so that later batches have to wait. */
static int submit_slow(FIXTURE_DATA(signals) *self, uint32_t syncobj)
{
	const struct drm_salvo_sync signal = { .handle = syncobj };
	struct drm_salvo_command commands[48];
	const struct batch batch = {
		.ctx = self->ctx, .commands = commands, .count = 48,
		.signals = &signal, .signal_count = 1,
	};
	int i;

	for (i = 0; i < 48; i++)
		commands[i] = i % 2 ? pipe_control_all() :
				      fill(self->bo.address, self->bo.size, i);
	return submit(self->fd, &batch);
}

/* One ioctl, which libdrm does not restart. */
static int raw(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) ? -errno : 0;
}

static void submit_more_than_fits(struct __test_metadata *_metadata,
				  FIXTURE_DATA(signals) *self, int flags)
{
	const struct drm_salvo_command command = fill(self->bo.address, 64, 1);
	struct drm_salvo_ctx_query query;
	void *args = calloc(1, BIG_ARGS);
	uint32_t syncobj = syncobj_create(self->fd);
	const struct drm_salvo_sync signal = { .handle = syncobj };
	struct drm_salvo_submit batch = {
		.ctx_id = self->ctx,
		.commands = { sizeof(command), 1, (uintptr_t)&command },
		.signals = { sizeof(signal), 1, (uintptr_t)&signal },
		.args = (uintptr_t)args, .args_size = BIG_ARGS,
	};
	int i, err, interrupted = 0;

	ASSERT_NE(args, NULL);
	ASSERT_EQ(submit_slow(self, syncobj), 0);
	start_alarms(flags);
	for (i = 0; i < BIG_BATCHES; i++) {
		do {
			err = raw(self->fd, DRM_IOCTL_SALVO_SUBMIT, &batch);
			interrupted += err == -EINTR;
		} while (err == -EINTR && !flags);
		ASSERT_EQ(err, 0);
	}
	stop_alarms();
	printf("# %d signals, %d calls interrupted\n", (int)alarms, interrupted);
	EXPECT_GT(alarms, 0);
	ASSERT_EQ(syncobj_wait(self->fd, syncobj, 30), 0);
	EXPECT_EQ(syncobj_error(self->fd, syncobj), 0);
	/* Each batch counts once, however often the ioctl was restarted. */
	ASSERT_EQ(ctx_query(self->fd, self->ctx, &query), 0);
	EXPECT_EQ(query.submitted, BIG_BATCHES + 1);
	EXPECT_EQ(query.failed, 0);
	free(args);
}

TEST_F_TIMEOUT(signals, submit_is_started_again_by_the_kernel, 100)
{
	submit_more_than_fits(_metadata, self, SA_RESTART);
}

TEST_F_TIMEOUT(signals, submit_can_be_called_again, 100)
{
	submit_more_than_fits(_metadata, self, 0);
}

/* A batch uses the memory: BO_CREATE waits until it is free. */
static void create_what_is_in_use(struct __test_metadata *_metadata,
				  FIXTURE_DATA(signals) *self, int flags)
{
	struct drm_salvo_bo_create create;
	uint32_t syncobj = syncobj_create(self->fd);
	int i, err, interrupted = 0;
	struct bo most;

	for (i = 0; i < 3; i++) {
		struct drm_salvo_command command;

		ASSERT_EQ(bo_create(self->fd, 200 << 20, 0, &most), 0);
		command = fill(most.address, most.size, i);
		ASSERT_EQ(submit_slow(self, syncobj), 0);
		ASSERT_EQ(submit(self->fd, &(struct batch){
			.ctx = self->ctx, .commands = &command, .count = 1,
		}), 0);
		ASSERT_EQ(bo_close(self->fd, &most), 0);
		start_alarms(flags);
		do {
			create = (struct drm_salvo_bo_create){ .size = 200 << 20 };
			err = raw(self->fd, DRM_IOCTL_SALVO_BO_CREATE, &create);
			interrupted += err == -EINTR;
			/* Zeroing takes longer than the interval between signals. */
			if (interrupted > 20)
				stop_alarms();
			/* On a slow machine the batch outlasts the wait of the driver. */
		} while ((err == -EINTR && !flags) || err == -ENOSPC);
		stop_alarms();
		ASSERT_EQ(err, 0);
		most = (struct bo){ .size = create.size, .handle = create.handle };
		ASSERT_EQ(bo_close(self->fd, &most), 0);
	}
	printf("# %d signals, %d calls interrupted\n", (int)alarms, interrupted);
	EXPECT_GT(alarms, 0);
}

TEST_F_TIMEOUT(signals, create_is_started_again_by_the_kernel, 100)
{
	create_what_is_in_use(_metadata, self, SA_RESTART);
}

TEST_F_TIMEOUT(signals, create_can_be_called_again, 100)
{
	create_what_is_in_use(_metadata, self, 0);
}

TEST_HARNESS_MAIN
