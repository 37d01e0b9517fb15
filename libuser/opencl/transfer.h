/* SPDX-License-Identifier: MIT */
/*
 * transfer.h - move a box of bytes between a memory object and the application
 */
#ifndef SALVO_CL_TRANSFER_H
#define SALVO_CL_TRANSFER_H

#include "command.h"
#include "cl_memory.h"

/**
 * struct salvo_cl_box - Rows of bytes, and how they lie on the two sides of a transfer.
 *
 * The rows of a slice and the slices follow each other, on both sides.
 */
struct salvo_cl_box {
	size_t width;	/* bytes */
	size_t height;
	size_t depth;
	/** @mem_at: Of the first byte, from the start of the memory object. */
	size_t mem_at;
	size_t mem_row;
	size_t mem_slice;
	/** @other_at: The same of the application's memory, or of another memory object. */
	size_t other_at;
	size_t other_row;
	size_t other_slice;
};

/**
 * struct salvo_cl_request - What a clEnqueue*() has of its queue and events.
 */
struct salvo_cl_request {
	cl_command_queue queue;
	cl_command_type type;
	bool blocking;
	cl_uint wait_count;
	const cl_event *waits;
	cl_event *event;
};

/** salvo_cl_box_line() - A box of one row: @bytes from @mem_at on and from @other_at on. */
static inline struct salvo_cl_box salvo_cl_box_line(size_t mem_at, size_t other_at, size_t bytes)
{
	return (struct salvo_cl_box){ bytes, 1, 1, mem_at, bytes, bytes, other_at, bytes, bytes };
}

/** salvo_cl_box_copy() - Copy it on the CPU, to or from @mem. */
void salvo_cl_box_copy(const struct salvo_cl_box *box, char *mem, char *other, bool to_mem);

/**
 * salvo_cl_request_check() - The checks that all transfers begin with.
 * Return: CL_SUCCESS, CL_INVALID_COMMAND_QUEUE, CL_INVALID_EVENT_WAIT_LIST, CL_INVALID_CONTEXT,
 * CL_INVALID_MEM_OBJECT (@mem is not one, or not a buffer, or an image as @is_image says).
 */
cl_int salvo_cl_request_check(const struct salvo_cl_request *request, cl_mem mem, bool is_image);

/** salvo_cl_read() - Enqueue a copy from @mem to the application's memory. */
cl_int salvo_cl_read(const struct salvo_cl_request *request, cl_mem mem,
		     const struct salvo_cl_box *box, void *pointer);
/**
 * salvo_cl_write() - Enqueue a copy from the application's memory to @mem.
 *
 * If nothing pending accesses the object it is copied at once. Otherwise it is copied to a buffer
 * of its own, which a command of the GPU copies from, so that the queue's batch goes on; unless the
 * write waits for a user event, or for a read that stores the data, after which the memory is read.
 */
cl_int salvo_cl_write(const struct salvo_cl_request *request, cl_mem mem,
		      const struct salvo_cl_box *box, const void *pointer);
/** salvo_cl_copy() - Enqueue a copy from @src, the box's other side, to @dst. */
cl_int salvo_cl_copy(const struct salvo_cl_request *request, cl_mem dst, cl_mem src,
		     const struct salvo_cl_box *box);
/**
 * salvo_cl_fill() - Enqueue a fill of a box of @mem with a pattern of up to 128 bytes.
 * @box: Its width is a multiple of @bytes.
 */
cl_int salvo_cl_fill(const struct salvo_cl_request *request, cl_mem mem,
		     const struct salvo_cl_box *box, const void *pattern, size_t bytes);
/** salvo_cl_nothing() - Enqueue a command that does nothing to @mem, or NULL, but in its turn. */
cl_int salvo_cl_nothing(const struct salvo_cl_request *request, cl_mem mem);

#endif /* SALVO_CL_TRANSFER_H */
