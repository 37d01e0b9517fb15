// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_gem.c - buffer objects in VRAM
 *
 * A buffer has two halves with lives of their own: the GEM object, which handles
 * and CPU mappings hold, and the binding in its file's address space, which ends
 * in steps (salvo_vm.c) after the handle was closed. Both hold the piece of VRAM,
 * so that memory comes free when neither the GPU nor the CPU can see it.
 *
 * VRAM is contiguous and the buffer's place in it is its GPU address. Without
 * PRIME and without flink (the primary node is refused) a buffer never has more
 * than one file, and one handle.
 *
 * CPU mappings are made of the aperture's pages at the first touch and are taken
 * away when the device is unplugged; later touches find a page that stands in for it.
 */
#include <linux/sched/signal.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/string_helpers.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>

#include "salvo_device.h"
#include "salvo_drv.h"
#include "salvo_gem.h"
#include "salvo_vm.h"

/* How long BO_CREATE waits for memory that is on its way to become free. */
#define SALVO_VRAM_WAIT_JIFFIES	HZ
/* Bytes zeroed between two chances for others to run. */
#define SALVO_VRAM_ZERO_STEP	SZ_1M
/* Pages put into a CPU mapping at one touch, a power of two. */
#define SALVO_FAULT_AROUND	64u

/* --- VRAM -------------------------------------------------------------------- */

/**
 * struct salvo_vram - A piece of VRAM.
 */
struct salvo_vram {
	/** @ref: Of the buffer and of its binding. */
	struct kref ref;
	/** @sdev: The device. */
	struct salvo_device *sdev;
	/** @node: Its place; sdev->vram_lock. */
	struct drm_mm_node node;
};

int salvo_vram_init(struct salvo_device *sdev)
{
	mutex_init(&sdev->bos_lock);
	INIT_LIST_HEAD(&sdev->bos);
	mutex_init(&sdev->vram_lock);
	drm_mm_init(&sdev->vram, 0, sdev->mmio.vram_bytes);
	return 0;
}

/** salvo_vram_fini() - All files are closed. */
void salvo_vram_fini(struct salvo_device *sdev)
{
	drm_mm_takedown(&sdev->vram);
	mutex_destroy(&sdev->vram_lock);
	mutex_destroy(&sdev->bos_lock);
}

static void salvo_vram_release(struct kref *ref)
{
	struct salvo_vram *vram = container_of(ref, struct salvo_vram, ref);
	struct salvo_device *sdev = vram->sdev;

	mutex_lock(&sdev->vram_lock);
	sdev->vram_used -= vram->node.size;
	drm_mm_remove_node(&vram->node);
	mutex_unlock(&sdev->vram_lock);
	kfree(vram);
	wake_up_all(&sdev->progress);
}

struct salvo_vram *salvo_vram_get(struct salvo_vram *vram)
{
	kref_get(&vram->ref);
	return vram;
}

void salvo_vram_put(struct salvo_vram *vram)
{
	kref_put(&vram->ref, salvo_vram_release);
}

/** salvo_vram_info() - How full VRAM is. */
void salvo_vram_info(struct salvo_device *sdev, struct drm_salvo_memory_info *info)
{
	const struct drm_mm_node *node;
	u64 start, end;

	info->vram_bytes = sdev->mmio.vram_bytes;
	mutex_lock(&sdev->vram_lock);
	info->vram_free = info->vram_bytes - sdev->vram_used;
	drm_mm_for_each_hole(node, &sdev->vram, start, end)
		info->vram_largest = max(info->vram_largest, end - start);
	mutex_unlock(&sdev->vram_lock);
}

/** salvo_vram_offset() - First byte in VRAM. */
u64 salvo_vram_offset(const struct salvo_vram *vram)
{
	return vram->node.start;
}

/** salvo_vram_size() - Bytes. */
u64 salvo_vram_size(const struct salvo_vram *vram)
{
	return vram->node.size;
}

static bool salvo_vram_try_insert(struct salvo_vram *vram, u64 size)
{
	struct salvo_device *sdev = vram->sdev;
	int ret;

	mutex_lock(&sdev->vram_lock);
	ret = drm_mm_insert_node(&sdev->vram, &vram->node, size);
	if (!ret)
		sdev->vram_used += size;
	mutex_unlock(&sdev->vram_lock);
	return !ret;
}

/*
 * Memory of buffers that were just closed comes free a moment later. A condition
 * of wait_event() must not take a mutex; wait_woken() lets us try in between.
 */
