// SPDX-License-Identifier: MIT
/*
 * image.c - images: a buffer with the shape of its pixels, and samplers
 *
 * An image of OpenCL C is software: the kernel gets a struct salvo_image_view among its
 * arguments and works out addresses itself. So an image is a buffer and that view, and
 * the hazards of a batch come from the buffer as for any pointer.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "argument.h"
#include "bo.h"
#include "image.h"

#define MAX_SIDE	(1u << 16)
#define MAX_LINE	(1u << 27)
#define SAMPLER_BITS	0x3fu

struct salvo_image {
	struct salvo_bo *bo;
	/** @owner: @bo is destroyed with the image. */
	bool owner;
	struct salvo_image_view view;
	/** @extent: Bytes from @view.address on. */
	uint64_t extent;
};

/* Bytes of a pixel, 0 for a format that does not exist. */
static unsigned int pixel_bytes(uint32_t order, uint32_t type)
{
	unsigned int channels, bytes;

	switch (order) {
	case SALVO_IMAGE_R:
	case SALVO_IMAGE_A:
	case SALVO_IMAGE_INTENSITY:
	case SALVO_IMAGE_LUMINANCE:
		channels = 1;
		break;
	case SALVO_IMAGE_RG:
	case SALVO_IMAGE_RA:
		channels = 2;
		break;
	case SALVO_IMAGE_RGBA:
	case SALVO_IMAGE_BGRA:
	case SALVO_IMAGE_ARGB:
		channels = 4;
		break;
	default:
		return 0;
	}
	switch (type) {
	case SALVO_IMAGE_SNORM_INT8:
	case SALVO_IMAGE_UNORM_INT8:
	case SALVO_IMAGE_SIGNED_INT8:
	case SALVO_IMAGE_UNSIGNED_INT8:
		bytes = 1;
		break;
	case SALVO_IMAGE_SNORM_INT16:
	case SALVO_IMAGE_UNORM_INT16:
	case SALVO_IMAGE_SIGNED_INT16:
	case SALVO_IMAGE_UNSIGNED_INT16:
	case SALVO_IMAGE_HALF_FLOAT:
		bytes = 2;
		break;
	case SALVO_IMAGE_SIGNED_INT32:
	case SALVO_IMAGE_UNSIGNED_INT32:
	case SALVO_IMAGE_FLOAT:
		bytes = 4;
		break;
	default:
		return 0;
	}
	return channels * bytes;
}

/* The view of @info, tightly packed unless it has pitches, and its size in bytes. */
int salvo_image_shape(const struct salvo_image_info *info, struct salvo_image_view *view,
		      uint64_t *bytes)
{
	unsigned int pixel = pixel_bytes(info->order, info->type), most;

	memset(view, 0, sizeof(*view));
	view->width = info->width;
	view->height = info->height ? info->height : 1;
	view->depth = info->depth ? info->depth : 1;
	view->layers = info->layers;
	view->order = info->order;
	view->type = info->type;
	/* An image of one row may be a whole buffer. */
	most = view->height > 1 || view->depth > 1 || view->layers ? MAX_SIDE : MAX_LINE;
	if (!pixel || !view->width || view->width > most || view->height > MAX_SIDE ||
	    view->depth > MAX_SIDE || view->layers > MAX_SIDE ||
	    (view->layers && view->depth > 1))
		return -EINVAL;

	view->row_pitch = info->row_pitch ? info->row_pitch : (uint64_t)view->width * pixel;
	if (view->row_pitch < (uint64_t)view->width * pixel || view->row_pitch % pixel ||
	    view->row_pitch > UINT32_MAX)
		return -EINVAL;
	view->slice_pitch = info->slice_pitch ? info->slice_pitch :
						view->row_pitch * view->height;
	if (view->slice_pitch < view->row_pitch * view->height ||
	    view->slice_pitch % view->row_pitch || view->slice_pitch > (uint64_t)UINT32_MAX << 16)
		return -EINVAL;
	if (__builtin_mul_overflow(view->slice_pitch,
				   view->layers ? view->layers : view->depth, bytes))
		return -EINVAL;
	return 0;
}

/* Bytes from the first pixel to the end of the last; the last row has no padding. */
static uint64_t image_extent(const struct salvo_image_view *view)
{
	const uint64_t slices = view->layers ? view->layers : view->depth;

	return (slices - 1) * view->slice_pitch + (view->height - 1) * view->row_pitch +
	       (uint64_t)view->width * pixel_bytes(view->order, view->type);
}

