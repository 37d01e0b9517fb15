/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * salvo_hang.h - which batch hangs
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
 * struct salvo_hang_batch - A batch on a ring.
 */
struct salvo_hang_batch {
	/** @ctx: Its context, or 0 for no batch. */
	__u32 ctx;
	/** @seqno: Of its ring entry. */
	__u64 seqno;
	/** @eu_mask: Units that its context may use; zero means all. */
	__u64 eu_mask;
};

/**
 * struct salvo_hang - What was seen at the looks before; zeroed at first and after a kill.
 */
struct salvo_hang {
	/** @oldest: For each ring, its oldest batch. */
	struct {
		/** @batch: Which it is. */
		struct salvo_hang_batch batch;
		/** @looks: In which it could run. */
		__u32 looks;
	} oldest[SALVO_MAX_RINGS];
	/** @unit: For each unit. */
	struct {
		/** @regs: What it says it does. */
		struct salvo_unit_regs regs;
		/** @looks: For which it has said so. */
		__u32 looks;
	} unit[SALVO_MAX_UNITS];
};

/**
 * salvo_hang_look() - Look once more.
 * @hang: What was seen before.
 * @oldest: The oldest batch of each of SALVO_MAX_RINGS rings.
 * @units: What the units say they do.
 * @count: Number of units, at most SALVO_MAX_UNITS.
 * @limit: Looks that a batch may run for, not 0.
 * @guilty: Set to the batch that hangs, without its mask.
 *
 * Return: whether one hangs.
 */
bool salvo_hang_look(struct salvo_hang *hang, const struct salvo_hang_batch *oldest,
		     const struct salvo_unit_regs *units, __u32 count, __u32 limit,
		     struct salvo_hang_batch *guilty);

#endif /* SALVO_HANG_H */
