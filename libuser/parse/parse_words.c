// SPDX-License-Identifier: MIT
/*
 * parse_words.c - words, numbers and typed values of the human-readable form
 *
 * salvo_text_take_*() consume something if it is next; salvo_text_need_*() fail if it is not. The
 * first error is reported, with its position. Nothing is read past the end of the text, which
 * may contain any byte.
 */
#include "parse_words.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

/* --- errors and memory ------------------------------------------------------ */

bool salvo_text_fail_at(struct salvo_text_parser *p, const char *where, const char *format, ...)
{
	const char *start = p->line_start;
	va_list ap;

	if (p->err)
		return false;
	p->err = -EINVAL;
	p->error->line = p->line;
	/* The line may have been continued since. */
	while (where < start) {
		p->error->line--;
		for (start--; start > p->begin && start[-1] != '\n'; start--)
			;
	}
	p->error->column = where - start + 1;
	va_start(ap, format);
	vsnprintf(p->error->message, sizeof(p->error->message), format, ap);
	va_end(ap);
	return false;
}

bool salvo_text_no_memory(struct salvo_text_parser *p)
{
	salvo_text_fail(p, "out of memory");
	p->err = -ENOMEM;
	return false;
}

void *salvo_text_append(struct salvo_text_parser *p, void *array, unsigned int *count, size_t size,
			unsigned int limit, const char *what)
{
	void *element;

	if (*count >= limit) {
		salvo_text_fail(p, "too many %s: at most %u", what, limit);
		return NULL;
	}
	element = salvo_array_append(array, count, size);
	if (!element)
		salvo_text_no_memory(p);
	return element;
}

/* --- words ------------------------------------------------------------------ */

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Length of a backslash and the line end behind it, LF or CR LF, or 0. */
static unsigned int continuation(const struct salvo_text_parser *p)
{
	if (p->end - p->at >= 2 && p->at[0] == '\\' && p->at[1] == '\n')
		return 2;
	return p->end - p->at >= 3 && !memcmp(p->at, "\\\r\n", 3) ? 3 : 0;
}

/* Spaces, and line ends behind a backslash. */
void salvo_text_skip_space(struct salvo_text_parser *p)
{
	unsigned int length;

	for (;;) {
		if (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\r')) {
			p->at++;
		} else if ((length = continuation(p))) {
			p->at += length;
			p->line++;
			p->line_start = p->at;
		} else {
			return;
		}
	}
}

bool salvo_text_at_line_end(struct salvo_text_parser *p)
{
	salvo_text_skip_space(p);
	return p->at == p->end || *p->at == '\n' || *p->at == '#';
}

bool salvo_text_take(struct salvo_text_parser *p, char c)
{
	if (p->at == p->end || *p->at != c)
		return false;
	p->at++;
	return true;
}

bool salvo_text_need(struct salvo_text_parser *p, char c)
{
	return salvo_text_take(p, c) || salvo_text_fail(p, "'%c' is missing", c);
}

bool salvo_text_take_word(struct salvo_text_parser *p, const char *word)
{
	size_t length = strlen(word);

	salvo_text_skip_space(p);
	if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length) ||
	    (p->at + length < p->end && is_name(p->at[length])))
		return false;
	p->at += length;
	return true;
}

/* A name, copied into @name. */
bool salvo_text_need_name(struct salvo_text_parser *p, char name[SALVO_TEXT_MAX_NAME + 1],
			  const char *what)
{
	const char *start;

	salvo_text_skip_space(p);
	start = p->at;
	while (p->at < p->end && is_name(*p->at))
		p->at++;
	if (p->at == start)
		return salvo_text_fail(p, "%s is missing", what);
	if (p->at - start > SALVO_TEXT_MAX_NAME)
		return salvo_text_fail_at(p, start, "%s is longer than %u characters", what,
					  SALVO_TEXT_MAX_NAME);
	memcpy(name, start, p->at - start);
	name[p->at - start] = 0;
	return true;
}

bool salvo_text_need_new_name(struct salvo_text_parser *p, char **out, const char *what)
{
	char name[SALVO_TEXT_MAX_NAME + 1];

	if (!salvo_text_need_name(p, name, what))
		return false;
	*out = strdup(name);
	return *out || salvo_text_no_memory(p);
}

