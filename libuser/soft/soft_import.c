// SPDX-License-Identifier: MIT
/*
 * soft_import.c - imported buffers of the embedded GPU
 *
 * A file descriptor that can be mapped, a dma-buf or a memfd, is bound at addresses of the window
 * after video memory; nothing is copied. The application gets a mapping of its own. Destroyed
 * buffers are unbound when the batches that may use them are done, as all others.
 *
 * The device's lock protects the window's list of ranges.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "soft_device.h"

#define PAGE_BYTES 4096ull

/* Allocate addresses, and bind the pages there. */
static int bind(struct soft_device *dev, struct soft_bo *bo, int fd, uint32_t access)
{
	struct salvo_gpu_mapping mapping = {
		.asid = SOFT_ASID, .access = access, .size = bo->bytes, .fd = fd,
	};
	int err;

	pthread_mutex_lock(&dev->lock);
	err = salvo_vram_alloc(&dev->window, bo->bytes, access, &bo->offset);
	pthread_mutex_unlock(&dev->lock);
	if (err)
		return err;
	mapping.address = dev->regs->va_base + dev->vram_bytes + bo->offset;
	err = salvo_gpu_map_fd(dev->gpu, &mapping);
	if (err) {
		pthread_mutex_lock(&dev->lock);
		salvo_vram_free(&dev->window, bo->offset);
		pthread_mutex_unlock(&dev->lock);
		return err;
	}
	bo->base.address = mapping.address;
	return 0;
}

int salvo_soft_bo_import(struct salvo_device *device, int fd, uint32_t flags,
			 struct salvo_bo **out)
{
	const bool readonly = flags & DRM_SALVO_BO_READONLY;
	struct soft_device *dev = to_soft_device(device);
	const off_t end = lseek(fd, 0, SEEK_END);
	struct soft_bo *bo;
	int err;

	if (end < 0)
		return errno == EBADF ? -EBADF : -EINVAL;
	if (!end || end % PAGE_BYTES)
		return -EINVAL;
	salvo_soft_reap(dev);
	bo = calloc(1, sizeof(*bo));
	if (!bo)
		return -ENOMEM;
	bo->base.device = device;
	bo->base.size = end;
	bo->bytes = end;
	bo->imported = true;
	bo->map = mmap(NULL, bo->bytes, PROT_READ | (readonly ? 0 : PROT_WRITE), MAP_SHARED, fd, 0);
	if (bo->map == MAP_FAILED) {
		err = -errno;
		free(bo);
		return err;
	}
	err = bind(dev, bo, fd, SALVO_ACCESS_READ | (readonly ? 0 : SALVO_ACCESS_WRITE));
	if (err) {
		munmap(bo->map, bo->bytes);
		free(bo);
		return err;
	}
	*out = &bo->base;
	return 0;
}
