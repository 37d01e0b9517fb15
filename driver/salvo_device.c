// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_device.c - one GPU: the order of bring-up and teardown
 *
 * salvo_device_init() brings up, in this order: BARs, VRAM and address spaces, the
 * dump, the workqueue, the hardware, the rings, interrupts, the schedulers, the rings'
 * start. salvo_device_fini() tears down in the reverse order.
 *
 * struct salvo_dev outlives the driver's binding, since open files hold the DRM
 * device. For them the device is gone: every ioctl fails, CPU mappings read a dummy
 * page, and close frees memory without the GPU. When salvo_device_fini() returns there
 * are no jobs, no work items, no interrupts and no DMA memory left.
 */
#include <linux/cpumask.h>
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

/* The last reference to the device is gone, and with it every file and buffer. */
static void salvo_device_release(struct drm_device *drm, void *unused)
{
	struct salvo_dev *sdev = to_salvo(drm);

	salvo_sched_fini_all(sdev);
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
	init_waitqueue_head(&sdev->slot_events);
	spin_lock_init(&sdev->clients_lock);
	INIT_LIST_HEAD(&sdev->client_list);
	init_rwsem(&sdev->aperture_lock);
	spin_lock_init(&sdev->waits_lock);
	INIT_LIST_HEAD(&sdev->waits);
	mutex_init(&sdev->space_lock);
	INIT_LIST_HEAD(&sdev->spaces);
	INIT_LIST_HEAD(&sdev->slots);
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

	/* A kernel for one CPU patches SMP barriers out, but the GPU runs concurrently. */
	if (num_possible_cpus() < 2)
		return dev_err_probe(&pdev->dev, -ENODEV, "at least 2 CPUs are needed\n");
	ret = pcim_enable_device(pdev);
	if (ret)
		return dev_err_probe(&pdev->dev, ret, "cannot enable the PCI function\n");
	ret = salvo_mmio_init(sdev, pdev);
	if (ret)
		return ret;
	/* As many vectors as ivshmem has, it has doorbells: without the last it cannot be reset. */
	ret = pci_msix_vec_count(pdev);
	if (ret < SALVO_VECTORS)
		return dev_err_probe(&pdev->dev, -ENOSPC, "%d MSI-X vectors, but %u are needed\n",
				     ret, SALVO_VECTORS);
	/* Segments of imported buffers may be of any length. */
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);
	ret = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (ret)
		return dev_err_probe(&pdev->dev, ret, "no 64-bit DMA\n");
	return 0;
}

/**
 * salvo_device_start_hw() - Reset the GPU and allow it DMA and interrupts.
 * @sdev: The device.
 *
 * Return: 0, -ENODEV or -ETIMEDOUT.
 */
int salvo_device_start_hw(struct salvo_dev *sdev)
{
	int ret;

	salvo_mmio_set_bus_master(&sdev->mmio, true);
	ret = salvo_mmio_reset(&sdev->mmio);
	if (!ret)
		pci_set_master(to_pci_dev(sdev->drm.dev));
	return ret;
}

/**
 * salvo_device_stop_hw() - Reset the GPU and forbid it DMA and interrupts.
 * @sdev: The device.
 *
 * Return: 0 if the GPU makes no more access to system memory, -ENODEV or -ETIMEDOUT.
 */
int salvo_device_stop_hw(struct salvo_dev *sdev)
{
	int ret = salvo_mmio_reset(&sdev->mmio);

	salvo_mmio_set_bus_master(&sdev->mmio, false);
	pci_clear_master(to_pci_dev(sdev->drm.dev));
	return ret;
}

/**
 * salvo_device_init() - Bring up the GPU.
 * @sdev: Zeroed, except @sdev->drm.
 * @pdev: Its PCI function.
 *
 * Errors are logged.
 *
 * Return: 0, or a negative errno with everything undone; -ENODEV if this is not a GPU
 * that the driver supports.
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
	/* Fences depend on the timeout handler, and memory reclaim may depend on fences. */
	sdev->wq = alloc_ordered_workqueue("salvo", WQ_MEM_RECLAIM);
	if (!sdev->wq) {
		ret = -ENOMEM;
		goto err_coredump_fini;
	}
	ret = salvo_device_start_hw(sdev);
	if (ret) {
		ret = dev_err_probe(&pdev->dev, -ENODEV, "the GPU does not answer\n");
		goto err_stop_hw;
	}
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
	if (ret) {
		dev_err_probe(&pdev->dev, ret, "the GPU does not start its rings\n");
		goto err_irq_fini;
	}
	salvo_watchdog_start(sdev);
	return 0;

err_irq_fini:
	salvo_irq_fini(sdev, pdev);
	/* The "device lost" interrupt may have fired. */
	cancel_work_sync(&sdev->lost);
	cancel_work_sync(&sdev->wedged);
err_ring_fini:
	salvo_ring_fini_all(sdev);
err_stop_hw:
	salvo_device_stop_hw(sdev);
	destroy_workqueue(sdev->wq);
err_coredump_fini:
	salvo_coredump_fini(sdev);
	return ret;
}

/**
 * salvo_device_fini() - Take the GPU down; files may still be open.
 * @sdev: The device, after drm_dev_unplug(): no ioctl is in a DRM critical section.
 */
void salvo_device_fini(struct salvo_dev *sdev)
{
	struct pci_dev *pdev = to_pci_dev(sdev->drm.dev);

	WRITE_ONCE(sdev->gone, true);
	cancel_delayed_work_sync(&sdev->watchdog);
	cancel_delayed_work_sync(&sdev->reclaim);
	/* A reset in progress uses the interrupt and starts the rings. */
	flush_workqueue(sdev->wq);
	salvo_ring_stop_all(sdev);
	if (salvo_device_stop_hw(sdev))
		drm_notice(&sdev->drm, "the GPU does not answer\n");
	salvo_irq_fini(sdev, pdev);
	cancel_work_sync(&sdev->lost);
	flush_workqueue(sdev->wq);

	/* Batches on the rings fail here, queued ones when the scheduler runs them. */
	salvo_reset_wedge(sdev);
	wait_event(sdev->jobs_idle, !atomic_read(&sdev->jobs));
	destroy_workqueue(sdev->wq);
	cancel_work_sync(&sdev->wedged);
	salvo_coredump_fini(sdev);
	salvo_vm_reclaim_gone(sdev);
	salvo_vm_detach_all(sdev);
	salvo_prime_detach_all(sdev);
	salvo_ring_fini_all(sdev);
}

/**
 * salvo_device_shutdown() - Stop all DMA before a power-off, reboot or kexec.
 * @sdev: The device.
 */
void salvo_device_shutdown(struct salvo_dev *sdev)
{
	WRITE_ONCE(sdev->gone, true);
	salvo_ring_stop_all(sdev);
	salvo_device_stop_hw(sdev);
}
