// SPDX-License-Identifier: MIT
/* kernel.c - arguments of every kind, grids, the choice of a work-group size */
#include "kselftest_harness.h"
#include "lib_test.h"

FIXTURE(kernel) {
	struct bench b;
};

FIXTURE_SETUP(kernel)
{
	ASSERT_EQ(0, bench_open(&self->b));
}

FIXTURE_TEARDOWN(kernel)
{
	bench_close(&self->b);
}

TEST_F(kernel, unknown_name)
{
	struct salvo_kernel *kernel = (void *)1;

	EXPECT_EQ(-ENOENT, salvo_kernel_create(self->b.program, "nothing", &kernel));
	EXPECT_EQ(NULL, kernel);
	EXPECT_EQ(-ENOENT, salvo_kernel_create(self->b.program, "", &kernel));
}

TEST_F(kernel, wrong_arguments)
{
	struct salvo_kernel *kernel = bench_kernel(&self->b, "mixed");
	struct salvo_device *other;
	struct salvo_bo *foreign;
	const uint64_t value = 0;

	ASSERT_NE(NULL, kernel);
	/* 0 global, 1 char, 2 float4, 3 ulong, 4 local, 5 short, 6 local, 7 constant */
	EXPECT_EQ(-EINVAL, salvo_kernel_set_value(kernel, 8, &value, 4));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_value(kernel, ~0u, &value, 4));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_value(kernel, 0, &value, 8));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_value(kernel, 1, &value, 2));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_value(kernel, 1, &value, 0));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_value(kernel, 1, NULL, 1));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_value(kernel, 4, &value, 8));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_bo(kernel, 8, self->b.bo, 0));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_bo(kernel, 1, self->b.bo, 0));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_bo(kernel, 4, self->b.bo, 0));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_bo(kernel, 0, self->b.bo, 65536));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_bo(kernel, 0, NULL, 1));
	EXPECT_EQ(0, salvo_kernel_set_bo(kernel, 0, NULL, 0));
	EXPECT_EQ(0, salvo_kernel_set_bo(kernel, 0, self->b.bo, 65535));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_local(kernel, 8, 16));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_local(kernel, 0, 16));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_local(kernel, 1, 16));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_local(kernel, 4, 0));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_local(kernel, 4, SIZE_MAX));

	ASSERT_EQ(0, open_device(&other));
	ASSERT_EQ(0, salvo_bo_create(other, 4096, 0, &foreign));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_bo(kernel, 0, foreign, 0));
	salvo_bo_destroy(foreign);
	salvo_device_close(other);
	salvo_kernel_destroy(kernel);
}

TEST_F(kernel, wrong_grids)
{
	struct salvo_kernel *kernel = bench_kernel(&self->b, "where");
	const uint32_t one[3] = { 1, 1, 1 }, zero[3] = { 4, 0, 4 };
	const uint32_t big[3] = { 1u << 31, 4, 1 }, too_big[3] = { (1u << 31) + 1, 1, 1 };
	const uint32_t wide[3] = { 1025, 1, 1 }, cube[3] = { 32, 32, 2 };

	ASSERT_NE(NULL, kernel);
	EXPECT_EQ(-EINVAL, salvo_kernel_set_grid(kernel, 0, one, NULL));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_grid(kernel, 4, one, NULL));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_grid(kernel, 1, NULL, NULL));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_grid(kernel, 3, zero, NULL));
	EXPECT_EQ(0, salvo_kernel_set_grid(kernel, 1, zero, NULL));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_grid(kernel, 2, one, zero));
	EXPECT_EQ(-E2BIG, salvo_kernel_set_grid(kernel, 1, one, wide));
	EXPECT_EQ(-E2BIG, salvo_kernel_set_grid(kernel, 3, one, cube));
	EXPECT_EQ(-E2BIG, salvo_kernel_set_grid(kernel, 1, too_big, NULL));
	EXPECT_EQ(0, salvo_kernel_set_grid(kernel, 2, big, NULL));
	EXPECT_EQ(-E2BIG, salvo_kernel_set_grid(kernel, 2, big, one));
	salvo_kernel_destroy(kernel);
}

