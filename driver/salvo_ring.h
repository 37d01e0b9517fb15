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

struct salvo_dev;
struct salvo_hw_fence;
struct salvo_hang;
struct salvo_job;
struct salvo_sched;

/*
 * Slots of a ring, and how many of them batches may take: fewer than the packets that the
 * GPU has room for, so that it reads address space packets behind them.
 */
#define SALVO_RING_ENTRIES	1024u
#define SALVO_RING_BATCHES	96u

/**
 * struct salvo_ring - A command ring.
 */
struct salvo_ring {
	/** @sdev: The device. */
	struct salvo_dev *sdev;
	/** @index: Number of the ring. */
	unsigned int index;
	/** @sched: Feeds it with batches; a reference. */
	struct salvo_sched *sched;
	/** @busy_ctxs: Contexts with batches that have not ended. */
	atomic_t busy_ctxs;
	/** @lock: Protects all fields below and the ring's registers; taken in the hard handler. */
	spinlock_t lock;
	/** @entries: SALVO_RING_ENTRIES in coherent memory. */
	struct salvo_ring_entry *entries;
	/** @base: System address of @entries. */
	dma_addr_t base;
	/** @live: The device reads the ring. */
	bool live;
	/** @submitted: Entries written since the ring was started; the last one's seqno. */
	u64 submitted;
	/** @retired: Highest seqno that the device reported and that makes sense. */
	u64 retired;
	/** @last_ctx: Context of the last batch. */
	u32 last_ctx;
	/** @turned: When that was another one than before, in jiffies. */
	unsigned long turned;
	/** @context: Of the hardware fences. */
	u64 context;
	/** @fences: Hardware fences so far; does not restart with the ring. */
	u64 fences;
	/** @pending: Fences of batches on the ring, in ring order. */
	struct list_head pending;
	/** @done: Fences of retired batches that wait for their deferred completion. */
	struct list_head done;
};

/** salvo_ring_slot() - Index of the entry with a seqno; the first seqno is 1. */
static inline u32 salvo_ring_slot(u64 seqno)
{
	return (seqno - 1) & (SALVO_RING_ENTRIES - 1);
}

/** salvo_ring_space() - Slots that are free. */
static inline u64 salvo_ring_space(u64 submitted, u64 retired)
{
	return SALVO_RING_ENTRIES - (submitted - retired);
}

/** salvo_ring_is_sane() - May the device claim that @claim is the last entry done? */
static inline bool salvo_ring_is_sane(u64 claim, u64 submitted, u64 retired)
{
	return claim - retired <= submitted - retired;
}

/**
 * struct salvo_space_packet - An address space packet, written and ready.
 */
struct salvo_space_packet {
	/** @packet: In coherent memory. */
	void *packet;
	/** @address: System address of @packet. */
	dma_addr_t address;
	/** @bytes: Its length. */
	u32 bytes;
};

/** salvo_for_each_ring() - All rings that the driver uses, ring 0 first. */
#define salvo_for_each_ring(sdev, ring)					\
	for ((ring) = (sdev)->rings; (ring) < (sdev)->rings + (sdev)->mmio.rings; (ring)++)

int salvo_ring_init_all(struct salvo_dev *sdev);
void salvo_ring_fini_all(struct salvo_dev *sdev);
int salvo_ring_start_all(struct salvo_dev *sdev);
void salvo_ring_stop_all(struct salvo_dev *sdev);
void salvo_ring_abandon_all(struct salvo_dev *sdev);
bool salvo_ring_all_idle(struct salvo_dev *sdev);
struct salvo_hw_fence *salvo_ring_next_done(struct salvo_dev *sdev);
struct salvo_job *salvo_ring_find(struct salvo_dev *sdev, u32 ctx, u64 seqno);

int salvo_ring_push_job(struct salvo_ring *ring, struct salvo_job *job);
unsigned int salvo_ring_retire(struct salvo_ring *ring, u64 interrupt);
bool salvo_ring_is_shared(struct salvo_ring *ring);
bool salvo_ring_is_oldest(const struct salvo_job *job);
bool salvo_ring_look_for_hang(struct salvo_ring *ring, const struct salvo_unit_regs *units,
			      u32 limit, struct salvo_hang *guilty);
void salvo_ring_copy(struct salvo_ring *ring, struct salvo_ring_entry *entries,
		     u64 *submitted, u64 *retired);

u64 salvo_ring_push_space(struct salvo_dev *sdev, u32 asid,
			  const struct salvo_space_packet *packets, u32 count);
u64 salvo_ring_space_retired(struct salvo_dev *sdev);

#endif /* SALVO_RING_H */
