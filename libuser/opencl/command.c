// SPDX-License-Identifier: MIT
/*
 * command.c - enqueue a command: find the submission that it belongs to
 *
 * A command joins the last submission of its queue, if that still collects and if the command waits
 * for nothing that the submission does not wait for; else it begins another one. Events of the same
 * submission order its commands by pipe controls; in order, the library inserts those that the
 * arguments demand. The batch is submitted by a flush, when it is full, or at once when the GPU
 * would run dry: see hungry(). What an event of another submission fails is dependence.c's.
 */
#include "command.h"

#include <errno.h>
#include <stdlib.h>

#include "cl_memory.h"
#include "dependence.h"
#include "statistics.h"
#include "submission.h"

/* A batch of so many commands is full; the rest is for pipe controls. */
#define MOST_COMMANDS	1024u
/* Out of order: pipe controls before a command; if it needs more, it gets a barrier. */
#define MOST_CONTROLS	8u
/* Room for those of one command */
#define CONTROL_ROOM	512u
/* A batch is checked against an idle GPU at so much work. */
#define MUCH_WORK	(1u << 15)

cl_int salvo_cl_command_check(cl_command_queue queue, cl_uint wait_count, const cl_event *waits)
{
	cl_uint i;

	if (!salvo_cl_is(queue, SALVO_CL_QUEUE))
		return CL_INVALID_COMMAND_QUEUE;
	if (!wait_count != !waits)
		return CL_INVALID_EVENT_WAIT_LIST;
	for (i = 0; i < wait_count; i++) {
		if (!salvo_cl_is(waits[i], SALVO_CL_EVENT))
			return CL_INVALID_EVENT_WAIT_LIST;
		if (waits[i]->context != queue->context)
			return CL_INVALID_CONTEXT;
	}
	return CL_SUCCESS;
}

bool salvo_cl_command_is_ready(cl_uint wait_count, const cl_event *waits)
{
	cl_uint i;

	for (i = 0; i < wait_count; i++)
		if (__atomic_load_n(&waits[i]->status, __ATOMIC_ACQUIRE) != CL_COMPLETE)
			return false;
	return true;
}

/* --- what it waits for ------------------------------------------------------------------ */

/* Does a batch that waits for the event need it complete, or only submitted? */
static bool needs_completion(const struct _cl_event *event, const struct _cl_command_queue *queue,
			     bool host)
{
	return host || !event->queue || event->queue->gpu != queue->gpu ||
	       (event->submission && event->submission->host);
}

/* Is there nothing to do on the host for this event, if the command joins @join? */
static bool is_satisfied(const struct _cl_event *event, cl_command_queue queue,
			 const struct salvo_cl_submission *join, bool host)
{
	const struct salvo_cl_submission *producer = event->submission;
	unsigned int i;

	if (event->status == CL_COMPLETE)
		return true;
	if (event->status < 0)
		return false;
	if (event->queue == queue && salvo_cl_queue_is_ordered(queue))
		return true;
	if (needs_completion(event, queue, host))
		return false;
	if (event->queue == queue)
		return producer == join || producer->state == SALVO_CL_RUNNING;
	for (i = 0; join && i < join->wait_count; i++)
		if (join->waits[i] == producer)
			return true;
	return false;
}

/* Producers of other queues are submitted, since somebody waits for them. */
static void flush_producers(cl_command_queue queue, cl_uint wait_count, const cl_event *waits)
{
	cl_uint i;

	for (i = 0; i < wait_count; i++)
		if (waits[i]->submission && waits[i]->queue != queue)
			salvo_cl_queue_flush(waits[i]->queue);
}

static int wait_for(struct salvo_cl_submission *submission, cl_event event)
{
	const bool done = needs_completion(event, submission->queue, submission->host);

	if (is_satisfied(event, submission->queue, submission, submission->host))
		return 0;
	if (event->status < 0) {
		submission->error = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
		return 0;
	}
	if (!done && event->submission->state == SALVO_CL_RUNNING)
		return salvo_cl_submission_wait_for(submission, event->submission);
	return salvo_cl_event_add_waiter(event, submission, done);
}

