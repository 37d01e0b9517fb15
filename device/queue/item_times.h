/* SPDX-License-Identifier: MIT */
/*
 * item_times.h - how long the work-groups of each kernel took
 */
#ifndef SALVO_ITEM_TIMES_H
#define SALVO_ITEM_TIMES_H

#include <stdint.h>
#include "history.h"

/**
 * struct salvo_item_times - What one unit knows of kernels, by their addresses; initially zero.
 */
struct salvo_item_times {
	struct {
		/** @kernel: Address of the kernel. */
		uint64_t kernel;
		/** @ps: Time of an item in picoseconds. */
		uint64_t ps;
	} of[SALVO_HISTORY_KERNELS];
};

/** salvo_item_times_add() - @items of @kernel took @ns. */
void salvo_item_times_add(struct salvo_item_times *times, uint64_t kernel, uint32_t items,
			  uint64_t ns);

/** salvo_item_times_expect() - How long will @items take? UINT64_MAX: unknown. */
uint64_t salvo_item_times_expect(const struct salvo_item_times *times, uint64_t kernel,
				 uint32_t items);

#endif /* SALVO_ITEM_TIMES_H */
