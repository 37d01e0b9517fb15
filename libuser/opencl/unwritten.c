// SPDX-License-Identifier: MIT
/*
 * unwritten.c - functions of kernels that are called, but not written yet
 *
 * Who writes one deletes it here.
 */
#include "sampler.h"

__attribute__((weak)) uint32_t salvo_cl_sampler_bits(cl_sampler sampler)
{
	(void)sampler;
	return 0;
}
