/* SPDX-License-Identifier: MIT */
/*
 * clock.h - the GPU's clock: nanoseconds of CLOCK_MONOTONIC
 */
#ifndef SALVO_CLOCK_H
#define SALVO_CLOCK_H

#include <stdint.h>
#include <time.h>

#define SALVO_CLOCK_HZ 1000000000ull

static inline uint64_t salvo_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * SALVO_CLOCK_HZ + now.tv_nsec;
}

#endif /* SALVO_CLOCK_H */
