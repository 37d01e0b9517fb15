// SPDX-License-Identifier: MIT
/*
 * soft_ring.c - jobs of the embedded GPU: into its rings, and back
 *
 * A job's entry is written to its ring, the tail is moved and the doorbell rung. Fences retire
 * in the order of a ring, so batches of high priority have one of their own, where they wait for
 * no others; all else, and what changes the address space, goes to the first. The GPU reads what is
 * there first, so a batch finds the buffers that were there when it was submitted.
 * Doorbells are rung without the lock, since the GPU may call back from there.
 *
 * Completion (B11 of CN105940388): the interrupt handler compares each ring's fence
 * with the last one it saw and runs one deferred completion for each batch that has
 * ended, which signals the batch's fence. Interrupts may come from any
 * thread at once, and from inside a doorbell: the one who raises
 * pending_interrupts from 0 handles them all, the others return at once.
 *
 * A batch that faults, or that the GPU refuses, or that the watchdog kills, bans its queue:
 * later submissions get -EIO, and batches that had been submitted behind it end with
 * -ECANCELED, whether they ran or not.
 *
 * Functions with _locked in their name want the device's lock; it protects all jobs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "salvo_pack.h"
#include "soft.h"

/* --- jobs ------------------------------------------------------------------- */

struct soft_job *salvo_soft_job_get_locked(struct soft_device *dev)
{
	struct soft_job *job = dev->free_jobs;

	if (job)
		dev->free_jobs = job->next;
	else
		job = calloc(1, sizeof(*job));
	return job;
}

static void job_free(struct soft_job *job)
{
	free(job->waits);
	free(job->packet);
	free(job);
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

/* Forget the waits that are done. Return: may the job run? */
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

/* From here on buffers that are destroyed wait for the job. */
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

/* Back to the free list. */
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

/* The caller rings the doorbell when it has let go of the lock. */
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

/* --- completion ------------------------------------------------------------- */

/* The deferred completion of one batch. */
static void complete_locked(struct soft_device *dev, struct soft_job *job)
{
	struct soft_queue *queue = job->queue;

	const uint32_t status = job->result.status;

	if (status != SALVO_STATUS_DONE && status != SALVO_STATUS_KILLED)
		queue->banned = true;
	job->error = status != SALVO_STATUS_DONE || queue->banned ? -ECANCELED : 0;
	dev->public->completions++;
}

/* Take the packets off a ring that have ended; puts the batches among them at @end, in order. */
static struct soft_job **retire_locked(struct soft_device *dev, struct soft_ring *ring,
				       struct soft_job **end)
{
	uint64_t fence = __atomic_load_n(&ring->regs->fence, __ATOMIC_ACQUIRE);

	if (fence > ring->seqno)
		fence = ring->seqno;
	while (ring->retired < fence) {
		struct soft_job *job = ring->slots[ring->retired++ % SOFT_RING_ENTRIES];

		salvo_soft_job_unaccount_locked(dev, job);
		if (job->queue) {
			complete_locked(dev, job);
			*end = job;
			end = &job->next;
		} else if (job->space == SOFT_SPACE_LEFT) {
			salvo_soft_job_put_locked(dev, job);
		} else {
			job->space = SOFT_SPACE_RETIRED;
		}
	}
	*end = NULL;
	return end;
}

/* Signal the batches' fences and give their jobs back. */
static void finish_jobs(struct soft_device *dev, struct soft_job *done)
{
	struct soft_job *job;

	if (!done)
		return;
	for (job = done; job; job = job->next) {
		if (!job->fence)
			continue;
		job->fence->result = job->result;
		job->fence->hung = job->hung;
		if (job->hung) {
			job->fence->result.command = job->hung_command;
			job->fence->result.group = job->hung_group;
		}
		salvo_soft_fence_signal(job->fence, job->error);
		salvo_soft_fence_put(job->fence);
	}
	pthread_mutex_lock(&dev->lock);
	while ((job = done)) {
		done = job->next;
		salvo_soft_job_put_locked(dev, job);
	}
	pthread_mutex_unlock(&dev->lock);
}

static void handle_interrupt(struct soft_device *dev)
{
	struct soft_job *done = NULL, *cancelled, **end = &done;
	unsigned int pushed, r;

	pthread_mutex_lock(&dev->lock);
	for (r = SALVO_MAX_RINGS; r--;)
		end = retire_locked(dev, &dev->ring[r], end);
	pthread_mutex_unlock(&dev->lock);
	finish_jobs(dev, done);

	/* A cancelled batch may be what another one waits for: look again. */
	do {
		cancelled = NULL;
		pthread_mutex_lock(&dev->lock);
		pushed = salvo_soft_run_held_locked(dev, &cancelled);
		pthread_mutex_unlock(&dev->lock);
		salvo_soft_ring_doorbells(dev, pushed);
		finish_jobs(dev, cancelled);
	} while (cancelled);
}

/* Handle an interrupt, here or in the thread that is at it. */
void salvo_soft_drain(struct soft_device *dev)
{
	unsigned int handled;

	if (atomic_fetch_add(&dev->pending_interrupts, 1))
		return;
	do {
		handled = atomic_load(&dev->pending_interrupts);
		handle_interrupt(dev);
	} while (atomic_fetch_sub(&dev->pending_interrupts, handled) != handled);
}

void salvo_soft_interrupt(void *cookie, unsigned int vector)
{
	struct soft_device *dev = cookie;

	__atomic_fetch_add(&dev->public->interrupts, 1, __ATOMIC_RELAXED);
	/* The other causes say nothing about fences; a fault comes with its batch's result. */
	if (vector == SALVO_VECTOR_FENCE)
		salvo_soft_drain(dev);
}

void salvo_soft_give_up(struct soft_device *dev)
{
	struct soft_job *job;

	while ((job = dev->oldest)) {
		salvo_soft_job_unaccount_locked(dev, job);
		if (job->fence) {
			salvo_soft_fence_signal(job->fence, -ENODEV);
			salvo_soft_fence_put(job->fence);
		}
		salvo_soft_job_put_locked(dev, job);
	}
	while ((job = dev->free_jobs)) {
		dev->free_jobs = job->next;
		job_free(job);
	}
}
