// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_reset.c - hung batches and a lost GPU
 *
 * When salvo_watchdog.c finds a hung batch or task, the schedulers are stopped, a dump is
 * captured, the guilty context is banned, and the GPU is asked to kill that context
 * alone. That batch and later ones of the context fail with ECANCELED, all others on the rings
 * continue, also an earlier one that it overlaps, and the schedulers are started again. No
 * batch is resubmitted.
 *
 * If the GPU does not acknowledge the kill, it is reset: every batch on the rings fails
 * with ECANCELED, the rings restart empty, and all address spaces are restored. Root can
 * request a reset for tests by writing to salvo_reset in debugfs.
 *
 * A GPU that does not acknowledge the reset, whose heartbeat stops, or whose generation
 * changes is wedged: sdev->gone is set for good, and batches on the rings, like all later
 * requests, fail with ENODEV. A uevent asks userspace to bind the driver again.
 *
 * All of this runs on the ordered sdev->wq, or after that was drained. The fence interrupt
 * is disabled while batches are taken off the rings. Nothing allocates, since memory
 * reclaim may wait for the fences that are signalled here; dma_fence_begin_signalling()
 * lets lockdep verify that. Stopping the schedulers is not part of such a section: it
 * waits for their work, which has sections of its own.
 */
#include <linux/interrupt.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>

#include "salvo_ctx.h"
#include "salvo_device.h"
#include "salvo_fence.h"
#include "salvo_irq.h"
#include "salvo_job.h"
#include "salvo_reset.h"
#include "salvo_ring.h"
#include "salvo_sched.h"
#include "salvo_slot.h"
#include "salvo_vm.h"
#include "salvo_wait.h"

/**
 * salvo_reset_fail_rings() - Fail all batches on the rings, which are stopped.
 * @sdev: The device.
 * @error: Negative errno of their fences.
 *
 * Return: whether there were any; then the caller counts the reset.
 */
bool salvo_reset_fail_rings(struct salvo_dev *sdev, int error)
{
	u64 resets = atomic64_read(&sdev->resets) + 1;
	struct salvo_hw_fence *fence, *next;
	LIST_HEAD(fences);
	bool any;

	salvo_ring_abandon_all(sdev, &fences);
	any = !list_empty(&fences);
	list_for_each_entry_safe(fence, next, &fences, node) {
		list_del_init(&fence->node);
		salvo_ctx_count_innocent(fence->job->ctx, resets);
		salvo_job_complete(fence->job, error);
	}
	return any;
}

static int salvo_reset_restart(struct salvo_dev *sdev)
{
	int ret;

	lockdep_assert_held(&sdev->space_lock);
	salvo_ring_stop_all(sdev);
	ret = salvo_mmio_reset(&sdev->mmio);
	salvo_reset_fail_rings(sdev, ret ? -ENODEV : -ECANCELED);
	if (ret)
		return ret;
	atomic64_inc(&sdev->resets);
	salvo_slot_drop_all(sdev);
	return salvo_ring_start_all(sdev) ?: salvo_vm_restore(sdev);
}

static int salvo_reset_all(struct salvo_dev *sdev)
{
	int ret;

	mutex_lock(&sdev->space_lock);
	ret = salvo_reset_restart(sdev);
	mutex_unlock(&sdev->space_lock);
	/* Buffers of slots that were dropped may be retiring now. */
	salvo_vm_queue_reclaim(sdev);
	return ret;
}

/**
 * salvo_reset_wedged_work() - Ask userspace by a uevent to bind the driver again.
 * @work: sdev->wedged.
 *
 * Not on sdev->wq, since it allocates.
 */
void salvo_reset_wedged_work(struct work_struct *work)
{
	struct salvo_dev *sdev = container_of(work, struct salvo_dev, wedged);
	int idx;

	if (!drm_dev_enter(&sdev->drm, &idx))
		return;
	drm_dev_wedged_event(&sdev->drm, DRM_WEDGE_RECOVERY_REBIND, NULL);
	drm_dev_exit(idx);
}

/**
 * salvo_reset_wedge() - Mark the GPU as gone and fail all batches on the rings.
 * @sdev: The device.
 *
 * Also called when the driver is unbound. May be called more than once.
 */
void salvo_reset_wedge(struct salvo_dev *sdev)
{
	bool signalling = dma_fence_begin_signalling();

	WRITE_ONCE(sdev->gone, true);
	salvo_ring_stop_all(sdev);
	/* The GPU may resume later, but the memory of its packets is freed below. */
	salvo_mmio_set_bus_master(&sdev->mmio, false);
	WRITE_ONCE(sdev->dma_unconfirmed, !salvo_mmio_is_stopped(&sdev->mmio));
	WRITE_ONCE(sdev->detached, true);
	/* The interrupt thread completes the batches that it has taken already. */
	salvo_reset_fail_rings(sdev, -ENODEV);
	/* Queued batches fail when the scheduler runs them, which waits for nobody now. */
	salvo_wait_abort_all(sdev);
	salvo_vm_reclaim_gone(sdev);
	dma_fence_end_signalling(signalling);
}

/** salvo_reset_declare_wedged() - Wedge a bound GPU and notify userspace. */
void salvo_reset_declare_wedged(struct salvo_dev *sdev)
{
	salvo_reset_wedge(sdev);
	queue_work(system_dfl_wq, &sdev->wedged);
}

