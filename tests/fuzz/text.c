// SPDX-License-Identifier: MIT
/*
 * text.c - fuzz the human-readable form: any bytes as a batch
 *
 * Text that parses is written out, parsed and written again, which must give the same text. The
 * position of an error must be within the text.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"

static void need(int ok)
{
	if (!ok)
		abort();
}

static char *written(const struct salvo_text *text, size_t *bytes)
{
	char *out = NULL;
	FILE *file = open_memstream(&out, bytes);

	need(file != NULL);
	salvo_text_write(text, file);
	fclose(file);
	return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t first_bytes, second_bytes, lines = 1, i;
	struct salvo_text_error error;
	struct salvo_text *text, *again;
	char *first, *second;

	if (salvo_text_parse((const char *)data, size, &text, &error)) {
		for (i = 0; i < size; i++)
			lines += data[i] == '\n';
		need(error.message[0] && error.line >= 1 && error.line <= lines);
		need(error.column >= 1 && error.column <= size + 1);
		return 0;
	}
	first = written(text, &first_bytes);
	salvo_text_destroy(text);
	need(!salvo_text_parse(first, first_bytes, &again, &error));
	second = written(again, &second_bytes);
	salvo_text_destroy(again);
	need(first_bytes == second_bytes && !memcmp(first, second, first_bytes));
	free(first);
	free(second);
	return 0;
}
