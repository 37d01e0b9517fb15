// SPDX-License-Identifier: MIT
/*
 * math.cl - mathematical functions of OpenCL C on float, 6.12.2
 *
 * They compute in double, by reduction to a small range and a Taylor series that is
 * good there to about 1e-11: the result is the float next to the true value but
 * for the rarest cases, without tables and without branches for special values.
 * Each of them is written once, for vectors of every width and for scalars.
 * Functions that one instruction does are in intrinsics.cc.
 */

#define LN2	0x1.62e42fefa39efp-1
#define LOG2E	0x1.71547652b82fep+0
#define LN10	0x1.26bb1bbb55516p+1
#define PI_D	0x1.921fb54442d18p+1
#define LANES_	1
#define LANES_2	2
#define LANES_3	3
#define LANES_4	4
#define LANES_8	8
#define LANES_16 16
#define MAGIC	0x1.8p+52		/* adding it leaves an integer in the low bits */

/* 2/pi, 32 bits a word, after a word of zeros. */
static constant const uint two_over_pi[] = {
	0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab,
	0xdebbc561,
};

/*
 * x modulo pi/2 for a large finite x: multiply its digits by just those bits of
 * 2/pi that make the quadrant and the fraction.
 */
static double reduce_large(float x, long *quadrant)
{
	uint bits = as_uint(x) & 0x7fffffff;
	ulong digits = (bits & 0x7fffff) | 0x800000;
	uint at = (bits >> 23) - 150 + 30, shift = at & 31;
	constant const uint *w = two_over_pi + (at >> 5);
	ulong high = ((ulong)w[0] << 32) | w[1], low = ((ulong)w[2] << 32) | w[3];
	ulong first = shift ? (high << shift) | (low >> (64 - shift)) : high;
	ulong second = (low << shift) >> 32;
	ulong product = digits * first + ((digits * second) >> 32);
	ulong q = (product + (1ul << 61)) >> 62;
	double rest = (long)(product - (q << 62)) * (0x1p-62 * PI_D / 2);

	*quadrant = as_int(x) < 0 ? -(long)q : (long)q;
	return as_int(x) < 0 ? -rest : rest;
}

