/* SPDX-License-Identifier: MIT */
/*
 * kernel.h - programs and kernels, for the files that load and dispatch them
 */
#ifndef SALVO_LIB_KERNEL_H
#define SALVO_LIB_KERNEL_H

#include <stdbool.h>

#include "salvo_kernel.h"
#include "salvo.h"
#include "hazard.h"

/** define SALVO_KERNEL_ERROR_BYTES - Room for the message of salvo_kernel_error(). */
#define SALVO_KERNEL_ERROR_BYTES 256

/** define SALVO_LOCAL_ALIGN - Alignment of local memory and its arguments: that of ulong16. */
#define SALVO_LOCAL_ALIGN 128u

/**
 * struct salvo_kernel_info - A kernel of a program, from its note; checked.
 */
struct salvo_kernel_info {
	char *name;
	struct salvo_note_kernel note;
	struct salvo_note_arg *args;
	/** @text: The whole note, for the names in it. */
	char *text;
	/** @entry: GPU address, or 0: it has no code. */
	uint64_t entry;
};

/**
 * struct salvo_grid - A thread space.
 */
struct salvo_grid {
	unsigned int dims;	/* 0: not set */
	uint32_t items[3];
	uint32_t group[3];
};

/**
 * struct salvo_kernel - A kernel with its arguments and grid as set so far.
 */
struct salvo_kernel {
	struct salvo_device *device;
	const struct salvo_kernel_info *info;
	/** @name: Lives as long as the device. */
	const char *name;
	/** @args: The argument block, @info->note.args_bytes. */
	uint8_t *args;
	/** @local_sizes: For each argument: bytes, if it is a pointer to local memory. */
	uint32_t *local_sizes;
	/**
	 * @regions: Range and access of each pointer argument, in order, and of the program's
	 * variables if it uses them; @region_count of them.
	 */
	struct salvo_region *regions;
	unsigned int region_count;
	/** @slots: For each argument: its place in @regions, if it is a pointer. */
	uint32_t *slots;
	/** @set: For each argument: has it been set? */
	bool *set;
	/** @unset: How many have not. */
	unsigned int unset;
	/** @local_size: Static and argument local memory together. */
	uint32_t local_size;
	struct salvo_grid grid;
	char error[SALVO_KERNEL_ERROR_BYTES];
};

/** salvo_program_variables() - The buffer of its variables in global memory, or NULL. */
const struct salvo_bo *salvo_program_variables(const struct salvo_program *program);

/** salvo_arg_is_pointer() - Does the argument refer to global or constant memory? */
static inline bool salvo_arg_is_pointer(const struct salvo_note_arg *arg)
{
	return arg->kind == SALVO_ARG_GLOBAL || arg->kind == SALVO_ARG_CONSTANT ||
	       arg->kind == SALVO_ARG_IMAGE;
}

/** salvo_kernel_argument() - The description of argument @index, or NULL. */
static inline const struct salvo_note_arg *
salvo_kernel_argument(const struct salvo_kernel *kernel, unsigned int index)
{
	return index < kernel->info->note.arg_count ? &kernel->info->args[index] : NULL;
}

/** salvo_kernel_store() - Set an argument: as many bytes of @value as it has. */
void salvo_kernel_store(struct salvo_kernel *kernel, unsigned int index, const void *value);

/**
 * salvo_region_set() - Check a buffer argument and compute its range.
 * @size: Bytes that the kernel accesses, or 0 for the rest of the buffer.
 * @region: Its @start, @end and @memory are set.
 *
 * Return: 0 or -EINVAL.
 */
int salvo_region_set(const struct salvo_device *device, const struct salvo_bo *bo,
		     uint64_t offset, uint64_t size, struct salvo_region *region);

/**
 * salvo_locals_place() - Place the local arguments after each other.
 * @args: The argument block to write the offsets to.
 * @sizes: Of each local argument, 0 if it is not set.
 *
 * Return: Bytes of local memory in all, saturated.
 */
uint32_t salvo_locals_place(const struct salvo_kernel_info *info, uint8_t *args,
			    const uint32_t *sizes);

/** salvo_size_place() - Store the size of argument @index's buffer, if the kernel is checked. */
void salvo_size_place(const struct salvo_kernel_info *info, uint8_t *args, unsigned int index,
		      uint64_t bytes);

/** salvo_sizes_fit() - Is there room for the sizes in the argument block of a checked kernel? */
bool salvo_sizes_fit(const struct salvo_kernel_info *info);

/** salvo_offset_check() - Check a global offset. Return: as salvo_kernel_set_offset(). */
int salvo_offset_check(const struct salvo_device *device, const struct salvo_kernel_info *info,
		       const uint32_t offset[3]);

/** salvo_grid_set() - Check a grid for a kernel. Return: as salvo_kernel_set_grid(). */
int salvo_grid_set(const struct salvo_device *device, const struct salvo_kernel_info *info,
		   unsigned int dims, const uint32_t *items, const uint32_t *group,
		   struct salvo_grid *grid);

/** salvo_program_find() - A kernel of the program by name, or NULL. */
const struct salvo_kernel_info *salvo_program_find(const struct salvo_program *program,
						   const char *name);
/** salvo_program_describe() - As salvo_program_load(), from the notes alone: without code. */
int salvo_program_describe(struct salvo_device *device, const void *notes, size_t bytes,
			   struct salvo_program **out);
struct salvo_device *salvo_program_device(const struct salvo_program *program);

#endif /* SALVO_LIB_KERNEL_H */
