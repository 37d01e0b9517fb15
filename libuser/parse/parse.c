// SPDX-License-Identifier: MIT
/*
 * parse.c - read the human-readable form of a batch (B7 of CN105940388)
 *
 * One statement a line; '#' starts a comment; '\' at the end of a line continues
 * it. Names are letters, digits and '_', and must be defined on an earlier line. Numbers are
 * decimal or 0x hexadecimal; sizes and offsets are bytes and may end in K, M or G (1024s).
 *
 *	program NAME "FILE"
 *	buffer NAME BYTES [readonly] [INIT]
 *	image NAME WIDTH[,HEIGHT[,DEPTH]] ORDER FORMAT [layers COUNT] [pitch ROW[,SLICE]]
 *	      [readonly] [INIT]
 *		INIT: zeros | fill TYPE VALUE | ramp TYPE START STEP | random SEED |
 *		      file "FILE" | data TYPE VALUES
 *		ORDER: r | a | rg | ra | rgba | bgra | argb | intensity | luminance
 *		FORMAT: snorm8 | snorm16 | unorm8 | unorm16 | i8 | i16 | i32 | u8 | u16 | u32 |
 *			f16 | f32
 *
 * An image is also the buffer of its pixels, and can be used wherever a buffer can.
 *
 * Commands; each becomes one command of the packet, in this order:
 *
 *	[LABEL:] dispatch PROGRAM.KERNEL items X[,Y[,Z]] [offset X[,Y[,Z]]]
 *		[group X[,Y[,Z]]] [args ARG...]
 *		ARG: [NAME=]WHAT, with the argument's NAME in the kernel's source
 *		WHAT: BUFFER | BUFFER[OFFSET] | BUFFER[OFFSET:BYTES] | null | local:BYTES |
 *		      TYPE:VALUE[,VALUE...] | IMAGE | sampler:[normalized,][ADDRESS,]FILTER |
 *		      sampler:NUMBER
 *		ADDRESS: clamp_to_edge | clamp | repeat | mirrored_repeat
 *		FILTER: nearest | linear
 *	[LABEL:] copy BUFFER[OFFSET] BUFFER[OFFSET] BYTES	(to, from)
 *	[LABEL:] fill BUFFER[OFFSET] BYTES PATTERN
 *	[LABEL:] copy_rect BUFFER[OFFSET] BUFFER[OFFSET] WIDTH [rows COUNT] [slices COUNT]
 *		[to_pitch ROW [SLICE]] [from_pitch ROW [SLICE]]
 *	[LABEL:] fill_pattern BUFFER[OFFSET] BYTES TYPE VALUES
 *	[LABEL:] timestamp BUFFER[OFFSET]
 *	pipe_control CONSUMER PRODUCER				(labels)
 *	barrier
 *
 * In a file with the statement
 *
 *	hazards
 *
 * the library inserts the pipe controls that the arguments need (B4); BYTES of a buffer argument
 * is the size of the range that the kernel accesses.
 *
 * After the batch:
 *
 *	expect BUFFER[OFFSET] = TYPE VALUES [within TOLERANCE]
 *	expect BUFFER[OFFSET] = file "FILE"
 *	print BUFFER[OFFSET] TYPE COUNT
 *
 * TYPE is u8 i8 u16 i16 u32 i32 u64 i64 f32 f64. VALUES are one or more of VALUE,
 * VALUE*COUNT, and, for integers, FIRST..LAST. [OFFSET] may be left out and is 0.
 *
 * The text is untrusted: every count is limited. Ranges are checked against their buffers when
 * the batch is built.
 */
#include "parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "parse_words.h"
#include "drm/salvo_drm.h"

/* --- names ------------------------------------------------------------------ */

static bool find_buffer(const struct salvo_text *text, const char *name, unsigned int *index)
{
	for (*index = 0; *index < text->buffer_count; (*index)++)
		if (!strcmp(text->buffers[*index].name, name))
			return true;
	return false;
}

static bool find_program(const struct salvo_text *text, const char *name, unsigned int *index)
{
	for (*index = 0; *index < text->program_count; (*index)++)
		if (!strcmp(text->programs[*index].name, name))
			return true;
	return false;
}

static bool find_label(const struct salvo_text *text, const char *name, unsigned int *index)
{
	for (*index = 0; *index < text->command_count; (*index)++)
		if (text->commands[*index].label && !strcmp(text->commands[*index].label, name))
			return true;
	return false;
}

