// SPDX-License-Identifier: MIT
/*
 * space.c - address spaces: which buffers a batch may access, and for how long
 *
 * A batch whose duration the test controls is a kernel that spins on a word of a mapped
 * buffer.
 */
#include "kselftest_harness.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rendernode.h"
#include "salvo.h"

#define SIZE		(1u << 20)
#define SECONDS(n)	((n) * INT64_C(1000000000))

FIXTURE(space) {
	struct salvo_device *device;
	struct salvo_queue *queue;
	struct salvo_program *program;
	struct salvo_batch *batch;
	struct salvo_bo *control;
	volatile uint32_t *words;
	int fd;			/* another file */
	uint32_t ctx;
	long long vram, resets;	/* before */
};

FIXTURE_SETUP(space)
{
	const uint32_t one = 1;
	struct salvo_kernel *kernel;

	ASSERT_TRUE(wait_value("reclaiming", 0));
	ASSERT_TRUE(wait_value("jobs", 0));
	self->vram = device_counter("vram-used");
	self->resets = device_counter("resets");
	ASSERT_EQ(salvo_device_open(node_path(), &self->device), 0);
	ASSERT_EQ(salvo_queue_create(self->device, 0, &self->queue), 0);
	ASSERT_EQ(salvo_program_load_file(self->device, "kernels/rendezvous.salvo",
					  &self->program), 0);
	ASSERT_EQ(salvo_batch_create(self->device, &self->batch), 0);
	ASSERT_EQ(salvo_bo_create(self->device, 4096, 0, &self->control), 0);
	ASSERT_EQ(salvo_bo_map(self->control, (void **)&self->words), 0);
	/* The batch of each test first waits until word 1 is 1. */
	ASSERT_EQ(salvo_kernel_create(self->program, "spin", &kernel), 0);
	ASSERT_EQ(salvo_kernel_set_bo(kernel, 0, self->control, 0), 0);
	ASSERT_EQ(salvo_kernel_set_bo(kernel, 1, self->control, 4), 0);
	ASSERT_EQ(salvo_kernel_set_value(kernel, 2, &one, sizeof(one)), 0);
	ASSERT_EQ(salvo_kernel_set_grid(kernel, 1, &one, &one), 0);
	ASSERT_EQ(salvo_batch_dispatch(self->batch, kernel), 0);
	ASSERT_GE(salvo_batch_barrier(self->batch), 0);
	salvo_kernel_destroy(kernel);

	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(ctx_create(self->fd, &self->ctx), 0);
}

FIXTURE_TEARDOWN(space)
{
	close(self->fd);
	salvo_bo_destroy(self->control);
	salvo_batch_destroy(self->batch);
	salvo_program_destroy(self->program);
	salvo_queue_destroy(self->queue);
	salvo_device_close(self->device);
	EXPECT_TRUE(wait_value("jobs", 0));
	EXPECT_TRUE(wait_value("vram-used", self->vram));
	EXPECT_EQ(device_counter("resets"), self->resets);
}

static bool started(FIXTURE_DATA(space) *self)
{
	int i;

	for (i = 0; i < 2000 && !self->words[0]; i++)
		usleep(5000);
	return self->words[0];
}

static void go(FIXTURE_DATA(space) *self)
{
	__atomic_store_n(&self->words[1], 1, __ATOMIC_RELEASE);
}

static size_t count_words(const struct bo *bo, uint32_t value)
{
	const uint32_t *words = bo->map;
	size_t i, count = 0;

	for (i = 0; i < bo->size / 4; i++)
		count += words[i] == value;
	return count;
}

TEST_F(space, addresses_of_another_file_are_refused)
{
	const uint64_t address = salvo_bo_address(self->control);
	struct drm_salvo_command command = fill(address, 64, 1);
	struct bo bo;

	ASSERT_EQ(bo_create(self->fd, 4096, 0, &bo), 0);
	EXPECT_EQ(run(self->fd, self->ctx, &command, 1), -EINVAL);
	command = copy(bo.address, address, 64);
	EXPECT_EQ(run(self->fd, self->ctx, &command, 1), -EINVAL);
	command = copy(address, bo.address, 64);
	EXPECT_EQ(run(self->fd, self->ctx, &command, 1), -EINVAL);
	command = fill(bo.address, 64, 1);
	EXPECT_EQ(run(self->fd, self->ctx, &command, 1), 0);
}

