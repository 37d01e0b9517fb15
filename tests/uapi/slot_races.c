// SPDX-License-Identifier: MIT
/*
 * slot_races.c - slots that are attached, used and detached while something else ends them
 */
#include "kselftest_harness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "binding.h"
#include "slot_client.h"
#include "system.h"

#define TIMEOUT		150
#define UNBINDS		4
#define ROUNDS		40
#define REUSES		150
#define ATTEMPTS	8

FIXTURE(slot_races) {
	struct client c;
	struct drm_salvo_device_info info;
};

FIXTURE_SETUP(slot_races)
{
	ASSERT_TRUE(driver_wait());
	ASSERT_EQ(client_open(&self->c), 0);
	ASSERT_EQ(device_info(self->c.fd, &self->info), 0);
	if (!self->info.max_slots)
		SKIP_TEST("the GPU has no slots");
}

FIXTURE_TEARDOWN(slot_races)
{
	client_close(&self->c);
	EXPECT_TRUE(wait_value("slots", 0));
	EXPECT_TRUE(wait_value("reclaiming", 0));
}

/* A thread that calls ioctls of a slot until they fail for good. */
struct caller {
	struct client c;
	atomic_bool stop;
	int err;
};

static void *call_until_gone(void *cookie)
{
	struct caller *caller = cookie;
	struct client *c = &caller->c;

	while (!caller->err) {
		caller->err = attach(c);
		if (caller->err)
			break;
		start(c, add_word, 0, 1);
		caller->err = wake(c);
		if (!caller->err)
			caller->err = wait_ns(c, 10 * SECONDS);
		detach(c, c->id);
	}
	return NULL;
}

/* An ioctl either runs before the registers are unmapped or fails. */
TEST_F_TIMEOUT(slot_races, W7_driver_is_unbound_meanwhile, TIMEOUT)
{
	struct caller callers[3] = {};
	pthread_t threads[3];
	unsigned int i, round;
	char pci[32];

	ASSERT_EQ(driver_function(pci, sizeof(pci)), 0);
	for (round = 0; round < UNBINDS; round++) {
		for (i = 0; i < 3; i++) {
			callers[i].err = 0;
			ASSERT_EQ(client_open(&callers[i].c), 0);
			ASSERT_EQ(pthread_create(&threads[i], NULL, call_until_gone, &callers[i]),
				  0);
		}
		usleep(100000 + round * 3000);
		ASSERT_EQ(driver_unbind(pci), 0);
		for (i = 0; i < 3; i++) {
			pthread_join(threads[i], NULL);
			EXPECT_EQ(callers[i].err, -ENODEV);
			client_close(&callers[i].c);
		}
		ASSERT_EQ(driver_bind(pci), 0);
		ASSERT_TRUE(driver_wait());
	}
}

static void *attach_until_refused(void *cookie)
{
	struct caller *caller = cookie;
	struct client *c = &caller->c;

	while (!caller->err) {
		caller->err = attach_to(c, c->ctx, &c->slot_bo, 0, 1, &c->id);
		/* One is left attached, to be detached with the context. */
		if (!caller->err && !caller->stop)
			detach(c, c->id);
	}
	return NULL;
}

/*
 * Attach and detach in a thread, until the context is gone. Some slots may be attached
 * at that time, and none must stay so.
 */
static void end_context_while_attaching(struct __test_metadata *_metadata, struct client *c,
					bool destroy)
{
	struct drm_salvo_ctx_destroy args = {};
	struct caller caller = { .c = *c };
	const struct word_args fault = { 0, 1 };
	pthread_t thread;
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		caller.err = 0;
		caller.stop = false;
		ASSERT_EQ(ctx_create(c->fd, &caller.c.ctx), 0);
		args.id = caller.c.ctx;
		ASSERT_EQ(pthread_create(&thread, NULL, attach_until_refused, &caller), 0);
		usleep(i * 500);
		if (!destroy)
			EXPECT_EQ(submit_task(c, caller.c.ctx, add_word, fault, 0, 0), 0);
		caller.stop = true;
		if (destroy)
			EXPECT_EQ(call(c->fd, DRM_IOCTL_SALVO_CTX_DESTROY, &args), 0);
		pthread_join(thread, NULL);
		/* As many slots as one process may have */
		if (caller.err != -ENOSPC)
			EXPECT_EQ(caller.err, destroy ? -ENOENT : -EIO);
		EXPECT_TRUE(wait_value("slots", 0));
		if (!destroy)
			EXPECT_EQ(call(c->fd, DRM_IOCTL_SALVO_CTX_DESTROY, &args), 0);
	}
}

