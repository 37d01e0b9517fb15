// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * salvo_validate.c - validation of batches
 *
 * One function for each type of command checks the fields that the type uses. A table
 * lists which type uses which fields; all others must be zero. The first error is
 * reported with command, field, value and limit, so that the driver's debug message and
 * libsalvo's error are the same.
 *
 * Freestanding C: compiled into salvo.ko, into libsalvo and into the fuzzers.
 * It keeps no state and takes no lock.
 */
#include "salvo_hw.h"
#include "salvo_rect.h"
#include "salvo_validate.h"

#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/stddef.h>
#include <linux/string.h>
#else
#include <errno.h>
#include <stddef.h>
#include <string.h>
#endif

#define WHOLE_BATCH (~0u)

#define D (1u << DRM_SALVO_DISPATCH)
#define P (1u << DRM_SALVO_PIPE_CONTROL)
#define C (1u << DRM_SALVO_COPY)
#define F (1u << DRM_SALVO_FILL)
#define T (1u << DRM_SALVO_TIMESTAMP)
#define R (1u << DRM_SALVO_COPY_RECT)
#define M (1u << DRM_SALVO_FILL_PATTERN)

/* To access a command as an array of words. */
typedef __u64 __attribute__((may_alias)) word_t;

/* For a type of command, the bits that must be zero. The type itself is checked elsewhere. */
#define UNUSED(field, users, type) .field = ((users) & (type)) ? 0 : -1
#define UNUSED_BITS(type) { \
	UNUSED(flags, D | P, type), \
	UNUSED(entry, D, type), \
	UNUSED(eu_mask, D, type), \
	UNUSED(items[0], D, type), UNUSED(items[1], D, type), UNUSED(items[2], D, type), \
	UNUSED(group[0], D, type), UNUSED(group[1], D, type), UNUSED(group[2], D, type), \
	UNUSED(args_offset, D | R | M, type), \
	UNUSED(args_size, D | R | M, type), \
	UNUSED(local_size, D, type), \
	UNUSED(dims, D, type), \
	UNUSED(consumer, P, type), \
	UNUSED(producer, P, type), \
	UNUSED(dst, C | F | T | R | M, type), \
	UNUSED(src, C | R, type), \
	UNUSED(size, C | F | M, type), \
	UNUSED(pattern, F, type), \
	UNUSED(pad, 0, type), \
}

static const struct drm_salvo_command unused_bits[] = {
	[DRM_SALVO_DISPATCH] = UNUSED_BITS(D),
	[DRM_SALVO_PIPE_CONTROL] = UNUSED_BITS(P),
	[DRM_SALVO_COPY] = UNUSED_BITS(C),
	[DRM_SALVO_FILL] = UNUSED_BITS(F),
	[DRM_SALVO_TIMESTAMP] = UNUSED_BITS(T),
	[DRM_SALVO_COPY_RECT] = UNUSED_BITS(R),
	[DRM_SALVO_FILL_PATTERN] = UNUSED_BITS(M),
};

/* All fields in order and without gaps, to find the name of an invalid one. */
#define FIELD(field) { #field, offsetof(struct drm_salvo_command, field) }
static const struct {
	const char *name;
	__u32 offset;
} fields[] = {
	FIELD(flags), FIELD(entry), FIELD(eu_mask),
	FIELD(items[0]), FIELD(items[1]), FIELD(items[2]),
	FIELD(group[0]), FIELD(group[1]), FIELD(group[2]),
	FIELD(args_offset), FIELD(args_size), FIELD(local_size), FIELD(dims),
	FIELD(consumer), FIELD(producer), FIELD(dst), FIELD(src), FIELD(size), FIELD(pattern),
	FIELD(pad), { NULL, sizeof(struct drm_salvo_command) },
};

static int reject(struct salvo_reject *why, int error, __u32 command, const char *field,
		  __u64 value, const char *expected)
{
	why->command = command;
	why->field = field;
	why->expected = expected;
	why->value = value;
	return error;
}

