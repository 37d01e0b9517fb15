// SPDX-License-Identifier: MIT
/*
 * submission.c - submissions: from collecting to completion
 *
 * The commands of a queue are in submissions: a batch with any number of GPU commands, or one
 * command of the host. A submission is open while it collects or is held back, then it runs, then
 * it is done. It may run when it is wanted (by a flush, a wait, or because the GPU has nothing to
 * do), no event blocks it and its queue allows it: an in-order queue runs submissions in order,
 * where batches only wait until those before them are submitted, since the GPU runs them one after
 * another; an out-of-order queue only keeps barriers.
 *
 * Nobody watches a batch that runs, unless somebody depends on it on the host: who waits for the
 * fence or polls it finishes all submissions that are done. For those that a callback, a transfer
 * or another device depends on, the fence calls back.
 *
 * The context's lock protects all queues, submissions and events of a context. What the application
 * or others have written (callbacks, destructors) is called without it: callbacks by the worker,
 * references of finished submissions are dropped in salvo_cl_unlock().
 */
#include "submission.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dependence.h"
#include "failure.h"
#include "cl_memory.h"
#include "inherit.h"

cl_ulong salvo_cl_host_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* --- objects ---------------------------------------------------------------------- */

void salvo_cl_queue_examine(cl_command_queue queue)
{
	if (queue->is_ready)
		return;
	queue->is_ready = true;
	queue->next_ready = queue->context->ready;
	queue->context->ready = queue;
}

static struct salvo_cl_submission *allocate(cl_command_queue queue)
{
	struct salvo_cl_submission *submission = queue->spare;
	struct salvo_device *gpu = queue->context->gpus[queue->gpu];

	if (submission) {
		queue->spare = submission->next;
		return submission;
	}
	submission = calloc(1, sizeof(*submission));
	if (!submission || salvo_batch_create(gpu, &submission->batch)) {
		free(submission);
		return NULL;
	}
	if ((salvo_cl_queue_is_ordered(queue) && salvo_batch_enable_hazards(submission->batch)) ||
	    (queue->flags & CL_QUEUE_PROFILING_ENABLE &&
	     salvo_batch_enable_profile(submission->batch))) {
		salvo_batch_destroy(submission->batch);
		free(submission);
		return NULL;
	}
	return submission;
}

struct salvo_cl_submission *salvo_cl_submission_create(cl_command_queue queue)
{
	struct salvo_cl_submission *submission = allocate(queue);

	if (!submission)
		return NULL;
	salvo_cl_object_get(&queue->base);
	submission->queue = queue;
	submission->refs = 1;
	submission->serial = ++queue->context->serial;
	submission->next = NULL;
	submission->prev = queue->last;
	if (!queue->last)
		salvo_cl_queue_set_busy(queue);
	*(queue->last ? &queue->last->next : &queue->first) = submission;
	queue->last = submission;
	return submission;
}

struct salvo_cl_submission *salvo_cl_recording_create(cl_command_queue queue)
{
	struct salvo_cl_submission *recording = allocate(queue);

	if (!recording)
		return NULL;
	recording->queue = queue;
	recording->recording = true;
	pthread_mutex_lock(&queue->context->lock);
	recording->serial = ++queue->context->serial;
	pthread_mutex_unlock(&queue->context->lock);
	return recording;
}

void salvo_cl_recording_destroy(struct salvo_cl_submission *recording)
{
	unsigned int i;

	for (i = 0; i < recording->use_count; i++)
		salvo_cl_object_put(recording->uses[i].object);
	salvo_cl_submission_destroy(recording);
}

static void unlink_submission(struct salvo_cl_submission *submission)
{
	cl_command_queue queue = submission->queue;

	*(submission->prev ? &submission->prev->next : &queue->first) = submission->next;
	*(submission->next ? &submission->next->prev : &queue->last) = submission->prev;
	if (!queue->last)
		salvo_cl_queue_set_idle(queue);
}

void salvo_cl_submission_destroy(struct salvo_cl_submission *submission)
{
	salvo_batch_destroy(submission->batch);
	free(submission->waits);
	free(submission->dependences);
	free(submission->uses);
	free(submission);
}

