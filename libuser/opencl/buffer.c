// SPDX-License-Identifier: MIT
/*
 * buffer.c - commands on buffers: read, write, copy, fill, and their rectangles
 *
 * The entry points check, in the order of the specification; transfer.c does it.
 */
#include <string.h>

#include "icd.h"
#include "transfer.h"

#define REQUEST(command, is_blocking) {						\
	.queue = queue, .type = command, .blocking = is_blocking,		\
	.wait_count = wait_count, .waits = waits, .event = event,		\
}

static bool fits(const struct _cl_mem *mem, size_t offset, size_t bytes)
{
	return offset <= mem->size && bytes <= mem->size - offset;
}

/* May the host read it, or write it? */
static cl_int check_host_access(cl_mem mem, bool writes)
{
	const cl_mem_flags refused = CL_MEM_HOST_NO_ACCESS |
				     (writes ? CL_MEM_HOST_READ_ONLY : CL_MEM_HOST_WRITE_ONLY);

	return mem->flags & refused ? CL_INVALID_OPERATION : CL_SUCCESS;
}

static cl_int check_line(const struct salvo_cl_request *request, cl_mem mem, size_t offset,
			 size_t bytes, const void *pointer, bool writes)
{
	cl_int err = salvo_cl_request_check(request, mem, false);

	if (err)
		return err;
	if (!pointer || !fits(mem, offset, bytes))
		return CL_INVALID_VALUE;
	return check_host_access(mem, writes);
}

cl_int salvo_clEnqueueReadBuffer(cl_command_queue queue, cl_mem mem, cl_bool blocking,
				 size_t offset, size_t size, void *pointer, cl_uint wait_count,
				 const cl_event *waits, cl_event *event)
{
	const struct salvo_cl_request request = REQUEST(CL_COMMAND_READ_BUFFER, blocking);
	const struct salvo_cl_box box = salvo_cl_box_line(offset, 0, size);
	cl_int err = check_line(&request, mem, offset, size, pointer, false);

	return err ? err : salvo_cl_read(&request, mem, &box, pointer);
}

cl_int salvo_clEnqueueWriteBuffer(cl_command_queue queue, cl_mem mem, cl_bool blocking,
				  size_t offset, size_t size, const void *pointer,
				  cl_uint wait_count, const cl_event *waits, cl_event *event)
{
	const struct salvo_cl_request request = REQUEST(CL_COMMAND_WRITE_BUFFER, blocking);
	const struct salvo_cl_box box = salvo_cl_box_line(offset, 0, size);
	cl_int err = check_line(&request, mem, offset, size, pointer, true);

	if (err)
		return err;
	return size ? salvo_cl_write(&request, mem, &box, pointer)
		    : salvo_cl_nothing(&request, mem);
}

cl_int salvo_clEnqueueCopyBuffer(cl_command_queue queue, cl_mem src, cl_mem dst, size_t src_offset,
				 size_t dst_offset, size_t size, cl_uint wait_count,
				 const cl_event *waits, cl_event *event)
{
	const struct salvo_cl_request request = REQUEST(CL_COMMAND_COPY_BUFFER, false);
	const struct salvo_cl_box box = salvo_cl_box_line(dst_offset, src_offset, size);
	size_t from, to;
	cl_int err;

	err = salvo_cl_request_check(&request, src, false);
	if (!err)
		err = salvo_cl_request_check(&request, dst, false);
	if (err)
		return err;
	if (!fits(src, src_offset, size) || !fits(dst, dst_offset, size))
		return CL_INVALID_VALUE;
	from = src->origin + src_offset;
	to = dst->origin + dst_offset;
	if (src->root == dst->root && from < to + size && to < from + size)
		return CL_MEM_COPY_OVERLAP;
	return size ? salvo_cl_copy(&request, dst, src, &box) : salvo_cl_nothing(&request, dst);
}

