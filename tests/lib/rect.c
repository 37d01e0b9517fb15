// SPDX-License-Identifier: MIT
/* rect.c - box copies and pattern fills through the library */
#include "kselftest_harness.h"
#include "lib_test.h"

FIXTURE(rect) {
	struct bench b;
	uint8_t *bytes;
	uint8_t expected[65536];
};

FIXTURE_SETUP(rect)
{
	unsigned int i;

	ASSERT_EQ(0, bench_open(&self->b));
	self->bytes = (uint8_t *)self->b.map;
	for (i = 0; i < sizeof(self->expected); i++)
		self->bytes[i] = i * 2654435761u >> 24;
	memcpy(self->expected, self->bytes, sizeof(self->expected));
}

FIXTURE_TEARDOWN(rect)
{
	bench_close(&self->b);
}

TEST_F(rect, zeros_are_defaults)
{
	const struct salvo_rect row = { .width = 100 };
	const struct salvo_rect rows = { .width = 10, .height = 5, .dst_row_pitch = 16 };
	const struct salvo_rect box = { .width = 10, .height = 5, .depth = 3,
					.src_row_pitch = 20, .src_slice_pitch = 200 };
	struct salvo_batch *batch = self->b.batch;
	struct salvo_bo *bo = self->b.bo;
	unsigned int y, z;

	ASSERT_EQ(0, salvo_batch_copy_rect(batch, bo, 8001, bo, 5, &row));
	ASSERT_EQ(1, salvo_batch_copy_rect(batch, bo, 9000, bo, 17, &rows));
	ASSERT_EQ(2, salvo_batch_copy_rect(batch, bo, 10000, bo, 31, &box));
	ASSERT_EQ(3, salvo_batch_fill_pattern(batch, bo, 11001, 21, "pattern", 7));
	ASSERT_EQ(0, bench_run(&self->b));
	memcpy(self->expected + 8001, self->expected + 5, 100);
	for (y = 0; y < 5; y++)
		memcpy(self->expected + 9000 + 16 * y, self->expected + 17 + 10 * y, 10);
	for (z = 0; z < 3; z++)
		for (y = 0; y < 5; y++)
			memcpy(self->expected + 10000 + 50 * z + 10 * y,
			       self->expected + 31 + 200 * z + 20 * y, 10);
	memcpy(self->expected + 11001, "patternpatternpattern", 21);
	EXPECT_EQ(0, memcmp(self->expected, self->bytes, sizeof(self->expected)));
}

#define EXPECT_REFUSED(error, words, call) do { \
	EXPECT_EQ(error, call); \
	EXPECT_NE(NULL, strstr(salvo_batch_error(self->b.batch), words)) \
		TH_LOG("%s", salvo_batch_error(self->b.batch)); \
	EXPECT_EQ(0, salvo_batch_count(self->b.batch)); \
} while (0)

TEST_F(rect, wrong_boxes_are_refused)
{
	static const struct {
		uint64_t dst, src;
		struct salvo_rect rect;
		const char *words;
	} wrong[] = {
		{ 0, 0, { 0 }, "width is 0" },
		{ 0, 4096, { .width = 16, .height = 2, .dst_row_pitch = 15 }, "destination's" },
		{ 0, 4096, { .width = 16, .height = 2, .src_row_pitch = 15 }, "source's" },
		{ 0, 4096, { .width = 16, .height = 2, .depth = 2, .src_slice_pitch = 31 },
		  "source's" },
		{ 0, 4096, { .width = UINT64_MAX, .height = 2 }, "destination's" },
		{ 0, 4096, { .width = 1, .height = UINT64_MAX, .depth = UINT64_MAX }, "64 bits" },
		{ 0, 4096, { .width = 16, .depth = 1ull << 62, .height = 4 }, "64 bits" },
		{ 65536 - 31, 0, { .width = 16, .height = 2 }, "copy_rect to" },
		{ 0, 65536 - 31, { .width = 16, .height = 2 }, "copy_rect from" },
		{ UINT64_MAX, 0, { .width = 16 }, "copy_rect to" },
		{ 0, 65536, { .width = 1 }, "copy_rect from" },
		{ 0, 15, { .width = 16 }, "overlap" },
		{ 0, 40, { .width = 16, .height = 4, .dst_row_pitch = 32, .src_row_pitch = 32 },
		  "overlap" },
		{ 0, 32, { .width = 16, .height = 4, .dst_row_pitch = 64, .src_row_pitch = 32 },
		  "same pitches" },
	};
	struct salvo_bo *bo = self->b.bo;
	unsigned int i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		EXPECT_REFUSED(-EINVAL, wrong[i].words,
			       salvo_batch_copy_rect(self->b.batch, bo, wrong[i].dst, bo,
						     wrong[i].src, &wrong[i].rect));
	EXPECT_REFUSED(-EINVAL, "not a buffer",
		       salvo_batch_copy_rect(self->b.batch, NULL, 0, bo, 0, &wrong[11].rect));
	EXPECT_REFUSED(-EINVAL, "must have 1 to 128",
		       salvo_batch_fill_pattern(self->b.batch, bo, 0, 129, self->bytes, 129));
	EXPECT_REFUSED(-EINVAL, "must have 1 to 128",
		       salvo_batch_fill_pattern(self->b.batch, bo, 0, 129, self->bytes, 0));
	EXPECT_REFUSED(-EINVAL, "must have 1 to 128",
		       salvo_batch_fill_pattern(self->b.batch, bo, 0, 3, NULL, 3));
	EXPECT_REFUSED(-EINVAL, "no multiple",
		       salvo_batch_fill_pattern(self->b.batch, bo, 0, 128, self->bytes, 3));
	EXPECT_REFUSED(-EINVAL, "size is 0",
		       salvo_batch_fill_pattern(self->b.batch, bo, 0, 0, self->bytes, 3));
	EXPECT_REFUSED(-EINVAL, "outside a buffer",
		       salvo_batch_fill_pattern(self->b.batch, bo, 65535, 3, self->bytes, 3));
}

