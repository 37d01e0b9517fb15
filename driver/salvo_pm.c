// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_pm.c - system suspend and resume, and resets of the PCI function
 *
 * Suspend stops the schedulers when no batch is on a ring, then stops the GPU. Batches
 * on the rings end first, a hung one by its timeout; batches that wait for fences stay
 * in their entities until resume. VRAM keeps its contents. Resume starts the GPU and
 * the rings, and restores all address spaces. Slots are detached and attached again.
 *
 * A reset of the PCI function (/sys/bus/pci/devices/.../reset) is handled like a suspend and
 * a resume around it, so that no batch is lost, except for batches that do not end in
 * time: these fail with ECANCELED. Meanwhile the BARs cannot be accessed: CPU mappings are
 * zapped, and page faults and the zeroing of VRAM wait for sdev->aperture_lock.
 *
 * The schedulers are stopped by work on the ordered sdev->wq, since a reset of the GPU stops
 * and starts them there. The same work sets sdev->suspended, so that what runs on sdev->wq
 * after it neither starts them again nor resets the GPU. Resume clears it at its end. The PM
 * core serializes suspend and resume, and the PCI core holds the device lock around a reset.
 */
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/pci.h>

#include "salvo_device.h"
#include "salvo_pm.h"
#include "salvo_reset.h"
#include "salvo_ring.h"
#include "salvo_sched.h"
#include "salvo_slot.h"
#include "salvo_vm.h"
#include "salvo_watchdog.h"

/* Suspend waits for this long: more than a hung batch takes to be found and killed. */
#define SALVO_PM_WAIT_JIFFIES	(10 * HZ)
#define SALVO_PM_POLL_MS	10

/**
 * struct salvo_pm_attempt - An attempt to stop the schedulers.
 */
struct salvo_pm_attempt {
	/** @work: Runs on sdev->wq. */
	struct work_struct work;
	/** @sdev: The device. */
	struct salvo_dev *sdev;
	/** @force: Stop them even if a batch is on a ring. */
	bool force;
	/** @stopped: The schedulers are stopped. */
	bool stopped;
};

static void salvo_pm_attempt_work(struct work_struct *work)
{
	struct salvo_pm_attempt *attempt = container_of(work, struct salvo_pm_attempt, work);
	struct salvo_dev *sdev = attempt->sdev;

	salvo_sched_stop_all(sdev);
	/* Those of a lost GPU have failed. */
	attempt->stopped = attempt->force || salvo_device_is_gone(sdev) ||
			   salvo_ring_all_idle(sdev);
	WRITE_ONCE(sdev->suspended, attempt->stopped);
	if (!attempt->stopped)
		salvo_sched_start_all(sdev);
}

/* Returns whether the schedulers are stopped. */
static bool salvo_pm_stop_schedulers(struct salvo_dev *sdev, bool force)
{
	const unsigned long deadline = jiffies + SALVO_PM_WAIT_JIFFIES;
	struct salvo_pm_attempt attempt = { .sdev = sdev, .force = force };

	INIT_WORK_ONSTACK(&attempt.work, salvo_pm_attempt_work);
	for (;;) {
		queue_work(sdev->wq, &attempt.work);
		flush_work(&attempt.work);
		if (attempt.stopped || time_after(jiffies, deadline))
			break;
		msleep(SALVO_PM_POLL_MS);
	}
	destroy_work_on_stack(&attempt.work);
	return attempt.stopped;
}

/* Wait for the batches on the rings, to which none is added: the schedulers are stopped. */
static void salvo_pm_drain(struct salvo_dev *sdev)
{
	const unsigned long deadline = jiffies + SALVO_PM_WAIT_JIFFIES;

	while (!salvo_device_is_gone(sdev) && !salvo_ring_all_idle(sdev) &&
	       !time_after(jiffies, deadline))
		msleep(SALVO_PM_POLL_MS);
}

/* Stop the GPU, unless it was lost meanwhile. The schedulers are stopped. */
static void salvo_pm_stop(struct salvo_dev *sdev)
{
	cancel_delayed_work_sync(&sdev->reclaim);
	cancel_delayed_work_sync(&sdev->watchdog);
	salvo_ring_stop_all(sdev);
	if (salvo_device_is_gone(sdev))
		return;
	if (salvo_device_stop_hw(sdev))
		drm_notice(&sdev->drm, "the GPU does not answer\n");
}

