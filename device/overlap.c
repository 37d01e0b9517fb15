// SPDX-License-Identifier: MIT
/*
 * overlap.c - batches that start before the one before them in their context is done
 *
 * Without SALVO_RING_OVERLAP jobs of a context run one after the other. A job with the flag
 * starts when the job before it, which also has the flag, is the only one before it. Its pipe
 * controls with SALVO_PIPE_CONTROL_PREVIOUS say which of its commands wait for which commands
 * of that job. All other commands without producers run at once.
 *
 * An element has a list of such pipe controls, @followers. The next job adds to it when it
 * starts, while units run the elements; the unit that finishes the element takes the list and
 * closes it in one exchange. Who finds it closed need not wait (tests/spin/overlap.pml).
 *
 * A job has its turn when all jobs before it are done. What names no command of the job before
 * waits for that, as do joins. A job holds a reference to itself until then, so jobs of a
 * context end in order, and a pipe control in a list is valid as long as the list is.
 *
 * Locks: that of jobs.c is held while a job is linked to the one before it, so that one cannot
 * retire meanwhile. Elements become ready by atomic counters, as within a job.
 */
#include "overlap.h"

#include <stddef.h>
#include "clock.h"
#include "element.h"
#include "job.h"
#include "jobs.h"
#include "queues.h"

/* The list of followers of an element that is done */
#define CLOSED ((struct salvo_element *)1)

static void push_front(struct salvo_element **list, struct salvo_element *element)
{
	element->next = *list;
	*list = element;
}

static const struct salvo_op_pipe_control *op_of(const struct salvo_element *control)
{
	return control->op;
}

void salvo_gpu_overlap_add_previous(struct salvo_gpu_job *job, struct salvo_element *control)
{
	struct salvo_element *consumer = &job->elements[op_of(control)->consumer];

	consumer->producers++;
	consumer->root = false;
	push_front(&job->previous, control);
}

void salvo_gpu_overlap_add_turn(struct salvo_gpu_job *job, struct salvo_element *join)
{
	join->producers++;
	push_front(&job->turn, join);
}

/* Returns its consumer if that waited for nothing else, or NULL. */
static struct salvo_element *drop(struct salvo_element *control)
{
	struct salvo_gpu_job *job = control->job;
	struct salvo_element *consumer = &job->elements[op_of(control)->consumer];

	if (atomic_fetch_sub_explicit(&consumer->producers, 1, memory_order_acq_rel) != 1)
		return NULL;
	if (job->profile)
		consumer->ready = salvo_clock();
	return consumer;
}

/* Drops all of a list, and pushes what is ready. */
static void drop_all(struct salvo_element *control)
{
	struct salvo_element *head = NULL, *consumer, *next;
	struct salvo_gpu_job *job;

	if (!control)
		return;
	job = control->job;
	for (; control; control = next) {
		next = control->next;
		consumer = drop(control);
		if (consumer)
			head = salvo_gpu_job_push(job, head, consumer);
	}
	if (head)
		salvo_queues_push(job->jobs->queues, head);
}

/* Returns false if the element is done. */
static bool follow(struct salvo_element *producer, struct salvo_element *control)
{
	struct salvo_element *head = atomic_load_explicit(&producer->followers,
							  memory_order_acquire);

	do {
		if (head == CLOSED)
			return false;
		control->next = head;
	} while (!atomic_compare_exchange_weak_explicit(&producer->followers, &head, control,
							memory_order_acq_rel,
							memory_order_acquire));
	return true;
}

/* What is left in @previous need not wait. */
static void link_to(const struct salvo_gpu_job *before, struct salvo_gpu_job *job)
{
	struct salvo_element *control, *next, *met = NULL;
	uint32_t producer;

	for (control = job->previous; control; control = next) {
		next = control->next;
		producer = op_of(control)->producer;
		if (producer >= before->commands ||
		    before->elements[producer].kind == SALVO_ELEMENT_NONE)
			push_front(&job->turn, control);
		else if (!follow(&before->elements[producer], control))
			push_front(&met, control);
	}
	job->previous = met;
}

bool salvo_gpu_overlap_begin(struct salvo_gpu_job *before, struct salvo_gpu_job *job)
{
	if (!before->has_turn || before->sealed || !before->overlaps || !job->overlaps)
		return false;
	salvo_gpu_job_set_ready(job);
	link_to(before, job);
	job->early = true;
	salvo_gpu_job_get(job);
	return true;
}

unsigned int salvo_gpu_overlap_start(struct salvo_gpu_job *job)
{
	salvo_gpu_job_push_roots(job);
	drop_all(job->previous);
	return salvo_gpu_job_put(job, 1);
}

void salvo_gpu_overlap_take_turn(struct salvo_gpu_job *job)
{
	struct salvo_element *element, *next, *controls = NULL, *ready = NULL;

	if (!job->early)
		drop_all(job->previous);
	for (element = job->turn; element; element = next) {
		next = element->next;
		if (element->kind != SALVO_ELEMENT_JOIN)
			push_front(&controls, element);
		else if (atomic_fetch_sub_explicit(&element->producers, 1,
						   memory_order_acq_rel) == 1)
			ready = salvo_gpu_job_release(job, element);
	}
	/* A job has one join at most that waits for its turn. */
	if (ready)
		salvo_queues_push(job->jobs->queues, ready);
	drop_all(controls);
}

void salvo_gpu_overlap_release(struct salvo_element *element)
{
	drop_all(atomic_exchange_explicit(&element->followers, CLOSED, memory_order_acq_rel));
}
