/* SPDX-License-Identifier: MIT */
/*
 * layer.h - what a layer of the OpenCL loader needs
 *
 * The loader calls the layer that OPENCL_LAYERS names instead of the driver. Those entries of the
 * layer's table that are NULL are the driver's own.
 */
#ifndef SALVO_LAYER_H
#define SALVO_LAYER_H

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <time.h>

/* The driver's functions, from layer_init() on */
extern const struct _cl_icd_dispatch *layer_driver;

/* Each layer has one: puts its own functions into the table. */
void layer_init(struct _cl_icd_dispatch *table);

static inline unsigned long long layer_clock(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

#endif /* SALVO_LAYER_H */
