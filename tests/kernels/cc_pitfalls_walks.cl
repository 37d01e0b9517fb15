// SPDX-License-Identifier: MIT
/* Work-items that walk along memory of their own, several iterations at once; see pitfalls.c. */
#include "cc_pitfalls.h"

/* Rows of n, which is no multiple of anything, and of less than three */
#define WALKS(name, type)						\
kernel void walk_##name(PLAIN)						\
{									\
	const int i = ITEM, m = n & 3;					\
	global const type *p = (global const type *)in;			\
	global const type *row = p + i * m / (int)(sizeof(type) / 4);	\
	type a = i, b = 1, c = 2;					\
									\
	for (int k = 0; k < (int)(n * 4 / sizeof(type)); k++) {		\
		a = a * 31 + row[k];					\
		b = b * 7 + (row[k] ^ p[k]);				\
	}								\
	for (int k = n - 3; k > 0; k--)					\
		c = c * 5 + p[i + k];					\
	for (int k = 0; k < 3; k++)					\
		c = (c ^ row[n - k]) * 3;				\
	out[i] = a + c;							\
	out[i + 256] = (ulong)b * 3 >> 7;				\
}

WALKS(uint, uint)
WALKS(int, int)
WALKS(ulong, ulong)

kernel void walk_float(PLAIN)
{
	const int i = ITEM;
	global const float *row = (global const float *)in + (i & 63) * (int)n;
	float a = i, most = 0;

	for (int k = 0; k < (int)n; k++) {
		const float v = as_float(as_uint(row[k]) >> 9 | 0x3f800000);

		a = a * .5f + v;
		most = v > most ? v : most;
	}
	out[i] = as_uint(a);
	out[i + 256] = as_uint(most);
}

/* Two, three and five elements for each iteration, and every second one */
kernel void walk_several(PLAIN)
{
	const int i = ITEM, m = n / 2;
	global const uint *p = in + (i & 127) * m, *q = in + (i & 63) * 2;
	uint a = i, b = i, c = i, d = i;

	for (int k = 0; k < m; k++) {
		a = a * 3 + p[2 * k] + 5 * p[2 * k + 1];
		b = b * 3 + q[3 * k + 2] + 5 * q[3 * k] + 7 * q[3 * k + 1];
	}
	for (int k = 0; k < (int)n; k++) {
		c = c * 3 + p[2 * k];
		d = d * 5 + q[5 * k] + 3 * q[5 * k + 1] + 5 * q[5 * k + 2] + 7 * q[5 * k + 3] +
		    9 * q[5 * k + 4];
	}
	out[i] = a + b;
	out[i + 256] = c + d;
}

/* Some of the lanes, or some of them for a while */
kernel void walk_some(PLAIN)
{
	const int i = ITEM;
	global const uint *row = in + (in[i] & 127) * (int)n;
	uint a = 1, b = 2;

	if (in[i + 1] & 12)
		for (int k = 0; k < (int)n; k++)
			a = a * 3 + row[k] * in[k];
	for (int j = in[i + 2] & 3; j < 3; j++)
		for (int k = 0; k < (int)n; k++)
			b = b * 5 + (row[k] ^ in[i * (int)(n & 3) + k]);
	out[i] = a;
	out[i + 256] = b;
}

/* As many rows as there are, whatever the number of work-items */
kernel void walk_strides(PLAIN)
{
	for (uint i = ITEM; i < 100; i += 16) {
		global const uint *row = in + i * n;
		uint a = 1;

		for (uint k = 0; k < n; ++k)
			a = a * 3 + row[k] * in[k];
		if (i % 16 == ITEM)
			out[i] = a;
	}
}

/* Each lane ends when it likes to. */
kernel void walk_ends(PLAIN)
{
	const int i = ITEM, count = in[i] & 7;
	global const uint *row = in + (i & 127) * (int)n;
	uint a = 1, b = 2;

	for (int k = 0; k < count; k++)
		a = a * 3 + row[k];
	for (int k = 0; k < (int)n; k++) {
		if (row[k] & 1)
			break;
		b = b * 3 + row[k];
	}
	out[i] = a;
	out[i + 256] = b;
}

