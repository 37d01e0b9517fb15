// SPDX-License-Identifier: MIT
/* hazard.c - the pipe controls that the library inserts itself (B4 of CN105940388) */
#include "kselftest_harness.h"
#include "salvo_validate.h"
#include "hazard.h"
#include "lib_test.h"

/* --- the analysis against a brute-force one --------------------------------- */

#define MOST_COMMANDS	130
#define MOST_REGIONS	4

struct random_batch {
	struct drm_salvo_command commands[MOST_COMMANDS];
	struct salvo_region_span spans[MOST_COMMANDS];
	struct salvo_region regions[MOST_COMMANDS * MOST_REGIONS];
	unsigned int region_count;
	unsigned int count;
};

static uint64_t seed = 1;

static uint32_t pick(uint32_t below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 33) % below;
}

static bool is_work(const struct random_batch *b, unsigned int i)
{
	return b->commands[i].type != DRM_SALVO_PIPE_CONTROL;
}

#define STYLES	5

/* Whole buffers; in the last style sometimes a part of one, or of a buffer that is not known */
static void make_buffer_region(struct salvo_region *region, bool parts)
{
	const uint32_t buffer = pick(16), pages = 1 + buffer % 3;

	region->memory = 0x100000000ull + buffer * 3 * 4096ull;
	region->start = region->memory;
	region->end = region->start + (pick(20) ? pages * 4096 - buffer : 0);
	region->access = pick(8) ? 1 + pick(3) : 0;
	region->argument = 0;
	if (parts && !pick(30))
		region->start += pick(region->end - region->start + 1);
	if (parts && !pick(60))
		region->memory = 0;
}

/* Few addresses, many, or aligned ranges that often coincide; adjacent or far apart */
static void make_region(struct salvo_region *region, unsigned int style, uint64_t apart)
{
	const uint32_t space = style == 0 ? 16 : style == 1 ? 4096 : 256;
	uint32_t size = 1 + pick(style == 1 ? 300 : style == 2 ? 4 : 6);

	if (style > 2) {
		make_buffer_region(region, style > 3);
		return;
	}
	region->start = pick(space);
	if (style == 2) {
		region->start = region->start / 8 * 8;
		size = 8 * size;
	}
	region->end = region->start + (pick(20) ? size : 0);
	region->start = 0x100000000ull + region->start * apart;
	region->end = 0x100000000ull + region->end * apart;
	region->access = pick(8) ? 1 + pick(3) : 0;
	region->argument = 0;
}

static void make_batch(struct random_batch *b, unsigned int count, unsigned int style)
{
	const uint64_t apart = pick(3) ? 1 : pick(1u << 20) << pick(20) | 1;
	unsigned int i, j, k = 0;

	memset(b, 0, sizeof(*b));
	b->count = count;
	for (i = 0; i < count; i++) {
		struct drm_salvo_command *cmd = &b->commands[i];

		b->spans[i].first = k;
		cmd->type = DRM_SALVO_DISPATCH;
		if (!pick(12)) {
			cmd->type = DRM_SALVO_PIPE_CONTROL;
			cmd->consumer = pick(count);
			cmd->producer = pick(count);
			if (!pick(5)) {
				cmd->flags = DRM_SALVO_PIPE_CONTROL_ALL;
				cmd->consumer = 0;
				cmd->producer = 0;
			}
			continue;
		}
		b->spans[i].count = pick(MOST_REGIONS + 1);
		for (j = 0; j < b->spans[i].count; j++)
			make_region(&b->regions[k++], style, apart);
	}
	b->region_count = k;
}

static bool conflict(const struct random_batch *b, unsigned int i, unsigned int j)
{
	unsigned int m, n;

	for (m = 0; m < b->spans[i].count; m++)
		for (n = 0; n < b->spans[j].count; n++) {
			const struct salvo_region *x = &b->regions[b->spans[i].first + m];
			const struct salvo_region *y = &b->regions[b->spans[j].first + n];

			if (x->start < x->end && y->start < y->end && x->start < y->end &&
			    y->start < x->end && x->access && y->access &&
			    (x->access | y->access) & SALVO_REGION_WRITE)
				return true;
		}
	return false;
}

