// SPDX-License-Identifier: MIT
/*
 * Bounds, places and strides that are loaded from tables, by all work-items first or behind
 * conditions, and indices that begin as extensions and go on by what is loaded; see pitfalls.c.
 */
#include "cc_pitfalls.h"

#define X	((int)get_global_id(0))
#define Y	((int)get_global_id(1))

/* Guards, a clamp and a test by what is loaded first */
kernel void loaded_bounds(PLAIN)
{
	const int from = in[Y] & 31, to = (in[Y + 8] & 127) + 16;
	uint sum = 0;

	if (X < from || X >= to)
		return;
	for (uint i = 0; i < n; i++) {
		sum = sum * 3 + in[clamp(X + (int)i - 2, from, to - 1)];
		if (X + (int)i < to)
			sum ^= in[X + i];
	}
	out[ITEM] = sum;
}

/* These are loaded behind a store, and behind a condition. */
kernel void bounds_behind_stores(PLAIN)
{
	out[ITEM] = n;
	const int to = (in[Y + 8] & 127) + 16;

	if (X < to) {
		if (n & 1) {
			const int from = in[Y + 3] & 31;

			if (X >= from)
				out[ITEM + 256] = in[X - from + 1];
		}
		out[ITEM + 512] = in[max(X - to + 5, 0)];
	}
}

/* What a work-item stores is the bound that it loads for the next iteration: its own. */
kernel void own_bounds(PLAIN)
{
	uint sum = in[ITEM] & 255;

	out[ITEM] = sum;
	for (uint i = 0; i < n; i++) {
		if (X < (int)out[ITEM])
			sum += in[X + i];
		out[ITEM] = sum & 127;
	}
	out[ITEM + 256] = sum;
}

/* Strides that are one or not, where an image begins as a table says */
kernel void loaded_places(PLAIN)
{
	const uint stride = n & 1 ? 1 : n;
	ulong i = (in[Y] & 15) + (ulong)((X + Y * (in[Y + 8] & 15)) * stride);
	ulong o = ITEM;
	uint sum = 0;

	for (uint c = 0; c < (n & 3); c++) {
		sum += in[i & 1023];
		out[o] = in[i & 511] ^ sum;
		i += in[c] & 63;
		o += 256;
	}
}

/* The first lanes wrap around before they are extended, and are kept out, or not. */
kernel void places_that_wrap(PLAIN)
{
	ulong i = (uint)X - n * 2, k = (uint)X - n;
	uint sum = 0;

	for (uint c = 0; c < n; c++) {
		if ((uint)X >= n * 2)
			sum += in[i];
		sum += in[k & 255] + (uint)(k >> 30);
		i += in[c] & 31;
		k += in[c] & 7;
	}
	out[ITEM] = sum + (uint)(i >> 31);
}

/* A way that several conditions lead to, seldom, with loops and values of its own */
kernel void seldom_met(PLAIN)
{
	const uint x = in[ITEM], limit = in[30];
	uint sum = 1, i = ITEM;

	if (x < limit && (x & 64) && in[ITEM + 1] < limit && n != 5) {
		for (uint c = 0; c < n / 3; c++) {
			out[i] = in[i + c] * 3;
			sum += in[i + 2 * c];
			i += 256;
		}
	} else {
		sum = x >> 3;
		for (uint c = 0; c < (n & 3); c++) {
			out[i] = sum;
			sum = sum * 5 + in[i + c];
			i += 256;
		}
		if (x & 1)
			sum++;
	}
	out[ITEM & 255] += sum;
}
