// SPDX-License-Identifier: MIT
/*
 * bo.c - buffer objects in video memory
 *
 * A buffer keeps one GPU address and one CPU address for its whole life. Both
 * back ends free its memory only when the batches submitted before are done.
 */
#include "bo.h"

#include <errno.h>

#include "cancel.h"
#include "device.h"
#include "observer.h"
#include "winsys.h"

static void observe_created(struct salvo_bo *bo, bool readonly)
{
	struct salvo_observer *observer = bo->device->observer;

	if (observer)
		observer->ops->bo_created(observer, bo, readonly);
}

int salvo_bo_create(struct salvo_device *device, uint64_t size, uint32_t flags,
		    struct salvo_bo **out)
{
	int err, state;

	*out = NULL;
	if (!size || (flags & ~SALVO_BO_READONLY))
		return -EINVAL;
	if (salvo_device_is_inherited(device))
		return -ENODEV;
	state = salvo_cancel_disable();
	err = device->winsys->bo_create(device, size,
					flags & SALVO_BO_READONLY ? DRM_SALVO_BO_READONLY : 0,
					out);
	if (!err)
		observe_created(*out, flags & SALVO_BO_READONLY);
	salvo_cancel_restore(state);
	return err;
}

int salvo_bo_import_dmabuf(struct salvo_device *device, int fd, uint32_t flags,
			   struct salvo_bo **out)
{
	int err, state;

	*out = NULL;
	if (flags & ~SALVO_BO_READONLY)
		return -EINVAL;
	if (!device->winsys->bo_import)
		return -ENOTSUP;
	if (salvo_device_is_inherited(device))
		return -ENODEV;
	state = salvo_cancel_disable();
	err = device->winsys->bo_import(device, fd, flags ? DRM_SALVO_BO_READONLY : 0, out);
	if (!err)
		observe_created(*out, flags & SALVO_BO_READONLY);
	salvo_cancel_restore(state);
	return err;
}

int salvo_bo_create_from_memory(struct salvo_device *device, void *memory, uint64_t size,
				uint32_t flags, struct salvo_bo **out)
{
	int err, state;

	*out = NULL;
	if (!memory || !size || size > UINTPTR_MAX - (uintptr_t)memory ||
	    (flags & ~SALVO_BO_READONLY))
		return -EINVAL;
	if (!device->winsys->bo_from_memory)
		return -ENOTSUP;
	if (salvo_device_is_inherited(device))
		return -ENODEV;
	state = salvo_cancel_disable();
	err = device->winsys->bo_from_memory(device, memory, size,
					     flags ? DRM_SALVO_BO_READONLY : 0, out);
	if (!err)
		observe_created(*out, flags & SALVO_BO_READONLY);
	salvo_cancel_restore(state);
	return err;
}

int salvo_bo_export_dmabuf(struct salvo_bo *bo, int *out)
{
	*out = -1;
	if (!bo->device->winsys->bo_export)
		return -ENOTSUP;
	return bo->device->winsys->bo_export(bo, out);
}

void salvo_bo_destroy(struct salvo_bo *bo)
{
	struct salvo_observer *observer;
	int state;

	if (!bo)
		return;
	state = salvo_cancel_disable();
	observer = salvo_device_is_inherited(bo->device) ? NULL : bo->device->observer;
	if (observer)
		observer->ops->bo_destroyed(observer, bo);
	bo->device->winsys->bo_destroy(bo);
	salvo_cancel_restore(state);
}

int salvo_bo_map(struct salvo_bo *bo, void **out)
{
	*out = NULL;
	return bo->device->winsys->bo_map(bo, out);
}

uint64_t salvo_bo_size(const struct salvo_bo *bo)
{
	return bo->size;
}

uint64_t salvo_bo_address(const struct salvo_bo *bo)
{
	return bo->address;
}
