// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_prime.c - buffers that go to other drivers and come from them
 *
 * Export: a buffer in VRAM becomes a dma-buf that the CPU can map and that other
 * files of this device can import, which gives them the same buffer. Other devices
 * cannot attach to it: VRAM is the aperture of a virtual function and has no pages,
 * and no importer at hand does peer-to-peer DMA.
 *
 * Import: the pages of a dma-buf of system memory (vgem, udmabuf, a camera's or a
 * decoder's frame) are shown to the GPU where they are, in the window of GPU
 * addresses past VRAM. A dma-buf that is not writable is not written by the GPU.
 *
 * The attachment must stay until the GPU sees the pages no more, so it ends with the
 * buffer, which the binding holds. To detach takes locks of the exporter, on which
 * others may wait for our fences; the work that ends bindings, being on the queue of
 * the timeout handler, must not. Therefore a queue of its own does it. The queue is
 * the module's, for buffers may outlive the device.
 *
 * A GPU that was given up without a sign that it has stopped may go on writing, when
 * its process is woken again. What it had imported is then kept until the driver is
 * unbound, and if there is no sign even then for good: that costs memory, but to give
 * it back would cost somebody's data.
 *
 * When the driver is unbound, salvo_prime_detach_all() ends the attachments, and with
 * them all DMA mappings; the buffers remain until they are closed.
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

/** salvo_prime_init() - The module is loaded. */
int salvo_prime_init(void)
{
	salvo_prime_wq = alloc_workqueue("salvo-prime", WQ_UNBOUND, 0);
	return salvo_prime_wq ? 0 : -ENOMEM;
}

/** salvo_prime_fini() - The module goes; no device is bound. */
void salvo_prime_fini(void)
{
	destroy_workqueue(salvo_prime_wq);
}

/* --- export ------------------------------------------------------------------ */

/**
 * salvo_prime_export() - Make a dma-buf of a buffer in VRAM.
 * @base: The buffer.
 * @flags: O_CLOEXEC, O_RDWR.
 */
struct dma_buf *salvo_prime_export(struct drm_gem_object *base, int flags)
{
	struct salvo_gem_object *bo = to_salvo_gem(base);
	int ret;

	/* A mapping of the dma-buf counts its pages from there. */
	ret = drm_gem_create_mmap_offset(base);
	if (ret)
		return ERR_PTR(ret);
	ret = salvo_implicit_share(bo);
	if (ret)
		return ERR_PTR(ret);
	return drm_gem_prime_export(base, flags);
}

/** salvo_prime_pin() - Another device wants to attach to a dma-buf of ours. */
int salvo_prime_pin(struct drm_gem_object *base)
{
	return salvo_refuse(to_salvo(base->dev), -EOPNOTSUPP, "VRAM has pages");
}

/* --- import ------------------------------------------------------------------ */

/**
 * salvo_prime_import() - A handle for a dma-buf is asked for that the file does not have.
 * @drm: The device.
 * @dma_buf: Of any driver, also of ours.
 */
struct drm_gem_object *salvo_prime_import(struct drm_device *drm, struct dma_buf *dma_buf)
{
	struct salvo_dev *sdev = to_salvo(drm);
	struct drm_gem_object *base;
	int idx, ret;

	if (!drm_dev_enter(drm, &idx))
		return ERR_PTR(salvo_refuse(sdev, -ENODEV, "the device is bound"));
	ret = salvo_check(sdev, !salvo_device_is_gone(sdev), -ENODEV);
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
		ret = salvo_check(sdev, PAGE_ALIGNED(sg_dma_address(sg)), -EINVAL) ?:
		      salvo_check(sdev, PAGE_ALIGNED(sg_dma_len(sg)), -EINVAL);
		if (ret)
			return ret;
		bytes += sg_dma_len(sg);
	}
	return salvo_check(sdev, size && PAGE_ALIGNED(size), -EINVAL) ?:
	       salvo_check(sdev, bytes >= size, -EINVAL);
}

