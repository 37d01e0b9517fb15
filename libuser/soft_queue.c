// SPDX-License-Identifier: MIT
/*
 * soft_queue.c - bring batches to the embedded GPU's ring, and back
 *
 * Submission: the batch is validated and packed, by the code that the driver uses,
 * into the packet buffer of a job. If nothing holds it, the job's entry is written
 * to the ring, the tail is moved and the doorbell rung: the GPU then reads the
 * packet in our thread. Doorbells are rung without the lock, since the GPU may call
 * back from there.
 *
 * Completion (B11 of CN105940388): the interrupt handler compares the ring's fence
 * with the last one it saw and runs one deferred completion for each batch that has
 * ended, which signals the batch's fence. Interrupts may come from any
 * thread at once, and from inside a doorbell: the one who raises
 * pending_interrupts from 0 handles them all, the others return at once.
 *
 * Waits: the GPU orders only the batches of one context. A batch that waits for a
 * fence of another queue is held here until that fence is done, and so are all
 * later batches of its queue; the completion that fulfils the last wait puts them
 * into the ring. A batch also stays here while the ring is full. A wait is
 * for order alone: the batch runs even if the one it waited for has failed.
 *
 * A batch that faults, or that the GPU refuses, bans its queue: later submissions
 * get -EIO, and batches that had been submitted behind it end with -ECANCELED,
 * whether they ran or not.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/salvo_pack.h"
#include "soft.h"

static int covers(void *cookie, __u64 address, __u64 size, __u32 access)
{
	struct soft_device *dev = cookie;
	const struct salvo_vram_range *range;
	uint64_t offset = address - dev->regs->va_base;

	range = salvo_vram_find(&dev->vram, offset);
	return range && (range->access & access) == access &&
	       size <= range->bytes - (offset - range->offset);
}

/* --- jobs ------------------------------------------------------------------- */

static struct soft_job *job_get_locked(struct soft_device *dev)
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

static int job_reserve_packet(struct soft_job *job, uint32_t bytes)
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
	memset(&job->result, 0, sizeof(job->result));
	return 0;
}

/* Take references on the fences that the ring's order does not take care of. */
static int job_take_waits(struct soft_job *job, const struct salvo_submission *submission,
			  uint32_t ctx)
{
	struct soft_fence **waits;
	unsigned int i;

	if (submission->wait_count > job->wait_capacity) {
		waits = realloc(job->waits, submission->wait_count * sizeof(*waits));
		if (!waits)
			return -ENOMEM;
		job->waits = waits;
		job->wait_capacity = submission->wait_count;
	}
	for (i = 0; i < submission->wait_count; i++) {
		struct soft_fence *fence = (struct soft_fence *)submission->waits[i];

		if (fence->ctx == ctx || salvo_soft_fence_is_done(fence))
			continue;
		salvo_fence_get(&fence->base);
		job->waits[job->wait_count++] = fence;
	}
	return 0;
}

/* Forget the waits that are done. Return: may the job run? */
static bool job_is_ready(struct soft_job *job)
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

static void queue_put_locked(struct soft_queue *queue)
{
	if (queue && !--queue->refs)
		free(queue);
}

/* From here on buffers that are destroyed wait for the job. */
static void job_account_locked(struct soft_device *dev, struct soft_job *job)
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

static void job_unaccount_locked(struct soft_device *dev, struct soft_job *job)
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
static void job_put_locked(struct soft_device *dev, struct soft_job *job)
{
	job_drop_waits(job);
	queue_put_locked(job->queue);
	job->queue = NULL;
	job->fence = NULL;
	job->next = dev->free_jobs;
	dev->free_jobs = job;
}

/* --- the ring --------------------------------------------------------------- */

static bool ring_has_room_locked(const struct soft_device *dev, uint64_t most)
{
	return dev->seqno - dev->retired < most;
}

/* The caller rings the doorbell when it has let go of the lock. */
static void ring_push_locked(struct soft_device *dev, struct soft_job *job)
{
	const uint64_t seqno = ++dev->seqno;
	struct salvo_ring_entry *entry = &dev->ring[(seqno - 1) % SOFT_RING_ENTRIES];

	dev->slots[(seqno - 1) % SOFT_RING_ENTRIES] = job;
	salvo_pack_set_fence(job->packet, seqno);
	memset(entry, 0, sizeof(*entry));
	entry->packet = (uintptr_t)job->packet;
	entry->packet_bytes = job->packet_bytes;
	entry->seqno = seqno;
	entry->asid = SOFT_ASID;
	/* Many space packets in a row must wake the jobs that are held for lack of room. */
	if (job->queue || seqno - dev->retired > SOFT_RING_BATCHES / 2)
		entry->flags = SALVO_RING_IRQ;
	if (job->queue) {
		entry->ctx = job->queue->ctx;
		entry->eu_mask = job->queue->eu_mask;
		entry->priority = job->queue->priority;
	}
	dev->public->packets++;
	/* The entry before the tail. */
	__atomic_store_n(&dev->regs->ring[0].tail, seqno, __ATOMIC_RELEASE);
}

