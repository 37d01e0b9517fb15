// SPDX-License-Identifier: MIT
/*
 * images.c - picture readers and writers, with valid and damaged files
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jpeglib.h>

#include "kselftest_harness.h"
#include "group.h"
#include "image.h"
#include "source.h"

static int decode(const void *data, size_t size, struct image *out)
{
	struct faces_error error = { "" };
	int r = image_decode(data, size, out, &error);

	return !r != !error.text[0] ? 1 : r;
}

#define DECODE(text, out)	decode(text, sizeof(text) - 1, out)

static int refused(const void *data, size_t size)
{
	struct image image;
	int r = decode(data, size, &image);

	if (!r)
		image_fini(&image);
	return r < 0;
}

#define REFUSED(text)	refused(text, sizeof(text) - 1)

/* A file with these bytes; the caller closes it and removes it. */
static int temporary(char *name, const void *data, size_t size)
{
	int fd;

	strcpy(name, "/tmp/salvo-faces-test-XXXXXX");
	fd = mkstemp(name);
	if (fd >= 0 && write(fd, data, size) != (ssize_t)size) {
		close(fd);
		return -1;
	}
	return fd;
}

TEST(pgm)
{
	struct image i;

	ASSERT_EQ(0, DECODE("P5\n# a comment\n2 # another\n1\n255\n\x10\x20", &i));
	EXPECT_EQ(2, i.width);
	EXPECT_EQ(1, i.height);
	EXPECT_EQ(1, i.channels);
	EXPECT_EQ(0x20, i.pixels[1]);
	image_fini(&i);
	ASSERT_EQ(0, DECODE("P5 1 1 15 \x0f", &i));
	EXPECT_EQ(255, i.pixels[0]);
	image_fini(&i);
}

TEST(ppm_and_grey)
{
	struct image i;
	uint8_t grey[3];

	ASSERT_EQ(0, DECODE("P6 3 1 255\n\xff\xff\xff\x80\x00\x00\x00\x00\xff", &i));
	EXPECT_EQ(3, i.channels);
	image_to_grey(&i, grey);
	EXPECT_EQ(255, grey[0]);
	EXPECT_EQ((9798 * 128 + 16384) >> 15, grey[1]);
	EXPECT_EQ((3735 * 255 + 16384) >> 15, grey[2]);
	image_fini(&i);
}

TEST(damaged_pnm)
{
	EXPECT_TRUE(REFUSED("P5"));
	EXPECT_TRUE(REFUSED("P5\n2 1\n"));
	EXPECT_TRUE(REFUSED("P5\n2 1 255"));
	EXPECT_TRUE(REFUSED("P5\n2 1 255\n\x10"));
	EXPECT_TRUE(REFUSED("P6\n2 1 255\n\x10\x10\x10\x10\x10"));
	EXPECT_TRUE(REFUSED("P5\n0 1 255\n\x10"));
	EXPECT_TRUE(REFUSED("P5\n-2 1 255\n\x10\x10"));
	EXPECT_TRUE(REFUSED("P5\n2 1 0\n\x10\x10"));
	EXPECT_TRUE(REFUSED("P5\n2 1 65535\n\x10\x10\x10\x10"));
	EXPECT_TRUE(REFUSED("P5\n999999999 999999999 255\n\x10"));
	EXPECT_TRUE(REFUSED("P5\n99999999999999999999 1 255\n\x10"));
	EXPECT_TRUE(REFUSED("P5 # a comment without end"));
	EXPECT_TRUE(REFUSED("P4 1 1 \x10"));
}

TEST(no_picture)
{
	EXPECT_TRUE(refused("", 0));
	EXPECT_TRUE(REFUSED("GIF89a"));
	EXPECT_TRUE(REFUSED("\xff\xd8\xff"));
	EXPECT_TRUE(REFUSED("\x89PNG\r\n\x1a\n"));
}

TEST(png_that_claims_to_be_huge)
{
	/* A valid header with checksum, of 65536 x 65536 pixels */
	EXPECT_TRUE(REFUSED("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\1\0\0\0\1\0\0\x08\0\0\0\0\x49\xef\x6f\x3f"));
}

FIXTURE(file)
{
	uint8_t *data;
	size_t size;
};

FIXTURE_VARIANT(file)
{
	const char *name;
	int width, height, channels;
};

FIXTURE_VARIANT_ADD(file, jpeg)
{
	.name = "tests/data/grace_hopper.jpg", .width = 512, .height = 600, .channels = 3,
};

