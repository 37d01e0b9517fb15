// SPDX-License-Identifier: MIT
/* statement.c - statements over several embedded GPUs: data movement, order and results */
#include "kselftest_harness.h"

#include <errno.h>

#include "agile_test.h"

#define SIDE	48u
#define MIB	(1024 * 1024ull)

static const struct salvo_agile_grid square = { 2, { 0, 0 }, { SIDE, SIDE } };

FIXTURE(statement) {
	struct cluster c;
	struct salvo_agile *agile;
	struct salvo_agile_map *cyclic, *rows;
};

FIXTURE_SETUP(statement)
{
	const struct salvo_agile_decomposition cyclic = {
		.kind = SALVO_AGILE_BLOCK_CYCLIC, .block = { 16, 16 } };
	const struct salvo_agile_decomposition rows = { .kind = SALVO_AGILE_BLOCK };

	ASSERT_EQ(0, cluster_open(&self->c, NODES));
	self->agile = self->c.agile;
	ASSERT_EQ(0, salvo_agile_map_create(self->agile, "cyclic", &square, &cyclic, &self->cyclic));
	ASSERT_EQ(0, salvo_agile_map_create(self->agile, "rows", &square, &rows, &self->rows));
}

FIXTURE_TEARDOWN(statement)
{
	salvo_agile_map_destroy(self->cyclic);
	salvo_agile_map_destroy(self->rows);
	cluster_close(&self->c);
}

static struct salvo_agile_field *make_field(struct salvo_agile *agile, struct salvo_agile_map *map,
					    size_t element, uint64_t memory, uint64_t task)
{
	const struct salvo_agile_field_info info = {
		element, { memory, memory }, { task, task } };
	struct salvo_agile_field *field;

	if (!salvo_agile_field_create(agile, "F", map, &info, &field))
		return field;
	printf("# %s\n", salvo_agile_error(agile));
	return NULL;
}

static void fill(float *data, uint64_t seed)
{
	for (unsigned int i = 0; i < SIDE * SIDE; i++)
		data[i] = pick(&seed, 1000);
}

/* The published example, planned at its full size: blocks of 1024 in segments of 2048. */
TEST(A8_queues_of_12_8_8_8_and_what_a_transpose_moves)
{
	const struct salvo_agile_grid grid = { 2, { 0, 0 }, { 6144, 6144 } };
	const struct salvo_agile_decomposition how = {
		.kind = SALVO_AGILE_BLOCK_CYCLIC, .block = { 2048, 2048 } };
	static const uint32_t queued[] = { 12, 8, 8, 8 };
	struct salvo_agile_schedule nodes[4];
	struct salvo_agile_field *a, *b, *c;
	struct salvo_agile_map *map;
	struct salvo_agile *agile;
	uint64_t moved = 0;
	double last = 0, first = 1e30;
	unsigned int n, tasks = 0;

	ASSERT_EQ(0, salvo_agile_create(NULL, 4, &agile));
	ASSERT_EQ(0, salvo_agile_map_create(agile, "C", &grid, &how, &map));
	a = make_field(agile, map, 4, 1024, 1024);
	b = make_field(agile, map, 4, 1024, 1024);
	c = make_field(agile, map, 4, 1024, 1024);
	struct salvo_agile_operand operands[] = { { a, NULL, NULL }, { b, NULL, NULL } };
	struct salvo_agile_statement statement = {
		.result = c, .operands = operands, .operand_count = 2 };

	ASSERT_EQ(0, salvo_agile_schedule(agile, &statement, NULL, nodes));
	for (n = 0; n < 4; n++) {
		EXPECT_EQ(queued[n], nodes[n].queued);
		EXPECT_EQ(queued[n], nodes[n].tasks);
		EXPECT_EQ(0, nodes[n].moved_bytes);
	}
	/*
	 * Segments 2 and 4, and 6 and 8, are the transposed ones of another node: 4 of 4 blocks
	 * each.
	 */
	operands[1].region = salvo_agile_transposed;
	ASSERT_EQ(0, salvo_agile_schedule(agile, &statement, NULL, nodes));
	for (n = 0; n < 4; n++)
		moved += nodes[n].moved_bytes;
	EXPECT_EQ(64 * MIB, moved);
	EXPECT_EQ(32 * MIB, nodes[1].moved_bytes);
	EXPECT_EQ(32 * MIB, nodes[3].moved_bytes);
	/* Stealing: 36 tasks of equal nodes are 9 each. */
	statement.flags = SALVO_AGILE_STEAL;
	ASSERT_EQ(0, salvo_agile_schedule(agile, &statement, NULL, nodes));
	for (n = 0; n < 4; n++) {
		EXPECT_EQ(9, nodes[n].tasks);
		tasks += nodes[n].stolen;
	}
	EXPECT_EQ(3, tasks);
	/* Nodes of unequal speed end within a tenth of each other, with enough tasks. */
	salvo_agile_field_destroy(c);
	c = make_field(agile, map, 4, 1024, 128);
	statement.result = c;
	ASSERT_EQ(0, salvo_agile_schedule(agile, &statement, (double[]){ 1, 3, 2, 0.5 }, nodes));
	for (n = 0; n < 4; n++) {
		last = nodes[n].finish > last ? nodes[n].finish : last;
		first = nodes[n].finish < first ? nodes[n].finish : first;
	}
	EXPECT_LT(last, 1.1 * first);
	salvo_agile_field_destroy(a);
	salvo_agile_field_destroy(b);
	salvo_agile_field_destroy(c);
	salvo_agile_map_destroy(map);
	salvo_agile_destroy(agile);
}

