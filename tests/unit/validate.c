// SPDX-License-Identifier: MIT
/*
 * validate.c - salvo_validate_batch(): one wrong field per case, everything else valid
 *
 * The address space of these tests has a code buffer (execute), a data buffer
 * (read and write) and a constant buffer (read only).
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kselftest_harness.h"
#include "salvo_hw.h"
#include "salvo_validate.h"

#define CODE 0x10000u
#define DATA 0x20000u
#define CONSTANTS 0x40000u
#define BYTES 0x10000u

static int covers(void *cookie, __u64 address, __u64 size, __u32 access)
{
	static const struct { __u64 start; __u32 access; } buffers[] = {
		{ CODE, SALVO_ACCESS_READ | SALVO_ACCESS_EXEC },
		{ DATA, SALVO_ACCESS_READ | SALVO_ACCESS_WRITE },
		{ CONSTANTS, SALVO_ACCESS_READ },
	};

	for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++)
		if (address >= buffers[i].start && address - buffers[i].start < BYTES &&
		    size <= BYTES - (address - buffers[i].start) &&
		    !(access & ~buffers[i].access))
			return 1;
	return 0;
}

/* A valid batch of every command; a case changes one field. */
enum { DISPATCH, COPY, FILL, TIMESTAMP, PAIR, ALL, LAST, RECT, PATTERN, COMMANDS };

/* Where the blob has the shape of the RECT: 4 slices of 3 rows of 10 bytes. */
#define RECT_AT 64

FIXTURE(batch) {
	struct drm_salvo_command cmd[COMMANDS];
	struct salvo_batch_desc desc;
	struct salvo_space_view space;
	struct salvo_reject why;
	struct drm_salvo_rect *rect;
	_Alignas(16) uint8_t args[256];
};

FIXTURE_SETUP(batch)
{
	const struct drm_salvo_command dispatch = {
		.type = DRM_SALVO_DISPATCH, .entry = CODE + 64, .dims = 2,
		.items = { 100, 7, 1 }, .group = { 16, 2, 1 },
		.args_offset = 16, .args_size = 40, .local_size = 128, .eu_mask = 1,
	};

	self->cmd[DISPATCH] = dispatch;
	self->cmd[COPY] = (struct drm_salvo_command){
		.type = DRM_SALVO_COPY, .dst = DATA, .src = CONSTANTS, .size = 100 };
	self->cmd[FILL] = (struct drm_salvo_command){
		.type = DRM_SALVO_FILL, .dst = DATA + 512, .size = 64, .pattern = 7 };
	self->cmd[TIMESTAMP] = (struct drm_salvo_command){
		.type = DRM_SALVO_TIMESTAMP, .dst = DATA + BYTES - 8 };
	self->cmd[PAIR] = (struct drm_salvo_command){
		.type = DRM_SALVO_PIPE_CONTROL, .consumer = FILL, .producer = DISPATCH };
	self->cmd[ALL] = (struct drm_salvo_command){
		.type = DRM_SALVO_PIPE_CONTROL, .flags = DRM_SALVO_PIPE_CONTROL_ALL };
	self->cmd[LAST] = dispatch;
	self->cmd[RECT] = (struct drm_salvo_command){
		.type = DRM_SALVO_COPY_RECT, .dst = DATA + 4096, .src = CONSTANTS,
		.args_offset = RECT_AT, .args_size = sizeof(struct drm_salvo_rect) };
	self->cmd[PATTERN] = (struct drm_salvo_command){
		.type = DRM_SALVO_FILL_PATTERN, .dst = DATA + 1, .size = 9, .args_offset = 128,
		.args_size = 3 };
	self->rect = (void *)(self->args + RECT_AT);
	*self->rect = (struct drm_salvo_rect){
		.width = 10, .height = 3, .depth = 4, .dst_row_pitch = 10, .dst_slice_pitch = 32,
		.src_row_pitch = 20, .src_slice_pitch = 60 };
	self->desc = (struct salvo_batch_desc){
		.commands = self->cmd, .count = COMMANDS, .args = self->args,
		.args_size = sizeof(self->args), .profile = DATA + 1024,
	};
	self->space = (struct salvo_space_view){ .covers = covers, .units = 2, .eu_mask = 3 };
	ASSERT_EQ(0, salvo_validate_batch(&self->desc, &self->space, &self->why));
}

