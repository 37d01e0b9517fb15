/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * salvo_hang.h - does a batch hang?
 *
 * Freestanding: the driver and libsalvo use the same code.
 */
#ifndef SALVO_HANG_H
#define SALVO_HANG_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <linux/types.h>
#endif

#include "salvo_hw.h"

/**
 * struct salvo_hang - A batch on a ring, and how long it has run.
 */
struct salvo_hang {
	/** @ctx: Its context. */
	__u32 ctx;
	/** @halves: Twice the looks that it has had. */
	__u32 halves;
	/** @seqno: Of its ring entry. */
	__u64 seqno;
	/** @eu_mask: Units that its context may use; zero means all. */
	__u64 eu_mask;
};

/**
 * salvo_hang_look() - Look once more at a batch that is not done.
 * @batch: The batch.
 * @oldest: No batch before it on its ring is left.
 * @units: What the units say they do.
 * @count: Number of units, at most SALVO_MAX_UNITS.
 *
 * Return: looks that it has had so far, of those that a batch may run for.
 */
__u32 salvo_hang_look(struct salvo_hang *batch, bool oldest, const struct salvo_unit_regs *units,
		      __u32 count);

#endif /* SALVO_HANG_H */
