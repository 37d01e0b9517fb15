// SPDX-License-Identifier: MIT
/*
 * function_reset.c - the PCI function is reset under the driver, through sysfs
 *
 * Runs in the VM with the GPU behind a root port, whose bus reset is the only one that an
 * ivshmem function has.
 */
#include "kselftest_harness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "binding.h"
#include "slot_client.h"
#include "system.h"

#define TIMEOUT	200
#define RESETS	12
/* Batches of many lengths, which never end together, so that the ring is never idle. */
#define BUSY_CONTEXTS	8
#define BUSY_FILLS	160

FIXTURE(function_reset) {
	char path[128];
	int fd;
	uint32_t ctx;
	struct bo bo;
};

FIXTURE_SETUP(function_reset)
{
	char pci[32];
	int i;

	for (i = 0; i < 200 && !node_path(); i++)
		usleep(50000);
	ASSERT_EQ(driver_function(pci, sizeof(pci)), 0);
	snprintf(self->path, sizeof(self->path), "/sys/bus/pci/devices/%s/reset", pci);
	if (access(self->path, W_OK))
		SKIP_TEST("the function has no reset");
	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(ctx_create(self->fd, &self->ctx), 0);
	ASSERT_EQ(bo_create(self->fd, 1 << 20, 0, &self->bo), 0);
	ASSERT_EQ(bo_map(self->fd, &self->bo), 0);
}

FIXTURE_TEARDOWN(function_reset)
{
	close(self->fd);
}

/* A thread that submits batches one after the other until @stop is set */
struct worker {
	int fd, err;
	uint32_t ctx, fills;
	struct bo bo;
	atomic_bool stop;
	unsigned int batches;
};

static void *work(void *cookie)
{
	struct worker *worker = cookie;
	struct drm_salvo_command commands[BUSY_FILLS];
	uint32_t i;

	for (i = 0; i < worker->fills; i++)
		commands[i] = fill(worker->bo.address, worker->bo.size, 9);
	while (!worker->stop && !worker->err) {
		worker->err = run(worker->fd, worker->ctx, commands, worker->fills);
		worker->batches++;
	}
	return NULL;
}

TEST_F_TIMEOUT(function_reset, batches_survive_resets, TIMEOUT)
{
	const struct drm_salvo_command command = fill(self->bo.address, 4096, 3);
	struct worker worker = { .fd = self->fd, .fills = 1 };
	const long long resets = device_counter("resets"), kills = device_counter("kills");
	volatile uint32_t *map = self->bo.map;
	pthread_t thread;
	int i;

	ASSERT_EQ(ctx_create(self->fd, &worker.ctx), 0);
	ASSERT_EQ(bo_create(self->fd, 8 << 20, 0, &worker.bo), 0);
	map[100000] = 77;
	ASSERT_EQ(pthread_create(&thread, NULL, work, &worker), 0);
	for (i = 0; i < RESETS; i++) {
		usleep(i * 7000);
		EXPECT_EQ(write_file(self->path, "1"), 0);
		EXPECT_EQ(run(self->fd, self->ctx, &command, 1), 0);
		/* What was in VRAM is there, and the mapping works. */
		EXPECT_EQ(map[0], 3);
		EXPECT_EQ(map[100000], 77);
		map[0] = 0;
	}
	worker.stop = true;
	pthread_join(thread, NULL);
	EXPECT_EQ(worker.err, 0);
	EXPECT_GT(worker.batches, 0);
	EXPECT_EQ(device_counter("gone"), 0);
	EXPECT_EQ(device_counter("resets"), resets);
	EXPECT_EQ(device_counter("kills"), kills);
}

