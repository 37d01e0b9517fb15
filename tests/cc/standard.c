// SPDX-License-Identifier: MIT
/*
 * standard.c - what OpenCL C 3.0 has beyond 1.2: atomics of C11, fences, linear ids
 */
#include "kselftest_harness.h"
#include "cc_program.h"

#define ITEMS 100

FIXTURE(standard) {
	struct cc_program *program;
};

FIXTURE_SETUP(standard)
{
	self->program = cc_program_open(cc_build_path("kernels/cc_standard.salvo"));
	ASSERT_NE(NULL, self->program);
}

FIXTURE_TEARDOWN(standard)
{
	cc_program_close(self->program);
}

TEST_F(standard, counters_in_every_order)
{
	const struct cc_range range = { { ITEMS, 1, 1 }, { 20, 1, 1 }, 1, 0 };
	int32_t i = 0;
	uint32_t u[3] = { 0, 0, ~0u };
	int64_t l[2] = { -1000, 1000 };
	uint64_t m = 0;
	const void *args[] = { &i, u, l, &m };
	uint32_t odd = 0;
	int n;

	for (n = 0; n < ITEMS; n++)
		odd ^= 1u << (n & 31);
	ASSERT_EQ(0, cc_run(self->program, "count", args, &range));
	EXPECT_EQ(3 * (ITEMS * (ITEMS - 1) / 2 - ITEMS), i);
	EXPECT_EQ(~0u, u[0]);
	EXPECT_EQ(odd, u[1]);
	EXPECT_EQ(0u, u[2]);
	EXPECT_EQ(49, l[0]);
	EXPECT_EQ(-50, l[1]);
	EXPECT_EQ(99ull << 40, m);
}

TEST_F(standard, compare_and_exchange)
{
	const struct cc_range range = { { ITEMS, 1, 1 }, { 50, 1, 1 }, 1, 0 };
	float total = 1, in[ITEMS];
	const void *args[] = { &total, in };
	int n;

	for (n = 0; n < ITEMS; n++)
		in[n] = n;
	ASSERT_EQ(0, cc_run(self->program, "sum", args, &range));
	EXPECT_EQ(1 + ITEMS * (ITEMS - 1) / 2, total);
}

TEST_F(standard, a_flag_is_a_lock)
{
	const struct cc_range range = { { ITEMS, 1, 1 }, { 50, 1, 1 }, 1, 0 };
	int32_t flag = 0, plain = 0;
	const void *args[] = { &flag, &plain };

	ASSERT_EQ(0, cc_run(self->program, "lock", args, &range));
	EXPECT_EQ(ITEMS, plain);
	EXPECT_EQ(0, flag);
}

TEST_F(standard, barriers_and_linear_ids)
{
	const struct cc_range range = { { 32, 1, 1 }, { 16, 1, 1 }, 1, 128 };
	int32_t out[32];
	/* Local arguments are offsets. */
	const struct {
		void *out;
		uint64_t shared, counter;
	} args = { out, 0, 64 };
	int n;

	ASSERT_EQ(0, cc_run(self->program, "rotate_ids", &args, &range));
	for (n = 0; n < 32; n++)
		EXPECT_EQ((n / 16 * 16 + (n + 1) % 16) * 1000 + 21, out[n]);
}

TEST_F(standard, exchange_and_store)
{
	const struct cc_range range = { { 1, 1, 1 }, { 1, 1, 1 }, 1, 0 };
	int32_t word[3] = { 1, 2, 3 }, out[3];
	double real = 4.25;
	const void *args[] = { word, &real, out };

	ASSERT_EQ(0, cc_run(self->program, "swap", args, &range));
	EXPECT_EQ(1, out[0]);
	EXPECT_EQ(4, out[1]);
	EXPECT_EQ(3, out[2]);
	EXPECT_EQ(7, word[0]);
	EXPECT_EQ(8, word[1]);
	EXPECT_EQ(9, word[2]);
	EXPECT_EQ(2.5, real);
}

TEST_F(standard, arguments_of_two_types)
{
	const struct cc_range range = { { 1, 1, 1 }, { 1, 1, 1 }, 1, 0 };
	int32_t out[5];
	const void *args[] = { out };

	ASSERT_EQ(0, cc_run(self->program, "mixed", args, &range));
	EXPECT_EQ(7, out[0]);
	EXPECT_EQ(-1, out[1]);	/* max(3u, -1u) */
	EXPECT_EQ(3, out[2]);
	EXPECT_EQ(2, out[3]);
	EXPECT_EQ(200, out[4]);
}

TEST_HARNESS_MAIN