static int salvo_vram_insert(struct salvo_vram *vram, u64 size)
{
	struct salvo_device *sdev = vram->sdev;
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	long left = SALVO_VRAM_WAIT_JIFFIES;
	bool more;
	int ret;

	add_wait_queue(&sdev->progress, &wait);
	for (;;) {
		/* Asked before the try: what comes free in between is found. */
		more = READ_ONCE(sdev->reclaiming) && !salvo_device_is_gone(sdev);
		if (salvo_vram_try_insert(vram, size)) {
			ret = 0;
			break;
		}
		if (!left || !more) {
			ret = salvo_refuse(sdev, -ENOSPC, "%llu bytes of VRAM are free", size);
			break;
		}
		if (signal_pending(current)) {
			ret = -ERESTARTSYS;
			break;
		}
		left = wait_woken(&wait, TASK_INTERRUPTIBLE, left);
	}
	remove_wait_queue(&sdev->progress, &wait);
	return ret;
}

static void salvo_vram_zero(struct salvo_vram *vram)
{
	void __iomem *base = vram->sdev->mmio.vram + vram->node.start;
	u64 done, step;

	for (done = 0; done < vram->node.size; done += step) {
		step = min_t(u64, vram->node.size - done, SALVO_VRAM_ZERO_STEP);
		memset_io(base + done, 0, step);
		cond_resched();
	}
}

static struct salvo_vram *salvo_vram_create(struct salvo_device *sdev, u64 size)
{
	struct salvo_vram *vram;
	int ret;

	vram = kzalloc(sizeof(*vram), GFP_KERNEL_ACCOUNT);
	if (!vram)
		return ERR_PTR(-ENOMEM);
	kref_init(&vram->ref);
	vram->sdev = sdev;
	ret = salvo_vram_insert(vram, size);
	if (ret) {
		kfree(vram);
		return ERR_PTR(ret);
	}
	salvo_vram_zero(vram);
	return vram;
}

/* --- buffers ----------------------------------------------------------------- */

/**
 * struct salvo_bo - A buffer object.
 */
struct salvo_bo {
	/** @base: Of GEM. */
	struct drm_gem_object base;
	/** @vram: Its memory; a reference. */
	struct salvo_vram *vram;
	/** @flags: DRM_SALVO_BO_*. */
	u32 flags;
	/** @node: In sdev->bos; sdev->bos_lock. */
	struct list_head node;
	/** @label: Name for people, or NULL; sdev->bos_lock. */
	char *label;
	/** @binding: In the address space of its file, until its handle is closed. */
	struct salvo_binding *binding;
	/** @gone_page: All of its mappings when the device is gone, or NULL; set once. */
	struct page *gone_page;
};

static struct salvo_bo *to_salvo_bo(struct drm_gem_object *base)
{
	return container_of(base, struct salvo_bo, base);
}

static void salvo_bo_free(struct drm_gem_object *base)
{
	struct salvo_device *sdev = to_salvo(base->dev);
	struct salvo_bo *bo = to_salvo_bo(base);

	mutex_lock(&sdev->bos_lock);
	list_del(&bo->node);
	mutex_unlock(&sdev->bos_lock);
	salvo_vram_put(bo->vram);
	drm_gem_object_release(base);
	if (bo->gone_page)
		__free_page(bo->gone_page);
	kfree(bo->label);
	kfree(bo);
}

static void salvo_bo_close(struct drm_gem_object *base, struct drm_file *filp)
{
	struct salvo_file *file = filp->driver_priv;

	salvo_vm_unbind(file->vm, to_salvo_bo(base)->binding);
}

/*
 * The VRAM is gone, but nobody is to die of SIGBUS for it: a page of ordinary memory
 * stands in for all pages of the buffer, so that what is read there means nothing.
 */
static vm_fault_t salvo_bo_fault_gone(struct salvo_bo *bo, struct vm_fault *vmf)
{
	struct page *page = READ_ONCE(bo->gone_page);

	if (!page) {
		page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!page)
			return VM_FAULT_OOM;
		/* Another thread may have been first. */
		if (cmpxchg(&bo->gone_page, NULL, page)) {
			__free_page(page);
			page = READ_ONCE(bo->gone_page);
		}
	}
	return vmf_insert_pfn(vmf->vma, vmf->address & PAGE_MASK, page_to_pfn(page));
}

