// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_ring.c - the command rings
 *
 * A ring is a first-in-first-out queue of packets (B11 of CN105940388): 64-byte entries
 * in coherent memory, each with the seqno that is also its packet's unique fence id.
 * The driver writes an entry, a barrier, the tail and the doorbell; the device
 * moves its fence register forward in ring order. A slot comes free when the
 * fence register has passed it, so the device's head register is not needed.
 *
 * As fences retire in the order of a ring, batches of high priority have one of their own,
 * the last one, on which they wait for each other only. All else comes by ring 0: other
 * batches, and the address space packets of all. The device reads nothing of a ring before
 * what was put on those below it earlier, so a batch finds what was bound before it,
 * whichever ring it comes by. A device with one ring has all on that.
 *
 * Slots are shared by batches and address space packets. Batches never wait for
 * a slot: the scheduler has at most SALVO_RING_BATCHES of them on the ring, and
 * address space packets are refused while fewer slots than that are free.
 *
 * The fence register is a claim: it counts only if it lies between what was
 * retired and what was submitted. Everything of a ring is under its lock.
 */
#include <linux/dma-mapping.h>

#include "salvo_ctx.h"
#include "salvo_device.h"
#include "salvo_fence.h"
#include "salvo_hang.h"
#include "salvo_pack.h"
#include "salvo_ring.h"
#include "salvo_sched.h"
#include "salvo_trace.h"
#include "salvo_vm.h"

/* How long a context is remembered that has put a batch on the ring. */
#define SALVO_RING_TURN_JIFFIES	max(1, HZ / 20)
#define SALVO_RING_BYTES	(SALVO_RING_ENTRIES * sizeof(struct salvo_ring_entry))

/* --- all rings ---------------------------------------------------------------- */

static int salvo_ring_init(struct salvo_ring *ring)
{
	spin_lock_init(&ring->lock);
	INIT_LIST_HEAD(&ring->pending);
	INIT_LIST_HEAD(&ring->done);
	ring->context = dma_fence_context_alloc(1);
	ring->entries = dma_alloc_coherent(ring->sdev->drm.dev, SALVO_RING_BYTES, &ring->base,
					   GFP_KERNEL);
	return ring->entries ? 0 : -ENOMEM;
}

/** salvo_ring_init_all() - Memory for the rings; the device is reset. */
int salvo_ring_init_all(struct salvo_dev *sdev)
{
	struct salvo_ring *ring;
	int ret = 0;

	BUILD_BUG_ON(sizeof(struct salvo_ring_entry) != 64);
	BUILD_BUG_ON(SALVO_RING_ENTRIES & (SALVO_RING_ENTRIES - 1));
	BUILD_BUG_ON(SALVO_RING_ENTRIES > SALVO_RING_MAX_ENTRIES);
	BUILD_BUG_ON(SALVO_RING_BATCHES >= SALVO_RING_ENTRIES);

	salvo_for_each_ring(sdev, ring) {
		ring->sdev = sdev;
		ring->index = ring - sdev->rings;
		ret = ret ?: salvo_ring_init(ring);
	}
	if (ret)
		salvo_ring_fini_all(sdev);
	return ret;
}

/** salvo_ring_fini_all() - Free the rings; they are stopped and the device is reset. */
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

/** salvo_ring_start_all() - Make the rings live and empty, after a reset of the device. */
int salvo_ring_start_all(struct salvo_dev *sdev)
{
	struct salvo_ring *ring;
	int ret = 0;

	salvo_for_each_ring(sdev, ring) {
		spin_lock_irq(&ring->lock);
		ring->submitted = 0;
		ring->retired = 0;
		memset(ring->entries, 0, SALVO_RING_BYTES);
		ret = ret ?: salvo_mmio_start_ring(&sdev->mmio, ring->index, ring->base,
						   SALVO_RING_ENTRIES);
		ring->live = !ret;
		spin_unlock_irq(&ring->lock);
	}
	return ret;
}

/** salvo_ring_stop_all() - Take no more packets. */
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
	/* The packet and its entry are in memory before the device can see the tail. */
	wmb();
	salvo_mmio_write_tail(mmio, ring->index, ring->submitted);
	trace_salvo_doorbell(ring, ring->submitted);
	salvo_mmio_ring_doorbell(mmio, SALVO_DOORBELL_RING(ring->index));
}

