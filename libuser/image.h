/* SPDX-License-Identifier: MIT */
/*
 * image.h - the shape of images, for the files that describe them
 */
#ifndef SALVO_LIB_IMAGE_H
#define SALVO_LIB_IMAGE_H

#include "salvo_kernel.h"
#include "salvo.h"

/**
 * salvo_image_shape() - An image as kernels see it, and how many bytes its pixels take.
 * @view: Filled in, but for the address.
 *
 * Return: 0, -EINVAL.
 */
int salvo_image_shape(const struct salvo_image_info *info, struct salvo_image_view *view,
		      uint64_t *bytes);

#endif /* SALVO_LIB_IMAGE_H */
