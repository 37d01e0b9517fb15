// SPDX-License-Identifier: MIT
/*
 * image_write.c - PNG, JPEG, PPM and PGM files
 *
 * A file is written under a temporary name and renamed when it is complete.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jpeglib.h>
#include <png.h>

#include "image.h"

#define JPEG_QUALITY	92

typedef int (*writer)(const struct image *image, FILE *f);

static int write_pnm(const struct image *image, FILE *f)
{
	size_t size = (size_t)image->width * image->height * image->channels;

	fprintf(f, "P%c\n%d %d\n255\n", image->channels == 3 ? '6' : '5', image->width,
		image->height);
	return fwrite(image->pixels, 1, size, f) == size ? 0 : -EIO;
}

static int write_pgm(const struct image *image, FILE *f)
{
	struct image grey = *image;
	int r;

	grey.channels = 1;
	grey.pixels = malloc((size_t)image->width * image->height);
	if (!grey.pixels)
		return -ENOMEM;
	image_to_grey(image, grey.pixels);
	r = write_pnm(&grey, f);
	free(grey.pixels);
	return r;
}

static int write_png(const struct image *image, FILE *f)
{
	png_image png = {
		.version = PNG_IMAGE_VERSION,
		.width = image->width,
		.height = image->height,
		.format = image->channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY,
	};

	return png_image_write_to_stdio(&png, f, 0, image->pixels, 0, NULL) ? 0 : -EIO;
}

struct jpeg_sink {
	struct jpeg_error_mgr errors;	/* first: libjpeg has its address */
	jmp_buf back;
};

static void on_jpeg_error(j_common_ptr jpeg)
{
	longjmp(((struct jpeg_sink *)jpeg->err)->back, 1);
}

static int write_jpeg(const struct image *image, FILE *f)
{
	struct jpeg_compress_struct jpeg;
	struct jpeg_sink sink;
	size_t stride = (size_t)image->width * image->channels;

	jpeg.err = jpeg_std_error(&sink.errors);
	sink.errors.error_exit = on_jpeg_error;
	if (setjmp(sink.back)) {
		jpeg_destroy_compress(&jpeg);
		return -EIO;
	}
	jpeg_create_compress(&jpeg);
	jpeg_stdio_dest(&jpeg, f);
	jpeg.image_width = image->width;
	jpeg.image_height = image->height;
	jpeg.input_components = image->channels;
	jpeg.in_color_space = image->channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
	jpeg_set_defaults(&jpeg);
	jpeg_set_quality(&jpeg, JPEG_QUALITY, TRUE);
	jpeg_start_compress(&jpeg, TRUE);
	while (jpeg.next_scanline < jpeg.image_height) {
		JSAMPROW row = image->pixels + jpeg.next_scanline * stride;

		jpeg_write_scanlines(&jpeg, &row, 1);
	}
	jpeg_finish_compress(&jpeg);
	jpeg_destroy_compress(&jpeg);
	return 0;
}

static writer find_writer(const char *path)
{
	static const struct {
		const char *ending;
		writer write;
	} known[] = {
		{ ".png", write_png }, { ".jpg", write_jpeg }, { ".jpeg", write_jpeg },
		{ ".ppm", write_pnm }, { ".pgm", write_pgm },
	};
	const char *ending = strrchr(path, '.');
	unsigned int i;

	for (i = 0; ending && i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcasecmp(ending, known[i].ending))
			return known[i].write;
	return NULL;
}

int image_write_known(const char *path, struct faces_error *error)
{
	if (find_writer(path))
		return 0;
	return faces_fail(error, -EINVAL, "%.200s: the name must end in .png, .jpg, .ppm or .pgm",
			  path);
}

int image_write(const struct image *image, const char *path, struct faces_error *error)
{
	char *partial = NULL;
	FILE *f;
	int r;

	r = image_write_known(path, error);
	if (r)
		return r;
	if (asprintf(&partial, "%s.part", path) < 0)
		return faces_fail(error, -ENOMEM, "out of memory");
	f = fopen(partial, "we");
	if (!f) {
		r = faces_fail(error, -errno, "%.150s: %s", path, strerror(errno));
		goto out;
	}
	r = find_writer(path)(image, f);
	if (fclose(f) && !r)
		r = -errno;
	if (!r && rename(partial, path))
		r = -errno;
	if (r) {
		unlink(partial);
		faces_fail(error, r, "%.150s: %s", path, strerror(-r));
	}
out:
	free(partial);
	return r;
}
