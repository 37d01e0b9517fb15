// SPDX-License-Identifier: MIT
/*
 * builtins.c - integer, relational, conversion, memory and atomic functions
 *
 * The references are written with 128-bit integers and libm, straight from the
 * definitions of OpenCL C.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "cc_program.h"

typedef __int128 wide;

#define COUNT 600

static const struct integer_type {
	const char *name;
	unsigned int bits;
	bool is_signed;
} types[] = {
	{ "char", 8, true }, { "uchar", 8, false }, { "short", 16, true }, { "ushort", 16, false },
	{ "int", 32, true }, { "uint", 32, false }, { "long", 64, true }, { "ulong", 64, false },
};

static wide lowest(const struct integer_type *t)
{
	return t->is_signed ? -((wide)1 << (t->bits - 1)) : 0;
}

static wide highest(const struct integer_type *t)
{
	return ((wide)1 << (t->bits - t->is_signed)) - 1;
}

static wide saturate(const struct integer_type *t, wide x)
{
	return x < lowest(t) ? lowest(t) : x > highest(t) ? highest(t) : x;
}

/* @x cut to the type's bits. */
static wide wrap(const struct integer_type *t, wide x)
{
	x &= ((wide)1 << t->bits) - 1;
	return t->is_signed && x >> (t->bits - 1) ? x - ((wide)1 << t->bits) : x;
}

static wide floor_half(wide x)
{
	return x >> 1;
}

static wide ref_abs(const struct integer_type *t, wide a, wide b) { return a < 0 ? -a : a; }
static wide ref_abs_diff(const struct integer_type *t, wide a, wide b)
{
	return a > b ? a - b : b - a;
}
static wide ref_add_sat(const struct integer_type *t, wide a, wide b) { return saturate(t, a + b); }
static wide ref_sub_sat(const struct integer_type *t, wide a, wide b) { return saturate(t, a - b); }
static wide ref_hadd(const struct integer_type *t, wide a, wide b) { return floor_half(a + b); }
static wide ref_rhadd(const struct integer_type *t, wide a, wide b)
{
	return floor_half(a + b + 1);
}

static wide ref_min(const struct integer_type *t, wide a, wide b) { return a < b ? a : b; }
static wide ref_max(const struct integer_type *t, wide a, wide b) { return a > b ? a : b; }
static wide ref_clamp(const struct integer_type *t, wide a, wide b)
{
	return a < 10 ? 10 : a > 100 ? 100 : a;
}
static wide ref_select(const struct integer_type *t, wide a, wide b) { return a & 1 ? b : a; }
static wide ref_bitselect(const struct integer_type *t, wide a, wide b)
{
	return (a & ~(wide)0x55) | (b & 0x55);
}

/* 128 bits hold all but products of the largest, which they exceed by far. */
static wide multiply_add(const struct integer_type *t, wide a, wide b, wide c)
{
	if (!t->is_signed && (unsigned __int128)a * (unsigned __int128)b >> 126)
		return highest(t);
	return saturate(t, a * b + c);
}
static wide ref_mad_sat(const struct integer_type *t, wide a, wide b)
{
	return multiply_add(t, a, b, a);
}
static wide ref_mad_sat3(const struct integer_type *t, wide a, wide b)
{
	return multiply_add(t, b, b, a);
}

static wide ref_mul_hi(const struct integer_type *t, wide a, wide b)
{
	if (t->bits == 64 && !t->is_signed)
		return (unsigned __int128)a * (unsigned __int128)b >> 64;
	return (a * b) >> t->bits;
}

static wide ref_mad_hi(const struct integer_type *t, wide a, wide b)
{
	return wrap(t, ref_mul_hi(t, a, b) + a);
}

static wide ref_rotate(const struct integer_type *t, wide a, wide b)
{
	unsigned int n = (unsigned int)b % t->bits;
	unsigned __int128 x = a & (((wide)1 << t->bits) - 1);

	return x << n | x >> (t->bits - n);
}