bool salvo_text_need_string(struct salvo_text_parser *p, char **out)
{
	const char *start;

	salvo_text_skip_space(p);
	if (!salvo_text_take(p, '"'))
		return salvo_text_fail(p, "a file name in quotes is missing");
	start = p->at;
	while (p->at < p->end && *p->at != '"' && *p->at != '\n' && *p->at)
		p->at++;
	if (p->at == p->end || *p->at != '"')
		return salvo_text_fail_at(p, start - 1, "the file name has no closing quote");
	if (p->at == start)
		return salvo_text_fail_at(p, start - 1, "the file name is empty");
	*out = strndup(start, p->at - start);
	p->at++;
	return *out || salvo_text_no_memory(p);
}

/* Digits without a sign, up to 64 bits. */
bool salvo_text_need_number(struct salvo_text_parser *p, uint64_t *out, const char *what)
{
	const char *start;
	unsigned int base = 10, digit;
	bool any = false;

	salvo_text_skip_space(p);
	start = p->at;
	if (p->end - p->at > 2 && p->at[0] == '0' && (p->at[1] == 'x' || p->at[1] == 'X')) {
		base = 16;
		p->at += 2;
	}
	*out = 0;
	for (; p->at < p->end && isxdigit((unsigned char)*p->at); p->at++) {
		digit = isdigit((unsigned char)*p->at) ? *p->at - '0' : (*p->at | 32) - 'a' + 10;
		if (digit >= base)
			break;
		if (__builtin_mul_overflow(*out, base, out) ||
		    __builtin_add_overflow(*out, digit, out))
			return salvo_text_fail_at(p, start, "%s does not fit in 64 bits", what);
		any = true;
	}
	return any || salvo_text_fail_at(p, start, "%s is missing", what);
}

bool salvo_text_need_size(struct salvo_text_parser *p, uint64_t *out, const char *what)
{
	unsigned int shift = 0;
	const char *start;

	salvo_text_skip_space(p);
	start = p->at;
	if (!salvo_text_need_number(p, out, what))
		return false;
	if (salvo_text_take(p, 'K'))
		shift = 10;
	else if (salvo_text_take(p, 'M'))
		shift = 20;
	else if (salvo_text_take(p, 'G'))
		shift = 30;
	if (*out > UINT64_MAX >> shift)
		return salvo_text_fail_at(p, start, "%s does not fit in 64 bits", what);
	*out <<= shift;
	return true;
}

bool salvo_text_need_u32(struct salvo_text_parser *p, uint32_t *out, const char *what)
{
	const char *start;
	uint64_t value;

	salvo_text_skip_space(p);
	start = p->at;
	if (!salvo_text_need_number(p, &value, what))
		return false;
	if (value > UINT32_MAX)
		return salvo_text_fail_at(p, start, "%s does not fit in 32 bits", what);
	*out = value;
	return true;
}

bool salvo_text_need_range(struct salvo_text_parser *p, uint32_t range[3], unsigned int *dims,
			   const char *what)
{
	*dims = 0;
	do {
		if (*dims == 3)
			return salvo_text_fail(p, "at most 3 dimensions");
		if (!salvo_text_need_u32(p, &range[*dims], what))
			return false;
		if (!range[(*dims)++])
			return salvo_text_fail(p, "%s is 0", what);
	} while (salvo_text_take(p, ','));
	return true;
}

/* --- elements --------------------------------------------------------------- */

bool salvo_text_take_type(struct salvo_text_parser *p, enum salvo_text_type *type)
{
	unsigned int i;

	for (i = 0; i < SALVO_TEXT_TYPES; i++) {
		if (salvo_text_take_word(p, salvo_text_type_name(i))) {
			*type = i;
			return true;
		}
	}
	return false;
}

bool salvo_text_need_type(struct salvo_text_parser *p, enum salvo_text_type *type)
{
	return salvo_text_take_type(p, type) ||
	       salvo_text_fail(p, "a type is missing: u8 i8 ... u64 i64 f32 f64");
}

