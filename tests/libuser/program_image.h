/* SPDX-License-Identifier: MIT */
/*
 * program_image.h - files of compiled programs that tests load whole, or damaged
 */
#ifndef PROGRAM_IMAGE_H
#define PROGRAM_IMAGE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib_test.h"

#define PROGRAM_IMAGE_MOST	(1u << 20)

/* Two copies of a file of build/kernels, to be freed. Return: its bytes; 0: there is none. */
static inline size_t program_image_read(const char *name, uint8_t **image, uint8_t **copy)
{
	FILE *file = fopen(kernel_path(name), "rb");
	size_t bytes;

	if (!file)
		return 0;
	*image = malloc(PROGRAM_IMAGE_MOST);
	*copy = malloc(PROGRAM_IMAGE_MOST);
	bytes = fread(*image, 1, PROGRAM_IMAGE_MOST, file);
	fclose(file);
	memcpy(*copy, *image, bytes);
	return bytes;
}

static inline int program_image_load(struct salvo_device *device, const void *image, size_t bytes)
{
	struct salvo_program *program;
	int err = salvo_program_load(device, image, bytes, &program);

	salvo_program_destroy(program);
	return err;
}

#endif
