// SPDX-License-Identifier: MIT
/*
 * cc_pitfalls_numbers.cl - quotients just below and at whole numbers, indices that wrap around, and
 * lanes some elements apart
 */
#include "cc_pitfalls.h"

/* Divisors from one to all bits, the same and different ones for lanes, dividends at multiples */
#define QUOTIENTS(T)									\
kernel void quotients_##T(PLAIN)							\
{											\
	uint x = ITEM, r = 0;								\
											\
	for (uint i = 0; i < 64; i++) {							\
		T d = (T)(in[i + n] >> (i % 32)), e = (T)(in[x + i] >> (in[x] % 32));	\
		T q = (T)in[(x * 3 + i) % 512] >> (i * 5 % (8 * sizeof(T)));		\
		T##2 dividends = (T##2)(q * d + x % 3 - 1, q * e + i % 3 - 1);		\
											\
		if (d == 0 || d == (T)-1 || e == 0 || e == (T)-1)			\
			continue;							\
		T##2 v = dividends / d, w = dividends % d;				\
		T##2 s = dividends / (T##2)(d, e), t = dividends % (T##2)(d, e);	\
		r = r * 31 + (uint)v.x + (uint)v.y * 3 + (uint)w.x * 5 + (uint)w.y * 7;	\
		r = r * 31 + (uint)s.x + (uint)s.y * 3 + (uint)t.x * 5 + (uint)t.y * 7;	\
		r += (uint)(dividends.x / d) * 11 + (uint)(dividends.y % e) * 13;	\
		if (q & 1)								\
			r ^= (uint)(dividends.y / e) * 17 + (uint)((T)-1 / d) * 19;	\
	}										\
	out[x] = r;									\
}

QUOTIENTS(char)
QUOTIENTS(uchar)
QUOTIENTS(short)
QUOTIENTS(ushort)
QUOTIENTS(int)
QUOTIENTS(uint)

/* Strides of type size_t make indices of 64 bits that are cut to 32 in each iteration. */
kernel void strided_loops(PLAIN)
{
	const size_t step = get_global_size(0);
	int x = get_global_id(0);
	uint r = 0;

	for (int i = x; i < 1000; i += step)
		r = r * 3 + in[i];
	for (int i = 1000 - x; i > (int)n; i -= step)
		r = r * 5 + in[i];
	uint j = x - 7;
	for (uint k = 0; k < 9; k++, j += step)
		if (j < 1000)
			r = r * 7 + in[j] + j;
	long l = (int)(x - 7);
	for (uint k = 0; k < 9; k++, l += step)
		if (l >= 0 && l < 1000)
			r = r * 9 + in[l] + l;
	ulong m = (uint)(x - 7);
	for (uint k = 0; k < 9; k++, m = (uint)(m + step))
		r = r * 11 + (m < 1000 ? in[m] : (uint)(m >> 32));
	out[ITEM] = r;
}

/* Every distance of lanes up to five elements, forwards and backwards, with and without a mask */
#define STEPS(T)									\
kernel void steps_##T(PLAIN)								\
{											\
	global const T *a = (global const T *)in;					\
	uint x = ITEM % 180, r = 0;							\
	size_t i = get_global_id(0);							\
											\
	r += (uint)a[2 * i + 1] + (uint)a[3 * i] * 3 + (uint)a[3 * i + 2] * 5;		\
	r += (uint)a[4 * i + 3] * 7 + (uint)a[5 * i] * 9;				\
	r += (uint)a[500 - i] * 11 + (uint)a[500 - 2 * i] * 13;				\
	r += (uint)a[900 - 3 * i] * 15 + (uint)a[1000 - 4 * i] * 17;			\
	if (r & 1)									\
		r ^= (uint)a[2 * i] * 19 + (uint)a[700 - 3 * i] * 21;			\
	out[ITEM] = r + (uint)a[x * 2] * 23;						\
}

STEPS(uchar)
STEPS(short)
STEPS(int)

/* Some of the lanes load parts of words that follow on each other. */
#define WORDS(T)									\
kernel void words_##T(PLAIN)								\
{											\
	global const T *a = (global const T *)in + n % 4;				\
	size_t i = get_global_id(0) % 120;						\
	uint r = 0;									\
											\
	if (in[i] & 1)									\
		r += (uint)a[2 * i + 1] + (uint)a[4 * i] * 3 + (uint)a[4 * i + 3] * 5;	\
	for (uint k = i % 3; k < i; k += 16)						\
		r = r * 7 + (uint)a[2 * k] + (uint)a[8 * k + 5] * 9 + (uint)a[8 * k + 2];\
	out[ITEM] = r;									\
}

