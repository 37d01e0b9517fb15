/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * salvo_hang.h - run time of batches
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
 * struct salvo_hang - Run time of a batch on a ring.
 */
struct salvo_hang {
	/** @ctx: Hardware context of the batch. */
	__u32 ctx;
	/** @half_samples: Twice the number of samples counted. */
	__u32 half_samples;
	/** @seqno: Seqno of its ring entry. */
	__u64 seqno;
	/** @eu_mask: Units that its context may use; zero means all. */
	__u64 eu_mask;
};

/**
 * salvo_hang_sample() - Take a sample of a pending batch.
 * @batch: The batch.
 * @oldest: Whether it is the oldest pending batch of its ring.
 * @units: Activity of the execution units, as they report it.
 * @count: Number of units, at most SALVO_MAX_UNITS.
 *
 * Return: the number of samples counted so far, to be compared with the timeout.
 */
__u32 salvo_hang_sample(struct salvo_hang *batch, bool oldest, const struct salvo_unit_regs *units,
			__u32 count);

#endif /* SALVO_HANG_H */
