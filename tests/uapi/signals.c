// SPDX-License-Identifier: MIT
/*
 * signals.c - signals interrupt every wait
 *
 * A signal interrupts an ioctl that waits, without side effects: with SA_RESTART the kernel
 * restarts it transparently; without, userspace gets EINTR and restarts it.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>
#include <xf86drm.h>

#include "dmabuf.h"
#include "rendernode.h"

#define BIG_ARGS	(1 << 20)
/* More packets of that size than a file may have in flight. */
#define BIG_BATCHES	72
/* So many do fit. */
#define FITTING_BATCHES	60
/* Alarms and interrupted calls after which the gate is opened. */
#define ALARMS		400
#define INTERRUPTED	20

FIXTURE(signals) {
	int fd;
	uint32_t ctx;
	struct bo bo;
};

/*
 * Batches that wait for the fence on this buffer keep what they use until it is signalled: by
 * open_gate(), or by vgem after ten seconds, if a slow machine takes so long for the rest.
 */
static struct gate {
	int vgem;
	struct vgem_bo bo;
	uint32_t fence;
	bool opened;
} gate;

static volatile sig_atomic_t alarms, last_alarm;

static void stop_alarms(void)
{
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
}

/* An error if the gate was open. */
static int open_gate(void)
{
	stop_alarms();
	gate.opened = true;
	return vgem_fence_signal(gate.vgem, gate.fence);
}

static void on_alarm(int signal)
{
	if (++alarms == last_alarm)
		open_gate();
}

/*
 * A signal every millisecond until the gate is opened: by the last alarm if the kernel restarts
 * what it interrupts, else by the test, after INTERRUPTED calls.
 */
static void start_alarms(int flags)
{
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = flags };
	const struct itimerval often = { { 0, 1000 }, { 0, 1000 } };

	alarms = 0;
	last_alarm = flags ? ALARMS : 0;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

/* Closes the gate: @syncobj gets a fence that open_gate() signals. */
static int close_gate(FIXTURE_DATA(signals) *self, uint32_t syncobj)
{
	gate.opened = false;
	return vgem_fence_syncobj(gate.vgem, &gate.bo, &gate.fence, self->fd, syncobj);
}

FIXTURE_SETUP(signals)
{
	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(ctx_create(self->fd, &self->ctx), 0);
	ASSERT_EQ(bo_create(self->fd, 4096, 0, &self->bo), 0);
	gate.vgem = vgem_open();
	if (gate.vgem < 0)
		SKIP_TEST("there is no vgem");
	ASSERT_EQ(vgem_create(gate.vgem, 4096, DRM_CLOEXEC | DRM_RDWR, &gate.bo), 0);
}

FIXTURE_TEARDOWN(signals)
{
	stop_alarms();
	/* The alarm of the harness is cancelled. */
	signal(SIGALRM, SIG_DFL);
	vgem_destroy(gate.vgem, &gate.bo);
	close(gate.vgem);
	close(self->fd);
	EXPECT_TRUE(wait_value("jobs", 0));
	EXPECT_TRUE(wait_value("vram-used", 0));
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
	const struct drm_salvo_sync opened = { .handle = syncobj_create(self->fd) };
	const struct drm_salvo_sync done = { .handle = syncobj_create(self->fd) };
	struct drm_salvo_submit batch = {
		.ctx_id = self->ctx,
		.commands = { sizeof(command), 1, (uintptr_t)&command },
		.waits = { sizeof(opened), 1, (uintptr_t)&opened },
		.signals = { sizeof(done), 1, (uintptr_t)&done },
		.args = (uintptr_t)args, .args_size = BIG_ARGS,
	};
	int i, err, interrupted = 0;

	ASSERT_NE(args, NULL);
	ASSERT_EQ(close_gate(self, opened.handle), 0);
	for (i = 0; i < BIG_BATCHES; i++) {
		if (i == FITTING_BATCHES)
			start_alarms(flags);
		do {
			err = raw(self->fd, DRM_IOCTL_SALVO_SUBMIT, &batch);
			if (err == -EINTR && ++interrupted == INTERRUPTED)
				open_gate();
		} while (err == -EINTR && !flags);
		ASSERT_EQ(err, 0);
	}
	/* They do not fit as long as the gate is closed. */
	if (!gate.opened)
		EXPECT_NE(open_gate(), 0);
	TH_LOG("%d signals, %d calls interrupted", (int)alarms, interrupted);
	EXPECT_GT(alarms, 0);
	ASSERT_EQ(syncobj_wait(self->fd, done.handle, 30), 0);
	EXPECT_EQ(syncobj_error(self->fd, done.handle), 0);
	/* Each batch counts once, however often the ioctl was restarted. */
	ASSERT_EQ(ctx_query(self->fd, self->ctx, &query), 0);
	EXPECT_EQ(query.submitted, BIG_BATCHES);
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
	const struct drm_salvo_sync opened = { .handle = syncobj_create(self->fd) };
	struct drm_salvo_bo_create create;
	struct drm_salvo_command command;
	int i, err, interrupted;
	struct bo most;

	for (i = 0; i < 3; i++) {
		ASSERT_EQ(bo_create(self->fd, 200 << 20, 0, &most), 0);
		command = fill(most.address, 64, i);
		ASSERT_EQ(close_gate(self, opened.handle), 0);
		ASSERT_EQ(submit(self->fd, &(struct batch){
			.ctx = self->ctx, .commands = &command, .count = 1,
			.waits = &opened, .wait_count = 1,
		}), 0);
		ASSERT_EQ(bo_close(self->fd, &most), 0);
		interrupted = 0;
		start_alarms(flags);
		do {
			create = (struct drm_salvo_bo_create){ .size = 200 << 20 };
			err = raw(self->fd, DRM_IOCTL_SALVO_BO_CREATE, &create);
			if (err == -EINTR && ++interrupted == INTERRUPTED)
				open_gate();
			/* On a slow machine the gate is closed for longer than the driver waits. */
		} while ((err == -EINTR && !flags) || err == -ENOSPC);
		ASSERT_EQ(err, 0);
		/* There is no room as long as the gate is closed. */
		if (!gate.opened)
			EXPECT_NE(open_gate(), 0);
		TH_LOG("%d signals, %d calls interrupted", (int)alarms, interrupted);
		EXPECT_GT(alarms, 0);
		most = (struct bo){ .size = create.size, .handle = create.handle };
		ASSERT_EQ(bo_close(self->fd, &most), 0);
	}
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
