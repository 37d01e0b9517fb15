// SPDX-License-Identifier: MIT
/*
 * groups.c - work-items of whole and ragged groups, as loops and as user-level
 * threads, with and without barriers (M2, M3)
 */
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "cc_program.h"

#define WORDS 22

static struct cc_program *open_kernels(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "kernels/%s.salvo", name);
	return cc_program_open(cc_build_path(path));
}

/* basic.cl once more, each work-item a user-level thread. */
static struct cc_program *open_as_fibers(void)
{
	return cc_build("--fibers", "tests/kernels/basic.cl");
}

static int check_ids(const uint32_t *out, const struct cc_range *r)
{
	uint64_t x, y, z;
	int d;

	for (z = 0; z < r->global[2]; z++)
		for (y = 0; y < r->global[1]; y++)
			for (x = 0; x < r->global[0]; x++, out += WORDS) {
				uint64_t id[3] = { x, y, z };

				for (d = 0; d < 3; d++) {
					uint64_t group = id[d] / r->local[d];
					uint64_t left = r->global[d] - group * r->local[d];
					uint64_t size = left < r->local[d] ? left : r->local[d];

					if (out[d] != id[d] || out[3 + d] != id[d] % r->local[d] ||
					    out[6 + d] != group || out[9 + d] != r->global[d] ||
					    out[12 + d] != size ||
					    out[15 + d] != (r->global[d] + r->local[d] - 1) /
							   r->local[d] || out[18 + d])
						return -1;
				}
				if (out[21] != r->dims)
					return -1;
			}
	return 0;
}

static int run_ids(const struct cc_program *program, const struct cc_range *range)
{
	size_t bytes = range->global[0] * range->global[1] * range->global[2] * WORDS * 4;
	struct {
		uint32_t *out;
	} args;
	int err;

	args.out = malloc(bytes);
	memset(args.out, 0xee, bytes);
	err = cc_run(program, "ids", &args, range);
	if (!err)
		err = check_ids(args.out, range);
	free(args.out);
	return err;
}

static const struct cc_range ranges[] = {
	{ { 1, 1, 1 }, { 1, 1, 1 }, 1, 0 },
	{ { 64, 1, 1 }, { 16, 1, 1 }, 1, 0 },
	{ { 100, 1, 1 }, { 16, 1, 1 }, 1, 0 },
	{ { 3, 1, 1 }, { 16, 1, 1 }, 1, 0 },
	{ { 17, 5, 1 }, { 4, 2, 1 }, 2, 0 },
	{ { 7, 6, 5 }, { 3, 4, 2 }, 3, 0 },
	{ { 8, 4, 2 }, { 8, 4, 2 }, 3, 0 },
	{ { 33, 2, 3 }, { 32, 1, 3 }, 3, 0 },
};

TEST(M2_ids_of_ragged_groups)
{
	struct cc_program *program = open_kernels("basic");
	unsigned int i;

	ASSERT_NE(NULL, program);
	EXPECT_EQ(0, cc_note(program, "ids")->flags);
	for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		EXPECT_EQ(0, run_ids(program, &ranges[i])) {
			TH_LOG("range %u", i);
		}
	cc_program_close(program);
}

TEST(M2_ids_of_user_level_threads)
{
	struct cc_program *program = open_as_fibers();
	unsigned int i;

	ASSERT_NE(NULL, program);
	EXPECT_EQ(SALVO_KERNEL_BARRIERS, cc_note(program, "ids")->flags);
	for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		EXPECT_EQ(0, run_ids(program, &ranges[i])) {
			TH_LOG("range %u", i);
		}
	cc_program_close(program);
}

TEST(M2_loop_writes_no_more_than_its_group)
{
	struct cc_program *program = open_kernels("basic");
	struct {
		const float *a, *b;
		float *out;
	} args;
	float a[200], b[200], out[200];
	struct cc_range range = { { 0, 1, 1 }, { 64, 1, 1 }, 1, 0 };
	unsigned int i, n;

	ASSERT_NE(NULL, program);
	args.a = a;
	args.b = b;
	args.out = out;
	for (n = 1; n < 190; n++) {
		unsigned int wrong = 0;

		for (i = 0; i < 200; i++) {
			a[i] = i;
			b[i] = 1000 * i;
			out[i] = -1;
		}
		range.global[0] = n;
		ASSERT_EQ(0, cc_run(program, "vadd", &args, &range));
		for (i = 0; i < 200; i++)
			wrong += out[i] != (i < n ? 1001.0f * i : -1.0f);
		ASSERT_EQ(0, wrong);
	}
	cc_program_close(program);
}