static void ring_doorbell(struct soft_device *dev)
{
	__atomic_fetch_add(&dev->public->doorbells, 1, __ATOMIC_RELAXED);
	salvo_gpu_doorbell(dev->gpu, SALVO_DOORBELL_RING(0));
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

/* Take the packets off the ring that have ended; returns the batches among them, in order. */
static struct soft_job *retire_locked(struct soft_device *dev)
{
	struct soft_job *done = NULL, **end = &done;
	uint64_t fence = __atomic_load_n(&dev->regs->ring[0].fence, __ATOMIC_ACQUIRE);

	if (fence > dev->seqno)
		fence = dev->seqno;
	while (dev->retired < fence) {
		struct soft_job *job = dev->slots[dev->retired++ % SOFT_RING_ENTRIES];

		job_unaccount_locked(dev, job);
		if (job->queue) {
			complete_locked(dev, job);
			*end = job;
			end = &job->next;
		} else if (job->space == SOFT_SPACE_LEFT) {
			job_put_locked(dev, job);
		} else {
			job->space = SOFT_SPACE_RETIRED;
		}
	}
	*end = NULL;
	return done;
}

/* Bring held jobs on their way. Jobs of banned queues are added to @done. */
static bool run_held_locked(struct soft_device *dev, struct soft_job **done)
{
	struct soft_queue **link = &dev->held_queues, *queue;
	bool pushed = false;

	while ((queue = *link)) {
		struct soft_job *job;

		while ((job = queue->held)) {
			if (!queue->banned &&
			    (!job_is_ready(job) || !ring_has_room_locked(dev, SOFT_RING_BATCHES)))
				break;
			queue->held = job->next;
			if (queue->banned) {
				job_unaccount_locked(dev, job);
				job->error = -ECANCELED;
				job->next = *done;
				*done = job;
				continue;
			}
			ring_push_locked(dev, job);
			pushed = true;
		}
		if (queue->held) {
			link = &queue->next_held;
		} else {
			queue->held_end = &queue->held;
			*link = queue->next_held;
		}
	}
	return pushed;
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
		salvo_soft_fence_signal(job->fence, job->error);
		salvo_soft_fence_put(job->fence);
	}
	pthread_mutex_lock(&dev->lock);
	while ((job = done)) {
		done = job->next;
		job_put_locked(dev, job);
	}
	pthread_mutex_unlock(&dev->lock);
}

static void handle_interrupt(struct soft_device *dev)
{
	struct soft_job *done, *cancelled;
	bool pushed;

	pthread_mutex_lock(&dev->lock);
	done = retire_locked(dev);
	pthread_mutex_unlock(&dev->lock);
	finish_jobs(dev, done);

	/* A cancelled batch may be what another one waits for: look again. */
	do {
		cancelled = NULL;
		pthread_mutex_lock(&dev->lock);
		pushed = run_held_locked(dev, &cancelled);
		pthread_mutex_unlock(&dev->lock);
		if (pushed)
			ring_doorbell(dev);
		finish_jobs(dev, cancelled);
	} while (cancelled);
}

/* Handle an interrupt, here or in the thread that is at it. */
static void drain(struct soft_device *dev)
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
		drain(dev);
}

void salvo_soft_kick(struct soft_device *dev)
{
	drain(dev);
}

void salvo_soft_give_up(struct soft_device *dev)
{
	struct soft_job *job;

	while ((job = dev->oldest)) {
		job_unaccount_locked(dev, job);
		if (job->fence) {
			salvo_soft_fence_signal(job->fence, -ENODEV);
			salvo_soft_fence_put(job->fence);
		}
		job_put_locked(dev, job);
	}
	while ((job = dev->free_jobs)) {
		dev->free_jobs = job->next;
		job_free(job);
	}
}

/* --- submission ------------------------------------------------------------- */

int salvo_soft_queue_create(struct salvo_device *device, const struct salvo_queue_config *config,
			    struct salvo_queue **out)
{
	struct soft_device *dev = to_soft_device(device);
	struct soft_queue *queue = calloc(1, sizeof(*queue));

	if (!queue)
		return -ENOMEM;
	queue->base.device = device;
	queue->refs = 1;
	queue->eu_mask = config->eu_mask;
	queue->priority = config->priority;
	queue->held_end = &queue->held;
	pthread_mutex_lock(&dev->lock);
	queue->ctx = ++dev->contexts;
	dev->public->queues++;
	pthread_mutex_unlock(&dev->lock);
	*out = &queue->base;
	return 0;
}

void salvo_soft_queue_destroy(struct salvo_queue *base)
{
	struct soft_device *dev = to_soft_device(base->device);

	pthread_mutex_lock(&dev->lock);
	dev->public->queues--;
	queue_put_locked((struct soft_queue *)base);
	pthread_mutex_unlock(&dev->lock);
}

