// SPDX-License-Identifier: MIT
/* Branches below branches on which lanes differ; see tests/cc/pitfalls.c. */
#include "cc_pitfalls.h"

/*
 * Both ways of the first branch lead to both ends. A value that is chosen where the ends meet
 * differs between lanes, though neither the conditions below the first one nor what is chosen do.
 */
kernel void two_ways(PLAIN)
{
	uint x = in[ITEM], r;

	if (x & 1 ? n & 2 : n & 4) {
		if (x & 8)
			out[ITEM + 256] = in[ITEM + 1];
		else
			out[ITEM + 512] = ~x;
		out[ITEM + 768] = x;
		r = 2;
	} else {
		if (x & 16)
			out[ITEM + 256] = x;
		else if (x & 32)
			out[ITEM + 512] = x;
		else
			out[ITEM + 256] = x * 3;
		r = 1;
	}
	out[ITEM] = r * in[n];
}

/* The ends meet in a loop, and where lanes leave it. */
kernel void two_ways_in_a_loop(PLAIN)
{
	uint x = in[ITEM], r = 0, i;

	for (i = 0; i < n; i++) {
		if ((x >> i) & 1 ? n & 2 : n & 4) {
			if ((x >> i) & 8)
				out[ITEM + 256] += in[ITEM + 1];
			else
				out[ITEM + 512] ^= ~x;
			out[ITEM + 768] ^= x >> i;
			r += 2;
		} else {
			if ((x >> i) & 16)
				out[ITEM + 256] ^= x;
			else if ((x >> i) & 32)
				out[ITEM + 512] ^= x + i;
			else
				out[ITEM + 256] ^= x * 3;
			r += 1;
			if ((x >> i) & 2 ? n & 1 : n & 4) {
				out[ITEM + 512] += i;
				if ((x >> i) & 32)
					break;
			}
		}
	}
	out[ITEM] = r * 100 + i;
}

/* The ends are a barrier and the end of the kernel: as work-items agree, so must lanes. */
kernel void two_ways_to_a_barrier(ARGS)
{
	uint x = in[ITEM], same, r = x;

	s[LID] = 3 * get_group_id(0);
	barrier(CLK_LOCAL_MEM_FENCE);
	same = s[SIZE - 1 - LID];
	barrier(CLK_LOCAL_MEM_FENCE);
	if (same < n ? same & 2 : same & 1) {
		r += x & 4 ? in[ITEM + 1] : ~x;
		s[LID] = r;
		barrier(CLK_LOCAL_MEM_FENCE);
		r ^= s[(LID + 7) % SIZE];
	} else {
		switch (x & 3) {
		case 0:
			r ^= n;
			break;
		case 1:
			out[ITEM + 256] = x;
			break;
		default:
			r++;
		}
	}
	out[ITEM] = r;
}

/* A flag is stored only where its memory holds something else (by an earlier store, or by none). */
kernel void flags(PLAIN)
{
	uint x = in[ITEM];

	if (x & 1)
		out[1000] = 7;
	if ((x & 3) == 2)
		((global uchar *)out)[4004] = 255;
	if (x > 0xfffffff0)
		out[1002] = 9;
	if (!(x & 6))
		*(global ulong *)(out + 1004) = 0x100000000;
	out[ITEM] = x + n;
}

/*
 * All lanes may leave the loop where the first way would go on to values that its latch uses: the
 * code for lanes that have left is at the latch, which the values are not skipped for.
 */
kernel void left_before_values(PLAIN)
{
	uint x = in[ITEM], u = 0, i, j;

	for (i = 0; i < 3; i++) {
		for (j = 0; j < 3; j++) {
			if (in[28] & 1) {
				if (in[64 + (u & 63)] & 1)
					goto end;
				out[ITEM + 256] += u;
			}
			if (in[ITEM + 28] & 1)
				u += 3;
			u++;
		}
		u++;
	}
end:
	out[ITEM] = x + u * 11;
}

/* What is chosen by a test of x is the same for a row on one side of it, or on neither, or both. */
kernel void chosen_sides(PLAIN)
{
	const int x = get_global_id(0), w = get_global_size(0), far = w + (int)n - 5;
	const int last = n == 6 ? 2 : w;
	uint r = in[x > last + 1 ? last : x > 0 ? x - 1 : 0];

	r += in[far <= x ? far & 255 : x] * 3 + (last < x ? in[x] : n) * 5;
	r += (x - 3 > last ? x * x : x - 7) * 7 + (x > far ? n : n * 2) * 11;
	r += (x > (int)n ? in[x - n] : 13u) * 17 + (x >= w / 2 ? 19u : r ^ x);
	out[ITEM] = r + (x + 1 > w - (int)n ? in[w - 1] : in[x + 2]);
}

