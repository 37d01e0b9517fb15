// SPDX-License-Identifier: MIT
/*
 * copy_rect.c - COPY_RECT and FILL_PATTERN, whose shape and pattern lie in the argument blob
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "rendernode.h"

#define SIZE	(1u << 20)
#define TO	(SIZE / 2)

struct args {
	struct drm_salvo_rect rect;
	uint8_t pad[8];
	uint8_t pattern[5];
};

FIXTURE(rect) {
	int fd;
	uint32_t ctx, done;
	struct bo bo;
	uint8_t *bytes;
	struct args args;
	struct drm_salvo_command commands[2];
	struct drm_salvo_sync signal;
	struct batch batch;
};

FIXTURE_SETUP(rect)
{
	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(ctx_create(self->fd, &self->ctx), 0);
	ASSERT_EQ(bo_create(self->fd, SIZE, 0, &self->bo), 0);
	ASSERT_EQ(bo_map(self->fd, &self->bo), 0);
	self->bytes = self->bo.map;
	self->args = (struct args){ { 100, 50, 3, 128, 128 * 50, 200, 200 * 60 }, { 0 },
				    { 9, 8, 7, 6, 5 } };
	self->commands[0] = (struct drm_salvo_command){
		.type = DRM_SALVO_COPY_RECT, .dst = self->bo.address + TO,
		.src = self->bo.address + 3, .args_size = sizeof(self->args.rect) };
	self->commands[1] = (struct drm_salvo_command){
		.type = DRM_SALVO_FILL_PATTERN, .dst = self->bo.address + SIZE - 101, .size = 100,
		.args_offset = offsetof(struct args, pattern), .args_size = 5 };
	self->signal = (struct drm_salvo_sync){ .handle = syncobj_create(self->fd) };
	self->batch = (struct batch){
		.ctx = self->ctx, .commands = self->commands, .count = 2,
		.signals = &self->signal, .signal_count = 1,
		.args = &self->args, .args_size = sizeof(self->args) };
}

FIXTURE_TEARDOWN(rect)
{
	close(self->fd);
}

TEST_F(rect, a_box_and_a_pattern)
{
	uint32_t i, x, y, z;

	for (i = 0; i < TO; i++)
		self->bytes[i] = i * 2654435761u >> 24;
	ASSERT_EQ(submit(self->fd, &self->batch), 0);
	ASSERT_EQ(syncobj_wait(self->fd, self->signal.handle, 20), 0);
	ASSERT_EQ(syncobj_error(self->fd, self->signal.handle), 0);
	for (z = 0; z < 3; z++)
		for (y = 0; y < 50; y++)
			for (x = 0; x < 128; x++)
				ASSERT_EQ(x < 100 ? self->bytes[3 + z * 12000 + y * 200 + x] : 0,
					  self->bytes[TO + z * 6400 + y * 128 + x]);
	for (i = 0; i < 100; i++)
		ASSERT_EQ(9 - i % 5, self->bytes[SIZE - 101 + i]);
	EXPECT_EQ(0, self->bytes[SIZE - 1]);
}

TEST_F(rect, the_driver_refuses_what_is_wrong)
{
	const uint64_t rows = 1ull << 62;

	self->args.rect.src_row_pitch = 99;
	EXPECT_EQ(submit(self->fd, &self->batch), -EINVAL);
	self->args.rect.src_row_pitch = 200;
	self->args.rect.height = rows;
	EXPECT_EQ(submit(self->fd, &self->batch), -EINVAL);
	self->args.rect.height = 50;
	self->args.rect.depth = SIZE;
	EXPECT_EQ(submit(self->fd, &self->batch), -EINVAL);
	self->args.rect.depth = 3;
	self->batch.args_size = 48;
	EXPECT_EQ(submit(self->fd, &self->batch), -EINVAL);
	self->batch.args_size = sizeof(self->args);
	self->commands[0].src = self->commands[0].dst + 1;
	EXPECT_EQ(submit(self->fd, &self->batch), -EINVAL);
	self->commands[0].src = self->bo.address;
	self->commands[1].size = 99;
	EXPECT_EQ(submit(self->fd, &self->batch), -EINVAL);
	self->commands[1].size = 100;
	EXPECT_EQ(submit(self->fd, &self->batch), 0);
	EXPECT_EQ(syncobj_wait(self->fd, self->signal.handle, 20), 0);
}

TEST_HARNESS_MAIN
