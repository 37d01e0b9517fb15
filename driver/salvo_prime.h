/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_prime.h - export and import of dma-bufs
 */
#ifndef SALVO_PRIME_H
#define SALVO_PRIME_H

struct dma_buf;
struct dma_buf_attachment;
struct drm_device;
struct drm_gem_object;
struct salvo_gem_object;
struct salvo_dev;
struct sg_table;
struct vm_area_struct;

int salvo_prime_init(void);
void salvo_prime_fini(void);

struct dma_buf *salvo_prime_export(struct drm_gem_object *base, int flags);
int salvo_prime_pin(struct drm_gem_object *base);

struct drm_gem_object *salvo_prime_import(struct drm_device *drm, struct dma_buf *dma_buf);
struct drm_gem_object *salvo_prime_import_sg_table(struct drm_device *drm,
						   struct dma_buf_attachment *attach,
						   struct sg_table *sgt);
int salvo_prime_mmap(struct drm_gem_object *base, struct vm_area_struct *vma);
void salvo_prime_free(struct salvo_gem_object *bo);
void salvo_prime_detach_all(struct salvo_dev *sdev);

#endif /* SALVO_PRIME_H */
