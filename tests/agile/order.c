// SPDX-License-Identifier: MIT
/* order.c - scans and sorts of fields that lie on several nodes in any order */
#include "kselftest_harness.h"

#include <errno.h>

#include "agile_test.h"

#define N 5000u

FIXTURE(order) {
	struct cluster c;
	struct salvo_agile *agile;
	struct salvo_agile_map *map;
	struct salvo_agile_field *from, *to;
	uint32_t in[N], out[N];
};

static const struct salvo_agile_grid line = { 1, { 0 }, { N } };

FIXTURE_SETUP(order)
{
	/* Neither the segments nor the nodes are in the order of the indices. */
	static const struct salvo_agile_segment segments[] = {
		{ { 1, { 3000 }, { 2000 } }, 1 }, { { 1, { 0 }, { 700 } }, 2 },
		{ { 1, { 700 }, { 1 } }, 0 }, { { 1, { 701 }, { 2299 } }, 3 },
	};
	const struct salvo_agile_field_info info = { 4, { 512 }, { 100 } };

	ASSERT_EQ(0, cluster_open(&self->c, NODES));
	self->agile = self->c.agile;
	ASSERT_EQ(0, salvo_agile_map_create_segments(self->agile, "line", &line, segments, 4,
						     &self->map));
	ASSERT_EQ(0, salvo_agile_field_create(self->agile, "a", self->map, &info, &self->from));
	ASSERT_EQ(0, salvo_agile_field_create(self->agile, "b", self->map, &info, &self->to));
}

FIXTURE_TEARDOWN(order)
{
	salvo_agile_field_destroy(self->from);
	salvo_agile_field_destroy(self->to);
	salvo_agile_map_destroy(self->map);
	cluster_close(&self->c);
}

#define OK(call) ASSERT_EQ(0, call) TH_LOG("%s", salvo_agile_error(self->agile))

static void add(void *accumulated, const void *partial)
{
	*(uint32_t *)accumulated += *(const uint32_t *)partial;
}

TEST_F(order, A5_scan)
{
	const uint32_t before = 17;
	struct salvo_agile_scan scan = {
		cluster_kernel(&self->c, "sum1"), cluster_kernel(&self->c, "scan1"), add, &before,
		sizeof(before) };
	uint32_t i, sum = 17;
	uint64_t seed = 1;

	for (i = 0; i < N; i++)
		self->in[i] = pick(&seed, 1000);
	OK(field_access(self->agile, self->from, &line, self->in, 4, SALVO_AGILE_WRITE));
	OK(salvo_agile_scan(self->agile, &scan, self->from, self->to));
	OK(field_access(self->agile, self->to, &line, self->out, 4, SALVO_AGILE_READ));
	for (i = 0; i < N; i++)
		ASSERT_EQ(sum += self->in[i], self->out[i]);
	EXPECT_EQ(-EINVAL, salvo_agile_scan(self->agile, &scan, self->from, self->from));
	salvo_agile_kernel_destroy(scan.total);
	salvo_agile_kernel_destroy(scan.scan);
}

/* The lower bits number the elements: a stable sort by the upper ones is one by all. */
TEST_F(order, A5_sort_is_stable_and_moves_an_element_once)
{
	static const uint32_t kinds[] = { 1, 3, 40, 65536 };
	struct salvo_agile_kernel *kernel = cluster_kernel(&self->c, "sort1");
	struct salvo_agile_stats before, now;
	uint64_t seed = 2;
	uint32_t i, k;

	for (k = 0; k < 5; k++) {
		for (i = 0; i < N; i++)
			self->in[i] = (k < 4 ? pick(&seed, kinds[k]) : N - i) << 16 | i;
		OK(field_access(self->agile, self->from, &line, self->in, 4, SALVO_AGILE_WRITE));
		before = all_stats(self->agile, NODES);
		OK(salvo_agile_sort(self->agile, kernel, by_upper, self->from));
		now = all_stats(self->agile, NODES);
		EXPECT_LE(now.moved_bytes, before.moved_bytes + N * 4);
		if (!k)
			EXPECT_EQ(now.moved_bytes, before.moved_bytes);
		OK(field_access(self->agile, self->from, &line, self->out, 4, SALVO_AGILE_READ));
		qsort(self->in, N, sizeof(self->in[0]), by_all);
		ASSERT_EQ(0, memcmp(self->in, self->out, sizeof(self->in))) TH_LOG("kind %u", k);
	}
	salvo_agile_kernel_destroy(kernel);
}

static int never_first(const void *a, const void *b)
{
	(void)a;
	(void)b;
	return 1;
}

/* Floats with NaNs among them, for example. */
TEST_F(order, A5_sort_by_what_is_no_order_is_refused)
{
	struct salvo_agile_kernel *kernel = cluster_kernel(&self->c, "sort1");

	OK(field_access(self->agile, self->from, &line, self->in, 4, SALVO_AGILE_WRITE));
	EXPECT_EQ(-EINVAL, salvo_agile_sort(self->agile, kernel, never_first, self->from));
	EXPECT_NE(NULL, strstr(salvo_agile_error(self->agile), "no order"));
	salvo_agile_kernel_destroy(kernel);
}

TEST_HARNESS_MAIN
