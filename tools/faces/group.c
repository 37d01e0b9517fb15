// SPDX-License-Identifier: MIT
/*
 * group.c - grouping of rectangles with the results of OpenCV's groupRectangles
 *
 * Two rectangles are similar if all four edges differ by at most a fifth of
 * their smaller size. Groups are the classes of the transitive closure, found
 * with a disjoint-set forest. A group's rectangle is the mean; a group inside
 * a stronger one is dropped. The arithmetic (float for the mean, double
 * for distances, rounding to even) is OpenCV's, so that the results are equal.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "group.h"

#define EPSILON	0.2

static int min(int a, int b)
{
	return a < b ? a : b;
}

static int max(int a, int b)
{
	return a > b ? a : b;
}

static int similar(const struct face *a, const struct face *b)
{
	double delta = EPSILON * (min(a->width, b->width) + min(a->height, b->height)) * 0.5;

	return abs(a->x - b->x) <= delta && abs(a->y - b->y) <= delta &&
	       abs(a->x + a->width - b->x - b->width) <= delta &&
	       abs(a->y + a->height - b->y - b->height) <= delta;
}

static unsigned int root_of(unsigned int *parent, unsigned int i)
{
	while (parent[i] != i) {
		parent[i] = parent[parent[i]];
		i = parent[i];
	}
	return i;
}

/* Stores the mean of each class in @means. Returns the number of classes. */
static unsigned int make_groups(const struct face *faces, unsigned int count,
				unsigned int *parent, unsigned int *class, struct face *means)
{
	unsigned int i, j, classes = 0;

	for (i = 0; i < count; i++)
		parent[i] = i;
	for (i = 0; i < count; i++)
		for (j = i + 1; j < count; j++)
			if (similar(&faces[i], &faces[j]))
				parent[root_of(parent, j)] = root_of(parent, i);

	for (i = 0; i < count; i++)
		if (root_of(parent, i) == i)
			class[i] = classes++;
	for (i = 0; i < classes; i++)
		means[i] = (struct face) { 0 };
	for (i = 0; i < count; i++) {
		struct face *m = &means[class[root_of(parent, i)]];

		m->x += faces[i].x;
		m->y += faces[i].y;
		m->width += faces[i].width;
		m->height += faces[i].height;
		m->neighbors++;
	}
	for (i = 0; i < classes; i++) {
		struct face *m = &means[i];
		float s = 1.f / m->neighbors;

		m->x = lrintf(m->x * s);
		m->y = lrintf(m->y * s);
		m->width = lrintf(m->width * s);
		m->height = lrintf(m->height * s);
	}
	return classes;
}

/* @a is inside @b, and weaker. */
static int is_inside(const struct face *a, const struct face *b)
{
	int dx = lrint(b->width * EPSILON), dy = lrint(b->height * EPSILON);

	return a->x >= b->x - dx && a->y >= b->y - dy &&
	       a->x + a->width <= b->x + b->width + dx &&
	       a->y + a->height <= b->y + b->height + dy &&
	       (b->neighbors > max(3, a->neighbors) || a->neighbors < 3);
}

int faces_group(struct face *faces, unsigned int count, int min_neighbors)
{
	unsigned int *work, classes, i, j, kept = 0;
	struct face *means;

	if (min_neighbors <= 0 || !count) {
		faces_sort(faces, count);
		return count;
	}
	means = malloc(count * sizeof(*means));
	work = malloc(count * 2 * sizeof(*work));
	if (!means || !work) {
		free(means);
		free(work);
		return -ENOMEM;
	}
	classes = make_groups(faces, count, work, work + count, means);
	for (i = 0; i < classes; i++) {
		if (means[i].neighbors <= min_neighbors)
			continue;
		for (j = 0; j < classes; j++)
			if (j != i && means[j].neighbors > min_neighbors &&
			    is_inside(&means[i], &means[j]))
				break;
		if (j == classes)
			faces[kept++] = means[i];
	}
	free(means);
	free(work);
	faces_sort(faces, kept);
	return kept;
}

unsigned int faces_clip(struct face *faces, unsigned int count, int width, int height)
{
	unsigned int i, kept = 0;

	for (i = 0; i < count; i++) {
		struct face f = faces[i];
		int right = min(f.x + f.width, width), bottom = min(f.y + f.height, height);

		f.x = max(f.x, 0);
		f.y = max(f.y, 0);
		f.width = right - f.x;
		f.height = bottom - f.y;
		if (f.width > 0 && f.height > 0)
			faces[kept++] = f;
	}
	return kept;
}

static int compare(const void *a, const void *b)
{
	const struct face *l = a, *r = b;

	if (l->x != r->x)
		return l->x < r->x ? -1 : 1;
	if (l->y != r->y)
		return l->y < r->y ? -1 : 1;
	if (l->width != r->width)
		return l->width < r->width ? -1 : 1;
	if (l->height != r->height)
		return l->height < r->height ? -1 : 1;
	return (l->neighbors > r->neighbors) - (l->neighbors < r->neighbors);
}

void faces_sort(struct face *faces, unsigned int count)
{
	if (count)
		qsort(faces, count, sizeof(*faces), compare);
}
