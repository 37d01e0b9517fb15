// SPDX-License-Identifier: MIT
/*
 * unwritten.c - functions of kernels and memory objects that are called, but not written yet
 *
 * Who writes one deletes it here.
 */
#include <errno.h>

#include "kernel.h"
#include "memory.h"

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

__attribute__((weak)) int salvo_cl_mem_migrate(cl_mem mem, unsigned int gpu, uint32_t access)
{
	(void)mem;
	(void)gpu;
	(void)access;
	return -ENOTSUP;
}