void salvo_cl_submission_put(struct salvo_cl_submission *submission)
{
	cl_context context = submission->queue->context;

	if (--submission->refs)
		return;
	submission->next = context->finished;
	context->finished = submission;
}

/* Without the lock: what the references lead to may call the application. */
static void release(struct salvo_cl_submission *submission)
{
	cl_command_queue queue = submission->queue;
	cl_context context = queue->context;
	cl_event event, next;
	unsigned int i;

	for (i = 0; i < submission->use_count; i++)
		salvo_cl_object_put(submission->uses[i].object);
	for (event = submission->first_event; event; event = next) {
		next = event->next;
		salvo_cl_object_put(&event->base);
	}
	if (submission->host && submission->host->release)
		submission->host->release(submission->host);
	for (i = 0; i < submission->attempts && i < SALVO_CL_ATTEMPTS; i++)
		salvo_fence_destroy(submission->stale[i]);
	salvo_fence_destroy(submission->fence);
	salvo_batch_reset(submission->batch);
	free(submission->lost);
	*submission = (struct salvo_cl_submission){
		.batch = submission->batch,
		.waits = submission->waits, .wait_capacity = submission->wait_capacity,
		.dependences = submission->dependences,
		.dependence_capacity = submission->dependence_capacity,
		.uses = submission->uses, .use_capacity = submission->use_capacity,
	};
	pthread_mutex_lock(&context->lock);
	submission->next = queue->spare;
	queue->spare = submission;
	pthread_mutex_unlock(&context->lock);
	salvo_cl_object_put(&queue->base);
}

/* It accesses memory objects no more. */
static void end_uses(const struct salvo_cl_submission *submission)
{
	unsigned int i;

	for (i = 0; i < submission->use_count; i++)
		if (submission->uses[i].object->kind == SALVO_CL_MEM)
			atomic_fetch_sub_explicit(
				&((cl_mem)submission->uses[i].object)->root->pending, 1,
				memory_order_release);
}

void salvo_cl_submission_discard(struct salvo_cl_submission *submission)
{
	end_uses(submission);
	salvo_cl_dependence_clear(submission);
	unlink_submission(submission);
	salvo_cl_submission_put(submission);
}

int salvo_cl_submission_wait_for(struct salvo_cl_submission *submission,
				 struct salvo_cl_submission *producer)
{
	unsigned int i;

	for (i = 0; i < submission->wait_count; i++)
		if (submission->waits[i] == producer)
			return 0;
	if (salvo_cl_array_reserve(&submission->waits, &submission->wait_capacity,
				   submission->wait_count + 1, sizeof(*submission->waits)))
		return -ENOMEM;
	producer->refs++;
	submission->waits[submission->wait_count++] = producer;
	return 0;
}

/* --- the lock ----------------------------------------------------------------------- */

void salvo_cl_lock(cl_context context)
{
	pthread_mutex_lock(&context->lock);
	if (context->inherited)
		salvo_cl_inherit_adopt(context);
}

void salvo_cl_unlock(cl_context context)
{
	struct salvo_cl_submission *finished, *next;

	salvo_cl_run_ready(context);
	finished = context->finished;
	context->finished = NULL;
	pthread_mutex_unlock(&context->lock);
	for (; finished; finished = next) {
		next = finished->next;
		release(finished);
	}
}

void salvo_cl_sleep(cl_context context)
{
	salvo_cl_run_ready(context);
	context->sleepers++;
	pthread_cond_wait(&context->changed, &context->lock);
	context->sleepers--;
}

void salvo_cl_wake(cl_context context)
{
	if (context->sleepers)
		pthread_cond_broadcast(&context->changed);
}

/* --- running -------------------------------------------------------------------------- */

void salvo_cl_submission_finish(struct salvo_cl_submission *submission, cl_int status)
{
	cl_command_queue queue = submission->queue;
	unsigned int i;
	cl_event event;

	submission->state = SALVO_CL_DONE;
	if (status < 0)
		submission->error = status;
	unlink_submission(submission);
	end_uses(submission);
	for (i = 0; i < submission->wait_count; i++)
		salvo_cl_submission_put(submission->waits[i]);
	submission->wait_count = 0;
	salvo_cl_dependence_clear(submission);
	for (event = submission->first_event; event; event = event->next) {
		event->submission = NULL;
		salvo_cl_event_stamp(event);
		salvo_cl_event_change(event, event->judged ? event->result : status);
	}
	salvo_cl_queue_examine(queue);
	salvo_cl_wake(queue->context);
	salvo_cl_submission_put(submission);
}