/* What was stored is loaded, by the next iteration and by one behind that. */
kernel void walk_own(PLAIN)
{
	const int i = ITEM, m = 4;
	global uint *row = out + i * m;

	row[0] = in[i];
	for (int k = 1; k < m; k++)
		row[k] = row[k - 1] * 3 + in[k];
	for (int k = 0; k < m - 2; k++)
		row[k + 2] ^= row[k] * 5;
	for (int k = 0; k < (int)(n & 3); k++) {
		out[i * m + 3 - k] += row[k];
		atomic_xor(&row[k], in[k]);
	}
	for (int k = 0; k < m; k++)
		row[k] += 7 * ((volatile global const uint *)in)[i + k];
}

/*
 * A row that is changed in place, forwards and backwards: what an iteration loads may be what the
 * ones before or behind it store.
 */
#define IN_PLACE(name, type, load, store)					\
kernel void in_place_##name(PLAIN)						\
{										\
	const int i = ITEM, m = n, words = sizeof(type) / 4;			\
	global type *row = (global type *)(out + i * 10 / words * words);	\
	type a = i, b = 3;							\
										\
	if (i >= 100)								\
		return;								\
	for (int k = 0; k < 10 / words; k++)					\
		row[k] = in[i + k];						\
	for (int k = 0; k < m / words; k++) {					\
		a = a * 3 + row[k + load];					\
		row[k + store] = a;						\
	}									\
	for (int k = m / words - 1; k >= 0; k--) {				\
		b = b * 5 + row[k + load] - in[k];				\
		row[k + store] = b;						\
	}									\
}

IN_PLACE(same, uint, 0, 0)
IN_PLACE(behind, uint, 0, 1)
IN_PLACE(ahead, uint, 1, 0)
IN_PLACE(far_behind, uint, 0, 2)
IN_PLACE(same_ulong, ulong, 0, 0)
IN_PLACE(behind_ulong, ulong, 0, 1)
IN_PLACE(ahead_ulong, ulong, 1, 0)

/* Neighbours are loaded and stored as well, and every other element only. */
kernel void in_place_several(PLAIN)
{
	const int i = ITEM, m = n;
	global uint *row = out + i * 10;
	uint a = i;

	if (i >= 100)
		return;
	for (int k = 0; k < 10; k++)
		row[k] = in[i + k];
	for (int k = 0; k < m; k++) {
		a = a * 3 + row[k] + row[k + 1] * 7;
		row[k] = a;
	}
	for (int k = m - 1; k >= 0; k--) {
		a = a * 5 + row[k + 1];
		row[k] = a;
		row[k + 1] ^= a;
	}
	for (int k = 0; k < m / 2; k++) {
		a = a * 3 + row[2 * k];
		row[2 * k + 1] += a;
		row[2 * k] = row[2 * k + 1] * 5;
	}
	for (int k = 0; k < m; k++) {
		row[k] = a;
		a = a * 3 + row[k];
	}
}

/* Stores along a row of each lane, next to loads that are others' in the source's eyes */
kernel void walk_stores(PLAIN)
{
	const int i = ITEM, m = min((int)n, 5), turns = n & 3;
	global uint *restrict row = out + i * 5;
	uint a = i;

	for (int k = 0; k < m; k++) {
		a = a * 3 + in[k];
		row[k] = a;
	}
	for (int j = 0; j < turns; j++)
		for (int k = m - 1; k >= 0; k--) {
			a += k;
			row[k] ^= a;
		}
}

kernel void walk_both(OUT, global const uint *restrict in, uint n)
{
	const int i = ITEM, m = min((int)n, 5);
	uint a = i;

	for (int k = 0; k < m; k++) {
		a = a * 3 + in[(i & 127) * (int)n + k];
		out[i * 5 + k] = a;
	}
}

