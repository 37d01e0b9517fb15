// SPDX-License-Identifier: MIT
/*
 * exact.c - functions that have one right result, or give one through a pointer
 *
 * The reference is the host's libm, bit for bit; sincos() is checked against sin() and
 * cos() of the host within the bound of 4 units, lgamma_r() by the sign alone.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "cc_program.h"

#define COUNT 4096

static const double special[] = {
	0, -0.0, 1, -1, 0.5, -0.5, 2, 3, -3, 5, -7.5, INFINITY, -INFINITY, NAN, 0x1p-149, -0x1p-149,
	0x1p-126, 0x1p-1074, -0x1p-1074, 0x1p-1022, 0x1.fffffep+127, 0x1.fffffffffffffp+1023,
	-0x1.fffffffffffffp+1023, 16777216, 0x1p53, -1e-10, 1e10, 0.99999997, 1e30, -1e30, 100, 7,
};

#define SPECIALS (sizeof(special) / sizeof(special[0]))

struct result {
	double value, second;
	int whole;
};

static double fract_of(double x, double *whole, double below_one)
{
	*whole = floor(x);
	if (isinf(x) || x == 0)
		return copysign(0, x);
	return isnan(x) ? x : fmin(x - floor(x), below_one);
}

static void reference(const char *name, double x, double y, bool is_double, struct result *r)
{
	double ax = fabs(x), ay = fabs(y);

	memset(r, 0, sizeof(*r));
	if (!strcmp(name, "frexp")) {
		r->value = frexp(x, &r->whole);
		if (!isfinite(x))
			r->whole = 0;
	} else if (!strcmp(name, "modf")) {
		r->value = modf(x, &r->second);
	} else if (!strcmp(name, "fract")) {
		r->value = fract_of(is_double ? x : (float)x, &r->second,
				    is_double ? 0x1.fffffffffffffp-1 : 0x1.fffffep-1);
		if (!is_double && !isnan(x))
			r->value = copysignf(fminf(fabs(r->value), 0x1.fffffep-1f), r->value);
	} else if (!strcmp(name, "remquo")) {
		r->value = remquo(x, y, &r->whole);
	} else if (!strcmp(name, "ilogb")) {
		r->value = x;
		r->whole = x == 0 ? INT32_MIN : isfinite(x) ? ilogb(x) : INT32_MAX;
	} else if (!strcmp(name, "nextafter")) {
		r->value = is_double ? nextafter(x, y) : nextafterf(x, y);
	} else if (!strcmp(name, "maxmag")) {
		r->value = ax > ay ? x : ay > ax ? y : fmax(x, y);
	} else if (!strcmp(name, "minmag")) {
		r->value = ax < ay ? x : ay < ax ? y : fmin(x, y);
	} else if (!strcmp(name, "fma")) {
		r->value = is_double ? fma(x, y, x) : fmaf(x, y, x);
	} else if (!strcmp(name, "sincos")) {
		r->value = sin(x);
		r->second = cos(x);
	} else {
		r->value = lgamma_r(x, &r->whole);
	}
}

static bool same(double got, double want, bool exact, bool is_double)
{
	if (isnan(want) || isnan(got))
		return isnan(want) && isnan(got);
	if (exact || isinf(want))
		return got == want && (want != 0 || !signbit(got) == !signbit(want));
	return fabs(got - want) <= fabs(want) * 4 * (is_double ? 0x1p-52 : 0x1p-23) + 0x1p-149;
}

static const char *const names[] = {
	"frexp", "modf", "fract", "remquo", "ilogb", "nextafter", "maxmag", "minmag", "lgamma_r",
	"sincos", "fma",
};

FIXTURE(exact) {
	struct cc_program *program;
	void *a, *b, *out;
	int *whole;
	unsigned int group;
};

FIXTURE_SETUP(exact)
{
	self->program = cc_program_open(cc_build_path("kernels/cc_exact.salvo"));
	ASSERT_NE(NULL, self->program);
	self->a = calloc(COUNT, 8);
	self->b = calloc(COUNT, 8);
	self->out = calloc(2 * COUNT, 8);
	self->whole = calloc(COUNT, sizeof(int));
	self->group = 64;
}

FIXTURE_TEARDOWN(exact)
{
	cc_program_close(self->program);
	free(self->a);
	free(self->b);
	free(self->out);
	free(self->whole);
}

static double argument(unsigned int i)
{
	static uint64_t state = 12345;
	double d;

	state = state * 6364136223846793005ull + 1442695040888963407ull;
	if (i < SPECIALS)
		return special[i];
	if (i % 2) {
		uint64_t bits = state ^ state >> 29;

		memcpy(&d, &bits, 8);
		/* The host tells signalling NaNs from others; OpenCL C does not. */
		return isnan(d) ? NAN : d;
	}
	return ldexp((int64_t)state, (int)(state >> 20 & 31) - 75);
}