/* A new GPU queue in place of one that is banned. */
static void replace_queue(cl_command_queue queue)
{
	struct salvo_queue *fresh;

	if (salvo_queue_create_priority(queue->context->gpus[queue->gpu], queue->device->eu_mask,
					queue->priority, &fresh))
		return;
	salvo_queue_destroy(queue->salvo);
	queue->salvo = fresh;
	queue->generation++;
}

static int submit_batch(struct salvo_cl_submission *submission)
{
	struct salvo_fence *fences[64] = { NULL }, **waits = fences;
	unsigned int i, count = 0;
	int err;

	if (submission->wait_count > 64)
		waits = malloc(submission->wait_count * sizeof(struct salvo_fence *));
	if (!waits)
		return -ENOMEM;
	for (i = 0; i < submission->wait_count; i++) {
		struct salvo_cl_submission *producer = submission->waits[i];

		if (!producer->fence || producer->state == SALVO_CL_DONE)
			continue;
		waits[count++] = producer->fence;
		producer->awaited = true;
	}
	err = salvo_queue_submit(submission->queue->salvo, submission->batch, waits, count,
				 &submission->fence);
	if (waits != fences)
		free(waits);
	return err;
}

static int migrate(const struct salvo_cl_submission *submission)
{
	cl_command_queue queue = submission->queue;
	const struct salvo_cl_use *use;
	unsigned int i;
	int err = 0;

	if (queue->context->gpu_count == 1)
		return 0;
	for (i = 0; !err && i < submission->use_count; i++) {
		use = &submission->uses[i];
		if (use->object->kind == SALVO_CL_MEM)
			err = salvo_cl_mem_migrate((cl_mem)use->object, queue->gpu, use->access);
	}
	return err;
}

/* The GPU has it, or has cancelled it. */
static bool is_on_gpu(const struct salvo_cl_submission *submission)
{
	return submission->state == SALVO_CL_RUNNING && submission->fence &&
	       !submission->completing;
}

/* Was one cancelled with a GPU queue before this one that has to run again before it does? */
static bool follows_cancelled(const struct salvo_cl_submission *submission)
{
	const bool ordered = salvo_cl_queue_is_ordered(submission->queue);
	const struct salvo_cl_submission *before = submission->prev;

	if (!ordered && !submission->dependence_count)
		return false;
	for (; before; before = before->prev) {
		if (is_on_gpu(before) && before->generation != submission->queue->generation)
			return true;
		if (ordered)
			break;
	}
	return false;
}

static void start_batch(struct salvo_cl_submission *submission)
{
	cl_command_queue queue = submission->queue;
	cl_event event;
	int err;

	if (queue->flags & CL_QUEUE_PROFILING_ENABLE)
		submission->submitted = salvo_cl_host_time();
	if (follows_cancelled(submission))
		salvo_cl_queue_retire(queue);
	err = migrate(submission);
	if (!err)
		err = submit_batch(submission);
	if (err == -EIO) {
		replace_queue(queue);
		/* Those that were cancelled with the old one are run again first. */
		if (salvo_cl_queue_is_ordered(queue) || submission->dependence_count)
			salvo_cl_queue_retire(queue);
		err = submit_batch(submission);
	}
	if (err) {
		salvo_cl_failure_rejected(submission, err);
		queue->failed = true;
		salvo_cl_submission_finish(submission, salvo_cl_error(err));
		return;
	}
	submission->state = SALVO_CL_RUNNING;
	submission->generation = queue->generation;
	for (event = submission->first_event; event; event = event->next)
		salvo_cl_event_change(event, CL_SUBMITTED);
	if (!atomic_load_explicit(&queue->base.external, memory_order_relaxed))
		salvo_cl_submission_watch(submission);
	salvo_cl_wake(queue->context);
}

