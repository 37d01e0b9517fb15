// SPDX-License-Identifier: MIT
/*
 * rect.c - commands with a shape or a pattern: copies of boxes, fills with more than a word
 *
 * What does not fit in a command, the shape of a box or the bytes of a pattern, is its argument
 * in the batch's blob.
 */
#include <errno.h>
#include <string.h>

#include "batch.h"
#include "bo.h"
#include "salvo_rect.h"

_Static_assert(sizeof(struct salvo_rect) == sizeof(struct drm_salvo_rect) &&
	       offsetof(struct salvo_rect, src_slice_pitch) ==
	       offsetof(struct drm_salvo_rect, src_slice_pitch), "rects go to the GPU as they are");

/* Copy the arguments of the command of salvo_batch_next_command() into the blob. */
static int add_arguments(struct salvo_batch *batch, struct drm_salvo_command *command,
			 const void *args, uint32_t bytes)
{
	uint32_t offset;
	int err = salvo_batch_reserve_args(batch, bytes, &offset);

	if (err)
		return err;
	memcpy(batch->args + offset, args, bytes);
	batch->args_size = offset + bytes;
	command->args_offset = offset;
	command->args_size = bytes;
	return 0;
}

static uint64_t or_else(uint64_t value, uint64_t other)
{
	return value ? value : other;
}

/* Zeros become what they stand for; a product too large gives a span of 0 later. */
static struct salvo_rect fill_in(const struct salvo_rect *from)
{
	struct salvo_rect rect = *from;

	rect.height = or_else(rect.height, 1);
	rect.depth = or_else(rect.depth, 1);
	rect.dst_row_pitch = or_else(rect.dst_row_pitch, rect.width);
	rect.src_row_pitch = or_else(rect.src_row_pitch, rect.width);
	rect.dst_slice_pitch = or_else(rect.dst_slice_pitch, rect.dst_row_pitch * rect.height);
	rect.src_slice_pitch = or_else(rect.src_slice_pitch, rect.src_row_pitch * rect.height);
	return rect;
}

static int check_overlap(struct salvo_batch *batch, const struct salvo_rect *rect,
			 uint64_t distance)
{
	if (rect->dst_row_pitch != rect->src_row_pitch ||
	    rect->dst_slice_pitch != rect->src_slice_pitch)
		return salvo_batch_fail(batch, -EINVAL,
					"copy_rect: boxes that mingle must have the same pitches");
	if (salvo_rect_overlaps(distance, rect->width, rect->height, rect->depth,
				rect->dst_row_pitch, rect->dst_slice_pitch))
		return salvo_batch_fail(batch, -EINVAL, "copy_rect: the boxes overlap");
	return 0;
}

int salvo_batch_copy_rect(struct salvo_batch *batch, struct salvo_bo *dst, uint64_t dst_offset,
			  struct salvo_bo *src, uint64_t src_offset,
			  const struct salvo_rect *shape)
{
	const struct salvo_rect rect = fill_in(shape);
	const uint64_t to = salvo_rect_span(rect.width, rect.height, rect.depth,
					    rect.dst_row_pitch, rect.dst_slice_pitch);
	const uint64_t from = salvo_rect_span(rect.width, rect.height, rect.depth,
					      rect.src_row_pitch, rect.src_slice_pitch);
	struct drm_salvo_command *command;
	int err;

	if (!rect.width)
		return salvo_batch_fail(batch, -EINVAL, "copy_rect: width is 0");
	if (!to || !from)
		return salvo_batch_fail(batch, -EINVAL,
					"copy_rect: the %s pitches are too small for rows of %llu bytes and slices of %llu rows, or the box passes 64 bits",
					to ? "source's" : "destination's",
					(unsigned long long)rect.width,
					(unsigned long long)rect.height);
	err = salvo_batch_check_range(batch, "copy_rect to", dst, dst_offset, to);
	if (!err)
		err = salvo_batch_check_range(batch, "copy_rect from", src, src_offset, from);
	if (!err && dst == src && dst_offset < src_offset + from && src_offset < dst_offset + to)
		err = check_overlap(batch, &rect, dst_offset > src_offset ?
				    dst_offset - src_offset : src_offset - dst_offset);
	if (err)
		return err;
	command = salvo_batch_next_command(batch, 2, &err);
	if (!command)
		return err;
	command->type = DRM_SALVO_COPY_RECT;
	command->dst = dst->address + dst_offset;
	command->src = src->address + src_offset;
	err = add_arguments(batch, command, &rect, sizeof(rect));
	if (err)
		return err;
	salvo_batch_add_region(batch, dst, command->dst, to, 0, SALVO_REGION_WRITE);
	salvo_batch_add_region(batch, src, command->src, from, 1, SALVO_REGION_READ);
	return batch->count++;
}

int salvo_batch_fill_pattern(struct salvo_batch *batch, struct salvo_bo *dst, uint64_t offset,
			     uint64_t size, const void *pattern, size_t pattern_size)
{
	struct drm_salvo_command *command;
	int err;

	err = salvo_batch_check_range(batch, "fill_pattern", dst, offset, size);
	if (err)
		return err;
	if (!pattern || !pattern_size || pattern_size > DRM_SALVO_MAX_PATTERN_BYTES)
		return salvo_batch_fail(batch, -EINVAL,
					"fill_pattern: the pattern has %zu bytes, must have 1 to %u",
					pattern_size, DRM_SALVO_MAX_PATTERN_BYTES);
	if (size % pattern_size)
		return salvo_batch_fail(batch, -EINVAL,
					"fill_pattern: size %llu is no multiple of the pattern's %zu",
					(unsigned long long)size, pattern_size);
	command = salvo_batch_next_command(batch, 1, &err);
	if (!command)
		return err;
	command->type = DRM_SALVO_FILL_PATTERN;
	command->dst = dst->address + offset;
	command->size = size;
	err = add_arguments(batch, command, pattern, pattern_size);
	if (err)
		return err;
	salvo_batch_add_region(batch, dst, command->dst, size, 0, SALVO_REGION_WRITE);
	return batch->count++;
}
