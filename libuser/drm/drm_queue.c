// SPDX-License-Identifier: MIT
/*
 * drm_queue.c - queues and fences of the kernel driver's back end
 *
 * A fence is a binary syncobj: SUBMIT replaces the fence in it, so syncobjs are recycled through
 * a pool without further calls. A wait on a syncobj does not return the error of the batch: if
 * the context has counted failures, it is read from the fence, through a sync_file. The fault
 * record is in the context (CTX_QUERY).
 *
 * The device's lock protects the pool of syncobjs and the reference count of a context; a fence's
 * lock serialises the query of its error.
 */
#include <errno.h>
#include <linux/sync_file.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <xf86drm.h>

#include "array.h"
#include "deadline.h"
#include "drm_device.h"
#include "fence.h"
#include "queue.h"

/* A context, counted: fences query it for failures. */
struct drm_context {
	unsigned int refs;	/* protected by the device's lock */
	uint32_t id;
};

struct drm_queue {
	struct salvo_queue base;
	struct drm_context *context;
};

struct drm_fence {
	struct salvo_fence base;
	/** @context: NULL of an imported fence. */
	struct drm_context *context;
	uint32_t syncobj;
	pthread_mutex_t lock;
	/** @done: The batch has completed, with @error. */
	atomic_bool done;
	int error;
};

static struct drm_queue *to_drm_queue(struct salvo_queue *queue)
{
	return container_of(queue, struct drm_queue, base);
}

static struct drm_fence *to_drm_fence(struct salvo_fence *fence)
{
	return container_of(fence, struct drm_fence, base);
}

uint32_t salvo_drm_queue_context(struct salvo_queue *queue)
{
	return to_drm_queue(queue)->context->id;
}

int salvo_drm_call(struct drm_device *dev, unsigned long request, void *arg)
{
	return drmIoctl(dev->fd, request, arg) ? -errno : 0;
}

/* --- syncobjs --------------------------------------------------------------- */

static int get_syncobj(struct drm_device *dev, uint32_t *handle)
{
	bool pooled;

	pthread_mutex_lock(&dev->lock);
	pooled = dev->pool_count;
	if (pooled)
		*handle = dev->pool[--dev->pool_count];
	pthread_mutex_unlock(&dev->lock);
	if (pooled)
		return 0;
	return drmSyncobjCreate(dev->fd, 0, handle) ? -errno : 0;
}

static void put_syncobj(struct drm_device *dev, uint32_t handle)
{
	bool kept;

	pthread_mutex_lock(&dev->lock);
	kept = !salvo_array_reserve(&dev->pool, &dev->pool_capacity, dev->pool_count + 1,
				    sizeof(*dev->pool));
	if (kept)
		dev->pool[dev->pool_count++] = handle;
	pthread_mutex_unlock(&dev->lock);
	if (!kept)
		drmSyncobjDestroy(dev->fd, handle);
}

/* --- contexts --------------------------------------------------------------- */

static struct drm_context *context_get(struct drm_device *dev, struct drm_context *context)
{
	pthread_mutex_lock(&dev->lock);
	context->refs++;
	pthread_mutex_unlock(&dev->lock);
	return context;
}

static void context_put(struct drm_device *dev, struct drm_context *context)
{
	struct drm_salvo_ctx_destroy destroy = { .id = context->id };
	bool last;

	pthread_mutex_lock(&dev->lock);
	last = !--context->refs;
	pthread_mutex_unlock(&dev->lock);
	if (!last)
		return;
	salvo_drm_call(dev, DRM_IOCTL_SALVO_CTX_DESTROY, &destroy);
	free(context);
}

int salvo_drm_queue_create(struct salvo_device *device, const struct salvo_queue_config *config,
			   struct salvo_queue **out)
{
	struct drm_salvo_ctx_create create = { .eu_mask = config->eu_mask };
	struct drm_device *dev = to_drm(device);
	struct drm_context *context = calloc(1, sizeof(*context));
	struct drm_queue *queue = calloc(1, sizeof(*queue));
	int err = -ENOMEM;

