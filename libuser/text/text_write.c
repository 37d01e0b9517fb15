// SPDX-License-Identifier: MIT
/*
 * text_write.c - write the human-readable form
 *
 * Every default is left out and numbers are written so that they read back as the
 * same bits, so writing what was parsed and parsing what was written is stable.
 */
#include <inttypes.h>

#include "text.h"
#include "text_image.h"
#include "drm/salvo_drm.h"

void salvo_text_write_value(enum salvo_text_type type, uint64_t bits, FILE *file)
{
	const unsigned int unused = 64 - salvo_text_type_bytes(type) * 8;

	if (salvo_text_type_is_float(type))
		fprintf(file, "%.*g", type == SALVO_TEXT_F32 ? 9 : 17,
			salvo_text_to_double(type, bits));
	else if (salvo_text_type_name(type)[0] == 'i')
		fprintf(file, "%" PRId64, (int64_t)(bits << unused) >> unused);
	else
		fprintf(file, "%" PRIu64, bits);
}

static void write_values(const struct salvo_text_values *values, FILE *file)
{
	unsigned int i;

	fputs(salvo_text_type_name(values->type), file);
	for (i = 0; i < values->count; i++) {
		const struct salvo_text_run *run = &values->runs[i];

		fputc(' ', file);
		salvo_text_write_value(values->type, run->bits, file);
		if (run->ramp) {
			fputs("..", file);
			salvo_text_write_value(values->type, run->bits + run->count - 1, file);
		} else if (run->count > 1) {
			fprintf(file, "*%" PRIu64, run->count);
		}
	}
}

static void write_name(const struct salvo_text *text, const struct salvo_text_place *place,
		       FILE *file)
{
	fputs(text->buffers[place->buffer].name, file);
	if (place->offset)
		fprintf(file, "[%" PRIu64 "]", place->offset);
}

static void write_place(const struct salvo_text *text, const struct salvo_text_place *place,
			FILE *file)
{
	fputc(' ', file);
	write_name(text, place, file);
}

static void write_buffer(const struct salvo_text_buffer *buffer, FILE *file)
{
	fprintf(file, "%s %s ", buffer->image.order ? "image" : "buffer", buffer->name);
	if (buffer->image.order)
		salvo_text_write_image(&buffer->image, file);
	else
		fprintf(file, "%" PRIu64, buffer->bytes);
	fputs(buffer->readonly ? " readonly" : "", file);
	switch (buffer->init) {
	case SALVO_TEXT_ZEROS:
		break;
	case SALVO_TEXT_FILL:
		fputs(" fill ", file);
		write_values(&buffer->values, file);
		break;
	case SALVO_TEXT_RAMP:
		fputs(" ramp ", file);
		write_values(&buffer->values, file);
		break;
	case SALVO_TEXT_DATA:
		fputs(" data ", file);
		write_values(&buffer->values, file);
		break;
	case SALVO_TEXT_RANDOM:
		fprintf(file, " random %" PRIu64, buffer->seed);
		break;
	case SALVO_TEXT_FILE:
		fprintf(file, " file \"%s\"", buffer->file);
		break;
	}
	fputc('\n', file);
}

static void write_range(const char *word, const uint32_t range[3], unsigned int dims, FILE *file)
{
	unsigned int d;

	fprintf(file, " %s", word);
	for (d = 0; d < dims; d++)
		fprintf(file, "%c%" PRIu32, d ? ',' : ' ', range[d]);
}

static void write_arg(const struct salvo_text *text, const struct salvo_text_arg *arg, FILE *file)
{
	unsigned int i;

	fputc(' ', file);
	if (arg->name)
		fprintf(file, "%s=", arg->name);
	switch (arg->kind) {
	case SALVO_TEXT_ARG_BUFFER:
		if (arg->place.buffer == SALVO_TEXT_MAX_BUFFERS)
			fputs("null", file);
		else if (arg->range)
			fprintf(file, "%s[%" PRIu64 ":%" PRIu64 "]",
				text->buffers[arg->place.buffer].name, arg->place.offset,
				arg->range);
		else if (!arg->place.offset && text->buffers[arg->place.buffer].image.order)
			fprintf(file, "%s[0]", text->buffers[arg->place.buffer].name);
		else
			write_name(text, &arg->place, file);
		break;
	case SALVO_TEXT_ARG_IMAGE:
		write_name(text, &arg->place, file);
		break;
	case SALVO_TEXT_ARG_SAMPLER:
		fputs("sampler:", file);
		salvo_text_write_sampler(arg->sampler, file);
		break;
	case SALVO_TEXT_ARG_LOCAL:
		fprintf(file, "local:%" PRIu64, arg->local_bytes);
		break;
	case SALVO_TEXT_ARG_VALUE:
		fputs(salvo_text_type_name(arg->type), file);
		for (i = 0; i < arg->lanes; i++) {
			fputc(i ? ',' : ':', file);
			salvo_text_write_value(arg->type, arg->bits[i], file);
		}
		break;
	}
}