static struct salvo_cl_submission *of_task(struct salvo_cl_task *task)
{
	return (void *)((char *)task - offsetof(struct salvo_cl_submission, task));
}

/* The lock is held. */
static void drop_task(struct salvo_cl_task *task)
{
	salvo_cl_submission_put(of_task(task));
}

static void run_task(struct salvo_cl_task *task)
{
	struct salvo_cl_submission *submission = of_task(task);
	cl_context context = submission->queue->context;

	salvo_cl_lock(context);
	salvo_cl_submission_run_host(submission);
	salvo_cl_submission_put(submission);
	salvo_cl_unlock(context);
}

cl_int salvo_cl_submission_run_host(struct salvo_cl_submission *submission)
{
	cl_command_queue queue = submission->queue;
	/* Its own, or that of a marker; more may come while it runs. */
	cl_event first = submission->first_event, event;
	cl_ulong started;
	cl_int status;

	submission->state = SALVO_CL_RUNNING;
	submission->refs++;
	for (event = first; event; event = event->next)
		salvo_cl_event_change(event, CL_RUNNING);
	pthread_mutex_unlock(&queue->context->lock);
	started = salvo_cl_host_time();
	status = submission->host->run(submission->host);
	pthread_mutex_lock(&queue->context->lock);
	if (first) {
		first->submitted = first->submitted ? first->submitted : started;
		first->started = started;
		first->ended = salvo_cl_host_time();
	}
	salvo_cl_submission_finish(submission, status);
	salvo_cl_submission_put(submission);
	return status;
}

/* A submission that records nothing is done when it may run. */
static bool is_empty(const struct salvo_cl_submission *submission)
{
	return !submission->host && !salvo_batch_count(submission->batch);
}

bool salvo_cl_submission_is_ready(const struct salvo_cl_submission *submission)
{
	const bool on_host = submission->host || is_empty(submission);
	const struct salvo_cl_submission *before = submission->prev;

	if (submission->blockers)
		return false;
	/* In order: all before the last one were submitted before it. */
	if (salvo_cl_queue_is_ordered(submission->queue))
		return !before || !(on_host || before->host || before->state == SALVO_CL_OPEN);
	for (; before; before = before->prev)
		if ((submission->after_all || before->before_all) &&
		    (on_host || before->host || before->state == SALVO_CL_OPEN))
			return false;
	return true;
}

/* Do all of its commands wait for what has failed? */
static bool is_cancelled(struct salvo_cl_submission *submission)
{
	bool all;

	salvo_cl_dependence_failed(submission, &all);
	free(submission->lost);
	submission->lost = NULL;
	return all;
}

static void start(struct salvo_cl_submission *submission)
{
	if (!submission->error && is_cancelled(submission))
		submission->error = SALVO_CL_CANCELLED;
	if (submission->error) {
		if (!submission->host)
			salvo_cl_failure_dropped(submission);
		salvo_cl_submission_finish(submission, submission->error);
	} else if (submission->host) {
		submission->state = SALVO_CL_RUNNING;
		submission->refs++;
		submission->task.run = run_task;
		submission->task.drop = drop_task;
		salvo_cl_worker_add(submission->queue->context->worker, &submission->task);
	} else if (is_empty(submission)) {
		salvo_cl_submission_finish(submission, CL_COMPLETE);
	} else {
		start_batch(submission);
	}
}

/* What is wanted on the host waits for those that run, so these must report. */
static void watch_before(struct salvo_cl_submission *submission)
{
	struct salvo_cl_submission *before;

	if (!submission->host && !is_empty(submission))
		return;
	for (before = submission->prev; before; before = before->prev)
		if (before->state == SALVO_CL_RUNNING && !before->host) {
			salvo_cl_submission_watch(before);
			if (salvo_cl_queue_is_ordered(submission->queue))
				return;
		}
}

/* The next one of a list that is gone through, while others are completed. */
static void hold(struct salvo_cl_submission *next)
{
	if (next)
		next->refs++;
}

/* Where to go on: with it, or at the beginning if it was completed, too. */
static struct salvo_cl_submission *let_go(cl_command_queue queue, struct salvo_cl_submission *next)
{
	if (!next)
		return NULL;
	if (next->state != SALVO_CL_DONE) {
		next->refs--;
		return next;
	}
	salvo_cl_submission_put(next);
	return queue->first;
}

