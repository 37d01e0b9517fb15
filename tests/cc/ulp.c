// SPDX-License-Identifier: MIT
/*
 * ulp.c - every mathematical function against MPFR, in units in the last place
 *
 * The bounds are those of 7.4 of the OpenCL 1.2 specification, for float and double. One
 * table drives all: the kernels are written from it and compiled, the reference is worked
 * out with 160 bits (exact functions: by the host's libm), and the worst error of
 * each function is compared with its bound. Each function is also run on vectors of
 * some width, which must give the same bits as scalars.
 *
 * SALVO_ULP_COUNT: arguments for each function (default 1500 beside the special ones).
 * SALVO_ULP_TABLE: a Markdown file; the table of what was measured goes between its lines
 * "<!-- ulp -->" and "<!-- /ulp -->". For Documentation/kernels.md:
 *
 *	SALVO_ULP_COUNT=4000 SALVO_ULP_TABLE=Documentation/kernels.md build/tests/cc/ulp
 */
#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "cc_program.h"

#define PRECISION 160

typedef int (*one_fn)(mpfr_t r, const mpfr_t x, mpfr_rnd_t rounding);
typedef int (*two_fn)(mpfr_t r, const mpfr_t x, const mpfr_t y, mpfr_rnd_t rounding);
typedef int (*int_fn)(mpfr_t r, const mpfr_t x, long n, mpfr_rnd_t rounding);

/* Where arguments are taken from, besides everywhere. */
enum range { UNIT, EXPONENT, ANGLE, POSITIVE };

struct function {
	const char *name;
	double ulp_float, ulp_double;
	enum range range;
	one_fn one;
	two_fn two;
	int_fn whole;		/* second argument an int */
};

static int lgamma_of(mpfr_t r, const mpfr_t x, mpfr_rnd_t rounding)
{
	int sign;

	return mpfr_lgamma(r, &sign, x, rounding);
}

static int fdim_of(mpfr_t r, const mpfr_t x, const mpfr_t y, mpfr_rnd_t rounding)
{
	return mpfr_dim(r, x, y, rounding);
}

static int divide(mpfr_t r, const mpfr_t x, const mpfr_t y, mpfr_rnd_t rounding)
{
	return mpfr_div(r, x, y, rounding);
}

static int recip(mpfr_t r, const mpfr_t x, mpfr_rnd_t rounding)
{
	return mpfr_ui_div(r, 1, x, rounding);
}

static int ldexp_of(mpfr_t r, const mpfr_t x, long n, mpfr_rnd_t rounding)
{
	return mpfr_mul_2si(r, x, n, rounding);
}

static int floor_of(mpfr_t r, const mpfr_t x, mpfr_rnd_t rounding) { return mpfr_floor(r, x); }
static int ceil_of(mpfr_t r, const mpfr_t x, mpfr_rnd_t rounding) { return mpfr_ceil(r, x); }
static int trunc_of(mpfr_t r, const mpfr_t x, mpfr_rnd_t rounding) { return mpfr_trunc(r, x); }
static int round_of(mpfr_t r, const mpfr_t x, mpfr_rnd_t rounding) { return mpfr_round(r, x); }
static int rint_of(mpfr_t r, const mpfr_t x, mpfr_rnd_t rounding) { return mpfr_roundeven(r, x); }

static int logb_of(mpfr_t r, const mpfr_t x, mpfr_rnd_t rounding)
{
	if (mpfr_regular_p(x))
		return mpfr_set_si(r, mpfr_get_exp(x) - 1, rounding);
	if (mpfr_zero_p(x))
		mpfr_set_inf(r, -1);
	else
		mpfr_abs(r, x, rounding);
	return 0;
}

/* Unlike MPFR's, that of 1 to the power of NaN is NaN. */
static int powr_of(mpfr_t r, const mpfr_t x, const mpfr_t y, mpfr_rnd_t rounding)
{
	if (mpfr_nan_p(y)) {
		mpfr_set_nan(r);
		return 0;
	}
	return mpfr_powr(r, x, y, rounding);
}