static void check(struct __test_metadata *_metadata, FIXTURE_DATA(exact) *self, bool is_double,
		  unsigned int lanes)
{
	struct {
		void *a, *b, *out, *whole;
	} args = { self->a, self->b, self->out, self->whole };
	struct cc_range range = { .global = { COUNT / lanes }, .local = { self->group },
				   .dims = 1 };
	unsigned int f, i, count = COUNT / lanes * lanes;
	float *fa = self->a, *fb = self->b, *fo = self->out;
	double *da = self->a, *db = self->b, *d_out = self->out;

	for (i = 0; i < COUNT; i++) {
		double x = argument(i < 1024 ? i / SPECIALS : i);
		double y = argument(i < 1024 ? i % SPECIALS : i);

		if (i >= 1024 && i % 3 == 0)
			y = x * (1 + (int)(i % 50) - 25);
		if (is_double) {
			da[i] = x;
			db[i] = y;
		} else {
			fa[i] = x;
			fb[i] = y;
		}
	}
	for (f = 0; f < sizeof(names) / sizeof(names[0]); f++) {
		/* Which zero is the greater one is open. */
		bool loose = !strcmp(names[f], "sincos") || strstr(names[f], "mag");
		bool sign = !strcmp(names[f], "lgamma_r");
		char kernel[64];

		snprintf(kernel, sizeof(kernel), "%s_%s%u", names[f], is_double ? "double" : "float",
			 lanes);
		ASSERT_EQ(0, cc_run(self->program, kernel, &args, &range));
		for (i = 0; i < count; i++) {
			double x = is_double ? da[i] : fa[i], y = is_double ? db[i] : fb[i];
			double got = is_double ? d_out[i] : fo[i];
			double second = is_double ? d_out[COUNT + i] : fo[COUNT + i];
			struct result want;

			reference(names[f], x, y, is_double, &want);
			if (!sign && (!same(got, want.value, !loose, is_double) ||
				      !same(second, want.second, !loose, is_double)))
				break;
			if (!strcmp(names[f], "remquo") && !isnan(want.value)) {
				if ((want.whole & 7) != (self->whole[i] & 7) &&
				    (-want.whole & 7) != (-self->whole[i] & 7))
					break;
			} else if (!isnan(x) && want.whole != self->whole[i] &&
				   !isnan(want.value) &&
				   !(sign && x == trunc(x) && x < 0)) {
				break;
			}
		}
		EXPECT_EQ(count, i) {
			TH_LOG("%s(%a, %a) is %a, %a, %d", kernel, is_double ? da[i] : fa[i],
			       is_double ? db[i] : fb[i], is_double ? d_out[i] : fo[i],
			       is_double ? d_out[COUNT + i] : fo[COUNT + i], self->whole[i]);
		}
	}
}

