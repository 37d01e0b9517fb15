/* SPDX-License-Identifier: MIT */
/*
 * failing_alloc.h - an allocator that can fail the nth allocation of this thread
 *
 * It replaces the C library's in the program that includes this, in one of its files, unless a
 * sanitizer has its own.
 */
#ifndef FAILING_ALLOC_H
#define FAILING_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

/* Allocations until one fails; negative for none */
static _Thread_local int fail_after = -1;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define REPLACED 0
#else
#define REPLACED 1

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);

static bool fails(void)
{
	return fail_after >= 0 && fail_after-- == 0;
}

void *malloc(size_t bytes)
{
	return fails() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
	return fails() ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes)
{
	return fails() ? NULL : __libc_realloc(memory, bytes);
}
#endif

#endif /* FAILING_ALLOC_H */
