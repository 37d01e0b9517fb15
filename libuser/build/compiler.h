/* SPDX-License-Identifier: MIT */
/*
 * compiler.h - salvo-cc as a child process
 */
#ifndef SALVO_LIB_COMPILER_H
#define SALVO_LIB_COMPILER_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct salvo_text_block - Bytes of a child's output, a 0 behind them; free @data.
 */
struct salvo_text_block {
	char *data;
	size_t bytes;
};

/**
 * struct salvo_compiler - Which salvo-cc is used.
 */
struct salvo_compiler {
	char path[PATH_MAX];
	/** @size, @changed_ns: Of the file, to identify the compiler. */
	int64_t size;
	int64_t changed_ns;
};

/** salvo_compiler_find() - $SALVO_CC, beside the library or program, or in $PATH. Or -ENOENT. */
int salvo_compiler_find(struct salvo_compiler *compiler);

/**
 * salvo_compiler_run() - Run it with @source as its standard input.
 * @options: Words as on its command line, may be NULL.
 * @more: Words that go before and after those, NULL at the end of each.
 * @out, @messages: What it wrote to standard output and error.
 *
 * Return: 0, -ENOEXEC (it failed), -EINVAL (unterminated quote), -ENOMEM, or the error of
 * posix_spawn().
 */
int salvo_compiler_run(const struct salvo_compiler *compiler, const char *source, size_t bytes,
		       const char *const *before, const char *options, const char *const *after,
		       struct salvo_text_block *out, struct salvo_text_block *messages);

#endif /* SALVO_LIB_COMPILER_H */
