// SPDX-License-Identifier: MIT
/*
 * each_real.cl - exact functions on one type of float or double, 6.12.2
 *
 * Included once for each element type and width. T: the type, S: its element, I: int of
 * the same width, B and UB: integers of T's size, DIGITS: of the significand after the
 * point, BIAS: of the exponent, N: the width as in a type's name, LANES: as a number.
 *
 * All is done on the bits, in every element alike. Remainders are a long division in
 * integers, some digits a step, and done element by element.
 */
#define TO_BITS(x)	__builtin_astype(x, B)
#define FROM_BITS(x)	__builtin_astype(x, T)
#define ONE_ELEMENT	((B_ELEMENT)1)
#define INFINITE	((B)((2 * BIAS + ONE_ELEMENT) << DIGITS))
#define LOWEST		((B)(ONE_ELEMENT << (8 * sizeof(S) - 1)))
#define MAGNITUDE(x)	TO_BITS(__builtin_elementwise_abs(x))
#define IS_NAN(x)	((x) != (x))

OVERLOAD I JOIN(convert_int, N)(B);
OVERLOAD T JOIN(CONVERT_T, N)(I);
OVERLOAD B JOIN(CONVERT_B, N)(I);

/* The exponent of x as if the significand were in [1, 2); wrong for 0, infinities, NaN. */
static OVERLOAD B exponent_of(T x)
{
	B bits = MAGNITUDE(x), scaled = MAGNITUDE(x * (S)(1ul << (DIGITS + 1)));
	B small = bits < (B)(ONE_ELEMENT << DIGITS);

	return (small ? (scaled >> DIGITS) - (DIGITS + 1) : bits >> DIGITS) - BIAS;
}

/* 2^n for -BIAS < n <= BIAS. */
static OVERLOAD T power_of_two(B n)
{
	return FROM_BITS((n + BIAS) << DIGITS);
}

static OVERLOAD B clamp_bits(B x, int low, int high)
{
	return __builtin_elementwise_min(__builtin_elementwise_max(x, (B)low), (B)high);
}

OVERLOAD T ldexp(T x, I n)
{
	T y = x * power_of_two(JOIN(CONVERT_B, N)(n));
	I rare = (n < (I)(1 - BIAS)) | (n > (I)BIAS);

	if (UNLIKELY(ANY_OF(rare, N))) {
		B more = clamp_bits(JOIN(CONVERT_B, N)(n), -5000, 5000), e = exponent_of(x);
		B whole = clamp_bits(e + more, -2 * BIAS, 2 * BIAS);
		B inner = clamp_bits(whole, 1 - BIAS, BIAS);
		B half_e = e / 2;
		/* In [1, 2), exactly; then one factor, and one more at either end of the range. */
		T m = x * power_of_two(-half_e) * power_of_two(half_e - e);
		B end = clamp_bits(whole - inner, -DIGITS - 4, DIGITS);
		y = m * power_of_two(inner) * power_of_two(end);
		y = (x - x != x - x) | (x == (T)0) ? x : y;
	}
	return y;
}

#if LANES > 1
OVERLOAD T ldexp(T x, int n)
{
	return ldexp(x, (I)n);
}
#endif

OVERLOAD T logb(T x)
{
	T y = JOIN(CONVERT_T, N)(JOIN(convert_int, N)(exponent_of(x)));

	y = x == (T)0 ? (T)-INFINITY : y;
	return IS_NAN(x) ? x : __builtin_elementwise_abs(x) == (T)INFINITY ? (T)INFINITY : y;
}

OVERLOAD I ilogb(T x)
{
	B e = exponent_of(x), bits = MAGNITUDE(x);

	e = (bits >= INFINITE ? (B)INT_MAX : e);
	return JOIN(convert_int, N)((bits == (B)0 ? (B)INT_MIN : e));
}

OVERLOAD T fdim(T x, T y)
{
	T more = IS_NAN(x) | IS_NAN(y) ? x + y : (T)0;

	return x > y ? x - y : more;
}

OVERLOAD T maxmag(T x, T y)
{
	T a = __builtin_elementwise_abs(x), b = __builtin_elementwise_abs(y);

	return a > b ? x : b > a ? y : __builtin_elementwise_max(x, y);
}

