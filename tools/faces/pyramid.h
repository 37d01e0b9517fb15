/* SPDX-License-Identifier: MIT */
/*
 * pyramid.h - the scaled pictures that a cascade is run on
 */
#ifndef FACES_PYRAMID_H
#define FACES_PYRAMID_H

#include "error.h"

#define PYRAMID_MAX_LEVELS	512

struct cascade;

/**
 * struct pyramid_level - One scale.
 */
struct pyramid_level {
	float scale;			/* frame / level */
	int width, height;		/* of the scaled picture */
	int step;			/* from one window to the next, both ways: 1 or 2 */
	int columns, rows;		/* windows */
	int window_width, window_height;	/* in the frame */
};

/**
 * struct pyramid_options - The sizes of faces to find.
 */
struct pyramid_options {
	double scale_factor;		/* from level to level, above 1 */
	int min_width, min_height;	/* smallest face */
	int max_width, max_height;	/* biggest face */
};

struct pyramid {
	unsigned int count;
	struct pyramid_level levels[PYRAMID_MAX_LEVELS];
};

/** pyramid_plan() - The levels for a frame. There may be none. Return: 0, -E2BIG. */
int pyramid_plan(struct pyramid *pyramid, const struct cascade *cascade,
		 const struct pyramid_options *options, int width, int height,
		 struct faces_error *error);

/**
 * pyramid_weights() - How one dimension is scaled.
 * @from: Size in the frame, at least 2.
 * @to: Size in the level.
 * @table: Out: for each of @to pixels, the index i of a source pixel and the
 *         weight w of 256: the pixel is ((256 - w) * s[i] + w * s[i + 1]) / 256.
 */
void pyramid_weights(int from, int to, int (*table)[2]);

#endif
