/* SPDX-License-Identifier: MIT */
/*
 * cl_memory.h - memory objects, as queues and kernels see them
 */
#ifndef SALVO_CL_MEMORY_H
#define SALVO_CL_MEMORY_H

#include "context.h"

struct salvo_cl_image;
struct salvo_cl_mapping;

/** struct salvo_cl_extent - Bytes of a root, up to @end, whose contents a GPU has. */
struct salvo_cl_extent {
	size_t end;
	unsigned int owner;
};

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
	/** @parent: What it was made from, CL_MEM_ASSOCIATED_MEMOBJECT, or NULL. */
	cl_mem parent;
	/** @origin: Bytes from the start of the memory of @root. */
	size_t origin;
	/** @pending: Of a root: submissions with commands that access it. */
	atomic_uint pending;
	/**
	 * @writer: Of a root: serial of the last submission that writes it. @damaged: that of one
	 * that failed to, 0: none; @damaged_from, @damaged_to: which bytes. The context's lock
	 * protects them; @damaged is read without.
	 */
	uint64_t writer;
	_Atomic uint64_t damaged;
	size_t damaged_from;
	size_t damaged_to;
	/** @host_ptr: Of CL_MEM_USE_HOST_PTR. */
	void *host_ptr;
	cl_mem_properties *properties;
	size_t property_count;
	/** @bos: Of a root: its memory on each GPU of the context. */
	struct salvo_bo **bos;
	/** @data: Of a root: where the CPU has @bos[0]. */
	void *data;
	/** @extents: Of a root's memory in a context of several GPUs: who has what, in order. */
	struct salvo_cl_extent *extents;
	unsigned int extent_count;
	/** @shadowed: Of a root: @host_ptr is not @data; maps copy. */
	bool shadowed;
	/** @external: Of a root: its memory on GPU 0 is another driver's. */
	bool external;
	/** @foreign: Of a root: its memory on GPU 0 is another driver's, or the application's. */
	bool foreign;
	/** @image: NULL for a buffer. */
	struct salvo_cl_image *image;
	/** @mappings, @map_count, @destructors: Protected by the context's lock. */
	struct salvo_cl_mapping *mappings;
	cl_uint map_count;
	struct salvo_cl_notify *destructors;
};

/** salvo_cl_mem_is_idle() - Does no command that was enqueued and is not done access it? */
static inline bool salvo_cl_mem_is_idle(const struct _cl_mem *mem)
{
	return !atomic_load_explicit(&mem->root->pending, memory_order_acquire);
}

/** salvo_cl_mem_damage() - Submission @serial failed to write to it; the lock is held. */
void salvo_cl_mem_damage(cl_mem mem, uint64_t serial);
/** salvo_cl_mem_is_damaged() - Is something missing in it that was to be written last? */
bool salvo_cl_mem_is_damaged(cl_mem mem);
/** salvo_cl_mem_replace() - Others may have written what commands before have failed to write. */
void salvo_cl_mem_replace(cl_mem mem);
/** salvo_cl_mem_repair() - The CPU has written to it. */
static inline void salvo_cl_mem_repair(cl_mem mem)
{
	atomic_store_explicit(&mem->root->damaged, 0, memory_order_relaxed);
}

/** salvo_cl_mem_bo() - Its memory on a GPU of the context; it begins @mem->origin bytes into it. */
static inline struct salvo_bo *salvo_cl_mem_bo(const struct _cl_mem *mem, unsigned int gpu)
{
	return mem->root->bos[gpu];
}

/**
 * salvo_cl_mem_migrate() - Let a GPU of the context have the contents of a memory object.
 * @gpu: Which of the context's GPUs will run commands that access it. The CPU's accesses count as
 *       those of GPU 0, whose memory the application maps.
 * @access: SALVO_ARGUMENT_READ, _WRITE.
 *
 * Commands of other GPUs that access these bytes are done, and no other thread accesses them. The
 * context's lock is held.
 *
 * Return: 0 or a negative errno.
 */
int salvo_cl_mem_migrate(cl_mem mem, unsigned int gpu, uint32_t access);
/** salvo_cl_mem_fetch() - Migrate it to GPU 0, for the CPU; the context's lock is not held. */
int salvo_cl_mem_fetch(cl_mem mem);

/** salvo_cl_mem_data() - Where the CPU has it, after salvo_cl_mem_fetch(). */
static inline char *salvo_cl_mem_data(const struct _cl_mem *mem)
{
	return (char *)mem->root->data + mem->origin;
}

/** salvo_cl_mem_check_flags() - CL_INVALID_VALUE: unknown flags, or that exclude each other. */
cl_int salvo_cl_mem_check_flags(cl_mem_flags flags);
/**
 * salvo_cl_mem_create() - A memory object with memory of its own, or the application's.
 * @host_ptr: As @flags say; NULL: none is copied, for an image that copies it itself.
 * @fd: A dma-buf that has its memory, or -1.
 */
cl_mem salvo_cl_mem_create(cl_context context, cl_mem_object_type type, cl_mem_flags flags,
			   size_t size, void *host_ptr, int fd, cl_int *err);
/** salvo_cl_mem_create_part() - A memory object that is a part of another one's. */
cl_mem salvo_cl_mem_create_part(cl_mem parent, cl_mem_object_type type, cl_mem_flags flags,
				size_t origin, size_t size, cl_int *err);
/** salvo_cl_mem_inherit_flags() - The flags of a part: those that it lacks are its parent's. */
cl_mem_flags salvo_cl_mem_inherit_flags(cl_mem_flags flags, cl_mem_flags parent);
/** salvo_cl_mem_set_properties() - Keep what CL_MEM_PROPERTIES answers. */
cl_int salvo_cl_mem_set_properties(cl_mem mem, const cl_mem_properties *properties, size_t count);
/** salvo_cl_mappings_free() - Of an object that is destroyed while it is mapped. */
void salvo_cl_mappings_free(struct salvo_cl_mapping *mapping);
/** salvo_cl_image_fini() - Free what an image has beyond its memory; may be NULL. */
void salvo_cl_image_fini(cl_mem mem);

#endif /* SALVO_CL_MEMORY_H */