#define TURNED (103 * 13)

static const char *const turn_options[] = { "-O2", "-O1 --march x86-64-v2", "--march x86-64-v4" };

/* Run a kernel on images of @w * @h elements of 103 * 13. Returns how many are wrong. */
typedef int run_fn(const struct cc_program *program, const struct cc_range *range, int w, int h);

/* Images of every @step-th width, in groups of several sizes */
static void over_widths(struct __test_metadata *_metadata, const struct cc_program *program,
			const char *options, run_fn *run, const uint64_t (*groups)[2],
			unsigned int count, int step)
{
	unsigned int g;
	int w;

	for (g = 0; g < count; g++)
		for (w = 1; w <= 103; w += step) {
			const struct cc_range range = {
				{ 103, 13, 1 }, { groups[g][0], groups[g][1], 1 }, 2, 0
			};

			EXPECT_EQ(0, run(program, &range, w, 13 - w % 3)) {
				TH_LOG("%s, group %u, width %d", options, g, w);
			}
		}
}

/* When work-item (x, y) ran */
static uint32_t order[TURNED];

/* Returns how many elements are wrong. */
static int turn(const struct cc_program *program, const struct cc_range *range, int w, int h)
{
	static uint32_t in[TURNED], out[TURNED];
	uint32_t count = 0;
	const struct {
		const uint32_t *in;
		uint32_t *out, *order, *count;
		int w, h;
	} args = { in, out, order, &count, w, h };
	int x, y, wrong = 0;

	for (x = 0; x < TURNED; x++) {
		in[x] = x * x;
		out[x] = 1;
	}
	if (cc_run(program, "turn", &args, range))
		return -1;
	for (y = 0; y < h; y++)
		for (x = 0; x < w; x++)
			wrong += out[x * h + y] != (x > 0 && x < w - 1 ?
				 in[y * w + x - 1] + in[y * w + x + 1] : 7);
	return wrong;
}

/* A kernel that accesses columns runs the rows of some columns before those of the next. */
TEST(M2_blocks_of_columns)
{
	static const uint64_t groups[][2] = {
		{ 16, 16 }, { 20, 4 }, { 7, 3 }, { 1, 2 }, { 64, 1 },
	};
	const struct cc_range range = { { 103, 13, 1 }, { 20, 4, 1 }, 2, 0 };
	unsigned int i;

	for (i = 0; i < 2 + cc_runs_v4(); i++) {
		struct cc_program *program = cc_build(turn_options[i], "tests/kernels/basic.cl");

		ASSERT_NE(NULL, program);
		over_widths(_metadata, program, turn_options[i], turn, groups,
			    sizeof(groups) / sizeof(groups[0]), 17);
		EXPECT_EQ(0, turn(program, &range, 103, 13));
		EXPECT_LT(order[3 * 103 + 15], order[16]);
		EXPECT_LT(order[16], order[103 + 17]);
		cc_program_close(program);
	}
}

/* Returns how many elements are wrong. */
static int tile(const struct cc_program *program, const struct cc_range *range, int w, int h)
{
	static uint32_t in[TURNED], out[TURNED];
	static uint64_t wide[TURNED];
	const struct {
		const uint32_t *in;
		uint32_t *out;
		uint64_t *wide;
		int w, h;
	} args = { in, out, wide, w, h };
	int x, y, wrong = 0;

	for (x = 0; x < TURNED; x++) {
		in[x] = x * x + 1;
		out[x] = 7;
		wide[x] = x * 0x100000001ull;
	}
	if (cc_run(program, "tiles", &args, range))
		return -1;
	for (y = 0; y < h; y++)
		for (x = 0; x < w; x++) {
			const bool in_it = x >= 2 && y > 0 && y < h - 1;
			const uint64_t at = (y * w + x) * 0x100000001ull;

			wrong += out[x * h + y] != (in_it ? in[y * w + x] + 3 * in[x * h + y] : 7);
			wrong += wide[y * w + x] != (in_it ? at * 5 + in[x * h + y] : at);
		}
	return wrong;
}

