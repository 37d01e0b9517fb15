// SPDX-License-Identifier: MIT
/*
 * job.c - one packet in the device, from its ring entry to its fence
 *
 * A job is in two orders. Jobs of one context run one after the other, in the
 * order of the ring; jobs of different contexts overlap. Fences retire in the
 * order of the ring, whatever order the jobs end in (B11 of WO2015/123840).
 *
 * The closing pipe control (B5) is a counter: elements that are not done, one for
 * whoever starts the job, and one for each unit with an open account. Who brings
 * it to 0 finishes the job: it writes the profile, starts the next job of the
 * context, and retires all jobs at the head of the ring that are done. To retire
 * is to write the result, then the fence register, then to count one interrupt
 * (B6); it is raised when the lock is dropped. inject.c may have a say in that.
 *
 * The lock protects both orders and the free list. It is never held while work
 * is pushed or the owner is called. Jobs keep their memory when they are
 * free, so a job in steady state allocates nothing.
 */
#include "job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "clock.h"
#include "element.h"
#include "gpu.h"
#include "isolation.h"
#include "drm/salvo_drm.h"

/* How long a drain waits for work-groups to end by themselves */
#define PATIENCE_NS 20000000u

int salvo_gpu_jobs_init(struct salvo_gpu_jobs *jobs, struct salvo_gpu *gpu)
{
	unsigned int i;

	memset(jobs, 0, sizeof(*jobs));
	jobs->gpu = gpu;
	jobs->all = aligned_alloc(64, SALVO_JOBS * sizeof(jobs->all[0]));
	if (!jobs->all)
		return -ENOMEM;
	memset(jobs->all, 0, SALVO_JOBS * sizeof(jobs->all[0]));
	for (i = 0; i < SALVO_JOBS; i++) {
		jobs->all[i].gpu = gpu;
		jobs->all[i].ring_next = jobs->free;
		jobs->free = &jobs->all[i];
	}
	for (i = 0; i < SALVO_MAX_RINGS; i++)
		jobs->ring[i].room = SALVO_RING_JOBS;
	pthread_mutex_init(&jobs->lock, NULL);
	pthread_cond_init(&jobs->idle, NULL);
	return 0;
}

static void free_buffers(struct salvo_gpu_job *job)
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

void salvo_gpu_jobs_fini(struct salvo_gpu_jobs *jobs)
{
	unsigned int i;

	for (i = 0; i < SALVO_JOBS; i++)
		free_buffers(&jobs->all[i]);
	free(jobs->all);
	pthread_cond_destroy(&jobs->idle);
	pthread_mutex_destroy(&jobs->lock);
}

struct salvo_gpu_job *salvo_gpu_jobs_take(struct salvo_gpu_jobs *jobs, unsigned int ring)
{
	struct salvo_gpu_job *job = NULL;

	pthread_mutex_lock(&jobs->lock);
	if (jobs->ring[ring].room) {
		job = jobs->free;
		jobs->free = job->ring_next;
		jobs->ring[ring].room--;
		jobs->in_flight++;
	} else {
		jobs->ring[ring].starved = true;
	}
	pthread_mutex_unlock(&jobs->lock);
	if (!job)
		return NULL;

	job->ring = ring;
	job->result = 0;
	job->profile = 0;
	job->queued = 0;
	job->commands = 0;
	job->work = 0;
	job->edge_count = 0;
	job->unbinds = false;
	job->ends_space = false;
	job->failed_command = SALVO_FAULT_NO_COMMAND;
	memset(&job->fault, 0, sizeof(job->fault));
	job->status = SALVO_STATUS_PENDING;
	job->ended_well = 0;
	job->started = 0;
	job->busy_ns = 0;
	job->ended = 0;
	job->done = false;
	memset(&job->injected, 0, sizeof(job->injected));
	job->ring_next = NULL;
	job->ctx_next = NULL;
	return job;
}

