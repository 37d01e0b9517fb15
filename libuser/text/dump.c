// SPDX-License-Identifier: MIT
/*
 * dump.c - write the batches of an application in the human-readable form (B7)
 *
 * If the environment variable SALVO_DUMP names a folder, each submission writes NUMBER.batch
 * there, which salvo-submit runs again, with its programs, the initial contents of its buffers
 * and, as expectations, the bytes that it changed.
 *
 * A batch contains only GPU addresses, so the dump keeps a list of the device's buffers and
 * programs to resolve them. To see what a batch changed, the submission waits for it: it is for
 * debugging, and slow. A batch that does not complete in time, or that stores timestamps, is
 * written without those expectations.
 *
 * dump_text.c converts the commands. Batches that the human-readable form cannot express
 * (arguments of more than 128 bytes by value, pointers outside all buffers, a buffer that is two
 * different images) are not written, with a message on standard error.
 *
 * @lock protects the lists; it is held from the begin to the end of a submission, so that numbers,
 * files and buffers are consistent.
 */
#include "dump.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "container_of.h"
#include "dump_text.h"
#include "io.h"
#include "labels.h"

#define WAIT_NS		10000000000ll
#define PATH_BYTES	4096
#define MAX_NUMBER	100000u

/* --- buffers and programs ------------------------------------------------------ */

static struct dump *to_dump(struct salvo_observer *observer)
{
	return container_of(observer, struct dump, base);
}

static void dump_destroy(struct salvo_observer *observer)
{
	struct dump *dump = to_dump(observer);

	pthread_mutex_destroy(&dump->lock);
	free(dump->bos);
	free(dump->programs);
	free(dump->dir);
	free(dump);
}

static void dump_bo_created(struct salvo_observer *observer, struct salvo_bo *bo, bool readonly)
{
	struct dump *dump = to_dump(observer);
	struct dump_bo *added;
	void *map;

	if (salvo_bo_map(bo, &map))
		return;
	pthread_mutex_lock(&dump->lock);
	added = salvo_array_append(&dump->bos, &dump->bo_count, sizeof(*dump->bos));
	if (added)
		*added = (struct dump_bo){ .bo = bo, .map = map, .readonly = readonly };
	pthread_mutex_unlock(&dump->lock);
}

static void dump_bo_destroyed(struct salvo_observer *observer, struct salvo_bo *bo)
{
	struct dump *dump = to_dump(observer);
	unsigned int i;

	pthread_mutex_lock(&dump->lock);
	for (i = 0; i < dump->bo_count && dump->bos[i].bo != bo; i++)
		;
	if (i < dump->bo_count)
		dump->bos[i] = dump->bos[--dump->bo_count];
	pthread_mutex_unlock(&dump->lock);
}

/* Create the first "STEM NUMBER END" that does not exist. Return: descriptor or -1. */
static int create_numbered(const struct dump *dump, const char *stem, const char *end,
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

static void dump_program_loaded(struct salvo_observer *observer,
				const struct salvo_program *program,
				const struct salvo_kernel_info *kernels, unsigned int count,
				const void *image, size_t bytes)
{
	struct dump *dump = to_dump(observer);
	struct dump_program *added;
	int fd;

	pthread_mutex_lock(&dump->lock);
	added = salvo_array_append(&dump->programs, &dump->program_count,
				   sizeof(*dump->programs));
	fd = added ? create_numbered(dump, "program", ".salvo", &dump->next_program,
				     added->file) : -1;
	if (fd >= 0) {
		added->program = program;
		added->kernels = kernels;
		added->count = count;
		salvo_write_all(fd, image, bytes);
		close(fd);
	} else if (added) {
		dump->program_count--;
	}
	pthread_mutex_unlock(&dump->lock);
}

static void dump_program_destroyed(struct salvo_observer *observer,
				   const struct salvo_program *program)
{
	struct dump *dump = to_dump(observer);
	unsigned int i;

	pthread_mutex_lock(&dump->lock);
	for (i = 0; i < dump->program_count && dump->programs[i].program != program; i++)
		;
	if (i < dump->program_count)
		dump->programs[i] = dump->programs[--dump->program_count];
	pthread_mutex_unlock(&dump->lock);
}

static void free_batch(struct dump_batch *batch)
{
	unsigned int i;

	for (i = 0; batch->text && i < batch->text->buffer_count; i++)
		free(batch->used[i].before);
	free(batch->used);
	salvo_text_destroy(batch->text);
	free(batch);
}

/* Keeps @lock until dump_submit_end(). */
static void *dump_submit_begin(struct salvo_observer *observer,
			       const struct salvo_batch_desc *desc,
			       const struct salvo_labels *labels)
{
	struct dump *dump = to_dump(observer);
	struct dump_batch *batch;
	unsigned int i;

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
		salvo_dump_take_command(batch, i, &desc->commands[i], desc->args,
					i < labels->count ? labels->at[i].label : NULL);
	if (!batch->failed)
		salvo_dump_check_images(batch);
	return batch;
}

/* --- buffers --------------------------------------------------------------------- */

static char *write_bytes(const struct dump_batch *batch, unsigned int buffer,
			 const char *kind, const uint8_t *bytes, uint64_t count)
{
	char *name = salvo_dump_format("%04u-b%u.%s", batch->number, buffer, kind);
	char path[PATH_BYTES];
	int fd;

	if (!name)
		return NULL;
	snprintf(path, sizeof(path), "%s/%s", batch->dump->dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0 || salvo_write_all(fd, bytes, count)) {
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

static void write_contents(struct dump_batch *batch, unsigned int i)
{
	struct salvo_text_buffer *buffer = &batch->text->buffers[i];

	if (is_all_zero(batch->used[i].before, buffer->bytes))
		return;
	buffer->init = SALVO_TEXT_FILE;
	buffer->file = write_bytes(batch, i, "before", batch->used[i].before, buffer->bytes);
	if (!buffer->file)
		batch->failed = "the contents of a buffer cannot be written";
}

/* Expect the current contents, from the first changed byte to the last. */
static void write_expectation(struct dump_batch *batch, unsigned int i)
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
	check = salvo_array_append(&text->checks, &text->check_count, sizeof(*check));
	if (!check)
		return;
	check->place = (struct salvo_text_place){ .buffer = i, .offset = first };
	check->file = write_bytes(batch, i, "after", now + first, end - first);
	if (!check->file)
		text->check_count--;
}

static void dump_submit_end(struct salvo_observer *observer, void *cookie,
			    struct salvo_fence *fence)
{
	struct dump *dump = to_dump(observer);
	struct dump_batch *batch = cookie;
	char name[64];
	unsigned int i;
	FILE *file;
	int fd, err;

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

static const struct salvo_observer_ops dump_ops = {
	.destroy = dump_destroy,
	.bo_created = dump_bo_created,
	.bo_destroyed = dump_bo_destroyed,
	.program_loaded = dump_program_loaded,
	.program_destroyed = dump_program_destroyed,
	.submit_begin = dump_submit_begin,
	.submit_end = dump_submit_end,
};

struct salvo_observer *salvo_dump_open(void)
{
	const char *dir = secure_getenv("SALVO_DUMP");
	struct dump *dump;

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
	dump->base.ops = &dump_ops;
	dump->next_batch = 1;
	dump->next_program = 1;
	pthread_mutex_init(&dump->lock, NULL);
	return &dump->base;
}
