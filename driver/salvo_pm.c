// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_pm.c - system suspend and resume
 *
 * Suspend parks the schedulers when no batch is on a ring, then stops the GPU. Batches
 * on the rings end first, a hung one by its timeout; batches that wait for fences stay
 * in their entities until resume. VRAM keeps its contents. Resume starts the GPU and
 * the rings, and restores all address spaces.
 *
 * The schedulers are parked by work on the ordered sdev->wq, since a reset stops and
 * starts them there. sdev->parked belongs to suspend and resume, which the PM core
 * serializes.
 */
#include <linux/delay.h>
#include <linux/pci.h>

#include "salvo_device.h"
#include "salvo_pm.h"
#include "salvo_reset.h"
#include "salvo_ring.h"
#include "salvo_sched.h"
#include "salvo_vm.h"
#include "salvo_watchdog.h"

/* Suspend waits for this long: more than a hung batch takes to be found and killed. */
#define SALVO_PM_POLL_MS	10
#define SALVO_PM_POLLS		1000

/**
 * struct salvo_pm_park - An attempt to park the schedulers.
 */
struct salvo_pm_park {
	/** @work: Runs on sdev->wq. */
	struct work_struct work;
	/** @sdev: The device. */
	struct salvo_dev *sdev;
	/** @parked: No batch was on a ring: the schedulers are parked. */
	bool parked;
};

static void salvo_pm_park_work(struct work_struct *work)
{
	struct salvo_pm_park *park = container_of(work, struct salvo_pm_park, work);
	struct salvo_dev *sdev = park->sdev;

	salvo_sched_park_all(sdev);
	park->parked = salvo_ring_all_idle(sdev);
	if (!park->parked)
		salvo_sched_unpark_all(sdev);
}

/**
 * salvo_pm_suspend() - Stop the GPU for a system suspend.
 * @sdev: The device.
 *
 * Return: 0, or -EBUSY if a batch did not end.
 */
int salvo_pm_suspend(struct salvo_dev *sdev)
{
	struct salvo_pm_park park = { .sdev = sdev };
	unsigned int polls;

	if (salvo_device_is_gone(sdev))
		return 0;
	INIT_WORK_ONSTACK(&park.work, salvo_pm_park_work);
	for (polls = 0; polls < SALVO_PM_POLLS && !park.parked; polls++) {
		if (polls)
			msleep(SALVO_PM_POLL_MS);
		queue_work(sdev->wq, &park.work);
		flush_work(&park.work);
	}
	destroy_work_on_stack(&park.work);
	if (!park.parked)
		return salvo_refuse(sdev, -EBUSY, "a batch on a ring does not end");
	sdev->parked = true;
	cancel_delayed_work_sync(&sdev->reclaim);
	cancel_delayed_work_sync(&sdev->watchdog);
	salvo_ring_stop_all(sdev);
	if (salvo_device_stop_hw(sdev))
		drm_notice(&sdev->drm, "the GPU does not answer\n");
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
	ret = salvo_ring_start_all(sdev) ?: salvo_vm_restore(sdev);
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

	if (!sdev->parked)
		return 0;
	sdev->parked = false;
	/* Queued batches of a device that is gone fail when the schedulers run. */
	ret = salvo_device_is_gone(sdev) ? -ENODEV : salvo_pm_restart(sdev);
	if (ret)
		salvo_reset_declare_wedged(sdev);
	else
		salvo_watchdog_start(sdev);
	salvo_sched_unpark_all(sdev);
	mod_delayed_work(sdev->wq, &sdev->reclaim, 0);
	return ret;
}