FIXTURE_TEARDOWN(batch)
{
}

#define EXPECT_REJECT(error, name, number) do { \
	EXPECT_EQ(error, salvo_validate_batch(&self->desc, &self->space, &self->why)); \
	EXPECT_STREQ(name, self->why.field); \
	EXPECT_EQ((__u32)(number), self->why.command); \
} while (0)

/* One wrong value of one field of command @number. */
#define CASE(test, number, field, wrong, error) \
	TEST_F(batch, test) \
	{ \
		self->cmd[number].field = (wrong); \
		EXPECT_REJECT(error, #field, number); \
	}

/* A pipe control for a command of the batch before */
TEST_F(batch, previous)
{
	self->cmd[PAIR].flags = DRM_SALVO_PIPE_CONTROL_PREVIOUS;
	self->cmd[PAIR].producer = SALVO_MAX_COMMANDS - 1;
	EXPECT_REJECT(-EINVAL, "flags", PAIR);
	self->desc.flags = DRM_SALVO_SUBMIT_OVERLAP;
	EXPECT_EQ(0, salvo_validate_batch(&self->desc, &self->space, &self->why));
	self->cmd[PAIR].producer++;
	EXPECT_REJECT(-EINVAL, "producer", PAIR);
	self->cmd[PAIR].producer = 0;
	self->cmd[PAIR].consumer = ALL;
	EXPECT_REJECT(-EINVAL, "consumer", PAIR);
	self->cmd[PAIR].flags |= DRM_SALVO_PIPE_CONTROL_ALL;
	EXPECT_REJECT(-EINVAL, "flags", PAIR);
}

CASE(type_zero, COPY, type, 0, -EINVAL)
CASE(type_unknown, COPY, type, 8, -EINVAL)
CASE(type_shift, COPY, type, 0xffffffff, -EINVAL)

CASE(dispatch_flags, DISPATCH, flags, 4, -EINVAL)
CASE(dispatch_contends, DISPATCH, flags, DRM_SALVO_DISPATCH_CONTENDS, -EOPNOTSUPP)
CASE(dispatch_entry_zero, DISPATCH, entry, 0, -EINVAL)
CASE(dispatch_entry_data, DISPATCH, entry, DATA, -EINVAL)
CASE(dispatch_entry_end, DISPATCH, entry, CODE + BYTES, -EINVAL)
CASE(dispatch_eu_mask, DISPATCH, eu_mask, 4, -EINVAL)
CASE(dispatch_dims_0, DISPATCH, dims, 0, -EINVAL)
CASE(dispatch_dims_4, DISPATCH, dims, 4, -EINVAL)
CASE(dispatch_items_zero, DISPATCH, items[0], 0, -EINVAL)
CASE(dispatch_items_past_dims, DISPATCH, items[2], 2, -EINVAL)
CASE(dispatch_items_limit, DISPATCH, items[0], 0x80000001u, -E2BIG)
CASE(dispatch_group_zero, DISPATCH, group[1], 0, -EINVAL)
CASE(dispatch_group_past_dims, DISPATCH, group[2], 2, -EINVAL)
CASE(dispatch_group_limit, DISPATCH, group[1], 65, -E2BIG)
CASE(dispatch_args_unaligned, DISPATCH, args_offset, 8, -EINVAL)
CASE(dispatch_args_outside, DISPATCH, args_offset, 224, -EINVAL)
CASE(dispatch_args_wrap, DISPATCH, args_offset, 0xfffffff0u, -EINVAL)
CASE(dispatch_args_limit, DISPATCH, args_size, 16385, -E2BIG)
CASE(dispatch_local_limit, DISPATCH, local_size, (256u << 10) + 1, -E2BIG)
CASE(dispatch_uses_no_consumer, DISPATCH, consumer, 1, -EINVAL)
CASE(dispatch_uses_no_dst, DISPATCH, dst, DATA, -EINVAL)
CASE(dispatch_uses_no_pattern, DISPATCH, pattern, 1, -EINVAL)
CASE(dispatch_pad, DISPATCH, pad, 1, -EINVAL)
CASE(last_command_is_checked_too, LAST, args_offset, 8, -EINVAL)

CASE(copy_flags, COPY, flags, 1, -EINVAL)
CASE(copy_size_zero, COPY, size, 0, -EINVAL)
CASE(copy_dst_readonly, COPY, dst, CONSTANTS + 1024, -EINVAL)
CASE(copy_dst_wraps, COPY, dst, ~0ull - 50, -EINVAL)
CASE(copy_src_unmapped, COPY, src, 0x1000, -EINVAL)
CASE(copy_overlap, COPY, src, DATA + 99, -EINVAL)
CASE(copy_uses_no_items, COPY, items[1], 1, -EINVAL)

CASE(fill_size_zero, FILL, size, 0, -EINVAL)
CASE(fill_size_odd, FILL, size, 66, -EINVAL)
CASE(fill_dst_odd, FILL, dst, DATA + 2, -EINVAL)
CASE(fill_dst_readonly, FILL, dst, CONSTANTS, -EINVAL)
CASE(fill_uses_no_src, FILL, src, DATA, -EINVAL)

CASE(timestamp_dst_odd, TIMESTAMP, dst, DATA + 4, -EINVAL)
CASE(timestamp_dst_outside, TIMESTAMP, dst, DATA + BYTES, -EINVAL)
CASE(timestamp_uses_no_size, TIMESTAMP, size, 8, -EINVAL)

CASE(pair_flags, PAIR, flags, 4, -EINVAL)
CASE(pair_consumer_outside, PAIR, consumer, COMMANDS, -EINVAL)
CASE(pair_consumer_is_pipe_control, PAIR, consumer, ALL, -EINVAL)
CASE(pair_producer_is_consumer, PAIR, producer, FILL, -EINVAL)
CASE(pair_producer_after_consumer, PAIR, producer, TIMESTAMP, -EINVAL)
CASE(all_has_no_consumer, ALL, consumer, 1, -EINVAL)
CASE(all_has_no_producer, ALL, producer, 1, -EINVAL)
CASE(pipe_control_uses_no_eu_mask, ALL, eu_mask, 1, -EINVAL)

/* Consecutive dispatches of one kernel take a shortcut; all others are validated in full. */
CASE(last_dispatch_entry_zero, LAST, entry, 0, -EINVAL)
CASE(last_dispatch_entry_data, LAST, entry, DATA, -EINVAL)
CASE(last_dispatch_entry_end, LAST, entry, CODE + BYTES, -EINVAL)

TEST_F(batch, entry_of_each_consecutive_dispatch_is_validated)
{
	const struct drm_salvo_command dispatch = self->cmd[DISPATCH];

	for (unsigned int i = 0; i < COMMANDS; i++)
		self->cmd[i] = dispatch;
	self->desc.profile = 0;
	EXPECT_EQ(0, salvo_validate_batch(&self->desc, &self->space, &self->why));
	for (unsigned int i = 0; i < COMMANDS; i++) {
		static const uint64_t wrong[] = { 0, DATA, CONSTANTS, CODE + BYTES, CODE - 1 };

		for (size_t w = 0; w < sizeof(wrong) / sizeof(wrong[0]); w++) {
			self->cmd[i].entry = wrong[w];
			EXPECT_REJECT(-EINVAL, "entry", i);
		}
		/* Another valid entry passes, also between others. */
		self->cmd[i].entry = CODE + 128;
		EXPECT_EQ(0, salvo_validate_batch(&self->desc, &self->space, &self->why));
		self->cmd[i] = dispatch;
	}
}

/* Which types of commands use which fields, as salvo_drm.h says. */
#define D (1u << DRM_SALVO_DISPATCH)
#define P (1u << DRM_SALVO_PIPE_CONTROL)
#define C (1u << DRM_SALVO_COPY)
#define F (1u << DRM_SALVO_FILL)
#define T (1u << DRM_SALVO_TIMESTAMP)
#define R (1u << DRM_SALVO_COPY_RECT)
#define M (1u << DRM_SALVO_FILL_PATTERN)
#define FIELD(field, users) { #field, offsetof(struct drm_salvo_command, field), \
	sizeof(((struct drm_salvo_command *)0)->field), (users) }
