// SPDX-License-Identifier: MIT
/*
 * soft_queue.c - queues of the embedded GPU: submission, and jobs that are held for a wait
 *
 * The batch is validated and packed, by the code that the driver uses, into the packet buffer of
 * a job. Unless it must wait, the job is pushed to its ring (soft_ring.c): the GPU then reads
 * the packet in the submitting thread. A batch that has not changed since its last submission is
 * not validated again as long as no buffer was freed, and its packet is reused; commands with a
 * new grid are packed again.
 *
 * Waits: the GPU orders only the batches of one context, and only those that do not overlap. A
 * batch that waits for another fence is held until that fence is done, and so are all later
 * batches of its queue; the completion of the last fence pushes them. A batch is also held while
 * its ring is full.
 * Waits only order: the batch runs even if the one that it waited for has failed.
 *
 * All state is protected by the device's lock.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "salvo_pack.h"
#include "array.h"
#include "soft_device.h"

static int covers(void *cookie, __u64 address, __u64 size, __u32 access)
{
	struct soft_device *dev = cookie;
	const struct salvo_vram_range *range;
	uint64_t offset = address - dev->regs->va_base;

	if (salvo_soft_host_covers_locked(dev, address, size, access))
		return true;
	if (offset < dev->vram_bytes) {
		range = salvo_vram_find(&dev->vram, offset);
	} else {
		offset -= dev->vram_bytes;
		range = salvo_vram_find(&dev->window, offset);
	}
	return range && (range->access & access) == access &&
	       size <= range->bytes - (offset - range->offset);
}

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
	queue->ring = queue->priority > 0 ? SOFT_RING_HIGH : SOFT_RING_NORMAL;
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

	/* The count is the parent's, and a thread of it may have held the lock at fork(). */
	if (salvo_device_is_inherited(base->device)) {
		free(to_soft_queue(base));
		return;
	}
	pthread_mutex_lock(&dev->lock);
	dev->public->queues--;
	salvo_soft_queue_put_locked(to_soft_queue(base));
	pthread_mutex_unlock(&dev->lock);
}

/* Reference the fences that the order of the context does not cover; of all if it may overlap. */
static int job_take_waits(struct soft_job *job, const struct salvo_winsys_submit *submission,
			  uint32_t ctx)
{
	const bool ordered = !(submission->batch.flags & DRM_SALVO_SUBMIT_OVERLAP);
	unsigned int i;

	if (salvo_array_reserve(&job->waits, &job->wait_capacity, submission->wait_count,
				sizeof(*job->waits)))
		return -ENOMEM;
	for (i = 0; i < submission->wait_count; i++) {
		struct soft_fence *fence = to_soft_fence(submission->waits[i]);

		if ((ordered && fence->ctx == ctx) || salvo_soft_fence_is_done(fence))
			continue;
		salvo_fence_get(&fence->base);
		job->waits[job->wait_count++] = fence;
	}
	return 0;
}

/*
 * Pack the batch into the job. From the second submission on an unchanged batch keeps its packet,
 * and only its arguments are copied.
 */
static int pack(struct soft_queue *queue, const struct salvo_winsys_submit *submission, bool known,
		struct soft_job *job)
{
	const struct salvo_batch_desc *batch = &submission->batch;
	struct salvo_validated *kept = submission->validated;
	const uint32_t args = (batch->args_size + 63u) & ~63u;
	const struct salvo_packet_target target = {
		.asid = SOFT_ASID,
		.ctx = queue->ctx,
		.eu_mask = queue->eu_mask,
		.result = (uintptr_t)&job->result,
	};
	const bool fits = known && kept->bytes && kept->ctx == queue->ctx &&
			  kept->profile == batch->profile;
	uint8_t *packet;
	int err;