FIXTURE_VARIANT_ADD(file, png_colour)
{
	.name = "tests/data/astronaut.png", .width = 512, .height = 512, .channels = 3,
};

FIXTURE_VARIANT_ADD(file, png_grey)
{
	.name = "tests/data/camera.png", .width = 512, .height = 512, .channels = 1,
};

FIXTURE_SETUP(file)
{
	FILE *f = fopen(variant->name, "r");

	ASSERT_NE(NULL, f);
	self->data = malloc(1 << 20);
	self->size = fread(self->data, 1, 1 << 20, f);
	fclose(f);
}

FIXTURE_TEARDOWN(file)
{
	free(self->data);
}

TEST_F(file, decodes)
{
	struct image i;

	ASSERT_EQ(0, decode(self->data, self->size, &i));
	EXPECT_EQ(variant->width, i.width);
	EXPECT_EQ(variant->height, i.height);
	EXPECT_EQ(variant->channels, i.channels);
	image_fini(&i);
}

TEST_F(file, cut_off_is_refused)
{
	size_t size;

	for (size = 0; size < self->size - 16; size += self->size / 40)
		EXPECT_TRUE(refused(self->data, size));
}

/* Random damage may go undetected, but must not crash. */
TEST_F(file, damage_does_not_crash)
{
	uint8_t *copy = malloc(self->size);
	int i, k;

	srand(3);
	for (i = 0; i < 60; i++) {
		memcpy(copy, self->data, self->size);
		/* In every other iteration only the headers are damaged. */
		for (k = 0; k < 4; k++)
			copy[rand() % (i % 2 ? self->size : 800)] = rand();
		refused(copy, self->size);
	}
	free(copy);
}

/* The grey pictures in tests/data were converted from these files with the same weights. */
TEST(png_to_grey_is_exact)
{
	static const char *const names[][2] = {
		{ "tests/data/astronaut.png", "tests/data/astronaut.pgm" },
		{ "tests/data/camera.png", "tests/data/camera.pgm" },
	};
	struct faces_error error;
	struct source *source;
	struct image i[2];
	uint8_t *grey;
	int k, n;

	for (k = 0; k < 2; k++) {
		for (n = 0; n < 2; n++) {
			ASSERT_EQ(0, source_open(names[k][n], &source, &error));
			ASSERT_EQ(1, source_next(source, &i[n], &error));
			EXPECT_EQ(0, source_next(source, &i[n], &error));
			source_close(source);
		}
		grey = malloc(512 * 512);
		image_to_grey(&i[0], grey);
		EXPECT_EQ(0, memcmp(grey, i[1].pixels, 512 * 512));
		free(grey);
		image_fini(&i[0]);
		image_fini(&i[1]);
	}
}

/* Reads a video from these bytes; returns the number of frames, or -1. */
static int count_frames(const void *data, size_t size, struct image *last)
{
	struct faces_error error;
	struct source *source;
	char name[64];
	int fd = temporary(name, data, size), frames = 0, r;

	r = fd < 0 ? -1 : source_open(name, &source, &error);
	if (!r) {
		while ((r = source_next(source, last, &error)) == 1) {
			frames++;
			image_fini(last);
		}
		source_close(source);
	}
	close(fd);
	unlink(name);
	return r ? -1 : frames;
}

#define FRAMES(text)	count_frames(text, sizeof(text) - 1, &last)

TEST(y4m)
{
	struct image last;

	EXPECT_EQ(2, FRAMES("YUV4MPEG2 W2 H2 F30:1 C420jpeg\nFRAME\nyyyyuvFRAME Ix\nyyyyuv"));
	EXPECT_EQ(1, FRAMES("YUV4MPEG2 W3 H3\nFRAME\nyyyyyyyyyuuuuvvvv"));
	EXPECT_EQ(1, FRAMES("YUV4MPEG2 W2 H2 Cmono\nFRAME\nyyyy"));
	EXPECT_EQ(1, FRAMES("YUV4MPEG2 W2 H1 C444\nFRAME\nyyuuvv"));
	EXPECT_EQ(0, FRAMES("YUV4MPEG2 W2 H2\n"));
	EXPECT_EQ(2, last.width);
}

