// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_reset.c - hung batches and a lost GPU
 *
 * A batch that stays at the head of the ring for too long is taken for hung. The
 * scheduler is stopped, a dump taken, the guilty context banned, and the GPU asked
 * to kill that context alone: its batches fail with ECANCELED, all others on the ring
 * go on, and the scheduler starts again. Nothing is run a second time.
 *
 * Guilty is whose batch the units work for, as far as they tell. If that is not the
 * one at the head, which waits for them, the units get more time, until one has not
 * moved from one timeout to the next.
 *
 * Only if the GPU does not carry out the kill it is reset by the handshake: then
 * every batch on the ring fails with ECANCELED, the ring starts empty and the
 * device is told of all address spaces again. Root can have that for a test, by writing
 * to salvo_reset in debugfs.
 *
 * A GPU that does not answer the handshake, whose heartbeat stops or that comes
 * back as another generation is given up: sdev->gone is set for good, batches on
 * the ring fail with ENODEV, and so does everything after them. User space is told
 * by a uevent that binding the driver again helps.
 *
 * All of this runs on the ordered sdev->wq, or when that is drained. The fence
 * interrupt is off while batches are taken from the ring. Nothing allocates, since
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

/* Looks, and how many may go by without a heartbeat: together less than a second. */
#define SALVO_WATCHDOG_JIFFIES	max(1, HZ / 5)
#define SALVO_WATCHDOG_MISSES	4
/* Timeouts of one batch that units may use up for others, as long as they move. */
#define SALVO_RESET_PATIENCE	5

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

static int salvo_reset_all(struct salvo_device *sdev)
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
	struct salvo_device *sdev = container_of(work, struct salvo_device, wedged);
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
void salvo_reset_give_up(struct salvo_device *sdev)
{
	bool signalling = dma_fence_begin_signalling();

	WRITE_ONCE(sdev->gone, true);
	salvo_ring_stop(sdev);
	/* It may come back to life; the memory of its packets is about to be freed. */
	salvo_mmio_set_bus_master(&sdev->mmio, false);
	WRITE_ONCE(sdev->wild, !salvo_mmio_is_stopped(&sdev->mmio));
	WRITE_ONCE(sdev->quiet, true);
	/* Batches that the interrupt thread has taken end there, the rest here. */
	salvo_reset_fail_ring(sdev, -ENODEV);
	salvo_vm_reclaim_gone(sdev);
	dma_fence_end_signalling(signalling);
}

/** salvo_reset_lose() - The GPU is gone though the driver is bound. */
void salvo_reset_lose(struct salvo_device *sdev)
{
	salvo_reset_give_up(sdev);
	queue_work(system_unbound_wq, &sdev->wedged);
}

/*
 * drm_sched_stop() took the hardware fences from the batches that it left on its
 * list, and drm_sched_start() takes a batch without one for done. Those that are
 * still on the ring are not.
 */
static void salvo_reset_return_fences(struct salvo_device *sdev)
{
	struct drm_sched_job *base;

	list_for_each_entry(base, &sdev->sched->base.pending_list, list)
		if (!base->s_fence->parent)
			base->s_fence->parent = dma_fence_get(&to_salvo_job(base)->fence->base);
}

/* Returns the batch that is to blame, or NULL if the units get more time. */
static struct salvo_job *salvo_reset_find_guilty(struct salvo_device *sdev, struct salvo_job *head)
{
	struct salvo_stuck *stuck = &sdev->stuck;
	u64 seqno = head->fence->seqno;
	bool again = stuck->seqno == seqno, busy = false;
	struct salvo_job *guilty = NULL;
	unsigned int i;

	stuck->looks = again ? stuck->looks + 1 : 0;
	stuck->seqno = seqno;
	for (i = 0; i < sdev->mmio.units; i++) {
		struct salvo_unit_regs *was = &stuck->units[i], now;

		salvo_mmio_read_unit(&sdev->mmio, i, &now);
		if (now.state == SALVO_UNIT_BUSY) {
			if (now.seqno == seqno)
				return head;
			busy = true;
			if (again && !guilty && !memcmp(was, &now, sizeof(now)))
				guilty = salvo_ring_find(sdev, now.seqno);
		}
		*was = now;
	}
	if (!busy || (!guilty && stuck->looks >= SALVO_RESET_PATIENCE))
		return head;
	return guilty;
}

