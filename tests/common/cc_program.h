/* SPDX-License-Identifier: MIT */
/*
 * cc_program.h - runs compiled kernels in the test itself, without a device
 *
 * A program is a plain shared object without imports, so dlopen() loads it. A
 * work-group of a kernel with barriers runs on one ucontext for each work-item,
 * which take turns at every barrier.
 */
#ifndef CC_PROGRAM_H
#define CC_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "salvo_kernel.h"

struct cc_program;

/* Path of a file in the build folder of this test program */
const char *cc_build_path(const char *file);

/* Loads a program. Prints an error and returns NULL if that fails. */
struct cc_program *cc_program_open(const char *path);
void cc_program_close(struct cc_program *program);

/* The note of a kernel, or NULL; cc_note_string() reads its strings. */
const struct salvo_note_kernel *cc_note(const struct cc_program *program, const char *kernel);
const struct salvo_note_arg *cc_note_args(const struct salvo_note_kernel *note);
const char *cc_note_string(const struct salvo_note_kernel *note, uint32_t offset);

/* Can this processor run programs for x86-64-v4, which have gathers and scatters? */
static inline bool cc_runs_v4(void)
{
	return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd");
}

struct cc_range {
	uint64_t global[3], local[3];
	uint32_t dims;
	size_t local_bytes;	/* for local arguments; behind the static variables */
};

/* Runs every work-group, including the partial ones of a ragged range. */
int cc_run(const struct cc_program *program, const char *kernel, const void *args,
	   const struct cc_range *range);

/* How often the last cc_run() called the kernel, a work-group or a strip of them each time */
unsigned int cc_calls(void);

/* Runs salvo-cc. Returns its exit code; @output gets what it prints, terminated by 0. */
int cc_compile(const char *arguments, char *output, size_t size);

/* Compiles the file @source and opens the program. Prints an error and returns NULL on failure. */
struct cc_program *cc_build(const char *options, const char *source);

#endif /* CC_PROGRAM_H */
