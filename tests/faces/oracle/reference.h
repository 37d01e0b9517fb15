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

/** reference_detect() - Raw rectangles, sorted. Return: their number; free(*out). */
int reference_detect(const struct cascade *cascade, const struct pyramid *pyramid,
		     const uint8_t *grey, int width, int height, struct face **out);

#endif
