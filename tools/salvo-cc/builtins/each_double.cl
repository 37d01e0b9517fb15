// SPDX-License-Identifier: MIT
/*
 * each_double.cl - mathematical functions on double, 6.12.2
 *
 * Included once for each width. D: double, L: long, I: int, all of N elements. Special
 * arguments are put right by selections at the end; what would take many instructions is
 * behind a branch (REPLACE() in types.h). Where the bounds of 7.4 need more than 53 bits on
 * the way (logarithms that a power multiplies) a number is the sum of two doubles, the
 * second small; products are made exact by splitting factors in halves, not by fused
 * multiplication, which x86-64-v2 lacks, but for angles. Series are those of Taylor, but for that
 * of the arc sine, which would be twice as long: it was fitted for the least relative error.
 */
#define S		double
#define B		long
#define BITS(x)		__builtin_astype(x, L)
#define VALUE(x)	__builtin_astype(x, D)
#define ABS(x)		__builtin_elementwise_abs(x)
#define RINT(x)		__builtin_elementwise_rint(x)
#define SQRT(x)		__builtin_elementwise_sqrt(x)
#define FMA(x, y, z)	__builtin_elementwise_fma(x, y, z)

static OVERLOAD D two_sum(D a, D b, D *rest)
{
	D sum = a + b, part = sum - a;

	*rest = (a - (sum - part)) + (b - part);
	return sum;
}

/* The same for |a| >= |b|. */
static OVERLOAD D quick_sum(D a, D b, D *rest)
{
	D sum = a + b;

	*rest = b - (sum - a);
	return sum;
}

static OVERLOAD D upper_half(D a)
{
	D c = a * 134217729.0, d = c - a;

	return c - d;
}

static OVERLOAD D two_product(D a, D b, D *rest)
{
	D ah = upper_half(a), al = a - ah, bh = upper_half(b), bl = b - bh, p = a * b;
	D e = ah * bh - p;

	e = e + ah * bl;
	e = e + al * bh;
	*rest = e + al * bl;
	return p;
}

/* x * 2^n for whole n, in two steps so that a subnormal result is rounded but once. */
static OVERLOAD D scale(D x, D n)
{
	D first = RINT(n * 0.5);

	return x * two_to(first) * two_to(n - first);
}

/* exp(r) - 1 - r for |r| < 0.35 */
static OVERLOAD D exp_rest(D r)
{
	D y = 1.0 / 6227020800;

	y = y * r + 1.0 / 479001600;
	y = y * r + 1.0 / 39916800;
	y = y * r + 1.0 / 3628800;
	y = y * r + 1.0 / 362880;
	y = y * r + 1.0 / 40320;
	y = y * r + 1.0 / 5040;
	y = y * r + 1.0 / 720;
	y = y * r + 1.0 / 120;
	y = y * r + 1.0 / 24;
	y = y * r + 1.0 / 6;
	y = y * r + 0.5;
	return y * r * r;
}

/* exp(high + low) */
static OVERLOAD D exp_sum(D high, D low)
{
	D x = limit(high, -800, 800), n = RINT(x * LOG2E);
	D r = x - n * LN2_HIGH - n * LN2_LOW;

	r += ABS(high) > (D)800 ? (D)0 : low;
	return scale(1 + (r + exp_rest(r)), n);
}

OVERLOAD D exp(D x) { return exp_sum(x, (D)0); }

OVERLOAD D exp2(D x)
{
	D y = limit(x, -1100, 1100), n = RINT(y), r = (y - n) * LN2;

	return scale(1 + (r + exp_rest(r)), n);
}

OVERLOAD D exp10(D x)
{
	D y = limit(x, -350, 350), n = RINT(y * LOG2_10);
	D r = (y - n * LOG10_2_HIGH - n * LOG10_2_LOW) * LN10;

	return scale(1 + (r + exp_rest(r)), n);
}

OVERLOAD D expm1(D x)
{
	D y = limit(x, -100, 710), n = RINT(y * LOG2E);
	D high = y - n * LN2_HIGH, low = n * LN2_LOW, r = high - low;
	D e = r + (exp_rest(r) + ((high - r) - low));
	D whole = scale(e + (1 - two_to(limit(-n, -1022, 1022))), n);

	return x == (D)0 ? x : n == (D)0 ? e : whole;
}

