// SPDX-License-Identifier: MIT
/*
 * dmabuf.c - dma-bufs from udmabuf and vgem
 */
#include "dmabuf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/udmabuf.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

/* From the kernel's vgem_drm.h, which libdrm lacks. */
struct vgem_fence_attach_args {
	uint32_t handle;
	uint32_t flags;
	uint32_t out_fence;
	uint32_t pad;
};

struct vgem_fence_signal_args {
	uint32_t fence;
	uint32_t flags;
};

#define VGEM_FENCE_ATTACH	DRM_IOWR(DRM_COMMAND_BASE + 1, struct vgem_fence_attach_args)
#define VGEM_FENCE_SIGNAL	DRM_IOW(DRM_COMMAND_BASE + 2, struct vgem_fence_signal_args)

int vgem_open(void)
{
	drmVersionPtr version;
	char path[32];
	int minor, fd;
	bool found;

	/* Dumb buffers need the primary node. */
	for (minor = 0; minor < 16; minor++) {
		snprintf(path, sizeof(path), "/dev/dri/card%d", minor);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		version = drmGetVersion(fd);
		found = version && !strcmp(version->name, "vgem");
		drmFreeVersion(version);
		if (found)
			return fd;
		close(fd);
	}
	return -1;
}

int vgem_create(int vgem, uint64_t size, uint32_t flags, struct vgem_bo *bo)
{
	/* Rows of 4096 bytes */
	struct drm_mode_create_dumb create = { .width = 1024, .bpp = 32 };
	void *map;

	create.height = (size + 4095) / 4096;
	if (drmIoctl(vgem, DRM_IOCTL_MODE_CREATE_DUMB, &create))
		return -errno;
	*bo = (struct vgem_bo){ .size = create.size, .handle = create.handle };
	if (drmPrimeHandleToFD(vgem, bo->handle, flags, &bo->fd))
		return -errno;
	if (!(flags & DRM_RDWR))
		return 0;
	map = mmap(NULL, bo->size, PROT_READ | PROT_WRITE, MAP_SHARED, bo->fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	bo->map = map;
	return 0;
}

void vgem_destroy(int vgem, struct vgem_bo *bo)
{
	struct drm_gem_close gem_close = { .handle = bo->handle };

	if (bo->map)
		munmap(bo->map, bo->size);
	close(bo->fd);
	drmIoctl(vgem, DRM_IOCTL_GEM_CLOSE, &gem_close);
}

int vgem_fence_attach(int vgem, const struct vgem_bo *bo, bool write, uint32_t *fence)
{
	struct vgem_fence_attach_args args = { .handle = bo->handle, .flags = write };
	int err = drmIoctl(vgem, VGEM_FENCE_ATTACH, &args) ? -errno : 0;

	*fence = args.out_fence;
	return err;
}

int vgem_fence_signal(int vgem, uint32_t fence)
{
	struct vgem_fence_signal_args args = { .fence = fence };

	return drmIoctl(vgem, VGEM_FENCE_SIGNAL, &args) ? -errno : 0;
}

int vgem_fence_syncobj(int vgem, const struct vgem_bo *bo, uint32_t *fence, int fd,
		       uint32_t syncobj)
{
	int err = vgem_fence_attach(vgem, bo, true, fence), sync_file;

	if (err)
		return err;
	sync_file = dmabuf_sync_file(bo->fd, true);
	if (sync_file < 0)
		return sync_file;
	err = drmSyncobjImportSyncFile(fd, syncobj, sync_file);
	close(sync_file);
	return err;
}

int udmabuf_create(uint64_t size, uint32_t **map)
{
	struct udmabuf_create create = { .size = size };
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), memory, fd;

	if (device < 0)
		return -errno;
	memory = memfd_create("udmabuf", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (memory < 0 || ftruncate(memory, size) || fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK)) {
		close(device);
		return -errno;
	}
	*map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	create.memfd = memory;
	fd = ioctl(device, UDMABUF_CREATE, &create);
	if (fd < 0)
		fd = -errno;
	close(memory);
	close(device);
	return fd;
}

bool dmabuf_poll(int fd, bool write, int milliseconds)
{
	struct pollfd pollfd = { .fd = fd, .events = write ? POLLOUT : POLLIN };

	return poll(&pollfd, 1, milliseconds) == 1;
}

int dmabuf_sync_file(int fd, bool write)
{
	struct dma_buf_export_sync_file args = {
		.flags = write ? DMA_BUF_SYNC_RW : DMA_BUF_SYNC_READ, .fd = -1,
	};

	return ioctl(fd, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &args) ? -errno : args.fd;
}

int dmabuf_sync(int fd, uint64_t flags)
{
	struct dma_buf_sync args = { .flags = flags };
	int ret;

	do {
		ret = ioctl(fd, DMA_BUF_IOCTL_SYNC, &args);
	} while (ret && (errno == EINTR || errno == EAGAIN));
	return ret ? -errno : 0;
}
