// SPDX-License-Identifier: MIT
/*
 * pitfalls.c - shapes of code in which lanes, regions or rows once went wrong, or might
 *
 * Every kernel of tests/kernels/cc_pitfalls*.cl is run without optimisation, as user-level
 * threads, and in each of the optimiser's ways, on ranges that are ragged, short or have two
 * dimensions: the results are the same.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "cc_program.h"
#include "sanitizer.h"

#define WORDS 1024
/* Values of the kernels' n */
#define FIRST_SIZE 3
#define SIZES 6

#define MOST_KERNELS 48

static const struct {
	const char *source;
	const char *kernels[MOST_KERNELS];
} files[] = {
	{ "tests/kernels/cc_pitfalls.cl", {
		"disjoint_sum", "disjoint_sum2", "aligned_private", "aligned_private_barrier",
		"aligned_struct_barrier", "const_call", "const_call_uniform", "divisions",
		"temporal", "nested_exits", "uniform_in_divergent", "volatiles", "wraps",
		"interior_wraps", "guards", "pointers", "pointers_across_barriers",
		"shared_count", "hidden_uniform", "return_after_barrier", "values_across",
		"float_bits", "small_vectors", "three_wide", "switches", "irreducible", "wild",
		"bits", "meet_in_functions", "structures", "odd_loops", "narrow_private",
		"products_of_chars", "products_of_uchars",
		"own_writes", "tables_of_bytes", "bad_divisions", "chosen_bits",
	} },
	{ "tests/kernels/cc_pitfalls_atomics.cl", {
		"atomics_apart", "lock", "float_atomic", "lock_inside", "local_atomics",
		"merged_atomics", "tickets",
	} },
	{ "tests/kernels/cc_pitfalls_vectors.cl", {
		"triples_uchar", "triples_short", "triples_uint", "triples_long",
		"scattered_uchar", "scattered_short", "scattered_uint", "scattered_long",
		"kept_uchar", "kept_short", "kept_uint", "kept_long", "float_triples",
		"chain_uint8", "chain_uchar16", "chain_ulong8", "chain_ushort8",
		"unrolled_uint16", "unrolled_ushort16",
		"only_uchar4", "only_ushort4", "only_uint2", "only_uint3", "only_ulong4",
		"only_part_uchar8", "only_part_ushort4", "only_part_ushort3",
		"lanes_apart_uint4", "lanes_apart_int3", "lanes_apart_ulong2",
		"three_of_four",
		"side_by_side_uint4", "side_by_side_int4", "side_by_side_ulong2",
	} },
	{ "tests/kernels/cc_pitfalls_numbers.cl", {
		"quotients_char", "quotients_uchar", "quotients_short", "quotients_ushort",
		"quotients_int", "quotients_uint", "quotients_of_longs",
		"quotients_of_longs_by_constants", "strided_loops", "steps_uchar",
		"steps_short", "steps_int", "words_uchar", "words_short", "words_uint",
		"apart_short", "apart_int", "apart_long",
		"halves", "halves_that_wrap", "sums_rounded_down", "segments",
		"segments_of_pixels", "joined_numbers", "segments_across_a_barrier",
		"bits_of_lanes", "segments_that_wrap", "filters_that_wrap",
		"remainders_of_local_ids",
		"sums_cut_to_32_bits", "sums_of_upper_halves",
		"numbers_of_groups", "numbers_of_rows", "batches", "batches_with_signs",
		"batches_and_strides", "batches_of_two_lengths", "batches_of_their_own",
		"strides", "strides_and_edges", "strides_of_vectors", "strides_of_bytes",
		"strides_across_a_barrier", "strides_of_groups",
	} },
	{ "tests/kernels/cc_pitfalls_flow.cl", {
		"two_ways", "two_ways_in_a_loop", "two_ways_to_a_barrier", "flags",
		"left_before_values", "mirrors", "chosen_sides", "mirrors_that_guard",
		"falling_clamps", "turns",
		"mirrors_of_64_bits", "signs_of_64_bits", "mirrors_across_a_barrier",
		"active_only_uchar", "active_only_short", "active_only_int",
		"active_only_ulong",
		"multiples", "multiples_that_wrap", "some_neighbours_uchar",
		"some_neighbours_short", "stores_of_both_ways", "stores_read_behind",
		"stores_of_most_lanes", "vectors_in_a_loop", "places_of_their_own",
		"lists_of_their_own", "many_sums", "many_sums_with_conditions",
		"many_values_handed_on", "many_sums_taken_back",
		"many_sums_with_ends", "many_sums_in_nested_loops",
		"guard_of_min", "guard_of_max", "guard_of_clamp", "guard_of_sum",
		"exit_that_some_skip", "return_from_first_iterations",
		"parts_of_vectors",
		"last_uchar", "last_short", "last_uint", "last_long", "last_double",
		"ends_of_lanes",
	} },
	{ "tests/kernels/cc_pitfalls_flags.cl", {
		"truth", "almost_truth", "exchanged_truth", "short_search", "short_stores",
		"short_and_uniform", "reversed_uchar", "reversed_short", "reversed_uint",
		"reversed_long", "reversed_float", "reversed_double",
	} },
	{ "tests/kernels/cc_pitfalls_batches.cl", {
		"loaded_bounds", "bounds_behind_stores", "own_bounds", "loaded_places",
		"places_that_wrap", "seldom_met",
	} },
	{ "tests/kernels/cc_pitfalls_tables.cl", {
		"lookups_uchar", "lookups_char", "lookups_ushort", "lookups_short",
		"lookups_uint", "lookups_int", "lookups_float", "constants", "shared", "exchanges",
		"clamped_indices", "short_indices", "masked_indices", "loaded_indices",
		"copies_uchar",
		"copies_short", "copies_float",
		"local_table_uchar", "local_table_char", "local_table_ushort", "local_table_short",
	} },
	{ "tests/kernels/cc_pitfalls_bytes.cl", {
		"bytes_of_products", "bytes_of_other_blends",
		"bytes_of_blends_that_wrap", "bytes_compared", "bytes_with_signs",
		"bytes_in_a_loop", "bytes_of_some", "bytes_in_place", "bytes_from_afar",
		"bytes_copied", "words_copied",
	} },
	{ "tests/kernels/cc_pitfalls_ways.cl", {
		"halving", "halving_to_the_end", "halving_in_some_rounds", "scanning",
		"common_values", "antidiagonals", "falling", "falling_that_wraps", "nested",
		"along_y",
	} },
	{ "tests/kernels/cc_pitfalls_walks.cl", {
		"walk_uint", "walk_int", "walk_ulong", "walk_float", "walk_several",
		"walk_some", "walk_strides", "walk_ends", "walk_own", "walk_stores",
		"walk_both", "walk_wraps", "walk_around", "walk_local",
		"walk_steps", "in_place_same", "in_place_behind", "in_place_ahead",
		"in_place_far_behind", "in_place_same_ulong", "in_place_behind_ulong",
		"in_place_ahead_ulong", "in_place_several",
	} },
	{ "tests/kernels/cc_pitfalls_steps.cl", {
		"arrays_of_regions",
		"advancing", "receding", "advancing_in_two_loops", "advancing_that_wraps",
		"handed_on", "written_by_some", "walking", "counting", "prefetched", "uneven",
		"walks_in_walks",
	} },
};

