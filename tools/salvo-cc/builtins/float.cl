// SPDX-License-Identifier: MIT
/* float.cl - each_float.cl for every width, and what of it is for one element alone */
#define MAGIC_F		0x1.8p+23f		/* as MAGIC */
#define ONE_BITS	0x3f800000		/* of 1.0f */
#define SQRT_HALF_BITS	0x3f3504f3		/* of sqrt(0.5f) */
#define SIGN_BIT	((int)0x80000000)
#define LN2_F		0x1.62e430p-1f
#define LN2_HIGH_F	0x1.62e4p-1f
#define LN2_LOW_F	0x1.7f7d1cp-20f
#define LOG2E_F		0x1.715476p+0f
#define LOG2E_ABOVE_1_F	0x1.c551dap-2f
#define LN10_F		0x1.26bb1cp+1f
#define INV_LN10_F	0x1.bcb7b2p-2f
#define LOG2_10_F	0x1.a934f0p+1f
#define LOG10_2_HIGH_F	0x1.344p-2f
#define LOG10_2_LOW_F	0x1.3509f8p-18f
#define PI_F		0x1.921fb6p+1f
#define HALF_PI_F	0x1.921fb6p+0f
#define HALF_PI_LOW_F	-0x1.777a5cp-25f
#define HALF_PI_LAST_F	-0x1.ee59dap-50f
#define FAR_F		0x1p+17f		/* as FAR, in float */
#define LEAST_NORMAL_F	0x1p-126f
#define INV_PI_F	0x1.45f306p-2f

/* 2/pi, 32 bits a word, after a word of zeros. */
static constant const uint two_over_pi[] = {
	0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab,
	0xdebbc561,
};

/*
 * x modulo pi/2 for a large finite x: multiply its digits by just those bits of
 * 2/pi that make the quadrant and the fraction.
 */
static OVERLOAD float reduce_large(float x, int *quadrant)
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
	float rest = (long)(product - (q << 62)) * (0x1p-62 * PI_D / 2);

	*quadrant = as_int(x) < 0 ? -(int)q : (int)q;
	return as_int(x) < 0 ? -rest : rest;
}

/* Functions of single elements that REPLACE() calls */
RARE float salvo_outline_sin_far_f(float x);
RARE float salvo_outline_cos_far_f(float x);
RARE float salvo_outline_tan_far_f(float x);
RARE float salvo_outline_log_small_f(float x);
RARE float salvo_outline_log2_small_f(float x);
RARE float salvo_outline_log10_small_f(float x);

#define F		JOIN(float, N)
#define I		JOIN(int, N)
#define D		JOIN(double, N)
#define L		JOIN(long, N)
#define EACH		"each_float.cl"
#include "widths.h"
#undef EACH
#undef F
#undef I
#undef D
#undef L

/* Angles above FAR_F, infinity among them */
static OVERLOAD float reduce_far(float x, int *quadrant)
{
	if (__builtin_elementwise_abs(x) < FAR)
		return reduce_double(x, quadrant);
	*quadrant = 0;
	return x - x == 0 ? reduce_large(x, quadrant) : NAN;
}

FAR_ANGLE_FUNCTIONS(float, int, f)

#define LOGARITHM_SMALL(NAME) \
	float salvo_outline_##NAME##_small_f(float x) \
	{ \
		float n, rest, f = log_parts(x * 0x1p+23f, &n, &rest); \
		return NAME##_of_parts(n - 23, f, rest); \
	}
LOGARITHM_SMALL(log)
LOGARITHM_SMALL(log2)
LOGARITHM_SMALL(log10)
#undef LOGARITHM_SMALL
