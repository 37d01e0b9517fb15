/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_implicit.h - implicit fences of shared buffers
 */
#ifndef SALVO_IMPLICIT_H
#define SALVO_IMPLICIT_H

#include <linux/types.h>
#include <linux/ww_mutex.h>

struct dma_fence;
struct salvo_gem_object;
struct salvo_job;
struct salvo_vm;

/**
 * struct salvo_implicit - The shared buffers of one submission.
 */
struct salvo_implicit {
	/** @vm: Address space of the file, whose share_lock is held for reading, or NULL. */
	struct salvo_vm *vm;
	/** @bos: The buffers; holds references. */
	struct salvo_gem_object **bos;
	/** @count: Number of elements of @bos and @locked. */
	unsigned int count;
	/** @locked: For each buffer, whether its reservation was locked through it. */
	bool *locked;
	/** @ticket: Acquire context of the reservation locks. */
	struct ww_acquire_ctx ticket;
};

int salvo_implicit_share(struct salvo_gem_object *bo);

int salvo_implicit_lock(struct salvo_implicit *implicit, struct salvo_job *job);
void salvo_implicit_publish(struct salvo_implicit *implicit, struct dma_fence *fence);
void salvo_implicit_unlock(struct salvo_implicit *implicit);

#endif /* SALVO_IMPLICIT_H */
