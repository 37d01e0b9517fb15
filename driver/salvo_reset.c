// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_reset.c - hung batches and a lost GPU
 *
 * A batch that stays at the head of the ring for too long is taken for hung: the
 * scheduler is stopped, the GPU reset by the handshake, every batch on the ring
 * fails with ECANCELED, the context of the hung one is banned, the ring starts
 * empty and the device is told of all address spaces again. Nothing is run a
 * second time.
 *
 * A GPU that does not answer the handshake, whose heartbeat stops or that comes
 * back as another generation is given up: sdev->gone is set for good, batches on
 * the ring fail with ENODEV, and so does everything after them.
 *
 * All of this runs on the ordered sdev->wq, or when that is drained. The fence
 * interrupt is off while batches are taken from the ring.
 */
#include <linux/interrupt.h>

#include "salvo_ctx.h"
#include "salvo_device.h"
#include "salvo_fence.h"
#include "salvo_irq.h"
#include "salvo_reset.h"
#include "salvo_ring.h"
#include "salvo_sched.h"
#include "salvo_vm.h"

#define SALVO_WATCHDOG_JIFFIES	HZ
/* Looks without a heartbeat; generous, for the host may be overloaded. */
#define SALVO_WATCHDOG_MISSES	8

static void salvo_reset_fail_ring(struct salvo_device *sdev, int error)
{
	u64 resets = atomic64_read(&sdev->resets) + 1;
	struct salvo_fence *fence;

	salvo_ring_abandon(sdev);
	while ((fence = salvo_ring_next_done(sdev))) {
		salvo_ctx_note_reset(fence->job->ctx, resets);
		salvo_job_complete(fence->job, error);
	}
}

static int salvo_reset_restart(struct salvo_device *sdev)
{
	int ret;

	lockdep_assert_held(&sdev->space_lock);
	salvo_ring_stop(sdev);
	ret = salvo_mmio_reset(&sdev->mmio);
	salvo_reset_fail_ring(sdev, ret ? -ENODEV : -ECANCELED);
	if (ret)
		return ret;
	atomic64_inc(&sdev->resets);
	return salvo_ring_start(sdev) ?: salvo_vm_restore(sdev);
}

/*
 * drm_sched_stop() took the hardware fences from the batches that it left on its
 * list, and drm_sched_start() takes a batch without one for done. Those that are
 * still on the ring are not.
 */
static void salvo_reset_return_fences(struct salvo_device *sdev)
{
	struct drm_sched_job *base;

	list_for_each_entry(base, &sdev->sched.pending_list, list)
		if (!base->s_fence->parent)
			base->s_fence->parent = dma_fence_get(&to_salvo_job(base)->fence->base);
}

/**
 * salvo_reset_timeout() - The scheduler's oldest batch took too long.
 * @job: The batch; out of the scheduler's list until the scheduler is stopped.
 */
enum drm_gpu_sched_stat salvo_reset_timeout(struct salvo_job *job)
{
	struct salvo_device *sdev = job->ctx->vm->sdev;
	const struct drm_salvo_fault hang = {
		.kind = DRM_SALVO_FAULT_HANG,
		.batch = job->number,
		.command = ~0u,
		.item = ~0u,
	};
	int ret = 0;

	/* Who took the GPU down ends the batch too, and the interrupt may be freed. */
	if (salvo_device_is_gone(sdev)) {
		drm_sched_stop(&sdev->sched, &job->base);
		salvo_reset_return_fences(sdev);
		drm_sched_start(&sdev->sched, true);
		return DRM_GPU_SCHED_STAT_NOMINAL;
	}
	disable_irq(sdev->irqs[SALVO_VECTOR_FENCE]);
	/* It may be done, and its interrupt late or lost. */
	salvo_irq_complete(sdev);
	drm_sched_stop(&sdev->sched, &job->base);
	salvo_reset_return_fences(sdev);
	if (!dma_fence_is_signaled(&job->base.s_fence->finished)) {
		drm_notice(&sdev->drm, "a batch of context %u hung, resetting the GPU\n",
			   job->ctx->hw_id);
		salvo_ctx_ban(job->ctx, &hang);
		mutex_lock(&sdev->space_lock);
		ret = salvo_reset_restart(sdev);
		mutex_unlock(&sdev->space_lock);
	}
	drm_sched_start(&sdev->sched, true);
	enable_irq(sdev->irqs[SALVO_VECTOR_FENCE]);
	if (ret) {
		drm_notice(&sdev->drm, "the reset failed: %d\n", ret);
		salvo_reset_give_up(sdev);
	}
	return DRM_GPU_SCHED_STAT_NOMINAL;
}

/**
 * salvo_reset_give_up() - The GPU is gone.
 * @sdev: The device.
 *
 * May be called again, and by who unbinds the driver.
 */
void salvo_reset_give_up(struct salvo_device *sdev)
{
	WRITE_ONCE(sdev->gone, true);
	salvo_ring_stop(sdev);
	/* It may come back to life; the memory of its packets is about to be freed. */
	salvo_mmio_set_bus_master(&sdev->mmio, false);
	WRITE_ONCE(sdev->quiet, true);
	/* Batches that the interrupt thread has taken end there, the rest here. */
	salvo_reset_fail_ring(sdev, -ENODEV);
	salvo_vm_reclaim_gone(sdev);
}

/** salvo_reset_lost_work() - The device has told that it started anew. */
void salvo_reset_lost_work(struct work_struct *work)
{
	struct salvo_device *sdev = container_of(work, struct salvo_device, lost);

	if (salvo_device_is_gone(sdev) || !salvo_mmio_is_lost(&sdev->mmio))
		return;
	drm_notice(&sdev->drm, "the GPU was lost\n");
	salvo_reset_give_up(sdev);
}

/** salvo_reset_watchdog_work() - Is the device alive? */
void salvo_reset_watchdog_work(struct work_struct *work)
{
	struct salvo_device *sdev = container_of(work, struct salvo_device, watchdog.work);
	u32 heartbeat = salvo_mmio_read_heartbeat(&sdev->mmio);

	if (salvo_device_is_gone(sdev))
		return;
	if (heartbeat != sdev->heartbeat)
		sdev->heartbeat_misses = 0;
	else
		sdev->heartbeat_misses++;
	sdev->heartbeat = heartbeat;
	if (sdev->heartbeat_misses >= SALVO_WATCHDOG_MISSES ||
	    salvo_mmio_is_lost(&sdev->mmio)) {
		drm_notice(&sdev->drm, "the GPU does not answer\n");
		salvo_reset_give_up(sdev);
		return;
	}
	queue_delayed_work(sdev->wq, &sdev->watchdog, SALVO_WATCHDOG_JIFFIES);
}

/** salvo_reset_start_watchdog() - From now on look at the heartbeat. */
void salvo_reset_start_watchdog(struct salvo_device *sdev)
{
	sdev->heartbeat = salvo_mmio_read_heartbeat(&sdev->mmio);
	queue_delayed_work(sdev->wq, &sdev->watchdog, SALVO_WATCHDOG_JIFFIES);
}