/* A transposition runs tiles with lanes along y, and what is beside them one by one. */
TEST(M4_tiles_of_rows_and_columns)
{
	static const uint64_t groups[][2] = {
		{ 16, 13 }, { 7, 8 }, { 1, 13 }, { 3, 6 }, { 20, 3 }, { 128, 4 },
	};
	unsigned int i;

	for (i = 0; i < 2 + cc_runs_v4(); i++) {
		struct cc_program *program = cc_build(turn_options[i], "tests/kernels/basic.cl");

		ASSERT_NE(NULL, program);
		over_widths(_metadata, program, turn_options[i], tile, groups,
			    sizeof(groups) / sizeof(groups[0]), 3);
		cc_program_close(program);
	}
}

/* Returns how many elements are wrong. */
static int rotate(const struct cc_program *program, const struct cc_range *range, int w, int h)
{
	static uint8_t in[TURNED], rotated[TURNED], flipped[TURNED];
	static uint32_t wide[TURNED];
	static uint16_t odd[TURNED];
	const struct {
		const uint8_t *in;
		uint8_t *rotated, *flipped;
		uint32_t *wide;
		uint16_t *odd;
		int w, h;
	} args = { in, rotated, flipped, wide, odd, w, h };
	int x, y, wrong = 0;

	for (x = 0; x < TURNED; x++) {
		in[x] = x * 37 + x / 100;
		odd[x] = 7;
	}
	if (cc_run(program, "rotate_bytes", &args, range))
		return -1;
	for (y = 0; y < h; y++)
		for (x = 0; x < w; x++) {
			const uint8_t v = in[y * w + x];

			wrong += rotated[x * h + h - 1 - y] != v;
			wrong += flipped[(h - 1 - y) * w + w - 1 - x] != v;
			wrong += wide[y * w + w - 1 - x] != v * 1000u;
			wrong += odd[y * w + w - 1 - x] != (v & 1 ? v : 7);
		}
	for (x = w * h; x < TURNED; x++)
		wrong += odd[x] != 7;
	return wrong;
}

TEST(M4_lanes_in_reverse_and_far_apart)
{
	static const uint64_t groups[][2] = { { 16, 13 }, { 103, 1 }, { 7, 3 }, { 64, 4 } };
	unsigned int i;

	for (i = 0; i < 2 + cc_runs_v4(); i++) {
		struct cc_program *program = cc_build(turn_options[i], "tests/kernels/basic.cl");

		ASSERT_NE(NULL, program);
		over_widths(_metadata, program, turn_options[i], rotate, groups,
			    sizeof(groups) / sizeof(groups[0]), 6);
		cc_program_close(program);
	}
}

TEST(M3_barrier_with_a_local_argument)
{
	struct cc_program *program = open_kernels("barrier");
	struct {
		const uint32_t *in;
		uint32_t *out;
		uint64_t scratch;
	} args;
	uint32_t in[100], out[100], i;
	struct cc_range range = { { 100, 1, 1 }, { 32, 1, 1 }, 1, 32 * 4 };

	ASSERT_NE(NULL, program);
	for (i = 0; i < 100; i++)
		in[i] = i * i;
	args.in = in;
	args.out = out;
	args.scratch = cc_note(program, "reverse_local")->local_bytes;
	ASSERT_EQ(0, cc_run(program, "reverse_local", &args, &range));
	EXPECT_EQ(3, cc_calls());	/* of which the second ran two full work-groups */
	for (i = 0; i < 100; i++) {
		uint32_t first = i / 32 * 32, n = first + 32 > 100 ? 100 - first : 32;
		uint32_t from = first + n - 1 - (i - first);

		EXPECT_EQ(from * from, out[i]);
	}
	cc_program_close(program);
}

#define MIRRORED_ROWS 23
#define MIRRORED_COLUMNS 103

