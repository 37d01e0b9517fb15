// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_sched.c - a batch on its way: jobs, and the schedulers' callbacks
 *
 * One drm_sched scheduler feeds each ring. It starts a batch when all its wait
 * fences have signalled, in the order of its context, and contexts of one priority in
 * turn. On the ring, batches of one
 * context are ordered by the GPU; batches of different contexts overlap, and
 * therefore salvo_submit.c forbids the scheduler to pipeline dependencies.
 *
 * Whether a batch hangs is not for drm_sched to tell, which knows only how long one has
 * been the oldest: see salvo_watchdog.c. So it has no time limit of its own.
 *
 * A batch ends in salvo_job_complete(), called exactly once for each batch that
 * got onto the ring: by the deferred completion, by a reset, or by the loss of
 * the GPU. A batch that never got there ends in run_job. Only then may the
 * scheduler free it.
 */
#include <linux/dma-mapping.h>
#include <linux/kthread.h>
#include <linux/slab.h>

#include "salvo_compat.h"
#include "salvo_ctx.h"
#include "salvo_decode.h"
#include "salvo_device.h"
#include "salvo_fence.h"
#include "salvo_ring.h"
#include "salvo_sched.h"
#include "salvo_trace.h"

/**
 * salvo_job_create() - A job without a packet.
 * @ctx: Its context.
 *
 * From here on until salvo_job_destroy() no buffer of the file goes away under
 * the batch.
 *
 * Return: the job or an error pointer.
 */
struct salvo_job *salvo_job_create(struct salvo_ctx *ctx)
{
	struct salvo_dev *sdev = ctx->vm->sdev;
	struct salvo_job *job;

	job = kzalloc(sizeof(*job), GFP_KERNEL);
	if (!job)
		return ERR_PTR(-ENOMEM);
	job->fence = salvo_hw_fence_create(ctx->ring, job);
	if (!job->fence) {
		kfree(job);
		return ERR_PTR(-ENOMEM);
	}
	job->ctx = salvo_ctx_get(ctx);
	atomic_inc(&sdev->jobs);
	salvo_vm_begin_use(ctx->vm, &job->use);
	return job;
}

/**
 * salvo_job_alloc_packet() - Memory for the packet and its result.
 * @job: The job.
 * @bytes: Of the packet, a multiple of 64.
 *
 * Waits while the file has too much memory in packets already.
 *
 * Return: 0, -ENOMEM, -ENODEV, -ERESTARTSYS.
 */
int salvo_job_alloc_packet(struct salvo_job *job, u32 bytes)
{
	struct salvo_dev *sdev = job->ctx->vm->sdev;
	size_t total = bytes + sizeof(struct salvo_packet_result);
	int ret;

	ret = salvo_vm_charge(job->ctx->vm, &job->use, PAGE_ALIGN(total));
	if (ret)
		return ret;
	job->packet = dma_alloc_coherent(sdev->drm.dev, total, &job->packet_address,
					 GFP_KERNEL | __GFP_NOWARN);
	if (!job->packet)
		return -ENOMEM;
	job->packet_bytes = bytes;
	job->result = job->packet + bytes;
	return 0;
}

/**
 * salvo_job_destroy() - Free a job that was never pushed or whose fence has signalled.
 * @job: May be NULL.
 */
void salvo_job_destroy(struct salvo_job *job)
{
	struct salvo_dev *sdev;
	struct salvo_vm *vm;

	if (!job)
		return;
	vm = salvo_vm_get(job->ctx->vm);
	sdev = vm->sdev;
	if (job->base.s_fence) {
		/* Of a batch that was armed, but was not on the ring or was reset off it. */
		if (job->number && !job->base.s_fence->parent)
			job->base.s_fence->parent = dma_fence_get(&job->fence->base);
		drm_sched_job_cleanup(&job->base);
	}
	dma_fence_put(&job->fence->base);
	if (job->packet)
		dma_free_coherent(sdev->drm.dev,
				  job->packet_bytes + sizeof(struct salvo_packet_result),
				  job->packet, job->packet_address);
	salvo_ctx_put(job->ctx);
	salvo_vm_end_use(vm, &job->use);
	kfree(job);
	salvo_vm_put(vm);
	if (atomic_dec_and_test(&sdev->jobs))
		wake_up_all(&sdev->jobs_idle);
}

/**
 * salvo_job_count_begin() - A batch is about to be pushed.
 * @job: The batch.
 *
 * Its context is busy from its first batch in the queue to the end of its last.
 */
void salvo_job_count_begin(struct salvo_job *job)
{
	if (atomic_inc_return(&job->ctx->queued) == 1)
		atomic_inc(&job->ctx->ring->busy_ctxs);
}

static void salvo_job_count_end(struct salvo_job *job, int error)
{
	if (atomic_dec_and_test(&job->ctx->queued))
		atomic_dec(&job->ctx->ring->busy_ctxs);
	if (error)
		atomic64_inc(&job->ctx->failed);
	atomic64_inc(&job->ctx->completed);
	trace_salvo_complete(job, error);
}