/* needs[i][j]: j must wait for i. given: the application's own order. */
static void all_orders(const struct random_batch *b, bool needs[][MOST_COMMANDS],
		       bool given[][MOST_COMMANDS])
{
	unsigned int i, j, k;

	memset(needs, 0, sizeof(bool) * MOST_COMMANDS * MOST_COMMANDS);
	memset(given, 0, sizeof(bool) * MOST_COMMANDS * MOST_COMMANDS);
	for (k = 0; k < b->count; k++) {
		const struct drm_salvo_command *cmd = &b->commands[k];

		if (is_work(b, k))
			continue;
		if (!(cmd->flags & DRM_SALVO_PIPE_CONTROL_ALL)) {
			if (cmd->producer < cmd->consumer && is_work(b, cmd->producer) &&
			    is_work(b, cmd->consumer))
				given[cmd->producer][cmd->consumer] = true;
			continue;
		}
		for (i = 0; i < k; i++)
			for (j = k + 1; j < b->count; j++)
				given[i][j] = true;
	}
	for (i = 0; i < b->count; i++)
		for (j = i + 1; j < b->count; j++)
			needs[i][j] = given[i][j] || conflict(b, i, j);
}

/* The transitive reduction without @given, in O(n^3) */
static unsigned int brute_force(const struct random_batch *b, bool edges[][MOST_COMMANDS])
{
	static bool needs[MOST_COMMANDS][MOST_COMMANDS], given[MOST_COMMANDS][MOST_COMMANDS];
	static bool before[MOST_COMMANDS][MOST_COMMANDS];
	unsigned int i, j, k, count = 0;

	all_orders(b, needs, given);
	memcpy(before, needs, sizeof(before));
	for (k = 0; k < b->count; k++)
		for (i = 0; i < k; i++)
			for (j = k + 1; j < b->count && before[i][k]; j++)
				before[i][j] |= before[k][j];
	memset(edges, 0, sizeof(before));
	for (i = 0; i < b->count; i++)
		for (j = i + 1; j < b->count; j++) {
			bool direct = needs[i][j] && !given[i][j];

			for (k = i + 1; k < j && direct; k++)
				direct = !(before[i][k] && before[k][j]);
			edges[i][j] = direct;
			count += direct;
		}
	return count;
}

TEST(B4_pipe_controls_are_the_least_set_on_random_batches)
{
	static bool edges[MOST_COMMANDS][MOST_COMMANDS];
	static struct random_batch b;
	const unsigned int rounds = getenv("SALVO_ROUNDS") ? atoi(getenv("SALVO_ROUNDS")) : 3000;
	struct salvo_hazards *hazards = salvo_hazards_create();
	const struct salvo_hazard_edge *found;
	unsigned int round, count, wrong;
	int n, i;

	ASSERT_NE(NULL, hazards);
	for (round = 0; round < rounds; round++) {
		seed = round;
		make_batch(&b, 1 + pick(round % 16 ? 40 : MOST_COMMANDS - 1),
			   round % STYLES);
		count = brute_force(&b, edges);
		const struct salvo_hazard_input input = {
			b.commands, b.spans, b.regions, b.region_count, b.count, count, 0,
		};

		n = salvo_hazards_find(hazards, &input, &found);
		ASSERT_EQ(count, n) TH_LOG("round %u of %u commands", round, b.count);
		for (wrong = 0, i = 0; i < n; i++) {
			wrong += !edges[found[i].producer][found[i].consumer];
			edges[found[i].producer][found[i].consumer] = false;
			wrong += i && found[i].consumer < found[i - 1].consumer;
		}
		ASSERT_EQ(0, wrong) TH_LOG("round %u of %u commands", round, b.count);
	}
	salvo_hazards_destroy(hazards);
}