/* Validate the batch and pack it into a job. */
static int job_create(struct soft_queue *queue, struct salvo_submission *submission,
		      struct soft_job **out)
{
	struct soft_device *dev = to_soft_device(queue->base.device);
	const struct salvo_space_view space = {
		.covers = covers,
		.cookie = dev,
		.units = dev->base.info.units,
		.eu_mask = queue->eu_mask,
	};
	struct salvo_packet_target target = {
		.asid = SOFT_ASID,
		.ctx = queue->ctx,
		.eu_mask = queue->eu_mask,
	};
	struct salvo_validated *validated = submission->validated;
	struct soft_job *job = NULL;
	bool known;
	int err;

	pthread_mutex_lock(&dev->lock);
	err = queue->banned ? -EIO : 0;
	known = validated->epoch == dev->epoch && validated->eu_mask == queue->eu_mask;
	if (!err && !known)
		err = salvo_validate_batch(&submission->batch, &space, &submission->why);
	if (!err) {
		*validated = (struct salvo_validated){ dev->epoch, queue->eu_mask };
		job = job_get_locked(dev);
		err = job ? 0 : -ENOMEM;
	}
	pthread_mutex_unlock(&dev->lock);
	if (err)
		return err;

	err = job_reserve_packet(job, salvo_pack_bytes(&submission->batch));
	if (!err)
		err = job_take_waits(job, submission, queue->ctx);
	if (!err) {
		job->fence = salvo_soft_fence_create(dev, queue->ctx);
		err = job->fence ? 0 : -ENOMEM;
	}
	if (err) {
		pthread_mutex_lock(&dev->lock);
		job_put_locked(dev, job);
		pthread_mutex_unlock(&dev->lock);
		return err;
	}
	target.result = (uintptr_t)&job->result;
	salvo_pack_batch(&submission->batch, &target, job->packet);
	*out = job;
	return 0;
}

static void hold_locked(struct soft_device *dev, struct soft_queue *queue, struct soft_job *job)
{
	if (!queue->held) {
		queue->next_held = dev->held_queues;
		dev->held_queues = queue;
	}
	job->next = NULL;
	*queue->held_end = job;
	queue->held_end = &job->next;
}

int salvo_soft_queue_submit(struct salvo_queue *base, struct salvo_submission *submission,
			    struct salvo_fence **out)
{
	struct soft_queue *queue = (struct soft_queue *)base;
	struct soft_device *dev = to_soft_device(base->device);
	struct soft_fence *fence;
	struct soft_job *job;
	bool held;
	int err;

	err = job_create(queue, submission, &job);
	if (err)
		return err;
	fence = job->fence;
	salvo_fence_get(&fence->base);

	pthread_mutex_lock(&dev->lock);
	job->queue = queue;
	queue->refs++;
	job_account_locked(dev, job);
	held = queue->held || !job_is_ready(job) || !ring_has_room_locked(dev, SOFT_RING_BATCHES);
	if (held)
		hold_locked(dev, queue, job);
	else
		ring_push_locked(dev, job);
	pthread_mutex_unlock(&dev->lock);
	if (!held)
		ring_doorbell(dev);
	*out = &fence->base;
	return 0;
}

int salvo_soft_space_packet(struct soft_device *dev, uint16_t code, uint64_t address, uint64_t size,
			    uint32_t access)
{
	struct soft_job *job;
	int err;

	pthread_mutex_lock(&dev->lock);
	job = job_get_locked(dev);
	pthread_mutex_unlock(&dev->lock);
	if (!job)
		return -ENOMEM;
	err = job_reserve_packet(job, SALVO_PACK_SPACE_BYTES);
	if (!err)
		salvo_pack_space(code, address, size, access, (uintptr_t)&job->result, job->packet);

	pthread_mutex_lock(&dev->lock);
	if (err) {
		job_put_locked(dev, job);
		pthread_mutex_unlock(&dev->lock);
		return err;
	}
	while (!ring_has_room_locked(dev, SOFT_RING_ENTRIES)) {
		pthread_mutex_unlock(&dev->lock);
		usleep(100);
		drain(dev);
		pthread_mutex_lock(&dev->lock);
	}
	job->space = SOFT_SPACE_LOOKED_AT;
	job_account_locked(dev, job);
	ring_push_locked(dev, job);
	pthread_mutex_unlock(&dev->lock);
	ring_doorbell(dev);
	drain(dev);

	/*
	 * The GPU carries the packet out when it reads it, but tells how when all before
	 * it has ended. Behind a batch we do not wait for that: packets hardly ever fail,
	 * and a batch that names memory which is not bound is refused.
	 */
	pthread_mutex_lock(&dev->lock);
	if (job->space == SOFT_SPACE_RETIRED) {
		if (job->result.status != SALVO_STATUS_DONE)
			err = -ENOSPC;
		job_put_locked(dev, job);
	} else {
		job->space = SOFT_SPACE_LEFT;
	}
	pthread_mutex_unlock(&dev->lock);
	return err;
}