static const struct {
	const char *name;
	size_t offset, bytes;
	unsigned int users;
} fields[] = {
	FIELD(flags, D | P), FIELD(entry, D), FIELD(eu_mask, D),
	FIELD(items[0], D), FIELD(items[1], D), FIELD(items[2], D),
	FIELD(group[0], D), FIELD(group[1], D), FIELD(group[2], D),
	FIELD(args_offset, D | R | M), FIELD(args_size, D | R | M), FIELD(local_size, D),
	FIELD(dims, D),
	FIELD(consumer, P), FIELD(producer, P),
	FIELD(dst, C | F | T | R | M), FIELD(src, C | R), FIELD(size, C | F | M),
	FIELD(pattern, F),
	FIELD(pad, 0),
};

#define UNUSED "zero: the command does not use it"

TEST_F(batch, each_field_that_a_command_does_not_use_must_be_zero)
{
	size_t bytes = sizeof(self->cmd[0].type);

	for (size_t f = 0; f < sizeof(fields) / sizeof(fields[0]); f++)
		bytes += fields[f].bytes;
	ASSERT_EQ(sizeof(struct drm_salvo_command), bytes);

	for (unsigned int number = 0; number < COMMANDS; number++) {
		const struct drm_salvo_command valid = self->cmd[number];

		for (size_t f = 0; f < sizeof(fields) / sizeof(fields[0]); f++) {
			const int used = !!(fields[f].users & 1u << valid.type);
			uint8_t *field = (uint8_t *)&self->cmd[number] + fields[f].offset;

			for (size_t bit = 0; bit < 8 * fields[f].bytes; bit++) {
				int unused;

				self->why = (struct salvo_reject){ .expected = "" };
				field[bit / 8] ^= 1u << bit % 8;
				salvo_validate_batch(&self->desc, &self->space, &self->why);
				unused = !strcmp(self->why.expected, UNUSED) &&
					 !strcmp(self->why.field, fields[f].name) &&
					 self->why.command == number;
				EXPECT_EQ(!used, unused) {
					TH_LOG("command %u, %s, bit %zu", number, fields[f].name,
					       bit);
				}
				self->cmd[number] = valid;
			}
		}
	}
}

