// SPDX-License-Identifier: MIT
/*
 * math.c - mathematical functions against the host's libm in double
 *
 * A result may be off by the units in the last place that OpenCL C allows it
 * (7.4 of the specification); most of ours are within one. Arguments are values of
 * every magnitude, those near zero and one, and the special ones.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "cc_program.h"

#define COUNT 20000

static double exp10_double(double x) { return pow(10, x); }

/* sin(pi * (x + shift / 2)) with the reduction done exactly. */
static double sinpi_shifted(double x, int shift)
{
	double n = rint(2 * x), r = x - n / 2;

	if (!isfinite(x))
		return NAN;
	switch (((int)fmod(n, 4) + 4 + shift) % 4) {
	case 0: return sin(M_PI * r);
	case 1: return cos(M_PI * r);
	case 2: return -sin(M_PI * r);
	default: return -cos(M_PI * r);
	}
}

static double sinpi_double(double x) { return sinpi_shifted(x, 0); }
static double cospi_double(double x) { return sinpi_shifted(x, 1); }
static double rsqrt_double(double x) { return 1 / sqrt(x); }
static double recip_double(double x) { return 1 / x; }

static const struct function {
	const char *name;
	double (*one)(double x);
	double (*two)(double x, double y);
	double ulp;
} functions[] = {
	{ "exp", exp, NULL, 3 },	{ "exp2", exp2, NULL, 3 },
	{ "exp10", exp10_double, NULL, 3 },	{ "expm1", expm1, NULL, 3 },
	{ "log", log, NULL, 3 },	{ "log2", log2, NULL, 3 },
	{ "log10", log10, NULL, 3 },	{ "log1p", log1p, NULL, 2 },
	{ "sin", sin, NULL, 4 },	{ "cos", cos, NULL, 4 },
	{ "tan", tan, NULL, 5 },	{ "asin", asin, NULL, 4 },
	{ "acos", acos, NULL, 4 },	{ "atan", atan, NULL, 5 },
	{ "sinh", sinh, NULL, 4 },	{ "cosh", cosh, NULL, 4 },
	{ "tanh", tanh, NULL, 5 },	{ "asinh", asinh, NULL, 4 },
	{ "acosh", acosh, NULL, 4 },	{ "atanh", atanh, NULL, 5 },
	{ "cbrt", cbrt, NULL, 2 },	{ "sqrt", sqrt, NULL, 0.5 },
	{ "rsqrt", rsqrt_double, NULL, 2 },	{ "floor", floor, NULL, 0 },
	{ "ceil", ceil, NULL, 0 },	{ "trunc", trunc, NULL, 0 },
	{ "rint", rint, NULL, 0 },	{ "round", round, NULL, 0 },
	{ "fabs", fabs, NULL, 0 },	{ "pow", NULL, pow, 16 },
	{ "atan2", NULL, atan2, 6 },	{ "hypot", NULL, hypot, 4 },
	{ "fmin", NULL, fmin, 0 },	{ "fmax", NULL, fmax, 0 },
	{ "copysign", NULL, copysign, 0 },
	{ "sinpi", sinpi_double, NULL, 4 },	{ "cospi", cospi_double, NULL, 4 },
};

static uint32_t random_state = 1;

static uint32_t random_word(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state;
}

static float any_argument(unsigned int i)
{
	static const float special[] = {
		0, -0.0f, 1, -1, 2, -2, 0.5f, -0.5f, 3, -3, INFINITY, -INFINITY, NAN, 1e-45f,
		-1e-45f, 1.17549435e-38f, 3.4028235e38f, -3.4028235e38f, 16777216, 16777217,
		1e-10f, -1e-10f, 0.99999994f, 1.0000001f, 88.7f, -103.9f, 2.5f, -1.5f, 1e6f, 4e9f,
	};
	float f;
	uint32_t word = random_word();

	if (i < 900)
		return special[i / 30];
	switch (i % 4) {
	case 0:		/* any bits */
		memcpy(&f, &word, 4);
		return f;
	case 1:		/* near one */
		return 1 + (int32_t)word * 0x1p-34f;
	case 2:		/* -1 to 1 */
		return (int32_t)word * 0x1p-31f;
	default:	/* -128 to 128 */
		return (int32_t)word * 0x1p-24f;
	}
}