TEST_F(statement, A5_the_owner_computes_and_blocks_move_whole_and_once)
{
	struct salvo_agile_kernel *kernel = cluster_kernel(&self->c, "add_transposed");
	struct salvo_agile_kernel *plain = cluster_kernel(&self->c, "add");
	struct salvo_agile_field *a = make_field(self->agile, self->cyclic, 4, 8, 4);
	struct salvo_agile_field *b = make_field(self->agile, self->cyclic, 4, 8, 4);
	struct salvo_agile_field *c = make_field(self->agile, self->cyclic, 4, 8, 4);
	struct salvo_agile_operand operands[] = { { a, NULL, NULL }, { b, NULL, NULL } };
	struct salvo_agile_statement s = { plain, c, operands, NULL, 2, 0, 0 };
	static float in_a[SIDE * SIDE], in_b[SIDE * SIDE], out[SIDE * SIDE];
	struct salvo_agile_stats before, now;
	unsigned int i;

	fill(in_a, 1);
	fill(in_b, 2);
	ASSERT_EQ(0, field_access(self->agile, a, &square, in_a, 4, SALVO_AGILE_WRITE));
	ASSERT_EQ(0, field_access(self->agile, b, &square, in_b, 4, SALVO_AGILE_WRITE));
	before = all_stats(self->agile, NODES);
	ASSERT_EQ(0, salvo_agile_forall(self->agile, &s))
		TH_LOG("%s", salvo_agile_error(self->agile));
	now = all_stats(self->agile, NODES);
	/* C = A + B moves nothing, and is one batch for each node. */
	EXPECT_EQ(before.moved_bytes, now.moved_bytes);
	EXPECT_EQ(before.batches + NODES, now.batches);
	EXPECT_EQ(before.tasks + 144, now.tasks);
	EXPECT_EQ(before.stolen, now.stolen);

	/* Four segments of 16 x 16 come from another node, in 16 blocks, for 64 tasks. */
	s.kernel = kernel;
	operands[1].region = salvo_agile_transposed;
	before = now;
	ASSERT_EQ(0, salvo_agile_forall(self->agile, &s))
		TH_LOG("%s", salvo_agile_error(self->agile));
	now = all_stats(self->agile, NODES);
	EXPECT_EQ(before.moved_bytes + 4 * 16 * 16 * 4, now.moved_bytes);
	EXPECT_EQ(before.moved_blocks + 16, now.moved_blocks);
	EXPECT_EQ(before.batches + NODES, now.batches);
	/* Again: all is there. Written: it moves again. */
	before = now;
	ASSERT_EQ(0, salvo_agile_forall(self->agile, &s));
	now = all_stats(self->agile, NODES);
	EXPECT_EQ(before.moved_bytes, now.moved_bytes);
	EXPECT_EQ(before.reused_blocks + 64, now.reused_blocks);
	fill(in_b, 3);
	ASSERT_EQ(0, field_access(self->agile, b, &square, in_b, 4, SALVO_AGILE_WRITE));
	before = all_stats(self->agile, NODES);
	ASSERT_EQ(0, salvo_agile_forall(self->agile, &s));
	now = all_stats(self->agile, NODES);
	EXPECT_EQ(before.moved_blocks + 16, now.moved_blocks);
	ASSERT_EQ(0, field_access(self->agile, c, &square, out, 4, SALVO_AGILE_READ));
	for (i = 0; i < SIDE * SIDE; i++)
		ASSERT_EQ(in_a[i] + in_b[i % SIDE * SIDE + i / SIDE], out[i]) TH_LOG("at %u", i);
	salvo_agile_field_destroy(a);
	salvo_agile_field_destroy(b);
	salvo_agile_field_destroy(c);
	salvo_agile_kernel_destroy(kernel);
	salvo_agile_kernel_destroy(plain);
}