static void free_locked(struct salvo_gpu_jobs *jobs, struct salvo_gpu_job *job)
{
	job->ring_next = jobs->free;
	jobs->free = job;
	jobs->ring[job->ring].room++;
	if (!--jobs->in_flight)
		pthread_cond_broadcast(&jobs->idle);
}

void salvo_gpu_job_discard(struct salvo_gpu_job *job)
{
	struct salvo_gpu_jobs *jobs = &job->gpu->jobs;

	pthread_mutex_lock(&jobs->lock);
	free_locked(jobs, job);
	pthread_mutex_unlock(&jobs->lock);
}

/* Room that is at least doubled, so that it soon stops to grow. */
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

static uint64_t context_key(const struct salvo_gpu_job *job)
{
	return (uint64_t)job->entry.asid << 32 | job->entry.ctx;
}

/* Returns whether the job is the first of its context. */
static bool join_context_locked(struct salvo_gpu_jobs *jobs, struct salvo_gpu_job *job)
{
	const uint64_t key = context_key(job);
	unsigned int i;

	for (i = 0; i < jobs->context_count; i++) {
		if (jobs->contexts[i].key != key)
			continue;
		jobs->contexts[i].last->ctx_next = job;
		jobs->contexts[i].last = job;
		return false;
	}
	jobs->contexts[i].key = key;
	jobs->contexts[i].last = job;
	jobs->context_count++;
	return true;
}

/* Returns the next job of the context. */
static struct salvo_gpu_job *leave_context_locked(struct salvo_gpu_jobs *jobs,
						  struct salvo_gpu_job *job)
{
	unsigned int i;

	if (job->ctx_next)
		return job->ctx_next;
	for (i = 0; jobs->contexts[i].last != job; i++)
		;
	jobs->contexts[i] = jobs->contexts[--jobs->context_count];
	return NULL;
}

static void write_result(struct salvo_gpu_job *job)
{
	struct salvo_packet_result result = {
		.status = job->status, .command = job->failed_command,
		.started = job->started, .ended = job->ended, .busy_ns = job->busy_ns,
		.done = job->status == SALVO_STATUS_DONE ? job->commands : job->ended_well,
		.fault = job->fault.kind, .address = job->fault.address,
		.group = job->fault.group, .item = job->fault.item, .access = job->fault.access,
	};

	if (job->injected.bad_result)
		salvo_inject_spoil(&result);
	if (job->result)
		salvo_dma_write(&job->gpu->dma, job->result, &result, sizeof(result));
}

static void retire_locked(struct salvo_gpu_jobs *jobs, struct salvo_gpu_job *job)
{
	struct salvo_gpu *gpu = jobs->gpu;

	write_result(job);
	__atomic_store_n(&gpu->regs->ring[job->ring].fence, job->fence + job->injected.add,
			 __ATOMIC_RELEASE);
	if (job->injected.corrupt)
		salvo_inject_corrupt(&job->injected, gpu->regs);
	if (job->irqs && !job->injected.lost_irq)
		atomic_fetch_add(&gpu->fence_irqs, job->irqs);
	free_locked(jobs, job);
}

/*
 * An address space packet that is done takes no room while the jobs before it run: its fence
 * and interrupt come with those of the last of them.
 */
static void retire_with_last_locked(struct salvo_gpu_jobs *jobs, struct salvo_gpu_job *job)
{
	struct salvo_gpu_job *last = jobs->ring[job->ring].last;

	write_result(job);
	last->fence = job->fence;
	last->irqs += job->irqs;
	free_locked(jobs, job);
}

/* Is the fence of a job that is at the head of its ring, and done, to be late? */
static bool is_late_locked(struct salvo_gpu_jobs *jobs, struct salvo_gpu_job *job)
{
	if (jobs->inject.count && job->entry.ctx && !job->injected.counted)
		salvo_inject_count(&jobs->inject, &job->injected);
	return job->injected.until && salvo_clock() < job->injected.until;
}