/* Most commands are valid: test all words at once, and search for the field on error only. */
static int check_unused(const struct drm_salvo_command *cmd, __u32 index,
			struct salvo_reject *why)
{
	const word_t *words = (const word_t *)cmd;
	const word_t *bits = (const word_t *)&unused_bits[cmd->type];
	__u64 wrong = 0;
	unsigned int i;

	for (i = 0; i < sizeof(*cmd) / sizeof(*words); i++)
		wrong |= words[i] & bits[i];
	for (i = 0; wrong && fields[i].name; i++) {
		const __u32 offset = fields[i].offset, bytes = fields[i + 1].offset - offset;
		__u64 value = 0, mask = 0;

		memcpy(&value, (const __u8 *)cmd + offset, bytes);
		memcpy(&mask, (const __u8 *)bits + offset, bytes);
		if (value & mask)
			return reject(why, -EINVAL, index, fields[i].name, value,
				      "zero: the command does not use it");
	}
	return 0;
}

static int check_range(const struct salvo_space_view *space, __u32 index, const char *field,
		       __u64 address, __u64 size, __u32 access, struct salvo_reject *why)
{
	if (address + size - 1 < address || !space->covers(space->cookie, address, size, access))
		return reject(why, -EINVAL, index, field, address,
			      "inside one buffer of this file that allows the access");
	return 0;
}

static int check_grid(const struct drm_salvo_command *cmd, __u32 index, struct salvo_reject *why)
{
	static const char *const items_name[3] = { "items[0]", "items[1]", "items[2]" };
	static const char *const group_name[3] = { "group[0]", "group[1]", "group[2]" };
	__u64 group_items = 1, groups = 1;
	unsigned int d;

	if (cmd->dims < 1 || cmd->dims > 3)
		return reject(why, -EINVAL, index, "dims", cmd->dims, "1, 2 or 3");

	for (d = cmd->dims; d < 3; d++) {
		if (cmd->items[d] != 1)
			return reject(why, -EINVAL, index, items_name[d], cmd->items[d],
				      "1 past the last dimension");
		if (cmd->group[d] != 1)
			return reject(why, -EINVAL, index, group_name[d], cmd->group[d],
				      "1 past the last dimension");
	}
	for (d = 0; d < cmd->dims; d++) {
		const __u32 items = cmd->items[d], group = cmd->group[d];

		if (!items)
			return reject(why, -EINVAL, index, items_name[d], items, "at least 1");
		if (items > SALVO_MAX_ITEMS)
			return reject(why, -E2BIG, index, items_name[d], items, "at most 2^31");
		if (!group)
			return reject(why, -EINVAL, index, group_name[d], group, "at least 1");

		/* Both factors are below 2^32: the products cannot wrap. */
		group_items *= group;
		if (group_items > SALVO_MAX_GROUP_ITEMS)
			return reject(why, -E2BIG, index, group_name[d], group_items,
				      "a work-group of at most 1024 work-items");
		groups *= group == 1 ? items : (items - 1) / group + 1;
		if (groups > SALVO_MAX_GROUPS)
			return reject(why, -E2BIG, index, items_name[d], groups,
				      "at most 2^31 work-groups");
	}
	return 0;
}

static int check_arguments(const struct salvo_batch_desc *batch, __u32 index,
			   struct salvo_reject *why)
{
	const struct drm_salvo_command *cmd = &batch->commands[index];

	if (cmd->args_offset % 16)
		return reject(why, -EINVAL, index, "args_offset", cmd->args_offset,
			      "a multiple of 16");
	if ((__u64)cmd->args_offset + cmd->args_size > batch->args_size)
		return reject(why, -EINVAL, index, "args_offset", cmd->args_offset,
			      "arguments inside the batch's blob");
	return 0;
}

