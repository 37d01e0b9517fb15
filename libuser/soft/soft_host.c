// SPDX-License-Identifier: MIT
/*
 * soft_host.c - memory of the application as buffers of the embedded GPU
 *
 * The GPU's units are threads of the application, so its GPU address is its address; nothing is
 * mapped or copied. It is bound, so that commands may name it, and unbound as every buffer when the
 * batches that may use it are done. Until then it is in a list, by which batches are validated.
 * Who makes a buffer of the same memory meanwhile gets -EBUSY while such a batch runs, and waits
 * for what is left to do afterwards: packets before, and the one that unbinds it.
 *
 * The device's lock protects the list.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "soft_device.h"

bool salvo_soft_host_covers_locked(const struct soft_device *dev, uint64_t address, uint64_t size,
				   uint32_t access)
{
	const struct soft_bo *bo;

	for (bo = dev->hosts; bo; bo = bo->next_host)
		if (address >= bo->base.address && size <= bo->bytes &&
		    address - bo->base.address <= bo->bytes - size)
			return (bo->access & access) == access;
	return false;
}

void salvo_soft_host_remove_locked(struct soft_device *dev, struct soft_bo *bo)
{
	struct soft_bo **at = &dev->hosts;

	while (*at != bo)
		at = &(*at)->next_host;
	*at = bo->next_host;
}

void salvo_soft_host_keep(struct soft_device *dev, struct soft_bo *bo)
{
	pthread_mutex_lock(&dev->lock);
	bo->destroyed = false;
	pthread_mutex_unlock(&dev->lock);
}

/* May a batch that is not done use the destroyed buffer? */
static bool is_used_locked(const struct soft_device *dev, const struct soft_bo *bo)
{
	const struct soft_job *job;

	for (job = dev->oldest; job && job->ticket <= bo->ticket; job = job->newer)
		if (job->queue && !salvo_soft_fence_is_done(job->fence))
			return true;
	return false;
}

/*
 * Return: 0; -EBUSY if memory of @bo is in use; -EAGAIN if only buffers that are about to be
 * unbound have it.
 */
static int check_overlap_locked(const struct soft_device *dev, const struct soft_bo *bo)
{
	const uint64_t end = bo->base.address + bo->bytes;
	const struct soft_bo *other;
	int err = 0;

	for (other = dev->hosts; other; other = other->next_host) {
		if (bo->base.address >= other->base.address + other->bytes ||
		    other->base.address >= end)
			continue;
		if (!other->destroyed || is_used_locked(dev, other))
			return -EBUSY;
		err = -EAGAIN;
	}
	return err;
}

/* Add it to the list, then bind it. */
static int bind(struct soft_device *dev, struct soft_bo *bo)
{
	const struct salvo_gpu_mapping mapping = {
		.asid = SOFT_ASID, .access = bo->access, .address = bo->base.address,
		.size = bo->bytes, .fd = -1,
	};
	int err;

	pthread_mutex_lock(&dev->lock);
	while ((err = check_overlap_locked(dev, bo)) == -EAGAIN) {
		pthread_mutex_unlock(&dev->lock);
		usleep(100);
		salvo_soft_drain(dev);
		salvo_soft_reap(dev);
		pthread_mutex_lock(&dev->lock);
	}
	if (!err) {
		bo->next_host = dev->hosts;
		dev->hosts = bo;
	}
	pthread_mutex_unlock(&dev->lock);
	if (err)
		return err;
	err = salvo_gpu_map_memory(dev->gpu, &mapping);
	if (err) {
		pthread_mutex_lock(&dev->lock);
		salvo_soft_host_remove_locked(dev, bo);
		pthread_mutex_unlock(&dev->lock);
	}
	return err;
}

int salvo_soft_bo_from_memory(struct salvo_device *device, void *memory, uint64_t size,
			      uint32_t flags, struct salvo_bo **out)
{
	const bool readonly = flags & DRM_SALVO_BO_READONLY;
	struct soft_device *dev = to_soft_device(device);
	struct soft_bo *bo;
	int err;

	salvo_soft_reap(dev);
	bo = calloc(1, sizeof(*bo));
	if (!bo)
		return -ENOMEM;
	bo->base.device = device;
	bo->base.size = size;
	bo->base.address = (uintptr_t)memory;
	bo->base.shares = true;
	bo->bytes = size;
	bo->host = true;
	bo->access = SALVO_ACCESS_READ | (readonly ? 0 : SALVO_ACCESS_WRITE);
	bo->map = memory;
	err = bind(dev, bo);
	if (err) {
		free(bo);
		return err;
	}
	*out = &bo->base;
	return 0;
}
