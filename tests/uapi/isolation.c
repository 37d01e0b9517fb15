// SPDX-License-Identifier: MIT
/*
 * isolation.c - endless batches of one process hold up another process for a bounded time
 *
 * The bound is counted in contexts that the driver kills before the innocent batch is done,
 * not in seconds: each costs the timeout or less, whatever the speed of the machine.
 */
#include "kselftest_harness.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rendernode.h"
#include "system.h"

#define FILES		6
/* What a process may have on a ring: salvo_client.h. */
#define ON_RING		4
#define TIMEOUT		200
#define LIMIT		"/sys/module/salvo/parameters/timeout_ms"

/* Opens a file with an endless batch. */
static int open_endless(void)
{
	int fd = node_open();
	struct bo exec;
	uint32_t ctx;

	if (fd < 0 || ctx_create(fd, &ctx) || bo_create(fd, 4096, DRM_SALVO_BO_EXEC, &exec) ||
	    bo_map(fd, &exec))
		return -1;
	return submit_endless(fd, ctx, &exec, syncobj_create(fd));
}

/* A process with @files of them, which then waits to be killed. */
static pid_t attack(int files)
{
	int ready[2], i;
	pid_t pid;
	char byte;

	if (pipe(ready))
		return -1;
	pid = fork();
	if (!pid) {
		close(ready[0]);
		for (i = 0; i < files; i++)
			if (open_endless())
				_exit(1);
		close(ready[1]);
		for (;;)
			pause();
	}
	close(ready[1]);
	while (read(ready[0], &byte, 1) > 0)
		;
	close(ready[0]);
	return pid;
}

FIXTURE(isolation) {
	int fd;
	uint32_t ctx;
	struct bo bo;
};

FIXTURE_SETUP(isolation)
{
	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(ctx_create(self->fd, &self->ctx), 0);
	ASSERT_EQ(bo_create(self->fd, 4096, 0, &self->bo), 0);
}

FIXTURE_TEARDOWN(isolation)
{
	close(self->fd);
	EXPECT_TRUE(wait_value("jobs", 0));
}

/* Waits until all endless batches are found hung, one after the other, in a tenth of the time. */
static bool end_endless(void)
{
	const long limit = read_number(LIMIT);
	int i;

	if (!write_number(LIMIT, limit / 10))
		return false;
	for (i = 0; i < 3000 && device_counter("jobs"); i++)
		usleep(100000);
	return write_number(LIMIT, limit) && !device_counter("jobs");
}

TEST_F_TIMEOUT(isolation, batch_waits_for_few_of_the_endless_batches_of_another_process, TIMEOUT)
{
	const struct drm_salvo_command command = fill(self->bo.address, 64, 1);
	const long long kills = device_counter("kills"), resets = device_counter("resets");
	long long killed;
	pid_t pid = attack(FILES);
	int i;

	ASSERT_GT(pid, 0);
	EXPECT_EQ(run(self->fd, self->ctx, &command, 1), 0);
	killed = device_counter("kills") - kills;
	TH_LOG("%lld contexts of %d were killed before", killed, FILES);
	EXPECT_LE(killed, ON_RING);
	/* Now the clients compete, and each batch waits for one of the others at most. */
	for (i = 0; i < 3; i++) {
		const long long before = device_counter("kills");

		EXPECT_EQ(run(self->fd, self->ctx, &command, 1), 0);
		EXPECT_LE(device_counter("kills") - before, ON_RING);
	}
	EXPECT_EQ(device_counter("gone"), 0);
	EXPECT_EQ(device_counter("resets"), resets);
	kill(pid, SIGKILL);
	EXPECT_EQ(waitpid(pid, NULL, 0), pid);
	EXPECT_TRUE(end_endless());
}

/* Each of @count processes has a file with an endless batch. Returns how many could submit. */
static int attack_by_fork(pid_t *pids, int count)
{
	int i;

	for (i = 0; i < count; i++) {
		pids[i] = attack(1);
		if (pids[i] < 0)
			break;
	}
	return i;
}

/*
 * A process that forks has as many shares as processes. None of their batches needs to be found
 * hung before another process's batch is done, as long as the ring has room for all of them; two
 * may be meanwhile, as the cores are busy.
 */
TEST_F_TIMEOUT(isolation, batch_does_not_wait_for_the_endless_batches_of_many_processes, TIMEOUT)
{
	static const int counts[] = { 4, 8 };
	const struct drm_salvo_command command = fill(self->bo.address, 64, 1);
	const long long resets = device_counter("resets");
	pid_t pids[8];
	unsigned int i;
	int j, n;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		const long long before = device_counter("kills");
		long long killed;

		n = attack_by_fork(pids, counts[i]);
		EXPECT_EQ(n, counts[i]);
		killed = device_counter("kills");
		EXPECT_EQ(run(self->fd, self->ctx, &command, 1), 0);
		killed = device_counter("kills") - killed;
		TH_LOG("%d processes: %lld contexts were killed before it was done, %lld in all",
		       n, killed, device_counter("kills") - before);
		EXPECT_LE(killed, 2);
		for (j = 0; j < n; j++)
			kill(pids[j], SIGKILL);
		for (j = 0; j < n; j++)
			EXPECT_EQ(waitpid(pids[j], NULL, 0), pids[j]);
		EXPECT_TRUE(end_endless());
	}
	EXPECT_EQ(device_counter("gone"), 0);
	EXPECT_EQ(device_counter("resets"), resets);
}

TEST_HARNESS_MAIN
