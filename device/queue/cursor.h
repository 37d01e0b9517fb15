/* SPDX-License-Identifier: MIT */
/*
 * cursor.h - go along a text that somebody typed: for the parsers of topology.c and inject.c
 */
#ifndef SALVO_CURSOR_H
#define SALVO_CURSOR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Goes past @word, if that comes next. */
static inline bool salvo_cursor_accept(const char **at, const char *word)
{
	const size_t length = strlen(word);

	if (strncmp(*at, word, length))
		return false;
	*at += length;
	return true;
}

/* Goes past a number, as some number above @most if it is above. False if there is no digit. */
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