static int check_dispatch(const struct salvo_batch_desc *batch, __u32 index,
			  const struct salvo_space_view *space, struct salvo_reject *why)
{
	const struct drm_salvo_command *cmd = &batch->commands[index];
	int ret;

	if (cmd->flags & ~(__u32)(DRM_SALVO_DISPATCH_BARRIERS | DRM_SALVO_DISPATCH_CONTENDS))
		return reject(why, -EINVAL, index, "flags", cmd->flags, "DRM_SALVO_DISPATCH_*");
	if (cmd->flags & ~space->contends & DRM_SALVO_DISPATCH_CONTENDS)
		return reject(why, -EOPNOTSUPP, index, "flags", cmd->flags,
			      "no DRM_SALVO_DISPATCH_CONTENDS, which the GPU lacks");
	ret = check_grid(cmd, index, why);
	if (ret)
		return ret;

	if (space->units < 64 && cmd->eu_mask >> space->units)
		return reject(why, -EINVAL, index, "eu_mask", cmd->eu_mask,
			      "bits of units that exist");
	if (cmd->eu_mask && space->eu_mask && !(cmd->eu_mask & space->eu_mask))
		return reject(why, -EINVAL, index, "eu_mask", cmd->eu_mask,
			      "at least one unit of the context");

	if (cmd->args_size > SALVO_MAX_DISPATCH_ARGUMENT_BYTES)
		return reject(why, -E2BIG, index, "args_size", cmd->args_size,
			      "at most 16384 bytes");
	ret = check_arguments(batch, index, why);
	if (ret)
		return ret;
	if (cmd->local_size > SALVO_MAX_LOCAL_BYTES)
		return reject(why, -E2BIG, index, "local_size", cmd->local_size,
			      "at most 65536 bytes");

	/* Consecutive dispatches of one kernel are common; the previous command is valid. */
	if (index && cmd->entry && batch->commands[index - 1].entry == cmd->entry)
		return 0;
	return check_range(space, index, "entry", cmd->entry, 1, SALVO_ACCESS_EXEC, why);
}

static int check_pipe_control(const struct salvo_batch_desc *batch, __u32 index,
			      struct salvo_reject *why)
{
	const struct drm_salvo_command *cmd = &batch->commands[index];

	if (cmd->flags > DRM_SALVO_PIPE_CONTROL_PREVIOUS)
		return reject(why, -EINVAL, index, "flags", cmd->flags,
			      "one of DRM_SALVO_PIPE_CONTROL_*");
	if (cmd->flags == DRM_SALVO_PIPE_CONTROL_PREVIOUS &&
	    !(batch->flags & DRM_SALVO_SUBMIT_OVERLAP))
		return reject(why, -EINVAL, index, "flags", cmd->flags,
			      "without PREVIOUS: the batch does not overlap");
	if (cmd->flags == DRM_SALVO_PIPE_CONTROL_ALL) {
		if (cmd->consumer)
			return reject(why, -EINVAL, index, "consumer", cmd->consumer,
				      "zero with DRM_SALVO_PIPE_CONTROL_ALL");
		if (cmd->producer)
			return reject(why, -EINVAL, index, "producer", cmd->producer,
				      "zero with DRM_SALVO_PIPE_CONTROL_ALL");
		return 0;
	}

	if (cmd->consumer >= batch->count ||
	    batch->commands[cmd->consumer].type == DRM_SALVO_PIPE_CONTROL)
		return reject(why, -EINVAL, index, "consumer", cmd->consumer,
			      "index of a work command");
	if (cmd->flags) {
		if (cmd->producer >= SALVO_MAX_COMMANDS)
			return reject(why, -EINVAL, index, "producer", cmd->producer,
				      "index of a command of a batch, below 4096");
		return 0;
	}
	if (cmd->producer >= cmd->consumer ||
	    batch->commands[cmd->producer].type == DRM_SALVO_PIPE_CONTROL)
		return reject(why, -EINVAL, index, "producer", cmd->producer,
			      "index of a work command before the consumer");
	return 0;
}

static int check_copy(const struct drm_salvo_command *cmd, __u32 index,
		      const struct salvo_space_view *space, struct salvo_reject *why)
{
	int ret;

	if (!cmd->size)
		return reject(why, -EINVAL, index, "size", cmd->size, "not zero");
	ret = check_range(space, index, "dst", cmd->dst, cmd->size, SALVO_ACCESS_WRITE, why);
	if (!ret)
		ret = check_range(space, index, "src", cmd->src, cmd->size, SALVO_ACCESS_READ,
				  why);
	if (!ret && cmd->dst < cmd->src + cmd->size && cmd->src < cmd->dst + cmd->size)
		ret = reject(why, -EINVAL, index, "src", cmd->src, "no overlap with dst");
	return ret;
}

