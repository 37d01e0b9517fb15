// SPDX-License-Identifier: MIT
/*
 * each_float.cl - functions on float that are computed in float, 6.12.2
 *
 * Included once for each width. F: float, I: int, D: double, L: long, all of N elements.
 * Arguments are reduced to a small range, exactly or with what is lost as a second number; there a
 * polynomial is off by less than 2^-27 of the result, so that the rounding of the last steps makes
 * up most of an error. The coefficients were fitted by weighted least squares for the least
 * relative error. Special arguments are put right by selections at the end; what would take many
 * instructions is behind a branch (REPLACE() in types.h).
 *
 * Constants with few digits have exact products with the integers that they are multiplied by,
 * with a fused multiplication or without (x86-64-v2).
 */
#define S		float
#define B		int
#define BITS(x)		__builtin_astype(x, I)
#define VALUE(x)	__builtin_astype(x, F)
#define ABS(x)		__builtin_elementwise_abs(x)
#define RINT(x)		__builtin_elementwise_rint(x)
#define SQRT(x)		__builtin_elementwise_sqrt(x)
#define SIGNED_AS(y, x)	__builtin_elementwise_copysign(y, x)
#define FMA(x, y, z)	__builtin_elementwise_fma(x, y, z)

OVERLOAD F JOIN(convert_float, N)(I);
OVERLOAD I JOIN(convert_int, N)(L);

static OVERLOAD F limit(F x, float low, float high)
{
	x = x < (F)low ? (F)low : x;
	return x > (F)high ? (F)high : x;
}

/* x * 2^n for whole n, in two steps so that a subnormal result is rounded but once. */
static OVERLOAD F scale(F x, F n)
{
	I whole = BITS(n + MAGIC_F) << 23, first = whole >> 1 & -(1 << 23);

	return x * VALUE(first + ONE_BITS) * VALUE(whole - first + ONE_BITS);
}

/* exp(r) * 2^n for |r| < 0.347 */
static OVERLOAD F exp_near(F r, F n)
{
	F y = 0x1.6a4508p-10f;

	y = y * r + 0x1.1239aap-7f;
	y = y * r + 0x1.5558b8p-5f;
	y = y * r + 0x1.555492p-3f;
	y = y * r + 0x1.fffffcp-2f;
	y = r * r * y + r;
	return scale(1 + y, n);
}

OVERLOAD F exp(F x)
{
	F y = limit(x, -104, 89), n = RINT(y * LOG2E_F);

	return exp_near(y - n * LN2_HIGH_F - n * LN2_LOW_F, n);
}

OVERLOAD F exp2(F x)
{
	F y = limit(x, -151, 129), n = RINT(y);

	return exp_near((y - n) * LN2_F, n);
}

OVERLOAD F exp10(F x)
{
	F y = limit(x, -46, 39), n = RINT(y * LOG2_10_F);

	return exp_near((y - n * LOG10_2_HIGH_F - n * LOG10_2_LOW_F) * LN10_F, n);
}

/*
 * The logarithm of a normal positive x is that of 2^exponent and of 1 + f, f in [-0.293, 0.4143),
 * which is f + rest.
 */
static OVERLOAD F log_parts(F x, F *exponent, F *rest)
{
	I bits = BITS(x), k = (bits - SQRT_HALF_BITS) >> 23;
	F f = VALUE(bits - (k << 23)) - 1, y = -0x1.38aebp-4f;

	y = y * f + 0x1.056296p-3f;
	y = y * f - 0x1.0d887ap-3f;
	y = y * f + 0x1.22d8fp-3f;
	y = y * f - 0x1.5471fp-3f;
	y = y * f + 0x1.99a01cp-3f;
	y = y * f - 0x1.000228p-2f;
	y = y * f + 0x1.555554p-2f;
	y = y * f - 0.5f;
	*rest = f * f * y;
	*exponent = JOIN(convert_float, N)(k);
	return f;
}

static OVERLOAD F log_of_parts(F n, F f, F rest)
{
	return n * LN2_HIGH_F + (f + (n * LN2_LOW_F + rest));
}

/* The product with the logarithm of e to base 2 without what that is more than 1 */
static OVERLOAD F log2_of_parts(F n, F f, F rest)
{
	return n + (f + ((f + rest) * LOG2E_ABOVE_1_F + rest));
}