/* Nodes may be execution units of one GPU: the same program, the same bytes. */
TEST(A5_nodes_of_one_device)
{
	const struct salvo_agile_decomposition how = {
		.kind = SALVO_AGILE_BLOCK_CYCLIC, .block = { 16, 16 } };
	static float in_a[SIDE * SIDE], in_b[SIDE * SIDE], out[SIDE * SIDE];
	struct salvo_agile_node nodes[3] = { { NULL, 1 } };
	struct salvo_agile_field *a, *b, *c;
	struct salvo_device_info info;
	struct salvo_agile_stats stats;
	struct salvo_agile_map *map;
	struct cluster one;
	unsigned int i;

	ASSERT_EQ(0, cluster_open(&one, 1));
	salvo_agile_destroy(one.agile);
	salvo_device_get_info(one.devices[0], &info);
	for (i = 0; i < 3; i++)
		nodes[i] = (struct salvo_agile_node){ one.devices[0], 1ull << i % info.units };
	ASSERT_EQ(0, salvo_agile_create(nodes, 3, &one.agile));
	ASSERT_EQ(0, salvo_agile_map_create(one.agile, "M", &square, &how, &map));
	a = make_field(one.agile, map, 4, 8, 8);
	b = make_field(one.agile, map, 4, 8, 8);
	c = make_field(one.agile, map, 4, 8, 8);
	struct salvo_agile_operand operands[] = {
		{ a, NULL, NULL }, { b, salvo_agile_transposed, NULL } };
	struct salvo_agile_statement s = {
		cluster_kernel(&one, "add_transposed"), c, operands, NULL, 2, 0, 0 };

	fill(in_a, 5);
	fill(in_b, 6);
	ASSERT_EQ(0, field_access(one.agile, a, &square, in_a, 4, SALVO_AGILE_WRITE));
	ASSERT_EQ(0, field_access(one.agile, b, &square, in_b, 4, SALVO_AGILE_WRITE));
	stats = all_stats(one.agile, 3);
	ASSERT_EQ(0, salvo_agile_forall(one.agile, &s)) TH_LOG("%s", salvo_agile_error(one.agile));
	/* Three nodes in turn: each column is of one node, so that all but the diagonal moves. */
	EXPECT_EQ(stats.moved_bytes + 6 * 16 * 16 * 4, all_stats(one.agile, 3).moved_bytes);
	ASSERT_EQ(0, field_access(one.agile, c, &square, out, 4, SALVO_AGILE_READ));
	for (i = 0; i < SIDE * SIDE; i++)
		ASSERT_EQ(in_a[i] + in_b[i % SIDE * SIDE + i / SIDE], out[i]);
	salvo_agile_field_destroy(a);
	salvo_agile_field_destroy(b);
	salvo_agile_field_destroy(c);
	salvo_agile_map_destroy(map);
	salvo_agile_kernel_destroy(s.kernel);
	cluster_close(&one);
}

