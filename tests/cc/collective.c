// SPDX-License-Identifier: MIT
/*
 * collective.c - work-group and sub-group functions give what a loop over the work-items gives
 *
 * In every way to run a work-group: split at its barriers, with and without gathers, as user-level
 * threads, and without optimisation.
 */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "cc_program.h"

#define RESULTS	10
#define MOST	4096	/* work-items of a range */

static const char *const modes[] = {
	"-cl-std=CL3.0", "-cl-std=CL2.0 -O1 --global-offset", "-cl-std=CL3.0 -O0",
	"-cl-std=CL3.0 -O0 -g", "-cl-std=CL3.0 --fibers", "-cl-std=CL3.0 --march x86-64-v4",
};

static const struct cc_range ranges[] = {
	{ { 1, 1, 1 }, { 1, 1, 1 }, 1, 0 },
	{ { 64, 1, 1 }, { 16, 1, 1 }, 1, 0 },
	{ { 100, 1, 1 }, { 16, 1, 1 }, 1, 0 },
	{ { 2000, 1, 1 }, { 1024, 1, 1 }, 1, 0 },
	{ { 3, 1, 1 }, { 16, 1, 1 }, 1, 0 },
	{ { 17, 5, 1 }, { 4, 2, 1 }, 2, 0 },
	{ { 50, 9, 1 }, { 20, 9, 1 }, 2, 0 },
	{ { 7, 6, 5 }, { 3, 4, 2 }, 3, 0 },
	{ { 33, 2, 3 }, { 32, 1, 3 }, 3, 0 },
};

#define EACH_RANGE(r) \
	for (r = ranges; r < ranges + sizeof(ranges) / sizeof(ranges[0]); r++)

static size_t items_of(const struct cc_range *r)
{
	return r->global[0] * r->global[1] * r->global[2];
}

/* A sub-group is a work-group. */
static bool has_sub_group(const struct cc_range *r)
{
	return r->local[0] * r->local[1] * r->local[2] <= SALVO_MAX_SUB_GROUP_ITEMS;
}

static uint32_t next_random(void)
{
	static uint32_t state = 12345;

	state = state * 1664525 + 1013904223;
	return state >> 4;
}

/*
 * Calls @visit for each work-group with the numbers of its work-items in the order of their
 * linear ids.
 */
static int each_group(const struct cc_range *r,
		      int (*visit)(const size_t *items, size_t count, void *data), void *data)
{
	static size_t items[1024];
	size_t first[3], id[3], count;
	int wrong = 0;

#define GROUP_LOOP(d) \
	for (first[d] = 0; first[d] < r->global[d]; first[d] += r->local[d])
#define ITEM_LOOP(d) \
	for (id[d] = first[d]; id[d] < first[d] + r->local[d] && id[d] < r->global[d]; id[d]++)
	GROUP_LOOP(2) GROUP_LOOP(1) GROUP_LOOP(0) {
		count = 0;
		ITEM_LOOP(2) ITEM_LOOP(1) ITEM_LOOP(0)
			items[count++] = (id[2] * r->global[1] + id[1]) * r->global[0] + id[0];
		wrong += visit(items, count, data);
	}
	return wrong;
}

struct buffers {
	const void *in;
	void *out;
};

/*
 * Compares the results of all functions. Numbers are small enough for every sum to be exact, so
 * that its order does not matter.
 */
#define REFERENCE(T, NAME, LEAST, GREATEST) \
static int check_##NAME(const size_t *items, size_t count, void *data) \
{ \
	const struct buffers *b = data; \
	const T *in = b->in, *out = b->out; \
	T sum = 0, min = GREATEST, max = LEAST, sums[1024], mins[1024], maxs[1024]; \
	int wrong = 0; \
	size_t i; \
\
	for (i = 0; i < count; i++) { \
		const T x = in[items[i]], *const got = out + RESULTS * items[i]; \
\
		wrong += got[6] != sum || got[7] != min || got[8] != max; \
		sums[i] = sum += x; \
		mins[i] = min = x < min ? x : min; \
		maxs[i] = max = x > max ? x : max; \
	} \
	for (i = 0; i < count; i++) { \
		const T *const got = out + RESULTS * items[i]; \
\
		wrong += got[0] != sum || got[1] != min || got[2] != max || got[3] != sums[i] || \
			 got[4] != mins[i] || got[5] != maxs[i] || \
			 got[9] != in[items[count - 1]]; \
	} \
	return wrong; \
}
REFERENCE(int32_t, int, INT_MIN, INT_MAX)
REFERENCE(uint32_t, uint, 0, UINT_MAX)
REFERENCE(int64_t, long, LONG_MIN, LONG_MAX)
REFERENCE(uint64_t, ulong, 0, ULONG_MAX)
REFERENCE(_Float16, half, -INFINITY, INFINITY)
REFERENCE(float, float, -INFINITY, INFINITY)
REFERENCE(double, double, -INFINITY, INFINITY)

