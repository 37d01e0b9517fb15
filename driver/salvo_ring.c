// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_ring.c - the command rings
 *
 * A ring is a first-in-first-out queue of packets (B11 of CN105940388): 64-byte entries
 * in coherent memory. The seqno of an entry is also the fence id of its packet. The
 * driver writes the entry, issues a write barrier, writes the tail and rings the
 * doorbell. The device advances the ring's fence register in ring order. A slot is free
 * once the fence register has passed it; the head register only tells what has been read.
 *
 * Batches of high priority use a ring of their own, the last one, so that they do not wait for
 * room on a ring that is full of others. All other batches and all
 * address space packets use ring 0. Before the device reads an entry of a ring, it has
 * read everything that was put on the rings below it earlier; so a batch on any ring
 * sees the buffers that were bound before it. On a device with one ring everything
 * shares that.
 *
 * A device with SALVO_FEATURE_REPORT writes the result of a batch, and raises the interrupt, when
 * the batch is done, also while packets before it are not. Then the fence of the batch signals
 * before the register passes it, unless a batch of its context before it is pending. So a batch
 * that does not end holds up no other context, until the ring is full.
 *
 * A batch never waits for a slot: the scheduler limits their number, and address space packets
 * leave SALVO_RING_RESERVED slots free.
 *
 * The fence register is untrusted: its value is ignored unless it lies between the last
 * retired and the last submitted seqno. ring->lock protects everything.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/sched/signal.h>

#include "salvo_client.h"
#include "salvo_ctx.h"
#include "salvo_device.h"
#include "salvo_fence.h"
#include "salvo_hang.h"
#include "salvo_job.h"
#include "salvo_pack.h"
#include "salvo_ring.h"
#include "salvo_trace.h"
#include "salvo_vm.h"

/* A ring counts as contended for this long after its last change of context. */
#define SALVO_RING_CONTENDED_JIFFIES	max(1, HZ / 20)
/* Polls, of at least 20 us, for the device to read the ring. */
#define SALVO_RING_READ_POLLS	50000
/* A batch that shares the units is found hung after this many times the timeout at most. */
#define SALVO_RING_SHARES	4
#define SALVO_RING_BYTES	(SALVO_RING_ENTRIES * sizeof(struct salvo_ring_entry))

/* --- all rings ---------------------------------------------------------------- */

static int salvo_ring_init(struct salvo_ring *ring)
{
	spin_lock_init(&ring->lock);
	INIT_LIST_HEAD(&ring->pending);
	INIT_LIST_HEAD(&ring->done);
	ring->entries = dma_alloc_coherent(ring->sdev->drm.dev, SALVO_RING_BYTES, &ring->base,
					   GFP_KERNEL);
	return ring->entries ? 0 : -ENOMEM;
}

/** salvo_ring_init_all() - Allocate the rings. The device has been reset. */
int salvo_ring_init_all(struct salvo_dev *sdev)
{
	struct salvo_ring *ring;
	int ret = 0;

	BUILD_BUG_ON(sizeof(struct salvo_ring_entry) != 64);
	BUILD_BUG_ON(SALVO_RING_ENTRIES & (SALVO_RING_ENTRIES - 1));
	BUILD_BUG_ON(SALVO_RING_ENTRIES > SALVO_RING_MAX_ENTRIES);
	BUILD_BUG_ON(SALVO_RING_RESERVED >= SALVO_RING_ENTRIES);

	salvo_for_each_ring(sdev, ring) {
		ring->sdev = sdev;
		ring->index = ring - sdev->rings;
		ret = ret ?: salvo_ring_init(ring);
	}
	if (ret)
		salvo_ring_fini_all(sdev);
	return ret;
}

/** salvo_ring_fini_all() - Free the rings. They are stopped and the device has been reset. */
void salvo_ring_fini_all(struct salvo_dev *sdev)
{
	struct salvo_ring *ring;

	salvo_for_each_ring(sdev, ring) {
		if (ring->entries)
			dma_free_coherent(sdev->drm.dev, SALVO_RING_BYTES, ring->entries,
					  ring->base);
		ring->entries = NULL;
	}
}