/**
 * salvo_prime_import_sg_table() - Make a buffer of another driver's pages.
 * @drm: The device, bound.
 * @attach: Our attachment; the buffer's if we succeed.
 * @sgt: The pages; the buffer's if we succeed.
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

	ret = salvo_check(sdev, sdev->mmio.window_bytes, -EOPNOTSUPP) ?:
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
 * salvo_prime_mmap() - Map an imported buffer: its exporter does.
 * @base: The buffer; the reference of the mapping is given back, the dma-buf's file has its own.
 * @vma: What to map into.
 */
int salvo_prime_mmap(struct drm_gem_object *base, struct vm_area_struct *vma)
{
	int ret;

	/* That the render node was opened for writing says nothing of the dma-buf. */
	if (to_salvo_gem(base)->flags & DRM_SALVO_BO_READONLY) {
		ret = salvo_check(to_salvo(base->dev), !(vma->vm_flags & VM_WRITE), -EACCES);
		if (ret)
			return ret;
		vma->vm_flags &= ~VM_MAYWRITE;
	}
	/* What the exporter expects to find. */
	vma->vm_private_data = NULL;
	vma->vm_ops = NULL;
	ret = dma_buf_mmap(to_salvo_gem(base)->dma_buf, vma, 0);
	if (ret)
		return ret;
	/* GEM insists. */
	vma->vm_flags |= VM_DONTEXPAND;
	drm_gem_object_put(base);
	return 0;
}

/* Whoever takes the attachment of a buffer ends it. */
static struct dma_buf_attachment *salvo_prime_take(struct salvo_dev *sdev,
						   struct salvo_gem_object *bo)
{
	struct dma_buf_attachment *attach = bo->attach;

	lockdep_assert_held(&sdev->bos_lock);
	bo->attach = NULL;
	return attach;
}

/* Exporters may keep the mapping until the attachment ends. */
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
	bo->kept = READ_ONCE(sdev->wild);
	attach = bo->kept ? NULL : salvo_prime_take(sdev, bo);
	mutex_unlock(&sdev->bos_lock);
	if (bo->kept)
		return;
	if (attach)
		salvo_prime_detach(bo, attach);
	/* Ours until now: it holds the fences. */
	salvo_gem_destroy(bo);
	dma_buf_put(dma_buf);
	drm_dev_put(&sdev->drm);
}

/** salvo_prime_free() - Nobody holds an imported buffer any more. */
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

/* If not, what was kept is let go. */
static bool salvo_prime_is_wild(struct salvo_dev *sdev)
{
	size_t bytes = 0;
	struct salvo_gem_object *bo;

	mutex_lock(&sdev->bos_lock);
	list_for_each_entry(bo, &sdev->bos, node) {
		if (!(bo->flags & DRM_SALVO_BO_IMPORTED))
			continue;
		bytes += bo->base.size;
		if (bo->kept && !sdev->wild)
			queue_work(salvo_prime_wq, &bo->free_work);
	}
	mutex_unlock(&sdev->bos_lock);
	if (sdev->wild && bytes)
		drm_warn(&sdev->drm, "%zu bytes that the GPU may write to are never freed\n",
			 bytes);
	return sdev->wild;
}

/**
 * salvo_prime_detach_all() - The driver is being unbound: end all attachments.
 * @sdev: The device, which was given up.
 */
void salvo_prime_detach_all(struct salvo_dev *sdev)
{
	struct dma_buf_attachment *attach;
	struct salvo_gem_object *bo;

	if (salvo_prime_is_wild(sdev))
		return;
	while ((bo = salvo_prime_next_attached(sdev, &attach))) {
		/* Where PRIME looks for what to export again. */
		mutex_lock(&sdev->drm.object_name_lock);
		bo->base.import_attach = NULL;
		mutex_unlock(&sdev->drm.object_name_lock);
		salvo_prime_detach(bo, attach);
		drm_gem_object_put(&bo->base);
	}
	/* Those that nobody held. */
	flush_workqueue(salvo_prime_wq);
}
