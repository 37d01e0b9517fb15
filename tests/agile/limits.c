// SPDX-License-Identifier: MIT
/* limits.c - very many commands for one task, and system calls that fail */
#include "kselftest_harness.h"

#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>

#include "agile_test.h"

#define ROWS 1500u

/* How many calls of poll() for the nodes of a statement fail. */
static unsigned int polls_to_fail;

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	if (count == NODES && polls_to_fail) {
		polls_to_fail--;
		errno = ENOMEM;
		return -1;
	}
	return syscall(SYS_poll, fds, count, timeout);
}

/*
 * Of rank 4, so that each row of dimension 0 is a command: a block of the other node comes by
 * ROWS of them, and ROWS more put it into the tile, which must not start before.
 */
TEST(A5_a_tile_of_very_many_commands_waits_for_the_blocks_in_it)
{
	const struct salvo_agile_grid grid = { 4, { 0 }, { ROWS, 6, 6, 6 } };
	const struct salvo_agile_decomposition how = { .kind = SALVO_AGILE_BLOCK, .columns = 1 };
	const struct salvo_agile_decomposition one = { .kind = SALVO_AGILE_BLOCK, .nodes = 1 };
	const struct salvo_agile_grid part = { 4, { 0, 1, 1, 0 }, { ROWS, 4, 4, 6 } };
	const struct salvo_agile_field_info info = { 4, { 0 }, { 0 } };
	const struct salvo_agile_field_info total_info = { 8, { 0 }, { 0 } };
	const struct salvo_agile_grid single = { 1, { 0 }, { 1 } };
	const size_t count = salvo_agile_grid_count(&grid);
	uint32_t *in = malloc(count * sizeof(*in));
	struct salvo_agile_field *field, *sum;
	struct salvo_agile_kernel *kernel;
	struct salvo_agile_map *map, *to;
	uint64_t total, expected, i;
	struct cluster c;
	unsigned int round;

	ASSERT_EQ(0, cluster_open(&c, 2));
	kernel = cluster_kernel(&c, "sum4");
	ASSERT_EQ(0, salvo_agile_map_create(c.agile, "columns", &grid, &how, &map));
	ASSERT_EQ(0, salvo_agile_map_create(c.agile, "one", &single, &one, &to));
	ASSERT_EQ(0, salvo_agile_field_create(c.agile, "a", map, &info, &field));
	ASSERT_EQ(0, salvo_agile_field_create(c.agile, "sum", to, &total_info, &sum));
	for (round = 1; round <= 5; round++) {
		struct salvo_agile_operand operand = {
			field, salvo_agile_fixed, (void *)&part };
		struct salvo_agile_statement s = { kernel, sum, &operand, NULL, 1, 0,
						   SALVO_AGILE_SERIAL };

		for (i = 0, expected = 0; i < count; i++) {
			const struct salvo_agile_index at = salvo_agile_grid_index(&grid, i);

			in[i] = i * round;
			if (salvo_agile_grid_contains(&part, &at))
				expected += in[i];
		}
		ASSERT_EQ(0, field_access(c.agile, field, &grid, in, 4, SALVO_AGILE_WRITE))
			TH_LOG("%s", salvo_agile_error(c.agile));
		ASSERT_EQ(0, salvo_agile_forall(c.agile, &s))
			TH_LOG("%s", salvo_agile_error(c.agile));
		ASSERT_EQ(0, field_access(c.agile, sum, &single, &total, 8, SALVO_AGILE_READ));
		ASSERT_EQ(expected, total) TH_LOG("round %u", round);
	}
	salvo_agile_field_destroy(field);
	salvo_agile_field_destroy(sum);
	salvo_agile_map_destroy(map);
	salvo_agile_map_destroy(to);
	salvo_agile_kernel_destroy(kernel);
	cluster_close(&c);
	free(in);
}

