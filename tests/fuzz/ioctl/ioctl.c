// SPDX-License-Identifier: MIT
/*
 * ioctl.c - fuzz the driver's ioctls, in the virtual machine
 *
 * Several processes run cases (grammar.c) concurrently, on files of their own and on a shared
 * one. With KCOV in the kernel and in salvo.ko, a case that reaches new code is kept, and
 * later cases are mutations of those; otherwise cases are random. Bugs are reported by the
 * kernel's own checks: the VM's harness searches the log, and kmemleak finds leaks. This
 * program checks for invalid results, killed processes, a GPU that has stopped working, and
 * leftover objects.
 *
 * A failing case is printed in hexadecimal; saved as seeds/NAME.hex it is run first in later
 * runs.
 *
 * SALVO_FUZZ_SECONDS: how long (4). SALVO_FUZZ_SEED: of the random numbers (1).
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "grammar.h"
#include "rendernode.h"

#define WORKERS		3
#define CORPUS		512
#define COVER_WORDS	(64 << 10)
#define SEEDS		"seeds/*.hex"

/* linux/kcov.h, which not every libc's headers have */
#define KCOV_INIT_TRACE	_IOR('c', 1, unsigned long)
#define KCOV_ENABLE	_IO('c', 100)
#define KCOV_DISABLE	_IO('c', 101)
#define KCOV_TRACE_PC	0

/**
 * struct shared - Shared memory of the processes; written without a lock, since a lost
 * case or bit does no harm.
 */
struct shared {
	/* Program counters that were reached, hashed. */
	uint8_t seen[1 << 16];
	uint32_t seen_count;
	uint32_t corpus_count;
	uint8_t corpus[CORPUS][CASE_BYTES];
	struct {
		uint8_t bytes[CASE_BYTES];
		char wrong[128];
		uint64_t cases;
		uint64_t calls;
	} worker[WORKERS];
};

FIXTURE(fuzz) {
	struct shared *shared;
	int fd;
};

