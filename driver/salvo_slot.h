/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_slot.h - slots: memory through which single kernels reach execution units
 */
#ifndef SALVO_SLOT_H
#define SALVO_SLOT_H

#include <linux/types.h>

struct drm_device;
struct drm_file;
struct salvo_ctx;
struct salvo_dev;
struct salvo_file;
struct salvo_vm;

void salvo_slot_detach_ctx(struct salvo_ctx *ctx);
void salvo_slot_close(struct salvo_file *file);
unsigned int salvo_slot_count(struct salvo_file *file);

bool salvo_slot_reclaim(struct salvo_dev *sdev, u64 retired);
void salvo_slot_drop_vm(struct salvo_vm *vm);
void salvo_slot_drop_all(struct salvo_dev *sdev);
void salvo_slot_drop_ctx(struct salvo_dev *sdev, const struct salvo_ctx *ctx);
struct salvo_ctx *salvo_slot_sample_hang(struct salvo_dev *sdev, u32 limit);
bool salvo_slot_pause_all(struct salvo_dev *sdev);
int salvo_slot_resume_all(struct salvo_dev *sdev, bool was_reset);

int salvo_slot_attach_ioctl(struct drm_device *drm, void *data, struct drm_file *filp);
int salvo_slot_detach_ioctl(struct drm_device *drm, void *data, struct drm_file *filp);
int salvo_slot_wake_ioctl(struct drm_device *drm, void *data, struct drm_file *filp);
int salvo_slot_wait_ioctl(struct drm_device *drm, void *data, struct drm_file *filp);

#endif /* SALVO_SLOT_H */
