// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_gem.c - buffer objects
 *
 * A buffer is allocated in VRAM, or it is imported and its memory belongs to another
 * driver (salvo_prime.c). Its allocation is contiguous and determines its GPU address,
 * which is the same in every file that has the buffer. A handle in a file binds the
 * buffer in the file's address space (salvo_bind.c). The vma holds a reference until the
 * GPU has unbound the buffer, so its memory is not reused while the GPU or the CPU can
 * access it.
 *
 * CPU mappings are filled with pages of the aperture on fault, and zapped when the device
 * is unplugged; later faults map a dummy page. Imported buffers are mapped by their
 * exporter.
 *
 * Locks: sdev->bos_lock protects the list of all buffers and the labels.
 */
#include <linux/dma-buf.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/string_helpers.h>
#include <linux/uaccess.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>

#include "salvo_bind.h"
#include "salvo_device.h"
#include "salvo_drv.h"
#include "salvo_gem.h"
#include "salvo_prime.h"
#include "salvo_vram.h"

/* Number of pages mapped by one fault, a power of two. */
#define SALVO_FAULT_AROUND	64u

void salvo_gem_init_list(struct salvo_dev *sdev)
{
	mutex_init(&sdev->bos_lock);
	INIT_LIST_HEAD(&sdev->bos);
}

/** salvo_gem_fini_list() - Destroy the list of all buffers, which is empty. */
void salvo_gem_fini_list(struct salvo_dev *sdev)
{
	WARN_ON(!list_empty(&sdev->bos));
	mutex_destroy(&sdev->bos_lock);
}

/* --- GEM object -------------------------------------------------------------- */

static void salvo_gem_free(struct drm_gem_object *base)
{
	struct salvo_gem_object *bo = to_salvo_gem(base);

	if (bo->flags & DRM_SALVO_BO_IMPORTED)
		salvo_prime_free(bo);
	else
		salvo_gem_destroy(bo);
}

/* Bind the buffer for a new handle, which no ioctl can use before this returns. */
static int salvo_gem_open(struct drm_gem_object *base, struct drm_file *filp)
{
	struct salvo_dev *sdev = to_salvo(base->dev);
	struct salvo_file *file = filp->driver_priv;
	int idx, ret;

	if (!drm_dev_enter(base->dev, &idx))
		return salvo_refuse(sdev, -ENODEV, "the device is unplugged");
	ret = salvo_bind(file->vm, to_salvo_gem(base));
	drm_dev_exit(idx);
	return ret;
}

static void salvo_gem_close(struct drm_gem_object *base, struct drm_file *filp)
{
	struct salvo_file *file = filp->driver_priv;

	salvo_unbind(file->vm, to_salvo_gem(base));
}

/*
 * After an unplug all pages of a mapping show one dummy page of the buffer, so that the
 * application reads meaningless data instead of dying of SIGBUS.
 */
static vm_fault_t salvo_gem_fault_dummy(struct salvo_gem_object *bo, struct vm_fault *vmf)
{
	struct page *page = READ_ONCE(bo->dummy_page);

	if (!page) {
		page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!page)
			return VM_FAULT_OOM;
		/* Another thread may have set it concurrently. */
		if (cmpxchg(&bo->dummy_page, NULL, page)) {
			__free_page(page);
			page = READ_ONCE(bo->dummy_page);
		}
	}
	return vmf_insert_pfn(vmf->vma, vmf->address & PAGE_MASK, page_to_pfn(page));
}

