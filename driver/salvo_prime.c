// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_prime.c - export and import of dma-bufs
 *
 * Export: the dma-buf of a buffer in VRAM can be mapped by the CPU and imported by other
 * files of this device, which get the same buffer. Other devices cannot attach to it,
 * since VRAM is a PCI aperture without struct pages and peer-to-peer DMA is not supported.
 *
 * Import: the pages of a dma-buf in system memory (vgem, udmabuf, a frame of a camera or a
 * decoder) are bound in the window of GPU addresses past VRAM; nothing is copied. The GPU
 * gets read-only access to a dma-buf that is not writable.
 *
 * The attachment lasts as long as the buffer, to which the vma holds a reference, so until
 * the GPU has unbound the pages. Detaching takes the exporter's reservation lock, whose
 * owner may wait for fences of this driver. It must not run on sdev->wq, which signals
 * them, so it has a workqueue of its own. The workqueue belongs to the module, since
 * buffers may outlive the device.
 *
 * If the GPU was wedged and has not acknowledged a reset (sdev->dma_unconfirmed), its
 * process may still write to imported pages when it runs again. Their attachments stay
 * until the driver is unbound, and for ever if the reset is not acknowledged even then:
 * leaking memory is better than corrupting it.
 *
 * When the driver is unbound, salvo_prime_detach_all() ends all attachments and with them
 * all DMA mappings; the buffers remain until they are closed.
 *
 * Locks: sdev->bos_lock protects bo->attach and bo->free_deferred.
 */
#include <linux/dma-buf.h>
#include <linux/scatterlist.h>
#include <linux/workqueue.h>

#include <drm/drm_drv.h>
#include <drm/drm_gem.h>
#include <drm/drm_prime.h>

#include "salvo_bind.h"
#include "salvo_device.h"
#include "salvo_drv.h"
#include "salvo_gem.h"
#include "salvo_implicit.h"
#include "salvo_prime.h"

static struct workqueue_struct *salvo_prime_wq;

/** salvo_prime_init() - Create the workqueue of the module. */
int salvo_prime_init(void)
{
	salvo_prime_wq = alloc_workqueue("salvo-prime", WQ_UNBOUND, 0);
	return salvo_prime_wq ? 0 : -ENOMEM;
}

/** salvo_prime_fini() - Destroy the workqueue; no device is bound. */
void salvo_prime_fini(void)
{
	destroy_workqueue(salvo_prime_wq);
}

/* --- export ------------------------------------------------------------------ */

/**
 * salvo_prime_export() - Export a buffer in VRAM.
 * @base: The buffer.
 * @flags: O_CLOEXEC, O_RDWR.
 *
 * Return: the dma-buf or an error pointer.
 */
struct dma_buf *salvo_prime_export(struct drm_gem_object *base, int flags)
{
	struct salvo_gem_object *bo = to_salvo_gem(base);
	int ret;

	/* drm_gem_prime_mmap() adds the offset of the buffer's vma node. */
	ret = drm_gem_create_mmap_offset(base);
	if (ret)
		return ERR_PTR(ret);
	ret = salvo_implicit_share(bo);
	if (ret)
		return ERR_PTR(ret);
	return drm_gem_prime_export(base, flags);
}

/** salvo_prime_pin() - Refuse the attachment of another device. */
int salvo_prime_pin(struct drm_gem_object *base)
{
	return salvo_refuse(to_salvo(base->dev), -EOPNOTSUPP,
			    "VRAM has no pages that another device could access");
}

/* --- import ------------------------------------------------------------------ */

/**
 * salvo_prime_import() - Import a dma-buf that the file has no handle for.
 * @drm: The device.
 * @dma_buf: A dma-buf of any driver, including this one.
 *
 * Return: the buffer or an error pointer.
 */
struct drm_gem_object *salvo_prime_import(struct drm_device *drm, struct dma_buf *dma_buf)
{
	struct salvo_dev *sdev = to_salvo(drm);
	struct drm_gem_object *base;
	int idx, ret;