static OVERLOAD F log10_of_parts(F n, F f, F rest)
{
	return n * LOG10_2_HIGH_F + ((f + rest) * INV_LN10_F + n * LOG10_2_LOW_F);
}

/* What a logarithm of x is, special arguments included, when y is right for the others. */
static OVERLOAD F log_special(F x, F y)
{
	y = x == (F)INFINITY ? x : y;
	y = x == (F)0 ? (F)-INFINITY : y;
	return (x < (F)0) | (x != x) ? (F)NAN : y;
}

#define LOGARITHM(NAME) \
	OVERLOAD F NAME(F x) \
	{ \
		F n, rest, f = log_parts(x, &n, &rest), y = NAME##_of_parts(n, f, rest); \
		I special = !((x >= (F)LEAST_NORMAL_F) & (x < (F)INFINITY)); \
		if (UNLIKELY(ANY_OF(special, N))) { \
			I small = (x < (F)LEAST_NORMAL_F) & (x > (F)0); \
			y = log_special(x, y); \
			REPLACE(y, x, small, salvo_outline_##NAME##_small_f) \
		} \
		return y; \
	}
LOGARITHM(log)
LOGARITHM(log2)
LOGARITHM(log10)
#undef LOGARITHM

/* What is lost when 1 + x is rounded is added to what the reduction leaves. */
OVERLOAD F log1p(F x)
{
	F u = 1 + x, n, rest, f = log_parts(u, &n, &rest);
	F lost = x < (F)1 ? x - (u - 1) : 1 - (u - x);
	F y = log_of_parts(n, f, rest + lost / u);

	y = x == (F)0 ? x : y;
	if (UNLIKELY(ANY_OF(!((u > (F)0) & (u < (F)INFINITY)), N)))
		y = log_special(u, y);
	return y;
}

/* Where squares would overflow, log(2 a) is right. */
OVERLOAD F asinh(F x)
{
	F a = ABS(x), y = a + a * a / (1 + SQRT(a * a + 1));
	I big = a > (F)0x1p60f;

	return SIGNED_AS(log1p(big ? a : y) + (big ? (F)LN2_F : (F)0), x);
}

OVERLOAD F acosh(F x)
{
	F t = x - 1, y = t + SQRT(t * (t + 2));
	I big = t > (F)0x1p60f;

	y = log1p(big ? t : y) + (big ? (F)LN2_F : (F)0);
	return t < (F)0 ? (F)NAN : y;
}

OVERLOAD F atanh(F x)
{
	F a = ABS(x);

	return SIGNED_AS(0.5f * log1p(2 * a / (1 - a)), x);
}

OVERLOAD F tanh(F x)
{
	F a = ABS(x), z = x * x, y = -0x1.750ce4p-8f;

	y = y * z + 0x1.51f8cep-6f;
	y = y * z - 0x1.b835a4p-5f;
	y = y * z + 0x1.1106f6p-3f;
	y = y * z - 0x1.555532p-2f;
	y = x * z * y + x;
	return SIGNED_AS(a < (F)0.625f ? y : 1 - 2 / (exp(2 * a) + 1), x);
}

/* Sine and cosine for |r| <= pi / 4 */
static OVERLOAD F sin_near(F r)
{
	F z = r * r, y = -0x1.9953f2p-13f;

	y = y * z + 0x1.110778p-7f;
	y = y * z - 0x1.555546p-3f;
	return r * z * y + r;
}

static OVERLOAD F cos_near(F r)
{
	F z = r * r, y = 0x1.99e90cp-16f;

	y = y * z - 0x1.6c0c2ap-10f;
	y = y * z + 0x1.55554ap-5f;
	y = y * z - 0.5f;
	return y * z + 1;
}

/* sin(r + quadrant * pi / 2) */
static OVERLOAD F sin_quadrant(F r, I quadrant)
{
	F y = quadrant << 31 < 0 ? cos_near(r) : sin_near(r);

	return VALUE(BITS(y) ^ (quadrant << 30 & SIGN_BIT));
}

/* tan(r + quadrant * pi / 2), with a single division */
static OVERLOAD F tan_quadrant(F r, I quadrant)
{
	F s = sin_near(r), c = cos_near(r);
	I odd = quadrant << 31 < 0;

	return (odd ? -c : s) / (odd ? s : c);
}

/* x modulo pi / 2 for |x| up to FAR: a small difference to a multiple keeps its digits. */
static OVERLOAD F reduce_double(D x, I *quadrant)
{
	D shifted = x * (2 / PI_D) + MAGIC, n = shifted - MAGIC;

	*quadrant = JOIN(convert_int, N)(__builtin_astype(shifted, L));
	return JOIN(convert_float, N)(x - n * 0x1.921fb544p+0 - n * 0x1.0b4611a6p-34 -
				      n * 0x1.3198a2e037073p-69);
}

/*
 * The same for |x| up to FAR_F, NaN for others that are not finite. x less the product with the
 * first part of pi / 2 is exact with fused multiplications; those with the others only round.
 */
static OVERLOAD F reduce(F x, I *quadrant)
{
	if (salvo_has_fma()) {
		F shifted = FMA(x, (F)(2 / PI_F), (F)MAGIC_F), n = shifted - MAGIC_F;

		F less = FMA(-n, (F)HALF_PI_LOW_F, FMA(-n, (F)HALF_PI_F, x));

		*quadrant = BITS(shifted);
		return FMA(-n, (F)HALF_PI_LAST_F, less);
	}
	return reduce_double(JOIN(convert_double, N)(x), quadrant);
}

/* Of angles that are too large for that: as those of 0, in the fast variants */
static OVERLOAD F reduce_fast(F x, I *quadrant)
{
	return reduce(ABS(x) > (F)FAR_F ? x - x : x, quadrant);
}

#define FAR_FUNCTION(NAME) salvo_outline_##NAME##_far_f
ANGLE_FUNCTIONS(F, I, FAR_F)
#undef FAR_FUNCTION

OVERLOAD F native_sin(F x)
{
	I q;
	F r = reduce_fast(x, &q);

	return x == (F)0 ? x : sin_quadrant(r, q);
}

OVERLOAD F native_cos(F x)
{
	I q;
	F r = reduce_fast(x, &q);

	return sin_quadrant(r, q + 1);
}

OVERLOAD F native_tan(F x)
{
	I q;
	F r = reduce_fast(x, &q);

	return x == (F)0 ? x : tan_quadrant(r, q);
}

OVERLOAD F half_sin(F x) { return sin(x); }
OVERLOAD F half_cos(F x) { return cos(x); }
OVERLOAD F half_tan(F x) { return tan(x); }

static OVERLOAD F reduce_pi(F x, I *quadrant)
{
	x = ABS(x) >= (F)0x1p+24f ? x - x : x;
	F n = RINT(2 * x), m = n - 4 * __builtin_elementwise_floor(n * 0.25f);

	*quadrant = BITS(m + MAGIC_F);
	return (x - n * 0.5f) * PI_F;
}

OVERLOAD F sinpi(F x)
{
	I q;
	F r = reduce_pi(x, &q), y = sin_quadrant(r, q);

	return x == __builtin_elementwise_trunc(x) ? SIGNED_AS(x - x, x) : y;
}

OVERLOAD F cospi(F x)
{
	I q;
	F r = reduce_pi(x, &q);

	return 0 + sin_quadrant(r, q + 1);
}

OVERLOAD F tanpi(F x)
{
	I q;
	F r = reduce_pi(x, &q), y = sin_quadrant(r, q) / (0 + sin_quadrant(r, q + 1));
	F zero = SIGNED_AS(x - x, q << 30 < 0 ? -x : x);

	return x == __builtin_elementwise_trunc(x) ? zero : y;
}

/* For 0 <= t <= 1; of 1 it is the float next to pi / 4, of which a fraction of pi is exact. */
static OVERLOAD F atan_near(F t)
{
	F z = t * t, y = -0x1.d35854p-10f;

	y = y * z + 0x1.642424p-7f;
	y = y * z - 0x1.fd7db2p-6f;
	y = y * z + 0x1.da29f6p-5f;
	y = y * z - 0x1.58091ap-4f;
	y = y * z + 0x1.c08c4ep-4f;
	y = y * z - 0x1.242086p-3f;
	y = y * z + 0x1.9991e4p-3f;
	y = y * z - 0x1.55553ep-2f;
	return t == (F)1 ? HALF_PI_F / 2 : t * z * y + t;
}

/* pi / 2 - x and pi - x */
static OVERLOAD F from_right_angle(F x) { return HALF_PI_F - (x - HALF_PI_LOW_F); }
static OVERLOAD F from_half_turn(F x) { return PI_F - (x - 2 * HALF_PI_LOW_F); }

OVERLOAD F atan(F x)
{
	F size = ABS(x), y = atan_near(size > (F)1 ? 1 / size : size);

	return SIGNED_AS(size > (F)1 ? from_right_angle(y) : y, x);
}

/* The angle between (x, y) and the axis that is next to it, NaN if one of them is */
static OVERLOAD F angle_to_axis(F y, F x)
{
	F ay = ABS(y), ax = ABS(x), low = ay > ax ? ax : ay, high = ay > ax ? ay : ax;
	F angle = atan_near(low == high ? (low == (F)0 ? (F)0 : (F)1) : low / high);

	return (x != x) | (y != y) ? (F)NAN : angle;
}

OVERLOAD F atan2(F y, F x)
{
	F angle = angle_to_axis(y, x);

	angle = ABS(y) > ABS(x) ? from_right_angle(angle) : angle;
	return SIGNED_AS(BITS(x) < 0 ? from_half_turn(angle) : angle, y);
}

/* asin(x) of 0 <= x <= 0.5 without x, by x^2 and divided by x */
static OVERLOAD F asin_rest(F z)
{
	F y = 0x1.596d5cp-5f;

	y = y * z + 0x1.8c2d86p-6f;
	y = y * z + 0x1.747d06p-5f;
	y = y * z + 0x1.3301fcp-4f;
	y = y * z + 0x1.5555c8p-3f;
	return y * z;
}

/* asin(|x|) up to 0.5, half of acos(|x|) above */
static OVERLOAD F asin_or_half_acos(F x)
{
	F a = ABS(x), z = a > (F)0.5f ? (1 - a) * 0.5f : x * x, s = a > (F)0.5f ? SQRT(z) : a;

	return s * asin_rest(z) + s;
}

OVERLOAD F asin(F x)
{
	F y = asin_or_half_acos(x);

	return SIGNED_AS(ABS(x) > (F)0.5f ? from_right_angle(2 * y) : y, x);
}

OVERLOAD F acos(F x)
{
	F y = asin_or_half_acos(x), above = x < (F)0 ? from_half_turn(2 * y) : 2 * y;

	return ABS(x) > (F)0.5f ? above : from_right_angle(SIGNED_AS(y, x));
}

/* In units of pi simple fractions are exact. */
OVERLOAD F atanpi(F x)
{
	F size = ABS(x), y = atan_near(size > (F)1 ? 1 / size : size) * INV_PI_F;

	return SIGNED_AS(size > (F)1 ? 0.5f - y : y, x);
}

OVERLOAD F atan2pi(F y, F x)
{
	F angle = angle_to_axis(y, x) * INV_PI_F;

	angle = ABS(y) > ABS(x) ? 0.5f - angle : angle;
	return SIGNED_AS(BITS(x) < 0 ? 1 - angle : angle, y);
}

OVERLOAD F asinpi(F x)
{
	F y = asin_or_half_acos(x) * INV_PI_F;

	return SIGNED_AS(ABS(x) > (F)0.5f ? 0.5f - 2 * y : y, x);
}

OVERLOAD F acospi(F x)
{
	F y = asin_or_half_acos(x) * INV_PI_F, above = x < (F)0 ? 1 - 2 * y : 2 * y;

	return ABS(x) > (F)0.5f ? above : 0.5f - SIGNED_AS(y, x);
}

/* The fast variants are no faster, and no worse, but for powers. */
#define FAST_VARIANTS(P) \
	OVERLOAD F P##_exp(F x) { return exp(x); } \
	OVERLOAD F P##_exp2(F x) { return exp2(x); } \
	OVERLOAD F P##_exp10(F x) { return exp10(x); } \
	OVERLOAD F P##_log(F x) { return log(x); } \
	OVERLOAD F P##_log2(F x) { return log2(x); } \
	OVERLOAD F P##_log10(F x) { return log10(x); } \
	OVERLOAD F P##_powr(F x, F y) { return exp2(y * log2(x)); }
FAST_VARIANTS(native)
FAST_VARIANTS(half)
#undef FAST_VARIANTS

#undef BITS
#undef VALUE
#undef ABS
#undef RINT
#undef SQRT
#undef SIGNED_AS
#undef FMA
#undef S
#undef B
