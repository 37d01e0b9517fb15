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

typedef unsigned __int128 wide;

/* digits * 2^exponent, the highest digit bit 125 */
struct exact {
	wide digits;
	int exponent;
};

static inline struct exact normalised(wide digits, int exponent)
{
	const unsigned long high = digits >> 64;
	const int shift = high ? __builtin_clzl(high) - 2 : __builtin_clzl(digits) + 62;

	return (struct exact){ digits << shift, exponent - shift };
}

/* The size of a finite number in whole units of 2^*exponent */
static inline unsigned long digits_of(unsigned long bits, int *exponent)
{
	const int field = bits >> 52 & 2047;

	*exponent = (field ? field : 1) - 1075;
	return (bits & ((1ul << 52) - 1)) | (unsigned long)!!field << 52;
}

/* @digits without the last @shift, to nearest, ties to even; @digits < 2^127 */
static inline unsigned long rounded(wide digits, int shift)
{
	unsigned long whole;
	wide rest, half;

	if (shift <= 0)
		return (unsigned long)digits << -shift;
	if (shift > 127)
		return 0;
	whole = digits >> shift;
	rest = digits - ((wide)whole << shift);
	half = (wide)1 << (shift - 1);
	return whole + (rest > half || (rest == half && whole & 1));
}

/*
 * The product has 106 digits. Of the smaller one of product and z the digits below the sum's 126
 * become one that says whether there are any: it does not matter which ones, for where the sum
 * loses more than a digit at its upper end none are lost at the lower one.
 */
double fma(double x, double y, double z)
{
	const unsigned long infinite = 2047ul << 52, sign = 1ul << 63;
	unsigned long a, b, c, bits, negative;
	int ea, eb, ec, apart, top, shift;
	struct exact large, small;
	wide sum;

	__builtin_memcpy(&a, &x, sizeof(a));
	__builtin_memcpy(&b, &y, sizeof(b));
	__builtin_memcpy(&c, &z, sizeof(c));
	if ((a & infinite) == infinite || (b & infinite) == infinite || !(a << 1) || !(b << 1))
		return x * y + z;
	if ((c & infinite) == infinite)
		return z + z;
	if (!(c << 1))
		return x * y;

	negative = (a ^ b) & sign;
	large.digits = (wide)digits_of(a, &ea) * digits_of(b, &eb);
	large = normalised(large.digits, ea + eb);
	small.digits = digits_of(c, &ec);
	small = normalised(small.digits, ec);
	c = (c ^ negative) & sign;
	if (small.exponent > large.exponent ||
	    (small.exponent == large.exponent && small.digits > large.digits)) {
		const struct exact swapped = large;

		large = small;
		small = swapped;
		negative ^= c;
	}
	apart = large.exponent - small.exponent;
	if (apart > 127)
		small.digits = 1;
	else if (apart)
		small.digits = small.digits >> apart | !!(small.digits << (128 - apart));
	sum = c ? large.digits - small.digits : large.digits + small.digits;
	if (!sum)
		return 0;

	bits = sum >> 64;
	top = bits ? 127 - __builtin_clzl(bits) : 63 - __builtin_clzl(sum);
	shift = top - 52;
	if (large.exponent + shift < -1074)
		shift = -1074 - large.exponent;
	if (large.exponent + shift > 971) {
		bits = infinite;
	} else {
		/* The highest digit, if there is one, adds to the exponent. */
		bits = rounded(sum, shift);
		bits += (unsigned long)(large.exponent + shift + 1074) << 52;
	}
	bits |= negative;
	__builtin_memcpy(&x, &bits, sizeof(x));
	return x;
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
