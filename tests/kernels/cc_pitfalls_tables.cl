// SPDX-License-Identifier: MIT
/*
 * cc_pitfalls_tables.cl - lookups in tables that are so small that registers hold them
 */
#include "cc_pitfalls.h"

/* Tables of @in from byte to byte, that registers hold and one that they do not */
#define LOOKUPS(T)									\
kernel void lookups_##T(PLAIN)								\
{											\
	uint i = ITEM, v = in[i], r;							\
	global const T *t = (global const T *)in + 13 * n;				\
											\
	r = (uint)t[v & 3] * 3 + (uint)t[(v >> 2) & 15] * 5 + (uint)t[(v >> 6) & 31] * 7;	\
	r += (uint)t[(v >> 11) & 63] * 11 + (uint)t[(v >> 17) & 127] * 13;		\
	r += (uint)t[v >> 24] * 17 + (uint)t[v % 37] * 19 + (uint)t[2 + (v & 7) * 2] * 23;	\
	if (v & 16)									\
		r ^= (uint)t[5 + (v >> 3) % 9] * 29;					\
	if (n == 3)									\
		r += (uint)t[i & 1] + (uint)t[min(v, 20u)] + (uint)t[abs((int)v % 11)];	\
	for (uint j = 0; j < (v & 7); j++)						\
		r = r * 5 + (uint)t[16 * j + (r & 15)] + (uint)t[(r >> 4) & 1];		\
	out[i] = r;									\
}

LOOKUPS(uchar)
LOOKUPS(char)
LOOKUPS(ushort)
LOOKUPS(short)
LOOKUPS(uint)
LOOKUPS(int)

kernel void lookups_float(PLAIN)
{
	uint i = ITEM, v = in[i];
	global const float *t = (global const float *)in + n;
	uint r = as_uint(t[v & 15]);

	if (v & 3)
		r ^= as_uint(t[(v >> 4) & 63]) * 3;
	out[i] = r;
}

/* Indices within bounds on both sides */
kernel void clamped_indices(PLAIN)
{
	uint i = ITEM, v = in[i];

	out[i] = in[max(min(v & 255, 50u), 2u)] +
		 in[clamp((int)(v & 511) - 256, -(int)i, (int)n) + i] * 3 +
		 in[max(min((int)(v >> 20), 130), 5)] * 5;
}

/* Indices whose lower 32 bits decide, though InstCombine computes them in 64 */
kernel void short_indices(PLAIN)
{
	uint i = ITEM, v = in[i];
	global const ushort *a = (global const ushort *)in;
	global const short *b = (global const short *)in;
	size_t x = get_global_id(0);

	out[i] = in[((uint)a[i] * 3 + (uint)x) & 255] +
		 in[(int)((b[i] * 77 - (int)x) & 127) + 2] * 3 +
		 in[300 + (long)(a[i] & 255) - (b[i + 1] & 63) * 2] * 5 +
		 in[((long)(int)v * 0x100000001 + x) & 255] * 7 +
		 in[((ulong)a[i] << 31 ^ (ulong)a[i + 1] << 3) >> 34 & 255] * 11;
	if (v & 1)
		out[i] += in[(b[i] + x * 5) & 511] * 13;
}

/* Indices that wrap around at a mask, which need not be one of lower bits */
kernel void masked_indices(PLAIN)
{
	uint i = ITEM, side = 2 << n;
	int x = get_global_id(0);
	size_t id = get_global_id(0);
	global const uchar *bytes = (global const uchar *)in;
	global const long *longs = (global const long *)in;

	out[i] = in[n * 8 + ((x - 1) & (side - 1))] + in[(x + n & side - 1) + 5] * 3 +
		 bytes[id + 7 & n] * 5 + (uint)longs[100 - n + (x & (int)side / 2)] * 7 +
		 in[(x + 3) & (n * 37)] * 11;
	for (uint j = 0; j < n; j++)
		out[i] += in[((x - j) & (side - 1)) + n] * j;
	if (in[i] & 1)
		out[i] ^= in[(x + 1) & (side - 1)];
}

/* Indices that are loaded from neighbours, of which one is overwritten before its use */
kernel void loaded_indices(PLAIN)
{
	uint i = ITEM, last = out[i], r;
	global const uchar *bytes = (global const uchar *)in;
	uchar3 p = vload3(i, bytes);

	out[i] = i % 7 + 1;
	r = in[last] + in[bytes[i]] * 3 + bytes[((global const char *)in)[i + 9] + 128] * 5;
	r += bytes[p.x] * 7 + bytes[256 + p.y] * 11 + in[p.z] * 13;
	out[i] = r;
}

