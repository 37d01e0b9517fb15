/* SPDX-License-Identifier: MIT */
/*
 * observer.h - something that watches what an application does with a device
 *
 * The objects of the API call it when buffers and programs come and go and around each
 * submission. It cannot change or fail any of that. libuser/text has the one that writes batches
 * to files.
 *
 * Functions are called by any thread; an observer has locks of its own.
 */
#ifndef SALVO_LIB_OBSERVER_H
#define SALVO_LIB_OBSERVER_H

#include <stdbool.h>
#include <stddef.h>

struct salvo_batch_desc;
struct salvo_bo;
struct salvo_fence;
struct salvo_kernel_info;
struct salvo_labels;
struct salvo_observer;
struct salvo_program;

/**
 * struct salvo_observer_ops - The functions of an observer.
 */
struct salvo_observer_ops {
	void (*destroy)(struct salvo_observer *observer);
	void (*bo_created)(struct salvo_observer *observer, struct salvo_bo *bo, bool readonly);
	/* @bo still exists. */
	void (*bo_destroyed)(struct salvo_observer *observer, struct salvo_bo *bo);
	/* @kernels live until program_destroyed(), @image only during the call. */
	void (*program_loaded)(struct salvo_observer *observer, const struct salvo_program *program,
			       const struct salvo_kernel_info *kernels, unsigned int count,
			       const void *image, size_t bytes);
	void (*program_destroyed)(struct salvo_observer *observer,
				  const struct salvo_program *program);
	/*
	 * @labels: Of the commands but for the pipe controls that the library has inserted at the
	 * end. Return: a cookie for submit_end(); NULL: that is not called.
	 */
	void *(*submit_begin)(struct salvo_observer *observer,
			      const struct salvo_batch_desc *batch,
			      const struct salvo_labels *labels);
	/* @fence: NULL if the submission failed. */
	void (*submit_end)(struct salvo_observer *observer, void *cookie,
			   struct salvo_fence *fence);
};

/**
 * struct salvo_observer - Base of an observer.
 */
struct salvo_observer {
	const struct salvo_observer_ops *ops;
};

#endif /* SALVO_LIB_OBSERVER_H */
