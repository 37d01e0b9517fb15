// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_drv.c - module, PCI function, ioctl table, open and close
 *
 * The driver has a render node only. The PCI ids are those of every ivshmem function
 * (1af4:1110); probe rejects a function whose registers lack the magic number.
 */
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/pci.h>
#include <linux/pm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_ioctl.h>
#include <drm/drm_prime.h>

#include "salvo_ctx.h"
#include "salvo_device.h"
#include "salvo_drv.h"
#include "salvo_gem.h"
#include "salvo_pm.h"
#include "salvo_prime.h"
#include "salvo_slot.h"
#include "salvo_vm.h"

#define SALVO_DRIVER_MAJOR	1
#define SALVO_DRIVER_MINOR	5

/* --- files ------------------------------------------------------------------- */

static int salvo_file_open_entered(struct salvo_dev *sdev, struct drm_file *filp)
{
	struct salvo_file *file;
	int ret;

	ret = salvo_refuse_if(sdev, !drm_is_render_client(filp), -EACCES,
			      "not the render node") ?:
	      salvo_refuse_if(sdev, salvo_device_is_gone(sdev), -ENODEV, "the GPU is gone");
	if (ret)
		return ret;
	file = kzalloc(sizeof(*file), GFP_KERNEL);
	if (!file)
		return -ENOMEM;
	file->vm = salvo_vm_create(sdev);
	if (IS_ERR(file->vm)) {
		ret = PTR_ERR(file->vm);
		kfree(file);
		return ret;
	}
	xa_init_flags(&file->ctxs, XA_FLAGS_ALLOC1);
	xa_init_flags(&file->slots, XA_FLAGS_ALLOC1);
	file->client = atomic64_inc_return(&sdev->clients);
	filp->driver_priv = file;
	return 0;
}

static int salvo_file_open(struct drm_device *drm, struct drm_file *filp)
{
	int idx, ret;

	if (!drm_dev_enter(drm, &idx))
		return salvo_refuse(to_salvo(drm), -ENODEV, "the device is unplugged");
	ret = salvo_file_open_entered(to_salvo(drm), filp);
	drm_dev_exit(idx);
	return ret;
}

/* DRM has closed the handles; batches in flight complete. */
static void salvo_file_close(struct drm_device *drm, struct drm_file *filp)
{
	struct salvo_file *file = filp->driver_priv;

	salvo_slot_close(file);
	salvo_ctx_put_all(file);
	salvo_vm_close(file->vm);
	kfree(file);
}

/* --- driver ------------------------------------------------------------------ */