/* Vectors of sizes for which there are no registers are copied from and to any place. */
#define COPIES(T)									\
kernel void copies_##T(PLAIN)								\
{											\
	uint i = ITEM, v = in[i];							\
	global const T *from = (global const T *)in + n;				\
	global T *to = (global T *)out;							\
											\
	vstore3(vload3((v >> 3) % 60, from), i, to);					\
	if (v & 1)									\
		vstore3(vload3((v >> 5) % 60, from), i, to);				\
	if (v & 2)									\
		vstore2(vload2((v >> 7) % 90, from), 306 + i, to);			\
}

COPIES(uchar)
COPIES(short)
COPIES(float)

/* Tables of bytes and shorts that the work-group has made in local memory */
#define LOCAL_TABLE(T)									\
kernel void local_table_##T(ARGS)							\
{											\
	local T *t = (local T *)s + 1;							\
	uint v = in[ITEM], r;								\
											\
	t[LID] = in[LID] >> n;								\
	barrier(CLK_LOCAL_MEM_FENCE);							\
	r = (uint)t[v % SIZE] * 3;							\
	if (v & 16)									\
		r ^= (uint)t[(v >> 5) % SIZE] * 5;					\
	barrier(CLK_LOCAL_MEM_FENCE);							\
	t[(LID * 5 + 3) % SIZE] = r;							\
	r += (uint)t[(LID * 5 + 3) % SIZE] * 7;						\
	out[ITEM] = r;									\
}

LOCAL_TABLE(uchar)
LOCAL_TABLE(char)
LOCAL_TABLE(ushort)
LOCAL_TABLE(short)

constant uchar steps[] = { 7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19 };
constant short waves[3][5] = { { 1, -2, 3, -4, 5 }, { 600, 7, -800, 9, 1000 }, { 3, 1, 4, 1, -5 } };
constant uint bits[] = { 0x1021, 0x8005, 0x3d65, 0x8bb7, 0xa097, 0xc867, 0x0589 };
constant struct { int a[4]; char b[8]; } both = { { 4, -3, 2, -1 }, { 9, 8, -7, 6, 5, -4, 3, 2 } };

/* The indices are as small as the tables are. */
kernel void constants(PLAIN)
{
	uint i = ITEM, v = in[i], r = steps[v % 11] + waves[n % 3][(v >> 4) % 5];

	r += waves[v % 3][n % 5] * 3 + both.a[v & 3] * 5 + both.b[(v >> 2) & 7] * 7;
	if (v & 32)
		r ^= bits[(v >> 8) % 7];
	for (uint j = 0; j < (v & 3); j++)
		r = r * 3 + steps[r % 11] - waves[2][(r + j) % 5];
	out[i] = r;
}

/* A table that work-items write */
kernel void shared(ARGS)
{
	uint l = LID, v = in[ITEM], r;

	if (l < 16)
		s[l] = in[l + n] ^ l;
	barrier(CLK_LOCAL_MEM_FENCE);
	r = SIZE > 15 ? s[v & 15] : s[v % SIZE];
	barrier(CLK_LOCAL_MEM_FENCE);
	if (l < 16)
		s[l] += r;
	barrier(CLK_LOCAL_MEM_FENCE);
	out[ITEM] = r * 3 + (SIZE > 15 ? s[(v >> 4) & 15] : s[(v >> 4) % SIZE]);
}

/*
 * Exchanges in blocks of the lanes' number, across them, and in two of their halves; of some lanes,
 * and with indices that wrap around in 32 bits. What is behind the last one is not loaded.
 */
kernel void exchanges(ARGS)
{
	uint l = LID, v = in[ITEM], last = SIZE - 1, r;
	local float *f = (local float *)s;

	s[l] = v >> 3;
	barrier(CLK_LOCAL_MEM_FENCE);
	r = s[min(l ^ n, last)] + (l < (SIZE & ~7u) ? s[l ^ 5] * 3 : 0);
	for (uint d = 1; d < SIZE; d *= 2)
		if ((l ^ d) < SIZE)
			r = r * 5 + s[l ^ d];
	if (!(SIZE & last))
		for (int d = 0; d < (int)SIZE; d += n + 1)
			r = r * 7 + s[(int)l ^ d] + as_uint(f[d ^ l]) + s[(~l ^ d) & last];
	if ((v & 1) && ((l + 3) ^ n) - 1 < SIZE)
		r ^= s[(int)((l + 3) ^ n) - 1] * 11;
	if (((l - 2) ^ n) + 9 < SIZE)
		r ^= s[((l - 2) ^ n) + 9] * 13;
	out[ITEM] = r;
}

/* Of each table the elements up to @last are there. */
kernel void ends(global uint *out, global const uchar *bytes, global const uint *at, uint last)
{
	uint i = get_global_id(0);
	uint r = bytes[min(at[i] & 63, last)];

	if (at[i] & 1)
		r += ((global const ushort *)bytes)[min(at[i] & 31, last / 2)] * 3;
	if (at[i] > 1000)
		r += bytes[4096 + (at[i] & 15)];
	out[i] = r + ((global const uint *)bytes)[min(at[i] & 15, last / 4)] * 5;
}
