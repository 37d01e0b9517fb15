/* SPDX-License-Identifier: MIT */
/*
 * salvo_image.h - images and samplers; salvo.h includes it
 */
#ifndef SALVO_IMAGE_H
#define SALVO_IMAGE_H

#include "salvo.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* struct salvo_image_info.order and .type: the numbers of OpenCL's CL_R, CL_FLOAT, ... */
#define SALVO_IMAGE_R			0x10b0
#define SALVO_IMAGE_A			0x10b1
#define SALVO_IMAGE_RG			0x10b2
#define SALVO_IMAGE_RA			0x10b3
#define SALVO_IMAGE_RGBA		0x10b5
#define SALVO_IMAGE_BGRA		0x10b6
#define SALVO_IMAGE_ARGB		0x10b7
#define SALVO_IMAGE_INTENSITY		0x10b8
#define SALVO_IMAGE_LUMINANCE		0x10b9
#define SALVO_IMAGE_SNORM_INT8		0x10d0
#define SALVO_IMAGE_SNORM_INT16		0x10d1
#define SALVO_IMAGE_UNORM_INT8		0x10d2
#define SALVO_IMAGE_UNORM_INT16		0x10d3
#define SALVO_IMAGE_SIGNED_INT8		0x10d7
#define SALVO_IMAGE_SIGNED_INT16	0x10d8
#define SALVO_IMAGE_SIGNED_INT32	0x10d9
#define SALVO_IMAGE_UNSIGNED_INT8	0x10da
#define SALVO_IMAGE_UNSIGNED_INT16	0x10db
#define SALVO_IMAGE_UNSIGNED_INT32	0x10dc
#define SALVO_IMAGE_HALF_FLOAT		0x10dd
#define SALVO_IMAGE_FLOAT		0x10de

/* A sampler: bits of CLK_NORMALIZED_COORDS_*, CLK_ADDRESS_* and CLK_FILTER_*. */
#define SALVO_SAMPLER_NORMALIZED	0x01
#define SALVO_SAMPLER_CLAMP_TO_EDGE	0x02
#define SALVO_SAMPLER_CLAMP		0x04
#define SALVO_SAMPLER_REPEAT		0x06
#define SALVO_SAMPLER_MIRRORED_REPEAT	0x08
#define SALVO_SAMPLER_NEAREST		0x10
#define SALVO_SAMPLER_LINEAR		0x20

/**
 * struct salvo_image_info - The shape of an image and the format of its pixels.
 *
 * @height and @depth of 0 stand for 1. Array images have @layers and no depth. A pitch of 0
 * means tightly packed.
 */
struct salvo_image_info {
	uint32_t order;			/* SALVO_IMAGE_R to SALVO_IMAGE_LUMINANCE */
	uint32_t type;			/* SALVO_IMAGE_SNORM_INT8 to SALVO_IMAGE_FLOAT */
	uint32_t width, height, depth;	/* up to 65536; the width of a single row up to 2^27 */
	uint32_t layers;
	uint64_t row_pitch;		/* bytes, a multiple of a pixel's */
	uint64_t slice_pitch;		/* bytes, a multiple of @row_pitch */
};

/**
 * salvo_image_create() - An image of 1, 2 or 3 dimensions, or an array, filled with zeros.
 * @flags: As for salvo_bo_create().
 *
 * Return: 0, -EINVAL (the format does not exist, a size or pitch), -ENOSPC, -ENOMEM.
 */
int salvo_image_create(struct salvo_device *device, const struct salvo_image_info *info,
		       uint32_t flags, struct salvo_image **out);
/**
 * salvo_image_create_from_bo() - An image over an existing buffer, for instance an imported one.
 * @bo: Must exist as long as the image. It is not destroyed with the image.
 * @offset: Of the first pixel, a multiple of a pixel's size.
 * @info: With the pitches of the buffer. The last row needs no padding.
 *
 * So the frames of a camera are sampled where they are: import each dma-buf of its ring once.
 *
 * Return: 0, -EINVAL (as salvo_image_create(), or it does not fit in the buffer), -ENOMEM.
 */
int salvo_image_create_from_bo(struct salvo_bo *bo, uint64_t offset,
			       const struct salvo_image_info *info, struct salvo_image **out);
/** salvo_image_destroy() - Destroy an image, as salvo_bo_destroy() a buffer; may be NULL. */
void salvo_image_destroy(struct salvo_image *image);
/** salvo_image_bo() - The buffer of the pixels; that of salvo_image_create() is the image's. */
struct salvo_bo *salvo_image_bo(const struct salvo_image *image);
/** salvo_image_row_pitch() - Bytes from a row to the next, or from a slice to the next. */
uint64_t salvo_image_row_pitch(const struct salvo_image *image);
uint64_t salvo_image_slice_pitch(const struct salvo_image *image);

/**
 * salvo_kernel_set_image() - An image argument, with the lifetime of a buffer argument.
 *
 * Return: 0, -EINVAL (index, kind, an image of another device or of other dimensions).
 */
int salvo_kernel_set_image(struct salvo_kernel *kernel, unsigned int index,
			   const struct salvo_image *image);
/** salvo_kernel_set_sampler() - A sampler argument of SALVO_SAMPLER_* bits. Return: 0, -EINVAL. */
int salvo_kernel_set_sampler(struct salvo_kernel *kernel, unsigned int index, uint32_t sampler);
/**
 * salvo_batch_patch_image() - Change an image argument of a dispatch that is in the batch.
 *
 * Return: as salvo_batch_patch_value(); -EINVAL also for an image that
 * salvo_kernel_set_image() rejects.
 */
int salvo_batch_patch_image(struct salvo_batch *batch, unsigned int command, unsigned int index,
			    const struct salvo_image *image);
/** salvo_batch_patch_sampler() - Change a sampler. Return: as salvo_batch_patch_value(). */
int salvo_batch_patch_sampler(struct salvo_batch *batch, unsigned int command,
			      unsigned int index, uint32_t sampler);

#if defined(__cplusplus)
}
#endif

#endif /* SALVO_IMAGE_H */