static wide ref_clz(const struct integer_type *t, wide a, wide b)
{
	unsigned int n = 0;

	while (n < t->bits && !(a >> (t->bits - 1 - n) & 1))
		n++;
	return n;
}

static wide ref_popcount(const struct integer_type *t, wide a, wide b)
{
	unsigned int i, n = 0;

	for (i = 0; i < t->bits; i++)
		n += a >> i & 1;
	return n;
}

static const struct integer_function {
	const char *name;
	wide (*reference)(const struct integer_type *t, wide a, wide b);
} integer_functions[] = {
#define FUNCTION(name) { #name, ref_##name }
	FUNCTION(abs), FUNCTION(abs_diff), FUNCTION(add_sat), FUNCTION(sub_sat), FUNCTION(hadd),
	FUNCTION(rhadd), FUNCTION(min), FUNCTION(max), FUNCTION(mul_hi), FUNCTION(rotate),
	FUNCTION(clz), FUNCTION(popcount), FUNCTION(clamp), FUNCTION(select), FUNCTION(bitselect),
	FUNCTION(mad_sat), FUNCTION(mad_sat3), FUNCTION(mad_hi),
};

static uint64_t random_state = 88172645463325252ull;

static uint64_t random_word(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Limits, small numbers, then any; all as the low bits of a word. */
static uint64_t any_integer(unsigned int i, unsigned int bits)
{
	uint64_t top = 1ull << (bits - 1);
	const uint64_t special[] = { 0, 1, 2, ~0ull, ~1ull, top, top - 1, top + 1, 100, 10 };

	return i < 10 ? special[i] : random_word() >> random_word() % 60;
}

static wide element(const struct integer_type *t, const void *array, unsigned int i)
{
	uint64_t x = 0;

	memcpy(&x, (const char *)array + i * t->bits / 8, t->bits / 8);
	return wrap(t, x);
}

FIXTURE(builtins) {
	struct cc_program *program;
};

FIXTURE_SETUP(builtins)
{
	self->program = cc_program_open(cc_build_path("kernels/cc_builtins.salvo"));
	ASSERT_NE(NULL, self->program);
}

FIXTURE_TEARDOWN(builtins)
{
	cc_program_close(self->program);
}

/* Runs @function of @type on @x and @y. Returns the first wrong work-item, or COUNT. */
static unsigned int first_wrong(const struct cc_program *program, const struct integer_type *type,
				const struct integer_function *function, const uint64_t *x,
				const uint64_t *y, uint64_t *out)
{
	struct {
		const void *x, *y;
		void *out;
	} args = { x, y, out };
	struct cc_range range = { .global = { COUNT }, .local = { 64 }, .dims = 1 };
	char kernel[32];
	unsigned int i;

	snprintf(kernel, sizeof(kernel), "%s_%s", function->name, type->name);
	if (cc_run(program, kernel, &args, &range))
		return 0;
	for (i = 0; i < COUNT; i++)
		if (element(type, out, i) !=
		    wrap(type, function->reference(type, element(type, x, i), element(type, y, i))))
			break;
	return i;
}

/* Returns how many functions of how many types have wrong results, which it prints. */
static unsigned int wrong_functions(const struct cc_program *program)
{
	uint64_t x[COUNT], y[COUNT], out[COUNT];
	unsigned int t, f, i, wrong = 0;

	for (t = 0; t < 8; t++) {
		const struct integer_type *type = &types[t];

		for (i = 0; i < COUNT; i++) {
			uint64_t a = any_integer(i < 100 ? i / 10 : i, type->bits);
			uint64_t b = any_integer(i < 100 ? i % 10 : i, type->bits);

			memcpy((char *)x + i * type->bits / 8, &a, type->bits / 8);
			memcpy((char *)y + i * type->bits / 8, &b, type->bits / 8);
		}
		for (f = 0; f < sizeof(integer_functions) / sizeof(integer_functions[0]); f++) {
			i = first_wrong(program, type, &integer_functions[f], x, y, out);
			if (i == COUNT)
				continue;
			printf("# %s(%s): %lld, %lld is %lld\n", integer_functions[f].name,
			       type->name, (long long)element(type, x, i),
			       (long long)element(type, y, i), (long long)element(type, out, i));
			wrong++;
		}
	}
	return wrong;
}

TEST_F(builtins, integers_of_every_type)
{
	EXPECT_EQ(0, wrong_functions(self->program));
}

TEST_F(builtins, integers_of_the_highest_level)
{
	struct cc_program *program;

	if (!__builtin_cpu_supports("avx512bitalg"))
		SKIP(return, "this processor has no AVX512_BITALG");
	program = cc_build("--march x86-64-v4+popcnt", "tests/kernels/cc_builtins.cl");
	ASSERT_NE(NULL, program);
	EXPECT_EQ(0, wrong_functions(program));
	cc_program_close(program);
}

static wide float_to(const struct integer_type *t, double x, double (*rounding)(double))
{
	x = rounding(x);
	if (isnan(x))
		return 0;
	if (x <= (double)lowest(t))
		return lowest(t);
	return x >= (double)highest(t) ? highest(t) : (wide)x;
}

TEST_F(builtins, conversions_from_float)
{
	float x[COUNT];
	int64_t out[COUNT][16];
	struct {
		const float *x;
		int64_t *out;
	} args = { x, out[0] };
	struct cc_range range = { .global = { COUNT }, .local = { 50 }, .dims = 1 };
	static const float special[] = {
		0, -0.0f, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 126.5f, 127.5f, 128, -128.5f, 255.5f, 256,
		32767.5f, 65535.5f, 2147483648.0f, -2147483648.0f, 4294967296.0f, 1e19f, -1e19f,
		2e19f, INFINITY, -INFINITY, NAN, 9.2233720368547758e18f, 1e-30f,
	};
	unsigned int i, k;

	for (i = 0; i < COUNT; i++) {
		uint32_t word = random_word();

		if (i < sizeof(special) / sizeof(special[0]))
			x[i] = special[i];
		else
			memcpy(&x[i], &word, 4);
		if (i % 2 && i > 40)
			x[i] = (int32_t)word * 0x1p-22f;
	}
	ASSERT_EQ(0, cc_run(self->program, "convert_float_all", &args, &range));
	for (i = 0; i < COUNT; i++) {
		int64_t want[16];
		int32_t bits;

		for (k = 0; k < 8; k++)
			want[k] = float_to(&types[k], x[i], trunc);
		want[8] = float_to(&types[4], x[i], rint);
		want[9] = float_to(&types[4], x[i], trunc);
		want[10] = float_to(&types[4], x[i], ceil);
		want[11] = float_to(&types[4], x[i], floor);
		want[12] = float_to(&types[1], x[i], rint);
		want[13] = want[11];
		memcpy(&bits, &x[i], 4);
		want[14] = bits;
		want[15] = want[6];
		for (k = 0; k < 16; k++)
			EXPECT_EQ(want[k], out[i][k]) {
				TH_LOG("conversion %u of %a", k, x[i]);
			}
	}
}

TEST_F(builtins, conversions_from_long)
{
	int64_t x[COUNT], out[COUNT][12];
	struct {
		const int64_t *x;
		int64_t *out;
	} args = { x, out[0] };
	struct cc_range range = { .global = { COUNT }, .local = { 50 }, .dims = 1 };
	unsigned int i, k;

	for (i = 0; i < COUNT; i++)
		x[i] = any_integer(i, 64);
	ASSERT_EQ(0, cc_run(self->program, "convert_long_all", &args, &range));
	for (i = 0; i < COUNT; i++) {
		int64_t v = x[i], want[12];
		float f = v, uf = (uint64_t)v;
		double ud = (uint64_t)v;
		int32_t bits;

		want[0] = saturate(&types[0], v);
		want[1] = saturate(&types[1], v);
		want[2] = saturate(&types[4], v);
		want[3] = saturate(&types[5], v);
		want[4] = saturate(&types[7], v);
		want[5] = saturate(&types[6], (uint64_t)v);
		want[6] = saturate(&types[2], (uint32_t)v);
		want[7] = (int8_t)v;
		want[8] = want[1];
		memcpy(&bits, &f, 4);
		want[9] = bits;
		memcpy(&want[10], &ud, 8);
		memcpy(&bits, &uf, 4);
		want[11] = bits;
		for (k = 0; k < 12; k++)
			EXPECT_EQ(want[k], out[i][k]) {
				TH_LOG("conversion %u of %lld", k, (long long)v);
			}
	}
}

static int32_t bits_of(float f)
{
	int32_t bits;

	memcpy(&bits, &f, 4);
	return isnan(f) ? 0x7fc00000 : bits;
}

TEST_F(builtins, comparisons_and_common_functions)
{
	static const float values[] = {
		0, -0.0f, 1, -1, 0.5f, 1.75f, 3, 1e-40f, 1e20f, -1e20f, INFINITY, -INFINITY, NAN,
	};
	enum { N = sizeof(values) / sizeof(values[0]) };
	float x[N * N], y[N * N];
	int32_t out[N * N][16];
	struct {
		const float *x, *y;
		int32_t *out;
	} args = { x, y, out[0] };
	struct cc_range range = { .global = { N * N }, .local = { 32 }, .dims = 1 };
	unsigned int i, k;

	for (i = 0; i < N * N; i++) {
		x[i] = values[i / N];
		y[i] = values[i % N];
	}
	ASSERT_EQ(0, cc_run(self->program, "float_bits", &args, &range));
	for (i = 0; i < N * N; i++) {
		float a = x[i], b = y[i], t = a / 2;
		int unordered = isnan(a) || isnan(b), ordered = !unordered;
		int32_t want[16];

		t = t < 0 ? 0 : t > 1 ? 1 : t;
		want[0] = (isnan(a) ? 1 : 0) | (isinf(a) ? 2 : 0) | (isfinite(a) ? 4 : 0) |
			  (isnormal(a) ? 8 : 0) | (signbit(a) ? 16 : 0);
		want[1] = (a < b) | (a > b) << 1 | (a == b) << 2 | unordered << 3 |
			  (a < b || a > b) << 4 | ordered << 5;
		want[2] = unordered ? 1 : 2;
		want[3] = isnan(a) ? -1 : 0;
		want[4] = bits_of(isnan(a) ? 0 : a > 0 ? 1 : a < 0 ? -1 : a);
		want[5] = bits_of(b < a ? 0 : 1);
		want[6] = bits_of(a + (b - a) * 0.25f);
		want[7] = bits_of(a < -1 ? -1 : a > 1 ? 1 : a);
		want[8] = bits_of(a + b * 2 + -a * 4);
		want[9] = bits_of(fmaf(a, b, 1));
		want[10] = bits_of(ldexpf(a, -3));
		want[11] = bits_of(hypot(a, b));
		want[12] = bits_of(b < a ? b : a);
		want[13] = bits_of(a * 3 - b * 2);
		want[14] = bits_of(t * t * (3 - 2 * t));
		want[15] = bits_of(a / b);
		for (k = 0; k < 16; k++) {
			float f;
			int32_t got = out[i][k];

			memcpy(&f, &got, 4);
			if (k >= 4 && isnan(f))
				got = 0x7fc00000;
			/* What these make of NaN is left open. */
			if ((k == 7 || k == 11 || k == 12 || k == 14) && unordered)
				continue;
			/* Sums of products may be fused, lengths rounded once more. */
			if ((k == 8 || k == 11 || k == 13 || k == 6) && abs(got - want[k]) <= 1)
				continue;
			EXPECT_EQ(want[k], got) {
				TH_LOG("function %u of %a, %a", k, a, b);
			}
		}
	}
}

/* Distance of @got from @want in units of the last place, of a type of @digits */
static double error_of(double got, long double want, int digits, int emin)
{
	int exponent;

	if (isnan(want) || isnan(got))
		return isnan(want) && isnan(got) ? 0 : INFINITY;
	if (isinf(want) || isinf(got))
		return want == got ? 0 : INFINITY;
	frexpl(want, &exponent);
	if (exponent < emin)
		exponent = emin;
	return fabsl(ldexpl(got - want, digits - exponent));
}

/* An element near 2^@exponent: any, and from some on those that lengths are not computed of */
static double element_of(unsigned int at, int exponent, bool is_double)
{
	static const double rare[] = { 0, -0.0, INFINITY, -INFINITY, NAN, 0x1p-149, -0x1p-1074 };
	const double x = ldexp((random() / 1e9 + 1) * (random() & 1 ? -1 : 1), exponent);

	if (at >= 512 && random() % 4 == 0)
		return rare[random() % (is_double ? 7 : 6)];
	return is_double || isinf((float)x) ? (is_double ? x : 1) : (float)x;
}

/* Lengths of vectors whose squares overflow or vanish, and of those beside them in a row */
TEST_F(builtins, lengths_of_every_magnitude)
{
	enum { N = 1024 };
	static double in[4 * N], out[6 * N];
	struct {
		void *in, *out;
	} args = { in, out };
	struct cc_range range = { .global = { N }, .local = { 64 }, .dims = 1 };
	unsigned int type, width, i, k;

	for (type = 0; type < 2; type++)
		for (width = 2; width <= 4; width++) {
			const int digits = type ? 53 : 24, emin = type ? -1021 : -125;
			const int most = type ? 1020 : 124, least = type ? -1074 : -149;
			char kernel[32];

			for (i = 0; i < N; i++) {
				const int far = least + (int)(random() % (most - least));

				for (k = 0; k < width; k++) {
					const int spread = random() % 3 ? 1 : 60;
					int e = (i % 2 ? 0 : far) + random() % spread - spread / 2;
					double x;

					e = e < least ? least : e > most ? most : e;
					x = element_of(i, e, type);
					if (type)
						in[i * width + k] = x;
					else
						((float *)in)[i * width + k] = x;
				}
			}
			snprintf(kernel, sizeof(kernel), "lengths_%s%u", type ? "double" : "float",
				 width);
			ASSERT_EQ(0, cc_run(self->program, kernel, &args, &range));
			for (i = 0; i < N; i++) {
				long double v[4], sum = 0, unit = 0, far = 0;
				double got, off;

				for (k = 0; k < width; k++) {
					const unsigned int at = i * width + k;

					v[k] = type ? in[at] : ((float *)in)[at];
					sum += v[k] * v[k];
					if (isinf(v[k]))
						far = 1;
				}
				for (k = 0; k < 2; k++) {
					const unsigned int at = N * width + N * k + i;

					got = type ? out[at] : ((float *)out)[at];
					off = error_of(got, sqrtl(sum), digits, emin);
					EXPECT_GE(2.75 + .5 * width, off) {
						TH_LOG("%s of %u, length %La is %a", kernel, i,
						       sqrtl(sum), got);
					}
				}
				for (k = 0; k < width; k++) {
					if (far)
						v[k] = isinf(v[k]) ? copysignl(1, v[k]) : 0 * v[k];
					unit += v[k] * v[k];
				}
				unit = unit == 0 ? 1 : sqrtl(unit);
				for (k = 0; k < width; k++) {
					const unsigned int at = i * width + k;

					got = type ? out[at] : ((float *)out)[at];
					off = error_of(got, v[k] / unit, digits, emin);
					EXPECT_GE(2. + width, off) {
						TH_LOG("%s of %u, element %u %La is %a", kernel, i,
						       k, v[k] / unit, got);
					}
				}
			}
		}
}

/* Without the instruction: fma() of the runtime rounds once all the same. */
TEST_F(builtins, fma_of_the_oldest_processor)
{
	static const float values[] = {
		1, 1.0000001f, 0x1p-24f, -0x1p-24f, 0x1.000002p+0f, 0x1.fffffep+0f, -1, 3,
		0x1p-126f, 0x1p-149f, 0x1.8p+100f, -0x1.8p+100f, 0x1p-50f, 0, INFINITY,
	};
	enum { N = sizeof(values) / sizeof(values[0]) };
	float x[N * N * N], y[N * N * N], z[N * N * N], out[N * N * N];
	struct {
		const float *x, *y, *z;
		float *out;
	} args = { x, y, z, out };
	struct cc_range range = { .global = { N * N * N }, .local = { 64 }, .dims = 1 };
	struct cc_program *program;
	int i, wrong = 0;

	program = cc_build("--march x86-64-v2", "tests/kernels/cc_args.cl");
	ASSERT_NE(NULL, program);
	for (i = 0; i < N * N * N; i++) {
		x[i] = values[i % N];
		y[i] = values[i / N % N];
		z[i] = values[i / N / N];
	}
	ASSERT_EQ(0, cc_run(program, "fused", &args, &range));
	for (i = 0; i < N * N * N; i++) {
		float want = fmaf(x[i], y[i], z[i]);

		wrong += memcmp(&want, &out[i], 4) && !(isnan(want) && isnan(out[i]));
	}
	EXPECT_EQ(0, wrong);
	cc_program_close(program);
}

/* A value of any size, or one of those at the ends of the numbers */
static double any_double(unsigned int *seed)
{
	static const double values[] = {
		0, -0., 1, -1, 0x1.0000000000001p+0, 0x1.fffffffffffffp+0, 0x1p-1074, -0x1p-1074,
		0x1p-1022, 0x1.fffffffffffffp-1023, 0x1.fffffffffffffp+1023, 0x1p-537, 0x1p-511,
		0x1p+512, INFINITY, -INFINITY, NAN,
	};
	const double digits = 1 + rand_r(seed) * 0x1p-31 + rand_r(seed) % 0x400000 * 0x1p-52;
	const int kind = rand_r(seed) % 8;

	if (!kind)
		return values[rand_r(seed) % (sizeof(values) / sizeof(values[0]))];
	return ldexp(rand_r(seed) & 1 ? digits : -digits,
		     kind < 4 ? rand_r(seed) % 8 - 4 : rand_r(seed) % 2200 - 1150);
}

TEST_F(builtins, fma_of_doubles_of_the_oldest_processor)
{
	enum { N = 1 << 16 };
	static double x[N], y[N], z[N], out[N];
	struct {
		const double *x, *y, *z;
		double *out;
	} args = { x, y, z, out };
	struct cc_range range = { .global = { N }, .local = { 64 }, .dims = 1 };
	struct cc_program *program = cc_build("--march x86-64-v2", "tests/kernels/cc_args.cl");
	unsigned int seed = 1;
	int i, wrong = 0;

	ASSERT_NE(NULL, program);
	for (i = 0; i < N; i++) {
		x[i] = any_double(&seed);
		y[i] = any_double(&seed);
		z[i] = any_double(&seed);
		/* What cancels, and what is half a unit away */
		if (i % 4 == 1)
			z[i] = -x[i] * y[i];
		else if (i % 4 == 2)
			z[i] = ldexp(x[i] * y[i], rand_r(&seed) % 240 - 120);
	}
	ASSERT_EQ(0, cc_run(program, "fused_doubles", &args, &range));
	for (i = 0; i < N; i++) {
		double want = fma(x[i], y[i], z[i]);

		if (memcmp(&want, &out[i], 8) && !(isnan(want) && isnan(out[i])) && !wrong++)
			TH_LOG("fma(%a, %a, %a) is %a, not %a", x[i], y[i], z[i], out[i], want);
	}
	EXPECT_EQ(0, wrong);
	cc_program_close(program);
}

TEST_F(builtins, vectors_of_every_width_in_every_memory)
{
	static const unsigned int widths[] = { 2, 3, 4, 8, 16 };
	uint8_t in[200], out[200];
	struct {
		const uint8_t *in;
		uint8_t *out;
		uint64_t middle;
	} args = { in, out, 0 };
	struct cc_range range = { .global = { 11 }, .local = { 11 }, .dims = 1,
				  .local_bytes = 256 };
	unsigned int w, i;

	for (i = 0; i < 200; i++)
		in[i] = i * 7;
	for (w = 0; w < 5; w++) {
		unsigned int bytes = 11 * widths[w];
		char kernel[16];

		memset(out, 0xaa, sizeof(out));
		snprintf(kernel, sizeof(kernel), "memory%u", widths[w]);
		ASSERT_EQ(0, cc_run(self->program, kernel, &args, &range));
		for (i = 0; i < 200; i++)
			if (out[i] != (i >= 1 && i <= bytes ? (uint8_t)(in[i] + 1) : 0xaa))
				break;
		EXPECT_EQ(200, i) {
			TH_LOG("width %u, byte %u", widths[w], i);
		}
	}
}

TEST_F(builtins, bits_of_a_mask)
{
	int32_t x[64 * 8], out[64][3];
	struct {
		const int32_t *x;
		int32_t *out;
	} args = { x, out[0] };
	struct cc_range range = { .global = { 64 }, .local = { 16 }, .dims = 1 };
	int i, k;

	for (i = 0; i < 64 * 8; i++)
		x[i] = i < 16 ? i - 8 : (int32_t)random_word();
	ASSERT_EQ(0, cc_run(self->program, "mask_bits", &args, &range));
	for (i = 0; i < 64; i++) {
		int bits = 0;

		for (k = 0; k < 8; k++)
			bits |= (x[i * 8 + k] > 0) << k;
		EXPECT_EQ(bits, out[i][0]);
		EXPECT_EQ(bits & 127, out[i][1]);
		EXPECT_EQ((bits & 127) | (bits & 128) << 1, out[i][2]);
	}
}

TEST_F(builtins, atomic_operations)
{
	int32_t word[7] = { 0, 0, -1000, 1000, 0, 0, 0 }, old[100], seen[100] = { 0 };
	uint32_t uword[3] = { 0, 0, 5 }, xored = 0;
	struct {
		int32_t *word;
		uint32_t *uword;
		int32_t *old;
		uint64_t shared;
	} args = { word, uword, old, 0 };
	struct cc_range range = { .global = { 100 }, .local = { 30 }, .dims = 1, .local_bytes = 4 };
	uint32_t i;

	ASSERT_EQ(0, cc_run(self->program, "atomics", &args, &range));
	for (i = 0; i < 100; i++) {
		seen[old[i]]++;
		xored ^= i;
	}
	for (i = 0; i < 100; i++)
		EXPECT_EQ(1, seen[i]);
	EXPECT_EQ(100, word[0]);
	EXPECT_EQ(-300, word[1]);
	EXPECT_EQ(79, word[2]);
	EXPECT_EQ(-20, word[3]);
	EXPECT_EQ(100, word[4]);
	EXPECT_EQ(-100, word[5]);
	EXPECT_EQ(200, word[6]);
	EXPECT_EQ(0xffffffffu, uword[0]);
	EXPECT_EQ(xored, uword[1]);
	EXPECT_EQ(0x80000063u, uword[2]);
}

TEST_HARNESS_MAIN
