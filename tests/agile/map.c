// SPDX-License-Identifier: MIT
/* map.c - indices, maps and decompositions of agile arrays, against plain models */
#include "kselftest_harness.h"

#include <errno.h>

#include "agile_test.h"

FIXTURE(map) {
	struct salvo_agile *agile;
	struct salvo_agile_map *map;
};

FIXTURE_SETUP(map)
{
	ASSERT_EQ(0, salvo_agile_create(NULL, 4, &self->agile));
	self->map = NULL;
}

FIXTURE_TEARDOWN(map)
{
	salvo_agile_map_destroy(self->map);
	salvo_agile_destroy(self->agile);
}

TEST(A1_an_index_is_a_tuple_and_a_grid_has_extent_and_offset)
{
	const struct salvo_agile_grid grid = { 3, { 5, 0, 7 }, { 4, 3, 2 } };
	struct salvo_agile_grid common;
	uint64_t n;

	ASSERT_EQ(24, salvo_agile_grid_count(&grid));
	for (n = 0; n < 24; n++) {
		const struct salvo_agile_index at = salvo_agile_grid_index(&grid, n);

		EXPECT_EQ(5 + n / 6, at.at[0]);
		EXPECT_EQ(n / 2 % 3, at.at[1]);
		EXPECT_EQ(7 + n % 2, at.at[2]);
		EXPECT_TRUE(salvo_agile_grid_contains(&grid, &at));
		EXPECT_EQ(n, salvo_agile_grid_number(&grid, &at));
	}
	EXPECT_FALSE(salvo_agile_grid_contains(&grid, &(struct salvo_agile_index){ { 4, 0, 7 } }));
	EXPECT_FALSE(salvo_agile_grid_contains(&grid, &(struct salvo_agile_index){ { 5, 3, 7 } }));
	ASSERT_TRUE(salvo_agile_grid_intersect(&grid, &(struct salvo_agile_grid){
		3, { 6, 1, 0 }, { 100, 1, 8 } }, &common));
	EXPECT_EQ(6, common.offset[0]);
	EXPECT_EQ(3, common.extent[0]);
	EXPECT_EQ(1, common.extent[2]);
	EXPECT_FALSE(salvo_agile_grid_intersect(&grid, &(struct salvo_agile_grid){
		3, { 9, 0, 7 }, { 1, 1, 1 } }, &common));
}

static int node_of(const struct salvo_agile_map *map, uint64_t y, uint64_t x)
{
	const int segment = salvo_agile_map_find(map, &(struct salvo_agile_index){ { y, x } });

	return segment < 0 ? segment : (int)salvo_agile_map_segment(map, segment)->node;
}

/* The worked example: node 1 gets segments 1, 5, 9; node 2 2, 6; node 3 3, 7; node 4 4, 8. */
TEST_F(map, A3_row_block_cyclic_as_published)
{
	static const char nodes[] = "001122" "001122" "330011" "330011" "223300" "223300";
	const struct salvo_agile_grid grid = { 2, { 0, 0 }, { 6, 6 } };
	const struct salvo_agile_decomposition how = {
		.kind = SALVO_AGILE_BLOCK_CYCLIC, .block = { 2, 2 } };
	unsigned int i;

	ASSERT_EQ(0, salvo_agile_map_create(self->agile, "C", &grid, &how, &self->map));
	ASSERT_EQ(9, salvo_agile_map_count(self->map));
	for (i = 0; i < 9; i++)
		EXPECT_EQ(i % 4, salvo_agile_map_segment(self->map, i)->node);
	for (i = 0; i < 36; i++)
		EXPECT_EQ(nodes[i] - '0', node_of(self->map, i / 6, i % 6));
}