WORDS(uchar)
WORDS(short)
WORDS(uint)

/* Elements whose alignment is larger than their size, but not that of what is between lanes */
#define APART(T)									\
struct apart_##T { T a, b, c, d; } __attribute__((aligned(4 * sizeof(T))));		\
											\
kernel void apart_##T(PLAIN)								\
{											\
	global const struct apart_##T *s = (global const struct apart_##T *)in;		\
	size_t i = get_local_id(0);							\
											\
	out[ITEM] = (uint)s[i].a + (uint)s[i].c * 3 + (uint)s[40 - i].a * 5 +		\
		    (uint)((global const T##2 *)in)[i].x * 7;				\
}

APART(short)
APART(int)
APART(long)

/* The last work-item loads the last byte before @end, and the first one. */
kernel void last_steps(OUT, global const uchar *end)
{
	const size_t x = get_global_id(0), last = get_global_size(0) - 1;

	out[x] = end[3 * (long)x - 3 * (long)last - 1] + end[-1 - 4 * (long)x] * 3;
}

/* So do some of them, which are apart by a word. */
kernel void last_words(OUT, global const uchar *end)
{
	const long x = get_global_id(0), from_last = x - ((long)get_global_size(0) - 1);
	uint r = 0;

	if (x % 3 == 0 || from_last == 0)
		r = end[8 * from_last - 1] + end[4 * from_last - 1] * 3 +
		    end[2 * from_last - 1] * 5;
	out[x] = r;
}

/* Halves of sums, where one addend is a multiple of two; see tools/salvo-cc/shifts.cc */
kernel void halves(PLAIN)
{
	uint i = ITEM, l = get_local_id(0), d = in[i] & 7;
	size_t first = get_group_id(0) * get_local_size(0), middle = (first + 2 * l) / 2;
	int k = middle, down = (int)(4 * l) - 37 - (int)d;
	uint sum = in[(first + n + 6 * l) >> 1] + in[(8 * l | d) >> 2] + in[(down >> 2) + 12];

	sum += vload3(k, (global const uchar *)in).z + in[(4 * l + d + 2 * n) >> 1];
	if (k < (int)(n * 9))
		sum = sum * 5 + in[k];
	if (k > (int)n)
		sum = sum * 3 + in[(int)(middle * 3)];
	out[i] = sum;
}

/* Sums that wrap around, or carry */
kernel void halves_that_wrap(PLAIN)
{
	uint i = ITEM, l = get_local_id(0), x = in[n % 3 + 29] - 20;
	int y = (int)in[30] - 40 + (int)n;

	out[i] = ((x + 2 * l) >> 1) ^ (x + 4 * l) >> 2 ^ (uint)((y ^ (int)(l * 8)) >> 3);
	out[i + 256] = (((ulong)x + 2 * l) >> 1) + ((x + (n & 1) + 2 * l) >> 2);
	out[i + 512] = (uint)(((long)(int)x + 2 * (int)l) >> 1) - ((2 * (x + l) + 3) >> 1);
	if (((x + 2 * l) >> 1) < l + n)
		out[i + 768] = (uchar)(x + 2 * l) >> 1;
}

/* Sums rounded down to a multiple, which carry, wrap around, or are of bits that do not overlap */
kernel void sums_rounded_down(PLAIN)
{
	uint i = ITEM, l = get_local_id(0), d = in[i] & 7, x = in[n % 3 + 29] - 20;
	int k = (int)(4 * l + n - 1) & ~3;
	long m = ((long)(int)x + 8 * (int)l - 3) & -8;

	out[i] = in[k] + in[(l * 16 + d) >> 2 & ~1u] * 3 + in[(8 * l | d) & ~3u];
	out[i + 256] = ((x + 2 * l) & ~1u) ^ ((x + 4 * l + d) & ~7u);
	out[i + 512] = (uint)m + (uint)(m >> 32);
	if (((x + 16 * l) & ~15u) < l + n && k > (int)n)
		out[i + 768] = (uchar)((x + 4 * l) & ~3u) + in[k + 1];
}

/* Quotients that are the same for parts of a row; see tools/salvo-cc/quotients.cc */
kernel void segments(PLAIN)
{
	uint g = get_global_id(0), w = 5 * n, q = g / w, m = g % w;
	size_t group = g / get_local_size(0), l = g % get_local_size(0);
	uint sum = in[q * 40 + m] + in[40 * group + l] * 3 + in[m + 1] * 5;

	if (m > 2)
		sum ^= in[q + l];
	for (uint i = m; i < 64; i += 16)
		sum = sum * 7 + in[group * 16 + i];
	out[ITEM] = sum;
}

/* Numbers that are taken apart and put together again, also by a divisor of -1, with other terms */
kernel void joined_numbers(PLAIN)
{
	const int a = (int)in[ITEM] >> 8, w = ((int)n - 6) | 1, y = a / w, x = a % w;
	const uint b = in[ITEM], d = n | 1, q = b / d, r = b % d;
	const int sums = (y * w + x) + ((y + 7) * w + x + (int)n) * 3 + (x + w * (y - x)) * 5;

	out[ITEM] = sums + (r + q * d) * 7 + (q * d + (x + (b + q) * d) + r) * 11 + (y + q) * w;
}

/* Pixels of channels: contiguous within a segment of x, while neighbours in y are far apart */
kernel void segments_of_pixels(PLAIN)
{
	uint x = get_global_id(0), y = get_global_id(1), w = 4 * n, c = x / w, i = x % w;
	uint4 sum = vload4(c % 16, in + 900);

	for (uint k = 0; k < n; k++) {
		uint4 v = vload4((k * 16 + y) * n % 40 + i % 8, in);

		sum += v.x * vload4((c + k) % 64, in + 3) + v.y * vload4((c + 3 * k) % 64, in);
	}
	if (ITEM < 256)
		vstore4(sum, ITEM, out);
}

kernel void segments_across_a_barrier(PLAIN)
{
	local uint all[64];
	uint warp = get_local_id(0) >> 3, lane = get_local_id(0) & 7;
	uint l = get_local_id(1) * get_local_size(0) + get_local_id(0);

	all[l] = in[warp * 20 + lane] + in[lane * n];
	barrier(CLK_LOCAL_MEM_FENCE);
	if (lane < n)
		all[l] += in[warp * 9 + lane + 1];
	out[ITEM] = all[l] + in[get_group_id(0) * 8 + warp * 8 + lane];
}

/* Bits of x and of sums with what is the same for a row, in rows that begin with a multiple */
kernel void bits_of_lanes(PLAIN)
{
	local uint all[64];
	uint x = get_local_id(0), y = get_local_id(1), l = y * 16 + x;
	uint a = (l | 64 * n) - 32 * y, b = (x << 2) + 256 * y, c = x - 64 + 16 * (y ^ n);
	long k = (long)x - 48;

	all[l] = in[(l >> 4) * 20 + (l & 15)] + in[(x >> 3) * 9 + (x & 7)];
	barrier(CLK_LOCAL_MEM_FENCE);
	uint sum = all[l] + in[(a & 31) + 3] + in[b & 0x7c] * 3 + in[(b & 0x1c) + (b >> 6)] * 5;

	sum += in[((int)c >> 5) + 2 & 511] * 7 + in[c >> 28] * 11 + in[c & 0x5f] * 13;
	sum += in[(k & 0x3f) + (uint)(k >> 4 & 7)] * 17 + (uint)(k >> 62) + (l & 32) + (l & 0x30);
	if ((x >> 4) % 2)
		sum ^= in[(x & 15) * 4 + (x & 16)];
	if (l & 16)
		sum = sum * 19 + in[(b & ~3u) % 512];
	out[ITEM] = sum + (uint)((short)l & 15) + (x + n & 15) + (15 - x & 31);
}

/* Dividends that are negative or wrap around, divisors that are negative or 0 */
kernel void segments_that_wrap(PLAIN)
{
	int g = get_global_id(0), w = 12 - 2 * (int)n, h = 4 * ((int)n - 6);
	uint u = (uint)g - 3 * n, v = 0x7ffffff0 + n + g;
	long k = (long)g - 40;
	uint sum = in[u % 24 + u / 24 % 64] + in[v / 40 % 128 + v % 40] * 3;

	sum += in[(k / 16 + 10) * 16 + k % 16 + 16] * 5 + in[(g - 50) / 8 + (g - 50) % 8 + 99];
	if (w)
		sum = sum * 7 + in[(g / w + 256) % 512 + (g % w + 64)];
	if (h > 0)
		sum = sum * 11 + in[g / h * 4 + g % h];
	out[ITEM] = sum;
}

/* Indices of 32 bits that are computed in 64: neighbours, unless the sum wraps around on the way */
kernel void sums_cut_to_32_bits(PLAIN)
{
	size_t i = get_global_id(0) + ((size_t)in[7] << 33);
	int x = i, y = (int)(i * 3) + 1;
	uint u = i + 0x7fffffe0, v = i - 40;
	long k = (int)(u + 7), l = (int)(v * 2 + 3);
	uint r = in[x + 1] + in[y] * 3 + in[3 * x + 2] * 5 + ((global const uchar *)in)[x + 3];

	if (x > 0)
		r ^= in[x - 1];
	r += in[(int)(n + i) - 2] * 7 + in[(int)(60 - i) + 200] * 11;
	out[ITEM] = r + (uint)(k >> 32) * 13 + (uint)(k >> 5) + (uint)(l >> 33) * 17;
	out[ITEM + 256] = (uint)((ulong)(u + 9) >> 4) + (uint)((ulong)(v + 5) << 2 >> 30);
}

/* Numbers made of group and local ids, and sizes that differ in the last work-group of a row */
kernel void numbers_of_groups(PLAIN)
{
	uint u = get_group_id(0) * get_local_size(0) + get_local_id(0);
	int i = (int)get_local_id(0) + (int)get_local_size(0) * (int)get_group_id(0);
	size_t s = get_group_id(0) * get_local_size(0) + get_local_id(0);
	uint sum = in[u] + in[i + 3] * 3 + in[2 * s + 1] * 5;

	if (i < 5 * (int)n)
		sum ^= (uint)get_local_size(0) * 7;
	out[ITEM] = sum + in[get_local_id(1) + get_local_size(0)] * 9;
}

/* Numbers of work-groups in two dimensions, and of those after the first n */
kernel void numbers_of_rows(PLAIN)
{
	int row = get_group_id(0) + get_group_id(1) * get_num_groups(0);
	uint x = row * get_local_size(0) + get_local_id(0);
	size_t far = (n + get_group_id(0)) * get_local_size(0) + get_local_id(0);

	out[ITEM] = in[x % 512] * 3 + in[far % 500] + (uint)far + x * 7 + (uint)get_local_id(1);
}

/* Batches of work-groups: the same of them for a batch, or not (strips.cc) */
kernel void batches(PLAIN)
{
	uint parts = n - 2, batch = get_group_id(0) / parts;
	uint x = (get_group_id(0) - batch * parts) * get_local_size(0) + get_local_id(0);

	out[ITEM] = in[x] + in[batch * 5 + 200] * 3 + batch * 11;
}

kernel void batches_with_signs(PLAIN)
{
	int parts = n & 1 ? 2 - (int)n : (int)n - 2, group = get_group_id(0);
	int batch = group / parts, x = group % parts * (int)get_local_size(0) + get_local_id(0);

	out[ITEM] = in[x] + in[batch * 5 + 200] * 3 + batch * 11;
}

kernel void batches_and_strides(PLAIN)
{
	int parts = n - 2, step = n - 3, batch = get_group_id(0) / parts;
	int x = get_local_size(0) * (get_group_id(0) - batch * parts) + get_local_id(0);

	if (x < 100)
		out[ITEM] = in[x * step + batch * 40 + get_local_id(1) * 5] + batch * 11;
}

kernel void batches_of_two_lengths(PLAIN)
{
	size_t x = get_local_size(0) * (get_group_id(0) % n) + get_local_id(0);

	if (x < 70)
		out[ITEM] = in[x] + (uint)(get_group_id(0) / (n / 2)) * 5;
	else
		out[ITEM] = in[n] + (uint)(get_group_id(0) / (get_num_groups(0) - 2)) * 3;
}

kernel void batches_of_their_own(PLAIN)
{
	uint parts = 2 + (get_local_id(1) & 1), batch = get_group_id(0) / parts;
	uint x = (get_group_id(0) - batch * parts) * get_local_size(0) + get_local_id(0);

	out[ITEM] = in[x] + in[batch * 5 + 200] * 3 + in[get_group_id(0) % n + 7];
}

/* Strides that are one for one of the values of n (units.cc) */
kernel void strides(PLAIN)
{
	uint x = get_local_id(0), y = get_local_id(1), step = n - 3, line = n * 5;
	long back = 4 - (long)n, next = n;

	out[ITEM] = in[x * step + y * line + n] * 3 + in[(x + 1) * step + y * line] * 5 +
		    in[400 + (int)(x * back + y * next)];
}

kernel void strides_and_edges(PLAIN)
{
	int x = get_local_id(0), y = get_local_id(1), step = n - 3, line = n * 5;
	uint r = 7;

	if (x >= 1 && x < (int)get_local_size(0) - 2 && y * step < 9)
		r = in[(x - 1) * step + y * line] ^ in[(x + 2) * step + (y + 1) * line];
	out[ITEM] = r;
}

kernel void strides_of_vectors(PLAIN)
{
	int x = get_local_id(0), first = 4 - (int)n, step = n - 3;

	if (x < 40)
		out[ITEM] = in[x * step + 20] * 3 + in[(x + 1) * first + 300] + n;
}

kernel void strides_of_bytes(PLAIN)
{
	uint x = get_local_id(0), y = get_local_id(1), step = n & 12, line = (n & 3) * 8, sum = 0;
	global const char *bytes = (global const char *)in;

	for (uint i = x; i < 40; i += get_local_size(0))
		sum = sum * 3 + *(global const uint *)(bytes + i * step + y * line);
	out[ITEM] = *(global const ushort *)(bytes + x * (n & 6) + y * line) + sum;
}

kernel void strides_across_a_barrier(ARGS)
{
	int x = get_local_id(0), y = get_local_id(1), step = n - 3, line = n * 5;

	for (int i = x; i < (int)get_local_size(0); i += 3)
		s[y * get_local_size(0) + i] = in[i * step + y * line];
	barrier(CLK_LOCAL_MEM_FENCE);
	out[ITEM] = s[SIZE - 1 - LID] + in[x * step + y * line];
}

kernel void strides_of_groups(PLAIN)
{
	uint part = get_group_id(0) / n, x = get_local_id(0) + (get_group_id(0) - part * n) * 2;

	out[ITEM] = in[part * 9 + x * (n & 3) + get_local_id(1) * n];
}

/* The sum of an upper half wraps around, and what follows sees the sign that it has then. */
kernel void sums_of_upper_halves(PLAIN)
{
	uint x = ITEM;
	int a = mad_hi((int)(x & 1), INT_MIN, INT_MIN);
	long b = mad_hi((long)(x & 1), (long)-1 - (n & 1), LONG_MIN);
	long c = mul_hi(-(long)(x & 1), (long)LONG_MIN + (n & 1));
	int2 d = mad_hi((int2)(x & 3, x & 7), (int2)(INT_MIN / 2), (int2)(INT_MIN));

	uint r = convert_uint_sat(a);

	r = r * 31 + (uint)(convert_ulong_sat(b) >> 32);
	r = r * 31 + (c < 0);
	out[x] = r * 31 + convert_uint_sat(d.x) * 7 + convert_uint_sat(d.y);
}

/* Beside multiples of the divisor; some are not below 2^51. */
kernel void quotients_of_longs(PLAIN)
{
	const uint a = in[ITEM], b = in[ITEM + 1];
	const long d = (b >> (12 + n % 3 * 4)) | 1, x = a * d - (b & 1);
	const long y = b & 2 ? -x : x, e = b & 4 ? -d - 1 : d;

	out[ITEM] = (uint)(x / d) + (uint)(x % d) * 3 + (uint)(y / e) * 5 + (uint)(y % e) * 7 +
		    (uint)((ulong)y / d) * 11 + (uint)((ulong)y % d) * 13 +
		    (uint)(x / (long)(n + a % 3)) * 17 + (uint)(a / (ulong)(n | 1)) * 19;
}

/* The same of constants, which are the largest one for this, one above it and small ones */
#define BY_CONSTANT(D)									\
	(a * (D) - (b & 1)) / (D) * 3 + (a * (D) - (b & 1)) % (D) * 5 +			\
	(a * -(D) + (b & 1)) / (D) * 7 + (b * a * (D) - 1) / (D) * 11 +			\
	(long)((ulong)(b * a * (D) - 1) / (D)) * 13 + (long)((ulong)(a * (D) - 1) % (D)) * 17

kernel void quotients_of_longs_by_constants(PLAIN)
{
	const long a = in[ITEM] >> (in[ITEM + 1] % 32), b = in[ITEM + 1];
	const long r = BY_CONSTANT(3) + BY_CONSTANT(49) + BY_CONSTANT(0x1ffffffffffff) +
		       BY_CONSTANT(0x3ffffffffffff) + BY_CONSTANT(2147483647);

	out[ITEM] = (uint)r ^ (uint)(r >> 32);
}

/* LLVM compares these instead of dividing, as no local id is more than twice the divisor. */
kernel void remainders_of_local_ids(PLAIN)
{
	out[ITEM] = (uint)(get_local_id(0) % 600) + (uint)(get_local_id(1) % 700) * 64 + in[ITEM];
}

/* A sum of x and the counter of a loop that wraps around before it is extended */
kernel void filters_that_wrap(PLAIN)
{
	uint x = get_global_id(0), r = 0;

	for (uint j = 0; j < n % 16; j++) {
		r = r * 3 + (uint)max((ulong)(uint)(x + 0xfffffff0u + j), (ulong)n);
		r = r * 3 + (uint)max((long)(int)(x + 0x7ffffff0u + j), (long)n);
	}
	out[ITEM] = r;
}
