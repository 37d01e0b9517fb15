/* SPDX-License-Identifier: MIT */
/*
 * external.h - memory of other drivers: cl_khr_external_memory_dma_buf
 */
#ifndef SALVO_CL_EXTERNAL_H
#define SALVO_CL_EXTERNAL_H

#include "context.h"

/**
 * salvo_cl_external_read() - What the properties of a buffer ask for.
 * @fd: The dma-buf to import, or -1.
 * @count: Of the properties with the 0 at the end; 0 for NULL.
 *
 * Return: CL_SUCCESS, CL_INVALID_PROPERTY, CL_INVALID_DEVICE (of another context).
 */
cl_int salvo_cl_external_read(cl_context context, const cl_mem_properties *properties, int *fd,
			      size_t *count);

#endif /* SALVO_CL_EXTERNAL_H */