static bool need_buffer(struct salvo_text_parser *p, struct salvo_text_place *place)
{
	char name[SALVO_TEXT_MAX_NAME + 1];
	const char *start;

	salvo_text_skip_space(p);
	start = p->at;
	return salvo_text_need_name(p, name, "a buffer") &&
	       (find_buffer(p->text, name, &place->buffer) ||
		salvo_text_fail_at(p, start, "there is no buffer %s above", name));
}

/* BUFFER or BUFFER[OFFSET]. */
static bool need_place(struct salvo_text_parser *p, struct salvo_text_place *place)
{
	if (!need_buffer(p, place))
		return false;
	if (!salvo_text_take(p, '['))
		return true;
	return salvo_text_need_size(p, &place->offset, "an offset") && salvo_text_need(p, ']');
}

static bool need_label(struct salvo_text_parser *p, unsigned int *index, const char *what)
{
	char name[SALVO_TEXT_MAX_NAME + 1];
	const char *start;

	salvo_text_skip_space(p);
	start = p->at;
	if (!salvo_text_need_name(p, name, what))
		return false;
	return find_label(p->text, name, index) ||
	       salvo_text_fail_at(p, start, "there is no command %s above", name);
}

/* --- statements ------------------------------------------------------------- */

static bool parse_program(struct salvo_text_parser *p)
{
	struct salvo_text *text = p->text;
	struct salvo_text_program *program;
	char name[SALVO_TEXT_MAX_NAME + 1];
	const char *start;
	unsigned int i;

	salvo_text_skip_space(p);
	start = p->at;
	if (!salvo_text_need_name(p, name, "the program's name"))
		return false;
	if (find_program(text, name, &i))
		return salvo_text_fail_at(p, start, "there is a program %s already", name);
	program = salvo_text_append(p, &text->programs, &text->program_count, sizeof(*program),
				    SALVO_TEXT_MAX_PROGRAMS, "programs");
	if (!program)
		return false;
	program->line = p->line;
	program->name = strdup(name);
	if (!program->name)
		return salvo_text_no_memory(p);
	return salvo_text_need_string(p, &program->file);
}

static bool parse_init(struct salvo_text_parser *p, struct salvo_text_buffer *buffer)
{
	struct salvo_text_run *run;
	unsigned int values = 0;

	if (salvo_text_take_word(p, "zeros")) {
		return true;
	} else if (salvo_text_take_word(p, "fill")) {
		buffer->init = SALVO_TEXT_FILL;
		values = 1;
	} else if (salvo_text_take_word(p, "ramp")) {
		buffer->init = SALVO_TEXT_RAMP;
		values = 2;
	} else if (salvo_text_take_word(p, "random")) {
		buffer->init = SALVO_TEXT_RANDOM;
		return salvo_text_need_number(p, &buffer->seed, "the seed");
	} else if (salvo_text_take_word(p, "file")) {
		buffer->init = SALVO_TEXT_FILE;
		return salvo_text_need_string(p, &buffer->file);
	} else if (salvo_text_take_word(p, "data")) {
		buffer->init = SALVO_TEXT_DATA;
		return salvo_text_need_values(p, &buffer->values);
	} else {
		return salvo_text_at_line_end(p) ||
		       salvo_text_fail(p, "must be zeros, fill, ramp, random, file or data");
	}

	if (!salvo_text_need_type(p, &buffer->values.type))
		return false;
	while (values--) {
		run = salvo_text_append(p, &buffer->values.runs, &buffer->values.count,
					sizeof(*run), SALVO_TEXT_MAX_RUNS, "values");
		if (!run || !salvo_text_need_value(p, buffer->values.type, &run->bits))
			return false;
		run->count = 1;
	}
	return true;
}

/* A buffer, or an image if @is_image. */
static bool parse_buffer(struct salvo_text_parser *p, bool is_image)
{
	struct salvo_text *text = p->text;
	struct salvo_text_buffer *buffer;
	char name[SALVO_TEXT_MAX_NAME + 1];
	const char *start;
	unsigned int i;

	salvo_text_skip_space(p);
	start = p->at;
	if (!salvo_text_need_name(p, name, is_image ? "the image's name" : "the buffer's name"))
		return false;
	if (find_buffer(text, name, &i) || !strcmp(name, "null"))
		return salvo_text_fail_at(p, start, "there is a buffer or image %s already", name);
	buffer = salvo_text_append(p, &text->buffers, &text->buffer_count, sizeof(*buffer),
				   SALVO_TEXT_MAX_BUFFERS, "buffers");
	if (!buffer)
		return false;
	buffer->line = p->line;
	buffer->name = strdup(name);
	if (!buffer->name)
		return salvo_text_no_memory(p);
	if (is_image ? !salvo_text_need_image(p, &buffer->image, &buffer->bytes) :
		       !salvo_text_need_size(p, &buffer->bytes, "the buffer's size"))
		return false;
	if (!buffer->bytes)
		return salvo_text_fail(p, "the buffer's size is 0");
	buffer->readonly = salvo_text_take_word(p, "readonly");
	return parse_init(p, buffer);
}