/** salvo_ring_start_all() - Start the rings, empty, after a reset of the device. */
int salvo_ring_start_all(struct salvo_dev *sdev)
{
	struct salvo_ring *ring;
	int ret = 0;

	salvo_for_each_ring(sdev, ring) {
		spin_lock_irq(&ring->lock);
		ring->submitted = 0;
		ring->retired = 0;
		ring->reported = 0;
		memset(ring->recent, 0, sizeof(ring->recent));
		memset(ring->entries, 0, SALVO_RING_BYTES);
		ret = ret ?: salvo_mmio_start_ring(&sdev->mmio, ring->index, ring->base,
						   SALVO_RING_ENTRIES);
		ring->live = !ret;
		spin_unlock_irq(&ring->lock);
	}
	return ret;
}

/** salvo_ring_stop_all() - Refuse further packets. */
void salvo_ring_stop_all(struct salvo_dev *sdev)
{
	struct salvo_ring *ring;

	salvo_for_each_ring(sdev, ring) {
		spin_lock_irq(&ring->lock);
		ring->live = false;
		spin_unlock_irq(&ring->lock);
	}
}

/* --- packets ------------------------------------------------------------------ */

static void salvo_ring_push_locked(struct salvo_ring *ring, struct salvo_ring_entry entry)
{
	struct salvo_mmio *mmio = &ring->sdev->mmio;

	lockdep_assert_held(&ring->lock);
	ring->entries[salvo_ring_slot(entry.seqno)] = entry;
	ring->submitted = entry.seqno;
	/* Packet and entry must be visible before the tail. */
	wmb();
	salvo_mmio_write_tail(mmio, ring->index, ring->submitted);
	trace_salvo_doorbell(ring, ring->submitted);
	salvo_mmio_ring_doorbell(mmio, SALVO_DOORBELL_RING(ring->index));
}

/**
 * salvo_ring_push_job() - Put a batch on the ring: one packet and one doorbell.
 * @ring: The ring.
 * @job: The batch, packed.
 *
 * Return: 0, or -ENODEV if the ring is stopped.
 */
int salvo_ring_push_job(struct salvo_ring *ring, struct salvo_job *job)
{
	struct salvo_counters *counters = &job->ctx->vm->counters;
	struct salvo_dev *sdev = ring->sdev;
	struct salvo_hw_fence *fence = job->fence;
	struct salvo_ring_entry entry = {
		.packet = job->packet_address,
		.packet_bytes = job->packet_bytes,
		.flags = SALVO_RING_IRQ | (job->overlaps ? SALVO_RING_OVERLAP : 0) |
			 (sdev->mmio.features & SALVO_FEATURE_REPORT ? SALVO_RING_REPORT : 0),
		.asid = job->ctx->vm->asid,
		.ctx = job->ctx->hw_id,
		.eu_mask = job->ctx->eu_mask,
		.priority = job->ctx->hw_priority,
	};
	unsigned long flags;

	spin_lock_irqsave(&ring->lock, flags);
	if (!ring->live) {
		spin_unlock_irqrestore(&ring->lock, flags);
		return salvo_refuse(sdev, -ENODEV, "ring %u is stopped", ring->index);
	}
	entry.seqno = ring->submitted + 1;
	salvo_pack_set_fence(job->packet, entry.seqno);
	salvo_job_sync_packet(job);
	fence->seqno = entry.seqno;
	job->hang.ctx = entry.ctx;
	job->hang.seqno = entry.seqno;
	job->hang.eu_mask = entry.eu_mask;
	ring->recent[ring->batches % SALVO_RING_BATCHES] = entry.seqno;
	job->ring_number = ++ring->batches;
	fence->base.seqno = ++job->ctx->fences;
	list_add_tail(&fence->node, &ring->pending);
	if (ring->last_ctx != entry.ctx) {
		ring->last_ctx = entry.ctx;
		ring->ctx_switched = jiffies;
	}

	atomic64_inc(&counters->packets);
	atomic64_inc(&counters->doorbells);
	atomic64_inc(&sdev->counters.packets);
	atomic64_inc(&sdev->counters.doorbells);
	trace_salvo_run(job);
	salvo_ring_push_locked(ring, entry);
	spin_unlock_irqrestore(&ring->lock, flags);
	return 0;
}

/* --- retiring ----------------------------------------------------------------- */

/* Read the fence register; ignore an invalid value. */
static void salvo_ring_poll_fence_locked(struct salvo_ring *ring)
{
	u64 fence;

	lockdep_assert_held(&ring->lock);
	if (!ring->live)
		return;
	fence = salvo_mmio_read_fence(&ring->sdev->mmio, ring->index);
	if (salvo_ring_fence_is_valid(fence, ring->submitted, ring->retired))
		ring->retired = fence;
	else
		salvo_refuse(ring->sdev, -EIO, "ring %u: fence register %llu is outside %llu..%llu",
			     ring->index, fence, ring->retired, ring->submitted);
}