TEST(damaged_y4m)
{
	struct image last;

	EXPECT_EQ(-1, FRAMES("YUV4MPEG2"));
	EXPECT_EQ(-1, FRAMES("YUV4MPEG3 W2 H2\n"));
	EXPECT_EQ(-1, FRAMES("YUV4MPEG2 W2\n"));
	EXPECT_EQ(-1, FRAMES("YUV4MPEG2 W0 H2\n"));
	EXPECT_EQ(-1, FRAMES("YUV4MPEG2 W99999999999 H2\n"));
	EXPECT_EQ(-1, FRAMES("YUV4MPEG2 W2 H2 C420p10\nFRAME\n"));
	EXPECT_EQ(-1, FRAMES("YUV4MPEG2 W2 H2\nFRAME\nyyyyu"));
	EXPECT_EQ(-1, FRAMES("YUV4MPEG2 W2 H2\nFRAME"));
	EXPECT_EQ(-1, FRAMES("YUV4MPEG2 W2 H2\nframe\nyyyyuv"));
	EXPECT_EQ(-1, FRAMES("YUV4MPEG2 W16384 H16384\nFRAME\n"));
}

#define EXIF_LITTLE(count, tag, value) \
	"Exif\0\0II*\0\x08\0\0\0" count "\x0f\x01\x02\0\0\0\0\0\0\0\0\0" \
	tag "\x03\0\x01\0\0\0" value "\0\0"
#define ORIENTATION(text) image_exif_orientation((const uint8_t *)text, sizeof(text) - 1)

TEST(y4m_sizes_are_not_cut_to_32_bits)
{
	struct image last;

	EXPECT_EQ(-1, FRAMES("YUV4MPEG2 W4294967300 H2 Cmono\nFRAME\naaaaaaaa"));
	EXPECT_EQ(-1, FRAMES("YUV4MPEG2 W2 H18446744073709551618 Cmono\nFRAME\naaaa"));
	EXPECT_EQ(-1, FRAMES("YUV4MPEG2 W2x H2 Cmono\nFRAME\naaaa"));
	EXPECT_EQ(-1, FRAMES("YUV4MPEG2 W+2 H2 Cmono\nFRAME\naaaa"));
	EXPECT_EQ(-1, FRAMES("YUV4MPEG2 W2 H16385 Cmono\nFRAME\naaaa"));
	EXPECT_EQ(1, FRAMES("YUV4MPEG2 W2 H2 Cmono\nFRAME\naaaa"));
}

/* A JPEG file of 8 x 8 pixels with one scan for each frequency */
static unsigned long make_scans(unsigned char **out)
{
	struct jpeg_compress_struct jpeg;
	struct jpeg_error_mgr errors;
	jpeg_scan_info scans[64] = { 0 };
	unsigned char row[8] = { 0 };
	unsigned long bytes = 0;
	JSAMPROW rows = row;
	int i;

	for (i = 0; i < 64; i++)
		scans[i] = (jpeg_scan_info){ .comps_in_scan = 1, .Ss = i, .Se = i };
	*out = NULL;
	jpeg.err = jpeg_std_error(&errors);
	jpeg_create_compress(&jpeg);
	jpeg_mem_dest(&jpeg, out, &bytes);
	jpeg.image_width = jpeg.image_height = 8;
	jpeg.input_components = 1;
	jpeg.in_color_space = JCS_GRAYSCALE;
	jpeg_set_defaults(&jpeg);
	jpeg.scan_info = scans;
	jpeg.num_scans = 64;
	jpeg_start_compress(&jpeg, TRUE);
	for (i = 0; i < 8; i++)
		jpeg_write_scanlines(&jpeg, &rows, 1);
	jpeg_finish_compress(&jpeg);
	jpeg_destroy_compress(&jpeg);
	return bytes;
}

/* Each scan is a pass over the picture, so the limit on scans depends on its size. */
TEST(jpeg_with_many_scans)
{
	struct faces_error error = { "" };
	struct image image;
	unsigned char *data;
	unsigned long bytes = make_scans(&data), at;

	ASSERT_EQ(0, image_decode(data, bytes, &image, &error));
	image_fini(&image);
	/* The same scans, of a picture of 8,192 x 8,192 pixels. */
	for (at = 0; at + 9 < bytes && (data[at] != 0xff || data[at + 1] != 0xc2); at++)
		;
	ASSERT_LT(at + 9, bytes);
	data[at + 5] = data[at + 7] = 8192 >> 8;
	data[at + 6] = data[at + 8] = 0;
	ASSERT_EQ(-EINVAL, image_decode(data, bytes, &image, &error));
	EXPECT_NE(NULL, strstr(error.text, "more than 16 scans"))
		TH_LOG("%s", error.text);
	free(data);
}

