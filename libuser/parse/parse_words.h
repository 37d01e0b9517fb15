/* SPDX-License-Identifier: MIT */
/*
 * parse_words.h - words, numbers and typed values of the human-readable form
 */
#ifndef SALVO_TEXT_PARSE_WORDS_H
#define SALVO_TEXT_PARSE_WORDS_H

#include "parse.h"

/**
 * struct salvo_text_parser - The position in the text, and the first error.
 */
struct salvo_text_parser {
	const char *begin;
	const char *at;
	const char *end;
	const char *line_start;
	unsigned int line;
	struct salvo_text *text;
	struct salvo_text_error *error;
	int err;
};

/** salvo_text_fail_at() - Report an error at @where, if it is the first. Return: false. */
bool salvo_text_fail_at(struct salvo_text_parser *p, const char *where, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
#define salvo_text_fail(p, ...) salvo_text_fail_at(p, (p)->at, __VA_ARGS__)
bool salvo_text_no_memory(struct salvo_text_parser *p);

/**
 * salvo_text_append() - salvo_array_append() with a limit and an error message.
 */
void *salvo_text_append(struct salvo_text_parser *p, void *array, unsigned int *count, size_t size,
			unsigned int limit, const char *what);

void salvo_text_skip_space(struct salvo_text_parser *p);
bool salvo_text_at_line_end(struct salvo_text_parser *p);
bool salvo_text_take(struct salvo_text_parser *p, char c);
bool salvo_text_need(struct salvo_text_parser *p, char c);
bool salvo_text_take_word(struct salvo_text_parser *p, const char *word);
bool salvo_text_need_name(struct salvo_text_parser *p, char name[SALVO_TEXT_MAX_NAME + 1],
			  const char *what);
bool salvo_text_need_new_name(struct salvo_text_parser *p, char **out, const char *what);
bool salvo_text_need_string(struct salvo_text_parser *p, char **out);
bool salvo_text_need_number(struct salvo_text_parser *p, uint64_t *out, const char *what);
bool salvo_text_need_size(struct salvo_text_parser *p, uint64_t *out, const char *what);
bool salvo_text_need_u32(struct salvo_text_parser *p, uint32_t *out, const char *what);
bool salvo_text_take_type(struct salvo_text_parser *p, enum salvo_text_type *type);
bool salvo_text_need_type(struct salvo_text_parser *p, enum salvo_text_type *type);
bool salvo_text_need_real(struct salvo_text_parser *p, double *out);
bool salvo_text_need_value(struct salvo_text_parser *p, enum salvo_text_type type, uint64_t *bits);
bool salvo_text_need_values(struct salvo_text_parser *p, struct salvo_text_values *values);

/** salvo_text_need_range() - X[,Y[,Z]], none of them 0. @what: The name of one of them. */
bool salvo_text_need_range(struct salvo_text_parser *p, uint32_t range[3], unsigned int *dims,
			   const char *what);

/* parse_image.c */
bool salvo_text_need_image(struct salvo_text_parser *p, struct salvo_image_info *info,
			   uint64_t *bytes);
bool salvo_text_need_sampler(struct salvo_text_parser *p, uint32_t *sampler);

#endif /* SALVO_TEXT_PARSE_WORDS_H */
