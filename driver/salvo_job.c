// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_job.c - a batch in the driver: its memory, its result, its end
 *
 * SUBMIT creates a job, allocates and packs its DMA packet, and pushes it to the
 * scheduler entity of its context (salvo_submit.c). The scheduler runs it
 * (salvo_sched.c), which puts the packet on the ring (salvo_ring.c).
 *
 * salvo_job_complete() is called exactly once for each job that was put on the ring:
 * by the deferred completion (salvo_irq.c), by a reset, or when the GPU is lost
 * (salvo_reset.c). A job that run_job refuses never reaches the ring and ends there
 * with salvo_job_end(). After either one the scheduler may free the job.
 *
 * A packet can be as large as a mebibyte and more. Its pages are allocated to the page,
 * while dma_alloc_coherent() would round up to a power of two, and are charged to the
 * memory cgroup of the process that submits. Where the kernel bounces DMA (swiotlb, in a
 * confidential guest), that maps 256 KiB at most: larger packets are coherent memory there.
 *
 * Locks: none of its own. Until the job is pushed only the ioctl uses it, then the
 * scheduler's thread, and from the ring on whoever took it off the ring's list.
 */
#include <linux/dma-mapping.h>
#include <linux/slab.h>

#include "salvo_client.h"
#include "salvo_ctx.h"
#include "salvo_decode.h"
#include "salvo_device.h"
#include "salvo_fence.h"
#include "salvo_job.h"
#include "salvo_ring.h"
#include "salvo_trace.h"
#include "salvo_wait.h"

/**
 * salvo_job_create() - Create a job without a packet.
 * @ctx: Context of the batch.
 *
 * Until salvo_job_destroy() every buffer that is bound in the file's address space
 * now, or is bound later, stays bound.
 *
 * Return: the job or an error pointer.
 */
struct salvo_job *salvo_job_create(struct salvo_ctx *ctx)
{
	struct salvo_dev *sdev = ctx->vm->sdev;
	struct salvo_job *job;

	job = kzalloc(sizeof(*job), GFP_KERNEL_ACCOUNT);
	if (!job)
		return ERR_PTR(-ENOMEM);
	job->fence = salvo_hw_fence_create(ctx, job);
	if (!job->fence) {
		kfree(job);
		return ERR_PTR(-ENOMEM);
	}
	INIT_LIST_HEAD(&job->waits);
	job->ctx = salvo_ctx_get(ctx);
	atomic_inc(&sdev->jobs);
	salvo_vm_begin_use(ctx->vm, &job->use);
	return job;
}

static int salvo_job_alloc_streaming(struct salvo_job *job, size_t bytes)
{
	struct device *dev = job->ctx->vm->sdev->drm.dev;
	void *packet;

	packet = alloc_pages_exact(bytes, GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_ZERO);
	if (!packet)
		return -ENOMEM;
	job->packet_address = dma_map_single(dev, packet, bytes, DMA_BIDIRECTIONAL);
	if (dma_mapping_error(dev, job->packet_address)) {
		free_pages_exact(packet, bytes);
		return -ENOMEM;
	}
	job->packet = packet;
	return 0;
}

static int salvo_job_alloc_coherent(struct salvo_job *job, size_t bytes)
{
	job->packet = dma_alloc_coherent(job->ctx->vm->sdev->drm.dev, bytes, &job->packet_address,
					 GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	job->coherent = true;
	return job->packet ? 0 : -ENOMEM;
}

/**
 * salvo_job_alloc_packet() - Allocate memory for the packet and its result.
 * @job: The job.
 * @bytes: Length of the packet, a multiple of 64.
 *
 * Blocks while the packets of the file exceed the file's limit.
 *
 * Return: 0, -ENOMEM, -ENODEV, -ERESTARTSYS.
 */
int salvo_job_alloc_packet(struct salvo_job *job, u32 bytes)
{
	struct salvo_dev *sdev = job->ctx->vm->sdev;
	size_t total = PAGE_ALIGN(bytes + sizeof(struct salvo_packet_result));
	int ret;

	ret = salvo_vm_charge(job->ctx->vm, &job->use, total);
	if (ret)
		return ret;
	ret = total <= dma_max_mapping_size(sdev->drm.dev) ?
	      salvo_job_alloc_streaming(job, total) : salvo_job_alloc_coherent(job, total);
	if (ret)
		return ret;
	job->alloc_bytes = total;
	job->packet_bytes = bytes;
	job->result = job->packet + bytes;
	return 0;
}

static void salvo_job_free_packet(struct salvo_job *job)
{
	struct device *dev = job->ctx->vm->sdev->drm.dev;

	if (!job->packet)
		return;
	if (job->coherent) {
		dma_free_coherent(dev, job->alloc_bytes, job->packet, job->packet_address);
		return;
	}
	dma_unmap_single(dev, job->packet_address, job->alloc_bytes, DMA_BIDIRECTIONAL);
	free_pages_exact(job->packet, job->alloc_bytes);
}

/** salvo_job_sync_packet() - Pass the packet to the device, before its ring entry is written. */
void salvo_job_sync_packet(struct salvo_job *job)
{
	if (!job->coherent)
		dma_sync_single_for_device(job->ctx->vm->sdev->drm.dev, job->packet_address,
					   job->alloc_bytes, DMA_BIDIRECTIONAL);
}

/**
 * salvo_job_destroy() - Free a job that was never pushed, or whose fence has signalled.
 * @job: The job, or NULL.
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
		/*
		 * The scheduler's fence needs its parent (salvo_fence.c) also where
		 * run_job failed or drm_sched_stop() has dropped it.
		 */
		if (job->number && !job->base.s_fence->parent)
			job->base.s_fence->parent = dma_fence_get(&job->fence->base);
		drm_sched_job_cleanup(&job->base);
	}
	salvo_wait_end_all(job);
	dma_fence_put(&job->fence->base);
	salvo_job_free_packet(job);
	salvo_ctx_put(job->ctx);
	salvo_vm_end_use(vm, &job->use);
	kfree(job);
	salvo_vm_put(vm);
	if (atomic_dec_and_test(&sdev->jobs))
		wake_up_all(&sdev->jobs_idle);
}