static vm_fault_t salvo_gem_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct salvo_gem_object *bo = to_salvo_gem(vma->vm_private_data);
	struct salvo_dev *sdev = to_salvo(bo->base.dev);
	unsigned long pages = bo->base.size >> PAGE_SHIFT;
	unsigned long address = vmf->address & PAGE_MASK;
	unsigned long first, page, last, pfn;
	vm_fault_t ret = VM_FAULT_SIGBUS;
	int idx;

	if (!drm_dev_enter(&sdev->drm, &idx))
		return salvo_gem_fault_dummy(bo, vmf);
	/* After mremap or a partial munmap a mapping starts anywhere in the buffer. */
	first = vmf->pgoff - drm_vma_node_start(&bo->base.vma_node);
	if (first >= pages)
		goto exit;
	down_read(&sdev->aperture_lock);
	last = min(pages, (first | (SALVO_FAULT_AROUND - 1)) + 1);
	pfn = (sdev->mmio.vram_start + bo->place.start) >> PAGE_SHIFT;
	ret = vmf_insert_pfn(vma, address, pfn + first);
	for (page = first + 1; ret == VM_FAULT_NOPAGE && page < last; page++) {
		address += PAGE_SIZE;
		if (address >= vma->vm_end)
			break;
		ret = vmf_insert_pfn(vma, address, pfn + page);
	}
	up_read(&sdev->aperture_lock);
exit:
	drm_dev_exit(idx);
	return ret;
}

static const struct vm_operations_struct salvo_gem_vm_ops = {
	.open = drm_gem_vm_open,
	.close = drm_gem_vm_close,
	.fault = salvo_gem_fault,
};

/*
 * mmap of the render node, or of an exported dma-buf. A private writable mapping would
 * copy pages on write, but VRAM has no struct pages.
 */