TEST_F(statement, A5_wrong_statements_are_refused)
{
	struct salvo_agile_kernel *kernel = cluster_kernel(&self->c, "add");
	struct salvo_agile_field *a = make_field(self->agile, self->rows, 4, 0, 0), *f;
	struct salvo_agile_operand operands[] = { { a, salvo_agile_transposed, NULL } };
	struct salvo_agile_grid outside = { 2, { 50, 50 }, { 1, 1 } };
	struct salvo_agile_statement s = { kernel, a, operands, NULL, 1, 0, 0 };
	const struct salvo_agile_field_info none = { 0, { 0 }, { 0 } };

#define EXPECT_REFUSED(words, call) do { \
	EXPECT_EQ(-EINVAL, call); \
	EXPECT_NE(NULL, strstr(salvo_agile_error(self->agile), words)) \
		TH_LOG("%s", salvo_agile_error(self->agile)); \
} while (0)
	EXPECT_REFUSED("operand 0 is the result, field F", salvo_agile_forall(self->agile, &s));
	s.flags = 4;
	EXPECT_REFUSED("unknown flags 0x4", salvo_agile_forall(self->agile, &s));
	s.flags = 0;
	s.operand_count = 9;
	EXPECT_REFUSED("9 operands, at most 8", salvo_agile_forall(self->agile, &s));
	f = make_field(self->agile, self->cyclic, 4, 0, 0);
	s = (struct salvo_agile_statement){ kernel, f, operands, NULL, 1, 0, 0 };
	operands[0] = (struct salvo_agile_operand){ a, salvo_agile_fixed, &outside };
	EXPECT_REFUSED("reads nothing inside of map rows", salvo_agile_forall(self->agile, &s));
	operands[0].region = NULL;
	EXPECT_REFUSED("argument", salvo_agile_forall(self->agile, &s));
	EXPECT_REFUSED("must have 1 to 2^30", salvo_agile_field_create(self->agile, "F", self->rows,
								       &none, &f));
	salvo_agile_field_destroy(a);
	salvo_agile_field_destroy(s.result);
	salvo_agile_kernel_destroy(kernel);
}

/* Over 2^64 bytes: what is left of them is no size. */
TEST_F(statement, A4_field_of_too_many_bytes_is_refused)
{
	static const struct salvo_agile_grid huge = { 2, { 0, 0 }, { 1 << 17, 1 << 17 } };
	const struct salvo_agile_segment one = { huge, 0 };
	const struct salvo_agile_segment two[2] = {
		{ { 2, { 0, 0 }, { 1 << 16, 1 << 17 } }, 0 },
		{ { 2, { 1 << 16, 0 }, { 1 << 16, 1 << 17 } }, 0 },
	};
	const struct salvo_agile_field_info info = { 1 << 30, { 0 }, { 0 } };
	struct salvo_agile_field *field;
	struct salvo_agile_map *map;

	ASSERT_EQ(0, salvo_agile_map_create_segments(self->agile, "M", &huge, &one, 1, &map));
	EXPECT_EQ(-E2BIG, salvo_agile_field_create(self->agile, "F", map, &info, &field));
	EXPECT_NE(NULL, strstr(salvo_agile_error(self->agile), "2^64 bytes"));
	EXPECT_EQ(NULL, field);
	salvo_agile_map_destroy(map);
	ASSERT_EQ(0, salvo_agile_map_create_segments(self->agile, "M", &huge, two, 2, &map));
	EXPECT_EQ(-E2BIG, salvo_agile_field_create(self->agile, "F", map, &info, &field));
	salvo_agile_map_destroy(map);
}