CASE(rect_size, RECT, size, 1, -EINVAL)
CASE(rect_args_size, RECT, args_size, 48, -EINVAL)
CASE(rect_args_unaligned, RECT, args_offset, 8, -EINVAL)
CASE(rect_args_outside, RECT, args_offset, 208, -EINVAL)
CASE(rect_args_wrap, RECT, args_offset, 0xfffffff0u, -EINVAL)
CASE(rect_dst_readonly, RECT, dst, CONSTANTS + 4096, -EINVAL)
CASE(rect_dst_wraps, RECT, dst, ~0ull - 50, -EINVAL)
CASE(rect_src_unmapped, RECT, src, 0x1000, -EINVAL)
CASE(rect_uses_no_pattern, RECT, pattern, 1, -EINVAL)

CASE(pattern_size_zero, PATTERN, size, 0, -EINVAL)
CASE(pattern_size_odd, PATTERN, size, 10, -EINVAL)
CASE(pattern_args_size_zero, PATTERN, args_size, 0, -EINVAL)
CASE(pattern_args_size_limit, PATTERN, args_size, 129, -EINVAL)
CASE(pattern_args_unaligned, PATTERN, args_offset, 4, -EINVAL)
CASE(pattern_args_outside, PATTERN, args_offset, 256, -EINVAL)
CASE(pattern_dst_readonly, PATTERN, dst, CONSTANTS, -EINVAL)
CASE(pattern_dst_outside, PATTERN, dst, DATA + BYTES - 8, -EINVAL)
CASE(pattern_uses_no_pattern, PATTERN, pattern, 1, -EINVAL)

