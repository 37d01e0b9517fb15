/* SPDX-License-Identifier: MIT */
/*
 * entries.h - OpenCV's detections, and the pictures and cascades they were made with
 *
 * SALVO_TEST_DATA is the folder of the pictures (tests/data), SALVO_CASCADES that
 * of the cascades (/usr/share/opencv4), SALVO_DEVICE the device (soft).
 */
#ifndef FACES_ENTRIES_H
#define FACES_ENTRIES_H

#include <stdbool.h>

#include "cascade.h"
#include "group.h"
#include "image.h"
#include "pyramid.h"

struct entry {
	char image[32], cascade[48];
	int x, y, width, height;	/* the part of the picture that OpenCV was given */
	struct pyramid_options options;
	int min_neighbors;
	struct face *faces;
	int count;
};

#define ENTRIES		98	/* of all cascades */
#define ENTRIES_LBP	38	/* of lbpcascade_frontalface */
#define ENTRIES_HAAR	30	/* of each Haar cascade */

/** entries_load() - All entries. Return: their number, or -1. */
int entries_load(struct entry **out);
void entries_free(struct entry *entries, int count);

/** entry_same_pyramid() - The two differ at most in the grouping. */
bool entry_same_pyramid(const struct entry *a, const struct entry *b);
/** entry_matches() - Group and clip a copy of the raw rectangles and compare. */
bool entry_matches(const struct entry *entry, const struct face *raw, int count);

/** entry_picture() - Read the picture of an entry, and cut its part out. */
int entry_picture(const struct entry *entry, struct image *out);
/** test_picture() - Read a picture of the data folder. */
int test_picture(const char *name, struct image *out);
/** test_cascade() - Read a cascade by its name without folder and ending. */
int test_cascade(const char *name, struct cascade **out);
/** test_device() - The name of the device to test. */
const char *test_device(void);

#endif
