// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_query.c - DEV_QUERY: properties, limits and memory of the GPU
 *
 * Userspace may have an older or a newer version of a structure. It gets the fields that
 * both sides know, zeros for those that only userspace knows, and the driver's size.
 */
#include <linux/uaccess.h>

#include <drm/drm_file.h>

#include "salvo_ctx.h"
#include "salvo_device.h"
#include "salvo_drv.h"
#include "salvo_gem.h"
#include "salvo_vram.h"

/* Maximum size of a reply, also of later versions. */
#define SALVO_MAX_QUERY_BYTES	4096u

static int salvo_query_reply(struct salvo_dev *sdev, struct drm_salvo_dev_query *args,
			     const void *info, u32 known)
{
	void __user *to = u64_to_user_ptr(args->pointer);
	u32 size = args->size;

	args->size = known;
	if (!args->pointer)
		return 0;
	if (copy_to_user(to, info, min(size, known)) ||
	    (size > known && clear_user(to + known, size - known)))
		return salvo_refuse(sdev, -EFAULT, "cannot write %u bytes at %#llx", size,
				    args->pointer);
	return 0;
}

static int salvo_query_device(struct salvo_dev *sdev, struct drm_salvo_dev_query *args)
{
	const struct drm_salvo_device_info info = {
		.hw_version = sdev->mmio.version,
		.units = sdev->mmio.units,
		.nodes = sdev->mmio.nodes,
		.isa_level = sdev->mmio.isa_level,
		.vram_bytes = sdev->mmio.vram_bytes,
		.clock_hz = sdev->mmio.clock_hz,
		.max_commands = SALVO_MAX_COMMANDS,
		.max_argument_bytes = SALVO_MAX_ARGUMENT_BYTES,
		.max_dispatch_argument_bytes = SALVO_MAX_DISPATCH_ARGUMENT_BYTES,
		.max_group_items = SALVO_MAX_GROUP_ITEMS,
		.max_local_bytes = SALVO_MAX_LOCAL_BYTES,
		.max_syncs = SALVO_MAX_SYNCS,
		.max_items = SALVO_MAX_ITEMS,
		.resets = atomic64_read(&sdev->resets),
		.faults = atomic64_read(&sdev->faults),
		.max_groups = SALVO_MAX_GROUPS,
		.max_dispatches = SALVO_MAX_COMMANDS,
		.max_contexts = SALVO_MAX_CONTEXTS,
		.max_label_bytes = SALVO_MAX_LABEL_BYTES,
		.page_bytes = PAGE_SIZE,
		.max_slots = sdev->mmio.slots,
		.features = (sdev->mmio.features & SALVO_FEATURE_OVERLAP ?
			     DRM_SALVO_FEATURE_OVERLAP : 0) |
			    (sdev->mmio.features & SALVO_FEATURE_CONTENDS ?
			     DRM_SALVO_FEATURE_CONTENDS : 0),
	};

	return salvo_query_reply(sdev, args, &info, sizeof(info));
}

static int salvo_query_memory(struct salvo_dev *sdev, struct drm_salvo_dev_query *args)
{
	struct drm_salvo_memory_info info = {};

	salvo_vram_info(sdev, &info);
	return salvo_query_reply(sdev, args, &info, sizeof(info));
}

int salvo_dev_query_ioctl(struct drm_device *drm, void *data, struct drm_file *filp)
{
	struct salvo_dev *sdev = to_salvo(drm);
	struct drm_salvo_dev_query *args = data;
	int ret;

	ret = salvo_refuse_if(sdev, args->pointer && args->size > SALVO_MAX_QUERY_BYTES, -EINVAL,
			      "size %u exceeds %u", args->size, SALVO_MAX_QUERY_BYTES) ?:
	      salvo_refuse_if(sdev, salvo_device_is_gone(sdev), -ENODEV, "the GPU is gone");
	if (ret)
		return ret;
	switch (args->type) {
	case DRM_SALVO_QUERY_DEVICE:
		return salvo_query_device(sdev, args);
	case DRM_SALVO_QUERY_MEMORY:
		return salvo_query_memory(sdev, args);
	default:
		return salvo_refuse(sdev, -EINVAL, "type %u is unknown", args->type);
	}
}
