/* SPDX-License-Identifier: MIT */
/*
 * cc_random.h - generates random kernels
 */
#ifndef CC_RANDOM_H
#define CC_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* Seeds from here on draw from all forms, lower ones only from the first. */
#define CC_RANDOM_SECOND	1000000u
/* From here on all have barriers, behind conditions that only at run time are uniform. */
#define CC_RANDOM_THIRD		2000000u
/* From here on work-items access neighbours in memory, walk along lists and gather bytes. */
#define CC_RANDOM_FOURTH	3000000u
/* From here on some skip the only exit of a loop, and some access parts of words in a row. */
#define CC_RANDOM_FIFTH		4000000u
/* From here on they are filters whose loops run to bounds that the kernel is passed. */
#define CC_RANDOM_SIXTH		8000000u

/* Output words that kernels use besides the four of each work-item */
#define CC_RANDOM_ATOMICS	48u

/*
 * Kernels k<seed>, k<seed + 1> and so on, @count of them:
 *
 *	kernel void k1(global const uint *in, global uint *out, uint n, uint w, local uint *s)
 *
 * @in holds @total words, one for each work-item of a range of two dimensions, @w wide; @s has
 * one for each of a group; @n is less than 100. Returns the length of what is in @text.
 */
size_t cc_random_kernels(uint32_t seed, unsigned int count, unsigned int total, char *text,
			 size_t size);

#endif /* CC_RANDOM_H */