static vm_fault_t salvo_bo_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct salvo_bo *bo = to_salvo_bo(vma->vm_private_data);
	struct salvo_device *sdev = to_salvo(bo->base.dev);
	unsigned long pages = bo->base.size >> PAGE_SHIFT;
	unsigned long address = vmf->address & PAGE_MASK;
	unsigned long first, page, last, pfn;
	vm_fault_t ret = VM_FAULT_SIGBUS;
	int idx;

	if (!drm_dev_enter(&sdev->drm, &idx))
		return salvo_bo_fault_gone(bo, vmf);
	/* The mapping may start anywhere, after mremap and partial munmap. */
	first = vmf->pgoff - drm_vma_node_start(&bo->base.vma_node);
	if (first >= pages)
		goto exit;
	last = min(pages, (first | (SALVO_FAULT_AROUND - 1)) + 1);
	pfn = (sdev->mmio.vram_start + salvo_vram_offset(bo->vram)) >> PAGE_SHIFT;
	ret = vmf_insert_pfn(vma, address, pfn + first);
	for (page = first + 1; ret == VM_FAULT_NOPAGE && page < last; page++) {
		address += PAGE_SIZE;
		if (address >= vma->vm_end)
			break;
		ret = vmf_insert_pfn(vma, address, pfn + page);
	}
exit:
	drm_dev_exit(idx);
	return ret;
}

static const struct vm_operations_struct salvo_bo_vm_ops = {
	.open = drm_gem_vm_open,
	.close = drm_gem_vm_close,
	.fault = salvo_bo_fault,
};

static const struct drm_gem_object_funcs salvo_bo_funcs = {
	.free = salvo_bo_free,
	.close = salvo_bo_close,
	.vm_ops = &salvo_bo_vm_ops,
};

static struct salvo_bo *salvo_bo_create(struct salvo_device *sdev, u64 size, u32 flags)
{
	struct salvo_bo *bo;
	int ret;

	bo = kzalloc(sizeof(*bo), GFP_KERNEL_ACCOUNT);
	if (!bo)
		return ERR_PTR(-ENOMEM);
	bo->vram = salvo_vram_create(sdev, size);
	if (IS_ERR(bo->vram)) {
		ret = PTR_ERR(bo->vram);
		kfree(bo);
		return ERR_PTR(ret);
	}
	bo->flags = flags;
	bo->base.funcs = &salvo_bo_funcs;
	drm_gem_private_object_init(&sdev->drm, &bo->base, size);
	mutex_lock(&sdev->bos_lock);
	list_add_tail(&bo->node, &sdev->bos);
	mutex_unlock(&sdev->bos_lock);
	return bo;
}

static u32 salvo_bo_access(u32 flags)
{
	u32 access = SALVO_ACCESS_READ;

	if (flags & DRM_SALVO_BO_EXEC)
		access |= SALVO_ACCESS_EXEC;
	else if (!(flags & DRM_SALVO_BO_READONLY))
		access |= SALVO_ACCESS_WRITE;
	return access;
}

static int salvo_bo_create_entered(struct salvo_device *sdev, struct drm_salvo_bo_create *args,
				   struct drm_file *filp)
{
	struct salvo_file *file = filp->driver_priv;
	struct salvo_binding *binding;
	struct salvo_bo *bo;
	int ret;

	ret = salvo_check(sdev, !salvo_device_is_gone(sdev), -ENODEV) ?:
	      salvo_check(sdev, args->size, -EINVAL) ?:
	      salvo_check(sdev, !(args->flags & ~(DRM_SALVO_BO_EXEC | DRM_SALVO_BO_READONLY)),
			  -EINVAL) ?:
	      salvo_check(sdev, args->size <= sdev->mmio.vram_bytes, -ENOSPC);
	if (ret)
		return ret;

	bo = salvo_bo_create(sdev, PAGE_ALIGN(args->size), args->flags);
	if (IS_ERR(bo))
		return PTR_ERR(bo);
	binding = salvo_vm_bind(file->vm, bo->vram, salvo_bo_access(args->flags));
	if (IS_ERR(binding)) {
		ret = PTR_ERR(binding);
		goto out_put;
	}
	bo->binding = binding;
	args->size = bo->base.size;
	args->address = sdev->mmio.va_base + salvo_vram_offset(bo->vram);
	/* From here on the user may close the handle, which unbinds. */
	ret = drm_gem_handle_create(filp, &bo->base, &args->handle);
	if (ret)
		salvo_vm_unbind(file->vm, binding);
out_put:
	drm_gem_object_put(&bo->base);
	return ret;
}

int salvo_bo_create_ioctl(struct drm_device *drm, void *data, struct drm_file *filp)
{
	struct salvo_device *sdev = to_salvo(drm);
	int idx, ret;

	if (!drm_dev_enter(drm, &idx))
		return salvo_refuse(sdev, -ENODEV, "the device is bound");
	ret = salvo_bo_create_entered(sdev, data, filp);
	drm_dev_exit(idx);
	return ret;
}

/**
 * salvo_bo_mmap() - mmap() of the render node.
 * @filp: The open file.
 * @vma: What to map into.
 *
 * Return: 0, -EINVAL (also for a private mapping, which would be copied when written,
 * but there are no pages to copy), -EACCES and what drm_gem_mmap() gives.
 */