/* A block of rank 4 whose copy takes more commands than a batch may have: it takes several. */
TEST(A5_a_block_of_rank_4_with_more_rows_than_a_batch)
{
	const struct salvo_agile_grid grid = { 4, { 0 }, { 5000, 4, 4, 4 } };
	const struct salvo_agile_decomposition how = { .kind = SALVO_AGILE_BLOCK, .nodes = 1 };
	const struct salvo_agile_field_info info = { 4, { 0, 3, 3, 3 }, { 0 } };
	const struct salvo_agile_grid part = { 4, { 1, 0, 0, 0 }, { 4900, 3, 3, 4 } };
	struct salvo_agile_field *field;
	struct salvo_agile_tile tile;
	struct salvo_agile_map *map;
	static uint32_t in[5000 * 64];
	struct cluster c;
	uint64_t i;

	ASSERT_EQ(0, cluster_open(&c, 2));
	ASSERT_EQ(0, salvo_agile_map_create(c.agile, "one", &grid, &how, &map));
	ASSERT_EQ(0, salvo_agile_field_create(c.agile, "a", map, &info, &field));
	for (i = 0; i < 5000 * 64; i++)
		in[i] = i * 2654435761u;
	ASSERT_EQ(0, field_access(c.agile, field, &grid, in, 4, SALVO_AGILE_WRITE))
		TH_LOG("%s", salvo_agile_error(c.agile));
	ASSERT_EQ(0, salvo_agile_tile_open(field, 1, &part, SALVO_AGILE_READ, &tile))
		TH_LOG("%s", salvo_agile_error(c.agile));
	for (i = 0; i < salvo_agile_grid_count(&part); i++) {
		const struct salvo_agile_index at = salvo_agile_grid_index(&part, i);

		ASSERT_EQ(in[salvo_agile_grid_number(&grid, &at)], ((uint32_t *)tile.data)[i]);
	}
	EXPECT_GE(all_stats(c.agile, 2).batches, 4);
	EXPECT_EQ(0, salvo_agile_tile_close(&tile));
	salvo_agile_field_destroy(field);
	salvo_agile_map_destroy(map);
	cluster_close(&c);
}

/* The result of a stolen task of rank 4 goes to its owner by several commands, when it is made. */
TEST(A8_stolen_results_of_rank_4_return_whole)
{
	const struct salvo_agile_grid grid = { 4, { 0 }, { 8, 8, 8, 8 } };
	const struct salvo_agile_decomposition how = {
		.kind = SALVO_AGILE_BLOCK, .weights = (uint32_t[]){ 1, 0, 0, 0 } };
	const struct salvo_agile_field_info info = { 4, { 0 }, { 8, 4, 4, 4 } };
	static uint32_t out[8 * 8 * 8 * 8];
	struct salvo_agile_kernel *kernel;
	struct salvo_agile_field *field;
	struct salvo_agile_map *map;
	struct cluster c;

	ASSERT_EQ(0, cluster_open(&c, NODES));
	kernel = cluster_kernel(&c, "where4");
	ASSERT_EQ(0, salvo_agile_map_create(c.agile, "one", &grid, &how, &map));
	ASSERT_EQ(0, salvo_agile_field_create(c.agile, "a", map, &info, &field));
	struct salvo_agile_statement s = { kernel, field, NULL, NULL, 0, 0, SALVO_AGILE_STEAL };

	ASSERT_EQ(0, salvo_agile_forall(c.agile, &s)) TH_LOG("%s", salvo_agile_error(c.agile));
	EXPECT_GT(all_stats(c.agile, NODES).stolen, 0);
	ASSERT_EQ(0, field_access(c.agile, field, &grid, out, 4, SALVO_AGILE_READ));
	for (uint32_t i = 0; i < 8 * 8 * 8 * 8; i++)
		ASSERT_EQ(((i / 512 * 100 + i / 64 % 8) * 100 + i / 8 % 8) * 100 + i % 8, out[i]);
	salvo_agile_field_destroy(field);
	salvo_agile_map_destroy(map);
	salvo_agile_kernel_destroy(kernel);
	cluster_close(&c);
}

