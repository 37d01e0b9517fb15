// SPDX-License-Identifier: MIT
/*
 * queue.c - queues: hand a batch to the GPU
 *
 * Batches of one queue run one after another. The back end copies the batch into its packet
 * before it returns, so the batch can be reused at once. Each queue is a timeline: its batches
 * are numbered from 1, and complete in this order.
 */
#include "queue.h"

#include <errno.h>
#include <stdlib.h>

#include "batch.h"
#include "cancel.h"
#include "deadline.h"
#include "deferred.h"
#include "device.h"
#include "fence.h"
#include "observer.h"
#include "overlap.h"
#include "winsys.h"

static int covers_any(void *cookie, __u64 address, __u64 size, __u32 access)
{
	(void)cookie;
	(void)address;
	(void)size;
	(void)access;
	return 1;
}

/* The kernel only returns an errno; the same validation here finds the field. */
static void explain(const struct salvo_device *device, struct salvo_winsys_submit *submission)
{
	const struct salvo_space_view space = {
		.covers = covers_any,
		.units = device->info.units,
		.contends = device->contends ? DRM_SALVO_DISPATCH_CONTENDS : 0,
	};

	if (!salvo_validate_batch(&submission->batch, &space, &submission->why))
		submission->why.field = NULL;
}

int salvo_queue_create(struct salvo_device *device, uint64_t eu_mask, struct salvo_queue **out)
{
	return salvo_queue_create_priority(device, eu_mask, SALVO_QUEUE_NORMAL, out);
}

int salvo_queue_create_priority(struct salvo_device *device, uint64_t eu_mask, int priority,
				struct salvo_queue **out)
{
	const struct salvo_queue_config config = { .eu_mask = eu_mask, .priority = priority };

	*out = NULL;
	if (device->info.units < 64 && eu_mask >> device->info.units)
		return -EINVAL;
	if (priority < SALVO_QUEUE_LOW || priority > SALVO_QUEUE_HIGH)
		return -EINVAL;
	if (salvo_device_is_inherited(device))
		return -ENODEV;
	return device->winsys->queue_create(device, &config, out);
}

void salvo_queue_destroy(struct salvo_queue *queue)
{
	if (!queue)
		return;
	salvo_flight_fini(&queue->flight);
	salvo_overlap_destroy(queue->overlap);
	queue->device->winsys->queue_destroy(queue);
}

int salvo_queue_capture(struct salvo_queue *queue, struct salvo_batch *batch)
{
	if (batch && (queue->capture || batch->device != queue->device))
		return salvo_batch_fail(batch, -EINVAL,
					queue->capture ? "capture: the queue is already captured" :
							 "capture: the batch is of another device");
	queue->capture = batch;
	return 0;
}

/* A captured submission may wait for what comes before it in @into, or is done. */
static int check_captured_waits(const struct salvo_batch *into, struct salvo_batch *batch,
				struct salvo_fence *const *waits, unsigned int wait_count)
{
	unsigned int i;

	for (i = 0; i < wait_count; i++)
		if (!salvo_deferred_is_of(waits[i], into) && !salvo_fence_is_done(waits[i]))
			return salvo_batch_fail(batch, -EINVAL,
						"capture: waits[%u] is neither done nor of a submission that was captured before",
						i);
	return 0;
}

/* Batches of a queue run one after another, hence the barrier between them. */
static int capture(struct salvo_queue *queue, struct salvo_batch *batch,
		   struct salvo_fence *const *waits, unsigned int wait_count,
		   struct salvo_fence **out)
{
	struct salvo_batch *into = queue->capture;
	struct salvo_fence *fence = NULL;
	int err;

	err = check_captured_waits(into, batch, waits, wait_count);
	if (err)
		return err;
	if (!batch->count)
		return salvo_batch_fail(batch, -EINVAL, "the batch is empty");
	if (into->count && !into->tracked) {
		err = salvo_batch_barrier(into);
		if (err < 0)
			return salvo_batch_fail(batch, err, "capture: %s", into->error);
	}
	if (out) {
		fence = salvo_deferred_create(queue->device);
		if (!fence)
			return salvo_batch_fail(batch, -ENOMEM, "out of memory");
	}
	err = salvo_batch_append(into, batch);
	if (err < 0) {
		salvo_fence_put(fence);
		return salvo_batch_fail(batch, err, "capture: %s", into->error);
	}
	if (out) {
		salvo_deferred_attach(fence, into, err, into->count - err);
		*out = fence;
	}
	return 0;
}

static int check_waits(const struct salvo_queue *queue, struct salvo_batch *batch,
		       struct salvo_fence *const *waits, unsigned int wait_count)
{
	unsigned int i;

	if (batch->device != queue->device)
		return salvo_batch_fail(batch, -EINVAL, "the batch is of another device");
	if (wait_count && !waits)
		return salvo_batch_fail(batch, -EINVAL, "waits is NULL, wait_count is %u", wait_count);
	for (i = 0; i < wait_count; i++)
		if (!waits[i] || waits[i]->device != queue->device)
			return salvo_batch_fail(batch, -EINVAL,
						"waits[%u] is not a fence of this device", i);
	return 0;
}

