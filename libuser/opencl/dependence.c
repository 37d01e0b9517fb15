// SPDX-License-Identifier: MIT
/*
 * dependence.c - commands that fail if commands of another submission do
 *
 * Inside a batch the GPU knows who waits for whom, and a command that fails takes along those that
 * wait for it. Between batches, of one queue or of several, fences or the order of submission let
 * the consumer wait; they do not tell which commands of the producer have failed. So a submission
 * keeps, for each event that a command waits for, which of its commands depend on which ones of
 * the event's submission. When both are done, and before a batch is submitted, this tells which
 * commands are lost: those and what waits for them in their batch. A batch of which all are lost is
 * not run. If only some are, it is, and their events fail although they ran.
 *
 * The context's lock protects all of it.
 */
#include "dependence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct salvo_cl_dependence {
	/** @producer: With a reference. */
	struct salvo_cl_submission *producer;
	unsigned int producer_first;
	unsigned int producer_count;
	/** @first, @count: The commands of the submission that has it. */
	unsigned int first;
	unsigned int count;
};

/* Of @producer the @count commands from @first, or all if @count is 0. */
static int add(const struct salvo_cl_command *command, struct salvo_cl_submission *producer,
	       unsigned int first, unsigned int count)
{
	struct salvo_cl_submission *submission = command->submission;

	if (salvo_cl_array_reserve(&submission->dependences, &submission->dependence_capacity,
				   submission->dependence_count + 1,
				   sizeof(*submission->dependences)))
		return -ENOMEM;
	producer->refs++;
	submission->dependences[submission->dependence_count++] = (struct salvo_cl_dependence){
		.producer = producer, .producer_first = first, .producer_count = count,
		.first = command->start,
		.count = salvo_batch_count(command->batch) - command->start,
	};
	return 0;
}

int salvo_cl_dependence_add_all(const struct salvo_cl_command *command)
{
	const struct _cl_event *event;
	int err = 0;
	cl_uint i;

	if (command->before)
		err = add(command, command->before, command->before_start, command->before_count);
	for (i = 0; i < command->wait_count && !err; i++) {
		event = command->waits[i];
		/* An event of the host or of another GPU fails the submission that it blocks. */
		if (!event->submission || event->submission == command->submission ||
		    event->submission->host || event->queue->gpu != command->queue->gpu)
			continue;
		err = add(command, event->submission, event->first, event->count);
	}
	return err;
}

static bool has_failed(const struct salvo_cl_dependence *dependence)
{
	const struct salvo_cl_submission *producer = dependence->producer;

	if (producer->state != SALVO_CL_DONE || !producer->error)
		return false;
	return !producer->lost || !dependence->producer_count ||
	       memchr(producer->lost + dependence->producer_first, 1, dependence->producer_count);
}

bool salvo_cl_dependence_failed(struct salvo_cl_submission *submission, bool *all)
{
	const struct salvo_cl_dependence *dependence;
	uint8_t *lost = NULL;
	unsigned int i;
	int left = 1;

	*all = false;
	for (i = 0; i < submission->dependence_count && left > 0; i++) {
		dependence = &submission->dependences[i];
		if (!has_failed(dependence))
			continue;
		if (!lost)
			lost = calloc(1, salvo_batch_count(submission->batch) + 1);
		if (lost)
			memset(lost + dependence->first, 1, dependence->count);
		else
			left = -ENOMEM;
	}
	if (!lost && left > 0)
		return false;
	if (lost)
		left = salvo_batch_add_dependents(submission->batch, lost);
	*all = left <= 0;
	if (*all) {
		free(lost);
		lost = NULL;
	}
	submission->lost = lost;
	return true;
}

struct salvo_cl_submission *
salvo_cl_dependence_producer(const struct salvo_cl_submission *submission, unsigned int index)
{
	return submission->dependences[index].producer;
}

void salvo_cl_dependence_clear(struct salvo_cl_submission *submission)
{
	unsigned int i;

	for (i = 0; i < submission->dependence_count; i++)
		salvo_cl_submission_put(submission->dependences[i].producer);
	submission->dependence_count = 0;
}