TEST_F(statement, A6_full_view_looks_up_a_segment_only_when_it_changes)
{
	struct salvo_agile_kernel *kernel = cluster_kernel(&self->c, "where2");
	struct salvo_agile_field *f = make_field(self->agile, self->cyclic, 4, 8, 8);
	uint32_t salt = 5;
	struct salvo_agile_value value = { &salt, sizeof(salt) };
	struct salvo_agile_statement s = { kernel, f, NULL, &value, 0, 1, 0 };
	struct salvo_agile_stats before, now;
	struct salvo_agile_view *view;
	uint64_t y, x;

	ASSERT_EQ(0, salvo_agile_forall(self->agile, &s))
		TH_LOG("%s", salvo_agile_error(self->agile));
	ASSERT_EQ(0, salvo_agile_view_create(f, 2, &view));
	before = all_stats(self->agile, NODES);
	for (unsigned int block = 0; block < 36; block++)
		for (y = block / 6 * 8; y < block / 6 * 8 + 8; y++)
			for (x = block % 6 * 8; x < block % 6 * 8 + 8; x++) {
				const struct salvo_agile_index at = { { y, x } };
				const uint32_t *e =
					salvo_agile_view_at(view, &at, SALVO_AGILE_READ);

				ASSERT_NE(NULL, e);
				ASSERT_EQ(y * 65536 + x + 5, *e);
			}
	now = all_stats(self->agile, NODES);
	EXPECT_GE(salvo_agile_view_lookups(view), 36);
	EXPECT_LE(salvo_agile_view_lookups(view), 2 * 36);
	/* Node 2 has two segments of four blocks: it lacks 28. */
	EXPECT_EQ(before.moved_blocks + 28, now.moved_blocks);
	EXPECT_EQ(NULL, salvo_agile_view_at(view, &(struct salvo_agile_index){ { 48, 0 } }, 0));
	/* What is written there is seen everywhere, also by copies of before. */
	for (x = 0; x < SIDE; x++)
		*(uint32_t *)salvo_agile_view_at(view, &(struct salvo_agile_index){ { 3, x } },
						 SALVO_AGILE_WRITE) = 1000 + x;
	for (x = 0; x < SIDE; x++)
		EXPECT_EQ(1000 + x, *(uint32_t *)salvo_agile_view_at(view,
			&(struct salvo_agile_index){ { 3, x } }, SALVO_AGILE_READ));
	salvo_agile_view_destroy(view);
	salvo_agile_field_destroy(f);
	salvo_agile_kernel_destroy(kernel);
}

TEST_F(statement, A6_a_tile_is_decided_once)
{
	struct salvo_agile_field *f = make_field(self->agile, self->cyclic, 4, 8, 8);
	const struct salvo_agile_grid part = { 2, { 5, 11 }, { 30, 20 } };
	static uint32_t in[SIDE * SIDE], out[SIDE * SIDE];
	struct salvo_agile_tile tile;
	uint32_t y, x;

	for (x = 0; x < SIDE * SIDE; x++)
		in[x] = x;
	ASSERT_EQ(0, field_access(self->agile, f, &square, in, 4, SALVO_AGILE_WRITE));
	ASSERT_EQ(0, salvo_agile_tile_open(f, 3, &part, SALVO_AGILE_WRITE, &tile))
		TH_LOG("%s", salvo_agile_error(self->agile));
	for (y = 0; y < 30; y++)
		for (x = 0; x < 20; x++) {
			uint32_t *e = (uint32_t *)((uint8_t *)tile.data + y * tile.stride[0] +
						   x * tile.stride[1]);

			ASSERT_EQ((5 + y) * SIDE + 11 + x, *e);
			*e *= 3;
		}
	ASSERT_EQ(0, salvo_agile_tile_close(&tile));
	for (x = 0; x < SIDE * SIDE; x++)
		in[x] = x / SIDE - 5 < 30 && x % SIDE - 11 < 20 ? 3 * x : x;
	ASSERT_EQ(0, field_access(self->agile, f, &square, out, 4, SALVO_AGILE_READ));
	EXPECT_EQ(0, memcmp(in, out, sizeof(in)));
	EXPECT_EQ(-EINVAL, salvo_agile_tile_open(f, 0, &(struct salvo_agile_grid){
		2, { 40, 40 }, { 9, 1 } }, 0, &tile));
	EXPECT_EQ(-EINVAL, salvo_agile_tile_open(f, 4, &part, 0, &tile));
	salvo_agile_field_destroy(f);
}

