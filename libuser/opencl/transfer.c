// SPDX-License-Identifier: MIT
/*
 * transfer.c - transfers between memory objects and the application, for buffers and images alike
 *
 * Reads are commands of the host: a copy by the CPU when everything before them that writes the
 * object is done. Writes go one of four ways, the first that is possible:
 *
 *	at once			nothing pending accesses the object, and no event is waited for
 *	a fill			of up to 128 bytes, which are part of the batch
 *	a staging buffer	the data is copied there at once, and the batch copies it
 *	a command of the host	it waits for a user event, or a read stores the data: the data is
 *				read when that is complete
 *
 * Copies and fills are commands of the GPU. A staging buffer is an object of its own, which the
 * command holds until it is done.
 */
#include "transfer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"
#include "submission.h"

#define MAX_PATTERN_BYTES 128

/**
 * struct staging - A buffer for the data of one command.
 */
struct staging {
	struct salvo_cl_object base;
	struct salvo_cl_pool *pool;
	struct salvo_bo *bo;
};

/**
 * struct transfer - A read or write as a command of the host.
 */
struct transfer {
	struct salvo_cl_host host;
	cl_mem mem;
	struct salvo_cl_box box;
	char *pointer;
	bool to_mem;
};

/* --- boxes -------------------------------------------------------------------------- */

static bool is_line(const struct salvo_cl_box *box)
{
	return (box->height == 1 || (box->mem_row == box->width && box->other_row == box->width)) &&
	       (box->depth == 1 || (box->mem_slice == box->width * box->height &&
				    box->other_slice == box->width * box->height &&
				    box->mem_row == box->width && box->other_row == box->width));
}

static size_t box_bytes(const struct salvo_cl_box *box)
{
	return box->width * box->height * box->depth;
}

void salvo_cl_box_copy(const struct salvo_cl_box *box, char *mem, char *other, bool to_mem)
{
	const size_t rows = is_line(box) ? 1 : box->height, slices = is_line(box) ? 1 : box->depth;
	const size_t width = is_line(box) ? box_bytes(box) : box->width;
	size_t y, z;

	for (z = 0; z < slices; z++)
		for (y = 0; y < rows; y++) {
			char *a = mem + box->mem_at + z * box->mem_slice + y * box->mem_row;
			char *b = other + box->other_at + z * box->other_slice + y * box->other_row;

			if (to_mem)
				memcpy(a, b, width);
			else
				memcpy(b, a, width);
		}
}

static struct salvo_rect rect_of(const struct salvo_cl_box *box)
{
	return (struct salvo_rect){
		.width = box->width, .height = box->height, .depth = box->depth,
		.dst_row_pitch = box->mem_row, .dst_slice_pitch = box->mem_slice,
		.src_row_pitch = box->other_row, .src_slice_pitch = box->other_slice,
	};
}

/* A copy between buffers; @dst_at, @src_at: where the objects begin. Return: a command's index. */
static int record_copy(struct salvo_batch *batch, const struct salvo_cl_box *box,
		       struct salvo_bo *dst, size_t dst_at, struct salvo_bo *src, size_t src_at)
{
	const struct salvo_rect rect = rect_of(box);

	if (is_line(box))
		return salvo_batch_copy(batch, dst, dst_at + box->mem_at, src,
					src_at + box->other_at, box_bytes(box));
	return salvo_batch_copy_rect(batch, dst, dst_at + box->mem_at, src, src_at + box->other_at,
				     &rect);
}

/* --- staging ------------------------------------------------------------------------ */

static void destroy_staging(struct salvo_cl_object *object)
{
	struct staging *staging = (struct staging *)object;

	salvo_cl_pool_put(staging->pool, staging->bo);
	free(staging);
}

static struct staging *create_staging(cl_command_queue queue, size_t bytes, void **map)
{
	struct staging *staging = calloc(1, sizeof(*staging));

