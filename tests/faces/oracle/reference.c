// SPDX-License-Identifier: MIT
/*
 * reference.c - face detection in plain C, one window after the other
 *
 * The oracle of the tests: it scales, sums and evaluates in the most direct way
 * and shares with the program under test only the cascade and the list of levels
 * (which the reference figures check too).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"
#include "cascade.h"
#include "group.h"
#include "pyramid.h"

struct sums {
	int stride;
	uint32_t *sum, *square, *tilted;
};

static uint8_t scaled_pixel(const uint8_t *grey, int stride, const int *x, const int *y)
{
	const uint8_t *p = grey + (size_t)y[0] * stride + x[0];
	int top = p[0] * (256 - x[1]) + p[1] * x[1];
	int bottom = p[stride] * (256 - x[1]) + p[stride + 1] * x[1];

	return (top * (256 - y[1]) + bottom * y[1] + 32768) >> 16;
}

/* Sum of the triangle above (x, y): all (c, r) with r < y and |c - (x - 1)| < y - r. */
static uint32_t triangle(const uint32_t *sum, int stride, int width, int x, int y)
{
	uint32_t total = 0;
	int r;

	for (r = 0; r < y; r++) {
		int left = x - (y - r), right = x + (y - r) - 1;

		left = left < 0 ? 0 : left;
		right = right > width ? width : right;
		if (right > left)
			total += sum[(r + 1) * stride + right] - sum[r * stride + right] -
				 sum[(r + 1) * stride + left] + sum[r * stride + left];
	}
	return total;
}

static void make_sums(struct sums *s, const struct pyramid_level *l, const uint8_t *grey,
		      int width, int height, int tilted)
{
	int (*xs)[2] = calloc(l->width, sizeof(*xs)), (*ys)[2] = calloc(l->height, sizeof(*ys));
	int x, y;

	s->stride = l->width + 1;
	s->sum = calloc((size_t)s->stride * (l->height + 1) * 3, sizeof(*s->sum));
	s->square = s->sum + s->stride * (l->height + 1);
	s->tilted = s->square + s->stride * (l->height + 1);
	pyramid_weights(width, l->width, xs);
	pyramid_weights(height, l->height, ys);
	for (y = 0; y < l->height; y++) {
		uint32_t *sum = s->sum + (y + 1) * s->stride + 1;
		uint32_t *square = s->square + (y + 1) * s->stride + 1;
		uint32_t line = 0, line_square = 0;

		for (x = 0; x < l->width; x++) {
			uint32_t p = scaled_pixel(grey, width, xs[x], ys[y]);

			line += p;
			line_square += p * p;
			sum[x] = sum[x - s->stride] + line;
			square[x] = square[x - s->stride] + line_square;
		}
	}
	for (y = 0; tilted && y <= l->height; y++)
		for (x = 0; x <= l->width; x++)
			s->tilted[y * s->stride + x] = triangle(s->sum, s->stride, l->width, x, y);
	free(xs);
	free(ys);
}

static int rect_sum(const uint32_t *sum, int stride, int x, int y, int width, int height)
{
	return sum[y * stride + x] - sum[y * stride + x + width] -
	       sum[(y + height) * stride + x] + sum[(y + height) * stride + x + width];
}

static int tilted_sum(const uint32_t *sum, int stride, int x, int y, int width, int height)
{
	return sum[y * stride + x] - sum[(y + height) * stride + x - height] -
	       sum[(y + width) * stride + x + width] +
	       sum[(y + width + height) * stride + x + width - height];
}

static int lbp_code(const struct sums *s, const struct cascade_rect *r, int x, int y)
{
	static const int order[8][2] = {
		{ 0, 0 }, { 1, 0 }, { 2, 0 }, { 2, 1 }, { 2, 2 }, { 1, 2 }, { 0, 2 }, { 0, 1 },
	};
	int centre = rect_sum(s->sum, s->stride, x + r->x + r->width, y + r->y + r->height,
			      r->width, r->height);
	int i, code = 0;

	for (i = 0; i < 8; i++)
		code = code << 1 |
		       (rect_sum(s->sum, s->stride, x + r->x + order[i][0] * r->width,
				 y + r->y + order[i][1] * r->height, r->width,
				 r->height) >= centre);
	return code;
}