	if (!drm_dev_enter(drm, &idx))
		return ERR_PTR(salvo_refuse(sdev, -ENODEV, "the device is unplugged"));
	ret = salvo_refuse_if(sdev, salvo_device_is_gone(sdev), -ENODEV, "the GPU is gone");
	base = ret ? ERR_PTR(ret) : drm_gem_prime_import(drm, dma_buf);
	drm_dev_exit(idx);
	return base;
}

static int salvo_prime_check(struct salvo_dev *sdev, struct sg_table *sgt, u64 size)
{
	struct scatterlist *sg;
	u64 bytes = 0;
	int i, ret;

	for_each_sgtable_dma_sg(sgt, sg, i) {
		ret = salvo_refuse_if(sdev, !PAGE_ALIGNED(sg_dma_address(sg)) ||
				      !PAGE_ALIGNED(sg_dma_len(sg)), -EINVAL,
				      "segment %d is not page aligned", i);
		if (ret)
			return ret;
		bytes += sg_dma_len(sg);
	}
	return salvo_refuse_if(sdev, !size || !PAGE_ALIGNED(size), -EINVAL,
			       "size %llu is not a multiple of the page size", size) ?:
	       salvo_refuse_if(sdev, bytes < size, -EINVAL,
			       "segments have %llu bytes of %llu", bytes, size);
}

/**
 * salvo_prime_import_sg_table() - Create a buffer from the pages of another driver.
 * @drm: The device, inside a DRM critical section.
 * @attach: The attachment; owned by the buffer on success.
 * @sgt: Its pages; owned by the buffer on success.
 *
 * Return: the buffer or an error pointer.
 */
struct drm_gem_object *salvo_prime_import_sg_table(struct drm_device *drm,
						   struct dma_buf_attachment *attach,
						   struct sg_table *sgt)
{
	struct salvo_dev *sdev = to_salvo(drm);
	struct dma_buf *dma_buf = attach->dmabuf;
	u32 flags = DRM_SALVO_BO_IMPORTED;
	struct salvo_gem_object *bo;
	int ret;

	ret = salvo_refuse_if(sdev, !sdev->mmio.window_bytes, -EOPNOTSUPP,
			      "the GPU has no window for system memory") ?:
	      salvo_prime_check(sdev, sgt, dma_buf->size);
	if (ret)
		return ERR_PTR(ret);
	if (!(dma_buf->file->f_mode & FMODE_WRITE))
		flags |= DRM_SALVO_BO_READONLY;
	bo = salvo_gem_create(sdev, dma_buf->size, flags);
	if (IS_ERR(bo))
		return ERR_CAST(bo);
	bo->base.resv = dma_buf->resv;
	bo->dma_buf = dma_buf;
	bo->sgt = sgt;
	mutex_lock(&sdev->bos_lock);
	bo->attach = attach;
	mutex_unlock(&sdev->bos_lock);
	return &bo->base;
}

/**
 * salvo_prime_mmap() - Map an imported buffer through its exporter.
 * @base: The buffer. On success the mapping's reference to it is dropped, since the mapping
 *        holds the dma-buf's file.
 * @vma: The mapping.
 *
 * Return: 0, -EACCES (a writable mapping of a read-only dma-buf), or what the exporter returns.
 */
int salvo_prime_mmap(struct drm_gem_object *base, struct vm_area_struct *vma)
{
	int ret;

	/* The mapping's permissions are those of the render node, not of the dma-buf. */
	if (to_salvo_gem(base)->flags & DRM_SALVO_BO_READONLY) {
		ret = salvo_refuse_if(to_salvo(base->dev), vma->vm_flags & VM_WRITE, -EACCES,
				      "the dma-buf is read-only");
		if (ret)
			return ret;
		vm_flags_clear(vma, VM_MAYWRITE);
	}
	/* GEM has set these; the exporter expects them unset. */
	vma->vm_private_data = NULL;
	vma->vm_ops = NULL;
	ret = dma_buf_mmap(to_salvo_gem(base)->dma_buf, vma, 0);
	if (ret)
		return ret;
	/* drm_gem_mmap_obj() warns without it. */
	vm_flags_set(vma, VM_DONTEXPAND);
	drm_gem_object_put(base);
	return 0;
}

/* Take the attachment out of the buffer; the caller must end it. */
static struct dma_buf_attachment *salvo_prime_take(struct salvo_dev *sdev,
						   struct salvo_gem_object *bo)
{
	struct dma_buf_attachment *attach = bo->attach;

