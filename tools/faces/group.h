/* SPDX-License-Identifier: MIT */
/*
 * group.h - rectangles, and grouping them as OpenCV does
 */
#ifndef FACES_GROUP_H
#define FACES_GROUP_H

struct face {
	int x, y, width, height;
	int neighbors;			/* rectangles that were grouped into it; 0: not grouped */
};

/**
 * faces_group() - Join similar rectangles, and drop groups that are too small.
 * @faces: In: the raw rectangles. Out: the groups, sorted.
 * @count: Their number.
 * @min_neighbors: A group needs more rectangles than this; 0 only sorts.
 *
 * Return: the new number, or -ENOMEM.
 */
int faces_group(struct face *faces, unsigned int count, int min_neighbors);

/** faces_clip() - Clip rectangles to the picture and drop empty ones. Return: the new number. */
unsigned int faces_clip(struct face *faces, unsigned int count, int width, int height);

/** faces_sort() - Order by x, y, width, height, neighbors. */
void faces_sort(struct face *faces, unsigned int count);

#endif
