// SPDX-License-Identifier: MIT
/*
 * constructs.c - the same source as an OpenCL program and as C, with equal results
 *
 * tests/kernels/cc_constructs.cl is included here with the words of OpenCL C
 * defined away, and each of its functions is run once for each work-item.
 */
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "cc_program.h"

typedef unsigned char uchar;

static size_t current_id;

#define kernel		static
#define global
#define constant	static const
#define get_global_id(dim)	current_id
#include "../kernels/cc_constructs.cl"
#undef kernel
#undef global
#undef constant

#define COUNT 1000

static const struct {
	const char *name;
	void (*host)(const int *in, int *out, int n);
} kernels[] = {
#define KERNEL(name) { #name, name }
	KERNEL(collatz), KERNEL(divide), KERNEL(wide_arithmetic), KERNEL(walk_tree),
	KERNEL(histogram), KERNEL(structures), KERNEL(switches), KERNEL(narrow), KERNEL(floats),
	KERNEL(large_function), KERNEL(neighbours), KERNEL(members), KERNEL(bytes),
	KERNEL(records), KERNEL(tables),
};

/* Compiles the kernels with @options and compares every one; the number that differ. */
static int differing(const char *options)
{
	static int in[COUNT], want[COUNT], got[COUNT];
	struct {
		const int *in;
		int *out;
		int n;
	} args = { in, got, COUNT };
	struct cc_range range = { .global = { COUNT }, .local = { 64 }, .dims = 1 };
	struct cc_program *program = cc_build(options, "tests/kernels/cc_constructs.cl");
	unsigned int k, i, wrong = 0;
	uint32_t state = 7;

	if (!program)
		return -1;

	for (i = 0; i < COUNT; i++) {
		state = state * 1664525 + 1013904223;
		in[i] = (int)state >> (i % 4 * 8);
	}
	for (k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++) {
		memset(want, 0, sizeof(want));
		memset(got, 0, sizeof(got));
		for (current_id = 0; current_id < COUNT; current_id++)
			kernels[k].host(in, want, COUNT);
		if (cc_run(program, kernels[k].name, &args, &range))
			wrong++;
		for (i = 0; i < COUNT; i++)
			if (want[i] != got[i])
				break;
		if (i < COUNT) {
			fprintf(stderr, "# %s, %s: out[%u] is %d instead of %d\n", kernels[k].name,
				options, i, got[i], want[i]);
			wrong++;
		}
	}
	cc_program_close(program);
	return wrong;
}

TEST(optimised)
{
	EXPECT_EQ(0, differing("-O3"));
}

TEST(less_optimised)
{
	EXPECT_EQ(0, differing("-O1"));
}

TEST(not_optimised)
{
	EXPECT_EQ(0, differing("-O0"));
}

TEST(oldest_processor)
{
	EXPECT_EQ(0, differing("--march x86-64-v2"));
}

TEST(newest_processor)
{
	if (!cc_runs_v4())
		SKIP(return, "the processor has no AVX-512");
	EXPECT_EQ(0, differing("--march x86-64-v4"));
}

TEST(with_debug_information)
{
	EXPECT_EQ(0, differing("-g"));
}

TEST(as_user_level_threads)
{
	EXPECT_EQ(0, differing("--fibers"));
}

TEST_HARNESS_MAIN
