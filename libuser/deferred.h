/* SPDX-License-Identifier: MIT */
/*
 * deferred.h - fences of captured submissions
 */
#ifndef SALVO_LIB_DEFERRED_H
#define SALVO_LIB_DEFERRED_H

#include <stdbool.h>

struct salvo_batch;
struct salvo_device;
struct salvo_fence;

/** salvo_deferred_create() - A fence that is not of any batch yet, or NULL. */
struct salvo_fence *salvo_deferred_create(struct salvo_device *device);

/** salvo_deferred_attach() - Make it the fence of @count commands from @first on in @batch. */
void salvo_deferred_attach(struct salvo_fence *fence, struct salvo_batch *batch,
			   unsigned int first, unsigned int count);

/** salvo_fence_is_deferred() - Is it of a captured submission? */
bool salvo_fence_is_deferred(const struct salvo_fence *fence);

/** salvo_deferred_is_of() - Is it of a captured submission that @batch has not submitted yet? */
bool salvo_deferred_is_of(struct salvo_fence *fence, const struct salvo_batch *batch);

/**
 * salvo_deferred_target() - The fence that stands behind a deferred one.
 * @target: Valid as long as @fence; NULL if its batch was reset without a submission.
 *
 * Return: 0, -EBUSY (its batch has not been submitted yet).
 */
int salvo_deferred_target(struct salvo_fence *fence, struct salvo_fence **target);

/** salvo_deferred_resolve() - Resolve all deferred fences of @batch; NULL cancels them. */
void salvo_deferred_resolve(struct salvo_batch *batch, struct salvo_fence *target);

#endif /* SALVO_LIB_DEFERRED_H */