TEST_F(map, A3_every_decomposition_by_rows_and_by_columns)
{
	const uint32_t three[] = { 3, 1 }, four[] = { 1, 2, 4, 5 }, two[] = { 2, 1 };
	const struct {
		struct salvo_agile_decomposition how;
		const char *nodes;	/* of a 4 x 6 grid */
	} cases[] = {
		{ { SALVO_AGILE_BLOCK, 0, 2, NULL, { 0 } }, "000000" "000000" "111111" "111111" },
		{ { SALVO_AGILE_BLOCK, 1, 3, NULL, { 0 } }, "001122" "001122" "001122" "001122" },
		{ { SALVO_AGILE_CYCLIC, 0, 3, NULL, { 0 } }, "000000" "111111" "222222" "000000" },
		{ { SALVO_AGILE_CYCLIC, 1, 4, NULL, { 0 } }, "012301" "012301" "012301" "012301" },
		{ { SALVO_AGILE_BLOCK_BLOCK, 0, 4, NULL, { 0 } },
		  "000111" "000111" "222333" "222333" },
		{ { SALVO_AGILE_BLOCK_BLOCK, 1, 4, NULL, { 0 } },
		  "000222" "000222" "111333" "111333" },
		{ { SALVO_AGILE_BLOCK_CYCLIC, 1, 3, NULL, { 2, 2 } },
		  "002211" "002211" "110022" "110022" },
		{ { SALVO_AGILE_BLOCK, 0, 2, three, { 0 } },
		  "000000" "000000" "000000" "111111" },
		{ { SALVO_AGILE_BLOCK_BLOCK, 0, 4, four, { 0 } },
		  "001111" "222333" "222333" "222333" },
		{ { SALVO_AGILE_CYCLIC, 1, 2, two, { 0 } },
		  "010010" "010010" "010010" "010010" },
	};
	const struct salvo_agile_grid grid = { 2, { 0, 0 }, { 4, 6 } };
	unsigned int c, i;

	for (c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		char nodes[25] = "";

		ASSERT_EQ(0, salvo_agile_map_create(self->agile, "C", &grid, &cases[c].how,
						    &self->map));
		for (i = 0; i < 24; i++)
			nodes[i] = '0' + node_of(self->map, i / 6, i % 6);
		EXPECT_STREQ(cases[c].nodes, nodes)
			TH_LOG("case %u", c);
		salvo_agile_map_destroy(self->map);
		self->map = NULL;
	}
}

TEST_F(map, A2_from_split_points)
{
	static const uint64_t rows[] = { 3 }, columns[] = { 1, 4 };
	static const uint64_t *const splits[] = { rows, columns };
	static const unsigned int counts[] = { 1, 2 };
	static const uint32_t nodes[] = { 3, 2, 1, 0, 3, 2 };
	static const char expected[] = "322211" "322211" "322211" "033322";
	const struct salvo_agile_grid grid = { 2, { 0, 0 }, { 4, 6 } };
	unsigned int i;

	ASSERT_EQ(0, salvo_agile_map_create_splits(self->agile, "S", &grid, splits, counts, nodes,
						   &self->map));
	for (i = 0; i < 24; i++)
		EXPECT_EQ(expected[i] - '0', node_of(self->map, i / 6, i % 6));
}

#define EXPECT_REFUSED(error, words, call) do { \
	EXPECT_EQ(error, call); \
	EXPECT_NE(NULL, strstr(salvo_agile_error(self->agile), words)) \
		TH_LOG("%s", salvo_agile_error(self->agile)); \
	EXPECT_EQ(NULL, self->map); \
} while (0)

