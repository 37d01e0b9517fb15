/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_gem.h - buffer objects in VRAM
 */
#ifndef SALVO_GEM_H
#define SALVO_GEM_H

#include <linux/types.h>

struct drm_device;
struct drm_file;
struct drm_salvo_memory_info;
struct file;
struct salvo_device;
struct seq_file;
struct salvo_vram;
struct vm_area_struct;

/* Label of a buffer, with the zero at its end. */
#define SALVO_MAX_LABEL_BYTES	256u

int salvo_vram_init(struct salvo_device *sdev);
void salvo_vram_fini(struct salvo_device *sdev);
void salvo_bo_show_all(struct salvo_device *sdev, struct seq_file *m);
struct salvo_vram *salvo_vram_get(struct salvo_vram *vram);
void salvo_vram_put(struct salvo_vram *vram);
void salvo_vram_info(struct salvo_device *sdev, struct drm_salvo_memory_info *info);
u64 salvo_vram_offset(const struct salvo_vram *vram);
u64 salvo_vram_size(const struct salvo_vram *vram);

int salvo_bo_create_ioctl(struct drm_device *drm, void *data, struct drm_file *filp);
int salvo_bo_mmap(struct file *filp, struct vm_area_struct *vma);
int salvo_bo_mmap_offset_ioctl(struct drm_device *drm, void *data, struct drm_file *filp);
int salvo_bo_query_ioctl(struct drm_device *drm, void *data, struct drm_file *filp);
int salvo_bo_set_label_ioctl(struct drm_device *drm, void *data, struct drm_file *filp);

#endif /* SALVO_GEM_H */
