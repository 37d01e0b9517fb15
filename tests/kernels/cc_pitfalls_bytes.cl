// SPDX-License-Identifier: MIT
/*
 * cc_pitfalls_bytes.cl - arithmetic of bytes and shorts, in whose results few bits matter
 */
#include "cc_pitfalls.h"

#define BYTES	uint i = ITEM; \
		global const uchar *a = (global const uchar *)in + i; \
		global const char *b = (global const char *)in + 300 + i; \
		global const short *c = (global const short *)in + 300 + i; \
		global const ushort *d = (global const ushort *)in + 500 + i; \
		global uchar *to = (global uchar *)out + i; \
		global short *wide = (global short *)out + 512 + i

/* Sums and products of 16 bits, and what needs more; the blend is at most 255 * 255. */
kernel void bytes_of_products(PLAIN)
{
	BYTES;
	int w = a[1], sum = a[0] * w + a[2] * (255 - w);

	to[0] = sum / 255;
	to[256] = (a[0] * a[1] + a[2] * a[3]) >> 9;
	to[512] = (a[0] * c[1]) >> 8;
	to[768] = b[0] * b[1] / 3;
	wide[0] = (a[0] * 77 + a[1] * 150 + a[2] * 29) >> 8;
	wide[256] = d[0] * d[1] >> 16;
}

/* A blend of more than 255, and one whose parts do not make up a whole. */
kernel void bytes_of_other_blends(PLAIN)
{
	BYTES;
	int w = a[1], v = a[2];

	to[0] = (d[0] * w + d[1] * (255 - w)) / 255;
	to[256] = (a[0] * w + a[3] * (255 - v)) / 255;
	to[512] = (a[0] * w + a[3] * (300 - w)) / 300;
	to[768] = (a[0] * (w & 15) + a[3] * (15 - (w & 15))) / 15;
	wide[0] = (a[0] * (w + 1) + a[3] * (256 - w)) >> 8;
}

/* Blends of up to 258 * 255 and of 257 * 255, whose sum is kept in 16 bits */
kernel void bytes_of_blends_that_wrap(PLAIN)
{
	BYTES;
	int w = a[1];
	ushort some = (a[0] + 3) * w + (a[2] + 3) * (255 - w);
	ushort one = (a[0] + 2) * w + (a[2] + 2) * (255 - w);

	wide[0] = min(some, (ushort)a[3]);
	wide[256] = min(one, (ushort)a[3]);
	to[0] = some >> 9;
}

/* Comparisons with what is the same for all work-items, and may not fit. */
kernel void bytes_compared(PLAIN)
{
	BYTES;
	int t = (int)(n * 83) - 300, difference = a[0] - a[1], some = 0;
	uint u = n * 61 - 200;

	some |= (a[0] > t) << 0 | (a[0] < t) << 1 | (a[0] >= t) << 2 | (a[0] <= t) << 3;
	some |= (a[0] == t) << 4 | (a[0] != t) << 5;
	some |= (difference > t) << 6 | (difference < t) << 7 | (difference >= t) << 8;
	some |= (difference <= t) << 9 | (difference == t) << 10 | (difference != t) << 11;
	some |= (a[0] > u) << 12 | (a[0] < u) << 13 | (t > b[0]) << 14;
	wide[0] = some;
	to[0] = a[2] > t ? a[3] : 7;
	to[256] = abs(difference) >= t ? 255 : 0;
	to[512] = (uint)difference > u ? 1 : 2;
	to[768] = c[0] < t && d[0] > u;
}

/* The sign decides about shifts, extremes, quotients and distances. */
kernel void bytes_with_signs(PLAIN)
{
	BYTES;
	int difference = a[0] - a[1];

	to[0] = difference >> 3;
	to[256] = max(difference, (int)b[0]);
	to[512] = clamp(a[0] + b[1] * 2, 0, 255);
	to[768] = (uint)difference >> 5;
	wide[0] = difference / 5 + (difference & 7);
	wide[256] = abs(c[0]) + abs_diff(c[1], (short)d[0]);
}

/* Elements that a loop adds up, with an end that differs, and what wraps around on the way. */
kernel void bytes_in_a_loop(PLAIN)
{
	BYTES;
	int sum = 0, least = 255, times = a[7] & 3;
	uchar few = 250;

	for (int k = 0; k < 6; k++) {
		sum += abs(a[k] - a[k + 1]);
		least = min(least, (int)a[k]);
		few += a[k] > (int)n;
	}
	for (int k = 0; k < times; k++)
		sum += b[k] << k;
	to[0] = sum;
	to[256] = least;
	to[512] = few;
	wide[0] = sum;
	wide[256] = few * least;
}

/* A part of the elements, and of what was computed with more bits. */
kernel void bytes_of_some(PLAIN)
{
	BYTES;
	float f = a[0] * 1.5f;
	int x = f, v = (uchar)(x + a[1]) + (char)(x - a[1]);

	if (a[2] > 100 && (i & 3))
		to[0] = v >> 1;
	else if (b[1] < -3)
		to[0] = (uchar)~a[1] ^ (v << 4);
	wide[0] = v;
	wide[256] = in[i & 63] + a[(a[0] + a[1]) & 31];
}

/* Channels that are converted in place for one half of the values of n (vector_apart.cc) */
kernel void bytes_in_place(PLAIN)
{
	global uchar *to = (global uchar *)out + 4 * ITEM;
	global const uchar *from = n & 1 ? (global const uchar *)out : (global const uchar *)in;

	out[ITEM] = in[ITEM] * 3 + n;
	from += 4 * ITEM;
	for (uint i = 0; i <= (n & 3); i++) {
		to[0] = from[2] + i;
		to[1] = from[1] * 3;
		to[2] = from[0] ^ to[1];
		if (n & 2 && ITEM & 1)
			to[3] = from[3] + from[1];
	}
}

/* From elements that are further apart, and in the other order */
kernel void bytes_from_afar(PLAIN)
{
	global uchar *to = (global uchar *)out + 4 * ITEM;
	global const uchar *from = n & 1 ? (global const uchar *)in :
				   (global const uchar *)(out + ITEM - (400 - ITEM % 400) * 2);
	uint r = 0;

	out[ITEM] = ITEM;
	from += 8 * (400 - ITEM % 400);
	for (int c = 0; c < 4; c++) {
		r = r * 3 + from[c];
		to[c] = from[c] * 5 + r;
	}
}

/* 16 bytes, which one vector copies where it may; in place for one half of the values of n */
kernel void bytes_copied(PLAIN)
{
	global uchar *own = (global uchar *)(out + 5 * ITEM), *to = own + (n & 2 ? 3 : 0);
	global const uchar *from = n & 1 ? own : (global const uchar *)in + 20 * ITEM;

	for (int k = 0; k < 5; k++)
		out[5 * ITEM + k] = in[ITEM + k] * 3;
	for (int k = 0; k < 16; k++)
		to[k] = from[k + 1];
}

/* Structures from anywhere, some of them, with what is between them left out */
kernel void words_copied(PLAIN)
{
	global uint *to = out + 5 * ITEM;
	global const uint *from = in + in[ITEM] % 1000;

	if (n & 1 || in[ITEM] & 1) {
		to[0] = from[0];
		to[1] = from[1];
		to[2] = from[2];
		to[3] = from[3];
		to[4] = from[3] + from[1];
	}
}