/* Half of the numbers are equal to others, and a sum of 1,024 of those of half is exact. */
#define FILL(T, NAME, VALUE) \
static void fill_##NAME(void *to, size_t i) \
{ \
	((T *)to)[i] = (T)(VALUE); \
}
FILL(int32_t, int, next_random() * 17)
FILL(uint32_t, uint, next_random() * 17)
FILL(int64_t, long, next_random() * 0x123456789abcdef)
FILL(uint64_t, ulong, next_random() * 0x123456789abcdef)
FILL(_Float16, half, (int)(next_random() % 5) - 2)
FILL(float, float, (int)(next_random() % 10001) - 5000)
FILL(double, double, ((int)(next_random() % 10001) - 5000) * 0x1p-20)

static const struct type {
	const char *name;
	size_t size;
	void (*fill)(void *to, size_t i);
	int (*check)(const size_t *items, size_t count, void *data);
} types[] = {
	{ "int", 4, fill_int, check_int },	{ "uint", 4, fill_uint, check_uint },
	{ "long", 8, fill_long, check_long },	{ "ulong", 8, fill_ulong, check_ulong },
	{ "half", 2, fill_half, check_half },	{ "float", 4, fill_float, check_float },
	{ "double", 8, fill_double, check_double },
};

static int run(const struct cc_program *program, const char *kernel, const struct cc_range *range,
	       unsigned int mode, void *in, void *out, int limit)
{
	/* The offset of global ids precedes the arguments. */
	struct {
		uint32_t offset[4];
		void *in, *out;
		int limit;
	} args = { { 0 }, in, out, limit };

	return cc_run(program, kernel, mode == 1 ? (void *)&args : (void *)&args.in, range);
}

static int check_types(const struct cc_program *program, unsigned int mode, void *in, void *out)
{
	const struct cc_range *r;
	const struct type *t;
	unsigned int form;
	char name[32];
	int wrong = 0;
	size_t i;

	for (t = types; t < types + sizeof(types) / sizeof(types[0]); t++)
		EACH_RANGE(r)
			for (form = 0; form < 1 + has_sub_group(r); form++) {
				struct buffers b = { in, out };

				snprintf(name, sizeof(name), "%s_%s", form ? "sub" : "work",
					 t->name);
				for (i = 0; i < items_of(r); i++)
					t->fill(in, i);
				memset(out, 0x55, items_of(r) * t->size * RESULTS);
				if (run(program, name, r, mode, in, out, 0) ||
				    each_group(r, t->check, &b)) {
					fprintf(stderr, "# %s, range %zu\n", name,
						(size_t)(r - ranges));
					wrong++;
				}
			}
	return wrong;
}

struct predicates {
	const int32_t *in, *out;
	int32_t limit;
};

static int check_predicates(const size_t *items, size_t count, void *data)
{
	const struct predicates *p = data;
	int any = 0, all = 1, wrong = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		any |= p->in[items[i]] < p->limit;
		all &= p->in[items[i]] < p->limit;
	}
	for (i = 0; i < count; i++) {
		const int32_t *got = p->out + 4 * items[i];

		wrong += got[0] != any || got[1] != all || got[2] != any || got[3] != all;
	}
	return wrong;
}

static int check_any_and_all(const struct cc_program *program, unsigned int mode, int32_t *in,
			     int32_t *out)
{
	static const int32_t limits[] = { INT_MIN, -900, 0, 900, INT_MAX };
	const struct cc_range *r;
	int wrong = 0;
	unsigned int l;
	size_t i;

	EACH_RANGE(r)
		for (l = 0; l < sizeof(limits) / sizeof(limits[0]); l++) {
			struct predicates p = { in, out, limits[l] };

			for (i = 0; i < items_of(r); i++)
				in[i] = (int)(next_random() % 2000) - 1000;
			wrong += run(program, "predicates", r, mode, in, out, limits[l]) ||
				 each_group(r, check_predicates, &p);
		}
	return wrong;
}

