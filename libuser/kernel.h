/* SPDX-License-Identifier: MIT */
/*
 * kernel.h - programs and kernels, for the files that load and dispatch them
 */
#ifndef SALVO_LIB_KERNEL_H
#define SALVO_LIB_KERNEL_H

#include "device/salvo_kernel.h"
#include "winsys.h"

/** define SALVO_LOCAL_ALIGN - Alignment of local memory and of each local argument. */
#define SALVO_LOCAL_ALIGN 64u

/**
 * struct salvo_kernel_info - A kernel of a program, from its note; checked.
 */
struct salvo_kernel_info {
	char *name;
	struct salvo_note_kernel note;
	struct salvo_note_arg *args;
	/** @entry: GPU address. */
	uint64_t entry;
};

/**
 * struct salvo_kernel - A kernel with its arguments and grid as set so far.
 */
struct salvo_kernel {
	struct salvo_device *device;
	const struct salvo_kernel_info *info;
	/** @args: The argument block, @info->note.args_bytes. */
	uint8_t *args;
	/** @local_sizes: For each argument: bytes, if it is a pointer to local memory. */
	uint32_t *local_sizes;
	/** @set: For each argument: was it set? */
	bool *set;
	/** @unset: How many are not. */
	unsigned int unset;
	/** @local_size: Static and argument local memory together. */
	uint32_t local_size;
	unsigned int dims;	/* 0: the grid is not set */
	uint32_t items[3];
	uint32_t group[3];
};

/** salvo_program_find() - A kernel of the program by name, or NULL. */
const struct salvo_kernel_info *salvo_program_find(const struct salvo_program *program,
						   const char *name);
struct salvo_device *salvo_program_device(const struct salvo_program *program);

#endif /* SALVO_LIB_KERNEL_H */
