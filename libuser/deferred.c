// SPDX-License-Identifier: MIT
/*
 * deferred.c - fences of captured submissions
 *
 * A captured submission runs when the batch that it was captured in is submitted. Until then its
 * fence has no fence of a back end behind it; waits sleep. The first submission of the batch
 * resolves its deferred fences, which then do what the fence of that submission does. If the
 * batch is reset or destroyed before, they fail with -ECANCELED.
 *
 * The batch has a list of its deferred fences, each with a reference. lock protects what follows
 * it in the struct; target does not change any more once resolved is set.
 */
#include "deferred.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "batch.h"
#include "container_of.h"
#include "deadline.h"
#include "device.h"
#include "fence.h"

struct salvo_deferred {
	struct salvo_fence base;
	/** @next: In the list of its batch. */
	struct salvo_deferred *next;
	/** @first, @count: Its commands in the batch. */
	unsigned int first;
	unsigned int count;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool resolved;
	/** @batch: Only compared; NULL once resolved. */
	const struct salvo_batch *batch;
	struct salvo_fence *target;
};

static struct salvo_deferred *to_deferred(struct salvo_fence *fence)
{
	return container_of(fence, struct salvo_deferred, base);
}

/* Return: 0 or -ETIME. */
static int wait_resolved(struct salvo_deferred *deferred, int64_t deadline)
{
	const struct timespec ts = { deadline / 1000000000, deadline % 1000000000 };
	int err = 0;

	pthread_mutex_lock(&deferred->lock);
	while (!deferred->resolved && !err)
		err = pthread_cond_timedwait(&deferred->cond, &deferred->lock, &ts);
	err = deferred->resolved ? 0 : -ETIME;
	pthread_mutex_unlock(&deferred->lock);
	return err;
}

static int deferred_wait(struct salvo_fence *fence, int64_t timeout_ns)
{
	const int64_t deadline = timeout_ns ? salvo_deadline_ns(timeout_ns) : 0;
	struct salvo_deferred *deferred = to_deferred(fence);

	if (wait_resolved(deferred, deadline))
		return -ETIME;
	if (!deferred->target)
		return -ECANCELED;
	return salvo_fence_wait(deferred->target, timeout_ns ? salvo_remaining_ns(deadline) : 0);
}

static int deferred_get_fd(struct salvo_fence *fence, int *out)
{
	struct salvo_fence *target;
	const int err = salvo_deferred_target(fence, &target);

	if (err)
		return err;
	if (target)
		return salvo_fence_get_fd(target, out);
	*out = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
	return *out < 0 ? -errno : 0;
}

/* Commands are those of the captured batch, not of the one that it was captured in. */
static void deferred_get_error(struct salvo_fence *fence, struct salvo_error *error)
{
	const struct salvo_deferred *deferred = to_deferred(fence);

	if (deferred->target)
		salvo_fence_get_error(deferred->target, error);
	if (error->command - deferred->first < deferred->count)
		error->command -= deferred->first;
	else
		error->command = ~0u;
	error->done = 0;
	error->count = deferred->count;
}

static void deferred_free(struct salvo_fence *fence)
{
	struct salvo_deferred *deferred = to_deferred(fence);

	salvo_fence_put(deferred->target);
	pthread_cond_destroy(&deferred->cond);
	pthread_mutex_destroy(&deferred->lock);
	free(deferred);
}

static const struct salvo_winsys deferred_ops = {
	.fence_wait = deferred_wait,
	.fence_get_fd = deferred_get_fd,
	.fence_get_error = deferred_get_error,
	.fence_free = deferred_free,
};

struct salvo_fence *salvo_deferred_create(struct salvo_device *device)
{
	struct salvo_deferred *deferred = calloc(1, sizeof(*deferred));
	pthread_condattr_t attr;

	if (!deferred)
		return NULL;
	salvo_fence_init(&deferred->base, device);
	deferred->base.winsys = &deferred_ops;
	pthread_mutex_init(&deferred->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&deferred->cond, &attr);
	pthread_condattr_destroy(&attr);
	return &deferred->base;
}

void salvo_deferred_attach(struct salvo_fence *fence, struct salvo_batch *batch,
			   unsigned int first, unsigned int count)
{
	struct salvo_deferred *deferred = to_deferred(fence);

	deferred->first = first;
	deferred->count = count;
	deferred->batch = batch;
	salvo_fence_get(fence);
	deferred->next = batch->deferred;
	batch->deferred = deferred;
}

bool salvo_fence_is_deferred(const struct salvo_fence *fence)
{
	return fence->winsys == &deferred_ops;
}

bool salvo_deferred_is_of(struct salvo_fence *fence, const struct salvo_batch *batch)
{
	struct salvo_deferred *deferred = to_deferred(fence);
	bool is_of;

	if (!salvo_fence_is_deferred(fence))
		return false;
	pthread_mutex_lock(&deferred->lock);
	is_of = deferred->batch == batch;
	pthread_mutex_unlock(&deferred->lock);
	return is_of;
}

int salvo_deferred_target(struct salvo_fence *fence, struct salvo_fence **target)
{
	struct salvo_deferred *deferred = to_deferred(fence);

	if (wait_resolved(deferred, 0))
		return -EBUSY;
	*target = deferred->target;
	return 0;
}

void salvo_deferred_resolve(struct salvo_batch *batch, struct salvo_fence *target)
{
	struct salvo_deferred *deferred;

	while ((deferred = batch->deferred)) {
		batch->deferred = deferred->next;
		pthread_mutex_lock(&deferred->lock);
		deferred->batch = NULL;
		deferred->target = target ? salvo_fence_get(target) : NULL;
		deferred->resolved = true;
		pthread_cond_broadcast(&deferred->cond);
		pthread_mutex_unlock(&deferred->lock);
		salvo_fence_put(&deferred->base);
	}
}
