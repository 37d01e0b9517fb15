// SPDX-License-Identifier: MIT
/*
 * build.c - from OpenCL C to a program at run time, through the compiler or the cache
 *
 * The key of a build is the hash of the source, the options, the instruction set and the
 * compiler's file. A source that includes others is preprocessed first, and the output is
 * hashed, so that a changed header changes the key. No locks: processes share only the cache,
 * which is safe by itself.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "device.h"
#include "compiler.h"

static const char key_version[] = "salvo build 1";

/* Does the word "include" occur, also over a line continuation? */
static bool includes_others(const char *source, size_t bytes)
{
	static const char word[] = "include";
	size_t i, matched = 0;

	for (i = 0; i < bytes; i++) {
		if (source[i] == '\\' && i + 1 < bytes && source[i + 1] == '\n') {
			i++;
			continue;
		}
		if (source[i] == '\\' && i + 2 < bytes && source[i + 1] == '\r' &&
		    source[i + 2] == '\n') {
			i += 2;
			continue;
		}
		matched = source[i] == word[matched] ? matched + 1 : source[i] == word[0];
		if (matched == sizeof(word) - 1)
			return true;
	}
	return false;
}

static void add_string(SHA2_CTX *hash, const char *text)
{
	salvo_cache_hash(hash, text, strlen(text) + 1);
}

static void make_key(const struct salvo_compiler *compiler, const char *march, const char *options,
		     const char *source, size_t bytes, uint8_t *key)
{
	SHA2_CTX hash;

	SHA256Init(&hash);
	add_string(&hash, key_version);
	add_string(&hash, compiler->path);
	salvo_cache_hash(&hash, &compiler->size, sizeof(compiler->size));
	salvo_cache_hash(&hash, &compiler->changed_ns, sizeof(compiler->changed_ns));
	add_string(&hash, march);
	add_string(&hash, options ? options : "");
	salvo_cache_hash(&hash, source, bytes);
	SHA256Final(key, &hash);
}

static void free_block(struct salvo_text_block *block)
{
	free(block->data);
	memset(block, 0, sizeof(*block));
}

/* The key, or an error of the preprocessor, which compiling will report again. */
static int find_key(const struct salvo_compiler *compiler, const char *march, const char *options,
		    const char *source, size_t bytes, uint8_t *key)
{
	static const char *const before[] = { NULL }, *const after[] = { "-E", "-", NULL };
	struct salvo_text_block text, messages;
	int err;

	if (!includes_others(source, bytes)) {
		make_key(compiler, march, options, source, bytes, key);
		return 0;
	}
	err = salvo_compiler_run(compiler, source, bytes, before, options, after, &text, &messages);
	if (!err)
		make_key(compiler, march, options, text.data, text.bytes, key);
	free_block(&text);
	free_block(&messages);
	return err;
}

static char *message(const char *text)
{
	return strdup(text);
}

static int compile(const struct salvo_device *device, const char *source, size_t bytes,
		   const char *options, struct salvo_text_block *program,
		   struct salvo_text_block *messages)
{
	static const char *const after[] = { "-o", "-", "-", NULL };
	const char *before[] = { "--march", NULL, NULL };
	uint8_t key[SHA256_DIGEST_LENGTH];
	struct salvo_compiler compiler;
	char march[16];
	bool has_key;
	int err;

	err = salvo_compiler_find(&compiler);
	if (err) {
		messages->data = message("salvo-cc was not found: set SALVO_CC to its path\n");
		return err;
	}
	snprintf(march, sizeof(march), "x86-64-v%u", device->info.isa_level);
	before[1] = march;
	has_key = !find_key(&compiler, march, options, source, bytes, key);
	if (has_key && !salvo_cache_read(key, program, messages))
		return 0;
	free_block(program);
	free_block(messages);
	err = salvo_compiler_run(&compiler, source, bytes, before, options, after, program,
				 messages);
	if (err == -EINVAL && !messages->data)
		messages->data = message("unterminated quote in the options\n");
	if (!err && has_key)
		salvo_cache_write(key, program, messages);
	return err;
}

int salvo_program_build(struct salvo_device *device, const char *source, size_t bytes,
			const char *options, char **log, struct salvo_program **out)
{
	struct salvo_text_block program = { 0 }, messages = { 0 };
	int err;

	*out = NULL;
	if (log)
		*log = NULL;
	if (!source)
		return -EINVAL;
	if (!bytes)
		bytes = strlen(source);
	err = compile(device, source, bytes, options, &program, &messages);
	if (!err)
		err = salvo_program_load(device, program.data, program.bytes, out);
	free(program.data);
	if (log)
		*log = messages.data ? messages.data : strdup("");
	else
		free(messages.data);
	return err;
}
