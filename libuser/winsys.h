/* SPDX-License-Identifier: MIT */
/*
 * winsys.h - the private interface between libsalvo and its two back ends
 *
 * libuser/drm talks to the kernel driver, libuser/soft to the embedded GPU. Both
 * take the same batch (the structures of the uAPI) and return the same errors; the objects
 * of the API do not know which one they are on.
 */
#ifndef SALVO_WINSYS_H
#define SALVO_WINSYS_H

#include <stdbool.h>

#include "salvo_validate.h"
#include "salvo.h"

/**
 * struct salvo_validated - The result of the last validation of a batch, and its packet.
 */
struct salvo_validated {
	/** @epoch: The back end's count of address space changes; 0 is never. */
	uint64_t epoch;
	/** @eu_mask: Of the queue. */
	uint64_t eu_mask;
	/** @packet: The packet up to the arguments, @bytes, for @ctx and @profile. */
	void *packet;
	/** @first, @end: Commands from @first to before @end have new grids since. */
	uint32_t first;
	uint32_t end;
	uint32_t bytes;		/* 0: no packet is kept */
	uint32_t capacity;
	uint32_t ctx;
	uint64_t profile;
};

/**
 * struct salvo_queue_config - What a queue is created with.
 */
struct salvo_queue_config {
	uint64_t eu_mask;
	/** @priority: SALVO_QUEUE_*. */
	int priority;
};

/**
 * struct salvo_winsys_submit - What salvo_queue_submit() hands to a back end.
 */
struct salvo_winsys_submit {
	/** @batch: Commands, arguments and profile; not kept. */
	struct salvo_batch_desc batch;
	/** @waits: Fences of this device, all not NULL. */
	struct salvo_fence *const *waits;
	unsigned int wait_count;
	/**
	 * @validated: Of the batch; epoch 0 if it has changed since. Used by a back end that
	 * validates batches itself.
	 */
	struct salvo_validated *validated;
	/** @why: Set by a back end that rejects the batch. */
	struct salvo_reject why;
};

/**
 * struct salvo_winsys_slot - A slot and the units that are attached to it.
 */
struct salvo_winsys_slot {
	struct salvo_queue *queue;
	uint64_t units;
	/** @bo: SALVO_SLOT_BYTES. */
	struct salvo_bo *bo;
	/** @ended: Called with @cookie by a unit when a task has ended and waiting is set. */
	void (*ended)(void *cookie);
	void *cookie;
	/** @number, @private: The back end's. */
	unsigned int number;
	void *private;
};

/**
 * struct salvo_winsys - The functions of a back end. A create function allocates the object
 * with its own data around the base (device.h, bo.h, queue.h, fence.h).
 */
struct salvo_winsys {
	void (*close)(struct salvo_device *device);
	int (*get_stats)(struct salvo_device *device, struct salvo_device_stats *stats);
	/* @flags: DRM_SALVO_BO_* */
	int (*bo_create)(struct salvo_device *device, uint64_t size, uint32_t flags,
			 struct salvo_bo **out);
	void (*bo_destroy)(struct salvo_bo *bo);
	int (*bo_map)(struct salvo_bo *bo, void **out);
	/* NULL if the back end cannot. @flags: DRM_SALVO_BO_READONLY; @fd stays the caller's. */
	int (*bo_import)(struct salvo_device *device, int fd, uint32_t flags,
			 struct salvo_bo **out);
	/* NULL if the back end cannot. @flags: as above. */
	int (*bo_from_memory)(struct salvo_device *device, void *memory, uint64_t size,
			      uint32_t flags, struct salvo_bo **out);
	int (*bo_export)(struct salvo_bo *bo, int *out);
	int (*set_timeout)(struct salvo_device *device, int64_t timeout_ns);
	int (*queue_create)(struct salvo_device *device, const struct salvo_queue_config *config,
			    struct salvo_queue **out);
	void (*queue_destroy)(struct salvo_queue *queue);
	/* @out: A fence with one reference for the caller. */
	int (*queue_submit)(struct salvo_queue *queue, struct salvo_winsys_submit *submission,
			    struct salvo_fence **out);
	/* 0, -ETIME or the error of the batch. */
	int (*fence_wait)(struct salvo_fence *fence, int64_t timeout_ns);
	/* 0 or -ETIME; @first: the index of one that is done. At least one fence. */
	int (*fence_wait_many)(struct salvo_device *device, struct salvo_fence *const *fences,
			       unsigned int count, bool all, int64_t timeout_ns,
			       unsigned int *first);
	/* A new file descriptor that is readable when the fence is done. */
	int (*fence_get_fd)(struct salvo_fence *fence, int *out);
	/* A fence that is done when @fd, which stays the caller's, becomes readable. */
	int (*fence_import_fd)(struct salvo_device *device, int fd, struct salvo_fence **out);
	/* Of a failed fence: kind, command, done, access, address, group, item. */
	void (*fence_get_error)(struct salvo_fence *fence, struct salvo_error *error);
	/* The last reference was dropped. */
	void (*fence_free)(struct salvo_fence *fence);
	/* All of @slot is set but what is the back end's. */
	int (*slot_attach)(struct salvo_winsys_slot *slot);
	void (*slot_detach)(struct salvo_winsys_slot *slot);
	void (*slot_wake)(struct salvo_winsys_slot *slot);
	/* The worker has set waiting; NULL if its unit calls it back. */
	void (*slot_notify)(struct salvo_winsys_slot *slot);
	/* Why the slot was detached: SALVO_ERROR_*; NULL if that cannot be. */
	unsigned int (*slot_why)(const struct salvo_winsys_slot *slot);
};

/**
 * salvo_soft_open() - An embedded GPU.
 *
 * Return: 0, -EINVAL (SALVO_TOPOLOGY, SALVO_MARCH), or another errno.
 */
int salvo_soft_open(struct salvo_device **out);

/**
 * salvo_drm_open() - Open a render node.
 * @path: The node, or NULL for the first one that is a Salvo GPU.
 *
 * Return: 0, -ENODEV (no Salvo GPU), -ENOENT, -EACCES (@path), -ENOMEM.
 */
int salvo_drm_open(const char *path, struct salvo_device **out);

/** define SALVO_NODE_BYTES - Room for the path of a render node. */
#define SALVO_NODE_BYTES 32

/**
 * salvo_drm_find() - The path of the Salvo render node number @index.
 * @index: Decreased by the number of nodes that were found before.
 *
 * Return: 0, -ENODEV (there are no more).
 */
int salvo_drm_find(unsigned int *index, char path[SALVO_NODE_BYTES]);

#endif /* SALVO_WINSYS_H */
