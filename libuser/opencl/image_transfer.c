// SPDX-License-Identifier: MIT
/*
 * image_transfer.c - commands on images: read, write, copy, fill, to and from buffers
 *
 * The pixels of an image lie in its memory row by row, so a region of it is a box of bytes, and the
 * commands are those of transfer.c.
 */
#include <stdlib.h>

#include "icd.h"
#include "image.h"

#define REQUEST(command, is_blocking) {						\
	.queue = queue, .type = command, .blocking = is_blocking,		\
	.wait_count = wait_count, .waits = waits, .event = event,		\
}

bool salvo_cl_image_box(const struct _cl_mem *mem, const size_t *origin, const size_t *region,
			struct salvo_cl_box *box)
{
	const struct salvo_cl_image *image = mem->image;
	unsigned int i;

	if (!origin || !region)
		return false;
	for (i = 0; i < 3; i++)
		if (!region[i] || origin[i] > image->size[i] ||
		    region[i] > image->size[i] - origin[i])
			return false;
	*box = (struct salvo_cl_box){
		.width = region[0] * image->pixel_bytes, .height = region[1], .depth = region[2],
		.mem_at = origin[0] * image->pitch[0] + origin[1] * image->pitch[1] +
			  origin[2] * image->pitch[2],
		.mem_row = image->pitch[1], .mem_slice = image->pitch[2],
	};
	return true;
}

/* The same memory as the other side of a copy. */
static void set_other(struct salvo_cl_box *box, const struct salvo_cl_box *from)
{
	box->other_at = from->mem_at;
	box->other_row = from->mem_row;
	box->other_slice = from->mem_slice;
}

/* --- the host ------------------------------------------------------------------------- */

/* The pitches of the application's memory, which are 0 for the tightest. */
static bool set_host(const struct _cl_mem *mem, struct salvo_cl_box *box, size_t row, size_t slice)
{
	const bool line = mem->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
	const bool slices = line || mem->type == CL_MEM_OBJECT_IMAGE2D_ARRAY ||
			    mem->type == CL_MEM_OBJECT_IMAGE3D;
	size_t least;

	if ((row && row < box->width) || (slice && !slices))
		return false;
	row = row ? row : box->width;
	least = line ? row : row * box->height;
	if (slice && slice < least)
		return false;
	slice = slice ? slice : least;
	box->other_row = line ? slice : row;
	box->other_slice = line ? slice * box->height : slice;
	return true;
}

static cl_int check_host(const struct salvo_cl_request *request, cl_mem mem, const size_t *origin,
			 const size_t *region, size_t row, size_t slice, const void *pointer,
			 cl_mem_flags refused, struct salvo_cl_box *box)
{
	cl_int err = salvo_cl_request_check(request, mem, true);

	if (err)
		return err;
	if (!pointer || !salvo_cl_image_box(mem, origin, region, box) ||
	    !set_host(mem, box, row, slice))
		return CL_INVALID_VALUE;
	return mem->flags & (refused | CL_MEM_HOST_NO_ACCESS) ? CL_INVALID_OPERATION : CL_SUCCESS;
}

cl_int salvo_clEnqueueReadImage(cl_command_queue queue, cl_mem mem, cl_bool blocking,
				const size_t *origin, const size_t *region, size_t row_pitch,
				size_t slice_pitch, void *pointer, cl_uint wait_count,
				const cl_event *waits, cl_event *event)
{
	const struct salvo_cl_request request = REQUEST(CL_COMMAND_READ_IMAGE, blocking);
	struct salvo_cl_box box;
	cl_int err = check_host(&request, mem, origin, region, row_pitch, slice_pitch, pointer,
				CL_MEM_HOST_WRITE_ONLY, &box);

	return err ? err : salvo_cl_read(&request, mem, &box, pointer);
}

cl_int salvo_clEnqueueWriteImage(cl_command_queue queue, cl_mem mem, cl_bool blocking,
				 const size_t *origin, const size_t *region, size_t row_pitch,
				 size_t slice_pitch, const void *pointer, cl_uint wait_count,
				 const cl_event *waits, cl_event *event)
{
	const struct salvo_cl_request request = REQUEST(CL_COMMAND_WRITE_IMAGE, blocking);
	struct salvo_cl_box box;
	cl_int err = check_host(&request, mem, origin, region, row_pitch, slice_pitch, pointer,
				CL_MEM_HOST_READ_ONLY, &box);

	return err ? err : salvo_cl_write(&request, mem, &box, pointer);
}

/* --- copies and fills ------------------------------------------------------------------- */

