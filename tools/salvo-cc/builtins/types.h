// SPDX-License-Identifier: MIT
/* types.h - one definition for all element types and vector widths */
#define OVERLOAD __attribute__((overloadable))

/* Of functions that few work-items call: callers keep their registers (target.cc). */
#define RARE __attribute__((cold, const))

#define JOIN_(a, b)	a##b
#define JOIN(a, b)	JOIN_(a, b)

/* Is a comparison of N elements, nothing for a scalar, true for one of them? */
#define ANY_OF(x, N)	JOIN(ANY_OF_, N)(x)
#define ANY_OF_(x)	(x)
#define ANY_OF_2(x)	any(x)
#define ANY_OF_3(x)	any(x)
#define ANY_OF_4(x)	any(x)
#define ANY_OF_8(x)	any(x)
#define ANY_OF_16(x)	any(x)

/* Conditions of branches to what few work-items need */
#define LIKELY(x)	__builtin_expect((x) != 0, 1)
#define UNLIKELY(x)	__builtin_expect((x) != 0, 0)

/*
 * Those of the LANES elements of @y, of type S, where @wrong, of type B, is true: by FUNCTION of
 * the same of @x. It takes one element and its name begins with salvo_outline, so that its code is
 * there but once (flatten.cc).
 */
#define REPLACE(y, x, wrong, FUNCTION) \
	if (UNLIKELY(ANY_OF(wrong, N))) \
		for (uint i = 0; i < LANES; i++) \
			if (((B *)&wrong)[i]) \
				((S *)&y)[i] = FUNCTION(((S *)&x)[i]);

/*
 * sin(), cos() and tan() of the real type T by reduce() and its quadrants, of type Q, up to LIMIT;
 * of angles beyond it by FAR_FUNCTION(NAME)
 */
#define ANGLE_FUNCTIONS(T, Q, LIMIT) \
	ANGLE_FUNCTION(T, Q, LIMIT, sin, sin_quadrant(r, q), y = x == (T)0 ? x : y;) \
	ANGLE_FUNCTION(T, Q, LIMIT, cos, sin_quadrant(r, q + 1), ) \
	ANGLE_FUNCTION(T, Q, LIMIT, tan, tan_quadrant(r, q), y = x == (T)0 ? x : y;)

/* OF_QUADRANT: by the rest r in quadrant q; KEEP_ZERO: a statement for zero, which has a sign */
#define ANGLE_FUNCTION(T, Q, LIMIT, NAME, OF_QUADRANT, KEEP_ZERO) \
	OVERLOAD T NAME(T x) \
	{ \
		Q q, far = ABS(x) > (T)LIMIT; \
		T r = reduce(x, &q), y = OF_QUADRANT; \
		KEEP_ZERO \
		REPLACE(y, x, far, FAR_FUNCTION(NAME)) \
		return y; \
	}

/* The same of one element of the type S beyond that, by reduce_far() and a quadrant of type Q */
#define FAR_ANGLE_FUNCTIONS(S, Q, SUFFIX) \
	FAR_ANGLE_FUNCTION(S, Q, sin_far_##SUFFIX, sin_quadrant(r, q)) \
	FAR_ANGLE_FUNCTION(S, Q, cos_far_##SUFFIX, sin_quadrant(r, q + 1)) \
	FAR_ANGLE_FUNCTION(S, Q, tan_far_##SUFFIX, tan_quadrant(r, q))

#define FAR_ANGLE_FUNCTION(S, Q, NAME, OF_QUADRANT) \
	S salvo_outline_##NAME(S x) \
	{ \
		Q q; \
		S r = reduce_far(x, &q); \
		return OF_QUADRANT; \
	}

/* Does the processor multiply and add in one step? A constant for each target (target.cc) */
int salvo_has_fma(void) __asm__("salvo.has_fma") __attribute__((const));

/* M(type, type of its comparison result, type of its bits) */
#define FOR_FLOAT_VECTORS(M) \
	M(float2, int2, uint2) M(float3, int3, uint3) M(float4, int4, uint4) \
	M(float8, int8, uint8) M(float16, int16, uint16)
#define FOR_DOUBLE_VECTORS(M) \
	M(double2, long2, ulong2) M(double3, long3, ulong3) M(double4, long4, ulong4) \
	M(double8, long8, ulong8) M(double16, long16, ulong16)
#define FOR_FLOATS(M) M(float, int, uint) FOR_FLOAT_VECTORS(M)
#define FOR_DOUBLES(M) M(double, int, ulong) FOR_DOUBLE_VECTORS(M)
#define FOR_REALS(M) FOR_FLOATS(M) FOR_DOUBLES(M)

/* M(type, type of the same width and sign) for each width */
#define WIDTHS(M, T, U) M(T, U) M(T##2, U##2) M(T##3, U##3) M(T##4, U##4) M(T##8, U##8) \
	M(T##16, U##16)
/* M(signed or unsigned type, its unsigned type) */
#define FOR_INTEGERS(M) \
	WIDTHS(M, char, uchar) WIDTHS(M, uchar, uchar) WIDTHS(M, short, ushort) \
	WIDTHS(M, ushort, ushort) WIDTHS(M, int, uint) WIDTHS(M, uint, uint) \
	WIDTHS(M, long, ulong) WIDTHS(M, ulong, ulong)