	lockdep_assert_held(&sdev->bos_lock);
	bo->attach = NULL;
	return attach;
}

/* Unmap and detach; exporters may keep the DMA mapping until the detach. */
static void salvo_prime_detach(struct salvo_gem_object *bo, struct dma_buf_attachment *attach)
{
	dma_buf_unmap_attachment_unlocked(attach, bo->sgt, DMA_BIDIRECTIONAL);
	dma_buf_detach(bo->dma_buf, attach);
}

static void salvo_prime_free_work(struct work_struct *work)
{
	struct salvo_gem_object *bo = container_of(work, struct salvo_gem_object, free_work);
	struct salvo_dev *sdev = to_salvo(bo->base.dev);
	struct dma_buf *dma_buf = bo->dma_buf;
	struct dma_buf_attachment *attach;

	mutex_lock(&sdev->bos_lock);
	bo->free_deferred = READ_ONCE(sdev->dma_unconfirmed);
	attach = bo->free_deferred ? NULL : salvo_prime_take(sdev, bo);
	mutex_unlock(&sdev->bos_lock);
	if (bo->free_deferred)
		return;
	if (attach)
		salvo_prime_detach(bo, attach);
	/* The buffer uses the dma-buf's reservation object, so this comes last. */
	salvo_gem_destroy(bo);
	dma_buf_put(dma_buf);
	drm_dev_put(&sdev->drm);
}

/** salvo_prime_free() - Free an imported buffer that has no references. */
void salvo_prime_free(struct salvo_gem_object *bo)
{
	drm_dev_get(bo->base.dev);
	INIT_WORK(&bo->free_work, salvo_prime_free_work);
	queue_work(salvo_prime_wq, &bo->free_work);
}

static struct salvo_gem_object *salvo_prime_next_attached(struct salvo_dev *sdev,
							  struct dma_buf_attachment **attach)
{
	struct salvo_gem_object *bo;

	mutex_lock(&sdev->bos_lock);
	list_for_each_entry(bo, &sdev->bos, node) {
		if (!bo->attach || !kref_get_unless_zero(&bo->base.refcount))
			continue;
		*attach = salvo_prime_take(sdev, bo);
		mutex_unlock(&sdev->bos_lock);
		return bo;
	}
	mutex_unlock(&sdev->bos_lock);
	return NULL;
}

/*
 * Returns whether the attachments must stay, since DMA may still happen; else queues the
 * buffers whose free was deferred for that reason.
 */
static bool salvo_prime_keep_or_free(struct salvo_dev *sdev)
{
	size_t bytes = 0;
	struct salvo_gem_object *bo;

	mutex_lock(&sdev->bos_lock);
	list_for_each_entry(bo, &sdev->bos, node) {
		if (!(bo->flags & DRM_SALVO_BO_IMPORTED))
			continue;
		bytes += bo->base.size;
		if (bo->free_deferred && !sdev->dma_unconfirmed)
			queue_work(salvo_prime_wq, &bo->free_work);
	}
	mutex_unlock(&sdev->bos_lock);
	if (sdev->dma_unconfirmed && bytes)
		drm_warn(&sdev->drm, "leaking %zu bytes that the GPU may still write to\n",
			 bytes);
	return sdev->dma_unconfirmed;
}

/**
 * salvo_prime_detach_all() - End all attachments when the driver is unbound.
 * @sdev: The device, wedged.
 */
void salvo_prime_detach_all(struct salvo_dev *sdev)
{
	struct dma_buf_attachment *attach;
	struct salvo_gem_object *bo;

	if (salvo_prime_keep_or_free(sdev))
		return;
	while ((bo = salvo_prime_next_attached(sdev, &attach))) {
		/* drm_gem_prime_handle_to_fd() reads it to export the buffer again. */
		mutex_lock(&sdev->drm.object_name_lock);
		bo->base.import_attach = NULL;
		mutex_unlock(&sdev->drm.object_name_lock);
		salvo_prime_detach(bo, attach);
		drm_gem_object_put(&bo->base);
	}
	/* Wait for the work of buffers that had no references. */
	flush_workqueue(salvo_prime_wq);
}
