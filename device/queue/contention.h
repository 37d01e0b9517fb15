/* SPDX-License-Identifier: MIT */
/*
 * contention.h - kernels whose work-groups write to the same cache lines
 */
#ifndef SALVO_CONTENTION_H
#define SALVO_CONTENTION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "history.h"

/**
 * struct salvo_contention - What all units know of such kernels, by their addresses; initially
 * zero.
 */
struct salvo_contention {
	struct {
		/** @kernel: Address of the kernel. */
		_Atomic uint64_t kernel;
		/** @runs: Dispatches so far. */
		_Atomic uint32_t runs;
		/** @unit: Mask of the unit that had a dispatch for itself last. */
		_Atomic uint64_t unit;
		/** @ps: Picoseconds for an item: where units share a dispatch, and where not. */
		_Atomic uint64_t ps[2];
	} of[SALVO_HISTORY_KERNELS] __attribute__((aligned(64)));
};

/**
 * salvo_contention_choose() - Which units are to run a dispatch? Any thread may call it.
 * @kernel: Address of the kernel.
 * @items: Of the dispatch.
 * @mask: Units that may run it.
 * @idle: Units that are polling for work.
 *
 * Return: @mask, or one unit of it.
 */
uint64_t salvo_contention_choose(struct salvo_contention *contention, uint64_t kernel,
				 uint32_t items, uint64_t mask, uint64_t idle);

/**
 * salvo_contention_note() - A unit ran @items of a dispatch of @total in @ns.
 * @alone: It had the dispatch for itself.
 *
 * Any thread may call it.
 */
void salvo_contention_note(struct salvo_contention *contention, uint64_t kernel, uint32_t items,
			   uint32_t total, uint64_t ns, bool alone);

/**
 * salvo_contention_expect() - How many ns will one unit take for @items? UINT64_MAX: unknown.
 */
uint64_t salvo_contention_expect(const struct salvo_contention *contention, uint64_t kernel,
				 uint32_t items);

#endif /* SALVO_CONTENTION_H */
