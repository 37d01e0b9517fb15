// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_device.c - one GPU: the only owner of the order of bring-up and teardown
 *
 * salvo_device_init() brings up in this order, and salvo_device_fini() takes down
 * in the reverse one: VRAM and spaces, the dump, the workqueue, BARs, a reset of the
 * device, the rings, interrupts, the schedulers, the rings' start.
 *
 * The structure outlives the binding of the driver: files that are still open
 * keep it. What they find is a device that is gone: every ioctl fails, mappings
 * show a page that means nothing, and closing frees memory without telling a GPU. Between the two
 * stands salvo_device_fini(): when it returns there are no batches, no work, no
 * interrupt and no DMA memory left.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/pci.h>

#include <drm/drm_drv.h>
#include <drm/drm_managed.h>

#include "salvo_device.h"
#include "salvo_gem.h"
#include "salvo_irq.h"
#include "salvo_prime.h"
#include "salvo_reset.h"
#include "salvo_ring.h"
#include "salvo_sched.h"
#include "salvo_vm.h"
#include "salvo_vram.h"
#include "salvo_watchdog.h"

/* How long a suspend waits for batches: longer than one takes to be found hung and killed. */
#define SALVO_SUSPEND_LOOK_MS	10
#define SALVO_SUSPEND_LOOKS	1000

/* The last reference to the device is gone, and with it every file and buffer. */
static void salvo_device_release(struct drm_device *drm, void *unused)
{
	struct salvo_dev *sdev = to_salvo(drm);
	struct salvo_ring *ring;

	salvo_for_each_ring(sdev, ring)
		salvo_sched_put(ring->sched);
	salvo_vram_fini(sdev);
	salvo_gem_fini_list(sdev);
	ida_destroy(&sdev->hw_ctxs);
	xa_destroy(&sdev->asids);
	mutex_destroy(&sdev->space_lock);
}

static int salvo_device_init_software(struct salvo_dev *sdev)
{
	atomic_set(&sdev->jobs, 0);
	init_waitqueue_head(&sdev->jobs_idle);
	init_waitqueue_head(&sdev->progress);
	mutex_init(&sdev->space_lock);
	INIT_LIST_HEAD(&sdev->spaces);
	xa_init_flags(&sdev->asids, XA_FLAGS_ALLOC1);
	ida_init(&sdev->hw_ctxs);
	INIT_DELAYED_WORK(&sdev->reclaim, salvo_vm_reclaim_work);
	INIT_DELAYED_WORK(&sdev->watchdog, salvo_watchdog_work);
	INIT_WORK(&sdev->lost, salvo_reset_lost_work);
	INIT_WORK(&sdev->forced_reset, salvo_reset_forced_work);
	INIT_WORK(&sdev->wedged, salvo_reset_wedged_work);
	salvo_gem_init_list(sdev);
	salvo_vram_init(sdev);
	return drmm_add_action_or_reset(&sdev->drm, salvo_device_release, NULL);
}

static int salvo_device_init_pci(struct salvo_dev *sdev, struct pci_dev *pdev)
{
	int ret;

	/* With one CPU the kernel patches its barriers out, but the GPU is another. */
	ret = salvo_check(sdev, num_possible_cpus() >= 2, -ENODEV);
	if (ret)
		return ret;
	ret = pcim_enable_device(pdev);
	if (ret)
		return ret;
	ret = salvo_mmio_init(sdev, pdev);
	if (ret)
		return ret;
	/* Runs of imported pages may be as long as memory. */
	return dma_set_max_seg_size(&pdev->dev, UINT_MAX) ?:
	       dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
}

static int salvo_device_start_hw(struct salvo_dev *sdev, struct pci_dev *pdev)
{
	int ret;

	salvo_mmio_set_bus_master(&sdev->mmio, true);
	ret = salvo_mmio_reset(&sdev->mmio);
	if (ret) {
		dev_err(&pdev->dev, "the GPU does not answer: %d\n", ret);
		return -ENODEV;
	}
	pci_set_master(pdev);
	return 0;
}

