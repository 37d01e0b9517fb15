/* SPDX-License-Identifier: MIT */
/*
 * cursor.h - scanner for the parsers of topology.c and inject.c
 */
#ifndef SALVO_CURSOR_H
#define SALVO_CURSOR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Skips @word if it comes next. Returns whether it did. */
static inline bool salvo_cursor_accept(const char **at, const char *word)
{
	const size_t length = strlen(word);

	if (strncmp(*at, word, length))
		return false;
	*at += length;
	return true;
}

/* Skips a decimal number, stored saturated above @most. False if there is no digit. */
static inline bool salvo_cursor_number(const char **at, uint64_t most, uint64_t *value)
{
	if (**at < '0' || **at > '9')
		return false;
	for (*value = 0; **at >= '0' && **at <= '9'; (*at)++)
		if (*value <= most)
			*value = 10 * *value + (**at - '0');
	return true;
}

#endif /* SALVO_CURSOR_H */