TEST(more_than_fit_are_refused_and_the_next_run_is_not_disturbed)
{
	static bool edges[MOST_COMMANDS][MOST_COMMANDS];
	static struct random_batch b;
	struct salvo_hazards *hazards = salvo_hazards_create();
	const struct salvo_hazard_edge *found;
	unsigned int round, count;

	ASSERT_NE(NULL, hazards);
	for (round = 0; round < 100; round++) {
		struct salvo_hazard_input input = { b.commands, b.spans, b.regions, 0, 0, 0, 0 };

		seed = round;
		make_batch(&b, 60, 0);
		count = brute_force(&b, edges);
		ASSERT_LT(3, count);
		input.region_count = b.region_count;
		input.count = b.count;
		input.most = pick(count);
		EXPECT_EQ(-E2BIG, salvo_hazards_find(hazards, &input, &found));
		input.most = count;
		EXPECT_EQ(count, salvo_hazards_find(hazards, &input, &found));
	}
	salvo_hazards_destroy(hazards);
}

/* reach[i][j]: @n pipe controls and those of the application order i before j. */
static void close_order(const struct random_batch *b, const struct salvo_hazard_edge *found, int n,
			bool reach[][MOST_COMMANDS])
{
	static bool needs[MOST_COMMANDS][MOST_COMMANDS];
	unsigned int i, j, k;

	all_orders(b, needs, reach);
	for (i = 0; i < (unsigned int)n; i++)
		reach[found[i].producer][found[i].consumer] = true;
	for (k = 0; k < b->count; k++)
		for (i = 0; i < k; i++)
			for (j = k + 1; j < b->count && reach[i][k]; j++)
				reach[i][j] |= reach[k][j];
}

TEST(segments_order_all_that_conflict)
{
	static bool needs[MOST_COMMANDS][MOST_COMMANDS], given[MOST_COMMANDS][MOST_COMMANDS];
	static bool reach[MOST_COMMANDS][MOST_COMMANDS];
	static struct random_batch b;
	struct salvo_hazards *hazards = salvo_hazards_create();
	struct salvo_hazard_input input = { b.commands, b.spans, b.regions, 0, 0, 0, 0 };
	const struct salvo_hazard_edge *found;
	unsigned int round, i, j, wrong;
	int n;

	ASSERT_NE(NULL, hazards);
	for (round = 0; round < 300; round++) {
		seed = round;
		make_batch(&b, 1 + pick(MOST_COMMANDS - 1), round % 3);
		input.region_count = b.region_count;
		input.count = b.count;
		input.most = 100000;
		input.segment = 1u << round % 7;
		n = salvo_hazards_find(hazards, &input, &found);
		ASSERT_LE(0, n);
		if (input.segment == 1)
			EXPECT_GT(b.count, n);
		close_order(&b, found, n, reach);
		all_orders(&b, needs, given);
		for (wrong = 0, i = 0; i < b.count; i++)
			for (j = i + 1; j < b.count; j++)
				wrong += is_work(&b, i) && is_work(&b, j) && needs[i][j] &&
					 !reach[i][j];
		ASSERT_EQ(0, wrong) TH_LOG("round %u of %u commands", round, b.count);
	}
	salvo_hazards_destroy(hazards);
}

/* --- batches ---------------------------------------------------------------- */

FIXTURE(hazard) {
	struct bench b;
	struct salvo_kernel *chain;
};

FIXTURE_SETUP(hazard)
{
	ASSERT_EQ(0, bench_open(&self->b));
	self->chain = bench_kernel(&self->b, "chain");
	ASSERT_NE(NULL, self->chain);
	ASSERT_EQ(0, salvo_batch_enable_hazards(self->b.batch));
}

FIXTURE_TEARDOWN(hazard)
{
	salvo_kernel_destroy(self->chain);
	bench_close(&self->b);
}

