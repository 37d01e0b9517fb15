// SPDX-License-Identifier: MIT
/*
 * Truth that is carried in bytes and ints, loops of a few iterations that may end earlier, and
 * lanes that access memory in reverse order under a condition; see pitfalls.c.
 */
#include "cc_pitfalls.h"

/* A flag is tested, and is a number as well. */
kernel void truth(PLAIN)
{
	const uint x = in[ITEM];
	bool odd = false;
	int found = 0, both = 1;

	for (uint i = 0; i < n; i++) {
		if (in[ITEM + i] & 1)
			odd = true;
		else if (x & 2)
			odd = !odd;
		found |= in[i] == x;
		both &= odd;
		if (found && odd)
			break;
	}
	out[ITEM] = odd ? found * 5 + both : both + (found ? x : 7);
}

/* Variables that are 0 and 1 at first, and become another number, or count */
kernel void almost_truth(PLAIN)
{
	const uint x = in[ITEM];
	int flag = 0, count = 0;
	uchar other = 1;

	for (uint i = 0; i < n; i++) {
		if (in[ITEM + i] & 4)
			flag = 1;
		if (x & 8)
			other = flag ? other : 2;
		count += flag;
	}
	out[ITEM] = (flag ? 100 : 200) + (other == 1) + (other == 2) * 4 + (count == 1) * 8;
}

/* Flags made of each other in nested loops */
kernel void exchanged_truth(PLAIN)
{
	bool a = in[ITEM] & 1, b = in[ITEM] & 2, c = false;

	for (uint i = 0; i < n; i++) {
		for (uint k = 0; k < (in[ITEM] & 3); k++) {
			const bool was = a;

			a = b;
			b = was ^ (in[i + k] & 1);
			if (a && b)
				c = true;
		}
		if (c && (in[i] & 2))
			break;
	}
	out[ITEM] = a + 2 * b + 4 * c;
}

kernel void short_search(PLAIN)
{
	const uint x = in[ITEM + 8];
	bool largest = (x & 7) != 3;

	for (int j = -1; j <= 1 && largest; j++)
		for (int i = -1; i <= 1 && largest; i++)
			if ((i || j) && in[ITEM + 8 + j * 3 + i] >= x)
				largest = false;
	out[ITEM] = largest ? x : 0;
}

/* A short loop that stores, and whose end depends on what it stored */
kernel void short_stores(PLAIN)
{
	uint sum = in[ITEM] & 15;

	for (int i = 0; i < 4; i++) {
		out[ITEM + i * 256] = sum;
		if (sum > n * 4)
			break;
		sum += in[ITEM + i] & 7;
	}
}

/* At most 3 times, as often as n says, or less */
kernel void short_and_uniform(PLAIN)
{
	uint sum = 0;

	for (uint i = 0; i < min(n, 3u); i++) {
		if ((in[ITEM] >> i & 3) == 3)
			continue;
		sum = sum * 3 + in[ITEM + i];
	}
	out[ITEM] = sum;
}

#define REVERSED(type, change)						\
kernel void reversed_##type(PLAIN)					\
{									\
	global const type *from = (global const type *)in;		\
	global type *to = (global type *)out;				\
	const int at = 100 + n - (int)ITEM;				\
	type got = 3;							\
									\
	if (at >= 0)							\
		got = from[at];						\
	if (at >= 5 && got != 9)					\
		to[at] = got + change;					\
}

REVERSED(uchar, 1)
REVERSED(short, 1)
REVERSED(uint, 1)
REVERSED(long, 1)
REVERSED(float, 0)
REVERSED(double, 0)
