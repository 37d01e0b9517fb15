// SPDX-License-Identifier: MIT
/*
 * pool.c - memory of objects that are gone, to be used again
 *
 * A buffer of libsalvo costs two packets, which bind and unbind it, system calls that free its
 * pages, and a page fault for each page that is used again. Programs create and release objects of
 * the same sizes for each call of a library, or for each write that is staged. So a context keeps
 * the memory of some that were released. Sizes are rounded up to classes that are at most an eighth
 * apart, and a buffer is used again for its own class only. What is kept is bounded in
 * bytes and number; the oldest go first, and all if there is no room for a new buffer: those of
 * every context of the process, as they have the GPU's memory in common.
 */
#include "pool.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES	4096u
/*
 * Programs use the memory of other drivers, which ends later than a buffer: OpenCV loads the last
 * pixel, of three bytes, as a vector of four.
 */
#define SLACK		16u
/* The part of the memory that is kept at most, and its limit; the part of that for one buffer */
#define MOST_SHARE	16u
#define MOST_BYTES	(64ull << 20)
#define BUFFER_SHARE	4u
/* The part of the GPU's memory above which a buffer is large */
#define LARGE_SHARE	4u

/* Protects the list of all pools; a pool's lock is taken below it. */
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct salvo_cl_pool *all_pools;

struct salvo_cl_pool *salvo_cl_pool_create(struct salvo_device *gpu)
{
	struct salvo_cl_pool *pool = calloc(1, sizeof(*pool));
	struct salvo_device_info info;

	if (!pool)
		return NULL;
	salvo_device_get_info(gpu, &info);
	pool->gpu = gpu;
	pool->most = info.vram_bytes / MOST_SHARE;
	pool->large = info.vram_bytes / LARGE_SHARE;
	if (pool->most > MOST_BYTES)
		pool->most = MOST_BYTES;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_mutex_lock(&list_lock);
	pool->next = all_pools;
	all_pools = pool;
	pthread_mutex_unlock(&list_lock);
	return pool;
}

/* Eight classes between two powers of two, all of whole pages */
static size_t round_up(size_t bytes)
{
	size_t step = PAGE_BYTES;

	while (step < bytes / 16 + 1)
		step *= 2;
	return bytes > SIZE_MAX - step ? bytes : (bytes + step - 1) / step * step;
}

/* The lock is held. */
static struct salvo_bo *remove_at(struct salvo_cl_pool *pool, unsigned int i)
{
	struct salvo_bo *bo = pool->buffers[i].bo;

	pool->bytes -= pool->buffers[i].bytes;
	pool->count--;
	memmove(&pool->buffers[i], &pool->buffers[i + 1],
		(pool->count - i) * sizeof(*pool->buffers));
	return bo;
}

/* Make room for a buffer of @bytes, by destroying the oldest. The lock is held. */
static void trim(struct salvo_cl_pool *pool, size_t bytes, unsigned int most)
{
	while (pool->count && (pool->count > most || pool->bytes + bytes > pool->most))
		salvo_bo_destroy(remove_at(pool, 0));
}

void salvo_cl_pool_destroy(struct salvo_cl_pool *pool)
{
	struct salvo_cl_pool **link = &all_pools;

	if (!pool)
		return;
	pthread_mutex_lock(&list_lock);
	while (*link != pool)
		link = &(*link)->next;
	*link = pool->next;
	pthread_mutex_unlock(&list_lock);
	trim(pool, 0, 0);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

/* Free what all contexts keep of the memory of @gpu. */
static void empty_all(const struct salvo_device *gpu)
{
	struct salvo_cl_pool *pool;

	pthread_mutex_lock(&list_lock);
	for (pool = all_pools; pool; pool = pool->next) {
		if (pool->gpu != gpu)
			continue;
		pthread_mutex_lock(&pool->lock);
		trim(pool, 0, 0);
		pthread_mutex_unlock(&pool->lock);
	}
	pthread_mutex_unlock(&list_lock);
}

void salvo_cl_pools_lock(void)
{
	struct salvo_cl_pool *pool;

	pthread_mutex_lock(&list_lock);
	for (pool = all_pools; pool; pool = pool->next)
		pthread_mutex_lock(&pool->lock);
}

void salvo_cl_pools_unlock(void)
{
	struct salvo_cl_pool *pool;

	for (pool = all_pools; pool; pool = pool->next)
		pthread_mutex_unlock(&pool->lock);
	pthread_mutex_unlock(&list_lock);
}

int salvo_cl_pool_get(struct salvo_cl_pool *pool, size_t bytes, struct salvo_bo **out)
{
	const size_t most = bytes > SIZE_MAX - SLACK ? bytes : bytes + SLACK;
	/* One that is too large to be kept takes no more than it needs. */
	const size_t rounded = bytes > pool->most / BUFFER_SHARE ? most : round_up(most);
	unsigned int i;
	int err;

	*out = NULL;
	pthread_mutex_lock(&pool->lock);
	/* The newest first: it may be in the cache. */
	for (i = pool->count; i-- && !*out;)
		if (pool->buffers[i].bytes == rounded)
			*out = remove_at(pool, i);
	pthread_mutex_unlock(&pool->lock);
	if (*out)
		return 0;
	/* What is kept must not stand in the middle of the room for a large one. */
	if (bytes > pool->large)
		empty_all(pool->gpu);
	err = salvo_bo_create(pool->gpu, rounded, 0, out);
	if (!err)
		return 0;
	empty_all(pool->gpu);
	return salvo_bo_create(pool->gpu, bytes, 0, out);
}

void salvo_cl_pool_put(struct salvo_cl_pool *pool, struct salvo_bo *bo)
{
	const size_t bytes = bo ? salvo_bo_size(bo) : 0;

	if (!bo)
		return;
	if (bytes > pool->most / BUFFER_SHARE || bytes != round_up(bytes)) {
		salvo_bo_destroy(bo);
		return;
	}
	pthread_mutex_lock(&pool->lock);
	trim(pool, bytes, SALVO_CL_POOLED - 1);
	pool->buffers[pool->count++] = (struct salvo_cl_pooled){ bo, bytes };
	pool->bytes += bytes;
	pthread_mutex_unlock(&pool->lock);
}