/* out = in * factor + term, of words of the buffer. */
static int add_chain(struct bench *b, struct salvo_kernel *chain, unsigned int in,
		     unsigned int out, uint32_t factor, uint32_t term)
{
	const uint32_t one = 1;

	salvo_kernel_set_bo_range(chain, 0, b->bo, in * 4, 4);
	salvo_kernel_set_bo_range(chain, 1, b->bo, out * 4, 4);
	salvo_kernel_set_value(chain, 2, &factor, sizeof(factor));
	salvo_kernel_set_value(chain, 3, &term, sizeof(term));
	salvo_kernel_set_grid(chain, 1, &one, NULL);
	return salvo_batch_dispatch(b->batch, chain);
}

/* Has cause @index this kind, commands and arguments? */
#define EXPECT_HAZARD(index, kind_, consumer_, argument_, producer_, argument2_) do { \
	struct salvo_hazard h_; \
	ASSERT_EQ(0, salvo_batch_get_hazard(self->b.batch, index, &h_)); \
	EXPECT_EQ(kind_, h_.kind); \
	EXPECT_EQ(consumer_, h_.consumer); \
	EXPECT_EQ(argument_, h_.consumer_argument); \
	EXPECT_EQ(producer_, h_.producer); \
	EXPECT_EQ(argument2_, h_.producer_argument); \
} while (0)

#define EXPECT_NO_HAZARD(index) do { \
	struct salvo_hazard h_; \
	EXPECT_EQ(-ENOENT, salvo_batch_get_hazard(self->b.batch, index, &h_)); \
} while (0)

TEST_F(hazard, B4_raw_war_and_waw_are_told_with_their_arguments)
{
	struct salvo_hazard hazard;

	ASSERT_EQ(0, add_chain(&self->b, self->chain, 0, 1, 1, 1));
	ASSERT_EQ(1, add_chain(&self->b, self->chain, 1, 2, 1, 1));	/* reads what 0 wrote */
	ASSERT_EQ(2, add_chain(&self->b, self->chain, 3, 0, 1, 1));	/* writes what 0 read */
	ASSERT_EQ(3, add_chain(&self->b, self->chain, 4, 2, 1, 1));	/* writes what 1 wrote */
	ASSERT_EQ(4, add_chain(&self->b, self->chain, 8, 9, 1, 1));	/* independent */
	EXPECT_HAZARD(0, SALVO_HAZARD_RAW, 1, 0, 0, 1);
	EXPECT_HAZARD(1, SALVO_HAZARD_WAR, 2, 1, 0, 0);
	EXPECT_HAZARD(2, SALVO_HAZARD_WAW, 3, 1, 1, 1);
	EXPECT_NO_HAZARD(3);
	ASSERT_EQ(0, salvo_batch_get_hazard(self->b.batch, 0, &hazard));
	EXPECT_EQ(5, hazard.command);
	EXPECT_EQ(salvo_bo_address(self->b.bo) + 4, hazard.address);
	EXPECT_EQ(4, hazard.size);
	EXPECT_EQ(5, salvo_batch_count(self->b.batch));
	EXPECT_EQ(0, bench_run(&self->b));
}

TEST_F(hazard, B4_overlap_is_that_of_the_ranges)
{
	struct salvo_batch *batch = self->b.batch;
	struct salvo_bo *bo = self->b.bo;

	ASSERT_EQ(0, salvo_batch_fill(batch, bo, 0, 64, 1));
	ASSERT_EQ(1, salvo_batch_fill(batch, bo, 64, 64, 2));		/* next to it */
	ASSERT_EQ(2, salvo_batch_copy(batch, bo, 4096, bo, 63, 1));	/* the last byte of 0 */
	ASSERT_EQ(3, salvo_batch_copy(batch, bo, 8192, bo, 128, 64));	/* past 1 */
	ASSERT_EQ(4, salvo_batch_timestamp(batch, bo, 4096));		/* over the copy */
	EXPECT_HAZARD(0, SALVO_HAZARD_RAW, 2, 1, 0, 0);
	EXPECT_HAZARD(1, SALVO_HAZARD_WAW, 4, 0, 2, 0);
	EXPECT_NO_HAZARD(2);
}

