// SPDX-License-Identifier: MIT
/*
 * inject.c - the driver with a faulty GPU, and with a second one beside it
 *
 * Runs in the VM; tests/vm/inject.sh on the host does what the lines "# host: ..." ask for:
 * it writes faults into the control FIFO of a GPU, or kills the worker of the first one. A
 * GPU confirms them by an interrupt.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "binding.h"
#include "host.h"
#include "rendernode.h"

/* A file of a GPU, with the objects for a batch. */
struct user {
	int fd;
	uint32_t ctx, syncobj;
	struct bo bo;
};

FIXTURE(inject) {
	/* Of the first GPU and of the second */
	struct user user[2];
};

static int open_node(unsigned int gpu)
{
	char path[32];

	snprintf(path, sizeof(path), "/dev/dri/renderD%u", 128 + gpu);
	return open(path, O_RDWR | O_CLOEXEC);
}

static int open_user(unsigned int gpu, struct user *user)
{
	int err;

	user->fd = open_node(gpu);
	if (user->fd < 0)
		return -errno;
	err = ctx_create(user->fd, &user->ctx);
	if (!err)
		err = bo_create(user->fd, 4096, 0, &user->bo);
	if (!err)
		err = bo_map(user->fd, &user->bo);
	user->syncobj = syncobj_create(user->fd);
	return err;
}

FIXTURE_SETUP(inject)
{
	ASSERT_EQ(open_user(0, &self->user[0]), 0);
	ASSERT_EQ(open_user(1, &self->user[1]), 0);
}

FIXTURE_TEARDOWN(inject)
{
	close(self->user[0].fd);
	close(self->user[1].fd);
}

/* Interrupts of the fault vectors of all GPUs. */
static uint64_t fault_irqs(void)
{
	FILE *file = fopen("/proc/interrupts", "re");
	uint64_t irqs = 0;
	char line[512];

	while (file && fgets(line, sizeof(line), file)) {
		unsigned long long a, b;

		if (strstr(line, "salvo-fault") && sscanf(line, " %*d: %llu %llu", &a, &b) == 2)
			irqs += a + b;
	}
	if (file)
		fclose(file);
	return irqs;
}

/* The batches that faults name are counted from now on. */
static bool inject_into(const char *what, const char *faults)
{
	const uint64_t before = fault_irqs();
	char line[128];
	int i;

	snprintf(line, sizeof(line), "%s %s", what, faults);
	ask_host(line);
	for (i = 0; i < 600 && fault_irqs() == before; i++)
		usleep(50000);
	return fault_irqs() != before;
}

