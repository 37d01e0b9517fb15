// SPDX-License-Identifier: MIT
/*
 * submit.c - SUBMIT: one invalid field per case
 *
 * The fixture's arguments are a valid batch; each test makes one field invalid. After a
 * failure no job may be left, and no packet may have been put on a ring.
 */
#include "kselftest_harness.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xf86drm.h>

#include "rendernode.h"
#include "salvo_hw.h"

#define PAGE	4096u

FIXTURE(submit) {
	int fd;
	uint32_t timeline;
	struct bo bo, readonly;
	struct counters before;
	/* Room for a stride that is longer than the structure. */
	struct {
		struct drm_salvo_command command;
		uint64_t tail;
	} commands[2];
	struct drm_salvo_sync wait, signal;
	unsigned char args[64];
	struct drm_salvo_submit submit;
};

FIXTURE_SETUP(submit)
{
	uint32_t ctx;

	memset(self, 0, sizeof(*self));
	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(ctx_create(self->fd, &ctx), 0);
	ASSERT_EQ(bo_create(self->fd, PAGE, 0, &self->bo), 0);
	ASSERT_EQ(bo_create(self->fd, PAGE, DRM_SALVO_BO_READONLY, &self->readonly), 0);
	ASSERT_EQ(bo_map(self->fd, &self->bo), 0);

	self->wait.handle = syncobj_create(self->fd);
	ASSERT_EQ(drmSyncobjSignal(self->fd, &self->wait.handle, 1), 0);
	self->signal.handle = syncobj_create(self->fd);
	self->timeline = syncobj_create(self->fd);
	self->commands[0].command = fill(self->bo.address, 64, 5);
	self->submit = (struct drm_salvo_submit){
		.ctx_id = ctx,
		.commands = { sizeof(struct drm_salvo_command), 1, (uintptr_t)self->commands },
		.waits = { sizeof(self->wait), 1, (uintptr_t)&self->wait },
		.signals = { sizeof(self->signal), 1, (uintptr_t)&self->signal },
		.args = (uintptr_t)self->args,
		.args_size = sizeof(self->args),
	};
	ASSERT_EQ(read_counters(self->fd, &self->before), 0);
}

FIXTURE_TEARDOWN(submit)
{
	close(self->fd);
}

#define TRY() call(self->fd, DRM_IOCTL_SALVO_SUBMIT, &self->submit)

/* SUBMIT fails with @err and has no effect. Jobs of before are freed soon after they have ended. */
#define EXPECT_REFUSED(err) do {							\
	struct counters after;								\
											\
	EXPECT_EQ(TRY(), err);								\
	EXPECT_EQ(read_counters(self->fd, &after), 0);					\
	EXPECT_EQ(after.packets, self->before.packets);					\
	EXPECT_TRUE(wait_value("jobs", 0));						\
	EXPECT_EQ(syncobj_wait(self->fd, self->signal.handle, 0), -EINVAL);		\
} while (0)

#define EXPECT_RUNS() do {								\
	ASSERT_EQ(TRY(), 0);								\
	ASSERT_EQ(syncobj_wait(self->fd, self->signal.handle, 20), 0);			\
	EXPECT_EQ(syncobj_error(self->fd, self->signal.handle), 0);			\
} while (0)

TEST_F(submit, valid_batch_runs)
{
	const uint32_t *words = self->bo.map;

	EXPECT_RUNS();
	EXPECT_EQ(words[0], 5);
	EXPECT_EQ(words[15], 5);
	EXPECT_EQ(words[16], 0);
}

TEST_F(submit, wrong_ctx_id)
{
	self->submit.ctx_id += 100;
	EXPECT_REFUSED(-ENOENT);
	self->submit.ctx_id = 0;
	EXPECT_REFUSED(-ENOENT);
}

TEST_F(submit, wrong_flags)
{
	self->submit.flags = DRM_SALVO_SUBMIT_OVERLAP << 1;
	EXPECT_REFUSED(-EINVAL);
}