TEST_F(map, A2_errors_name_map_segment_and_limit)
{
	const struct salvo_agile_grid grid = { 2, { 0, 0 }, { 4, 6 } };
	const struct salvo_agile_grid none = { 0, { 0 }, { 0 } }, flat = { 2, { 0 }, { 4, 0 } };
	const struct salvo_agile_grid far = { 1, { 1 }, { UINT64_MAX } };
	static const uint64_t bad[] = { 4, 2 };
	static const uint64_t *const splits[] = { NULL, bad };
	struct salvo_agile_segment s[3] = {
		{ { 2, { 0, 0 }, { 4, 3 } }, 0 }, { { 2, { 0, 3 }, { 2, 3 } }, 1 },
		{ { 2, { 2, 3 }, { 2, 3 } }, 2 },
	};
	struct salvo_agile_decomposition how = { .kind = 4 };

#define SEGMENTS salvo_agile_map_create_segments(self->agile, "M", &grid, s, 3, &self->map)
	s[2].grid.offset[0] = 1;
	EXPECT_REFUSED(-EINVAL, "map M: segments 1 and 2 overlap", SEGMENTS);
	s[2].grid = (struct salvo_agile_grid){ 2, { 3, 3 }, { 1, 3 } };
	EXPECT_REFUSED(-EINVAL, "map M: no segment covers the index 2, 3", SEGMENTS);
	s[2].grid = (struct salvo_agile_grid){ 2, { 2, 3 }, { 3, 3 } };
	EXPECT_REFUSED(-EINVAL, "map M: segment 2 is empty or not inside", SEGMENTS);
	s[2].grid = (struct salvo_agile_grid){ 2, { 2, 3 }, { 2, 0 } };
	EXPECT_REFUSED(-EINVAL, "map M: segment 2 is empty or not inside", SEGMENTS);
	s[2].grid = (struct salvo_agile_grid){ 2, { 2, 3 }, { UINT64_MAX, 3 } };
	EXPECT_REFUSED(-EINVAL, "the limit is 4", SEGMENTS);
	s[2] = (struct salvo_agile_segment){ { 2, { 2, 3 }, { 2, 3 } }, 4 };
	EXPECT_REFUSED(-EINVAL, "map M: segment 2 is on node 4, must be below 4", SEGMENTS);
	s[2] = (struct salvo_agile_segment){ { 1, { 2 }, { 2 } }, 2 };
	EXPECT_REFUSED(-EINVAL, "map M: segment 2 has rank 1", SEGMENTS);
	s[0].grid.extent[1] = 2;
	s[1] = s[2] = s[0];
	EXPECT_REFUSED(-EINVAL, "overlap", SEGMENTS);
	EXPECT_REFUSED(-EINVAL, "covers", salvo_agile_map_create_segments(self->agile, "M", &grid, s,
									  1, &self->map));
	EXPECT_REFUSED(-EINVAL, "no segment", salvo_agile_map_create_segments(self->agile, "M",
							&grid, NULL, 0, &self->map));
#define DECOMPOSE(grid) salvo_agile_map_create(self->agile, "D", grid, &how, &self->map)
	EXPECT_REFUSED(-EINVAL, "decomposition 4", DECOMPOSE(&grid));
	how.kind = SALVO_AGILE_BLOCK;
	EXPECT_REFUSED(-EINVAL, "rank is 0, must be 1 to 4", DECOMPOSE(&none));
	EXPECT_REFUSED(-EINVAL, "extent 1 is 0", DECOMPOSE(&flat));
	EXPECT_REFUSED(-EINVAL, "2^32", DECOMPOSE(&far));
	how.nodes = 5;
	EXPECT_REFUSED(-EINVAL, "5 nodes, at most 4", DECOMPOSE(&grid));
	how = (struct salvo_agile_decomposition){ .weights = (uint32_t[]){ 0, 0, 0, 0 } };
	EXPECT_REFUSED(-EINVAL, "all weights are 0", DECOMPOSE(&grid));
	how = (struct salvo_agile_decomposition){
		.kind = SALVO_AGILE_BLOCK_CYCLIC, .block = { 1, 1 } };
	EXPECT_REFUSED(-E2BIG, "more than 16777216 segments",
		       DECOMPOSE(&((struct salvo_agile_grid){ 2, { 0 }, { 6144, 6144 } })));
	EXPECT_REFUSED(-EINVAL, "split point 0 of dimension 0", salvo_agile_map_create_splits(
		self->agile, "P", &grid, (const uint64_t *const[]){ bad, NULL },
		(const unsigned int[]){ 1, 0 }, NULL, &self->map));
	EXPECT_REFUSED(-EINVAL, "split point 1 of dimension 1", salvo_agile_map_create_splits(
		self->agile, "P", &grid, splits, (const unsigned int[]){ 0, 2 }, NULL, &self->map));
}

/* Cut the grid in two at random, again and again: irregular segments. */
static unsigned int cut(uint64_t *seed, const struct salvo_agile_grid *grid,
			struct salvo_agile_segment *segments)
{
	unsigned int count = 1, want = 1 + pick(seed, 12);

	segments[0].grid = *grid;
	while (count < want) {
		struct salvo_agile_grid *part = &segments[pick(seed, count)].grid;
		const unsigned int d = pick(seed, grid->rank);
		uint64_t at;

		if (part->extent[d] < 2) {
			want--;
			continue;
		}
		at = 1 + pick(seed, part->extent[d] - 1);
		segments[count].grid = *part;
		segments[count].grid.offset[d] += at;
		segments[count++].grid.extent[d] -= at;
		part->extent[d] = at;
	}
	for (unsigned int i = 0; i < count; i++)
		segments[i].node = pick(seed, 4);
	return count;
}

static struct salvo_agile_grid random_grid(uint64_t *seed)
{
	struct salvo_agile_grid grid = { .rank = 1 + pick(seed, 4) };

	for (unsigned int d = 0; d < grid.rank; d++) {
		grid.offset[d] = pick(seed, 3) ? 0 : pick(seed, 100);
		grid.extent[d] = 1 + pick(seed, grid.rank > 2 ? 6 : 20);
	}
	return grid;
}