/* An index without sign wraps around within a row. */
kernel void walk_wraps(PLAIN)
{
	const uint i = ITEM, first = -2u - (i & 1);
	uint a = 1, b = 1;

	for (uint k = 0; k < n; k++)
		a = a * 3 + in[(first + k) & 1023];
	for (uint k = 3; k < n; k++)
		b = b * 3 + in[first + (i & 127) * n + k];
	out[i] = a;
	out[i + 256] = b;
}

/* Places in a table are the upper bits of a count that wraps around, as of a wave's phase. */
kernel void walk_around(PLAIN)
{
	const uint i = ITEM;
	uint phase = in[i] | 0xfd000000, a = 1;

	for (uint k = 0; k < n; k++, phase += 1 << 24)
		a = a * 3 + in[phase >> 24];
	out[i] = a;
}

/* In local memory, between barriers */
kernel void walk_local(ARGS)
{
	const int i = ITEM, l = LID, m = n & 3;
	uint a = 1;

	for (int j = 0; j < 3; j++) {
		s[l] = s[(l + SIZE) & 63] = in[i + j] + a;
		barrier(CLK_LOCAL_MEM_FENCE);
		for (int k = 0; k < m + j; k++)
			a = a * 3 + s[(l & 1) * m + k];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	out[i] = a;
}

/* Along steps that are arguments: rows, or columns */
kernel void walk_steps(PLAIN)
{
	const int x_step = n & 1 ? 1 : 4, step = n & 1 ? 204 : 1, m = n ? 4 : 3;
	int at = ITEM * x_step;
	uint before = in[at];

	for (int k = 0; k < m; k++, at += step) {
		const uint here = in[at];

		out[at] = here * 3 + in[at + step] * 5 + before;
		before = here;
	}
}

/* Rows that end at the end of a page, for a test of their own */
kernel void last_rows(OUT, global const uint *end, int n, int rows)
{
	const int i = get_global_id(0);
	global const ulong *longs = (global const ulong *)(end - 2 * n * rows);
	global const uint *row = end - n * rows;
	uint a = 1, b = 3;

	if (i >= rows)
		return;
	for (int k = 0; k < n; k++)
		a = a * 3 + row[i * n + k];
	for (int k = n - 1; k >= 0; k--)
		b = b * 5 + row[i * n + k] + (uint)longs[i * n + k];
	out[i] = a ^ b;
}

/* Where a work-item stores is elsewhere, or in its row, for tests of its own. */
#define STORES(name, type, body)					\
kernel void stores_##name(global type *sums, global const type *rows,	\
			  global const int *at, int n)			\
{									\
	const int i = get_global_id(0), own = at[i];			\
	global const type *row = rows + i * n;				\
	type v = i;							\
									\
	for (int k = 0; k < n - 2; k++)					\
		body;							\
}

STORES(sum, uint, sums[own] = sums[own] * 3 + row[k])
STORES(sum_of_longs, ulong, sums[own] = sums[own] * 3 + row[k])
STORES(two_sums, uint, (sums[own] += row[k], sums[own + 1] ^= row[k + 1] * 3))
STORES(moving, uint, (v = v * 3 + row[k], sums[own + k] = v))
STORES(falling, uint, (v = v * 3 + row[n - 1 - k], sums[own + k] = v))

/* Indices that wrap around, or a part of them does, for a test of its own */
#define OVERFLOWS(name, at)							\
kernel void overflows_##name(global uint *a, global const uint *b, uint first)	\
{										\
	const uint x = first + get_global_id(0);				\
										\
	for (int i = 0; i < 30; i++)						\
		a[(int)(x * 32 - i + at)] = a[(int)(x * 32 - i + at)] * 3 +	\
			a[(int)(x * 32 - i + at - 1)] *				\
			b[(int)(x * 32 - i + at - 1)];				\
}

OVERFLOWS(in_part, 30)
OVERFLOWS(at_the_end, -2)