static void run_ready_of(cl_command_queue queue)
{
	struct salvo_cl_submission *submission, *next;

	for (submission = queue->first; submission; submission = next) {
		next = submission->next;
		if (submission->state != SALVO_CL_OPEN || !submission->wanted)
			continue;
		if (!salvo_cl_submission_is_ready(submission)) {
			if (!submission->blocking)
				watch_before(submission);
			if (salvo_cl_queue_is_ordered(queue))
				return;
		} else if (!submission->blocking) {
			hold(next);
			start(submission);
			next = let_go(queue, next);
		} else {
			salvo_cl_wake(queue->context);
		}
	}
}

void salvo_cl_run_ready(cl_context context)
{
	cl_command_queue queue;

	while (context->ready) {
		queue = context->ready;
		context->ready = queue->next_ready;
		queue->is_ready = false;
		run_ready_of(queue);
	}
}

void salvo_cl_queue_flush(cl_command_queue queue)
{
	struct salvo_cl_submission *submission;

	queue->patience = SALVO_CL_PATIENCE;
	/* Once for each submission: a wait for many events flushes for each of them. */
	for (submission = queue->last; submission && submission->serial > queue->flushed;
	     submission = submission->prev) {
		if (submission->state != SALVO_CL_OPEN || submission->wanted)
			continue;
		submission->wanted = true;
		salvo_cl_queue_examine(queue);
	}
	queue->flushed = queue->context->serial;
	salvo_cl_run_ready(queue->context);
}

/* --- completion ------------------------------------------------------------------------- */

/* Was it cancelled because of another one, so that it may run again? */
static bool run_again(struct salvo_cl_submission *submission, const struct salvo_error *error)
{
	const bool watched = submission->watched;

	/*
	 * The kernel's driver does not say whether a batch ran before it was cancelled. Those that
	 * wait for its fence run once it is cancelled: they would not wait for another attempt.
	 */
	if (submission->awaited || error->error != -ECANCELED ||
	    error->kind != SALVO_ERROR_NONE || error->done ||
	    submission->attempts == SALVO_CL_ATTEMPTS ||
	    !salvo_cl_device_is_embedded(submission->queue->device))
		return false;
	/* Other threads may wait for the fence. */
	submission->stale[submission->attempts++] = submission->fence;
	submission->fence = NULL;
	submission->watched = false;
	start_batch(submission);
	if (watched)
		salvo_cl_submission_watch(submission);
	return true;
}

/* It was done before the other one's failure cancelled it. */
static bool was_done(const struct salvo_error *error)
{
	return error->kind == SALVO_ERROR_NONE && error->count && error->done >= error->count;
}

/* Complete one whose producers were, as far as they are done. */
static void complete_one(struct salvo_cl_submission *submission, int err)
{
	cl_command_queue queue = submission->queue;
	cl_int status = CL_COMPLETE;
	struct salvo_error error;
	bool failed, all;

	failed = salvo_cl_dependence_failed(submission, &all);
	if (err) {
		if (salvo_fence_get_error(submission->fence, &error))
			error = (struct salvo_error){ .error = err, .command = ~0u };
		if (submission->generation == queue->generation)
			replace_queue(queue);
		if (!all && run_again(submission, &error)) {
			free(submission->lost);
			submission->lost = NULL;
			return;
		}
		if (!was_done(&error) && (!all || error.kind != SALVO_ERROR_NONE)) {
			status = salvo_cl_failure_found(submission, &error, all);
			queue->failed = true;
		}
	}
	if (failed && status == CL_COMPLETE)
		status = salvo_cl_failure_inherited(submission);
	salvo_batch_print(submission->batch, 1);
	salvo_cl_event_times(submission);
	salvo_cl_submission_finish(submission, status);
}

/* How it ended on the GPU; -ETIME: not yet. */
static int get_end(const struct salvo_cl_submission *submission)
{
	/* On a GPU queue that is banned all are cancelled, and run again in their order. */
	return salvo_fence_wait(submission->fence,
				submission->generation == submission->queue->generation ? 0 : -1);
}

