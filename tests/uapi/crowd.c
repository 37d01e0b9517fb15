// SPDX-License-Identifier: MIT
/*
 * crowd.c - many processes at once, and their shares of the GPU
 *
 * SALVO_TEST_SECONDS makes the measurement of shares longer; it is a ratio, so the
 * machine's speed does not count.
 */
#include "kselftest_harness.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xf86drm.h>

#include "rendernode.h"

#define CROWD		64
#define EACH		12
#define SHARERS		4
#define ENOUGH		40
#define MEASUREMENTS	8

FIXTURE(crowd) {
	int start[2];
};

FIXTURE_SETUP(crowd)
{
	ASSERT_EQ(pipe(self->start), 0);
}

FIXTURE_TEARDOWN(crowd)
{
	close(self->start[0]);
	EXPECT_TRUE(wait_value("jobs", 0));
	EXPECT_TRUE(wait_value("vram-used", 0));
}

/* Blocks until the parent closes the other end, so that all start together. */
static void wait_for_start(int start)
{
	char byte;

	while (read(start, &byte, 1) > 0)
		;
}

static int submit_and_check(int start, uint32_t seed)
{
	struct drm_salvo_command commands[3];
	int fd = node_open(), i, err;
	uint32_t ctx, at;
	struct bo bo;

	if (fd < 0 || ctx_create(fd, &ctx) || bo_create(fd, 2 * 65536, 0, &bo) || bo_map(fd, &bo))
		return 1;
	wait_for_start(start);
	for (i = 0; i < EACH; i++) {
		const uint32_t value = seed * EACH + i;
		const uint32_t *words = bo.map;

		commands[0] = fill(bo.address, 65536, value);
		commands[1] = pipe_control_all();
		commands[2] = copy(bo.address + 65536, bo.address, 65536);
		err = run(fd, ctx, commands, 3);
		if (err)
			return 2;
		for (at = 0; at < 2 * 65536 / 4; at += 1021)
			if (words[at] != value)
				return 3;
	}
	close(fd);
	return 0;
}

TEST_F_TIMEOUT(crowd, sixty_four_processes_at_once, 200)
{
	pid_t children[CROWD];
	int i, status;

	for (i = 0; i < CROWD; i++) {
		children[i] = fork();
		ASSERT_GE(children[i], 0);
		if (!children[i]) {
			close(self->start[1]);
			_exit(submit_and_check(self->start[0], i));
		}
	}
	close(self->start[1]);
	for (i = 0; i < CROWD; i++) {
		ASSERT_EQ(waitpid(children[i], &status, 0), children[i]);
		EXPECT_EQ(status, 0) TH_LOG("process %d: status %#x", i, status);
	}
}

/* Shared memory of the measured processes and their parent. */
struct shares {
	volatile uint32_t over;
	_Atomic uint32_t ready;
	/* Each process's file and context, for the parent. */
	int fd[SHARERS];
	uint32_t ctx[SHARERS];
	/* How often it was too late with the next batch: all others had ended. */
	volatile uint64_t idle[SHARERS];
};

/* Keeps @depth batches of one size in flight. */
static void keep_busy(int start, uint32_t depth, struct shares *shares, uint32_t me)
{
	struct drm_salvo_ctx_query query;
	struct drm_salvo_command command;
	struct drm_salvo_sync signal[64];
	struct batch batch = {
		.commands = &command, .count = 1, .signal_count = 1,
	};
	int fd = node_open();
	struct bo bo;
	uint32_t i;

	if (fd < 0 || ctx_create(fd, &batch.ctx) || bo_create(fd, 16 << 20, 0, &bo))
		_exit(1);
	command = fill(bo.address, bo.size, 1);
	shares->fd[me] = fd;
	shares->ctx[me] = batch.ctx;
	for (i = 0; i < depth; i++)
		signal[i] = (struct drm_salvo_sync){ .handle = syncobj_create(fd) };
	wait_for_start(start);
	for (i = 0; i < depth; i++) {
		batch.signals = &signal[i];
		if (submit(fd, &batch))
			_exit(2);
	}
	shares->ready++;
	for (i = 0; !shares->over; i = (i + 1) % depth) {
		batch.signals = &signal[i];
		if (syncobj_wait(fd, signal[i].handle, 60) || submit(fd, &batch) ||
		    ctx_query(fd, batch.ctx, &query))
			_exit(3);
		shares->idle[me] += query.completed + 1 >= query.submitted;
	}
	_exit(0);
}

