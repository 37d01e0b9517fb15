// SPDX-License-Identifier: MIT
/*
 * range.c - ranges, copies and fills write exactly the bytes that they should
 */
#include <string.h>
#include "gpu_fixture.h"

struct mark_args {
	uint32_t *out;
};

/* Counts each item in its own word. */
RIG_KERNEL static void mark(RIG_KERNEL_ARGS)
{
	const struct mark_args *a = args;
	uint64_t x, y, z;

	for (z = 0; z < group->extent[2]; z++)
		for (y = 0; y < group->extent[1]; y++)
			for (x = 0; x < group->extent[0]; x++) {
				const uint64_t gx = group->group_id[0] * group->local_size[0] + x;
				const uint64_t gy = group->group_id[1] * group->local_size[1] + y;
				const uint64_t gz = group->group_id[2] * group->local_size[2] + z;
				uint32_t *at = a->out + (gz * group->global_size[1] + gy) *
					       group->global_size[0] + gx;

				__atomic_fetch_add(at, 1 + gx + 100 * gy + 10000 * gz,
						   __ATOMIC_RELAXED);
			}
}

/* The same for up to three work-groups of a row in one call. */
RIG_KERNEL static void mark_strip(RIG_KERNEL_ARGS)
{
	const struct mark_args *a = args;
	const uint32_t ran = group->run < 3 ? group->run : 3;
	const uint64_t first = group->group_id[0] * group->local_size[0];
	const uint64_t rest = group->global_size[0] - first;
	const uint64_t strip = ran * group->local_size[0];
	uint64_t x, y, z;

	for (z = 0; z < group->extent[2]; z++)
		for (y = 0; y < group->extent[1]; y++)
			for (x = 0; x < rest && x < strip; x++) {
				const uint64_t gx = first + x;
				const uint64_t gy = group->group_id[1] * group->local_size[1] + y;
				const uint64_t gz = group->group_id[2] * group->local_size[2] + z;
				uint32_t *at = a->out + (gz * group->global_size[1] + gy) *
					       group->global_size[0] + gx;

				__atomic_fetch_add(at, 1 + gx + 100 * gy + 10000 * gz,
						   __ATOMIC_RELAXED);
			}
	group->ran = ran;
}

/* The same for up to three rows that have one work-group each. */
RIG_KERNEL static void mark_column(RIG_KERNEL_ARGS)
{
	const uint32_t ran = group->rows < 3 ? group->rows : 3;
	const uint64_t first = group->group_id[1] * group->local_size[1];
	const uint64_t rest = group->global_size[1] - first;
	const uint64_t column = ran * group->local_size[1];
	struct salvo_group all = *group;

	if (ran > 1 && (group->run > 1 || group->num_groups[0] > 1))
		return;
	all.extent[1] = column < rest ? column : rest;
	mark(args, &all, item);
	group->ran = ran;
}

static void check_ranges(struct __test_metadata *const _metadata, FIXTURE_DATA(gpu) *self,
			 salvo_kernel_fn kernel, uint32_t local)
{
	static const uint32_t shapes[][6] = {
		{ 1, 1, 1, 1, 1, 1 }, { 10, 1, 1, 4, 1, 1 }, { 17, 9, 5, 4, 2, 3 },
		{ 3, 3, 3, 8, 8, 8 }, { 64, 64, 1, 16, 16, 1 }, { 1, 50, 7, 1, 7, 2 },
		{ 83, 41, 5, 2, 1, 1 }, { 5, 40, 4, 5, 3, 2 }, { 2, 700, 3, 3, 300, 1 },
		{ 1, 1100, 1, 1, 1, 1 },
	};
	struct rig *rig = self->rig;
	const struct mark_args args = { (void *)self->gpu_data };
	uint32_t *out = (void *)self->data;
	unsigned int i;

	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		const uint32_t *s = shapes[i];
		const uint32_t items = s[0] * s[1] * s[2];
		struct drm_salvo_command command = rig_dispatch(rig, kernel, 1, 1, 0, sizeof(args));
		uint32_t n;

		memcpy(command.items, s, 12);
		memcpy(command.group, s + 3, 12);
		command.dims = 3;
		command.local_size = local;
		memset(out, 0, 4 * (items + 1000));
		ASSERT_EQ(SALVO_STATUS_DONE, rig_run(rig, &command, 1, &args, sizeof(args)));
		for (n = 0; n < items; n++)
			ASSERT_EQ(1 + n % s[0] + 100 * (n / s[0] % s[1]) +
				  10000 * (n / s[0] / s[1]), out[n]);
		for (; n < items + 1000; n++)
			ASSERT_EQ(0, out[n]);
	}
}