/* Unlike MPFR's, that of -0 is -infinity. */
static int rsqrt_of(mpfr_t r, const mpfr_t x, mpfr_rnd_t rounding)
{
	return mpfr_zero_p(x) ? mpfr_ui_div(r, 1, x, rounding) : mpfr_rec_sqrt(r, x, rounding);
}

static int rootn_of(mpfr_t r, const mpfr_t x, long n, mpfr_rnd_t rounding)
{
	return mpfr_rootn_si(r, x, n, rounding);
}

#define EXACT 0
#define FREE -1			/* the specification sets no bound */
#define ONE(name, f, d, range, fn) { #name, f, d, range, .one = fn }
#define TWO(name, f, d, range, fn) { #name, f, d, range, .two = fn }
#define WHOLE(name, f, d, range, fn) { #name, f, d, range, .whole = fn }

static const struct function functions[] = {
	ONE(acos, 4, 4, UNIT, mpfr_acos), ONE(acosh, 4, 4, POSITIVE, mpfr_acosh),
	ONE(acospi, 5, 5, UNIT, mpfr_acospi), ONE(asin, 4, 4, UNIT, mpfr_asin),
	ONE(asinh, 4, 4, UNIT, mpfr_asinh), ONE(asinpi, 5, 5, UNIT, mpfr_asinpi),
	ONE(atan, 5, 5, UNIT, mpfr_atan), TWO(atan2, 6, 6, UNIT, mpfr_atan2),
	ONE(atanh, 5, 5, UNIT, mpfr_atanh), ONE(atanpi, 5, 5, UNIT, mpfr_atanpi),
	TWO(atan2pi, 6, 6, UNIT, mpfr_atan2pi), ONE(cbrt, 2, 2, UNIT, mpfr_cbrt),
	ONE(ceil, EXACT, EXACT, ANGLE, ceil_of), ONE(cos, 4, 4, ANGLE, mpfr_cos),
	ONE(cosh, 4, 4, EXPONENT, mpfr_cosh), ONE(cospi, 4, 4, ANGLE, mpfr_cospi),
	ONE(erfc, 16, 16, UNIT, mpfr_erfc), ONE(erf, 16, 16, UNIT, mpfr_erf),
	ONE(exp, 3, 3, EXPONENT, mpfr_exp), ONE(exp2, 3, 3, EXPONENT, mpfr_exp2),
	ONE(exp10, 3, 3, EXPONENT, mpfr_exp10), ONE(expm1, 3, 3, EXPONENT, mpfr_expm1),
	TWO(fdim, 0.5, 0.5, UNIT, fdim_of), ONE(floor, EXACT, EXACT, ANGLE, floor_of),
	TWO(fmod, EXACT, EXACT, ANGLE, mpfr_fmod), TWO(hypot, 4, 4, UNIT, mpfr_hypot),
	WHOLE(ldexp, 0.5, 0.5, UNIT, ldexp_of), ONE(lgamma, FREE, FREE, POSITIVE, lgamma_of),
	ONE(log, 3, 3, POSITIVE, mpfr_log), ONE(log2, 3, 3, POSITIVE, mpfr_log2),
	ONE(log10, 3, 3, POSITIVE, mpfr_log10), ONE(log1p, 2, 2, POSITIVE, mpfr_log1p),
	ONE(logb, EXACT, EXACT, UNIT, logb_of), TWO(pow, 16, 16, POSITIVE, mpfr_pow),
	WHOLE(pown, 16, 16, POSITIVE, mpfr_pow_si), TWO(powr, 16, 16, POSITIVE, powr_of),
	TWO(remainder, EXACT, EXACT, ANGLE, mpfr_remainder),
	ONE(rint, EXACT, EXACT, ANGLE, rint_of), WHOLE(rootn, 16, 16, POSITIVE, rootn_of),
	ONE(round, EXACT, EXACT, ANGLE, round_of), ONE(rsqrt, 2, 2, POSITIVE, rsqrt_of),
	ONE(sin, 4, 4, ANGLE, mpfr_sin), ONE(sinh, 4, 4, EXPONENT, mpfr_sinh),
	ONE(sinpi, 4, 4, ANGLE, mpfr_sinpi), ONE(sqrt, 3, 0.5, POSITIVE, mpfr_sqrt),
	ONE(tan, 5, 5, ANGLE, mpfr_tan), ONE(tanh, 5, 5, UNIT, mpfr_tanh),
	ONE(tanpi, 6, 6, ANGLE, mpfr_tanpi), ONE(tgamma, 16, 16, UNIT, mpfr_gamma),
	ONE(trunc, EXACT, EXACT, ANGLE, trunc_of), TWO(divide, 2.5, 0.5, UNIT, divide),
	ONE(half_recip, 8192, FREE, UNIT, recip), ONE(half_exp, 8192, FREE, EXPONENT, mpfr_exp),
	ONE(half_log, 8192, FREE, POSITIVE, mpfr_log), ONE(half_sin, 8192, FREE, UNIT, mpfr_sin),
};