static int check_fill(const struct drm_salvo_command *cmd, __u32 index,
		      const struct salvo_space_view *space, struct salvo_reject *why)
{
	if (!cmd->size || cmd->size % 4)
		return reject(why, -EINVAL, index, "size", cmd->size,
			      "a multiple of 4, not zero");
	if (cmd->dst % 4)
		return reject(why, -EINVAL, index, "dst", cmd->dst, "a multiple of 4");
	return check_range(space, index, "dst", cmd->dst, cmd->size, SALVO_ACCESS_WRITE, why);
}

static int check_rect(const struct drm_salvo_rect *rect, __u32 index, struct salvo_reject *why)
{
	const struct {
		const char *name;
		__u64 value, least;
	} checks[] = {
		{ "rect.width", rect->width, 1 },
		{ "rect.height", rect->height, 1 },
		{ "rect.depth", rect->depth, 1 },
		{ "rect.dst_row_pitch", rect->dst_row_pitch, rect->width },
		{ "rect.src_row_pitch", rect->src_row_pitch, rect->width },
		{ NULL },
	};
	unsigned int i;

	for (i = 0; checks[i].name; i++)
		if (checks[i].value < checks[i].least)
			return reject(why, -EINVAL, index, checks[i].name, checks[i].value,
				      i < 3 ? "not zero" : "at least width");
	if (!salvo_rect_span(rect->width, rect->height, rect->depth, rect->dst_row_pitch,
			     rect->dst_slice_pitch))
		return reject(why, -EINVAL, index, "rect.dst_slice_pitch", rect->dst_slice_pitch,
			      "at least height rows, and the box within 64 bits");
	if (!salvo_rect_span(rect->width, rect->height, rect->depth, rect->src_row_pitch,
			     rect->src_slice_pitch))
		return reject(why, -EINVAL, index, "rect.src_slice_pitch", rect->src_slice_pitch,
			      "at least height rows, and the box within 64 bits");
	return 0;
}

static int check_rect_overlap(const struct drm_salvo_command *cmd,
			      const struct drm_salvo_rect *rect, __u32 index,
			      struct salvo_reject *why)
{
	const __u64 distance = cmd->dst > cmd->src ? cmd->dst - cmd->src : cmd->src - cmd->dst;

	if (rect->dst_row_pitch != rect->src_row_pitch)
		return reject(why, -EINVAL, index, "rect.src_row_pitch", rect->src_row_pitch,
			      "that of dst, as one box begins before the other ends");
	if (rect->dst_slice_pitch != rect->src_slice_pitch)
		return reject(why, -EINVAL, index, "rect.src_slice_pitch", rect->src_slice_pitch,
			      "that of dst, as one box begins before the other ends");
	if (salvo_rect_overlaps(distance, rect->width, rect->height, rect->depth,
				rect->dst_row_pitch, rect->dst_slice_pitch))
		return reject(why, -EINVAL, index, "src", cmd->src, "no overlap with dst");
	return 0;
}

static int check_copy_rect(const struct salvo_batch_desc *batch, __u32 index,
			   const struct salvo_space_view *space, struct salvo_reject *why)
{
	const struct drm_salvo_command *cmd = &batch->commands[index];
	struct drm_salvo_rect rect;
	__u64 dst, src;
	int ret;

	if (cmd->args_size != sizeof(rect))
		return reject(why, -EINVAL, index, "args_size", cmd->args_size,
			      "that of struct drm_salvo_rect, 56 bytes");
	ret = check_arguments(batch, index, why);
	if (ret)
		return ret;
	memcpy(&rect, (const __u8 *)batch->args + cmd->args_offset, sizeof(rect));
	ret = check_rect(&rect, index, why);
	if (ret)
		return ret;
	dst = salvo_rect_span(rect.width, rect.height, rect.depth, rect.dst_row_pitch,
			      rect.dst_slice_pitch);
	src = salvo_rect_span(rect.width, rect.height, rect.depth, rect.src_row_pitch,
			      rect.src_slice_pitch);
	ret = check_range(space, index, "dst", cmd->dst, dst, SALVO_ACCESS_WRITE, why);
	if (!ret)
		ret = check_range(space, index, "src", cmd->src, src, SALVO_ACCESS_READ, why);
	if (!ret && cmd->dst < cmd->src + src && cmd->src < cmd->dst + dst)
		ret = check_rect_overlap(cmd, &rect, index, why);
	return ret;
}