/* Also after its owner was killed; read by the GPU as well as by the CPU. */
TEST_F(space, memory_of_another_file_comes_back_as_zeros)
{
	struct drm_salvo_command commands[2];
	struct bo fresh, seen;
	uint64_t addresses[2];
	uint32_t ctx;
	int pipes[2], status, other;
	pid_t child;
	ssize_t got;

	ASSERT_EQ(pipe(pipes), 0);
	child = fork();
	ASSERT_GE(child, 0);
	if (!child) {
		struct bo secret[2];
		int i, bad;

		other = node_open();
		bad = other < 0 || ctx_create(other, &ctx);
		for (i = 0; i < 2 && !bad; i++) {
			bad = bo_create(other, SIZE, 0, &secret[i]);
			addresses[i] = secret[i].address;
			commands[i] = fill(secret[i].address, SIZE, 0x5ec2e75e);
		}
		if (bad || run(other, ctx, commands, 2) ||
		    write(pipes[1], addresses, sizeof(addresses)) != sizeof(addresses))
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	close(pipes[1]);
	got = read(pipes[0], addresses, sizeof(addresses));
	close(pipes[0]);
	ASSERT_EQ(waitpid(child, &status, 0), child);
	ASSERT_EQ(got, sizeof(addresses));
	ASSERT_TRUE(WIFSIGNALED(status));
	ASSERT_TRUE(wait_value("reclaiming", 0));

	ASSERT_EQ(bo_create(self->fd, SIZE, 0, &fresh), 0);
	ASSERT_EQ(bo_create(self->fd, SIZE, 0, &seen), 0);
	/* Otherwise the test would prove nothing. */
	EXPECT_TRUE(fresh.address == addresses[0] || fresh.address == addresses[1]);
	ASSERT_EQ(bo_map(self->fd, &fresh), 0);
	ASSERT_EQ(bo_map(self->fd, &seen), 0);
	EXPECT_EQ(count_words(&fresh, 0), SIZE / 4);
	EXPECT_EQ(count_words(&seen, 0), SIZE / 4);
	memset(seen.map, 0xff, SIZE);
	commands[0] = copy(seen.address, fresh.address, SIZE);
	ASSERT_EQ(run(self->fd, self->ctx, commands, 1), 0);
	EXPECT_EQ(count_words(&seen, 0), SIZE / 4);
	bo_close(self->fd, &fresh);
	bo_close(self->fd, &seen);
}

TEST_F(space, address_of_a_closed_buffer_is_refused)
{
	struct drm_salvo_command command;
	struct bo bo;

	ASSERT_EQ(bo_create(self->fd, 4096, 0, &bo), 0);
	command = fill(bo.address, 64, 1);
	ASSERT_EQ(run(self->fd, self->ctx, &command, 1), 0);
	ASSERT_EQ(bo_close(self->fd, &bo), 0);
	EXPECT_EQ(run(self->fd, self->ctx, &command, 1), -EINVAL);
}

/* While a batch writes to a closed buffer, its memory must not be reused. */
TEST_F(space, buffer_lives_until_the_batch_that_uses_it_is_done)
{
	struct salvo_fence *fence;
	struct salvo_bo *target;
	struct bo next[8];
	uint64_t address;
	unsigned int i;

	ASSERT_EQ(salvo_bo_create(self->device, SIZE, 0, &target), 0);
	address = salvo_bo_address(target);
	ASSERT_GE(salvo_batch_fill(self->batch, target, 0, SIZE, 0x5a5a5a5a), 0);
	ASSERT_EQ(salvo_queue_submit(self->queue, self->batch, NULL, 0, &fence), 0);
	ASSERT_TRUE(started(self));
	salvo_bo_destroy(target);
	usleep(50000);
	EXPECT_EQ(device_counter("reclaiming"), 1);

	for (i = 0; i < 8; i++) {
		ASSERT_EQ(bo_create(self->fd, SIZE, 0, &next[i]), 0);
		ASSERT_EQ(bo_map(self->fd, &next[i]), 0);
		EXPECT_NE(next[i].address, address);
	}
	go(self);
	ASSERT_EQ(salvo_fence_wait(fence, SECONDS(20)), 0);
	salvo_fence_destroy(fence);
	for (i = 0; i < 8; i++)
		EXPECT_EQ(count_words(&next[i], 0), SIZE / 4);
	for (i = 0; i < 8; i++)
		ASSERT_EQ(bo_close(self->fd, &next[i]), 0);
	EXPECT_TRUE(wait_value("reclaiming", 0));
	/* Now it is free again. */
	ASSERT_EQ(bo_create(self->fd, SIZE, 0, &next[0]), 0);
	EXPECT_EQ(next[0].address, address);
}

/*
 * Submits on a file of its own a slow batch, and one of another context that waits for it,
 * and waits for neither.
 */
static int leave_batches(int fd)
{
	struct drm_salvo_command many[64];
	struct drm_salvo_sync made, done;
	struct batch first = { .commands = many, .count = 64 };
	struct batch second = { .commands = many, .count = 1 };
	struct bo bo;
	int i, err;

	err = ctx_create(fd, &first.ctx);
	if (!err)
		err = ctx_create(fd, &second.ctx);
	if (!err)
		err = bo_create(fd, 32 << 20, 0, &bo);
	if (err)
		return err;
	for (i = 0; i < 64; i++)
		many[i] = i % 2 ? pipe_control_all() : fill(bo.address, bo.size, i);
	made = (struct drm_salvo_sync){ .handle = syncobj_create(fd) };
	done = (struct drm_salvo_sync){ .handle = syncobj_create(fd) };
	first.signals = &made;
	first.signal_count = 1;
	second.waits = &made;
	second.wait_count = 1;
	second.signals = &done;
	second.signal_count = 1;
	err = submit(fd, &first);
	return err ? err : submit(fd, &second);
}

TEST_F(space, file_may_be_closed_while_its_batches_run)
{
	int fd = node_open();

	ASSERT_GE(fd, 0);
	ASSERT_EQ(leave_batches(fd), 0);
	EXPECT_EQ(device_counter("jobs"), 2);
	close(fd);
	EXPECT_EQ(device_counter("jobs"), 2);
	EXPECT_TRUE(wait_value("jobs", 0));
}

TEST_F(space, process_may_be_killed_while_its_batches_run)
{
	int status, ready[2];
	pid_t child;
	char byte;

	ASSERT_EQ(pipe(ready), 0);
	child = fork();
	ASSERT_GE(child, 0);
	if (!child) {
		if (leave_batches(node_open()) || write(ready[1], "x", 1) != 1)
			_exit(1);
		pause();
	}
	close(ready[1]);
	ASSERT_EQ(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	ASSERT_EQ(kill(child, SIGKILL), 0);
	ASSERT_EQ(waitpid(child, &status, 0), child);
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_TRUE(wait_value("jobs", 0));
}

TEST_F(space, memory_of_a_closed_file_comes_back)
{
	struct bo bo;
	int fd = node_open(), i;

	ASSERT_GE(fd, 0);
	for (i = 0; i < 100; i++)
		ASSERT_EQ(bo_create(fd, SIZE, 0, &bo), 0);
	EXPECT_GE(device_counter("vram-used"), 100 * (long long)SIZE);
	close(fd);
	EXPECT_TRUE(wait_value("reclaiming", 0));
}

TEST_F(space, files_come_and_go)
{
	struct drm_salvo_command command;
	uint32_t ctx;
	struct bo bo;
	int i;

	for (i = 0; i < 50; i++) {
		int fd = node_open();

		ASSERT_GE(fd, 0);
		ASSERT_EQ(ctx_create(fd, &ctx), 0);
		ASSERT_EQ(bo_create(fd, 4096, 0, &bo), 0);
		command = fill(bo.address, 4096, i);
		ASSERT_EQ(run(fd, ctx, &command, 1), 0);
		close(fd);
	}
}

TEST_F(space, fdinfo_tells_the_files_memory)
{
	struct counters counters;
	struct bo bo;

	ASSERT_EQ(bo_create(self->fd, SIZE, 0, &bo), 0);
	ASSERT_EQ(read_counters(self->fd, &counters), 0);
	EXPECT_EQ(counters.vram_kib, SIZE >> 10);
	EXPECT_EQ(counters.packets, 0);
}

TEST_HARNESS_MAIN
