// SPDX-License-Identifier: MIT
/*
 * runtime.c - functions that LLVM's code generator calls by itself
 *
 * A program has no imports, so it brings these along, hidden, and only if they
 * are used. Compiled with -fno-builtin, lest memcpy() become a call of memcpy().
 */
#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	void *result = to;

	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
	return result;
}

void *memset(void *to, int value, size_t n)
{
	void *result = to;

	__asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(value) : "memory");
	return result;
}

void *memmove(void *to, const void *from, size_t n)
{
	char *d = to;
	const char *s = from;

	if (d <= s || d >= s + n)
		return memcpy(to, from, n);
	while (n--)
		d[n] = s[n];
	return to;
}
