// SPDX-License-Identifier: MIT
/*
 * slot.c - SLOT_ATTACH, SLOT_DETACH, SLOT_WAKE, SLOT_WAIT: one invalid field per case, tasks, and
 * everything that ends a slot
 */
#include "kselftest_harness.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "binding.h"
#include "slot_client.h"
#include "system.h"

FIXTURE(slot) {
	struct client c;
	struct drm_salvo_device_info info;
};

FIXTURE_SETUP(slot)
{
	ASSERT_EQ(client_open(&self->c), 0);
	ASSERT_EQ(device_info(self->c.fd, &self->info), 0);
	if (!self->info.max_slots)
		SKIP_TEST("the GPU has no slots");
	ASSERT_EQ(attach(&self->c), 0);
}

FIXTURE_TEARDOWN(slot)
{
	client_close(&self->c);
	EXPECT_TRUE(wait_value("slots", 0));
}

TEST_F(slot, W5_tasks_run_without_packets)
{
	struct counters before, after;
	int i;

	ASSERT_EQ(read_counters(self->c.fd, &before), 0);
	for (i = 1; i <= 200; i++) {
		ASSERT_EQ(run_task(&self->c, add_word, 0, 3), SALVO_SLOT_DONE);
		ASSERT_EQ(self->c.words[0], 3 * i);
		/* The unit sleeps after 50 us. */
		if (i % 2)
			usleep(i % 7 * 100);
	}
	ASSERT_EQ(read_counters(self->c.fd, &after), 0);
	EXPECT_EQ(before.packets, after.packets);
	EXPECT_EQ(before.irqs, after.irqs);
}

TEST_F(slot, attach_wrong_fields)
{
	struct client *c = &self->c;
	struct bo bo, small, exec;
	uint32_t id, masked;
	struct drm_salvo_ctx_create create = { .eu_mask = 1 };
	const struct drm_salvo_slot_attach good = {
		.ctx_id = c->ctx, .units = 1, .offset = 4096,
	};
	struct drm_salvo_slot_attach args;

	ASSERT_EQ(bo_create(c->fd, SALVO_SLOT_BYTES + 2 * 4096, 0, &bo), 0);
	ASSERT_EQ(bo_create(c->fd, SALVO_SLOT_BYTES - 4096, 0, &small), 0);
	ASSERT_EQ(bo_create(c->fd, SALVO_SLOT_BYTES, DRM_SALVO_BO_EXEC, &exec), 0);
	ASSERT_EQ(call(c->fd, DRM_IOCTL_SALVO_CTX_CREATE, &create), 0);
	masked = create.id;
#define WRONG(error, assignment) \
	do { \
		args = good; \
		args.handle = bo.handle; \
		args.assignment; \
		EXPECT_EQ(call(c->fd, DRM_IOCTL_SALVO_SLOT_ATTACH, &args), error); \
	} while (0)
	WRONG(-EINVAL, flags = 1);
	WRONG(-ENOENT, ctx_id = 0);
	WRONG(-ENOENT, ctx_id = 77);
	WRONG(-ENOENT, handle = 0);
	WRONG(-ENOENT, handle = 77);
	WRONG(-EINVAL, handle = small.handle);
	WRONG(-EINVAL, handle = exec.handle);
	WRONG(-EINVAL, offset = 64);
	WRONG(-EINVAL, offset = 3 * 4096);
	WRONG(-EINVAL, offset = -4096ll);
	WRONG(-EINVAL, units = 0);
	WRONG(-EINVAL, units = 1ull << self->info.units);
	EXPECT_EQ(attach_to(c, masked, &bo, 0, 2, &id), -EINVAL);
	args = good;
	args.handle = bo.handle;
	ASSERT_EQ(call(c->fd, DRM_IOCTL_SALVO_SLOT_ATTACH, &args), 0);
	EXPECT_NE(args.id, 0);
	EXPECT_NE(args.id, c->id);
	EXPECT_EQ(detach(c, args.id), 0);
}