OVERLOAD T minmag(T x, T y)
{
	T a = __builtin_elementwise_abs(x), b = __builtin_elementwise_abs(y);

	return a < b ? x : b < a ? y : __builtin_elementwise_min(x, y);
}

OVERLOAD T nan(UB code)
{
	return FROM_BITS(__builtin_astype(code, B) | INFINITE | (B)(ONE_ELEMENT << (DIGITS - 1)));
}

/* Floating-point numbers as integers in the same order. */
static OVERLOAD B in_order(T x)
{
	B bits = TO_BITS(x);

	return (bits < 0 ? LOWEST - bits : bits);
}

OVERLOAD T nextafter(T x, T y)
{
	B from = in_order(x), next = from + (in_order(y) > from ? (B)1 : (B)-1);
	T result = FROM_BITS((next < 0 ? LOWEST - next : next));

	/* LLVM 19 compiles copysign(result, x) here to a wrong vpternlogd. */
	result = next == (B)0 ? FROM_BITS(TO_BITS(x) & LOWEST) : result;
	return IS_NAN(x) | IS_NAN(y) ? x + y : x == y ? y : result;
}

#if LANES == 1
/*
 * |x| modulo |y| in units of y's last place, with the low bits of the quotient; |x| is
 * not the smaller one. A step shifts as far as 64 bits allow.
 */
static OVERLOAD ulong long_division(S x, S y, int *unit, ulong *divisor, ulong *quotient)
{
	ulong a = MAGNITUDE(x), b = MAGNITUDE(y), one = 1ul << DIGITS;
	int ea = a >> DIGITS, eb = b >> DIGITS, steps;

	a = ea ? (a & (one - 1)) | one : a;
	b = eb ? (b & (one - 1)) | one : b;
	ea = ea ? ea : 1;
	eb = eb ? eb : 1;
	steps = ea - eb;
	*unit = eb - BIAS - DIGITS;
	*divisor = b;
	*quotient = a / b;
	a %= b;
	while (steps) {
		int n = steps < 63 - DIGITS ? steps : 63 - DIGITS;

		a <<= n;
		*quotient = (*quotient << n) + a / b;
		a %= b;
		steps -= n;
	}
	return a;
}

static OVERLOAD bool no_remainder(S x, S y)
{
	return IS_NAN(x) | IS_NAN(y) | (__builtin_elementwise_abs(x) == (S)INFINITY) | (y == (S)0);
}

/* What is left for these functions is rare, or of doubles: they are not inlined (flatten.cc). */
__attribute__((const)) S JOIN(salvo_outline_fmod_, S)(S x, S y)
{
	ulong divisor, quotient, rest;
	int unit;

	if (no_remainder(x, y))
		return (S)NAN;
	if (__builtin_elementwise_abs(x) < __builtin_elementwise_abs(y))
		return x;
	rest = long_division(x, y, &unit, &divisor, &quotient);
	return __builtin_elementwise_copysign(ldexp((S)rest, unit), x);
}

/* The remainder, and the quotient to the nearest integer, or its low bits, without a sign */
__attribute__((const)) double2 JOIN(salvo_outline_remainder_, S)(S x, S y)
{
	S ax = __builtin_elementwise_abs(x), ay = __builtin_elementwise_abs(y), r;
	ulong divisor, q, rest;
	int unit;
	bool up;

	if (no_remainder(x, y))
		return (double2)(NAN, 0);
	if (ay == (S)INFINITY)
		return (double2)(x, 0);
	if (ax < ay) {
		/* 2 x against y, without overflow; the difference is exact (x > y / 2). */
		up = ax > ay - ax;
		q = up;
		r = up ? ax - ay : ax;
	} else {
		rest = long_division(x, y, &unit, &divisor, &q);
		up = 2 * rest > divisor || (2 * rest == divisor && (q & 1));
		q += up;
		r = ldexp((S)(up ? (long)(rest - divisor) : (long)rest), unit);
	}
	return (double2)(as_long((double)x) < 0 ? -r : r, q & 127);
}

