// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_wait.c - waits of jobs for fences of other drivers
 *
 * A job may depend on a fence of another driver that signals late or never, and drm_sched
 * has no means to drop a dependency. When the GPU is gone, and when the driver is unbound,
 * its batches have to end all the same. So drm_sched does not get a foreign fence itself,
 * but a proxy, which signals when the foreign fence does or when salvo_wait_abort_all() is
 * called; the job then fails in run_job. Fences of this device are passed on as they are,
 * since they always signal, unless drm_sched would ignore them.
 *
 * A proxy is in the list of its job, which holds a reference to it and to the foreign fence,
 * and in sdev->waits.
 *
 * Locks: sdev->waits_lock protects both lists. It is taken before the lock of the foreign
 * fence, under which the callback runs; therefore the callback only signals the proxy.
 */
#include <linux/dma-fence.h>
#include <linux/slab.h>

#include <drm/gpu_scheduler.h>

#include "salvo_ctx.h"
#include "salvo_device.h"
#include "salvo_job.h"
#include "salvo_sched.h"
#include "salvo_vm.h"
#include "salvo_wait.h"

/**
 * struct salvo_wait - The wait of a job for a foreign fence.
 */
struct salvo_wait {
	/** @base: The proxy; must be the first member, since dma_fence_free() frees it. */
	struct dma_fence base;
	/** @lock: Lock of @base. */
	spinlock_t lock;
	/** @device_node: Entry in sdev->waits. */
	struct list_head device_node;
	/** @job_node: Entry in job->waits. */
	struct list_head job_node;
	/** @foreign: The foreign fence; holds a reference. */
	struct dma_fence *foreign;
	/** @cb: Callback of @foreign. */
	struct dma_fence_cb cb;
};

static const char *salvo_wait_driver_name(struct dma_fence *base)
{
	return "salvo";
}

static const char *salvo_wait_timeline_name(struct dma_fence *base)
{
	return "salvo-wait";
}

/* Without a release operation dma_fence_free() frees it, which needs no code of this module. */
static const struct dma_fence_ops salvo_wait_ops = {
	.get_driver_name = salvo_wait_driver_name,
	.get_timeline_name = salvo_wait_timeline_name,
};

static void salvo_wait_signalled(struct dma_fence *foreign, struct dma_fence_cb *cb)
{
	dma_fence_signal(&container_of(cb, struct salvo_wait, cb)->base);
}

/* Afterwards the callback has run or will never run, and the proxy is signalled. */
static void salvo_wait_abort(struct salvo_wait *wait)
{
	if (!dma_fence_remove_callback(wait->foreign, &wait->cb))
		return;
	dma_fence_set_error(&wait->base, -ENODEV);
	dma_fence_signal(&wait->base);
}

static struct salvo_wait *salvo_wait_create(struct dma_fence *foreign)
{
	struct salvo_wait *wait = kzalloc(sizeof(*wait), GFP_KERNEL_ACCOUNT);

	if (!wait)
		return NULL;
	spin_lock_init(&wait->lock);
	INIT_LIST_HEAD(&wait->cb.node);
	wait->foreign = dma_fence_get(foreign);
	/* A context of its own: drm_sched keeps only the latest fence of each context. */
	dma_fence_init(&wait->base, &salvo_wait_ops, &wait->lock, dma_fence_context_alloc(1), 1);
	return wait;
}

static void salvo_wait_destroy(struct salvo_wait *wait)
{
	dma_fence_put(wait->foreign);
	dma_fence_put(&wait->base);
}

static int salvo_wait_add_foreign(struct salvo_job *job, struct dma_fence *foreign)
{
	struct salvo_dev *sdev = job->ctx->vm->sdev;
	struct salvo_wait *wait = salvo_wait_create(foreign);

	if (!wait)
		return -ENOMEM;
	if (dma_fence_add_callback(foreign, &wait->cb, salvo_wait_signalled)) {
		/* It has signalled already. */
		dma_fence_signal(&wait->base);
		salvo_wait_destroy(wait);
		return 0;
	}
	spin_lock(&sdev->waits_lock);
	list_add_tail(&wait->device_node, &sdev->waits);
	list_add_tail(&wait->job_node, &job->waits);
	/* salvo_wait_abort_all() may have run already. */
	if (salvo_device_is_gone(sdev))
		salvo_wait_abort(wait);
	spin_unlock(&sdev->waits_lock);
	/* Consumes the reference, also on error. */
	return drm_sched_job_add_dependency(&job->base, dma_fence_get(&wait->base));
}

/*
 * A foreign fence does. So does one of the job's own context if the job overlaps: drm_sched
 * ignores it, since jobs of one entity are put on the ring in order.
 */
static bool salvo_wait_needs_proxy(const struct salvo_job *job, struct dma_fence *fence)
{
	const struct drm_sched_fence *sched_fence = to_drm_sched_fence(fence);
	const struct salvo_ctx *ctx = job->ctx;

	if (!sched_fence || !salvo_sched_is_ours(ctx->vm->sdev, sched_fence->sched))
		return true;
	return job->overlaps && sched_fence->finished.context == ctx->entity.fence_context + 1;
}

/**
 * salvo_wait_add() - Let a job wait for a fence of any driver.
 * @job: The job, initialized but not armed.
 * @fence: The fence; its reference is consumed, also on error.
 *
 * Return: 0, -ENOMEM.
 */
int salvo_wait_add(struct salvo_job *job, struct dma_fence *fence)
{
	int ret = 0;

	if (!salvo_wait_needs_proxy(job, fence))
		return drm_sched_job_add_dependency(&job->base, fence);
	if (!dma_fence_is_signaled(fence))
		ret = salvo_wait_add_foreign(job, fence);
	dma_fence_put(fence);
	return ret;
}

/** salvo_wait_end_all() - Free the waits of a job that is being freed. */
void salvo_wait_end_all(struct salvo_job *job)
{
	struct salvo_dev *sdev = job->ctx->vm->sdev;
	struct salvo_wait *wait, *next;

	if (list_empty(&job->waits))
		return;
	spin_lock(&sdev->waits_lock);
	list_for_each_entry(wait, &job->waits, job_node) {
		list_del(&wait->device_node);
		salvo_wait_abort(wait);
	}
	spin_unlock(&sdev->waits_lock);
	list_for_each_entry_safe(wait, next, &job->waits, job_node)
		salvo_wait_destroy(wait);
}

/**
 * salvo_wait_abort_all() - Let no job wait for foreign fences any more.
 * @sdev: The device, which is gone, so that the jobs fail when the scheduler runs them.
 */
void salvo_wait_abort_all(struct salvo_dev *sdev)
{
	struct salvo_wait *wait;

	spin_lock(&sdev->waits_lock);
	list_for_each_entry(wait, &sdev->waits, device_node)
		salvo_wait_abort(wait);
	spin_unlock(&sdev->waits_lock);
}