TEST_F(slot, wrong_ids_and_pads)
{
	struct drm_salvo_slot_detach del = { .id = self->c.id, .pad = 1 };
	struct drm_salvo_slot_wake wake_args = { .id = self->c.id, .pad = 1 };
	struct drm_salvo_slot_wait wait_args = { .id = self->c.id, .pad = 1 };

	EXPECT_EQ(call(self->c.fd, DRM_IOCTL_SALVO_SLOT_DETACH, &del), -EINVAL);
	EXPECT_EQ(call(self->c.fd, DRM_IOCTL_SALVO_SLOT_WAKE, &wake_args), -EINVAL);
	EXPECT_EQ(call(self->c.fd, DRM_IOCTL_SALVO_SLOT_WAIT, &wait_args), -EINVAL);
	del = (struct drm_salvo_slot_detach){ .id = 77 };
	wake_args = (struct drm_salvo_slot_wake){ .id = 77 };
	wait_args = (struct drm_salvo_slot_wait){ .id = 0 };
	EXPECT_EQ(call(self->c.fd, DRM_IOCTL_SALVO_SLOT_DETACH, &del), -ENOENT);
	EXPECT_EQ(call(self->c.fd, DRM_IOCTL_SALVO_SLOT_WAKE, &wake_args), -ENOENT);
	EXPECT_EQ(call(self->c.fd, DRM_IOCTL_SALVO_SLOT_WAIT, &wait_args), -ENOENT);
	EXPECT_EQ(detach(&self->c, self->c.id), 0);
	EXPECT_EQ(detach(&self->c, self->c.id), -ENOENT);
	EXPECT_EQ(wait_ns(&self->c, 0), -ENOENT);
}

TEST_F(slot, wait_has_a_timeout)
{
	/* Nothing runs. */
	EXPECT_EQ(wait_ns(&self->c, 0), 0);
	start(&self->c, spin, 0, 0);
	EXPECT_EQ(wait_ns(&self->c, 0), -ETIME);
	EXPECT_EQ(wait_ns(&self->c, SECONDS / 10), -ETIME);
	self->c.words[0] = 1;
	EXPECT_EQ(wait_ns(&self->c, 30 * SECONDS), 0);
	EXPECT_EQ(self->c.slot->status, SALVO_SLOT_DONE);
}

/* The next task may use a buffer when BO_CREATE has returned, though a process must be forked. */
TEST_F_TIMEOUT(slot, tasks_use_new_buffers, 100)
{
	struct bo bo;
	int i;

	for (i = 0; i < 50; i++) {
		ASSERT_EQ(bo_create(self->c.fd, 4096, 0, &bo), 0);
		ASSERT_EQ(bo_map(self->c.fd, &bo), 0);
		start_at(&self->c, add_word, bo.address + 8, i + 1);
		ASSERT_EQ(wait_ns(&self->c, 30 * SECONDS), 0);
		ASSERT_EQ(self->c.slot->status, SALVO_SLOT_DONE);
		ASSERT_EQ(((uint64_t *)bo.map)[1], i + 1);
		ASSERT_EQ(bo_close(self->c.fd, &bo), 0);
	}
	/* That buffer is gone when it is unbound. */
	ASSERT_TRUE(wait_value("reclaiming", 0));
	start_at(&self->c, add_word, bo.address, 1);
	ASSERT_EQ(wait_ns(&self->c, 30 * SECONDS), 0);
	EXPECT_EQ(self->c.slot->status, SALVO_SLOT_FAILED);
	EXPECT_EQ(self->c.slot->parts[0].kind, SALVO_FAULT_PAGE);
	EXPECT_EQ(self->c.slot->parts[0].address, bo.address);
	/* A fault of a task is no fault of the context. */
	EXPECT_EQ(run_task(&self->c, add_word, 0, 1), SALVO_SLOT_DONE);
}

TEST_F(slot, stays_bound_when_its_handle_is_closed)
{
	struct drm_gem_close close_args = { .handle = self->c.slot_bo.handle };

	ASSERT_EQ(call(self->c.fd, DRM_IOCTL_GEM_CLOSE, &close_args), 0);
	EXPECT_TRUE(wait_value("reclaiming", 0));
	EXPECT_EQ(run_task(&self->c, add_word, 0, 5), SALVO_SLOT_DONE);
	EXPECT_EQ(self->c.words[0], 5);
	EXPECT_EQ(detach(&self->c, self->c.id), 0);
	EXPECT_TRUE(is_detached(&self->c));
}

TEST_F_TIMEOUT(slot, W7_detach_lets_the_task_end, 60)
{
	ASSERT_TRUE(start_spinning(&self->c, 0));
	ASSERT_EQ(detach(&self->c, self->c.id), 0);
	usleep(100000);
	EXPECT_EQ(self->c.slot->doorbell, 1);
	self->c.words[1] = 1;
	EXPECT_TRUE(is_detached(&self->c));
	EXPECT_TRUE(wait_value("slots", 0));
}

