/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_implicit.h - fences of buffers that others have too
 */
#ifndef SALVO_IMPLICIT_H
#define SALVO_IMPLICIT_H

#include <linux/types.h>
#include <linux/ww_mutex.h>

struct dma_fence;
struct salvo_gem_object;
struct salvo_job;

/**
 * struct salvo_implicit - The shared buffers of one submission, locked.
 */
struct salvo_implicit {
	/** @bos: @count buffers; references. */
	struct salvo_gem_object **bos;
	/** @count: Elements of @bos. */
	unsigned int count;
	/** @locked: For each, whether it is the one that locked its reservation. */
	bool *locked;
	/** @ticket: For the locks. */
	struct ww_acquire_ctx ticket;
};

int salvo_implicit_share(struct salvo_gem_object *bo);

int salvo_implicit_lock(struct salvo_implicit *implicit, struct salvo_job *job);
void salvo_implicit_publish(struct salvo_implicit *implicit, struct dma_fence *fence);
void salvo_implicit_unlock(struct salvo_implicit *implicit);

#endif /* SALVO_IMPLICIT_H */
