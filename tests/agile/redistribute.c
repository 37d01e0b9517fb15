// SPDX-License-Identifier: MIT
/* redistribute.c - from one random map to another: bytes against a model, data through real GPUs */
#include "kselftest_harness.h"

#include "random_field.h"

#define MOST 2500u

static struct salvo_agile_grid random_grid(uint64_t *seed)
{
	struct salvo_agile_grid grid = { .rank = 1 + pick(seed, 4) };

	for (unsigned int d = 0; d < grid.rank; d++) {
		grid.offset[d] = pick(seed, 3) ? 0 : pick(seed, 50);
		grid.extent[d] = 1 + pick(seed, grid.rank > 2 ? 5 : 20);
	}
	return grid;
}

/* Elements whose owners differ, found one by one. */
static uint64_t model_bytes(const struct salvo_agile_grid *grid, struct salvo_agile_field *a,
			    struct salvo_agile_field *b, size_t element)
{
	struct salvo_agile_place from, to;
	uint64_t n, bytes = 0;

	for (n = 0; n < salvo_agile_grid_count(grid); n++) {
		const struct salvo_agile_index at = salvo_agile_grid_index(grid, n);

		salvo_agile_field_locate(a, &at, &from);
		salvo_agile_field_locate(b, &at, &to);
		bytes += from.node != to.node ? element : 0;
	}
	return bytes;
}

TEST(A5_ten_thousand_redistributions_move_the_least_that_two_maps_imply)
{
	struct salvo_agile *agile;
	uint64_t seed = 5, moved = 0, expected;
	unsigned int i, wrong = 0;

	ASSERT_EQ(0, salvo_agile_create(NULL, NODES, &agile));
	for (i = 0; i < 10000; i++) {
		const struct salvo_agile_grid grid = random_grid(&seed);
		const size_t element = 1 + pick(&seed, 24);
		struct salvo_agile_field *a = random_field(agile, &seed, &grid, element);
		struct salvo_agile_field *b = random_field(agile, &seed, &grid, element);

		expected = moved + model_bytes(&grid, a, b, element);
		wrong += salvo_agile_redistribute(agile, b, a) != 0;
		moved = all_stats(agile, NODES).moved_bytes;
		wrong += moved != expected;
		salvo_agile_field_destroy(a);
		salvo_agile_field_destroy(b);
	}
	EXPECT_EQ(0, wrong);
	EXPECT_GT(moved, 1000000);
	salvo_agile_destroy(agile);
}

TEST(A5_data_arrives_where_the_other_map_says)
{
	static uint8_t in[MOST * 24], out[MOST * 24];
	uint64_t seed = 6, before, expected;
	struct cluster c;
	unsigned int i, k;

	ASSERT_EQ(0, cluster_open(&c, NODES));
	for (i = 0; i < 150; i++) {
		const struct salvo_agile_grid grid = random_grid(&seed);
		const size_t element = 1 + pick(&seed, 24);
		const size_t bytes = salvo_agile_grid_count(&grid) * element;
		struct salvo_agile_field *a = random_field(c.agile, &seed, &grid, element);
		struct salvo_agile_field *b = random_field(c.agile, &seed, &grid, element);

		ASSERT_LE(bytes, sizeof(in));
		for (k = 0; k < bytes; k++)
			in[k] = pick(&seed, 256);
		ASSERT_EQ(0, field_access(c.agile, a, &grid, in, element, SALVO_AGILE_WRITE))
			TH_LOG("%s", salvo_agile_error(c.agile));
		before = all_stats(c.agile, NODES).moved_bytes;
		expected = model_bytes(&grid, a, b, element);
		ASSERT_EQ(0, salvo_agile_redistribute(c.agile, b, a))
			TH_LOG("%s", salvo_agile_error(c.agile));
		ASSERT_EQ(before + expected, all_stats(c.agile, NODES).moved_bytes);
		ASSERT_EQ(0, field_access(c.agile, b, &grid, out, element, SALVO_AGILE_READ))
			TH_LOG("%s", salvo_agile_error(c.agile));
		ASSERT_EQ(0, memcmp(in, out, bytes)) TH_LOG("round %u", i);
		salvo_agile_field_destroy(a);
		salvo_agile_field_destroy(b);
	}
	cluster_close(&c);
}

/* More commands than a batch can have: they go out as several. */
TEST(A5_a_map_of_very_many_segments)
{
	const struct salvo_agile_grid grid = { 1, { 0 }, { 20000 } };
	const struct salvo_agile_decomposition cyclic = { .kind = SALVO_AGILE_CYCLIC };
	const struct salvo_agile_decomposition one = { .kind = SALVO_AGILE_BLOCK, .nodes = 1 };
	const struct salvo_agile_field_info info = { 4, { 0 }, { 0 } };
	static uint32_t in[20000], out[20000];
	struct salvo_agile_field *a, *b;
	struct salvo_agile_map *from, *to;
	struct salvo_agile_stats stats;
	struct cluster c;
	unsigned int i;

	ASSERT_EQ(0, cluster_open(&c, 2));
	ASSERT_EQ(0, salvo_agile_map_create(c.agile, "cyclic", &grid, &cyclic, &from));
	ASSERT_EQ(0, salvo_agile_map_create(c.agile, "one", &grid, &one, &to));
	ASSERT_EQ(0, salvo_agile_field_create(c.agile, "a", from, &info, &a));
	ASSERT_EQ(0, salvo_agile_field_create(c.agile, "b", to, &info, &b));
	for (i = 0; i < 20000; i++)
		in[i] = i * 7;
	ASSERT_EQ(0, field_access(c.agile, a, &grid, in, 4, SALVO_AGILE_WRITE))
		TH_LOG("%s", salvo_agile_error(c.agile));
	ASSERT_EQ(0, salvo_agile_redistribute(c.agile, b, a));
	ASSERT_EQ(0, salvo_agile_get_stats(c.agile, 0, &stats));
	EXPECT_GE(stats.batches, 5);
	ASSERT_EQ(0, field_access(c.agile, b, &grid, out, 4, SALVO_AGILE_READ));
	EXPECT_EQ(0, memcmp(in, out, sizeof(in)));
	salvo_agile_field_destroy(a);
	salvo_agile_field_destroy(b);
	salvo_agile_map_destroy(from);
	salvo_agile_map_destroy(to);
	cluster_close(&c);
}

TEST_HARNESS_MAIN
