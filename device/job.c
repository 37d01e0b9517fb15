// SPDX-License-Identifier: MIT
/*
 * job.c - one packet in the device, from its ring entry to its fence
 *
 * The closing pipe control (B5) is a counter, @left: elements that are not done, one reference
 * for the thread that starts the job, and one for each unit that accounts for it. The
 * last put finishes the job: it writes the profile, retires it (jobs.c) and starts the next
 * job of the context.
 *
 * A command that faults takes along what waits for it, directly or not: @failed of an element is
 * handed to its consumers, and failed elements are dropped. All others run, so it is known of each
 * command whether it has run. A job that is killed drops all that is left of it.
 *
 * Jobs keep their buffers when they become free, so a job in steady state allocates nothing.
 *
 * No locks: the counters of elements and jobs are atomic, and other fields are written before the
 * first push, or by the unit that owns the element.
 */
#include "job.h"

#include <stdlib.h>
#include <string.h>
#include "aspace.h"
#include "clock.h"
#include "element.h"
#include "irq.h"
#include "jobs.h"
#include "overlap.h"
#include "queues.h"
#include "drm/salvo_drm.h"

void salvo_gpu_job_free_buffers(struct salvo_gpu_job *job)
{
	free(job->packet);
	free(job->elements);
	free(job->edges);
	job->packet = NULL;
	job->elements = NULL;
	job->edges = NULL;
	job->packet_capacity = 0;
	job->element_capacity = 0;
	job->edge_capacity = 0;
}

/* Grows to at least twice the size, so that jobs soon stop to allocate. */
static bool reserve(void **memory, size_t *capacity, size_t want, size_t size)
{
	size_t room = 2 * *capacity > want ? 2 * *capacity : want;
	void *more;

	if (want <= *capacity)
		return true;
	more = aligned_alloc(64, (room * size + 63) / 64 * 64);
	if (!more)
		return false;
	free(*memory);
	*memory = more;
	*capacity = room;
	return true;
}

bool salvo_gpu_job_reserve_packet(struct salvo_gpu_job *job, size_t bytes)
{
	return reserve(&job->packet, &job->packet_capacity, bytes, 1);
}

bool salvo_gpu_job_reserve_elements(struct salvo_gpu_job *job, uint32_t elements, uint32_t edges)
{
	void *element_memory = job->elements, *edge_memory = job->edges;
	size_t element_room = job->element_capacity, edge_room = job->edge_capacity;
	bool ok;

	ok = reserve(&element_memory, &element_room, elements, sizeof(job->elements[0])) &&
	     reserve(&edge_memory, &edge_room, edges, sizeof(job->edges[0]));
	job->elements = element_memory;
	job->edges = edge_memory;
	job->element_capacity = element_room;
	job->edge_capacity = edge_room;
	return ok;
}

/* One struct drm_salvo_profile for each command. */
static void write_profile(const struct salvo_gpu_job *job)
{
	struct drm_salvo_profile profile[64];
	uint64_t at = job->profile;
	uint32_t i, n;

	for (i = 0; i < job->commands; i += n) {
		for (n = 0; n < 64 && i + n < job->commands; n++) {
			const struct salvo_element *element = &job->elements[i + n];

			memset(&profile[n], 0, sizeof(profile[n]));
			if (element->kind < SALVO_ELEMENT_DISPATCH)
				continue;
			profile[n].queued = job->queued;
			profile[n].ready = element->ready;
			profile[n].started = element->started;
			profile[n].ended = element->ended;
		}
		if (!salvo_aspaces_write(job->jobs->aspaces, at, profile, n * sizeof(profile[0])))
			return;
		at += n * sizeof(profile[0]);
	}
}

struct salvo_element *salvo_gpu_job_push(const struct salvo_gpu_job *job,
					 struct salvo_element *head,
					 struct salvo_element *element)
{
	struct salvo_element *both = salvo_element_coalesce(head, element);

	if (both)
		return both;
	if (head)
		salvo_queues_push(job->jobs->queues, head);
	return element;
}

void salvo_gpu_job_set_ready(struct salvo_gpu_job *job)
{
	const uint64_t now = job->profile ? salvo_clock() : 0;
	uint32_t i;

	for (i = 0; job->profile && i < job->commands; i++)
		job->elements[i].ready = now;
}

void salvo_gpu_job_push_roots(struct salvo_gpu_job *job)
{
	struct salvo_element *head = NULL;
	uint32_t i;

	for (i = 0; i < job->commands; i++)
		if (job->elements[i].root)
			head = salvo_gpu_job_push(job, head, &job->elements[i]);
	if (head)
		salvo_queues_push(job->jobs->queues, head);
}

