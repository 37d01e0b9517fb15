// SPDX-License-Identifier: MIT
/*
 * append.c - counters that work-items take places from: one operation for a work-group (M4)
 */
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "cc_program.h"

#define MOST 700

static int in[MOST], out[5 * MOST], wanted[5 * MOST], count[2];

struct arguments {
	const int *in;
	int *out, *count;
	int n, bound;
};

static int compare(const void *p, const void *q)
{
	const int a = *(const int *)p, b = *(const int *)q;

	return (a > b) - (a < b);
}

/* Runs @kernel and sorts its list, of @length elements; those after it must be untouched. */
static int run(const struct cc_program *program, const char *kernel,
	       const struct cc_range *range, int n, int bound, int length)
{
	const struct arguments args = { in, out, count, n, bound };

	memset(out, 0xee, sizeof(out));
	memset(count, 0, sizeof(count));
	if (cc_run(program, kernel, &args, range))
		return -1;
	if (count[0] || count[1] != length)
		return -1;
	qsort(out, length, sizeof(out[0]), compare);
	qsort(wanted, length, sizeof(wanted[0]), compare);
	return memcmp(out, wanted, 4 * n * sizeof(out[0])) ? -1 : 0;
}

static int run_above(const struct cc_program *program, const struct cc_range *range, int n,
		     int bound)
{
	int i, length = 0;

	memset(wanted, 0xee, sizeof(wanted));
	for (i = 0; i < n; i++)
		if (in[i] > bound)
			wanted[length++] = in[i];
	return run(program, "above", range, n, bound, length);
}

static int run_below(const struct cc_program *program, const struct cc_range *range, int n,
		     int bound)
{
	const bool even = range->global[0] % range->local[0] == 0;
	const struct arguments args = { in, out, count, n, bound };
	int i, length = 0;

	/* Else the kernel counts wrong in the last work-group. */
	if (!even)
		return 0;
	for (i = 0; i < n; i++)
		if (in[i] < bound)
			wanted[length++] = in[i];
	memset(out, 0xee, sizeof(out));
	memset(count, 0, sizeof(count));
	if (cc_run(program, "below", &args, range) || count[1] != -length)
		return -1;
	qsort(out + n - length, length, sizeof(out[0]), compare);
	qsort(wanted, length, sizeof(wanted[0]), compare);
	return memcmp(out + n - length, wanted, length * sizeof(out[0])) ||
	       (length < n && out[n - length - 1] != (int)0xeeeeeeee) ? -1 : 0;
}

static int run_several(const struct cc_program *program, const struct cc_range *range, int n,
		       int bound)
{
	int i, j, length = 0, *sums = wanted + 4 * n;

	memset(wanted, 0xee, sizeof(wanted));
	for (i = 0; i < n; i++) {
		const int k = in[i] & 3;

		sums[i] = in[i] * 3;
		if (in[i] < bound) {
			sums[i] += in[i] & 1 ? in[(i + 7) % n] : -5;
			continue;
		}
		for (j = 0; j < k; j++) {
			sums[i] += in[(i + j) % n];
			wanted[length++] = i * 4 + j;
		}
		sums[i] += k;
	}
	if (run(program, "several", range, n, bound, length))
		return -1;
	return memcmp(out + 4 * n, sums, n * sizeof(out[0])) ? -1 : 0;
}

static int run_places(const struct cc_program *program, const struct cc_range *range, int n)
{
	const int items = range->global[0] * range->global[1];
	const struct arguments args = { in, out, count, items, 9 };
	char taken[5 * MOST] = { 0 };
	int i;

	(void)n;
	memset(count, 0, sizeof(count));
	if (cc_run(program, "places", &args, range) || count[1] != items)
		return -1;
	for (i = 0; i < items; i++) {
		const int item = out[i] - 9 - in[0];

		if (item < 0 || item >= items || taken[item]++)
			return -1;
	}
	return 0;
}

/* Each work-item gets the sum of what some others added: in some order they are all such sums. */
static int run_sums(const struct cc_program *program, const struct cc_range *range, int n,
		    int bound)
{
	const struct arguments args = { in, out, bound < 99 ? count : NULL, n, bound };
	int i, taken = 0, sum = 1000, wrong = 0;

	memset(out, 0xee, sizeof(out));
	count[1] = sum;
	if (cc_run(program, "sums", &args, range))
		return -1;
	for (i = 0; i < n; i++)
		if (in[i] > bound) {
			sum += in[i] / 40 * (in[i] % 3 - 1);
			wrong += abs(out[i] - 1000) > 2 * MOST;
			taken++;
		} else {
			wrong += out[i] != (int)0xeeeeeeee;
		}
	return wrong || (taken && count[1] != sum) ? -1 : 0;
}