/* Rows are along y there, in work-groups of any shape. */
TEST(M4_barriers_with_lanes_along_y)
{
	static const uint32_t groups[][2] = {
		{ 1, 64 }, { 1, 103 }, { 3, 13 }, { 16, 16 }, { 7, 2 }, { 64, 1 }, { 23, 8 },
	};
	static uint32_t in[MIRRORED_ROWS][MIRRORED_COLUMNS], out[MIRRORED_ROWS][MIRRORED_COLUMNS];
	const int n = MIRRORED_COLUMNS;
	int x, y, wrong;
	unsigned int i, g;

	for (x = 0; x < MIRRORED_ROWS; x++)
		for (y = 0; y < n; y++)
			in[x][y] = x * 1000 + y * y;
	for (i = 0; i < 2 + cc_runs_v4(); i++) {
		struct cc_program *program = cc_build(turn_options[i], "tests/kernels/barrier.cl");

		ASSERT_NE(NULL, program);
		EXPECT_NE(0, cc_note(program, "mirror_columns")->flags & SALVO_KERNEL_COLUMNS);
		EXPECT_NE(0, cc_note(program, "mirror_shared_columns")->flags &
				     SALVO_KERNEL_COLUMNS);
		for (g = 0; g < 2 * ARRAY_SIZE(groups); g++) {
			const bool shared = g & 1;
			const char *kernel = shared ? "mirror_shared_columns" : "mirror_columns";
			const int w = groups[g / 2][0], h = groups[g / 2][1];
			const struct cc_range range = {
				{ MIRRORED_ROWS, n, 1 }, { w, h, 1 }, 2, 4 * w * h
			};
			const struct {
				const uint32_t *in;
				uint32_t *out;
				uint64_t scratch;
				int n;
			} args = { in[0], out[0], cc_note(program, kernel)->local_bytes, n };

			memset(out, 0, sizeof(out));
			ASSERT_EQ(0, cc_run(program, kernel, &args, &range));
			for (wrong = 0, x = 0; x < MIRRORED_ROWS; x++)
				for (y = 0; y < n; y++) {
					const int first = y / h * h;
					const int last = (first + h < n ? first + h : n) - 1;
					const uint32_t *row = in[shared ? x / w * w : x];

					wrong += out[x][y] != row[first + last - y] + 3 * row[y] +
						 x % w;
				}
			EXPECT_EQ(0, wrong) {
				TH_LOG("%s, %s, group %u", turn_options[i], kernel, g / 2);
			}
		}
		cc_program_close(program);
	}
}

TEST(M3_barriers_in_a_loop)
{
	struct cc_program *program = open_kernels("barrier");
	struct {
		const uint32_t *in;
		uint32_t *sums;
	} args;
	uint32_t in[1000], sums[1000], i, n;

	ASSERT_NE(NULL, program);
	for (i = 0; i < 1000; i++)
		in[i] = i * 2654435761u;
	args.in = in;
	args.sums = sums;
	for (n = 1; n <= 256; n += n < 8 ? 1 : 31) {
		struct cc_range range = { { 1000, 1, 1 }, { n, 1, 1 }, 1, 0 };

		ASSERT_EQ(0, cc_run(program, "reduce", &args, &range));
		for (i = 0; i < 1000; i += n) {
			uint32_t k, sum = 0;

			for (k = i; k < i + n && k < 1000; k++)
				sum += in[k];
			ASSERT_EQ(sum, sums[i / n]);
		}
	}
	cc_program_close(program);
}

#define TASKS 100

/* Work-items of one work-group all take all tasks. Returns how many sums differ from @sum. */
static int run_tasks(const struct cc_program *program, const char *kernel, uint32_t sum)
{
	static uint32_t tasks[TASKS + 1];
	uint32_t out[60], taken = 0, i;
	const struct {
		const uint32_t *tasks;
		uint32_t *taken, *out;
		uint32_t count;
	} args = { tasks, &taken, out, TASKS };
	const struct cc_range range = { { 60, 1, 1 }, { 60, 1, 1 }, 1, 0 };
	int wrong = 0;

	for (i = 0; i < TASKS; i++)
		tasks[i] = i * i * 7;
	if (cc_run(program, kernel, &args, &range))
		return -1;
	for (i = 0; i < 60; i++)
		wrong += out[i] != sum;
	return wrong;
}

TEST(M2_loops_that_rely_on_lockstep)
{
	static const char *const options[] = { "-O3", "-O1 --march x86-64-v2", "--march x86-64-v4" };
	uint32_t all = 0, halves = 0, chosen = 0, i, task;

	/* An even one past the half is the last. */
	for (i = 0, task = 1; task & 1 || i <= TASKS / 2; i += task & 1 ? 3 : 1) {
		task = i * i * 7;
		chosen += task;
	}
	for (i = 0; i < TASKS; i++) {
		task = i * i * 7;
		all += task;
		if (task & 1)
			continue;
		do {
			halves += task;
			task /= 2;
		} while (task >= 10);
	}
	for (i = 0; i < 2 + cc_runs_v4(); i++) {
		struct cc_program *program = cc_build(options[i], "tests/kernels/barrier.cl");

		ASSERT_NE(NULL, program);
		EXPECT_EQ(0, run_tasks(program, "take_tasks", all));
		EXPECT_EQ(0, run_tasks(program, "take_or_share_tasks", all));
		EXPECT_EQ(0, run_tasks(program, "take_agreed_tasks", all));
		EXPECT_EQ(0, run_tasks(program, "take_published_tasks", all));
		EXPECT_EQ(0, run_tasks(program, "follow_tasks", halves));
		EXPECT_EQ(0, run_tasks(program, "choose_tasks", chosen));
		EXPECT_EQ(0, run_tasks(program, "choose_published_tasks", chosen));
		EXPECT_EQ(0, run_tasks(program, "finish_published_tasks", all));
		cc_program_close(program);
	}
}