/**
 * salvo_job_complete() - End a batch that was on the ring.
 * @job: Its fence is in no list of the ring any more.
 * @error: 0 or how it failed.
 *
 * @job may be gone when this returns.
 */
void salvo_job_complete(struct salvo_job *job, int error)
{
	struct salvo_hw_fence *fence = job->fence;

	if (error)
		dma_fence_set_error(&job->base.s_fence->finished, error);
	salvo_job_count_end(job, error);
	dma_fence_get(&fence->base);
	dma_fence_signal(&fence->base);
	dma_fence_put(&fence->base);
}

/* What the device says about a fault, in the kernel's log. */
static void salvo_job_report(struct salvo_job *job, const struct drm_salvo_fault *fault)
{
	struct salvo_ctx *ctx = job->ctx;
	struct salvo_dev *sdev = ctx->vm->sdev;
	const u32 items = fault->items ?: fault->item;
	const u32 first = items & ((1u << SALVO_FAULT_MORE_SHIFT) - 1);
	const u32 more = items >> SALVO_FAULT_MORE_SHIFT;
	char name[sizeof("unknown") + 16];

	if (items == ~0u)
		strscpy(name, "unknown", sizeof(name));
	else if (!more)
		snprintf(name, sizeof(name), "%u", first);
	else
		snprintf(name, sizeof(name), "%u to %u", first, first + more);
	if (__ratelimit(&sdev->fault_ratelimit))
		drm_notice(&sdev->drm,
			   "context %u of %s[%d]: %s fault: %s at %#llx, command %d work-group %llu work-item %s; banned\n",
			   ctx->hw_id, ctx->vm->comm, ctx->vm->pid,
			   salvo_decode_fault(fault->kind), salvo_decode_access(fault->access),
			   fault->address, fault->command, fault->group, name);
}

/* What CTX_QUERY tells of a batch that the device has failed, as far as it can be true. */
static void salvo_job_ban(struct salvo_job *job, const struct salvo_packet_result *result)
{
	struct drm_salvo_fault fault = {
		.batch = job->number,
		.command = result->command < job->commands ? result->command : ~0u,
		.done = min(result->done, job->commands),
		.item = ~0u,
	};

	if (result->status == SALVO_STATUS_FAULT) {
		fault.kind = result->fault ?: DRM_SALVO_FAULT_KERNEL;
		fault.access = result->access & (DRM_SALVO_ACCESS_READ | DRM_SALVO_ACCESS_WRITE |
						 DRM_SALVO_ACCESS_EXEC);
		fault.address = result->address;
		fault.group = result->group;
		if (result->item == ~0u || !(result->item >> SALVO_FAULT_MORE_SHIFT))
			fault.item = result->item;
		else
			fault.items = result->item;
	} else if (result->status == SALVO_STATUS_BAD_PACKET) {
		fault.kind = DRM_SALVO_FAULT_PACKET;
	} else {
		/* Not even the place of the result was found. */
		fault.kind = DRM_SALVO_FAULT_RING;
		fault.command = ~0u;
	}
	salvo_ctx_ban(job->ctx, &fault);
	salvo_job_report(job, &fault);
}

/**
 * salvo_job_result() - What the device said about a batch whose fence it has passed.
 * @job: The batch.
 *
 * Return: 0, or -ECANCELED. A batch that itself was at fault gets its context banned.
 */
int salvo_job_result(struct salvo_job *job)
{
	struct salvo_dev *sdev = job->ctx->vm->sdev;
	struct salvo_packet_result result;

	/* Read once: the device may still write. */
	memcpy(&result, job->result, sizeof(result));
	barrier();

	atomic64_add(result.busy_ns, &job->ctx->vm->counters.busy_ns);
	atomic64_add(result.busy_ns, &sdev->counters.busy_ns);
	switch (result.status) {
	case SALVO_STATUS_DONE:
		/* It may have worked with what a batch before it left undone. */
		if (salvo_ctx_is_banned(job->ctx))
			return salvo_refuse(sdev, -ECANCELED, "the context is not banned");
		return 0;
	case SALVO_STATUS_KILLED:
		return salvo_refuse(sdev, -ECANCELED, "the batch was not killed");
	default:
		salvo_job_ban(job, &result);
		return salvo_refuse(sdev, -ECANCELED, "status %u of a batch is done, command %u",
				    result.status, result.command);
	}
}

/*
 * What a batch must wait for beside its own fences. Fences retire in ring order, so a
 * context with many batches on the ring would let each batch of another one wait for
 * all of them. Where contexts share a ring they take turns: one batch each on the
 * ring. A context that is alone may have as many as fit, so that the GPU never waits.
 */
static struct dma_fence *salvo_sched_wait_for_turn(struct drm_sched_job *base,
						   struct drm_sched_entity *entity)
{
	struct salvo_ctx *ctx = to_salvo_job(base)->ctx;

	if (!ctx->newest || dma_fence_is_signaled(ctx->newest) ||
	    !salvo_ring_is_shared(ctx->ring))
		return NULL;
	return dma_fence_get(ctx->newest);
}

