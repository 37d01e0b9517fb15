// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_ring.c - the command ring
 *
 * A first-in-first-out queue of packets (B11 of CN105940388): 64-byte entries in
 * coherent memory, each with the seqno that is also its packet's unique fence id.
 * The driver writes an entry, a barrier, the tail and the doorbell; the device
 * moves its fence register forward in ring order. A slot comes free when the
 * fence register has passed it, so the device's head register is not needed.
 *
 * Slots are shared by batches and address space packets. Batches never wait for
 * a slot: the scheduler has at most SALVO_RING_BATCHES of them on the ring, and
 * address space packets are refused while fewer slots than that are free.
 *
 * The fence register is a claim: it counts only if it lies between what was
 * retired and what was submitted. Everything is under ring->lock.
 */
#include <linux/dma-mapping.h>

#include "salvo_ctx.h"
#include "salvo_device.h"
#include "salvo_fence.h"
#include "salvo_pack.h"
#include "salvo_ring.h"
#include "salvo_sched.h"
#include "salvo_trace.h"
#include "salvo_vm.h"

/* How long a context is remembered that has put a batch on the ring. */
#define SALVO_RING_TURN_JIFFIES	max(1, HZ / 20)
#define SALVO_RING_BYTES	(SALVO_RING_ENTRIES * sizeof(struct salvo_ring_entry))

int salvo_ring_init(struct salvo_device *sdev)
{
	struct salvo_ring *ring = &sdev->ring;

	BUILD_BUG_ON(sizeof(struct salvo_ring_entry) != 64);
	BUILD_BUG_ON(SALVO_RING_ENTRIES & (SALVO_RING_ENTRIES - 1));
	BUILD_BUG_ON(SALVO_RING_ENTRIES > SALVO_RING_MAX_ENTRIES);
	BUILD_BUG_ON(SALVO_RING_BATCHES >= SALVO_RING_ENTRIES);

	spin_lock_init(&ring->lock);
	INIT_LIST_HEAD(&ring->pending);
	INIT_LIST_HEAD(&ring->done);
	ring->context = dma_fence_context_alloc(1);
	ring->entries = dma_alloc_coherent(sdev->drm.dev, SALVO_RING_BYTES, &ring->base,
					   GFP_KERNEL);
	return ring->entries ? 0 : -ENOMEM;
}

/** salvo_ring_fini() - Free the ring; it is stopped and the device is reset. */
void salvo_ring_fini(struct salvo_device *sdev)
{
	dma_free_coherent(sdev->drm.dev, SALVO_RING_BYTES, sdev->ring.entries, sdev->ring.base);
	sdev->ring.entries = NULL;
}

/** salvo_ring_start() - Make the ring live and empty, after a reset of the device. */
int salvo_ring_start(struct salvo_device *sdev)
{
	struct salvo_ring *ring = &sdev->ring;
	int ret;

	spin_lock_irq(&ring->lock);
	ring->submitted = 0;
	ring->retired = 0;
	memset(ring->entries, 0, SALVO_RING_BYTES);
	ret = salvo_mmio_start_ring(&sdev->mmio, ring->base, SALVO_RING_ENTRIES);
	ring->live = !ret;
	spin_unlock_irq(&ring->lock);
	return ret;
}

/** salvo_ring_stop() - Take no more packets. */
void salvo_ring_stop(struct salvo_device *sdev)
{
	spin_lock_irq(&sdev->ring.lock);
	sdev->ring.live = false;
	spin_unlock_irq(&sdev->ring.lock);
}

static void salvo_ring_push_locked(struct salvo_device *sdev, struct salvo_ring_entry entry)
{
	struct salvo_ring *ring = &sdev->ring;

	lockdep_assert_held(&ring->lock);
	ring->entries[salvo_ring_slot(entry.seqno)] = entry;
	ring->submitted = entry.seqno;
	/* The packet and its entry are in memory before the device can see the tail. */
	wmb();
	salvo_mmio_write_tail(&sdev->mmio, ring->submitted);
	trace_salvo_doorbell(sdev, ring->submitted);
	salvo_mmio_ring_doorbell(&sdev->mmio, SALVO_DOORBELL_RING(0));
}

/**
 * salvo_ring_push_job() - Put a batch on the ring: one packet, one doorbell.
 * @sdev: The device.
 * @job: The batch, packed.
 *
 * Return: 0, or -ENODEV if the ring takes nothing.
 */
int salvo_ring_push_job(struct salvo_device *sdev, struct salvo_job *job)
{
	struct salvo_counters *counters = &job->ctx->vm->counters;
	struct salvo_ring *ring = &sdev->ring;
	struct salvo_fence *fence = job->fence;
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
	salvo_ring_push_locked(sdev, entry);
	spin_unlock_irqrestore(&ring->lock, flags);
	return 0;
}

/**
 * salvo_ring_push_space() - Put address space packets on the ring, all or none.
 * @sdev: The device.
 * @asid: Address space.
 * @packets: What salvo_pack_space() and salvo_pack_system() made.
 * @count: Number of them.
 *
 * They raise no interrupt: they retire with the next fence that does, or their
 * owner looks with salvo_ring_retired().
 *
 * Return: the last one's seqno, or 0 if there are not enough slots now.
 */
