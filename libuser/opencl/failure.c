// SPDX-License-Identifier: MIT
/*
 * failure.c - commands that fail: their events' status, and the context's notification
 *
 * A command that faults takes along what waits for it, all others of its batch run and complete.
 * What it and those would have written is not there: reads of such memory objects fail until
 * something is written to them.
 *
 * The notification is called by the context's worker, in order, without locks: an application may
 * call OpenCL in it. If there is no memory for it the events still tell.
 */
#include "failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl_memory.h"

struct notification {
	struct salvo_cl_task task;
	cl_context context;
	char text[400];
};

static void drop(struct salvo_cl_task *task)
{
	struct notification *notification = (struct notification *)task;

	salvo_cl_object_put(&notification->context->base);
	free(notification);
}

static void notify(struct salvo_cl_task *task)
{
	struct notification *notification = (struct notification *)task;

	salvo_cl_context_tell(notification->context, "%s", notification->text);
	drop(task);
}

static void post(cl_context context, struct notification *notification)
{
	if (salvo_cl_context_worker(context)) {
		free(notification);
		return;
	}
	notification->task.run = notify;
	notification->task.drop = drop;
	notification->context = context;
	salvo_cl_object_get(&context->base);
	salvo_cl_worker_add(context->worker, &notification->task);
}

static void describe(const struct salvo_error *error, char *text, size_t size)
{
	struct salvo_error_bounds bounds;
	size_t used;

	used = snprintf(text, size, "Salvo: %s", salvo_error_name(error->kind));
	if (error->kernel && used < size)
		used += snprintf(text + used, size - used, " in kernel %.100s, work-group %u,%u,%u",
				 error->kernel, error->group_id[0], error->group_id[1],
				 error->group_id[2]);
	if (error->item != ~0u && used < size)
		used += snprintf(text + used, size - used, ", work-item %u,%u,%u%s",
				 error->item_id[0], error->item_id[1], error->item_id[2],
				 error->items > 1 ? " or one next to it" : "");
	if (!salvo_error_get_bounds(error, &bounds)) {
		const char *memory = salvo_bounds_name(bounds.argument);

		if (used < size)
			used += snprintf(text + used, size - used, ", %u bytes at offset %lld of ",
					 bounds.size, (long long)bounds.offset);
		if (used < size && memory)
			snprintf(text + used, size - used, "%s", memory);
		else if (used < size)
			snprintf(text + used, size - used, "argument %u", bounds.argument);
		return;
	}
	if (error->address && used < size)
		snprintf(text + used, size - used, ", address 0x%llx",
			 (unsigned long long)error->address);
}

/* Profiles tell which commands were not done: 1 in @lost. */
static void read_profiles(struct salvo_cl_submission *submission, uint8_t *lost)
{
	const unsigned int count = salvo_batch_count(submission->batch);
	struct salvo_profile profile;
	unsigned int i;

	for (i = 0; i < count; i++)
		lost[i] = salvo_batch_get_profile(submission->batch, i, &profile) ||
			  !profile.ended;
}

/*
 * What was not done: 1 in a new array, or NULL if that is not known. It is what the failed command
 * took along if the number of the others says that they were done; else another command has failed,
 * too, or a hang was stopped.
 */
static uint8_t *find_lost(struct salvo_cl_submission *submission, const struct salvo_error *error)
{
	uint8_t *lost = malloc(salvo_batch_count(submission->batch) + 1);
	int others;

	if (!lost)
		return NULL;
	others = salvo_batch_get_dependents(submission->batch, error->command, lost);
	if (others >= 0 && error->done == (unsigned int)others)
		return lost;
	if (submission->queue->flags & CL_QUEUE_PROFILING_ENABLE) {
		read_profiles(submission, lost);
		return lost;
	}
	free(lost);
	return NULL;
}

static bool is_lost(const uint8_t *lost, const struct _cl_event *event)
{
	return memchr(lost + event->first, 1, event->count);
}

static void judge(const struct salvo_cl_submission *submission, const struct salvo_error *error)
{
	const uint8_t *lost = submission->lost;
	cl_event event;

	for (event = submission->first_event; event; event = event->next) {
		if (error && error->command - event->first < event->count)
			event->result = CL_OUT_OF_RESOURCES;
		else if (lost && event->count && !is_lost(lost, event))
			event->result = CL_COMPLETE;
		else
			continue;
		event->judged = true;
	}
}

/* What commands that were not done write to. Without memory to find that out: all of it. */
static void mark_damage(const struct salvo_cl_submission *submission)
{
	const struct salvo_cl_use *uses = submission->uses;
	const unsigned int count = submission->use_count;
	struct salvo_bo_range *ranges = calloc(count + 1, sizeof(*ranges));
	unsigned int i;
	cl_mem mem;
	bool known;

	for (i = 0; ranges && i < count; i++) {
		mem = (cl_mem)uses[i].object;
		if (mem->base.kind == SALVO_CL_MEM)
			ranges[i] = (struct salvo_bo_range){
				.bo = salvo_cl_mem_bo(mem, submission->queue->gpu),
				.offset = mem->origin, .size = mem->size,
			};
	}
	known = ranges && !salvo_batch_find_accesses(submission->batch, submission->lost,
						     SALVO_ARGUMENT_WRITE, ranges, count);
	for (i = 0; i < count; i++)
		if (uses[i].object->kind == SALVO_CL_MEM && (!known || ranges[i].accessed))
			salvo_cl_mem_damage((cl_mem)uses[i].object, submission->serial);
	free(ranges);
}

void salvo_cl_failure_dropped(const struct salvo_cl_submission *submission)
{
	mark_damage(submission);
}

void salvo_cl_failure_rejected(const struct salvo_cl_submission *submission, int err)
{
	cl_context context = submission->queue->context;
	struct notification *notification;

	mark_damage(submission);
	if (!context->notify)
		return;
	notification = malloc(sizeof(*notification));
	if (!notification)
		return;
	snprintf(notification->text, sizeof(notification->text), "Salvo: %s (%s)",
		 salvo_batch_error(submission->batch), strerror(-err));
	post(context, notification);
}

cl_int salvo_cl_failure_found(struct salvo_cl_submission *submission,
			      const struct salvo_error *error, bool all)
{
	cl_context context = submission->queue->context;
	struct notification *notification = NULL;
	uint8_t *lost = all ? NULL : find_lost(submission, error);
	unsigned int i;

	for (i = 0; lost && submission->lost && i < salvo_batch_count(submission->batch); i++)
		lost[i] |= submission->lost[i];
	free(submission->lost);
	submission->lost = lost;
	if (context->notify)
		notification = malloc(sizeof(*notification));
	if (notification) {
		describe(error, notification->text, sizeof(notification->text));
		post(context, notification);
	}
	judge(submission, error);
	mark_damage(submission);
	return error->command == ~0u ? CL_OUT_OF_RESOURCES : SALVO_CL_CANCELLED;
}

cl_int salvo_cl_failure_inherited(const struct salvo_cl_submission *submission)
{
	judge(submission, NULL);
	mark_damage(submission);
	return SALVO_CL_CANCELLED;
}