TEST_F(hazard, B4_transitive_ones_are_left_out_and_given_ones_count)
{
	struct salvo_batch *batch = self->b.batch;
	int i;

	/* Each reads the previous one's result, and all write the same word: a chain. */
	for (i = 0; i < 6; i++)
		ASSERT_EQ(i, add_chain(&self->b, self->chain, 1, 1, 3, i));
	ASSERT_EQ(6, salvo_batch_pipe_control(batch, 2, 1));
	ASSERT_EQ(7, salvo_batch_pipe_control(batch, 5, 3));
	for (i = 0; i < 12; i++) {
		/* RAW, WAR and WAW of each of the pairs 0-1, 2-3, 3-4, 4-5. */
		static const unsigned int consumers[] = { 1, 3, 4, 5 };
		struct salvo_hazard hazard;

		ASSERT_EQ(0, salvo_batch_get_hazard(batch, i, &hazard));
		EXPECT_EQ(consumers[i / 3], hazard.consumer);
		EXPECT_EQ(hazard.consumer - 1, hazard.producer);
		EXPECT_EQ(8 + i / 3, hazard.command);
	}
	EXPECT_NO_HAZARD(12);
	salvo_batch_reset(batch);
	EXPECT_NO_HAZARD(0);
	ASSERT_EQ(0, add_chain(&self->b, self->chain, 0, 1, 3, 1));
	ASSERT_EQ(1, salvo_batch_barrier(batch));
	ASSERT_EQ(2, add_chain(&self->b, self->chain, 1, 2, 3, 1));
	EXPECT_NO_HAZARD(0);
	ASSERT_EQ(3, add_chain(&self->b, self->chain, 2, 3, 3, 1));
	EXPECT_HAZARD(0, SALVO_HAZARD_RAW, 3, 0, 2, 1);
	EXPECT_NO_HAZARD(1);
}

TEST_F(hazard, B4_a_whole_buffer_is_the_range_that_is_not_given)
{
	const uint32_t zero = 0, one = 1;

	ASSERT_EQ(0, salvo_batch_fill(self->b.batch, self->b.bo, 65532, 4, 1));
	salvo_kernel_set_bo(self->chain, 0, self->b.bo, 1024);
	salvo_kernel_set_bo(self->chain, 1, NULL, 0);
	salvo_kernel_set_value(self->chain, 2, &zero, sizeof(zero));
	salvo_kernel_set_value(self->chain, 3, &zero, sizeof(zero));
	salvo_kernel_set_grid(self->chain, 1, &one, NULL);
	ASSERT_EQ(1, salvo_batch_dispatch(self->b.batch, self->chain));
	ASSERT_EQ(2, salvo_batch_fill(self->b.batch, self->b.bo, 0, 1024, 1));
	EXPECT_HAZARD(0, SALVO_HAZARD_RAW, 1, 0, 0, 0);
	EXPECT_NO_HAZARD(1);
}

/* 70 producers and 70 consumers of all of them; then each word that was read is written. */
TEST_F(hazard, B4_more_pipe_controls_than_a_batch_holds)
{
	enum { WORDS = 70 };
	const uint32_t at = 4 * WORDS;
	unsigned int i, j;

	for (i = 0; i < WORDS; i++)
		ASSERT_EQ(i, salvo_batch_fill(self->b.batch, self->b.bo, 4 * i, 4, i + 1));
	for (i = 0; i < WORDS; i++)
		ASSERT_LT(0, salvo_batch_copy(self->b.batch, self->b.bo, (i + 1) * at,
					      self->b.bo, 0, at));
	for (i = 0; i < WORDS; i++)
		ASSERT_LT(0, salvo_batch_fill(self->b.batch, self->b.bo, 4 * i, 4, 1000 + i));
	ASSERT_EQ(0, bench_run(&self->b)) TH_LOG("%s", salvo_batch_error(self->b.batch));
	for (i = 0; i < WORDS; i++) {
		EXPECT_EQ(1000 + i, self->b.map[i]);
		for (j = 0; j < WORDS; j++)
			ASSERT_EQ(j + 1, self->b.map[(i + 1) * WORDS + j]);
	}
}

