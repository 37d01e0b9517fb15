// SPDX-License-Identifier: MIT
/*
 * pyramid.c - the scaled pictures that a cascade is run on
 *
 * Scales, sizes, the grid of windows and the fixed-point weights of the scaling are those of
 * OpenCV 4.6 (detectMultiScale and INTER_LINEAR_EXACT), including float arithmetic and
 * rounding: one window more or less would change the result.
 */
#include <errno.h>
#include <math.h>

#include "cascade.h"
#include "pyramid.h"

static int max(int a, int b)
{
	return a > b ? a : b;
}

static int min(int a, int b)
{
	return a < b ? a : b;
}

/* Positions of windows in a level, before the step. */
static int positions(int level, int window)
{
	return max(level + 1 - window, 0);
}

static void set_level(struct pyramid_level *l, const struct cascade *c, float scale, int width,
		      int height)
{
	l->scale = scale;
	l->width = lrintf(width / scale);
	l->height = lrintf(height / scale);
	l->step = scale >= 2 ? 1 : 2;
	l->columns = (positions(l->width, c->width) + l->step - 1) / l->step;
	l->window_width = lrintf(c->width * scale);
	l->window_height = lrintf(c->height * scale);
}

/*
 * OpenCV divides the rows of windows into stripes for its threads; their number depends on
 * the width of the first level. The stripes can omit the last row, and so does this.
 */
static void set_rows(struct pyramid *p, const struct cascade *c)
{
	int stripes = (positions(p->levels[0].width, c->width) + 31) / 32;
	unsigned int i;

	for (i = 0; i < p->count; i++) {
		struct pyramid_level *l = &p->levels[i];
		int height = positions(l->height, c->height);
		int stripe = max((height / l->step + stripes - 1) / max(stripes, 1), 1) * l->step;

		height = min(height, stripes * stripe);
		l->rows = (height + l->step - 1) / l->step;
	}
}

/* The scale whose window is nearest to the smallest face. */
static float nearest_scale(const struct cascade *c, const struct pyramid_options *o,
			   const float *scales, unsigned int count)
{
	double best = INFINITY;
	float scale = 1;
	unsigned int i;

	for (i = 0; i < count; i++) {
		double dx = o->min_width - lrintf(c->width * scales[i]);
		double dy = o->min_height - lrintf(c->height * scales[i]);

		if (dx * dx + dy * dy < best) {
			best = dx * dx + dy * dy;
			scale = scales[i];
		}
	}
	return scale;
}

int pyramid_plan(struct pyramid *p, const struct cascade *c, const struct pyramid_options *o,
		 int width, int height, struct faces_error *error)
{
	float scales[PYRAMID_MAX_LEVELS];
	unsigned int count = 0, i;
	double factor;

	p->count = 0;
	for (factor = 1; ; factor *= o->scale_factor) {
		if (lrint(c->width * factor) > width || lrint(c->height * factor) > height)
			break;
		if (count == PYRAMID_MAX_LEVELS)
			return faces_fail(error, -E2BIG,
					  "more than %d scales: the scale factor is too small",
					  PYRAMID_MAX_LEVELS);
		scales[count++] = factor;
	}
	for (i = 0; i < count; i++) {
		int w = lrintf(c->width * scales[i]), h = lrintf(c->height * scales[i]);

		if (w > o->max_width || h > o->max_height)
			break;
		if (w >= o->min_width && h >= o->min_height)
			set_level(&p->levels[p->count++], c, scales[i], width, height);
	}
	if (!p->count && count)
		set_level(&p->levels[p->count++], c, nearest_scale(c, o, scales, count), width,
			  height);
	if (p->count)
		set_rows(p, c);
	return 0;
}

void pyramid_weights(int from, int to, int (*table)[2])
{
	double scale = 1.0 / ((double)to / from);
	int i;

	for (i = 0; i < to; i++) {
		double at = scale * (i + 0.5) - 0.5;
		int whole = floor(at);

		if (whole < 0) {
			table[i][0] = 0;
			table[i][1] = 0;
		} else if (whole < from - 1) {
			table[i][0] = whole;
			table[i][1] = lrint((at - whole) * 256);
		} else {
			table[i][0] = from - 2;
			table[i][1] = 256;
		}
	}
}