/* A kernel on node 1 waits for the application; what is moved ahead arrives there meanwhile. */
TEST_F(statement, A7_move_memory_runs_beside_a_kernel)
{
	const struct salvo_agile_segment one = { { 1, { 0 }, { 1 } }, 1 };
	const struct salvo_agile_field_info info = { 4, { 0 }, { 0 } };
	const struct salvo_agile_field_info gate_info = { 8, { 0 }, { 0 } };
	struct salvo_agile_kernel *gated = cluster_kernel(&self->c, "gated");
	struct salvo_agile_kernel *kernel = cluster_kernel(&self->c, "add_transposed");
	struct salvo_agile_field *a = make_field(self->agile, self->cyclic, 4, 8, 8);
	struct salvo_agile_field *c = make_field(self->agile, self->cyclic, 4, 8, 8);
	struct salvo_agile_operand transposed = { a, salvo_agile_transposed, NULL }, gate_operand;
	struct salvo_agile_operand both[] = { { a, NULL, NULL }, transposed };
	struct salvo_agile_statement wait = { gated, NULL, &gate_operand, NULL, 1, 0, 0 };
	struct salvo_agile_statement add = { kernel, c, both, NULL, 2, 0, 0 };
	struct salvo_agile_field *gate, *done;
	static float in[SIDE * SIDE], out[SIDE * SIDE];
	struct salvo_agile_stats before, moved, now;
	struct salvo_agile_view *view;
	struct salvo_agile_map *map;
	uint32_t *word;
	unsigned int n;

	if (getenv("SALVO_AGILE_DEVICES"))
		SKIP(return, "the driver ends kernels that wait");
	fill(in, 9);
	ASSERT_EQ(0, field_access(self->agile, a, &square, in, 4, SALVO_AGILE_WRITE));
	ASSERT_EQ(0, salvo_agile_map_create_segments(self->agile, "one", &one.grid, &one, 1, &map));
	ASSERT_EQ(0, salvo_agile_field_create(self->agile, "gate", map, &gate_info, &gate));
	ASSERT_EQ(0, salvo_agile_field_create(self->agile, "done", map, &info, &done));
	ASSERT_EQ(0, salvo_agile_view_create(gate, 0, &view));
	word = salvo_agile_view_at(view, &(struct salvo_agile_index){ { 0 } }, SALVO_AGILE_WRITE);
	ASSERT_NE(NULL, word);
	wait.result = done;
	gate_operand = (struct salvo_agile_operand){ gate, NULL, NULL };
	ASSERT_EQ(0, salvo_agile_forall(self->agile, &wait))
		TH_LOG("%s", salvo_agile_error(self->agile));
	while (!__atomic_load_n(&word[0], __ATOMIC_ACQUIRE))
		usleep(100);
	before = all_stats(self->agile, NODES);
	ASSERT_EQ(0, salvo_agile_move_memory(self->agile, c, &transposed));
	moved = all_stats(self->agile, NODES);
	EXPECT_EQ(before.moved_blocks + 16, moved.moved_blocks);
	/* All arrives while the kernel waits, or this would never end. */
	ASSERT_EQ(0, salvo_agile_wait_moves(self->agile));
	__atomic_store_n(&word[1], 7, __ATOMIC_RELEASE);
	ASSERT_EQ(0, salvo_agile_forall(self->agile, &add));
	now = all_stats(self->agile, NODES);
	EXPECT_EQ(moved.moved_bytes, now.moved_bytes);
	EXPECT_EQ(moved.reused_blocks + 16, now.reused_blocks);
	ASSERT_EQ(0, field_access(self->agile, c, &square, out, 4, SALVO_AGILE_READ));
	for (n = 0; n < SIDE * SIDE; n++)
		ASSERT_EQ(in[n] + in[n % SIDE * SIDE + n / SIDE], out[n]);
	salvo_agile_view_destroy(view);
	salvo_agile_field_destroy(a);
	salvo_agile_field_destroy(c);
	salvo_agile_field_destroy(gate);
	salvo_agile_field_destroy(done);
	salvo_agile_map_destroy(map);
	salvo_agile_kernel_destroy(kernel);
	salvo_agile_kernel_destroy(gated);
}

