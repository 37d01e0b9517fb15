// SPDX-License-Identifier: MIT
/*
 * object.c - compiled objects, libraries and the images of programs
 *
 * An object is its bytes: a struct salvo_object_head with LLVM bitcode, or the ELF file of a
 * program. Objects go to the compiler's standard input one after the other.
 *
 * An object does not change, except that the compiler may still be at work on the image of a
 * program that salvo_object_begin() has returned: the first one that wants the image waits for it,
 * with the object's lock held.
 */
#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "kernel.h"
#include "salvo_kernel.h"

struct salvo_object {
	atomic_uint references;
	uint32_t kind;
	size_t bytes;
	char *data;
	/** @notes: Of the kernels of a program that the compiler was at work on; or none. */
	struct salvo_text_block notes;
	/** @rest: The compiler that makes @data, or NULL: it is there, or @err says why not. */
	_Atomic(struct salvo_build_rest *) rest;
	/** @lock: Held by who ends @rest; protects what follows, and @data until then. */
	pthread_mutex_t lock;
	int err;
	/** @log: What the compiler said in all. */
	char *log;
};

/* The kind of an object by its first bytes, or 0. */
static uint32_t find_kind(const void *image, size_t bytes)
{
	struct salvo_object_head head;

	if (bytes >= SELFMAG && !memcmp(image, ELFMAG, SELFMAG))
		return SALVO_OBJECT_PROGRAM;
	if (bytes < sizeof(head))
		return 0;
	memcpy(&head, image, sizeof(head));
	if (memcmp(head.magic, SALVO_OBJECT_MAGIC, sizeof(head.magic)) ||
	    head.version != SALVO_OBJECT_VERSION || head.bytes != bytes)
		return 0;
	if (head.kind == SALVO_OBJECT_IS_COMPILED)
		return SALVO_OBJECT_COMPILED;
	return head.kind == SALVO_OBJECT_IS_LIBRARY ? SALVO_OBJECT_LIBRARY : 0;
}

bool salvo_object_is_whole(const void *image, size_t bytes)
{
	const uint32_t kind = find_kind(image, bytes);
	Elf64_Ehdr head;

	if (kind != SALVO_OBJECT_PROGRAM)
		return kind;
	if (bytes < sizeof(head))
		return false;
	memcpy(&head, image, sizeof(head));
	/* The linker puts the section headers last. */
	return head.e_shoff >= sizeof(head) && head.e_shoff <= bytes &&
	       bytes - head.e_shoff >= (size_t)head.e_shnum * head.e_shentsize;
}

/* Takes @data over. */
static int make_object(char *data, size_t bytes, uint32_t kind, struct salvo_object **out)
{
	struct salvo_object *object = malloc(sizeof(*object));

	if (!object) {
		free(data);
		return -ENOMEM;
	}
	*object = (struct salvo_object){
		.references = 1, .kind = kind, .bytes = bytes, .data = data,
	};
	pthread_mutex_init(&object->lock, NULL);
	*out = object;
	return 0;
}

/* Run the compiler, which has to make an object of @kind; @early: return when it has checked it. */
static int build_object(const struct salvo_build *build, uint32_t kind, bool early, char **log,
			struct salvo_object **out)
{
	struct salvo_build_rest *rest = NULL;
	struct salvo_text_block made;
	int err = salvo_build_run(build, log, &made, early ? &rest : NULL);

	if (!err && !rest && find_kind(made.data, made.bytes) != kind)
		err = -ENOEXEC;
	if (err) {
		free(made.data);
		return err;
	}
	if (!rest)
		return make_object(made.data, made.bytes, kind, out);
	err = make_object(NULL, 0, kind, out);
	if (err) {
		free(made.data);
		salvo_build_cancel(rest);
		return err;
	}
	(*out)->rest = rest;
	(*out)->notes = made;
	return 0;
}

/* Wait for the image, if the compiler is still at work on it. */
static int finish_object(struct salvo_object *object)
{
	struct salvo_text_block made;
	int err;

	if (!atomic_load_explicit(&object->rest, memory_order_acquire))
		return object->err;
	pthread_mutex_lock(&object->lock);
	if (object->rest) {
		err = salvo_build_finish(object->rest, &object->log, &made);
		if (!err && find_kind(made.data, made.bytes) != object->kind) {
			free(made.data);
			err = -ENOEXEC;
		}
		if (!err) {
			object->data = made.data;
			object->bytes = made.bytes;
		}
		object->err = err;
		atomic_store_explicit(&object->rest, NULL, memory_order_release);
	}
	pthread_mutex_unlock(&object->lock);
	return object->err;
}

int salvo_object_compile(const char *source, size_t bytes, const struct salvo_header *headers,
			 unsigned int header_count, const char *options, char **log,
			 struct salvo_object **out)
{
	static const char *const words[] = { "-c", NULL };
	const struct salvo_build build = {
		.words = words, .options = options, .input = source, .is_source = true,
		.bytes = bytes || !source ? bytes : strlen(source),
		.headers = headers, .header_count = header_count,
	};

	*out = NULL;
	if (log)
		*log = NULL;
	if (!source || (header_count && !headers))
		return -EINVAL;
	return build_object(&build, SALVO_OBJECT_COMPILED, false, log, out);
}

