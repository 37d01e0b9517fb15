// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_reset.c - hung batches and a lost GPU
 *
 * When salvo_watchdog.c has found that a batch hangs, the
 * schedulers are stopped, a dump taken, the guilty context banned, and the GPU asked
 * to kill that context alone: its batches fail with ECANCELED, all others on the rings
 * go on, and the schedulers start again. Nothing is run a second time.
 *
 * Only if the GPU does not carry out the kill it is reset by the handshake: then
 * every batch on the rings fails with ECANCELED, the rings start empty and the
 * device is told of all address spaces again. Root can have that for a test, by writing
 * to salvo_reset in debugfs.
 *
 * A GPU that does not answer the handshake, whose heartbeat stops or that comes
 * back as another generation is given up: sdev->gone is set for good, batches on
 * the rings fail with ENODEV, and so does everything after them. User space is told
 * by a uevent that binding the driver again helps.
 *
 * All of this runs on the ordered sdev->wq, or when that is drained. The fence
 * interrupt is off while batches are taken from the rings. Nothing allocates, since
 * memory reclaim may wait for the fences that are signalled here: lockdep is told, by
 * dma_fence_begin_signalling(), and sees to it.
 */
#include <linux/interrupt.h>
#include <linux/kobject.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>

#include "salvo_ctx.h"
#include "salvo_device.h"
#include "salvo_fence.h"
#include "salvo_irq.h"
#include "salvo_reset.h"
#include "salvo_ring.h"
#include "salvo_sched.h"
#include "salvo_vm.h"

static void salvo_reset_fail_rings(struct salvo_dev *sdev, int error)
{
	u64 resets = atomic64_read(&sdev->resets) + 1;
	struct salvo_hw_fence *fence;

	salvo_ring_abandon_all(sdev);
	while ((fence = salvo_ring_next_done(sdev))) {
		salvo_ctx_note_reset(fence->job->ctx, resets);
		salvo_job_complete(fence->job, error);
	}
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
	return salvo_ring_start_all(sdev) ?: salvo_vm_restore(sdev);
}

static int salvo_reset_all(struct salvo_dev *sdev)
{
	int ret;

	mutex_lock(&sdev->space_lock);
	ret = salvo_reset_restart(sdev);
	mutex_unlock(&sdev->space_lock);
	return ret;
}

/**
 * salvo_reset_wedged_work() - Tell user space to bind the driver again.
 * @work: Of the device.
 *
 * With the variable that drm_dev_wedged_event() of later kernels has. On a queue of
 * its own, for it allocates.
 */
void salvo_reset_wedged_work(struct work_struct *work)
{
	struct salvo_dev *sdev = container_of(work, struct salvo_dev, wedged);
	char *env[2] = { "WEDGED=rebind" };
	int idx;

	if (!drm_dev_enter(&sdev->drm, &idx))
		return;
	kobject_uevent_env(&sdev->drm.render->kdev->kobj, KOBJ_CHANGE, env);
	drm_dev_exit(idx);
}

/**
 * salvo_reset_give_up() - The GPU is gone.
 * @sdev: The device.
 *
 * May be called again, and by who unbinds the driver.
 */
void salvo_reset_give_up(struct salvo_dev *sdev)
{
	bool signalling = dma_fence_begin_signalling();

	WRITE_ONCE(sdev->gone, true);
	salvo_ring_stop_all(sdev);
	/* It may come back to life; the memory of its packets is about to be freed. */
	salvo_mmio_set_bus_master(&sdev->mmio, false);
	WRITE_ONCE(sdev->wild, !salvo_mmio_is_stopped(&sdev->mmio));
	WRITE_ONCE(sdev->quiet, true);
	/* Batches that the interrupt thread has taken end there, the rest here. */
	salvo_reset_fail_rings(sdev, -ENODEV);
	salvo_vm_reclaim_gone(sdev);
	dma_fence_end_signalling(signalling);
}

/** salvo_reset_lose() - The GPU is gone though the driver is bound. */
void salvo_reset_lose(struct salvo_dev *sdev)
{
	salvo_reset_give_up(sdev);
	queue_work(system_unbound_wq, &sdev->wedged);
}

