// SPDX-License-Identifier: MIT
/*
 * branchy_loop.c - a loop of so many blocks that its comparisons are not simplified (M4) gives
 * what the host computes
 */
#include <string.h>

#include "kselftest_harness.h"
#include "cc_program.h"

/* Not a multiple of the lanes */
#define ITEMS 203
#define STEPS 160
#define SIZE 1024

static const char path[] = "tests/kernels/branchy_loop.cl";

static int expected(const int *from, int x, int n, int limit)
{
	unsigned int s = 0;
	int i, j;

	for (i = 0; i < n; i++)
		for (j = 0; j < STEPS; j++) {
			if (from[(x + i * (j + 3)) & (SIZE - 1)] == j)
				return s * 31 + i;
			if (i + j > limit)
				s += from[(i + j) & (SIZE - 1)];
		}
	return s * 31 + i;
}

/* Work-items whose result with @options is not that of the host; -1 if the kernel fails. */
static int differing(const char *options)
{
	static const struct cc_range range = { { ITEMS, 1, 1 }, { 64, 1, 1 }, 1, 0 };
	struct cc_program *program = cc_build(options, path);
	int from[SIZE], to[ITEMS], i, limit, wrong = 0;

	if (!program)
		return -1;
	for (i = 0; i < SIZE; i++)
		from[i] = i * 7919 % 5003;
	for (limit = -1; limit < 200; limit += 67) {
		struct { const void *from; void *to; int n, limit; } args = {
			from, to, 20, limit
		};

		memset(to, 0xee, sizeof(to));
		if (cc_run(program, "leave", &args, &range))
			wrong = ITEMS;
		for (i = 0; i < ITEMS; i++)
			wrong += to[i] != expected(from, i, args.n, limit);
	}
	cc_program_close(program);
	return wrong;
}

TEST(M4_a_loop_of_many_blocks)
{
	EXPECT_EQ(0, differing(""));
}

TEST(M4_a_loop_of_many_blocks_without_AVX)
{
	EXPECT_EQ(0, differing("--march x86-64-v2"));
}

TEST(M4_a_loop_of_many_blocks_with_AVX_512)
{
	if (!cc_runs_v4())
		SKIP(return, "this processor has no AVX-512");
	EXPECT_EQ(0, differing("--march x86-64-v4"));
}

TEST_HARNESS_MAIN