TEST_F(submit, wrong_pad)
{
	self->submit.pad = 1;
	EXPECT_REFUSED(-EINVAL);
}

TEST_F(submit, commands_wrong_count)
{
	self->submit.commands.count = 0;
	EXPECT_REFUSED(-EINVAL);
	self->submit.commands.count = SALVO_MAX_COMMANDS + 1;
	EXPECT_REFUSED(-E2BIG);
	self->submit.commands.count = ~0u;
	EXPECT_REFUSED(-E2BIG);
}

TEST_F(submit, commands_wrong_pointer)
{
	self->submit.commands.pointer = 0;
	EXPECT_REFUSED(-EFAULT);
	self->submit.commands.pointer = 1ull << 63;
	EXPECT_REFUSED(-EFAULT);
}

TEST_F(submit, commands_wrong_stride)
{
	self->submit.commands.stride = 0;
	EXPECT_REFUSED(-EINVAL);
	self->submit.commands.stride = sizeof(struct drm_salvo_command) + 4;
	EXPECT_REFUSED(-EINVAL);
	self->submit.commands.stride = 1 << 20;
	EXPECT_REFUSED(-EINVAL);
}

TEST_F(submit, commands_longer_than_known)
{
	self->submit.commands.stride = sizeof(self->commands[0]);
	self->submit.commands.count = 2;
	self->commands[1].command = fill(self->bo.address + 64, 64, 6);
	EXPECT_RUNS();
	EXPECT_EQ(((uint32_t *)self->bo.map)[16], 6);
}

TEST_F(submit, commands_longer_than_known_with_something_in_it)
{
	self->submit.commands.stride = sizeof(self->commands[0]);
	self->commands[0].tail = 1;
	EXPECT_REFUSED(-EINVAL);
}

TEST_F(submit, commands_shorter_than_known)
{
	self->commands[0].command = (struct drm_salvo_command){
		.type = DRM_SALVO_TIMESTAMP, .dst = self->bo.address,
	};
	/* What is past the destination is no part of the element. */
	self->commands[0].command.src = 1;
	self->submit.commands.stride = offsetof(struct drm_salvo_command, src);
	EXPECT_RUNS();
	EXPECT_NE(*(uint64_t *)self->bo.map, 0);
}

TEST_F(submit, most_commands)
{
	struct drm_salvo_command *many = calloc(SALVO_MAX_COMMANDS, sizeof(*many));
	uint32_t i;

	ASSERT_NE(many, NULL);
	for (i = 0; i < SALVO_MAX_COMMANDS; i++)
		many[i] = fill(self->bo.address + i % 1024 * 4, 4, i % 1024);
	self->submit.commands.pointer = (uintptr_t)many;
	self->submit.commands.count = SALVO_MAX_COMMANDS;
	EXPECT_RUNS();
	for (i = 0; i < 1024; i++)
		ASSERT_EQ(((uint32_t *)self->bo.map)[i], i);
	free(many);
}

/* Where DMA bounces (tests/vm/swiotlb.sh) this packet is larger than what can be mapped. */
TEST_F(submit, most_argument_bytes)
{
	void *args = calloc(1, SALVO_MAX_ARGUMENT_BYTES);

	ASSERT_NE(args, NULL);
	self->submit.args = (uintptr_t)args;
	self->submit.args_size = SALVO_MAX_ARGUMENT_BYTES;
	EXPECT_RUNS();
	free(args);
}

TEST_F(submit, args_wrong_pointer)
{
	self->submit.args = 1ull << 63;
	EXPECT_REFUSED(-EFAULT);
	self->submit.args = (uintptr_t)self->args;
	self->submit.args_size = 0;
	EXPECT_REFUSED(-EINVAL);
}

TEST_F(submit, args_wrong_size)
{
	self->submit.args_size = SALVO_MAX_ARGUMENT_BYTES + 1;
	EXPECT_REFUSED(-E2BIG);
}