TEST_F(kernel, required_group_size)
{
	struct salvo_kernel *kernel = bench_kernel(&self->b, "required");
	const uint32_t items[2] = { 16, 4 }, right[2] = { 8, 2 }, wrong[2] = { 2, 8 };
	int i;

	ASSERT_NE(NULL, kernel);
	ASSERT_EQ(0, salvo_kernel_set_bo(kernel, 0, self->b.bo, 0));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_grid(kernel, 2, items, wrong));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_grid(kernel, 1, items, NULL));
	EXPECT_EQ(0, salvo_kernel_set_grid(kernel, 2, items, right));
	EXPECT_EQ(0, salvo_kernel_set_grid(kernel, 2, items, NULL));
	ASSERT_EQ(0, salvo_batch_dispatch(self->b.batch, kernel));
	ASSERT_EQ(0, bench_run(&self->b));
	for (i = 0; i < 64; i++)
		EXPECT_EQ(8 << 16 | 2, self->b.map[i]);
	salvo_kernel_destroy(kernel);
}

TEST_F(kernel, arguments_of_every_kind)
{
	struct salvo_kernel *kernel = bench_kernel(&self->b, "mixed");
	const uint32_t items = 32, group = 16;
	const float vector[4] = { 1, 2, 3, 40 };
	const int8_t c = 7;
	const int16_t s = 300;
	const uint64_t l = 5000;
	int i;

	ASSERT_NE(NULL, kernel);
	self->b.map[1000] = 1;
	self->b.map[1001] = 60000;
	EXPECT_EQ(0, salvo_kernel_set_bo(kernel, 0, self->b.bo, 0));
	EXPECT_EQ(0, salvo_kernel_set_value(kernel, 1, &c, sizeof(c)));
	EXPECT_EQ(0, salvo_kernel_set_value(kernel, 2, vector, sizeof(vector)));
	EXPECT_EQ(0, salvo_kernel_set_value(kernel, 3, &l, sizeof(l)));
	EXPECT_EQ(0, salvo_kernel_set_local(kernel, 4, group * 4));
	EXPECT_EQ(0, salvo_kernel_set_value(kernel, 5, &s, sizeof(s)));
	EXPECT_EQ(0, salvo_kernel_set_local(kernel, 6, group * 4));
	EXPECT_EQ(0, salvo_kernel_set_bo(kernel, 7, self->b.bo, 4000));
	EXPECT_EQ(0, salvo_kernel_set_grid(kernel, 1, &items, &group));
	ASSERT_EQ(0, salvo_batch_dispatch(self->b.batch, kernel));
	ASSERT_EQ(0, bench_run(&self->b));
	for (i = 0; i < 32; i++)
		EXPECT_EQ(0 + 101 + 60000 + 7 + 300 + 5000 + 40, self->b.map[i]);
	salvo_kernel_destroy(kernel);
}

TEST_F(kernel, too_much_local_memory)
{
	struct salvo_kernel *kernel = bench_kernel(&self->b, "reverse");
	const uint32_t one = 1;

	ASSERT_NE(NULL, kernel);
	ASSERT_EQ(0, salvo_kernel_set_bo(kernel, 0, self->b.bo, 0));
	ASSERT_EQ(0, salvo_kernel_set_grid(kernel, 1, &one, NULL));
	ASSERT_EQ(0, salvo_kernel_set_local(kernel, 1, self->b.info.max_local_bytes));
	EXPECT_EQ(0, salvo_batch_dispatch(self->b.batch, kernel));
	ASSERT_EQ(0, salvo_kernel_set_local(kernel, 1, self->b.info.max_local_bytes + 1));
	EXPECT_EQ(-E2BIG, salvo_batch_dispatch(self->b.batch, kernel));
	ASSERT_EQ(0, salvo_kernel_set_local(kernel, 1, 0x7fffffff));
	EXPECT_EQ(-E2BIG, salvo_batch_dispatch(self->b.batch, kernel));
	salvo_kernel_destroy(kernel);
}

