// SPDX-License-Identifier: MIT
/*
 * text_build.c - from the human-readable form to a batch that can be submitted
 *
 * Each command of the text becomes one call of the public interface and so one
 * command of the batch, at the same index (B7 of CN105940388). Ranges and arguments in the
 * text are checked here against the buffers and kernels.
 */
#include "text_build.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io.h"
#include "drm/salvo_drm.h"

#define PATH_BYTES 4096

__attribute__((format(printf, 4, 5)))
static int fail(struct salvo_text_error *error, int err, unsigned int line,
		const char *format, ...)
{
	va_list ap;

	error->line = line;
	error->column = 0;
	va_start(ap, format);
	vsnprintf(error->message, sizeof(error->message), format, ap);
	va_end(ap);
	return err;
}

/* --- buffers ---------------------------------------------------------------- */

/* xorshift64*: reproducible for each seed. */
static void fill_random(uint8_t *map, uint64_t bytes, uint64_t seed)
{
	uint64_t state = seed ^ 0x9e3779b97f4a7c15ull, i;

	if (!state)
		state = 1;
	for (i = 0; i < bytes; i++) {
		state ^= state >> 12;
		state ^= state << 25;
		state ^= state >> 27;
		map[i] = state * 0x2545f4914f6cdd1dull >> 56;
	}
}

/* Element number @i of a ramp. */
static uint64_t ramp_value(const struct salvo_text_values *values, uint64_t i)
{
	double real;
	float narrow;
	uint64_t bits = 0;

	if (!salvo_text_type_is_float(values->type))
		return values->runs[0].bits + i * values->runs[1].bits;
	real = salvo_text_to_double(values->type, values->runs[0].bits) +
	       i * salvo_text_to_double(values->type, values->runs[1].bits);
	if (values->type == SALVO_TEXT_F64) {
		memcpy(&bits, &real, sizeof(real));
	} else {
		narrow = real;
		memcpy(&bits, &narrow, sizeof(narrow));
	}
	return bits;
}

/* Write values one after the other. Return: their bytes, UINT64_MAX if they are over @room. */
static uint64_t expand_values(const struct salvo_text_values *values, uint8_t *map, uint64_t room)
{
	const size_t size = salvo_text_type_bytes(values->type);
	uint64_t at = 0, bits, j;
	unsigned int i;

	for (i = 0; i < values->count; i++) {
		const struct salvo_text_run *run = &values->runs[i];

		if (run->count > (room - at) / size)
			return UINT64_MAX;
		for (j = 0; j < run->count; j++, at += size) {
			bits = run->bits + (run->ramp ? j : 0);
			memcpy(map + at, &bits, size);
		}
	}
	return at;
}

static int fill_data(const struct salvo_text_buffer *buffer, uint8_t *map,
		     struct salvo_text_error *error)
{
	if (expand_values(&buffer->values, map, buffer->bytes) == UINT64_MAX)
		return fail(error, -EINVAL, buffer->line, "buffer %s: the data does not fit",
			    buffer->name);
	return 0;
}