static int check_fill_pattern(const struct salvo_batch_desc *batch, __u32 index,
			      const struct salvo_space_view *space, struct salvo_reject *why)
{
	const struct drm_salvo_command *cmd = &batch->commands[index];
	int ret;

	if (!cmd->args_size || cmd->args_size > DRM_SALVO_MAX_PATTERN_BYTES)
		return reject(why, -EINVAL, index, "args_size", cmd->args_size,
			      "a pattern of 1 to 128 bytes");
	ret = check_arguments(batch, index, why);
	if (ret)
		return ret;
	if (!cmd->size || cmd->size % cmd->args_size)
		return reject(why, -EINVAL, index, "size", cmd->size,
			      "a multiple of the pattern's, not zero");
	return check_range(space, index, "dst", cmd->dst, cmd->size, SALVO_ACCESS_WRITE, why);
}

static int check_timestamp(const struct drm_salvo_command *cmd, __u32 index,
			   const struct salvo_space_view *space, struct salvo_reject *why)
{
	if (cmd->dst % 8)
		return reject(why, -EINVAL, index, "dst", cmd->dst, "a multiple of 8");
	return check_range(space, index, "dst", cmd->dst, 8, SALVO_ACCESS_WRITE, why);
}

static int check_command(const struct salvo_batch_desc *batch, __u32 index,
			 const struct salvo_space_view *space, struct salvo_reject *why)
{
	const struct drm_salvo_command *cmd = &batch->commands[index];
	int ret;

	if (cmd->type < DRM_SALVO_DISPATCH || cmd->type > DRM_SALVO_FILL_PATTERN)
		return reject(why, -EINVAL, index, "type", cmd->type,
			      "one of enum drm_salvo_command_type");
	ret = check_unused(cmd, index, why);
	if (ret)
		return ret;

	switch (cmd->type) {
	case DRM_SALVO_DISPATCH:
		return check_dispatch(batch, index, space, why);
	case DRM_SALVO_PIPE_CONTROL:
		return check_pipe_control(batch, index, why);
	case DRM_SALVO_COPY:
		return check_copy(cmd, index, space, why);
	case DRM_SALVO_FILL:
		return check_fill(cmd, index, space, why);
	case DRM_SALVO_COPY_RECT:
		return check_copy_rect(batch, index, space, why);
	case DRM_SALVO_FILL_PATTERN:
		return check_fill_pattern(batch, index, space, why);
	default:
		return check_timestamp(cmd, index, space, why);
	}
}

int salvo_validate_batch(const struct salvo_batch_desc *batch,
			 const struct salvo_space_view *space, struct salvo_reject *why)
{
	__u32 i;
	int ret;

	if (!batch->count)
		return reject(why, -EINVAL, WHOLE_BATCH, "commands.count", 0, "at least 1");
	if (batch->count > SALVO_MAX_COMMANDS)
		return reject(why, -E2BIG, WHOLE_BATCH, "commands.count", batch->count,
			      "at most 4096");
	if (batch->args_size > SALVO_MAX_ARGUMENT_BYTES)
		return reject(why, -E2BIG, WHOLE_BATCH, "args_size", batch->args_size,
			      "at most 1048576 bytes");
	if (batch->profile % 8)
		return reject(why, -EINVAL, WHOLE_BATCH, "profile", batch->profile,
			      "a multiple of 8");
	if (batch->profile) {
		ret = check_range(space, WHOLE_BATCH, "profile", batch->profile,
				  (__u64)batch->count * sizeof(struct drm_salvo_profile),
				  SALVO_ACCESS_WRITE, why);
		if (ret)
			return ret;
	}

	for (i = 0; i < batch->count; i++) {
		ret = check_command(batch, i, space, why);
		if (ret)
			return ret;
	}
	return 0;
}
