/* SPDX-License-Identifier: MIT */
/*
 * salvo_object.h - objects: compile, link and keep programs in steps; included by salvo.h
 *
 * salvo_program_build() does all at once. In steps, sources are compiled to objects, objects are
 * linked to libraries or to the image of a program, and salvo_program_load() loads that. An
 * object is immutable and may be used from any thread; it belongs to no device, except that the
 * image of a program is for the instruction set of the device that it was made for.
 */
#ifndef SALVO_OBJECT_H
#define SALVO_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "salvo.h"

#if defined(__cplusplus)
extern "C" {
#endif

struct salvo_object;

#define SALVO_OBJECT_COMPILED	1	/* by salvo_object_compile() */
#define SALVO_OBJECT_LIBRARY	2	/* by salvo_object_link() */
#define SALVO_OBJECT_PROGRAM	3	/* for salvo_program_load() */

/**
 * struct salvo_header - A file that a source includes.
 */
struct salvo_header {
	const char *name;	/* as in its #include: a relative path without ".." */
	const char *text;
	size_t bytes;		/* 0: up to its final 0 */
};

/**
 * salvo_object_compile() - Compile OpenCL C to an object.
 * @source: The source, @bytes long; 0: up to its final 0.
 * @headers: Found before the files in the folders of -I; @header_count of them, may be NULL.
 * @options: As on salvo-cc's command line; may be NULL.
 * @log: Messages of the compiler, including warnings, or ""; free() it. May be NULL.
 *
 * Uses the compiler and the cache as salvo_program_build() does. Headers are written to a folder
 * in $TMPDIR or /tmp while the compiler runs.
 *
 * Return: 0, -ENOEXEC (it does not compile, or the compiler died, see @log), -ENOENT (no
 * compiler), -EINVAL (no source, the name of a header, or a quote in @options without its end),
 * -ENOMEM, an error of writing the headers.
 */
int salvo_object_compile(const char *source, size_t bytes, const struct salvo_header *headers,
			 unsigned int header_count, const char *options, char **log,
			 struct salvo_object **out);
/**
 * salvo_object_build() - Compile OpenCL C and link it to the image of a program.
 * @device: The device that is to run it.
 *
 * Return: as salvo_object_compile().
 */
int salvo_object_build(struct salvo_device *device, const char *source, size_t bytes,
		       const char *options, char **log, struct salvo_object **out);
/**
 * salvo_object_begin() - As salvo_object_build(), but return when the program has been checked.
 *
 * What can be wrong with a source is reported here; the compiler goes on to make the code while the
 * caller does. salvo_object_image() waits for it. As many compilers as there are cores go on at a
 * time, of all processes of a user; further ones wait for their turn, or until their image is
 * wanted. In a process 32 may go on or wait; further builds wait for their ends here. Those that
 * have ended do not count, even if nobody wants what they made. Destroying the object ends the
 * compiler.
 *
 * Return: as salvo_object_compile().
 */
int salvo_object_begin(struct salvo_device *device, const char *source, size_t bytes,
		       const char *options, char **log, struct salvo_object **out);
/**
 * salvo_object_describe() - The kernels of salvo_object_begin()'s program, before their code.
 * @device: Of salvo_object_begin().
 * @out: A program with names and arguments: salvo_kernel_create(), arguments can be set. It has
 *       neither code nor variables, so that thread spaces cannot; accesses, local and private
 *       memory are not known. When the image is loaded salvo_kernel_move() gives the kernels code.
 *
 * Return: 0, -ENODATA (it was in the cache, or not begun: load the image), -ENOEXEC, -ENOTSUP (as
 * salvo_program_load()), -ENOMEM.
 */
int salvo_object_describe(const struct salvo_object *object, struct salvo_device *device,
			  struct salvo_program **out);
/**
 * salvo_kernel_move() - Make a kernel that of another program, with its arguments as they are set.
 * @program: Has a kernel of the same name and arguments, and must outlive @kernel.
 *
 * For kernels of salvo_object_describe(), once their code is there. The thread space has to be set
 * again.
 *
 * Return: 0, -ENOENT (no such kernel), -EINVAL (other arguments, or another device's program).
 */
int salvo_kernel_move(struct salvo_kernel *kernel, const struct salvo_program *program);
/**
 * salvo_object_part() - Wait for a program with one kernel of salvo_object_begin()'s program.
 * @kernel: The kernel's name.
 * @image: For salvo_program_load(); free() it. It may have other kernels, too.
 *
 * The compiler makes that first, unless it has made it already, or the cache has it of an earlier
 * call.
 *
 * Return: 0, -ENODATA (the program is not made in parts, or the image is there, or the compiler
 * has failed: call salvo_object_image()).
 */
int salvo_object_part(struct salvo_object *object, const char *kernel, void **image,
		      size_t *bytes);
/** salvo_object_is_done() - Is nobody to wait for the image any more? */
bool salvo_object_is_done(const struct salvo_object *object);
/**
 * salvo_object_finish() - Wait for the image of salvo_object_begin().
 * @log: All messages of the compiler, if it had to go on; else "". free() it. May be NULL.
 *
 * Return: 0, -ENOEXEC (the compiler died, see @log), -ENOMEM, -ECHILD (a child of fork() called it
 * for what its parent had begun).
 */
int salvo_object_finish(struct salvo_object *object, char **log);
/**
 * salvo_object_link() - Link objects and libraries.
 * @device: The device that is to run the program; NULL for a library.
 * @kind: SALVO_OBJECT_PROGRAM or _LIBRARY.
 * @objects: @count of them, at least one; compiled ones and libraries.
 * @log: As for salvo_object_compile().
 *
 * Return: 0, -ENOEXEC (a function is missing or defined twice, or an object is damaged, see
 * @log), -EINVAL (@kind, @count, a program among @objects), and as salvo_object_compile().
 */
int salvo_object_link(struct salvo_device *device, uint32_t kind,
		      struct salvo_object *const *objects, unsigned int count,
		      const char *options, char **log, struct salvo_object **out);
/**
 * salvo_object_load() - An object of any kind from the bytes of salvo_object_image().
 * @image: Not kept.
 *
 * Only its head is checked; a damaged object is refused when it is linked or loaded.
 *
 * Return: 0, -ENOEXEC (no object of this version), -ENOMEM.
 */
int salvo_object_load(const void *image, size_t bytes, struct salvo_object **out);
/**
 * salvo_object_get() - Keep an object until salvo_object_destroy() was called once more.
 *
 * Return: @object.
 */
struct salvo_object *salvo_object_get(struct salvo_object *object);
/** salvo_object_destroy() - Destroy an object; what was made of it stays. May be NULL. */
void salvo_object_destroy(struct salvo_object *object);
/** salvo_object_kind() - SALVO_OBJECT_*. */
uint32_t salvo_object_kind(const struct salvo_object *object);
/**
 * salvo_object_image() - Its bytes, to keep; valid as long as the object.
 * @bytes: Their number.
 *
 * Return: NULL if salvo_object_finish() fails.
 */
const void *salvo_object_image(const struct salvo_object *object, size_t *bytes);

#if defined(__cplusplus)
}
#endif

#endif /* SALVO_OBJECT_H */
