// SPDX-License-Identifier: MIT
/*
 * drm_device.c - the kernel driver's back end
 *
 * Each function is one ioctl; drm_queue.c has those of queues and fences, drm_slot.c those of
 * slots. Counters are read from the fdinfo of the open file. All state is constant after open,
 * locked by the kernel, or under the device's lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include "bo.h"
#include "drm_device.h"

#define DRIVER_NAME	"salvo"
#define DRIVER_MAJOR	1
#define FIRST_RENDER	128
#define LAST_RENDER	191

/*
 * A GEM handle. A dma-buf that is imported twice, or that was exported by this file, gets the
 * handle that exists already, and closing it once closes it for all: hence the count.
 */
struct drm_handle {
	struct drm_handle *next;
	unsigned int refs;
	uint32_t handle;
};

struct drm_bo {
	struct salvo_bo base;
	uint64_t bytes;		/* whole pages */
	struct drm_handle *handle;
	/** @dmabuf: What it was imported from, to map it; else -1. */
	int dmabuf;
	/** @readonly: @dmabuf is read-only, for the CPU, too. */
	bool readonly;
	void *map;
};

static struct drm_bo *to_drm_bo(struct salvo_bo *bo)
{
	return container_of(bo, struct drm_bo, base);
}

uint32_t salvo_drm_bo_handle(struct salvo_bo *bo)
{
	return to_drm_bo(bo)->handle->handle;
}

/* --- buffers ---------------------------------------------------------------- */

/* Reference a GEM handle. */
static struct drm_handle *handle_get_locked(struct drm_device *dev, uint32_t number)
{
	struct drm_handle *handle;

	for (handle = dev->handles; handle && handle->handle != number; handle = handle->next)
		;
	if (handle) {
		handle->refs++;
		return handle;
	}
	handle = malloc(sizeof(*handle));
	if (!handle)
		return NULL;
	*handle = (struct drm_handle){ dev->handles, 1, number };
	dev->handles = handle;
	return handle;
}

static void handle_put(struct drm_device *dev, struct drm_handle *handle)
{
	struct drm_handle **link;

	pthread_mutex_lock(&dev->lock);
	if (--handle->refs) {
		pthread_mutex_unlock(&dev->lock);
		return;
	}
	for (link = &dev->handles; *link != handle; link = &(*link)->next)
		;
	*link = handle->next;
	/* Under the lock: the kernel reuses the number. */
	drmCloseBufferHandle(dev->fd, handle->handle);
	pthread_mutex_unlock(&dev->lock);
	free(handle);
}

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
	pthread_mutex_lock(&dev->lock);
	err = salvo_drm_call(dev, DRM_IOCTL_SALVO_BO_CREATE, &create);
	if (!err) {
		bo->handle = handle_get_locked(dev, create.handle);
		if (!bo->handle) {
			drmCloseBufferHandle(dev->fd, create.handle);
			err = -ENOMEM;
		}
	}
	pthread_mutex_unlock(&dev->lock);
	if (err) {
		free(bo);
		return err;
	}
	bo->base.device = device;
	bo->base.size = size;
	bo->base.address = create.address;
	bo->bytes = create.size;
	bo->dmabuf = -1;
	*out = &bo->base;
	return 0;
}

static void drm_bo_destroy(struct salvo_bo *base)
{
	struct drm_device *dev = to_drm(base->device);
	struct drm_bo *bo = to_drm_bo(base);

	if (bo->map)
		munmap(bo->map, bo->bytes);
	if (bo->dmabuf >= 0)
		close(bo->dmabuf);
	handle_put(dev, bo->handle);
	free(bo);
}

static int drm_bo_map(struct salvo_bo *base, void **out)
{
	struct drm_device *dev = to_drm(base->device);
	struct drm_bo *bo = to_drm_bo(base);
	struct drm_salvo_bo_mmap_offset offset = { .handle = bo->handle->handle };
	int fd = bo->dmabuf;
	void *map;
	int err;

	if (!bo->map) {
		if (fd < 0) {
			fd = dev->fd;
			err = salvo_drm_call(dev, DRM_IOCTL_SALVO_BO_MMAP_OFFSET, &offset);
			if (err)
				return err;
		}
		map = mmap(NULL, bo->bytes, bo->readonly ? PROT_READ : PROT_READ | PROT_WRITE,
			   MAP_SHARED, fd, offset.offset);
		if (map == MAP_FAILED)
			return -errno;
		bo->map = map;
	}
	*out = bo->map;
	return 0;
}

/* Get and query the handle of a dma-buf. */
static int import_handle(struct drm_device *dev, int fd, struct drm_bo *bo,
			 struct drm_salvo_bo_query *query)
{
	int err = 0;

