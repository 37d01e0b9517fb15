// SPDX-License-Identifier: MIT
/*
 * hang.c - batches that never end and batches that fault
 *
 * The driver takes a batch for hung after its timeout (two seconds), resets the
 * GPU, bans the context and goes on.
 */
#include "kselftest_harness.h"

#include <string.h>
#include <unistd.h>

#include "rendernode.h"
#include "salvo.h"

#define SECONDS(n)	((n) * INT64_C(1000000000))

FIXTURE(hang) {
	struct salvo_device *device;
	struct salvo_queue *queue, *other;
	struct salvo_program *program;
	struct salvo_batch *batch;
	struct salvo_bo *bo, *later;
	uint32_t *words;
};

FIXTURE_SETUP(hang)
{
	ASSERT_EQ(salvo_device_open(node_path(), &self->device), 0);
	ASSERT_EQ(salvo_queue_create(self->device, 0, &self->queue), 0);
	ASSERT_EQ(salvo_queue_create(self->device, 0, &self->other), 0);
	ASSERT_EQ(salvo_program_load_file(self->device, "kernels/rendezvous.salvo",
					  &self->program), 0);
	ASSERT_EQ(salvo_batch_create(self->device, &self->batch), 0);
	ASSERT_EQ(salvo_bo_create(self->device, 4096, 0, &self->bo), 0);
	ASSERT_EQ(salvo_bo_create(self->device, 4096, 0, &self->later), 0);
	ASSERT_EQ(salvo_bo_map(self->bo, (void **)&self->words), 0);
}

FIXTURE_TEARDOWN(hang)
{
	salvo_bo_destroy(self->later);
	salvo_bo_destroy(self->bo);
	salvo_batch_destroy(self->batch);
	salvo_program_destroy(self->program);
	salvo_queue_destroy(self->other);
	salvo_queue_destroy(self->queue);
	salvo_device_close(self->device);
	EXPECT_TRUE(settle("jobs", 0));
	EXPECT_TRUE(settle("vram-used", 0));
}

static int submit_kernel(FIXTURE_DATA(hang) *self, const char *name, struct salvo_fence **fence)
{
	const uint32_t one = 1;
	struct salvo_kernel *kernel;
	int ret;

	salvo_batch_reset(self->batch);
	ret = salvo_kernel_create(self->program, name, &kernel);
	if (ret)
		return ret;
	ret = salvo_kernel_set_bo(kernel, 0, self->bo, 0);
	if (!ret)
		ret = salvo_kernel_set_grid(kernel, 1, &one, &one);
	if (!ret)
		ret = salvo_batch_dispatch(self->batch, kernel);
	salvo_kernel_destroy(kernel);
	return ret < 0 ? ret : salvo_queue_submit(self->queue, self->batch, NULL, 0, fence);
}

static int fill_and_wait(FIXTURE_DATA(hang) *self, struct salvo_queue *queue,
			 struct salvo_bo *bo, uint32_t value)
{
	struct salvo_fence *fence;
	int ret;

	salvo_batch_reset(self->batch);
	ret = salvo_batch_fill(self->batch, bo, 0, 4096, value);
	if (ret >= 0)
		ret = salvo_queue_submit(queue, self->batch, NULL, 0, &fence);
	if (ret)
		return ret;
	ret = salvo_fence_wait(fence, SECONDS(20));
	salvo_fence_destroy(fence);
	return ret;
}

/* All that is known of the files survives the reset: buffers, contexts, programs. */
TEST_F(hang, endless_kernel_costs_its_context_alone)
{
	struct salvo_fence *endless, *queued, *good;
	long long resets = device_counter("resets");
	struct salvo_queue *third;
	struct salvo_bo *closed;

	ASSERT_EQ(salvo_bo_create(self->device, 4096, 0, &closed), 0);
	ASSERT_EQ(salvo_queue_create(self->device, 0, &third), 0);
	ASSERT_EQ(submit_kernel(self, "endless", &endless), 0);
	/* Two that wait for it, of the same context and of another. */
	salvo_batch_reset(self->batch);
	ASSERT_GE(salvo_batch_fill(self->batch, self->later, 0, 4096, 1), 0);
	ASSERT_EQ(salvo_queue_submit(self->queue, self->batch, &endless, 1, &queued), 0);
	salvo_batch_reset(self->batch);
	ASSERT_GE(salvo_batch_fill(self->batch, closed, 0, 4096, 2), 0);
	ASSERT_GE(salvo_batch_fill(self->batch, self->later, 0, 4096, 2), 0);
	ASSERT_EQ(salvo_queue_submit(third, self->batch, &endless, 1, &good), 0);
	/* Closed, but needed by a batch that has not started. */
	salvo_bo_destroy(closed);

	EXPECT_EQ(salvo_fence_wait(endless, SECONDS(30)), -ECANCELED);
	EXPECT_EQ(salvo_fence_wait(queued, SECONDS(30)), -ECANCELED);
	EXPECT_EQ(salvo_fence_wait(good, SECONDS(30)), 0);
	EXPECT_EQ(device_counter("resets"), resets + 1);
	EXPECT_EQ(fill_and_wait(self, self->queue, self->later, 3), -EIO);
	EXPECT_EQ(fill_and_wait(self, self->other, self->later, 4), 0);
	EXPECT_EQ(fill_and_wait(self, self->other, self->bo, 5), 0);
	EXPECT_EQ(self->words[1023], 5);
	salvo_fence_destroy(good);
	salvo_fence_destroy(queued);
	salvo_fence_destroy(endless);
	salvo_queue_destroy(third);
}

