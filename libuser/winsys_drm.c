// SPDX-License-Identifier: MIT
/*
 * winsys_drm.c - the kernel driver's back end
 *
 * Each function is one ioctl. A fence is a binary syncobj: SUBMIT replaces what is
 * in it, so syncobjs go back to a pool and are used again without another call.
 * A wait on a syncobj does not tell how a batch ended: if the context counts
 * failures, the error is asked of the fence itself, through a sync_file.
 *
 * Counters come from the driver, which tells them for each open file in fdinfo.
 *
 * lock protects the pool of syncobjs; all else is constant after open or locked
 * by the kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/sync_file.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include "winsys.h"

#define DRIVER_NAME	"salvo"
#define DRIVER_MAJOR	1
#define FIRST_RENDER	128
#define LAST_RENDER	191

struct drm_device {
	struct salvo_device base;
	int fd;
	pthread_mutex_t lock;
	/** @pool: Syncobjs that no fence uses. */
	uint32_t *pool;
	size_t pool_count;
	size_t pool_capacity;
};

struct drm_bo {
	struct salvo_bo base;
	uint64_t bytes;		/* whole pages */
	uint32_t handle;
	void *map;
};

/* A context, counted: fences ask it for failures. */
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
	struct drm_context *context;
	uint32_t syncobj;
	/** @done: The batch has ended, with @error. */
	bool done;
	int error;
};

static struct drm_device *to_drm(struct salvo_device *device)
{
	return (struct drm_device *)device;
}

static int call(struct drm_device *dev, unsigned long request, void *arg)
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
	uint32_t *pool;
	size_t capacity;

	pthread_mutex_lock(&dev->lock);
	if (dev->pool_count == dev->pool_capacity) {
		capacity = dev->pool_capacity ? dev->pool_capacity * 2 : 16;
		pool = realloc(dev->pool, capacity * sizeof(*pool));
		if (!pool) {
			pthread_mutex_unlock(&dev->lock);
			drmSyncobjDestroy(dev->fd, handle);
			return;
		}
		dev->pool = pool;
		dev->pool_capacity = capacity;
	}
	dev->pool[dev->pool_count++] = handle;
	pthread_mutex_unlock(&dev->lock);
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
	call(dev, DRM_IOCTL_SALVO_CTX_DESTROY, &destroy);
	free(context);
}

static int drm_queue_create(struct salvo_device *device, uint64_t eu_mask,
			    struct salvo_queue **out)
{
	struct drm_salvo_ctx_create create = { .eu_mask = eu_mask };
	struct drm_device *dev = to_drm(device);
	struct drm_context *context = calloc(1, sizeof(*context));
	struct drm_queue *queue = calloc(1, sizeof(*queue));
	int err = -ENOMEM;

	if (context && queue)
		err = call(dev, DRM_IOCTL_SALVO_CTX_CREATE, &create);
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

static void drm_queue_destroy(struct salvo_queue *base)
{
	struct drm_queue *queue = (struct drm_queue *)base;

	context_put(to_drm(base->device), queue->context);
	free(queue);
}

static int drm_queue_submit(struct salvo_queue *base, struct salvo_submission *submission,
			    struct salvo_fence **out)
{
	struct drm_queue *queue = (struct drm_queue *)base;
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
		.args = batch->args_size ? (uintptr_t)batch->args : 0,
		.args_size = batch->args_size,
		.profile = batch->profile,
	};
	struct drm_fence *fence = NULL;
	unsigned int i;
	int err;

