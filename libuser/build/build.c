// SPDX-License-Identifier: MIT
/*
 * build.c - one run of the compiler: of OpenCL C or of objects, or from the cache
 *
 * The key of a build is the hash of the input, the command line and the compiler's file. A source
 * that includes others is preprocessed first, and the output is hashed, so that a changed header
 * changes the key. No locks: processes share only the cache, which is safe by itself.
 *
 * A caller may go on once the compiler has announced that the program has no errors. The compiler
 * goes on as well, without a thread that waits for it; what it makes is read when it is wanted:
 * see rest.c.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build.h"
#include "cache.h"
#include "device.h"
#include "headers.h"
#include "rest.h"
#include "salvo_march.h"

static const char key_version[] = "salvo build 2";

/* Does a word occur, also over a line continuation? */
static bool has_word(const char *word, const char *source, size_t bytes)
{
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
		if (!word[matched])
			return true;
	}
	return false;
}

/* The words of directives that read another file */
static bool includes_others(const char *source, size_t bytes)
{
	return has_word("include", source, bytes) || has_word("import", source, bytes);
}

static void add_string(SHA2_CTX *hash, const char *text)
{
	salvo_cache_hash(hash, text, strlen(text) + 1);
}

static const char checked[] = "--checked";

/* SALVO_CHECKED: every program is built in the checked mode. */
static bool wants_checks(void)
{
	const char *text = secure_getenv("SALVO_CHECKED");

	return text && *text && strcmp(text, "0");
}

static void make_key(const struct salvo_compiler *compiler, const struct salvo_build *build,
		     const char *text, size_t bytes, uint8_t *key)
{
	const char *const *word;
	SHA2_CTX hash;

	SHA256Init(&hash);
	add_string(&hash, key_version);
	add_string(&hash, compiler->path);
	salvo_cache_hash(&hash, &compiler->size, sizeof(compiler->size));
	salvo_cache_hash(&hash, &compiler->changed_ns, sizeof(compiler->changed_ns));
	for (word = build->words; *word; word++)
		add_string(&hash, *word);
	if (wants_checks())
		add_string(&hash, checked);
	add_string(&hash, build->options ? build->options : "");
	salvo_cache_hash(&hash, text, bytes);
	SHA256Final(key, &hash);
}

static void free_block(struct salvo_text_block *block)
{
	free(block->data);
	memset(block, 0, sizeof(*block));
}

#define MAX_WORDS 10

/* Start the compiler with the words of the build, the folder of its headers, and @after. */
static int start(const struct salvo_compiler *compiler, const struct salvo_build *build,
		 const struct salvo_header_folder *folder, const char *const *after, bool announces,
		 struct salvo_compiler_run *child)
{
	const char *before[MAX_WORDS] = { NULL }, *const *word;
	char renamed[PATH_MAX + 32];
	size_t count = 0;

	if (folder->path[0]) {
		before[count++] = "-I";
		before[count++] = folder->path;
		/* Objects have the places of their source, for the errors of the link step. */
		snprintf(renamed, sizeof(renamed), "-fdebug-prefix-map=%s/=", folder->path);
		before[count++] = renamed;
	}
	if (wants_checks())
		before[count++] = checked;
	for (word = build->words; *word && count < MAX_WORDS - 1; word++)
		before[count++] = *word;
	return salvo_compiler_start(compiler, build->input, build->bytes, before, build->options,
				    after, announces, child);
}

/* The same, up to its end. */
static int run(const struct salvo_compiler *compiler, const struct salvo_build *build,
	       const struct salvo_header_folder *folder, const char *const *after,
	       struct salvo_text_block *out, struct salvo_text_block *messages)
{
	struct salvo_compiler_run child;
	int err;

	memset(out, 0, sizeof(*out));
	memset(messages, 0, sizeof(*messages));
	err = start(compiler, build, folder, after, false, &child);
	if (!err)
		err = salvo_compiler_finish(&child, out, messages);
	salvo_headers_hide(folder, messages);
	return err;
}

