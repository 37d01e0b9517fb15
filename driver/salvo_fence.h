/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_fence.h - hardware fences
 */
#ifndef SALVO_FENCE_H
#define SALVO_FENCE_H

#include <linux/dma-fence.h>
#include <linux/list.h>
#include <linux/spinlock.h>

struct salvo_ctx;
struct salvo_job;
struct salvo_sched;

/**
 * struct salvo_hw_fence - Hardware fence of a batch, drm_sched's "parent" fence.
 *
 * Allocated by the ioctl; its seqno is assigned when the batch is put on the ring. It
 * is private to the scheduler; users hold the scheduler's finished fence, which holds
 * a reference to this one. It holds no reference to the job, which is freed after the
 * fence has signalled.
 */
struct salvo_hw_fence {
	/** @base: Base; must be the first member, since dma_fence_free() frees it. */
	struct dma_fence base;
	/** @lock: Lock of @base. */
	spinlock_t lock;
	/** @node: Entry in ring->pending or ring->done; protected by the ring's lock. */
	struct list_head node;
	/** @seqno: Seqno of the ring entry. */
	u64 seqno;
	/** @sched: Keeps the timeline's name; holds a reference. */
	struct salvo_sched *sched;
	/** @job: The job; valid until @base has signalled. */
	struct salvo_job *job;
};

struct salvo_hw_fence *salvo_hw_fence_create(struct salvo_ctx *ctx, struct salvo_job *job);

#endif /* SALVO_FENCE_H */