static int build_program(struct salvo_device *device, const char *source, size_t bytes,
			 const char *options, bool early, char **log, struct salvo_object **out)
{
	const char *const words[] = {
		"--march", salvo_build_march(device), "--tune", salvo_build_tune(), NULL
	};
	const struct salvo_build build = {
		.words = words, .options = options, .input = source, .is_source = true,
		.bytes = bytes || !source ? bytes : strlen(source),
	};

	*out = NULL;
	if (log)
		*log = NULL;
	if (!source)
		return -EINVAL;
	return build_object(&build, SALVO_OBJECT_PROGRAM, early, log, out);
}

int salvo_object_build(struct salvo_device *device, const char *source, size_t bytes,
		       const char *options, char **log, struct salvo_object **out)
{
	return build_program(device, source, bytes, options, false, log, out);
}

int salvo_object_begin(struct salvo_device *device, const char *source, size_t bytes,
		       const char *options, char **log, struct salvo_object **out)
{
	return build_program(device, source, bytes, options, true, log, out);
}

bool salvo_object_is_done(const struct salvo_object *object)
{
	return !atomic_load_explicit(&object->rest, memory_order_acquire);
}

int salvo_object_describe(const struct salvo_object *object, struct salvo_device *device,
			  struct salvo_program **out)
{
	*out = NULL;
	return object->notes.data ? salvo_program_describe(device, object->notes.data,
							   object->notes.bytes, out) : -ENODATA;
}

int salvo_object_part(struct salvo_object *object, const char *kernel, void **image, size_t *bytes)
{
	struct salvo_text_block made;
	bool found = false;

	*image = NULL;
	*bytes = 0;
	if (salvo_object_is_done(object))
		return -ENODATA;
	pthread_mutex_lock(&object->lock);
	if (object->rest)
		found = salvo_build_part(object->rest, kernel, &made);
	pthread_mutex_unlock(&object->lock);
	if (!found)
		return -ENODATA;
	*image = made.data;
	*bytes = made.bytes;
	return 0;
}

int salvo_object_finish(struct salvo_object *object, char **log)
{
	const int err = finish_object(object);

	if (log)
		*log = strdup(object->log ? object->log : "");
	return err;
}

int salvo_object_link(struct salvo_device *device, uint32_t kind,
		      struct salvo_object *const *objects, unsigned int count,
		      const char *options, char **log, struct salvo_object **out)
{
	static const char *const library[] = { "--link", "--library", NULL };
	const char *const program[] = {
		"--link", "--march", device ? salvo_build_march(device) : "",
		"--tune", salvo_build_tune(), NULL
	};
	struct salvo_build build = { .options = options };
	size_t at = 0;
	unsigned int i;
	char *input;
	int err;

	*out = NULL;
	if (log)
		*log = NULL;
	if (!count || (kind == SALVO_OBJECT_PROGRAM ? !device : kind != SALVO_OBJECT_LIBRARY))
		return -EINVAL;
	for (i = 0; i < count; i++) {
		if (objects[i]->kind == SALVO_OBJECT_PROGRAM)
			return -EINVAL;
		build.bytes += objects[i]->bytes;
	}
	input = malloc(build.bytes);
	if (!input)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		memcpy(input + at, objects[i]->data, objects[i]->bytes);
		at += objects[i]->bytes;
	}
	build.input = input;
	build.words = kind == SALVO_OBJECT_LIBRARY ? library : program;
	err = build_object(&build, kind, false, log, out);
	free(input);
	return err;
}

int salvo_object_load(const void *image, size_t bytes, struct salvo_object **out)
{
	const uint32_t kind = image ? find_kind(image, bytes) : 0;
	char *data;

	*out = NULL;
	if (!kind)
		return -ENOEXEC;
	data = malloc(bytes);
	if (!data)
		return -ENOMEM;
	memcpy(data, image, bytes);
	return make_object(data, bytes, kind, out);
}

struct salvo_object *salvo_object_get(struct salvo_object *object)
{
	atomic_fetch_add(&object->references, 1);
	return object;
}

void salvo_object_destroy(struct salvo_object *object)
{
	if (!object || atomic_fetch_sub(&object->references, 1) > 1)
		return;
	if (object->rest)
		salvo_build_cancel(object->rest);
	pthread_mutex_destroy(&object->lock);
	free(object->log);
	free(object->notes.data);
	free(object->data);
	free(object);
}

uint32_t salvo_object_kind(const struct salvo_object *object)
{
	return object->kind;
}

const void *salvo_object_image(const struct salvo_object *object, size_t *bytes)
{
	finish_object((struct salvo_object *)object);
	if (bytes)
		*bytes = object->bytes;
	return object->data;
}

int salvo_program_build(struct salvo_device *device, const char *source, size_t bytes,
			const char *options, char **log, struct salvo_program **out)
{
	struct salvo_object *object;
	int err;

	*out = NULL;
	err = salvo_object_build(device, source, bytes, options, log, &object);
	if (!err)
		err = salvo_program_load(device, object->data, object->bytes, out);
	salvo_object_destroy(object);
	return err;
}
