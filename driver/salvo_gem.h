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

/* Label of a buffer, with the zero at its end. */
#define SALVO_MAX_LABEL_BYTES	256u

/**
 * struct salvo_gem_object - A buffer object.
 *
 * Handles, CPU mappings, exported dma-bufs and bindings in address spaces hold it
 * as a GEM object.
 */
struct salvo_gem_object {
	/** @base: Of GEM. */
	struct drm_gem_object base;
	/** @node: In sdev->bos; sdev->bos_lock. */
	struct list_head node;
	/** @label: Name for people, or NULL; sdev->bos_lock. */
	char *label;
	/** @flags: DRM_SALVO_BO_*. */
	u32 flags;
	/** @address: GPU address. */
	u64 address;
	/** @place: In VRAM, or in the window for system memory. */
	struct drm_mm_node place;
	/** @shared: Was exported or imported: has implicit fences; sdev->space_lock. */
	bool shared;
	/** @gone_page: All of its mappings when the device is gone, or NULL; set once. */
	struct page *gone_page;
	/** @dma_buf: That was imported, or NULL; a reference. */
	struct dma_buf *dma_buf;
	/** @attach: To @dma_buf, until it is ended; sdev->bos_lock, once there is a handle. */
	struct dma_buf_attachment *attach;
	/** @sgt: Its pages, as long as @attach. */
	struct sg_table *sgt;
	/** @kept: Could not be ended yet; sdev->bos_lock. */
	bool kept;
	/** @free_work: Ends an imported buffer. */
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