static int salvo_gem_mmap(struct drm_gem_object *base, struct vm_area_struct *vma)
{
	struct salvo_dev *sdev = to_salvo(base->dev);
	int ret;

	ret = salvo_refuse_if(sdev, vma_is_cow_mapping(vma), -EINVAL,
			      "the mapping is private");
	if (ret)
		return ret;
	if (to_salvo_gem(base)->flags & DRM_SALVO_BO_IMPORTED)
		return salvo_prime_mmap(base, vma);
	vm_flags_set(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_page_prot = pgprot_writecombine(vm_get_page_prot(vma->vm_flags));
	vma->vm_page_prot = pgprot_decrypted(vma->vm_page_prot);
	return 0;
}

static const struct drm_gem_object_funcs salvo_gem_funcs = {
	.free = salvo_gem_free,
	.open = salvo_gem_open,
	.close = salvo_gem_close,
	.export = salvo_prime_export,
	.pin = salvo_prime_pin,
	.mmap = salvo_gem_mmap,
	.vm_ops = &salvo_gem_vm_ops,
};

/**
 * salvo_gem_create() - Create a buffer without a handle.
 * @sdev: The device.
 * @size: Size in bytes, a multiple of the page size.
 * @flags: DRM_SALVO_BO_*. Without DRM_SALVO_BO_IMPORTED it is in VRAM and zeroed.
 *
 * Return: the buffer or an error pointer: -ENOMEM, -ENOSPC, -ERESTARTSYS, -EINTR.
 */
struct salvo_gem_object *salvo_gem_create(struct salvo_dev *sdev, u64 size, u32 flags)
{
	const bool imported = flags & DRM_SALVO_BO_IMPORTED;
	struct salvo_gem_object *bo;
	int ret;

	bo = kzalloc(sizeof(*bo), GFP_KERNEL_ACCOUNT);
	if (!bo)
		return ERR_PTR(-ENOMEM);
	ret = imported ? salvo_vram_alloc_window(sdev, &bo->place, size) :
			 salvo_vram_alloc(sdev, &bo->place, size);
	if (ret)
		goto err_free;
	bo->address = sdev->mmio.va_base + bo->place.start;
	if (imported) {
		bo->address += sdev->mmio.vram_bytes;
	} else {
		ret = salvo_vram_zero(sdev, &bo->place);
		if (ret)
			goto err_free_place;
	}
	bo->flags = flags;
	bo->shared = imported;
	bo->base.funcs = &salvo_gem_funcs;
	drm_gem_private_object_init(&sdev->drm, &bo->base, size);
	mutex_lock(&sdev->bos_lock);
	list_add_tail(&bo->node, &sdev->bos);
	mutex_unlock(&sdev->bos_lock);
	return bo;

err_free_place:
	salvo_vram_free(sdev, &bo->place);
err_free:
	kfree(bo);
	return ERR_PTR(ret);
}

/** salvo_gem_destroy() - Free a buffer that has no references. */
void salvo_gem_destroy(struct salvo_gem_object *bo)
{
	struct salvo_dev *sdev = to_salvo(bo->base.dev);

	mutex_lock(&sdev->bos_lock);
	list_del(&bo->node);
	mutex_unlock(&sdev->bos_lock);
	if (bo->flags & DRM_SALVO_BO_IMPORTED)
		salvo_vram_free_window(sdev, &bo->place);
	else
		salvo_vram_free(sdev, &bo->place);
	drm_gem_object_release(&bo->base);
	if (bo->dummy_page)
		__free_page(bo->dummy_page);
	kfree(bo->label);
	kfree(bo);
}

/** salvo_gem_access() - SALVO_ACCESS_* that the GPU has to a buffer. */
u32 salvo_gem_access(const struct salvo_gem_object *bo)
{
	u32 access = SALVO_ACCESS_READ;

	if (bo->flags & DRM_SALVO_BO_EXEC)
		access |= SALVO_ACCESS_EXEC;
	else if (!(bo->flags & DRM_SALVO_BO_READONLY))
		access |= SALVO_ACCESS_WRITE;
	return access;
}

/** salvo_gem_show_all() - Print a line for each buffer, for debugfs. */
void salvo_gem_show_all(struct salvo_dev *sdev, struct seq_file *m)
{
	struct salvo_gem_object *bo;

	seq_printf(m, "%18s %12s %5s %7s label\n", "address", "bytes", "flags", "handles");
	mutex_lock(&sdev->bos_lock);
	list_for_each_entry(bo, &sdev->bos, node) {
		seq_printf(m, "%#18llx %12zu %#5x %7u ", bo->address, bo->base.size, bo->flags,
			   READ_ONCE(bo->base.handle_count));
		if (bo->label)
			seq_escape_str(m, bo->label, ESCAPE_NP | ESCAPE_SPACE | ESCAPE_HEX, NULL);
		seq_putc(m, '\n');
	}
	mutex_unlock(&sdev->bos_lock);
}

/* --- ioctls ------------------------------------------------------------------ */

static int salvo_bo_create_entered(struct salvo_dev *sdev, struct drm_salvo_bo_create *args,
				   struct drm_file *filp)
{
	struct salvo_gem_object *bo;
	int ret;

	ret = salvo_refuse_if(sdev, salvo_device_is_gone(sdev), -ENODEV, "the GPU is gone") ?:
	      salvo_refuse_if(sdev, !args->size, -EINVAL, "size is zero") ?:
	      salvo_refuse_if(sdev, args->flags & ~(DRM_SALVO_BO_EXEC | DRM_SALVO_BO_READONLY),
			      -EINVAL, "flags %#x are unknown", args->flags) ?:
	      salvo_refuse_if(sdev, args->size > sdev->mmio.vram_bytes, -ENOSPC,
			      "size %llu exceeds VRAM, %llu bytes", args->size,
			      sdev->mmio.vram_bytes);
	if (ret)
		return ret;

	bo = salvo_gem_create(sdev, PAGE_ALIGN(args->size), args->flags);
	if (IS_ERR(bo))
		return PTR_ERR(bo);
	args->size = bo->base.size;
	args->address = bo->address;
	/* Binds the buffer; from here on userspace may close the handle. */
	ret = drm_gem_handle_create(filp, &bo->base, &args->handle);
	drm_gem_object_put(&bo->base);
	return ret;
}

int salvo_bo_create_ioctl(struct drm_device *drm, void *data, struct drm_file *filp)
{
	struct salvo_dev *sdev = to_salvo(drm);
	int idx, ret;

	if (!drm_dev_enter(drm, &idx))
		return salvo_refuse(sdev, -ENODEV, "the device is unplugged");
	ret = salvo_bo_create_entered(sdev, data, filp);
	drm_dev_exit(idx);
	return ret;
}

int salvo_bo_mmap_offset_ioctl(struct drm_device *drm, void *data, struct drm_file *filp)
{
	struct salvo_dev *sdev = to_salvo(drm);
	struct drm_salvo_bo_mmap_offset *args = data;
	struct drm_gem_object *base;
	int ret;

	ret = salvo_refuse_if(sdev, args->pad, -EINVAL, "pad is not zero") ?:
	      salvo_refuse_if(sdev, salvo_device_is_gone(sdev), -ENODEV, "the GPU is gone");
	if (ret)
		return ret;
	base = drm_gem_object_lookup(filp, args->handle);
	ret = salvo_refuse_if(sdev, !base, -ENOENT, "handle %u does not exist", args->handle);
	if (ret)
		return ret;
	ret = drm_gem_create_mmap_offset(base);
	if (!ret)
		args->offset = drm_vma_node_offset_addr(&base->vma_node);
	drm_gem_object_put(base);
	return ret;
}

int salvo_bo_query_ioctl(struct drm_device *drm, void *data, struct drm_file *filp)
{
	struct salvo_dev *sdev = to_salvo(drm);
	struct drm_salvo_bo_query *args = data;
	struct drm_gem_object *base;
	int ret;

	ret = salvo_refuse_if(sdev, salvo_device_is_gone(sdev), -ENODEV, "the GPU is gone");
	if (ret)
		return ret;
	base = drm_gem_object_lookup(filp, args->handle);
	ret = salvo_refuse_if(sdev, !base, -ENOENT, "handle %u does not exist", args->handle);
	if (ret)
		return ret;
	args->flags = to_salvo_gem(base)->flags;
	args->size = base->size;
	args->address = to_salvo_gem(base)->address;
	drm_gem_object_put(base);
	return 0;
}

/* Return: the string, NULL for none, -EFAULT, -E2BIG, -ENOMEM. */
static char *salvo_bo_copy_label(struct salvo_dev *sdev, u64 pointer)
{
	char *label;

	if (!pointer)
		return NULL;
	label = strndup_user(u64_to_user_ptr(pointer), SALVO_MAX_LABEL_BYTES);
	if (!IS_ERR(label))
		return label;
	if (PTR_ERR(label) == -EINVAL)
		label = ERR_PTR(-E2BIG);
	salvo_refuse(sdev, PTR_ERR(label), "cannot read a label of at most %u bytes at %#llx",
		     SALVO_MAX_LABEL_BYTES, pointer);
	return label;
}

int salvo_bo_set_label_ioctl(struct drm_device *drm, void *data, struct drm_file *filp)
{
	struct salvo_dev *sdev = to_salvo(drm);
	struct drm_salvo_bo_set_label *args = data;
	struct drm_gem_object *base;
	char *label;
	int ret;

	ret = salvo_refuse_if(sdev, args->pad, -EINVAL, "pad is not zero") ?:
	      salvo_refuse_if(sdev, salvo_device_is_gone(sdev), -ENODEV, "the GPU is gone");
	if (ret)
		return ret;
	label = salvo_bo_copy_label(sdev, args->label);
	if (IS_ERR(label))
		return PTR_ERR(label);
	base = drm_gem_object_lookup(filp, args->handle);
	ret = salvo_refuse_if(sdev, !base, -ENOENT, "handle %u does not exist", args->handle);
	if (!ret) {
		mutex_lock(&sdev->bos_lock);
		swap(to_salvo_gem(base)->label, label);
		mutex_unlock(&sdev->bos_lock);
		drm_gem_object_put(base);
	}
	kfree(label);
	return ret;
}