/* A positive normal x as m * 2^e, m in [sqrt(1/2), sqrt(2)) */
static OVERLOAD D take_normal(D x, D *e)
{
	L bits = BITS(x), k = (bits - 0x3fe6a09e667f3bcdl) >> 52;

	*e = VALUE(k + as_long(MAGIC)) - MAGIC;
	return VALUE(bits - (k << 52));
}

/* The same for positive finite ones */
static OVERLOAD D take_exponent(D x, D *e)
{
	L small = x < (D)0x1p-1022;
	D n, m = take_normal(small ? x * 0x1p54 : x, &n);

	*e = small ? n - 54 : n;
	return m;
}

/* 2/5 + 2/7 z + 2/9 z^2 + ...: the tail of log((1 + s) / (1 - s)) / s, z = s^2. */
static OVERLOAD D log_tail(D z)
{
	D y = 2.0 / 25;

	y = y * z + 2.0 / 23;
	y = y * z + 2.0 / 21;
	y = y * z + 2.0 / 19;
	y = y * z + 2.0 / 17;
	y = y * z + 2.0 / 15;
	y = y * z + 2.0 / 13;
	y = y * z + 2.0 / 11;
	y = y * z + 2.0 / 9;
	y = y * z + 2.0 / 7;
	y = y * z + 2.0 / 5;
	return y;
}

/* log(1 + f) - f, f in [sqrt(1/2) - 1, sqrt(2) - 1) */
static OVERLOAD D log_rest(D f)
{
	D s = f / (2 + f), z = s * s, half_square = 0.5 * f * f;
	D y = log_tail(z) * z + 2.0 / 3;

	return s * (half_square + y * z) - half_square;
}

/* What a logarithm of x is, special arguments included, when y is right for the others. */
static OVERLOAD D log_special(D x, D y)
{
	y = x == (D)INFINITY ? x : y;
	y = x == (D)0 ? (D)-INFINITY : y;
	return (x < (D)0) | (x != x) ? (D)NAN : y;
}

static OVERLOAD D log_of_parts(D e, D f)
{
	return e * LN2_HIGH + (f + (log_rest(f) + e * LN2_LOW));
}

static OVERLOAD D log2_of_parts(D e, D f)
{
	D low, y, log = quick_sum(f, log_rest(f), &low);
	D high = two_product(log, (D)LOG2E, &y);

	return e + (high + (y + log * LOG2E_LOW + low * LOG2E));
}

static OVERLOAD D log10_of_parts(D e, D f)
{
	D low, y, log = quick_sum(f, log_rest(f), &low);
	D high = two_product(log, (D)INV_LN10, &y);

	y += log * INV_LN10_LOW + low * INV_LN10 + e * LOG10_2_LOW;
	return e * LOG10_2_HIGH + (high + y);
}