/* As many numbers as there are dimensions. */
static bool parse_offset(struct salvo_text_parser *p, struct salvo_text_command *command)
{
	unsigned int i;

	for (i = 0; i < command->dims; i++)
		if ((i && !salvo_text_need(p, ',')) ||
		    !salvo_text_need_u32(p, &command->offset[i], "an offset"))
			return false;
	return true;
}

/* NAME= in front of an argument, if it is there. */
static bool parse_arg_name(struct salvo_text_parser *p, struct salvo_text_arg *arg)
{
	const char *end = p->at;

	while (end < p->end && (isalnum((unsigned char)*end) || *end == '_'))
		end++;
	if (end == p->at || end == p->end || *end != '=')
		return true;
	return salvo_text_need_new_name(p, &arg->name, "the argument's name") &&
	       salvo_text_need(p, '=');
}

static bool parse_arg(struct salvo_text_parser *p, struct salvo_text_arg *arg)
{
	const char *start;

	if (!parse_arg_name(p, arg))
		return false;
	/* Going back to the start must not count the lines of this space twice. */
	salvo_text_skip_space(p);
	start = p->at;
	if (salvo_text_take_type(p, &arg->type) && salvo_text_take(p, ':')) {
		arg->kind = SALVO_TEXT_ARG_VALUE;
		do {
			if (arg->lanes == SALVO_TEXT_MAX_VECTOR)
				return salvo_text_fail(p, "at most %u values",
						       SALVO_TEXT_MAX_VECTOR);
			if (!salvo_text_need_value(p, arg->type, &arg->bits[arg->lanes++]))
				return false;
		} while (salvo_text_take(p, ','));
		return true;
	}
	p->at = start;
	if (salvo_text_take_word(p, "local") && salvo_text_take(p, ':')) {
		arg->kind = SALVO_TEXT_ARG_LOCAL;
		return salvo_text_need_size(p, &arg->local_bytes, "the size of local memory");
	}
	p->at = start;
	if (salvo_text_take_word(p, "sampler") && salvo_text_take(p, ':')) {
		arg->kind = SALVO_TEXT_ARG_SAMPLER;
		return salvo_text_need_sampler(p, &arg->sampler);
	}
	p->at = start;
	arg->kind = SALVO_TEXT_ARG_BUFFER;
	if (salvo_text_take_word(p, "null")) {
		arg->place.buffer = SALVO_TEXT_MAX_BUFFERS;
		return true;
	}
	if (!need_buffer(p, &arg->place))
		return false;
	if (!salvo_text_take(p, '[')) {
		if (p->text->buffers[arg->place.buffer].image.order)
			arg->kind = SALVO_TEXT_ARG_IMAGE;
		return true;
	}
	if (!salvo_text_need_size(p, &arg->place.offset, "an offset"))
		return false;
	if (salvo_text_take(p, ':')) {
		salvo_text_skip_space(p);
		start = p->at;
		if (!salvo_text_need_size(p, &arg->range, "a number of bytes"))
			return false;
		if (!arg->range)
			return salvo_text_fail_at(p, start, "a range of 0 bytes");
	}
	return salvo_text_need(p, ']');
}