	if (submission->wait_count) {
		waits = calloc(submission->wait_count, sizeof(*waits));
		if (!waits)
			return -ENOMEM;
		for (i = 0; i < submission->wait_count; i++)
			waits[i].handle = ((struct drm_fence *)submission->waits[i])->syncobj;
		submit.waits = (struct drm_salvo_array){
			sizeof(*waits), submission->wait_count, (uintptr_t)waits,
		};
	}
	if (out) {
		fence = calloc(1, sizeof(*fence));
		err = fence ? get_syncobj(dev, &signal.handle) : -ENOMEM;
		if (err)
			goto err_free;
		submit.signals = (struct drm_salvo_array){
			sizeof(signal), 1, (uintptr_t)&signal,
		};
	}
	err = call(dev, DRM_IOCTL_SALVO_SUBMIT, &submit);
	if (err)
		goto err_syncobj;
	if (out) {
		fence->base.device = base->device;
		fence->context = context_get(dev, queue->context);
		fence->syncobj = signal.handle;
		*out = &fence->base;
	}
	free(waits);
	return 0;

err_syncobj:
	if (out)
		put_syncobj(dev, signal.handle);
err_free:
	free(fence);
	free(waits);
	return err;
}

/* --- fences ----------------------------------------------------------------- */

/* How the fence in a syncobj that was signalled ended. */
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
	struct drm_salvo_ctx_query query = { .id = fence->context->id };
	int err;

	err = call(dev, DRM_IOCTL_SALVO_CTX_QUERY, &query);
	if (!err && query.failed)
		err = syncobj_error(dev, fence->syncobj);
	return err;
}

static int drm_fence_wait(struct salvo_fence *base, int64_t timeout_ns)
{
	struct drm_fence *fence = (struct drm_fence *)base;
	struct drm_device *dev = to_drm(base->device);
	int64_t deadline = timeout_ns ? salvo_deadline_ns(timeout_ns) : 0;
	int err;

	if (fence->done)
		return fence->error;
	err = drmSyncobjWait(dev->fd, &fence->syncobj, 1, deadline, 0, NULL);
	if (err)
		return err;
	fence->error = fence_error(dev, fence);
	fence->done = true;
	return fence->error;
}

static void drm_fence_destroy(struct salvo_fence *base)
{
	struct drm_fence *fence = (struct drm_fence *)base;
	struct drm_device *dev = to_drm(base->device);

	put_syncobj(dev, fence->syncobj);
	context_put(dev, fence->context);
	free(fence);
}

/* --- buffers ---------------------------------------------------------------- */

static int drm_bo_create(struct salvo_device *device, uint64_t size, uint32_t flags,
			 struct salvo_bo **out)
{
	struct drm_salvo_bo_create create = { .size = size, .flags = flags };
	struct drm_device *dev = to_drm(device);
	struct drm_bo *bo;
	int err;

	bo = calloc(1, sizeof(*bo));
	if (!bo)
		return -ENOMEM;
	err = call(dev, DRM_IOCTL_SALVO_BO_CREATE, &create);
	if (err) {
		free(bo);
		return err;
	}
	bo->base.device = device;
	bo->base.size = size;
	bo->base.address = create.address;
	bo->bytes = create.size;
	bo->handle = create.handle;
	*out = &bo->base;
	return 0;
}

static void drm_bo_destroy(struct salvo_bo *base)
{
	struct drm_device *dev = to_drm(base->device);
	struct drm_bo *bo = (struct drm_bo *)base;

	if (bo->map)
		munmap(bo->map, bo->bytes);
	drmCloseBufferHandle(dev->fd, bo->handle);
	free(bo);
}

static int drm_bo_map(struct salvo_bo *base, void **out)
{
	struct drm_device *dev = to_drm(base->device);
	struct drm_bo *bo = (struct drm_bo *)base;
	struct drm_salvo_bo_mmap_offset offset = { .handle = bo->handle };
	void *map;
	int err;

	if (!bo->map) {
		err = call(dev, DRM_IOCTL_SALVO_BO_MMAP_OFFSET, &offset);
		if (err)
			return err;
		map = mmap(NULL, bo->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, dev->fd,
			   offset.offset);
		if (map == MAP_FAILED)
			return -errno;
		bo->map = map;
	}
	*out = bo->map;
	return 0;
}