/* Mirrored at a border that lies inside of the row, outside of it, or where sums wrap around. */
kernel void mirrors(PLAIN)
{
	const int x = get_global_id(0), w = get_global_size(0), shift = (int)n - 5;
	const int last = n == 3 ? w / 3 : n == 4 ? 2 * w : n == 8 ? 4 : w - 1;
	const int far = n == 6 ? 0x7fffffe0 : n == 7 ? (int)0x80000010 : last;
	uint r = 1;

	r += in[clamp(min((int)abs(x + shift), 2 * last - x - shift), 0, last)];
	r += 3 * in[clamp(min(max(x - 9, 8 - x), last * 2 - x + 9), 0, w - 1)];
	r += 5 * in[clamp(max(2 * last - x, x), 0, 1000)];
	r ^= (uint)min((int)((uint)far - (uint)x), x + shift) * 7;
	r ^= (uint)max(x - shift, (int)(~(uint)x + (uint)far)) * 11;
	if (x - shift < (int)((uint)far - (uint)x))
		r ^= 0x1000;
	if ((int)((uint)far - (uint)x) <= x)
		r ^= 0x2000;
	if ((uint)far - (uint)x >= (uint)x)
		r ^= 0x4000;
	if (last - x == x)
		r ^= 0x8000;
	if ((long)x * 1 - 3 > (long)last - (long)x)
		r ^= 0x10000;
	out[ITEM] = r;
}

/* Clamps of what falls along a row, where it stays inside of them, or not, or wraps around. */
kernel void falling_clamps(PLAIN)
{
	const int x = get_global_id(0), w = get_global_size(0);
	const int last = n == 3 ? w / 3 : n == 4 ? 2 * w : n == 8 ? 4 : w - 1;
	const int far = n == 6 ? 0x7fffffe0 : n == 7 ? (int)0x80000010 : last;
	uint r = in[clamp(last - x, 0, w - 1)];

	r += 3 * in[clamp((int)((long)w - x - (long)n), 0, 63)];
	r ^= (uint)max((int)((uint)far - (uint)x), 5) * 7;
	r ^= min((uint)far - (uint)x, 99u) * 11;
	r ^= (uint)min((int)abs(last - x), 70) * 13;
	out[ITEM] = r;
}

/* A quarter turn, whose rows are columns from the last element on */
kernel void turns(PLAIN)
{
	const int x = get_global_id(0), y = get_global_id(1), h = get_global_size(1);

	out[ITEM] = in[x * h + clamp(h - 1 - y + (int)n % 3, 0, h - 1)];
}

/* Sums of 64 bits that wrap around within the row, if n is 6. */
kernel void mirrors_of_64_bits(PLAIN)
{
	const ulong x = get_global_id(0) + n * 0x1555555555555550, w = n;
	ulong r = 0;

	for (int i = -2; i < 3; i++) {
		const ulong at = x + i;

		const long from = (long)at < 0 ? -at - 1 :
				  (long)at > (long)(w - 1) ? 2 * w - at - 1 : at;

		r = r * 31 + from;
		if (from >= 0 && from < 128)
			r += in[from];
	}
	out[ITEM] = r;
}

/* As above with one comparison only, that the others would not make hold nowhere. */
kernel void signs_of_64_bits(PLAIN)
{
	const ulong at = get_global_id(0) + (n & 1 ? 9223372036854775778u : n * 0x1555555555555550);
	uint r = in[ITEM];

	if ((long)at < 0)
		r = r * 3 + in[r & 63];
	out[ITEM] = r;
}

kernel void mirrors_that_guard(PLAIN)
{
	const int x = get_global_id(0), last = get_global_size(0) - 1;

	if (x + (int)n > 2 * last - x - 20)
		return;
	out[ITEM] = in[x + 7] + in[abs(x - (int)n)];
}

