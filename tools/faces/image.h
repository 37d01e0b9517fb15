/* SPDX-License-Identifier: MIT */
/*
 * image.h - pictures: reading, writing, grey, drawing
 */
#ifndef FACES_IMAGE_H
#define FACES_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

#define IMAGE_MAX_SIDE		16384
#define IMAGE_MAX_PIXELS	(64u << 20)
#define IMAGE_MAX_FILE_BYTES	(256u << 20)

/**
 * struct image - A picture of 8 bits a channel.
 */
struct image {
	int width, height;
	int channels;			/* 1 grey, 3 red, green, blue */
	uint8_t *pixels;		/* rows without gaps */
};

struct face;

/**
 * image_init() - Memory for a picture, black; refuses sizes that are too big.
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int image_init(struct image *image, int64_t width, int64_t height, int channels,
	       struct faces_error *error);
void image_fini(struct image *image);

/** image_decode() - A JPEG, PNG, PGM or PPM file in memory. Return: 0 or a negative errno. */
int image_decode(const uint8_t *data, size_t bytes, struct image *out, struct faces_error *error);
int image_decode_jpeg(const uint8_t *data, size_t bytes, struct image *out,
		      struct faces_error *error);
int image_decode_png(const uint8_t *data, size_t bytes, struct image *out,
		     struct faces_error *error);
int image_decode_pnm(const uint8_t *data, size_t bytes, struct image *out,
		     struct faces_error *error);

/** image_exif_orientation() - The tag of a JPEG file's Exif block, 1 to 8; 1 if there is none. */
int image_exif_orientation(const uint8_t *data, size_t bytes);
/** image_orient() - Turn and mirror a picture as that tag says. Return: 0, -EINVAL, -ENOMEM. */
int image_orient(struct image *image, int orientation, struct faces_error *error);

/** image_to_grey() - Grey values with OpenCV's weights, to width * height bytes. */
void image_to_grey(const struct image *image, uint8_t *grey);

/** image_draw_faces() - Draw rectangles; grey becomes colour. Return: 0, -ENOMEM. */
int image_draw_faces(struct image *image, const struct face *faces, unsigned int count,
		     struct faces_error *error);

/**
 * image_write() - Write a file.
 * @path: Ends in .png, .jpg, .jpeg, .ppm or .pgm.
 *
 * Return: 0 or a negative errno.
 */
int image_write(const struct image *image, const char *path, struct faces_error *error);
/** image_write_known() - 0 if image_write() knows the ending of that name, else -EINVAL. */
int image_write_known(const char *path, struct faces_error *error);

#endif
