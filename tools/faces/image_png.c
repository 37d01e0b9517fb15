// SPDX-License-Identifier: MIT
/*
 * image_png.c - PNG pictures, by libpng
 *
 * Pixels are used as stored: no gamma correction, 16 bits are cut to 8, transparency is
 * dropped. libpng reports errors by longjmp(); what must be freed then is in the stack
 * frame of the caller of the function with setjmp().
 */
#include <errno.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"

struct png_source {
	const uint8_t *at, *end;
	struct faces_error *error;
	struct image image;
	png_bytep *rows;
};

static void on_read(png_structp png, png_bytep out, size_t bytes)
{
	struct png_source *s = png_get_io_ptr(png);

	if ((size_t)(s->end - s->at) < bytes)
		png_error(png, "the file is cut off");
	memcpy(out, s->at, bytes);
	s->at += bytes;
}

static void on_error(png_structp png, const char *why)
{
	struct png_source *s = png_get_error_ptr(png);

	faces_fail(s->error, -EINVAL, "PNG: %s", why);
	png_longjmp(png, 1);
}

static void on_warning(png_structp png, const char *why)
{
	(void)png;
	(void)why;
}

static int decode(png_structp png, png_infop info, struct png_source *s)
{
	struct image *image = &s->image;
	size_t stride;
	int i, r;

	if (setjmp(png_jmpbuf(png)))
		return -EINVAL;
	png_set_user_limits(png, IMAGE_MAX_SIDE, IMAGE_MAX_SIDE);
	png_set_chunk_malloc_max(png, 8 << 20);
	png_set_read_fn(png, s, on_read);
	png_read_info(png, info);
	png_set_expand(png);
	png_set_strip_16(png);
	png_set_strip_alpha(png);
	png_set_interlace_handling(png);
	png_read_update_info(png, info);

	r = image_init(image, png_get_image_width(png, info), png_get_image_height(png, info),
		       png_get_channels(png, info), s->error);
	if (r)
		return r;
	stride = (size_t)image->width * image->channels;
	s->rows = calloc(image->height, sizeof(*s->rows));
	if (!s->rows)
		png_error(png, "out of memory");
	if ((image->channels != 1 && image->channels != 3) ||
	    png_get_rowbytes(png, info) != stride)
		png_error(png, "unknown kind of pixels");
	for (i = 0; i < image->height; i++)
		s->rows[i] = image->pixels + i * stride;
	png_read_image(png, s->rows);
	return 0;
}

int image_decode_png(const uint8_t *data, size_t bytes, struct image *out,
		     struct faces_error *error)
{
	struct png_source s = { .at = data, .end = data + bytes, .error = error };
	png_structp png;
	png_infop info;
	int r;

	png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &s, on_error, on_warning);
	info = png ? png_create_info_struct(png) : NULL;
	if (info)
		r = decode(png, info, &s);
	else
		r = faces_fail(error, -ENOMEM, "out of memory");
	png_destroy_read_struct(&png, &info, NULL);
	free(s.rows);
	if (r)
		image_fini(&s.image);
	else
		*out = s.image;
	return r;
}