#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

static bool is_half(const struct function *f)
{
	return !strncmp(f->name, "half_", 5);
}

static const char *const type_names[] = { "float", "double" };
static const unsigned int widths[] = { 2, 3, 4, 8, 16 };

/* Both kernels of a function: on scalars, and on vectors of the width that is its turn. */
static void write_kernels(FILE *file, unsigned int i, const char *type)
{
	const struct function *f = &functions[i];
	unsigned int n = widths[i % 5];
	const char *second = f->whole ? "int" : type;
	const char *call = f->one ? "%s(x)" : "%s(x, y)";
	char text[64];

	snprintf(text, sizeof(text), call, f->name);
	if (!strcmp(f->name, "divide"))
		strcpy(text, "x / y");
	fprintf(file, "kernel void %s_%s(global const %s *a, global const %s *b, global %s *out)\n"
		"{ size_t i = get_global_id(0); %s x = a[i]; %s y = b[i]; out[i] = %s; }\n",
		f->name, type, type, second, type, type, second, text);
	fprintf(file, "kernel void %s_%s_wide(global const %s *a, global const %s *b, global %s *out)\n"
		"{ size_t i = get_global_id(0); %s%u x = vload%u(i, a); %s%u y = vload%u(i, b);\n"
		"vstore%u(%s, i, out); }\n",
		f->name, type, type, second, type, type, n, n, second, n, n, n, text);
}

static struct cc_program *make_program(const char *type)
{
	char source[] = "/tmp/salvo-ulp-XXXXXX.cl", output[] = "/tmp/salvo-ulp-XXXXXX.salvo";
	char arguments[256], messages[4096] = "";
	struct cc_program *program = NULL;
	int fd = mkstemps(source, 3), out = mkstemps(output, 6);
	FILE *file = fdopen(fd, "w");
	unsigned int i;

	if (fd < 0 || out < 0 || !file)
		return NULL;
	for (i = 0; i < FUNCTIONS; i++)
		if (strcmp(type, "double") || !is_half(&functions[i]))
			write_kernels(file, i, type);
	fclose(file);
	close(out);
	snprintf(arguments, sizeof(arguments), "-O1 -o %s %s", output, source);
	if (cc_compile(arguments, messages, sizeof(messages)))
		fputs(messages, stderr);
	else
		program = cc_program_open(output);
	unlink(source);
	unlink(output);
	return program;
}

static uint64_t random_state = 88172645463325252ull;

