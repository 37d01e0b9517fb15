// SPDX-License-Identifier: MIT
/*
 * many_calls.c - the kernels of many_calls.cl, which call a function so often that these stay
 * calls, of all lanes (M4), give the bits that they give without optimisation
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kselftest_harness.h"
#include "cc_program.h"

/* Not a multiple of the lanes */
#define ITEMS 203

static const char path[] = "tests/kernels/many_calls.cl";

/* Kernels of a function */
#define FORMS 5
static const char *const forms[FORMS] = { "straight", "some", "same", "loops", "barrier" };

struct subject {
	const char *name;
	int elements, bytes;
};

static const struct subject subjects[] = {
	{ "tgamma", 1, 4 }, { "lgamma", 1, 4 }, { "pow", 1, 4 },
	{ "powd", 1, 8 }, { "sin", 1, 4 }, { "vector", 4, 4 },
	{ "own", 1, 4 },
};

union arguments {
	struct { const void *in; void *out; float u; int n; } f;
	struct { const void *in; void *out; double u; int n; } d;
	struct { const void *in; void *out; float u[4] __attribute__((aligned(16))); int n; } f4;
};

static void fill(union arguments *args, const struct subject *s, const void *in, void *out)
{
	int i;

	memset(args, 0, sizeof(*args));
	args->f.in = in;
	args->f.out = out;
	if (s->bytes == 8) {
		args->d.u = 0.37;
		args->d.n = 4;
	} else if (s->elements == 1) {
		args->f.u = 0.37;
		args->f.n = 4;
	} else {
		for (i = 0; i < 4; i++)
			args->f4.u[i] = 0.37 + i;
		args->f4.n = 4;
	}
}

/* NaNs have any bits. */
static bool is_same(const void *p, const void *q, int bytes)
{
	if (bytes == 8 && isnan(*(const double *)p))
		return isnan(*(const double *)q);
	if (bytes == 4 && isnan(*(const float *)p))
		return isnan(*(const float *)q);
	return !memcmp(p, q, bytes);
}

static bool are_same(const char *p, const char *q, int bytes)
{
	int i;

	for (i = 0; i < ITEMS * 4; i++, p += bytes, q += bytes)
		if (!is_same(p, q, bytes))
			return false;
	return true;
}

/* Kernels whose bits are not the same with @options as without optimisation; -1 if one fails. */
static int differing(const char *options)
{
	static const struct cc_range range = { { ITEMS, 1, 1 }, { 64, 1, 1 }, 1, 0 };
	static double in[ITEMS * 4], out[2][ITEMS * 4];
	char plain[128];
	struct cc_program *programs[2];
	union arguments args;
	const struct subject *s;
	int wrong = 0, i, m;

	snprintf(plain, sizeof(plain), "%s -O0", options);
	programs[0] = cc_build(plain, path);
	programs[1] = cc_build(options, path);
	if (!programs[0] || !programs[1])
		return -1;
	for (s = subjects; s < subjects + sizeof(subjects) / sizeof(subjects[0]); s++) {
		for (i = 0; i < ITEMS * s->elements; i++) {
			const double value = (i * 37 % 211) * 0.0765 - 0.5;

			if (s->bytes == 8)
				in[i] = value;
			else
				((float *)in)[i] = value;
		}
		for (i = 0; i < FORMS; i++) {
			char name[64];

			snprintf(name, sizeof(name), "%s_%s", s->name, forms[i]);
			memset(out, 0xee, sizeof(out));
			for (m = 0; m < 2; m++) {
				fill(&args, s, in, out[m]);
				if (cc_run(programs[m], name, &args, &range))
					return -1;
			}
			if (!are_same((char *)out[0], (char *)out[1], s->bytes)) {
				fprintf(stderr, "# %s with %s\n", name, options);
				wrong++;
			}
		}
	}
	for (m = 0; m < 2; m++)
		cc_program_close(programs[m]);
	return wrong;
}

TEST(M4_functions_of_all_lanes)
{
	EXPECT_EQ(0, differing(""));
}

TEST(M4_functions_of_all_lanes_without_AVX)
{
	EXPECT_EQ(0, differing("--march x86-64-v2"));
}

TEST(M4_functions_of_all_lanes_with_AVX_512)
{
	if (!cc_runs_v4())
		SKIP(return, "this processor has no AVX-512");
	EXPECT_EQ(0, differing("--march x86-64-v4"));
}

TEST_HARNESS_MAIN