void salvo_gpu_job_start(struct salvo_gpu_job *job)
{
	if (!job->early) {
		salvo_gpu_job_set_ready(job);
		salvo_gpu_job_push_roots(job);
	}
	if (job->overlaps)
		salvo_gpu_overlap_take_turn(job);
}

unsigned int salvo_gpu_job_put(struct salvo_gpu_job *job, uint32_t count)
{
	unsigned int events = 0;

	while (job && atomic_fetch_sub_explicit(&job->left, count,
						memory_order_acq_rel) == count) {
		const uint32_t status = job->faulted ? SALVO_STATUS_FAULT : SALVO_STATUS_DONE;
		uint32_t pending = SALVO_STATUS_PENDING;
		struct salvo_gpu_job *early;

		/* A kill comes first: the batch was not done. */
		if (!atomic_compare_exchange_strong(&job->status, &pending, status) &&
		    pending == SALVO_STATUS_KILLED) {
			job->failed_command = SALVO_FAULT_NO_COMMAND;
			memset(&job->fault, 0, sizeof(job->fault));
		}
		if (job->profile)
			write_profile(job);
		events |= SALVO_GPU_JOB_ENDED;
		if (salvo_gpu_jobs_finish(job, &job, &early))
			events |= SALVO_GPU_JOB_STARVED;
		if (job)
			salvo_gpu_job_start(job);
		/* It cannot end before the one that was just started. */
		if (early)
			events |= salvo_gpu_overlap_start(early);
		count = 1;
	}
	return events;
}

struct salvo_element *salvo_gpu_job_release(struct salvo_gpu_job *job,
					    struct salvo_element *element)
{
	const bool failed = atomic_load_explicit(&element->failed, memory_order_relaxed);
	struct salvo_element *head = NULL;
	uint32_t at;

	if (job->profile && !failed &&
	    !atomic_load_explicit(&job->status, memory_order_relaxed))
		element->ended = salvo_clock();
	for (at = element->first_edge; at != SALVO_EDGE_NONE; at = job->edges[at].next) {
		struct salvo_element *consumer = &job->elements[job->edges[at].consumer];

		if (failed)
			atomic_store_explicit(&consumer->failed, true, memory_order_relaxed);
		if (atomic_fetch_sub_explicit(&consumer->producers, 1, memory_order_acq_rel) != 1)
			continue;
		if (job->profile)
			consumer->ready = salvo_clock();
		/* The consumers of a join have items: the recursion is one deep. */
		if (consumer->kind == SALVO_ELEMENT_JOIN)
			consumer = salvo_gpu_job_release(job, consumer);
		if (consumer)
			head = salvo_gpu_job_push(job, head, consumer);
	}
	if (job->overlaps)
		salvo_gpu_overlap_release(element);
	if (!head || salvo_element_entry_items(head) == 1)
		return head;
	salvo_queues_push(job->jobs->queues, head);
	return NULL;
}

/* The result is written after the caller has dropped its reference. */
static void record(struct salvo_gpu_job *job, uint32_t command, const struct salvo_fault *fault)
{
	struct salvo_fault record = *fault;

	job->failed_command = command;
	record.seqno = job->entry.seqno;
	record.asid = job->entry.asid;
	record.ctx = job->entry.ctx;
	record.command = command;
	job->fault = record;
	salvo_fault_record(job->jobs->faults, &record);
	atomic_fetch_add(&job->jobs->irqs->fault, 1);
}

void salvo_gpu_job_fault(struct salvo_gpu_job *job, struct salvo_element *element,
			 const struct salvo_fault *fault)
{
	uint32_t none = SALVO_STATUS_PENDING;

	atomic_store_explicit(&element->failed, true, memory_order_relaxed);
	if (!atomic_load_explicit(&job->status, memory_order_relaxed) &&
	    atomic_compare_exchange_strong(&job->faulted, &none, SALVO_STATUS_FAULT))
		record(job, element->index, fault);
}

void salvo_gpu_job_fail(struct salvo_gpu_job *job, uint32_t command,
			const struct salvo_fault *fault)
{
	/* Kinds up to PACKET are those of refused packets. */
	const uint32_t status = fault->kind <= SALVO_FAULT_PACKET ? SALVO_STATUS_BAD_PACKET :
								   SALVO_STATUS_FAULT;
	uint32_t pending = SALVO_STATUS_PENDING;

	if (atomic_compare_exchange_strong(&job->status, &pending, status))
		record(job, command, fault);
}
