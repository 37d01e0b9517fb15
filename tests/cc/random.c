// SPDX-License-Identifier: MIT
/*
 * random.c - random kernels give the same bits however their work-items are run
 *
 * Each kernel is made from a number (tests/common/cc_random.c) and compiled three times:
 * without optimisation (plain loops; user-level threads if it has barriers), optimised for
 * user-level threads, and optimised for vector lanes; a fourth time for AVX-512, which has gathers
 * and scatters, where the processor has it.
 *
 * SALVO_RANDOM_KERNELS sets how many, SALVO_RANDOM_SEED the number of the first;
 * SALVO_RANDOM_SHOW prints the source of those that differ. Where the compiler fails
 * or dies its source is kept, and its name printed.
 */
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "cc_program.h"
#include "cc_random.h"

/* Kernels of one program: starting the compiler costs as much as a few of them. */
#define EACH	10u
#define WIDTH	83u
#define HEIGHT	7u
#define TOTAL	(WIDTH * HEIGHT)
#define WORDS	(TOTAL * 4 + CC_RANDOM_ATOMICS)
#define MODES	5u

static const struct cc_range ranges[] = {
	{ { WIDTH, HEIGHT, 1 }, { 32, 2, 1 }, 2, 64 * 4 },
	{ { WIDTH, HEIGHT, 1 }, { 7, 3, 1 }, 2, 21 * 4 },
	{ { WIDTH, HEIGHT, 1 }, { 64, 7, 1 }, 2, 448 * 4 },
	{ { WIDTH, HEIGHT, 1 }, { 27, 1, 1 }, 2, 27 * 4 },
};

/* The number of kernels that differ in a mode, of @count from @seed on, EACH at most; or -1. */
static int differing(uint32_t seed, unsigned int count)
{
	static const char *const modes[MODES] = {
		"-w -O0", "-w --fibers", "-w -O3", "-w -O3 --march x86-64-v4",
		"-w -O3 --march x86-64-v4 --tune sapphirerapids",
	};
	static uint32_t in[TOTAL], out[MODES][WORDS];
	static char text[EACH << 16];
	const unsigned int mode_count = cc_runs_v4() ? MODES : MODES - 2;
	struct cc_program *programs[MODES] = { NULL };
	char path[] = "/tmp/salvo-random-XXXXXX.cl";
	struct {
		const uint32_t *in;
		uint32_t *out;
		uint32_t n, w;
		uint64_t scratch;
	} args = { in, NULL, 0, WIDTH, 0 };
	int fd = mkstemps(path, 3), wrong = 0;
	unsigned int i, m, r;
	size_t bytes;
	bool ok = fd >= 0;

	bytes = cc_random_kernels(seed, count, TOTAL, text, sizeof(text) - 1);
	ok = ok && write(fd, text, bytes) == (ssize_t)bytes;
	for (m = 0; m < mode_count && ok; m++)
		ok = (programs[m] = cc_build(modes[m], path));
	for (i = 0; i < TOTAL; i++)
		in[i] = (i * 2654435761u) >> (i % 3 * 8);

	for (i = 0; i < 2 * count && ok; i++) {
		char name[16];

		snprintf(name, sizeof(name), "k%u", seed + i / 2);
		r = i % 2 + (seed >= CC_RANDOM_SECOND ? i / 2 % 2 * 2 : 0);
		args.n = 5 + 29 * (i % 2) + i;
		for (m = 0; m < mode_count; m++) {
			memset(out[m], 0, sizeof(out[m]));
			args.out = out[m];
			if (cc_run(programs[m], name, &args, &ranges[r]))
				wrong++;
			if (m && memcmp(out[0], out[m], sizeof(out[0]))) {
				fprintf(stderr, "# %s with %s differs in range %u\n", name,
					modes[m], r);
				wrong++;
			}
		}
	}
	if (wrong && getenv("SALVO_RANDOM_SHOW"))
		fputs(text, stderr);
	for (m = 0; m < MODES; m++)
		cc_program_close(programs[m]);
	close(fd);
	if (ok || fd < 0)
		unlink(path);
	else
		fprintf(stderr, "# %s fails\n", path);
	return ok ? wrong : -1;
}

FIXTURE(random) {
	int unused;
};

FIXTURE_SETUP(random)
{
}

FIXTURE_TEARDOWN(random)
{
}

/* Deep trees of dominators once made the compiler use memory that it had freed. */
TEST_F_TIMEOUT(random, M4_kernels_that_crashed_the_compiler, 600)
{
	EXPECT_EQ(0, differing(3151, EACH));
}

/*
 * A row whose interior alone gains from lanes once ran the interior's code from the start
 * of the row, where its tests do not hold (k982).
 */
TEST_F_TIMEOUT(random, M4_borders_before_an_interior_run_work_item_by_work_item, 600)
{
	EXPECT_EQ(0, differing(981, 2));
}

/*
 * LLVM's uniformity analysis once ended its search for joins too early, and what a region returned
 * was that of its last block (k7310001).
 */
TEST_F_TIMEOUT(random, M4_ends_of_a_region_below_two_divergent_ways, 600)
{
	EXPECT_EQ(0, differing(7310000, 2));
}

/* The time is for a long run, on a busy machine. */
TEST_F_TIMEOUT(random, M4_kernels_give_the_same_bits_in_every_mode, 20000)
{
	const char *count = getenv("SALVO_RANDOM_KERNELS"), *first = getenv("SALVO_RANDOM_SEED");
	const uint32_t begin = first ? atoi(first) : 1;
	const uint32_t end = begin + (count ? atoi(count) : EACH);
	uint32_t seed;

	/* EXPECT_EQ() and its log are two statements. */
	for (seed = begin; seed < end; seed += EACH) {
		EXPECT_EQ(0, differing(seed, EACH)) {
			TH_LOG("seeds %u to %u", seed, seed + EACH - 1);
		}
	}
}

TEST_F_TIMEOUT(random, M4_kernels_of_the_second_kind, 600)
{
	EXPECT_EQ(0, differing(CC_RANDOM_SECOND, EACH / 2));
}

TEST_F_TIMEOUT(random, M4_barriers_behind_conditions, 1200)
{
	EXPECT_EQ(0, differing(CC_RANDOM_THIRD, EACH / 2));
}

/*
 * A store that moved down to a later one, and a load behind both that moved up to an earlier one,
 * once passed each other (k3000052).
 */
TEST_F_TIMEOUT(random, M4_neighbours_in_memory_and_lists, 600)
{
	EXPECT_EQ(0, differing(CC_RANDOM_FOURTH + 50, EACH / 2));
}

TEST_F_TIMEOUT(random, M4_loops_with_one_exit_and_parts_of_words, 600)
{
	EXPECT_EQ(0, differing(CC_RANDOM_FIFTH, EACH / 2));
}

/* One of them has tests of sums that wrap around between the first iteration and the last. */
TEST_F_TIMEOUT(random, M4_filters_with_loops_up_to_arguments, 600)
{
	EXPECT_EQ(0, differing(CC_RANDOM_SIXTH, EACH));
}

TEST_HARNESS_MAIN
