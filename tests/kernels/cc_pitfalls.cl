// SPDX-License-Identifier: MIT
/*
 * cc_pitfalls.cl - shapes of code that a compiler for many work-items at once gets wrong
 *
 * Each kernel has the same arguments; tests/cc/pitfalls.c compares what they do in every way
 * to run them. Those that have a comment in front once went wrong.
 */
#include "cc_pitfalls.h"

/* Where a test rules out common bits a sum becomes "or", but not for lanes that do not run. */
kernel void disjoint_sum(PLAIN)
{
	int y = (int)get_global_id(0) - 4;

	if (y >= 0 && y < 16)
		out[256 + y + 16 + 64 * get_global_id(1)] += in[y] + 1;
	else
		out[ITEM] ^= 0x80000000;
}

kernel void disjoint_sum2(PLAIN)
{
	int y = (int)get_global_id(0) - (int)n;

	out[ITEM + 400] = 3;
	if ((uint)y < 32u)
		out[(y + 32) + 64 * get_global_id(1)] += in[y + 32];
}

/* Private memory whose size is no multiple of its alignment. */
kernel void aligned_private(PLAIN)
{
	char p[24] __attribute__((aligned(16)));
	uint i, at = in[ITEM] % 20;

	for (i = 0; i < 24; i++)
		p[i] = in[i] + i * n;
	p[at] ^= n;
	uint4 q = *(uint4 *)p;
	*(uint4 *)p = q + q.wzyx;
	p[at + 3] += 7;
	out[ITEM] = q.x ^ q.y ^ q.z ^ q.w ^ p[in[ITEM + 1] % 24];
}

kernel void aligned_private_barrier(ARGS)
{
	char p[24] __attribute__((aligned(16)));
	uint i, at = in[ITEM] % 20;

	for (i = 0; i < 24; i++)
		p[i] = in[i] + i * n;
	p[at] ^= n;
	s[LID] = p[at + 1];
	barrier(CLK_LOCAL_MEM_FENCE);
	uint4 q = *(uint4 *)p;
	*(uint4 *)p = q + q.wzyx + s[(LID + 1) % SIZE];
	barrier(CLK_LOCAL_MEM_FENCE);
	p[at + 3] += 7;
	out[ITEM] = q.x ^ q.y ^ q.z ^ q.w ^ p[in[ITEM + 1] % 24];
}

struct aligned64 { uint a, b; uint8 v; };
kernel void aligned_struct_barrier(ARGS)
{
	struct aligned64 p[2];

	p[0].v = (uint8)(in[ITEM]);
	p[1].v = p[0].v * 3;
	p[n & 1].a = in[ITEM + 1];
	p[~n & 1].a = 5;
	s[LID] = p[0].a;
	barrier(CLK_LOCAL_MEM_FENCE);
	p[in[ITEM] & 1].v.s3 ^= s[(LID + 1) % SIZE];
	barrier(CLK_LOCAL_MEM_FENCE);
	out[ITEM] = p[0].v.s3 + p[1].v.s3 + p[0].a;
}

#define MIX(x) x = (x * 1664525u + 1013904223u) ^ (x >> 7)
#define MIX8(x) MIX(x); MIX(x); MIX(x); MIX(x); MIX(x); MIX(x); MIX(x); MIX(x)
#define MIX64(x) MIX8(x); MIX8(x); MIX8(x); MIX8(x); MIX8(x); MIX8(x); MIX8(x); MIX8(x)
/* The attribute does not say that it may be called where the source does not. */
__attribute__((const, noinline)) uint large_divide(uint a, uint b)
{
	uint x = a;

	MIX64(x); MIX64(x); MIX64(x); MIX64(x); MIX64(x); MIX64(x); MIX64(x); MIX64(x);
	return x / b;
}

kernel void const_call(PLAIN)
{
	uint b = in[ITEM] & 3, r = 1;

	if (b)
		r = large_divide(in[ITEM + 1], b);
	out[ITEM] = r;
}

kernel void const_call_uniform(PLAIN)
{
	uint b = n & 1, r = 1;

	if (in[ITEM] & 1)
		if (b)
			r = large_divide(n, b);
	out[ITEM] = r;
}