TEST_F(gpu, N2_ragged_ranges_run_every_item_once_and_none_outside)
{
	check_ranges(_metadata, self, mark, 0);
}

TEST_F(gpu, N2_strips_run_every_item_once_and_none_outside)
{
	check_ranges(_metadata, self, mark_strip, 0);
}

TEST_F(gpu, N2_columns_run_every_item_once_and_none_outside)
{
	check_ranges(_metadata, self, mark_column, 0);
	check_ranges(_metadata, self, mark_column, 64);
}

/* With local memory a unit runs a chunk in bands. */
TEST_F(gpu, N2_bands_run_every_item_once_and_none_outside)
{
	check_ranges(_metadata, self, mark, 64);
	check_ranges(_metadata, self, mark_strip, 64);
}

struct sum_args {
	uint64_t *count;
	uint64_t *sum;
	uint64_t *square;
};

/* Adds up the linear numbers of the work-groups, one strip per call. */
RIG_KERNEL static void add_strip(RIG_KERNEL_ARGS)
{
	const struct sum_args *a = args;
	const uint64_t first = (group->group_id[2] * group->num_groups[1] + group->group_id[1]) *
			       group->num_groups[0] + group->group_id[0], n = group->run;

	/* Sums of the numbers below n and of their squares; modulo 2^64, as n is at most 2^31. */
	const uint64_t sum = n * (n - 1) / 2;
	const uint64_t squares = sum % 3 ? sum * ((2 * n - 1) / 3) : sum / 3 * (2 * n - 1);

	__atomic_fetch_add(a->count, n, __ATOMIC_RELAXED);
	__atomic_fetch_add(a->sum, n * first + sum, __ATOMIC_RELAXED);
	__atomic_fetch_add(a->square, n * first * first + 2 * first * sum + squares,
			   __ATOMIC_RELAXED);
	group->ran = n;
}

TEST_F(gpu, N2_ranges_of_2_to_31_work_groups_run_each_once)
{
	static const uint32_t shapes[][6] = {
		{ 1u << 31, 1, 1, 1, 1, 1 }, { 1u << 17, 1u << 14, 1, 1, 1, 1 },
		{ 1291, 1289, 1290, 1, 1, 1 }, { 1u << 31, 1u << 10, 1, 1u << 10, 1, 1 },
		{ 1u << 31, 3, 5, 1u << 5, 1, 1 },
	};
	struct rig *rig = self->rig;
	uint64_t *g = self->gpu_data;
	const struct sum_args args = { &g[0], &g[8], &g[16] };
	unsigned int i, d;

	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct drm_salvo_command command = rig_dispatch(rig, add_strip, 1, 1, 0,
								sizeof(args));
		unsigned __int128 n = 1;

		memcpy(command.items, shapes[i], 12);
		memcpy(command.group, shapes[i] + 3, 12);
		command.dims = shapes[i][2] > 1 ? 3 : shapes[i][1] > 1 ? 2 : 1;
		for (d = 0; d < 3; d++)
			n *= shapes[i][d] / shapes[i][3 + d];
		ASSERT_LE((uint64_t)n, SALVO_MAX_GROUPS);
		memset(self->data, 0, 256);
		ASSERT_EQ(SALVO_STATUS_DONE, rig_run(rig, &command, 1, &args, sizeof(args)));
		EXPECT_EQ((uint64_t)n, self->data[0]);
		EXPECT_EQ((uint64_t)(n * (n - 1) / 2), self->data[8]);
		EXPECT_EQ((uint64_t)(n * (n - 1) * (2 * n - 1) / 6), self->data[16]);
	}
}