TEST_F(slot, W7_ends_with_its_context)
{
	struct drm_salvo_ctx_destroy destroy = { .id = self->c.ctx };

	ASSERT_EQ(run_task(&self->c, add_word, 0, 1), SALVO_SLOT_DONE);
	ASSERT_EQ(call(self->c.fd, DRM_IOCTL_SALVO_CTX_DESTROY, &destroy), 0);
	EXPECT_TRUE(is_detached(&self->c));
	EXPECT_EQ(wait_ns(&self->c, 0), 0);
	EXPECT_EQ(wake(&self->c), 0);
}

TEST_F(slot, W7_ends_when_a_batch_bans_its_context)
{
	uint32_t done = syncobj_create(self->c.fd), id;

	/* It faults. */
	ASSERT_EQ(submit_task(&self->c, self->c.ctx, add_word, (struct word_args){ 0, 1 }, 0,
			      done), 0);
	ASSERT_EQ(syncobj_wait(self->c.fd, done, 20), 0);
	EXPECT_TRUE(is_detached(&self->c));
	EXPECT_EQ(attach_to(&self->c, self->c.ctx, &self->c.slot_bo, 0, 1, &id), -EIO);
}

/* It exceeds the time limit: its context is banned, all others go on. */
TEST_F_TIMEOUT(slot, W7_endless_task_costs_its_context_alone, 100)
{
	const long long kills = device_counter("kills"), resets = device_counter("resets");
	struct client other = self->c, stranger;
	struct drm_salvo_ctx_query query;
	uint32_t id;

	ASSERT_EQ(client_open(&stranger), 0);
	ASSERT_EQ(attach(&stranger), 0);
	/* Another context of the same file */
	ASSERT_EQ(ctx_create(other.fd, &other.ctx), 0);
	ASSERT_EQ(bo_create(other.fd, SALVO_SLOT_BYTES, 0, &other.slot_bo), 0);
	ASSERT_EQ(bo_map(other.fd, &other.slot_bo), 0);
	other.slot = other.slot_bo.map;
	ASSERT_EQ(attach_to(&other, other.ctx, &other.slot_bo, 0, 2, &other.id), 0);

	ASSERT_TRUE(start_spinning(&self->c, 0));
	/* They do not wait for it. */
	EXPECT_EQ(run_task(&stranger, add_word, 0, 1), SALVO_SLOT_DONE);
	EXPECT_EQ(run_task(&other, add_word, 2, 1), SALVO_SLOT_DONE);
	EXPECT_EQ(batch_runs(&stranger), 0);
	EXPECT_EQ(self->c.slot->doorbell, 1);

	EXPECT_TRUE(is_detached(&self->c));
	EXPECT_TRUE(wait_value("kills", kills + 1));
	EXPECT_EQ(device_counter("resets"), resets);
	ASSERT_EQ(ctx_query(self->c.fd, self->c.ctx, &query), 0);
	EXPECT_EQ(query.state, DRM_SALVO_CTX_BANNED);
	EXPECT_EQ(query.fault.kind, DRM_SALVO_FAULT_HANG);
	EXPECT_EQ(query.fault.batch, 0);
	EXPECT_EQ(attach_to(&self->c, self->c.ctx, &self->c.slot_bo, 0, 1, &id), -EIO);
	EXPECT_EQ(run_task(&other, add_word, 2, 1), SALVO_SLOT_DONE);
	EXPECT_EQ(self->c.words[2], 2);
	EXPECT_EQ(batch_runs(&other), 0);
	EXPECT_EQ(run_task(&stranger, add_word, 0, 1), SALVO_SLOT_DONE);
	client_close(&stranger);
	munmap(other.slot_bo.map, other.slot_bo.size);
}

/* Any bytes in the slot are the file's own problem. */
TEST_F_TIMEOUT(slot, slot_that_lies, 100)
{
	struct client stranger;
	unsigned int i;

	ASSERT_EQ(client_open(&stranger), 0);
	ASSERT_EQ(attach(&stranger), 0);
	for (i = 0; i < 200; i++) {
		memset(self->c.slot, i * 37 + 1, sizeof(*self->c.slot));
		self->c.slot->opcode = i % 4;
		__atomic_store_n(&self->c.slot->doorbell, 1 + (i % 5 == 4), __ATOMIC_RELEASE);
		wake(&self->c);
		ASSERT_EQ(run_task(&stranger, add_word, 0, 1), SALVO_SLOT_DONE);
	}
	EXPECT_EQ(stranger.words[0], 200);
	EXPECT_EQ(batch_runs(&stranger), 0);
	client_close(&stranger);
}