	pthread_mutex_lock(&dev->lock);
	if (drmPrimeFDToHandle(dev->fd, fd, &query->handle))
		err = -errno;
	if (!err) {
		bo->handle = handle_get_locked(dev, query->handle);
		if (!bo->handle) {
			drmCloseBufferHandle(dev->fd, query->handle);
			err = -ENOMEM;
		}
	}
	pthread_mutex_unlock(&dev->lock);
	if (err)
		return err;
	err = salvo_drm_call(dev, DRM_IOCTL_SALVO_BO_QUERY, query);
	if (err)
		handle_put(dev, bo->handle);
	return err;
}

static int drm_bo_import(struct salvo_device *device, int fd, uint32_t flags,
			 struct salvo_bo **out)
{
	struct drm_device *dev = to_drm(device);
	struct drm_salvo_bo_query query = { 0 };
	struct drm_bo *bo;
	bool readonly;
	int err;

	bo = calloc(1, sizeof(*bo));
	if (!bo)
		return -ENOMEM;
	bo->dmabuf = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	err = bo->dmabuf < 0 ? -errno : import_handle(dev, fd, bo, &query);
	/* The dma-buf determines how it is bound, not the caller. */
	readonly = query.flags & DRM_SALVO_BO_READONLY;
	if (!err && readonly != !!flags) {
		handle_put(dev, bo->handle);
		err = flags ? -ENOTSUP : -EACCES;
	}
	if (err) {
		if (bo->dmabuf >= 0)
			close(bo->dmabuf);
		free(bo);
		return err;
	}
	bo->base.device = device;
	bo->base.size = query.size;
	bo->base.address = query.address;
	bo->bytes = query.size;
	bo->readonly = readonly && (query.flags & DRM_SALVO_BO_IMPORTED);
	*out = &bo->base;
	return 0;
}

static int drm_bo_export(struct salvo_bo *base, int *out)
{
	struct drm_bo *bo = to_drm_bo(base);

	return drmPrimeHandleToFD(to_drm(base->device)->fd, bo->handle->handle,
				  DRM_CLOEXEC | DRM_RDWR, out) ? -errno : 0;
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
	.bo_import = drm_bo_import,
	.bo_export = drm_bo_export,
	.queue_create = salvo_drm_queue_create,
	.queue_destroy = salvo_drm_queue_destroy,
	.queue_submit = salvo_drm_queue_submit,
	.fence_wait = salvo_drm_fence_wait,
	.fence_wait_many = salvo_drm_fence_wait_many,
	.fence_get_fd = salvo_drm_fence_get_fd,
	.fence_import_fd = salvo_drm_fence_import_fd,
	.fence_get_error = salvo_drm_fence_get_error,
	.fence_free = salvo_drm_fence_free,
	.slot_attach = salvo_drm_slot_attach,
	.slot_detach = salvo_drm_slot_detach,
	.slot_wake = salvo_drm_slot_wake,
	.slot_notify = salvo_drm_slot_notify,
	.slot_why = salvo_drm_slot_why,
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

/* Returns a descriptor, or a negative errno. */
static int open_node(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (!is_salvo(fd)) {
		close(fd);
		return -ENODEV;
	}
	return fd;
}

static int query_info(struct drm_device *dev, const char *path)
{
	struct drm_salvo_device_info info = { 0 };
	struct drm_salvo_dev_query query = {
		.type = DRM_SALVO_QUERY_DEVICE,
		.size = sizeof(info),
		.pointer = (uintptr_t)&info,
	};
	int err = salvo_drm_call(dev, DRM_IOCTL_SALVO_DEV_QUERY, &query);

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
	dev->max_slots = info.max_slots;
	dev->base.overlaps = info.features & DRM_SALVO_FEATURE_OVERLAP;
	dev->base.contends = info.features & DRM_SALVO_FEATURE_CONTENDS;
	snprintf(dev->base.info.name, sizeof(dev->base.info.name), "%s", path);
	return 0;
}

int salvo_drm_find(unsigned int *index, char path[SALVO_NODE_BYTES])
{
	int i, fd;

	for (i = FIRST_RENDER; i <= LAST_RENDER; i++) {
		snprintf(path, SALVO_NODE_BYTES, "/dev/dri/renderD%d", i);
		fd = open_node(path);
		if (fd < 0)
			continue;
		close(fd);
		if (!*index)
			return 0;
		--*index;
	}
	return -ENODEV;
}

int salvo_drm_open(const char *path, struct salvo_device **out)
{
	struct drm_device *dev;
	char found[SALVO_NODE_BYTES];
	unsigned int first = 0;
	int fd, err;

	if (!path) {
		if (salvo_drm_find(&first, found))
			return -ENODEV;
		path = found;
	}
	fd = open_node(path);
	if (fd < 0)
		return fd;
	dev = calloc(1, sizeof(*dev));
	if (!dev) {
		close(fd);
		return -ENOMEM;
	}
	salvo_device_init(&dev->base);
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