static int check_decisions(const size_t *items, size_t count, void *data)
{
	const struct buffers *b = data;
	const int32_t *in = b->in, *out = b->out;
	int32_t x[1024], before, most, sum;
	int rounds = 0, wrong = 0;
	size_t i;

	for (i = 0; i < count; i++)
		x[i] = in[items[i]] & 255;
	for (;; rounds++) {
		most = INT_MIN;
		sum = 0;
		for (i = 0; i < count; i++) {
			most = x[i] > most ? x[i] : most;
			sum += x[i];
		}
		if (most <= 3)
			break;
		before = INT_MIN;
		for (i = 0; i < count; i++) {
			const int32_t old = x[i];

			if (sum & 1)
				x[i] -= before < most ? old / 2 : 1;
			else
				x[i] = old > 3 ? old - 3 : old;
			before = old > before ? old : before;
		}
	}
	for (i = 0; i < count; i++)
		wrong += out[items[i]] != rounds * 16 + x[i];
	return wrong;
}

/* Collective functions that decide on loops and branches with others in them */
static int check_control_flow(const struct cc_program *program, unsigned int mode, int32_t *in,
			      int32_t *out)
{
	struct buffers b = { in, out };
	const struct cc_range *r;
	int wrong = 0;
	size_t i;

	EACH_RANGE(r) {
		for (i = 0; i < items_of(r); i++)
			in[i] = next_random();
		wrong += run(program, "decide", r, mode, in, out, 0) ||
			 each_group(r, check_decisions, &b);
	}
	return wrong;
}

struct ids {
	const uint32_t *out;
	uint32_t most;
};

static int check_ids(const size_t *items, size_t count, void *data)
{
	const struct ids *ids = data;
	int wrong = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		const uint32_t *got = ids->out + 7 * items[i];

		wrong += got[0] != count || got[1] != ids->most || got[2] != 1 || got[3] != 1 ||
			 got[4] || got[5] != i || got[6] != (i ? i - 1 : 0);
	}
	return wrong;
}

/* A work-group is one sub-group. */
static int check_sub_groups(const struct cc_program *program, unsigned int mode, uint32_t *out)
{
	const struct cc_range *r;
	int wrong = 0;

	EACH_RANGE(r) {
		struct ids ids = { out, r->local[0] };

		if (r->dims == 1 && has_sub_group(r))
			wrong += run(program, "ids", r, mode, out, NULL, 0) ||
				 each_group(r, check_ids, &ids);
	}
	return wrong;
}

FIXTURE(collective) {
	int unused;
};

FIXTURE_VARIANT(collective) {
	unsigned int mode;
};

#define VARIANT(name, number) \
	FIXTURE_VARIANT_ADD(collective, name) { .mode = number }
VARIANT(split, 0);
VARIANT(older_standard_with_an_offset, 1);
VARIANT(without_optimisation, 2);
VARIANT(for_gdb, 3);
VARIANT(fibers, 4);
VARIANT(gathers, 5);

FIXTURE_SETUP(collective) {}
FIXTURE_TEARDOWN(collective) {}

/* One test, since compiling the kernels takes longest. */
TEST_F_TIMEOUT(collective, results_of_a_loop, 200)
{
	struct cc_program *program;
	void *in = malloc(MOST * 8), *out = malloc(MOST * 8 * RESULTS);

	if (variant->mode == 5 && !cc_runs_v4())
		SKIP(return, "no AVX-512 here");
	program = cc_build(modes[variant->mode], "tests/kernels/cc_collective.cl");
	ASSERT_NE(NULL, program);
	EXPECT_EQ(0, check_types(program, variant->mode, in, out));
	EXPECT_EQ(0, check_any_and_all(program, variant->mode, in, out));
	EXPECT_EQ(0, check_control_flow(program, variant->mode, in, out));
	EXPECT_EQ(0, check_sub_groups(program, variant->mode, out));
	cc_program_close(program);
	free(in);
	free(out);
}

TEST_HARNESS_MAIN