static bool inject(const char *faults)
{
	return inject_into("inject", faults);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

static int submit_fill(struct user *user, uint32_t pattern)
{
	const struct drm_salvo_command command = fill(user->bo.address, 4096, pattern);
	const struct drm_salvo_sync signal = { .handle = user->syncobj };
	const struct batch batch = {
		.ctx = user->ctx, .commands = &command, .count = 1,
		.signals = &signal, .signal_count = 1,
	};

	return submit(user->fd, &batch);
}

/* Status of the batch; -EILSEQ if it succeeded with a wrong result. */
static int wait_fill(struct user *user, uint32_t pattern)
{
	int err = syncobj_wait(user->fd, user->syncobj, 30), i;

	if (!err)
		err = syncobj_error(user->fd, user->syncobj);
	for (i = 0; !err && i < 1024; i++)
		if (((volatile uint32_t *)user->bo.map)[i] != pattern)
			err = -EILSEQ;
	return err;
}

static int run_fill(struct user *user, uint32_t pattern)
{
	int err = submit_fill(user, pattern);

	return err ? err : wait_fill(user, pattern);
}

/* Binds the driver to the first GPU again, and opens it for the user. */
static int bind_again(struct user *user)
{
	char path[PATH_MAX] = "", *pci;
	int err = -ENODEV, i;

	if (readlink("/sys/class/drm/renderD128/device", path, sizeof(path) - 1) < 0)
		return -errno;
	pci = basename(path);
	munmap(user->bo.map, user->bo.size);
	close(user->fd);
	user->fd = -1;
	err = driver_unbind(pci);
	if (err)
		return err;
	/* The new worker may not be ready yet. */
	for (i = 0; i < 100; i++) {
		err = driver_bind(pci);
		if (!err)
			break;
		usleep(100000);
	}
	return err ? err : open_user(0, user);
}

TEST_F_TIMEOUT(inject, a_lost_interrupt_costs_a_timeout_at_most_and_no_batch, 60)
{
	const long long resets = device_counter("resets"), kills = device_counter("kills");
	struct user *user = &self->user[0];
	uint64_t irqs;

	/* Without later batches only its own interrupt could retire the batch. */
	ASSERT_TRUE(inject("lost-irq@1,lost-irq@4"));
	irqs = fence_irqs();
	EXPECT_EQ(run_fill(user, 1), 0);
	EXPECT_EQ(fence_irqs(), irqs);
	EXPECT_EQ(submit_fill(user, 2), 0);
	EXPECT_EQ(submit_fill(user, 3), 0);
	EXPECT_EQ(run_fill(user, 4), 0);
	EXPECT_EQ(run_fill(user, 5), 0);
	EXPECT_EQ(device_counter("resets"), resets);
	EXPECT_EQ(device_counter("kills"), kills);
}

TEST_F_TIMEOUT(inject, a_late_fence_is_late, 60)
{
	const long long resets = device_counter("resets"), kills = device_counter("kills");
	struct user *user = &self->user[0];
	double since;

	ASSERT_TRUE(inject("late-fence@2:300ms"));
	EXPECT_EQ(run_fill(user, 1), 0);
	since = seconds();
	EXPECT_EQ(run_fill(user, 2), 0);
	EXPECT_GE(seconds() - since, 0.3);
	EXPECT_EQ(run_fill(user, 3), 0);
	EXPECT_EQ(device_counter("resets"), resets);
	EXPECT_EQ(device_counter("kills"), kills);
}

/* A kill does not help, since the batch is done, so the driver resets the GPU. */
TEST_F_TIMEOUT(inject, a_fence_later_than_the_timeout_is_not_waited_for, 60)
{
	const long long resets = device_counter("resets");
	struct user *user = &self->user[0], other;

	ASSERT_TRUE(inject("late-fence@1:60000ms"));
	EXPECT_EQ(run_fill(user, 1), -ECANCELED);
	EXPECT_EQ(device_counter("resets"), resets + 1);
	ASSERT_EQ(open_user(0, &other), 0);
	EXPECT_EQ(run_fill(&other, 2), 0);
	close(other.fd);
}

TEST_F_TIMEOUT(inject, a_wrong_seqno_is_ignored, 60)
{
	const long long resets = device_counter("resets");
	struct user *user = &self->user[0], other;

	/* The fence of the next batch retires both. */
	ASSERT_EQ(open_user(0, &other), 0);
	ASSERT_TRUE(inject("wrong-seqno@1,wrong-seqno@3:-1,wrong-seqno@5:+1"));
	EXPECT_EQ(submit_fill(user, 1), 0);
	EXPECT_EQ(run_fill(&other, 2), 0);
	EXPECT_EQ(wait_fill(user, 1), 0);
	EXPECT_EQ(submit_fill(user, 3), 0);
	EXPECT_EQ(run_fill(&other, 4), 0);
	EXPECT_EQ(wait_fill(user, 3), 0);
	EXPECT_EQ(device_counter("resets"), resets);
	/* Without a next batch it is never retired. */
	EXPECT_EQ(run_fill(user, 5), -ECANCELED);
	EXPECT_EQ(device_counter("resets"), resets + 1);
	EXPECT_EQ(run_fill(&other, 6), 0);
	close(other.fd);
}

/* The driver passes only plausible values of a fault to userspace. */
TEST_F_TIMEOUT(inject, a_result_that_cannot_be_true_costs_its_context_alone, 60)
{
	struct user *user = &self->user[0], other;
	struct drm_salvo_ctx_query query;

	ASSERT_EQ(open_user(0, &other), 0);
	ASSERT_TRUE(inject("bad-result@1"));
	EXPECT_EQ(run_fill(user, 1), -ECANCELED);
	ASSERT_EQ(ctx_query(user->fd, user->ctx, &query), 0);
	EXPECT_EQ(query.state, DRM_SALVO_CTX_BANNED);
	EXPECT_EQ(query.fault.batch, 1);
	EXPECT_EQ(query.fault.command, ~0u);
	EXPECT_LE(query.fault.done, 1);
	EXPECT_EQ(query.fault.access & ~(DRM_SALVO_ACCESS_READ | DRM_SALVO_ACCESS_WRITE |
					 DRM_SALVO_ACCESS_EXEC), 0);
	EXPECT_EQ(run_fill(&other, 2), 0);
	close(other.fd);
}

/* False claims of units do not extend the timeout of a batch without a fence. */
TEST_F_TIMEOUT(inject, units_that_name_no_batch_hold_none, 60)
{
	struct user *user = &self->user[0], other;

	ASSERT_EQ(open_user(0, &other), 0);
	ASSERT_TRUE(inject("stuck-units@1,late-fence@2:60000ms"));
	EXPECT_EQ(run_fill(&other, 1), 0);
	EXPECT_EQ(run_fill(user, 2), -ECANCELED);
	EXPECT_EQ(run_fill(&other, 3), 0);
	close(other.fd);
}

TEST_F_TIMEOUT(inject, nonsense_in_head_and_fence_is_survived, 60)
{
	const long long resets = device_counter("resets");
	struct user *user = &self->user[0], other;

	ASSERT_EQ(open_user(0, &other), 0);
	ASSERT_TRUE(inject("corrupt@1:head,corrupt@3:fence"));
	EXPECT_EQ(run_fill(user, 1), 0);
	EXPECT_EQ(run_fill(user, 2), 0);
	EXPECT_EQ(device_counter("resets"), resets);
	EXPECT_EQ(run_fill(user, 3), -ECANCELED);
	EXPECT_EQ(device_counter("resets"), resets + 1);
	EXPECT_EQ(run_fill(&other, 4), 0);
	close(other.fd);
}

TEST_F_TIMEOUT(inject, without_its_magic_the_gpu_is_given_up, 60)
{
	struct user *user = &self->user[0];
	int i;

	/* With its interrupt the batch would complete before the watchdog samples. */
	ASSERT_TRUE(inject("corrupt@1:magic,lost-irq@1"));
	EXPECT_EQ(run_fill(user, 1), -ENODEV);
	for (i = 0; i < 600 && run_fill(user, 2) != -ENODEV; i++)
		usleep(50000);
	EXPECT_EQ(run_fill(user, 2), -ENODEV);
	EXPECT_EQ(run_fill(&self->user[1], 3), 0);
	ask_host("kill ");
	ASSERT_EQ(bind_again(user), 0);
	EXPECT_EQ(run_fill(user, 4), 0);
}

TEST_F_TIMEOUT(inject, a_crash_ends_one_gpu_and_not_the_other, 60)
{
	struct user *user = self->user;

	/* Both GPUs at once */
	EXPECT_EQ(submit_fill(&user[0], 1), 0);
	EXPECT_EQ(submit_fill(&user[1], 2), 0);
	EXPECT_EQ(wait_fill(&user[0], 1), 0);
	EXPECT_EQ(wait_fill(&user[1], 2), 0);

	ASSERT_TRUE(inject("crash@2"));
	EXPECT_EQ(run_fill(&user[0], 3), 0);
	EXPECT_EQ(submit_fill(&user[0], 4), 0);
	EXPECT_EQ(run_fill(&user[1], 5), 0);
	EXPECT_EQ(wait_fill(&user[0], 4), -ENODEV);
	EXPECT_EQ(run_fill(&user[0], 6), -ENODEV);
	EXPECT_EQ(run_fill(&user[1], 7), 0);
	ASSERT_EQ(bind_again(&user[0]), 0);
	EXPECT_EQ(run_fill(&user[0], 8), 0);
	EXPECT_EQ(run_fill(&user[1], 9), 0);
}

#define CRASH_BATCHES	8

/*
 * Batches of two contexts in turn, some of them after the crash: those before it succeed, the
 * others fail, and no fence stays pending.
 */
static void crash_at(struct __test_metadata *_metadata, struct user *user, unsigned int at)
{
	uint32_t ctx[2] = { user->ctx }, syncobj[CRASH_BATCHES];
	int submitted, i, err, lost[2] = { 0 };
	char what[16];

	ASSERT_EQ(ctx_create(user->fd, &ctx[1]), 0);
	snprintf(what, sizeof(what), "crash@%u", at);
	ASSERT_TRUE(inject(what));
	for (submitted = 0; submitted < CRASH_BATCHES; submitted++) {
		user->ctx = ctx[submitted % 2];
		user->syncobj = syncobj[submitted] = syncobj_create(user->fd);
		err = submit_fill(user, submitted);
		if (err)
			break;
	}
	EXPECT_TRUE(err == 0 || err == -ENODEV);
	for (i = 0; i < submitted; i++) {
		ASSERT_EQ(syncobj_wait(user->fd, syncobj[i], 30), 0);
		err = syncobj_error(user->fd, syncobj[i]);
		EXPECT_TRUE(err == -ENODEV || (err == 0 && !lost[i % 2]));
		lost[i % 2] |= err;
	}
	EXPECT_TRUE(submitted < (int)at || lost[0] || lost[1]);
	EXPECT_EQ(run_fill(user, 1), -ENODEV);
}

TEST_F_TIMEOUT(inject, a_crash_at_any_batch_loses_no_fence, 150)
{
	unsigned int at;

	for (at = 1; at <= CRASH_BATCHES; at++) {
		/* salvo-gpu exits when several workers in a row live for less than a second. */
		usleep(1100000);
		crash_at(_metadata, &self->user[0], at);
		ASSERT_EQ(bind_again(&self->user[0]), 0);
		ASSERT_EQ(run_fill(&self->user[0], at), 0);
	}
}

/* A late fence of the second GPU does not delay the first. */
TEST_F_TIMEOUT(inject, a_gpu_does_not_wait_for_the_other, 60)
{
	struct user *user = self->user;
	double since = seconds();
	int i;

	ASSERT_TRUE(inject_into("inject2", "late-fence@1:1000ms"));
	since = seconds();
	EXPECT_EQ(submit_fill(&user[1], 1), 0);
	for (i = 0; i < 10; i++)
		EXPECT_EQ(run_fill(&user[0], i), 0);
	EXPECT_EQ(wait_fill(&user[1], 1), 0);
	EXPECT_GE(seconds() - since, 1.0);
}

TEST_HARNESS_MAIN
