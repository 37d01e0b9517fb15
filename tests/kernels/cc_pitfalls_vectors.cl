// SPDX-License-Identifier: MIT
/*
 * cc_pitfalls_vectors.cl - vectors of three and of few bytes, whose elements lanes take apart
 */
#include "cc_pitfalls.h"

/* Work-items of which each has three longs of @out */
#define MOST 160

#define ELEMENTS(T)									\
kernel void triples_##T(PLAIN)								\
{											\
	uint i = ITEM, at = in[i] % MOST;						\
											\
	if (i >= MOST)									\
		return;									\
	T##3 near = vload3(i, (global const T *)in);					\
	T##3 far = vload3(at, (global const T *)in);					\
											\
	if (far.x % 3 == 0)								\
		near += vload3(at / 2, (global const T *)in + 1).zxy;			\
	else if (near.y % 2)								\
		near.z = far.y * (T)i;							\
	vstore3(near + far.yzx, i, (global T *)out);					\
}											\
											\
kernel void scattered_##T(PLAIN)							\
{											\
	uint i = ITEM;									\
											\
	if (i >= 40)									\
		return;									\
	T##3 v = vload3((i * 7) % 64, (global const T *)in);				\
	T##4 w = vload4((i * 5) % 64, (global const T *)in);				\
	T##2 p = vload2(in[i] % 64, (global const T *)in);				\
											\
	if (v.x != w.y)									\
		vstore3(v + w.xyz, i ^ 5, (global T *)out);				\
	if (p.x % 2)									\
		vstore4((T##4)(p, v.z, w.w), i ^ 3, (global T *)out + 144);		\
	vstore2(p.yx + v.xy, i * 3 % 40, (global T *)out + 336);			\
}											\
											\
kernel void kept_##T(ARGS)								\
{											\
	local T##3 *l = (local T##3 *)s;						\
	uint i = ITEM, k = LID % 4;							\
	T##3 v = vload3(i % MOST, (global const T *)in), sum = 0;			\
	T##3 p[3] = { v, v.zyx, v + (T)n };						\
											\
	if (LID < 4)									\
		l[k] = v * (T)3;							\
	barrier(CLK_LOCAL_MEM_FENCE);							\
	for (uint j = 0; j < in[i] % 4; j++)						\
		sum += p[(j + in[i]) % 3] + l[(j + k) % min(SIZE, 4u)].yzx;		\
	if (i < MOST)									\
		vstore3(sum, i, (global T *)out);					\
}

ELEMENTS(uchar)
ELEMENTS(short)
ELEMENTS(uint)
ELEMENTS(long)

kernel void float_triples(PLAIN)
{
	uint i = ITEM;

	if (i >= MOST)
		return;
	float3 v = convert_float3(vload3(i, (global const ushort *)in));
	float3 sum = 0;

	for (uint j = in[i] % 5; j < 5; j++) {
		float3 w = convert_float3(vload3(j * in[i] % 1000, (global const uchar *)in));
		sum += w * (float)j + v;
	}
	vstore3(convert_uchar3_sat_rte(sum / 9), i, (global uchar *)out);
	vstore3(select(sum, v, isgreater(v, sum)), i, (global float *)out + 300);
}

/* Vectors of 128 bits, and of three elements, that lie apart; E: the last element */
#define LANES_APART(T, N, E)								\
kernel void lanes_apart_##T##N(PLAIN)							\
{											\
	uint i = ITEM, l = get_local_id(0);						\
	global const T##N *v = (global const T##N *)in;					\
	T##N a = v[2 * l + n], b = v[3 * l + 1], c = v[100 - 2 * l], d = v[in[i] % 99];	\
	T##N e = vload##N(2 * l, (global const T *)in + 1);				\
	T sum = a.x * 3 + a.y * 5 + b.E + c.x * 7 + c.E * 9 + d.x * 11 + d.y + e.E * 13;	\
											\
	if (in[i] & 1)									\
		sum ^= v[2 * l + 5].y * 7 + v[in[i] % 77].E + v[2 * l + n + 9].x;	\
	for (uint j = 0; j < in[i] % 5; j++)						\
		sum = sum * 5 + v[2 * l + j].x - v[in[i + j] % 111].y;			\
	out[i] = (uint)sum;								\
	out[i + 512] = (uint)((ulong)sum >> 32);					\
}

LANES_APART(uint, 4, w)
LANES_APART(int, 3, z)
LANES_APART(ulong, 2, y)

/* The last element is not used; all lanes may load it, some of them do not. */
kernel void three_of_four(PLAIN)
{
	uint i = ITEM, sum = 0;

	if (in[i] & 1)
		for (uint j = 0; j < n; j++) {
			uint4 a = vload4(in[i] / 8 % 97 + j, in + 1);
			sum = sum * 5 + a.x * 3 + a.y * 7 + a.z;
		}
	out[i] = sum;
}

/* Vectors side by side, of all lanes and under a branch; some elements are not stored. */
#define SIDE_BY_SIDE(T, N, E, ALL, SOME)						\
kernel void side_by_side_##T##N(PLAIN)							\
{											\
	uint i = ITEM;									\
	global const T##N *v = (global const T##N *)in;					\
	global T##N *o = (global T##N *)out;						\
											\
	if (i >= 100)									\
		return;									\
	T##N a = v[i], b = v[i + 1];							\
	T x = a.x * 3 + a.E, y = b.E - a.y;						\
											\
	o[i] = (T##N)ALL;								\
	if (in[i] & 1) {								\
		T##N c = v[i + 2];							\
		o[i + 100] = (T##N)SOME;						\
	}										\
}

SIDE_BY_SIDE(uint, 4, w, (x, y, a.z, b.y), (c.w, x, c.y, y))
SIDE_BY_SIDE(int, 4, z, (y, b.w, x, x + y), (x, c.z, c.w, a.w))
SIDE_BY_SIDE(ulong, 2, y, (x, y), (c.y + x, c.x))

/* Long vectors that go through a loop from iteration to iteration, in fewer lanes than others */
#define CHAIN(T, N)								\
kernel void chain_##T##N(PLAIN)							\
{										\
	T##N x = (T)in[ITEM], y = (T##N)((T)n) + (T)ITEM;			\
	uint i = ITEM;								\
										\
	for (uint j = 0; j < in[i + 1] % 9; j++) {				\
		x = (x & y) * (T)3 + y;						\
		y = select(y ^ x, y + (T)j, x < y);				\
	}									\
	x ^= y;									\
	if (i < 120)								\
		vstore4(x.s0123 + x.s4567 * x.s1357, i, (global T *)out);	\
}

CHAIN(uint, 8)
CHAIN(uchar, 16)
CHAIN(ulong, 8)
CHAIN(ushort, 8)

/* So do those of a loop that is unrolled. */
#define STEP(x, y)	x = (x ^ y) * x + y
#define STEPS(x, y)	STEP(x, y); STEP(y, x); STEP(x, x); STEP(y, y)
#define UNROLLED(T)								\
kernel void unrolled_##T##16(PLAIN)						\
{										\
	T##16 x = (T)in[ITEM], y = (T##16)((T)n) + (T)ITEM;			\
										\
	STEPS(x, y); STEPS(x, y); STEPS(x, y); STEPS(x, y);			\
	STEPS(x, y); STEPS(x, y); STEPS(x, y); STEPS(x, y);			\
	out[ITEM] = x.s0 + x.s7 * (uint)y.s3 ^ y.sf;				\
}

UNROLLED(uint)
UNROLLED(ushort)

/* One element of vectors from anywhere, on its own and beside those of others */
#define ONLY(T, N)								\
kernel void only_##T##N(PLAIN)							\
{										\
	global const T##N *t = (global const T##N *)in;				\
	const uint x = in[ITEM] & 15;						\
	T##N v = t[x & 7], w = t[in[ITEM + x] & 7];				\
										\
	if (x > n)								\
		w.y = t[x - n & 7].x;						\
	out[ITEM] = (uint)v.y * 3 + (uint)w.x * 5 + (uint)w.y;			\
	if (ITEM < 120)								\
		vstore2((T##2)(t[ITEM & 3 ^ x & 3].y, t[x >> 2].x) ^ v.y, ITEM,	\
			(global T *)(out + 512));				\
}

ONLY(uchar, 4)
ONLY(ushort, 4)
ONLY(uint, 2)
ONLY(uint, 3)
ONLY(ulong, 4)

/* The same for parts of the second word, of vectors in global and local memory */
#define ONLY_PART(T, N, A, B)							\
kernel void only_part_##T##N(PLAIN)						\
{										\
	global const T##N *t = (global const T##N *)in;				\
	local T##N l[8];							\
	const uint x = in[ITEM] & 15;						\
										\
	if (get_local_id(0) < 8)						\
		l[get_local_id(0)] = t[get_local_id(0)];			\
	barrier(CLK_LOCAL_MEM_FENCE);						\
	out[ITEM] = (uint)t[x & 7].A + (uint)t[in[ITEM + x] & 7].B * 3 +	\
		    (uint)l[x >> 1].B * 5 + (uint)l[x & 7].A * 7;		\
}

ONLY_PART(uchar, 8, s5, s7)
ONLY_PART(ushort, 4, z, w)
ONLY_PART(ushort, 3, y, z)

/* Uses 2, 3 and 6 bytes that end where memory ends; programs load more elements than they use. */
kernel void last_bytes(global uint *out, global const uchar *end, global const uint *at)
{
	uint i = get_global_id(0);
	uchar3 three = vload3(0, end - at[i] - 3);
	uchar2 two = vload2(0, end - at[i] - 2);
	ushort3 six = vload3(0, (global const ushort *)(end - 6) - at[i]);

	uchar4 four = vload4(0, end - at[i] - 3);

	out[i] = three.x + three.y * 3 + three.z * 5 + two.x * 7 + two.y * 11 + six.x * 13 +
		 six.y * 17 + six.z * 19 + four.z * 23;
}

/* Places of 32 bits, also below 0 */
kernel void int_places(global uint *out, global const uchar *in, global const int *at)
{
	int i = get_global_id(0);
	uchar3 three = vload3(0, in + 3 * at[i]);

	out[i] = three.x + three.y * 3 + three.z * 5;
}
