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

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *p = a, *q = b;

	for (; n; n--, p++, q++)
		if (*p != *q)
			return *p - *q;
	return 0;
}

int bcmp(const void *a, const void *b, size_t n)
{
	return memcmp(a, b, n);
}

/*
 * For processors without the instruction. The product is exact in double; the
 * sum is rounded to odd first, so that rounding it again to float is right.
 */
float fmaf(float x, float y, float z)
{
	double product = (double)x * y, sum = product + z;
	double other = sum - product;
	double error = (product - (sum - other)) + (z - other);
	unsigned long bits;

	__builtin_memcpy(&bits, &sum, sizeof(bits));
	if (error != 0 && sum - sum == 0 && !(bits & 1)) {
		bits += (error > 0) == (sum > 0) ? 1 : -1ul;
		__builtin_memcpy(&sum, &bits, sizeof(bits));
	}
	return sum;
}
