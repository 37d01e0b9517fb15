/* SPDX-License-Identifier: MIT */
/*
 * sampler.h - samplers, as kernels see them
 */
#ifndef SALVO_CL_SAMPLER_H
#define SALVO_CL_SAMPLER_H

#include "context.h"

/** salvo_cl_sampler_bits() - For salvo_kernel_set_sampler(). */
uint32_t salvo_cl_sampler_bits(cl_sampler sampler);

#endif /* SALVO_CL_SAMPLER_H */