static uint64_t random_word(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static const double special[] = {
	0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 3, -3, 1.5, -2.5, 10, 0.1, INFINITY, -INFINITY, NAN,
	0x1p-149, -0x1p-149, 0x1p-126, 0x1.fffffep+127, -0x1.fffffep+127, 0x1p-1074, -0x1p-1074,
	0x1p-1022, 0x1.fffffffffffffp+1023, -0x1.fffffffffffffp+1023, 16777216, 16777217, 0x1p53,
	0x1p52 + 0.5, 0x1.fffffep-1, 0x1.000002p+0, 0x1.fffffffffffffp-1, 0x1.0000000000001p+0,
	88.72284, -103.97, 709.78, -745.13, 1e6, 4e9, 1e22, 0x1.921fb6p+0, 0x1.921fb54442d18p+0,
	0x1.6ac5b262ca1ffp+849, 0x1p-60, -0x1p-60, 171.6, -170.5, 26.5, -4.5, 100,
	-0x1.5a000000002p+7, -0x1.5a4p+7, -0x1.630000001p+7,
};

#define SPECIALS (sizeof(special) / sizeof(special[0]))

static double random_argument(bool is_double, enum range range, unsigned int i)
{
	uint64_t word = random_word();
	double unit = (int64_t)word * 0x1p-63, x;
	float f;

	switch (i % 4) {
	case 0:			/* any bits */
		if (!is_double) {
			uint32_t half = word;

			memcpy(&f, &half, 4);
			return f;
		}
		memcpy(&x, &word, 8);
		return x;
	case 1:			/* near one */
		return 1 + unit * ldexp(1, -(int)(word & 31));
	case 2:			/* every magnitude near one */
		return unit * ldexp(1, (int)(word >> 3 & 31) - 24);
	}
	switch (range) {
	case UNIT:
		return unit * (word & 1 ? 1 : 8);
	case EXPONENT:
		return unit * (is_double ? 750 : 105);
	case ANGLE:
		return unit * 1000;
	default:
		return fabs(unit) * 200;
	}
}

/* Distance of @got from @want in units of the last place of the type at @want. */
static double error_in_ulps(double got, const mpfr_t want, bool is_double)
{
	const int digits = is_double ? 53 : 24, emin = is_double ? -1021 : -125;
	const int emax = is_double ? 1024 : 128;
	mpfr_exp_t exponent;
	mpfr_t difference;
	double ulps;

	if (mpfr_nan_p(want) || isnan(got))
		return mpfr_nan_p(want) && isnan(got) ? 0 : INFINITY;
	if (mpfr_inf_p(want) || mpfr_zero_p(want)) {
		if (mpfr_cmp_d(want, got))
			return mpfr_zero_p(want) && isfinite(got) ?
				fabs(got) / ldexp(1, emin - digits) : INFINITY;
		return !signbit(got) == !mpfr_signbit(want) ? 0 : INFINITY;
	}
	exponent = mpfr_get_exp(want);
	/* Past the largest value infinity is the right result. */
	if (isinf(got) && exponent > emax && !signbit(got) == !mpfr_signbit(want))
		return 0;
	if (exponent > emax)
		exponent = emax;
	if (exponent < emin)
		exponent = emin;
	mpfr_init2(difference, PRECISION);
	if (isinf(got)) {
		mpfr_set_ui_2exp(difference, 1, emax, MPFR_RNDN);
		if (got < 0)
			mpfr_neg(difference, difference, MPFR_RNDN);
		mpfr_sub(difference, difference, want, MPFR_RNDN);
	} else {
		mpfr_d_sub(difference, got, want, MPFR_RNDN);
	}
	mpfr_mul_2si(difference, difference, digits - exponent, MPFR_RNDN);
	ulps = fabs(mpfr_get_d(difference, MPFR_RNDN));
	mpfr_clear(difference);
	return ulps;
}

struct column {
	bool is_double;
	unsigned int count;
	double *x, *y, *out, *wide;	/* as double, whatever the type */
	void *a, *b, *result;		/* as the kernels see them */
	int *whole;
};

static void fill(struct column *c, const struct function *f)
{
	unsigned int i;

	for (i = 0; i < c->count; i++) {
		bool listed = i < SPECIALS * SPECIALS;

		c->x[i] = listed ? special[i / SPECIALS] :
			  random_argument(c->is_double, f->range, i);
		c->y[i] = listed ? special[i % SPECIALS] :
			  random_argument(c->is_double, f->range, i / 4);
		if (f->two && f->range == POSITIVE && i % 8 == 7 && !listed)
			c->y[i] = log(c->is_double ? 1e300 : 1e37) *
				  (random_word() % 2000 / 1000. - 1) / log(c->x[i]);
		if (!c->is_double) {
			((float *)c->a)[i] = c->x[i];
			((float *)c->b)[i] = c->y[i];
			c->x[i] = ((float *)c->a)[i];
			c->y[i] = ((float *)c->b)[i];
		} else {
			((double *)c->a)[i] = c->x[i];
			((double *)c->b)[i] = c->y[i];
		}
		c->whole[i] = i < 4096 ? (int)(i % 41) - 20 : (int)random_word() >> (i % 31);
	}
}

static int run(struct cc_program *program, const struct function *f, struct column *c,
	       const char *suffix, unsigned int width, double *out)
{
	struct {
		void *a, *b, *out;
	} args = { c->a, f->whole ? (void *)c->whole : c->b, c->result };
	struct cc_range range = { .global = { c->count / width }, .local = { 64 }, .dims = 1 };
	char kernel[64];
	unsigned int i;

	snprintf(kernel, sizeof(kernel), "%s_%s%s", f->name, type_names[c->is_double], suffix);
	if (cc_run(program, kernel, &args, &range))
		return -1;
	for (i = 0; i < c->count / width * width; i++)
		out[i] = c->is_double ? ((double *)c->result)[i] : ((float *)c->result)[i];
	return 0;
}

static double worst_error(const struct function *f, const struct column *c, unsigned int *where)
{
	mpfr_t x, y, want;
	double worst = 0;
	unsigned int i, step = f->one ? SPECIALS : 1;

	mpfr_init2(x, 53);
	mpfr_init2(y, 53);
	mpfr_init2(want, PRECISION);
	*where = 0;
	for (i = 0; i < c->count; i += i < SPECIALS * SPECIALS ? step : 1) {
		double off;

		mpfr_set_d(x, c->x[i], MPFR_RNDN);
		mpfr_set_d(y, c->y[i], MPFR_RNDN);
		if (f->one)
			f->one(want, x, MPFR_RNDN);
		else if (f->two)
			f->two(want, x, y, MPFR_RNDN);
		else
			f->whole(want, x, c->whole[i], MPFR_RNDN);
		off = error_in_ulps(c->out[i], want, c->is_double);
		if (off > worst) {
			worst = off;
			*where = i;
		}
	}
	mpfr_clear(x);
	mpfr_clear(y);
	mpfr_clear(want);
	return worst;
}

static double measured[2][FUNCTIONS];

static void check_type(struct __test_metadata *_metadata, bool is_double)
{
	const char *count = getenv("SALVO_ULP_COUNT");
	struct cc_program *program = make_program(type_names[is_double]);
	struct column c = { .is_double = is_double };
	unsigned int i, j, where;

	ASSERT_NE(NULL, program);
	c.count = (SPECIALS * SPECIALS + (count ? strtoul(count, NULL, 0) : 1500)) / 48 * 48;
	c.x = calloc(c.count, sizeof(double));
	c.y = calloc(c.count, sizeof(double));
	c.out = calloc(c.count, sizeof(double));
	c.wide = calloc(c.count, sizeof(double));
	c.a = calloc(c.count, sizeof(double));
	c.b = calloc(c.count, sizeof(double));
	c.result = calloc(c.count, sizeof(double));
	c.whole = calloc(c.count, sizeof(int));
	for (i = 0; i < FUNCTIONS; i++) {
		const struct function *f = &functions[i];
		double bound = is_double ? f->ulp_double : f->ulp_float;

		if (is_double && is_half(f))
			continue;
		fill(&c, f);
		ASSERT_EQ(0, run(program, f, &c, "", 1, c.out)) TH_LOG("%s", f->name);
		measured[is_double][i] = worst_error(f, &c, &where);
		if (bound != FREE)
			EXPECT_GE(bound, measured[is_double][i]) {
				TH_LOG("%s %s(%a, %a or %d) is %a, off by %g", type_names[is_double],
				       f->name, c.x[where], c.y[where], c.whole[where],
				       c.out[where], measured[is_double][i]);
			}
		ASSERT_EQ(0, run(program, f, &c, "_wide", widths[i % 5], c.wide));
		for (j = 0; j < c.count / widths[i % 5] * widths[i % 5]; j++)
			if (memcmp(&c.out[j], &c.wide[j], 8) &&
			    !(isnan(c.out[j]) && isnan(c.wide[j])))
				break;
		EXPECT_EQ(c.count / widths[i % 5] * widths[i % 5], j) {
			TH_LOG("%s %s(%a, %a or %d) is %a, in a vector %a", type_names[is_double],
			       f->name, c.x[j], c.y[j], c.whole[j], c.out[j], c.wide[j]);
		}
	}
	free(c.x);
	free(c.y);
	free(c.out);
	free(c.wide);
	free(c.a);
	free(c.b);
	free(c.result);
	free(c.whole);
	mpfr_free_cache();
	cc_program_close(program);
}

static void write_bound(FILE *file, double bound, double error)
{
	if (bound == FREE)
		fprintf(file, " none |");
	else if (bound == EXACT)
		fprintf(file, " exact |");
	else
		fprintf(file, " %g |", bound);
	if (error > 99999)
		fprintf(file, " %.1e |", error);
	else
		fprintf(file, " %.2f |", error);
}

static int write_table(const char *path)
{
	FILE *in = fopen(path, "r"), *out;
	char line[1024], temporary[4096];
	bool inside = false;
	unsigned int i;

	if (!in)
		return -1;
	snprintf(temporary, sizeof(temporary), "%s.new", path);
	out = fopen(temporary, "w");
	if (!out) {
		fclose(in);
		return -1;
	}
	while (fgets(line, sizeof(line), in)) {
		if (!strcmp(line, "<!-- /ulp -->\n"))
			inside = false;
		if (!inside)
			fputs(line, out);
		if (strcmp(line, "<!-- ulp -->\n"))
			continue;
		inside = true;
		fprintf(out, "| function | float: bound | measured | double: bound | measured |\n"
			"|---|---|---|---|---|\n");
		for (i = 0; i < FUNCTIONS; i++) {
			const struct function *f = &functions[i];

			fprintf(out, "| %s |", strcmp(f->name, "divide") ? f->name : "x / y");
			write_bound(out, f->ulp_float, measured[0][i]);
			if (is_half(f))
				fprintf(out, " | |");
			else
				write_bound(out, f->ulp_double, measured[1][i]);
			fputc('\n', out);
		}
	}
	fclose(in);
	return fclose(out) || rename(temporary, path);
}

FIXTURE(ulp) {
};

FIXTURE_SETUP(ulp)
{
}

FIXTURE_TEARDOWN(ulp)
{
}

TEST_F_TIMEOUT(ulp, bounds_of_float_and_double, 3600)
{
	const char *table = getenv("SALVO_ULP_TABLE");

	check_type(_metadata, false);
	check_type(_metadata, true);
	if (table)
		ASSERT_EQ(0, write_table(table));
}

TEST_HARNESS_MAIN
