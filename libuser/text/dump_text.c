// SPDX-License-Identifier: MIT
/*
 * dump_text.c - convert a batch into the human-readable form, for dump.c
 *
 * GPU addresses in commands and argument blocks are resolved to names of buffers, programs and
 * kernels by the lists of the dump; the notes of kernels describe the bytes of arguments. All
 * functions are called with the lock of the dump held.
 */
#include "dump_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "image.h"
#include "kernel.h"

static const char no_memory[] = "no memory";
static const char name_characters[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

char *salvo_dump_format(const char *format, ...)
{
	va_list ap;
	char *name;
	int length;

	va_start(ap, format);
	length = vasprintf(&name, format, ap);
	va_end(ap);
	return length < 0 ? NULL : name;
}

/* --- from addresses to names ---------------------------------------------------- */

/* The buffer of the text for buffer @index of the list; its contents are saved now. */
static unsigned int use_bo(struct dump_batch *batch, unsigned int index)
{
	const struct dump_bo *bo = &batch->dump->bos[index];
	struct salvo_text *text = batch->text;
	struct salvo_text_buffer *buffer;
	struct dump_used *used;
	unsigned int i;

	for (i = 0; i < text->buffer_count; i++)
		if (batch->used[i].bo == index)
			return i;
	if (text->buffer_count == SALVO_TEXT_MAX_BUFFERS) {
		batch->failed = "too many buffers";
		return SALVO_TEXT_MAX_BUFFERS;
	}
	used = salvo_array_append(&batch->used, &batch->used_count, sizeof(*used));
	buffer = used ? salvo_array_append(&text->buffers, &text->buffer_count, sizeof(*buffer)) :
			NULL;
	if (!buffer) {
		batch->used_count = i;
		batch->failed = no_memory;
		return SALVO_TEXT_MAX_BUFFERS;
	}
	buffer->name = salvo_dump_format("b%u", i);
	buffer->bytes = bo->bo->size;
	buffer->readonly = bo->readonly;
	used->bo = index;
	used->before = malloc(bo->bo->size);
	if (!used->before || !buffer->name)
		batch->failed = no_memory;
	else
		memcpy(used->before, bo->map, bo->bo->size);
	return i;
}

/* SALVO_TEXT_MAX_BUFFERS, which is null, for an address outside all buffers. */
static struct salvo_text_place find_place(struct dump_batch *batch, uint64_t address)
{
	struct salvo_text_place place = { .buffer = SALVO_TEXT_MAX_BUFFERS };
	unsigned int i;

	for (i = 0; i < batch->dump->bo_count; i++) {
		const struct salvo_bo *bo = batch->dump->bos[i].bo;

		if (address - bo->address >= bo->size)
			continue;
		place.buffer = use_bo(batch, i);
		place.offset = address - bo->address;
	}
	return place;
}

/* The program of the text for program @index of the list. */
static unsigned int use_program(struct dump_batch *batch, unsigned int index)
{
	struct salvo_text *text = batch->text;
	struct salvo_text_program *program;
	unsigned int i;

	for (i = 0; i < text->program_count; i++)
		if (!strcmp(text->programs[i].file, batch->dump->programs[index].file))
			return i;
	program = salvo_array_append(&text->programs, &text->program_count, sizeof(*program));
	if (!program) {
		batch->failed = no_memory;
		return 0;
	}
	program->name = salvo_dump_format("p%u", i);
	program->file = strdup(batch->dump->programs[index].file);
	if (!program->name || !program->file)
		batch->failed = no_memory;
	return i;
}

static const struct salvo_kernel_info *find_kernel(const struct dump_batch *batch,
						   uint64_t entry, unsigned int *program)
{
	unsigned int i;

	for (*program = 0; *program < batch->dump->program_count; (*program)++) {
		const struct dump_program *p = &batch->dump->programs[*program];

		for (i = 0; i < p->count; i++)
			if (p->kernels[i].entry == entry)
				return &p->kernels[i];
	}
	return NULL;
}

/* --- commands ------------------------------------------------------------------- */

/* The element type of an OpenCL type, "float4" for instance. */
static bool element_type(const char *name, enum salvo_text_type *type)
{
	static const struct {
		const char *name;
		enum salvo_text_type type;
	} types[] = {
		{ "char", SALVO_TEXT_I8 }, { "uchar", SALVO_TEXT_U8 }, { "short", SALVO_TEXT_I16 },
		{ "ushort", SALVO_TEXT_U16 }, { "int", SALVO_TEXT_I32 }, { "uint", SALVO_TEXT_U32 },
		{ "long", SALVO_TEXT_I64 }, { "ulong", SALVO_TEXT_U64 }, { "float", SALVO_TEXT_F32 },
		{ "double", SALVO_TEXT_F64 },
	};
	const size_t length = strcspn(name, "0123456789");
	unsigned int i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strlen(types[i].name) != length || memcmp(name, types[i].name, length))
			continue;
		*type = types[i].type;
		return !name[length + strspn(name + length, "0123456789")];
	}
	return false;
}