static void complete(struct salvo_cl_submission *submission, int err);

/* Complete it, if the GPU is done with it. Return: -ETIME if it is not. */
static int retire(struct salvo_cl_submission *submission)
{
	const int err = get_end(submission);

	if (err == -ETIME)
		return err;
	complete(submission, err);
	return 0;
}

/* All of the queue up to @last; NULL: all. */
static void retire_until(cl_command_queue queue, const struct salvo_cl_submission *last)
{
	struct salvo_cl_submission *submission, *next;

	for (submission = queue->first; submission && !(last && last->state == SALVO_CL_DONE);
	     submission = next) {
		next = submission == last ? NULL : submission->next;
		if (!is_on_gpu(submission))
			continue;
		hold(next);
		if (retire(submission) && salvo_cl_queue_is_ordered(queue)) {
			let_go(queue, next);
			return;
		}
		next = let_go(queue, next);
	}
}

static void begin(struct salvo_cl_submission *submission, struct salvo_cl_submission *consumer,
		  int err)
{
	submission->completing = true;
	submission->consumer = consumer;
	submission->producers_done = 0;
	submission->end = err;
}

/* One that has to be completed before it, is not in an in-order queue, and has begun; or NULL. */
static struct salvo_cl_submission *begin_producer(struct salvo_cl_submission *submission)
{
	struct salvo_cl_submission *producer;
	unsigned int i;
	int err;

	while (submission->producers_done < submission->wait_count + submission->dependence_count) {
		i = submission->producers_done++;
		producer = i < submission->wait_count ? submission->waits[i] :
			   salvo_cl_dependence_producer(submission, i - submission->wait_count);
		if (!is_on_gpu(producer))
			continue;
		if (salvo_cl_queue_is_ordered(producer->queue)) {
			retire_until(producer->queue, producer);
			continue;
		}
		err = get_end(producer);
		if (err == -ETIME)
			continue;
		begin(producer, submission, err);
		return producer;
	}
	return NULL;
}

/*
 * Those that it depends on come first, as far as they are done. A producer was submitted before its
 * consumer, and in an in-order queue so were all before it. So this ends, and does not come back to
 * a submission that is at it. In an out-of-order queue the producers can be a long chain, which is
 * followed without recursion; in-order queues are completed from their beginning.
 */
static void complete(struct salvo_cl_submission *submission, int err)
{
	struct salvo_cl_submission *next;

	for (begin(submission, NULL, err); submission; submission = next) {
		next = begin_producer(submission);
		if (next)
			continue;
		next = submission->consumer;
		submission->completing = false;
		complete_one(submission, submission->end);
	}
}

void salvo_cl_queue_retire(cl_command_queue queue)
{
	retire_until(queue, NULL);
}

static void fence_done(void *data, int error)
{
	struct salvo_cl_submission *submission = data;
	cl_context context = submission->queue->context;

	(void)error;
	salvo_cl_lock(context);
	salvo_cl_queue_retire(submission->queue);
	salvo_cl_submission_put(submission);
	salvo_cl_unlock(context);
}

void salvo_cl_submission_watch(struct salvo_cl_submission *submission)
{
	if (submission->watched || submission->state != SALVO_CL_RUNNING || submission->host)
		return;
	submission->watched = true;
	submission->refs++;
	if (salvo_fence_set_callback(submission->fence, fence_done, submission)) {
		submission->watched = false;
		submission->refs--;
	}
}

void salvo_cl_queue_wait(struct salvo_cl_submission *submission)
{
	cl_context context = submission->queue->context;
	struct salvo_fence *fence;

	if (submission->state == SALVO_CL_RUNNING && !submission->host) {
		fence = submission->fence;
		submission->refs++;
		/* Others have to go on meanwhile. */
		salvo_cl_run_ready(context);
		pthread_mutex_unlock(&context->lock);
		salvo_fence_wait(fence, -1);
		pthread_mutex_lock(&context->lock);
		salvo_cl_queue_retire(submission->queue);
		salvo_cl_run_ready(context);
		salvo_cl_submission_put(submission);
	} else if (submission->state != SALVO_CL_DONE) {
		salvo_cl_sleep(context);
	}
}