static bool regions_overlap(const size_t *a, const size_t *b, const size_t *region)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		if (a[i] >= b[i] + region[i] || b[i] >= a[i] + region[i])
			return false;
	return true;
}

cl_int salvo_clEnqueueCopyImage(cl_command_queue queue, cl_mem src, cl_mem dst,
				const size_t *src_origin, const size_t *dst_origin,
				const size_t *region, cl_uint wait_count, const cl_event *waits,
				cl_event *event)
{
	const struct salvo_cl_request request = REQUEST(CL_COMMAND_COPY_IMAGE, false);
	struct salvo_cl_box box, from;
	cl_int err;

	err = salvo_cl_request_check(&request, src, true);
	if (!err)
		err = salvo_cl_request_check(&request, dst, true);
	if (err)
		return err;
	if (src->image->format.image_channel_order != dst->image->format.image_channel_order ||
	    src->image->format.image_channel_data_type !=
		    dst->image->format.image_channel_data_type)
		return CL_IMAGE_FORMAT_MISMATCH;
	if (!salvo_cl_image_box(src, src_origin, region, &from) ||
	    !salvo_cl_image_box(dst, dst_origin, region, &box))
		return CL_INVALID_VALUE;
	if (src == dst && regions_overlap(src_origin, dst_origin, region))
		return CL_MEM_COPY_OVERLAP;
	set_other(&box, &from);
	return salvo_cl_copy(&request, dst, src, &box);
}

cl_int salvo_clEnqueueFillImage(cl_command_queue queue, cl_mem mem, const void *color,
				const size_t *origin, const size_t *region, cl_uint wait_count,
				const cl_event *waits, cl_event *event)
{
	const struct salvo_cl_request request = REQUEST(CL_COMMAND_FILL_IMAGE, false);
	unsigned char pixel[16];
	struct salvo_cl_box box;
	cl_int err = salvo_cl_request_check(&request, mem, true);

	if (err)
		return err;
	if (!color || !salvo_cl_image_box(mem, origin, region, &box))
		return CL_INVALID_VALUE;
	salvo_cl_format_pack(&mem->image->format, color, pixel);
	return salvo_cl_fill(&request, mem, &box, pixel, mem->image->pixel_bytes);
}

/* The side of a buffer: packed, from @offset on. */
static cl_int check_buffer(cl_mem buffer, size_t offset, struct salvo_cl_box *side,
			   const struct salvo_cl_box *pixels)
{
	*side = *pixels;
	side->mem_at = offset;
	side->mem_row = pixels->width;
	side->mem_slice = pixels->width * pixels->height;
	return offset > buffer->size || side->mem_slice * pixels->depth > buffer->size - offset
		       ? CL_INVALID_VALUE
		       : CL_SUCCESS;
}

cl_int salvo_clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem src, cl_mem dst,
					const size_t *origin, const size_t *region,
					size_t dst_offset, cl_uint wait_count,
					const cl_event *waits, cl_event *event)
{
	const struct salvo_cl_request request = REQUEST(CL_COMMAND_COPY_IMAGE_TO_BUFFER, false);
	struct salvo_cl_box from, box;
	cl_int err;

	err = salvo_cl_request_check(&request, src, true);
	if (!err)
		err = salvo_cl_request_check(&request, dst, false);
	if (err)
		return err;
	if (dst->root == src->root)
		return CL_INVALID_MEM_OBJECT;
	if (!salvo_cl_image_box(src, origin, region, &from) ||
	    check_buffer(dst, dst_offset, &box, &from))
		return CL_INVALID_VALUE;
	set_other(&box, &from);
	return salvo_cl_copy(&request, dst, src, &box);
}

cl_int salvo_clEnqueueCopyBufferToImage(cl_command_queue queue, cl_mem src, cl_mem dst,
					size_t src_offset, const size_t *origin,
					const size_t *region, cl_uint wait_count,
					const cl_event *waits, cl_event *event)
{
	const struct salvo_cl_request request = REQUEST(CL_COMMAND_COPY_BUFFER_TO_IMAGE, false);
	struct salvo_cl_box from, box;
	cl_int err;

	err = salvo_cl_request_check(&request, src, false);
	if (!err)
		err = salvo_cl_request_check(&request, dst, true);
	if (err)
		return err;
	if (dst->root == src->root)
		return CL_INVALID_MEM_OBJECT;
	if (!salvo_cl_image_box(dst, origin, region, &box) ||
	    check_buffer(src, src_offset, &from, &box))
		return CL_INVALID_VALUE;
	set_other(&box, &from);
	return salvo_cl_copy(&request, dst, src, &box);
}
