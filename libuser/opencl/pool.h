/* SPDX-License-Identifier: MIT */
/*
 * pool.h - memory of objects that are gone, to be used again
 */
#ifndef SALVO_CL_POOL_H
#define SALVO_CL_POOL_H

#include <pthread.h>
#include <stddef.h>

#include "salvo.h"

/** define SALVO_CL_POOLED - The most buffers that a pool keeps. */
#define SALVO_CL_POOLED 128u

/** struct salvo_cl_pooled - A buffer that nobody uses, and its size in bytes. */
struct salvo_cl_pooled {
	struct salvo_bo *bo;
	size_t bytes;
};

/**
 * struct salvo_cl_pool - The pool of a GPU in a context. Any thread may call its functions.
 */
struct salvo_cl_pool {
	struct salvo_device *gpu;
	/** @most: Bytes that it keeps at most. */
	size_t most;
	/** @large: Bytes of a buffer for which nothing is kept. */
	size_t large;
	/** @next: In the list of all pools. */
	struct salvo_cl_pool *next;
	/** @lock: Protects the rest. Nothing is locked below it. */
	pthread_mutex_t lock;
	/** @bytes: Of all that it keeps. */
	size_t bytes;
	/** @buffers: From the oldest to the newest. */
	struct salvo_cl_pooled buffers[SALVO_CL_POOLED];
	unsigned int count;
};

/** salvo_cl_pool_create() - One for a GPU; or NULL. */
struct salvo_cl_pool *salvo_cl_pool_create(struct salvo_device *gpu);
/** salvo_cl_pool_destroy() - With what it keeps. NULL is allowed. */
void salvo_cl_pool_destroy(struct salvo_cl_pool *pool);
/**
 * salvo_cl_pool_get() - A buffer of at least @bytes, with any contents.
 * Return: 0 or a negative errno, as salvo_bo_create().
 */
int salvo_cl_pool_get(struct salvo_cl_pool *pool, size_t bytes, struct salvo_bo **out);
/**
 * salvo_cl_pool_put() - Give one back that no command uses any more.
 * @bo: From salvo_cl_pool_get(), or NULL.
 */
void salvo_cl_pool_put(struct salvo_cl_pool *pool, struct salvo_bo *bo);
/** salvo_cl_pools_lock(), salvo_cl_pools_unlock() - All of them, around fork(). */
void salvo_cl_pools_lock(void);
void salvo_cl_pools_unlock(void);

#endif /* SALVO_CL_POOL_H */
