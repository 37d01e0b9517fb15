// SPDX-License-Identifier: MIT
/*
 * shares.c - shares of the GPU that processes get
 *
 * Runs in the VM with a GPU that executes one batch at a time. On others batches of several
 * contexts run at once: a context gets fewer turns if its batch takes longer because the host's
 * scheduler leaves it waiting, which has nothing to do with the driver.
 */
#include "kselftest_harness.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rendernode.h"

#define SHARERS	4
#define ENOUGH	200
#define SECONDS	3
#define LIMIT	150

/* Shared memory of the measured processes and their parent. */
struct shares {
	volatile uint32_t over;
	_Atomic uint32_t ready;
	/* Each process's file and context, for the parent. */
	int fd[SHARERS];
	uint32_t ctx[SHARERS];
};

/* The batches of each context up to one moment */
struct sample {
	uint64_t submitted[SHARERS], completed[SHARERS];
};

FIXTURE(shares) {
	struct shares *shares;
	pid_t children[SHARERS];
	int files[SHARERS];
};

FIXTURE_SETUP(shares)
{
	self->shares = mmap(NULL, sizeof(*self->shares), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE((void *)self->shares, MAP_FAILED);
}

FIXTURE_TEARDOWN(shares)
{
	self->shares->over = 1;
	EXPECT_TRUE(wait_value("jobs", 0));
	EXPECT_TRUE(wait_value("vram-used", 0));
}

/* Keeps @depth batches of one size in flight. */
static void keep_busy(uint32_t depth, struct shares *shares, uint32_t me)
{
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
	for (i = 0; i < depth; i++) {
		signal[i] = (struct drm_salvo_sync){ .handle = syncobj_create(fd) };
		batch.signals = &signal[i];
		if (submit(fd, &batch))
			_exit(2);
	}
	shares->fd[me] = fd;
	shares->ctx[me] = batch.ctx;
	shares->ready++;
	for (i = 0; !shares->over; i = (i + 1) % depth) {
		batch.signals = &signal[i];
		if (syncobj_wait(fd, signal[i].handle, 60) || submit(fd, &batch))
			_exit(3);
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

static struct sample sample(const FIXTURE_DATA(shares) *self)
{
	struct drm_salvo_ctx_query query;
	struct sample now = { };
	int i;

	for (i = 0; i < SHARERS; i++) {
		if (ctx_query(self->files[i], self->shares->ctx[i], &query))
			continue;
		now.submitted[i] = query.submitted;
		now.completed[i] = query.completed;
	}
	return now;
}

/*
 * Was no queue empty between two samples? What was queued at the beginning must outlast the
 * time. A process that the CPU leaves waiting has nothing queued for a while.
 */
static bool were_full(const struct sample *before, const struct sample *after)
{
	int i;

	for (i = 0; i < SHARERS; i++)
		if (after->completed[i] >= before->submitted[i])
			return false;
	return true;
}

/* What each context gets while all queues are full, until all have got enough. Returns the mean. */
static uint64_t measure(const FIXTURE_DATA(shares) *self, uint64_t *got)
{
	struct sample before = sample(self), after;
	const time_t start = time(NULL);
	uint64_t sum = 0;
	int i;

	while ((time(NULL) < start + SECONDS || sum < SHARERS * ENOUGH) &&
	       time(NULL) < start + LIMIT) {
		usleep(10000);
		after = sample(self);
		for (i = 0; i < SHARERS && were_full(&before, &after); i++) {
			got[i] += after.completed[i] - before.completed[i];
			sum += after.completed[i] - before.completed[i];
		}
		before = after;
	}
	return sum / SHARERS;
}

/* A context's share does not depend on the number of its queued batches. */
TEST_F_TIMEOUT(shares, contexts_of_one_priority_get_equal_shares, 300)
{
	static const uint32_t depths[SHARERS] = { 8, 16, 32, 64 };
	uint64_t got[SHARERS] = { }, mean;
	int i, status;

	for (i = 0; i < SHARERS; i++) {
		self->children[i] = fork();
		ASSERT_GE(self->children[i], 0);
		if (!self->children[i])
			keep_busy(depths[i], self->shares, i);
	}
	/* Skip the beginning, when queues fill: the first process has the whole GPU then. */
	while (self->shares->ready < SHARERS) {
		ASSERT_EQ(waitpid(-1, &status, WNOHANG), 0);
		usleep(10000);
	}
	for (i = 0; i < SHARERS; i++) {
		self->files[i] = file_of(self->children[i], self->shares->fd[i]);
		ASSERT_GE(self->files[i], 0);
	}
	for (i = 0; i < SHARERS; i++)
		while (sample(self).completed[i] < depths[i])
			usleep(10000);
	mean = measure(self, got);
	for (i = 0; i < SHARERS; i++)
		close(self->files[i]);
	self->shares->over = 1;
	for (i = 0; i < SHARERS; i++) {
		ASSERT_EQ(waitpid(self->children[i], &status, 0), self->children[i]);
		EXPECT_EQ(status, 0);
	}
	if (mean < ENOUGH)
		SKIP(return, "this machine is too slow to keep the queues full");
	for (i = 0; i < SHARERS; i++) {
		EXPECT_TRUE(got[i] >= 0.97 * mean && got[i] <= 1.03 * mean)
			TH_LOG("depth %u: %llu batches, %.2f of its share", depths[i],
			       (unsigned long long)got[i], (double)got[i] / mean);
	}
}

TEST_HARNESS_MAIN
