/* SPDX-License-Identifier: MIT */
/*
 * dmabuf.h - dma-bufs from udmabuf and vgem
 *
 * Functions return 0 or a negative errno, as the ioctl returned it.
 */
#ifndef DMABUF_H
#define DMABUF_H

#include <stdbool.h>
#include <stdint.h>

/** struct vgem_bo - A vgem buffer. */
struct vgem_bo {
	uint64_t size;
	uint32_t handle;
	/** @fd: Its dma-buf. */
	int fd;
	/** @map: Mapping of @fd; NULL if that is read-only. */
	uint32_t *map;
};

/** vgem_open() - Open the vgem device; -1 if there is none. */
int vgem_open(void);
/** vgem_create() - Create a buffer and its dma-buf; @flags are those of drmPrimeHandleToFD(). */
int vgem_create(int vgem, uint64_t size, uint32_t flags, struct vgem_bo *bo);
void vgem_destroy(int vgem, struct vgem_bo *bo);

/** vgem_fence_attach() - Attach a fence to a buffer; vgem signals it within ten seconds. */
int vgem_fence_attach(int vgem, const struct vgem_bo *bo, bool write, uint32_t *fence);
int vgem_fence_signal(int vgem, uint32_t fence);
/** vgem_fence_syncobj() - Attach a write fence to a buffer, and put it into a syncobj of @fd. */
int vgem_fence_syncobj(int vgem, const struct vgem_bo *bo, uint32_t *fence, int fd,
		       uint32_t syncobj);

/** udmabuf_create() - Create a dma-buf of a new memfd, mapped at @map; or a negative errno. */
int udmabuf_create(uint64_t size, uint32_t **map);

/** dmabuf_poll() - Do all fences of the buffer signal within some milliseconds? */
bool dmabuf_poll(int fd, bool write, int milliseconds);
/** dmabuf_sync_file() - Export the fences of the buffer as a sync_file. */
int dmabuf_sync_file(int fd, bool write);
/** dmabuf_sync() - Begin or end CPU access. */
int dmabuf_sync(int fd, uint64_t flags);

#endif /* DMABUF_H */