FIXTURE_SETUP(fuzz)
{
	self->shared = mmap(NULL, sizeof(*self->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE((void *)self->shared, MAP_FAILED);
	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
}

FIXTURE_TEARDOWN(fuzz)
{
	close(self->fd);
	EXPECT_TRUE(wait_value("jobs", 0));
	EXPECT_TRUE(wait_value("vram-used", 0));
	EXPECT_EQ(device_counter("gone"), 0);
}

static long setting(const char *name, long otherwise)
{
	const char *text = getenv(name);

	return text ? atol(text) : otherwise;
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* --- coverage --------------------------------------------------------------- */

static unsigned long *cover_start(void)
{
	int fd = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
	unsigned long *cover;

	if (fd < 0)
		return NULL;
	if (ioctl(fd, KCOV_INIT_TRACE, COVER_WORDS)) {
		close(fd);
		return NULL;
	}
	cover = mmap(NULL, COVER_WORDS * sizeof(*cover), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (cover == MAP_FAILED || ioctl(fd, KCOV_ENABLE, KCOV_TRACE_PC))
		return NULL;
	return cover;
}

/* Returns whether the case reached something new. */
static bool cover_look(struct shared *shared, const unsigned long *cover)
{
	unsigned long count = __atomic_load_n(&cover[0], __ATOMIC_RELAXED), i;
	bool any = false;

	for (i = 1; i <= count && i < COVER_WORDS; i++) {
		uint64_t hash = (cover[i] * 0x9e3779b97f4a7c15ull) >> 45;

		if (shared->seen[hash / 8] & 1 << hash % 8)
			continue;
		shared->seen[hash / 8] |= 1 << hash % 8;
		shared->seen_count++;
		any = true;
	}
	return any;
}

/* --- cases ------------------------------------------------------------------ */

static void make_case(const struct shared *shared, uint8_t *bytes, uint64_t *state)
{
	uint32_t count = __atomic_load_n(&shared->corpus_count, __ATOMIC_ACQUIRE), i, changes;

	if (!count || next_random(state) % 8 == 0) {
		for (i = 0; i < CASE_BYTES; i++)
			bytes[i] = next_random(state);
		return;
	}
	memcpy(bytes, shared->corpus[next_random(state) % count], CASE_BYTES);
	/* The tail of another one, and some changes. */
	if (next_random(state) % 4 == 0) {
		i = next_random(state) % CASE_BYTES;
		memcpy(bytes + i, shared->corpus[next_random(state) % count] + i, CASE_BYTES - i);
	}
	for (changes = 1 + next_random(state) % 8; changes; changes--)
		bytes[next_random(state) % CASE_BYTES] = next_random(state);
}

static void keep_case(struct shared *shared, const uint8_t *bytes)
{
	uint32_t at = __atomic_load_n(&shared->corpus_count, __ATOMIC_RELAXED);

	if (at == CORPUS)
		return;
	memcpy(shared->corpus[at], bytes, CASE_BYTES);
	__atomic_store_n(&shared->corpus_count, at + 1, __ATOMIC_RELEASE);
}

static int run_case(struct shared *shared, uint32_t me, int fd)
{
	int calls = grammar_run(shared->worker[me].bytes, CASE_BYTES, fd,
				shared->worker[me].wrong, sizeof(shared->worker[me].wrong));

	shared->worker[me].cases++;
	if (calls > 0)
		shared->worker[me].calls += calls;
	return calls;
}

static void work(struct shared *shared, uint32_t me, int fd, long seconds)
{
	uint64_t state = 0x9e3779b97f4a7c15ull * (setting("SALVO_FUZZ_SEED", 1) * WORKERS + me + 1);
	time_t until = time(NULL) + seconds;
	unsigned long *cover = cover_start();

	while (time(NULL) < until) {
		make_case(shared, shared->worker[me].bytes, &state);
		if (cover)
			__atomic_store_n(&cover[0], 0, __ATOMIC_RELAXED);
		if (run_case(shared, me, fd) < 0)
			_exit(1);
		if (cover && cover_look(shared, cover))
			keep_case(shared, shared->worker[me].bytes);
	}
	_exit(0);
}

static void print_case(const struct shared *shared, uint32_t me)
{
	int i;

	printf("# %s, case:", shared->worker[me].wrong);
	for (i = 0; i < CASE_BYTES; i++)
		printf("%02x", shared->worker[me].bytes[i]);
	printf("\n");
}

static bool read_case(const char *path, uint8_t *bytes)
{
	FILE *file = fopen(path, "re");
	unsigned int value;
	int i;

	if (!file)
		return false;
	for (i = 0; i < CASE_BYTES && fscanf(file, "%2x", &value) == 1; i++)
		bytes[i] = value;
	fclose(file);
	return i == CASE_BYTES;
}

/* Cases that went wrong once, and three that did not. */
TEST_F_TIMEOUT(fuzz, seeds, 60)
{
	glob_t found;
	size_t i;

	if (glob(SEEDS, 0, NULL, &found))
		SKIP(return, "no seeds");
	for (i = 0; i < found.gl_pathc; i++) {
		ASSERT_TRUE(read_case(found.gl_pathv[i], self->shared->worker[0].bytes));
		EXPECT_GE(run_case(self->shared, 0, self->fd), 0)
			TH_LOG("%s: %s", found.gl_pathv[i], self->shared->worker[0].wrong);
	}
	globfree(&found);
}

TEST_F_TIMEOUT(fuzz, cases, 3600)
{
	long seconds = setting("SALVO_FUZZ_SECONDS", 4);
	struct shared *shared = self->shared;
	uint64_t cases = 0, calls = 0;
	struct drm_salvo_command command;
	pid_t children[WORKERS];
	uint32_t i, ctx;
	int status;
	struct bo bo;

	for (i = 0; i < WORKERS; i++) {
		children[i] = fork();
		ASSERT_GE(children[i], 0);
		if (!children[i])
			work(shared, i, self->fd, seconds);
	}
	for (i = 0; i < WORKERS; i++) {
		ASSERT_EQ(waitpid(children[i], &status, 0), children[i]);
		EXPECT_EQ(status, 0);
		if (status)
			print_case(shared, i);
		cases += shared->worker[i].cases;
		calls += shared->worker[i].calls;
	}
	printf("# %ld s: %llu cases, %llu calls, %u places reached, %u cases kept\n", seconds,
	       (unsigned long long)cases, (unsigned long long)calls, shared->seen_count,
	       shared->corpus_count);
	fflush(stdout);
	EXPECT_GT(calls, 0);
	/* It still works. */
	ASSERT_EQ(ctx_create(self->fd, &ctx), 0);
	ASSERT_EQ(bo_create(self->fd, 4096, 0, &bo), 0);
	command = fill(bo.address, 4096, 1);
	EXPECT_EQ(run(self->fd, ctx, &command, 1), 0);
}

TEST_HARNESS_MAIN
