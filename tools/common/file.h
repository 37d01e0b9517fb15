/* SPDX-License-Identifier: MIT */
/*
 * file.h - read files of unknown length with a limit
 */
#ifndef TOOLS_FILE_H
#define TOOLS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/**
 * file_read_all() - Read a stream to its end; it may be a pipe.
 * @limit: The most bytes that are accepted.
 * @data: On success the caller frees it; a zero byte follows the contents.
 *
 * Return: 0, -EFBIG (longer than @limit), -ENOMEM, or the error of the stream.
 */
int file_read_all(FILE *file, size_t limit, char **data, size_t *bytes);

/**
 * file_read_text() - Read the start of a small file, as in /proc or /sys, into a string.
 * @out: @bytes long; empty if the file cannot be read.
 *
 * Return: whether there was any text.
 */
bool file_read_text(const char *path, char *out, size_t bytes);

/** file_read_word() - The same, up to the first white space. */
bool file_read_word(const char *path, char *out, size_t bytes);

#endif /* TOOLS_FILE_H */