kernel void divisions(PLAIN)
{
	int a = (int)in[ITEM], b = (int)in[ITEM + 1] % 3 - 1;
	int4 v = (int4)(a, a >> 3, INT_MIN, INT_MAX), w = (int4)(b, b - 1, b, -b);
	uint r = 0;

	if (b > 0)
		r = (uint)(a / b) + (uint)(v / (w == 0 ? (int4)(1) : w)).y + (uint)(INT_MIN / b);
	else if (b < 0 && a != INT_MIN)
		r = (uint)(a / b) - (uint)(a % b) + (uint)((INT_MIN + 1) / b);
	if (n % 3 && (in[ITEM] & 1))
		r += 77 / (n % 3) + (uint)(INT_MIN / (int)(n % 3));
	if (all(w != 0) && all(w != -1))
		r += (v / w).x ^ (v % w).z;
	long c = (long)a * b;
	if (c)
		r += (long)in[ITEM] * 1234567 / c;
	if (c && (in[ITEM] & 2))
		r += (short)a / (short)(b | 1) + (char)a % (char)(b | 2);
	out[ITEM] = r;
}

kernel void temporal(PLAIN)
{
	uint i, u = n, last = 0, x = in[ITEM] & 31;

	for (i = 0; i < 40; i++) {
		u = u * 3 + i;
		if (i == x)
			break;
		last = u ^ i;
		if (u % 7 == 0)
			continue;
		out[ITEM] += u;
	}
	out[ITEM] += i + u * 5 + last;
}

kernel void nested_exits(PLAIN)
{
	uint x = in[ITEM], r = 0, i, j, k;

	for (i = 0; i < (x & 7) + 1; i++) {
		for (j = 0; j < 6; j++) {
			if (((x >> j) & 3) == 2)
				continue;
			for (k = 0; k < n % 5 + 1; k++) {
				r = r * 3 + i * j + k;
				if ((r & 63) == 5)
					break;
				if ((r & 255) == 77) {
					out[ITEM] = r;
					return;
				}
				if ((r & 31) == 9)
					goto next;
			}
			if (k == 3)
				break;
			if (n == 7 && j == 3)
				break;
		}
		if (j == 5 && i == 3)
			continue;
next:
		r ^= j;
	}
	out[ITEM] = r;
}

kernel void uniform_in_divergent(PLAIN)
{
	uint x = in[ITEM], r = 0, i = 0, u = n;

	if (x & 1) {
		while (u > 1) {
			u = u & 1 ? u * 3 + 1 : u / 2;
			r += u;
			if (x & 6)
				for (i = 0; i < n % 4; i++)
					r ^= in[i] + u;
		}
		if (n & 1)
			r += 1000000 / n;
	} else if (n > 3) {
		do {
			r += in[u % 50];
			if (u == 4)
				break;
		} while (--u);
	}
	out[ITEM] = r + i + u;
}

kernel void volatiles(PLAIN)
{
	volatile global uint *v = out + ITEM;
	volatile uint p[3] = { 1, 2, 3 };
	uint i;

	*v = in[ITEM];
	if (in[ITEM + 1] & 1)
		*v += 3;
	for (i = 0; i < (in[ITEM] & 3); i++)
		p[i % 3] += *v;
	if (*v & 4)
		*v ^= p[0] + p[1] * 3 + p[2] * 5;
}

kernel void wraps(PLAIN)
{
	uint x = get_global_id(0), row = get_global_id(1) * 64;
	uchar c = x * 3 + n;
	ushort h = x * 999 + n;
	uint w = x - 6u;

	out[ITEM] = in[c] + in[h & 255] + in[(uchar)(c + 250)];
	if (w < 12)
		out[300 + row / 4 + w] = in[w];
	uint d = 9u - x;
	if (d < 10)
		out[400 + row / 4 + d] += in[d] + n;
	short t = (short)(x * 4000);
	if (t >= 0 && t < 200)
		out[ITEM] ^= in[t];
	ulong far = (ulong)x * 0x10000000000ul;
	if (far < 0x50000000000ul)
		out[ITEM] += in[far >> 40];
	uint q = (x + 0xfffffff0u) / 3;
	out[ITEM] += q;
	int neg = -(int)x;
	out[ITEM] += in[neg + 250] ^ in[((neg * 2) & 255)];
}

kernel void interior_wraps(PLAIN)
{
	int x = get_global_id(0), far = n == 5 ? 0x7ffffff0 : n == 6 ? (int)0x80000008 : (int)n;
	uint r = 1, ux = x;

	if (ux + 0xfffffff8u > 3)
		r += 2;
	if (ux + (uint)far < 40)
		r += 4;
	if ((int)(ux + (uint)far) < 9)
		r += 8;
	if (x - (int)n >= 0)
		r += in[x - (int)n];
	r += in[clamp(x - 3, 0, (int)n)] * 3 + in[min(x + 5, 60)];
	r += in[max(min(x + (int)(n & 7), 50), 2)];
	if ((ulong)(x - 7) < 20)
		r ^= 0x1000;
	if ((uint)(x + 1) * 1u >= (uint)far)
		r ^= 0x2000;
	out[ITEM] = r;
}

