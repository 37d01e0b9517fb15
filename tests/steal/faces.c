// SPDX-License-Identifier: MIT
/*
 * faces.c - an example: a face detector that divides a frame by regions
 *
 * Each level of the frame's pyramid is a task; its rows of windows are divided into bands, and each
 * band collects its rectangles by itself. Bands with a face take much longer than others.
 */
#include "kselftest_harness.h"
#include "entries.h"
#include "reference.h"
#include "steal_test.h"

#define BAND_ROWS	8
#define BANDS		256

struct band {
	struct face *faces;
	int count;
};

struct level {
	const struct frame *frame;
	const struct pyramid_level *level;
	struct reference_level *reference;
	struct band bands[BANDS];
};

struct frame {
	const struct cascade *cascade;
	const struct image *image;
	const struct pyramid *pyramid;
	struct level *levels;
};

static int detect_bands(struct salvo_worker *worker, void *data, uint64_t begin, uint64_t end)
{
	struct level *l = data;
	int err = 0;

	for (; begin < end && !err; begin++) {
		const int first = begin * BAND_ROWS, rest = l->level->rows - first;

		err = reference_level_rows(l->reference, first,
					   first + (rest < BAND_ROWS ? rest : BAND_ROWS),
					   &l->bands[begin].faces, &l->bands[begin].count);
	}
	return err;
}

static int detect_levels(struct salvo_worker *worker, void *data, uint64_t begin, uint64_t end)
{
	struct frame *f = data;
	int err = 0;

	for (; begin < end && !err; begin++) {
		struct level *l = &f->levels[begin];

		l->level = &f->pyramid->levels[begin];
		if (l->level->rows > BANDS * BAND_ROWS)
			return -E2BIG;
		err = reference_level_create(f->cascade, l->level, f->image->pixels,
					     f->image->width, f->image->height, &l->reference);
		if (!err)
			err = salvo_worker_for(worker, (l->level->rows + BAND_ROWS - 1) / BAND_ROWS,
					       1, detect_bands, l);
		reference_level_destroy(l->reference);
	}
	return err;
}

static int detect_frame(struct salvo_worker *worker, void *data)
{
	return salvo_worker_for(worker, ((struct frame *)data)->pyramid->count, 1, detect_levels,
				data);
}

/* All bands' rectangles, as reference_detect() gives them; there is room for @room. */
static int collect(struct frame *f, struct face *faces, int room)
{
	unsigned int i;
	int j, count = 0;

	for (i = 0; i < f->pyramid->count; i++)
		for (j = 0; j < BANDS; j++) {
			struct band *band = &f->levels[i].bands[j];

			if (band->count && count + band->count <= room)
				memcpy(faces + count, band->faces, band->count * sizeof(*faces));
			count += band->count;
			free(band->faces);
		}
	if (count > room)
		return -E2BIG;
	count = faces_clip(faces, count, f->image->width, f->image->height);
	faces_sort(faces, count);
	return count;
}

TEST(W8_face_detector_by_regions_equals_serial_code)
{
	const struct pyramid_options options = { 1.2, 30, 30, 240, 240 };
	static struct pyramid pyramid;
	struct face *serial, *faces;
	struct faces_error error;
	struct cascade *cascade;
	struct image image;
	int count, room;
	size_t w;

	ASSERT_EQ(0, test_cascade("lbpcascade_frontalface", &cascade));
	ASSERT_EQ(0, test_picture("astronaut.pgm", &image));
	ASSERT_EQ(0, pyramid_plan(&pyramid, cascade, &options, image.width, image.height, &error));
	count = reference_detect(cascade, &pyramid, image.pixels, image.width, image.height,
				 &serial);
	ASSERT_LT(0, count);
	/* Some of the raw rectangles may be clipped away. */
	room = count + 64;
	faces = calloc(room, sizeof(*faces));
	for (w = 0; w < WORKER_COUNTS; w++) {
		struct frame frame = { cascade, &image, &pyramid, NULL };

		frame.levels = calloc(pyramid.count, sizeof(*frame.levels));
		ASSERT_NE(NULL, frame.levels);
		ASSERT_EQ(0, run_on(worker_counts[w], detect_frame, &frame));
		ASSERT_EQ(count, collect(&frame, faces, room));
		ASSERT_EQ(0, memcmp(serial, faces, count * sizeof(*faces)));
		free(frame.levels);
	}
	free(faces);
	free(serial);
	image_fini(&image);
	cascade_free(cascade);
}

TEST_HARNESS_MAIN
