/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_ring.h - the command rings
 */
#ifndef SALVO_RING_H
#define SALVO_RING_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "salvo_hw.h"

struct dma_fence;
struct salvo_dev;
struct salvo_hw_fence;
struct salvo_hang;
struct salvo_job;
struct salvo_sched;

/*
 * Slots of a ring, and the number of batches that may be there before their fences have retired.
 * That is less than the number of packets that the GPU holds at once, so that it can read the
 * address space packets behind them. See salvo_ring_wait_for_room() for what exceeds it.
 */
#define SALVO_RING_ENTRIES	1024u
#define SALVO_RING_BATCHES	96u
/* Slots that address space packets leave free. */
#define SALVO_RING_RESERVED	(2 * SALVO_RING_BATCHES)

/**
 * struct salvo_ring - A command ring.
 */
struct salvo_ring {
	/** @sdev: The device. */
	struct salvo_dev *sdev;
	/** @index: Index of the ring. */
	unsigned int index;
	/** @sched: Its scheduler; holds a reference. */
	struct salvo_sched *sched;
	/** @busy_ctxs: Number of contexts with batches that have not ended. */
	atomic_t busy_ctxs;
	/** @busy_clients: Number of clients with batches that have not ended. */
	atomic_t busy_clients;
	/**
	 * @lock: Protects all fields below and the ring's registers; taken in the hard
	 * interrupt handler.
	 */
	spinlock_t lock;
	/** @entries: SALVO_RING_ENTRIES entries in coherent memory. */
	struct salvo_ring_entry *entries;
	/** @base: DMA address of @entries. */
	dma_addr_t base;
	/** @live: The device reads the ring, and packets may be put on it. */
	bool live;
	/** @submitted: Seqno of the last entry written; restarts from 0 with the ring. */
	u64 submitted;
	/** @retired: Highest valid seqno read from the fence register. */
	u64 retired;
	/** @last_ctx: Hardware context of the last batch put on the ring. */
	u32 last_ctx;
	/** @ctx_switched: Time at which @last_ctx last changed, in jiffies. */
	unsigned long ctx_switched;
	/** @batches: Number of batches put on the ring; does not restart with it. */
	u64 batches;
	/** @recent: Seqnos of the last batches, by their number. */
	u64 recent[SALVO_RING_BATCHES];
	/** @reported: Last seqno that ended before the register passed it, since a sample; or 0. */
	u64 reported;
	/** @scans: Number of scans of @pending by salvo_ring_retire(). */
	u64 scans;
	/** @pending: Fences of batches on the ring, in ring order. */
	struct list_head pending;
	/** @done: Fences of retired batches that await their deferred completion. */
	struct list_head done;
};

/** salvo_ring_slot() - Index of the entry that has a seqno; the first seqno is 1. */
static inline u32 salvo_ring_slot(u64 seqno)
{
	return (seqno - 1) & (SALVO_RING_ENTRIES - 1);
}

/** salvo_ring_free_slots() - Number of free slots. */
static inline u64 salvo_ring_free_slots(u64 submitted, u64 retired)
{
	return SALVO_RING_ENTRIES - (submitted - retired);
}

/** salvo_ring_fence_is_valid() - Does a fence register lie between @retired and @submitted? */
static inline bool salvo_ring_fence_is_valid(u64 fence, u64 submitted, u64 retired)
{
	return fence - retired <= submitted - retired;
}

/**
 * struct salvo_space_packet - An address space packet that is packed but for its fence id.
 */
struct salvo_space_packet {
	/** @packet: In coherent memory. */
	void *packet;
	/** @address: DMA address of @packet. */
	dma_addr_t address;
	/** @bytes: Length of @packet. */
	u32 bytes;
};

/** salvo_for_each_ring() - Iterate over the rings in use, ring 0 first. */
#define salvo_for_each_ring(sdev, ring)					\
	for ((ring) = (sdev)->rings; (ring) < (sdev)->rings + (sdev)->mmio.rings; (ring)++)

int salvo_ring_init_all(struct salvo_dev *sdev);
void salvo_ring_fini_all(struct salvo_dev *sdev);
int salvo_ring_start_all(struct salvo_dev *sdev);
void salvo_ring_stop_all(struct salvo_dev *sdev);
void salvo_ring_abandon_all(struct salvo_dev *sdev, struct list_head *fences);
bool salvo_ring_all_idle(struct salvo_dev *sdev);
struct salvo_hw_fence *salvo_ring_next_done(struct salvo_dev *sdev);
struct salvo_job *salvo_ring_find(struct salvo_dev *sdev, u32 ctx, u64 seqno);

int salvo_ring_push_job(struct salvo_ring *ring, struct salvo_job *job);
unsigned int salvo_ring_retire(struct salvo_ring *ring, u64 interrupt);
bool salvo_ring_is_contended(struct salvo_ring *ring);
struct dma_fence *salvo_ring_wait_for_room(struct salvo_ring *ring);
bool salvo_ring_is_oldest(const struct salvo_job *job);
bool salvo_ring_sample_hang(struct salvo_ring *ring, const struct salvo_unit_regs *units,
			    u32 limit, struct salvo_hang *guilty);
void salvo_ring_copy(struct salvo_ring *ring, struct salvo_ring_entry *entries,
		     u64 *submitted, u64 *retired);

u64 salvo_ring_push_space(struct salvo_dev *sdev, u32 asid,
			  const struct salvo_space_packet *packets, u32 count);
u64 salvo_ring_space_retired(struct salvo_dev *sdev);
void salvo_ring_wait_read(struct salvo_dev *sdev);

#endif /* SALVO_RING_H */
