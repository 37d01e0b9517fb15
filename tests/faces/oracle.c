// SPDX-License-Identifier: MIT
/*
 * oracle.c - the plain C reference gives OpenCV's rectangles, and the device the reference's
 *
 * The reference figures cover three cascades; the oracle, once it is known to
 * be right, covers the others: tilted features, deeper trees, other windows, the
 * old file format, and pictures of odd sizes.
 */
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "oracle/entries.h"
#include "oracle/reference.h"
#include "salvo.h"
#include "detect.h"

static struct pyramid pyramid;

FIXTURE(oracle)
{
	struct entry *entries;
	int count;
};

FIXTURE_SETUP(oracle)
{
	self->count = entries_load(&self->entries);
	ASSERT_EQ(ENTRIES, self->count);
}

FIXTURE_TEARDOWN(oracle)
{
	entries_free(self->entries, self->count);
}

/* The name that newer packages of OpenCV have for a cascade */
static const char *spelt_anew(const char *name)
{
	return strcmp(name, "haarcascade_licence_plate_rus_16stages") ? name :
		"haarcascade_license_plate_rus_16stages";
}

TEST_F_TIMEOUT(oracle, equals_opencv, 120)
{
	const struct entry *last = NULL;
	struct face *faces = NULL;
	struct faces_error error;
	int i, count = 0;

	for (i = 0; i < self->count; i++) {
		const struct entry *e = &self->entries[i];
		struct cascade *cascade;
		struct image image;

		/* The finer scale factor takes long and covers nothing more. */
		if (e->options.scale_factor < 1.15)
			continue;
		if (!last || !entry_same_pyramid(e, last)) {
			ASSERT_EQ(0, test_cascade(e->cascade, &cascade));
			ASSERT_EQ(0, entry_picture(e, &image));
			ASSERT_EQ(0, pyramid_plan(&pyramid, cascade, &e->options, e->width,
						  e->height, &error));
			free(faces);
			count = reference_detect(cascade, &pyramid, image.pixels, e->width,
						 e->height, &faces);
			image_fini(&image);
			cascade_free(cascade);
			last = e;
		}
		EXPECT_TRUE(entry_matches(e, faces, count));
	}
	free(faces);
}

FIXTURE(device)
{
	struct salvo_device *device;
	struct image image;
};

FIXTURE_SETUP(device)
{
	ASSERT_EQ(0, salvo_device_open(test_device(), &self->device));
	ASSERT_EQ(0, test_picture("group720.pgm", &self->image));
}

FIXTURE_TEARDOWN(device)
{
	image_fini(&self->image);
	salvo_device_close(self->device);
}

/* Compares device and oracle on a crop of the picture; returns the rectangles, or -1. */
static int compare(struct salvo_device *device, const struct image *image,
		   const struct cascade *cascade, int x, int y, int width, int height,
		   double scale_factor)
{
	struct pyramid_options options = { scale_factor, 1, 1, width, height };
	uint8_t *grey = malloc((size_t)width * height);
	struct face *faces = NULL, *expected = NULL;
	struct detector *detector = NULL;
	struct faces_error error;
	int i, count, expected_count;

	for (i = 0; i < height; i++)
		memcpy(grey + (size_t)i * width,
		       image->pixels + (size_t)(y + i) * image->width + x, width);
	count = pyramid_plan(&pyramid, cascade, &options, width, height, &error);
	if (!count)
		count = detector_create(device, cascade, &pyramid, width, height, DETECT_BATCH,
					&detector, &error);
	if (!count)
		count = detector_run(detector, grey, &faces, &error);
	if (count < 0)
		printf("# %s\n", error.text);
	expected_count = reference_detect(cascade, &pyramid, grey, width, height, &expected);
	if (count >= 0 && (count != expected_count ||
			   (count && memcmp(faces, expected, count * sizeof(*faces))))) {
		printf("# %d x %d at %d, %d: %d rectangles, the oracle has %d\n", width, height, x,
		       y, count, expected_count);
		count = -1;
	}
	detector_destroy(detector);
	free(faces);
	free(expected);
	free(grey);
	return count;
}

TEST_F_TIMEOUT(device, equals_oracle_with_every_cascade, 120)
{
	static const char *const names[] = {
		"lbpcascade_frontalcatface", "lbpcascade_frontalface",
		"lbpcascade_frontalface_improved", "lbpcascade_profileface",
		"lbpcascade_silverware", "haarcascade_eye", "haarcascade_eye_tree_eyeglasses",
		"haarcascade_frontalcatface", "haarcascade_frontalcatface_extended",
		"haarcascade_frontalface_alt", "haarcascade_frontalface_alt2",
		"haarcascade_frontalface_alt_tree", "haarcascade_frontalface_default",
		"haarcascade_fullbody", "haarcascade_lefteye_2splits",
		"haarcascade_licence_plate_rus_16stages", "haarcascade_lowerbody",
		"haarcascade_profileface", "haarcascade_righteye_2splits",
		"haarcascade_russian_plate_number", "haarcascade_smile", "haarcascade_upperbody",
	};
	unsigned int i;
	int total = 0;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct cascade *cascade;
		int count;

		if (test_cascade(names[i], &cascade))
			ASSERT_EQ(0, test_cascade(spelt_anew(names[i]), &cascade));
		count = compare(self->device, &self->image, cascade, 40, 60, 223, 191, 1.3);
		EXPECT_LE(0, count)
			TH_LOG("%s", names[i]);
		total += count;
		cascade_free(cascade);
	}
	/* Otherwise nothing was compared. */
	EXPECT_LE(100, total);
}

TEST_F_TIMEOUT(device, equals_oracle_with_random_sizes, 120)
{
	static const char *const names[] = {
		"lbpcascade_frontalface", "haarcascade_frontalface_alt2",
	};
	unsigned int i, k;

	srand(1);
	for (i = 0; i < 2; i++) {
		struct cascade *cascade;

		ASSERT_EQ(0, test_cascade(names[i], &cascade));
		for (k = 0; k < 30; k++) {
			int width = 20 + rand() % 300, height = 20 + rand() % 200;

			EXPECT_LE(0, compare(self->device, &self->image, cascade, rand() % 900,
					     rand() % 500, width, height,
					     1.05 + rand() % 100 / 100.));
		}
		cascade_free(cascade);
	}
}

TEST_F(device, flat_picture_has_no_faces)
{
	struct cascade *cascade;

	memset(self->image.pixels, 128, (size_t)self->image.width * self->image.height);
	ASSERT_EQ(0, test_cascade("haarcascade_frontalface_default", &cascade));
	EXPECT_EQ(0, compare(self->device, &self->image, cascade, 0, 0, 333, 257, 1.2));
	cascade_free(cascade);
}

TEST_HARNESS_MAIN