/* What collects no more has nothing to wait for but others. */
static void close_submission(struct salvo_cl_submission *submission)
{
	submission->closed = true;
	submission->wanted = true;
	salvo_cl_queue_examine(submission->queue);
}

static int wait_for_all(struct salvo_cl_submission *submission, cl_uint wait_count,
			const cl_event *waits)
{
	cl_uint i;
	int err = 0;

	for (i = 0; !err && i < wait_count; i++)
		err = wait_for(submission, waits[i]);
	if (err)
		submission->error = CL_OUT_OF_HOST_MEMORY;
	/* Another command must not be held back with it. */
	if (submission->host || submission->blockers || submission->error)
		close_submission(submission);
	return err;
}

static bool has_room(const struct salvo_cl_submission *submission)
{
	const unsigned int most =
		salvo_cl_device_limits(submission->queue->device)->max_commands;

	return salvo_batch_count(submission->batch) + CONTROL_ROOM <= most;
}

static bool may_join(const struct salvo_cl_submission *submission, cl_command_queue queue,
		     cl_uint wait_count, const cl_event *waits)
{
	cl_uint i;

	if (!submission || submission->state != SALVO_CL_OPEN || submission->closed ||
	    salvo_batch_count(submission->batch) >= MOST_COMMANDS)
		return false;
	if (wait_count && !has_room(submission))
		return false;
	for (i = 0; i < wait_count; i++) {
		if (!is_satisfied(waits[i], queue, submission, false))
			return false;
		/* Of markers and barriers there is nothing that a pipe control could name. */
		if (waits[i]->submission == submission && !salvo_cl_queue_is_ordered(queue) &&
		    (!waits[i]->count || waits[i]->type == CL_COMMAND_BARRIER ||
		     waits[i]->type == CL_COMMAND_COMMAND_BUFFER_KHR))
			return false;
	}
	return true;
}

/* A barrier in place of many pipe controls. Return: 0 or a negative errno. */
static int limit_controls(struct salvo_cl_command *command)
{
	unsigned int controls = 0;
	cl_uint i;
	int index;

	for (i = 0; i < command->wait_count; i++)
		if (command->waits[i]->submission == command->submission)
			controls += command->waits[i]->count;
	if (!controls || (controls <= MOST_CONTROLS &&
			  command->type != CL_COMMAND_COMMAND_BUFFER_KHR))
		return 0;
	index = salvo_batch_barrier(command->submission->batch);
	command->ordered = true;
	return index < 0 ? index : 0;
}

/* Is all that was enqueued done when the last submission is? */
static bool last_covers_all(const struct _cl_command_queue *queue)
{
	const struct salvo_cl_submission *before = queue->last;

	for (; before; before = before->prev)
		if (before->host || (before->state == SALVO_CL_OPEN && before != queue->last))
			return false;
	return true;
}

/* Of an out-of-order queue: does the command wait for all before it? */
static bool waits_for_all(const struct salvo_cl_command *command)
{
	return !salvo_cl_queue_is_ordered(command->queue) && !command->wait_count &&
	       (command->type == CL_COMMAND_BARRIER || command->type == CL_COMMAND_MARKER);
}