/* Only what is in the range, whatever blocks it cuts, and nothing moves for the rest. */
TEST_F(statement, A5_a_statement_over_a_range)
{
	const struct salvo_agile_grid range = { 2, { 5, 17 }, { 30, 11 } };
	const struct salvo_agile_grid outside = { 2, { 40, 0 }, { 9, 1 } };
	struct salvo_agile_kernel *kernel = cluster_kernel(&self->c, "add_transposed");
	struct salvo_agile_field *a = make_field(self->agile, self->cyclic, 4, 16, 4);
	struct salvo_agile_field *c = make_field(self->agile, self->cyclic, 4, 16, 4);
	struct salvo_agile_operand both[] = {
		{ a, NULL, NULL }, { a, salvo_agile_transposed, NULL } };
	struct salvo_agile_statement add = { kernel, c, both, NULL, 2, 0, 0 };
	static float in[SIDE * SIDE], out[SIDE * SIDE], expected[SIDE * SIDE];
	struct salvo_agile_stats before, now;
	unsigned int i;

	fill(in, 4);
	for (i = 0; i < SIDE * SIDE; i++) {
		const struct salvo_agile_index at = { { i / SIDE, i % SIDE } };

		expected[i] = salvo_agile_grid_contains(&range, &at) ?
			      in[i] + in[i % SIDE * SIDE + i / SIDE] : -1;
	}
	ASSERT_EQ(0, field_access(self->agile, a, &square, in, 4, SALVO_AGILE_WRITE));
	for (add.flags = 0; add.flags <= SALVO_AGILE_STEAL; add.flags++) {
		for (i = 0; i < SIDE * SIDE; i++)
			out[i] = -1;
		ASSERT_EQ(0, field_access(self->agile, c, &square, out, 4, SALVO_AGILE_WRITE));
		before = all_stats(self->agile, NODES);
		ASSERT_EQ(0, salvo_agile_forall_range(self->agile, &add, &range))
			TH_LOG("%s", salvo_agile_error(self->agile));
		now = all_stats(self->agile, NODES);
		/* Task blocks of 4 x 4: rows 4 to 35, columns 16 to 27. */
		EXPECT_EQ(8 * 3, now.tasks - before.tasks);
		ASSERT_EQ(0, field_access(self->agile, c, &square, out, 4, SALVO_AGILE_READ));
		ASSERT_EQ(0, memcmp(expected, out, sizeof(out)));
	}
	EXPECT_EQ(-EINVAL, salvo_agile_forall_range(self->agile, &add, &outside));
	EXPECT_NE(NULL, strstr(salvo_agile_error(self->agile), "range is not inside of map"));
	salvo_agile_field_destroy(a);
	salvo_agile_field_destroy(c);
	salvo_agile_kernel_destroy(kernel);
}

