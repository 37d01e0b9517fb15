/* SPDX-License-Identifier: MIT */
/*
 * ndrange.h - the thread space of a kernel: checked, and handed to the library
 */
#ifndef SALVO_CL_NDRANGE_H
#define SALVO_CL_NDRANGE_H

#include "kernel.h"

/**
 * struct salvo_cl_grid - A thread space as it was given.
 */
struct salvo_cl_grid {
	unsigned int dims;
	/** @empty: It has no work-items. */
	bool empty;
	uint32_t offset[3];
	uint32_t items[3];
	uint32_t group[3];
};

/**
 * salvo_cl_grid_read() - Check the arguments of clEnqueueNDRangeKernel().
 * @salvo: The kernel, for its properties.
 *
 * Return: CL_SUCCESS, CL_INVALID_WORK_DIMENSION, CL_INVALID_GLOBAL_OFFSET,
 * CL_INVALID_WORK_GROUP_SIZE, CL_INVALID_WORK_ITEM_SIZE; CL_OUT_OF_RESOURCES, where the GPU has
 * smaller limits than OpenCL.
 */
cl_int salvo_cl_grid_read(struct salvo_cl_grid *grid, cl_device_id device, cl_kernel kernel,
			  struct salvo_kernel *salvo, cl_uint dims, const size_t *offset,
			  const size_t *items, const size_t *group);
/**
 * salvo_cl_grid_set() - Set the grid of a kernel. The context's lock is held.
 * Return: 0 or a negative errno.
 */
int salvo_cl_grid_set(const struct salvo_cl_grid *grid, struct salvo_cl_kernel_on *on);

#endif /* SALVO_CL_NDRANGE_H */