	if (!staging)
		return NULL;
	salvo_cl_object_init(&staging->base, SALVO_CL_STAGING, destroy_staging);
	staging->pool = queue->context->pools[queue->gpu];
	if (salvo_cl_pool_get(staging->pool, bytes, &staging->bo) ||
	    salvo_bo_map(staging->bo, map)) {
		salvo_cl_object_put(&staging->base);
		return NULL;
	}
	return staging;
}

/* --- checks ------------------------------------------------------------------------- */

cl_int salvo_cl_request_check(const struct salvo_cl_request *request, cl_mem mem, bool is_image)
{
	cl_int err = salvo_cl_command_check(request->queue, request->wait_count, request->waits);

	if (err)
		return err;
	if (!salvo_cl_is(mem, SALVO_CL_MEM) || !mem->image == is_image)
		return CL_INVALID_MEM_OBJECT;
	return mem->context == request->queue->context ? CL_SUCCESS : CL_INVALID_CONTEXT;
}

static cl_int begin(const struct salvo_cl_request *request, struct salvo_cl_command *command)
{
	return salvo_cl_command_begin(command, request->queue, request->type, request->wait_count,
				      request->waits, request->event);
}

cl_int salvo_cl_nothing(const struct salvo_cl_request *request, cl_mem mem)
{
	struct salvo_cl_command command;
	cl_int err = begin(request, &command);

	if (err)
		return err;
	if (mem)
		salvo_cl_command_hold(&command, &mem->base);
	return salvo_cl_command_end(&command, CL_SUCCESS);
}

/* --- commands of the host --------------------------------------------------------------- */

static cl_int run(struct salvo_cl_host *host)
{
	struct transfer *transfer = (struct transfer *)host;

	if (salvo_cl_mem_fetch(transfer->mem))
		return CL_OUT_OF_RESOURCES;
	salvo_cl_box_copy(&transfer->box, salvo_cl_mem_data(transfer->mem), transfer->pointer,
			  transfer->to_mem);
	if (transfer->to_mem)
		salvo_cl_mem_repair(transfer->mem);
	else if (salvo_cl_mem_is_damaged(transfer->mem))
		return CL_OUT_OF_RESOURCES;
	return CL_COMPLETE;
}

static void release(struct salvo_cl_host *host)
{
	free(host);
}

static cl_int enqueue_transfer(const struct salvo_cl_request *request, cl_mem mem,
			       const struct salvo_cl_box *box, char *pointer, bool to_mem)
{
	struct transfer *transfer = malloc(sizeof(*transfer));

	if (!transfer)
		return CL_OUT_OF_HOST_MEMORY;
	*transfer = (struct transfer){
		.host = { .run = run, .release = release, .mems = { mem } },
		.mem = mem, .box = *box, .pointer = pointer, .to_mem = to_mem,
	};
	return salvo_cl_host_enqueue(&transfer->host, request->queue, request->type,
				     request->blocking, request->wait_count, request->waits,
				     request->event);
}

cl_int salvo_cl_read(const struct salvo_cl_request *request, cl_mem mem,
		     const struct salvo_cl_box *box, void *pointer)
{
	return enqueue_transfer(request, mem, box, pointer, false);
}

/* --- writes ----------------------------------------------------------------------------- */

static cl_int write_inline(const struct salvo_cl_request *request, cl_mem mem,
			   const struct salvo_cl_box *box, const char *pointer)
{
	const size_t bytes = box_bytes(box);
	struct salvo_cl_command command;
	cl_int err = begin(request, &command);
	int index;

	if (err)
		return err;
	do {
		index = salvo_batch_fill_pattern(command.batch,
						 salvo_cl_mem_bo(mem, request->queue->gpu),
						 mem->origin + box->mem_at, bytes,
						 pointer + box->other_at, bytes);
	} while (salvo_cl_command_again(&command, index));
	salvo_cl_command_use(&command, mem, SALVO_ARGUMENT_WRITE);
	return salvo_cl_command_end(&command, index < 0 ? salvo_cl_error(index) : CL_SUCCESS);
}

