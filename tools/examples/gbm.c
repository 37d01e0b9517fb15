// SPDX-License-Identifier: MIT
/*
 * gbm.c - work on a buffer of another driver: import what Mesa's gbm allocated
 *
 *	gbm [CARD [DEVICE]]	(default: each card and render node that is no Salvo GPU)
 *
 * A linear buffer is allocated with gbm and painted by the CPU, shared as a dma-buf,
 * imported into a Salvo device and filled there; then the CPU checks it through gbm.
 * Nothing is copied. The dma-buf is exported from gbm's handle, since the descriptor of
 * gbm_bo_get_fd() is read-only with some of Mesa's drivers. Exits with 77 if no gbm device
 * can allocate such a buffer.
 */
#include <errno.h>
#include <fcntl.h>
#include <gbm.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xf86drm.h>

#include "salvo.h"

#define WIDTH	256u
#define HEIGHT	256u
#define BEFORE	0xff102030u
#define AFTER	0xff405060u
#define NOTHING	77

static struct gbm_bo *allocate(const char *path, struct gbm_device **gbm)
{
	const int fd = open(path, O_RDWR | O_CLOEXEC);
	struct gbm_bo *bo;

	if (fd < 0)
		return NULL;
	*gbm = gbm_create_device(fd);
	bo = *gbm ? gbm_bo_create(*gbm, WIDTH, HEIGHT, GBM_FORMAT_XRGB8888, GBM_BO_USE_LINEAR) :
		    NULL;
	if (!bo) {
		if (*gbm)
			gbm_device_destroy(*gbm);
		close(fd);
	}
	return bo;
}

static struct gbm_bo *allocate_anywhere(struct gbm_device **gbm)
{
	struct gbm_bo *bo = NULL;
	char path[32];
	int i;

	for (i = 0; i < 128 && !bo; i++) {
		snprintf(path, sizeof(path), i < 64 ? "/dev/dri/card%d" : "/dev/dri/renderD%d",
			 i < 64 ? i : i + 64);
		bo = allocate(path, gbm);
	}
	return bo;
}

/* Paints all pixels with @paint, or checks that all are @expected. */
static int visit(struct gbm_bo *bo, const uint32_t *paint, uint32_t expected)
{
	uint32_t stride, x, y, wrong = 0;
	void *cookie = NULL;
	uint8_t *map = gbm_bo_map(bo, 0, 0, WIDTH, HEIGHT,
				  paint ? GBM_BO_TRANSFER_WRITE : GBM_BO_TRANSFER_READ, &stride,
				  &cookie);

	if (!map)
		return -errno;
	for (y = 0; y < HEIGHT; y++) {
		uint32_t *row = (uint32_t *)(map + (size_t)y * stride);

		for (x = 0; x < WIDTH; x++) {
			if (paint)
				row[x] = *paint;
			else
				wrong += row[x] != expected;
		}
	}
	gbm_bo_unmap(bo, cookie);
	return wrong ? -EBADMSG : 0;
}

/* Fill a dma-buf on the GPU. */
static int fill(struct salvo_device *device, int dmabuf, uint64_t bytes)
{
	struct salvo_fence *fence = NULL;
	struct salvo_batch *batch = NULL;
	struct salvo_queue *queue = NULL;
	struct salvo_bo *bo = NULL;
	int err;

	err = salvo_bo_import_dmabuf(device, dmabuf, 0, &bo);
	if (!err)
		err = salvo_queue_create(device, 0, &queue);
	if (!err)
		err = salvo_batch_create(device, &batch);
	if (!err)
		err = salvo_batch_fill(batch, bo, 0, bytes, AFTER);
	if (err >= 0)
		err = salvo_queue_submit(queue, batch, NULL, 0, &fence);
	if (!err)
		err = salvo_fence_wait(fence, -1);
	salvo_fence_destroy(fence);
	salvo_batch_destroy(batch);
	salvo_queue_destroy(queue);
	salvo_bo_destroy(bo);
	return err;
}

int main(int argc, char **argv)
{
	const uint32_t before = BEFORE;
	struct salvo_device *device;
	struct gbm_device *gbm;
	struct gbm_bo *bo;
	int dmabuf = -1, err;

	bo = argc > 1 ? allocate(argv[1], &gbm) : allocate_anywhere(&gbm);
	if (!bo) {
		fprintf(stderr, "no gbm device with linear buffers\n");
		return NOTHING;
	}
	err = salvo_device_open(argc > 2 ? argv[2] : NULL, &device);
	if (err) {
		fprintf(stderr, "no Salvo device: %s\n", strerror(-err));
		return 1;
	}
	err = drmPrimeHandleToFD(gbm_device_get_fd(gbm), gbm_bo_get_handle(bo).u32,
				 DRM_CLOEXEC | DRM_RDWR, &dmabuf) ? -errno : 0;
	if (!err)
		err = visit(bo, &before, 0);
	if (!err)
		err = fill(device, dmabuf, (uint64_t)gbm_bo_get_stride(bo) * HEIGHT);
	if (!err)
		err = visit(bo, NULL, AFTER);
	if (err)
		fprintf(stderr, "%s: %s\n", gbm_device_get_backend_name(gbm), strerror(-err));
	else
		printf("a %s buffer of %ux%u pixels, filled where it is\n",
		       gbm_device_get_backend_name(gbm), WIDTH, HEIGHT);
	if (dmabuf >= 0)
		close(dmabuf);
	gbm_bo_destroy(bo);
	gbm_device_destroy(gbm);
	salvo_device_close(device);
	return err ? 1 : 0;
}
