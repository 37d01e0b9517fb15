// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_fence.c - the hardware fence of a batch
 *
 * The fence never leaves the driver: salvo_sched.c takes it back from the
 * scheduler's fence when the job is freed, so nothing outside holds memory or
 * code of this module through it. Beside the job, its context holds its newest one.
 */
#include <linux/slab.h>

#include "salvo_fence.h"

static const char *salvo_fence_driver_name(struct dma_fence *base)
{
	return "salvo";
}

static const char *salvo_fence_timeline_name(struct dma_fence *base)
{
	return "ring0";
}

static const struct dma_fence_ops salvo_fence_ops = {
	.get_driver_name = salvo_fence_driver_name,
	.get_timeline_name = salvo_fence_timeline_name,
};

/**
 * salvo_fence_create() - Allocate the fence of a job.
 * @job: The job.
 *
 * Return: the fence, or NULL.
 */
struct salvo_fence *salvo_fence_create(struct salvo_job *job)
{
	struct salvo_fence *fence = kzalloc(sizeof(*fence), GFP_KERNEL);

	if (!fence)
		return NULL;
	spin_lock_init(&fence->lock);
	INIT_LIST_HEAD(&fence->node);
	fence->job = job;
	return fence;
}

/**
 * salvo_fence_init() - Make it a fence: its batch gets a place on the ring.
 * @fence: Of a job.
 * @context: Of all fences of the ring.
 * @number: Counts up in it.
 */
void salvo_fence_init(struct salvo_fence *fence, u64 context, u64 number)
{
	dma_fence_init(&fence->base, &salvo_fence_ops, &fence->lock, context, number);
}

/**
 * salvo_fence_destroy() - Drop the job's reference.
 * @fence: May be NULL.
 */
void salvo_fence_destroy(struct salvo_fence *fence)
{
	if (!fence)
		return;
	if (fence->base.ops)
		dma_fence_put(&fence->base);
	else
		kfree(fence);
}