/* The first work-items load more, with tests of their own. */
kernel void mirrors_across_a_barrier(ARGS)
{
	const int x = get_global_id(0), lid = get_local_id(0), size = get_local_size(0);
	const int last = min((int)get_global_size(0) - 1, (int)n * 25), begin = x - lid;
	local uint *row = s + get_local_id(1) * size;
	uint r = 0;

	row[lid] = in[clamp(min(max(x, -x), 2 * last - x), 0, last)];
	if (lid < 2) {
		const int left = begin + lid - 2;
		r = in[clamp(min(max(left, -left), 2 * last - left), 0, last)];
	} else if (lid < 4) {
		const int right = begin + size + lid - 2;
		r = in[clamp(min(max(right, -right), 2 * last - right), 0, last)] * 3;
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	out[ITEM] = r + row[size - 1 - lid] + row[max(lid - 1, 0)] * 5;
}

/* Inactive lanes have wild addresses, and zero is not what they load. */
#define ACTIVE_ONLY(T)									\
kernel void active_only_##T(PLAIN)							\
{											\
	global const T *from = (global const T *)in;					\
	global T *to = (global T *)(out + 256) + ITEM * 5 % 251;			\
	uint v = in[ITEM], odd = v & 1, at = odd ? v % 499 : v;				\
	T own[8] = { 1, 2, 3 }, p = 3;							\
											\
	if (odd)									\
		p = from[at];								\
	if (v & n) {									\
		own[v >> 3 & 7] = p;							\
		own[p > 5 ? 2 : 5] += 7;						\
	}										\
	for (uint i = v & 3; i < 4; i++)						\
		if (odd)								\
			p = from[at + i] + own[(i + v) & 7];				\
	if ((v & 6) != n)								\
		*to = p;								\
	if (ITEM > n)									\
		to[0] += from[ITEM * n % 400];						\
	out[ITEM] = (uint)own[v >> 5 & 7] + (uint)p * 3;				\
}

ACTIVE_ONLY(uchar)
ACTIVE_ONLY(short)
ACTIVE_ONLY(int)
ACTIVE_ONLY(ulong)

/* Comparisons of multiples of x, on both sides of the values that they reach */
kernel void multiples(PLAIN)
{
	int x = get_global_id(0), most = n;
	uint u = x, r = 1;
	long l = x;

	if (3 * x + 2 >= most * 61)
		return;
	if (2 * x + 1 > most * 9)
		r += in[x] * 3;
	if (5 * x - 12 <= most)
		r ^= in[x + 5];
	if (4 * x == (most & 4) * 11)
		r += 77;
	if (6 * x - 42 != most * 3)
		r += in[x + n] * 5;
	if (7 * u - 31 < n * 40)
		r *= 5;
	if (8 * u + n >= 300)
		r += in[x] >> 3;
	if (9 * l - 70 < n * 31l)
		r ^= in[x + 1];
	out[ITEM] = r + in[clamp(3 * x - 20, 0, most * 37)] + in[min(2 * u, n * 50)];
}

kernel void multiples_that_wrap(PLAIN)
{
	uint u = get_global_id(0), r = in[ITEM];

	if ((int)(u * 31 + 0x7ffffd00 + n) < 5)
		r += 3;
	if (u * 17 + 0xfffff800 < n * 50)
		r ^= in[ITEM + 1];
	if ((ulong)(u * 32 + 0xfffffc00) + 3 < n * 90)
		r *= 7;
	if ((long)(int)(u * 16 + 0x7ffffe00) - 5 > (long)n)
		r += in[ITEM + n];
	if (u * 5 < 0x80000000 + n)
		r ^= 0x1234;
	out[ITEM] = r;
}

/* Neighbouring bytes and shorts of which some are loaded */
#define SOME_NEIGHBOURS(T)								\
kernel void some_neighbours_##T(PLAIN)							\
{											\
	global const T *from = (global const T *)in + ITEM;				\
	uint v = in[ITEM], r = v & 7;							\
											\
	if (r > n)									\
		r += from[n] * 3;							\
	for (uint i = 0; i < (v & 3); i++)						\
		if ((v >> i & 12) == 4)							\
			r = r * 5 + from[i * 300] - from[i + 9];			\
	out[ITEM] = r;									\
}

SOME_NEIGHBOURS(uchar)
SOME_NEIGHBOURS(short)

kernel void ends_of_pages(OUT, global const uchar *bytes, IN, uint low, uint high)
{
	const uint x = get_global_id(0), i = in[x];

	out[x] = 7;
	if (i >= low && i < high)
		out[x] = bytes[x] * 3;
}

/* Both ways of a branch end in stores to the same addresses, and one reads between them. */
kernel void stores_of_both_ways(PLAIN)
{
	const uint i = ITEM, v = in[i & 255];

	if (i < n * 50) {
		if (v & 1) {
			out[i + 400] = v;
			out[i] = v * 3;
		} else {
			out[i + 400] = ~v;
			out[i] = out[i + 400] + 1;
		}
	}
	if (v & 4) {
		out[i] += v;
		out[i + 400] ^= 1;
	} else {
		out[i + 400] ^= 3;
		out[i] = v;
	}
}

/* Stores of one way are read by the other way's loads, and by what follows. */
kernel void stores_read_behind(PLAIN)
{
	const uint i = ITEM, v = in[i & 255];
	uint r;

	if (v % 3) {
		r = out[i];
		out[i] = v;
	} else {
		out[i] = v + 1;
		r = in[(i + 1) & 255] + out[i];
	}
	out[i + 400] = r + out[i];
}

/* Nearly all lanes store, or none, or all. */
kernel void stores_of_most_lanes(PLAIN)
{
	const uint i = ITEM, v = in[i & 255];

	if (v % 24 != 3) {
		out[i] = v * 5;
		out[i + 400] = v ^ 7;
	}
	if (v != n)
		((global ushort *)out)[2 * i] = v;
	if (i % 64 > n)
		out[i] += 2;
	for (uint j = 0; j < v % 4; j++)
		out[i] += j * v;
}

/* Lanes leave a loop over vectors at different times. */
kernel void vectors_in_a_loop(PLAIN)
{
	const uint i = ITEM;
	uint4 sum = 0;

	for (uint j = 0; j < 4; j++) {
		if ((int)(i - j * n * 5) < 0) {
			out[i] = sum.x + 3 * sum.y;
			return;
		}
		sum += vload4((i - j * n) & 31, in);
	}
	out[i] = sum.x + 5 * sum.y + 7 * sum.z + 11 * sum.w;
}

/* Each work-item accesses an address of its own, and computes little. */
kernel void places_of_their_own(PLAIN)
{
	const uint i = ITEM;

	out[(i & ~15) | (i * 5 & 15)] = in[i * 7 & 255];
}

kernel void lists_of_their_own(PLAIN)
{
	const uint i = ITEM, end = in[(i + 1) & 255] & 127;
	uint sum = i;

	for (uint j = in[i & 255] & 127; j < end; j++)
		sum += in[j] * in[in[j + 1] & 255];
	out[i] = sum;
}

/* Work-items that a guard lets run where a value is clamped (interior.cc) */
#define CLAMPED_GUARD(NAME, TEST) \
	kernel void NAME(ARGS) \
	{ \
		const int x = ITEM, size = n; \
		\
		if (TEST) \
			return; \
		out[ITEM] = in[ITEM] + 1; \
	}

CLAMPED_GUARD(guard_of_min, min(x - 3, 4) > size)
CLAMPED_GUARD(guard_of_max, max(x, 20) < size + 14)
CLAMPED_GUARD(guard_of_clamp, clamp(x - 2, 0, 5) >= size)
CLAMPED_GUARD(guard_of_sum, min(x, 3) + x * 2 > size + 40)

/* Lanes leave loops at different times with more sums than fit in the registers twice. */
#define EACH_SUM(F)	F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9)
#define ZERO_SUM(K)	uint s##K = i * K;
#define ADD_SUM(K)	s##K += v * (K + 3);
#define ADD_SOME(K)	s##K += K % 3 ? v >> K : j;
#define TURN_SUM(K)	s##K ^= s##K << (K + 1);
#define MORE_SUM(K)	total += s##K * (2 * K + 1);

kernel void many_sums(PLAIN)
{
	const uint i = ITEM, end = in[i & 255] % 9;
	uint total = 0;
	EACH_SUM(ZERO_SUM)

	for (uint j = 0; j < end; j++) {
		const uint v = in[(i + j * n) & 255];

		EACH_SUM(ADD_SUM)
	}
	EACH_SUM(MORE_SUM)
	out[i] = total;
}

kernel void many_sums_with_conditions(PLAIN)
{
	const uint i = ITEM, end = in[i & 255] % 9;
	uint total = 0;
	EACH_SUM(ZERO_SUM)

	for (uint j = i % 3; j < end; j++) {
		const uint v = in[(i + j * n) & 255];

		if (v % 4 == 0) {
			EACH_SUM(TURN_SUM)
			continue;
		}
		if (v % 4 == 1) {
			EACH_SUM(ADD_SUM)
			s3 = v;
		} else if (n > 4) {
			EACH_SUM(TURN_SUM)
		}
		if (v & 8) {
			EACH_SUM(ADD_SOME)
		}
	}
	EACH_SUM(MORE_SUM)
	out[i] = total;
}

/* What a lane leaves with is a value of the last iteration, or of the one before. */
kernel void many_values_handed_on(PLAIN)
{
	const uint i = ITEM;
	uint total = 0, a = in[i & 255], b = in[(i + 1) & 255] | 1;
	EACH_SUM(ZERO_SUM)

	while (b) {
		const uint v = a % b;

		s0 = s1, s1 = s2, s2 = s3, s3 = s4, s4 = s5, s5 = s6, s6 = s7, s7 = s8, s8 = s9;
		s9 = v;
		a = b;
		b = v;
	}
	EACH_SUM(MORE_SUM)
	out[i] = total + a;
}

#define OTHER_SUM(K)	uint t##K;
#define TAKE_SUM(K)	t##K = s##K;
#define ADD_LOADED(K)	t##K += in[(v + K) & 255];
#define KEEP_SUM(K)	s##K = t##K;

/* A lane that breaks off after it has added leaves with the sums of the iteration before. */
kernel void many_sums_taken_back(PLAIN)
{
	const uint i = ITEM, first = in[i & 255];
	uint total = 0;
	EACH_SUM(ZERO_SUM)
	EACH_SUM(OTHER_SUM)

	for (uint j = 0; j < 40; j++) {
		const uint v = in[(i + j * n) & 255];

		EACH_SUM(TAKE_SUM)
		if ((first + j) % 3 == 0) {
			EACH_SUM(ADD_LOADED)
		}
		if (t0 % 11 == j % 11)
			break;
		EACH_SUM(KEEP_SUM)
	}
	EACH_SUM(MORE_SUM)
	out[i] = total;
}

kernel void many_sums_with_ends(PLAIN)
{
	const uint i = ITEM, end = in[i & 255] % 9;
	uint total = 0;
	EACH_SUM(ZERO_SUM)

	for (uint j = 0; j < end; j++) {
		const uint v = in[(i + j * n) & 255];

		if (v % 16 == 3)
			break;
		EACH_SUM(ADD_SUM)
		if (v % 16 == 5)
			break;
		if (v % 16 == 7) {
			out[i] = s1 + s9 * n;
			return;
		}
		s4 ^= total;
	}
	EACH_SUM(MORE_SUM)
	out[i] = total;
}

kernel void many_sums_in_nested_loops(PLAIN)
{
	const uint i = ITEM, end = in[i & 255] % 5;
	uint total = 0;
	EACH_SUM(ZERO_SUM)

	for (uint k = 0; k < n; k++) {
		for (uint j = k % 2 * i % 3; j < end; j++) {
			uint v = in[(i + j * n + k) & 255];

			EACH_SUM(ADD_SUM)
			while (v % 8 > 2) {
				EACH_SUM(ADD_SOME)
				v--;
				if (v % 32 == 6)
					goto next;
			}
			if (v & 16) {
				EACH_SUM(TURN_SUM)
			}
		}
next:
		s5 += k;
	}
	EACH_SUM(MORE_SUM)
	out[i] = total;
}

/* The only exit of a loop is where some lanes do not come in each iteration. */
kernel void exit_that_some_skip(ARGS)
{
	uint sum = 0, i, j = 0;

	for (i = 0;; i++) {
		if (in[(ITEM + i) & 255] % 3 == 0)
			continue;
		sum += in[i & 255] % 100;
		if (sum > n * 50)
			break;
	}
	for (;;) {
		j++;
		if ((ITEM + j) & 1) {
			sum = sum * 3 + j;
			if (j > n)
				break;
		} else {
			sum ^= in[j & 255];
		}
	}
	out[ITEM] = sum * 64 + i + j;
}

/*
 * Lanes leave a loop in different iterations, and only those that do so in the first ones return,
 * past the end of @k's life.
 */
kernel void return_from_first_iterations(PLAIN)
{
	uint x = in[ITEM], tail[4] = { x, n, ITEM, 1 };

	for (uint i = 0;; i++) {
		if (i < 2) {
			uint k = 0;

			do {
				if (ITEM > n && x % 5 == 4)
					return;
				x = x * 5 + in[(ITEM + k) & 255];
			} while (k++ < n && (ITEM & 8));
			continue;
		}
		for (uint k = 0; k <= (x & 7); k++)
			tail[tail[x & 3] & 3] = ITEM;
		if (i >= (ITEM & 7))
			break;
	}
	out[ITEM] = x + tail[0] * 3 + tail[1] * 5 + tail[2] * 7 + tail[3];
}

/*
 * Vectors that may begin or end outside of an array are loaded and stored in parts, which lanes do
 * with so many instructions that work-items do it one after the other.
 */
static int4 load_some(global const int4 *from, uint at, uint ints)
{
	int4 v = 0;

	if ((at + 1) * 4 <= ints)
		return from[at];
	if (at * 4 < ints)
		v.x = from[at].x;
	if (at * 4 + 1 < ints)
		v.y = from[at].y;
	if (at * 4 + 2 < ints)
		v.z = from[at].z;
	return v;
}

static void store_some(int4 v, global int4 *to, uint at, uint ints)
{
	if ((at + 1) * 4 <= ints) {
		to[at] = v;
		return;
	}
	if (at * 4 < ints)
		to[at].x = v.x;
	if (at * 4 + 1 < ints)
		to[at].y = v.y;
	if (at * 4 + 2 < ints)
		to[at].z = v.z;
}

kernel void parts_of_vectors(PLAIN)
{
	uint x = get_global_id(0), ints = 41 + n % 100;
	int4 a = load_some((global const int4 *)in, 2 * x, ints);
	int4 b = load_some((global const int4 *)in, 2 * x + 1, ints);

	if (get_global_id(1))
		return;
	store_some(a + b.wzyx, (global int4 *)out, 2 * x, ints);
	store_some(b - a.yxwz, (global int4 *)out, 2 * x + 1, ints);
}

/* One work-item of a group, or all of them, store to one address what differs among work-items. */
#define LAST(T)										\
kernel void last_##T(ARGS)								\
{											\
	local T *t = (local T *)s;							\
	uint l = LID, v = in[ITEM];							\
											\
	if (l == 0)									\
		t[1] = 5;								\
	barrier(CLK_LOCAL_MEM_FENCE);							\
	if (l == n % SIZE)								\
		t[1] = v ^ l;								\
	if (l == SIZE - 1)								\
		t[0] = in[ITEM + 1] - v;						\
	for (uint j = 0; j < 3; j++)							\
		if (l == ((n + j) * 7) % SIZE)						\
			t[j + 2] = l + v;						\
	barrier(CLK_LOCAL_MEM_FENCE);							\
	out[ITEM] = (uint)t[0] + (uint)t[1] * 9 + (uint)t[2] * 3 + (uint)t[3] * 5 +	\
		    (uint)t[4] * 7;							\
}

LAST(uchar)
LAST(short)
LAST(uint)
LAST(long)
LAST(double)

/* Loops with an end of each lane: more and less, down, far apart, of few lanes, and none at all */
kernel void ends_of_lanes(PLAIN)
{
	uint i = ITEM, x = get_global_id(0), v = in[i], r = 0, q = 1;
	int low = (int)(v & 15) - 8, last = 0;
	float sum = 0;

	for (uint j = 0; j < x; j++)
		r += in[j] == v;
	for (uint j = x; j < n * 5; j++) {
		r += in[j + n] ^ q;
		q += r;
	}
	for (int j = n; j >= low; j--) {
		sum += j * .5f;
		last = j;
	}
	for (uchar j = v; j > 3; j -= 3)
		r = r * 5 + in[j];
	if (v & 1)
		for (uint j = v & 7; j < (v >> 3 & 31); j++)
			r += in[j] * j;
	for (uint k = 0; k < (v & 3); k++)
		for (long j = k; j < (long)(x & 5) - 2; j += 2)
			q = q * 3 + in[j];
	if (v & 4)
		for (uint j = 0; j != (v & 6); j += 2)
			q ^= in[j] << j;
	out[i] = r + q * 7 + last * 11 + (uint)(int)(sum * 2) * 13;
}