static float haar_value(const struct sums *s, const struct cascade_feature *f, int x, int y)
{
	float value = 0;
	int i;

	for (i = 0; i < 3; i++) {
		const struct cascade_rect *r = &f->rect[i];

		if (i == 2 && r->weight == 0)
			break;
		value += r->weight * (f->tilted ?
			tilted_sum(s->tilted, s->stride, x + r->x, y + r->y, r->width, r->height) :
			rect_sum(s->sum, s->stride, x + r->x, y + r->y, r->width, r->height));
	}
	return value;
}

/* The window's factor for the features' values; 0 if the window is flat. */
static float haar_factor(const struct cascade *c, const struct sums *s, int x, int y)
{
	double area = (c->width - 2) * (c->height - 2), n;
	int sum = rect_sum(s->sum, s->stride, x + 1, y + 1, c->width - 2, c->height - 2);
	uint32_t square = rect_sum(s->square, s->stride, x + 1, y + 1, c->width - 2, c->height - 2);
	float factor;

	n = area * square - (double)sum * sum;
	if (n <= 0)
		return 0;
	factor = 1. / sqrt(n);
	return area * factor < 1e-1 ? factor : 0;
}

/* The stage that rejects the window, or stage_count. */
static unsigned int run_window(const struct cascade *c, const struct sums *s, float factor, int x,
			       int y)
{
	unsigned int i, j;

	for (i = 0; i < c->stage_count; i++) {
		const struct cascade_stage *stage = &c->stages[i];
		double sum = 0;

		for (j = 0; j < stage->tree_count; j++) {
			const struct cascade_tree *t = &c->trees[stage->first_tree + j];
			int at = 0;

			do {
				const struct cascade_node *n = &c->nodes[t->first_node + at];
				const struct cascade_feature *f = &c->features[n->feature];
				int left;

				if (c->type == CASCADE_LBP) {
					int code = lbp_code(s, &f->rect[0], x, y);

					left = n->subset[code >> 5] >> (code & 31) & 1;
				} else {
					left = haar_value(s, f, x, y) * factor < n->threshold;
				}
				at = n->child[left ? 0 : 1];
			} while (at > 0);
			sum += c->leaves[t->first_leaf - at];
		}
		if (sum < stage->threshold)
			break;
	}
	return i;
}

struct reference_level {
	const struct cascade *cascade;
	const struct pyramid_level *level;
	struct sums sums;
};

int reference_level_create(const struct cascade *cascade, const struct pyramid_level *level,
			   const uint8_t *grey, int width, int height,
			   struct reference_level **out)
{
	*out = malloc(sizeof(**out));
	if (!*out)
		return -ENOMEM;
	**out = (struct reference_level){ .cascade = cascade, .level = level };
	make_sums(&(*out)->sums, level, grey, width, height, cascade->tilted);
	return 0;
}

void reference_level_destroy(struct reference_level *r)
{
	if (r)
		free(r->sums.sum);
	free(r);
}

int reference_level_rows(const struct reference_level *r, int first, int end, struct face **faces,
			 int *count)
{
	const struct pyramid_level *l = r->level;
	int x, y;

	for (y = first * l->step; y < end * l->step; y += l->step)
		for (x = 0; x < l->columns * l->step; x += l->step) {
			float factor = 1;
			unsigned int stage;
			struct face *more;

			if (r->cascade->type == CASCADE_HAAR)
				factor = haar_factor(r->cascade, &r->sums, x, y);
			if (!factor)
				continue;
			stage = run_window(r->cascade, &r->sums, factor, x, y);
			if (stage == 0)
				x += l->step;
			if (stage < r->cascade->stage_count)
				continue;
			more = realloc(*faces, (*count + 1) * sizeof(**faces));
			if (!more)
				return -ENOMEM;
			*faces = more;
			more[(*count)++] = (struct face) {
				lrintf(x * l->scale), lrintf(y * l->scale),
				l->window_width, l->window_height, 0
			};
		}
	return 0;
}

int reference_detect(const struct cascade *c, const struct pyramid *p, const uint8_t *grey,
		     int width, int height, struct face **out)
{
	struct face *faces = NULL;
	int err = 0, count = 0;
	unsigned int i;

	for (i = 0; i < p->count && !err; i++) {
		struct reference_level *r;

		err = reference_level_create(c, &p->levels[i], grey, width, height, &r);
		if (!err)
			err = reference_level_rows(r, 0, p->levels[i].rows, &faces, &count);
		reference_level_destroy(r);
	}
	if (err) {
		free(faces);
		*out = NULL;
		return err;
	}
	faces_sort(faces, count);
	*out = faces;
	return count;
}