/*
 * A chain of 1,024 dispatches, each of which depends on the previous one: the kernel increments
 * a word without atomics, so that a dispatch out of order would change the result.
 */
TEST_F(submit, B10_1024_dispatches_with_pipe_controls)
{
	/* mov (%rdi),%rax; mov 8(%rdi),%ecx; cmp %ecx,(%rax); jne 1f; incl (%rax); 1: ret */
	static const unsigned char code[] = {
		0x48, 0x8b, 0x07, 0x8b, 0x4f, 0x08, 0x39, 0x08, 0x75, 0x02, 0xff, 0x00, 0xc3,
	};
	struct drm_salvo_command *commands = calloc(2048, sizeof(*commands));
	struct { uint64_t address, expected; } *args = calloc(1024, sizeof(*args));
	struct bo exec;
	uint32_t i;

	ASSERT_NE(commands, NULL);
	ASSERT_NE(args, NULL);
	ASSERT_EQ(bo_create(self->fd, PAGE, DRM_SALVO_BO_EXEC, &exec), 0);
	ASSERT_EQ(bo_map(self->fd, &exec), 0);
	memcpy(exec.map, code, sizeof(code));
	for (i = 0; i < 1024; i++) {
		args[i].address = self->bo.address;
		args[i].expected = i;
		commands[2 * i] = (struct drm_salvo_command){
			.type = DRM_SALVO_DISPATCH, .entry = exec.address, .dims = 1,
			.items = { 1, 1, 1 }, .group = { 1, 1, 1 },
			.args_offset = i * sizeof(*args), .args_size = sizeof(*args),
		};
		if (i)
			commands[2 * i - 1] = pipe_control(2 * i, 2 * i - 2);
	}
	self->submit.commands.pointer = (uintptr_t)commands;
	self->submit.commands.count = 2047;
	self->submit.args = (uintptr_t)args;
	self->submit.args_size = 1024 * sizeof(*args);
	EXPECT_RUNS();
	EXPECT_EQ(*(uint32_t *)self->bo.map, 1024);
	free(args);
	free(commands);
}

TEST_F(submit, profile_wrong_address)
{
	self->submit.profile = self->bo.address + 4;
	EXPECT_REFUSED(-EINVAL);
	self->submit.profile = self->bo.address + PAGE - 8;
	EXPECT_REFUSED(-EINVAL);
	self->submit.profile = self->readonly.address;
	EXPECT_REFUSED(-EINVAL);
	self->submit.profile = 8;
	EXPECT_REFUSED(-EINVAL);
}

TEST_F(submit, profile_tells_when_a_command_ran)
{
	const struct drm_salvo_profile *profile = self->bo.map + 1024;

	self->submit.profile = self->bo.address + 1024;
	EXPECT_RUNS();
	EXPECT_NE(profile->queued, 0);
	EXPECT_GE(profile->ready, profile->queued);
	EXPECT_GE(profile->started, profile->ready);
	EXPECT_GE(profile->ended, profile->started);
}

/* --- syncobjs: both arrays have the same rules ------------------------------- */

#define SYNC_TEST(name)									\
static void name(struct __test_metadata *_metadata, FIXTURE_DATA(submit) *self,		\
		 struct drm_salvo_array *array, struct drm_salvo_sync *sync);		\
