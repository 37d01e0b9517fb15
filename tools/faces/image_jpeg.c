// SPDX-License-Identifier: MIT
/*
 * image_jpeg.c - JPEG pictures, by libjpeg-turbo
 *
 * libjpeg reports errors by a callback that must not return; ours uses longjmp(). Each scan
 * of a file costs a pass over the picture, however few bytes it has, so scans are limited.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jerror.h>
#include <jpeglib.h>

#include "image.h"

#define MAX_SCANS	200
/* Of all scans together; a progressive file has about 10. */
#define MAX_SCAN_PIXELS	(1ull << 30)

struct jpeg_source {
	struct jpeg_error_mgr errors;	/* first: libjpeg has its address */
	struct jpeg_progress_mgr progress;
	struct faces_error *error;
	struct image image;		/* here, so that it can be freed after longjmp() */
	jmp_buf back;
};

static void on_error(j_common_ptr jpeg)
{
	struct jpeg_source *s = (struct jpeg_source *)jpeg->err;
	char why[JMSG_LENGTH_MAX];

	jpeg->err->format_message(jpeg, why);
	faces_fail(s->error, -EINVAL, "JPEG: %s", why);
	longjmp(s->back, 1);
}

/* One warning is treated as an error: a truncated file. */
static void on_message(j_common_ptr jpeg, int level)
{
	if (level < 0 && jpeg->err->msg_code == JWRN_JPEG_EOF)
		on_error(jpeg);
}

static void on_progress(j_common_ptr jpeg)
{
	struct jpeg_source *s = (struct jpeg_source *)jpeg->err;
	unsigned long long pixels = (unsigned long long)s->image.width * s->image.height, limit;

	if (!jpeg->is_decompressor || !pixels)
		return;
	limit = MAX_SCAN_PIXELS / pixels < MAX_SCANS ? MAX_SCAN_PIXELS / pixels : MAX_SCANS;
	if ((unsigned int)((j_decompress_ptr)jpeg)->input_scan_number <= limit)
		return;
	faces_fail(s->error, -EINVAL, "JPEG: %d x %d pixels in more than %llu scans",
		   s->image.width, s->image.height, limit);
	longjmp(s->back, 1);
}

static int orientation_of(const struct jpeg_decompress_struct *jpeg)
{
	const struct jpeg_marker_struct *m = jpeg->marker_list;
	int orientation = 1;

	for (; m && orientation == 1; m = m->next)
		orientation = image_exif_orientation(m->data, m->data_length);
	return orientation;
}

static int decode(struct jpeg_decompress_struct *jpeg, struct jpeg_source *s,
		  const uint8_t *data, size_t bytes)
{
	struct image *image = &s->image;
	int channels, orientation, r;

	if (setjmp(s->back))
		return -EINVAL;
	jpeg_create_decompress(jpeg);
	jpeg->progress = &s->progress;
	jpeg_mem_src(jpeg, data, bytes);
	jpeg_save_markers(jpeg, JPEG_APP0 + 1, 0xffff);
	jpeg_read_header(jpeg, TRUE);
	if (jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK)
		return faces_fail(s->error, -EINVAL, "JPEG: CMYK pictures are not supported");
	channels = jpeg->num_components == 1 ? 1 : 3;
	jpeg->out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
	r = image_init(image, jpeg->image_width, jpeg->image_height, channels, s->error);
	if (r)
		return r;
	orientation = orientation_of(jpeg);
	jpeg_start_decompress(jpeg);
	while (jpeg->output_scanline < jpeg->output_height) {
		size_t stride = (size_t)image->width * channels;
		JSAMPROW row = image->pixels + jpeg->output_scanline * stride;

		jpeg_read_scanlines(jpeg, &row, 1);
	}
	jpeg_finish_decompress(jpeg);
	return image_orient(image, orientation, s->error);
}

int image_decode_jpeg(const uint8_t *data, size_t bytes, struct image *out,
		      struct faces_error *error)
{
	struct jpeg_source source = { .error = error };
	struct jpeg_decompress_struct jpeg = { .err = jpeg_std_error(&source.errors) };
	int r;

	source.errors.error_exit = on_error;
	source.errors.emit_message = on_message;
	source.progress.progress_monitor = on_progress;
	r = decode(&jpeg, &source, data, bytes);
	jpeg_destroy_decompress(&jpeg);
	if (r)
		image_fini(&source.image);
	else
		*out = source.image;
	return r;
}
