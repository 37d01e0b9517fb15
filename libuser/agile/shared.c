// SPDX-License-Identifier: MIT
/*
 * shared.c - memory that GPUs of several devices can use
 *
 * A GPU of the driver exports its memory to other files of the same GPU, but not to other GPUs,
 * and an embedded GPU exports none. Where nodes are on such devices their segments are in system
 * memory, in dma-bufs that no GPU owns: of /dev/udmabuf, or if the kernel has none (as Debian's) of
 * the module vgem, whose purpose is to provide buffers for sharing.
 */
#include "shared.h"

#include <drm.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_CARDS 64u

/* A page of a device, exported. Return: 0 with @fd, which is -1 if the device exports nothing. */
static int export_page(struct salvo_device *device, struct salvo_bo **bo, int *fd)
{
	int err = salvo_bo_create(device, 4096, 0, bo);

	*fd = -1;
	if (!err)
		err = salvo_bo_export_dmabuf(*bo, fd);
	return err == -ENOTSUP ? 0 : err;
}

/* Embedded GPUs export nothing and share files. */
static int can_share(struct salvo_device *a, struct salvo_device *b, bool *can)
{
	struct salvo_bo *bo[2] = { NULL, NULL }, *other[2] = { NULL, NULL };
	int fd[2] = { -1, -1 }, err = export_page(a, &bo[0], &fd[0]);
	unsigned int i;

	if (!err)
		err = export_page(b, &bo[1], &fd[1]);
	if (fd[0] < 0 && fd[1] < 0)
		*can = true;
	else
		*can = fd[0] >= 0 && fd[1] >= 0 &&
		       !salvo_bo_import_dmabuf(b, fd[0], 0, &other[0]) &&
		       !salvo_bo_import_dmabuf(a, fd[1], 0, &other[1]);
	for (i = 0; i < 2; i++) {
		if (fd[i] >= 0)
			close(fd[i]);
		salvo_bo_destroy(other[i]);
		salvo_bo_destroy(bo[i]);
	}
	return err;
}

int agile_shared_needed(const struct agile_node *nodes, unsigned int count, bool *needed)
{
	unsigned int i;
	bool can;
	int err = 0;

	*needed = false;
	/* Two devices that cannot share are somewhere next to each other, if there are any. */
	for (i = 1; i < count && !*needed && !err; i++) {
		if (nodes[i].device == nodes[i - 1].device)
			continue;
		err = can_share(nodes[i - 1].device, nodes[i].device, &can);
		*needed = !can;
	}
	return err;
}

static int create_udmabuf(uint64_t bytes, int *out)
{
	struct udmabuf_create create = { .flags = UDMABUF_FLAGS_CLOEXEC, .size = bytes };
	const int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	int err = 0;

	if (device < 0)
		return -errno;
	create.memfd = memfd_create("salvo-agile", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if ((int)create.memfd < 0 || ftruncate(create.memfd, bytes) ||
	    fcntl(create.memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		err = -errno;
	if (!err)
		*out = ioctl(device, UDMABUF_CREATE, &create);
	if (!err && *out < 0)
		err = -errno;
	if ((int)create.memfd >= 0)
		close(create.memfd);
	close(device);
	return err;
}

static int open_vgem(void)
{
	unsigned int i;

	/* Dumb buffers need the primary node. */
	for (i = 0; i < MOST_CARDS; i++) {
		char path[32], name[16] = "";
		struct drm_version version = { .name_len = sizeof(name) - 1, .name = name };
		int fd;

		snprintf(path, sizeof(path), "/dev/dri/card%u", i);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (!ioctl(fd, DRM_IOCTL_VERSION, &version) && !strcmp(name, "vgem"))
			return fd;
		close(fd);
	}
	return -ENODEV;
}

static int create_vgem(uint64_t bytes, int *out)
{
	/* Rows of 4096 bytes. */
	struct drm_mode_create_dumb create = {
		.width = 1024, .bpp = 32, .height = (bytes + 4095) / 4096 };
	struct drm_prime_handle prime = { .flags = DRM_CLOEXEC | DRM_RDWR };
	const int device = bytes >> 44 ? -E2BIG : open_vgem();
	int err = 0;

	if (device < 0)
		return device;
	if (ioctl(device, DRM_IOCTL_MODE_CREATE_DUMB, &create))
		err = -errno;
	prime.handle = create.handle;
	if (!err && ioctl(device, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime))
		err = -errno;
	*out = prime.fd;
	/* The buffer lasts as long as the dma-buf. */
	close(device);
	return err;
}

int agile_shared_create(uint64_t bytes, int *fd)
{
	const uint64_t page = sysconf(_SC_PAGESIZE);
	int err;

	*fd = -1;
	bytes = (bytes + page - 1) / page * page;
	err = create_udmabuf(bytes, fd);
	return err == -ENOENT ? create_vgem(bytes, fd) : err;
}
