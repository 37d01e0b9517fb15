/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_gem.h - buffer objects
 */
#ifndef SALVO_GEM_H
#define SALVO_GEM_H

#include <linux/types.h>

#include <drm/drm_gem.h>
#include <drm/drm_mm.h>

struct dma_buf;
struct dma_buf_attachment;
struct drm_device;
struct drm_file;
struct page;
struct salvo_dev;
struct seq_file;
struct sg_table;
struct vm_area_struct;

/* Maximum size of a label, with the terminating zero. */
#define SALVO_MAX_LABEL_BYTES	256u

/**
 * struct salvo_gem_object - A buffer object.
 *
 * References are held by handles, CPU mappings, exported dma-bufs and vmas.
 */
struct salvo_gem_object {
	/** @base: Base of GEM. */
	struct drm_gem_object base;
	/** @node: Entry in sdev->bos; protected by sdev->bos_lock. */
	struct list_head node;
	/** @label: Label for debugging, or NULL; protected by sdev->bos_lock. */
	char *label;
	/** @flags: DRM_SALVO_BO_*. */
	u32 flags;
	/** @address: GPU address. */
	u64 address;
	/** @place: Allocation in VRAM, or in the window for system memory. */
	struct drm_mm_node place;
	/** @shared: Was exported or imported, so implicit fences apply; sdev->space_lock. */
	bool shared;
	/** @dummy_page: Page that CPU mappings show after an unplug, or NULL; set once. */
	struct page *dummy_page;
	/** @dma_buf: Imported dma-buf, or NULL; holds a reference. */
	struct dma_buf *dma_buf;
	/** @attach: Attachment to @dma_buf; protected by sdev->bos_lock once there is a handle. */
	struct dma_buf_attachment *attach;
	/** @sgt: Pages of @dma_buf, valid as long as @attach. */
	struct sg_table *sgt;
	/** @free_deferred: @free_work left the attachment in place; sdev->bos_lock. */
	bool free_deferred;
	/** @free_work: Frees an imported buffer. */
	struct work_struct free_work;
};

static inline struct salvo_gem_object *to_salvo_gem(struct drm_gem_object *base)
{
	return container_of(base, struct salvo_gem_object, base);
}

void salvo_gem_init_list(struct salvo_dev *sdev);
void salvo_gem_fini_list(struct salvo_dev *sdev);
void salvo_gem_show_all(struct salvo_dev *sdev, struct seq_file *m);

struct salvo_gem_object *salvo_gem_create(struct salvo_dev *sdev, u64 size, u32 flags);
void salvo_gem_destroy(struct salvo_gem_object *bo);
u32 salvo_gem_access(const struct salvo_gem_object *bo);

int salvo_bo_create_ioctl(struct drm_device *drm, void *data, struct drm_file *filp);
int salvo_bo_mmap_offset_ioctl(struct drm_device *drm, void *data, struct drm_file *filp);
int salvo_bo_query_ioctl(struct drm_device *drm, void *data, struct drm_file *filp);
int salvo_bo_set_label_ioctl(struct drm_device *drm, void *data, struct drm_file *filp);

#endif /* SALVO_GEM_H */