#define LOGARITHM(NAME) \
	OVERLOAD D NAME(D x) \
	{ \
		D e, f = take_normal(x, &e) - 1, y = NAME##_of_parts(e, f); \
		L special = !((x >= (D)0x1p-1022) & (x < (D)INFINITY)); \
		if (UNLIKELY(ANY_OF(special, N))) { \
			L small = (x < (D)0x1p-1022) & (x > (D)0); \
			y = log_special(x, y); \
			REPLACE(y, x, small, salvo_outline_##NAME##_small_d) \
		} \
		return y; \
	}
LOGARITHM(log)
LOGARITHM(log2)
LOGARITHM(log10)
#undef LOGARITHM

OVERLOAD D log1p(D x)
{
	D u = 1 + x, e, f = take_exponent(u, &e) - 1;
	D lost = e > (D)0 ? 1 - (u - x) : x - (u - 1), low = lost / u + e * LN2_LOW;
	D y = e * LN2_HIGH + (f + (log_rest(f) + low));

	return x == (D)0 ? x : log_special(u, y);
}

/* The logarithm of a positive finite x to more than 65 bits. */
static OVERLOAD D log_sum(D x, D *low)
{
	D e, m = take_exponent(x, &e), f = m - 1, d = m + 1, d_low = m - (d - 1), rest;
	D s = f / d, p = two_product(s, d, &rest), s_low = (((f - p) - rest) - s * d_low) / d;
	/* log m = 2 s + 2/3 s^3 + ..., s = f / (m + 1) */
	D z_low, z = two_product(s, s, &z_low);
	z_low += 2 * s * s_low;
	D c_low, c = two_product(s, z, &c_low);
	c_low += s * z_low + s_low * z;
	D t_low, t = two_product(c, (D)TWO_THIRDS, &t_low);
	t_low += c * TWO_THIRDS_LOW + c_low * TWO_THIRDS;
	D e1, e2, sum = two_sum(e * LN2_HIGH, 2 * s, &e1);
	sum = two_sum(sum, t, &e2);
	return quick_sum(sum, e1 + (e2 + (2 * s_low +
					  (t_low + (c * z * log_tail(z) + e * LN2_LOW)))), low);
}

/* |x|^y but for the sign; 1 where y is 0. */
static OVERLOAD D power_size(D x, D y)
{
	D size = ABS(x), exponent = limit(y, -0x1p64, 0x1p64), log_low, low;
	D log = log_sum(size, &log_low), high = two_product(log, exponent, &low);
	D r = exp_sum(high, low + log_low * exponent);

	r = size == (D)0 ? (y < (D)0 ? (D)INFINITY : (D)0) : r;
	r = size == (D)INFINITY ? (y < (D)0 ? (D)0 : (D)INFINITY) : r;
	r = size == (D)1 ? (D)1 : r;
	r = (x != x) | (y != y) ? (D)NAN : r;
	return y == (D)0 ? (D)1 : r;
}

OVERLOAD D pow(D x, D y)
{
	D r = power_size(x, y), half_y = y * 0.5;
	L whole = y == __builtin_elementwise_trunc(y);
	L odd = whole & (half_y != __builtin_elementwise_trunc(half_y)) & (ABS(y) < (D)0x1p53);

	r = odd & (BITS(x) < 0) ? -r : r;
	r = (x < (D)0) & (x != (D)-INFINITY) & (y == y) & (whole == 0) ? (D)NAN : r;
	return x == (D)1 ? (D)1 : r;
}

/* x^n for |n| up to 8, off by no more than 15 units: each of 15 factors was rounded. */
static OVERLOAD D small_power(D x, I n)
{
	L whole = JOIN(convert_long, N)(n), size = whole < 0 ? -whole : whole;
	D p = whole < 0 ? 1 / x : x, r = (size & 1) != 0 ? p : (D)1;

	p *= p;
	r = (size & 2) != 0 ? r * p : r;
	p *= p;
	r = (size & 4) != 0 ? r * p : r;
	return (size & 8) != 0 ? p * p : r;
}

OVERLOAD D pown(D x, I n)
{
	D r = small_power(x, n);

	if (UNLIKELY(ANY_OF((n > 8) | (n < -8), N))) {
		L whole = JOIN(convert_long, N)(n), odd = -(whole & 1);
		D y = power_size(x, JOIN(convert_double, N)(n));

		y = (odd < 0) & (BITS(x) < 0) ? -y : y;
		r = (whole > 8) | (whole < -8) ? y : r;
	}
	return r;
}

OVERLOAD D powr(D x, D y)
{
	D r = power_size(x, y);
	L both = ((x == (D)0) | (x == (D)INFINITY)) & (y == (D)0);

	both |= (x == (D)1) & (ABS(y) == (D)INFINITY);
	return both | (x < (D)0) | (x != x) | (y != y) ? (D)NAN : r;
}

OVERLOAD D rootn(D x, I n)
{
	D size = ABS(x), d = JOIN(convert_double, N)(n), log_low, rest;
	D log = log_sum(size, &log_low), q = log / d, p = two_product(q, d, &rest);
	D r = exp_sum(q, (((log - p) - rest) + log_low) / d);
	L odd = JOIN(convert_long, N)(-(n & 1));

	r = size == (D)0 ? (d < (D)0 ? (D)INFINITY : (D)0) : r;
	r = size == (D)INFINITY ? (d < (D)0 ? (D)0 : (D)INFINITY) : r;
	r = (odd < 0) & (BITS(x) < 0) ? -r : r;
	return (x != x) | ((x < (D)0) & (odd == 0)) | (d == (D)0) ? (D)NAN : r;
}

OVERLOAD D cbrt(D x)
{
	D size = ABS(x), e, e1, e2;
	D m = take_exponent(size, &e), third = __builtin_elementwise_floor(e * (1.0 / 3) + 1e-9);
	/* m * 2^(0, 1 or 2) */
	D a = m * two_to(e - 3 * third), r = exp_core(log_core(a) * (1.0 / 3));
	D square = two_product(r, r, &e1), cube = two_product(square, r, &e2);

	r = r - ((cube - a) + (e2 + e1 * r)) / (3 * square);
	r = scale(r, third);
	r = BITS(x) < 0 ? -r : r;
	return (x == (D)0) | (x - x != x - x) ? x : r;
}

OVERLOAD D hypot(D x, D y)
{
	D squares = x * x + y * y, r = SQRT(squares);
	L rare = (squares < (D)0x1p-900) | !(squares < (D)INFINITY);

	if (UNLIKELY(ANY_OF(rare, N))) {
		D a = ABS(x), b = ABS(y), big = a > b ? a : b;
		L exponent = BITS(big) >> 52;
		exponent = exponent > 2045 ? (L)2045 : exponent;
		D up = VALUE((2046 - exponent) << 52), p = a * up, q = b * up;
		r = rare ? SQRT(p * p + q * q) / up : r;
		r = (a == (D)INFINITY) | (b == (D)INFINITY) ? (D)INFINITY : r;
	}
	return r;
}

OVERLOAD D sinh(D x)
{
	D a = ABS(x), e = expm1(a), middle = exp(a * 0.5);
	D y = a > (D)40 ? 0.5 * middle * middle : (e + e / (e + 1)) * 0.5;

	return x == (D)0 ? x : signed_as(y, x);
}

OVERLOAD D cosh(D x)
{
	D a = ABS(x), e = exp(a), middle = exp(a * 0.5);

	return a > (D)40 ? 0.5 * middle * middle : (e + 1 / e) * 0.5;
}

OVERLOAD D tanh(D x)
{
	D a = ABS(x), e = expm1(2 * (a > (D)30 ? (D)30 : a));

	return x == (D)0 ? x : x != x ? x : signed_as(e / (e + 2), x);
}

OVERLOAD D asinh(D x)
{
	D a = ABS(x), small = log1p(a + a * a / (1 + SQRT(a * a + 1)));

	return x == (D)0 ? x : signed_as(a > (D)0x1p500 ? log(a) + LN2 : small, x);
}

OVERLOAD D acosh(D x)
{
	D t = x - 1, small = log1p(t + SQRT(t * (t + 2)));

	return x < (D)1 ? (D)NAN : x > (D)0x1p500 ? log(x) + LN2 : small;
}

OVERLOAD D atanh(D x)
{
	D a = ABS(x);

	return x == (D)0 ? x : signed_as(0.5 * log1p(2 * a / (1 - a)), x);
}

/*
 * x modulo pi / 2, in [-pi/4, pi/4], for |x| up to FAR, and which quarter; as in each_float.cl. NaN
 * for others that are not finite.
 */
static OVERLOAD D reduce(D x, L *quadrant)
{
	D shifted = x * (2 / PI_D) + MAGIC, n = shifted - MAGIC, e1, e2;

	*quadrant = BITS(shifted);
	if (salvo_has_fma()) {
		D less = FMA(-n, (D)(PI_LOW / 2), FMA(-n, (D)(PI_D / 2), x));

		return FMA(-n, (D)HALF_PI_LAST, less);
	}
	D r = two_sum(x - n * 0x1.921fb544p+0, -n * 0x1.0b4611a6p-34, &e1);
	r = two_sum(r, -n * 0x1.3198a2e0p-69, &e2);
	return r + (e1 + e2 - n * 0x1.b839a252049c1p-104);
}

/* Sine and cosine for |r| <= pi / 4 */
static OVERLOAD D sin_near(D r)
{
	D z = r * r, y = 1.0 / 355687428096000;

	y = y * z - 1.0 / 1307674368000;
	y = y * z + 1.0 / 6227020800;
	y = y * z - 1.0 / 39916800;
	y = y * z + 1.0 / 362880;
	y = y * z - 1.0 / 5040;
	y = y * z + 1.0 / 120;
	y = y * z - 1.0 / 6;
	return r + r * z * y;
}

static OVERLOAD D cos_near(D r)
{
	D z = r * r, middle = 0.5 * z, w = 1 - middle, y = -1.0 / 6402373705728000;

	y = y * z + 1.0 / 20922789888000;
	y = y * z - 1.0 / 87178291200;
	y = y * z + 1.0 / 479001600;
	y = y * z - 1.0 / 3628800;
	y = y * z + 1.0 / 40320;
	y = y * z - 1.0 / 720;
	y = y * z + 1.0 / 24;
	return w + (((1 - w) - middle) + z * z * y);
}

/* sin(r + quadrant * pi / 2) */
static OVERLOAD D sin_quadrant(D r, L quadrant)
{
	D y = -(quadrant & 1) < 0 ? cos_near(r) : sin_near(r);

	return VALUE(BITS(y) ^ ((quadrant & 2) << 62));
}

/* tan(r + quadrant * pi / 2), with a single division */
static OVERLOAD D tan_quadrant(D r, L quadrant)
{
	D s = sin_near(r), c = cos_near(r);
	L odd = -(quadrant & 1) < 0;

	return (odd ? -c : s) / (odd ? s : c);
}

static OVERLOAD D reduce_turn(D x, L *quadrant)
{
	D y = ABS(x) >= (D)0x1p53 ? x - x : x, n = RINT(2 * y);

	*quadrant = BITS(n - 4 * __builtin_elementwise_floor(n * 0.25) + MAGIC);
	return (y - n * 0.5) * PI_D;
}

#define FAR_FUNCTION(NAME) salvo_outline_##NAME##_far_d
ANGLE_FUNCTIONS(D, L, FAR)
#undef FAR_FUNCTION

OVERLOAD D sinpi(D x)
{
	L q;
	D r = reduce_turn(x, &q), y = sin_quadrant(r, q);

	return x == __builtin_elementwise_trunc(x) ? __builtin_elementwise_copysign(x - x, x) : y;
}

OVERLOAD D cospi(D x)
{
	L q;
	D r = reduce_turn(x, &q);

	return 0 + sin_quadrant(r, q + 1);
}

OVERLOAD D tanpi(D x)
{
	L q;
	D r = reduce_turn(x, &q), y = sin_quadrant(r, q) / (0 + sin_quadrant(r, q + 1));
	D zero = __builtin_elementwise_copysign(x - x, -(q & 2) < 0 ? -x : x);

	return x == __builtin_elementwise_trunc(x) ? zero : y;
}

/* atan(a) for a >= 0: of its distance from 0, 1/2 or 1, the nearest of them. */
static OVERLOAD D atan_size(D a)
{
	L big = a > (D)1;
	D t = big ? 1 / a : a, c = t < (D)0.25 ? (D)0 : t < (D)0.75 ? (D)0.5 : (D)1;
	D base = t < (D)0.25 ? (D)0 : t < (D)0.75 ? (D)ATAN_HALF : (D)(PI_D / 4);
	D base_low = t < (D)0.25 ? (D)0 : t < (D)0.75 ? (D)ATAN_HALF_LOW : (D)(PI_LOW / 4);
	D u = (t - c) / (1 + t * c), z = u * u, y = 1.0 / 29;

	y = y * z - 1.0 / 27;
	y = y * z + 1.0 / 25;
	y = y * z - 1.0 / 23;
	y = y * z + 1.0 / 21;
	y = y * z - 1.0 / 19;
	y = y * z + 1.0 / 17;
	y = y * z - 1.0 / 15;
	y = y * z + 1.0 / 13;
	y = y * z - 1.0 / 11;
	y = y * z + 1.0 / 9;
	y = y * z - 1.0 / 7;
	y = y * z + 1.0 / 5;
	y = y * z - 1.0 / 3;
	y = base + (u + (u * z * y + base_low));
	return big ? PI_D / 2 - (y - PI_LOW / 2) : y;
}

OVERLOAD D atan(D x)
{
	return x == (D)0 ? x : signed_as(atan_size(ABS(x)), x);
}

OVERLOAD D atanpi(D x)
{
	return x == (D)0 ? x : signed_as(atan_size(ABS(x)) / PI_D, x);
}

/* The angle of (|x|, y) for y >= 0. */
static OVERLOAD D right_angle(D y, D x)
{
	D ax = ABS(x), ratio = y == ax ? (y == (D)0 ? (D)0 : (D)1) : y / ax;

	return (x != x) | (y != y) ? (D)NAN : atan_size(ratio);
}

/* The angle of (x, y) for y >= 0. */
static OVERLOAD D angle(D y, D x)
{
	D a = right_angle(y, x);

	return BITS(x) < 0 ? PI_D - (a - PI_LOW) : a;
}

OVERLOAD D atan2(D y, D x) { return signed_as(angle(ABS(y), x), y); }

OVERLOAD D atan2pi(D y, D x)
{
	D a = right_angle(ABS(y), x) / PI_D;

	return signed_as(BITS(x) < 0 ? 1 - a : a, y);
}

/* asin(x) if |x| <= 0.5, else acos(|x|) / 2 */
static OVERLOAD D asin_or_half_acos(D x)
{
	D a = ABS(x), z = a > (D)0.5 ? (1 - a) * 0.5 : x * x, s = a > (D)0.5 ? SQRT(z) : a;
	D y = 0x1.05fdc65880e48p-5;

	y = y * z - 0x1.0b7d0b9614294p-6;
	y = y * z + 0x1.41074375c6207p-6;
	y = y * z + 0x1.aa3906101c590p-8;
	y = y * z + 0x1.8ef2924bc8a13p-7;
	y = y * z + 0x1.c6f6697f65bdfp-7;
	y = y * z + 0x1.1c6c421ffc8f5p-6;
	y = y * z + 0x1.6e89edc4111a5p-6;
	y = y * z + 0x1.f1c72c7f1f750p-6;
	y = y * z + 0x1.6db6db419dfd8p-5;
	y = y * z + 0x1.333333336fd9dp-4;
	y = y * z + 0x1.5555555555384p-3;
	return s * z * y + s;
}

OVERLOAD D asin(D x)
{
	D y = asin_or_half_acos(x);

	return signed_as(ABS(x) > (D)0.5 ? PI_D / 2 - (2 * y - PI_LOW / 2) : y, x);
}

OVERLOAD D acos(D x)
{
	D y = asin_or_half_acos(x), above = x < (D)0 ? PI_D - (2 * y - PI_LOW) : 2 * y;

	return ABS(x) > (D)0.5 ? above : PI_D / 2 - (signed_as(y, x) - PI_LOW / 2);
}

/* In units of pi simple fractions are exact. */
OVERLOAD D asinpi(D x)
{
	D y = asin_or_half_acos(x) * INV_PI;

	return signed_as(ABS(x) > (D)0.5 ? 0.5 - 2 * y : y, x);
}

OVERLOAD D acospi(D x)
{
	D y = asin_or_half_acos(x) * INV_PI, above = x < (D)0 ? 1 - 2 * y : 2 * y;

	return ABS(x) > (D)0.5 ? above : 0.5 - signed_as(y, x);
}

/* erf(x) for |x| <= 1 */
static OVERLOAD D erf_series(D x)
{
	D z = x * x, y = 0x1.ab5cc31489f29p-67;

	y = y * z - 0x1.18cc8a061c479p-62;
	y = y * z + 0x1.5f7919bc67b8cp-58;
	y = y * z - 0x1.a2007af3447f6p-54;
	y = y * z + 0x1.d70b3537f4765p-50;
	y = y * z - 0x1.f56f071a885cfp-46;
	y = y * z + 0x1.f683ae4a97007p-42;
	y = y * z - 0x1.d8453cb0c46eap-38;
	y = y * z + 0x1.9e6ad5e55a730p-34;
	y = y * z - 0x1.51d7181c5d36dp-30;
	y = y * z + 0x1.fcc5720624c1cp-27;
	y = y * z - 0x1.5f742ec43e71ap-23;
	y = y * z + 0x1.b9e6c9dc651a3p-20;
	y = y * z - 0x1.f4d25c3e0c2ebp-17;
	y = y * z + 0x1.f9a326f9b89b7p-14;
	y = y * z - 0x1.c02db40040b86p-11;
	y = y * z + 0x1.565bcd0e6a53fp-8;
	y = y * z - 0x1.b82ce31288b51p-6;
	y = y * z + 0x1.ce2f21a042be2p-4;
	y = y * z - 0x1.812746b0379e7p-2;
	y = y * z + 0x1.20dd750429b6dp+0;
	return x * y;
}

/*
 * erfc(x) for x >= 1. x exp(x^2) erfc(x) is smooth and nearly flat: a polynomial of (x - 3) /
 * (x + 3), interpolated at Chebyshev's points up to x = 28, off by less than 2^-56.
 */
static OVERLOAD D erfc_tail(D x)
{
	D a = x > (D)28 ? (D)28 : x, low, square = two_product(a, a, &low);
	D u = ((a - 3) / (a + 3) - 0x1.3d70a3d70a3d7p-3) * 0x1.86d6f63aa03e9p+0;
	D y = 0x1.7cfc1ce26cfaep-43;

	y = y * u + 0x1.c42dd4e1a4ef4p-43;
	y = y * u - 0x1.5d0ef422e9fc3p-39;
	y = y * u - 0x1.342e6c9e1c574p-38;
	y = y * u + 0x1.a87343624bacdp-36;
	y = y * u + 0x1.1154a43195fa9p-34;
	y = y * u - 0x1.f369d19e70d4ep-33;
	y = y * u - 0x1.a4db4d94b7beap-31;
	y = y * u + 0x1.554afeeff60bbp-29;
	y = y * u + 0x1.314800dc9e3a9p-27;
	y = y * u - 0x1.264afb2a28193p-25;
	y = y * u - 0x1.8c0cbfbb54bebp-24;
	y = y * u + 0x1.34991703a2d43p-21;
	y = y * u + 0x1.e996920f7651ep-22;
	y = y * u - 0x1.507625c169c4ap-17;
	y = y * u + 0x1.5fbf41f2e19ebp-16;
	y = y * u + 0x1.c13a42a44ede7p-14;
	y = y * u - 0x1.fe8fbc65188fbp-11;
	y = y * u + 0x1.0ca123420338ep-8;
	y = y * u - 0x1.84a3e93d87470p-7;
	y = y * u + 0x1.a212f5940486bp-6;
	y = y * u - 0x1.494b244f2168ap-5;
	y = y * u + 0x1.3ab5efdf76b1ap-5;
	y = y * u + 0x1.18f25a6b51d71p-1;
	return exp_sum(-square, -low) * y / a;
}

OVERLOAD D erf(D x)
{
	D a = ABS(x), series = erf_series(a > (D)1 ? (D)1 : a);
	D tail = 1 - erfc_tail(a < (D)1 ? (D)1 : a);

	return x == (D)0 ? x : x != x ? x : signed_as(a > (D)1 ? tail : series, x);
}

OVERLOAD D erfc(D x)
{
	D a = ABS(x), series = erf_series(a > (D)1 ? (D)1 : a);
	D tail = erfc_tail(a < (D)1 ? (D)1 : a);
	D right = a > (D)1 ? tail : 1 - series, left = a > (D)1 ? 2 - tail : 1 + series;

	return x != x ? x : BITS(x) < 0 ? left : right;
}

#undef BITS
#undef VALUE
#undef ABS
#undef RINT
#undef SQRT
#undef FMA
#undef S
#undef B
