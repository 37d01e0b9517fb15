// SPDX-License-Identifier: MIT
/*
 * cc_pitfalls_ways.cl - regions that all work-items leave on one way, for tests/cc/pitfalls
 *
 * See tools/salvo-cc/ways.cc: guards in loops with barriers, and what they keep work-items from.
 */
#include "cc_pitfalls.h"

kernel void halving(ARGS)
{
	uint l = LID;

	s[l] = in[ITEM];
	barrier(CLK_LOCAL_MEM_FENCE);
	for (uint k = SIZE / 2; k > 0; k >>= 1) {
		if (l < k)
			s[l] += s[l + k] * 3;
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	if (l == 0)
		out[get_group_id(1) * get_num_groups(0) + get_group_id(0)] = s[0];
	out[ITEM + 300] = s[l];
}

/* The loop has two exits: a barrier, and its end, behind which all read volatile memory. */
kernel void halving_to_the_end(ARGS)
{
	volatile local uint *sums = s;
	uint l = LID, k = SIZE;

	sums[l] = in[ITEM];
	barrier(CLK_LOCAL_MEM_FENCE);
	while (k > 1) {
		k >>= 1;
		if (l < k)
			sums[l] += sums[l + k] * 3;
		if (k > 1)
			barrier(CLK_LOCAL_MEM_FENCE);
	}
	uint sum = sums[0];
	if (l == 0)
		out[get_group_id(1) * get_num_groups(0) + get_group_id(0)] = sum;
}

/* The same, but that the barrier is behind a branch that all work-items take, or none. */
kernel void halving_in_some_rounds(ARGS)
{
	volatile local uint *sums = s;
	uint l = LID, k = SIZE, rounds = 0;

	sums[l] = in[ITEM];
	barrier(CLK_LOCAL_MEM_FENCE);
	while (k > 1) {
		k >>= 1;
		if (n & k) {
			if (l < k)
				sums[l] += sums[l + k] * 3;
			if (k > 1)
				barrier(CLK_LOCAL_MEM_FENCE);
		} else {
			rounds = rounds * 5 + in[k];
		}
	}
	uint sum = sums[0];
	if (l == 0)
		out[get_group_id(1) * get_num_groups(0) + get_group_id(0)] = sum + rounds;
}

/* Along x only, with two barriers in an iteration, and a value that stays with the work-item */
kernel void scanning(ARGS)
{
	uint x = get_local_id(0), size = get_local_size(0);
	local uint *row = s + get_local_id(1) * size;
	uint sum = in[ITEM], rounds = 0;

	row[x] = sum;
	barrier(CLK_LOCAL_MEM_FENCE);
	for (uint k = 1; k < size; k *= 2) {
		uint more = 0;

		if (x >= k)
			more = row[x - k];
		barrier(CLK_LOCAL_MEM_FENCE);
		if (x >= k)
			row[x] += more;
		rounds = rounds * 3 + k;
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	out[ITEM] = row[x] + rounds;
}

/* A value that is the same for all work-items goes from region to region also where none is run. */
kernel void common_values(ARGS)
{
	uint x = get_local_id(0), at = n, all = 0;

	s[LID] = in[ITEM];
	barrier(CLK_LOCAL_MEM_FENCE);
	for (uint i = 0; i < n; i++) {
		at = at * 5 + 1;
		if (x >= (at & 15) && x < (at & 31))
			s[LID] += at;
		barrier(CLK_LOCAL_MEM_FENCE);
		all ^= at >> i;
		if (x == (at >> 3 & 15))
			s[LID] ^= all;
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	if (x > 2)
		s[LID] += all;
	out[ITEM] = s[LID] + at;
}

/* Antidiagonals of a tile, as invariants minus x, in both halves of it */
kernel void antidiagonals(ARGS)
{
	int x = get_local_id(0), size = get_local_size(0);
	local uint *row = s + get_local_id(1) * size;

	row[x] = in[ITEM] & 255;
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int d = 0; d < 2 * size - 1; d++) {
		int y = d - x;

		if (y >= 0 && y < (int)n)
			row[x] = row[x] * 3 + in[y * size + x];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	for (int d = size - 2; d >= 0; d--) {
		if (x <= d)
			row[x] ^= in[(size - 1 - x) * 8 + d];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	out[ITEM] = row[x];
}

/* An invariant minus x, compared in every way */
kernel void falling(PLAIN)
{
	int x = get_global_id(0), k = 9 * n;
	uint r = in[ITEM], u = n;
	long l = x;

	if (k + 100 - x < 30)
		return;
	if (k - x < 11)
		r += in[x + 1];
	if (k - x <= -(int)n)
		r ^= in[x + 3] * 3;
	if (5 > k + 1 - x)
		r = r * 7 + 3;
	if (k + 2 - x >= (int)(n & 3))
		r -= in[x + 2];
	if (3 * u - x < 12)
		r += in[x + 5] >> 3;
	if (20 * u - x <= 17)
		r ^= 0x1234;
	if (70 * u - x > 30 * u)
		r *= 3;
	if (u * 4 == 77 - x)
		r += 1000;
	if (~x != -31 - k)
		r += in[x + n];
	if (k * 3l - l < n)
		r += 5;
	out[ITEM] = r;
}

kernel void falling_that_wraps(PLAIN)
{
	uint u = get_global_id(0), r = in[ITEM];

	if ((int)(0x80000020 + n - u) < 5)
		r += 3;
	if (30 + n - u < n * 3)
		r ^= in[ITEM + 1];
	if (0xfffffff0 + n - u < 0x80000000 - n)
		r *= 7;
	if (0x80000010 + n - u > 0x7ffffff0)
		r += in[ITEM + n];
	if ((ulong)n - u <= 0x8000000000000000)
		r ^= 0x77;
	out[ITEM] = r;
}

/* Only y tells work-items apart. */
kernel void along_y(ARGS)
{
	uint y = get_local_id(1), h = get_local_size(1), g = get_group_id(0);
	uint mine = in[get_global_id(1) * 3 + g], kept[3];

	for (uint i = 0; i < 3; i++)
		kept[i] = in[(get_global_id(1) + i * n) % 64] ^ i;
	s[y] = mine;
	barrier(CLK_LOCAL_MEM_FENCE);
	for (uint d = 1; d < h; d *= 2) {
		uint other = y >= d ? s[y - d] : d;

		barrier(CLK_LOCAL_MEM_FENCE);
		mine += other * 3;
		kept[d % 3] += mine;
		s[y] = mine;
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	out[get_global_id(1) * get_num_groups(0) + g] = mine + kept[n % 3] * s[h - 1 - y];
}

/* Contiguous along y, but neighbours in x share local memory */
kernel void along_x(ARGS)
{
	const int x = get_local_id(0), w = get_local_size(0), y = get_global_id(1);
	const int pitch = n * 4, rows = n * 8;
	uint sum = x;

	if (get_global_id(0) >= 1024 || y >= pitch)
		return;
	for (int i = x; i < rows; i += w)
		sum = sum * 3 + in[(i * pitch + y) % 1024];
	s[x] = sum;
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int i = w / 2; i > 0; i /= 2) {
		if (x < i)
			s[x] = s[x] * 5 + s[x + i];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	out[get_group_id(0) * pitch + y] = s[0];
}

/* Loops in a loop, whose numbers of iterations depend on each other */
kernel void nested(ARGS)
{
	uint l = LID, sum = 0;

	s[l] = in[ITEM];
	for (uint i = 0; i < n % 4 + 1; i++) {
		barrier(CLK_LOCAL_MEM_FENCE);
		for (uint k = i; k < n; k += 2) {
			if (l > k)
				sum += s[l - k];
			barrier(CLK_LOCAL_MEM_FENCE);
			if (l < SIZE - k)
				s[l + k] ^= k << l % 16;
			barrier(CLK_LOCAL_MEM_FENCE);
		}
		if (l >= n)
			s[l] += sum;
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	if (n & 1) {
		if (l < n)
			s[l] += 3;
		barrier(CLK_LOCAL_MEM_FENCE);
		sum += s[SIZE - 1 - l];
	}
	out[ITEM] = sum + s[l] * 5;
}

/* Contiguous along z only: words, longs, and what one quotient of z leaves; of 37 x 2 x 13 */
#define PLANES								\
	const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);	\
	const int w = n * 7 + 3, d = n + 8, h = n - 3

kernel void along_z(PLAIN)
{
	PLANES;

	out[(y * w + x) * d + z] = in[(z * h + y) * w + x] + z;
}

kernel void along_z_alone(PLAIN)
{
	PLANES;
	global const ulong *from = (global const ulong *)in;
	global ulong *to = (global ulong *)out;

	if (y)
		return;
	to[x * d + z] = from[x * d + z] * n;
}

kernel void along_z_in_batches(PLAIN)
{
	PLANES;
	const int m = n, b = z / m, c = z % m;

	if (x < 1 || z >= 2 * m)
		return;
	out[((b * h + y) * w + x) * m + c] = in[(z * h + y) * w + x];
}