/* @size bytes as elements of @type, unless they do not fit or would not read back as they are. */
static bool take_elements(struct salvo_text_arg *arg, const uint8_t *from, uint32_t size,
			  enum salvo_text_type type)
{
	const size_t width = salvo_text_type_bytes(type);

	if (size % width || size / width > SALVO_TEXT_MAX_VECTOR)
		return false;
	arg->type = type;
	for (arg->lanes = 0; arg->lanes < size / width; arg->lanes++) {
		arg->bits[arg->lanes] = 0;
		memcpy(&arg->bits[arg->lanes], from + arg->lanes * width, width);
		/* The bits of a NaN are not written. */
		if (salvo_text_type_is_float(type) &&
		    isnan(salvo_text_to_double(type, arg->bits[arg->lanes])))
			return false;
	}
	return true;
}

/* By the type in the source; of another type, a struct for instance, the widest that fits. */
static void take_value(struct dump_batch *batch, struct salvo_text_arg *arg, const char *name,
		       const uint8_t *from, uint32_t size)
{
	static const enum salvo_text_type types[] = {
		SALVO_TEXT_U32, SALVO_TEXT_U64, SALVO_TEXT_U16, SALVO_TEXT_U8,
	};
	enum salvo_text_type type;
	unsigned int i;

	arg->kind = SALVO_TEXT_ARG_VALUE;
	if (element_type(name, &type) && take_elements(arg, from, size, type))
		return;
	for (i = 0; i < 4; i++)
		if (take_elements(arg, from, size, types[i]))
			return;
	batch->failed = "an argument by value is too long";
}

/* Local arguments are consecutive: each ends where the next begins. */
static uint64_t local_bytes(const struct salvo_kernel_info *kernel, const uint8_t *args,
			    uint64_t offset, uint64_t end)
{
	uint64_t other;
	unsigned int i;

	for (i = 0; i < kernel->note.arg_count; i++) {
		if (kernel->args[i].kind != SALVO_ARG_LOCAL)
			continue;
		memcpy(&other, args + kernel->args[i].offset, sizeof(other));
		if (other > offset && other < end)
			end = other;
	}
	return end - offset;
}

/* Defaults are left out. */
static struct salvo_image_info image_info(const struct salvo_image_view *view)
{
	struct salvo_image_info info = {
		.order = view->order,
		.type = view->type,
		.width = view->width,
		.height = view->height > 1 || view->depth > 1 ? view->height : 0,
		.depth = view->depth > 1 ? view->depth : 0,
		.layers = view->layers,
	};
	struct salvo_image_view tight;
	uint64_t bytes;

	if (!salvo_image_shape(&info, &tight, &bytes) && tight.row_pitch != view->row_pitch)
		info.row_pitch = view->row_pitch;
	if (!salvo_image_shape(&info, &tight, &bytes) && tight.slice_pitch != view->slice_pitch)
		info.slice_pitch = view->slice_pitch;
	return info;
}

/* The buffer of the image's pixels becomes an image. */
static void take_image(struct dump_batch *batch, struct salvo_text_arg *arg,
		       const struct salvo_image_view *view)
{
	const struct salvo_image_info info = image_info(view);
	struct salvo_text_buffer *buffer;
	struct salvo_image_view again;
	uint64_t bytes;

	arg->kind = SALVO_TEXT_ARG_IMAGE;
	arg->place = find_place(batch, view->address);
	if (arg->place.buffer == SALVO_TEXT_MAX_BUFFERS || arg->place.offset) {
		batch->failed = "an image has no buffer of its own";
		return;
	}
	buffer = &batch->text->buffers[arg->place.buffer];
	if (salvo_image_shape(&info, &again, &bytes) || bytes > buffer->bytes) {
		batch->failed = "an image does not fit its buffer";
	} else if (buffer->image.order && memcmp(&buffer->image, &info, sizeof(info))) {
		batch->failed = "a buffer is two different images";
	} else {
		/* What its memory has beyond the pixels; salvo_dump_check_images() */
		buffer->image = info;
		buffer->bytes = bytes;
	}
}