static bool parse_dispatch(struct salvo_text_parser *p, struct salvo_text_command *command)
{
	char program[SALVO_TEXT_MAX_NAME + 1];
	unsigned int dims, i;
	const char *start;

	command->type = DRM_SALVO_DISPATCH;
	salvo_text_skip_space(p);
	start = p->at;
	if (!salvo_text_need_name(p, program, "the program"))
		return false;
	if (!find_program(p->text, program, &command->program))
		return salvo_text_fail_at(p, start, "there is no program %s above", program);
	if (!salvo_text_need(p, '.') ||
	    !salvo_text_need_new_name(p, &command->kernel, "the kernel"))
		return false;
	if (!salvo_text_take_word(p, "items"))
		return salvo_text_fail(p, "'items' is missing");
	if (!salvo_text_need_range(p, command->items, &command->dims, "a number of work-items"))
		return false;
	for (i = command->dims; i < 3; i++)
		command->items[i] = 1;
	command->has_offset = salvo_text_take_word(p, "offset");
	if (command->has_offset && !parse_offset(p, command))
		return false;
	command->has_group = salvo_text_take_word(p, "group");
	if (command->has_group) {
		salvo_text_skip_space(p);
		start = p->at;
		if (!salvo_text_need_range(p, command->group, &dims, "a number of work-items"))
			return false;
		if (dims != command->dims)
			return salvo_text_fail_at(p, start, "group has %u dimensions, items %u",
						  dims, command->dims);
	}
	if (!salvo_text_take_word(p, "args"))
		return true;
	while (!salvo_text_at_line_end(p)) {
		struct salvo_text_arg *arg =
			salvo_text_append(p, &command->args, &command->arg_count, sizeof(*arg),
					  SALVO_TEXT_MAX_ARGS, "arguments");

		if (!arg || !parse_arg(p, arg))
			return false;
	}
	return true;
}

/* Row pitch and, where a number follows, slice pitch. */
static bool parse_pitches(struct salvo_text_parser *p, uint64_t *row, uint64_t *slice)
{
	if (!salvo_text_need_size(p, row, "the row pitch"))
		return false;
	salvo_text_skip_space(p);
	return salvo_text_at_line_end(p) || *p->at < '0' || *p->at > '9' ||
	       salvo_text_need_size(p, slice, "the slice pitch");
}

static bool parse_copy_rect(struct salvo_text_parser *p, struct salvo_text_command *command)
{
	struct salvo_rect *rect = &command->rect;

	command->type = DRM_SALVO_COPY_RECT;
	return need_place(p, &command->dst) && need_place(p, &command->src) &&
	       salvo_text_need_size(p, &rect->width, "the bytes of a row") &&
	       (!salvo_text_take_word(p, "rows") ||
		salvo_text_need_number(p, &rect->height, "the number of rows")) &&
	       (!salvo_text_take_word(p, "slices") ||
		salvo_text_need_number(p, &rect->depth, "the number of slices")) &&
	       (!salvo_text_take_word(p, "to_pitch") ||
		parse_pitches(p, &rect->dst_row_pitch, &rect->dst_slice_pitch)) &&
	       (!salvo_text_take_word(p, "from_pitch") ||
		parse_pitches(p, &rect->src_row_pitch, &rect->src_slice_pitch));
}

static bool parse_fill_pattern(struct salvo_text_parser *p, struct salvo_text_command *command)
{
	command->type = DRM_SALVO_FILL_PATTERN;
	return need_place(p, &command->dst) &&
	       salvo_text_need_size(p, &command->size, "the number of bytes") &&
	       salvo_text_need_values(p, &command->values);
}

static bool parse_pipe_control(struct salvo_text_parser *p, struct salvo_text_command *command)
{
	const char *start;

	salvo_text_skip_space(p);
	start = p->at;
	command->type = DRM_SALVO_PIPE_CONTROL;
	if (!need_label(p, &command->consumer, "the consumer") ||
	    !need_label(p, &command->producer, "the producer"))
		return false;
	return command->producer < command->consumer ||
	       salvo_text_fail_at(p, start, "the producer must come before the consumer");
}

static bool parse_expect(struct salvo_text_parser *p, struct salvo_text_check *check)
{
	if (!need_place(p, &check->place))
		return false;
	salvo_text_skip_space(p);
	if (!salvo_text_need(p, '='))
		return false;
	if (salvo_text_take_word(p, "file"))
		return salvo_text_need_string(p, &check->file);
	if (!salvo_text_need_values(p, &check->values))
		return false;
	if (!salvo_text_take_word(p, "within"))
		return true;
	if (!salvo_text_need_real(p, &check->tolerance))
		return false;
	return check->tolerance >= 0 || salvo_text_fail(p, "the tolerance must not be negative");
}

static bool parse_print(struct salvo_text_parser *p, struct salvo_text_check *check)
{
	check->print = true;
	return need_place(p, &check->place) && salvo_text_need_type(p, &check->values.type) &&
	       salvo_text_need_number(p, &check->count, "a count");
}