static int choose(struct salvo_cl_command *command)
{
	const bool barrier = command->type == CL_COMMAND_BARRIER &&
			     !salvo_cl_queue_is_ordered(command->queue);
	cl_command_queue queue = command->queue;

	command->submission = queue->recording;
	if (command->submission)
		return 0;
	flush_producers(queue, command->wait_count, command->waits);
	command->submission = queue->last;
	if (may_join(queue->last, queue, command->wait_count, command->waits) &&
	    ((!waits_for_all(command) && !barrier) || last_covers_all(queue))) {
		/* Commands of the host that follow have no pipe control. */
		queue->last->before_all |= barrier;
		return limit_controls(command);
	}
	/* What collected so far goes on its own now. */
	if (queue->last && queue->last->state == SALVO_CL_OPEN && !queue->last->closed)
		close_submission(queue->last);
	command->submission = salvo_cl_submission_create(queue);
	if (!command->submission)
		return -ENOMEM;
	command->submission->before_all = barrier;
	command->submission->after_all = waits_for_all(command);
	command->submission->check = queue->patience;
	/* Commands may follow a barrier, but not a marker. */
	if (command->submission->after_all && !barrier)
		close_submission(command->submission);
	return wait_for_all(command->submission, command->wait_count, command->waits);
}

cl_int salvo_cl_command_begin_locked(struct salvo_cl_command *command, cl_command_queue queue,
				     cl_command_type type, cl_uint wait_count,
				     const cl_event *waits, cl_event *event)
{
	*command = (struct salvo_cl_command){
		.queue = queue, .type = type, .wait_count = wait_count, .waits = waits,
		.event = event,
	};
	if (choose(command)) {
		salvo_cl_unlock(queue->context);
		return CL_OUT_OF_HOST_MEMORY;
	}
	command->batch = command->submission->batch;
	command->start = salvo_batch_count(command->batch);
	return CL_SUCCESS;
}

cl_int salvo_cl_command_begin(struct salvo_cl_command *command, cl_command_queue queue,
			      cl_command_type type, cl_uint wait_count, const cl_event *waits,
			      cl_event *event)
{
	salvo_cl_lock(queue->context);
	return salvo_cl_command_begin_locked(command, queue, type, wait_count, waits, event);
}

bool salvo_cl_command_again(struct salvo_cl_command *command, int result)
{
	struct salvo_cl_submission *fresh;

	if (result != -E2BIG || !command->start || command->queue->recording)
		return false;
	fresh = salvo_cl_submission_create(command->queue);
	if (!fresh)
		return false;
	close_submission(command->submission);
	fresh->check = command->queue->patience;
	command->submission = fresh;
	command->batch = fresh->batch;
	command->start = 0;
	return !wait_for_all(fresh, command->wait_count, command->waits);
}

int salvo_cl_command_split(struct salvo_cl_command *command)
{
	struct salvo_cl_submission *before = command->submission, *fresh;

	if (salvo_cl_dependence_add_all(command))
		return -ENOMEM;
	fresh = salvo_cl_submission_create(command->queue);
	if (!fresh)
		return -ENOMEM;
	before->commands++;
	close_submission(before);
	fresh->check = command->queue->patience;
	/* The GPU runs them one after the other, once they are submitted. */
	fresh->after_all = true;
	command->before = before;
	command->before_start = command->start;
	command->before_count = salvo_batch_count(command->batch) - command->start;
	command->submission = fresh;
	command->batch = fresh->batch;
	command->start = 0;
	return 0;
}

void salvo_cl_command_hold(struct salvo_cl_command *command, struct salvo_cl_object *object)
{
	if (salvo_cl_submission_use(command->submission, object, 0))
		command->err = CL_OUT_OF_HOST_MEMORY;
}

void salvo_cl_command_use(struct salvo_cl_command *command, cl_mem mem, uint32_t access)
{
	if (salvo_cl_submission_use(command->submission, &mem->base, access))
		command->err = CL_OUT_OF_HOST_MEMORY;
	if (access & SALVO_ARGUMENT_WRITE && !command->submission->recording)
		mem->root->writer = command->submission->serial;
}

/* --- the end of a command ----------------------------------------------------------------- */

