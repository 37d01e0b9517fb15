// SPDX-License-Identifier: MIT
/*
 * soft_ring.c - jobs of the embedded GPU, and its rings
 *
 * Pushing a job writes its entry to a ring and advances the tail; then the doorbell is rung.
 * Fences retire in ring order, so batches of high priority have a ring of their own; all others,
 * and address space packets, use the first. The GPU reads the first ring first, so a batch runs
 * with the buffers that existed when it was submitted. Doorbells are rung without the lock, since
 * the GPU may raise an interrupt inside.
 *
 * Functions with _locked in their name want the device's lock; it protects all jobs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "salvo_pack.h"
#include "soft_device.h"

/* --- jobs ------------------------------------------------------------------- */

void salvo_soft_queue_put_locked(struct soft_queue *queue)
{
	if (queue && !--queue->refs)
		free(queue);
}

struct soft_job *salvo_soft_job_get_locked(struct soft_device *dev)
{
	struct soft_job *job = dev->free_jobs;

	if (job)
		dev->free_jobs = job->next;
	else
		job = calloc(1, sizeof(*job));
	return job;
}

int salvo_soft_job_reserve_packet(struct soft_job *job, uint32_t bytes)
{
	void *packet;

	if (bytes > job->packet_capacity) {
		packet = aligned_alloc(64, bytes);
		if (!packet)
			return -ENOMEM;
		free(job->packet);
		job->packet = packet;
		job->packet_capacity = bytes;
	}
	job->packet_bytes = bytes;
	job->hung = false;
	memset(&job->result, 0, sizeof(job->result));
	return 0;
}

bool salvo_soft_job_is_ready(struct soft_job *job)
{
	while (job->wait_count && salvo_soft_fence_is_done(job->waits[job->wait_count - 1]))
		salvo_soft_fence_put(job->waits[--job->wait_count]);
	return !job->wait_count;
}

static void job_drop_waits(struct soft_job *job)
{
	while (job->wait_count)
		salvo_soft_fence_put(job->waits[--job->wait_count]);
}

void salvo_soft_job_account_locked(struct soft_device *dev, struct soft_job *job)
{
	job->ticket = ++dev->tickets;
	dev->public->batches += !!job->queue;
	job->newer = NULL;
	job->older = dev->newest;
	if (dev->newest)
		dev->newest->newer = job;
	else
		dev->oldest = job;
	dev->newest = job;
}

void salvo_soft_job_unaccount_locked(struct soft_device *dev, struct soft_job *job)
{
	dev->public->batches -= !!job->queue;
	if (job->older)
		job->older->newer = job->newer;
	else
		dev->oldest = job->newer;
	if (job->newer)
		job->newer->older = job->older;
	else
		dev->newest = job->older;
}

void salvo_soft_job_put_locked(struct soft_device *dev, struct soft_job *job)
{
	job_drop_waits(job);
	salvo_soft_queue_put_locked(job->queue);
	job->queue = NULL;
	job->fence = NULL;
	job->next = dev->free_jobs;
	dev->free_jobs = job;
}

/* --- the rings -------------------------------------------------------------- */

bool salvo_soft_ring_has_room_locked(const struct soft_ring *ring, uint64_t most)
{
	return ring->seqno - ring->retired < most;
}

void salvo_soft_ring_push_locked(struct soft_device *dev, struct soft_job *job)
{
	struct soft_ring *ring = &dev->ring[job->queue ? job->queue->ring : SOFT_RING_NORMAL];
	const uint64_t seqno = ++ring->seqno;
	struct salvo_ring_entry *entry = &ring->entries[(seqno - 1) % SOFT_RING_ENTRIES];

	ring->slots[(seqno - 1) % SOFT_RING_ENTRIES] = job;
	salvo_pack_set_fence(job->packet, seqno);
	memset(entry, 0, sizeof(*entry));
	entry->packet = (uintptr_t)job->packet;
	entry->packet_bytes = job->packet_bytes;
	entry->seqno = seqno;
	entry->asid = SOFT_ASID;
	/* Many space packets in a row must wake the jobs that are held for lack of room. */
	if (job->queue || seqno - ring->retired > SOFT_RING_BATCHES / 2)
		entry->flags = SALVO_RING_IRQ;
	if (job->queue) {
		entry->flags |= job->overlaps ? SALVO_RING_OVERLAP : 0;
		entry->ctx = job->queue->ctx;
		entry->eu_mask = job->queue->eu_mask;
		entry->priority = job->queue->priority;
		job->hang = (struct salvo_hang){
			.ctx = entry->ctx, .seqno = seqno, .eu_mask = entry->eu_mask,
		};
	}
	dev->public->packets++;
	/* The entry before the tail. */
	__atomic_store_n(&ring->regs->tail, seqno, __ATOMIC_RELEASE);
}

void salvo_soft_ring_doorbells(struct soft_device *dev, unsigned int rings)
{
	for (; rings; rings &= rings - 1) {
		__atomic_fetch_add(&dev->public->doorbells, 1, __ATOMIC_RELAXED);
		salvo_gpu_doorbell(dev->gpu, SALVO_DOORBELL_RING(__builtin_ctz(rings)));
	}
}

void salvo_soft_free_jobs(struct soft_device *dev)
{
	struct soft_job *job;

	while ((job = dev->free_jobs)) {
		dev->free_jobs = job->next;
		free(job->waits);
		free(job->packet);
		free(job);
	}
}
