/* SPDX-License-Identifier: MIT */
/*
 * kernel.h - kernels, as queues see them
 */
#ifndef SALVO_CL_KERNEL_H
#define SALVO_CL_KERNEL_H

#include "command.h"
#include "program.h"

/**
 * struct _cl_kernel - A kernel.
 */
struct _cl_kernel {
	struct salvo_cl_object base;
	cl_program program;
	/** @uniform: Work-groups must have one size: before OpenCL C 2.0, or by an option. */
	bool uniform;
	/** @chosen: The work-group that ndrange.c chose last, for the grid of @chosen_for. */
	uint32_t chosen_for[3];
	uint32_t chosen[3];
};

/*
 * What kernel.c gives to clEnqueueNDRangeKernel() and to command buffers:
 *
 * cl_int salvo_cl_kernel_ready(cl_kernel kernel, cl_command_queue queue, struct salvo_kernel **out);
 *	The kernel for the queue's GPU, with all arguments set, for salvo_kernel_set_grid(),
 *	salvo_kernel_set_offset() (kernels are compiled so that they take one) and
 *	salvo_batch_dispatch(). CL_INVALID_PROGRAM_EXECUTABLE, CL_INVALID_KERNEL_ARGS.
 * void salvo_cl_kernel_use(cl_kernel kernel, struct salvo_cl_command *command);
 *	Call salvo_cl_command_use() for its memory objects, and _hold() for its samplers and for
 *	what owns its code.
 */
cl_int salvo_cl_kernel_ready(cl_kernel kernel, cl_command_queue queue, struct salvo_kernel **out);
void salvo_cl_kernel_use(cl_kernel kernel, struct salvo_cl_command *command);

#endif /* SALVO_CL_KERNEL_H */
