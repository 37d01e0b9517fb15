/* SPDX-License-Identifier: MIT */
/*
 * drm_device.h - the kernel driver's back end, for its own files
 */
#ifndef SALVO_DRM_DEVICE_H
#define SALVO_DRM_DEVICE_H

#include "container_of.h"
#include "device.h"
#include "winsys.h"

struct drm_handle;

struct drm_device {
	struct salvo_device base;
	int fd;
	/** @lock: Protects all below it, and the counts of contexts. */
	pthread_mutex_t lock;
	/** @pool: Syncobjs that no fence uses. */
	uint32_t *pool;
	unsigned int pool_count;
	unsigned int pool_capacity;
	/** @handles: GEM handles of buffers. */
	struct drm_handle *handles;
	/** @max_slots: As of DEV_QUERY. */
	uint32_t max_slots;
};

static inline struct drm_device *to_drm(struct salvo_device *device)
{
	return container_of(device, struct drm_device, base);
}

/** salvo_drm_call() - An ioctl. Return: 0 or -errno. */
int salvo_drm_call(struct drm_device *dev, unsigned long request, void *arg);

/** salvo_drm_bo_handle() - The GEM handle of a buffer. */
uint32_t salvo_drm_bo_handle(struct salvo_bo *bo);

/* drm_slot.c */
int salvo_drm_slot_attach(struct salvo_winsys_slot *slot);
void salvo_drm_slot_detach(struct salvo_winsys_slot *slot);
void salvo_drm_slot_wake(struct salvo_winsys_slot *slot);
void salvo_drm_slot_notify(struct salvo_winsys_slot *slot);
unsigned int salvo_drm_slot_why(const struct salvo_winsys_slot *slot);

/* drm_queue.c */
/** salvo_drm_queue_context() - The context of a queue. */
uint32_t salvo_drm_queue_context(struct salvo_queue *queue);
int salvo_drm_queue_create(struct salvo_device *device, const struct salvo_queue_config *config,
			   struct salvo_queue **out);
void salvo_drm_queue_destroy(struct salvo_queue *queue);
int salvo_drm_queue_submit(struct salvo_queue *queue, struct salvo_winsys_submit *submission,
			   struct salvo_fence **out);
int salvo_drm_fence_wait(struct salvo_fence *fence, int64_t timeout_ns);
int salvo_drm_fence_wait_many(struct salvo_device *device, struct salvo_fence *const *fences,
			      unsigned int count, bool all, int64_t timeout_ns,
			      unsigned int *first);
int salvo_drm_fence_get_fd(struct salvo_fence *fence, int *out);
int salvo_drm_fence_import_fd(struct salvo_device *device, int fd, struct salvo_fence **out);
void salvo_drm_fence_get_error(struct salvo_fence *fence, struct salvo_error *error);
void salvo_drm_fence_free(struct salvo_fence *fence);

#endif /* SALVO_DRM_DEVICE_H */