TEST_F_TIMEOUT(slot_races, W7_context_is_banned_meanwhile, TIMEOUT)
{
	end_context_while_attaching(_metadata, &self->c, false);
}

TEST_F_TIMEOUT(slot_races, W7_context_is_destroyed_meanwhile, TIMEOUT)
{
	end_context_while_attaching(_metadata, &self->c, true);
}

/* A thread that wakes the slot whose number is in self, also when it has just been detached. */
static void *wake_always(void *cookie)
{
	struct caller *caller = cookie;

	while (!caller->stop)
		wake(&caller->c);
	return NULL;
}

/* To wake a slot that is gone takes nothing from the one that got its number. */
TEST_F_TIMEOUT(slot_races, number_is_used_again_while_it_is_woken, TIMEOUT)
{
	struct caller caller = { .c = self->c };
	pthread_t thread;
	unsigned int i;

	ASSERT_EQ(attach(&self->c), 0);
	caller.c.id = self->c.id;
	ASSERT_EQ(pthread_create(&thread, NULL, wake_always, &caller), 0);
	for (i = 1; i <= REUSES; i++) {
		ASSERT_EQ(detach(&self->c, self->c.id), 0);
		ASSERT_TRUE(is_detached(&self->c));
		ASSERT_EQ(attach(&self->c), 0);
		__atomic_store_n(&caller.c.id, self->c.id, __ATOMIC_RELAXED);
		/* The unit sleeps after 50 us. */
		usleep(i % 8 * 50);
		ASSERT_EQ(run_task(&self->c, add_word, 0, 1), SALVO_SLOT_DONE);
		ASSERT_EQ(self->c.words[0], i);
	}
	caller.stop = true;
	pthread_join(thread, NULL);
}

/*
 * A task that exceeds the time limit in a slot, and before that a batch of another context on the
 * ring, which runs until words[8] is set. Then the slot is detached. Returns false if the host was
 * too slow: the slot was not detached well before the task exceeded the limit, from when on its
 * context may be banned, or the batch was killed as well.
 */
static bool kill_before_batch(struct __test_metadata *_metadata, struct client *c)
{
	const struct word_args until = { c->words_bo.address + 64, 0 };
	const long long kills = device_counter("kills");
	const int64_t begin = now_ns();
	uint32_t other, done = syncobj_create(c->fd);
	long long slots;
	bool in_time;

	ASSERT_EQ(attach(c), 0);
	ASSERT_EQ(ctx_create(c->fd, &other), 0);
	start(c, spin, 0, 0);
	/* The task exceeds the time limit more than a second before the batch does. */
	usleep(1200000);
	ASSERT_EQ(submit_task(c, other, spin, until, 0, done), 0);
	ASSERT_TRUE(ring_wait_busy(0));
	ASSERT_EQ(detach(c, c->id), 0);
	in_time = now_ns() - begin < 17 * SECONDS / 10 && device_counter("kills") == kills;
	ASSERT_TRUE(is_detached(c));
	while (device_counter("kills") == kills)
		usleep(1000);
	/* The driver has dropped the slot soon after it has counted the kill. */
	usleep(100000);
	slots = device_counter("slots");
	c->words[8] = 1;
	EXPECT_EQ(syncobj_wait(c->fd, done, 30), 0);
	in_time = in_time && device_counter("kills") == kills + 1;
	if (in_time) {
		EXPECT_EQ(slots, 1);
		EXPECT_EQ(syncobj_error(c->fd, done), 0);
	}
	return in_time;
}

