// SPDX-License-Identifier: MIT
/* cc_builtins.cl - built-in functions on integers, vectors and memory for tests/cc/builtins.c */

#define BINARY(T, NAME, EXPRESSION) \
	kernel void NAME##_##T(global const T *x, global const T *y, global T *out) \
	{ \
		size_t i = get_global_id(0); \
		T a = x[i], b = y[i]; \
		out[i] = EXPRESSION; \
	}
#define INTEGER(T) \
	BINARY(T, abs, (T)abs(a)) BINARY(T, abs_diff, (T)abs_diff(a, b)) \
	BINARY(T, add_sat, add_sat(a, b)) BINARY(T, sub_sat, sub_sat(a, b)) \
	BINARY(T, hadd, hadd(a, b)) BINARY(T, rhadd, rhadd(a, b)) \
	BINARY(T, min, min(a, b)) BINARY(T, max, max(a, b)) \
	BINARY(T, mul_hi, mul_hi(a, b)) BINARY(T, mad_hi, mad_hi(a, b, a)) \
	BINARY(T, rotate, rotate(a, b)) \
	BINARY(T, clz, clz(a)) BINARY(T, popcount, popcount(a)) \
	BINARY(T, clamp, clamp(a, (T)10, (T)100)) \
	BINARY(T, select, select(a, b, (T)(a & 1))) \
	BINARY(T, bitselect, bitselect(a, b, (T)0x55)) \
	BINARY(T, mad_sat, mad_sat(a, b, a)) \
	BINARY(T, mad_sat3, mad_sat((T##3)(a, 1, b), (T##3)(b), (T##3)(a)).s2)
INTEGER(char)
INTEGER(uchar)
INTEGER(short)
INTEGER(ushort)
INTEGER(int)
INTEGER(uint)
INTEGER(long)
INTEGER(ulong)

/* Conversions of interesting numbers: 16 results for each. */
kernel void convert_float_all(global const float *x, global long *out)
{
	size_t i = get_global_id(0);
	float f = x[i];
	global long *o = out + i * 16;

	o[0] = convert_char_sat(f);
	o[1] = convert_uchar_sat(f);
	o[2] = convert_short_sat(f);
	o[3] = convert_ushort_sat(f);
	o[4] = convert_int_sat(f);
	o[5] = convert_uint_sat(f);
	o[6] = convert_long_sat(f);
	o[7] = (long)convert_ulong_sat(f);
	o[8] = convert_int_sat_rte(f);
	o[9] = convert_int_sat_rtz(f);
	o[10] = convert_int_sat_rtp(f);
	o[11] = convert_int_sat_rtn(f);
	o[12] = convert_uchar_sat_rte(f);
	o[13] = convert_int4_sat_rtn((float4)(f)).z;
	o[14] = as_int(f);
	o[15] = convert_long_sat((double)f);
}

kernel void convert_long_all(global const long *x, global long *out)
{
	size_t i = get_global_id(0);
	long v = x[i];
	global long *o = out + i * 12;

	o[0] = convert_char_sat(v);
	o[1] = convert_uchar_sat(v);
	o[2] = convert_int_sat(v);
	o[3] = convert_uint_sat(v);
	o[4] = convert_ulong_sat(v);
	o[5] = convert_long_sat((ulong)v);
	o[6] = convert_short_sat((uint)v);
	o[7] = convert_char((int)v);
	o[8] = convert_uchar8_sat((long8)(v)).s7;
	o[9] = as_int(convert_float(v));
	o[10] = as_long(convert_double((ulong)v));
	o[11] = as_int(convert_float((ulong)v));
}

kernel void float_bits(global const float *x, global const float *y, global int *out)
{
	size_t i = get_global_id(0);
	float a = x[i], b = y[i];
	float4 v = (float4)(a, b, -a, 0);
	global int *o = out + i * 16;

	o[0] = isnan(a) | isinf(a) << 1 | isfinite(a) << 2 | isnormal(a) << 3 | signbit(a) << 4;
	o[1] = isless(a, b) | isgreater(a, b) << 1 | isequal(a, b) << 2 | isunordered(a, b) << 3 |
	       islessgreater(a, b) << 4 | isordered(a, b) << 5;
	o[2] = any(isnan(v)) | all(v == v) << 1;
	o[3] = isnan(v).x;
	o[4] = as_int(sign(a));
	o[5] = as_int(step(a, b));
	o[6] = as_int(mix(a, b, 0.25f));
	o[7] = as_int(clamp(a, -1.0f, 1.0f));
	o[8] = as_int(dot(v, (float4)(1, 2, 4, 8)));
	o[9] = as_int(fma(a, b, 1.0f));
	o[10] = as_int(ldexp(a, -3));
	o[11] = as_int(length((float2)(a, b)));
	o[12] = as_int(min(a, b));
	o[13] = as_int(cross((float3)(a, b, 1), (float3)(2, 3, 4)).z);
	o[14] = as_int(smoothstep(0.0f, 2.0f, a));
	o[15] = as_int(native_divide(a, b));
}

#define LENGTHS(T, N) \
	kernel void lengths_##T##N(global const T *in, global T *out) \
	{ \
		size_t i = get_global_id(0); \
		T##N v = vload##N(i, in); \
		vstore##N(normalize(v), i, out); \
		out[1024 * N + i] = length(v); \
		out[1024 * N + 1024 + i] = distance(v, (T##N)0); \
	}
LENGTHS(float, 2)
LENGTHS(float, 3)
LENGTHS(float, 4)
LENGTHS(double, 2)
LENGTHS(double, 3)
LENGTHS(double, 4)

#define MEMORY(N) \
	kernel void memory##N(global const uchar *in, global uchar *out, local uchar *middle) \
	{ \
		size_t i = get_global_id(0); \
		vstore##N(vload##N(i, in + 1), i, middle + 3); \
		uchar##N v = vload##N(i, middle + 3); \
		uchar part[N]; \
		vstore##N(v + (uchar)1, 0, part); \
		vstore##N(vload##N(0, part), i, out + 1); \
	}
MEMORY(2)
MEMORY(3)
MEMORY(4)
MEMORY(8)
MEMORY(16)

kernel void atomics(global int *word, global uint *uword, global int *old, local int *shared)
{
	size_t l = get_local_id(0), i = get_global_id(0);

	if (l == 0)
		*shared = 0;
	barrier(CLK_LOCAL_MEM_FENCE);
	atomic_add(shared, 2);
	old[i] = atomic_inc(&word[0]);
	atomic_sub(&word[1], 3);
	atomic_max(&word[2], (int)i - 20);
	atomic_min(&word[3], (int)i - 20);
	atomic_or(&uword[0], 1u << (i % 32));
	atomic_xor(&uword[1], (uint)i);
	atomic_max(&uword[2], 0x80000000u + (uint)i);
	atomic_cmpxchg(&word[4], (int)i, (int)i + 1);
	atom_dec(&word[5]);
	barrier(CLK_LOCAL_MEM_FENCE);
	if (l == 0)
		atomic_add(&word[6], *shared);
}

/* The bits of a mask in three ways: by halves, without the last lane, with other weights. */
kernel void mask_bits(global const int *x, global int *out)
{
	size_t i = get_global_id(0);
	int8 positive = vload8(i, x) > 0;
	int8 b = positive & (int8)(1, 2, 4, 8, 16, 32, 64, 128);
	int8 o = positive & (int8)(1, 2, 4, 8, 16, 32, 64, 256);
	int4 c = b.lo | b.hi;
	int2 d = c.lo | c.hi;

	out[3 * i] = d.x | d.y;
	out[3 * i + 1] = b.s0 | b.s1 | b.s2 | b.s3 | b.s4 | b.s5 | b.s6;
	out[3 * i + 2] = o.s0 | o.s1 | o.s2 | o.s3 | o.s4 | o.s5 | o.s6 | o.s7;
}