int salvo_bo_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct drm_file *drm_file = filp->private_data;
	int ret;

	ret = salvo_check(to_salvo(drm_file->minor->dev), !is_cow_mapping(vma->vm_flags), -EINVAL);
	return ret ?: drm_gem_mmap(filp, vma);
}

int salvo_bo_mmap_offset_ioctl(struct drm_device *drm, void *data, struct drm_file *filp)
{
	struct salvo_device *sdev = to_salvo(drm);
	struct drm_salvo_bo_mmap_offset *args = data;
	struct drm_gem_object *base;
	int ret;

	ret = salvo_check(sdev, !args->pad, -EINVAL) ?:
	      salvo_check(sdev, !salvo_device_is_gone(sdev), -ENODEV);
	if (ret)
		return ret;
	base = drm_gem_object_lookup(filp, args->handle);
	ret = salvo_check(sdev, base, -ENOENT);
	if (ret)
		return ret;
	ret = drm_gem_create_mmap_offset(base);
	if (!ret)
		args->offset = drm_vma_node_offset_addr(&base->vma_node);
	drm_gem_object_put(base);
	return ret;
}

/** salvo_bo_show_all() - For debugfs: a line for each buffer. */
void salvo_bo_show_all(struct salvo_device *sdev, struct seq_file *m)
{
	struct salvo_bo *bo;

	seq_printf(m, "%18s %12s %5s %7s label\n", "address", "bytes", "flags", "handles");
	mutex_lock(&sdev->bos_lock);
	list_for_each_entry(bo, &sdev->bos, node) {
		seq_printf(m, "%#18llx %12zu %#5x %7u ",
			   sdev->mmio.va_base + salvo_vram_offset(bo->vram), bo->base.size,
			   bo->flags, READ_ONCE(bo->base.handle_count));
		if (bo->label)
			seq_escape_str(m, bo->label, ESCAPE_NP | ESCAPE_SPACE | ESCAPE_HEX, NULL);
		seq_putc(m, '\n');
	}
	mutex_unlock(&sdev->bos_lock);
}

int salvo_bo_query_ioctl(struct drm_device *drm, void *data, struct drm_file *filp)
{
	struct salvo_device *sdev = to_salvo(drm);
	struct drm_salvo_bo_query *args = data;
	struct drm_gem_object *base;
	int ret;

	ret = salvo_check(sdev, !salvo_device_is_gone(sdev), -ENODEV);
	if (ret)
		return ret;
	base = drm_gem_object_lookup(filp, args->handle);
	ret = salvo_check(sdev, base, -ENOENT);
	if (ret)
		return ret;
	args->flags = to_salvo_bo(base)->flags;
	args->size = base->size;
	args->address = sdev->mmio.va_base + salvo_vram_offset(to_salvo_bo(base)->vram);
	drm_gem_object_put(base);
	return 0;
}

/* Return: the string, NULL for none, -EFAULT, -E2BIG, -ENOMEM. */
static char *salvo_bo_copy_label(struct salvo_device *sdev, u64 pointer)
{
	char *label;

	if (!pointer)
		return NULL;
	label = strndup_user(u64_to_user_ptr(pointer), SALVO_MAX_LABEL_BYTES);
	if (!IS_ERR(label))
		return label;
	if (PTR_ERR(label) == -EINVAL)
		label = ERR_PTR(-E2BIG);
	salvo_refuse(sdev, PTR_ERR(label), "the label at %#llx has less than %u bytes", pointer,
		     SALVO_MAX_LABEL_BYTES);
	return label;
}

int salvo_bo_set_label_ioctl(struct drm_device *drm, void *data, struct drm_file *filp)
{
	struct salvo_device *sdev = to_salvo(drm);
	struct drm_salvo_bo_set_label *args = data;
	struct drm_gem_object *base;
	char *label;
	int ret;

	ret = salvo_check(sdev, !args->pad, -EINVAL) ?:
	      salvo_check(sdev, !salvo_device_is_gone(sdev), -ENODEV);
	if (ret)
		return ret;
	label = salvo_bo_copy_label(sdev, args->label);
	if (IS_ERR(label))
		return PTR_ERR(label);
	base = drm_gem_object_lookup(filp, args->handle);
	ret = salvo_check(sdev, base, -ENOENT);
	if (!ret) {
		mutex_lock(&sdev->bos_lock);
		swap(to_salvo_bo(base)->label, label);
		mutex_unlock(&sdev->bos_lock);
		drm_gem_object_put(base);
	}
	kfree(label);
	return ret;
}
