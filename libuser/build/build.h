/* SPDX-License-Identifier: MIT */
/*
 * build.h - one run of the compiler, or its result from the cache
 */
#ifndef SALVO_LIB_BUILD_H
#define SALVO_LIB_BUILD_H

#include <stdbool.h>

#include "compiler.h"
#include "salvo.h"

/**
 * struct salvo_build - What to run.
 */
struct salvo_build {
	/** @words: Of the command line, before @options; NULL at the end. */
	const char *const *words;
	/** @options: Of the application, or NULL. */
	const char *options;
	/** @input, @bytes: The compiler's standard input: a source, or objects. */
	const char *input;
	size_t bytes;
	bool is_source;
	const struct salvo_header *headers;
	unsigned int header_count;
};

struct salvo_build_rest;

/**
 * salvo_build_run() - Run the compiler, or take what it made of the same input before.
 * @log: Receives its messages, if not NULL; free() it. Set in any case.
 * @rest: NULL: wait for the compiler's end. Else, if the program is checked before that, return
 *        then: *@rest is to be finished or cancelled, and @out has the notes of the kernels. The
 *        build has no headers.
 *
 * Return: as salvo_object_compile().
 */
int salvo_build_run(const struct salvo_build *build, char **log, struct salvo_text_block *out,
		    struct salvo_build_rest **rest);
/** salvo_build_finish() - Wait for the end; parameters and result as of salvo_build_run(). */
int salvo_build_finish(struct salvo_build_rest *rest, char **log, struct salvo_text_block *out);
/** salvo_build_part() - Wait for a program with one of the kernels; as salvo_compiler_part(). */
bool salvo_build_part(struct salvo_build_rest *rest, const char *kernel,
		      struct salvo_text_block *out);
/** salvo_build_cancel() - Kill the compiler. */
void salvo_build_cancel(struct salvo_build_rest *rest);

/** salvo_object_is_whole() - Is it an object or program that was written to its end? */
bool salvo_object_is_whole(const void *image, size_t bytes);

/** salvo_build_march() - The value of --march for a device. */
const char *salvo_build_march(const struct salvo_device *device);
/** salvo_build_tune() - The value of --tune for this machine's processor. */
const char *salvo_build_tune(void);

#endif /* SALVO_LIB_BUILD_H */
