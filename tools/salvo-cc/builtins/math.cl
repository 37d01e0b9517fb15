// SPDX-License-Identifier: MIT
/*
 * math.cl - functions on float that are computed in double, 6.12.2
 *
 * Where float would lose too many digits on the way: powers, whose logarithms are multiplied, and
 * differences from one. They reduce to a small range, where a Taylor series is good to about
 * 1e-11: the result is the float next to the true value but for the rarest cases, without tables
 * and without branches for special values. Each of them is written once, for vectors of every width
 * and for scalars. Those computed in float are in each_float.cl, those that one instruction does in
 * intrinsics.cc.
 */

#define LN2	0x1.62e42fefa39efp-1
#define LOG2E	0x1.71547652b82fep+0
#define LN10	0x1.26bb1bbb55516p+1
#define PI_D	0x1.921fb54442d18p+1
#define FAR	(salvo_has_fma() ? 0x1p+30 : 0x1p+20)	/* the largest angle for reduce() */
#define MAGIC	0x1.8p+52		/* adding it leaves an integer in the low bits */

#define CORE(F, D, I, L, N) \
	OVERLOAD D convert_double##N(F); \
	OVERLOAD D convert_double##N(I); \
	OVERLOAD F convert_float##N(D); \
	OVERLOAD L convert_long##N(I); \
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
	static OVERLOAD D pow_core(D x, D y, L odd) \
	{ \
		D size = __builtin_elementwise_abs(x), r = exp_core(y * log_core(size)); \
		r = (size == (D)1) & (y == y) ? (D)1 : r; \
		r = y == (D)0 ? (D)1 : r; \
		r = odd & (as_long##N(x) < 0) ? -r : r; \
		return x == (D)1 ? (D)1 : r; \
	} \
	static OVERLOAD D signed_as(D size, D x) \
	{ return as_long##N(x) < 0 ? -size : size; }

#define EXPONENTIAL(F, D, I, L, N) \
	OVERLOAD F expm1(F x) { return convert_float##N(expm1_core(convert_double##N(x))); } \
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
	}

#define ALL_OF(F, D, I, L, N) CORE(F, D, I, L, N) EXPONENTIAL(F, D, I, L, N)

ALL_OF(float, double, int, long, )
ALL_OF(float2, double2, int2, long2, 2)
ALL_OF(float3, double3, int3, long3, 3)
ALL_OF(float4, double4, int4, long4, 4)
ALL_OF(float8, double8, int8, long8, 8)
ALL_OF(float16, double16, int16, long16, 16)