/* Events of the same batch are pipe controls between their commands. */
static int order(const struct salvo_cl_command *command, unsigned int end)
{
	const struct _cl_event *event;
	unsigned int consumer, producer;
	cl_uint i;
	int err;

	for (i = 0; i < command->wait_count; i++) {
		event = command->waits[i];
		if (event->submission != command->submission)
			continue;
		for (producer = 0; producer < event->count; producer++) {
			for (consumer = command->start; consumer < end; consumer++) {
				err = salvo_batch_pipe_control(command->batch, consumer,
							       event->first + producer);
				/* Commands may have pipe controls of their own. */
				if (err < 0 && err != -EINVAL)
					return err;
			}
		}
	}
	return 0;
}

/*
 * Would the GPU run dry if this batch went on collecting? A packet costs as much as some tiny
 * dispatches, so a batch is first checked when it has some of them, or much work. Each one that
 * goes so shows a long burst: the next one may be twice as long.
 */
static bool hungry(struct salvo_cl_submission *submission)
{
	cl_command_queue queue = submission->queue;
	const struct salvo_cl_submission *before;

	if (salvo_batch_count(submission->batch) >= MOST_COMMANDS)
		return true;
	if (submission->commands < submission->check && submission->work < MUCH_WORK)
		return false;
	submission->check = submission->commands * 2;
	submission->work = 0;
	salvo_cl_queue_retire(queue);
	for (before = submission->prev; before; before = before->prev)
		if (before->state == SALVO_CL_RUNNING)
			return false;
	if (queue->patience < MOST_COMMANDS)
		queue->patience *= 2;
	return true;
}

static cl_int finish_event(struct salvo_cl_command *command, unsigned int end, bool attached)
{
	cl_event event;

	if (!command->event)
		return CL_SUCCESS;
	event = salvo_cl_event_create(command->queue, command->type,
				      attached ? command->submission : NULL);
	if (!event)
		return CL_OUT_OF_HOST_MEMORY;
	*command->event = event;
	event->first = command->start;
	event->count = end - command->start;
	if (!attached) {
		salvo_cl_event_stamp(event);
		event->status = CL_COMPLETE;
	} else if (command->submission->state == SALVO_CL_RUNNING) {
		event->status = CL_SUBMITTED;
		event->submitted = salvo_cl_host_time();
	}
	return CL_SUCCESS;
}

/* No batch waits for fences in its place. */
static cl_int wait_on_host(struct salvo_cl_command *command)
{
	const bool ordered = salvo_cl_queue_is_ordered(command->queue);
	cl_uint i;

	for (i = 0; i < command->wait_count; i++) {
		cl_event event = command->waits[i];

		if (event->status <= CL_COMPLETE || (ordered && event->queue == command->queue))
			continue;
		if (salvo_cl_event_add_waiter(event, command->submission, true))
			return CL_OUT_OF_HOST_MEMORY;
		close_submission(command->submission);
	}
	return CL_SUCCESS;
}

/* Nothing was recorded in a submission of its own: which one completes the command? */
static bool attach(struct salvo_cl_command *command)
{
	struct salvo_cl_submission *submission = command->submission;
	struct salvo_cl_submission *before;

	if (!submission->commands && !command->err)
		command->err = wait_on_host(command);

	if (submission->commands || submission->first_event || submission->blockers ||
	    submission->error || submission->wait_count || submission->before_all ||
	    submission->after_all)
		return true;
	salvo_cl_queue_retire(command->queue);
	before = submission->prev;
	/* What this one waits for must not fail a command of the host, or another marker. */
	if (before && command->wait_count && salvo_cl_queue_is_ordered(command->queue) &&
	    (before->host || !salvo_batch_count(before->batch)))
		return true;
	salvo_cl_submission_discard(submission);
	command->submission = before;
	return before && salvo_cl_queue_is_ordered(command->queue);
}