TEST(exif_orientation)
{
	EXPECT_EQ(6, ORIENTATION(EXIF_LITTLE("\x02\0", "\x12\x01", "\x06\0")));
	EXPECT_EQ(8, ORIENTATION("Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x08\0\0"));
	EXPECT_EQ(1, ORIENTATION(EXIF_LITTLE("\x01\0", "\x12\x01", "\x06\0")));
	EXPECT_EQ(1, ORIENTATION(EXIF_LITTLE("\x02\0", "\x13\x01", "\x06\0")));
	EXPECT_EQ(1, ORIENTATION(EXIF_LITTLE("\x02\0", "\x12\x01", "\x09\0")));
	EXPECT_EQ(1, ORIENTATION(EXIF_LITTLE("\xff\xff", "\x13\x01", "\x06\0")));
	EXPECT_EQ(1, ORIENTATION("Exif\0\0II*\0\xff\xff\xff\xff\0\0"));
	EXPECT_EQ(1, ORIENTATION("Exif\0\0II*\0\x08"));
	EXPECT_EQ(1, ORIENTATION(""));
}

/* A picture of 2 x 3 pixels, numbered row by row, in each orientation */
TEST(pictures_are_turned)
{
	static const char *const turned[9] = {
		"", "123456", "214365", "654321", "563412", "135246", "531642", "642531", "246135",
	};
	struct faces_error error;
	struct image i;
	int way;

	for (way = 1; way <= 8; way++) {
		ASSERT_EQ(0, image_init(&i, 2, 3, 1, &error));
		memcpy(i.pixels, "123456", 6);
		ASSERT_EQ(0, image_orient(&i, way, &error));
		EXPECT_EQ(way < 5 ? 2 : 3, i.width);
		EXPECT_EQ(way < 5 ? 3 : 2, i.height);
		EXPECT_EQ(0, memcmp(i.pixels, turned[way], 6))
			TH_LOG("way %d: %.6s", way, (char *)i.pixels);
		image_fini(&i);
	}
}

TEST(rectangles_are_drawn_and_cut)
{
	static const uint8_t green[3] = { 60, 230, 60 };
	struct face faces[] = { { 10, 10, 20, 20, 1 }, { -5, -5, 200, 200, 1 } };
	struct faces_error error;
	struct image i;

	ASSERT_EQ(0, image_init(&i, 64, 48, 1, &error));
	ASSERT_EQ(0, image_draw_faces(&i, faces, 2, &error));
	EXPECT_EQ(3, i.channels);
	EXPECT_EQ(0, memcmp(green, i.pixels + 3 * (10 * 64 + 10), 3));
	EXPECT_EQ(0, memcmp(green, i.pixels + 3 * (29 * 64 + 29), 3));
	EXPECT_EQ(0, i.pixels[3 * (20 * 64 + 20)]);
	image_fini(&i);
}

/* What was written is read back: exactly, except for JPEG. */
TEST(writers)
{
	static const char *const endings[] = { ".png", ".ppm", ".jpg" };
	struct faces_error error;
	struct source *source;
	struct image i, back;
	char name[64], full[80];
	int k, n, fd;

	ASSERT_EQ(0, image_init(&i, 40, 30, 3, &error));
	for (n = 0; n < 40 * 30 * 3; n++)
		i.pixels[n] = n / 3;
	for (k = 0; k < 3; k++) {
		fd = temporary(name, "", 0);
		ASSERT_LE(0, fd);
		close(fd);
		snprintf(full, sizeof(full), "%s%s", name, endings[k]);
		ASSERT_EQ(0, image_write(&i, full, &error));
		ASSERT_EQ(0, source_open(full, &source, &error));
		ASSERT_EQ(1, source_next(source, &back, &error));
		source_close(source);
		EXPECT_EQ(40, back.width);
		EXPECT_EQ(3, back.channels);
		if (k < 2)
			EXPECT_EQ(0, memcmp(i.pixels, back.pixels, 40 * 30 * 3));
		image_fini(&back);
		unlink(full);
		unlink(name);
	}
	EXPECT_EQ(-EINVAL, image_write(&i, "/tmp/x.gif", &error));
	EXPECT_EQ(-ENOENT, image_write(&i, "/nonexistent/x.png", &error));
	image_fini(&i);
}

TEST_HARNESS_MAIN