	if (config->priority)
		create.priority = config->priority < 0 ? DRM_SALVO_PRIORITY_LOW :
							 DRM_SALVO_PRIORITY_HIGH;
	if (context && queue)
		err = salvo_drm_call(dev, DRM_IOCTL_SALVO_CTX_CREATE, &create);
	if (err) {
		free(context);
		free(queue);
		return err;
	}
	context->refs = 1;
	context->id = create.id;
	queue->base.device = device;
	queue->context = context;
	*out = &queue->base;
	return 0;
}

void salvo_drm_queue_destroy(struct salvo_queue *base)
{
	struct drm_queue *queue = to_drm_queue(base);

	context_put(to_drm(base->device), queue->context);
	free(queue);
}

/* A fence before its submission; its syncobj is empty or holds an old fence. */
static struct drm_fence *fence_create(struct drm_device *dev, int *err)
{
	struct drm_fence *fence = calloc(1, sizeof(*fence));

	*err = fence ? get_syncobj(dev, &fence->syncobj) : -ENOMEM;
	if (*err) {
		free(fence);
		return NULL;
	}
	salvo_fence_init(&fence->base, &dev->base);
	pthread_mutex_init(&fence->lock, NULL);
	return fence;
}

int salvo_drm_queue_submit(struct salvo_queue *base, struct salvo_winsys_submit *submission,
			   struct salvo_fence **out)
{
	struct drm_queue *queue = to_drm_queue(base);
	struct drm_device *dev = to_drm(base->device);
	const struct salvo_batch_desc *batch = &submission->batch;
	struct drm_salvo_sync signal = { 0 }, *waits = NULL;
	struct drm_salvo_submit submit = {
		.ctx_id = queue->context->id,
		.commands = {
			.stride = sizeof(*batch->commands),
			.count = batch->count,
			.pointer = (uintptr_t)batch->commands,
		},
		.signals = { sizeof(signal), 1, (uintptr_t)&signal },
		.args = batch->args_size ? (uintptr_t)batch->args : 0,
		.args_size = batch->args_size,
		.profile = batch->profile,
		.flags = batch->flags,
	};
	struct drm_fence *fence;
	unsigned int i;
	int err;

	if (submission->wait_count) {
		waits = calloc(submission->wait_count, sizeof(*waits));
		if (!waits)
			return -ENOMEM;
		for (i = 0; i < submission->wait_count; i++)
			waits[i].handle = to_drm_fence(submission->waits[i])->syncobj;
		submit.waits = (struct drm_salvo_array){
			sizeof(*waits), submission->wait_count, (uintptr_t)waits,
		};
	}
	fence = fence_create(dev, &err);
	if (!err) {
		signal.handle = fence->syncobj;
		err = salvo_drm_call(dev, DRM_IOCTL_SALVO_SUBMIT, &submit);
		if (err)
			salvo_drm_fence_free(&fence->base);
	}
	free(waits);
	if (err)
		return err;
	fence->context = context_get(dev, queue->context);
	*out = &fence->base;
	return 0;
}

/* --- fences ----------------------------------------------------------------- */

/* The error of the fence in a signalled syncobj. */
static int syncobj_error(struct drm_device *dev, uint32_t syncobj)
{
	struct sync_file_info info = { 0 };
	int fd, err = 0;

	if (drmSyncobjExportSyncFile(dev->fd, syncobj, &fd))
		return -errno;
	if (ioctl(fd, SYNC_IOC_FILE_INFO, &info))
		err = -errno;
	else if (info.status < 0)
		err = info.status;
	close(fd);
	return err;
}

static int fence_error(struct drm_device *dev, struct drm_fence *fence)
{
	struct drm_salvo_ctx_query query = { 0 };
	int err;

	if (!fence->context)
		return syncobj_error(dev, fence->syncobj);
	query.id = fence->context->id;
	err = salvo_drm_call(dev, DRM_IOCTL_SALVO_CTX_QUERY, &query);
	if (!err && query.failed)
		err = syncobj_error(dev, fence->syncobj);
	return err;
}

