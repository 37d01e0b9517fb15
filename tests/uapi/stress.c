// SPDX-License-Identifier: MIT
/*
 * stress.c - threads that share files, contexts, buffers and syncobjs
 *
 * Each thread makes and closes buffers and contexts, and submits batches that wait
 * for each other's, in an order given by its seed. The results of each batch are checked,
 * and nothing may be left at the end.
 */
#include "kselftest_harness.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rendernode.h"

#define THREADS	4
#define FILES	2
#define ROUNDS	100
#define SIZE	65536u

struct shared {
	int fd[FILES];
	/* A syncobj of each thread: its last batch. All exist before any thread runs. */
	uint32_t syncobj[FILES][THREADS];
	pthread_barrier_t start;
};

struct worker {
	struct shared *shared;
	pthread_t thread;
	unsigned int number, seed;
	int file;
	/* First failure, or NULL, and its value. */
	const char *wrong;
	long value;
};

static void note(struct worker *worker, const char *what, long value)
{
	if (!worker->wrong) {
		worker->wrong = what;
		worker->value = value;
	}
}

#define WANT(expression, wanted) do {							\
	long got = (expression);							\
											\
	if (got != (wanted))								\
		note(worker, #expression, got);						\
} while (0)

/* One batch: fills the first half, then copies it to the second; waits for another thread's. */
static void one_batch(struct worker *worker, uint32_t ctx, uint32_t pattern)
{
	struct shared *shared = worker->shared;
	const int fd = shared->fd[worker->file];
	const unsigned int other = rand_r(&worker->seed) % THREADS;
	struct drm_salvo_command commands[3];
	struct drm_salvo_sync wait = { .handle = shared->syncobj[worker->file][other] };
	struct drm_salvo_sync signals[2] = {
		{ .handle = shared->syncobj[worker->file][worker->number] },
		{ .handle = syncobj_create(fd) },
	};
	const struct batch batch = {
		.ctx = ctx, .commands = commands, .count = 3, .waits = &wait, .wait_count = 1,
		.signals = signals, .signal_count = 2,
	};
	const bool leave = rand_r(&worker->seed) % 4 == 0;
	struct drm_syncobj_destroy destroy = { .handle = signals[1].handle };
	const uint32_t *words;
	struct bo bo;
	unsigned int i;

	WANT(bo_create(fd, SIZE, 0, &bo), 0);
	WANT(bo_map(fd, &bo), 0);
	if (worker->wrong)
		return;
	commands[0] = fill(bo.address, SIZE / 2, pattern);
	commands[1] = copy(bo.address + SIZE / 2, bo.address, SIZE / 2);
	commands[2] = pipe_control(1, 0);
	WANT(submit(fd, &batch), 0);
	/* Some buffers are closed while their batch waits or runs. */
	if (!leave) {
		WANT(syncobj_wait(fd, signals[1].handle, 30), 0);
		WANT(syncobj_error(fd, signals[1].handle), 0);
		words = bo.map;
		for (i = 0; i < SIZE / 4; i += 97)
			WANT(words[i], (long)pattern);
	}
	WANT(bo_close(fd, &bo), 0);
	WANT(call(fd, DRM_IOCTL_SYNCOBJ_DESTROY, &destroy), 0);
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct drm_salvo_ctx_destroy destroy = { 0 };
	uint32_t round;

	pthread_barrier_wait(&worker->shared->start);
	for (round = 0; round < ROUNDS && !worker->wrong; round++) {
		const int fd = worker->shared->fd[worker->file];

		if (!destroy.id)
			WANT(ctx_create(fd, &destroy.id), 0);
		one_batch(worker, destroy.id, worker->number << 16 | round);
		if (rand_r(&worker->seed) % 8 == 0) {
			WANT(call(fd, DRM_IOCTL_SALVO_CTX_DESTROY, &destroy), 0);
			destroy.id = 0;
		}
	}
	return NULL;
}

FIXTURE(stress) {
	int none;
};

FIXTURE_SETUP(stress)
{
}

FIXTURE_TEARDOWN(stress)
{
}

/* Long enough for a slow kernel on a loaded machine. */
TEST_F_TIMEOUT(stress, threads_share_everything, 300)
{
	struct worker workers[FILES][THREADS] = { 0 };
	struct shared shared;
	long long vram;
	int f, t;

	ASSERT_TRUE(wait_value("reclaiming", 0));
	ASSERT_TRUE(wait_value("jobs", 0));
	vram = device_counter("vram-used");
	pthread_barrier_init(&shared.start, NULL, FILES * THREADS);
	for (f = 0; f < FILES; f++) {
		shared.fd[f] = node_open();
		ASSERT_GE(shared.fd[f], 0);
		for (t = 0; t < THREADS; t++) {
			struct drm_syncobj_array signal = { .count_handles = 1 };

			shared.syncobj[f][t] = syncobj_create(shared.fd[f]);
			signal.handles = (uintptr_t)&shared.syncobj[f][t];
			ASSERT_EQ(call(shared.fd[f], DRM_IOCTL_SYNCOBJ_SIGNAL, &signal), 0);
		}
	}
	for (f = 0; f < FILES; f++) {
		for (t = 0; t < THREADS; t++) {
			struct worker *worker = &workers[f][t];

			worker->shared = &shared;
			worker->file = f;
			worker->number = t;
			worker->seed = 1 + f * THREADS + t;
			ASSERT_EQ(pthread_create(&worker->thread, NULL, work, worker), 0);
		}
	}
	for (f = 0; f < FILES; f++) {
		for (t = 0; t < THREADS; t++) {
			pthread_join(workers[f][t].thread, NULL);
			EXPECT_EQ(workers[f][t].wrong, NULL) {
				TH_LOG("%s gave %ld", workers[f][t].wrong, workers[f][t].value);
			}
		}
		close(shared.fd[f]);
	}
	EXPECT_TRUE(wait_value("jobs", 0));
	EXPECT_TRUE(wait_value("vram-used", vram));
	EXPECT_TRUE(wait_value("reclaiming", 0));
}

TEST_HARNESS_MAIN