/* Returns whether the command processor waits for a job of the ring, and one is free now. */
static bool retire_ring_locked(struct salvo_gpu_jobs *jobs, unsigned int ring)
{
	bool starved = false;

	while (jobs->ring[ring].first && jobs->ring[ring].first->done &&
	       !is_late_locked(jobs, jobs->ring[ring].first)) {
		struct salvo_gpu_job *first = jobs->ring[ring].first;

		jobs->ring[ring].first = first->ring_next;
		retire_locked(jobs, first);
		starved = jobs->ring[ring].starved;
	}
	if (starved)
		jobs->ring[ring].starved = false;
	return starved;
}

static bool done_locked(struct salvo_gpu_jobs *jobs, struct salvo_gpu_job *job)
{
	job->done = true;
	return retire_ring_locked(jobs, job->ring);
}

/*
 * One struct drm_salvo_profile for each command, through the file: it cannot fault. In the
 * process of an address space there is no file, and what was checked stays mapped.
 */
static void write_profile(struct salvo_gpu_job *job)
{
	const struct salvo_gpu_config *config = &job->gpu->config;
	const uint64_t base = (uintptr_t)job->gpu->aspaces.base;
	struct drm_salvo_profile profile[64];
	off_t at = (off_t)(config->vram_offset + (job->profile - base));
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
		if (job->gpu->aspaces.given)
			memcpy((void *)(uintptr_t)(job->profile + i * sizeof(profile[0])), profile,
			       n * sizeof(profile[0]));
		else if (pwrite(config->vram_fd, profile, n * sizeof(profile[0]), at) < 0)
			return;
		at += n * sizeof(profile[0]);
	}
}

/* All of the job is done. Returns the next one of its context, to be started. */
static struct salvo_gpu_job *finish(struct salvo_gpu_job *job)
{
	struct salvo_gpu *gpu = job->gpu;
	struct salvo_gpu_jobs *jobs = &gpu->jobs;
	uint32_t pending = SALVO_STATUS_PENDING;
	struct salvo_gpu_job *next;
	bool starved;

	atomic_compare_exchange_strong(&job->status, &pending, SALVO_STATUS_DONE);
	if (job->profile)
		write_profile(job);

	pthread_mutex_lock(&jobs->lock);
	job->ended = salvo_clock();
	next = leave_context_locked(jobs, job);
	starved = done_locked(jobs, job);
	pthread_mutex_unlock(&jobs->lock);

	if (starved)
		salvo_gpu_run_rings(gpu, ~0u);
	return next;
}

/*
 * An element is ready. It is pushed now, or later with those that become ready right after
 * it: @head is what was not pushed yet. Return: what is not pushed yet now.
 */
static struct salvo_element *push_soon(struct salvo_gpu_job *job, struct salvo_element *head,
				       struct salvo_element *element)
{
	struct salvo_element *run = salvo_element_coalesce(head, element);

	if (run)
		return run;
	if (head)
		salvo_eus_push(&job->gpu->eus, head);
	return element;
}

static void start(struct salvo_gpu_job *job)
{
	const uint64_t now = job->profile ? salvo_clock() : 0;
	struct salvo_element *head = NULL;
	uint32_t i;

	/* Before the first push: from then on units change elements. */
	for (i = 0; job->profile && i < job->commands; i++)
		job->elements[i].ready = now;
	for (i = 0; i < job->commands; i++)
		if (job->elements[i].root)
			head = push_soon(job, head, &job->elements[i]);
	if (head)
		salvo_eus_push(&job->gpu->eus, head);
}

bool salvo_gpu_job_put(struct salvo_gpu_job *job, uint32_t count)
{
	bool ended = false;

	while (job && atomic_fetch_sub_explicit(&job->left, count,
						memory_order_acq_rel) == count) {
		job = finish(job);
		if (job)
			start(job);
		count = 1;
		ended = true;
	}
	return ended;
}

