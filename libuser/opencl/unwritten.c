// SPDX-License-Identifier: MIT
/*
 * unwritten.c - functions of kernels that are called, but not written yet
 *
 * Who writes one deletes it here.
 */
#include "kernel.h"

__attribute__((weak)) cl_int salvo_cl_kernel_ready(cl_kernel kernel, cl_command_queue queue,
						   struct salvo_kernel **out)
{
	(void)kernel;
	(void)queue;
	(void)out;
	return CL_INVALID_KERNEL;
}

__attribute__((weak)) void salvo_cl_kernel_use(cl_kernel kernel, struct salvo_cl_command *command)
{
	(void)kernel;
	(void)command;
}