/* Distance of @got from @want in units of the last place of a float. */
static double ulps(float got, double want)
{
	float nearest = want;
	double unit;
	int exponent;

	if (isnan(nearest) || isnan(got))
		return isnan(nearest) && isnan(got) ? 0 : INFINITY;
	if (got == nearest)
		return 0;
	if (isinf(nearest) || isinf(got))
		return INFINITY;
	frexp(want, &exponent);
	unit = ldexp(1, exponent < -125 ? -149 : exponent - 24);
	return fabs(got - want) / unit;
}

FIXTURE(math) {
	struct cc_program *program;
	float *x, *y, *out, *out4;
};

FIXTURE_SETUP(math)
{
	unsigned int i;

	self->program = cc_program_open(cc_build_path("kernels/cc_math.salvo"));
	ASSERT_NE(NULL, self->program);
	self->x = calloc(4 * COUNT, sizeof(float));
	self->y = self->x + COUNT;
	self->out = self->y + COUNT;
	self->out4 = self->out + COUNT;
	for (i = 0; i < COUNT; i++) {
		self->x[i] = any_argument(i);
		self->y[i] = any_argument(i < 900 ? i % 30 * 30 : i + 1);
	}
}

FIXTURE_TEARDOWN(math)
{
	cc_program_close(self->program);
	free(self->x);
}

TEST_F(math, functions_against_the_host)
{
	struct {
		const float *x, *y;
		float *out;
	} args = { self->x, self->y, self->out };
	struct cc_range range = { .global = { COUNT }, .local = { 256 }, .dims = 1 };
	unsigned int f, i;

	for (f = 0; f < sizeof(functions) / sizeof(functions[0]); f++) {
		const struct function *fn = &functions[f];
		double worst = 0;
		unsigned int at = 0;
		char kernel[32];

		snprintf(kernel, sizeof(kernel), "%s_1", fn->name);
		args.out = self->out;
		range.global[0] = COUNT;
		ASSERT_EQ(0, cc_run(self->program, kernel, &args, &range));
		for (i = 0; i < COUNT; i++) {
			double want = fn->one ? fn->one(self->x[i]) :
						fn->two(self->x[i], self->y[i]);
			double off = ulps(self->out[i], want);

			if (off > worst) {
				worst = off;
				at = i;
			}
		}
		EXPECT_GE(fn->ulp, worst) {
			TH_LOG("%s(%a, %a) is %a, off by %g", fn->name, self->x[at], self->y[at],
			       self->out[at], worst);
		}

		/* A vector's elements are what the scalars are. */
		snprintf(kernel, sizeof(kernel), "%s_4", fn->name);
		args.out = self->out4;
		range.global[0] = COUNT / 4;
		ASSERT_EQ(0, cc_run(self->program, kernel, &args, &range));
		for (i = 0; i < COUNT; i++)
			if (memcmp(&self->out[i], &self->out4[i], 4) &&
			    !(isnan(self->out[i]) && isnan(self->out4[i])))
				break;
		EXPECT_EQ(COUNT, i) {
			TH_LOG("%s(%a, %a) is %a, as float4 %a", fn->name, self->x[i], self->y[i],
			       self->out[i], self->out4[i]);
		}
	}
}

