// SPDX-License-Identifier: MIT
/*
 * rects.c - the device's rectangles are OpenCV's, raw and grouped, for every entry
 *
 * Runs on the host with the embedded GPU, and in the virtual machine with
 * SALVO_DEVICE=/dev/dri/renderD128.
 */
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "oracle/entries.h"
#include "salvo.h"
#include "detect.h"

FIXTURE(rects)
{
	struct salvo_device *device;
	struct cascade *cascade;
	struct entry *entries;
	int count;
};

FIXTURE_VARIANT(rects)
{
	const char *cascade;
	enum detect_mode mode;
};

FIXTURE_VARIANT_ADD(rects, lbp_frontalface_batch)
{
	.cascade = "lbpcascade_frontalface",
	.mode = DETECT_BATCH,
};

FIXTURE_VARIANT_ADD(rects, lbp_frontalface_single)
{
	.cascade = "lbpcascade_frontalface",
	.mode = DETECT_SINGLE,
};

FIXTURE_VARIANT_ADD(rects, haar_alt2_batch)
{
	.cascade = "haarcascade_frontalface_alt2",
	.mode = DETECT_BATCH,
};

FIXTURE_VARIANT_ADD(rects, haar_alt2_single)
{
	.cascade = "haarcascade_frontalface_alt2",
	.mode = DETECT_SINGLE,
};

FIXTURE_VARIANT_ADD(rects, haar_default_batch)
{
	.cascade = "haarcascade_frontalface_default",
	.mode = DETECT_BATCH,
};

FIXTURE_VARIANT_ADD(rects, haar_default_single)
{
	.cascade = "haarcascade_frontalface_default",
	.mode = DETECT_SINGLE,
};

FIXTURE_SETUP(rects)
{
	self->count = entries_load(&self->entries);
	ASSERT_EQ(ENTRIES, self->count);
	ASSERT_EQ(0, test_cascade(variant->cascade, &self->cascade));
	ASSERT_EQ(0, salvo_device_open(test_device(), &self->device));
}

FIXTURE_TEARDOWN(rects)
{
	entries_free(self->entries, self->count);
	cascade_free(self->cascade);
	salvo_device_close(self->device);
}

static int run(struct salvo_device *device, const struct cascade *cascade, const struct entry *e,
	       enum detect_mode mode, struct face **faces)
{
	static struct pyramid pyramid;
	struct detector *detector;
	struct faces_error error;
	struct image image;
	int count;

	if (entry_picture(e, &image))
		return -1;
	count = pyramid_plan(&pyramid, cascade, &e->options, e->width, e->height, &error);
	if (!count)
		count = detector_create(device, cascade, &pyramid, e->width, e->height, mode,
					&detector, &error);
	if (!count) {
		count = detector_run(detector, image.pixels, faces, &error);
		detector_destroy(detector);
	}
	if (count < 0)
		printf("# %s: %s\n", e->image, error.text);
	image_fini(&image);
	return count;
}

TEST_F_TIMEOUT(rects, equal_opencv, 120)
{
	const struct entry *last = NULL;
	struct face *faces = NULL;
	int i, count = 0, compared = 0;

	for (i = 0; i < self->count; i++) {
		const struct entry *e = &self->entries[i];

		if (strcmp(e->cascade, variant->cascade))
			continue;
		if (!last || !entry_same_pyramid(e, last)) {
			free(faces);
			faces = NULL;
			count = run(self->device, self->cascade, e, variant->mode, &faces);
			ASSERT_LE(0, count);
			last = e;
		}
		EXPECT_TRUE(entry_matches(e, faces, count));
		compared++;
	}
	EXPECT_EQ(self->cascade->type == CASCADE_LBP ? ENTRIES_LBP : ENTRIES_HAAR, compared);
	free(faces);
}

TEST_HARNESS_MAIN