/* Ends the guilty batch's context. Others on the ring wait for the oldest to be done. */
static int salvo_reset_kill(struct salvo_dev *sdev, struct salvo_job *guilty)
{
	const struct drm_salvo_fault hang = {
		.kind = DRM_SALVO_FAULT_HANG,
		.batch = guilty->number,
		.command = ~0u,
		.item = ~0u,
	};
	struct salvo_ctx *ctx = guilty->ctx;

	drm_notice(&sdev->drm, "a batch of context %u of %s[%d] hung, killing the context\n",
		   ctx->hw_id, ctx->vm->comm, ctx->vm->pid);
	salvo_coredump_capture(sdev, guilty, "a batch hung");
	salvo_ctx_ban(ctx, &hang);
	if (!salvo_mmio_kill(&sdev->mmio, ctx->hw_id)) {
		atomic64_inc(&sdev->kills);
		salvo_irq_complete(sdev);
		if (!salvo_ring_is_oldest(guilty))
			return 0;
	}
	drm_notice(&sdev->drm, "context %u was not killed, resetting the GPU\n", ctx->hw_id);
	return salvo_reset_all(sdev);
}

static void salvo_reset_begin(struct salvo_dev *sdev)
{
	disable_irq(sdev->irqs[SALVO_VECTOR_FENCE]);
	/* What is done is done, though its interrupt may be late or lost. */
	salvo_irq_complete(sdev);
	salvo_sched_stop_all(sdev);
}

static void salvo_reset_end(struct salvo_dev *sdev, int ret)
{
	salvo_sched_start_all(sdev);
	enable_irq(sdev->irqs[SALVO_VECTOR_FENCE]);
	if (ret) {
		drm_notice(&sdev->drm, "the reset failed: %d\n", ret);
		salvo_reset_lose(sdev);
	}
}

/**
 * salvo_reset_hung() - A batch was seen to hang: end its context.
 * @sdev: The device.
 * @guilty: The batch; by now it may have ended.
 */
void salvo_reset_hung(struct salvo_dev *sdev, const struct salvo_hang *guilty)
{
	bool signalling = dma_fence_begin_signalling();
	struct salvo_job *job;
	int ret = 0;

	salvo_reset_begin(sdev);
	job = salvo_ring_find(sdev, guilty->ctx, guilty->seqno);
	if (job)
		ret = salvo_reset_kill(sdev, job);
	salvo_reset_end(sdev, ret);
	dma_fence_end_signalling(signalling);
}

/** salvo_reset_forced_work() - Root asks for a reset, to see that all goes on after it. */
void salvo_reset_forced_work(struct work_struct *work)
{
	struct salvo_dev *sdev = container_of(work, struct salvo_dev, forced_reset);
	bool signalling;
	int ret;

	if (salvo_device_is_gone(sdev))
		return;
	drm_notice(&sdev->drm, "a reset was asked for\n");
	signalling = dma_fence_begin_signalling();
	salvo_reset_begin(sdev);
	ret = salvo_reset_all(sdev);
	salvo_reset_end(sdev, ret);
	dma_fence_end_signalling(signalling);
}

/** salvo_reset_lost_work() - The device has told that it started anew. */
void salvo_reset_lost_work(struct work_struct *work)
{
	struct salvo_dev *sdev = container_of(work, struct salvo_dev, lost);

	if (salvo_device_is_gone(sdev) || !salvo_mmio_is_lost(&sdev->mmio))
		return;
	drm_notice(&sdev->drm, "the GPU was lost\n");
	salvo_coredump_capture(sdev, NULL, "the GPU was lost");
	salvo_reset_lose(sdev);
}

/** salvo_reset_silent() - The device does not answer any more. */
void salvo_reset_silent(struct salvo_dev *sdev)
{
	drm_notice(&sdev->drm, "the GPU does not answer\n");
	salvo_coredump_capture(sdev, NULL, "the GPU does not answer");
	salvo_reset_lose(sdev);
}
