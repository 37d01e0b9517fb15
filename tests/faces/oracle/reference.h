/* SPDX-License-Identifier: MIT */
/*
 * reference.h - face detection in plain C, one window after the other
 */
#ifndef FACES_REFERENCE_H
#define FACES_REFERENCE_H

#include <stdint.h>

struct cascade;
struct face;
struct pyramid;
struct pyramid_level;
struct reference_level;

/** reference_level_create() - A level of the pyramid with its sums. Return: 0, -ENOMEM. */
int reference_level_create(const struct cascade *cascade, const struct pyramid_level *level,
			   const uint8_t *grey, int width, int height,
			   struct reference_level **out);
void reference_level_destroy(struct reference_level *reference);
/**
 * reference_level_rows() - Add the raw rectangles of some rows of windows.
 * @faces, @count: An array that grows by realloc().
 *
 * Return: 0, -ENOMEM.
 */
int reference_level_rows(const struct reference_level *reference, int first, int end,
			 struct face **faces, int *count);

/** reference_detect() - Raw rectangles, sorted. Return: their number or -ENOMEM; free(*out). */
int reference_detect(const struct cascade *cascade, const struct pyramid *pyramid,
		     const uint8_t *grey, int width, int height, struct face **out);

#endif