/* A failed poll() is an error of the statement, not its end. */
TEST(A8_a_statement_whose_nodes_cannot_be_polled_fails)
{
	const struct salvo_agile_grid grid = { 2, { 0, 0 }, { 64, 64 } };
	const struct salvo_agile_decomposition how = { .kind = SALVO_AGILE_BLOCK };
	const struct salvo_agile_field_info info = { 4, { 8, 8 }, { 8, 8 } };
	struct salvo_agile_field *field;
	struct salvo_agile_kernel *kernel;
	struct salvo_agile_map *map;
	struct cluster c;
	uint32_t salt = 0;
	struct salvo_agile_value value = { &salt, sizeof(salt) };

	ASSERT_EQ(0, cluster_open(&c, NODES));
	kernel = cluster_kernel(&c, "where2");
	ASSERT_EQ(0, salvo_agile_map_create(c.agile, "rows", &grid, &how, &map));
	ASSERT_EQ(0, salvo_agile_field_create(c.agile, "a", map, &info, &field));
	struct salvo_agile_statement s = { kernel, field, NULL, &value, 0, 1,
					   SALVO_AGILE_STEAL };

	polls_to_fail = 1;
	EXPECT_EQ(-ENOMEM, salvo_agile_forall(c.agile, &s));
	EXPECT_NE(NULL, strstr(salvo_agile_error(c.agile), "poll"));
	EXPECT_EQ(0, polls_to_fail);
	EXPECT_EQ(0, salvo_agile_forall(c.agile, &s)) TH_LOG("%s", salvo_agile_error(c.agile));
	salvo_agile_field_destroy(field);
	salvo_agile_map_destroy(map);
	salvo_agile_kernel_destroy(kernel);
	cluster_close(&c);
}

/* What a statement does not accept is named. */
TEST(A1_errors_of_statements_say_what_is_wrong)
{
	const struct salvo_agile_grid grid = { 2, { 0, 0 }, { 8, 8 } };
	const struct salvo_agile_grid line = { 1, { 0 }, { 8 } };
	const struct salvo_agile_decomposition how = { .kind = SALVO_AGILE_BLOCK };
	const struct salvo_agile_field_info info = { 4, { 0 }, { 0 } };
	struct salvo_agile_operand operands[9] = { { NULL, NULL, NULL } };
	struct salvo_agile_value values[2] = { { &grid, 4 }, { &grid, 4 } };
	struct salvo_agile_field *f, *g;
	struct salvo_agile_kernel *kernel;
	struct salvo_agile_tile tile;
	struct salvo_agile_view *view;
	struct salvo_agile_map *map;
	struct cluster c;

	ASSERT_EQ(0, cluster_open(&c, 2));
	kernel = cluster_kernel(&c, "where2");
	ASSERT_EQ(0, salvo_agile_map_create(c.agile, "m", &grid, &how, &map));
	ASSERT_EQ(0, salvo_agile_field_create(c.agile, "f", map, &info, &f));
	ASSERT_EQ(0, salvo_agile_field_create(c.agile, "g", map, &info, &g));
	const struct {
		struct salvo_agile_statement statement;
		const char *error;
	} cases[] = {
		{ { kernel, NULL, NULL, NULL, 0, 0, 0 }, "statement: no result" },
		{ { NULL, f, NULL, NULL, 0, 0, 0 }, "statement: no kernel" },
		{ { kernel, f, operands, NULL, 9, 0, 0 }, "statement: 9 operands, at most 8" },
		{ { kernel, f, NULL, NULL, 0, 0, 12 }, "statement: unknown flags 0xc" },
		{ { kernel, f, operands, NULL, 1, 0, 0 }, "statement: operand 0 has no field" },
		{ { kernel, f, operands + 1, NULL, 1, 0, 0 },
		  "statement: operand 0 is the result, field f" },
		{ { kernel, f, operands + 2, NULL, 1, 0, 0 },
		  "kernel where2: arguments 4 to 7 must be a global pointer and three uint4, for g" },
		{ { kernel, f, NULL, values, 0, 2, 0 },
		  "kernel where2: argument 5 is not a value of 4 bytes" },
	};

	operands[1] = (struct salvo_agile_operand){ f, salvo_agile_transposed, NULL };
	operands[2] = (struct salvo_agile_operand){ g, NULL, NULL };
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		EXPECT_EQ(-EINVAL, salvo_agile_forall(c.agile, &cases[i].statement));
		EXPECT_NE(NULL, strstr(salvo_agile_error(c.agile), cases[i].error))
			TH_LOG("%u: %s", i, salvo_agile_error(c.agile));
	}
	EXPECT_EQ(-EINVAL, salvo_agile_tile_open(f, 0, &line, SALVO_AGILE_READ, &tile));
	EXPECT_STREQ("field f: the tile is not inside of map m: its rank is 1, not 2",
		     salvo_agile_error(c.agile));
	EXPECT_EQ(-EINVAL, salvo_agile_redistribute(c.agile, f, f));
	EXPECT_STREQ("redistribute: field f to itself", salvo_agile_error(c.agile));
	ASSERT_EQ(0, salvo_agile_view_create(f, 0, &view));
	EXPECT_EQ(NULL, salvo_agile_view_at(view, &(struct salvo_agile_index){ { 3, 8 } },
					    SALVO_AGILE_READ));
	EXPECT_NE(NULL, strstr(salvo_agile_error(c.agile), "the index 3, 8, 0, 0 is outside of map m"));
	salvo_agile_view_destroy(view);
	salvo_agile_kernel_destroy(kernel);
	salvo_agile_field_destroy(f);
	salvo_agile_field_destroy(g);
	salvo_agile_map_destroy(map);
	cluster_close(&c);
}