/*
 * DETACH of a slot whose context is killed waits on the ring behind a batch of another
 * context. The GPU writes its result later: its memory is kept until then.
 */
TEST_F_TIMEOUT(slot_races, packets_of_a_killed_slot_are_kept, TIMEOUT)
{
	struct client stranger;
	bool in_time = false;
	unsigned int i;

	ASSERT_EQ(client_open(&stranger), 0);
	for (i = 0; i < ATTEMPTS && !in_time; i++) {
		struct client c;

		ASSERT_EQ(client_open(&c), 0);
		in_time = kill_before_batch(_metadata, &c);
		client_close(&c);
		ASSERT_TRUE(wait_value("slots", 0));
	}
	EXPECT_EQ(batch_runs(&stranger), 0);
	client_close(&stranger);
	if (!in_time)
		SKIP(return, "the host is too slow");
}

static int reset_gpu(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%s/salvo_reset",
		 node_path() + strlen("/dev/dri/renderD"));
	return write_file(path, "1");
}

/* Nothing but the reset asks for the memory of a buffer whose handle is closed. */
TEST_F_TIMEOUT(slot_races, buffer_of_a_slot_is_freed_by_a_reset, TIMEOUT)
{
	struct drm_gem_close args = {};
	struct bo bo;
	uint32_t id;

	ASSERT_EQ(bo_create(self->c.fd, SALVO_SLOT_BYTES, 0, &bo), 0);
	ASSERT_EQ(attach_to(&self->c, self->c.ctx, &bo, 0, 1, &id), 0);
	args.handle = bo.handle;
	ASSERT_EQ(call(self->c.fd, DRM_IOCTL_GEM_CLOSE, &args), 0);
	EXPECT_TRUE(wait_value("reclaiming", 0));
	EXPECT_EQ(device_counter("slots"), 1);
	ASSERT_EQ(reset_gpu(), 0);
	EXPECT_TRUE(wait_value("slots", 0));
	EXPECT_TRUE(wait_value("reclaiming", 0));
}

/*
 * Slots whose tasks have not ended count for the process that detaches them: others find free
 * ones.
 */
TEST_F_TIMEOUT(slot_races, detaching_slots_leave_others_theirs, TIMEOUT)
{
	uint32_t ids[SALVO_MAX_SLOTS];
	unsigned int count, half = self->info.max_slots / 2;
	const long long kills = device_counter("kills");
	struct caller caller;
	struct bo bo;
	pthread_t thread;
	int status;
	pid_t pid;

	ASSERT_EQ(bo_create(self->c.fd, SALVO_MAX_SLOTS * SALVO_SLOT_BYTES, 0, &bo), 0);
	ASSERT_EQ(attach(&self->c), 0);
	for (count = 0; count < half - 1; count++)
		ASSERT_EQ(attach_to(&self->c, self->c.ctx, &bo, count * SALVO_SLOT_BYTES, 1,
				    &ids[count]), 0);
	/* The units are in use until the task ends. */
	ASSERT_TRUE(start_spinning(&self->c, 0));
	while (count--)
		ASSERT_EQ(detach(&self->c, ids[count]), 0);
	ASSERT_EQ(detach(&self->c, self->c.id), 0);
	/* It waits for them. */
	caller.c = self->c;
	caller.err = 0;
	caller.stop = true;
	ASSERT_EQ(bo_create(self->c.fd, SALVO_SLOT_BYTES, 0, &caller.c.slot_bo), 0);
	ASSERT_EQ(pthread_create(&thread, NULL, attach_until_refused, &caller), 0);
	usleep(200000);
	EXPECT_LE(device_counter("slots"), half);
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid) {
		struct client child;

		_exit(client_open(&child) || attach(&child));
	}
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
	/* On a slow machine the task was found hung before that. */
	EXPECT_TRUE(self->c.slot->doorbell == 1 || device_counter("kills") > kills);
	self->c.words[1] = 1;
	pthread_join(thread, NULL);
	EXPECT_EQ(caller.err, -ENOSPC);
	EXPECT_TRUE(is_detached(&self->c));
}

TEST_HARNESS_MAIN