cl_int salvo_clEnqueueFillBuffer(cl_command_queue queue, cl_mem mem, const void *pattern,
				 size_t pattern_size, size_t offset, size_t size,
				 cl_uint wait_count, const cl_event *waits, cl_event *event)
{
	const struct salvo_cl_request request = REQUEST(CL_COMMAND_FILL_BUFFER, false);
	const struct salvo_cl_box box = salvo_cl_box_line(offset, 0, size);
	cl_int err = salvo_cl_request_check(&request, mem, false);

	if (err)
		return err;
	if (!pattern || !pattern_size || pattern_size > 128 ||
	    (pattern_size & (pattern_size - 1)) || !fits(mem, offset, size) ||
	    offset % pattern_size || size % pattern_size)
		return CL_INVALID_VALUE;
	return size ? salvo_cl_fill(&request, mem, &box, pattern, pattern_size) :
		      salvo_cl_nothing(&request, mem);
}

/* --- rectangles ------------------------------------------------------------------------- */

/**
 * struct side - A rectangle in a buffer or in the application's memory.
 */
struct side {
	size_t at;	/* bytes */
	size_t row;
	size_t slice;
};

/* The pitches that are 0 are the tightest. */
static bool make_side(const size_t *origin, const size_t *region, size_t row, size_t slice,
		      struct side *side)
{
	size_t up, over;

	side->row = row ? row : region[0];
	if (side->row < region[0] || __builtin_mul_overflow(side->row, region[1], &over))
		return false;
	side->slice = slice ? slice : over;
	if (side->slice < over || side->slice % side->row)
		return false;
	return !__builtin_mul_overflow(origin[2], side->slice, &up) &&
	       !__builtin_mul_overflow(origin[1], side->row, &over) &&
	       !__builtin_add_overflow(up, over, &side->at) &&
	       !__builtin_add_overflow(side->at, origin[0], &side->at);
}

static bool side_fits(const struct _cl_mem *mem, const struct side *side, const size_t *region)
{
	size_t up, over, bytes;

	return !__builtin_mul_overflow(region[2] - 1, side->slice, &up) &&
	       !__builtin_mul_overflow(region[1] - 1, side->row, &over) &&
	       !__builtin_add_overflow(up, over, &bytes) &&
	       !__builtin_add_overflow(bytes, region[0], &bytes) && fits(mem, side->at, bytes);
}

static struct salvo_cl_box box_of(const size_t *region, const struct side *mem,
				  const struct side *other)
{
	return (struct salvo_cl_box){
		.width = region[0], .height = region[1], .depth = region[2],
		.mem_at = mem->at, .mem_row = mem->row, .mem_slice = mem->slice,
		.other_at = other->at, .other_row = other->row, .other_slice = other->slice,
	};
}

static bool is_region(const size_t *region)
{
	return region && region[0] && region[1] && region[2];
}

static cl_int check_rect(const struct salvo_cl_request *request, cl_mem mem,
			 const size_t *mem_origin, const size_t *host_origin, const size_t *region,
			 const size_t pitches[4], const void *pointer, bool writes,
			 struct salvo_cl_box *box)
{
	struct side in_mem, in_host;
	cl_int err = salvo_cl_request_check(request, mem, false);

	if (err)
		return err;
	if (!pointer || !mem_origin || !host_origin || !is_region(region) ||
	    !make_side(mem_origin, region, pitches[0], pitches[1], &in_mem) ||
	    !make_side(host_origin, region, pitches[2], pitches[3], &in_host) ||
	    !side_fits(mem, &in_mem, region))
		return CL_INVALID_VALUE;
	*box = box_of(region, &in_mem, &in_host);
	return check_host_access(mem, writes);
}

