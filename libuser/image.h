/* SPDX-License-Identifier: MIT */
/*
 * image.h - the shape of images, for the files that describe them
 */
#ifndef SALVO_LIB_IMAGE_H
#define SALVO_LIB_IMAGE_H

#include <stdbool.h>

#include "salvo_kernel.h"
#include "salvo.h"

struct salvo_kernel_info;
struct salvo_region;

/**
 * salvo_image_shape() - An image as kernels see it, and how many bytes its pixels take.
 * @view: Filled in, but for the address.
 *
 * Return: 0, -EINVAL.
 */
int salvo_image_shape(const struct salvo_image_info *info, struct salvo_image_view *view,
		      uint64_t *bytes);

/**
 * salvo_image_argument() - Check an image for an argument of a kernel.
 * @region: Its @start, @end and @memory are set.
 * @view: What the argument is set to.
 *
 * Return: 0 or -EINVAL.
 */
int salvo_image_argument(const struct salvo_device *device, const struct salvo_kernel_info *info,
			 unsigned int index, const struct salvo_image *image,
			 struct salvo_region *region, const struct salvo_image_view **view);

bool salvo_sampler_is_valid(uint32_t sampler);

#endif /* SALVO_LIB_IMAGE_H */