/* 2.5 units for arguments from 2^-62 to 2^62, as with full precision */
static double worst_division(const struct cc_program *program, unsigned int width, bool reciprocal,
			     float *x, float *y, float *out)
{
	struct {
		const float *x, *y;
		float *out;
	} args = { x, y, out };
	struct cc_range range = { .global = { COUNT / width }, .local = { 256 }, .dims = 1 };
	double worst = 0;
	char kernel[32];
	unsigned int i;

	snprintf(kernel, sizeof(kernel), "%s_%u", reciprocal ? "reciprocal" : "quotient", width);
	if (cc_run(program, kernel, &args, &range))
		return INFINITY;
	for (i = 0; i < COUNT; i++)
		worst = fmax(worst, ulps(out[i], (reciprocal ? 1 : (double)x[i]) / y[i]));
	return worst;
}

/* Products with an estimate of the reciprocal are off by up to 3 units. */
TEST_F(math, M4_divisions_in_relaxed_mathematics)
{
	static const float far[2][2] = {
		{ 0x1.081e54p+3, 0x1.0c2e92p-4 }, { -0x1.09ce42p-38, -0x1.0b2ffap-44 },
	};
	static const unsigned int widths[] = { 1, 2, 4, 8, 16 };
	unsigned int level, i;

	for (i = 0; i < 2 * COUNT; i++) {
		const uint32_t word = random_word();

		self->x[i] = ldexpf(0x1p23f + word % (1 << 23), (int)(word >> 23) % 125 - 85);
		self->x[i] *= word >> 31 ? -1 : 1;
	}
	for (i = 0; i < COUNT / 2; i++) {
		self->x[i] = far[i % 2][0];
		self->y[i] = far[i % 2][1];
	}
	for (level = 2; level <= (cc_runs_v4() ? 4 : 3); level++) {
		struct cc_program *program;
		char options[64];

		snprintf(options, sizeof(options), "-cl-fast-relaxed-math --march x86-64-v%u",
			 level);
		program = cc_build(options, "tests/kernels/cc_relaxed.cl");
		ASSERT_NE(NULL, program);
		for (i = 0; i < 10; i++) {
			const double worst = worst_division(program, widths[i / 2], i % 2, self->x,
							    self->y, self->out);

			EXPECT_GE(2.5, worst) {
				TH_LOG("level %u, width %u: off by %g", level, widths[i / 2],
				       worst);
			}
		}
		cc_program_close(program);
	}
}

/* A step from an estimate is NaN for 0 and infinity, and off by up to 3.2 units elsewhere. */
TEST_F(math, M4_quotients_by_a_square_root_in_relaxed_mathematics)
{
	static const float ends[] = { 0, INFINITY, 0x1p-130f };
	struct {
		const float *x, *y;
		float *out;
	} args = { self->x, self->y, self->out };
	unsigned int level, width, i;

	for (i = 0; i < COUNT; i++) {
		self->x[i] = 1 + ldexpf(random_word() % (1 << 23), -23);
		self->y[i] = i % 8 ? ldexpf(1 + ldexpf(random_word() % (1 << 23), -23),
					    (int)(random_word() % 240) - 120) :
				     ends[i / 8 % ARRAY_SIZE(ends)];
	}
	for (level = 2; level <= (cc_runs_v4() ? 4 : 3); level++) {
		struct cc_program *program;
		char options[64];

		snprintf(options, sizeof(options), "-cl-fast-relaxed-math --march x86-64-v%u",
			 level);
		program = cc_build(options, "tests/kernels/cc_relaxed.cl");
		ASSERT_NE(NULL, program);
		for (width = 1; width <= 4; width += 3) {
			struct cc_range range = {
				.global = { COUNT / width - 1 }, .local = { 256 }, .dims = 1,
			};
			double worst = 0;

			ASSERT_EQ(0, cc_run(program, width > 1 ? "root_4" : "root_1", &args,
					    &range));
			for (i = 0; i < COUNT - width; i++)
				worst = fmax(worst, ulps(self->out[i],
							 self->x[i] / sqrt(self->y[i])));
			EXPECT_GE(2.5, worst) {
				TH_LOG("level %u, width %u: off by %g", level, width, worst);
			}
		}
		cc_program_close(program);
	}
}

