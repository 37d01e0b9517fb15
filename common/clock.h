/* SPDX-License-Identifier: MIT */
/*
 * clock.h - nanoseconds of CLOCK_MONOTONIC, the clock of timestamps and deadlines
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

/* An absolute time, for waits with a timeout */
static inline struct timespec salvo_clock_in(uint64_t ns)
{
	const uint64_t until = salvo_clock() + ns;

	return (struct timespec){
		.tv_sec = until / SALVO_CLOCK_HZ, .tv_nsec = until % SALVO_CLOCK_HZ,
	};
}

#endif /* SALVO_CLOCK_H */