#if DIGITS == 23
/*
 * Floats whose quotient has few bits: it is at least 2^-25 away from an integer, or from the middle
 * between two, or is one, so that the division of doubles cannot take it for another one. Its
 * product with the divisor is exact, and so is the difference.
 */
#define FEW_BITS	0x1p+27

OVERLOAD float fmod(float x, float y)
{
	double a = __builtin_elementwise_abs(x), b = __builtin_elementwise_abs(y);
	double q = __builtin_elementwise_trunc(a / b);
	float r = __builtin_elementwise_copysign((float)(a - q * b), x);

	if (!LIKELY((q < FEW_BITS) & (b < (double)INFINITY)))
		r = salvo_outline_fmod_float(x, y);
	return r;
}

static OVERLOAD double2 divide_to_nearest(float x, float y)
{
	double a = __builtin_elementwise_abs(x), b = __builtin_elementwise_abs(y);
	double q = __builtin_elementwise_rint(a / b), r = a - q * b;
	double2 both = (double2)(as_int(x) < 0 ? -r : r, q);

	if (!LIKELY((q < FEW_BITS) & (b < (double)INFINITY)))
		both = salvo_outline_remainder_float(x, y);
	return both;
}
#else
OVERLOAD double fmod(double x, double y)
{
	return salvo_outline_fmod_double(x, y);
}

static OVERLOAD double2 divide_to_nearest(double x, double y)
{
	return salvo_outline_remainder_double(x, y);
}
#endif

static OVERLOAD S nearest_remainder(S x, S y, int *quotient)
{
	double2 both = divide_to_nearest(x, y);
	int q = (int)both.y & 127;

	*quotient = (as_long((double)x) ^ as_long((double)y)) < 0 ? -q : q;
	return both.x;
}
#endif

#if LANES > 1
OVERLOAD T fmod(T x, T y)
{
	T r;

	for (uint i = 0; i < LANES; i++)
		((S *)&r)[i] = fmod(((S *)&x)[i], ((S *)&y)[i]);
	return r;
}
#endif

static OVERLOAD T each_remainder(T x, T y, I *quotient)
{
	T r;

	for (uint i = 0; i < LANES; i++)
		((S *)&r)[i] = nearest_remainder(((S *)&x)[i], ((S *)&y)[i], (int *)quotient + i);
	return r;
}

OVERLOAD T remainder(T x, T y)
{
	I quotient;

	return each_remainder(x, y, &quotient);
}

#define RESULT_POINTERS(SPACE) \
	OVERLOAD T remquo(T x, T y, SPACE I *quotient) \
	{ \
		I q; \
		T r = each_remainder(x, y, &q); \
		*quotient = q; \
		return r; \
	} \
	OVERLOAD T frexp(T x, SPACE I *exponent) \
	{ \
		B e = exponent_of(x) + 1, half_e = e / 2; \
		B plain = (x - x != x - x) | (x == (T)0); \
		*exponent = JOIN(convert_int, N)((plain ? (B)0 : e)); \
		T m = x * power_of_two(-half_e) * power_of_two(half_e - e); \
		return plain ? x : m; \
	} \
	OVERLOAD T modf(T x, SPACE T *whole) \
	{ \
		T w = __builtin_elementwise_trunc(x); \
		*whole = w; \
		return __builtin_elementwise_copysign(x == w ? (T)0 : x - w, x); \
	} \
	OVERLOAD T fract(T x, SPACE T *whole) \
	{ \
		T w = __builtin_elementwise_floor(x), r = x - w; \
		*whole = w; \
		r = r >= (T)1 ? (T)BELOW_ONE : r; \
		B signed_zero = (x == (T)0) | (__builtin_elementwise_abs(x) == (T)INFINITY); \
		return signed_zero ? __builtin_elementwise_copysign((T)0, x) : r; \
	}
RESULT_POINTERS(global)
RESULT_POINTERS(local)
RESULT_POINTERS(private)
#undef RESULT_POINTERS
#undef TO_BITS
#undef FROM_BITS
#undef ONE_ELEMENT
#undef INFINITE
#undef LOWEST
#undef MAGNITUDE
#undef IS_NAN