/* 7.5.1: angles in units of pi are exact where they are simple fractions, with their signs. */
TEST_F(exact, angles_in_units_of_pi)
{
	static const struct {
		double y, x, result;
	} cases[] = {
		{ 0.0, -0.0, 1 }, { -0.0, -0.0, -1 }, { 0.0, 0.0, 0.0 }, { -0.0, 0.0, -0.0 },
		{ 0.0, -1, 1 }, { -0.0, -1, -1 }, { 0.0, 1, 0.0 }, { -0.0, 1, -0.0 },
		{ -1, 0.0, -0.5 }, { -1, -0.0, -0.5 }, { 1, 0.0, 0.5 }, { 1, -0.0, 0.5 },
		{ 1, -INFINITY, 1 }, { -1, -INFINITY, -1 }, { 1, INFINITY, 0.0 },
		{ -1, INFINITY, -0.0 }, { INFINITY, 1, 0.5 }, { -INFINITY, 1, -0.5 },
		{ INFINITY, -INFINITY, 0.75 }, { -INFINITY, -INFINITY, -0.75 },
		{ INFINITY, INFINITY, 0.25 }, { -INFINITY, INFINITY, -0.25 },
		{ 1, 1, 0.25 }, { 1, -1, 0.75 }, { -3, -3, -0.75 },
	};
	struct {
		void *y, *x, *out;
	} args = { self->a, self->b, self->out };
	struct cc_range range = {
		.global = { ARRAY_SIZE(cases) }, .local = { ARRAY_SIZE(cases) }, .dims = 1,
	};
	const double *out = self->out;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		((double *)self->a)[i] = cases[i].y;
		((double *)self->b)[i] = cases[i].x;
	}
	ASSERT_EQ(0, cc_run(self->program, "angles", &args, &range));
	for (i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
		EXPECT_EQ(0, memcmp(&cases[i / 2].result, &out[i], sizeof(double)))
			TH_LOG("atan2pi(%a, %a) is %a", cases[i / 2].y, cases[i / 2].x, out[i]);
	}
}

TEST_F(exact, functions_on_float) { check(_metadata, self, false, 1); }
TEST_F(exact, functions_on_float3) { check(_metadata, self, false, 3); }
TEST_F(exact, functions_on_double) { check(_metadata, self, true, 1); }
TEST_F(exact, functions_on_double4) { check(_metadata, self, true, 4); }

/* Work-groups of fewer work-items than lanes */
TEST_F_TIMEOUT(exact, functions_with_avx512, 200)
{
	if (!cc_runs_v4())
		SKIP(return, "the processor has no AVX-512");
	cc_program_close(self->program);
	self->program = cc_build("-w --march x86-64-v4", "tests/kernels/cc_exact.cl");
	ASSERT_NE(NULL, self->program);
	self->group = 5;
	check(_metadata, self, false, 1);
	check(_metadata, self, false, 3);
	check(_metadata, self, true, 1);
	check(_metadata, self, true, 4);
}

#define DENORMALS 256

/* How many of the results are 0, of DENORMALS; -1 if the kernel did not run. */
static int zeros(const struct cc_program *program, const char *kernel)
{
	static float in[DENORMALS], out[DENORMALS];
	const struct {
		const float *in;
		float *out;
	} args = { in, out };
	const struct cc_range range = { .global = { DENORMALS }, .local = { 64 }, .dims = 1 };
	int i, count = 0;

	for (i = 0; i < DENORMALS; i++)
		in[i] = 0x1p-126f + (float)i * 0x1p-149f;
	if (cc_run(program, kernel, &args, &range))
		return -1;
	for (i = 0; i < DENORMALS; i++)
		count += out[i] == 0;
	return count;
}

/* -cl-denorms-are-zero lasts as long as its kernel: the next one on the same core has denormals. */
TEST(denormals)
{
	static const char *const path = "tests/kernels/cc_denormals.cl";
	static const char *const kernels[] = { "halves", "halves_of_neighbours" };
	struct cc_program *kept = cc_build("", path), *flushed;
	unsigned int i;

	flushed = cc_build("-cl-denorms-are-zero", path);
	ASSERT_NE(NULL, kept);
	ASSERT_NE(NULL, flushed);
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(DENORMALS, zeros(flushed, kernels[i % 2]));
		EXPECT_EQ(0, zeros(kept, kernels[i / 2]));
	}
	cc_program_close(kept);
	cc_program_close(flushed);
}

TEST_HARNESS_MAIN
