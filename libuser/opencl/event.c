// SPDX-License-Identifier: MIT
/*
 * event.c - events: status, callbacks, who waits for them, user events, times
 *
 * An event belongs to a submission until that is done. Its status only falls: CL_QUEUED,
 * CL_SUBMITTED, CL_RUNNING, CL_COMPLETE, or a negative code. Each step hands the callbacks that
 * were registered for it to the context's worker, and counts down the blockers of the submissions
 * that wait for it. The context's lock protects all of it.
 */
#include <errno.h>
#include <stdlib.h>

#include "failure.h"
#include "icd.h"
#include "submission.h"

struct salvo_cl_callback {
	struct salvo_cl_task task;
	struct salvo_cl_callback *next;
	cl_event event;
	cl_int type;
	cl_int status;
	void (CL_CALLBACK *function)(cl_event event, cl_int status, void *data);
	void *data;
};

static void destroy(struct salvo_cl_object *object)
{
	cl_event event = (cl_event)object;
	struct salvo_cl_callback *callback;
	struct salvo_cl_waiter *waiter;

	while ((callback = event->callbacks)) {
		event->callbacks = callback->next;
		free(callback);
	}
	while ((waiter = event->waiters)) {
		event->waiters = waiter->next;
		free(waiter);
	}
	if (event->queue)
		salvo_cl_object_put(&event->queue->base);
	else
		salvo_cl_object_put(&event->context->base);
	free(event);
}

cl_event salvo_cl_event_create(cl_command_queue queue, cl_command_type type,
			       struct salvo_cl_submission *submission)
{
	cl_event event = calloc(1, sizeof(*event));

	if (!event)
		return NULL;
	salvo_cl_object_init(&event->base, SALVO_CL_EVENT, destroy);
	event->queue = queue;
	event->context = queue->context;
	salvo_cl_object_get(&queue->base);
	event->type = type;
	event->status = CL_QUEUED;
	if (queue->flags & CL_QUEUE_PROFILING_ENABLE)
		event->queued = salvo_cl_host_time();
	if (!submission)
		return event;
	salvo_cl_object_get(&event->base);
	event->submission = submission;
	if (submission->last_event)
		submission->last_event->next = event;
	else
		submission->first_event = event;
	submission->last_event = event;
	return event;
}

/* --- steps -------------------------------------------------------------------------- */

static void drop_callback(struct salvo_cl_task *task)
{
	struct salvo_cl_callback *callback = (struct salvo_cl_callback *)task;

	salvo_cl_object_put(&callback->event->base);
	free(callback);
}

static void run_callback(struct salvo_cl_task *task)
{
	struct salvo_cl_callback *callback = (struct salvo_cl_callback *)task;

	callback->function(callback->event, callback->status, callback->data);
	drop_callback(task);
}

/* Those that are due, in the order in which they were registered. */
static void call_back(cl_event event)
{
	struct salvo_cl_callback **link = &event->callbacks, *callback;

	while ((callback = *link)) {
		if (callback->type < event->status) {
			link = &callback->next;
			continue;
		}
		*link = callback->next;
		callback->status = event->status < 0 ? event->status : callback->type;
		salvo_cl_worker_add(event->context->worker, &callback->task);
	}
}

/* May a batch that waits for it be submitted, or only when it is done? */
static void count_down(cl_event event)
{
	struct salvo_cl_waiter **link = &event->waiters, *waiter;
	const bool done = event->status <= CL_COMPLETE;

	while ((waiter = *link)) {
		struct salvo_cl_submission *submission = waiter->submission;

		if (waiter->done && !done) {
			link = &waiter->next;
			continue;
		}
		*link = waiter->next;
		free(waiter);
		if (event->status < 0)
			submission->error = SALVO_CL_CANCELLED;
		else if (!done && event->queue != submission->queue &&
			 salvo_cl_submission_wait_for(submission, event->submission))
			submission->error = CL_OUT_OF_HOST_MEMORY;
		if (!--submission->blockers)
			salvo_cl_queue_examine(submission->queue);
	}
}

void salvo_cl_event_change(cl_event event, cl_int status)
{
	struct salvo_cl_waiter *waiter;

	/* salvo_cl_command_is_ready() reads it without the lock. */
	__atomic_store_n(&event->status, status, __ATOMIC_RELEASE);
	if (event->callbacks)
		call_back(event);
	/* Only commands of the GPU have waiters for less than completion: for the submission. */
	if (event->waiters && (status <= CL_COMPLETE ||
			       (status < CL_QUEUED && event->submission &&
				!event->submission->host)))
		count_down(event);
	if (status <= CL_COMPLETE || !event->submission)
		return;
	/* What is left needs its completion, and no thread may be waiting for it. */
	waiter = event->waiters;
	if (waiter || event->callbacks)
		salvo_cl_submission_watch(event->submission);
}