u64 salvo_ring_push_space(struct salvo_device *sdev, u32 asid,
			  const struct salvo_space_packet *packets, u32 count)
{
	struct salvo_ring *ring = &sdev->ring;
	u64 seqno = 0;
	u32 i;

	spin_lock_irq(&ring->lock);
	if (ring->live &&
	    SALVO_RING_ENTRIES - (ring->submitted - ring->retired) >= SALVO_RING_BATCHES + count) {
		for (i = 0; i < count; i++) {
			seqno = ring->submitted + 1;
			salvo_pack_set_fence(packets[i].packet, seqno);
			salvo_ring_push_locked(sdev, (struct salvo_ring_entry){
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

/* Take over the fence register if it makes sense. */
static void salvo_ring_look_locked(struct salvo_device *sdev)
{
	struct salvo_ring *ring = &sdev->ring;
	u64 claim;

	lockdep_assert_held(&ring->lock);
	if (!ring->live)
		return;
	claim = salvo_mmio_read_fence(&sdev->mmio);
	if (salvo_ring_is_sane(claim, ring->submitted, ring->retired))
		ring->retired = claim;
	else
		salvo_refuse(sdev, -EIO, "fence %llu is within %llu..%llu", claim,
			     ring->retired, ring->submitted);
}

/**
 * salvo_ring_retire() - Compare fence ids, and move the batches that are done to done.
 * @sdev: The device.
 * @interrupt: Number of the interrupt that this is for, which then counts for the
 *             files whose batches it retires; 0 for none.
 *
 * Return: the number of batches moved.
 */
unsigned int salvo_ring_retire(struct salvo_device *sdev, u64 interrupt)
{
	struct salvo_ring *ring = &sdev->ring;
	struct salvo_fence *fence, *next;
	unsigned int moved = 0;
	unsigned long flags;

	spin_lock_irqsave(&ring->lock, flags);
	salvo_ring_look_locked(sdev);
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

/** salvo_ring_retired() - The seqno up to which all packets are done. */
u64 salvo_ring_retired(struct salvo_device *sdev)
{
	u64 retired;

	spin_lock_irq(&sdev->ring.lock);
	salvo_ring_look_locked(sdev);
	retired = sdev->ring.retired;
	spin_unlock_irq(&sdev->ring.lock);
	return retired;
}

/** salvo_ring_next_done() - Take a batch that waits for its completion, or NULL. */
struct salvo_fence *salvo_ring_next_done(struct salvo_device *sdev)
{
	struct salvo_ring *ring = &sdev->ring;
	struct salvo_fence *fence;

	spin_lock_irq(&ring->lock);
	fence = list_first_entry_or_null(&ring->done, struct salvo_fence, node);
	if (fence)
		list_del_init(&fence->node);
	spin_unlock_irq(&ring->lock);
	return fence;
}

/** salvo_ring_abandon() - Move all batches to done; the device will not finish them. */
void salvo_ring_abandon(struct salvo_device *sdev)
{
	struct salvo_ring *ring = &sdev->ring;

	spin_lock_irq(&ring->lock);
	list_splice_tail_init(&ring->pending, &ring->done);
	spin_unlock_irq(&ring->lock);
}

/**
 * salvo_ring_is_shared() - Do contexts compete for the GPU?
 * @sdev: The device.
 *
 * Now, or a moment ago: one that submits, waits, and submits again is not busy in between.
 */
bool salvo_ring_is_shared(struct salvo_device *sdev)
{
	return atomic_read(&sdev->busy_ctxs) > 1 ||
	       time_before(jiffies, READ_ONCE(sdev->ring.turned) + SALVO_RING_TURN_JIFFIES);
}

/** salvo_ring_is_idle() - Is the device done with all that it was given, and so are we? */
bool salvo_ring_is_idle(struct salvo_device *sdev)
{
	struct salvo_ring *ring = &sdev->ring;
	bool idle;

	spin_lock_irq(&ring->lock);
	salvo_ring_look_locked(sdev);
	idle = ring->retired == ring->submitted && list_empty(&ring->pending) &&
	       list_empty(&ring->done);
	spin_unlock_irq(&ring->lock);
	return idle;
}

/**
 * salvo_ring_find() - The batch with a seqno that the device has not finished, or NULL.
 * @sdev: The device.
 * @seqno: A claim of the device.
 *
 * The scheduler must be stopped, so that the batch stays.
 */
struct salvo_job *salvo_ring_find(struct salvo_device *sdev, u64 seqno)
{
	struct salvo_ring *ring = &sdev->ring;
	struct salvo_job *found = NULL;
	struct salvo_fence *fence;

	spin_lock_irq(&ring->lock);
	list_for_each_entry(fence, &ring->pending, node)
		if (fence->seqno == seqno)
			found = fence->job;
	spin_unlock_irq(&ring->lock);
	return found;
}

/** salvo_ring_first() - The oldest batch that the device has not finished, or NULL; see above. */
struct salvo_job *salvo_ring_first(struct salvo_device *sdev)
{
	struct salvo_ring *ring = &sdev->ring;
	struct salvo_fence *fence;

	spin_lock_irq(&ring->lock);
	fence = list_first_entry_or_null(&ring->pending, struct salvo_fence, node);
	spin_unlock_irq(&ring->lock);
	return fence ? fence->job : NULL;
}

/**
 * salvo_ring_copy() - Copy the ring for a dump.
 * @sdev: The device.
 * @entries: SALVO_RING_ENTRIES, filled in.
 * @submitted: Last entry written, filled in.
 * @retired: Last entry done, filled in.
 */
void salvo_ring_copy(struct salvo_device *sdev, struct salvo_ring_entry *entries,
		     u64 *submitted, u64 *retired)
{
	struct salvo_ring *ring = &sdev->ring;

	spin_lock_irq(&ring->lock);
	memcpy(entries, ring->entries, SALVO_RING_BYTES);
	*submitted = ring->submitted;
	*retired = ring->retired;
	spin_unlock_irq(&ring->lock);
}