	/* The kept packet is outdated, even if there is no memory for a new one. */
	if (!fits)
		kept->bytes = 0;
	err = salvo_soft_job_reserve_packet(job, fits ? kept->bytes + args :
							salvo_pack_bytes(batch));
	if (err)
		return err;
	packet = job->packet;
	if (fits) {
		if (kept->end)
			salvo_pack_commands(batch, kept->first, kept->end, kept->packet);
		kept->end = 0;
		memcpy(packet, kept->packet, kept->bytes);
		((struct salvo_packet *)packet)->result = target.result;
		if (batch->args_size)
			memcpy(packet + kept->bytes, batch->args, batch->args_size);
		memset(packet + kept->bytes + batch->args_size, 0, args - batch->args_size);
		return 0;
	}
	salvo_pack_batch(batch, &target, packet);
	kept->end = 0;
	if (!known)
		return 0;
	if (job->packet_bytes - args > kept->capacity) {
		free(kept->packet);
		kept->capacity = 0;
		kept->packet = malloc(job->packet_bytes - args);
		if (!kept->packet)
			return 0;
		kept->capacity = job->packet_bytes - args;
	}
	kept->bytes = job->packet_bytes - args;
	kept->ctx = queue->ctx;
	kept->profile = batch->profile;
	memcpy(kept->packet, packet, kept->bytes);
	return 0;
}

/* Validate the batch and pack it into a job. */
static int job_create(struct soft_queue *queue, struct salvo_winsys_submit *submission,
		      struct soft_job **out)
{
	struct soft_device *dev = to_soft_device(queue->base.device);
	const struct salvo_space_view space = {
		.covers = covers,
		.cookie = dev,
		.units = dev->base.info.units,
		.eu_mask = queue->eu_mask,
		.contends = DRM_SALVO_DISPATCH_CONTENDS,
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
		job = salvo_soft_job_get_locked(dev);
		err = job ? 0 : -ENOMEM;
	}
	if (!err) {
		validated->epoch = dev->epoch;
		validated->eu_mask = queue->eu_mask;
	}
	pthread_mutex_unlock(&dev->lock);
	if (err)
		return err;

	err = pack(queue, submission, known, job);
	if (!err)
		err = job_take_waits(job, submission, queue->ctx);
	if (!err) {
		job->fence = salvo_soft_fence_create(dev, queue->ctx);
		err = job->fence ? 0 : -ENOMEM;
	}
	if (err) {
		pthread_mutex_lock(&dev->lock);
		salvo_soft_job_put_locked(dev, job);
		pthread_mutex_unlock(&dev->lock);
		return err;
	}
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

/* All its waits are done, and its ring has room. */
static bool may_start_locked(struct soft_device *dev, struct soft_job *job)
{
	return salvo_soft_job_is_ready(job) &&
	       salvo_soft_ring_has_room_locked(&dev->ring[job->queue->ring], SOFT_RING_BATCHES);
}

int salvo_soft_queue_submit(struct salvo_queue *base, struct salvo_winsys_submit *submission,
			    struct salvo_fence **out)
{
	struct soft_queue *queue = to_soft_queue(base);
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
	job->overlaps = submission->batch.flags & DRM_SALVO_SUBMIT_OVERLAP;
	queue->refs++;
	salvo_soft_job_account_locked(dev, job);
	held = queue->held || !may_start_locked(dev, job);
	if (held)
		hold_locked(dev, queue, job);
	else
		salvo_soft_ring_push_locked(dev, job);
	pthread_mutex_unlock(&dev->lock);
	if (!held)
		salvo_soft_ring_doorbells(dev, 1u << queue->ring);
	*out = &fence->base;
	return 0;
}

unsigned int salvo_soft_run_held_locked(struct soft_device *dev, struct soft_job **done)
{
	struct soft_queue **link = &dev->held_queues, *queue;
	unsigned int pushed = 0;

	while ((queue = *link)) {
		struct soft_job *job;

		while ((job = queue->held)) {
			if (!queue->banned && !may_start_locked(dev, job))
				break;
			queue->held = job->next;
			if (queue->banned) {
				salvo_soft_job_unaccount_locked(dev, job);
				job->error = -ECANCELED;
				job->next = *done;
				*done = job;
				continue;
			}
			salvo_soft_ring_push_locked(dev, job);
			pushed |= 1u << queue->ring;
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