/**
 * salvo_ring_push_job() - Put a batch on the ring: one packet, one doorbell.
 * @ring: The ring.
 * @job: The batch, packed.
 *
 * Return: 0, or -ENODEV if the ring takes nothing.
 */
int salvo_ring_push_job(struct salvo_ring *ring, struct salvo_job *job)
{
	struct salvo_counters *counters = &job->ctx->vm->counters;
	struct salvo_dev *sdev = ring->sdev;
	struct salvo_hw_fence *fence = job->fence;
	struct salvo_ring_entry entry = {
		.packet = job->packet_address,
		.packet_bytes = job->packet_bytes,
		.flags = SALVO_RING_IRQ,
		.asid = job->ctx->vm->asid,
		.ctx = job->ctx->hw_id,
		.eu_mask = job->ctx->eu_mask,
		.priority = job->ctx->hw_priority,
	};
	unsigned long flags;

	spin_lock_irqsave(&ring->lock, flags);
	if (!ring->live) {
		spin_unlock_irqrestore(&ring->lock, flags);
		return salvo_refuse(sdev, -ENODEV, "the ring is live");
	}
	entry.seqno = ring->submitted + 1;
	salvo_pack_set_fence(job->packet, entry.seqno);
	fence->seqno = entry.seqno;
	job->hang.ctx = entry.ctx;
	job->hang.seqno = entry.seqno;
	job->hang.eu_mask = entry.eu_mask;
	fence->base.seqno = ++ring->fences;
	list_add_tail(&fence->node, &ring->pending);
	if (ring->last_ctx != entry.ctx) {
		ring->last_ctx = entry.ctx;
		ring->turned = jiffies;
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

/* --- what is done ------------------------------------------------------------- */

/* Take over the fence register if it makes sense. */
static void salvo_ring_look_locked(struct salvo_ring *ring)
{
	u64 claim;

	lockdep_assert_held(&ring->lock);
	if (!ring->live)
		return;
	claim = salvo_mmio_read_fence(&ring->sdev->mmio, ring->index);
	if (salvo_ring_is_sane(claim, ring->submitted, ring->retired))
		ring->retired = claim;
	else
		salvo_refuse(ring->sdev, -EIO, "fence %llu is within %llu..%llu", claim,
			     ring->retired, ring->submitted);
}

/**
 * salvo_ring_retire() - Compare fence ids, and move the batches that are done to done.
 * @ring: The ring.
 * @interrupt: Number of the interrupt that this is for, which then counts for the
 *             files whose batches it retires; 0 for none.
 *
 * Return: the number of batches moved.
 */
unsigned int salvo_ring_retire(struct salvo_ring *ring, u64 interrupt)
{
	struct salvo_hw_fence *fence, *next;
	unsigned int moved = 0;
	unsigned long flags;

	spin_lock_irqsave(&ring->lock, flags);
	salvo_ring_look_locked(ring);
	list_for_each_entry_safe(fence, next, &ring->pending, node) {
		if (fence->seqno > ring->retired)
			break;
		list_move_tail(&fence->node, &ring->done);
		if (interrupt)
			salvo_vm_count_interrupt(fence->job->ctx->vm, interrupt);
		moved++;
	}
	spin_unlock_irqrestore(&ring->lock, flags);
	return moved;
}

/** salvo_ring_next_done() - Take a batch that waits for its completion, or NULL. */
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

/** salvo_ring_abandon_all() - Move all batches to done; the device will not finish them. */
void salvo_ring_abandon_all(struct salvo_dev *sdev)
{
	struct salvo_ring *ring;

	salvo_for_each_ring(sdev, ring) {
		spin_lock_irq(&ring->lock);
		list_splice_tail_init(&ring->pending, &ring->done);
		spin_unlock_irq(&ring->lock);
	}
}

/* --- address space packets ---------------------------------------------------- */

/**
 * salvo_ring_push_space() - Put address space packets on ring 0, all or none.
 * @sdev: The device.
 * @asid: Address space.
 * @packets: What salvo_pack_space() and salvo_pack_system() made.
 * @count: Number of them.
 *
 * They raise no interrupt: they retire with the next fence that does, or their
 * owner looks with salvo_ring_space_retired().
 *
 * Return: the last one's seqno, or 0 if there are not enough slots now.
 */
u64 salvo_ring_push_space(struct salvo_dev *sdev, u32 asid,
			  const struct salvo_space_packet *packets, u32 count)
{
	struct salvo_ring *ring = &sdev->rings[0];
	u64 seqno = 0;
	u32 i;

	spin_lock_irq(&ring->lock);
	if (ring->live &&
	    salvo_ring_space(ring->submitted, ring->retired) >= SALVO_RING_BATCHES + count) {
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

/** salvo_ring_space_retired() - The seqno up to which address space packets are done. */
u64 salvo_ring_space_retired(struct salvo_dev *sdev)
{
	struct salvo_ring *ring = &sdev->rings[0];
	u64 retired;

	spin_lock_irq(&ring->lock);
	salvo_ring_look_locked(ring);
	retired = ring->retired;
	spin_unlock_irq(&ring->lock);
	return retired;
}

/* --- what is on a ring -------------------------------------------------------- */

/**
 * salvo_ring_is_shared() - Do contexts compete for the ring?
 * @ring: The ring.
 *
 * Now, or a moment ago: one that submits, waits, and submits again is not busy in between.
 */
bool salvo_ring_is_shared(struct salvo_ring *ring)
{
	return atomic_read(&ring->busy_ctxs) > 1 ||
	       time_before(jiffies, READ_ONCE(ring->turned) + SALVO_RING_TURN_JIFFIES);
}

/** salvo_ring_all_idle() - Is the device done with all that it was given, and so are we? */
bool salvo_ring_all_idle(struct salvo_dev *sdev)
{
	struct salvo_ring *ring;
	bool idle = true;

	salvo_for_each_ring(sdev, ring) {
		spin_lock_irq(&ring->lock);
		salvo_ring_look_locked(ring);
		idle &= ring->retired == ring->submitted && list_empty(&ring->pending) &&
			list_empty(&ring->done);
		spin_unlock_irq(&ring->lock);
	}
	return idle;
}

/**
 * salvo_ring_find() - A batch that the device has not finished, or NULL.
 * @sdev: The device.
 * @ctx: Number of its context.
 * @seqno: Of its entry.
 *
 * The batch stays only if the schedulers are stopped; else no more can be told than that
 * there was one.
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

/** salvo_ring_is_oldest() - Do all batches of its ring wait for this one, which is pending? */
bool salvo_ring_is_oldest(const struct salvo_job *job)
{
	struct salvo_ring *ring = job->ctx->ring;
	bool oldest;

	spin_lock_irq(&ring->lock);
	oldest = list_is_first(&job->fence->node, &ring->pending);
	spin_unlock_irq(&ring->lock);
	return oldest;
}

/**
 * salvo_ring_look_for_hang() - Look once more at the batches that the device has not finished.
 * @ring: The ring.
 * @units: What the units do.
 * @limit: Looks that a batch may run for.
 * @guilty: Set to one that has had them, if there is one.
 *
 * Return: whether there is one; it starts anew, in case that it is not ended.
 */
bool salvo_ring_look_for_hang(struct salvo_ring *ring, const struct salvo_unit_regs *units,
			      u32 limit, struct salvo_hang *guilty)
{
	struct salvo_hang *found = NULL;
	struct salvo_hw_fence *fence;

	spin_lock_irq(&ring->lock);
	list_for_each_entry(fence, &ring->pending, node)
		if (salvo_hang_look(&fence->job->hang,
				    list_is_first(&fence->node, &ring->pending), units,
				    ring->sdev->mmio.units) >= limit)
			found = found ?: &fence->job->hang;
	if (found) {
		*guilty = *found;
		found->halves = 0;
	}
	spin_unlock_irq(&ring->lock);
	return found;
}

/**
 * salvo_ring_copy() - Copy a ring for a dump.
 * @ring: The ring.
 * @entries: SALVO_RING_ENTRIES, filled in.
 * @submitted: Last entry written, filled in.
 * @retired: Last entry done, filled in.
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
