/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_vram.h - allocation of VRAM and of the window for system memory
 */
#ifndef SALVO_VRAM_H
#define SALVO_VRAM_H

#include <linux/types.h>

struct drm_mm_node;
struct drm_salvo_memory_info;
struct salvo_dev;

void salvo_vram_init(struct salvo_dev *sdev);
void salvo_vram_fini(struct salvo_dev *sdev);

int salvo_vram_alloc(struct salvo_dev *sdev, struct drm_mm_node *node, u64 size);
int salvo_vram_alloc_window(struct salvo_dev *sdev, struct drm_mm_node *node, u64 size);
void salvo_vram_free(struct salvo_dev *sdev, struct drm_mm_node *node);
void salvo_vram_free_window(struct salvo_dev *sdev, struct drm_mm_node *node);

int salvo_vram_zero(struct salvo_dev *sdev, const struct drm_mm_node *node);
void salvo_vram_info(struct salvo_dev *sdev, struct drm_salvo_memory_info *info);

#endif /* SALVO_VRAM_H */