/* Runs @kernel for a work-group of 60; in how many work-items out[] is not @want. */
static int run_sharing(const struct cc_program *program, const char *kernel, const uint32_t *want)
{
	uint32_t in[60], out[60] = { 0 }, i;
	const struct {
		const uint32_t *in;
		uint32_t *out;
		uint64_t part;
	} args = { in, out, 0 };
	const struct cc_range range = { { 60, 1, 1 }, { 60, 1, 1 }, 1, 68 * 4 };
	int wrong = 0;

	for (i = 0; i < 60; i++)
		in[i] = i * i * 9;
	if (cc_run(program, kernel, &args, &range))
		return -1;
	for (i = 0; i < 60; i++)
		wrong += out[i] != want[i];
	return wrong;
}

TEST(M2_clears_and_sums_that_rely_on_lockstep)
{
	static const char *const options[] = { "-O3", "-O1 --march x86-64-v2", "--march x86-64-v4" };
	uint32_t all[60], often[60], flags[60], total[60] = { 0 }, found[60], rows[60] = { 0 };
	uint32_t sum = 0, list = 0;
	uint32_t turn, i, k;

	for (turn = 0; turn < 5; turn++)
		for (i = 0; i < 64; i++) {
			k = (i + 64 - turn) % 64;
			sum = sum * 5 + (k < 60 && k & 1 ? k * k * 9 : turn);
		}
	for (turn = 0; turn < 4; turn++)
		for (i = 0, k = list; i < 60; i++)
			if (i / 30 == turn % 2 && (i * i * 9 ^ k) >> turn * 2 & 1)
				list = list * 5 + i;
	for (i = 0; i < 60; i++) {
		found[i] = list;
		k = (i * 5 + 1) % 64;
		all[i] = k < 60 ? k * k * 9 : 7;
		often[i] = sum;
		flags[i] = 1030;
		for (turn = 0; turn < 3 && i < 50; turn++)
			rows[i] = rows[i] * 5 + (i + 10) * (i + 10) * 9 +
				  (59 - i) * (59 - i) * 9 + 2 * turn;
		total[i] += i;
		total[0] += i * i * 9;
	}
	for (i = 0; i < 2 + cc_runs_v4(); i++) {
		struct cc_program *program = cc_build(options[i], "tests/kernels/barrier.cl");

		ASSERT_NE(NULL, program);
		EXPECT_EQ(0, run_sharing(program, "clear_all", all));
		EXPECT_EQ(0, run_sharing(program, "clear_often", often));
		EXPECT_EQ(0, run_sharing(program, "clear_flags", flags));
		EXPECT_EQ(0, run_sharing(program, "sum_in_a_wave", total));
		EXPECT_EQ(0, run_sharing(program, "search_flags", found));
		EXPECT_EQ(0, run_sharing(program, "add_rows", rows));
		cc_program_close(program);
	}
}

/* The rule is broken by work-item @who of the second work-group, or by none. */
static int run_missed(const struct cc_program *program, const char *kernel, uint32_t who)
{
	uint32_t in[100] = { 0 }, out[100], i;
	const struct {
		const uint32_t *in;
		uint32_t *out;
	} args = { in, out };
	const struct cc_range range = { { 100, 1, 1 }, { 32, 1, 1 }, 1, 0 };

	for (i = 0; i < 100; i++)
		in[i] = i / 32 % 2;
	if (who < 32)
		in[32 + who] ^= 1;
	return cc_run(program, kernel, &args, &range);
}

static int count_unnoticed(const char *options)
{
	static const char *const kernels[] = { "missed", "missed_in_loop", "returned", "nested" };
	struct cc_program *program = cc_build(options, "tests/kernels/missed.cl");
	int unnoticed = 0;
	unsigned int i;
	uint32_t who;

	if (!program)
		return -1;
	for (i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		if (run_missed(program, kernels[i], 99))
			unnoticed += 1000;
		for (who = 0; who < 32; who++)
			unnoticed += !run_missed(program, kernels[i], who);
	}
	cc_program_close(program);
	return unnoticed;
}