void salvo_gpu_job_end(struct salvo_gpu_job *job)
{
	struct salvo_gpu *gpu = job->gpu;
	uint32_t pending = SALVO_STATUS_PENDING;
	bool starved;

	atomic_compare_exchange_strong(&job->status, &pending, SALVO_STATUS_DONE);
	pthread_mutex_lock(&gpu->jobs.lock);
	/* The process said when, if it came to that. */
	if (!job->ended)
		job->ended = salvo_clock();
	starved = done_locked(&gpu->jobs, job);
	pthread_mutex_unlock(&gpu->jobs.lock);
	if (starved)
		salvo_gpu_run_rings(gpu, ~0u);
}

void salvo_gpu_job_submit(struct salvo_gpu_job *job)
{
	struct salvo_gpu_jobs *jobs = &job->gpu->jobs;
	struct salvo_spaces *spaces = job->gpu->spaces;
	/* A packet that hides memory and then fails has hidden it all the same. */
	const bool over = job->entry.ctx ? job->status != SALVO_STATUS_PENDING :
					   !(spaces && job->unbinds);
	const unsigned int ring = job->ring;
	bool first = false;

	/* One for each element, and one for whoever starts the job. */
	job->left = job->work + 1;
	job->fence = job->entry.seqno;
	job->irqs = !!(job->entry.flags & SALVO_RING_IRQ);
	if (over) {
		if (job->status == SALVO_STATUS_PENDING)
			job->status = SALVO_STATUS_DONE;
		job->started = salvo_clock();
		job->ended = job->started;
	}

	pthread_mutex_lock(&jobs->lock);
	if (over && !job->entry.ctx && jobs->ring[ring].first) {
		retire_with_last_locked(jobs, job);
		pthread_mutex_unlock(&jobs->lock);
		return;
	}
	if (jobs->ring[ring].first)
		jobs->ring[ring].last->ring_next = job;
	else
		jobs->ring[ring].first = job;
	jobs->ring[ring].last = job;
	if (over) {
		/* Its ring does not wait: this job was taken from it just now. */
		done_locked(jobs, job);
	} else if (!spaces) {
		first = join_context_locked(jobs, job);
	}
	pthread_mutex_unlock(&jobs->lock);

	if (!over && spaces)
		job->gpu->config.isolation->submit(spaces, job);

	if (first) {
		start(job);
		salvo_gpu_job_put(job, 1);
	}
}

void salvo_gpu_job_release(struct salvo_gpu_job *job, struct salvo_element *element)
{
	struct salvo_element *head = NULL;
	uint32_t at;

	if (job->profile)
		element->ended = salvo_clock();
	for (at = element->first_edge; at != SALVO_EDGE_NONE; at = job->edges[at].next) {
		struct salvo_element *consumer = &job->elements[job->edges[at].consumer];

		if (atomic_fetch_sub_explicit(&consumer->producers, 1, memory_order_acq_rel) != 1)
			continue;
		if (job->profile)
			consumer->ready = salvo_clock();
		/* The consumers of a join have items, so this goes one deep only. */
		if (consumer->kind == SALVO_ELEMENT_JOIN)
			salvo_gpu_job_release(job, consumer);
		else
			head = push_soon(job, head, consumer);
	}
	if (head)
		salvo_eus_push(&job->gpu->eus, head);
}

void salvo_gpu_job_fail(struct salvo_gpu_job *job, uint32_t command,
			const struct salvo_fault *fault)
{
	/* Kinds up to that one are those of packets that are refused. */
	const uint32_t status = fault->kind <= SALVO_FAULT_PACKET ? SALVO_STATUS_BAD_PACKET :
								   SALVO_STATUS_FAULT;
	uint32_t pending = SALVO_STATUS_PENDING;
	struct salvo_fault record = *fault;

	/* The result is written only when this unit has settled with the job. */
	if (!atomic_compare_exchange_strong(&job->status, &pending, status))
		return;
	job->failed_command = command;
	record.seqno = job->entry.seqno;
	record.asid = job->entry.asid;
	record.ctx = job->entry.ctx;
	record.command = command;
	job->fault = record;
	salvo_fault_record(&job->gpu->faults, &record);
	atomic_fetch_add(&job->gpu->fault_irqs, 1);
}