/*
 * Has a batch ended, although the fence register has not passed it? The oldest packet waits for
 * the register, and so does what follows a pending batch of its context in this scan.
 */
static bool salvo_ring_is_reported_locked(const struct salvo_ring *ring,
					  const struct salvo_hw_fence *fence)
{
	return ring->live && ring->sdev->mmio.features & SALVO_FEATURE_REPORT &&
	       fence->seqno != ring->retired + 1 && fence->job->ctx->held != ring->scans &&
	       salvo_job_is_reported(fence->job);
}

/**
 * salvo_ring_retire() - Compare fence ids, and move finished batches to the done list.
 * @ring: The ring.
 * @interrupt: Sequence number of the interrupt being handled, which is counted for each
 *             file that has a batch retired by it; 0 outside of the interrupt handler.
 *
 * Return: the number of batches moved.
 */
unsigned int salvo_ring_retire(struct salvo_ring *ring, u64 interrupt)
{
	struct salvo_hw_fence *fence, *next;
	unsigned int moved = 0;
	unsigned long flags;

	spin_lock_irqsave(&ring->lock, flags);
	salvo_ring_poll_fence_locked(ring);
	ring->scans++;
	list_for_each_entry_safe(fence, next, &ring->pending, node) {
		if (fence->seqno > ring->retired) {
			if (!salvo_ring_is_reported_locked(ring, fence)) {
				fence->job->ctx->held = ring->scans;
				continue;
			}
			ring->reported = max(ring->reported, fence->seqno);
		}
		list_move_tail(&fence->node, &ring->done);
		if (interrupt)
			salvo_vm_count_interrupt(fence->job->ctx->vm, interrupt);
		moved++;
	}
	spin_unlock_irqrestore(&ring->lock, flags);
	return moved;
}

/** salvo_ring_next_done() - Take the next fence off the done lists; NULL if there is none. */
struct salvo_hw_fence *salvo_ring_next_done(struct salvo_dev *sdev)
{
	struct salvo_hw_fence *fence = NULL;
	struct salvo_ring *ring;

	salvo_for_each_ring(sdev, ring) {
		spin_lock_irq(&ring->lock);
		fence = list_first_entry_or_null(&ring->done, struct salvo_hw_fence, node);
		if (fence)
			list_del_init(&fence->node);
		spin_unlock_irq(&ring->lock);
		if (fence)
			break;
	}
	return fence;
}

/**
 * salvo_ring_abandon_all() - Take all batches off the rings, which are stopped.
 * @sdev: The device.
 * @fences: The fences of the batches are added to this list.
 *
 * The interrupt thread may run meanwhile: it must not find them on the done lists, since it
 * would take a batch without a result for a faulty one.
 */
void salvo_ring_abandon_all(struct salvo_dev *sdev, struct list_head *fences)
{
	struct salvo_ring *ring;

	salvo_for_each_ring(sdev, ring) {
		spin_lock_irq(&ring->lock);
		list_splice_tail_init(&ring->done, fences);
		list_splice_tail_init(&ring->pending, fences);
		spin_unlock_irq(&ring->lock);
	}
}

/* --- address space packets ---------------------------------------------------- */

/**
 * salvo_ring_push_space() - Put address space packets on ring 0, all or none.
 * @sdev: The device.
 * @asid: Address space.
 * @packets: Packets made by salvo_pack_space() and salvo_pack_system().
 * @count: Number of packets.
 *
 * They raise no interrupt: they are retired with the next batch, or when their owner
 * polls with salvo_ring_space_retired().
 *
 * Return: the seqno of the last packet, or 0 if there are not enough free slots.
 */
u64 salvo_ring_push_space(struct salvo_dev *sdev, u32 asid,
			  const struct salvo_space_packet *packets, u32 count)
{
	struct salvo_ring *ring = &sdev->rings[0];
	u64 seqno = 0;
	u32 i;

	spin_lock_irq(&ring->lock);
	if (ring->live &&
	    salvo_ring_free_slots(ring->submitted, ring->retired) >= SALVO_RING_RESERVED + count) {
		for (i = 0; i < count; i++) {
			seqno = ring->submitted + 1;
			salvo_pack_set_fence(packets[i].packet, seqno);
			salvo_ring_push_locked(ring, (struct salvo_ring_entry){
				.packet = packets[i].address,
				.packet_bytes = packets[i].bytes,
				.seqno = seqno,
				.asid = asid,
			});
		}
		atomic64_add(count, &sdev->space_packets);
	}
	spin_unlock_irq(&ring->lock);
	return seqno;
}