cl_int salvo_clEnqueueReadBufferRect(cl_command_queue queue, cl_mem mem, cl_bool blocking,
				     const size_t *buffer_origin, const size_t *host_origin,
				     const size_t *region, size_t buffer_row_pitch,
				     size_t buffer_slice_pitch, size_t host_row_pitch,
				     size_t host_slice_pitch, void *pointer, cl_uint wait_count,
				     const cl_event *waits, cl_event *event)
{
	const struct salvo_cl_request request = REQUEST(CL_COMMAND_READ_BUFFER_RECT, blocking);
	const size_t pitches[] = { buffer_row_pitch, buffer_slice_pitch, host_row_pitch,
				   host_slice_pitch };
	struct salvo_cl_box box;
	cl_int err = check_rect(&request, mem, buffer_origin, host_origin, region, pitches, pointer,
				false, &box);

	return err ? err : salvo_cl_read(&request, mem, &box, pointer);
}

cl_int salvo_clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem mem, cl_bool blocking,
				      const size_t *buffer_origin, const size_t *host_origin,
				      const size_t *region, size_t buffer_row_pitch,
				      size_t buffer_slice_pitch, size_t host_row_pitch,
				      size_t host_slice_pitch, const void *pointer,
				      cl_uint wait_count, const cl_event *waits, cl_event *event)
{
	const struct salvo_cl_request request = REQUEST(CL_COMMAND_WRITE_BUFFER_RECT, blocking);
	const size_t pitches[] = { buffer_row_pitch, buffer_slice_pitch, host_row_pitch,
				   host_slice_pitch };
	struct salvo_cl_box box;
	cl_int err = check_rect(&request, mem, buffer_origin, host_origin, region, pitches, pointer,
				true, &box);

	return err ? err : salvo_cl_write(&request, mem, &box, pointer);
}

/* Do any two rows of the two rectangles, which are in one buffer, have bytes in common? */
static bool rects_overlap(const struct side *a, const struct side *b, const size_t *region)
{
	const size_t span = (region[2] - 1) * a->slice + (region[1] - 1) * a->row + region[0];
	const size_t other = (region[2] - 1) * b->slice + (region[1] - 1) * b->row + region[0];
	size_t distance, up, over, row, rest;

	if (a->at >= b->at + other || b->at >= a->at + span)
		return false;
	if (a->row != b->row || a->slice != b->slice)
		return true;
	distance = a->at > b->at ? a->at - b->at : b->at - a->at;
	for (up = distance / a->slice; up <= distance / a->slice + 1 && up < region[2]; up++) {
		over = distance > up * a->slice ? distance - up * a->slice :
						  up * a->slice - distance;
		row = over / a->row;
		rest = over % a->row;
		if ((row < region[1] && rest < region[0]) ||
		    (rest && row + 1 < region[1] && a->row - rest < region[0]))
			return true;
	}
	return false;
}

cl_int salvo_clEnqueueCopyBufferRect(cl_command_queue queue, cl_mem src, cl_mem dst,
				     const size_t *src_origin, const size_t *dst_origin,
				     const size_t *region, size_t src_row_pitch,
				     size_t src_slice_pitch, size_t dst_row_pitch,
				     size_t dst_slice_pitch, cl_uint wait_count,
				     const cl_event *waits, cl_event *event)
{
	const struct salvo_cl_request request = REQUEST(CL_COMMAND_COPY_BUFFER_RECT, false);
	struct side from, to;
	struct salvo_cl_box box;
	cl_int err;

	err = salvo_cl_request_check(&request, src, false);
	if (!err)
		err = salvo_cl_request_check(&request, dst, false);
	if (err)
		return err;
	if (!src_origin || !dst_origin || !is_region(region) ||
	    !make_side(src_origin, region, src_row_pitch, src_slice_pitch, &from) ||
	    !make_side(dst_origin, region, dst_row_pitch, dst_slice_pitch, &to) ||
	    !side_fits(src, &from, region) || !side_fits(dst, &to, region) ||
	    (src == dst && (from.row != to.row || from.slice != to.slice)))
		return CL_INVALID_VALUE;
	box = box_of(region, &to, &from);
	from.at += src->origin;
	to.at += dst->origin;
	if (src->root == dst->root && rects_overlap(&from, &to, region))
		return CL_MEM_COPY_OVERLAP;
	return salvo_cl_copy(&request, dst, src, &box);
}
