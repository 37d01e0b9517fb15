/* SPDX-License-Identifier: MIT */
/*
 * source.h - read frames from pictures and videos
 */
#ifndef FACES_SOURCE_H
#define FACES_SOURCE_H

#include <stdbool.h>

#include "error.h"
#include "image.h"

struct source;

/** source_open() - A picture or a video; "-" is standard input. Return: 0 or a negative errno. */
int source_open(const char *name, struct source **out, struct faces_error *error);
void source_close(struct source *source);

/** source_next() - The next frame. Return: 1, 0 at the end, or a negative errno with @error set. */
int source_next(struct source *source, struct image *out, struct faces_error *error);
bool source_is_video(const struct source *source);

#endif