/**
 * salvo_job_begin() - Count a job that is about to be pushed to its entity.
 * @job: The job.
 *
 * Context and client are busy on a ring from their first queued job to the end of their last.
 */
void salvo_job_begin(struct salvo_job *job)
{
	if (atomic_inc_return(&job->ctx->queued) == 1)
		atomic_inc(&job->ctx->ring->busy_ctxs);
	salvo_client_begin_job(job->ctx->vm->client, job->ctx->ring);
}

/**
 * salvo_job_end() - Count a pushed job that has ended.
 * @job: The job.
 * @error: 0, or the error that it failed with.
 */
void salvo_job_end(struct salvo_job *job, int error)
{
	if (atomic_dec_and_test(&job->ctx->queued))
		atomic_dec(&job->ctx->ring->busy_ctxs);
	salvo_client_end_job(job->ctx->vm->client, job->ctx->ring);
	if (error)
		atomic64_inc(&job->ctx->failed);
	atomic64_inc(&job->ctx->completed);
	trace_salvo_complete(job, error);
}

/**
 * salvo_job_complete() - End a job that was on the ring and signal its fence.
 * @job: The job; its fence is in none of the ring's lists.
 * @error: 0, or the error that it failed with.
 *
 * The scheduler may free @job before this returns.
 */
void salvo_job_complete(struct salvo_job *job, int error)
{
	struct salvo_hw_fence *fence = job->fence;

	if (error)
		dma_fence_set_error(&job->base.s_fence->finished, error);
	salvo_job_end(job, error);
	dma_fence_get(&fence->base);
	dma_fence_signal(&fence->base);
	dma_fence_put(&fence->base);
}

/* --- result ------------------------------------------------------------------- */

static void salvo_job_log_fault(struct salvo_job *job, const struct drm_salvo_fault *fault)
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

/*
 * Ban the context of a failed job. The result is untrusted: what CTX_QUERY reports of
 * it is limited to values that the batch allows.
 */
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
		/* The device could not read the ring entry, so it wrote no result. */
		fault.kind = DRM_SALVO_FAULT_RING;
		fault.command = ~0u;
	}
	salvo_ctx_ban(job->ctx, &fault);
	salvo_job_log_fault(job, &fault);
}

/**
 * salvo_job_copy_result() - Copy the result as the device has written it so far.
 * @job: The job, which has a packet.
 * @result: Filled in.
 */
void salvo_job_copy_result(struct salvo_job *job, struct salvo_packet_result *result)
{
	if (!job->coherent)
		dma_sync_single_for_cpu(job->ctx->vm->sdev->drm.dev,
					job->packet_address + job->packet_bytes, sizeof(*result),
					DMA_BIDIRECTIONAL);
	/* Copied once: the device may still write to it. */
	memcpy(result, job->result, sizeof(*result));
	barrier();
}

/**
 * salvo_job_is_reported() - Has the device written the result of a job?
 * @job: The job, which is on the ring.
 *
 * It writes the status last.
 */
bool salvo_job_is_reported(struct salvo_job *job)
{
	if (!job->coherent)
		dma_sync_single_for_cpu(job->ctx->vm->sdev->drm.dev,
					job->packet_address + job->packet_bytes,
					sizeof(*job->result), DMA_BIDIRECTIONAL);
	return READ_ONCE(job->result->status) != SALVO_STATUS_PENDING;
}

/**
 * salvo_job_read_result() - Read the result of a job that has ended.
 * @job: The job.
 *
 * A job that itself caused the failure gets its context banned.
 *
 * Return: 0, or -ECANCELED.
 */
int salvo_job_read_result(struct salvo_job *job)
{
	struct salvo_dev *sdev = job->ctx->vm->sdev;
	struct salvo_packet_result result;

	salvo_job_copy_result(job, &result);
	atomic64_add(result.busy_ns, &job->ctx->vm->counters.busy_ns);
	atomic64_add(result.busy_ns, &sdev->counters.busy_ns);
	switch (result.status) {
	case SALVO_STATUS_DONE:
		/* It may have read what an earlier, failed batch of the context left unfinished. */
		return salvo_refuse_if(sdev, salvo_ctx_bans(job->ctx, job->number), -ECANCELED,
				       "context %u is banned", job->ctx->hw_id);
	case SALVO_STATUS_KILLED:
		return salvo_refuse(sdev, -ECANCELED, "batch %llu of context %u was killed",
				    job->number, job->ctx->hw_id);
	default:
		salvo_job_ban(job, &result);
		return salvo_refuse(sdev, -ECANCELED,
				    "batch %llu of context %u failed with status %u at command %u",
				    job->number, job->ctx->hw_id, result.status, result.command);
	}
}