/* Reads all of a file, which must not be longer than @room. */
static int read_file(const char *name, const char *dir, uint8_t *out, uint64_t room,
		     uint64_t *count, unsigned int line, struct salvo_text_error *error)
{
	char path[PATH_BYTES], *data;
	size_t bytes;
	int fd, err;

	snprintf(path, sizeof(path), "%s%s%s", name[0] == '/' ? "" : dir,
		 name[0] == '/' ? "" : "/", name);
	/* A FIFO is refused, not waited for. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return fail(error, -errno, line, "%s: %s", name, strerror(errno));
	err = salvo_read_regular(fd, room, &data, &bytes);
	close(fd);
	if (err == -EFBIG)
		return fail(error, -EINVAL, line, "%s: does not fit in the buffer: more than %" PRIu64
			    " bytes", name, room);
	if (err)
		return fail(error, err, line, "%s: %s", name,
			    err == -EINVAL ? "not a regular file" : strerror(-err));
	memcpy(out, data, bytes);
	*count = bytes;
	free(data);
	return 0;
}

static int fill_buffer(const struct salvo_text_buffer *buffer, uint8_t *map, const char *dir,
		       struct salvo_text_error *error)
{
	const size_t size = salvo_text_type_bytes(buffer->values.type);
	uint64_t i, bits;

	switch (buffer->init) {
	case SALVO_TEXT_ZEROS:
		return 0;
	case SALVO_TEXT_FILL:
		for (i = 0; i < buffer->bytes / size; i++)
			memcpy(map + i * size, &buffer->values.runs[0].bits, size);
		return 0;
	case SALVO_TEXT_RAMP:
		for (i = 0; i < buffer->bytes / size; i++) {
			bits = ramp_value(&buffer->values, i);
			memcpy(map + i * size, &bits, size);
		}
		return 0;
	case SALVO_TEXT_RANDOM:
		fill_random(map, buffer->bytes, buffer->seed);
		return 0;
	case SALVO_TEXT_FILE:
		return read_file(buffer->file, dir, map, buffer->bytes, &i, buffer->line, error);
	case SALVO_TEXT_DATA:
		return fill_data(buffer, map, error);
	}
	return 0;
}

static int create_buffers(struct salvo_text_build *build, struct salvo_device *device,
			  const char *data_dir, struct salvo_text_error *error)
{
	unsigned int i;
	void *map;
	int err;

	for (i = 0; i < build->text->buffer_count; i++) {
		const struct salvo_text_buffer *buffer = &build->text->buffers[i];

		const uint32_t flags = buffer->readonly ? SALVO_BO_READONLY : 0;

		if (buffer->image.order) {
			err = salvo_image_create(device, &buffer->image, flags, &build->images[i]);
			build->bos[i] = err ? NULL : salvo_image_bo(build->images[i]);
		} else {
			err = salvo_bo_create(device, buffer->bytes, flags, &build->bos[i]);
		}
		if (!err)
			err = salvo_bo_map(build->bos[i], &map);
		if (err)
			return fail(error, err, buffer->line, "buffer %s: %s", buffer->name,
				    err == -ENOSPC ? "No space left in video memory" :
						     strerror(-err));
		build->maps[i] = map;
		err = fill_buffer(buffer, map, data_dir, error);
		if (err)
			return err;
	}
	return 0;
}

/* --- programs and commands -------------------------------------------------- */

static int load_program(struct salvo_text_build *build, unsigned int i,
			struct salvo_device *device, const char *const *dirs,
			struct salvo_text_error *error)
{
	const struct salvo_text_program *program = &build->text->programs[i];
	char path[PATH_BYTES];
	int err = -ENOENT;

	if (program->file[0] == '/')
		err = salvo_program_load_file(device, program->file, &build->programs[i]);
	for (; program->file[0] != '/' && *dirs && err == -ENOENT; dirs++) {
		snprintf(path, sizeof(path), "%s/%s", *dirs, program->file);
		err = salvo_program_load_file(device, path, &build->programs[i]);
	}
	if (err)
		return fail(error, err, program->line, "program %s: %s: %s", program->name,
			    program->file, strerror(-err));
	return 0;
}

static int set_argument(struct salvo_text_build *build, struct salvo_kernel *kernel,
			const struct salvo_text_arg *arg, unsigned int index)
{
	const size_t size = salvo_text_type_bytes(arg->type);
	uint8_t value[SALVO_TEXT_MAX_VECTOR * sizeof(uint64_t)];
	unsigned int i;

	switch (arg->kind) {
	case SALVO_TEXT_ARG_BUFFER:
		return salvo_kernel_set_bo_range(kernel, index,
						 arg->place.buffer < build->text->buffer_count ?
							 build->bos[arg->place.buffer] : NULL,
						 arg->place.offset, arg->range);
	case SALVO_TEXT_ARG_LOCAL:
		return salvo_kernel_set_local(kernel, index, arg->local_bytes);
	case SALVO_TEXT_ARG_VALUE:
		for (i = 0; i < arg->lanes; i++)
			memcpy(value + i * size, &arg->bits[i], size);
		return salvo_kernel_set_value(kernel, index, value, arg->lanes * size);
	case SALVO_TEXT_ARG_IMAGE:
		return salvo_kernel_set_image(kernel, index, build->images[arg->place.buffer]);
	case SALVO_TEXT_ARG_SAMPLER:
		return salvo_kernel_set_sampler(kernel, index, arg->sampler);
	}
	return -EINVAL;
}

/* Is the name that the text gives argument @index that of the kernel's source? */
static int check_name(const struct salvo_kernel *kernel, const struct salvo_text_command *command,
		      unsigned int index, struct salvo_text_error *error)
{
	struct salvo_argument_info info;

	if (!command->args[index].name ||
	    salvo_kernel_get_argument(kernel, index, &info) ||
	    !strcmp(info.name, command->args[index].name))
		return 0;
	return fail(error, -EINVAL, command->line, "argument %u of kernel %s is %s, not %s", index,
		    command->kernel, info.name, command->args[index].name);
}

static int add_dispatch(struct salvo_text_build *build, const struct salvo_text_command *command,
			struct salvo_text_error *error)
{
	struct salvo_kernel *kernel;
	unsigned int i;
	int err;

	err = salvo_kernel_create(build->programs[command->program], command->kernel, &kernel);
	if (err)
		return fail(error, err, command->line, "there is no kernel %s in program %s",
			    command->kernel, build->text->programs[command->program].name);
	for (i = 0; i < command->arg_count && !err; i++) {
		err = check_name(kernel, command, i, error);
		if (err)
			break;
		err = set_argument(build, kernel, &command->args[i], i);
		if (err)
			fail(error, err, command->line, "kernel %s: %s", command->kernel,
			     salvo_kernel_error(kernel));
	}
	if (!err && command->has_offset) {
		err = salvo_kernel_set_offset(kernel, command->offset);
		if (err)
			fail(error, err, command->line, "kernel %s cannot begin at this offset",
			     command->kernel);
	}
	if (!err) {
		err = salvo_kernel_set_grid(kernel, command->dims, command->items,
					    command->has_group ? command->group : NULL);
		if (err)
			fail(error, err, command->line, "kernel %s cannot run with this %s",
			     command->kernel, command->has_group ? "group" : "range");
	}
	if (!err) {
		err = salvo_batch_dispatch(build->batch, kernel);
		if (err < 0)
			fail(error, err, command->line, "%s", salvo_batch_error(build->batch));
	}
	salvo_kernel_destroy(kernel);
	return err;
}

static int add_fill_pattern(struct salvo_text_build *build,
			    const struct salvo_text_command *command,
			    struct salvo_text_error *error)
{
	uint8_t pattern[DRM_SALVO_MAX_PATTERN_BYTES];
	const uint64_t bytes = expand_values(&command->values, pattern, sizeof(pattern));
	int err;

	if (bytes == UINT64_MAX)
		return fail(error, -EINVAL, command->line, "the pattern has more than %u bytes",
			    DRM_SALVO_MAX_PATTERN_BYTES);
	err = salvo_batch_fill_pattern(build->batch, build->bos[command->dst.buffer],
				       command->dst.offset, command->size, pattern, bytes);
	if (err < 0)
		fail(error, err, command->line, "%s", salvo_batch_error(build->batch));
	return err;
}

static int add_command(struct salvo_text_build *build, const struct salvo_text_command *command,
		       struct salvo_text_error *error)
{
	struct salvo_bo *dst = NULL;
	int err = -EINVAL;

	if (command->dst.buffer < build->text->buffer_count)
		dst = build->bos[command->dst.buffer];
	switch (command->type) {
	case DRM_SALVO_DISPATCH:
		return add_dispatch(build, command, error);
	case DRM_SALVO_PIPE_CONTROL:
		err = command->all ? salvo_batch_barrier(build->batch) :
				     salvo_batch_pipe_control(build->batch, command->consumer,
							      command->producer);
		break;
	case DRM_SALVO_COPY:
		err = salvo_batch_copy(build->batch, dst, command->dst.offset,
				       build->bos[command->src.buffer], command->src.offset,
				       command->size);
		break;
	case DRM_SALVO_FILL:
		err = salvo_batch_fill(build->batch, dst, command->dst.offset, command->size,
				       command->pattern);
		break;
	case DRM_SALVO_COPY_RECT:
		err = salvo_batch_copy_rect(build->batch, dst, command->dst.offset,
					    build->bos[command->src.buffer], command->src.offset,
					    &command->rect);
		break;
	case DRM_SALVO_FILL_PATTERN:
		return add_fill_pattern(build, command, error);
	case DRM_SALVO_TIMESTAMP:
		err = salvo_batch_timestamp(build->batch, dst, command->dst.offset);
		break;
	}
	if (err < 0)
		fail(error, err, command->line, "%s", salvo_batch_error(build->batch));
	return err;
}

/* Is its range inside its buffer? */
static int check_check(const struct salvo_text *text, const struct salvo_text_check *check,
		       struct salvo_text_error *error)
{
	const struct salvo_text_buffer *buffer = &text->buffers[check->place.buffer];
	uint64_t room, count = check->count;
	unsigned int i;

	room = check->place.offset > buffer->bytes ? 0 : buffer->bytes - check->place.offset;
	room /= salvo_text_type_bytes(check->values.type);
	for (i = 0; i < check->values.count; i++)
		if (__builtin_add_overflow(count, check->values.runs[i].count, &count))
			count = UINT64_MAX;
	if (count > room || check->place.offset > buffer->bytes)
		return fail(error, -EINVAL, check->line, "the values are outside buffer %s",
			    buffer->name);
	return 0;
}

/* Read the files of expectations; check_check() has checked their offsets. */
static int read_expected(struct salvo_text_build *build, const char *dir,
			 struct salvo_text_error *error)
{
	const struct salvo_text *text = build->text;
	unsigned int i;
	int err = 0;

	for (i = 0; i < text->check_count && !err; i++) {
		const struct salvo_text_check *check = &text->checks[i];
		struct salvo_text_bytes *expected = &build->expected[i];
		uint64_t room = text->buffers[check->place.buffer].bytes - check->place.offset;

		if (!check->file)
			continue;
		expected->bytes = malloc(room + 1);
		if (!expected->bytes)
			return fail(error, -ENOMEM, 0, "out of memory");
		err = read_file(check->file, dir, expected->bytes, room, &expected->count,
				check->line, error);
	}
	return err;
}

int salvo_text_build(const struct salvo_text *text, struct salvo_device *device,
		     const char *const *program_dirs, const char *data_dir,
		     struct salvo_text_build **out, struct salvo_text_error *error)
{
	struct salvo_text_build *build = calloc(1, sizeof(*build));
	unsigned int i;
	int err = 0;

	*out = NULL;
	if (!build)
		return fail(error, -ENOMEM, 0, "out of memory");
	build->text = text;
	build->programs = calloc(text->program_count + 1, sizeof(*build->programs));
	build->bos = calloc(text->buffer_count + 1, sizeof(*build->bos));
	build->images = calloc(text->buffer_count + 1, sizeof(*build->images));
	build->maps = calloc(text->buffer_count + 1, sizeof(*build->maps));
	build->expected = calloc(text->check_count + 1, sizeof(*build->expected));
	if (!build->programs || !build->bos || !build->images || !build->maps || !build->expected ||
	    salvo_batch_create(device, &build->batch))
		err = fail(error, -ENOMEM, 0, "out of memory");
	for (i = 0; i < text->check_count && !err; i++)
		err = check_check(text, &text->checks[i], error);
	if (!err)
		err = create_buffers(build, device, data_dir, error);
	if (!err)
		err = read_expected(build, data_dir, error);
	for (i = 0; i < text->program_count && !err; i++)
		err = load_program(build, i, device, program_dirs, error);
	if (!err && text->hazards && salvo_batch_enable_hazards(build->batch))
		err = fail(error, -ENOMEM, 0, "out of memory");
	for (i = 0; i < text->command_count && err >= 0; i++) {
		err = add_command(build, &text->commands[i], error);
		if (err >= 0 && text->commands[i].label &&
		    salvo_batch_set_label(build->batch, i, text->commands[i].label))
			err = fail(error, -ENOMEM, 0, "out of memory");
	}
	if (err < 0) {
		salvo_text_build_destroy(build);
		return err;
	}
	*out = build;
	return 0;
}

void salvo_text_build_destroy(struct salvo_text_build *build)
{
	unsigned int i;

	if (!build)
		return;
	salvo_batch_destroy(build->batch);
	for (i = 0; build->programs && i < build->text->program_count; i++)
		salvo_program_destroy(build->programs[i]);
	for (i = 0; build->bos && build->images && i < build->text->buffer_count; i++) {
		if (build->images[i])
			salvo_image_destroy(build->images[i]);
		else
			salvo_bo_destroy(build->bos[i]);
	}
	for (i = 0; build->expected && i < build->text->check_count; i++)
		free(build->expected[i].bytes);
	free(build->expected);
	free(build->programs);
	free(build->bos);
	free(build->images);
	free(build->maps);
	free(build);
}

/* --- results ---------------------------------------------------------------- */

uint64_t salvo_text_element(const struct salvo_text_build *build,
			    const struct salvo_text_check *check, uint64_t index)
{
	const size_t size = salvo_text_type_bytes(check->values.type);
	uint64_t bits = 0;

	memcpy(&bits, build->maps[check->place.buffer] + check->place.offset + index * size, size);
	return bits;
}

static bool is_equal(const struct salvo_text_check *check, uint64_t a, uint64_t b)
{
	double x, y;

	if (a == b)
		return true;
	if (!salvo_text_type_is_float(check->values.type) && !check->tolerance)
		return false;
	x = salvo_text_to_double(check->values.type, a);
	y = salvo_text_to_double(check->values.type, b);
	return (isnan(x) && isnan(y)) || x == y || fabs(x - y) <= check->tolerance;
}

static void compare_bytes(const struct salvo_text_build *build,
			  const struct salvo_text_check *check,
			  struct salvo_text_difference *difference)
{
	const struct salvo_text_bytes *expected = &build->expected[check - build->text->checks];
	uint64_t i, found;

	for (i = 0; i < expected->count; i++) {
		found = salvo_text_element(build, check, i);
		if (found != expected->bytes[i] && !difference->count++) {
			difference->index = i;
			difference->expected = expected->bytes[i];
			difference->found = found;
		}
	}
	difference->total = expected->count;
}

void salvo_text_compare(const struct salvo_text_build *build,
			const struct salvo_text_check *check,
			struct salvo_text_difference *difference)
{
	const size_t size = salvo_text_type_bytes(check->values.type);
	uint64_t j, expected, found;
	unsigned int i;

	memset(difference, 0, sizeof(*difference));
	if (check->file)
		compare_bytes(build, check, difference);
	for (i = 0; i < check->values.count; i++) {
		const struct salvo_text_run *run = &check->values.runs[i];

		for (j = 0; j < run->count; j++) {
			expected = run->bits + (run->ramp ? j : 0);
			expected &= UINT64_MAX >> (64 - size * 8);
			found = salvo_text_element(build, check, difference->total);
			if (!is_equal(check, expected, found) && !difference->count++) {
				difference->index = difference->total;
				difference->expected = expected;
				difference->found = found;
			}
			difference->total++;
		}
	}
}