kernel void guards(PLAIN)
{
	int x = get_global_id(0), y = get_global_id(1);

	if (x < 2 || y == 3 || x >= (int)get_global_size(0) - 2)
		return;
	if (x == (int)(n & 15))
		return;
	uint r = in[ITEM - 2] + in[ITEM + 2];
	if (x > 5 && (in[ITEM] & 1))
		r *= 3;
	out[ITEM] = r;
}

kernel void pointers(PLAIN)
{
	uint x = in[ITEM];
	global const uint *p = x & 1 ? in + 3 : in + ITEM;
	global uint *q = out + ITEM;

	for (uint i = 0; i < (x & 3); i++)
		p += i;
	*q = *p;
	if (p > in + 20)
		q += 300;
	if (x & 4)
		*q += p[1];
	uint a[4] = { x, n, 3, 4 }, b[2] = { 5, x };
	uint *r = x & 8 ? a : b;
	r[x & 1] += 9;
	*q ^= a[0] + a[1] * 3 + b[0] * 5 + b[1] * 7;
}

kernel void pointers_across_barriers(ARGS)
{
	uint a[4] = { in[ITEM], n, 3, 4 }, b[2] = { 5, in[ITEM + 1] };
	uint *r = a[0] & 8 ? a : b, *t = &a[in[ITEM] & 3];
	struct { uint *p; uint v; } c = { &b[n & 1], 4 };

	s[LID] = *r;
	barrier(CLK_LOCAL_MEM_FENCE);
	r[s[(LID + 1) % SIZE] & 1] += 9;
	*t += s[LID];
	*c.p ^= 6;
	barrier(CLK_LOCAL_MEM_FENCE);
	c.p = t;
	s[LID] = *c.p;
	barrier(CLK_LOCAL_MEM_FENCE);
	*c.p += s[(LID + 2) % SIZE];
	out[ITEM] = a[0] + a[1] * 3 + a[2] * 7 + a[3] * 11 + b[0] * 13 + b[1] * 17;
}

kernel void shared_count(ARGS)
{
	uint r = in[ITEM];

	if (LID == 0)
		s[0] = n % 5;
	barrier(CLK_LOCAL_MEM_FENCE);
	while (s[0] < 9) {
		r = r * 3 + s[0];
		barrier(CLK_LOCAL_MEM_FENCE);
		if (LID == SIZE - 1)
			s[0] += 1 + (r & 1) * 0;
		barrier(CLK_LOCAL_MEM_FENCE);
		if (s[0] == 7) {
			r ^= 0x55;
			barrier(CLK_LOCAL_MEM_FENCE);
			if (LID == SIZE / 2)
				s[0] = 8;
			barrier(CLK_LOCAL_MEM_FENCE);
		}
	}
	out[ITEM] = r + s[0];
}