int salvo_image_create(struct salvo_device *device, const struct salvo_image_info *info,
		       uint32_t flags, struct salvo_image **out)
{
	struct salvo_image *image;
	uint64_t bytes;
	int err;

	*out = NULL;
	image = calloc(1, sizeof(*image));
	if (!image)
		return -ENOMEM;
	err = salvo_image_shape(info, &image->view, &bytes);
	if (!err)
		err = salvo_bo_create(device, bytes, flags, &image->bo);
	if (err) {
		free(image);
		return err;
	}
	image->owner = true;
	image->view.address = image->bo->address;
	image->extent = image->bo->size;
	*out = image;
	return 0;
}

int salvo_image_create_from_bo(struct salvo_bo *bo, uint64_t offset,
			       const struct salvo_image_info *info, struct salvo_image **out)
{
	struct salvo_image *image;
	uint64_t bytes;
	int err;

	*out = NULL;
	image = calloc(1, sizeof(*image));
	if (!image)
		return -ENOMEM;
	err = salvo_image_shape(info, &image->view, &bytes);
	if (!err) {
		image->extent = image_extent(&image->view);
		if (offset % pixel_bytes(info->order, info->type) || offset > bo->size ||
		    image->extent > bo->size - offset)
			err = -EINVAL;
	}
	if (err) {
		free(image);
		return err;
	}
	image->bo = bo;
	image->view.address = bo->address + offset;
	*out = image;
	return 0;
}

void salvo_image_destroy(struct salvo_image *image)
{
	if (!image)
		return;
	if (image->owner)
		salvo_bo_destroy(image->bo);
	free(image);
}

struct salvo_bo *salvo_image_bo(const struct salvo_image *image)
{
	return image->bo;
}

uint64_t salvo_image_row_pitch(const struct salvo_image *image)
{
	return image->view.row_pitch;
}

uint64_t salvo_image_slice_pitch(const struct salvo_image *image)
{
	return image->view.slice_pitch;
}

/* Does the image have the dimensions of the kernel's "image2d_array_t", ...? */
static bool shape_fits(const char *type, const struct salvo_image_view *view)
{
	bool is_array = strstr(type, "_array") != NULL;

	if (is_array != (view->layers != 0))
		return false;
	if (!strncmp(type, "image1d", 7))
		return view->height == 1 && view->depth == 1;
	if (!strncmp(type, "image2d", 7))
		return view->depth == 1;
	return true;
}

int salvo_image_argument(const struct salvo_device *device, const struct salvo_kernel_info *info,
			 unsigned int index, const struct salvo_image *image,
			 struct salvo_region *region, const struct salvo_image_view **view)
{
	if (index >= info->note.arg_count || info->args[index].kind != SALVO_ARG_IMAGE || !image ||
	    image->bo->device != device ||
	    !shape_fits(info->text + info->args[index].type, &image->view))
		return -EINVAL;
	region->start = image->view.address;
	region->end = image->view.address + image->extent;
	region->memory = salvo_bo_memory(image->bo);
	*view = &image->view;
	return 0;
}

int salvo_kernel_set_image(struct salvo_kernel *kernel, unsigned int index,
			   const struct salvo_image *image)
{
	const struct salvo_image_view *view;
	struct salvo_region region;

	if (salvo_image_argument(kernel->device, kernel->info, index, image, &region, &view))
		return salvo_kernel_fail_argument(kernel, index, "%s given",
						  !image ? "NULL" :
						  image->bo->device != kernel->device ?
						  "an image of another device" :
						  image->view.layers ? "an array of images" :
						  image->view.depth > 1 ? "an image of 3 dimensions" :
						  image->view.height > 1 ?
						  "an image of 2 dimensions" :
						  "an image of 1 dimension");
	kernel->regions[kernel->slots[index]].start = region.start;
	kernel->regions[kernel->slots[index]].end = region.end;
	kernel->regions[kernel->slots[index]].memory = region.memory;
	salvo_kernel_store(kernel, index, view);
	return 0;
}

bool salvo_sampler_is_valid(uint32_t sampler)
{
	return !(sampler & ~SAMPLER_BITS);
}

int salvo_kernel_set_sampler(struct salvo_kernel *kernel, unsigned int index, uint32_t sampler)
{
	const struct salvo_note_arg *arg = salvo_kernel_argument(kernel, index);

	if (!arg || arg->kind != SALVO_ARG_SAMPLER || !salvo_sampler_is_valid(sampler))
		return salvo_kernel_fail_argument(kernel, index, "sampler 0x%x given", sampler);
	salvo_kernel_store(kernel, index, &sampler);
	return 0;
}
