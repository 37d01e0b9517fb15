/* SPDX-License-Identifier: MIT */
/*
 * memory.h - memory objects, as queues and kernels see them
 */
#ifndef SALVO_CL_MEMORY_H
#define SALVO_CL_MEMORY_H

#include "context.h"

/**
 * struct _cl_mem - A buffer, sub-buffer or image.
 */
struct _cl_mem {
	struct salvo_cl_object base;
	cl_context context;
	cl_mem_object_type type;
	cl_mem_flags flags;
	size_t size;
	/** @root: The buffer of a sub-buffer or of an image made from one; else itself. */
	cl_mem root;
	/** @origin: Bytes from the start of @root. */
	size_t origin;
	/** @pending: Of a root: submissions with commands that access it. */
	atomic_uint pending;
	struct salvo_cl_notify *destructors;
};

/** salvo_cl_mem_is_idle() - Does no command that was enqueued and is not done access it? */
static inline bool salvo_cl_mem_is_idle(const struct _cl_mem *mem)
{
	return !atomic_load_explicit(&mem->root->pending, memory_order_acquire);
}

/**
 * salvo_cl_mem_migrate() - Let a GPU of the context have the contents of a memory object.
 * @gpu: Which of the context's GPUs will run commands that access it.
 * @access: SALVO_ARGUMENT_READ, _WRITE; after a write the other GPUs' contents are stale.
 *
 * Called before a batch is submitted, in contexts of several GPUs only, with the context's lock held;
 * commands of other GPUs that access it are done.
 *
 * Return: 0 or a negative errno.
 */
int salvo_cl_mem_migrate(cl_mem mem, unsigned int gpu, uint32_t access);

#endif /* SALVO_CL_MEMORY_H */
