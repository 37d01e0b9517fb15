// SPDX-License-Identifier: MIT
/*
 * dump.c - write the batches of an application in the human-readable form (B7)
 *
 * If the environment variable SALVO_DUMP names a folder, each submission leaves there
 * NUMBER.batch, which salvo-submit runs again, with its programs, the contents of the
 * buffers that it names and, as expectations, what it changed in them.
 *
 * A batch holds only GPU addresses. So a device that dumps keeps a list of its buffers
 * and programs, and finds in it what an address in an argument or a command means. To see
 * what a batch changed, the submission waits for it: it is for debugging, and slow. A batch
 * that does not end in time, or in which the GPU's clock is stored, is written without
 * those expectations.
 *
 * What the human-readable form cannot say (arguments of more than 128 bytes by value, pointers
 * into no buffer, a buffer that is two different images) is not written, and standard error
 * tells so.
 *
 * @lock protects the lists; it is held while a batch is written, so that numbers, files and
 * buffers belong together.
 */
#include "dump.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image.h"
#include "kernel.h"
#include "text.h"

#define WAIT_NS		10000000000ll
#define PATH_BYTES	4096
#define MAX_NUMBER	100000u

struct dump_bo {
	struct salvo_bo *bo;
	const uint8_t *map;
	bool readonly;
};

struct dump_program {
	const struct salvo_program *program;
	const struct salvo_kernel_info *kernels;
	unsigned int count;
	char file[64];
};

struct salvo_dump {
	pthread_mutex_t lock;
	char *dir;
	struct dump_bo *bos;
	unsigned int bo_count;
	struct dump_program *programs;
	unsigned int program_count;
	/** @next_batch, @next_program: Numbers to try next. */
	unsigned int next_batch;
	unsigned int next_program;
};

/* A buffer of the batch that is written: its place in the list and what it held. */
struct dump_used {
	unsigned int bo;
	uint8_t *before;
	bool timed;		/* the GPU's clock is stored there */
};

struct salvo_dump_batch {
	struct salvo_dump *dump;
	struct salvo_text *text;
	struct dump_used *used;		/* as many as the text has buffers */
	unsigned int number;
	/** @failed: Why it cannot be written, or NULL. */
	const char *failed;
};

static const char no_memory[] = "no memory";

/* --- what exists -------------------------------------------------------------- */

struct salvo_dump *salvo_dump_open(void)
{
	const char *dir = secure_getenv("SALVO_DUMP");
	struct salvo_dump *dump;

	if (!dir || !*dir)
		return NULL;
	if (access(dir, W_OK | X_OK)) {
		fprintf(stderr, "libsalvo: SALVO_DUMP: %s: %s\n", dir, strerror(errno));
		return NULL;
	}
	dump = calloc(1, sizeof(*dump));
	if (!dump)
		return NULL;
	dump->dir = strdup(dir);
	if (!dump->dir) {
		free(dump);
		return NULL;
	}
	dump->next_batch = 1;
	dump->next_program = 1;
	pthread_mutex_init(&dump->lock, NULL);
	return dump;
}

void salvo_dump_close(struct salvo_dump *dump)
{
	if (!dump)
		return;
	pthread_mutex_destroy(&dump->lock);
	free(dump->bos);
	free(dump->programs);
	free(dump->dir);
	free(dump);
}

/* Room for one more element at the end. */
static void *grow(void *array, unsigned int count, size_t size)
{
	void **base = array, *grown = realloc(*base, (count + 1) * size);

	if (!grown)
		return NULL;
	*base = grown;
	return memset((uint8_t *)grown + count * size, 0, size);
}

void salvo_dump_add_bo(struct salvo_dump *dump, struct salvo_bo *bo, bool readonly)
{
	struct dump_bo *added;
	void *map;

	if (!dump || salvo_bo_map(bo, &map))
		return;
	pthread_mutex_lock(&dump->lock);
	added = grow(&dump->bos, dump->bo_count, sizeof(*dump->bos));
	if (added) {
		*added = (struct dump_bo){ .bo = bo, .map = map, .readonly = readonly };
		dump->bo_count++;
	}
	pthread_mutex_unlock(&dump->lock);
}

