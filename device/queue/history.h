/* SPDX-License-Identifier: MIT */
/*
 * history.h - what is remembered of measured times
 */
#ifndef SALVO_HISTORY_H
#define SALVO_HISTORY_H

#include <stdint.h>

#define SALVO_HISTORY_KERNELS 64u

/** salvo_history_place() - Where a table of so many kernels has the one at the address @kernel. */
static inline unsigned int salvo_history_place(uint64_t kernel)
{
	/* Kernels start at multiples of 16 bytes; the golden ratio spreads them. */
	return (kernel / 16 * 0x9e3779b97f4a7c15ull) >> 58;
}

/**
 * salvo_history_weigh() - The moving average @before, 0 if there is none, and a new value.
 * @parts: The value counts one part in so many.
 *
 * The value is limited to four times the average: the unit may have lost its core for a while.
 */
static inline uint64_t salvo_history_weigh(uint64_t before, uint64_t value, uint32_t parts)
{
	if (!before)
		return value;
	if (value > 4 * before)
		value = 4 * before;
	return value < before ? before - (before - value + (parts - 1) / 2) / parts :
				before + (value - before + parts / 2) / parts;
}

/** salvo_history_add() - The same, of a value that counts one part in eight. */
static inline uint64_t salvo_history_add(uint64_t before, uint64_t value)
{
	return salvo_history_weigh(before, value, 8);
}

#endif /* SALVO_HISTORY_H */