TEST(M2_barrier_that_not_all_work_items_reach)
{
	EXPECT_EQ(0, count_unnoticed("--fibers"));
	EXPECT_EQ(0, count_unnoticed("-O3"));
	EXPECT_EQ(0, count_unnoticed("-O1 --march x86-64-v2"));
	if (cc_runs_v4()) {
		EXPECT_EQ(0, count_unnoticed("--march x86-64-v4"));
	}
}

#define PASSING_X 96
#define PASSING_Y 8
#define PASSING (PASSING_X * PASSING_Y)

struct passing {
	const struct cc_range *range;
	uint32_t (*v)[PASSING_X];
};

/* PASSES(k) of many_barriers.cl in the work-group that begins at @x, @y. */
static void pass(const struct passing *p, uint32_t x, uint32_t y, uint32_t k)
{
	const uint32_t w = p->range->local[0], size = w * p->range->local[1];
	uint32_t part[PASSING], l, last = k + 4;

	for (; k < last; k++) {
		for (l = 0; l < size; l++)
			part[l] = p->v[y + l / w][x + l % w] + k;
		for (l = 0; l < size; l++) {
			uint32_t *v = &p->v[y + l / w][x + l % w];

			*v = *v * 3 + part[(l + k) % size];
		}
	}
}

/* What the kernel of many_barriers.cl does. */
static void pass_around(const struct passing *p, uint32_t x, uint32_t y, uint32_t turns)
{
	uint32_t i, l;

	pass(p, x, y, 1);
	for (i = 0; i < turns; i++) {
		for (l = 0; l < p->range->local[0] * p->range->local[1]; l++)
			p->v[y + l / p->range->local[0]][x + l % p->range->local[0]] ^= i;
		pass(p, x, y, 2);
		if (i % 2)
			pass(p, x, y, 7);
		if (i == 3)
			break;
		pass(p, x, y, 3);
	}
	pass(p, x, y, 4);
}

/* Runs work-groups of @w x @h; in how many work-items out[] is wrong. */
static int run_passing(const struct cc_program *program, uint32_t w, uint32_t h, uint32_t turns)
{
	uint32_t in[PASSING_Y][PASSING_X], out[PASSING_Y][PASSING_X], x, y;
	const struct cc_range range = { { PASSING_X, PASSING_Y, 1 }, { w, h, 1 }, 2, w * h * 4 };
	const struct passing p = { &range, in };
	const struct {
		const uint32_t *in;
		uint32_t *out;
		uint64_t part;
		uint32_t turns;
	} args = { in[0], out[0], cc_note(program, "pass_around")->local_bytes, turns };
	int wrong = 0;

	for (y = 0; y < PASSING_Y; y++)
		for (x = 0; x < PASSING_X; x++)
			in[y][x] = x * x * 9 + y;
	if (cc_run(program, "pass_around", &args, &range))
		return -1;
	for (y = 0; y < PASSING_Y; y += h)
		for (x = 0; x < PASSING_X; x += w)
			pass_around(&p, x, y, turns);
	for (y = 0; y < PASSING_Y; y++)
		for (x = 0; x < PASSING_X; x++)
			wrong += out[y][x] != in[y][x];
	return wrong;
}

TEST(M2_more_barriers_than_a_function_has)
{
	static const char *const options[] = {
		"-O3", "-O1 --march x86-64-v2", "-g", "--march x86-64-v4"
	};
	uint32_t i, turns;

	for (i = 0; i < 3 + cc_runs_v4(); i++) {
		struct cc_program *program = cc_build(options[i], "tests/kernels/many_barriers.cl");

		ASSERT_NE(NULL, program);
		for (turns = 0; turns < 6; turns++) {
			EXPECT_EQ(0, run_passing(program, 96, 1, turns));
			EXPECT_EQ(0, run_passing(program, 3, 1, turns));
			EXPECT_EQ(0, run_passing(program, 32, 8, turns));
		}
		EXPECT_EQ(0, run_missed(program, "missed_late", 99));
		EXPECT_NE(0, run_missed(program, "missed_late", 0));
		EXPECT_NE(0, run_missed(program, "missed_late", 31));
		cc_program_close(program);
	}
}

TEST_HARNESS_MAIN