/* Returns 0 if the device makes no more access to system memory. */
static int salvo_device_stop_hw(struct salvo_dev *sdev, struct pci_dev *pdev)
{
	int ret = salvo_mmio_reset(&sdev->mmio);

	salvo_mmio_set_bus_master(&sdev->mmio, false);
	pci_clear_master(pdev);
	return ret;
}

/**
 * salvo_device_init() - Bring up the GPU.
 * @sdev: Zeroed, but for @sdev->drm.
 * @pdev: Its function.
 *
 * Return: 0, or -ENODEV (not a GPU that we can drive) and others, with everything undone.
 */
int salvo_device_init(struct salvo_dev *sdev, struct pci_dev *pdev)
{
	int ret;

	ret = salvo_device_init_pci(sdev, pdev);
	if (ret)
		return ret;
	ret = salvo_device_init_software(sdev);
	if (ret)
		return ret;
	ret = salvo_coredump_init(sdev);
	if (ret)
		return ret;
	/* Fences depend on the timeout handler, and memory reclaim may on fences. */
	sdev->wq = alloc_ordered_workqueue("salvo", WQ_MEM_RECLAIM);
	if (!sdev->wq) {
		ret = -ENOMEM;
		goto err_dump_fini;
	}
	ret = salvo_device_start_hw(sdev, pdev);
	if (ret)
		goto err_stop_hw;
	ret = salvo_ring_init_all(sdev);
	if (ret)
		goto err_stop_hw;
	ret = salvo_irq_init(sdev, pdev);
	if (ret)
		goto err_ring_fini;
	ret = salvo_sched_init_all(sdev);
	if (ret)
		goto err_irq_fini;
	ret = salvo_ring_start_all(sdev);
	if (ret)
		goto err_sched_fini;
	salvo_watchdog_start(sdev);
	return 0;

err_sched_fini:
	salvo_sched_fini_all(sdev);
err_irq_fini:
	salvo_irq_fini(sdev, pdev);
	/* The GPU may have been lost in between. */
	cancel_work_sync(&sdev->lost);
	cancel_work_sync(&sdev->wedged);
err_ring_fini:
	salvo_ring_fini_all(sdev);
err_stop_hw:
	salvo_device_stop_hw(sdev, pdev);
	destroy_workqueue(sdev->wq);
err_dump_fini:
	salvo_coredump_fini(sdev);
	return ret;
}

/**
 * salvo_device_fini() - Take the GPU down; files may still be open.
 * @sdev: The device, unplugged from DRM: no ioctl is in a critical section.
 */
void salvo_device_fini(struct salvo_dev *sdev)
{
	struct pci_dev *pdev = to_pci_dev(sdev->drm.dev);

	WRITE_ONCE(sdev->gone, true);
	cancel_delayed_work_sync(&sdev->watchdog);
	cancel_delayed_work_sync(&sdev->reclaim);
	/* A reset under way uses the interrupt and starts the ring again. */
	flush_workqueue(sdev->wq);
	salvo_ring_stop_all(sdev);
	if (salvo_device_stop_hw(sdev, pdev))
		drm_notice(&sdev->drm, "the GPU does not answer\n");
	salvo_irq_fini(sdev, pdev);
	cancel_work_sync(&sdev->lost);
	flush_workqueue(sdev->wq);

	/* What is on the ring fails here, what is queued when its turn comes. */
	salvo_reset_give_up(sdev);
	wait_event(sdev->jobs_idle, !atomic_read(&sdev->jobs));
	salvo_sched_fini_all(sdev);
	destroy_workqueue(sdev->wq);
	cancel_work_sync(&sdev->wedged);
	salvo_coredump_fini(sdev);
	salvo_vm_reclaim_gone(sdev);
	salvo_vm_detach_all(sdev);
	salvo_prime_detach_all(sdev);
	salvo_ring_fini_all(sdev);
}

/**
 * salvo_device_shutdown() - The machine goes down or starts another kernel: stop all DMA.
 * @sdev: The device.
 */
