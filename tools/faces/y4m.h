/* SPDX-License-Identifier: MIT */
/*
 * y4m.h - uncompressed YUV4MPEG2 video
 */
#ifndef FACES_Y4M_H
#define FACES_Y4M_H

#include <stdio.h>

#include "error.h"

struct image;
struct y4m;

#define Y4M_MAGIC	"YUV4MPEG2"

/** y4m_open() - Read the header. @file stays the caller's. Return: 0 or a negative errno. */
int y4m_open(FILE *file, struct y4m **out, struct faces_error *error);
void y4m_close(struct y4m *video);
/**
 * y4m_next() - The next frame, its luma as a grey picture.
 *
 * Return: 1, 0 at the end, or a negative errno with @error set.
 */
int y4m_next(struct y4m *video, struct image *out, struct faces_error *error);

#endif
