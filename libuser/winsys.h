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

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "salvo_validate.h"
#include "salvo.h"

/** define SALVO_ERROR_BYTES - Room for one line that tells what is wrong with a batch. */
#define SALVO_ERROR_BYTES 192

/**
 * struct salvo_validated - When a batch was last found well formed, and what came of it.
 */
struct salvo_validated {
	/** @epoch: The back end's count of address space changes; 0 is never. */
	uint64_t epoch;
	/** @eu_mask: Of the queue. */
	uint64_t eu_mask;
	/** @packet: Its packet up to the arguments, @bytes, for the context and profile below, */
	void *packet;
	/** @first, @end: but commands from @first to before @end have got other grids since. */
	uint32_t first;
	uint32_t end;
	uint32_t bytes;		/* 0: there is none */
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
 * struct salvo_submission - What salvo_queue_submit() hands to a back end.
 */
struct salvo_submission {
	/** @batch: Commands, arguments and profile; not kept. */
	struct salvo_batch_desc batch;
	/** @waits: Fences of this device, all not NULL. */
	struct salvo_fence *const *waits;
	unsigned int wait_count;
	/**
	 * @validated: Says whether the batch was found well formed before and has not changed
	 * since; a back end that checks batches itself keeps it.
	 */
	struct salvo_validated *validated;
	/** @why: Filled in by the back end when it refuses the batch. */
	struct salvo_reject why;
};

/**
 * struct salvo_winsys - The functions of a back end. A create function
 * allocates the object with its own data behind the public base.
 */
/* fence.c: what fault records say of a work-item (struct salvo_fault_regs). */
void salvo_error_set_item(struct salvo_error *error, uint32_t item);

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
	int (*bo_export)(struct salvo_bo *bo, int *out);
	int (*set_timeout)(struct salvo_device *device, int64_t timeout_ns);
	int (*queue_create)(struct salvo_device *device, const struct salvo_queue_config *config,
			    struct salvo_queue **out);
	void (*queue_destroy)(struct salvo_queue *queue);
	/* @out: A fence with one reference for the caller. */
	int (*queue_submit)(struct salvo_queue *queue, struct salvo_submission *submission,
			    struct salvo_fence **out);
	/* 0, -ETIME or how the batch failed. */
	int (*fence_wait)(struct salvo_fence *fence, int64_t timeout_ns);
	/* 0 or -ETIME; @first: the index of one that is done. At least one fence. */
	int (*fence_wait_many)(struct salvo_device *device, struct salvo_fence *const *fences,
			       unsigned int count, bool all, int64_t timeout_ns,
			       unsigned int *first);
	/* A new file descriptor that is readable when the fence is done. */
	int (*fence_get_fd)(struct salvo_fence *fence, int *out);
	/* A fence that is done when @fd, which stays the caller's, becomes readable. */
	int (*fence_import_fd)(struct salvo_device *device, int fd, struct salvo_fence **out);
	/* Of a fence that failed: kind, command, done, access, address, group, item. */
	void (*fence_get_error)(struct salvo_fence *fence, struct salvo_error *error);
	/* The last reference has gone. */
	void (*fence_free)(struct salvo_fence *fence);
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
	/** @lock: Protects what follows. */
	pthread_mutex_t lock;
	/** @names: Of kernels, see salvo_device_intern(). */
	struct salvo_name *names;
	/** @polling_ns: How long a wait polls before it sleeps; negative: for ever. */
	_Atomic int64_t polling_ns;
	/** @notifier: Watches fences that have callbacks; created with the first of them. */
	struct salvo_notifier *notifier;
	/** @importer: Watches what stands behind imported fences; a callback may wait for it. */
	struct salvo_notifier *importer;
};

/** salvo_device_intern() - A copy of a string that lives as long as the device, or NULL. */
const char *salvo_device_intern(struct salvo_device *device, const char *string);

struct salvo_bo {
	struct salvo_device *device;
	uint64_t size;
	uint64_t address;
};

/**
 * struct salvo_flight - Fences, each with a reference, in the order they were added (flight.h).
 */
struct salvo_flight {
	struct salvo_fence **fences;
	unsigned int count;
	unsigned int capacity;
};

/**
 * struct salvo_queue - Base of a back end's queue.
 */
struct salvo_queue {
	struct salvo_device *device;
	/** @value: Of the last batch on the queue's timeline. */
	uint64_t value;
	/** @flight: Fences of batches that may not be done. */
	struct salvo_flight flight;
	/** @capture: Where submissions go instead, or NULL. */
	struct salvo_batch *capture;
};

/**
 * struct salvo_fence - Base of a back end's fence. Counted: the application, the queue and
 * the batch hold it, and the back end as long as it needs it.
 */
struct salvo_fence {
	struct salvo_device *device;
	atomic_uint refs;
	/** @value: On the timeline of its queue. */
	uint64_t value;
	/** @labels: What the batch's commands were, or NULL. */
	struct salvo_labels *labels;
};

static inline void salvo_fence_init(struct salvo_fence *fence, struct salvo_device *device)
{
	fence->device = device;
	atomic_init(&fence->refs, 1);
	fence->value = 0;
	fence->labels = NULL;
}

static inline struct salvo_fence *salvo_fence_get(struct salvo_fence *fence)
{
	atomic_fetch_add_explicit(&fence->refs, 1, memory_order_relaxed);
	return fence;
}

void salvo_fence_put(struct salvo_fence *fence);

/** salvo_fence_is_done() - Has its batch ended, well or not? */
bool salvo_fence_is_done(struct salvo_fence *fence);

int salvo_winsys_soft_open(struct salvo_device **out);

/**
 * salvo_winsys_drm_open() - Open a render node.
 * @path: The node, or NULL to look for the first that is a Salvo GPU.
 *
 * Return: 0, -ENODEV (no Salvo GPU), -ENOENT, -EACCES (@path), -ENOMEM.
 */
int salvo_winsys_drm_open(const char *path, struct salvo_device **out);

#endif /* SALVO_WINSYS_H */