TEST_F(kernel, M7_private_memory_bounds_the_work_group)
{
	struct salvo_kernel *kernel = bench_kernel(&self->b, "deep");
	const uint32_t items = 2048, step = 2999;
	const uint32_t groups[] = { 1024, 513, 512, 64, 1 };
	uint32_t g, i;

	ASSERT_NE(NULL, kernel);
	ASSERT_EQ(0, salvo_kernel_set_bo(kernel, 0, self->b.bo, 0));
	ASSERT_EQ(0, salvo_kernel_set_value(kernel, 1, &step, sizeof(step)));
	EXPECT_EQ(-E2BIG, salvo_kernel_set_grid(kernel, 1, &items, &groups[0]));
	EXPECT_EQ(-E2BIG, salvo_kernel_set_grid(kernel, 1, &items, &groups[1]));
	/* The last iteration lets the library choose. */
	for (g = 2; g < 6; g++) {
		ASSERT_EQ(0, salvo_kernel_set_grid(kernel, 1, &items, g < 5 ? &groups[g] : NULL));
		salvo_batch_reset(self->b.batch);
		ASSERT_EQ(0, salvo_batch_dispatch(self->b.batch, kernel));
		ASSERT_EQ(0, bench_run(&self->b));
		for (i = 0; i < items; i++)
			ASSERT_EQ(3 * i + step + 2 * step, self->b.map[i]);
	}
	salvo_kernel_destroy(kernel);
}

TEST_F(kernel, N2_every_work_item_runs_once_at_its_place)
{
	static const uint32_t grids[][3] = {
		{ 1, 1, 1 }, { 7, 1, 1 }, { 1000, 1, 1 }, { 33, 17, 1 }, { 1, 100, 1 },
		{ 5, 4, 3 }, { 16, 16, 16 }, { 1, 1, 50 }, { 3, 999, 2 },
	};
	struct salvo_kernel *kernel = bench_kernel(&self->b, "where");
	unsigned int i, dims, wrong;
	uint32_t x, y, z, n;

	ASSERT_NE(NULL, kernel);
	ASSERT_EQ(0, salvo_kernel_set_bo(kernel, 0, self->b.bo, 0));
	for (i = 0; i < sizeof(grids) / sizeof(grids[0]); i++) {
		const uint32_t *g = grids[i];

		dims = g[2] > 1 ? 3 : g[1] > 1 ? 2 : 1;
		memset(self->b.map, 0xff, 65536);
		salvo_batch_reset(self->b.batch);
		ASSERT_EQ(0, salvo_kernel_set_grid(kernel, dims, g, NULL));
		ASSERT_EQ(0, salvo_batch_dispatch(self->b.batch, kernel));
		ASSERT_EQ(0, bench_run(&self->b));
		n = wrong = 0;
		for (z = 0; z < g[2]; z++)
			for (y = 0; y < g[1]; y++)
				for (x = 0; x < g[0]; x++)
					wrong += self->b.map[n++] != (x | y << 10 | z << 20);
		EXPECT_EQ(0, wrong);
		EXPECT_EQ(~0u, self->b.map[n]);
	}
	salvo_kernel_destroy(kernel);
}

TEST_F(kernel, M1_group_size_is_chosen_for_the_units)
{
	static const uint32_t counts[] = { 1, 8, 64, 1000, 4096, 16384 };
	struct salvo_kernel *kernel = bench_kernel(&self->b, "group_of");
	uint32_t size, groups;
	unsigned int i;

	ASSERT_NE(NULL, kernel);
	ASSERT_EQ(0, salvo_kernel_set_bo(kernel, 0, self->b.bo, 0));
	for (i = 0; i < 6; i++) {
		salvo_batch_reset(self->b.batch);
		ASSERT_EQ(0, salvo_kernel_set_grid(kernel, 1, &counts[i], NULL));
		ASSERT_EQ(0, salvo_batch_dispatch(self->b.batch, kernel));
		ASSERT_EQ(0, bench_run(&self->b));
		size = self->b.map[0] & 0xffff;
		groups = (self->b.map[counts[i] - 1] >> 16) + 1;
		EXPECT_LE(size, self->b.info.max_group_items);
		EXPECT_GE(size, 1);
		/* Every unit gets work if the range is large enough. */
		if (counts[i] >= 64 * self->b.info.units)
			EXPECT_GE(groups, self->b.info.units);
	}
	salvo_kernel_destroy(kernel);
}