TEST_F(statement, A8_stolen_tasks_give_the_same_result)
{
	const struct salvo_agile_decomposition uneven = {
		.kind = SALVO_AGILE_BLOCK, .weights = (uint32_t[]){ 5, 1, 0, 0 } };
	struct salvo_agile_kernel *kernel = cluster_kernel(&self->c, "add_transposed");
	static float in[SIDE * SIDE], out[SIDE * SIDE];
	struct salvo_agile_stats before, now;
	struct salvo_agile_field *a, *c;
	struct salvo_agile_map *map;
	unsigned int n;

	ASSERT_EQ(0, salvo_agile_map_create(self->agile, "uneven", &square, &uneven, &map));
	a = make_field(self->agile, map, 4, 8, 4);
	c = make_field(self->agile, map, 4, 8, 4);
	struct salvo_agile_operand both[] = {
		{ a, NULL, NULL }, { a, salvo_agile_transposed, NULL } };
	struct salvo_agile_statement add = { kernel, c, both, NULL, 2, 0, SALVO_AGILE_STEAL };

	fill(in, 4);
	ASSERT_EQ(0, field_access(self->agile, a, &square, in, 4, SALVO_AGILE_WRITE));
	before = all_stats(self->agile, NODES);
	ASSERT_EQ(0, salvo_agile_forall(self->agile, &add))
		TH_LOG("%s", salvo_agile_error(self->agile));
	now = all_stats(self->agile, NODES);
	EXPECT_EQ(before.tasks + 144, now.tasks);
	/* Nodes 2 and 3 were assigned no tasks. */
	EXPECT_GE(now.stolen, before.stolen + 4);
	EXPECT_EQ((now.stolen - before.stolen) * 64, now.returned_bytes - before.returned_bytes);
	ASSERT_EQ(0, field_access(self->agile, c, &square, out, 4, SALVO_AGILE_READ));
	for (n = 0; n < SIDE * SIDE; n++)
		ASSERT_EQ(in[n] + in[n % SIDE * SIDE + n / SIDE], out[n]);
	salvo_agile_field_destroy(a);
	salvo_agile_field_destroy(c);
	salvo_agile_map_destroy(map);
	salvo_agile_kernel_destroy(kernel);
}

static void add_ulong(void *accumulated, const void *partial)
{
	*(uint64_t *)accumulated += *(const uint64_t *)partial;
}

TEST_F(statement, A5_reduce_moves_partial_results_alone)
{
	struct salvo_agile_kernel *where = cluster_kernel(&self->c, "where2");
	struct salvo_agile_kernel *sum = cluster_kernel(&self->c, "sum2");
	struct salvo_agile_field *f = make_field(self->agile, self->cyclic, 4, 8, 4);
	uint32_t salt = 0;
	struct salvo_agile_value value = { &salt, sizeof(salt) };
	struct salvo_agile_statement s = { where, f, NULL, &value, 0, 1, 0 };
	struct salvo_agile_stats before, now;
	uint64_t total = 100, expected = 100;

	ASSERT_EQ(0, salvo_agile_forall(self->agile, &s));
	before = all_stats(self->agile, NODES);
	ASSERT_EQ(0, salvo_agile_reduce(self->agile, sum, f, NULL, 0, sizeof(total), add_ulong,
					&total))
		TH_LOG("%s", salvo_agile_error(self->agile));
	now = all_stats(self->agile, NODES);
	for (uint64_t i = 0; i < SIDE * SIDE; i++)
		expected += i / SIDE * 65536 + i % SIDE;
	EXPECT_EQ(expected, total);
	/* 144 tasks, of which node 0 computed 48. */
	EXPECT_EQ(before.moved_bytes + 96 * 8, now.moved_bytes);
	salvo_agile_field_destroy(f);
	salvo_agile_kernel_destroy(where);
	salvo_agile_kernel_destroy(sum);
}

TEST_HARNESS_MAIN
