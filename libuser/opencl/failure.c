// SPDX-License-Identifier: MIT
/*
 * failure.c - commands that fail: their events' status, and the context's notification
 *
 * The notification is called by the context's worker, in order, without locks: an application may
 * call OpenCL in it. If there is no memory for it the events still tell.
 */
#include "failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct notification {
	struct salvo_cl_task task;
	cl_context context;
	char text[400];
};

static void notify(struct salvo_cl_task *task)
{
	struct notification *notification = (struct notification *)task;

	salvo_cl_context_tell(notification->context, "%s", notification->text);
	salvo_cl_object_put(&notification->context->base);
	free(notification);
}

static void post(cl_context context, struct notification *notification)
{
	if (salvo_cl_context_worker(context)) {
		free(notification);
		return;
	}
	notification->task.run = notify;
	notification->context = context;
	salvo_cl_object_get(&context->base);
	salvo_cl_worker_add(context->worker, &notification->task);
}

void salvo_cl_failure_rejected(const struct salvo_cl_submission *submission, int err)
{
	cl_context context = submission->queue->context;
	struct notification *notification;

	if (!context->notify)
		return;
	notification = malloc(sizeof(*notification));
	if (!notification)
		return;
	snprintf(notification->text, sizeof(notification->text), "Salvo: %s (%s)",
		 salvo_batch_error(submission->batch), strerror(-err));
	post(context, notification);
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
	if (!salvo_error_get_bounds(error, &bounds) && used < size)
		snprintf(text + used, size - used, ", %u bytes at offset %lld of argument %u",
			 bounds.size, (long long)bounds.offset, bounds.argument);
	else if (error->address && used < size)
		snprintf(text + used, size - used, ", address 0x%llx",
			 (unsigned long long)error->address);
}

/* With profiles it is known which commands were complete. */
static bool is_complete(struct salvo_cl_submission *submission, const struct _cl_event *event)
{
	struct salvo_profile profile;
	unsigned int i;

	if (!(submission->queue->flags & CL_QUEUE_PROFILING_ENABLE) || !event->count)
		return false;
	for (i = 0; i < event->count; i++)
		if (salvo_batch_get_profile(submission->batch, event->first + i, &profile) ||
		    !profile.ended)
			return false;
	return true;
}

cl_int salvo_cl_failure_found(struct salvo_cl_submission *submission,
			      const struct salvo_error *error)
{
	cl_context context = submission->queue->context;
	struct notification *notification = NULL;
	cl_event event;

	if (context->notify)
		notification = malloc(sizeof(*notification));
	if (notification) {
		describe(error, notification->text, sizeof(notification->text));
		post(context, notification);
	}
	for (event = submission->first_event; event; event = event->next) {
		if (error->command - event->first < event->count)
			event->result = CL_OUT_OF_RESOURCES;
		else if (is_complete(submission, event))
			event->result = CL_COMPLETE;
		else
			continue;
		event->judged = true;
	}
	return error->command == ~0u ? CL_OUT_OF_RESOURCES : SALVO_CL_CANCELLED;
}