/* What is added is 0: each work-item reads the counter. */
static int run_zeros(const struct cc_program *program, const struct cc_range *range)
{
	int zeros[MOST] = { 0 }, i, n = MOST;
	const struct arguments args = { zeros, out, count, n, -1 };

	for (i = 0; i < n; i++)
		out[i] = -1;
	count[1] = 77;
	if (cc_run(program, "sums", &args, range) || count[1] != 77)
		return -1;
	for (i = 0; i < n; i++)
		if (out[i] != 77)
			return -1;
	return 0;
}

static const struct cc_range ranges[] = {
	{ { MOST, 1, 1 }, { 64, 1, 1 }, 1, 0 },
	{ { MOST, 1, 1 }, { 1, 1, 1 }, 1, 0 },
	{ { 250, 3, 1 }, { 16, 3, 1 }, 2, 0 },
	{ { 250, 3, 1 }, { 37, 2, 1 }, 2, 0 },
	{ { 1000, 1, 1 }, { 1000, 1, 1 }, 1, 0 },
	{ { 256, 3, 1 }, { 16, 1, 1 }, 2, 0 },
	{ { 1280, 1, 1 }, { 320, 1, 1 }, 1, 0 },
};

static const char *const options[] = {
	"-O0", "--fibers", "-O1 --march x86-64-v2", "-O3", "--march x86-64-v4",
};

TEST(M4_places_in_a_list)
{
	const unsigned int count = sizeof(options) / sizeof(options[0]) - !cc_runs_v4();
	unsigned int i, r;
	int n, bound;

	for (i = 0; i < MOST; i++)
		in[i] = i * 7919 % 100;
	for (i = 0; i < count; i++) {
		struct cc_program *program = cc_build(options[i], "tests/kernels/append.cl");
		int wrong = 0;

		ASSERT_NE(NULL, program);
		for (r = 0; r < sizeof(ranges) / sizeof(ranges[0]); r++)
			for (n = 1; n <= MOST; n += 233) {
				for (bound = -1; bound < 200; bound += 50) {
					wrong -= run_above(program, &ranges[r], n, bound);
					wrong -= run_below(program, &ranges[r], n, bound);
					wrong -= run_several(program, &ranges[r], n, bound);
					wrong -= run_sums(program, &ranges[r], n, bound);
				}
				wrong -= run_places(program, &ranges[r], n);
			}
		for (r = 0; r < sizeof(ranges) / sizeof(ranges[0]); r++)
			wrong -= run_zeros(program, &ranges[r]);
		EXPECT_EQ(0, wrong) {
			TH_LOG("with %s", options[i]);
		}
		cc_program_close(program);
	}
}

TEST(M4_one_operation_for_a_work_group)
{
	const uint32_t flags = SALVO_KERNEL_SPLIT | SALVO_KERNEL_CONTENDS;
	struct cc_program *program = cc_build("-O2", "tests/kernels/append.cl");

	ASSERT_NE(NULL, program);
	EXPECT_EQ(flags, cc_note(program, "above")->flags);
	EXPECT_EQ(flags, cc_note(program, "several")->flags);
	EXPECT_EQ(flags, cc_note(program, "places")->flags);
	EXPECT_EQ(flags, cc_note(program, "sums")->flags);
	EXPECT_EQ(0, cc_note(program, "waits")->flags);
	cc_program_close(program);
}

/* A strip has no more work-items than a work-group may have; cc_run() asks for up to 5 groups. */
TEST(M4_one_operation_for_a_strip)
{
	static const struct {
		uint32_t local, groups;
		unsigned int calls;
	} strips[] = {
		{ 16, 1 + 2 + 4, 3 }, { 400, 1 + 2 + 2, 3 }, { 512, 1 + 2 + 2, 3 },
		{ 513, 3, 3 }, { 1024, 3, 3 },
	};
	struct cc_program *program = cc_build("-O2", "tests/kernels/append.cl");
	unsigned int i;

	ASSERT_NE(NULL, program);
	for (i = 0; i < sizeof(strips) / sizeof(strips[0]); i++) {
		const uint32_t local = strips[i].local;
		const struct cc_range range = {
			{ strips[i].groups * local, 1, 1 }, { local, 1, 1 }, 1, 0,
		};

		EXPECT_EQ(0, run_above(program, &range, MOST, 50));
		EXPECT_EQ(strips[i].calls, cc_calls());
	}
	cc_program_close(program);
}

TEST_HARNESS_MAIN