/* A command, with or without a label. */
static bool parse_command(struct salvo_text_parser *p, const char *label, const char *label_at)
{
	struct salvo_text *text = p->text;
	struct salvo_text_command *command;
	const char *start;
	unsigned int i;

	salvo_text_skip_space(p);
	start = p->at;
	if (label && find_label(text, label, &i))
		return salvo_text_fail_at(p, label_at, "there is a command %s already", label);
	command = salvo_text_append(p, &text->commands, &text->command_count, sizeof(*command),
				    SALVO_TEXT_MAX_COMMANDS, "commands");
	if (!command)
		return false;
	command->line = p->line;
	if (salvo_text_take_word(p, "dispatch")) {
		if (!parse_dispatch(p, command))
			return false;
	} else if (salvo_text_take_word(p, "copy")) {
		command->type = DRM_SALVO_COPY;
		if (!need_place(p, &command->dst) || !need_place(p, &command->src) ||
		    !salvo_text_need_size(p, &command->size, "the number of bytes"))
			return false;
	} else if (salvo_text_take_word(p, "fill")) {
		command->type = DRM_SALVO_FILL;
		if (!need_place(p, &command->dst) ||
		    !salvo_text_need_size(p, &command->size, "the number of bytes") ||
		    !salvo_text_need_u32(p, &command->pattern, "the pattern"))
			return false;
	} else if (salvo_text_take_word(p, "copy_rect")) {
		if (!parse_copy_rect(p, command))
			return false;
	} else if (salvo_text_take_word(p, "fill_pattern")) {
		if (!parse_fill_pattern(p, command))
			return false;
	} else if (salvo_text_take_word(p, "timestamp")) {
		command->type = DRM_SALVO_TIMESTAMP;
		if (!need_place(p, &command->dst))
			return false;
	} else if (!label && salvo_text_take_word(p, "pipe_control")) {
		return parse_pipe_control(p, command);
	} else if (!label && salvo_text_take_word(p, "barrier")) {
		command->type = DRM_SALVO_PIPE_CONTROL;
		command->all = true;
	} else {
		return salvo_text_fail_at(p, start,
					  label ? "the command after the label is missing"
						: "unknown statement");
	}
	/* Only now, so that a command cannot name itself. */
	command->label = label ? strdup(label) : NULL;
	return !label || command->label || salvo_text_no_memory(p);
}

static bool parse_statement(struct salvo_text_parser *p)
{
	char label[SALVO_TEXT_MAX_NAME + 1];
	struct salvo_text_check *check;
	const char *start;
	bool expect;

	if (salvo_text_take_word(p, "program"))
		return parse_program(p);
	if (salvo_text_take_word(p, "buffer"))
		return parse_buffer(p, false);
	if (salvo_text_take_word(p, "image"))
		return parse_buffer(p, true);
	expect = salvo_text_take_word(p, "expect");
	if (expect || salvo_text_take_word(p, "print")) {
		check = salvo_text_append(p, &p->text->checks, &p->text->check_count,
					  sizeof(*check), SALVO_TEXT_MAX_CHECKS, "expectations");
		if (!check)
			return false;
		check->line = p->line;
		return expect ? parse_expect(p, check) : parse_print(p, check);
	}

	if (salvo_text_take_word(p, "hazards")) {
		p->text->hazards = true;
		return true;
	}

	start = p->at;
	if (!salvo_text_need_name(p, label, "a statement"))
		return false;
	if (salvo_text_take(p, ':'))
		return parse_command(p, label, start);
	p->at = start;
	return parse_command(p, NULL, start);
}

int salvo_text_parse(const char *text, size_t bytes, struct salvo_text **out,
		     struct salvo_text_error *error)
{
	struct salvo_text_parser p = {
		.begin = text,
		.at = text,
		.end = text + bytes,
		.line_start = text,
		.line = 1,
		.error = error,
	};

	*out = NULL;
	memset(error, 0, sizeof(*error));
	if (bytes > SALVO_TEXT_MAX_BYTES) {
		snprintf(error->message, sizeof(error->message), "longer than %u bytes",
			 SALVO_TEXT_MAX_BYTES);
		return -E2BIG;
	}
	p.text = calloc(1, sizeof(*p.text));
	if (!p.text)
		return -ENOMEM;
	while (!p.err && p.at < p.end) {
		if (!salvo_text_at_line_end(&p) && parse_statement(&p) &&
		    !salvo_text_at_line_end(&p))
			salvo_text_fail(&p, "unexpected text at the end of the statement");
		if (p.err)
			break;
		while (p.at < p.end && *p.at != '\n')
			p.at++;
		if (salvo_text_take(&p, '\n')) {
			p.line++;
			p.line_start = p.at;
		}
	}
	if (p.err) {
		salvo_text_destroy(p.text);
		return p.err;
	}
	*out = p.text;
	return 0;
}
