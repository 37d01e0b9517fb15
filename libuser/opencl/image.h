/* SPDX-License-Identifier: MIT */
/*
 * image.h - images and their formats
 */
#ifndef SALVO_CL_IMAGE_H
#define SALVO_CL_IMAGE_H

#include "cl_memory.h"
#include "transfer.h"

/**
 * struct salvo_cl_image - What an image is beyond its memory.
 */
struct salvo_cl_image {
	cl_image_format format;
	/** @desc: As it was given, but for the pitches, which are those of the memory. */
	cl_image_desc desc;
	size_t pixel_bytes;
	/** @size: In each coordinate; layers are the last one. 1 for those that it has not. */
	size_t size[3];
	/** @pitch: Bytes from one to the next in each coordinate. */
	size_t pitch[3];
	/** @views: For each GPU of the context. */
	struct salvo_image **views;
};

/** salvo_cl_mem_view() - The image on a GPU of the context, for salvo_kernel_set_image(). */
static inline struct salvo_image *salvo_cl_mem_view(const struct _cl_mem *mem, unsigned int gpu)
{
	return mem->image->views[gpu];
}

/** salvo_cl_image_box() - The box of a region. Return: false if it is not in the image. */
bool salvo_cl_image_box(const struct _cl_mem *mem, const size_t *origin, const size_t *region,
			struct salvo_cl_box *box);

/** salvo_cl_format_bytes() - Bytes of a pixel, 0 if there is no such order or type. */
size_t salvo_cl_format_bytes(const cl_image_format *format);
/** salvo_cl_format_is_supported() - Is it one of clGetSupportedImageFormats()? */
bool salvo_cl_format_is_supported(const cl_image_format *format);
/** salvo_cl_format_pack() - A pixel as it lies in memory. @color: Four floats, ints or unsigned. */
void salvo_cl_format_pack(const cl_image_format *format, const void *color, void *pixel);

#endif /* SALVO_CL_IMAGE_H */