/* Ends the guilty batch's context; @head must be done then if that is the one. */
static int salvo_reset_kill(struct salvo_device *sdev, struct salvo_job *guilty,
			    struct salvo_job *head)
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
	salvo_dump_capture(sdev, guilty, "a batch hung");
	salvo_ctx_ban(ctx, &hang);
	if (!salvo_mmio_kill(&sdev->mmio, ctx->hw_id)) {
		atomic64_inc(&sdev->kills);
		salvo_irq_complete(sdev);
		if (guilty != head || dma_fence_is_signaled(&head->fence->base))
			return 0;
	}
	drm_notice(&sdev->drm, "context %u was not killed, resetting the GPU\n", ctx->hw_id);
	return salvo_reset_all(sdev);
}

/* Stops everything; @bad is out of the scheduler's list, or NULL. */
static void salvo_reset_begin(struct salvo_device *sdev, struct drm_sched_job *bad)
{
	disable_irq(sdev->irqs[SALVO_VECTOR_FENCE]);
	/* What is done is done, though its interrupt may be late or lost. */
	salvo_irq_complete(sdev);
	drm_sched_stop(&sdev->sched->base, bad);
	salvo_reset_return_fences(sdev);
}

static void salvo_reset_end(struct salvo_device *sdev, int ret)
{
	drm_sched_start(&sdev->sched->base, true);
	enable_irq(sdev->irqs[SALVO_VECTOR_FENCE]);
	if (ret) {
		drm_notice(&sdev->drm, "the reset failed: %d\n", ret);
		salvo_reset_lose(sdev);
	}
}

static void salvo_reset_hung(struct salvo_job *job)
{
	struct salvo_device *sdev = job->ctx->vm->sdev;
	struct salvo_job *guilty;
	int ret = 0;

	/* Who took the GPU down ends the batch too, and the interrupt may be freed. */
	if (salvo_device_is_gone(sdev)) {
		drm_sched_stop(&sdev->sched->base, &job->base);
		salvo_reset_return_fences(sdev);
		drm_sched_start(&sdev->sched->base, true);
		return;
	}
	salvo_reset_begin(sdev, &job->base);
	if (!dma_fence_is_signaled(&job->base.s_fence->finished)) {
		guilty = salvo_reset_find_guilty(sdev, job);
		if (guilty)
			ret = salvo_reset_kill(sdev, guilty, job);
	}
	salvo_reset_end(sdev, ret);
}

/**
 * salvo_reset_timeout() - The scheduler's oldest batch took too long.
 * @job: The batch; out of the scheduler's list until the scheduler is stopped.
 */
enum drm_gpu_sched_stat salvo_reset_timeout(struct salvo_job *job)
{
	bool signalling = dma_fence_begin_signalling();

	salvo_reset_hung(job);
	dma_fence_end_signalling(signalling);
	return DRM_GPU_SCHED_STAT_NOMINAL;
}

/** salvo_reset_forced_work() - Root asks for a reset, to see that all goes on after it. */
void salvo_reset_forced_work(struct work_struct *work)
{
	struct salvo_device *sdev = container_of(work, struct salvo_device, forced_reset);
	bool signalling;
	int ret;

	if (salvo_device_is_gone(sdev))
		return;
	drm_notice(&sdev->drm, "a reset was asked for\n");
	signalling = dma_fence_begin_signalling();
	salvo_reset_begin(sdev, NULL);
	ret = salvo_reset_all(sdev);
	salvo_reset_end(sdev, ret);
	dma_fence_end_signalling(signalling);
}

/** salvo_reset_lost_work() - The device has told that it started anew. */
void salvo_reset_lost_work(struct work_struct *work)
{
	struct salvo_device *sdev = container_of(work, struct salvo_device, lost);

	if (salvo_device_is_gone(sdev) || !salvo_mmio_is_lost(&sdev->mmio))
		return;
	drm_notice(&sdev->drm, "the GPU was lost\n");
	salvo_dump_capture(sdev, NULL, "the GPU was lost");
	salvo_reset_lose(sdev);
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
		salvo_dump_capture(sdev, NULL, "the GPU does not answer");
		salvo_reset_lose(sdev);
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
