/* SPDX-License-Identifier: MIT */
/*
 * compiler.h - salvo-cc as a child process
 */
#ifndef SALVO_LIB_COMPILER_H
#define SALVO_LIB_COMPILER_H

#include <limits.h>
#include <stdbool.h>
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
 * struct salvo_compiler_run - A compiler that runs.
 */
struct salvo_compiler_run {
	pid_t pid;
	/** @owner: Who started it: a child of fork() neither waits for it nor kills it. */
	pid_t owner;
	/** @fds: Its standard input, output and error; -1: none. */
	int fds[3];
	/** @announced: Where it tells that a program was checked, and is told to go on; or -1. */
	int announced;
};

/**
 * salvo_compiler_start() - Run it with @source as its standard input.
 * @options: Words as on its command line, may be NULL.
 * @before, @after: Words that go before and after those, NULL at the end of each.
 * @announces: It is to announce, for salvo_compiler_is_checked(), and to take its turn then.
 * @run: To finish or to cancel, if 0 is returned.
 *
 * Return: 0, -EINVAL (unterminated quote), -ENOMEM, or the error of posix_spawn().
 */
int salvo_compiler_start(const struct salvo_compiler *compiler, const char *source, size_t bytes,
			 const char *const *before, const char *options, const char *const *after,
			 bool announces, struct salvo_compiler_run *run);
/**
 * salvo_compiler_is_checked() - Wait until the program was checked, or the compiler has ended.
 * @notes: Those of its kernels, without what only their code tells.
 * @messages: What it has written to standard error so far.
 *
 * Return: true if all of it was checked and has no errors; else nothing is in @notes.
 */
bool salvo_compiler_is_checked(struct salvo_compiler_run *run, struct salvo_text_block *notes,
			       struct salvo_text_block *messages);
/**
 * salvo_compiler_finish() - Wait for its end. It does not wait for its turn any more.
 * @out, @messages: What it wrote to standard output and error.
 *
 * If the application ignores SIGCHLD or reaps all children, the exit status is unknown. Then the
 * output has to be a whole object or program; that of other runs (-E) is an error.
 *
 * Return: 0, -ENOEXEC (it failed), -ENOMEM, -ECHILD (another process started it).
 */
int salvo_compiler_finish(struct salvo_compiler_run *run, struct salvo_text_block *out,
			  struct salvo_text_block *messages);
/**
 * salvo_compiler_part() - Wait for a program with one of the kernels, before the compiler's end.
 * @kernel: Its name.
 * @out: The program.
 *
 * Return: whether there is one; it does not tell whether the compiler has ended.
 */
bool salvo_compiler_part(struct salvo_compiler_run *run, const char *kernel,
			 struct salvo_text_block *out);
/** salvo_compiler_has_ended() - Would salvo_compiler_finish() return at once? */
bool salvo_compiler_has_ended(const struct salvo_compiler_run *run);
/** salvo_compiler_cancel() - Kill it. */
void salvo_compiler_cancel(struct salvo_compiler_run *run);

#endif /* SALVO_LIB_COMPILER_H */
