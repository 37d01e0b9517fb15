/* SPDX-License-Identifier: MIT */
/*
 * fence.h - base of a back end's fence
 */
#ifndef SALVO_LIB_FENCE_H
#define SALVO_LIB_FENCE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "salvo.h"
#include "device.h"

struct salvo_label;
struct salvo_labels;

/**
 * struct salvo_fence - Base of a back end's fence. Counted: the application, the queue and
 * the batch hold it, and the back end as long as it needs it.
 */
struct salvo_fence {
	struct salvo_device *device;
	/** @winsys: Of the device, or the functions of a deferred fence (deferred.c). */
	const struct salvo_winsys *winsys;
	atomic_uint refs;
	/** @value: On the timeline of its queue. */
	uint64_t value;
	/** @labels: What the batch's commands were, or NULL. */
	struct salvo_labels *labels;
};

static inline void salvo_fence_init(struct salvo_fence *fence, struct salvo_device *device)
{
	fence->device = device;
	fence->winsys = device->winsys;
	atomic_init(&fence->refs, 1);
	fence->value = 0;
	fence->labels = NULL;
}

static inline struct salvo_fence *salvo_fence_get(struct salvo_fence *fence)
{
	atomic_fetch_add_explicit(&fence->refs, 1, memory_order_relaxed);
	return fence;
}

/** salvo_fence_put() - Drop a reference; @fence may be NULL. */
void salvo_fence_put(struct salvo_fence *fence);

/** salvo_fence_is_done() - Has its batch ended, successfully or not? */
bool salvo_fence_is_done(struct salvo_fence *fence);

/** salvo_error_set_item() - The work-item as struct salvo_fault_regs encodes it. */
void salvo_error_set_item(struct salvo_error *error, uint32_t item);
/** salvo_error_find_bounds() - Is a page fault that of a checked kernel? */
void salvo_error_find_bounds(struct salvo_error *error);
/** salvo_error_set_label() - Kernel and positions, after group and item were set. */
void salvo_error_set_label(struct salvo_error *error, const struct salvo_label *label);

#endif /* SALVO_LIB_FENCE_H */
