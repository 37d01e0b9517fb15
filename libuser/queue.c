// SPDX-License-Identifier: MIT
/*
 * queue.c - queues: hand a batch to the GPU
 *
 * Batches of one queue run one after the other. The back end copies the batch
 * into its packet before it returns, so the batch is free at once.
 */
#include <errno.h>

#include "batch.h"
#include "dump.h"

static int anywhere(void *cookie, __u64 address, __u64 size, __u32 access)
{
	(void)cookie;
	(void)address;
	(void)size;
	(void)access;
	return 1;
}

/* The kernel says only that a batch is wrong. Its own check, done here, says what. */
static void explain(const struct salvo_device *device, struct salvo_submission *submission)
{
	const struct salvo_space_view space = {
		.covers = anywhere,
		.units = device->info.units,
	};

	if (!salvo_validate_batch(&submission->batch, &space, &submission->why))
		submission->why.field = NULL;
}

int salvo_queue_create(struct salvo_device *device, uint64_t eu_mask, struct salvo_queue **out)
{
	*out = NULL;
	if (device->info.units < 64 && eu_mask >> device->info.units)
		return -EINVAL;
	return device->winsys->queue_create(device, eu_mask, out);
}

void salvo_queue_destroy(struct salvo_queue *queue)
{
	if (queue)
		queue->device->winsys->queue_destroy(queue);
}

static int submit(struct salvo_queue *queue, struct salvo_submission *submission,
		  struct salvo_fence **out)
{
	struct salvo_dump_batch *dumped = salvo_dump_begin(queue->device->dump,
							   &submission->batch);
	struct salvo_fence *fence = NULL;
	int err;

	if (!dumped)
		return queue->device->winsys->queue_submit(queue, submission, out);
	err = queue->device->winsys->queue_submit(queue, submission, &fence);
	salvo_dump_end(dumped, fence);
	if (out)
		*out = fence;
	else
		salvo_fence_destroy(fence);
	return err;
}

int salvo_queue_submit(struct salvo_queue *queue, struct salvo_batch *batch,
		       struct salvo_fence *const *waits, unsigned int wait_count,
		       struct salvo_fence **out)
{
	struct salvo_submission submission = {
		.waits = waits,
		.wait_count = wait_count,
	};
	unsigned int i;
	int err;

	if (out)
		*out = NULL;
	if (batch->device != queue->device)
		return salvo_batch_fail(batch, -EINVAL, "the batch is of another device");
	if (wait_count && !waits)
		return salvo_batch_fail(batch, -EINVAL, "fences to wait for: none given");
	for (i = 0; i < wait_count; i++)
		if (!waits[i] || waits[i]->device != queue->device)
			return salvo_batch_fail(batch, -EINVAL,
						"fence %u to wait for: not of this device", i);
	err = salvo_batch_finish(batch, &submission.batch);
	if (err)
		return err;

	submission.why.field = NULL;
	err = submit(queue, &submission, out);
	if (!err)
		return 0;
	if ((err == -EINVAL || err == -E2BIG) && !submission.why.field)
		explain(queue->device, &submission);
	return salvo_batch_reject(batch, err, &submission.why);
}