/* A file that has nothing to do with it notices nothing. */
TEST_F(hang, other_file_goes_on_after_the_reset)
{
	struct drm_salvo_command command;
	struct salvo_fence *endless;
	int fd = node_open();
	uint32_t ctx;
	struct bo bo;

	ASSERT_GE(fd, 0);
	ASSERT_EQ(ctx_create(fd, &ctx), 0);
	ASSERT_EQ(bo_create(fd, 4096, 0, &bo), 0);
	ASSERT_EQ(bo_map(fd, &bo), 0);
	ASSERT_EQ(submit_kernel(self, "endless", &endless), 0);
	EXPECT_EQ(salvo_fence_wait(endless, SECONDS(30)), -ECANCELED);
	command = fill(bo.address, 4096, 7);
	EXPECT_EQ(run(fd, ctx, &command, 1), 0);
	EXPECT_EQ(*(uint32_t *)bo.map, 7);
	salvo_fence_destroy(endless);
	bo_close(fd, &bo);
	close(fd);
}

/* An argument that is no address of this file: the driver cannot see it, the GPU does. */
TEST_F(hang, fault_costs_its_context_alone)
{
	/* mov (%rdi),%rax; movl $1,(%rax); ret: writes where its argument points. */
	static const unsigned char code[] = {
		0x48, 0x8b, 0x07, 0xc7, 0x00, 0x01, 0x00, 0x00, 0x00, 0xc3,
	};
	long long resets = device_counter("resets"), faults = device_counter("faults");
	struct drm_salvo_sync signal = { 0 };
	struct drm_salvo_ctx_query query;
	struct drm_salvo_command command;
	struct batch batch = {
		.commands = &command, .count = 1, .signals = &signal, .signal_count = 1,
	};
	int fd = node_open();
	uint64_t address;
	struct bo exec, bo;
	uint32_t other;

	ASSERT_GE(fd, 0);
	ASSERT_EQ(ctx_create(fd, &batch.ctx), 0);
	ASSERT_EQ(ctx_create(fd, &other), 0);
	ASSERT_EQ(bo_create(fd, 4096, DRM_SALVO_BO_EXEC, &exec), 0);
	ASSERT_EQ(bo_create(fd, 4096, 0, &bo), 0);
	ASSERT_EQ(bo_map(fd, &exec), 0);
	ASSERT_EQ(bo_map(fd, &bo), 0);
	memcpy(exec.map, code, sizeof(code));
	signal.handle = syncobj_create(fd);
	command = (struct drm_salvo_command){
		.type = DRM_SALVO_DISPATCH, .entry = exec.address, .args_size = 8, .dims = 1,
		.items = { 1, 1, 1 }, .group = { 1, 1, 1 },
	};
	batch.args = &address;
	batch.args_size = 8;

	address = bo.address;
	ASSERT_EQ(submit(fd, &batch), 0);
	ASSERT_EQ(syncobj_wait(fd, signal.handle, 20), 0);
	EXPECT_EQ(syncobj_error(fd, signal.handle), 0);
	EXPECT_EQ(*(uint32_t *)bo.map, 1);

	address = bo.address + (128 << 20);
	ASSERT_EQ(submit(fd, &batch), 0);
	ASSERT_EQ(syncobj_wait(fd, signal.handle, 20), 0);
	EXPECT_EQ(syncobj_error(fd, signal.handle), -ECANCELED);
	EXPECT_EQ(submit(fd, &batch), -EIO);
	ASSERT_EQ(ctx_query(fd, batch.ctx, &query), 0);
	EXPECT_EQ(query.state, DRM_SALVO_CTX_BANNED);
	EXPECT_EQ(query.submitted, 2);
	EXPECT_EQ(query.completed, 2);
	EXPECT_EQ(query.failed, 1);
	EXPECT_TRUE(settle("faults", faults + 1));
	EXPECT_EQ(device_counter("resets"), resets);
	command = fill(bo.address, 4096, 3);
	EXPECT_EQ(run(fd, other, &command, 1), 0);
	bo_close(fd, &exec);
	bo_close(fd, &bo);
	close(fd);
}

TEST_HARNESS_MAIN
