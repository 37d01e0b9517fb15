/* SPDX-License-Identifier: MIT */
/*
 * winsys.h - the private interface between libsalvo and its two back ends
 *
 * winsys_drm talks to the kernel driver, winsys_soft to the embedded GPU. Both
 * take the same batch (the structures of the uAPI) and give the same errors; all
 * above this file does not know which one it is on.
 */
#ifndef SALVO_WINSYS_H
#define SALVO_WINSYS_H

#include <stdbool.h>

#include "driver/salvo_validate.h"
#include "salvo.h"

/** define SALVO_ERROR_BYTES - Room for one line that tells what is wrong with a batch. */
#define SALVO_ERROR_BYTES 192

/**
 * struct salvo_submission - What salvo_queue_submit() hands to a back end.
 */
struct salvo_submission {
	/** @batch: Commands, arguments and profile; not kept. */
	struct salvo_batch_desc batch;
	/** @waits: Fences of this device, all not NULL. */
	struct salvo_fence *const *waits;
	unsigned int wait_count;
	/** @why: Filled in by the back end when it refuses the batch. */
	struct salvo_reject why;
};

/**
 * struct salvo_winsys - The functions of a back end. A create function
 * allocates the object with its own data behind the public base.
 */
struct salvo_winsys {
	void (*close)(struct salvo_device *device);
	int (*get_stats)(struct salvo_device *device, struct salvo_device_stats *stats);
	/* @flags: DRM_SALVO_BO_* */
	int (*bo_create)(struct salvo_device *device, uint64_t size, uint32_t flags,
			 struct salvo_bo **out);
	void (*bo_destroy)(struct salvo_bo *bo);
	int (*bo_map)(struct salvo_bo *bo, void **out);
	int (*queue_create)(struct salvo_device *device, uint64_t eu_mask,
			    struct salvo_queue **out);
	void (*queue_destroy)(struct salvo_queue *queue);
	int (*queue_submit)(struct salvo_queue *queue, struct salvo_submission *submission,
			    struct salvo_fence **out);
	int (*fence_wait)(struct salvo_fence *fence, int64_t timeout_ns);
	void (*fence_destroy)(struct salvo_fence *fence);
};

/**
 * struct salvo_device - Base of a back end's device.
 */
struct salvo_device {
	const struct salvo_winsys *winsys;
	struct salvo_device_info info;
	/** @embedded: GPU addresses are addresses of this process. */
	bool embedded;
	/** @dump: Where batches are written for people, or NULL. */
	struct salvo_dump *dump;
};

struct salvo_bo {
	struct salvo_device *device;
	uint64_t size;
	uint64_t address;
};

struct salvo_queue {
	struct salvo_device *device;
};

struct salvo_fence {
	struct salvo_device *device;
};

int salvo_winsys_soft_open(struct salvo_device **out);

/**
 * salvo_winsys_drm_open() - Open a render node.
 * @path: The node, or NULL to look for the first that is a Salvo GPU.
 *
 * Return: 0, -ENODEV (no Salvo GPU), -ENOENT, -EACCES (@path), -ENOMEM.
 */
int salvo_winsys_drm_open(const char *path, struct salvo_device **out);

/** salvo_now_ns() - CLOCK_MONOTONIC in nanoseconds. */
int64_t salvo_now_ns(void);

/** salvo_deadline_ns() - When @timeout_ns from now is, on salvo_now_ns()'s clock. */
int64_t salvo_deadline_ns(int64_t timeout_ns);

#endif /* SALVO_WINSYS_H */