static void salvo_reset_ban(struct salvo_dev *sdev, struct salvo_ctx *ctx,
			    struct salvo_job *guilty, const char *what)
{
	const struct drm_salvo_fault hang = {
		.kind = DRM_SALVO_FAULT_HANG,
		.batch = guilty ? guilty->number : 0,
		.command = ~0u,
		.item = ~0u,
	};

	drm_notice(&sdev->drm, "%s of context %u of %s[%d] hung, killing the context\n", what,
		   ctx->hw_id, ctx->vm->comm, ctx->vm->pid);
	salvo_coredump_capture(sdev, guilty, guilty ? "a batch hung" : "a task in a slot hung");
	salvo_ctx_ban(ctx, &hang);
}

/* Return: 0, or what salvo_mmio_kill() does. */
static int salvo_reset_kill_ctx(struct salvo_dev *sdev, struct salvo_ctx *ctx, u64 seqno)
{
	int ret = salvo_mmio_kill(&sdev->mmio, ctx->hw_id, seqno);

	if (ret)
		return ret;
	atomic64_inc(&sdev->kills);
	salvo_irq_complete(sdev);
	salvo_slot_drop_ctx(sdev, ctx);
	return 0;
}

/*
 * Kill the context of a hung batch, or reset the GPU if that fails. A kill that leaves
 * the batch as the oldest of its ring has failed, since the ring cannot advance.
 */
static int salvo_reset_kill(struct salvo_dev *sdev, struct salvo_job *guilty)
{
	struct salvo_ctx *ctx = guilty->ctx;
	int ret;

	salvo_reset_ban(sdev, ctx, guilty, "a batch");
	ret = salvo_reset_kill_ctx(sdev, ctx, guilty->fence->seqno);
	/* A GPU that does not run would not acknowledge a reset either. */
	if (ret == -ENODEV || (!ret && !salvo_ring_is_oldest(guilty)))
		return ret;
	drm_notice(&sdev->drm, "context %u was not killed, resetting the GPU\n", ctx->hw_id);
	return salvo_reset_all(sdev);
}

static bool salvo_reset_begin(struct salvo_dev *sdev)
{
	disable_irq(sdev->irqs[SALVO_VECTOR_FENCE]);
	/* Batches that have finished complete, even if their interrupt is late or lost. */
	salvo_irq_complete(sdev);
	salvo_sched_stop_all(sdev);
	return dma_fence_begin_signalling();
}

static void salvo_reset_end(struct salvo_dev *sdev, bool signalling, int ret)
{
	salvo_sched_start_all(sdev);
	enable_irq(sdev->irqs[SALVO_VECTOR_FENCE]);
	if (ret) {
		drm_notice(&sdev->drm, "the reset failed: %d\n", ret);
		salvo_reset_declare_wedged(sdev);
	}
	dma_fence_end_signalling(signalling);
}

/**
 * salvo_reset_hung() - Kill the context of a hung batch.
 * @sdev: The device.
 * @guilty: The batch; it may have ended meanwhile.
 */
void salvo_reset_hung(struct salvo_dev *sdev, const struct salvo_hang *guilty)
{
	bool signalling = salvo_reset_begin(sdev);
	struct salvo_job *job;
	int ret = 0;

	job = salvo_ring_find(sdev, guilty->ctx, guilty->seqno);
	if (job)
		ret = salvo_reset_kill(sdev, job);
	salvo_reset_end(sdev, signalling, ret);
}

/**
 * salvo_reset_hung_slot() - Kill a context, a task of which hangs in a slot.
 * @sdev: The device.
 * @ctx: The context.
 */
void salvo_reset_hung_slot(struct salvo_dev *sdev, struct salvo_ctx *ctx)
{
	bool signalling = salvo_reset_begin(sdev);
	int ret;

	salvo_reset_ban(sdev, ctx, NULL, "a task in a slot");
	ret = salvo_reset_kill_ctx(sdev, ctx, 0);
	if (ret && ret != -ENODEV) {
		drm_notice(&sdev->drm, "context %u was not killed, resetting the GPU\n",
			   ctx->hw_id);
		ret = salvo_reset_all(sdev);
	}
	salvo_reset_end(sdev, signalling, ret);
}

/** salvo_reset_forced_work() - Reset the GPU on request of debugfs. */
void salvo_reset_forced_work(struct work_struct *work)
{
	struct salvo_dev *sdev = container_of(work, struct salvo_dev, forced_reset);
	bool signalling;
	int ret;

	if (salvo_device_is_gone(sdev) || READ_ONCE(sdev->suspended))
		return;
	drm_notice(&sdev->drm, "reset requested through debugfs\n");
	signalling = salvo_reset_begin(sdev);
	ret = salvo_reset_all(sdev);
	salvo_reset_end(sdev, signalling, ret);
}

/** salvo_reset_lost_work() - Handle the "device lost" interrupt: the GPU process was replaced. */
void salvo_reset_lost_work(struct work_struct *work)
{
	struct salvo_dev *sdev = container_of(work, struct salvo_dev, lost);

	if (salvo_device_is_gone(sdev) || !salvo_mmio_is_lost(&sdev->mmio))
		return;
	drm_notice(&sdev->drm, "the GPU was lost\n");
	salvo_coredump_capture(sdev, NULL, "the GPU was lost");
	salvo_reset_declare_wedged(sdev);
}

/** salvo_reset_unresponsive() - Wedge a GPU whose heartbeat has stopped. */
void salvo_reset_unresponsive(struct salvo_dev *sdev)
{
	drm_notice(&sdev->drm, "the GPU does not answer\n");
	salvo_coredump_capture(sdev, NULL, "the GPU does not answer");
	salvo_reset_declare_wedged(sdev);
}
