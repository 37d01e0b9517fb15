// SPDX-License-Identifier: MIT
/*
 * language.c - half, directed rounding, shuffles, asynchronous copies, 64-bit atomics
 *
 * Rounding is checked against its definition: the result is the nearest value on the
 * right side, found by looking at its neighbours in exact arithmetic (long double
 * holds every value that occurs).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "cc_program.h"

#define COUNT 4096

static uint64_t random_state = 0x9e3779b97f4a7c15ull;

static uint64_t random_word(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static long double half_value(uint16_t h)
{
	int exponent = h >> 10 & 31;
	long double size = exponent == 31 ? (h & 1023 ? NAN : INFINITY) :
			   exponent ? ldexpl(1024 + (h & 1023), exponent - 25) :
			   ldexpl(h & 1023, -24);

	return h & 0x8000 ? -size : size;
}

/* The next value up or down of a sign-and-magnitude number whose bits are @bits. */
static uint64_t neighbour(uint64_t bits, uint64_t sign, int up)
{
	if (!(bits & ~sign))
		return up ? 1 : sign | 1;
	return ((bits & sign) != 0) == up ? bits - 1 : bits + 1;
}

struct format {
	long double (*value)(uint64_t bits);
	uint64_t sign;
	int emax;
};

static long double value_of_half(uint64_t bits) { return half_value(bits); }
static long double value_of_float(uint64_t bits)
{
	uint32_t word = bits;
	float f;

	memcpy(&f, &word, 4);
	return f;
}
static long double value_of_double(uint64_t bits)
{
	double d;

	memcpy(&d, &bits, 8);
	return d;
}

static const struct format half_format = { value_of_half, 0x8000, 16 };
static const struct format float_format = { value_of_float, 0x80000000, 128 };
static const struct format double_format = { value_of_double, 1ull << 63, 1024 };

/* Is @bits what @exact rounds to? An infinity stands for the power of two past the last value. */
static bool rounds_to(const struct format *f, uint64_t bits, long double exact, const char *mode)
{
	long double got = f->value(bits);
	long double below = f->value(neighbour(bits, f->sign, 0));
	long double above = f->value(neighbour(bits, f->sign, 1));

	if (isnan(exact) || isnan(got))
		return isnan(exact) && isnan(got);
	if (got == exact)
		return true;
	if (!strcmp(mode, "rtz"))
		mode = exact > 0 ? "rtn" : "rtp";
	if (!strcmp(mode, "rtn"))
		return got < exact && (got == -INFINITY || above > exact);
	if (!strcmp(mode, "rtp"))
		return got > exact && (got == INFINITY || below < exact);
	if (isinf(got))
		return fabsl(exact) >= (fabsl(got < 0 ? above : below) + ldexpl(1, f->emax)) / 2;
	if (isinf(above))
		above = ldexpl(1, f->emax);
	if (isinf(below))
		below = -ldexpl(1, f->emax);
	long double mine = fabsl(got - exact);
	long double other = exact > got ? above - exact : exact - below;
	return mine < other || (mine == other && !(bits & 1));
}

FIXTURE(language) {
	struct cc_program *program;
	void *in, *out;
};

FIXTURE_SETUP(language)
{
	self->program = cc_program_open(cc_build_path("kernels/cc_language.salvo"));
	ASSERT_NE(NULL, self->program);
	self->in = calloc(COUNT, 16);
	self->out = calloc(COUNT, 16);
}

FIXTURE_TEARDOWN(language)
{
	cc_program_close(self->program);
	free(self->in);
	free(self->out);
}

static int run_pair(struct cc_program *program, const char *kernel, void *in, void *out,
		    unsigned int count)
{
	struct { void *in, *out; } args = { in, out };
	struct cc_range range = { .global = { count }, .local = { 64 }, .dims = 1 };

	return cc_run(program, kernel, &args, &range);
}

static const char *const modes[] = { "rte", "rtz", "rtp", "rtn" };

TEST_F(language, half_loads_are_exact)
{
	uint16_t *in = self->in;
	float *out = self->out;
	unsigned int base, i;

	for (base = 0; base < 65536; base += COUNT) {
		for (i = 0; i < COUNT; i++)
			in[i] = base + i;
		ASSERT_EQ(0, run_pair(self->program, "load_half", in, out, COUNT));
		for (i = 0; i < COUNT; i++) {
			long double want = half_value(in[i]);

			if (isnan(want) ? !isnan(out[i]) :
			    out[i] != want || !signbit(out[i]) != !(in[i] >> 15))
				break;
		}
		ASSERT_EQ(COUNT, i) TH_LOG("half %#x is %a", in[i], out[i]);
	}
}