/* Each index is in exactly the segment that a search through all of them finds. */
TEST_F(map, A2_ten_thousand_random_maps)
{
	struct salvo_agile_segment segments[16];
	unsigned int m, i, wrong = 0, refused = 0;
	uint64_t seed = 7, n;

	for (m = 0; m < 10000; m++) {
		const struct salvo_agile_grid grid = random_grid(&seed);
		const unsigned int count = cut(&seed, &grid, segments);
		const bool spoil = pick(&seed, 4) == 0;
		uint64_t covered = 0;
		int err;

		/* One element more or less than there should be. */
		if (spoil) {
			struct salvo_agile_grid *part = &segments[pick(&seed, count)].grid;
			const unsigned int d = pick(&seed, grid.rank);

			part->extent[d] += pick(&seed, 2) ? 1 : -1;
		}
		err = salvo_agile_map_create_segments(self->agile, "random", &grid, segments, count,
						      &self->map);
		if (spoil) {
			refused += err == -EINVAL;
			wrong += err != -EINVAL;
			continue;
		}
		ASSERT_EQ(0, err)
			TH_LOG("%s", salvo_agile_error(self->agile));
		for (n = 0; n < salvo_agile_grid_count(&grid); n += 1 + pick(&seed, 3)) {
			const struct salvo_agile_index at = salvo_agile_grid_index(&grid, n);

			for (i = 0; !salvo_agile_grid_contains(&segments[i].grid, &at); i++)
				;
			wrong += salvo_agile_map_find(self->map, &at) != (int)i;
		}
		for (i = 0; i < count; i++)
			covered += salvo_agile_grid_count(&segments[i].grid);
		wrong += covered != salvo_agile_grid_count(&grid);
		salvo_agile_map_destroy(self->map);
		self->map = NULL;
	}
	EXPECT_EQ(0, wrong);
	EXPECT_GT(refused, 2000);
}

/* A place of any index: blocks that hold each other, each task and block in the right segment. */
TEST_F(map, A4_each_block_finds_the_one_around_it)
{
	struct salvo_agile_segment segments[16];
	uint64_t seed = 11, n;
	unsigned int m;

	for (m = 0; m < 1000; m++) {
		const struct salvo_agile_grid grid = random_grid(&seed);
		const unsigned int count = cut(&seed, &grid, segments);
		struct salvo_agile_field_info info = { .element_bytes = 1 + pick(&seed, 40) };
		struct salvo_agile_place place, again;
		struct salvo_agile_field *field;
		uint64_t tasks = 0;

		for (unsigned int d = 0; d < grid.rank; d++) {
			info.memory_block[d] = pick(&seed, 8);
			info.task_block[d] = pick(&seed, 4);
		}
		ASSERT_EQ(0, salvo_agile_map_create_segments(self->agile, "random", &grid, segments,
							     count, &self->map));
		ASSERT_EQ(0, salvo_agile_field_create(self->agile, "F", self->map, &info, &field));
		salvo_agile_map_destroy(self->map);
		self->map = NULL;
		for (n = 0; n < salvo_agile_grid_count(&grid); n++) {
			const struct salvo_agile_index at = salvo_agile_grid_index(&grid, n);

			ASSERT_EQ(0, salvo_agile_field_locate(field, &at, &place));
			ASSERT_TRUE(salvo_agile_grid_contains(&place.task_grid, &at));
			ASSERT_TRUE(salvo_agile_grid_contains(&place.segment_grid, &at));
			ASSERT_TRUE(salvo_agile_grid_intersect(&place.task_grid, &place.block_grid,
							       &again.task_grid));
			ASSERT_EQ(0, memcmp(&again.task_grid, &place.task_grid,
					    sizeof(place.task_grid)));
			ASSERT_TRUE(salvo_agile_grid_intersect(&place.block_grid,
							       &place.segment_grid,
							       &again.block_grid));
			ASSERT_EQ(0, memcmp(&again.block_grid, &place.block_grid,
					    sizeof(place.block_grid)));
			ASSERT_EQ(segments[place.segment].node, place.node);
			ASSERT_EQ(0, salvo_agile_field_task(field, place.task, &again));
			ASSERT_EQ(0, memcmp(&again, &place, sizeof(place)));
		}
		for (n = 0; n < salvo_agile_field_tasks(field); n++) {
			ASSERT_EQ(0, salvo_agile_field_task(field, n, &place));
			tasks += salvo_agile_grid_count(&place.task_grid);
		}
		ASSERT_EQ(salvo_agile_grid_count(&grid), tasks);
		EXPECT_EQ(-ENOENT, salvo_agile_field_task(field, n, &place));
		salvo_agile_field_destroy(field);
	}
}

TEST_HARNESS_MAIN