/* Which batch of the queue has failed, and how. */
static int fail_banned(struct salvo_queue *queue, struct salvo_batch *batch)
{
	struct salvo_error error;
	const char *label;

	/* This finds it if it is not known yet. */
	salvo_flight_is_busy(&queue->flight);
	if (!queue->flight.failed || salvo_fence_get_error(queue->flight.failed, &error))
		return salvo_batch_fail(batch, -EIO, "submit: the queue is banned");
	label = salvo_fence_get_label(queue->flight.failed, error.command);
	return salvo_batch_fail(batch, -EIO,
				"submit: the queue is banned since its batch %llu failed: command %u%s%.40s%s, kernel %.40s: %s",
				(unsigned long long)queue->flight.failed->value, error.command,
				label ? " (" : "", label ? label : "", label ? ")" : "",
				error.kernel ? error.kernel : "none",
				salvo_error_name(error.kind));
}

/* Replace deferred fences by those behind them. @out: As many as there are @waits. */
static int resolve_waits(struct salvo_batch *batch, struct salvo_winsys_submit *submission,
			 struct salvo_fence **out)
{
	struct salvo_fence *const *waits = submission->waits;
	const unsigned int wait_count = submission->wait_count;
	struct salvo_fence *wait;
	unsigned int i;

	submission->waits = out;
	submission->wait_count = 0;
	for (i = 0; i < wait_count; i++) {
		wait = waits[i];
		if (salvo_fence_is_deferred(wait) && salvo_deferred_target(wait, &wait))
			return salvo_batch_fail(batch, -EBUSY,
						"waits[%u] is of a captured submission whose batch has not been submitted",
						i);
		if (wait)
			out[submission->wait_count++] = wait;
	}
	return 0;
}

static int submit_waiting(struct salvo_queue *queue, struct salvo_batch *batch,
			  struct salvo_winsys_submit *submission, struct salvo_fence **out)
{
	struct salvo_fence **resolved = NULL;
	unsigned int i;
	int err = 0;

	for (i = 0; i < submission->wait_count; i++)
		if (salvo_fence_is_deferred(submission->waits[i]))
			break;
	if (i < submission->wait_count) {
		resolved = calloc(submission->wait_count, sizeof(*resolved));
		err = resolved ? resolve_waits(batch, submission, resolved) : -ENOMEM;
	}
	if (!err)
		err = queue->device->winsys->queue_submit(queue, submission, out);
	free(resolved);
	return err;
}

static int submit(struct salvo_queue *queue, struct salvo_batch *batch,
		  struct salvo_fence *const *waits, unsigned int wait_count,
		  struct salvo_fence **out)
{
	struct salvo_winsys_submit submission = {
		.waits = waits,
		.wait_count = wait_count,
		.validated = &batch->validated,
	};
	struct salvo_observer *observer = queue->device->observer;
	struct salvo_batch_desc alone;
	struct salvo_fence *fence;
	void *cookie = NULL;
	int err;

	if (salvo_device_is_inherited(queue->device))
		return salvo_batch_fail(batch, -ENODEV,
					"submit: the device was opened before fork(), in the parent");
	err = check_waits(queue, batch, waits, wait_count);
	if (err)
		return err;
	if (queue->capture)
		return capture(queue, batch, waits, wait_count, out);
	err = salvo_batch_finish(batch, queue->overlap, &submission.batch);
	if (err)
		return err;
	if (salvo_flight_reserve(&queue->flight))
		return salvo_batch_fail(batch, -ENOMEM, "out of memory");

	if (observer) {
		/* It sees the batch alone. */
		alone = submission.batch;
		alone.count -= batch->links;
		cookie = observer->ops->submit_begin(observer, &alone, batch->labels);
	}
	err = submit_waiting(queue, batch, &submission, &fence);
	if (cookie)
		observer->ops->submit_end(observer, cookie, err ? NULL : fence);
	if (err) {
		if (err == -EIO)
			return fail_banned(queue, batch);
		if (err == -EBUSY)
			return err;
		if ((err == -EINVAL || err == -E2BIG) && !submission.why.field)
			explain(queue->device, &submission);
		return salvo_batch_reject(batch, err, &submission.why);
	}
	if (queue->overlap)
		salvo_overlap_submitted(queue->overlap, batch);
	fence->value = ++queue->value;
	salvo_batch_submitted(batch, &submission.batch, fence);
	salvo_flight_add(&queue->flight, fence);
	if (out)
		*out = fence;
	else
		salvo_fence_put(fence);
	return 0;
}

int salvo_queue_submit(struct salvo_queue *queue, struct salvo_batch *batch,
		       struct salvo_fence *const *waits, unsigned int wait_count,
		       struct salvo_fence **out)
{
	const int state = salvo_cancel_disable();
	int err;

	if (out)
		*out = NULL;
	err = submit(queue, batch, waits, wait_count, out);
	salvo_cancel_restore(state);
	return err;
}

/* --- the timeline ----------------------------------------------------------- */

uint64_t salvo_queue_submitted(const struct salvo_queue *queue)
{
	return queue->value;
}

uint64_t salvo_queue_completed(struct salvo_queue *queue)
{
	/* They complete in order: all before the first one in flight are done. */
	if (!salvo_flight_is_busy(&queue->flight))
		return queue->value;
	return queue->flight.fences[0]->value - 1;
}

int salvo_queue_wait(struct salvo_queue *queue, uint64_t value, int64_t timeout_ns)
{
	const int64_t deadline = salvo_deadline_ns(timeout_ns);
	struct salvo_flight *flight = &queue->flight;
	unsigned int i;

	if (value > queue->value)
		return -EINVAL;
	value = value ? value : queue->value;
	for (i = 0; i < flight->count && flight->fences[i]->value <= value; i++)
		;
	/* The last one first: then the others are done, too, unless the queue was banned. */
	while (i--)
		if (salvo_fence_wait(flight->fences[i], salvo_remaining_ns(deadline)) == -ETIME)
			return -ETIME;
	return 0;
}