TEST_F(submit, waits_ ## name)								\
{											\
	name(_metadata, self, &self->submit.waits, &self->wait);			\
}											\
TEST_F(submit, signals_ ## name)							\
{											\
	name(_metadata, self, &self->submit.signals, &self->signal);			\
}											\
static void name(struct __test_metadata *_metadata, FIXTURE_DATA(submit) *self,		\
		 struct drm_salvo_array *array, struct drm_salvo_sync *sync)

/* The same for waits; the syncobj to signal is valid. */
#define EXPECT_SYNC_REFUSED(err) do {							\
	struct counters after;								\
											\
	EXPECT_EQ(TRY(), err);								\
	EXPECT_EQ(read_counters(self->fd, &after), 0);					\
	EXPECT_EQ(after.packets, self->before.packets);					\
	EXPECT_TRUE(wait_value("jobs", 0));						\
} while (0)

SYNC_TEST(wrong_handle)
{
	sync->handle += 1000;
	EXPECT_SYNC_REFUSED(-ENOENT);
	sync->handle = 0;
	EXPECT_SYNC_REFUSED(-ENOENT);
}

SYNC_TEST(wrong_flags)
{
	sync->flags = 1 << 1;
	EXPECT_SYNC_REFUSED(-EINVAL);
}

SYNC_TEST(wrong_point)
{
	sync->point = 1;
	EXPECT_SYNC_REFUSED(-EINVAL);
	sync->handle = self->timeline;
	sync->flags = DRM_SALVO_SYNC_TIMELINE;
	sync->point = 0;
	EXPECT_SYNC_REFUSED(-EINVAL);
}

SYNC_TEST(wrong_count)
{
	array->count = 0;
	EXPECT_SYNC_REFUSED(-EINVAL);
	array->count = 1 << 20;
	EXPECT_SYNC_REFUSED(-E2BIG);
}

SYNC_TEST(wrong_pointer)
{
	array->pointer = 1ull << 63;
	EXPECT_SYNC_REFUSED(-EFAULT);
}

SYNC_TEST(wrong_stride)
{
	array->stride = 4;
	EXPECT_SYNC_REFUSED(-EINVAL);
}

SYNC_TEST(second_element_wrong)
{
	struct drm_salvo_sync two[2] = { *sync, *sync };

	two[1].flags = 1 << 5;
	array->pointer = (uintptr_t)two;
	array->count = 2;
	EXPECT_SYNC_REFUSED(-EINVAL);
}

SYNC_TEST(none)
{
	*array = (struct drm_salvo_array){ 0 };
	EXPECT_EQ(TRY(), 0);
	EXPECT_TRUE(wait_value("jobs", 0));
}

TEST_F(submit, wait_for_a_syncobj_without_a_fence)
{
	self->wait.handle = self->timeline;
	EXPECT_REFUSED(-EINVAL);
	self->wait.flags = DRM_SALVO_SYNC_TIMELINE;
	self->wait.point = 3;
	EXPECT_REFUSED(-EINVAL);
}

/* --- commands: each address and each rule once; tests/unit has every field ---- */

TEST_F(submit, command_wrong_type)
{
	self->commands[0].command.type = 99;
	EXPECT_REFUSED(-EINVAL);
}

TEST_F(submit, command_wrong_pad)
{
	self->commands[0].command.pad = 1;
	EXPECT_REFUSED(-EINVAL);
}

TEST_F(submit, command_wrong_address)
{
	struct drm_salvo_command *command = &self->commands[0].command;

	command->dst = self->bo.address + PAGE - 60;
	EXPECT_REFUSED(-EINVAL);
	command->dst = self->readonly.address;
	EXPECT_REFUSED(-EINVAL);
	command->dst = 0;
	EXPECT_REFUSED(-EINVAL);
	command->dst = ~63ull;
	EXPECT_REFUSED(-EINVAL);
}

TEST_F(submit, command_entry_not_executable)
{
	self->commands[0].command = (struct drm_salvo_command){
		.type = DRM_SALVO_DISPATCH, .entry = self->bo.address, .dims = 1,
		.items = { 1, 1, 1 }, .group = { 1, 1, 1 },
	};
	EXPECT_REFUSED(-EINVAL);
}

TEST_F(submit, second_command_wrong)
{
	self->submit.commands.stride = sizeof(self->commands[0]);
	self->submit.commands.count = 2;
	self->commands[1].command = pipe_control(0, 1);
	EXPECT_REFUSED(-EINVAL);
}

TEST_HARNESS_MAIN