/* The product of its extents is that of the whole, modulo 2^64. */
TEST(A6_a_grid_of_more_than_64_bits_is_not_inside_of_a_map)
{
	const struct salvo_agile_grid grid = { 2, { 0, 0 }, { 8, 2 } };
	const struct salvo_agile_grid wraps = { 2, { 0, 0 }, { 8 + (1ull << 63), 2 } };
	const struct salvo_agile_grid before = { 2, { -1ull, 0 }, { 9, 2 } };
	const struct salvo_agile_decomposition how = { .kind = SALVO_AGILE_BLOCK };
	const struct salvo_agile_field_info info = { 4, { 0 }, { 0 } };
	struct salvo_agile_statement s = { 0 };
	struct salvo_agile_field *field;
	struct salvo_agile_tile tile;
	struct salvo_agile_map *map;
	struct cluster c;

	ASSERT_EQ(0, cluster_open(&c, 2));
	ASSERT_EQ(0, salvo_agile_map_create(c.agile, "m", &grid, &how, &map));
	ASSERT_EQ(0, salvo_agile_field_create(c.agile, "f", map, &info, &field));
	EXPECT_EQ(-EINVAL, salvo_agile_tile_open(field, 0, &wraps, SALVO_AGILE_READ, &tile));
	EXPECT_NE(NULL, strstr(salvo_agile_error(c.agile),
			       "in dimension 0 it has 9223372036854775816 indices from 0 on, the map 8 from 0 on"));
	EXPECT_EQ(-EINVAL, salvo_agile_tile_open(field, 0, &before, SALVO_AGILE_READ, &tile));
	s.kernel = cluster_kernel(&c, "where2");
	s.result = field;
	EXPECT_EQ(-EINVAL, salvo_agile_forall_range(c.agile, &s, &wraps));
	EXPECT_EQ(0, salvo_agile_tile_open(field, 0, &grid, SALVO_AGILE_READ, &tile));
	EXPECT_EQ(0, salvo_agile_tile_close(&tile));
	salvo_agile_kernel_destroy(s.kernel);
	salvo_agile_field_destroy(field);
	salvo_agile_map_destroy(map);
	cluster_close(&c);
}

TEST_HARNESS_MAIN