static const struct cc_range ranges[] = {
	{ { 203, 1, 1 }, { 32, 1, 1 }, 1, 64 * 4 },
	{ { 203, 1, 1 }, { 13, 1, 1 }, 1, 64 * 4 },
	{ { 37, 5, 1 }, { 16, 4, 1 }, 2, 64 * 4 },
};

static int run(const struct cc_program *program, const char *kernel, uint32_t n,
	       const struct cc_range *range, uint32_t *out)
{
	static uint32_t in[WORDS] __attribute__((aligned(64)));
	const struct salvo_note_kernel *note = cc_note(program, kernel);
	struct {
		uint32_t *out;
		const uint32_t *in;
		uint32_t n;
		uint64_t scratch;
	} args = { out, in, n, note ? note->local_bytes : 0 };
	uint32_t state = 7, i;

	for (i = 0; i < WORDS; i++) {
		state = state * 1664525 + 1013904223;
		in[i] = state >> (i % 4 * 7);
	}
	in[20] = 0;
	in[30] = 0x80000000;
	in[31] = 0xffffffff;
	memset(out, 0, WORDS * 4);
	return cc_run(program, kernel, &args, range);
}

/*
 * What the kernels of a file do without optimisation: the first test that asks finds out, for all
 * of them. Tests are processes, so this is shared memory.
 */