/* The key, or an error of the preprocessor, which compiling will report again. */
static int find_key(const struct salvo_compiler *compiler, const struct salvo_build *build,
		    const struct salvo_header_folder *folder, uint8_t *key)
{
	static const char *const after[] = { "-E", "-", NULL };
	struct salvo_text_block text, messages;
	int err;

	if (!build->is_source || !includes_others(build->input, build->bytes)) {
		make_key(compiler, build, build->input, build->bytes, key);
		return 0;
	}
	err = run(compiler, build, folder, after, &text, &messages);
	if (!err) {
		salvo_headers_hide(folder, &text);
		make_key(compiler, build, text.data, text.bytes, key);
	}
	free_block(&text);
	free_block(&messages);
	return err;
}

static char *message(const char *text)
{
	return strdup(text);
}

/* What the caller gets of a build: no output if there was an error, and a log in any case. */
static int give(int err, struct salvo_text_block *messages, char **log,
		struct salvo_text_block *out)
{
	if (err)
		free_block(out);
	if (log)
		*log = messages->data ? messages->data : strdup("");
	else
		free(messages->data);
	return err;
}

int salvo_build_finish(struct salvo_build_rest *rest, char **log, struct salvo_text_block *out)
{
	struct salvo_text_block messages;
	const int err = salvo_rest_finish(rest, out, &messages);

	return give(err, &messages, log, out);
}

bool salvo_build_part(struct salvo_build_rest *rest, const char *kernel,
		      struct salvo_text_block *out)
{
	return salvo_rest_part(rest, kernel, out);
}

void salvo_build_cancel(struct salvo_build_rest *rest)
{
	salvo_rest_cancel(rest);
}

/* Up to the end of the check, for the notes, if it has no errors; else to the compiler's end. */
static int run_checked(const struct salvo_compiler *compiler, const struct salvo_build *build,
		       const struct salvo_header_folder *folder, const char *const *after,
		       struct salvo_text_block *out, struct salvo_text_block *messages,
		       struct salvo_compiler_run *child)
{
	int err = start(compiler, build, folder, after, true, child);

	if (err || salvo_compiler_is_checked(child, out, messages))
		return err;
	free_block(messages);
	err = salvo_compiler_finish(child, out, messages);
	return err ? err : 1;
}

static int compile(const struct salvo_build *build, const struct salvo_header_folder *folder,
		   struct salvo_text_block *out, struct salvo_text_block *messages,
		   struct salvo_build_rest **rest_out)
{
	static const char *const after[] = { "-o", "-", "-", NULL };
	struct salvo_build_rest *rest = NULL;
	uint8_t key[SHA256_DIGEST_LENGTH];
	struct salvo_compiler compiler;
	bool has_key;
	int err;

	err = salvo_compiler_find(&compiler);
	if (err) {
		messages->data = message("salvo-cc was not found: set SALVO_CC to its path\n");
		return err;
	}
	has_key = !find_key(&compiler, build, folder, key);
	if (has_key && !salvo_cache_read(key, out, messages))
		return 0;
	free_block(out);
	free_block(messages);
	if (rest_out)
		rest = salvo_rest_create();
	if (rest)
		err = run_checked(&compiler, build, folder, after, out, messages,
				  salvo_rest_run(rest));
	else
		err = run(&compiler, build, folder, after, out, messages);
	if (rest && !err) {
		salvo_rest_go_on(rest, has_key ? key : NULL);
		*rest_out = rest;
		return 0;
	}
	if (rest) {
		salvo_rest_discard(rest);
		err = err > 0 ? 0 : err;
	}
	if (err == -EINVAL && !messages->data)
		messages->data = message("unterminated quote in the options\n");
	if (!err && has_key)
		salvo_cache_write(key, out, messages);
	return err;
}

int salvo_build_run(const struct salvo_build *build, char **log, struct salvo_text_block *out,
		    struct salvo_build_rest **rest)
{
	struct salvo_text_block messages = { 0 };
	struct salvo_header_folder folder;
	int err;

	memset(out, 0, sizeof(*out));
	if (rest)
		*rest = NULL;
	err = salvo_headers_write(&folder, build->headers, build->header_count);
	if (!err)
		err = compile(build, &folder, out, &messages, rest);
	else if (err == -EINVAL)
		messages.data = message("a header's name is no path inside its folder\n");
	salvo_headers_remove(&folder);
	return give(err, &messages, log, out);
}

const char *salvo_build_march(const struct salvo_device *device)
{
	return salvo_march(device->info.isa_level);
}

const char *salvo_build_tune(void)
{
	return __builtin_cpu_is("intel") && __builtin_cpu_supports("avx512fp16") ?
		"sapphirerapids" : "generic";
}
