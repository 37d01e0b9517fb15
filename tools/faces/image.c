// SPDX-License-Identifier: MIT
/*
 * image.c - pictures in memory
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "group.h"
#include "image.h"

int image_init(struct image *image, int64_t width, int64_t height, int channels,
	       struct faces_error *error)
{
	if (width < 1 || height < 1)
		return faces_fail(error, -EINVAL, "the picture is empty");
	if (width > IMAGE_MAX_SIDE || height > IMAGE_MAX_SIDE || width * height > IMAGE_MAX_PIXELS)
		return faces_fail(error, -EINVAL, "the picture is too big (%lld x %lld)",
				  (long long)width, (long long)height);
	image->width = width;
	image->height = height;
	image->channels = channels;
	image->pixels = calloc(width * height, channels);
	return image->pixels ? 0 : faces_fail(error, -ENOMEM, "out of memory");
}

void image_fini(struct image *image)
{
	free(image->pixels);
	image->pixels = NULL;
}

int image_decode(const uint8_t *data, size_t bytes, struct image *out, struct faces_error *error)
{
	if (bytes >= 3 && !memcmp(data, "\xff\xd8\xff", 3))
		return image_decode_jpeg(data, bytes, out, error);
	if (bytes >= 8 && !memcmp(data, "\x89PNG\r\n\x1a\n", 8))
		return image_decode_png(data, bytes, out, error);
	if (bytes >= 2 && data[0] == 'P' && (data[1] == '5' || data[1] == '6'))
		return image_decode_pnm(data, bytes, out, error);
	return faces_fail(error, -EINVAL, "not a JPEG, PNG, PGM, PPM or Y4M file");
}

void image_to_grey(const struct image *image, uint8_t *grey)
{
	size_t i, count = (size_t)image->width * image->height;
	const uint8_t *p = image->pixels;

	if (image->channels == 1) {
		memcpy(grey, p, count);
		return;
	}
	for (i = 0; i < count; i++, p += 3)
		grey[i] = (9798 * p[0] + 19235 * p[1] + 3735 * p[2] + 16384) >> 15;
}

static int make_colour(struct image *image)
{
	size_t i, count = (size_t)image->width * image->height;
	uint8_t *colour;

	if (image->channels == 3)
		return 0;
	colour = malloc(count * 3);
	if (!colour)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		memset(colour + 3 * i, image->pixels[i], 3);
	free(image->pixels);
	image->pixels = colour;
	image->channels = 3;
	return 0;
}

static void fill(struct image *image, int x, int y, int width, int height, const uint8_t *colour)
{
	int i, k;

	for (k = y < 0 ? 0 : y; k < y + height && k < image->height; k++)
		for (i = x < 0 ? 0 : x; i < x + width && i < image->width; i++)
			memcpy(image->pixels + 3 * ((size_t)k * image->width + i), colour, 3);
}

/* A frame of @thick pixels inside a rectangle. */
static void frame(struct image *image, int x, int y, int width, int height, int thick,
		  const uint8_t *colour)
{
	fill(image, x, y, width, thick, colour);
	fill(image, x, y + height - thick, width, thick, colour);
	fill(image, x, y, thick, height, colour);
	fill(image, x + width - thick, y, thick, height, colour);
}

int image_draw_faces(struct image *image, const struct face *faces, unsigned int count,
		     struct faces_error *error)
{
	static const uint8_t green[3] = { 60, 230, 60 }, dark[3] = { 0, 40, 0 };
	int longest = image->width > image->height ? image->width : image->height;
	int thick = longest / 400 + 2;
	unsigned int i;

	if (make_colour(image))
		return faces_fail(error, -ENOMEM, "out of memory");
	/* A dark frame around it keeps the rectangle visible on any background. */
	for (i = 0; i < count; i++) {
		const struct face *f = &faces[i];

		frame(image, f->x - 1, f->y - 1, f->width + 2, f->height + 2, thick + 2, dark);
		frame(image, f->x, f->y, f->width, f->height, thick, green);
	}
	return 0;
}