void salvo_device_shutdown(struct salvo_dev *sdev)
{
	WRITE_ONCE(sdev->gone, true);
	salvo_ring_stop_all(sdev);
	salvo_device_stop_hw(sdev, to_pci_dev(sdev->drm.dev));
}

/* --- suspend and resume ------------------------------------------------------ */

/**
 * struct salvo_suspend - An attempt to suspend.
 */
struct salvo_suspend {
	/** @work: Runs on the device's queue, so that nobody else stops the schedulers. */
	struct work_struct work;
	/** @sdev: The device. */
	struct salvo_dev *sdev;
	/** @idle: No batch was under way: the schedulers are parked. */
	bool idle;
};

static void salvo_device_suspend_work(struct work_struct *work)
{
	struct salvo_suspend *suspend = container_of(work, struct salvo_suspend, work);
	struct salvo_dev *sdev = suspend->sdev;

	salvo_sched_park_all(sdev);
	suspend->idle = salvo_ring_all_idle(sdev);
	if (!suspend->idle)
		salvo_sched_unpark_all(sdev);
}

/**
 * salvo_device_suspend() - The system goes to sleep: stop the GPU; VRAM keeps what it holds.
 * @sdev: The device.
 *
 * Batches on the rings end, be it as they hang; those that wait for fences stay in
 * the schedulers until salvo_device_resume().
 *
 * Return: 0, or -EBUSY if a batch did not end.
 */
int salvo_device_suspend(struct salvo_dev *sdev)
{
	struct salvo_suspend suspend = { .sdev = sdev };
	unsigned int looks;

	if (salvo_device_is_gone(sdev))
		return 0;
	INIT_WORK_ONSTACK(&suspend.work, salvo_device_suspend_work);
	for (looks = 0; looks < SALVO_SUSPEND_LOOKS && !suspend.idle; looks++) {
		if (looks)
			msleep(SALVO_SUSPEND_LOOK_MS);
		queue_work(sdev->wq, &suspend.work);
		flush_work(&suspend.work);
	}
	destroy_work_on_stack(&suspend.work);
	if (!suspend.idle)
		return salvo_refuse(sdev, -EBUSY, "all batches on the rings end");
	sdev->parked = true;
	cancel_delayed_work_sync(&sdev->reclaim);
	cancel_delayed_work_sync(&sdev->watchdog);
	salvo_ring_stop_all(sdev);
	if (salvo_device_stop_hw(sdev, to_pci_dev(sdev->drm.dev)))
		drm_notice(&sdev->drm, "the GPU does not answer\n");
	return 0;
}

static int salvo_device_restart(struct salvo_dev *sdev)
{
	int ret;

	/* Without bus mastering nobody could tell us of a new worker; now it has answered. */
	ret = salvo_device_start_hw(sdev, to_pci_dev(sdev->drm.dev)) ?:
	      salvo_check(sdev, !salvo_mmio_is_lost(&sdev->mmio), -ENODEV);
	if (ret)
		return ret;
	mutex_lock(&sdev->space_lock);
	ret = salvo_ring_start_all(sdev) ?: salvo_vm_restore(sdev);
	mutex_unlock(&sdev->space_lock);
	return ret;
}

/**
 * salvo_device_resume() - The system wakes up: the GPU is told what it knew, batches go on.
 * @sdev: The device.
 *
 * Return: 0, or -ENODEV and others: then the GPU has been given up.
 */
int salvo_device_resume(struct salvo_dev *sdev)
{
	int ret;

	if (!sdev->parked)
		return 0;
	sdev->parked = false;
	/* If it was lost meanwhile, its batches end when the schedulers run. */
	ret = salvo_device_is_gone(sdev) ? -ENODEV : salvo_device_restart(sdev);
	if (ret)
		salvo_reset_lose(sdev);
	else
		salvo_watchdog_start(sdev);
	salvo_sched_unpark_all(sdev);
	mod_delayed_work(sdev->wq, &sdev->reclaim, 0);
	return ret;
}