/* CL_MEM_OBJECT_ALLOCATION_FAILURE: there is no memory for the data, nothing is enqueued. */
static cl_int write_staged(const struct salvo_cl_request *request, cl_mem mem,
			   const struct salvo_cl_box *box, const char *pointer)
{
	struct salvo_cl_box packed = *box, to_mem = *box;
	struct salvo_cl_command command;
	struct staging *staging;
	void *map;
	cl_int err;
	int index;

	staging = create_staging(request->queue, box_bytes(box), &map);
	if (!staging)
		return CL_MEM_OBJECT_ALLOCATION_FAILURE;
	packed.mem_at = 0;
	packed.mem_row = box->width;
	packed.mem_slice = box->width * box->height;
	salvo_cl_box_copy(&packed, map, (char *)pointer, true);
	to_mem.other_at = 0;
	to_mem.other_row = packed.mem_row;
	to_mem.other_slice = packed.mem_slice;
	err = begin(request, &command);
	if (!err) {
		do {
			index = record_copy(command.batch, &to_mem,
					    salvo_cl_mem_bo(mem, request->queue->gpu), mem->origin,
					    staging->bo, 0);
		} while (salvo_cl_command_again(&command, index));
		salvo_cl_command_hold(&command, &staging->base);
		salvo_cl_command_use(&command, mem, SALVO_ARGUMENT_WRITE);
		err = salvo_cl_command_end(&command,
					   index < 0 ? salvo_cl_error(index) : CL_SUCCESS);
	}
	salvo_cl_object_put(&staging->base);
	return err;
}

/* The application may go on to change the data until it completes its event. */
static bool waits_for_user(const struct salvo_cl_request *request)
{
	cl_uint i;

	for (i = 0; i < request->wait_count; i++)
		if (!request->waits[i]->queue &&
		    !salvo_cl_command_is_ready(1, &request->waits[i]))
			return true;
	return false;
}

/* Bytes of the application's memory from the first to the last of a box. */
static size_t other_span(const struct salvo_cl_box *box)
{
	return (box->depth - 1) * box->other_slice + (box->height - 1) * box->other_row +
	       box->width;
}

/* Does a read of the queue that is not done store what the box has? The lock is held. */
static bool is_read_into(const struct _cl_command_queue *queue, const struct salvo_cl_box *box,
			 const char *pointer)
{
	const struct salvo_cl_submission *submission;

	for (submission = queue->first; submission; submission = submission->next) {
		const struct transfer *read = (const struct transfer *)submission->host;
		const char *at, *from = pointer + box->other_at;

		if (!read || read->host.run != run || read->to_mem)
			continue;
		at = read->pointer + read->box.other_at;
		if (from < at + other_span(&read->box) && at < from + other_span(box))
			return true;
	}
	return false;
}

/* Reads that come before the write have to store its data first. */
static bool waits_for_read(const struct salvo_cl_request *request, const struct salvo_cl_box *box,
			   const char *pointer)
{
	cl_context context = request->queue->context;
	bool found;
	cl_uint i;

	pthread_mutex_lock(&context->lock);
	found = is_read_into(request->queue, box, pointer);
	for (i = 0; i < request->wait_count && !found; i++)
		if (request->waits[i]->queue)
			found = is_read_into(request->waits[i]->queue, box, pointer);
	pthread_mutex_unlock(&context->lock);
	return found;
}