/* Returns when the child has started an endless task. */
static pid_t fork_spinning(struct __test_metadata *_metadata)
{
	struct client child;
	char byte = 0;
	int ready[2];
	pid_t pid;

	ASSERT_EQ(pipe(ready), 0);
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid) {
		if (client_open(&child) || attach(&child) || !start_spinning(&child, 0))
			_exit(1);
		(void)!write(ready[1], &byte, 1);
		pause();
		_exit(0);
	}
	close(ready[1]);
	EXPECT_EQ(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

TEST_F_TIMEOUT(slot, W7_process_that_is_killed_leaves_nothing, 100)
{
	const long long kills = device_counter("kills");
	int i, status;
	pid_t pid;

	for (i = 0; i < 3; i++) {
		pid = fork_spinning(_metadata);
		EXPECT_EQ(kill(pid, SIGKILL), 0);
		ASSERT_EQ(waitpid(pid, &status, 0), pid);
		EXPECT_TRUE(wait_value("slots", 1));
		EXPECT_EQ(run_task(&self->c, add_word, 0, 1), SALVO_SLOT_DONE);
		EXPECT_EQ(batch_runs(&self->c), 0);
	}
	EXPECT_EQ(device_counter("kills"), kills);
}

TEST_F_TIMEOUT(slot, W7_ends_with_a_reset, 60)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%s/salvo_reset",
		 node_path() + strlen("/dev/dri/renderD"));
	ASSERT_TRUE(start_spinning(&self->c, 0));
	ASSERT_EQ(write_file(path, "1"), 0);
	EXPECT_TRUE(is_detached(&self->c));
	EXPECT_EQ(batch_runs(&self->c), 0);
	ASSERT_EQ(attach(&self->c), 0);
	EXPECT_EQ(run_task(&self->c, add_word, 1, 1), SALVO_SLOT_DONE);
}

TEST_F_TIMEOUT(slot, W7_ends_when_the_driver_is_unbound, 100)
{
	struct client after;
	char pci[32];
	int status;
	pid_t pid;

	ASSERT_EQ(driver_function(pci, sizeof(pci)), 0);
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid) {
		struct client child;

		/* It sleeps in the ioctl meanwhile. */
		if (client_open(&child) || attach(&child))
			_exit(1);
		start(&child, spin, 0, 0);
		_exit(wait_ns(&child, 60 * SECONDS) == -ENODEV ? 0 : 2);
	}
	start(&self->c, spin, 0, 0);
	usleep(200000);
	ASSERT_EQ(driver_unbind(pci), 0);
	/* Mappings show other memory now. */
	EXPECT_EQ(self->c.slot->doorbell, 0);
	EXPECT_EQ(wait_ns(&self->c, 0), -ENODEV);
	EXPECT_EQ(wake(&self->c), -ENODEV);
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
	ASSERT_EQ(driver_bind(pci), 0);
	ASSERT_TRUE(driver_wait());
	ASSERT_EQ(client_open(&after), 0);
	ASSERT_EQ(attach(&after), 0);
	EXPECT_EQ(run_task(&after, add_word, 0, 1), SALVO_SLOT_DONE);
	client_close(&after);
}

/* A process gets as many as it leaves to others. */
TEST_F_TIMEOUT(slot, one_process_cannot_take_all, 100)
{
	uint32_t ids[SALVO_MAX_SLOTS];
	unsigned int count = 0, round;
	int err = 0, status;
	struct bo bo;
	pid_t pid;

	ASSERT_EQ(bo_create(self->c.fd, SALVO_MAX_SLOTS * SALVO_SLOT_BYTES, 0, &bo), 0);
	for (round = 0; round < 3; round++) {
		for (count = 0; count < SALVO_MAX_SLOTS && !err; count++)
			err = attach_to(&self->c, self->c.ctx, &bo, count * SALVO_SLOT_BYTES, 1,
					&ids[count]);
		EXPECT_EQ(err, -ENOSPC);
		/* With that of the fixture it is half of them. */
		EXPECT_EQ(count, self->info.max_slots / 2);
		pid = fork();
		ASSERT_GE(pid, 0);
		if (!pid) {
			struct client child;

			_exit(client_open(&child) || attach(&child) ||
			      run_task(&child, add_word, 0, 1) != SALVO_SLOT_DONE);
		}
		ASSERT_EQ(waitpid(pid, &status, 0), pid);
		EXPECT_EQ(status, 0);
		/* Those that are being detached do not count: the next round gets as many. */
		while (--count)
			EXPECT_EQ(detach(&self->c, ids[count - 1]), 0);
		err = 0;
	}
}

TEST_HARNESS_MAIN
