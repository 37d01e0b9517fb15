/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_client.h - processes that use the GPU, and their share of the rings
 */
#ifndef SALVO_CLIENT_H
#define SALVO_CLIENT_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/types.h>

#include "salvo_hw.h"

struct dma_fence;
struct pid;
struct salvo_dev;
struct salvo_job;
struct salvo_ring;

/* Batches that a client has on a ring while its contexts compete for it. */
#define SALVO_CLIENT_BATCHES	4u

/**
 * struct salvo_client - A process that has opened files of the render node.
 */
struct salvo_client {
	/** @ref: Held by each address space. */
	struct kref ref;
	/** @node: Entry in sdev->client_list; protected by sdev->clients_lock. */
	struct list_head node;
	/** @pid: Thread group of the process; holds a reference. */
	struct pid *pid;
	/** @rings: State for each ring. */
	struct {
		/** @rings.queued: Number of batches that have not ended. */
		atomic_t queued;
		/**
		 * @rings.turn: Number of its last batch on the ring, or of the last one of others
		 * when it became busy. The smallest is next.
		 */
		u64 turn;
		/**
		 * @rings.last: Fences of the last batches on the ring that were pending, oldest
		 * first; owned by the ring's scheduler.
		 */
		struct dma_fence *last[SALVO_CLIENT_BATCHES];
		/**
		 * @rings.hung: Number of the last batch that was on the ring when a batch of
		 * the client was found hung; protected by the ring's lock.
		 */
		u64 hung;
	} rings[SALVO_MAX_RINGS];
};

struct salvo_client *salvo_client_get(struct salvo_dev *sdev);
void salvo_client_put(struct salvo_dev *sdev, struct salvo_client *client);

void salvo_client_begin_job(struct salvo_client *client, struct salvo_ring *ring);
void salvo_client_end_job(struct salvo_client *client, struct salvo_ring *ring);

struct dma_fence *salvo_client_limit(const struct salvo_client *client,
				     const struct salvo_ring *ring);
void salvo_client_add_fence(struct salvo_client *client, const struct salvo_ring *ring,
			    struct dma_fence *fence, u64 number);

#endif /* SALVO_CLIENT_H */