TEST_F(rect, B4_a_box_is_a_range_to_hazards)
{
	const struct salvo_rect box = { .width = 16, .height = 4, .dst_row_pitch = 64,
					.src_row_pitch = 64 };
	struct salvo_batch *batch = self->b.batch;
	struct salvo_bo *bo = self->b.bo;
	struct salvo_hazard hazard;

	ASSERT_EQ(0, salvo_batch_copy_rect(batch, bo, 4096, bo, 0, &box));
	ASSERT_EQ(1, salvo_batch_fill(batch, bo, 4096 + 3 * 64 + 16, 4, 9));	/* past it */
	ASSERT_EQ(2, salvo_batch_fill_pattern(batch, bo, 4096 + 3 * 64 + 13, 3, "abc", 3));
	ASSERT_EQ(0, salvo_batch_get_hazard(batch, 0, &hazard));
	EXPECT_EQ(SALVO_HAZARD_WAW, hazard.kind);
	EXPECT_EQ(2, hazard.consumer);
	EXPECT_EQ(0, hazard.producer);
	EXPECT_EQ(3, hazard.size);
	EXPECT_EQ(-ENOENT, salvo_batch_get_hazard(batch, 1, &hazard));
}

TEST_F(rect, patched_and_appended)
{
	const struct salvo_rect box = { .width = 8, .height = 4, .dst_row_pitch = 16,
					.src_row_pitch = 8 };
	struct salvo_bo *bo = self->b.bo;
	struct salvo_batch *part;
	unsigned int y;

	ASSERT_EQ(0, salvo_batch_create(self->b.device, &part));
	ASSERT_EQ(0, salvo_batch_copy_rect(part, bo, 8192, bo, 0, &box));
	ASSERT_EQ(1, salvo_batch_fill_pattern(part, bo, 12000, 6, "xyz", 3));
	/* Append moves their arguments in the blob. */
	ASSERT_EQ(0, salvo_batch_fill_pattern(self->b.batch, bo, 16001, 10, "ab", 2));
	ASSERT_EQ(1, salvo_batch_append(self->b.batch, part));
	salvo_batch_destroy(part);
	ASSERT_EQ(0, bench_run(&self->b));
	memcpy(self->expected + 16001, "ababababab", 10);
	memcpy(self->expected + 12000, "xyzxyz", 6);
	for (y = 0; y < 4; y++)
		memcpy(self->expected + 8192 + 16 * y, self->expected + 8 * y, 8);
	EXPECT_EQ(0, memcmp(self->expected, self->bytes, sizeof(self->expected)));

	/* The last row ends at the end of the buffer; one byte more is rejected. */
	EXPECT_EQ(-EINVAL, salvo_batch_patch_bo(self->b.batch, 1, 0, bo, 65536 - 55, 0));
	ASSERT_EQ(0, salvo_batch_patch_bo(self->b.batch, 1, 0, bo, 65536 - 56, 0));
	ASSERT_EQ(0, salvo_batch_patch_bo(self->b.batch, 1, 1, bo, 64, 0));
	ASSERT_EQ(0, bench_run(&self->b));
	for (y = 0; y < 4; y++)
		memcpy(self->expected + 65536 - 56 + 16 * y, self->expected + 64 + 8 * y, 8);
	EXPECT_EQ(0, memcmp(self->expected, self->bytes, sizeof(self->expected)));
	/* Errors that a patch cannot detect are reported at submission. */
	ASSERT_EQ(0, salvo_batch_patch_bo(self->b.batch, 1, 1, bo, 65536 - 50, 0));
	EXPECT_EQ(-EINVAL, salvo_queue_submit(self->b.queue, self->b.batch, NULL, 0, NULL));
	EXPECT_NE(NULL, strstr(salvo_batch_error(self->b.batch), "that of dst"));
}

TEST_HARNESS_MAIN