cl_int salvo_cl_command_end(struct salvo_cl_command *command, cl_int err)
{
	cl_context context = command->queue->context;
	const unsigned int end = salvo_batch_count(command->batch);
	bool attached = true;

	err = err ? err : command->err;
	if (command->queue->recording) {
		salvo_cl_unlock(context);
		return err;
	}
	if (!err && end > command->start && !command->ordered)
		err = salvo_cl_error(order(command, end));
	if (end == command->start) {
		attached = attach(command);
		err = err ? err : command->err;
	}
	if (!err && attached)
		err = salvo_cl_error(salvo_cl_dependence_add_all(command));
	if (!err)
		err = finish_event(command, end, attached);
	if (attached && end > command->start) {
		command->submission->commands++;
		salvo_cl_count(&salvo_cl_gpu_commands);
		if (!command->submission->wanted && hungry(command->submission)) {
			command->submission->wanted = true;
			salvo_cl_queue_examine(command->queue);
		}
	}
	salvo_cl_unlock(context);
	return err;
}

/* --- commands of the host -------------------------------------------------------------------- */

static struct salvo_cl_submission *enqueue_host(struct salvo_cl_host *host, cl_command_queue queue,
						cl_uint wait_count, const cl_event *waits)
{
	struct salvo_cl_submission *submission;
	unsigned int i;
	int err = 0;

	flush_producers(queue, wait_count, waits);
	submission = salvo_cl_submission_create(queue);
	if (!submission)
		return NULL;
	submission->host = host;
	for (i = 0; i < 2 && !err; i++)
		if (host->mems[i])
			err = salvo_cl_submission_use(submission, &host->mems[i]->base, 0);
	if (!err)
		err = wait_for_all(submission, wait_count, waits);
	if (!err)
		return submission;
	submission->host = NULL;
	submission->error = CL_OUT_OF_HOST_MEMORY;
	close_submission(submission);
	return NULL;
}

/* In the calling thread, when all is done that it waits for. */
static cl_int run_blocking(struct salvo_cl_submission *submission)
{
	cl_command_queue queue = submission->queue;
	struct salvo_cl_submission *before;
	cl_int status;

	salvo_cl_queue_flush(queue);
	while (!salvo_cl_submission_is_ready(submission)) {
		for (before = submission->prev; before; before = before->prev)
			if (before->state == SALVO_CL_RUNNING && !before->host)
				break;
		if (before && (salvo_cl_queue_is_ordered(queue) || !submission->blockers))
			salvo_cl_queue_wait(before);
		else
			salvo_cl_sleep(queue->context);
	}
	if (submission->error) {
		status = submission->error;
		salvo_cl_submission_finish(submission, status);
		return status;
	}
	status = salvo_cl_submission_run_host(submission);
	return status < 0 ? status : CL_SUCCESS;
}

cl_int salvo_cl_host_enqueue(struct salvo_cl_host *host, cl_command_queue queue,
			     cl_command_type type, bool blocking, cl_uint wait_count,
			     const cl_event *waits, cl_event *event)
{
	cl_context context = queue->context;
	struct salvo_cl_submission *submission;
	cl_int err = CL_SUCCESS;

	salvo_cl_lock(context);
	if (!blocking)
		err = salvo_cl_context_worker(context);
	submission = err ? NULL : enqueue_host(host, queue, wait_count, waits);
	if (!submission) {
		salvo_cl_unlock(context);
		if (host->release)
			host->release(host);
		return CL_OUT_OF_HOST_MEMORY;
	}
	salvo_cl_count(&salvo_cl_host_commands);
	if (event) {
		*event = salvo_cl_event_create(queue, type, submission);
		err = *event ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
	}
	if (blocking) {
		cl_int status;

		submission->blocking = true;
		status = run_blocking(submission);
		err = err ? err : status;
	} else {
		/* In this thread, if nothing holds it back: else the worker runs it. */
		salvo_cl_queue_retire(queue);
		if (salvo_cl_submission_is_ready(submission) && !submission->error)
			salvo_cl_submission_run_host(submission);
		else
			salvo_cl_queue_flush(queue);
	}
	salvo_cl_unlock(context);
	/* The application gets none from a function that fails. */
	if (err && blocking && event && *event) {
		salvo_cl_object_release(&(*event)->base);
		*event = NULL;
	}
	return err;
}
