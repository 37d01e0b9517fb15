// SPDX-License-Identifier: MIT
/*
 * text.c - a batch in the human-readable form, in memory: its types, and its end
 *
 * text_write.c writes the form; libuser/parse reads it.
 */
#include "text.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	size_t bytes;
} types[SALVO_TEXT_TYPES] = {
	[SALVO_TEXT_U8] = { "u8", 1 },	 [SALVO_TEXT_I8] = { "i8", 1 },
	[SALVO_TEXT_U16] = { "u16", 2 }, [SALVO_TEXT_I16] = { "i16", 2 },
	[SALVO_TEXT_U32] = { "u32", 4 }, [SALVO_TEXT_I32] = { "i32", 4 },
	[SALVO_TEXT_U64] = { "u64", 8 }, [SALVO_TEXT_I64] = { "i64", 8 },
	[SALVO_TEXT_F32] = { "f32", 4 }, [SALVO_TEXT_F64] = { "f64", 8 },
};

size_t salvo_text_type_bytes(enum salvo_text_type type)
{
	return types[type].bytes;
}

const char *salvo_text_type_name(enum salvo_text_type type)
{
	return types[type].name;
}

bool salvo_text_type_is_signed(enum salvo_text_type type)
{
	return types[type].name[0] == 'i';
}

bool salvo_text_type_is_float(enum salvo_text_type type)
{
	return type == SALVO_TEXT_F32 || type == SALVO_TEXT_F64;
}

double salvo_text_to_double(enum salvo_text_type type, uint64_t bits)
{
	const unsigned int unused = 64 - types[type].bytes * 8;
	double real;
	float narrow;

	if (type == SALVO_TEXT_F64) {
		memcpy(&real, &bits, sizeof(real));
		return real;
	}
	if (type == SALVO_TEXT_F32) {
		memcpy(&narrow, &bits, sizeof(narrow));
		return narrow;
	}
	if (salvo_text_type_is_signed(type))
		return (int64_t)(bits << unused) >> unused;
	return bits;
}

void salvo_text_destroy(struct salvo_text *text)
{
	unsigned int i, j;

	if (!text)
		return;
	for (i = 0; i < text->buffer_count; i++) {
		free(text->buffers[i].name);
		free(text->buffers[i].file);
		free(text->buffers[i].values.runs);
	}
	for (i = 0; i < text->program_count; i++) {
		free(text->programs[i].name);
		free(text->programs[i].file);
	}
	for (i = 0; i < text->command_count; i++) {
		free(text->commands[i].label);
		free(text->commands[i].kernel);
		for (j = 0; text->commands[i].args && j < text->commands[i].arg_count; j++)
			free(text->commands[i].args[j].name);
		free(text->commands[i].args);
		free(text->commands[i].values.runs);
	}
	for (i = 0; i < text->check_count; i++) {
		free(text->checks[i].values.runs);
		free(text->checks[i].file);
	}
	free(text->buffers);
	free(text->programs);
	free(text->commands);
	free(text->checks);
	free(text);
}