/*
 * A copy of a child's file. Only the parent sees all contexts at one moment: a child that
 * the CPU leaves waiting counts too late, by up to as many batches as it has in flight.
 */
static int file_of(pid_t child, int fd)
{
	int pidfd = syscall(SYS_pidfd_open, child, 0), copy;

	copy = syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	close(pidfd);
	return copy;
}

static uint64_t ended(int fd, uint32_t ctx)
{
	struct drm_salvo_ctx_query query;

	return ctx_query(fd, ctx, &query) ? 0 : query.completed;
}

/* What each context has got since @before. Returns whether all are within a tenth of the mean. */
static bool are_equal(const int *files, const struct shares *shares, const uint64_t *before,
		      uint64_t *got, uint64_t *mean)
{
	bool equal = true;
	int i;

	*mean = 0;
	for (i = 0; i < SHARERS; i++) {
		got[i] = ended(files[i], shares->ctx[i]) - before[i];
		*mean += got[i];
	}
	*mean /= SHARERS;
	for (i = 0; i < SHARERS; i++)
		equal &= got[i] > 0.9 * *mean && got[i] < 1.1 * *mean;
	return equal;
}

/*
 * A context's share does not depend on the number of its queued batches: each share is
 * within a tenth of the mean. A loaded host delays the driver's workers, and a context whose
 * next batch comes late loses a turn: that evens out in a longer measurement.
 */
TEST_F_TIMEOUT(crowd, contexts_of_one_priority_get_equal_shares, 200)
{
	static const uint32_t depths[SHARERS] = { 8, 16, 32, 64 };
	const char *seconds = getenv("SALVO_TEST_SECONDS");
	struct shares *shares = mmap(NULL, sizeof(*shares), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t before[SHARERS], idle[SHARERS], got[SHARERS], mean = 0, missed = 0;
	pid_t children[SHARERS];
	int files[SHARERS], tries, i, status;
	bool equal = false;

	ASSERT_NE((void *)shares, MAP_FAILED);
	for (i = 0; i < SHARERS; i++) {
		children[i] = fork();
		ASSERT_GE(children[i], 0);
		if (!children[i]) {
			close(self->start[1]);
			keep_busy(self->start[0], depths[i], shares, i);
		}
	}
	close(self->start[1]);
	/* Skip the beginning, when queues fill: the first process has the whole GPU then. */
	while (shares->ready < SHARERS)
		usleep(10000);
	for (i = 0; i < SHARERS; i++) {
		files[i] = file_of(children[i], shares->fd[i]);
		ASSERT_GE(files[i], 0);
		while (ended(files[i], shares->ctx[i]) < depths[i])
			usleep(10000);
	}
	for (i = 0; i < SHARERS; i++) {
		before[i] = ended(files[i], shares->ctx[i]);
		idle[i] = shares->idle[i];
	}
	/* Measure longer on a slow kernel, so that a single batch does not matter. */
	for (tries = 0; tries < MEASUREMENTS && !equal; tries++) {
		sleep(seconds ? atoi(seconds) : 3);
		while (ended(files[0], shares->ctx[0]) - before[0] < ENOUGH)
			usleep(10000);
		equal = are_equal(files, shares, before, got, &mean);
	}
	for (i = 0; i < SHARERS; i++) {
		close(files[i]);
		missed += shares->idle[i] - idle[i];
	}
	shares->over = 1;
	for (i = 0; i < SHARERS; i++) {
		ASSERT_EQ(waitpid(children[i], &status, 0), children[i]);
		EXPECT_EQ(status, 0);
		TH_LOG("depth %u: %llu batches, %.2f of its share", depths[i],
		       (unsigned long long)got[i], (double)got[i] / mean);
	}
	/* A context that was idle has a smaller share: it loses several turns each time. */
	if (missed > mean / 50)
		SKIP(return, "this machine is too slow to keep the queues full");
	EXPECT_TRUE(equal);
}

TEST_HARNESS_MAIN
