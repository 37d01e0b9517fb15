// SPDX-License-Identifier: MIT
/*
 * object.c - compiled objects, libraries and the images of programs
 *
 * An object is its bytes: a struct salvo_object_head with LLVM bitcode, or the ELF file of a
 * program. Objects go to the compiler's standard input one after the other. No locks: an object
 * does not change.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "salvo_kernel.h"

struct salvo_object {
	uint32_t kind;
	size_t bytes;
	char *data;
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

/* Takes @data over. */
static int make_object(char *data, size_t bytes, uint32_t kind, struct salvo_object **out)
{
	struct salvo_object *object = malloc(sizeof(*object));

	if (!object) {
		free(data);
		return -ENOMEM;
	}
	*object = (struct salvo_object){ .kind = kind, .bytes = bytes, .data = data };
	*out = object;
	return 0;
}

/* Run the compiler, which has to make an object of @kind. */
static int build_object(const struct salvo_build *build, uint32_t kind, char **log,
			struct salvo_object **out)
{
	struct salvo_text_block made;
	int err = salvo_build_run(build, log, &made);

	if (!err && find_kind(made.data, made.bytes) != kind)
		err = -ENOEXEC;
	if (err) {
		free(made.data);
		return err;
	}
	return make_object(made.data, made.bytes, kind, out);
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
	return build_object(&build, SALVO_OBJECT_COMPILED, log, out);
}

int salvo_object_build(struct salvo_device *device, const char *source, size_t bytes,
		       const char *options, char **log, struct salvo_object **out)
{
	char march[SALVO_MARCH_BYTES];
	const char *const words[] = { "--march", march, NULL };
	const struct salvo_build build = {
		.words = words, .options = options, .input = source, .is_source = true,
		.bytes = bytes || !source ? bytes : strlen(source),
	};

	*out = NULL;
	if (log)
		*log = NULL;
	if (!source)
		return -EINVAL;
	salvo_build_march(device, march);
	return build_object(&build, SALVO_OBJECT_PROGRAM, log, out);
}

int salvo_object_link(struct salvo_device *device, uint32_t kind,
		      struct salvo_object *const *objects, unsigned int count,
		      const char *options, char **log, struct salvo_object **out)
{
	static const char *const library[] = { "--link", "--library", NULL };
	char march[SALVO_MARCH_BYTES];
	const char *const program[] = { "--link", "--march", march, NULL };
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
	if (device)
		salvo_build_march(device, march);
	err = build_object(&build, kind, log, out);
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

void salvo_object_destroy(struct salvo_object *object)
{
	if (!object)
		return;
	free(object->data);
	free(object);
}

uint32_t salvo_object_kind(const struct salvo_object *object)
{
	return object->kind;
}

const void *salvo_object_image(const struct salvo_object *object, size_t *bytes)
{
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
