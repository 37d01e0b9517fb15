/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_fence.h - the hardware fence of a batch
 */
#ifndef SALVO_FENCE_H
#define SALVO_FENCE_H

#include <linux/dma-fence.h>
#include <linux/list.h>
#include <linux/spinlock.h>

struct salvo_job;
struct salvo_ring;
struct salvo_sched;

/**
 * struct salvo_hw_fence - Signals when the ring's fence register has passed a batch.
 *
 * Made in the ioctl; gets its number when the batch gets its place on the ring.
 * Only the scheduler sees it; users hold the scheduler's finished fence, and through
 * it this one. It does not hold the job: the job outlives the signalling, not the
 * fence's memory.
 */
struct salvo_hw_fence {
	/** @base: The fence; first, for it is freed as one. */
	struct dma_fence base;
	/** @lock: For @base. */
	spinlock_t lock;
	/** @node: In the ring's pending or done list; ring's lock. */
	struct list_head node;
	/** @seqno: Of the ring entry. */
	u64 seqno;
	/** @sched: Whose fences may need it; a reference. */
	struct salvo_sched *sched;
	/** @job: The batch; valid until @base has signalled. */
	struct salvo_job *job;
};

struct salvo_hw_fence *salvo_hw_fence_create(struct salvo_ring *ring, struct salvo_job *job);

#endif /* SALVO_FENCE_H */
