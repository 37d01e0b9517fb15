/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_drv.h - an open file; ioctls without a header of their own
 */
#ifndef SALVO_DRV_H
#define SALVO_DRV_H

#include <linux/types.h>
#include <linux/xarray.h>

#include <drm/drm.h>

#include "uapi/drm/salvo_drm.h"

struct drm_device;
struct drm_file;
struct drm_minor;
struct file;
struct salvo_vm;
struct seq_file;

/* Maximum length of each syncobj array of a submission. */
#define SALVO_MAX_SYNCS	1024u

/**
 * struct salvo_file - An open file of the render node.
 */
struct salvo_file {
	/** @vm: GPU address space. */
	struct salvo_vm *vm;
	/** @ctxs: Contexts, by id. */
	struct xarray ctxs;
	/** @slots: Slots, by id. */
	struct xarray slots;
	/** @client: Client id in fdinfo. */
	u64 client;
};

int salvo_dev_query_ioctl(struct drm_device *drm, void *data, struct drm_file *filp);
int salvo_submit_ioctl(struct drm_device *drm, void *data, struct drm_file *filp);
void salvo_fdinfo_show(struct seq_file *m, struct file *f);
void salvo_debugfs_init(struct drm_minor *minor);

#endif /* SALVO_DRV_H */