static struct dma_fence *salvo_sched_run_job(struct drm_sched_job *base)
{
	struct salvo_job *job = to_salvo_job(base);
	struct salvo_dev *sdev = job->ctx->vm->sdev;
	int ret;

	if (salvo_device_is_gone(sdev))
		ret = salvo_refuse(sdev, -ENODEV, "the GPU is there");
	else if (salvo_ctx_is_banned(job->ctx))
		ret = salvo_refuse(sdev, -ECANCELED, "the context is not banned");
	else
		ret = salvo_ring_push_job(job->ctx->ring, job);
	if (ret) {
		salvo_job_count_end(job, ret);
		return ERR_PTR(ret);
	}
	/* The job stays: only this thread frees it. */
	dma_fence_put(job->ctx->newest);
	job->ctx->newest = dma_fence_get(&job->fence->base);
	return dma_fence_get(&job->fence->base);
}

static void salvo_sched_free_job(struct drm_sched_job *base)
{
	salvo_job_destroy(to_salvo_job(base));
}

static const struct drm_sched_backend_ops salvo_sched_ops = {
	.SALVO_SCHED_PREPARE_JOB = salvo_sched_wait_for_turn,
	.run_job = salvo_sched_run_job,
	.free_job = salvo_sched_free_job,
};

/* --- the schedulers ----------------------------------------------------------- */

static int salvo_sched_init(struct salvo_ring *ring)
{
	struct salvo_sched *sched;
	int ret;

	sched = kzalloc(sizeof(*sched), GFP_KERNEL);
	if (!sched)
		return -ENOMEM;
	kref_init(&sched->ref);
	snprintf(sched->name, sizeof(sched->name), "salvo-ring%u", ring->index);
	ret = salvo_compat_sched_init(&sched->base, &salvo_sched_ops, SALVO_RING_BATCHES,
				      sched->name, ring->sdev->drm.dev);
	if (ret) {
		salvo_sched_put(sched);
		return ret;
	}
	ring->sched = sched;
	return 0;
}

/** salvo_sched_init_all() - A scheduler for each ring. */
int salvo_sched_init_all(struct salvo_dev *sdev)
{
	struct salvo_ring *ring;
	int ret = 0;

	salvo_for_each_ring(sdev, ring)
		ret = ret ?: salvo_sched_init(ring);
	if (ret)
		salvo_sched_fini_all(sdev);
	return ret;
}

/** salvo_sched_fini_all() - Stop them; there are no jobs left, but there may be contexts. */
void salvo_sched_fini_all(struct salvo_dev *sdev)
{
	struct salvo_ring *ring;

	salvo_for_each_ring(sdev, ring)
		if (ring->sched)
			drm_sched_fini(&ring->sched->base);
}

/*
 * drm_sched_stop() took the hardware fences from the batches that it left on its
 * list, and drm_sched_start() takes a batch without one for done. Those that are
 * still on the ring are not.
 */
static void salvo_sched_return_fences(struct salvo_sched *sched)
{
	struct drm_sched_job *base;

	list_for_each_entry(base, &sched->base.pending_list, list)
		if (!base->s_fence->parent)
			base->s_fence->parent = dma_fence_get(&to_salvo_job(base)->fence->base);
}

/** salvo_sched_stop_all() - Batches stay where they are, until salvo_sched_start_all(). */
void salvo_sched_stop_all(struct salvo_dev *sdev)
{
	struct salvo_ring *ring;

	salvo_for_each_ring(sdev, ring) {
		drm_sched_stop(&ring->sched->base, NULL);
		salvo_sched_return_fences(ring->sched);
	}
}

/** salvo_sched_start_all() - All goes on. */
void salvo_sched_start_all(struct salvo_dev *sdev)
{
	struct salvo_ring *ring;

	salvo_for_each_ring(sdev, ring)
		drm_sched_start(&ring->sched->base, true);
}

/** salvo_sched_park_all() - Bring no more batches to the rings. */
void salvo_sched_park_all(struct salvo_dev *sdev)
{
	struct salvo_ring *ring;

	salvo_for_each_ring(sdev, ring)
		kthread_park(ring->sched->base.thread);
}

/** salvo_sched_unpark_all() - After salvo_sched_park_all(). */
void salvo_sched_unpark_all(struct salvo_dev *sdev)
{
	struct salvo_ring *ring;

	salvo_for_each_ring(sdev, ring)
		kthread_unpark(ring->sched->base.thread);
}

/** salvo_sched_is_ours() - Does a scheduler feed one of the rings? */
bool salvo_sched_is_ours(struct salvo_dev *sdev, const struct drm_gpu_scheduler *base)
{
	struct salvo_ring *ring;

	salvo_for_each_ring(sdev, ring)
		if (base == &ring->sched->base)
			return true;
	return false;
}

static void salvo_sched_release(struct kref *ref)
{
	kfree(container_of(ref, struct salvo_sched, ref));
}

/**
 * salvo_sched_put() - Drop a reference, from any context.
 * @sched: Stopped, if it is the last one; may be NULL.
 */
void salvo_sched_put(struct salvo_sched *sched)
{
	if (sched)
		kref_put(&sched->ref, salvo_sched_release);
}
