// SPDX-License-Identifier: MIT
/*
 * runtime.c - functions that LLVM's code generator calls by itself
 *
 * A program has no imports, so it brings these along, hidden, and only if they
 * are used. Compiled with -fno-builtin, lest memcpy() become a call of memcpy().
 */
#include <stddef.h>

#ifdef __x86_64__
/* Bytes from which on the processor's own loop, which takes long to start, is as fast as ours */
#define LONG 2048

/* At any address, to any type */
typedef long long block __attribute__((vector_size(16), aligned(1), may_alias));

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	void *result = to;
	char *d = to;
	const char *s = from;

	if (n >= LONG) {
		__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
		return result;
	}
	for (; n >= 64; n -= 64, d += 64, s += 64) {
		const block *in = (const block *)s;
		block *out = (block *)d;
		const block a = in[0], b = in[1], c = in[2], e = in[3];

		out[0] = a;
		out[1] = b;
		out[2] = c;
		out[3] = e;
	}
	for (; n >= 16; n -= 16, d += 16, s += 16)
		*(block *)d = *(const block *)s;
	while (n--)
		*d++ = *s++;
	return result;
}

void *memset(void *to, int value, size_t n)
{
	const unsigned long long bytes = (unsigned char)value * 0x0101010101010101ull;
	const block all = { bytes, bytes };
	void *result = to;
	char *d = to;

	if (n >= LONG) {
		__asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(value) : "memory");
		return result;
	}
	for (; n >= 16; n -= 16, d += 16)
		*(block *)d = all;
	while (n--)
		*d++ = value;
	return result;
}
#else
void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	char *d = to;
	const char *s = from;

	while (n--)
		*d++ = *s++;
	return to;
}

void *memset(void *to, int value, size_t n)
{
	char *d = to;

	while (n--)
		*d++ = value;
	return to;
}
#endif

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

#ifdef __x86_64__
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

/*
 * Conversions of half, for processors without the instruction. All on bits: any
 * arithmetic on half here would be a call of these functions.
 */
float __extendhfsf2(_Float16 x)
{
	unsigned short half;
	unsigned int bits, exponent;
	float result;

	__builtin_memcpy(&half, &x, sizeof(half));
	exponent = half >> 10 & 31;
	if (exponent == 0) {
		result = (half & 1023) * 0x1p-24f;
		return half & 0x8000 ? -result : result;
	}
	bits = (unsigned int)(half & 0x8000) << 16 | (half & 1023u) << 13 |
	       (exponent == 31 ? 255u : exponent + 112) << 23;
	/* A signalling NaN becomes a quiet one. */
	if (exponent == 31 && half & 1023)
		bits |= 1u << 22;
	__builtin_memcpy(&result, &bits, sizeof(bits));
	return result;
}

/* To nearest, ties to even. */
_Float16 __truncsfhf2(float x)
{
	unsigned int bits, size, sign;
	unsigned short half;
	_Float16 result;

	__builtin_memcpy(&bits, &x, sizeof(bits));
	sign = bits >> 16 & 0x8000;
	size = bits & 0x7fffffff;
	if (size > 0x7f800000) {
		half = sign | 0x7e00 | (size >> 13 & 0x1ff);
	} else if (size >= 0x477ff000) {
		half = sign | 0x7c00;
	} else if (size < 0x38800000) {
		/* Adding 2^-1 leaves the subnormal's digits, rounded, at the end. */
		float f;
		__builtin_memcpy(&f, &size, sizeof(f));
		f += 0.5f;
		__builtin_memcpy(&size, &f, sizeof(f));
		half = sign | (size - 0x3f000000);
	} else {
		size += 0xc8000fff + (size >> 13 & 1);
		half = sign | (size >> 13 & 0xffff);
	}
	__builtin_memcpy(&result, &half, sizeof(half));
	return result;
}
#endif