static bool is_inside(const struct salvo_text *text, const struct salvo_text_place *place,
		      uint64_t size)
{
	const struct salvo_text_buffer *buffer;

	if (place->buffer >= text->buffer_count)
		return true;
	buffer = &text->buffers[place->buffer];
	return !buffer->image.order ||
	       (place->offset <= buffer->bytes && size <= buffer->bytes - place->offset);
}

void salvo_dump_check_images(struct dump_batch *batch)
{
	const struct salvo_text *text = batch->text;
	unsigned int i, k;
	bool inside = true;

	for (i = 0; i < text->command_count; i++) {
		const struct salvo_text_command *command = &text->commands[i];

		if (command->type == DRM_SALVO_COPY)
			inside &= is_inside(text, &command->src, command->size);
		if (command->type == DRM_SALVO_COPY || command->type == DRM_SALVO_FILL ||
		    command->type == DRM_SALVO_FILL_PATTERN)
			inside &= is_inside(text, &command->dst, command->size);
		for (k = 0; k < command->arg_count; k++)
			if (command->args[k].kind == SALVO_TEXT_ARG_BUFFER)
				inside &= is_inside(text, &command->args[k].place, 0);
	}
	if (!inside)
		batch->failed = "a command accesses memory behind an image";
}

/* Can the text have it as a name? */
static bool is_name(const char *name)
{
	const size_t length = strlen(name);

	return length && length <= SALVO_TEXT_MAX_NAME && strspn(name, name_characters) == length;
}

static void take_argument(struct dump_batch *batch, struct salvo_text_arg *arg,
			  const struct salvo_kernel_info *kernel, const struct salvo_note_arg *note,
			  const uint8_t *args, uint32_t local_size)
{
	const char *name = note->name ? kernel->text + note->name : "";
	struct salvo_image_view view;
	uint64_t word = 0;

	if (is_name(name))
		arg->name = strdup(name);
	if (note->kind == SALVO_ARG_IMAGE && note->size == sizeof(view)) {
		memcpy(&view, args + note->offset, sizeof(view));
		take_image(batch, arg, &view);
		return;
	}
	if (note->kind == SALVO_ARG_SAMPLER && note->size == sizeof(arg->sampler)) {
		arg->kind = SALVO_TEXT_ARG_SAMPLER;
		memcpy(&arg->sampler, args + note->offset, sizeof(arg->sampler));
		return;
	}
	if (note->kind == SALVO_ARG_VALUE) {
		take_value(batch, arg, note->type ? kernel->text + note->type : "",
			   args + note->offset, note->size);
		return;
	}
	if (note->size == sizeof(word))
		memcpy(&word, args + note->offset, sizeof(word));
	if (note->kind == SALVO_ARG_LOCAL) {
		arg->kind = SALVO_TEXT_ARG_LOCAL;
		arg->local_bytes = local_bytes(kernel, args, word, local_size);
	} else {
		arg->kind = SALVO_TEXT_ARG_BUFFER;
		arg->place = find_place(batch, word);
		if (word && arg->place.buffer == SALVO_TEXT_MAX_BUFFERS)
			batch->failed = "an argument points outside all buffers";
	}
}

/* The global offset starts the argument block; the text has a number for each dimension. */
static void take_offset(struct salvo_text_command *to, const uint8_t *args)
{
	struct salvo_global_offset block;
	unsigned int d;

	memcpy(&block, args, sizeof(block));
	memcpy(to->offset, block.first, sizeof(to->offset));
	for (d = 0; d < 3; d++) {
		if (!to->offset[d])
			continue;
		to->has_offset = true;
		if (to->dims <= d)
			to->dims = d + 1;
	}
}

