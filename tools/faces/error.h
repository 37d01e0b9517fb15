/* SPDX-License-Identifier: MIT */
/*
 * error.h - error messages of one line
 *
 * A function that takes a struct faces_error sets it if and only if it fails.
 */
#ifndef FACES_ERROR_H
#define FACES_ERROR_H

struct faces_error {
	char text[256];
};

/** faces_fail() - Set the message and return @code, a negative errno. */
int faces_fail(struct faces_error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
