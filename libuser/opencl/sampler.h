/* SPDX-License-Identifier: MIT */
/*
 * sampler.h - samplers
 */
#ifndef SALVO_CL_SAMPLER_H
#define SALVO_CL_SAMPLER_H

#include "context.h"

/**
 * struct _cl_sampler - A sampler; it does not change.
 */
struct _cl_sampler {
	struct salvo_cl_object base;
	cl_context context;
	cl_bool normalized;
	cl_addressing_mode addressing;
	cl_filter_mode filter;
	/** @bits: SALVO_SAMPLER_*. */
	uint32_t bits;
	cl_sampler_properties *properties;
	size_t property_count;
};

/** salvo_cl_sampler_bits() - For salvo_kernel_set_sampler(). */
static inline uint32_t salvo_cl_sampler_bits(cl_sampler sampler)
{
	return sampler->bits;
}

#endif /* SALVO_CL_SAMPLER_H */