int salvo_cl_event_add_waiter(cl_event event, struct salvo_cl_submission *submission, bool done)
{
	struct salvo_cl_waiter *waiter = malloc(sizeof(*waiter));

	if (!waiter)
		return -ENOMEM;
	/* The application may release the event before it is complete. */
	if (salvo_cl_submission_use(submission, &event->base, 0)) {
		free(waiter);
		return -ENOMEM;
	}
	*waiter = (struct salvo_cl_waiter){ event->waiters, submission, done };
	event->waiters = waiter;
	submission->blockers++;
	if (done && event->submission)
		salvo_cl_submission_watch(event->submission);
	return 0;
}

/* --- times ---------------------------------------------------------------------------- */

/* In ns of the host; a GPU with a clock of its own started after the submission. */
static void convert(struct salvo_cl_submission *submission, uint64_t hz, uint64_t origin,
		    cl_ulong *started, cl_ulong *ended)
{
	if (hz != 1000000000) {
		*started = *started * (1e9 / hz);
		*ended = *ended * (1e9 / hz);
		origin = origin * (1e9 / hz);
	}
	if (!salvo_cl_device_is_embedded(submission->queue->device)) {
		*started += submission->submitted - origin;
		*ended += submission->submitted - origin;
	}
}

void salvo_cl_event_times(struct salvo_cl_submission *submission)
{
	const uint64_t hz = salvo_cl_device_limits(submission->queue->device)->clock_hz;
	struct salvo_profile profile;
	uint64_t origin = 0;
	cl_event event;
	unsigned int i;

	if (!(submission->queue->flags & CL_QUEUE_PROFILING_ENABLE))
		return;
	if (!salvo_batch_get_profile(submission->batch, 0, &profile))
		origin = profile.queued;
	for (event = submission->first_event; event; event = event->next) {
		/* Markers that came while it ran have a time of their own. */
		if (!event->submitted)
			event->submitted = submission->submitted;
		for (i = 0; i < event->count; i++) {
			if (salvo_batch_get_profile(submission->batch, event->first + i, &profile))
				break;
			if (!event->started || profile.started < event->started)
				event->started = profile.started;
			if (profile.ended > event->ended)
				event->ended = profile.ended;
		}
		if (event->started)
			convert(submission, hz, origin, &event->started, &event->ended);
	}
}

void salvo_cl_event_stamp(cl_event event)
{
	if (!(event->queue->flags & CL_QUEUE_PROFILING_ENABLE) || event->ended)
		return;
	event->ended = salvo_cl_host_time();
	event->started = event->ended;
	if (!event->submitted)
		event->submitted = event->ended;
}

/* --- entry points ------------------------------------------------------------------------ */

cl_int salvo_clRetainEvent(cl_event event)
{
	if (!salvo_cl_is(event, SALVO_CL_EVENT))
		return CL_INVALID_EVENT;
	salvo_cl_object_retain(&event->base);
	return CL_SUCCESS;
}

cl_int salvo_clReleaseEvent(cl_event event)
{
	if (!salvo_cl_is(event, SALVO_CL_EVENT) || !salvo_cl_object_release(&event->base))
		return CL_INVALID_EVENT;
	return CL_SUCCESS;
}

/* Who asks for the status wants it to change. */
static cl_int current_status(cl_event event)
{
	cl_int status;

	salvo_cl_lock(event->context);
	if (event->submission) {
		salvo_cl_queue_flush(event->queue);
		salvo_cl_queue_retire(event->queue);
	}
	status = event->status;
	salvo_cl_unlock(event->context);
	return status;
}

cl_int salvo_clGetEventInfo(cl_event event, cl_event_info name, size_t size, void *value,
			    size_t *size_ret)
{
	const struct salvo_cl_answer answer = { size, value, size_ret };

	if (!salvo_cl_is(event, SALVO_CL_EVENT))
		return CL_INVALID_EVENT;
	switch (name) {
	case CL_EVENT_COMMAND_QUEUE:
		return SALVO_CL_ANSWER(&answer, cl_command_queue, event->queue);
	case CL_EVENT_CONTEXT:
		return SALVO_CL_ANSWER(&answer, cl_context, event->context);
	case CL_EVENT_COMMAND_TYPE:
		return SALVO_CL_ANSWER(&answer, cl_command_type, event->type);
	case CL_EVENT_COMMAND_EXECUTION_STATUS:
		return SALVO_CL_ANSWER(&answer, cl_int, current_status(event));
	case CL_EVENT_REFERENCE_COUNT:
		return SALVO_CL_ANSWER(&answer, cl_uint, salvo_cl_object_count(&event->base));
	default:
		return CL_INVALID_VALUE;
	}
}