cl_int salvo_cl_write(const struct salvo_cl_request *request, cl_mem mem,
		      const struct salvo_cl_box *box, const void *pointer)
{
	cl_int err;

	if (waits_for_user(request) || waits_for_read(request, box, pointer))
		return enqueue_transfer(request, mem, box, (char *)pointer, true);
	if (salvo_cl_command_is_ready(request->wait_count, request->waits) &&
	    salvo_cl_mem_is_idle(mem) && !salvo_cl_mem_fetch(mem)) {
		salvo_cl_box_copy(box, salvo_cl_mem_data(mem), (char *)pointer, true);
		salvo_cl_mem_repair(mem);
		return salvo_cl_nothing(request, mem);
	}
	if (is_line(box) && box_bytes(box) <= MAX_PATTERN_BYTES)
		return write_inline(request, mem, box, pointer);
	err = write_staged(request, mem, box, pointer);
	if (err == CL_MEM_OBJECT_ALLOCATION_FAILURE)
		err = enqueue_transfer(request, mem, box, (char *)pointer, true);
	return err;
}

/* --- copies and fills --------------------------------------------------------------------- */

cl_int salvo_cl_copy(const struct salvo_cl_request *request, cl_mem dst, cl_mem src,
		     const struct salvo_cl_box *box)
{
	const unsigned int gpu = request->queue->gpu;
	struct salvo_cl_command command;
	cl_int err = begin(request, &command);
	int index;

	if (err)
		return err;
	do {
		index = record_copy(command.batch, box, salvo_cl_mem_bo(dst, gpu), dst->origin,
				    salvo_cl_mem_bo(src, gpu), src->origin);
	} while (salvo_cl_command_again(&command, index));
	salvo_cl_command_use(&command, src, SALVO_ARGUMENT_READ);
	salvo_cl_command_use(&command, dst, SALVO_ARGUMENT_WRITE);
	return salvo_cl_command_end(&command, index < 0 ? salvo_cl_error(index) : CL_SUCCESS);
}

/* A box that is no line: the pattern fills a staging buffer, which is copied to it. */
static int record_fill(struct salvo_batch *batch, const struct salvo_cl_box *box,
		       struct salvo_bo *bo, size_t origin, struct salvo_bo *staging,
		       const void *pattern, size_t bytes)
{
	struct salvo_cl_box from = *box;
	int fill, copy, err;

	if (!staging)
		return salvo_batch_fill_pattern(batch, bo, origin + box->mem_at, box_bytes(box),
						pattern, bytes);
	from.other_at = 0;
	from.other_row = box->width;
	from.other_slice = box->width * box->height;
	fill = salvo_batch_fill_pattern(batch, staging, 0, box_bytes(box), pattern, bytes);
	if (fill < 0)
		return fill;
	copy = record_copy(batch, &from, bo, origin, staging, 0);
	if (copy < 0)
		return copy;
	err = salvo_batch_pipe_control(batch, copy, fill);
	return err < 0 ? err : copy;
}

cl_int salvo_cl_fill(const struct salvo_cl_request *request, cl_mem mem,
		     const struct salvo_cl_box *box, const void *pattern, size_t bytes)
{
	struct salvo_bo *bo = salvo_cl_mem_bo(mem, request->queue->gpu);
	struct salvo_cl_box line = *box;
	struct salvo_cl_command command;
	struct staging *staging = NULL;
	void *map;
	cl_int err;
	int index;

	line.other_row = line.width;
	line.other_slice = line.width * line.height;
	if (!is_line(&line)) {
		staging = create_staging(request->queue, box_bytes(&line), &map);
		if (!staging)
			return CL_OUT_OF_RESOURCES;
	}
	err = begin(request, &command);
	if (!err) {
		do {
			index = record_fill(command.batch, &line, bo, mem->origin,
					    staging ? staging->bo : NULL, pattern, bytes);
		} while (salvo_cl_command_again(&command, index));
		if (staging)
			salvo_cl_command_hold(&command, &staging->base);
		salvo_cl_command_use(&command, mem, SALVO_ARGUMENT_WRITE);
		err = salvo_cl_command_end(&command,
					   index < 0 ? salvo_cl_error(index) : CL_SUCCESS);
	}
	if (staging)
		salvo_cl_object_put(&staging->base);
	return err;
}
