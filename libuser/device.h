/* SPDX-License-Identifier: MIT */
/*
 * device.h - base of a back end's device
 */
#ifndef SALVO_LIB_DEVICE_H
#define SALVO_LIB_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "salvo.h"
#include "fork.h"

struct salvo_name;
struct salvo_notifier;
struct salvo_observer;
struct salvo_winsys;

/**
 * struct salvo_device - Base of a back end's device.
 */
struct salvo_device {
	const struct salvo_winsys *winsys;
	struct salvo_device_info info;
	/** @embedded: GPU addresses are addresses of this process. */
	bool embedded;
	/** @overlaps: Batches of a queue can overlap. */
	bool overlaps;
	/** @contends: It accepts DRM_SALVO_DISPATCH_CONTENDS. */
	bool contends;
	/** @generation: salvo_fork_generation() when it was opened. */
	unsigned int generation;
	/** @observer: Sees buffers, programs and submissions, or NULL. */
	struct salvo_observer *observer;
	/** @lock: Protects @names, and the creation of @notifier and @importer. */
	pthread_mutex_t lock;
	/** @names: Of kernels, see salvo_device_intern(). */
	struct salvo_name *names;
	/** @polling_ns: How long a wait polls before it sleeps; negative: for ever. */
	_Atomic int64_t polling_ns;
	/** @analyses: Numbers the analyses of hazards, see batch_hazard.c. */
	_Atomic uint64_t analyses;
	/** @notifier: Watches fences that have callbacks; created with the first of them. */
	struct salvo_notifier *notifier;
	/** @importer: Watches the file descriptors of imported fences. */
	struct salvo_notifier *importer;
};

/** salvo_device_init() - What all back ends have in common; the rest of @device is zero. */
void salvo_device_init(struct salvo_device *device);

/**
 * salvo_device_is_inherited() - Is it an embedded GPU that was opened before fork()?
 *
 * Its threads are only in the parent.
 */
static inline bool salvo_device_is_inherited(const struct salvo_device *device)
{
	return device->embedded && device->generation != salvo_fork_generation();
}

/** salvo_device_intern() - A copy of a string that lives as long as the device, or NULL. */
const char *salvo_device_intern(struct salvo_device *device, const char *string);

#endif /* SALVO_LIB_DEVICE_H */