/** salvo_ring_space_retired() - Poll for the last retired seqno of address space packets. */
u64 salvo_ring_space_retired(struct salvo_dev *sdev)
{
	struct salvo_ring *ring = &sdev->rings[0];
	u64 retired;

	spin_lock_irq(&ring->lock);
	salvo_ring_poll_fence_locked(ring);
	retired = ring->retired;
	spin_unlock_irq(&ring->lock);
	return retired;
}

/**
 * salvo_ring_wait_read() - Wait until the device has read what is on ring 0 now.
 * @sdev: The device.
 *
 * It always reads it soon, as it has room for all batches that may be there. The register is not
 * trusted: the wait is bounded.
 */
void salvo_ring_wait_read(struct salvo_dev *sdev)
{
	struct salvo_ring *ring = &sdev->rings[0];
	unsigned int polls;
	u64 submitted;
	bool live;

	spin_lock_irq(&ring->lock);
	submitted = ring->submitted;
	spin_unlock_irq(&ring->lock);
	for (polls = 0; polls < SALVO_RING_READ_POLLS; polls++) {
		spin_lock_irq(&ring->lock);
		/* A ring that was restarted is empty. */
		live = ring->live && ring->submitted >= submitted &&
		       salvo_mmio_read_head(&sdev->mmio, 0) < submitted;
		spin_unlock_irq(&ring->lock);
		if (!live || salvo_device_is_gone(sdev) || fatal_signal_pending(current))
			return;
		usleep_range(20, 50);
	}
}

/* --- state of a ring ---------------------------------------------------------- */

/**
 * salvo_ring_is_contended() - Do contexts compete for the ring?
 * @ring: The ring.
 *
 * Also true for a short time afterwards, since a context that submits and waits in turn
 * is not busy in between.
 */
bool salvo_ring_is_contended(struct salvo_ring *ring)
{
	return atomic_read(&ring->busy_ctxs) > 1 ||
	       time_before(jiffies, READ_ONCE(ring->ctx_switched) + SALVO_RING_CONTENDED_JIFFIES);
}

static bool salvo_ring_has_room_locked(const struct salvo_ring *ring)
{
	return ring->recent[ring->batches % SALVO_RING_BATCHES] <= ring->retired;
}

/**
 * salvo_ring_wait_for_room() - May one more batch be put on a ring?
 * @ring: The ring.
 *
 * Batches that were reported take room until all before them have ended. If an UNBIND is the
 * oldest packet, and all batches after it were reported, there is no fence to wait for: then one
 * batch at a time is put on the ring, until the GPU, which counts them as well, reads no more.
 *
 * Return: NULL, or the fence of the oldest pending batch, which must signal before.
 */
struct dma_fence *salvo_ring_wait_for_room(struct salvo_ring *ring)
{
	struct dma_fence *fence = NULL;
	struct salvo_hw_fence *oldest;

	spin_lock_irq(&ring->lock);
	if (!salvo_ring_has_room_locked(ring))
		salvo_ring_poll_fence_locked(ring);
	oldest = list_first_entry_or_null(&ring->pending, struct salvo_hw_fence, node);
	if (oldest && !salvo_ring_has_room_locked(ring))
		fence = dma_fence_get(&oldest->base);
	spin_unlock_irq(&ring->lock);
	return fence;
}

/** salvo_ring_all_idle() - Has everything on the rings been retired and completed? */
bool salvo_ring_all_idle(struct salvo_dev *sdev)
{
	struct salvo_ring *ring;
	bool idle = true;

	salvo_for_each_ring(sdev, ring) {
		spin_lock_irq(&ring->lock);
		salvo_ring_poll_fence_locked(ring);
		idle &= ring->retired == ring->submitted && list_empty(&ring->pending) &&
			list_empty(&ring->done);
		spin_unlock_irq(&ring->lock);
	}
	return idle;
}

/**
 * salvo_ring_find() - Find a pending batch.
 * @sdev: The device.
 * @ctx: Hardware context.
 * @seqno: Seqno of the ring entry.
 *
 * Unless the schedulers are stopped, the job may be freed at any time, and the caller
 * may only compare the result with NULL.
 *
 * Return: the job, or NULL if no such batch is pending.
 */