#define CORE(F, D, I, L, N) \
	OVERLOAD D convert_double##N(F); \
	OVERLOAD D convert_double##N(I); \
	OVERLOAD F convert_float##N(D); \
	OVERLOAD L convert_long##N(I); \
	OVERLOAD I convert_int##N(L); \
	OVERLOAD I convert_int##N(D); \
	static OVERLOAD D two_to(D n) \
	{ return as_double##N(as_long##N(n + (MAGIC + 1023)) << 52); } \
	static OVERLOAD D limit(D x, double low, double high) \
	{ x = x < (D)low ? (D)low : x; return x > (D)high ? (D)high : x; } \
	/* (exp(r) - 1) / r for |r| < 0.35 */ \
	static OVERLOAD D exp_series(D r) \
	{ \
		return 1 + r * (0.5 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r * \
		       (1.0 / 720 + r * (1.0 / 5040 + r * (1.0 / 40320 + r * \
		       (1.0 / 362880 + r * (1.0 / 3628800))))))))); \
	} \
	static OVERLOAD D exp_core(D x) \
	{ \
		D y = limit(x, -700, 700); \
		D n = __builtin_elementwise_rint(y * LOG2E), r = y - n * LN2; \
		return (1 + r * exp_series(r)) * two_to(n); \
	} \
	static OVERLOAD D expm1_core(D x) \
	{ \
		D small = x * exp_series(x); \
		return __builtin_elementwise_abs(x) < (D)0.35 ? small : exp_core(x) - 1; \
	} \
	/* log of (1 + s) / (1 - s) for |s| < 0.18 */ \
	static OVERLOAD D log_series(D s) \
	{ \
		D z = s * s; \
		return 2 * s * (1 + z * (1.0 / 3 + z * (1.0 / 5 + z * (1.0 / 7 + z * \
		       (1.0 / 9 + z * (1.0 / 11 + z * (1.0 / 13 + z * (1.0 / 15)))))))); \
	} \
	static OVERLOAD D log_core(D x) \
	{ \
		L bits = as_long##N(x); \
		L k = (bits - 0x3fe6a09e667f3bcdl) >> 52; \
		D m = as_double##N(bits - (k << 52)); \
		D e = as_double##N(k + as_long(MAGIC)) - MAGIC; \
		D y = e * LN2 + log_series((m - 1) / (m + 1)); \
		y = x == (D)INFINITY ? x : y; \
		y = x == (D)0 ? (D)-INFINITY : y; \
		return (x < (D)0) | (x != x) ? (D)NAN : y; \
	} \
	static OVERLOAD D log1p_core(D x) \
	{ \
		D small = log_series(x / (2 + x)); \
		return __builtin_elementwise_abs(x) < (D)0.3 ? small : log_core(1 + x); \
	} \
	static OVERLOAD D pow_core(D x, D y, L odd) \
	{ \
		D size = __builtin_elementwise_abs(x), r = exp_core(y * log_core(size)); \
		r = (size == (D)1) & (y == y) ? (D)1 : r; \
		r = y == (D)0 ? (D)1 : r; \
		r = odd & (as_long##N(x) < 0) ? -r : r; \
		return x == (D)1 ? (D)1 : r; \
	} \
	static OVERLOAD D sin_series(D r) \
	{ \
		D z = r * r; \
		return r * (1 + z * (-1.0 / 6 + z * (1.0 / 120 + z * (-1.0 / 5040 + z * \
		       (1.0 / 362880 + z * (-1.0 / 39916800 + z * (1.0 / 6227020800))))))); \
	} \
	static OVERLOAD D cos_series(D r) \
	{ \
		D z = r * r; \
		return 1 + z * (-0.5 + z * (1.0 / 24 + z * (-1.0 / 720 + z * (1.0 / 40320 + z * \
		       (-1.0 / 3628800 + z * (1.0 / 479001600)))))); \
	} \
	/* sin(r + quadrant * pi / 2) */ \
	static OVERLOAD D sin_quadrant(D r, L quadrant) \
	{ \
		D y = -(quadrant & 1) < 0 ? cos_series(r) : sin_series(r); \
		return -(quadrant & 2) < 0 ? -y : y; \
	} \
	static OVERLOAD D reduce_near(D d, L *quadrant) \
	{ \
		D n = __builtin_elementwise_rint(d * (2 / PI_D)); \
		*quadrant = as_long##N(n + MAGIC); \
		return d - n * 0x1.921fb544p+0 - n * 0x1.0b4611a6p-34 - n * 0x1.3198a2e037073p-69; \
	} \
	/* \
	 * Without the reduction of very large angles, most of the code of programs \
	 * that compute several: beyond the range in which n is exact each counts as 0. \
	 */ \
	static OVERLOAD D reduce_fast(F x, L *quadrant) \
	{ \
		D d = convert_double##N(x); \
		d = __builtin_elementwise_abs(d) < (D)0x1p+50 ? d : d - d; \
		return reduce_near(d, quadrant); \
	} \
	static OVERLOAD D reduce(F x, L *quadrant) \
	{ \
		D d = convert_double##N(x), r = reduce_near(d, quadrant); \
		I large = (__builtin_elementwise_abs(x) > (F)1e6f) & (x - x == x - x); \
		if (UNLIKELY(ANY_OF(large, N))) \
			for (uint i = 0; i < LANES_##N; i++) \
				if (((int *)&large)[i]) \
					((double *)&r)[i] = reduce_large(((float *)&x)[i], \
								(long *)quadrant + i); \
		return d - d == d - d ? r : (D)NAN; \
	} \
	static OVERLOAD D reduce_pi(F x, L *quadrant) \
	{ \
		x = __builtin_elementwise_abs(x) >= (F)0x1p+24f ? x - x : x; \
		F n = __builtin_elementwise_rint(2 * x); \
		F m = n - 4 * __builtin_elementwise_floor(n * 0.25f); \
		*quadrant = as_long##N(convert_double##N(m) + MAGIC); \
		return convert_double##N(x - n * 0.5f) * PI_D; \
	} \
	static OVERLOAD D atan_core(D size) \
	{ \
		D inverse = size > (D)1 ? 1 / size : size; \
		D t = inverse > (D)0.41421356 ? (inverse - 1) / (inverse + 1) : inverse; \
		D z = t * t; \
		D y = t * (1 + z * (-1.0 / 3 + z * (1.0 / 5 + z * (-1.0 / 7 + z * (1.0 / 9 + z * \
		      (-1.0 / 11 + z * (1.0 / 13 + z * (-1.0 / 15 + z * (1.0 / 17 + z * \
		      (-1.0 / 19 + z * (1.0 / 21 + z * (-1.0 / 23)))))))))))); \
		y = inverse > (D)0.41421356 ? PI_D / 4 + y : y; \
		return size > (D)1 ? PI_D / 2 - y : y; \
	} \
	static OVERLOAD D signed_as(D size, D x) \
	{ return as_long##N(x) < 0 ? -size : size; } \
	static OVERLOAD D atan2_core(D y, D x) \
	{ \
		D ay = __builtin_elementwise_abs(y), ax = __builtin_elementwise_abs(x); \
		D ratio = ay == ax ? (ay == (D)0 ? (D)0 : (D)1) : ay / ax; \
		D angle = (x != x) | (y != y) ? (D)NAN : atan_core(ratio); \
		return signed_as(as_long##N(x) < 0 ? PI_D - angle : angle, y); \
	}

#define EXPONENTIAL(F, D, I, L, N) \
	OVERLOAD F exp(F x) { return convert_float##N(exp_core(convert_double##N(x))); } \
	OVERLOAD F exp2(F x) { return convert_float##N(exp_core(convert_double##N(x) * LN2)); } \
	OVERLOAD F exp10(F x) { return convert_float##N(exp_core(convert_double##N(x) * LN10)); } \
	OVERLOAD F expm1(F x) { return convert_float##N(expm1_core(convert_double##N(x))); } \
	OVERLOAD F log(F x) { return convert_float##N(log_core(convert_double##N(x))); } \
	OVERLOAD F log2(F x) { return convert_float##N(log_core(convert_double##N(x)) * LOG2E); } \
	OVERLOAD F log10(F x) \
	{ return convert_float##N(log_core(convert_double##N(x)) * (1 / LN10)); } \
	OVERLOAD F log1p(F x) { return convert_float##N(log1p_core(convert_double##N(x))); } \
	OVERLOAD F pow(F x, F y) \
	{ \
		F half_y = y * 0.5f; \
		I whole = y == __builtin_elementwise_trunc(y); \
		I odd = whole & (half_y != __builtin_elementwise_trunc(half_y)) & \
			(__builtin_elementwise_abs(y) < (F)16777216.0f); \
		F r = convert_float##N(pow_core(convert_double##N(x), convert_double##N(y), \
						convert_long##N(odd))); \
		return (x < (F)0) & (x != (F)-INFINITY) & !whole & (y == y) ? (F)NAN : r; \
	} \
	OVERLOAD F pown(F x, I n) \
	{ return convert_float##N(pow_core(convert_double##N(x), convert_double##N(n), \
					   convert_long##N(-(n & 1)))); } \
	OVERLOAD F powr(F x, F y) \
	{ return convert_float##N(exp_core(convert_double##N(y) * \
					   log_core(convert_double##N(x)))); } \
	OVERLOAD F rootn(F x, I n) \
	{ \
		F r = convert_float##N(pow_core(convert_double##N(x), 1 / convert_double##N(n), \
						convert_long##N(-(n & 1)))); \
		return ((x < (F)0) & ((n & 1) == 0)) | (n == 0) ? (F)NAN : r; \
	} \
	OVERLOAD F cbrt(F x) \
	{ \
		D d = convert_double##N(x); \
		D r = exp_core(log_core(__builtin_elementwise_abs(d)) * (1.0 / 3)); \
		return x == (F)0 ? x : convert_float##N(signed_as(r, d)); \
	} \
	OVERLOAD F hypot(F x, F y) \
	{ \
		F squares = x * x + y * y, r = __builtin_elementwise_sqrt(squares); \
		I rare = (squares < (F)0x1p-100f) | !(squares < (F)INFINITY); \
		if (UNLIKELY(ANY_OF(rare, N))) { \
			D a = convert_double##N(x), b = convert_double##N(y); \
			F s = convert_float##N(__builtin_elementwise_sqrt(a * a + b * b)); \
			r = rare ? s : r; \
			r = (__builtin_elementwise_abs(x) == (F)INFINITY) | \
			    (__builtin_elementwise_abs(y) == (F)INFINITY) ? (F)INFINITY : r; \
		} \
		return r; \
	} \
	OVERLOAD F sinh(F x) \
	{ \
		D d = convert_double##N(x), e = expm1_core(__builtin_elementwise_abs(d)); \
		return convert_float##N(signed_as((e + e / (e + 1)) * 0.5, d)); \
	} \
	OVERLOAD F cosh(F x) \
	{ \
		D e = exp_core(__builtin_elementwise_abs(convert_double##N(x))); \
		return convert_float##N((e + 1 / e) * 0.5); \
	} \
	OVERLOAD F tanh(F x) \
	{ \
		D d = convert_double##N(x); \
		D e = expm1_core(__builtin_elementwise_abs(d) * 2); \
		return convert_float##N(signed_as(e > (D)1e20 ? (D)1 : e / (e + 2), d)); \
	} \
	OVERLOAD F asinh(F x) \
	{ \
		D d = convert_double##N(x), a = __builtin_elementwise_abs(d); \
		D r = log1p_core(a + a * a / (1 + __builtin_elementwise_sqrt(a * a + 1))); \
		return convert_float##N(signed_as(a > (D)1e30 ? log_core(a) + LN2 : r, d)); \
	} \
	OVERLOAD F acosh(F x) \
	{ \
		D t = convert_double##N(x) - 1; \
		D r = log1p_core(t + __builtin_elementwise_sqrt(t * (t + 2))); \
		return convert_float##N(t < (D)0 ? (D)NAN : r); \
	} \
	OVERLOAD F atanh(F x) \
	{ \
		D d = convert_double##N(x), a = __builtin_elementwise_abs(d); \
		return convert_float##N(signed_as(0.5 * log1p_core(2 * a / (1 - a)), d)); \
	}

/* With the angle reduced by REDUCE() */
#define SIN_COS_TAN(PREFIX, REDUCE, F, D, L, N) \
	OVERLOAD F PREFIX##sin(F x) \
	{ \
		L q; \
		D r = REDUCE(x, &q); \
		return x == (F)0 ? x : convert_float##N(sin_quadrant(r, q)); \
	} \
	OVERLOAD F PREFIX##cos(F x) \
	{ L q; D r = REDUCE(x, &q); return convert_float##N(sin_quadrant(r, q + 1)); } \
	OVERLOAD F PREFIX##tan(F x) \
	{ \
		L q; \
		D r = REDUCE(x, &q); \
		F y = convert_float##N(sin_quadrant(r, q) / sin_quadrant(r, q + 1)); \
		return x == (F)0 ? x : y; \
	}

#define TRIGONOMETRIC(F, D, I, L, N) \
	SIN_COS_TAN(, reduce, F, D, L, N) \
	OVERLOAD F sinpi(F x) \
	{ \
		L q; \
		D r = reduce_pi(x, &q); \
		F zero = __builtin_elementwise_copysign(x - x, x); \
		return x == __builtin_elementwise_trunc(x) ? zero : \
		       convert_float##N(sin_quadrant(r, q)); \
	} \
	OVERLOAD F cospi(F x) \
	{ L q; D r = reduce_pi(x, &q); return convert_float##N(0 + sin_quadrant(r, q + 1)); } \
	OVERLOAD F tanpi(F x) \
	{ \
		L q; \
		D r = reduce_pi(x, &q), d = convert_double##N(x); \
		D y = sin_quadrant(r, q) / (0 + sin_quadrant(r, q + 1)); \
		D zero = __builtin_elementwise_copysign(d - d, -(q & 2) < 0 ? -d : d); \
		return convert_float##N(d == __builtin_elementwise_trunc(d) ? zero : y); \
	} \
	OVERLOAD F atan(F x) \
	{ \
		D d = convert_double##N(x); \
		return convert_float##N(signed_as(atan_core(__builtin_elementwise_abs(d)), d)); \
	} \
	OVERLOAD F atanpi(F x) \
	{ \
		D d = convert_double##N(x), y = atan_core(__builtin_elementwise_abs(d)); \
		return convert_float##N(signed_as(y * (1 / PI_D), d)); \
	} \
	OVERLOAD F atan2(F y, F x) \
	{ return convert_float##N(atan2_core(convert_double##N(y), convert_double##N(x))); } \
	OVERLOAD F atan2pi(F y, F x) \
	{ return convert_float##N(atan2_core(convert_double##N(y), convert_double##N(x)) * \
				  (1 / PI_D)); } \
	static OVERLOAD D asin_core(F x) \
	{ \
		D d = convert_double##N(x); \
		return atan2_core(d, __builtin_elementwise_sqrt((1 - d) * (1 + d))); \
	} \
	static OVERLOAD D acos_core(F x) \
	{ \
		D d = convert_double##N(x); \
		return atan2_core(__builtin_elementwise_sqrt((1 - d) * (1 + d)), d); \
	} \
	OVERLOAD F asin(F x) { return convert_float##N(asin_core(x)); } \
	OVERLOAD F acos(F x) { return convert_float##N(acos_core(x)); } \
	OVERLOAD F asinpi(F x) { return convert_float##N(asin_core(x) * (1 / PI_D)); } \
	OVERLOAD F acospi(F x) { return convert_float##N(acos_core(x) * (1 / PI_D)); }

/* The fast variants are no faster, and no worse. */
#define FAST_VARIANTS(F, P) \
	OVERLOAD F P##_exp(F x) { return exp(x); } \
	OVERLOAD F P##_exp2(F x) { return exp2(x); } \
	OVERLOAD F P##_exp10(F x) { return exp10(x); } \
	OVERLOAD F P##_log(F x) { return log(x); } \
	OVERLOAD F P##_log2(F x) { return log2(x); } \
	OVERLOAD F P##_log10(F x) { return log10(x); } \
	OVERLOAD F P##_powr(F x, F y) { return powr(x, y); }

#define HALF_TRIGONOMETRIC(F) \
	OVERLOAD F half_sin(F x) { return sin(x); } \
	OVERLOAD F half_cos(F x) { return cos(x); } \
	OVERLOAD F half_tan(F x) { return tan(x); }

/* Results through a pointer, to memory of each kind. */
#define POINTERS(F, SPACE) \
	OVERLOAD F sincos(F x, SPACE F *c) { *c = cos(x); return sin(x); }

#define ALL_OF(F, D, I, L, N) \
	CORE(F, D, I, L, N) EXPONENTIAL(F, D, I, L, N) TRIGONOMETRIC(F, D, I, L, N) \
	FAST_VARIANTS(F, native) FAST_VARIANTS(F, half) \
	HALF_TRIGONOMETRIC(F) SIN_COS_TAN(native_, reduce_fast, F, D, L, N) \
	POINTERS(F, global) POINTERS(F, local) POINTERS(F, private)

ALL_OF(float, double, int, long, )
ALL_OF(float2, double2, int2, long2, 2)
ALL_OF(float3, double3, int3, long3, 3)
ALL_OF(float4, double4, int4, long4, 4)
ALL_OF(float8, double8, int8, long8, 8)
ALL_OF(float16, double16, int16, long16, 16)