static struct plain {
	bool known;
	uint32_t out[MOST_KERNELS][ARRAY_SIZE(ranges)][SIZES][WORDS] __attribute__((aligned(64)));
} *plain;

__attribute__((constructor)) static void map_plain(void)
{
	plain = mmap(NULL, ARRAY_SIZE(files) * sizeof(*plain), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (plain == MAP_FAILED)
		abort();
}

static int find_plain(unsigned int file)
{
	struct cc_program *program = cc_build("-w -O0", files[file].source);
	unsigned int k, r, n;
	int err = program ? 0 : -1;

	for (k = 0; !err && files[file].kernels[k]; k++)
		for (r = 0; r < ARRAY_SIZE(ranges); r++)
			for (n = 0; n < SIZES; n++)
				err |= run(program, files[file].kernels[k], FIRST_SIZE + n,
					   &ranges[r], plain[file].out[k][r][n]);
	cc_program_close(program);
	plain[file].known = !err;
	return err;
}

/* In how many cases kernel @k of @file does something else in @program. */
static int compare(const struct cc_program *program, unsigned int file, unsigned int k,
		   const char *options)
{
	const char *kernel = files[file].kernels[k];
	static uint32_t got[WORDS];
	unsigned int r, n, i;
	int wrong = 0;

	for (r = 0; r < ARRAY_SIZE(ranges); r++)
		for (n = 0; n < SIZES; n++) {
			const uint32_t *want = plain[file].out[k][r][n];

			if (run(program, kernel, FIRST_SIZE + n, &ranges[r], got))
				wrong++;
			for (i = 0; i < WORDS && want[i] == got[i]; i++)
				;
			if (i == WORDS)
				continue;
			fprintf(stderr, "# %s, %s, range %u, n %u: out[%u] is %#x, not %#x\n",
				kernel, options, r, FIRST_SIZE + n, i, got[i], want[i]);
			wrong++;
		}
	return wrong;
}

/* The same for all kernels with @options; -1 for an error. */
static int differing(const char *options)
{
	unsigned int f, k;
	int wrong = 0;

	for (f = 0; f < ARRAY_SIZE(files) && wrong >= 0; f++) {
		struct cc_program *program = cc_build(options, files[f].source);

		if (!program || (!plain[f].known && find_plain(f)))
			wrong = -1;
		for (k = 0; wrong >= 0 && files[f].kernels[k]; k++)
			wrong += compare(program, f, k, options);
		cc_program_close(program);
	}
	return wrong;
}

FIXTURE(pitfalls) {
	int unused;
};

FIXTURE_SETUP(pitfalls)
{
}

FIXTURE_TEARDOWN(pitfalls)
{
}

TEST_F_TIMEOUT(pitfalls, M2_user_level_threads, 300)
{
	NEED_SHALLOW_STACKS();
	EXPECT_EQ(0, differing("-w --fibers"));
}

TEST_F_TIMEOUT(pitfalls, M4_lanes, 300)
{
	EXPECT_EQ(0, differing("-w -O3"));
}

TEST_F_TIMEOUT(pitfalls, M4_lanes_of_the_oldest_processor_less_optimised, 300)
{
	EXPECT_EQ(0, differing("-w -O1 --march x86-64-v2"));
}

TEST_F_TIMEOUT(pitfalls, M4_lanes_with_gathers, 300)
{
	if (!cc_runs_v4())
		SKIP(return, "the processor has no AVX-512");
	EXPECT_EQ(0, differing("-w --march x86-64-v4"));
	EXPECT_EQ(0, differing("-w --march x86-64-v4 --tune sapphirerapids"));
}

/* In how many cases kernels of cc_pitfalls_ways.cl differ on these ranges; -1 for an error. */
static int differing_on(const char *const *kernels, const struct cc_range *of, unsigned int count)
{
	static const char *const ways[] = { "-w -O0", "-w -O3", "-w -O1 --march x86-64-v2",
					    "-w --march x86-64-v4" };
	static uint32_t want[4][4][WORDS], got[WORDS];
	unsigned int i, k, r;
	int wrong = 0;

	for (i = 0; i < ARRAY_SIZE(ways) - !cc_runs_v4(); i++) {
		struct cc_program *program = cc_build(ways[i],
						      "tests/kernels/cc_pitfalls_ways.cl");

		if (!program)
			return -1;
		for (k = 0; kernels[k]; k++)
			for (r = 0; r < count; r++) {
				if (run(program, kernels[k], 5, &of[r], i ? got : want[k][r]))
					wrong++;
				if (!i || !memcmp(got, want[k][r], sizeof(got)))
					continue;
				fprintf(stderr, "# %s, %s, range %u\n", kernels[k], ways[i], r);
				wrong++;
			}
		cc_program_close(program);
	}
	return wrong;
}

TEST_F_TIMEOUT(pitfalls, M4_lanes_along_y_with_barriers, 60)
{
	static const char *const kernels[] = { "along_y", NULL };
	static const struct cc_range high[] = {
		{ { 3, 70, 1 }, { 1, 32, 1 }, 2, 64 * 4 },
		{ { 7, 70, 1 }, { 2, 19, 1 }, 2, 64 * 4 },
		{ { 5, 48, 1 }, { 1, 48, 1 }, 2, 64 * 4 },
	};

	EXPECT_EQ(0, differing_on(kernels, high, ARRAY_SIZE(high)));
}

TEST_F_TIMEOUT(pitfalls, M4_lanes_of_flat_groups_along_x_with_barriers, 60)
{
	static const char *const kernels[] = { "along_x", NULL };
	static const struct cc_range flat[] = {
		{ { 64, 20, 1 }, { 32, 1, 1 }, 2, 64 * 4 },
		{ { 70, 21, 1 }, { 64, 1, 1 }, 2, 64 * 4 },
		{ { 26, 7, 1 }, { 13, 1, 1 }, 2, 64 * 4 },
	};

	EXPECT_EQ(0, differing_on(kernels, flat, ARRAY_SIZE(flat)));
}

TEST_F_TIMEOUT(pitfalls, M4_lanes_or_blocks_along_z, 60)
{
	static const char *const kernels[] = { "along_z", "along_z_alone", "along_z_in_batches",
					       NULL };
	static const struct cc_range deep[] = {
		{ { 20, 2, 13 }, { 20, 1, 12 }, 3, 0 },
		{ { 37, 2, 6 }, { 4, 2, 4 }, 3, 0 },
		{ { 3, 2, 13 }, { 2, 2, 13 }, 3, 0 },
		{ { 16, 2, 3 }, { 4, 4, 1 }, 3, 0 },
	};

	EXPECT_EQ(0, differing_on(kernels, deep, ARRAY_SIZE(deep)));
}

/* A page with numbers in it between two that cannot be accessed */
FIXTURE(fenced) {
	size_t page;
	uint8_t *memory;
};

FIXTURE_SETUP(fenced)
{
	size_t i;

	self->page = sysconf(_SC_PAGESIZE);
	self->memory = mmap(NULL, 3 * self->page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->memory);
	self->memory += self->page;
	ASSERT_EQ(0, mprotect(self->memory, self->page, PROT_READ | PROT_WRITE));
	for (i = 0; i < self->page; i++)
		self->memory[i] = i * 7 + i / 256;
}

FIXTURE_TEARDOWN(fenced)
{
	munmap(self->memory - self->page, 3 * self->page);
}

/* A lane may load what is around its bytes, but nothing of a page that has no byte of it. */
TEST_F(fenced, M4_lanes_stay_within_the_pages_of_what_they_load)
{
	enum { COUNT = 64 };
	const size_t page = self->page;
	uint8_t *memory = self->memory;
	uint32_t out[COUNT], at[COUNT], i, k;
	struct {
		uint32_t *out;
		const uint8_t *end;
		const uint32_t *at;
	} args = { out, memory + page, at };
	struct cc_range range = { .global = { COUNT }, .local = { COUNT }, .dims = 1 };

	for (i = 0; i < COUNT; i++)
		at[i] = (i * 5) % 16;
	struct cc_program *program = cc_build(cc_runs_v4() ? "-w --march x86-64-v4" : "-w",
					      files[2].source);
	ASSERT_NE(NULL, program);
	ASSERT_EQ(0, cc_run(program, "last_bytes", &args, &range));
	for (i = 0; i < COUNT; i++) {
		const uint8_t *p = args.end - at[i];
		uint16_t six[3];

		memcpy(six, args.end - 6 - 2 * at[i], sizeof(six));
		EXPECT_EQ(p[-3] + p[-2] * 3 + p[-1] * 5 + p[-2] * 7 + p[-1] * 11 + six[0] * 13 +
			  six[1] * 17 + six[2] * 19 + p[-1] * 23, out[i]);
	}
	/* From the first byte on, and up to the last one */
	for (i = 0; i < COUNT; i++)
		at[i] = (i * 5) % COUNT - COUNT / 2;
	for (k = 0; k < 8; k++) {
		const uint8_t *first = k < 4 ? memory + k : memory + page - 3 * COUNT - k + 4;

		args.end = first + 3 * COUNT / 2;
		ASSERT_EQ(0, cc_run(program, "int_places", &args, &range));
		for (i = 0; i < COUNT; i++) {
			const uint8_t *p = args.end + 3 * (int)at[i];

			EXPECT_EQ(p[0] + p[1] * 3 + p[2] * 5, out[i]);
		}
	}
	cc_program_close(program);

	for (i = 0; i < COUNT; i++)
		at[i] = (i * 5) % 16;
	args.end = memory + page;
	program = cc_build(cc_runs_v4() ? "-w --march x86-64-v4" : "-w", files[3].source);
	ASSERT_NE(NULL, program);
	ASSERT_EQ(0, cc_run(program, "last_steps", &args, &range));
	for (i = 0; i < COUNT; i++)
		EXPECT_EQ(out[i], args.end[3 * (int)i - 3 * (COUNT - 1) - 1] +
				  args.end[-1 - 4 * (int)i] * 3);
	ASSERT_EQ(0, cc_run(program, "last_words", &args, &range));
	for (i = 0; i < COUNT; i++) {
		const uint8_t *p = args.end - 1;
		const int n = (int)i - (COUNT - 1);

		EXPECT_EQ(i % 3 && n ? 0 : p[8 * n] + p[4 * n] * 3 + p[2 * n] * 5, out[i]);
	}
	cc_program_close(program);
}

/* Rows of which some iterations are loaded at once end with a page, or begin with it. */
TEST_F(fenced, M4_lanes_walk_within_the_pages_of_their_rows)
{
	enum { COUNT = 64 };
	const size_t page = self->page;
	uint32_t out[COUNT], rows, i, k, level;
	struct {
		uint32_t *out;
		const uint32_t *end;
		uint32_t n, rows;
	} args = { .out = out };
	struct cc_range range = { .global = { COUNT }, .local = { COUNT }, .dims = 1 };

	for (level = 3; level <= (cc_runs_v4() ? 4 : 3); level++) {
		struct cc_program *program = cc_build(
			level == 4 ? "-w --march x86-64-v4" : "-w",
			"tests/kernels/cc_pitfalls_walks.cl");

		ASSERT_NE(NULL, program);
		for (args.n = 1; args.n <= 8; args.n++)
			for (rows = COUNT - 13; rows <= COUNT; rows += 13) {
				const uint32_t n = args.n;

				args.rows = rows;
				args.end = (void *)(self->memory + (n % 2 ? page : 8 * n * rows));
				memset(out, 0, sizeof(out));
				ASSERT_EQ(0, cc_run(program, "last_rows", &args, &range));
				for (i = 0; i < rows; i++) {
					const uint32_t *first = args.end - 2 * n * rows;
					const uint32_t *row = args.end - n * rows + i * n;
					uint32_t a = 1, b = 3;

					for (k = 0; k < n; k++)
						a = a * 3 + row[k];
					for (k = n; k-- > 0;)
						b = b * 5 + row[k] + first[2 * (i * n + k)];
					EXPECT_EQ(a ^ b, out[i]) {
						TH_LOG("level %u, n %u, row %u", level, n, i);
					}
				}
			}
		cc_program_close(program);
	}
}

/* What a work-item stores may be in the row that it walks along, for some of them or all. */
TEST(M4_stores_in_rows)
{
	enum { COUNT = 40, WIDTH = 9, ROWS = COUNT * WIDTH, BYTES = 8 * 3 * ROWS };
	static const char *const kernels[] = {
		"stores_sum", "stores_sum_of_longs", "stores_two_sums", "stores_moving",
		"stores_falling",
	};
	static uint64_t memory[2][BYTES / 8];
	static const char *const options[] = { "-w -O0", "-w", "-w --march x86-64-v4" };
	struct cc_range range = { .global = { COUNT }, .local = { COUNT }, .dims = 1 };
	struct cc_program *programs[3] = {};
	int32_t at[COUNT];
	unsigned int k, n, way, p, i;

	for (p = 0; p < (cc_runs_v4() ? 3 : 2); p++) {
		programs[p] = cc_build(options[p], "tests/kernels/cc_pitfalls_walks.cl");
		ASSERT_NE(NULL, programs[p]);
	}
	for (k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++)
		for (n = 3; n <= WIDTH; n++)
			for (way = 0; way < 6; way++)
				for (p = 0; p < 3 && programs[p]; p++) {
					uint64_t *const m = memory[p > 0];
					const size_t size = strstr(kernels[k], "longs") ? 8 : 4;
					struct {
						void *sums, *rows;
						int32_t *at, n;
					} args = { m, (char *)m + size * ROWS, at, n };

					for (i = 0; i < BYTES / 8; i++)
						m[i] = i * 0x9e3779b97f4a7c15;
					/* In no row, in the own one, in it for some of them */
					for (i = 0; i < COUNT; i++)
						at[i] = (way < 3 || (way == 3 && i == 21) ||
							 (way == 4 && i % 2) ? ROWS : 0) +
							i * n + way % 3 % (n - 1);
					if (way == 5)
						args.sums = (char *)args.rows + size * ROWS;
					ASSERT_EQ(0, cc_run(programs[p], kernels[k], &args,
							    &range));
					if (!p)
						continue;
					EXPECT_EQ(0, memcmp(memory[0], memory[1], BYTES)) {
						TH_LOG("%s, n %u, way %u, %s", kernels[k], n, way,
						       options[p]);
					}
				}
	for (p = 0; p < 3; p++)
		cc_program_close(programs[p]);
}

/* Parts of an index do not fit in an int, or all of it. */
TEST(M4_rows_whose_indices_wrap_around)
{
	enum { COUNT = 5, WIDTH = 32, ELEMENTS = (COUNT + 1) * WIDTH };
	static const char *const kernels[] = { "overflows_in_part", "overflows_at_the_end" };
	static const char *const options[] = { "-w -O0", "-w --march x86-64-v2", "-w",
					       "-w --march x86-64-v4" };
	static uint32_t want[2][2][ELEMENTS], got[ELEMENTS], factors[ELEMENTS];
	const uintptr_t beyond = 4ull << 31;
	struct cc_range range = { .local = { COUNT }, .dims = 1 };
	unsigned int p, k, low, i;

	for (i = 0; i < ELEMENTS; i++)
		factors[i] = i * 7 + 1;
	for (p = 0; p < ARRAY_SIZE(options) - !cc_runs_v4(); p++) {
		struct cc_program *program = cc_build(options[p],
						      "tests/kernels/cc_pitfalls_walks.cl");

		ASSERT_NE(NULL, program);
		for (k = 0; k < 2; k++)
			for (low = 0; low < 2; low++) {
				uint32_t *const m = p ? got : want[k][low];
				struct {
					uintptr_t a, b;
					uint32_t first;
				} args = {
					.a = (uintptr_t)(m + WIDTH),
					.b = (uintptr_t)(factors + WIDTH),
				};

				for (i = 0; i < ELEMENTS; i++)
					m[i] = i * 0x9e3779b9;
				range.global[0] = COUNT;
				if (low) {
					/* The first row of the second kernel begins beyond. */
					args.first = 0x80000000 / WIDTH;
					args.a += k ? -beyond : beyond;
					args.b += k ? -beyond : beyond;
					range.global[0] = k ? 1 : COUNT;
				}
				ASSERT_EQ(0, cc_run(program, kernels[k], &args, &range));
				EXPECT_EQ(0, memcmp(m, want[k][low], sizeof(got))) {
					TH_LOG("%s, %u, %s", kernels[k], low, options[p]);
				}
			}
		cc_program_close(program);
	}
}

/* Also where the rest of it is not there */
TEST_F(fenced, M4_lanes_load_nothing_of_a_table_that_none_asks_for)
{
	enum { COUNT = 64, ELEMENTS = 64 };
	const size_t page = self->page;
	uint8_t *memory = self->memory;
	uint32_t out[COUNT], at[COUNT], i, there;
	struct {
		uint32_t *out;
		const uint8_t *bytes;
		const uint32_t *at;
		uint32_t last;
	} args = { .out = out, .at = at };
	struct cc_range range = { .global = { COUNT }, .local = { COUNT }, .dims = 1 };

	for (i = 0; i < COUNT; i++)
		at[i] = (i * 37) % 101;
	struct cc_program *program = cc_build(cc_runs_v4() ? "-w --march x86-64-v4" : "-w",
					      "tests/kernels/cc_pitfalls_tables.cl");
	ASSERT_NE(NULL, program);
	for (there = 4; there <= 2 * ELEMENTS; there += 4) {
		args.bytes = memory + page - there;
		args.last = (there < ELEMENTS ? there : ELEMENTS) - 1;
		ASSERT_EQ(0, cc_run(program, "ends", &args, &range));
		for (i = 0; i < COUNT; i++) {
			const uint32_t last = args.last;
			const uint32_t byte = at[i] % 64 < last ? at[i] % 64 : last;
			const uint32_t two = at[i] % 32 < last / 2 ? at[i] % 32 : last / 2;
			const uint32_t four = at[i] % 16 < last / 4 ? at[i] % 16 : last / 4;
			uint16_t half;
			uint32_t word;

			memcpy(&half, args.bytes + 2 * two, sizeof(half));
			memcpy(&word, args.bytes + 4 * four, sizeof(word));
			EXPECT_EQ(args.bytes[byte] + (at[i] & 1 ? half * 3 : 0) + word * 5,
				  out[i]) {
				TH_LOG("%u bytes, work-item %u", there, i);
			}
		}
	}
	cc_program_close(program);
}

/* Neither of the page behind the last active one, nor of that before the first */
TEST_F(fenced, M4_lanes_load_neighbours_in_pages_of_active_ones_only)
{
	enum { COUNT = 64 };
	const size_t page = self->page;
	uint8_t *memory = self->memory;
	uint32_t out[COUNT], at[COUNT], i, there;
	struct {
		uint32_t *out;
		const uint8_t *bytes;
		const uint32_t *at;
		uint32_t low, high;
	} args = { .out = out, .at = at };
	struct cc_range range = { .global = { COUNT }, .local = { COUNT }, .dims = 1 };

	for (i = 0; i < COUNT; i++)
		at[i] = i;
	struct cc_program *program = cc_build("-w", "tests/kernels/cc_pitfalls_flow.cl");
	ASSERT_NE(NULL, program);
	for (there = 0; there <= 2 * COUNT; there++) {
		const bool before = there > COUNT;
		const uint32_t edge = before ? there - COUNT : there;

		args.bytes = memory + (before ? 0 : page) - edge;
		args.low = before ? edge : 0;
		args.high = before ? COUNT : edge;
		ASSERT_EQ(0, cc_run(program, "ends_of_pages", &args, &range));
		for (i = 0; i < COUNT; i++)
			EXPECT_EQ(i >= args.low && i < args.high ? args.bytes[i] * 3u : 7u, out[i]);
	}
	cc_program_close(program);
}

TEST_HARNESS_MAIN