static void salvo_pm_unpause(struct salvo_dev *sdev)
{
	mutex_lock(&sdev->space_lock);
	salvo_slot_resume_all(sdev, false);
	mutex_unlock(&sdev->space_lock);
}

static void salvo_pm_drop_slots(struct salvo_dev *sdev)
{
	mutex_lock(&sdev->space_lock);
	salvo_slot_drop_all(sdev);
	mutex_unlock(&sdev->space_lock);
}

/**
 * salvo_pm_suspend() - Stop the GPU for a system suspend.
 * @sdev: The device.
 *
 * Return: 0, or -EBUSY if a batch did not end.
 */
int salvo_pm_suspend(struct salvo_dev *sdev)
{
	if (salvo_device_is_gone(sdev))
		return 0;
	if (!salvo_slot_pause_all(sdev) || !salvo_pm_stop_schedulers(sdev, false)) {
		salvo_pm_unpause(sdev);
		return salvo_refuse(sdev, -EBUSY, "batches on a ring do not end");
	}
	salvo_pm_stop(sdev);
	return 0;
}

static int salvo_pm_restart(struct salvo_dev *sdev)
{
	int ret;

	/*
	 * While bus mastering was off, the "device lost" interrupt could not arrive, so
	 * check for another generation of the GPU process here.
	 */
	ret = salvo_device_start_hw(sdev) ?:
	      salvo_refuse_if(sdev, salvo_mmio_is_lost(&sdev->mmio), -ENODEV,
			      "the GPU process was replaced");
	if (ret)
		return ret;
	mutex_lock(&sdev->space_lock);
	ret = salvo_ring_start_all(sdev) ?: salvo_vm_restore(sdev) ?:
	      salvo_slot_resume_all(sdev, true);
	mutex_unlock(&sdev->space_lock);
	return ret;
}

/**
 * salvo_pm_resume() - Start the GPU after a system suspend, and restore its state.
 * @sdev: The device.
 *
 * Return: 0, or a negative errno; then the device is wedged.
 */
int salvo_pm_resume(struct salvo_dev *sdev)
{
	int ret;

	if (!sdev->suspended)
		return 0;
	/* Queued batches of a device that is gone fail when the schedulers run. */
	ret = salvo_device_is_gone(sdev) ? -ENODEV : salvo_pm_restart(sdev);
	if (ret)
		salvo_reset_declare_wedged(sdev);
	salvo_sched_start_all(sdev);
	WRITE_ONCE(sdev->suspended, false);
	if (!ret)
		salvo_watchdog_start(sdev);
	mod_delayed_work(sdev->wq, &sdev->reclaim, 0);
	return ret;
}

/**
 * salvo_pm_reset_prepare() - Stop the GPU before its PCI function is reset.
 * @sdev: The device.
 *
 * Batches on the rings end first, or fail if they do not.
 */
void salvo_pm_reset_prepare(struct salvo_dev *sdev)
{
	bool paused, stopped;

	if (!salvo_device_is_gone(sdev)) {
		paused = salvo_slot_pause_all(sdev);
		/* Hung batches are found meanwhile, but a busy ring may never be seen idle. */
		stopped = salvo_pm_stop_schedulers(sdev, false);
		if (!stopped) {
			salvo_pm_stop_schedulers(sdev, true);
			salvo_pm_drain(sdev);
		}
		salvo_pm_stop(sdev);
		/* A task that is cut off must not run again. */
		if (!paused || !stopped)
			salvo_pm_drop_slots(sdev);
		if (salvo_reset_fail_rings(sdev, -ECANCELED))
			atomic64_inc(&sdev->resets);
	}
	down_write(&sdev->aperture_lock);
	unmap_mapping_range(sdev->drm.anon_inode->i_mapping, 0, 0, 1);
}

/**
 * salvo_pm_reset_done() - Start the GPU after its PCI function was reset.
 * @sdev: The device.
 */
void salvo_pm_reset_done(struct salvo_dev *sdev)
{
	up_write(&sdev->aperture_lock);
	salvo_pm_resume(sdev);
}