/* A half, its neighbour, halfway between them, and a hair beside that. */
static double near_half(unsigned int i)
{
	static const double special[] = {
		0, -0.0, INFINITY, -INFINITY, NAN, 65504, 65519.99, 65520, -65520, 1e300, -1e300,
		1e-300, -1e-300, 0x1p-25, 0x1.000001p-25, -0x1p-26, 6.1e-5,
	};
	uint16_t h = random_word();
	double a, b;

	if (i < sizeof(special) / sizeof(special[0]))
		return special[i];
	a = half_value(h & 0x7fff);
	b = half_value((h & 0x7fff) + 1);
	if (!isfinite(a) || !isfinite(b))
		return 3;
	a = i % 4 == 0 ? a : i % 4 == 1 ? (a + b) / 2 : i % 4 == 2 ? (a + b) / 2 * (1 + 0x1p-22) :
	    (a + b) / 2 * (1 - 0x1p-22);
	return h & 0x8000 ? -a : a;
}

TEST_F(language, half_stores_round_as_asked)
{
	float *floats = self->in;
	double *doubles = self->in;
	uint16_t *out = self->out;
	unsigned int type, mode, i;
	char name[64];

	for (type = 0; type < 2; type++) {
		for (i = 0; i < COUNT; i++) {
			if (type)
				doubles[i] = near_half(i);
			else
				floats[i] = near_half(i);
		}
		for (mode = 0; mode < 5; mode++) {
			const char *how = mode == 4 ? "rte" : modes[mode];

			snprintf(name, sizeof(name), "vstore_half%s%s_%s", mode == 4 ? "" : "_",
				 mode == 4 ? "" : how, type ? "double" : "float");
			ASSERT_EQ(0, run_pair(self->program, name, self->in, out, COUNT));
			for (i = 0; i < COUNT; i++)
				if (!rounds_to(&half_format, out[i],
					       type ? doubles[i] : floats[i], how))
					break;
			EXPECT_EQ(COUNT, i) {
				TH_LOG("%s of %a is %#x", name, type ? doubles[i] : floats[i],
				       out[i]);
			}
		}
	}
}

TEST_F(language, half_vectors_lie_where_they_should)
{
	uint16_t *in = self->in, *out = self->out, *padded = out + 64;
	struct { void *in, *out, *padded; } args = { in, out, padded };
	struct cc_range range = { .global = { 1 }, .local = { 1 }, .dims = 1 };
	unsigned int i;

	for (i = 0; i < 64; i++)
		in[i] = 0x3c00 + i;
	memset(out, 0, 256);
	ASSERT_EQ(0, cc_run(self->program, "half_vectors", &args, &range));
	for (i = 0; i < 48; i++)
		EXPECT_EQ(i == 2 || i == 6 || i == 7 || (i >= 12 && i < 16) || (i >= 24 && i < 32) ?
			  0 : in[i], out[i]) TH_LOG("packed %u", i);
	for (i = 0; i < 24; i++)
		EXPECT_EQ((i >= 4 && i < 7) || (i >= 8 && i < 16) ? in[i] : 0, padded[i])
			TH_LOG("padded %u", i);
}

static const struct {
	const char *name;
	unsigned int from, to;		/* bytes */
	char kind;			/* of the source */
} conversions[] = {
	{ "float_int", 4, 4, 'i' }, { "float_uint", 4, 4, 'u' }, { "float_long", 8, 4, 'i' },
	{ "float_ulong", 8, 4, 'u' }, { "float_double", 8, 4, 'f' }, { "double_long", 8, 8, 'i' },
	{ "double_ulong", 8, 8, 'u' },
};

static long double number(const void *in, unsigned int i, unsigned int bytes, char kind)
{
	if (kind == 'f')
		return ((const double *)in)[i];
	if (kind == 'i')
		return bytes == 4 ? ((const int32_t *)in)[i] : ((const int64_t *)in)[i];
	return bytes == 4 ? ((const uint32_t *)in)[i] : ((const uint64_t *)in)[i];
}