struct salvo_job *salvo_ring_find(struct salvo_dev *sdev, u32 ctx, u64 seqno)
{
	struct salvo_job *found = NULL;
	struct salvo_hw_fence *fence;
	struct salvo_ring *ring;

	salvo_for_each_ring(sdev, ring) {
		spin_lock_irq(&ring->lock);
		list_for_each_entry(fence, &ring->pending, node)
			if (fence->seqno == seqno && fence->job->ctx->hw_id == ctx)
				found = fence->job;
		spin_unlock_irq(&ring->lock);
	}
	return found;
}

/** salvo_ring_is_oldest() - Is a job the oldest pending one of its ring? */
bool salvo_ring_is_oldest(const struct salvo_job *job)
{
	struct salvo_ring *ring = job->ctx->ring;
	bool oldest;

	spin_lock_irq(&ring->lock);
	oldest = list_is_first(&job->fence->node, &ring->pending);
	spin_unlock_irq(&ring->lock);
	return oldest;
}

/*
 * Does a batch hang, after a sample has been counted? One that was on the ring together with
 * a hung batch of its client, for the timeout like that one, is not given the timeout once
 * more if a unit works for it and other clients wait.
 */
static bool salvo_ring_is_hung(struct salvo_job *job, u32 samples, u32 limit)
{
	const struct salvo_ring *ring = job->ctx->ring;

	if (samples >= limit)
		return true;
	return ++job->samples >= limit && samples &&
	       job->ring_number <= job->ctx->vm->client->rings[ring->index].hung &&
	       atomic_read(&ring->busy_clients) > 1;
}

/*
 * Does a sample count for a batch? If later batches have ended since the last sample, it shares the
 * units with them, and a unit that works for it does so only for a part of the time. Then one
 * sample counts for each context that competes, but at least one of SALVO_RING_SHARES.
 */
static bool salvo_ring_counts_sample_locked(const struct salvo_ring *ring, struct salvo_job *job)
{
	u32 shares = clamp(atomic_read(&ring->busy_ctxs), 1, SALVO_RING_SHARES);

	if (job->fence->seqno < ring->reported && ++job->shared < shares)
		return false;
	job->shared = 0;
	return true;
}

/**
 * salvo_ring_sample_hang() - Take a watchdog sample of each pending batch.
 * @ring: The ring.
 * @units: Activity of the execution units.
 * @limit: Number of samples that a batch may run for.
 * @guilty: Filled in with the oldest batch that has reached @limit. Its count starts
 *          over, in case that killing it fails.
 *
 * Return: whether a batch has reached @limit.
 */
bool salvo_ring_sample_hang(struct salvo_ring *ring, const struct salvo_unit_regs *units,
			    u32 limit, struct salvo_hang *guilty)
{
	struct salvo_job *found = NULL;
	struct salvo_hw_fence *fence;

	spin_lock_irq(&ring->lock);
	list_for_each_entry(fence, &ring->pending, node) {
		u32 samples;

		if (!salvo_ring_counts_sample_locked(ring, fence->job))
			continue;
		samples = salvo_hang_sample(&fence->job->hang,
					    list_is_first(&fence->node, &ring->pending),
					    units, ring->sdev->mmio.units);
		if (salvo_ring_is_hung(fence->job, samples, limit))
			found = found ?: fence->job;
	}
	ring->reported = 0;
	if (found) {
		*guilty = found->hang;
		found->hang.half_samples = 0;
		found->ctx->vm->client->rings[ring->index].hung = ring->batches;
	}
	spin_unlock_irq(&ring->lock);
	return found;
}

/**
 * salvo_ring_copy() - Copy a ring for a dump.
 * @ring: The ring.
 * @entries: Array of SALVO_RING_ENTRIES, filled in.
 * @submitted: Seqno of the last entry written, filled in.
 * @retired: Seqno of the last entry retired, filled in.
 */
void salvo_ring_copy(struct salvo_ring *ring, struct salvo_ring_entry *entries,
		     u64 *submitted, u64 *retired)
{
	spin_lock_irq(&ring->lock);
	memcpy(entries, ring->entries, SALVO_RING_BYTES);
	*submitted = ring->submitted;
	*retired = ring->retired;
	spin_unlock_irq(&ring->lock);
}
