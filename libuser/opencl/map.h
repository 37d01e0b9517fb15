/* SPDX-License-Identifier: MIT */
/*
 * map.h - contents of memory objects where the CPU has them
 */
#ifndef SALVO_CL_MAP_H
#define SALVO_CL_MAP_H

#include "transfer.h"

/** salvo_cl_bring_to_host() - Enqueue that the CPU, and so the first GPU, has the contents. */
cl_int salvo_cl_bring_to_host(const struct salvo_cl_request *request, cl_mem mem);

#endif /* SALVO_CL_MAP_H */