bool salvo_gpu_jobs_kill(struct salvo_gpu_jobs *jobs, uint32_t ctx)
{
	bool left = false;
	unsigned int i;

	pthread_mutex_lock(&jobs->lock);
	for (i = 0; i < SALVO_MAX_RINGS; i++) {
		struct salvo_gpu_job *job;

		for (job = jobs->ring[i].first; job; job = job->ring_next) {
			uint32_t pending = SALVO_STATUS_PENDING;

			if (job->entry.ctx != ctx || job->done)
				continue;
			atomic_compare_exchange_strong(&job->status, &pending,
						       SALVO_STATUS_KILLED);
			left = true;
		}
	}
	pthread_mutex_unlock(&jobs->lock);
	/* A unit whose job has not been given up takes no notice. */
	if (left && jobs->gpu->spaces)
		jobs->gpu->config.isolation->kill(jobs->gpu->spaces, ctx);
	else if (left && jobs->gpu->config.contain_faults)
		salvo_eus_stop_kernels(&jobs->gpu->eus);
	return left;
}

void salvo_gpu_jobs_inject(struct salvo_gpu_jobs *jobs, const struct salvo_inject *inject)
{
	pthread_mutex_lock(&jobs->lock);
	jobs->inject = *inject;
	pthread_mutex_unlock(&jobs->lock);
}

void salvo_gpu_jobs_retire(struct salvo_gpu_jobs *jobs)
{
	bool starved = false;
	unsigned int i;

	pthread_mutex_lock(&jobs->lock);
	for (i = 0; i < SALVO_MAX_RINGS; i++)
		starved |= retire_ring_locked(jobs, i);
	if (jobs->inject.stuck_units)
		salvo_inject_stick(jobs->gpu->regs);
	pthread_mutex_unlock(&jobs->lock);
	if (starved)
		salvo_gpu_run_rings(jobs->gpu, ~0u);
}

void salvo_gpu_jobs_drain(struct salvo_gpu_jobs *jobs)
{
	uint32_t pending;
	unsigned int i;

	pthread_mutex_lock(&jobs->lock);
	for (i = 0; i < SALVO_MAX_RINGS; i++) {
		struct salvo_gpu_job *job;

		for (job = jobs->ring[i].first; job; job = job->ring_next) {
			pending = SALVO_STATUS_PENDING;
			atomic_compare_exchange_strong(&job->status, &pending,
						       SALVO_STATUS_KILLED);
			/* No fence is late any more, nor will it be. */
			job->injected.counted = true;
			job->injected.until = 0;
		}
		retire_ring_locked(jobs, i);
	}
	if (jobs->gpu->spaces) {
		pthread_mutex_unlock(&jobs->lock);
		jobs->gpu->config.isolation->stop(jobs->gpu->spaces);
		pthread_mutex_lock(&jobs->lock);
	}
	while (jobs->in_flight) {
		const struct timespec time = salvo_clock_in(PATIENCE_NS);

		salvo_gpu_beat(jobs->gpu);
		/* A kernel that does not come to the end of its group is left by force. */
		if (pthread_cond_clockwait(&jobs->idle, &jobs->lock, CLOCK_MONOTONIC, &time) &&
		    !jobs->gpu->spaces && jobs->gpu->config.contain_faults)
			salvo_eus_stop_kernels(&jobs->gpu->eus);
	}
	for (i = 0; i < SALVO_MAX_RINGS; i++)
		jobs->ring[i].starved = false;
	for (i = 0; i < SALVO_JOBS; i++)
		free_buffers(&jobs->all[i]);
	pthread_mutex_unlock(&jobs->lock);
}