TEST_F(batch, rect_with_one_wrong_field_of_its_shape)
{
	static const struct {
		const char *field;
		size_t offset;
		__u64 value;
	} wrong[] = {
#define WRONG(field, value) { "rect." #field, offsetof(struct drm_salvo_rect, field), value }
		WRONG(width, 0), WRONG(height, 0), WRONG(depth, 0),
		WRONG(dst_row_pitch, 0), WRONG(dst_row_pitch, 9), WRONG(src_row_pitch, 9),
		WRONG(dst_slice_pitch, 29), WRONG(src_slice_pitch, 59), WRONG(src_slice_pitch, 0),
		/* Products and sums that pass 64 bits */
		WRONG(dst_slice_pitch, ~0ull), WRONG(src_slice_pitch, 1ull << 63),
	};

	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const struct drm_salvo_rect good = *self->rect;

		memcpy((uint8_t *)self->rect + wrong[i].offset, &wrong[i].value, sizeof(__u64));
		EXPECT_REJECT(-EINVAL, wrong[i].field, RECT);
		*self->rect = good;
	}
	self->rect->height = 1ull << 60;	/* times the pitch: over 64 bits */
	EXPECT_REJECT(-EINVAL, "rect.dst_slice_pitch", RECT);
	*self->rect = (struct drm_salvo_rect){ ~0ull, 1, 1, ~0ull, ~0ull, ~0ull, ~0ull };
	EXPECT_REJECT(-EINVAL, "dst", RECT);
	*self->rect = (struct drm_salvo_rect){ 1, ~0ull, ~0ull, 1, ~0ull, 1, ~0ull };
	EXPECT_REJECT(-EINVAL, "rect.dst_slice_pitch", RECT);
}

TEST_F(batch, rect_up_to_the_last_byte_passes_and_one_more_does_not)
{
	self->cmd[RECT].dst = DATA + BYTES - (3 * 32 + 2 * 10 + 10);
	self->cmd[RECT].src = CONSTANTS + BYTES - (3 * 60 + 2 * 20 + 10);
	EXPECT_EQ(0, salvo_validate_batch(&self->desc, &self->space, &self->why));
	self->cmd[RECT].dst++;
	EXPECT_REJECT(-EINVAL, "dst", RECT);
	self->cmd[RECT].dst--;
	self->cmd[RECT].src++;
	EXPECT_REJECT(-EINVAL, "src", RECT);
}

/* Every shape and distance of a small kind, against all bytes of the one and of the other. */
TEST_F(batch, rects_overlap_exactly_if_they_have_a_byte_in_common)
{
	struct drm_salvo_rect *rect = self->rect;
	unsigned int shape, wrong = 0, refused = 0;

	for (shape = 0; shape < 3 * 3 * 3 * 3 * 3; shape++) {
		const __u64 w = 1 + shape % 3, h = 1 + shape / 3 % 3, d = 1 + shape / 9 % 3;
		const __u64 row = w + shape / 27 % 3, slice = row * h + shape / 81 % 3;

		*rect = (struct drm_salvo_rect){ w, h, d, row, slice, row, slice };
		for (int distance = -60; distance <= 60; distance++) {
			bool taken[256] = { false }, common = false;

			for (__u64 i = 0; i < w * h * d; i++)
				taken[100 + i % w + i / w % h * row + i / w / h * slice] = true;
			for (__u64 i = 0; i < w * h * d; i++)
				common |= taken[100 + distance + i % w + i / w % h * row +
						i / w / h * slice];
			self->cmd[RECT].src = DATA + 100;
			self->cmd[RECT].dst = DATA + 100 + distance;
			wrong += common != !!salvo_validate_batch(&self->desc, &self->space,
								  &self->why);
			refused += common;
		}
	}
	EXPECT_EQ(0, wrong);
	EXPECT_GT(refused, 1000);
}

TEST_F(batch, rects_that_mingle_have_the_same_pitches)
{
	self->cmd[RECT].src = DATA + 4096 + 10;
	EXPECT_REJECT(-EINVAL, "rect.src_row_pitch", RECT);
	self->rect->dst_row_pitch = 20;
	self->rect->dst_slice_pitch = 64;
	EXPECT_REJECT(-EINVAL, "rect.src_slice_pitch", RECT);
	self->rect->src_slice_pitch = 64;
	EXPECT_EQ(0, salvo_validate_batch(&self->desc, &self->space, &self->why));
	self->cmd[RECT].src--;
	EXPECT_REJECT(-EINVAL, "src", RECT);
}

TEST_F(batch, copy_to_the_last_byte_passes_and_one_more_does_not)
{
	self->cmd[COPY].dst = DATA + BYTES - 100;
	EXPECT_EQ(0, salvo_validate_batch(&self->desc, &self->space, &self->why));
	self->cmd[COPY].size = 101;
	EXPECT_REJECT(-EINVAL, "dst", COPY);
}