static const struct drm_ioctl_desc salvo_ioctls[] = {
	DRM_IOCTL_DEF_DRV(SALVO_DEV_QUERY, salvo_dev_query_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(SALVO_BO_CREATE, salvo_bo_create_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(SALVO_BO_MMAP_OFFSET, salvo_bo_mmap_offset_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(SALVO_CTX_CREATE, salvo_ctx_create_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(SALVO_CTX_DESTROY, salvo_ctx_destroy_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(SALVO_CTX_QUERY, salvo_ctx_query_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(SALVO_SUBMIT, salvo_submit_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(SALVO_BO_QUERY, salvo_bo_query_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(SALVO_BO_SET_LABEL, salvo_bo_set_label_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(SALVO_SLOT_ATTACH, salvo_slot_attach_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(SALVO_SLOT_DETACH, salvo_slot_detach_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(SALVO_SLOT_WAKE, salvo_slot_wake_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(SALVO_SLOT_WAIT, salvo_slot_wait_ioctl, DRM_RENDER_ALLOW),
};

/*
 * DRM's core pads an argument that is shorter than the driver's structure with zeros,
 * but silently cuts off a longer one. A newer userspace may set a field there that this
 * driver does not know, so the tail must be zero.
 */
static int salvo_ioctl_check_tail(struct file *f, unsigned int cmd, unsigned long arg)
{
	const struct drm_file *filp = f->private_data;
	unsigned int nr = _IOC_NR(cmd) - DRM_COMMAND_BASE;
	size_t size = _IOC_SIZE(cmd), known;
	int ret;

	if (_IOC_TYPE(cmd) != DRM_IOCTL_BASE || nr >= ARRAY_SIZE(salvo_ioctls))
		return 0;
	known = _IOC_SIZE(salvo_ioctls[array_index_nospec(nr, ARRAY_SIZE(salvo_ioctls))].cmd);
	if (size <= known)
		return 0;
	ret = check_zeroed_user((void __user *)arg + known, size - known);
	if (ret > 0)
		return 0;
	return salvo_refuse(to_salvo(filp->minor->dev), ret ?: -EINVAL,
			    "bytes %zu to %zu of the argument are not zero", known, size);
}

static long salvo_ioctl(struct file *f, unsigned int cmd, unsigned long arg)
{
	return salvo_ioctl_check_tail(f, cmd, arg) ?: drm_ioctl(f, cmd, arg);
}

#ifdef CONFIG_COMPAT
static long salvo_compat_ioctl(struct file *f, unsigned int cmd, unsigned long arg)
{
	return salvo_ioctl_check_tail(f, cmd, arg) ?: drm_compat_ioctl(f, cmd, arg);
}
#else
#define salvo_compat_ioctl NULL
#endif

static const struct file_operations salvo_fops = {
	.owner = THIS_MODULE,
	.fop_flags = FOP_UNSIGNED_OFFSET,
	.open = drm_open,
	.release = drm_release,
	.unlocked_ioctl = salvo_ioctl,
	.compat_ioctl = salvo_compat_ioctl,
	.poll = drm_poll,
	.read = drm_read,
	.llseek = noop_llseek,
	.mmap = drm_gem_mmap,
	.show_fdinfo = salvo_fdinfo_show,
};

static const struct drm_driver salvo_driver = {
	.driver_features = DRIVER_RENDER | DRIVER_GEM | DRIVER_SYNCOBJ | DRIVER_SYNCOBJ_TIMELINE,
	.open = salvo_file_open,
	.postclose = salvo_file_close,
	.debugfs_init = salvo_debugfs_init,
	.ioctls = salvo_ioctls,
	.num_ioctls = ARRAY_SIZE(salvo_ioctls),
	.fops = &salvo_fops,
	.gem_prime_import = salvo_prime_import,
	.gem_prime_import_sg_table = salvo_prime_import_sg_table,
	.name = "salvo",
	.desc = "Salvo batch GPU",
	.major = SALVO_DRIVER_MAJOR,
	.minor = SALVO_DRIVER_MINOR,
};

static int salvo_pci_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct salvo_dev *sdev;
	int ret;

	sdev = devm_drm_dev_alloc(&pdev->dev, &salvo_driver, struct salvo_dev, drm);
	if (IS_ERR(sdev))
		return dev_err_probe(&pdev->dev, PTR_ERR(sdev), "cannot allocate the device\n");
	pci_set_drvdata(pdev, sdev);
	ret = salvo_device_init(sdev, pdev);
	if (ret)
		return ret;
	ret = drm_dev_register(&sdev->drm, 0);
	if (ret) {
		salvo_device_fini(sdev);
		return dev_err_probe(&pdev->dev, ret, "cannot register the DRM device\n");
	}
	/* Lost before the minor existed: send the uevent now. */
	if (salvo_device_is_gone(sdev))
		queue_work(system_dfl_wq, &sdev->wedged);
	drm_info(&sdev->drm, "%u execution units, %llu MiB of VRAM\n", sdev->mmio.units,
		 sdev->mmio.vram_bytes >> 20);
	return 0;
}

static void salvo_pci_remove(struct pci_dev *pdev)
{
	struct salvo_dev *sdev = pci_get_drvdata(pdev);

	/* drm_dev_unplug() waits for ioctls, which may wait for @progress. */
	WRITE_ONCE(sdev->gone, true);
	wake_up_all(&sdev->progress);
	wake_up_all(&sdev->slot_events);
	drm_dev_unplug(&sdev->drm);
	salvo_device_fini(sdev);
}

static void salvo_pci_shutdown(struct pci_dev *pdev)
{
	salvo_device_shutdown(pci_get_drvdata(pdev));
}

static int salvo_pci_suspend(struct device *dev)
{
	return salvo_pm_suspend(dev_get_drvdata(dev));
}

static int salvo_pci_resume(struct device *dev)
{
	return salvo_pm_resume(dev_get_drvdata(dev));
}

static DEFINE_SIMPLE_DEV_PM_OPS(salvo_pm_ops, salvo_pci_suspend, salvo_pci_resume);

static void salvo_pci_reset_prepare(struct pci_dev *pdev)
{
	salvo_pm_reset_prepare(pci_get_drvdata(pdev));
}

static void salvo_pci_reset_done(struct pci_dev *pdev)
{
	salvo_pm_reset_done(pci_get_drvdata(pdev));
}

static const struct pci_error_handlers salvo_pci_err_handlers = {
	.reset_prepare = salvo_pci_reset_prepare,
	.reset_done = salvo_pci_reset_done,
};

static const struct pci_device_id salvo_pci_ids[] = {
	{ PCI_DEVICE(SALVO_PCI_VENDOR, SALVO_PCI_DEVICE) },
	{ }
};
MODULE_DEVICE_TABLE(pci, salvo_pci_ids);

static struct pci_driver salvo_pci_driver = {
	.name = "salvo",
	.id_table = salvo_pci_ids,
	.probe = salvo_pci_probe,
	.remove = salvo_pci_remove,
	.shutdown = salvo_pci_shutdown,
	.driver.pm = pm_sleep_ptr(&salvo_pm_ops),
	.err_handler = &salvo_pci_err_handlers,
};

static int __init salvo_module_init(void)
{
	int ret;

	ret = salvo_prime_init();
	if (ret)
		return ret;
	ret = pci_register_driver(&salvo_pci_driver);
	if (ret)
		salvo_prime_fini();
	return ret;
}
module_init(salvo_module_init);

static void __exit salvo_module_exit(void)
{
	pci_unregister_driver(&salvo_pci_driver);
	salvo_prime_fini();
}
module_exit(salvo_module_exit);

MODULE_DESCRIPTION("Salvo batch GPU");
MODULE_AUTHOR("The Salvo developers");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("DMA_BUF");