TEST_F(kernel, M1_a_uniform_group_divides_the_grid)
{
	static const uint32_t grids[][3] = {
		{ 1, 1, 1 },	 { 7, 1, 1 },	    { 1024, 1, 1 },    { 4096, 3, 1 },
		{ 1000, 1, 1 },	 { 4099, 1, 1 },    { 1920, 1080, 1 }, { 17, 19, 23 },
		{ 65536, 2, 2 }, { 1 << 20, 1, 1 },
	};
	struct salvo_kernel *kernel = bench_kernel(&self->b, "mixed");
	uint32_t group[3], i, d;
	uint64_t items;

	ASSERT_NE(NULL, kernel);
	for (i = 0; i < sizeof(grids) / sizeof(grids[0]); i++) {
		ASSERT_EQ(0, salvo_kernel_suggest_group(kernel, 3, grids[i], SALVO_GROUP_UNIFORM,
							group));
		for (d = 0, items = 1; d < 3; d++) {
			ASSERT_LT(0, group[d]);
			EXPECT_EQ(0, grids[i][d] % group[d]);
			items *= group[d];
		}
		EXPECT_GE(self->b.info.max_group_items, items);
	}
	/* A grid with good divisors gets groups that fill the lanes. */
	ASSERT_EQ(0, salvo_kernel_suggest_group(kernel, 3, grids[6], SALVO_GROUP_UNIFORM, group));
	EXPECT_EQ(0, group[0] % 4);
	EXPECT_EQ(-EINVAL, salvo_kernel_suggest_group(kernel, 0, grids[0], 0, group));
	EXPECT_EQ(-EINVAL, salvo_kernel_suggest_group(kernel, 4, grids[0], 0, group));
	EXPECT_EQ(-EINVAL, salvo_kernel_suggest_group(kernel, 1, grids[0], 2, group));
	salvo_kernel_destroy(kernel);
}

TEST_F(kernel, M1_a_group_has_its_work_items_along_contiguous_memory)
{
	static const uint32_t grid[3] = { 2048, 2048, 1 };
	struct salvo_kernel *rows = bench_kernel(&self->b, "mixed");
	struct salvo_kernel *columns = bench_kernel(&self->b, "by_columns");
	uint32_t group[3], flags;

	ASSERT_NE(NULL, rows);
	ASSERT_NE(NULL, columns);
	for (flags = 0; flags <= SALVO_GROUP_UNIFORM; flags++) {
		ASSERT_EQ(0, salvo_kernel_suggest_group(rows, 2, grid, flags, group));
		EXPECT_LT(group[1], group[0]);
		ASSERT_EQ(0, salvo_kernel_suggest_group(columns, 2, grid, flags, group));
		EXPECT_LT(group[0], group[1]);
		EXPECT_EQ(0, group[1] % 4);
		EXPECT_GE(self->b.info.max_group_items, group[0] * group[1]);
		ASSERT_EQ(0, salvo_kernel_suggest_group(columns, 1, grid, flags, group));
		EXPECT_LT(1, group[0]);
	}
	salvo_kernel_destroy(rows);
	salvo_kernel_destroy(columns);
}

TEST_F(kernel, M1_a_group_has_work_items_along_z_where_that_is_contiguous)
{
	static const uint32_t grids[][3] = { { 128, 128, 128 }, { 640, 480, 3 }, { 5, 7, 2048 } };
	struct salvo_kernel *planes = bench_kernel(&self->b, "by_planes");
	struct salvo_kernel *transposed = bench_kernel(&self->b, "to_planes");
	uint32_t group[3], flags;
	unsigned int i;

	ASSERT_NE(NULL, planes);
	ASSERT_NE(NULL, transposed);
	for (flags = 0; flags <= SALVO_GROUP_UNIFORM; flags++) {
		for (i = 0; i < 2 * sizeof(grids) / sizeof(grids[0]); i++) {
			struct salvo_kernel *kernel = i & 1 ? transposed : planes;
			const uint32_t *grid = grids[i / 2];

			ASSERT_EQ(0, salvo_kernel_suggest_group(kernel, 3, grid, flags, group));
			EXPECT_LT(2, group[2]);
			EXPECT_GE(grid[2], group[2]);
			EXPECT_GE(self->b.info.max_group_items, group[0] * group[1] * group[2]);
			/* Lanes along x need work-items along x. */
			if (i & 1)
				EXPECT_LE(4, group[0]);
			ASSERT_EQ(0, salvo_kernel_suggest_group(kernel, 2, grid, flags, group));
			EXPECT_EQ(1, group[2]);
			EXPECT_LE(group[1], group[0]);
		}
	}
	salvo_kernel_destroy(planes);
	salvo_kernel_destroy(transposed);
}

TEST_HARNESS_MAIN