TEST_F(language, conversions_round_as_asked)
{
	uint32_t *out4 = self->out;
	uint64_t *out8 = self->out;
	unsigned int c, mode, i;
	char name[64];

	for (c = 0; c < sizeof(conversions) / sizeof(conversions[0]); c++) {
		for (i = 0; i < COUNT; i++) {
			uint64_t x = random_word() >> i % 64;

			x = i < 8 ? (i & 1 ? ~0ull : 1ull << 63) >> i / 2 : i % 5 ? x : -x;
			if (conversions[c].kind == 'f') {
				/* Close to floats, ordinary and subnormal, and any bits. */
				float f = value_of_float(random_word());
				double d = f * (1 + ldexp((int)(x & 7) - 3, -30));

				if (i % 3 == 0)
					memcpy(&d, &x, 8);
				((double *)self->in)[i] = d;
			} else if (conversions[c].from == 4) {
				((uint32_t *)self->in)[i] = x >> (i % 2 ? 0 : 32);
			} else {
				((uint64_t *)self->in)[i] = x;
			}
		}
		for (mode = 0; mode < 4; mode++) {
			snprintf(name, sizeof(name), "%s_%s", conversions[c].name, modes[mode]);
			ASSERT_EQ(0, run_pair(self->program, name, self->in, self->out, COUNT));
			for (i = 0; i < COUNT; i++) {
				long double x = number(self->in, i, conversions[c].from,
						       conversions[c].kind);

				if (!rounds_to(conversions[c].to == 4 ? &float_format :
					       &double_format, conversions[c].to == 4 ? out4[i] :
					       out8[i], x, modes[mode]))
					break;
			}
			EXPECT_EQ(COUNT, i) {
				TH_LOG("%s of %La is wrong", name,
				       number(self->in, i, conversions[c].from,
					      conversions[c].kind));
			}
		}
	}
}

TEST_F(language, shuffles_choose_elements)
{
	static const unsigned int far[16] = { 7, 0, 5, 2, 12, 9, 3, 1, 6, 4, 15, 8, 2, 2, 0, 31 };
	int32_t *in = self->in, *out = self->out;
	unsigned int i;

	for (i = 0; i < 16; i++)
		in[i] = 100 + i;
	ASSERT_EQ(0, run_pair(self->program, "shuffles", in, out, 1));
	for (i = 0; i < 16; i++) {
		EXPECT_EQ(in[far[i] % 8], out[i]);
		EXPECT_EQ(in[far[i] % 4], out[16 + i]);
	}
	EXPECT_EQ(in[14], out[32]);
	EXPECT_EQ(in[1], out[33]);
}

TEST_F(language, copies_of_a_group)
{
	const unsigned int count = 192, group = 32;
	float *in = self->in, *out = self->out;
	int16_t *strided = calloc(2 * count, sizeof(*strided));
	struct { void *in, *out, *strided; uint64_t block, small; } args = {
		in, out, strided, 0, group * 16,
	};
	struct cc_range range = {
		.global = { count }, .local = { group }, .dims = 1, .local_bytes = group * 18,
	};
	unsigned int i, c;

	for (i = 0; i < 4 * count; i++)
		in[i] = i;
	for (i = 0; i < 2 * count; i++)
		strided[i] = i;
	ASSERT_EQ(0, cc_run(self->program, "copies", &args, &range));
	for (i = 0; i < count; i++) {
		unsigned int other = i / group * group + group - 1 - i % group;

		for (c = 0; c < 4; c++)
			ASSERT_EQ(in[4 * other + c] * (2 * i), out[4 * i + c]);
		ASSERT_EQ(2 * i + 1, strided[2 * i]);
		ASSERT_EQ(2 * i + 1, strided[2 * i + 1]);
	}
	free(strided);
}

TEST_F(language, atomics_of_64_bits)
{
	uint64_t u[4] = { 0, 0, 1ull << 40, 7 };
	int64_t s[2] = { 0, 0 };

	ASSERT_EQ(0, run_pair(self->program, "atomics_64", u, s, 100));
	EXPECT_EQ((100ull << 40) + 4950, u[0]);
	EXPECT_EQ(~0ull ^ ((1ull << 36) - 1), u[1]);
	EXPECT_EQ((1ull << 40) + 100, u[2]);
	EXPECT_EQ(1ull << 50, u[3]);
	EXPECT_EQ(99ll << 33, s[0]);
	EXPECT_EQ(-(99ll << 33), s[1]);
}

TEST_HARNESS_MAIN