static void write_label(unsigned int index, const struct salvo_text *text, FILE *file)
{
	fprintf(file, " %s", text->commands[index].label);
}

static void write_pitches(const char *word, uint64_t row, uint64_t slice, FILE *file)
{
	if (row)
		fprintf(file, " %s %" PRIu64, word, row);
	if (row && slice)
		fprintf(file, " %" PRIu64, slice);
}

static void write_copy_rect(const struct salvo_text *text,
			    const struct salvo_text_command *command, FILE *file)
{
	const struct salvo_rect *rect = &command->rect;

	fputs("copy_rect", file);
	write_place(text, &command->dst, file);
	write_place(text, &command->src, file);
	fprintf(file, " %" PRIu64, rect->width);
	if (rect->height)
		fprintf(file, " rows %" PRIu64, rect->height);
	if (rect->depth)
		fprintf(file, " slices %" PRIu64, rect->depth);
	write_pitches("to_pitch", rect->dst_row_pitch, rect->dst_slice_pitch, file);
	write_pitches("from_pitch", rect->src_row_pitch, rect->src_slice_pitch, file);
}

static void write_command(const struct salvo_text *text, const struct salvo_text_command *command,
			  FILE *file)
{
	unsigned int i;

	if (command->label)
		fprintf(file, "%s: ", command->label);
	switch (command->type) {
	case DRM_SALVO_DISPATCH:
		fprintf(file, "dispatch %s.%s", text->programs[command->program].name,
			command->kernel);
		write_range("items", command->items, command->dims, file);
		if (command->has_offset)
			write_range("offset", command->offset, command->dims, file);
		if (command->has_group)
			write_range("group", command->group, command->dims, file);
		if (command->arg_count)
			fputs(" args", file);
		for (i = 0; i < command->arg_count; i++)
			write_arg(text, &command->args[i], file);
		break;
	case DRM_SALVO_PIPE_CONTROL:
		fputs(command->all ? "barrier" : "pipe_control", file);
		if (!command->all) {
			write_label(command->consumer, text, file);
			write_label(command->producer, text, file);
		}
		break;
	case DRM_SALVO_COPY:
		fputs("copy", file);
		write_place(text, &command->dst, file);
		write_place(text, &command->src, file);
		fprintf(file, " %" PRIu64, command->size);
		break;
	case DRM_SALVO_FILL:
		fputs("fill", file);
		write_place(text, &command->dst, file);
		fprintf(file, " %" PRIu64 " 0x%" PRIx32, command->size, command->pattern);
		break;
	case DRM_SALVO_COPY_RECT:
		write_copy_rect(text, command, file);
		break;
	case DRM_SALVO_FILL_PATTERN:
		fputs("fill_pattern", file);
		write_place(text, &command->dst, file);
		fprintf(file, " %" PRIu64 " ", command->size);
		write_values(&command->values, file);
		break;
	case DRM_SALVO_TIMESTAMP:
		fputs("timestamp", file);
		write_place(text, &command->dst, file);
		break;
	}
	fputc('\n', file);
}

static void write_check(const struct salvo_text *text, const struct salvo_text_check *check,
			FILE *file)
{
	fputs(check->print ? "print" : "expect", file);
	write_place(text, &check->place, file);
	if (check->print) {
		fprintf(file, " %s %" PRIu64, salvo_text_type_name(check->values.type),
			check->count);
	} else if (check->file) {
		fprintf(file, " = file \"%s\"", check->file);
	} else {
		fputs(" = ", file);
		write_values(&check->values, file);
		if (check->tolerance)
			fprintf(file, " within %.17g", check->tolerance);
	}
	fputc('\n', file);
}

void salvo_text_write(const struct salvo_text *text, FILE *file)
{
	unsigned int i;

	for (i = 0; i < text->program_count; i++)
		fprintf(file, "program %s \"%s\"\n", text->programs[i].name,
			text->programs[i].file);
	for (i = 0; i < text->buffer_count; i++)
		write_buffer(&text->buffers[i], file);
	if (text->hazards)
		fputs("hazards\n", file);
	for (i = 0; i < text->command_count; i++)
		write_command(text, &text->commands[i], file);
	for (i = 0; i < text->check_count; i++)
		write_check(text, &text->checks[i], file);
}