TEST_F_TIMEOUT(function_reset, busy_ring_is_drained, TIMEOUT)
{
	const long long kills = device_counter("kills");
	struct worker workers[BUSY_CONTEXTS] = {};
	pthread_t threads[BUSY_CONTEXTS];
	struct bo bo;
	int i;

	ASSERT_EQ(bo_create(self->fd, 8 << 20, 0, &bo), 0);
	for (i = 0; i < BUSY_CONTEXTS; i++) {
		workers[i].fd = self->fd;
		workers[i].fills = BUSY_FILLS >> i % 4;
		workers[i].bo = bo;
		ASSERT_EQ(ctx_create(self->fd, &workers[i].ctx), 0);
		ASSERT_EQ(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
	}
	usleep(200000);
	EXPECT_EQ(write_file(self->path, "1"), 0);
	for (i = 0; i < BUSY_CONTEXTS; i++)
		workers[i].stop = true;
	for (i = 0; i < BUSY_CONTEXTS; i++) {
		pthread_join(threads[i], NULL);
		EXPECT_EQ(workers[i].err, 0);
	}
	EXPECT_EQ(device_counter("gone"), 0);
	EXPECT_EQ(device_counter("kills"), kills);
}

/* A thread that attaches a slot, runs a task in it and detaches it */
static void *attach_and_run(void *cookie)
{
	struct worker *worker = cookie;
	struct client client;

	worker->err = client_open(&client);
	while (!worker->stop && !worker->err) {
		worker->err = attach(&client);
		if (worker->err)
			break;
		worker->err = run_task(&client, add_word, 0, 1) == SALVO_SLOT_DONE ? 0 : -EIO;
		if (!worker->err)
			worker->err = detach(&client, client.id);
		if (!worker->err && !is_detached(&client))
			worker->err = -ETIME;
		worker->batches++;
	}
	if (!worker->err && client.words[0] != worker->batches)
		worker->err = -EILSEQ;
	client_close(&client);
	return NULL;
}

/* Each task runs once, in slots that stay attached and in those that come and go meanwhile. */
TEST_F_TIMEOUT(function_reset, slots_survive_resets, TIMEOUT)
{
	struct worker worker = {};
	struct client client;
	pthread_t thread;
	int i;

	ASSERT_EQ(client_open(&client), 0);
	ASSERT_EQ(attach(&client), 0);
	ASSERT_EQ(pthread_create(&thread, NULL, attach_and_run, &worker), 0);
	for (i = 1; i <= RESETS; i++) {
		usleep(i * 7000);
		start(&client, add_word, 0, 1);
		EXPECT_EQ(write_file(self->path, "1"), 0);
		EXPECT_EQ(wait_ns(&client, 30 * SECONDS), 0);
		EXPECT_EQ(client.slot->status, SALVO_SLOT_DONE);
		EXPECT_EQ(client.words[0], i);
	}
	worker.stop = true;
	pthread_join(thread, NULL);
	EXPECT_EQ(worker.err, 0);
	EXPECT_GT(worker.batches, 0);
	client_close(&client);
	EXPECT_EQ(device_counter("gone"), 0);
}

static int load_again(const char *parameters)
{
	int err = module_unload_soon();

	return err ? err : load_module(MODULE, parameters) ?: driver_wait() ? 0 : -ENODEV;
}

/* A thread that creates buffers, which puts packets on ring 0, until @stop is set */
static void *create_buffers(void *cookie)
{
	struct worker *worker = cookie;
	struct bo bo;

	while (!worker->stop && !worker->err) {
		worker->err = bo_create(worker->fd, 4096, 0, &bo);
		worker->batches++;
	}
	return NULL;
}

static void *release_later(void *cookie)
{
	volatile uint64_t *word = cookie;

	sleep(6);
	*word = 1;
	return NULL;
}

/*
 * If there is no room on the ring for DETACH, a task may run when the GPU is stopped: it is cut
 * off, and does not run again.
 */
TEST_F_TIMEOUT(function_reset, task_runs_once_when_the_ring_is_full, TIMEOUT)
{
	/* Not on the unit of the slot */
	struct drm_salvo_ctx_create other = { .eu_mask = 2 };
	struct worker worker = {};
	struct client client;
	pthread_t threads[2];
	unsigned int before;

	munmap(self->bo.map, self->bo.size);
	close(self->fd);
	ASSERT_EQ(load_again("timeout_ms=0"), 0);
	ASSERT_EQ(client_open(&client), 0);
	ASSERT_EQ(attach(&client), 0);
	ASSERT_EQ(call(client.fd, DRM_IOCTL_SALVO_CTX_CREATE, &other), 0);
	ASSERT_EQ(submit_task(&client, other.id, spin,
			      (struct word_args){ client.words_bo.address, 0 }, 0, 0), 0);
	ASSERT_TRUE(ring_wait_busy(0));
	worker.fd = node_open();
	ASSERT_EQ(pthread_create(&threads[0], NULL, create_buffers, &worker), 0);
	do {
		before = worker.batches;
		usleep(300000);
	} while (worker.batches != before);
	ASSERT_GT(before, 100);
	ASSERT_TRUE(start_spinning(&client, 1));
	ASSERT_EQ(pthread_create(&threads[1], NULL, release_later, (void *)client.words), 0);
	EXPECT_EQ(write_file(self->path, "1"), 0);
	pthread_join(threads[1], NULL);
	EXPECT_TRUE(is_detached(&client));
	EXPECT_EQ(client.words[1], 1);
	client.words[2] = 1;
	worker.stop = true;
	pthread_join(threads[0], NULL);
	EXPECT_EQ(device_counter("gone"), 0);
	close(worker.fd);
	client_close(&client);
	ASSERT_EQ(load_again(""), 0);
	self->fd = node_open();
}

/*
 * Without a time limit a batch that does not end holds a reset up, then fails by it, and the
 * reset is counted.
 */
TEST_F_TIMEOUT(function_reset, batch_that_does_not_end_fails, TIMEOUT)
{
	struct drm_salvo_command command = {
		.type = DRM_SALVO_DISPATCH, .dims = 1, .items = { 1, 1, 1 }, .group = { 1, 1, 1 },
	};
	struct drm_salvo_sync signal = {};
	struct batch batch = {
		.commands = &command, .count = 1, .signals = &signal, .signal_count = 1,
	};
	struct drm_salvo_ctx_query query;
	struct bo exec;

	munmap(self->bo.map, self->bo.size);
	close(self->fd);
	ASSERT_EQ(load_again("timeout_ms=0"), 0);
	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(ctx_create(self->fd, &batch.ctx), 0);
	ASSERT_EQ(bo_create(self->fd, 4096, DRM_SALVO_BO_EXEC, &exec), 0);
	ASSERT_EQ(bo_map(self->fd, &exec), 0);
	/* jmp to itself */
	memcpy(exec.map, "\xeb\xfe", 2);
	command.entry = exec.address;
	signal.handle = syncobj_create(self->fd);
	ASSERT_EQ(submit(self->fd, &batch), 0);
	ASSERT_TRUE(ring_wait_busy(0));
	EXPECT_EQ(write_file(self->path, "1"), 0);
	EXPECT_EQ(syncobj_wait(self->fd, signal.handle, 0), 0);
	EXPECT_EQ(syncobj_error(self->fd, signal.handle), -ECANCELED);
	EXPECT_EQ(device_counter("resets"), 1);
	ASSERT_EQ(ctx_query(self->fd, batch.ctx, &query), 0);
	EXPECT_EQ(query.innocent, 1);
	EXPECT_EQ(device_counter("gone"), 0);
	munmap(exec.map, exec.size);
	close(self->fd);
	ASSERT_EQ(load_again(""), 0);
	self->fd = node_open();
}

TEST_HARNESS_MAIN