static void take_dispatch(struct dump_batch *batch, struct salvo_text_command *to,
			  const struct drm_salvo_command *from, const uint8_t *args)
{
	const struct salvo_kernel_info *kernel;
	unsigned int program, i;

	kernel = find_kernel(batch, from->entry, &program);
	if (!kernel || kernel->note.args_bytes > from->args_size ||
	    kernel->note.arg_count > SALVO_TEXT_MAX_ARGS) {
		batch->failed = "a kernel is unknown, or has too many arguments";
		return;
	}
	to->program = use_program(batch, program);
	to->kernel = strdup(kernel->name);
	to->dims = from->dims;
	memcpy(to->items, from->items, sizeof(to->items));
	memcpy(to->group, from->group, sizeof(to->group));
	to->has_group = true;
	if (kernel->note.flags & SALVO_KERNEL_OFFSET)
		take_offset(to, args + from->args_offset);
	to->args = calloc(kernel->note.arg_count + 1, sizeof(*to->args));
	if (!to->kernel || !to->args) {
		batch->failed = no_memory;
		return;
	}
	to->arg_count = kernel->note.arg_count;
	for (i = 0; i < to->arg_count; i++)
		take_argument(batch, &to->args[i], kernel, &kernel->args[i],
			      args + from->args_offset, from->local_size);
}

/* A command that a pipe control refers to needs a label: kernel and index, if that fits. */
static void need_label(struct dump_batch *batch, unsigned int index)
{
	struct salvo_text_command *command = &batch->text->commands[index];

	if (!command->label)
		command->label = command->kernel && strlen(command->kernel) < 50 ?
				 salvo_dump_format("%s_%u", command->kernel, index) :
				 salvo_dump_format("command_%u", index);
	if (!command->label)
		batch->failed = no_memory;
	else if (command->type == DRM_SALVO_PIPE_CONTROL)
		batch->failed = "a pipe control waits for a pipe control";
}

/* The pattern as bytes; equal neighbours are one run. */
static void take_pattern(struct dump_batch *batch, struct salvo_text_values *values,
			 const uint8_t *bytes, uint32_t count)
{
	uint32_t i;

	values->type = SALVO_TEXT_U8;
	values->runs = calloc(count, sizeof(*values->runs));
	if (!values->runs) {
		batch->failed = no_memory;
		return;
	}
	for (i = 0; i < count; i++) {
		if (!i || bytes[i] != bytes[i - 1])
			values->runs[values->count++].bits = bytes[i];
		values->runs[values->count - 1].count++;
	}
}

/* The application's label and the index, which makes it unique; other characters become '_'. */
static char *make_label(const char *label, unsigned int index)
{
	char *made = salvo_dump_format("%.50s_%u", label, index), *at;

	for (at = made; at && *at; at++)
		if (!strchr(name_characters, *at))
			*at = '_';
	return made;
}

void salvo_dump_take_command(struct dump_batch *batch, unsigned int index,
			     const struct drm_salvo_command *from, const uint8_t *args,
			     const char *label)
{
	struct salvo_text_command *to = &batch->text->commands[index];

	if (label && from->type != DRM_SALVO_PIPE_CONTROL)
		to->label = make_label(label, index);
	to->type = from->type;
	to->size = from->size;
	to->pattern = from->pattern;
	switch (from->type) {
	case DRM_SALVO_DISPATCH:
		take_dispatch(batch, to, from, args);
		break;
	case DRM_SALVO_PIPE_CONTROL:
		to->all = from->flags & DRM_SALVO_PIPE_CONTROL_ALL;
		to->consumer = from->consumer;
		to->producer = from->producer;
		if (!to->all) {
			need_label(batch, from->consumer);
			need_label(batch, from->producer);
		}
		break;
	case DRM_SALVO_COPY_RECT:
		memcpy(&to->rect, args + from->args_offset, sizeof(to->rect));
		/* fallthrough */
	case DRM_SALVO_COPY:
		to->src = find_place(batch, from->src);
		if (to->src.buffer == SALVO_TEXT_MAX_BUFFERS)
			batch->failed = "a copy reads outside all buffers";
		/* fallthrough */
	default:
		if (from->type == DRM_SALVO_FILL_PATTERN)
			take_pattern(batch, &to->values, args + from->args_offset,
				     from->args_size);
		to->dst = find_place(batch, from->dst);
		if (to->dst.buffer == SALVO_TEXT_MAX_BUFFERS)
			batch->failed = "a command writes outside all buffers";
		else if (from->type == DRM_SALVO_TIMESTAMP)
			batch->used[to->dst.buffer].timed = true;
	}
}