/* Records in which order the groups ran. */
RIG_KERNEL static void number(RIG_KERNEL_ARGS)
{
	const struct mark_args *a = args;

	a->out[1 + group->group_id[1] * group->num_groups[0] + group->group_id[0]] = a->out[0]++;
}

TEST_F(gpu, M5_groups_with_local_memory_come_back_to_a_column_soon)
{
	struct rig *rig = self->rig;
	const struct mark_args args = { (void *)self->gpu_data };
	struct drm_salvo_command command = rig_dispatch(rig, number, 64, 1, 0, sizeof(args));
	uint32_t *out = (void *)self->data;

	if (getenv("SALVO_TOPOLOGY"))
		SKIP(return, "the unit of a far node may take less than two rows at once");
	command.items[1] = 64;
	command.dims = 2;
	command.eu_mask = 1;
	out[0] = 0;
	ASSERT_EQ(SALVO_STATUS_DONE, rig_run(rig, &command, 1, &args, sizeof(args)));
	EXPECT_EQ(64, out[1 + 64] - out[1]);
	command.local_size = 64;
	ASSERT_EQ(SALVO_STATUS_DONE, rig_run(rig, &command, 1, &args, sizeof(args)));
	EXPECT_GE(16, out[1 + 64] - out[1]);
}

struct who_args {
	uint64_t *out;
};

/* Stores the thread pointer, which identifies the unit. */
RIG_KERNEL static void who(RIG_KERNEL_ARGS)
{
	const struct who_args *a = args;
	uint64_t self;

	__asm__ volatile("mov %%fs:0, %0" : "=r"(self));
	a->out[group->group_id[0]] = self;
}

TEST_F(gpu, N3_mask_of_a_dispatch_names_its_units)
{
	struct rig *rig = self->rig;
	const struct who_args args = { self->gpu_data };
	uint64_t unit[2];
	uint32_t u, i;

	if (rig->regs->units < 2)
		SKIP(return, "needs two execution units");
	for (u = 0; u < 2; u++) {
		struct drm_salvo_command command = rig_dispatch(rig, who, 500, 1, 0, sizeof(args));

		command.eu_mask = 1ull << u;
		ASSERT_EQ(SALVO_STATUS_DONE, rig_run(rig, &command, 1, &args, sizeof(args)));
		unit[u] = self->data[0];
		for (i = 0; i < 500; i++)
			ASSERT_EQ(unit[u], self->data[i]);
	}
	EXPECT_NE(unit[0], unit[1]);
}

TEST_F(gpu, copies_and_fills_of_any_size_touch_exactly_their_range)
{
	static const uint64_t sizes[] = { 1, 7, 64, 65535, 65536, 65537, 300001, 5u << 20 };
	struct rig *rig = self->rig;
	uint8_t *src = rig->data, *dst = rig->data + (16u << 20);
	unsigned int i;
	uint64_t n;

	for (n = 0; n < 6u << 20; n++)
		src[n] = n * 2654435761u >> 24;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const uint64_t fill = sizes[i] / 4 * 4 + 4;
		const struct drm_salvo_command commands[2] = {
			{ .type = DRM_SALVO_COPY, .dst = rig->data_address + (16u << 20) + 3,
			  .src = rig->data_address + 1, .size = sizes[i] },
			{ .type = DRM_SALVO_FILL, .dst = rig->data_address + (32u << 20) + 4,
			  .size = fill, .pattern = 0x01020304 },
		};

		memset(dst, 0xee, (32u << 20) - RIG_CODE_BYTES);
		ASSERT_EQ(SALVO_STATUS_DONE, rig_run(rig, commands, 2, NULL, 0));
		EXPECT_EQ(0xee, dst[2]);
		EXPECT_EQ(0, memcmp(dst + 3, src + 1, sizes[i]));
		EXPECT_EQ(0xee, dst[3 + sizes[i]]);
		EXPECT_EQ(0xee, dst[(16u << 20) + 3]);
		for (n = 0; n < fill; n++)
			ASSERT_EQ(4 - n % 4, dst[(16u << 20) + 4 + n]);
		EXPECT_EQ(0xee, dst[(16u << 20) + 4 + fill]);
	}
}

TEST_HARNESS_MAIN
