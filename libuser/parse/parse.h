/* SPDX-License-Identifier: MIT */
/*
 * parse.h - read the human-readable form of a batch (B7 of CN105940388)
 */
#ifndef SALVO_TEXT_PARSE_H
#define SALVO_TEXT_PARSE_H

#include "text.h"

/**
 * struct salvo_text_error - What is wrong with a text, and where: counted from 1.
 */
struct salvo_text_error {
	unsigned int line;
	unsigned int column;
	char message[160];
};

/**
 * salvo_text_parse() - Read the human-readable form.
 * @text: @bytes bytes, untrusted; not kept.
 * @out: The file; free it with salvo_text_destroy().
 * @error: Filled in on failure.
 *
 * Return: 0, -EINVAL (see @error), -E2BIG (longer than SALVO_TEXT_MAX_BYTES), -ENOMEM.
 */
int salvo_text_parse(const char *text, size_t bytes, struct salvo_text **out,
		     struct salvo_text_error *error);

#endif /* SALVO_TEXT_PARSE_H */
