/* SPDX-License-Identifier: MIT */
/*
 * text.h - the human-readable form of a batch (B7 of CN105940388)
 *
 * libuser/parse/parse.c describes the language.
 */
#ifndef SALVO_TEXT_H
#define SALVO_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "salvo.h"

#define SALVO_TEXT_MAX_BYTES	(4u << 20)
#define SALVO_TEXT_MAX_BUFFERS	1024u
#define SALVO_TEXT_MAX_PROGRAMS	64u
#define SALVO_TEXT_MAX_COMMANDS	4096u
#define SALVO_TEXT_MAX_ARGS	64u
#define SALVO_TEXT_MAX_CHECKS	65536u
#define SALVO_TEXT_MAX_RUNS	65536u
#define SALVO_TEXT_MAX_NAME	63u
#define SALVO_TEXT_MAX_VECTOR	16u

enum salvo_text_type {
	SALVO_TEXT_U8, SALVO_TEXT_I8, SALVO_TEXT_U16, SALVO_TEXT_I16, SALVO_TEXT_U32,
	SALVO_TEXT_I32, SALVO_TEXT_U64, SALVO_TEXT_I64, SALVO_TEXT_F32, SALVO_TEXT_F64,
	SALVO_TEXT_TYPES
};

/**
 * struct salvo_text_run - @count elements: @bits, or from @bits upwards by one if @ramp.
 */
struct salvo_text_run {
	uint64_t bits;		/* the element as it lies in memory, in the low bytes */
	uint64_t count;
	bool ramp;		/* integers only */
};

struct salvo_text_values {
	enum salvo_text_type type;
	struct salvo_text_run *runs;
	unsigned int count;
};

enum salvo_text_init {
	SALVO_TEXT_ZEROS,
	SALVO_TEXT_FILL,	/* one value all over */
	SALVO_TEXT_RAMP,	/* start and step */
	SALVO_TEXT_RANDOM,
	SALVO_TEXT_FILE,
	SALVO_TEXT_DATA,
};

struct salvo_text_buffer {
	char *name;
	uint64_t bytes;
	/** @image: Its order is 0 if this is no image. */
	struct salvo_image_info image;
	bool readonly;
	enum salvo_text_init init;
	/** @values: Of FILL one run, of RAMP two (start and step), of DATA all. */
	struct salvo_text_values values;
	uint64_t seed;
	char *file;
	unsigned int line;
};

struct salvo_text_program {
	char *name;
	char *file;
	unsigned int line;
};

/** struct salvo_text_place - A byte of a buffer. */
struct salvo_text_place {
	unsigned int buffer;
	uint64_t offset;
};

enum salvo_text_arg_kind {
	SALVO_TEXT_ARG_BUFFER,
	SALVO_TEXT_ARG_VALUE,
	SALVO_TEXT_ARG_LOCAL,
	SALVO_TEXT_ARG_IMAGE,	/* @place.buffer */
	SALVO_TEXT_ARG_SAMPLER,
};

struct salvo_text_arg {
	/** @name: Of the argument in the kernel's source, or NULL. */
	char *name;
	enum salvo_text_arg_kind kind;
	struct salvo_text_place place;
	enum salvo_text_type type;
	unsigned int lanes;
	uint64_t bits[SALVO_TEXT_MAX_VECTOR];
	uint64_t local_bytes;
	uint32_t sampler;
	/** @range: Bytes from @place on that the kernel touches; 0: the rest of the buffer. */
	uint64_t range;
};

/**
 * struct salvo_text_command - One command, of type DRM_SALVO_*.
 */
struct salvo_text_command {
	unsigned int type;
	char *label;		/* or NULL */
	unsigned int line;
	/* dispatch */
	unsigned int program;
	char *kernel;
	unsigned int dims;
	bool has_offset, has_group;
	uint32_t items[3];
	uint32_t offset[3];
	uint32_t group[3];
	struct salvo_text_arg *args;
	unsigned int arg_count;
	/* pipe control */
	bool all;
	unsigned int consumer;
	unsigned int producer;
	/* copy, fill, timestamp, copy_rect, fill_pattern */
	struct salvo_text_place dst;
	struct salvo_text_place src;
	uint64_t size;
	uint32_t pattern;
	/* copy_rect; fill_pattern: what it repeats */
	struct salvo_rect rect;
	struct salvo_text_values values;
};

/**
 * struct salvo_text_check - expect (@print false) or print.
 */
struct salvo_text_check {
	bool print;
	struct salvo_text_place place;
	struct salvo_text_values values;	/* expect */
	double tolerance;			/* expect, floating point types */
	char *file;				/* expect: bytes from there instead of @values */
	uint64_t count;				/* print: elements of values.type */
	unsigned int line;
};

/**
 * struct salvo_text - A parsed file.
 */
struct salvo_text {
	struct salvo_text_buffer *buffers;
	struct salvo_text_program *programs;
	struct salvo_text_command *commands;
	struct salvo_text_check *checks;
	unsigned int buffer_count;
	unsigned int program_count;
	unsigned int command_count;
	unsigned int check_count;
	/** @hazards: The library finds the pipe controls. */
	bool hazards;
};

void salvo_text_destroy(struct salvo_text *text);

/** salvo_text_write() - Write the form; salvo_text_parse() of it gives the same. */
void salvo_text_write(const struct salvo_text *text, FILE *file);

size_t salvo_text_type_bytes(enum salvo_text_type type);
const char *salvo_text_type_name(enum salvo_text_type type);
bool salvo_text_type_is_signed(enum salvo_text_type type);
bool salvo_text_type_is_float(enum salvo_text_type type);
/** salvo_text_write_value() - Write one element as it would be read. */
void salvo_text_write_value(enum salvo_text_type type, uint64_t bits, FILE *file);
/** salvo_text_to_double() - The number that an element stands for. */
double salvo_text_to_double(enum salvo_text_type type, uint64_t bits);

#endif /* SALVO_TEXT_H */