void salvo_dump_drop_bo(struct salvo_dump *dump, struct salvo_bo *bo)
{
	unsigned int i;

	if (!dump)
		return;
	pthread_mutex_lock(&dump->lock);
	for (i = 0; i < dump->bo_count && dump->bos[i].bo != bo; i++)
		;
	if (i < dump->bo_count)
		dump->bos[i] = dump->bos[--dump->bo_count];
	pthread_mutex_unlock(&dump->lock);
}

/* Creates the first file of the form "STEM NUMBER END" that is not there. Return: descriptor. */
static int create_numbered(const struct salvo_dump *dump, const char *stem, const char *end,
			   unsigned int *next, char name[64])
{
	char path[PATH_BYTES];
	int fd = -1;

	for (; *next < MAX_NUMBER && fd < 0; (*next)++) {
		snprintf(name, 64, "%s%04u%s", stem, *next, end);
		snprintf(path, sizeof(path), "%s/%s", dump->dir, name);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd;
}

static bool write_all(int fd, const void *bytes, size_t count)
{
	const uint8_t *at = bytes;
	ssize_t got;

	while (count) {
		got = write(fd, at, count);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		count -= got;
	}
	return true;
}

void salvo_dump_add_program(struct salvo_dump *dump, const struct salvo_program *program,
			    const struct salvo_kernel_info *kernels, unsigned int count,
			    const void *image, size_t bytes)
{
	struct dump_program *added;
	int fd;

	if (!dump)
		return;
	pthread_mutex_lock(&dump->lock);
	added = grow(&dump->programs, dump->program_count, sizeof(*dump->programs));
	fd = added ? create_numbered(dump, "program", ".salvo", &dump->next_program,
				     added->file) : -1;
	if (fd >= 0) {
		added->program = program;
		added->kernels = kernels;
		added->count = count;
		dump->program_count++;
		write_all(fd, image, bytes);
		close(fd);
	}
	pthread_mutex_unlock(&dump->lock);
}

void salvo_dump_drop_program(struct salvo_dump *dump, const struct salvo_program *program)
{
	unsigned int i;

	if (!dump)
		return;
	pthread_mutex_lock(&dump->lock);
	for (i = 0; i < dump->program_count && dump->programs[i].program != program; i++)
		;
	if (i < dump->program_count)
		dump->programs[i] = dump->programs[--dump->program_count];
	pthread_mutex_unlock(&dump->lock);
}

/* --- from addresses to names ---------------------------------------------------- */

__attribute__((format(printf, 1, 2)))
static char *format_name(const char *format, ...)
{
	va_list ap;
	char *name;
	int length;

	va_start(ap, format);
	length = vasprintf(&name, format, ap);
	va_end(ap);
	return length < 0 ? NULL : name;
}

/* The buffer of the text for buffer @index of the list; what it holds is kept now. */
static unsigned int use_bo(struct salvo_dump_batch *batch, unsigned int index)
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
	used = grow(&batch->used, i, sizeof(*used));
	buffer = grow(&text->buffers, i, sizeof(*buffer));
	if (!used || !buffer) {
		batch->failed = no_memory;
		return SALVO_TEXT_MAX_BUFFERS;
	}
	text->buffer_count++;
	buffer->name = format_name("b%u", i);
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

/* An address outside all buffers stays SALVO_TEXT_MAX_BUFFERS, which is null. */
static struct salvo_text_place find_place(struct salvo_dump_batch *batch, uint64_t address)
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
static unsigned int use_program(struct salvo_dump_batch *batch, unsigned int index)
{
	struct salvo_text *text = batch->text;
	struct salvo_text_program *program;
	unsigned int i;

	for (i = 0; i < text->program_count; i++)
		if (!strcmp(text->programs[i].file, batch->dump->programs[index].file))
			return i;
	program = grow(&text->programs, i, sizeof(*program));
	if (!program) {
		batch->failed = no_memory;
		return 0;
	}
	text->program_count++;
	program->name = format_name("p%u", i);
	program->file = strdup(batch->dump->programs[index].file);
	if (!program->name || !program->file)
		batch->failed = no_memory;
	return i;
}

static const struct salvo_kernel_info *find_kernel(const struct salvo_dump_batch *batch,
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

/* Its type is not known: the widest elements that fit; a size that fits none is not written. */
static void take_value(struct salvo_dump_batch *batch, struct salvo_text_arg *arg,
		       const uint8_t *from, uint32_t size)
{
	static const enum salvo_text_type types[] = {
		SALVO_TEXT_U32, SALVO_TEXT_U64, SALVO_TEXT_U16, SALVO_TEXT_U8,
	};
	unsigned int i;
	size_t width;

	arg->kind = SALVO_TEXT_ARG_VALUE;
	for (i = 0; i < 4; i++) {
		width = salvo_text_type_bytes(types[i]);
		if (size % width || size / width > SALVO_TEXT_MAX_VECTOR)
			continue;
		arg->type = types[i];
		for (arg->lanes = 0; arg->lanes < size / width; arg->lanes++)
			memcpy(&arg->bits[arg->lanes], from + arg->lanes * width, width);
		return;
	}
	batch->failed = "an argument by value is too long";
}

/* Local arguments lie one after the other: each ends where the next begins. */
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

/* A number that stands for the default is left out. */
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
static void take_image(struct salvo_dump_batch *batch, struct salvo_text_arg *arg,
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
	if (salvo_image_shape(&info, &again, &bytes) || bytes != buffer->bytes)
		batch->failed = "an image does not fit its buffer";
	else if (buffer->image.order && memcmp(&buffer->image, &info, sizeof(info)))
		batch->failed = "a buffer is two different images";
	else
		buffer->image = info;
}

static void take_argument(struct salvo_dump_batch *batch, struct salvo_text_arg *arg,
			  const struct salvo_kernel_info *kernel, const struct salvo_note_arg *note,
			  const uint8_t *args, uint32_t local_size)
{
	struct salvo_image_view view;
	uint64_t word = 0;

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
		take_value(batch, arg, args + note->offset, note->size);
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
			batch->failed = "an argument points to no buffer";
	}
}

/* It begins the argument block of kernels that have one; the text has as many numbers as items. */
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

static void take_dispatch(struct salvo_dump_batch *batch, struct salvo_text_command *to,
			  const struct drm_salvo_command *from, const uint8_t *args)
{
	const struct salvo_kernel_info *kernel;
	unsigned int program, i;

	kernel = find_kernel(batch, from->entry, &program);
	if (!kernel || kernel->note.args_bytes > from->args_size ||
	    kernel->note.arg_count > SALVO_TEXT_MAX_ARGS) {
		batch->failed = "a kernel is not known, or has too many arguments";
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

/* A command that a pipe control names needs a label: its kernel and its index, if that fits. */
static void need_label(struct salvo_dump_batch *batch, unsigned int index)
{
	struct salvo_text_command *command = &batch->text->commands[index];

	if (!command->label)
		command->label = command->kernel && strlen(command->kernel) < 50 ?
				 format_name("%s_%u", command->kernel, index) :
				 format_name("command_%u", index);
	if (!command->label)
		batch->failed = no_memory;
	else if (command->type == DRM_SALVO_PIPE_CONTROL)
		batch->failed = "a pipe control waits for a pipe control";
}

static void take_command(struct salvo_dump_batch *batch, unsigned int index,
			 const struct drm_salvo_command *from, const uint8_t *args)
{
	struct salvo_text_command *to = &batch->text->commands[index];

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
	case DRM_SALVO_COPY:
		to->src = find_place(batch, from->src);
		if (to->src.buffer == SALVO_TEXT_MAX_BUFFERS)
			batch->failed = "a copy reads no buffer";
		/* fallthrough */
	default:
		to->dst = find_place(batch, from->dst);
		if (to->dst.buffer == SALVO_TEXT_MAX_BUFFERS)
			batch->failed = "a command writes to no buffer";
		else if (from->type == DRM_SALVO_TIMESTAMP)
			batch->used[to->dst.buffer].timed = true;
	}
}

static void free_batch(struct salvo_dump_batch *batch)
{
	unsigned int i;

	for (i = 0; batch->text && i < batch->text->buffer_count; i++)
		free(batch->used[i].before);
	free(batch->used);
	salvo_text_destroy(batch->text);
	free(batch);
}

struct salvo_dump_batch *salvo_dump_begin(struct salvo_dump *dump,
					  const struct salvo_batch_desc *desc)
{
	struct salvo_dump_batch *batch;
	unsigned int i;

	if (!dump)
		return NULL;
	batch = calloc(1, sizeof(*batch));
	if (!batch)
		return NULL;
	batch->dump = dump;
	batch->text = calloc(1, sizeof(*batch->text));
	if (batch->text)
		batch->text->commands = calloc(desc->count, sizeof(*batch->text->commands));
	if (!batch->text || !batch->text->commands) {
		free_batch(batch);
		return NULL;
	}
	batch->text->command_count = desc->count;
	pthread_mutex_lock(&dump->lock);
	for (i = 0; i < desc->count; i++)
		take_command(batch, i, &desc->commands[i], desc->args);
	return batch;
}

/* --- buffers --------------------------------------------------------------------- */

static char *write_bytes(const struct salvo_dump_batch *batch, unsigned int buffer,
			 const char *kind, const uint8_t *bytes, uint64_t count)
{
	char *name = format_name("%04u-b%u.%s", batch->number, buffer, kind);
	char path[PATH_BYTES];
	int fd;

	if (!name)
		return NULL;
	snprintf(path, sizeof(path), "%s/%s", batch->dump->dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0 || !write_all(fd, bytes, count)) {
		free(name);
		name = NULL;
	}
	if (fd >= 0)
		close(fd);
	return name;
}

static bool is_all_zero(const uint8_t *bytes, uint64_t count)
{
	return !count || (!bytes[0] && !memcmp(bytes, bytes + 1, count - 1));
}

static void write_contents(struct salvo_dump_batch *batch, unsigned int i)
{
	struct salvo_text_buffer *buffer = &batch->text->buffers[i];

	if (is_all_zero(batch->used[i].before, buffer->bytes))
		return;
	buffer->init = SALVO_TEXT_FILE;
	buffer->file = write_bytes(batch, i, "before", batch->used[i].before, buffer->bytes);
	if (!buffer->file)
		batch->failed = "the contents of a buffer cannot be written";
}

/* Expect what is there now, from the first byte that changed to the last. */
static void write_expectation(struct salvo_dump_batch *batch, unsigned int i)
{
	const uint8_t *now = batch->dump->bos[batch->used[i].bo].map;
	const uint8_t *before = batch->used[i].before;
	struct salvo_text *text = batch->text;
	uint64_t first = 0, end = text->buffers[i].bytes;
	struct salvo_text_check *check;

	while (first < end && now[first] == before[first])
		first++;
	while (end > first && now[end - 1] == before[end - 1])
		end--;
	if (first == end || batch->used[i].timed)
		return;
	check = grow(&text->checks, text->check_count, sizeof(*check));
	if (!check)
		return;
	check->place = (struct salvo_text_place){ .buffer = i, .offset = first };
	check->file = write_bytes(batch, i, "after", now + first, end - first);
	text->check_count += !!check->file;
}

void salvo_dump_end(struct salvo_dump_batch *batch, struct salvo_fence *fence)
{
	struct salvo_dump *dump;
	char name[64];
	unsigned int i;
	FILE *file;
	int fd, err;

	if (!batch)
		return;
	dump = batch->dump;
	err = fence ? salvo_fence_wait(fence, WAIT_NS) : -EINVAL;
	fd = fence && !batch->failed ?
	     create_numbered(dump, "", ".batch", &dump->next_batch, name) : -1;
	if (fence && !batch->failed && fd < 0)
		batch->failed = "no file can be made in the folder";
	if (fd >= 0) {
		batch->number = dump->next_batch - 1;
		for (i = 0; i < batch->text->buffer_count; i++) {
			write_contents(batch, i);
			if (!err)
				write_expectation(batch, i);
		}
		file = fdopen(fd, "w");
		if (file) {
			salvo_text_write(batch->text, file);
			fclose(file);
		} else {
			close(fd);
		}
	}
	if (fence && batch->failed)
		fprintf(stderr, "libsalvo: SALVO_DUMP: a batch is not written: %s\n",
			batch->failed);
	pthread_mutex_unlock(&dump->lock);
	free_batch(batch);
}