cl_event salvo_clCreateUserEvent(cl_context context, cl_int *errcode_ret)
{
	cl_event event;

	if (!salvo_cl_is(context, SALVO_CL_CONTEXT)) {
		salvo_cl_report(errcode_ret, CL_INVALID_CONTEXT);
		return NULL;
	}
	event = calloc(1, sizeof(*event));
	salvo_cl_report(errcode_ret, event ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY);
	if (!event)
		return NULL;
	salvo_cl_object_init(&event->base, SALVO_CL_EVENT, destroy);
	salvo_cl_object_get(&context->base);
	event->context = context;
	event->type = CL_COMMAND_USER;
	event->status = CL_SUBMITTED;
	return event;
}

cl_int salvo_clSetUserEventStatus(cl_event event, cl_int status)
{
	cl_int err = CL_SUCCESS;

	if (!salvo_cl_is(event, SALVO_CL_EVENT) || event->queue)
		return CL_INVALID_EVENT;
	if (status > CL_COMPLETE)
		return CL_INVALID_VALUE;
	salvo_cl_lock(event->context);
	if (event->status <= CL_COMPLETE) {
		err = CL_INVALID_OPERATION;
	} else {
		salvo_cl_event_change(event, status);
		salvo_cl_wake(event->context);
	}
	salvo_cl_unlock(event->context);
	return err;
}

cl_int salvo_clSetEventCallback(cl_event event, cl_int type,
				void (CL_CALLBACK *function)(cl_event, cl_int, void *), void *data)
{
	struct salvo_cl_callback *callback, **end;
	cl_int err;

	if (!salvo_cl_is(event, SALVO_CL_EVENT))
		return CL_INVALID_EVENT;
	if (!function || (type != CL_SUBMITTED && type != CL_RUNNING && type != CL_COMPLETE))
		return CL_INVALID_VALUE;
	callback = malloc(sizeof(*callback));
	if (!callback)
		return CL_OUT_OF_HOST_MEMORY;
	salvo_cl_lock(event->context);
	err = salvo_cl_context_worker(event->context);
	if (err) {
		free(callback);
	} else {
		salvo_cl_object_get(&event->base);
		*callback = (struct salvo_cl_callback){
			.task = { .run = run_callback, .drop = drop_callback },
			.event = event, .type = type, .function = function, .data = data,
		};
		for (end = &event->callbacks; *end && (*end)->type >= type; end = &(*end)->next)
			;
		callback->next = *end;
		*end = callback;
		/* As if the status had just been reached */
		salvo_cl_event_change(event, event->status);
	}
	salvo_cl_unlock(event->context);
	return err;
}

cl_int salvo_clWaitForEvents(cl_uint count, const cl_event *events)
{
	cl_context context;
	cl_int err = CL_SUCCESS;
	cl_uint i;

	if (!count || !events)
		return CL_INVALID_VALUE;
	for (i = 0; i < count; i++)
		if (!salvo_cl_is(events[i], SALVO_CL_EVENT))
			return CL_INVALID_EVENT;
	context = events[0]->context;
	for (i = 1; i < count; i++)
		if (events[i]->context != context)
			return CL_INVALID_CONTEXT;
	salvo_cl_lock(context);
	for (i = 0; i < count; i++)
		if (events[i]->submission)
			salvo_cl_queue_flush(events[i]->queue);
	for (i = 0; i < count; i++) {
		while (events[i]->status > CL_COMPLETE) {
			if (events[i]->submission)
				salvo_cl_queue_wait(events[i]->submission);
			else
				salvo_cl_sleep(context);
		}
		if (events[i]->status < 0)
			err = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
	}
	salvo_cl_unlock(context);
	return err;
}

cl_int salvo_clGetEventProfilingInfo(cl_event event, cl_profiling_info name, size_t size,
				     void *value, size_t *size_ret)
{
	const struct salvo_cl_answer answer = { size, value, size_ret };
	cl_ulong time;

	if (!salvo_cl_is(event, SALVO_CL_EVENT))
		return CL_INVALID_EVENT;
	if (!event->queue || !(event->queue->flags & CL_QUEUE_PROFILING_ENABLE) ||
	    current_status(event) != CL_COMPLETE)
		return CL_PROFILING_INFO_NOT_AVAILABLE;
	switch (name) {
	case CL_PROFILING_COMMAND_QUEUED:
		time = event->queued;
		break;
	case CL_PROFILING_COMMAND_SUBMIT:
		time = event->submitted;
		break;
	case CL_PROFILING_COMMAND_START:
		time = event->started;
		break;
	case CL_PROFILING_COMMAND_END:
	case CL_PROFILING_COMMAND_COMPLETE:
		time = event->ended;
		break;
	default:
		return CL_INVALID_VALUE;
	}
	return SALVO_CL_ANSWER(&answer, cl_ulong, time);
}
