// SPDX-License-Identifier: MIT
/* rect.c - copies of boxes and fills with patterns, against plain loops */
#include <stdlib.h>
#include <string.h>
#include "gpu_fixture.h"

#define SRC_AT	0u
#define DST_AT	(8u << 20)
#define AREA	(8u << 20)

static uint64_t seed = 3;

static uint32_t pick(uint32_t below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 33) % below;
}

static void make_bytes(struct rig *rig)
{
	uint32_t n;

	for (n = 0; n < AREA; n++)
		rig->data[SRC_AT + n] = n * 2654435761u >> 24;
	memset(rig->data + DST_AT, 0xee, AREA);
}

static struct drm_salvo_command rect_command(const struct rig *rig, uint64_t dst, uint64_t src)
{
	return (struct drm_salvo_command){
		.type = DRM_SALVO_COPY_RECT, .dst = rig->data_address + dst,
		.src = rig->data_address + src, .args_size = sizeof(struct drm_salvo_rect),
	};
}

static void copy_model(uint8_t *dst, const uint8_t *src, const struct drm_salvo_rect *r)
{
	uint64_t y, z;

	for (z = 0; z < r->depth; z++)
		for (y = 0; y < r->height; y++)
			memcpy(dst + z * r->dst_slice_pitch + y * r->dst_row_pitch,
			       src + z * r->src_slice_pitch + y * r->src_row_pitch, r->width);
}

/* Rows shorter than a block, as long and longer; few and many of them */
static struct drm_salvo_rect random_rect(void)
{
	static const uint32_t widths[] = { 1, 3, 64, 1000, 65535, 65536, 65537, 200001 };
	struct drm_salvo_rect r = { .width = 1 + pick(widths[pick(8)]) };
	const uint32_t rows = 1 + pick(r.width > 4096 ? 8 : 300);

	r.height = 1 + pick(rows);
	r.depth = 1 + pick(rows / r.height);
	r.dst_row_pitch = r.width + pick(100) * pick(2);
	r.src_row_pitch = r.width + pick(100) * pick(2);
	r.dst_slice_pitch = r.dst_row_pitch * r.height + pick(1000) * pick(2);
	r.src_slice_pitch = r.src_row_pitch * r.height + pick(1000) * pick(2);
	return r;
}

TEST_F(gpu, a_box_is_one_command_and_touches_exactly_its_bytes)
{
	struct rig *rig = self->rig;
	uint8_t *expected = malloc(AREA);
	unsigned int i;

	make_bytes(rig);
	memcpy(expected, rig->data + DST_AT, AREA);
	for (i = 0; i < 300; i++) {
		const struct drm_salvo_rect r = random_rect();
		const uint32_t dst = pick(5000), src = pick(5000);
		const struct drm_salvo_command command =
			rect_command(rig, DST_AT + dst, SRC_AT + src);

		ASSERT_EQ(SALVO_STATUS_DONE, rig_run(rig, &command, 1, &r, sizeof(r)));
		copy_model(expected + dst, rig->data + SRC_AT + src, &r);
		ASSERT_EQ(0, memcmp(expected, rig->data + DST_AT, AREA));
	}
	free(expected);
}

TEST_F(gpu, boxes_of_one_picture_side_by_side)
{
	struct rig *rig = self->rig;
	const struct drm_salvo_rect half = { 512, 512, 1, 1024, 1024 * 512, 1024, 1024 * 512 };
	const struct drm_salvo_command command = rect_command(rig, SRC_AT + 512, SRC_AT);
	unsigned int y;

	make_bytes(rig);
	ASSERT_EQ(SALVO_STATUS_DONE, rig_run(rig, &command, 1, &half, sizeof(half)));
	for (y = 0; y < 512; y++)
		ASSERT_EQ(0, memcmp(rig->data + y * 1024, rig->data + y * 1024 + 512, 512));
}

TEST_F(gpu, boxes_that_overlap_are_refused_by_the_device_too)
{
	struct rig *rig = self->rig;
	const struct drm_salvo_rect rects[] = {
		{ 16, 4, 2, 32, 256, 32, 256 },		/* shares bytes */
		{ 16, 4, 2, 64, 256, 32, 256 },		/* would not overlap with equal pitches */
	};
	unsigned int i;

	for (i = 0; i < 2; i++) {
		const struct drm_salvo_command command = rect_command(rig, SRC_AT + 40, SRC_AT);

		EXPECT_EQ(SALVO_STATUS_BAD_PACKET,
			  rig_run(rig, &command, 1, &rects[i], sizeof(rects[i])));
	}
}

TEST_F(gpu, patterns_of_every_length)
{
	struct rig *rig = self->rig;
	uint8_t pattern[DRM_SALVO_MAX_PATTERN_BYTES];
	uint32_t bytes, n;

	for (n = 0; n < sizeof(pattern); n++)
		pattern[n] = n * 37 + 1;
	for (bytes = 1; bytes <= sizeof(pattern); bytes++) {
		/* Blocks end within a pattern. */
		const uint64_t size = (bytes % 3 ? 1 + pick(40) : 70000u * 3 / bytes) * bytes;
		const uint32_t at = 1 + pick(70);
		const struct drm_salvo_command command = {
			.type = DRM_SALVO_FILL_PATTERN, .dst = rig->data_address + DST_AT + at,
			.size = size, .args_size = bytes,
		};

		memset(rig->data + DST_AT, 0, size + at + 1);
		ASSERT_EQ(SALVO_STATUS_DONE, rig_run(rig, &command, 1, pattern, bytes));
		EXPECT_EQ(0, rig->data[DST_AT + at - 1]);
		EXPECT_EQ(0, rig->data[DST_AT + at + size]);
		for (n = 0; n < size; n++)
			ASSERT_EQ(pattern[n % bytes], rig->data[DST_AT + at + n]);
	}
}

TEST_HARNESS_MAIN