static double quotient(double x, double y) { return x / y; }

/* In the order of the kernels' results */
static const struct function estimates[] = {
	{ "rsqrt", rsqrt_double, NULL, 2 },	{ "native_rsqrt", rsqrt_double, NULL, 2 },
	{ "half_rsqrt", rsqrt_double, NULL, 2 },	{ "native_sqrt", sqrt, NULL, 1 },
	{ "half_sqrt", sqrt, NULL, 1 },		{ "native_recip", recip_double, NULL, 1 },
	{ "half_recip", recip_double, NULL, 1 },	{ "native_divide", NULL, quotient, 1 },
	{ "half_divide", NULL, quotient, 1 },
};

/*
 * Functions that AVX-512 computes from estimates, at zero and infinity, too; and all lengths of
 * vectors have the same bits. Squares and multiples have exact results.
 */
TEST_F(math, M4_roots_and_quotients_that_may_be_estimates)
{
	static const float ends[] = { 0, -0.0f, INFINITY, -INFINITY, NAN, -3 };
	enum { FUNCTIONS = ARRAY_SIZE(estimates), RESULTS = FUNCTIONS * COUNT };
	float *out = calloc(2 * RESULTS, sizeof(float)), *other = out + RESULTS;
	unsigned int level, width, f, i;

	for (i = 0; i < 2 * COUNT; i++) {
		const uint32_t word = random_word();

		self->x[i] = ldexpf(0x1p23f + word % (1 << 23), (int)(word >> 23) % 125 - 85);
		if (i % 4 == 0)
			self->x[i] = ends[i / 4 % ARRAY_SIZE(ends)];
	}
	for (i = 1; i < COUNT; i += 4) {
		const float whole = 1 + i % 4096;

		self->x[i] = whole * whole;
		self->y[i] = whole;
	}
	for (level = 2; level <= (cc_runs_v4() ? 4 : 3); level++) {
		struct cc_program *program;
		char options[32], kernel[32];

		snprintf(options, sizeof(options), "--march x86-64-v%u", level);
		program = cc_build(options, "tests/kernels/cc_relaxed.cl");
		ASSERT_NE(NULL, program);
		for (width = 1; width <= 4; width *= 2) {
			struct {
				const float *x, *y;
				float *out;
			} args = { self->x, self->y, width == 1 ? out : other };
			struct cc_range range = {
				.global = { COUNT / width }, .local = { 50 }, .dims = 1,
			};

			snprintf(kernel, sizeof(kernel), "estimates_%u", width);
			ASSERT_EQ(0, cc_run(program, kernel, &args, &range));
			for (i = 0; width > 1 && i < RESULTS; i++)
				if (memcmp(&out[i], &other[i], 4) &&
				    !(isnan(out[i]) && isnan(other[i])))
					break;
			EXPECT_EQ(width > 1 ? RESULTS : 0, i) {
				TH_LOG("level %u: of %a %a, of float%u %a", level,
				       self->x[i % COUNT], out[i], width, other[i]);
			}
		}
		for (f = 0; f < FUNCTIONS; f++) {
			const struct function *fn = &estimates[f];

			for (i = 0; i < COUNT; i++) {
				const double x = self->x[i], y = self->y[i];
				const double want = fn->one ? fn->one(x) : fn->two(x, y);
				const bool exact = want == rint(want) && fabs(want) <= 4096;

				if (ulps(out[f * COUNT + i], want) > (exact ? 0 : fn->ulp))
					break;
			}
			EXPECT_EQ(COUNT, i) {
				TH_LOG("level %u: %s(%a, %a) is %a", level, fn->name, self->x[i],
				       self->y[i], out[f * COUNT + i]);
			}
		}
		cc_program_close(program);
	}
	free(out);
}