bool salvo_text_need_real(struct salvo_text_parser *p, double *out)
{
	char word[64], *stop;
	size_t length = 0;
	const char *c;

	salvo_text_skip_space(p);
	/* ".." of a range and '*' of a count are not part of a number. */
	for (c = p->at; c < p->end && length < sizeof(word) - 1; c++) {
		if (!isalnum((unsigned char)*c) && *c != '.' && *c != '-' && *c != '+')
			break;
		word[length++] = *c;
	}
	word[length] = 0;
	*out = strtod(word, &stop);
	if (stop == word || *stop)
		return salvo_text_fail(p, "a number is missing");
	p->at = c;
	return true;
}

static bool need_integer(struct salvo_text_parser *p, enum salvo_text_type type, uint64_t *bits)
{
	const unsigned int width = salvo_text_type_bytes(type) * 8;
	const bool is_signed = salvo_text_type_is_signed(type);
	const char *start;
	uint64_t most;
	bool negative;

	salvo_text_skip_space(p);
	start = p->at;
	negative = salvo_text_take(p, '-');
	if (!salvo_text_need_number(p, bits, "a number"))
		return false;
	most = UINT64_MAX >> (64 - width + is_signed);
	if (*bits > most + (negative && is_signed) || (negative && !is_signed && *bits))
		return salvo_text_fail_at(p, start, "the number does not fit in %s",
					  salvo_text_type_name(type));
	if (negative)
		*bits = -*bits & UINT64_MAX >> (64 - width);
	return true;
}

bool salvo_text_need_value(struct salvo_text_parser *p, enum salvo_text_type type, uint64_t *bits)
{
	double real;
	float narrow;

	if (!salvo_text_type_is_float(type))
		return need_integer(p, type, bits);
	if (!salvo_text_need_real(p, &real))
		return false;
	*bits = 0;
	if (type == SALVO_TEXT_F64) {
		memcpy(bits, &real, sizeof(real));
	} else {
		narrow = real;
		memcpy(bits, &narrow, sizeof(narrow));
	}
	return true;
}

/* Integers, as they lie in memory. */
static bool is_less(enum salvo_text_type type, uint64_t a, uint64_t b)
{
	const unsigned int unused = 64 - salvo_text_type_bytes(type) * 8;

	if (salvo_text_type_is_signed(type))
		return (int64_t)(a << unused) < (int64_t)(b << unused);
	return a < b;
}

/* VALUE, VALUE*COUNT or FIRST..LAST. */
static bool need_run(struct salvo_text_parser *p, struct salvo_text_values *values)
{
	const char *start = p->at;
	const uint64_t most = UINT64_MAX >> (64 - salvo_text_type_bytes(values->type) * 8);
	struct salvo_text_run *run;
	uint64_t last;

	run = salvo_text_append(p, &values->runs, &values->count, sizeof(*run), SALVO_TEXT_MAX_RUNS,
				"values");
	if (!run || !salvo_text_need_value(p, values->type, &run->bits))
		return false;
	run->count = 1;
	if (salvo_text_take(p, '*')) {
		if (!salvo_text_need_number(p, &run->count, "a count"))
			return false;
		if (!run->count)
			return salvo_text_fail_at(p, start, "a count of 0");
	} else if (p->end - p->at >= 2 && p->at[0] == '.' && p->at[1] == '.' &&
		   !salvo_text_type_is_float(values->type)) {
		p->at += 2;
		if (!salvo_text_need_value(p, values->type, &last))
			return false;
		if (is_less(values->type, last, run->bits))
			return salvo_text_fail_at(p, start, "the range runs backwards");
		run->ramp = true;
		/* Of u64 only the range of all 2^64 values would wrap, to 0. */
		run->count = (last - run->bits) & most;
		run->count++;
		if (!run->count)
			return salvo_text_fail_at(p, start, "the range is too long");
	}
	return true;
}

bool salvo_text_need_values(struct salvo_text_parser *p, struct salvo_text_values *values)
{
	if (!salvo_text_need_type(p, &values->type))
		return false;
	salvo_text_skip_space(p);
	do {
		if (!need_run(p, values))
			return false;
		salvo_text_skip_space(p);
	} while (!salvo_text_at_line_end(p) &&
		 (isdigit((unsigned char)*p->at) || *p->at == '-' || *p->at == '+' ||
		  *p->at == '.' || *p->at == 'n' || *p->at == 'i'));
	return true;
}
