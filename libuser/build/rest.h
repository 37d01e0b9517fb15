/* SPDX-License-Identifier: MIT */
/*
 * rest.h - compilers that go on after their program was checked
 */
#ifndef SALVO_LIB_REST_H
#define SALVO_LIB_REST_H

#include <sha2.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"

struct salvo_build_rest;

/**
 * salvo_rest_create() - A place for one more compiler.
 *
 * Finishes those that have ended. Return: NULL if there are as many as may be, or no memory: then
 * wait for the compiler's end.
 */
struct salvo_build_rest *salvo_rest_create(void);
/** salvo_rest_discard() - Give up a place whose compiler has ended, or was not started. */
void salvo_rest_discard(struct salvo_build_rest *rest);
/** salvo_rest_run() - The compiler of a place, to be started. */
struct salvo_compiler_run *salvo_rest_run(struct salvo_build_rest *rest);
/**
 * salvo_rest_go_on() - The compiler goes on by itself from now on.
 * @key: Under which the cache gets what it makes, or NULL.
 */
void salvo_rest_go_on(struct salvo_build_rest *rest, const uint8_t *key);
/** salvo_rest_part() - As salvo_compiler_part(), or from the cache. */
bool salvo_rest_part(struct salvo_build_rest *rest, const char *kernel,
		     struct salvo_text_block *out);
/** salvo_rest_finish() - Wait for its end, and free @rest; parameters: salvo_compiler_finish(). */
int salvo_rest_finish(struct salvo_build_rest *rest, struct salvo_text_block *out,
		      struct salvo_text_block *messages);
/** salvo_rest_cancel() - Kill it, unless it has ended, and free @rest. */
void salvo_rest_cancel(struct salvo_build_rest *rest);

#endif /* SALVO_LIB_REST_H */