/* The syncobj was signalled: query its error, once. */
static int fence_result(struct drm_device *dev, struct drm_fence *fence)
{
	pthread_mutex_lock(&fence->lock);
	if (!atomic_load(&fence->done)) {
		fence->error = fence_error(dev, fence);
		atomic_store(&fence->done, true);
	}
	pthread_mutex_unlock(&fence->lock);
	return fence->error;
}

static bool poll_syncobj(struct drm_device *dev, uint32_t *syncobj, int64_t deadline)
{
	const int64_t polling = atomic_load_explicit(&dev->base.polling_ns,
						     memory_order_relaxed);
	const int64_t until = polling ? salvo_deadline_ns(polling) : 0;

	while (until && salvo_now_ns() < (until < deadline ? until : deadline))
		if (!drmSyncobjWait(dev->fd, syncobj, 1, 0, 0, NULL))
			return true;
	return false;
}

int salvo_drm_fence_wait(struct salvo_fence *base, int64_t timeout_ns)
{
	struct drm_fence *fence = to_drm_fence(base);
	struct drm_device *dev = to_drm(base->device);
	int64_t deadline = timeout_ns ? salvo_deadline_ns(timeout_ns) : 0;
	int err;

	if (atomic_load(&fence->done))
		return fence->error;
	if (!timeout_ns || !poll_syncobj(dev, &fence->syncobj, deadline)) {
		err = drmSyncobjWait(dev->fd, &fence->syncobj, 1, deadline, 0, NULL);
		if (err)
			return err;
	}
	return fence_result(dev, fence);
}

int salvo_drm_fence_wait_many(struct salvo_device *device, struct salvo_fence *const *fences,
			      unsigned int count, bool all, int64_t timeout_ns,
			      unsigned int *first)
{
	const int64_t deadline = timeout_ns ? salvo_deadline_ns(timeout_ns) : 0;
	struct drm_device *dev = to_drm(device);
	uint32_t *handles = calloc(count, sizeof(*handles));
	unsigned int i;
	int err;

	if (!handles)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		handles[i] = to_drm_fence(fences[i])->syncobj;
	err = drmSyncobjWait(dev->fd, handles, count, deadline,
			     all ? DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL : 0, first);
	free(handles);
	return err;
}

int salvo_drm_fence_get_fd(struct salvo_fence *base, int *out)
{
	struct drm_fence *fence = to_drm_fence(base);

	return drmSyncobjExportSyncFile(to_drm(base->device)->fd, fence->syncobj, out) ? -errno : 0;
}

int salvo_drm_fence_import_fd(struct salvo_device *device, int fd, struct salvo_fence **out)
{
	struct drm_device *dev = to_drm(device);
	struct drm_fence *fence;
	int err;

	fence = fence_create(dev, &err);
	if (err)
		return err;
	if (drmSyncobjImportSyncFile(dev->fd, fence->syncobj, fd)) {
		err = -errno;
		salvo_drm_fence_free(&fence->base);
		return err;
	}
	*out = &fence->base;
	return 0;
}

void salvo_drm_fence_get_error(struct salvo_fence *base, struct salvo_error *error)
{
	struct drm_fence *fence = to_drm_fence(base);
	struct drm_salvo_ctx_query query = { 0 };

	if (!fence->context)
		return;
	query.id = fence->context->id;
	if (salvo_drm_call(to_drm(base->device), DRM_IOCTL_SALVO_CTX_QUERY, &query) ||
	    !query.fault.kind || query.fault.batch != base->value)
		return;
	error->kind = query.fault.kind;
	error->command = query.fault.command;
	error->done = query.fault.done;
	error->access = query.fault.access;
	error->address = query.fault.address;
	error->group = query.fault.group;
	salvo_error_set_item(error, query.fault.item == ~0u && query.fault.items ?
				    query.fault.items : query.fault.item);
}

void salvo_drm_fence_free(struct salvo_fence *base)
{
	struct drm_fence *fence = to_drm_fence(base);
	struct drm_device *dev = to_drm(base->device);

	put_syncobj(dev, fence->syncobj);
	if (fence->context)
		context_put(dev, fence->context);
	pthread_mutex_destroy(&fence->lock);
	free(fence);
}