TEST_F(batch, copy_of_neighbours_does_not_overlap)
{
	self->cmd[COPY].src = DATA + 100;
	EXPECT_EQ(0, salvo_validate_batch(&self->desc, &self->space, &self->why));
}

TEST_F(batch, pair_of_a_pipe_control_as_producer)
{
	self->cmd[PAIR].consumer = LAST;
	self->cmd[PAIR].producer = ALL;
	EXPECT_REJECT(-EINVAL, "producer", PAIR);
}

TEST_F(batch, group_size_counts_all_dimensions)
{
	self->cmd[DISPATCH].group[0] = 64;
	self->cmd[DISPATCH].group[1] = 16;
	EXPECT_EQ(0, salvo_validate_batch(&self->desc, &self->space, &self->why));
	self->cmd[DISPATCH].group[1] = 17;
	EXPECT_REJECT(-E2BIG, "group[1]", DISPATCH);
}

TEST_F(batch, number_of_groups_does_not_wrap)
{
	struct drm_salvo_command *cmd = &self->cmd[DISPATCH];

	cmd->dims = 3;
	for (int d = 0; d < 3; d++) {
		cmd->items[d] = 0x80000000u;
		cmd->group[d] = 1;
	}
	EXPECT_REJECT(-E2BIG, "items[1]", DISPATCH);
}

TEST_F(batch, largest_range_passes)
{
	self->cmd[DISPATCH].items[0] = 0x80000000u;
	self->cmd[DISPATCH].items[1] = 1;
	self->cmd[DISPATCH].group[0] = 1;
	self->cmd[DISPATCH].group[1] = 1;
	EXPECT_EQ(0, salvo_validate_batch(&self->desc, &self->space, &self->why));
}

TEST_F(batch, eu_mask_must_meet_the_context)
{
	self->space.eu_mask = 2;
	EXPECT_REJECT(-EINVAL, "eu_mask", DISPATCH);
}

TEST_F(batch, eu_mask_of_64_units)
{
	self->space.units = 64;
	self->space.eu_mask = 0;
	self->cmd[DISPATCH].eu_mask = 1ull << 63;
	EXPECT_EQ(0, salvo_validate_batch(&self->desc, &self->space, &self->why));
}

TEST_F(batch, empty_batch)
{
	self->desc.count = 0;
	EXPECT_REJECT(-EINVAL, "commands.count", ~0u);
}

TEST_F(batch, argument_bytes_limit)
{
	self->desc.args_size = SALVO_MAX_ARGUMENT_BYTES + 1;
	EXPECT_REJECT(-E2BIG, "args_size", ~0u);
}

TEST_F(batch, profile_unaligned)
{
	self->desc.profile = DATA + 4;
	EXPECT_REJECT(-EINVAL, "profile", ~0u);
}

TEST_F(batch, profile_has_room_for_every_command)
{
	self->desc.profile = DATA + BYTES - COMMANDS * sizeof(struct drm_salvo_profile);
	EXPECT_EQ(0, salvo_validate_batch(&self->desc, &self->space, &self->why));
	self->desc.profile += 8;
	EXPECT_REJECT(-EINVAL, "profile", ~0u);
}

TEST(a_batch_of_4096_commands_passes_and_one_more_does_not)
{
	static struct drm_salvo_command cmd[SALVO_MAX_COMMANDS + 1];
	const struct salvo_space_view space = { .covers = covers, .units = 1 };
	struct salvo_batch_desc desc = { .commands = cmd, .count = SALVO_MAX_COMMANDS };
	struct salvo_reject why;

	for (unsigned int i = 0; i <= SALVO_MAX_COMMANDS; i++)
		cmd[i] = (struct drm_salvo_command){ .type = DRM_SALVO_TIMESTAMP, .dst = DATA };
	EXPECT_EQ(0, salvo_validate_batch(&desc, &space, &why));
	desc.count++;
	EXPECT_EQ(-E2BIG, salvo_validate_batch(&desc, &space, &why));
	EXPECT_STREQ("commands.count", why.field);
}

TEST_HARNESS_MAIN
