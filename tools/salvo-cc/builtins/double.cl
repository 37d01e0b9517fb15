// SPDX-License-Identifier: MIT
/* double.cl - each_double.cl for every width, and what of it is for one element alone */
#define LN2_HIGH	0x1.62e42fefa38p-1
#define LN2_LOW		0x1.ef35793c7673p-45
#define LOG10_2_HIGH	0x1.34413509f78p-2
#define LOG10_2_LOW	0x1.fef311f12b358p-46
#define LOG2_10		0x1.a934f0979a371p+1
#define LOG2E_LOW	0x1.777d0ffda0d24p-56
#define INV_LN10	0x1.bcb7b1526e50ep-2
#define INV_LN10_LOW	0x1.95355baaafad3p-57
#define TWO_THIRDS	0x1.5555555555555p-1
#define TWO_THIRDS_LOW	0x1.5555555555555p-55
#define PI_LOW		0x1.1a62633145c07p-53
#define INV_PI		0x1.45f306dc9c883p-2
#define HALF_PI_LAST	-0x1.f1976b7ed8fbcp-110
#define ATAN_HALF	0x1.dac670561bb4fp-2
#define ATAN_HALF_LOW	0x1.a2b7f222f65e2p-56

#define D		JOIN(double, N)
#define L		JOIN(long, N)
#define F		JOIN(float, N)

/* Functions of single elements that REPLACE() calls */
RARE double salvo_outline_sin_far_d(double x);
RARE double salvo_outline_cos_far_d(double x);
RARE double salvo_outline_tan_far_d(double x);
RARE double salvo_outline_log_small_d(double x);
RARE double salvo_outline_log2_small_d(double x);
RARE double salvo_outline_log10_small_d(double x);

#define EACH		"each_double.cl"
#include "widths.h"
#undef EACH

/* 2/pi, 64 bits a word, after a word of zeros. */
static constant const ulong two_over_pi_long[] = {
	0,
	0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
	0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
	0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
	0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
	0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
};

/*
 * x modulo pi/2 for a large finite x. Its 53 digits times 192 bits of 2/pi, chosen so that
 * the product's upper two bits are the quadrant; what comes before are whole turns,
 * what comes after is too small to count, even where the fraction begins with 62 zeros.
 */
static OVERLOAD double reduce_large(double x, long *quadrant)
{
	ulong bits = as_ulong(x) & 0x7fffffffffffffff;
	ulong digits = (bits & 0xfffffffffffff) | 0x10000000000000;
	uint at = (uint)(bits >> 52) - 1075 + 62, shift = at & 63;
	constant const ulong *w = two_over_pi_long + (at >> 6);
	ulong w0 = shift ? (w[0] << shift) | (w[1] >> (64 - shift)) : w[0];
	ulong w1 = shift ? (w[1] << shift) | (w[2] >> (64 - shift)) : w[1];
	ulong w2 = shift ? (w[2] << shift) | (w[3] >> (64 - shift)) : w[2];
	ulong p2 = digits * w2, h2 = mul_hi(digits, w2);
	ulong p1 = digits * w1 + h2, h1 = mul_hi(digits, w1) + (p1 < h2);
	ulong p0 = digits * w0 + h1, q = (p0 + (1ul << 61)) >> 62;
	long top = p0 - (q << 62);
	double sign = as_long(x) < 0 ? -1.0 : 1.0, e1, e2, e3, e4;

	/* Exact parts of the fraction, the first with its sign. */
	double f = two_sum((top >> 32) * 0x1p-30, (top & 0xffffffff) * 0x1p-62, &e1);
	f = two_sum(f, (p1 >> 32) * 0x1p-94, &e2);
	f = two_sum(f, (p1 & 0xffffffff) * 0x1p-126, &e3);
	f = quick_sum(f, e1 + (e2 + (e3 + (p2 >> 32) * 0x1p-158)), &e4);
	double r = two_product(f, PI_D / 2, &e1);

	*quadrant = as_long(x) < 0 ? -(long)q : (long)q;
	return sign * (r + (e1 + (f * (PI_LOW / 2) + e4 * (PI_D / 2))));
}

