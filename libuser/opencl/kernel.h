/* SPDX-License-Identifier: MIT */
/*
 * kernel.h - kernels, as queues see them
 */
#ifndef SALVO_CL_KERNEL_H
#define SALVO_CL_KERNEL_H

#include "command.h"
#include "program.h"

/**
 * struct salvo_cl_given - The thread space that was enqueued last, as the application gave it.
 */
struct salvo_cl_given {
	/** @dims: 0: none. */
	cl_uint dims;
	/** @grouped: With a work-group. */
	bool grouped;
	size_t offset[3];
	size_t items[3];
	size_t group[3];
};

/**
 * struct salvo_cl_kernel_on - A kernel on one of its program's devices.
 */
struct salvo_cl_kernel_on {
	cl_device_id device;
	/** @gpu: Of the context, an index. */
	unsigned int gpu;
	struct salvo_cl_code *code;
	struct salvo_kernel *salvo;
	/** @last: Is set in @salvo, if there is one; the context's lock protects it. */
	struct salvo_cl_given last;
};

/**
 * struct salvo_cl_arg - An argument.
 */
struct salvo_cl_arg {
	struct salvo_argument_info info;
	bool set;
	/** @mem: Of a pointer or image; NULL: none. The reference is the application's. */
	cl_mem mem;
	/** @sampler: Likewise. */
	cl_sampler sampler;
	/** @local_bytes: Of a local argument. */
	size_t local_bytes;
};

/**
 * struct _cl_kernel - A kernel.
 */
struct _cl_kernel {
	struct salvo_cl_object base;
	cl_program program;
	/**
	 * @waits: For its code: it was created from descriptions (struct salvo_cl_build). The
	 * program's lock is held while it gets it, and for what changes it before.
	 */
	atomic_bool waits;
	/** @uniform: Work-groups must have one size: before OpenCL C 2.0, or by an option. */
	bool uniform;
	/** @chosen: The work-group that ndrange.c chose last, for the grid of @chosen_for. */
	uint32_t chosen_for[3];
	uint32_t chosen[3];
	struct salvo_cl_kernel_on *on;
	unsigned int device_count;
	struct salvo_cl_arg *args;
	unsigned int arg_count;
	/** @unset: Arguments that have not been set. */
	unsigned int unset;
	/** @local_bytes: Of all local arguments that have been set. */
	cl_ulong local_bytes;
	struct salvo_kernel_properties properties;
};

/**
 * salvo_cl_kernel_finish() - Wait for the kernel's code, where it was created before it was there.
 *
 * Return: CL_SUCCESS, CL_INVALID_PROGRAM_EXECUTABLE (the compiler has failed), other errors.
 */
cl_int salvo_cl_kernel_finish(cl_kernel kernel);
/** salvo_cl_kernel_on() - The kernel on a device, or NULL. */
struct salvo_cl_kernel_on *salvo_cl_kernel_on(cl_kernel kernel, cl_device_id device);
/**
 * salvo_cl_kernel_ready() - The kernel for a queue's GPU, with all arguments set and its code.
 *
 * Return: CL_INVALID_KERNEL_ARGS, and as salvo_cl_kernel_finish().
 */
cl_int salvo_cl_kernel_ready(cl_kernel kernel, cl_command_queue queue,
			     struct salvo_cl_kernel_on **out);
/**
 * salvo_cl_kernel_use() - Call salvo_cl_command_use() for its memory objects, and
 * salvo_cl_command_hold() for its samplers and its code.
 */
void salvo_cl_kernel_use(cl_kernel kernel, const struct salvo_cl_kernel_on *on,
			 struct salvo_cl_command *command);

#endif /* SALVO_CL_KERNEL_H */