kernel void hidden_uniform(ARGS)
{
	uint zero = in[ITEM] & 0, r = in[ITEM];

	for (uint i = zero; i < 3; i++) {
		s[LID] = r + i;
		barrier(CLK_LOCAL_MEM_FENCE);
		r += s[(LID + 1) % SIZE];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	if (zero == 0) {
		s[LID] = r;
		barrier(CLK_LOCAL_MEM_FENCE);
		r ^= s[SIZE - 1 - LID];
	}
	out[ITEM] = r;
}

kernel void return_after_barrier(ARGS)
{
	uint r = in[ITEM];

	if (n == 5)
		return;
	s[LID] = r;
	barrier(CLK_LOCAL_MEM_FENCE);
	if (r & 1) {
		out[ITEM] = s[(LID + 1) % SIZE];
		return;
	}
	for (uint i = 0; i < (r & 7); i++) {
		r += s[i % SIZE];
		if ((r & 15) == 3)
			return;
	}
	out[ITEM] = r;
}

kernel void values_across(ARGS)
{
	uint x = in[ITEM], i, u = 0, total = 0;
	float f = (float)(x & 1023) * 0.1f;
	float3 v = (float3)(f, f + 1, f * 2);
	bool odd = x & 1;
	ulong8 wide = (ulong8)(x, n, 3, 4, 5, 6, 7, x * 3);

	for (i = 0; i < 3 + (n & 3); i++) {
		u = u * 5 + n + i;
		barrier(CLK_LOCAL_MEM_FENCE);
		s[LID] = as_uint(v.y) + u;
		barrier(CLK_LOCAL_MEM_FENCE);
		total += s[(LID + i) % SIZE];
		if (odd)
			v = v.yzx * 1.5f + f;
		wide.s3 += wide.s7 ^ total;
		if (i == 2)
			continue;
		barrier(CLK_LOCAL_MEM_FENCE);
		odd = !odd ^ (total & 1);
		if (u % 11 == 3)
			break;
		s[LID] ^= u;
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	out[ITEM] = total + i * 3 + u + as_uint(v.x + v.z) + (uint)wide.s3 + odd;
}

kernel void float_bits(PLAIN)
{
	float x = as_float(in[ITEM]), y = as_float(in[ITEM + 1]), sum = 0;
	float z = (float)(int)in[ITEM] * 1e-3f;
	float4 v = (float4)(x, y, z, z * z);

	for (uint i = 0; i < 9; i++)
		sum += z * (float)(in[i] & 255) + sum / (1.0f + i);
	for (uint i = 0; i < (in[ITEM] & 15); i++)
		sum = sum * 0.5f + (float)in[(ITEM + i) & 127] - z;
	if (x < y)
		sum += fmin(x, y);
	if (!(x < y))
		sum -= fmax(x, z);
	sum += isnan(x) ? 1 : x == x ? sqrt(fabs(z)) : 2;
	sum += dot(v, v.wzyx) * 1e-20f;
	if (isnan(sum))
		sum = 3;
	out[ITEM] = as_uint(sum) + convert_int_sat(z) + convert_uchar_sat_rte(z * 0.1f) +
		    (in[ITEM] & 1 ? convert_uint_sat(x) : 4) + (fabs(y) < 1e9f ? (int)y : 5);
}

kernel void small_vectors(PLAIN)
{
	uchar4 c = as_uchar4(in[ITEM]);
	uchar16 d = (uchar16)(c, c.wzyx, c + (uchar4)(1), c ^ (uchar4)(7));
	short3 h = convert_short3(c.xyz) * (short3)(3, 4, 5);
	char2 t = as_char2((ushort)in[ITEM]);
	bool r = 0;

	if (any(c > (uchar4)(200)))
		d = shuffle(d, (uchar16)(3, 2, 1, 0, 7, 6, 5, 4, 8, 9, 10, 11, 15, 14, 13, 12));
	if (all(h > (short3)(100)))
		h = h.zxy;
	for (uint i = 0; i < c.x % 5; i++) {
		d.s5 += d[i + c.y % 8];
		d[c.z % 16] ^= i;
		h -= select(h, -h, h > (short3)(10));
	}
	c = select(c, d.lo.hi, (uchar4)(c.x & 128, 128, 0, c.y));
	uint16 e = convert_uint16(d);
	e.s01234567 = e.s76543210 * e.s89abcdef + n;
	r = all(e != n) ^ any(t < (char2)(0));
	out[ITEM] = as_uint(c) + e.s0 + e.s3 * 3 + e.s7 + h.x + h.y * 5 + h.z * 7 + t.x + t.y + r;
}

kernel void three_wide(PLAIN)
{
	uint at = ITEM * 3;
	uint3 v = vload3(ITEM % 60, in);

	if (v.x & 1)
		v = v.zyx;
	if (v.y & 2)
		vstore3(v * 3, ITEM % 200, out);
	else
		out[ITEM % 200 * 3 + 2] = at;
}

kernel void switches(PLAIN)
{
	uint x = in[ITEM], r = 0, i;

	for (i = 0; i < 5; i++)
		switch ((x >> i) & 7) {
		case 0:
			r += 1;
		case 1:
			r *= 3;
			break;
		case 2:
			if (x & 64)
				break;
			r += 5;
		case 3:
			switch (n & 3) {
			case 0: r ^= 7; break;
			case 1: continue;
			default: r += x;
			}
			break;
		case 6:
			for (uint j = 0; j < (x & 3); j++) {
				if (j == 2)
					break;
				r += j * n;
			}
		default:
			r -= i;
			if (r & 1)
				goto out;
		}
	r ^= 0xff;
out:
	out[ITEM] = r;
}

kernel void irreducible(PLAIN)
{
	uint x = in[ITEM], r = 0;

	if (x & 1)
		goto inside;
	while (r < 100) {
		r += x & 15;
inside:
		r = r * 2 + 1;
		if ((r & 12) == 4)
			continue;
		if (x & 2)
			r++;
	}
	out[ITEM] = r;
}

kernel void wild(PLAIN)
{
	uint x = in[ITEM];
	global const uint *p = 0;

	if (n > 1000000)
		p = (global const uint *)(ulong)n;
	if (p)
		out[ITEM] = p[x];
	if (x > 0xfffffff0 && n == 0x12345)
		out[ITEM] = in[x];
	for (uint i = x; i < 10; i++)
		out[ITEM] += in[i];
	if (n == 0x12345)
		for (uint i = 0; i < 10; i++)
			out[x + i] = in[0x7fffffff];
	if (x & 1 && n == 0x12345)
		out[0x7fffff] = in[0x7fffff];
}

kernel void bits(PLAIN)
{
	uint x = in[ITEM];
	uint r = clz(x) + popcount(x) * 3 + rotate(x, n) + mul_hi(x, 0x12345678u) +
		 abs_diff((int)x, (int)n);

	if (x & 1)
		r += add_sat(x, 0xf0000000u) + sub_sat((int)x, 0x70000000) + mad_sat(x, 3u, n);
	if (x & 2)
		r ^= hadd(x, n) + rhadd(x, n) + (uint)upsample((ushort)x, (ushort)n);
	r += x << n;
	r += (int)x >> (n + 30);
	r += (uchar)x << (x & 31);
	out[ITEM] = r;
}

void meet(local uint *s, uint v)
{
	s[LID] = v;
	barrier(CLK_LOCAL_MEM_FENCE);
}

kernel void meet_in_functions(ARGS)
{
	uint r = in[ITEM];

	for (uint i = 0; i < n % 3 + 1; i++)
		for (uint j = 0; j < 2; j++) {
			meet(s, r + i);
			r ^= s[(LID + j) % SIZE];
			if (i == 1 && j == 0)
				meet(s, r);
			barrier(CLK_LOCAL_MEM_FENCE);
		}
	local uint t[64 * 4];
	t[LID] = r;
	event_t e = async_work_group_copy(s, (local uint *)0 == 0 ? in + get_group_id(0) : in, SIZE,
					  0);
	wait_group_events(1, &e);
	r += s[SIZE - 1 - LID] + t[(LID + 3) % SIZE];
	out[ITEM] = r;
}

struct pair { uint a; uchar b[5]; short c; };

struct pair exchange(struct pair p, uint x)
{
	struct pair q = { p.c, { p.a, x, 3, p.b[x % 5], 5 }, p.b[2] };

	if (x & 1)
		q = p;
	p.a = 7;
	return q;
}

kernel void structures(PLAIN)
{
	struct pair p[3] = { { in[ITEM], { 1, 2, 3, 4, n }, -5 }, { n, { 0 }, 6 } };
	uint x = in[ITEM + 1];

	p[2] = exchange(p[0], x);
	if (x & 4)
		p[x % 3] = p[n % 3];
	for (uint i = 0; i < (x & 3); i++)
		p[i] = exchange(p[(i + 1) % 3], x >> i);
	if (x & 8)
		((uchar *)&p[1])[x % 9] ^= 0x40;
	out[ITEM] = p[0].a + p[1].a * 3 + p[2].a * 5 + p[0].b[3] + p[1].b[x % 5] * 7 + p[2].c;
}

kernel void odd_loops(PLAIN)
{
	uint x = in[ITEM], r = 0;
	uchar c = x;
	float f;
	ulong l;
	int i;

	for (i = (int)(x & 15); i-- > 0;)
		r += in[i] >> i;
	do
		c += 37;
	while (c > 40 && ++r);
	for (f = 0; f < (float)(x & 7); f += 0.75f)
		r = r * 5 + (uint)(f * 4);
	for (l = 0x100000000ul * (x & 3); l; l -= 0x80000000ul)
		r ^= (uint)(l >> 31);
	for (i = 0; i < 20 && (r & 7) && in[i] != x; i++)
		r = r / 2 + (x & 1 ? i : n);
	for (;;) {
		if ((r = r / 3 + n) < 20)
			break;
		for (;;)
			if ((c += 3) & 4 || (x & 0x30) == 0x10)
				break;
	}
	out[ITEM] = r + c + i;
}

/* Products that bytes are made of, and products and comparisons that all of their bits matter in */
#define PRODUCTS(T)								\
kernel void products_of_##T##s(PLAIN)						\
{										\
	const T c = in[ITEM] >> 8;						\
	T x = in[ITEM], y = n;							\
	int sum = 0;								\
										\
	for (uint i = 0; i < 5 + (n & 3); i++) {				\
		x = x * x + c;							\
		y = ((x * y - c) & 0x7f) ^ x;					\
		x = (T)(y * c) + (T)(x * y) - (T)i;				\
		x = x * y;							\
		sum += (x * y >> 3) + (x * c > y) + ((T)(x * x) + c) * (T)(y + x);	\
	}									\
	out[ITEM] = sum + (uint)x * 7 + (uint)y;				\
}

PRODUCTS(char)
PRODUCTS(uchar)

kernel void narrow_private(PLAIN)
{
	bool seen[7] = { false };
	uchar3 v[4];
	uint x = in[ITEM], r = 0, i;

	for (i = 0; i < 4; i++)
		v[i] = (uchar3)(x >> i, i, n);
	seen[x % 7] = true;
	if (x & 1)
		seen[n % 7] = !seen[(x >> 3) % 7];
	v[x & 3].y += v[n & 3].z;
	for (i = 0; i < 7; i++)
		r = r * 2 + seen[i];
	if (x & 2)
		v[0] = v[(x >> 2) & 3];
	out[ITEM] = r + (&v[x & 3] - &v[n & 3]) + v[0].x + v[1].y * 3 + v[2].z * 5 + v[3].y * 7;
}

kernel void own_writes(PLAIN)
{
	global uchar *b = (global uchar *)(out + ITEM);
	uint x = in[ITEM];

	out[ITEM] = x;
	b[x & 3] = 5;
	if (x & 4)
		b[1] ^= b[2];
	((global ushort *)b)[x & 1] += b[3];
	vstore2((uchar2)(b[3], b[0]), 0, b + (x & 2));
	out[ITEM] += b[0];
}

/* By zero, and of the least number by -1: any result, but no fault. */
kernel void bad_divisions(PLAIN)
{
	int x = in[ITEM], next = in[ITEM + 1], y = next % 5 - 2, r;
	long wide = (long)x << 32, z = (next & 3) - 1;
	char4 bytes = as_char4(x), divisors = as_char4(next);

	r = x / y + x % y * 3 + x / next * 5 + x % next * 7;
	r += (uint)x / (uint)y * 11 + (uint)x % (uint)(next & 3) * 13;
	r += (int)(wide / z) + (int)(wide / z >> 32) * 17 + (int)(wide % z >> 32) * 19;
	r += (int)((ulong)wide / (ulong)(z & 1) >> 32) * 23;
	r += as_int(bytes / divisors) * 29 + as_int(bytes % (divisors & (char4)1)) * 31;
	if (n > 5)
		r += x / (x & 1);
	out[ITEM] = r;
}

kernel void tables_of_bytes(ARGS)
{
	global const uchar *bytes = (global const uchar *)in;
	global const short *shorts = (global const short *)in;
	uint v = in[ITEM], r = bytes[v % 4093] * 3;

	r += shorts[v % 2047];
	if (v & n)
		r ^= ((global const char *)bytes)[(v * 7) % 4096] << 5;
	for (uint i = 0; i < (v & 3); i++)
		r = r * 5 + bytes[(r + i) % 1000] - shorts[(r >> 3) % 999];
	out[ITEM] = r;
}

/* Bits of one value or of another, by a constant, in some lanes: a ternary operation with a mask */
kernel void chosen_bits(PLAIN)
{
	uint x = in[ITEM], h = x, w = in[ITEM + 1], v = w, f = x;
	ulong y = (ulong)x << 32 | w, z = y;
	float a = as_float(x & 0xbfffffff), b = a, c = a;

	for (uint i = 0; i < (x & 3); i++) {
		h = h * 7 + i;
		v ^= x + i;
		f = f * 5 + i;
		z = z * 7 + i;
		b = -b;
	}
	if (x > 10) {
		h ^= (x ^ h) & 0x7fffffff;
		w = (w & 0xffff0000) | (v & 0xffff);
		f = (x & 0xff00ff) | (f & ~0xff00ff);
		z = (z & 0xffffffff0000) | (y & ~0xffffffff0000);
		a = copysign(a, b);
		c = copysign(b, c);
	}
	out[ITEM] = h + w * 3 + v * 5 + f * 7 + (uint)(z >> 20) * 11 + as_uint(a) * 13 +
		as_uint(b) * 17 + as_uint(c) * 19;
}
