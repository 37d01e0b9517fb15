/* SPDX-License-Identifier: MIT */
/*
 * dmabuf.h - dma-bufs, and vgem, the driver of memory that others can import
 *
 * Functions return 0 or a negative errno, as the ioctl gave it.
 */
#ifndef DMABUF_H
#define DMABUF_H

#include <stdbool.h>
#include <stdint.h>

/** struct vgem_bo - A buffer of vgem. */
struct vgem_bo {
	uint64_t size;
	uint32_t handle;
	/** @fd: Its dma-buf. */
	int fd;
	/** @map: Mapped through @fd; NULL if that was opened for reading. */
	uint32_t *map;
};

/** vgem_open() - A file of vgem, or -1 if there is none. */
int vgem_open(void);
/** vgem_create() - A buffer with its dma-buf; @flags as drmPrimeHandleToFD() takes them. */
int vgem_create(int vgem, uint64_t size, uint32_t flags, struct vgem_bo *bo);
void vgem_destroy(int vgem, struct vgem_bo *bo);

/** vgem_fence_attach() - Put a fence on a buffer; vgem signals it within ten seconds. */
int vgem_fence_attach(int vgem, const struct vgem_bo *bo, bool write, uint32_t *fence);
int vgem_fence_signal(int vgem, uint32_t fence);

/** udmabuf_create() - The dma-buf of a new memfd, which is mapped at @map; or a negative errno. */
int udmabuf_create(uint64_t size, uint32_t **map);

/** dmabuf_poll() - Is access to the memory free of fences within some milliseconds? */
bool dmabuf_poll(int fd, bool write, int milliseconds);
/** dmabuf_sync_file() - A sync_file of who accesses the memory. */
int dmabuf_sync_file(int fd, bool write);
/** dmabuf_sync() - Begin or end access of the CPU. */
int dmabuf_sync(int fd, uint64_t flags);

#endif /* DMABUF_H */