/* Angles above FAR, infinity among them */
static OVERLOAD double reduce_far(double x, long *quadrant)
{
	*quadrant = 0;
	return x - x == 0 ? reduce_large(x, quadrant) : NAN;
}

FAR_ANGLE_FUNCTIONS(double, long, d)

#define LOGARITHM_SMALL(NAME) \
	double salvo_outline_##NAME##_small_d(double x) \
	{ \
		double e, f = take_normal(x * 0x1p54, &e) - 1; \
		return NAME##_of_parts(e - 54, f); \
	}
LOGARITHM_SMALL(log)
LOGARITHM_SMALL(log2)
LOGARITHM_SMALL(log10)
#undef LOGARITHM_SMALL

/* Gamma(x) for x > 0 as exp(high + low) / @factor, by Stirling's series from 12 on. */
static double log_gamma_sum(double x, double *low, double *factor)
{
	double steps = 0, product = 1, e1, e2, e3, log_low;

	for (; x + steps < 12; steps += 1)
		product *= x + steps;
	*factor = product;

	double y = x + steps, lost = x - (y - steps), z = 1 / (y * y), s = -0x1.e4286cb0f5398p-6;
	s = s * z + 0x1.a41a41a41a41ap-8;
	s = s * z - 0x1.f6ab0d9993c7dp-10;
	s = s * z + 0x1.b951e2b18ff23p-11;
	s = s * z - 0x1.3813813813814p-11;
	s = s * z + 0x1.a01a01a01a01ap-11;
	s = s * z - 0x1.6c16c16c16c17p-9;
	s = (s * z + 0x1.5555555555555p-4) / y;

	/* (y - 1/2) log y - y + log(2 pi) / 2 + s */
	double log = log_sum(y, &log_low), sum = two_product(log, y - 0.5, &e1);
	sum = two_sum(sum, -y, &e2);
	sum = two_sum(sum, 0x1.d67f1c864beb5p-1, &e3);
	s += log_low * (y - 0.5) - 0x1.65b5a1b7ff5dfp-55 + lost * (log - 0.5 / y);
	return quick_sum(sum, e1 + (e2 + (e3 + s)), low);
}

/* Gamma's sign and the logarithm of its size; for whole numbers from 0 down, infinity. */
static double lgamma_sign(double x, int *sign)
{
	double size = __builtin_elementwise_abs(x), low, factor, high, result;

	*sign = 1;
	if (x != x || size == INFINITY)
		return x * x;
	if (x <= 0 && x == __builtin_elementwise_trunc(x)) {
		*sign = as_long(x) < 0 && x == 0 ? -1 : x == 0;
		return INFINITY;
	}
	/* Gamma(x) = 1 / x near 0. */
	if (size < 0x1p-60) {
		*sign = x < 0 ? -1 : 1;
		return -log(size);
	}
	if (size > 0x1p60)
		return size * (log(size) - 1);
	high = log_gamma_sum(size, &low, &factor);
	result = high - (log(factor) - low);
	if (x > 0)
		return result;
	high = sinpi(size);
	*sign = high > 0 ? -1 : 1;
	return log(PI_D / (size * __builtin_elementwise_abs(high))) - result;
}

OVERLOAD double tgamma(double x)
{
	double size = __builtin_elementwise_abs(x), low, factor, high;

	if (x == 0)
		return 1 / x;
	if (x != x || x == -INFINITY || (x < 0 && x == __builtin_elementwise_trunc(x)))
		return NAN;
	if (x > 180)
		return INFINITY;
	if (x < -200)
		return __builtin_elementwise_floor(x * 0.5) * 2 == __builtin_elementwise_floor(x) ?
			0.0 : -0.0;
	if (size < 0x1p-60)
		return 1 / x;
	high = log_gamma_sum(size, &low, &factor);
	if (x > 0)
		return exp_sum(high, low) / factor;
	/* Gamma(x) Gamma(-x) = -pi / (x sin(pi x)); 1 / Gamma(-x) alone may be subnormal. */
	high = exp_sum(high * -0.5, low * -0.5);
	return high * (factor * (PI_D / (x * sinpi(size)))) * high;
}

#define EACH		"each_special.cl"
#include "widths.h"
#undef EACH
#undef D
#undef L
#undef F
