// SPDX-License-Identifier: MIT
/*
 * soft_complete.c - completion: from the embedded GPU's interrupt to the fences
 *
 * The interrupt handler compares the fence id of each ring with the last one it has seen, and runs
 * one deferred completion for each batch that has retired, which signals the batch's fence (B11
 * of CN105940388). Interrupts may be raised by several threads at once, and inside a doorbell:
 * who increments pending_interrupts from 0 handles them all, the others return at once.
 *
 * A batch that faults, that the GPU rejects or that the watchdog kills bans its queue: later
 * submissions fail with -EIO, and batches that were submitted after it with -ECANCELED, whether
 * they ran or not.
 *
 * Functions with _locked in their name want the device's lock; it protects all jobs.
 */
#include <errno.h>
#include <stdlib.h>

#include "cancel.h"
#include "soft_device.h"

void salvo_soft_queue_ban_locked(struct soft_queue *queue, const struct soft_job *guilty)
{
	if (!queue->banned || guilty->hang.seqno < queue->banned_from)
		queue->banned_from = guilty->hang.seqno;
	queue->banned = true;
}

/* The deferred completion of one batch. */
static void complete_locked(struct soft_device *dev, struct soft_job *job)
{
	struct soft_queue *queue = job->queue;

	const uint32_t status = job->result.status;

	if (status != SALVO_STATUS_DONE && status != SALVO_STATUS_KILLED)
		salvo_soft_queue_ban_locked(queue, job);
	job->error = status != SALVO_STATUS_DONE ||
		     (queue->banned && job->hang.seqno >= queue->banned_from) ? -ECANCELED : 0;
	dev->public->completions++;
}

/* Retire the completed packets of a ring; appends their batches at @end, in order. */
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
		} else if (job->space == SOFT_SPACE_DETACHED) {
			salvo_soft_job_put_locked(dev, job);
		} else {
			job->space = SOFT_SPACE_RETIRED;
		}
	}
	*end = NULL;
	return end;
}

/* Signal the batches' fences and free their jobs. */
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

	/* Another batch may wait for a cancelled one: repeat. */
	do {
		cancelled = NULL;
		pthread_mutex_lock(&dev->lock);
		pushed = salvo_soft_run_held_locked(dev, &cancelled);
		pthread_mutex_unlock(&dev->lock);
		salvo_soft_ring_doorbells(dev, pushed);
		finish_jobs(dev, cancelled);
	} while (cancelled);
}

void salvo_soft_drain(struct soft_device *dev)
{
	unsigned int handled;
	int state;

	if (atomic_fetch_add(&dev->pending_interrupts, 1))
		return;
	/* A fence's eventfd is written here. */
	state = salvo_cancel_disable();
	do {
		handled = atomic_load(&dev->pending_interrupts);
		handle_interrupt(dev);
	} while (atomic_fetch_sub(&dev->pending_interrupts, handled) != handled);
	salvo_cancel_restore(state);
}

void salvo_soft_interrupt(void *cookie, unsigned int vector)
{
	struct soft_device *dev = cookie;

	__atomic_fetch_add(&dev->public->interrupts, 1, __ATOMIC_RELAXED);
	/* Other vectors do not signal fences; a fault is in its packet's result. */
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
	salvo_soft_free_jobs(dev);
}
