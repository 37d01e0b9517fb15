// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_fence.c - hardware fences
 *
 * Userspace gets the scheduler's finished fence of a batch and can keep it, in a
 * syncobj, a sync_file or a dma-buf, for longer than the file, the context and the
 * device exist. That fence reads its timeline's name from the scheduler, and its code is
 * in drm_sched. The hardware fence is its parent and lives as long; therefore it holds a
 * reference to struct salvo_sched and to this module, which in turn holds drm_sched. A
 * device can be unbound while its fences exist, but the module cannot be unloaded.
 *
 * References are held by the job, by the scheduler's fence, and by ctx->newest.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "salvo_ctx.h"
#include "salvo_fence.h"
#include "salvo_ring.h"
#include "salvo_sched.h"

static const char *salvo_hw_fence_driver_name(struct dma_fence *base)
{
	return "salvo";
}

static const char *salvo_hw_fence_timeline_name(struct dma_fence *base)
{
	return container_of(base, struct salvo_hw_fence, base)->sched->name;
}

static void salvo_hw_fence_release(struct dma_fence *base)
{
	struct salvo_hw_fence *fence = container_of(base, struct salvo_hw_fence, base);

	salvo_sched_put(fence->sched);
	dma_fence_free(base);
	module_put(THIS_MODULE);
}

static const struct dma_fence_ops salvo_hw_fence_ops = {
	.get_driver_name = salvo_hw_fence_driver_name,
	.get_timeline_name = salvo_hw_fence_timeline_name,
	.release = salvo_hw_fence_release,
};

/**
 * salvo_hw_fence_create() - Create the hardware fence of a job.
 * @ctx: Context of the job. Its fences signal in order.
 * @job: The job.
 *
 * The caller's open file holds a reference to the module.
 *
 * Return: the fence, or NULL.
 */
struct salvo_hw_fence *salvo_hw_fence_create(struct salvo_ctx *ctx, struct salvo_job *job)
{
	struct salvo_hw_fence *fence = kzalloc(sizeof(*fence), GFP_KERNEL_ACCOUNT);

	if (!fence)
		return NULL;
	__module_get(THIS_MODULE);
	spin_lock_init(&fence->lock);
	INIT_LIST_HEAD(&fence->node);
	fence->sched = salvo_sched_get(ctx->ring->sched);
	fence->job = job;
	dma_fence_init(&fence->base, &salvo_hw_fence_ops, &fence->lock, ctx->fence_context, 0);
	return fence;
}