TEST_F(hazard, B4_wrong_ranges)
{
	EXPECT_EQ(-EINVAL, salvo_kernel_set_bo_range(self->chain, 0, self->b.bo, 65536, 0));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_bo_range(self->chain, 0, self->b.bo, 65532, 5));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_bo_range(self->chain, 0, self->b.bo, 4, UINT64_MAX));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_bo_range(self->chain, 0, NULL, 0, 4));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_bo_range(self->chain, 2, self->b.bo, 0, 4));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_bo_range(self->chain, 9, self->b.bo, 0, 4));
	EXPECT_EQ(0, salvo_kernel_set_bo_range(self->chain, 0, self->b.bo, 65532, 4));
}

TEST_F(hazard, B4_random_batches_compute_what_their_order_says)
{
	enum { WORDS = 24 };
	uint32_t expected[WORDS];
	unsigned int round, i, in, out, factor;

	for (round = 0; round < 60; round++) {
		seed = round;
		for (i = 0; i < WORDS; i++)
			self->b.map[i] = expected[i] = round + i;
		salvo_batch_reset(self->b.batch);
		for (i = 0; i < 200; i++) {
			in = pick(WORDS);
			out = pick(WORDS);
			factor = 2 * pick(1000) + 1;
			expected[out] = expected[in] * factor + i;
			ASSERT_EQ(i, add_chain(&self->b, self->chain, in, out, factor, i));
		}
		ASSERT_EQ(0, bench_run(&self->b));
		ASSERT_EQ(0, memcmp(expected, self->b.map, sizeof(expected)));
	}
}

TEST_F(hazard, B4_a_batch_that_grows_is_looked_at_again)
{
	struct salvo_profile first, second;
	int i;

	self->b.map[0] = 1;
	ASSERT_EQ(0, salvo_batch_enable_profile(self->b.batch));
	for (i = 0; i < 100; i++) {
		ASSERT_EQ(i, add_chain(&self->b, self->chain, i, i + 1, 1, 1));
		if (i % 10 == 9)
			ASSERT_EQ(0, bench_run(&self->b));
		/* Unchanged when it is submitted a second time. */
		if (i % 20 == 19)
			ASSERT_EQ(0, bench_run(&self->b));
	}
	EXPECT_EQ(101, self->b.map[100]);
	ASSERT_EQ(0, salvo_batch_get_profile(self->b.batch, 98, &first));
	ASSERT_EQ(0, salvo_batch_get_profile(self->b.batch, 99, &second));
	EXPECT_GE(second.started, first.ended);
	/* 99 pipe controls were appended. */
	EXPECT_EQ(0, salvo_batch_get_profile(self->b.batch, 198, &first));
	EXPECT_EQ(-EINVAL, salvo_batch_get_profile(self->b.batch, 199, &first));
}

TEST_F(hazard, B4_what_does_not_fit_is_refused)
{
	struct salvo_batch *batch = self->b.batch;
	const unsigned int half = self->b.info.max_commands / 2;
	unsigned int i;

	/* A chain needs a pipe control less than it has commands. */
	for (i = 0; i < half; i++)
		ASSERT_LE(0, salvo_batch_fill(batch, self->b.bo, 0, 4, i));
	EXPECT_EQ(0, bench_run(&self->b));
	EXPECT_EQ(half - 1, self->b.map[0]);
	ASSERT_LE(0, salvo_batch_fill(batch, self->b.bo, 0, 4, i));
	EXPECT_EQ(-E2BIG, salvo_queue_submit(self->b.queue, batch, NULL, 0, NULL));
	EXPECT_NE(NULL, strstr(salvo_batch_error(batch), "pipe controls"));
}

TEST_HARNESS_MAIN