/* A reciprocal of these is infinite; native_divide() may have one. */
TEST_F(math, M4_half_divide_of_numbers_below_the_normal_ones)
{
	struct {
		const float *x, *y;
		float *out;
	} args = { self->x, self->y, self->out };
	struct cc_range range = { .global = { COUNT }, .local = { 50 }, .dims = 1 };
	unsigned int level, i;

	for (i = 0; i < COUNT; i++) {
		self->x[i] = ldexpf(1 + random_word() % (1 << 18), -149);
		self->y[i] = ldexpf(1 + random_word() % (1 << 18), -149);
	}
	for (level = 2; level <= (cc_runs_v4() ? 4 : 3); level++) {
		struct cc_program *program;
		char options[32];

		snprintf(options, sizeof(options), "--march x86-64-v%u", level);
		program = cc_build(options, "tests/kernels/cc_relaxed.cl");
		ASSERT_NE(NULL, program);
		ASSERT_EQ(0, cc_run(program, "half_quotient", &args, &range));
		for (i = 0; i < COUNT; i++)
			if (ulps(self->out[i], (double)self->x[i] / self->y[i]) > 1)
				break;
		EXPECT_EQ(COUNT, i) {
			TH_LOG("level %u: half_divide(%a, %a) is %a", level, self->x[i], self->y[i],
			       self->out[i]);
		}
		cc_program_close(program);
	}
}

static const double exponents[] = { 1, 2, 3, 8, -1, -2, -7, .5, 1.5, -.5, -1.5, 7.5, -7.5 };
#define EXPONENTS (sizeof(exponents) / sizeof(exponents[0]))

/* Units that @got is off @want by, infinitely many for a zero of the other sign */
static double units_of_power(double got, double want, bool single)
{
	int exponent;

	if (isnan(got) || isnan(want))
		return isnan(got) && isnan(want) ? 0 : INFINITY;
	if (single)
		want = (float)want;
	if (got == want)
		return !signbit(got) == !signbit(want) ? 0 : INFINITY;
	if (isinf(got) || isinf(want))
		return INFINITY;
	frexp(want, &exponent);
	if (single)
		return fabs(got - want) / ldexp(1, exponent < -125 ? -149 : exponent - 24);
	return fabs(got - want) / ldexp(1, exponent < -1021 ? -1074 : exponent - 53);
}

/* pow(), powr() and pown(): literal exponents have forms of their own. */
TEST_F(math, M4_powers_with_constant_exponents)
{
	enum { RESULTS = 3 * EXPONENTS };
	static const char *const names[] = { "pow", "powr", "pown" };
	float *singles = calloc((size_t)COUNT * RESULTS, sizeof(float));
	double *doubles = calloc((size_t)COUNT * RESULTS, sizeof(double));
	struct {
		const float *x;
		void *out;
	} args = { self->x, singles };
	struct cc_range range = { .global = { COUNT }, .local = { 250 }, .dims = 1 };
	unsigned int i, e, f, single;

	ASSERT_EQ(0, cc_run(self->program, "powers_float", &args, &range));
	args.out = doubles;
	ASSERT_EQ(0, cc_run(self->program, "powers_double", &args, &range));
	for (i = 0; i < COUNT * RESULTS * 2; i++) {
		double x = self->x[i / 2 / RESULTS], want, got;

		single = i % 2;
		f = i / 2 % RESULTS / EXPONENTS;
		e = i / 2 % EXPONENTS;
		if (f == 2 && exponents[e] != trunc(exponents[e]))
			continue;
		want = f == 1 && x < 0 ? NAN : pow(f == 1 ? x + 0 : x, exponents[e]);
		got = single ? singles[i / 2] : doubles[i / 2];
		ASSERT_GE(16, units_of_power(got, want, single)) {
			TH_LOG("%s(%a, %g) of %s is %a, not %a", names[f], x, exponents[e],
			       single ? "float" : "double", got, want);
		}
	}
	free(singles);
	free(doubles);
}

TEST_HARNESS_MAIN