/* --- the device ------------------------------------------------------------- */

static int drm_get_stats(struct salvo_device *device, struct salvo_device_stats *stats)
{
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", to_drm(device)->fd);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "salvo-packets: %" SCNu64, &stats->packets);
		sscanf(line, "salvo-doorbells: %" SCNu64, &stats->doorbells);
		sscanf(line, "salvo-interrupts: %" SCNu64, &stats->interrupts);
		sscanf(line, "salvo-completions: %" SCNu64, &stats->completions);
		sscanf(line, "drm-engine-eu: %" SCNu64, &stats->busy_ns);
	}
	fclose(file);
	return 0;
}

static void drm_close(struct salvo_device *device)
{
	struct drm_device *dev = to_drm(device);

	free(dev->pool);
	pthread_mutex_destroy(&dev->lock);
	close(dev->fd);
	free(dev);
}

static const struct salvo_winsys drm_winsys = {
	.close = drm_close,
	.get_stats = drm_get_stats,
	.bo_create = drm_bo_create,
	.bo_destroy = drm_bo_destroy,
	.bo_map = drm_bo_map,
	.queue_create = drm_queue_create,
	.queue_destroy = drm_queue_destroy,
	.queue_submit = drm_queue_submit,
	.fence_wait = drm_fence_wait,
	.fence_destroy = drm_fence_destroy,
};

/* Is the file a render node of our driver? */
static bool is_salvo(int fd)
{
	drmVersionPtr version = drmGetVersion(fd);
	bool ours = version && version->name && !strcmp(version->name, DRIVER_NAME) &&
		    version->version_major == DRIVER_MAJOR;

	drmFreeVersion(version);
	return ours;
}

static int open_node(const char *path, int *out)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (!is_salvo(fd)) {
		close(fd);
		return -ENODEV;
	}
	*out = fd;
	return 0;
}

static int query_info(struct drm_device *dev, const char *path)
{
	struct drm_salvo_device_info info = { 0 };
	struct drm_salvo_dev_query query = {
		.type = DRM_SALVO_QUERY_DEVICE,
		.size = sizeof(info),
		.pointer = (uintptr_t)&info,
	};
	int err = call(dev, DRM_IOCTL_SALVO_DEV_QUERY, &query);

	if (err)
		return err;
	dev->base.info = (struct salvo_device_info){
		.units = info.units,
		.nodes = info.nodes,
		.isa_level = info.isa_level,
		.max_commands = info.max_commands,
		.max_argument_bytes = info.max_argument_bytes,
		.max_dispatch_argument_bytes = info.max_dispatch_argument_bytes,
		.max_group_items = info.max_group_items,
		.max_local_bytes = info.max_local_bytes,
		.max_items = info.max_items,
		.vram_bytes = info.vram_bytes,
		.clock_hz = info.clock_hz,
	};
	snprintf(dev->base.info.name, sizeof(dev->base.info.name), "%s", path);
	return 0;
}

int salvo_winsys_drm_open(const char *path, struct salvo_device **out)
{
	struct drm_device *dev;
	char found[32] = "";
	int fd, i, err;

	if (path) {
		err = open_node(path, &fd);
		if (err)
			return err;
	} else {
		err = -ENODEV;
		for (i = FIRST_RENDER; i <= LAST_RENDER && err; i++) {
			snprintf(found, sizeof(found), "/dev/dri/renderD%d", i);
			err = open_node(found, &fd);
		}
		if (err)
			return -ENODEV;
		path = found;
	}

	dev = calloc(1, sizeof(*dev));
	if (!dev) {
		close(fd);
		return -ENOMEM;
	}
	dev->base.winsys = &drm_winsys;
	dev->fd = fd;
	pthread_mutex_init(&dev->lock, NULL);
	err = query_info(dev, path);
	if (err) {
		drm_close(&dev->base);
		return err;
	}
	*out = &dev->base;
	return 0;
}
