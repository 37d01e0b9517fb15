// SPDX-License-Identifier: MIT
/*
 * jobs.c - all packets in the device: order of rings and contexts, fences
 *
 * A job is in two orders. Jobs of one context run one after the other, in the
 * order of the ring, unless they allow the next one to start early (overlap.c);
 * jobs of different contexts overlap. Fences retire in the
 * order of the ring, whatever order the jobs end in (B11 of WO2015/123840).
 *
 * A job that is done retires when all before it in the ring have. To retire is
 * to write the result, then the fence register, then to count one interrupt
 * (B6), which is raised when no lock is held. inject.c may modify each of these.
 *
 * With SALVO_RING_REPORT result and interrupt do not wait for the jobs before it. Such a job then
 * retires together with the one before it: the fence register, which has one value for both, never
 * says that a job with a result is the oldest, so a driver can wait for the fence of the oldest.
 *
 * The lock protects both orders and the free list. It is never held while work
 * is pushed or the owner is called. Above it: cp_lock of gpu.c; below it: none.
 */
#include "jobs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "clock.h"
#include "dma.h"
#include "irq.h"
#include "isolation.h"
#include "overlap.h"

int salvo_gpu_jobs_init(struct salvo_gpu_jobs *jobs)
{
	unsigned int i;

	jobs->all = aligned_alloc(64, SALVO_JOBS * sizeof(jobs->all[0]));
	if (!jobs->all)
		return -ENOMEM;
	memset(jobs->all, 0, SALVO_JOBS * sizeof(jobs->all[0]));
	for (i = 0; i < SALVO_JOBS; i++) {
		jobs->all[i].jobs = jobs;
		jobs->all[i].ring_next = jobs->free;
		jobs->free = &jobs->all[i];
	}
	for (i = 0; i < SALVO_MAX_RINGS; i++)
		jobs->ring[i].room = SALVO_RING_JOBS;
	pthread_mutex_init(&jobs->lock, NULL);
	pthread_cond_init(&jobs->idle, NULL);
	return 0;
}

void salvo_gpu_jobs_fini(struct salvo_gpu_jobs *jobs)
{
	unsigned int i;

	for (i = 0; i < SALVO_JOBS; i++)
		salvo_gpu_job_free_buffers(&jobs->all[i]);
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
	job->faulted = SALVO_STATUS_PENDING;
	job->started = 0;
	job->busy_ns = 0;
	job->ended = 0;
	job->done = false;
	job->reported = false;
	job->overlaps = false;
	job->previous = NULL;
	job->turn = NULL;
	job->has_turn = false;
	job->early = false;
	job->sealed = false;
	job->apart = false;
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

void salvo_gpu_jobs_discard(struct salvo_gpu_job *job)
{
	struct salvo_gpu_jobs *jobs = job->jobs;

	pthread_mutex_lock(&jobs->lock);
	free_locked(jobs, job);
	pthread_mutex_unlock(&jobs->lock);
}

static uint64_t context_key(const struct salvo_gpu_job *job)
{
	return (uint64_t)job->entry.asid << 32 | job->entry.ctx;
}

/* Returns the place of the job's context; that after the last one if it has no job in flight. */
static unsigned int find_context_locked(const struct salvo_gpu_jobs *jobs,
					const struct salvo_gpu_job *job)
{
	const uint64_t key = context_key(job);
	unsigned int i;

	for (i = 0; i < jobs->context_count && jobs->contexts[i].key != key; i++)
		;
	return i;
}

/* Returns the job before it in its context, or NULL if the job is the first. */
static struct salvo_gpu_job *join_context_locked(struct salvo_gpu_jobs *jobs,
						 struct salvo_gpu_job *job)
{
	const unsigned int i = find_context_locked(jobs, job);
	struct salvo_gpu_job *before = NULL;

	if (i < jobs->context_count) {
		before = jobs->contexts[i].last;
		before->ctx_next = job;
	} else {
		jobs->contexts[i].key = context_key(job);
		jobs->context_count++;
	}
	jobs->contexts[i].last = job;
	return before;
}

/* The job is refused: what follows it has no job before it to overlap with. */
static void seal_context_locked(struct salvo_gpu_jobs *jobs, const struct salvo_gpu_job *job)
{
	const unsigned int i = find_context_locked(jobs, job);

	if (i < jobs->context_count)
		jobs->contexts[i].last->sealed = true;
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

/* A driver that does not wait for the fence looks at the status alone, so it is written last. */
static void write_ordered(const struct salvo_gpu_job *job, struct salvo_packet_result *result)
{
	const uint32_t status = result->status;

	result->status = SALVO_STATUS_PENDING;
	salvo_dma_write(job->jobs->dma, job->result, result, sizeof(*result));
	atomic_thread_fence(memory_order_release);
	salvo_dma_write(job->jobs->dma,
			job->result + offsetof(struct salvo_packet_result, status), &status,
			sizeof(status));
}

static void write_result(const struct salvo_gpu_job *job)
{
	struct salvo_packet_result result = {
		.status = job->status,
		.command = job->failed_command,
		.started = job->started,
		.ended = job->ended,
		.busy_ns = job->busy_ns,
		.done = job->status == SALVO_STATUS_DONE ? job->commands : job->ended_well,
		.fault = job->fault.kind,
		.address = job->fault.address,
		.group = job->fault.group,
		.item = job->fault.item,
		.access = job->fault.access,
	};

	if (!job->result || job->reported)
		return;
	if (job->injected.bad_result)
		salvo_inject_spoil(&result);
	if (job->entry.flags & SALVO_RING_REPORT)
		write_ordered(job, &result);
	else
		salvo_dma_write(job->jobs->dma, job->result, &result, sizeof(result));
}

static void retire_locked(struct salvo_gpu_jobs *jobs, struct salvo_gpu_job *job)
{
	struct salvo_gpu_job *next = job->ring_next;

	write_result(job);
	if (next && next->reported) {
		next->irqs += job->irqs;
		free_locked(jobs, job);
		return;
	}
	__atomic_store_n(&jobs->regs->ring[job->ring].fence, job->fence + job->injected.add,
			 __ATOMIC_RELEASE);
	if (job->injected.corrupt)
		salvo_inject_corrupt(&job->injected, jobs->regs);
	if (job->irqs && !job->injected.lost_irq)
		atomic_fetch_add(&jobs->irqs->fence, job->irqs);
	free_locked(jobs, job);
}

/*
 * An address space packet that is done need not keep a job while those before it run: its fence
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

/* Does an injected fault delay the fence of a job that is done, at the head of its ring? */
static bool is_late_locked(struct salvo_gpu_jobs *jobs, struct salvo_gpu_job *job)
{
	if (jobs->inject.count && job->entry.ctx && !job->injected.counted)
		salvo_inject_count(&jobs->inject, &job->injected);
	return job->injected.until && salvo_clock() < job->injected.until;
}

/* Returns whether the ring was starved and has a free job now. */
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

/* The result and the interrupt of a job that is done do not wait for those before it. */
static void report_locked(struct salvo_gpu_jobs *jobs, struct salvo_gpu_job *job)
{
	if (!(job->entry.flags & SALVO_RING_REPORT) || !job->result || jobs->inject.count)
		return;
	write_result(job);
	job->reported = true;
	if (job->irqs) {
		job->irqs--;
		atomic_fetch_add(&jobs->irqs->fence, 1);
	}
}

static bool done_locked(struct salvo_gpu_jobs *jobs, struct salvo_gpu_job *job)
{
	job->done = true;
	if (jobs->ring[job->ring].first != job)
		report_locked(jobs, job);
	return retire_ring_locked(jobs, job->ring);
}

bool salvo_gpu_jobs_finish(struct salvo_gpu_job *job, struct salvo_gpu_job **next,
			   struct salvo_gpu_job **early)
{
	struct salvo_gpu_jobs *jobs = job->jobs;
	bool starved;

	*early = NULL;
	pthread_mutex_lock(&jobs->lock);
	job->ended = salvo_clock();
	*next = leave_context_locked(jobs, job);
	if (*next) {
		(*next)->has_turn = true;
		if ((*next)->ctx_next && salvo_gpu_overlap_begin(*next, (*next)->ctx_next))
			*early = (*next)->ctx_next;
	}
	starved = done_locked(jobs, job);
	pthread_mutex_unlock(&jobs->lock);
	return starved;
}

bool salvo_gpu_jobs_end(struct salvo_gpu_job *job)
{
	struct salvo_gpu_jobs *jobs = job->jobs;
	uint32_t pending = SALVO_STATUS_PENDING;
	bool starved;

	atomic_compare_exchange_strong(&job->status, &pending, SALVO_STATUS_DONE);
	pthread_mutex_lock(&jobs->lock);
	/* Set already if the process reported a time. */
	if (!job->ended)
		job->ended = salvo_clock();
	starved = done_locked(jobs, job);
	pthread_mutex_unlock(&jobs->lock);
	return starved;
}

void salvo_gpu_jobs_submit(struct salvo_gpu_job *job)
{
	struct salvo_gpu_jobs *jobs = job->jobs;
	struct salvo_spaces *spaces = job->jobs->spaces;
	/* A packet that unmaps memory and then fails has unmapped it all the same. */
	const bool over =
		job->entry.ctx ? job->status != SALVO_STATUS_PENDING : !(spaces && job->unbinds);
	const unsigned int ring = job->ring;
	struct salvo_gpu_job *before;
	bool early = false, has_turn;

	/* One for each element, and one for the thread that starts the job. */
	job->left = job->work + 1;
	job->fence = job->entry.seqno;
	job->irqs = !!(job->entry.flags & SALVO_RING_IRQ);
	if (over) {
		if (job->status == SALVO_STATUS_PENDING)
			job->status = SALVO_STATUS_DONE;
		job->started = salvo_clock();
		job->ended = job->started;
	}
	if (over && spaces && job->entry.ctx)
		jobs->isolation->refused(spaces, job->entry.asid);

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
		seal_context_locked(jobs, job);
		/* Its ring is not starved: this job was just taken from it. */
		done_locked(jobs, job);
	} else if (!spaces) {
		before = join_context_locked(jobs, job);
		job->has_turn = !before;
		early = before && salvo_gpu_overlap_begin(before, job);
	}
	has_turn = job->has_turn;
	pthread_mutex_unlock(&jobs->lock);

	if (!over && spaces)
		jobs->isolation->submit(spaces, job);

	/* Nor is it here, and this thread runs the rings already. */
	if (has_turn) {
		salvo_gpu_job_start(job);
		salvo_gpu_job_put(job, 1);
	} else if (early) {
		salvo_gpu_overlap_start(job);
	}
}

/* Returns false if its status was set before. */
static bool set_killed(struct salvo_gpu_job *job)
{
	uint32_t pending = SALVO_STATUS_PENDING;

	return atomic_compare_exchange_strong(&job->status, &pending, SALVO_STATUS_KILLED);
}

static bool has_unit(const struct salvo_gpu_job *job)
{
	const struct salvo_unit_regs *unit = job->jobs->regs->unit;
	unsigned int i;

	for (i = 0; i < SALVO_MAX_UNITS; i++)
		if (__atomic_load_n(&unit[i].state, __ATOMIC_RELAXED) == SALVO_UNIT_BUSY &&
		    __atomic_load_n(&unit[i].ctx, __ATOMIC_RELAXED) == job->entry.ctx &&
		    __atomic_load_n(&unit[i].seqno, __ATOMIC_RELAXED) == job->entry.seqno)
			return true;
	return false;
}

/*
 * May a unit run a kernel of a job that was killed before? One without its turn may wait long for
 * it, if the job before it is not killed.
 */
static bool may_run_locked(const struct salvo_gpu_jobs *jobs, const struct salvo_gpu_job *job)
{
	return jobs->spaces || job->has_turn || has_unit(job);
}

bool salvo_gpu_jobs_kill(struct salvo_gpu_jobs *jobs, uint32_t ctx, uint64_t from)
{
	struct salvo_gpu_job *job;
	bool left = false;
	unsigned int i;

	pthread_mutex_lock(&jobs->lock);
	for (i = 0; i < SALVO_MAX_RINGS; i++)
		for (job = jobs->ring[i].first; job; job = job->ring_next) {
			if (job->entry.ctx != ctx || job->entry.seqno < from || job->done)
				continue;
			/* A unit that starts with it now shows that by the next time. */
			left |= set_killed(job);
			left |= may_run_locked(jobs, job);
		}
	pthread_mutex_unlock(&jobs->lock);
	return left;
}

void salvo_gpu_jobs_inject(struct salvo_gpu_jobs *jobs, const struct salvo_inject *inject)
{
	pthread_mutex_lock(&jobs->lock);
	jobs->inject = *inject;
	pthread_mutex_unlock(&jobs->lock);
}

bool salvo_gpu_jobs_retire(struct salvo_gpu_jobs *jobs)
{
	bool starved = false;
	unsigned int i;

	pthread_mutex_lock(&jobs->lock);
	for (i = 0; i < SALVO_MAX_RINGS; i++)
		starved |= retire_ring_locked(jobs, i);
	if (jobs->inject.stuck_units)
		salvo_inject_stick(jobs->regs);
	pthread_mutex_unlock(&jobs->lock);
	return starved;
}

void salvo_gpu_jobs_kill_all(struct salvo_gpu_jobs *jobs)
{
	struct salvo_gpu_job *job;
	unsigned int i;

	pthread_mutex_lock(&jobs->lock);
	for (i = 0; i < SALVO_MAX_RINGS; i++) {
		for (job = jobs->ring[i].first; job; job = job->ring_next) {
			set_killed(job);
			/* No injected delay from now on. */
			job->injected.counted = true;
			job->injected.until = 0;
		}
		retire_ring_locked(jobs, i);
	}
	pthread_mutex_unlock(&jobs->lock);
}

bool salvo_gpu_jobs_wait_idle(struct salvo_gpu_jobs *jobs, uint64_t ns)
{
	const struct timespec time = salvo_clock_in(ns);
	bool idle;

	pthread_mutex_lock(&jobs->lock);
	while (jobs->in_flight &&
	       !pthread_cond_clockwait(&jobs->idle, &jobs->lock, CLOCK_MONOTONIC, &time))
		;
	idle = !jobs->in_flight;
	pthread_mutex_unlock(&jobs->lock);
	return idle;
}

void salvo_gpu_jobs_reset(struct salvo_gpu_jobs *jobs)
{
	unsigned int i;

	pthread_mutex_lock(&jobs->lock);
	for (i = 0; i < SALVO_MAX_RINGS; i++)
		jobs->ring[i].starved = false;
	for (i = 0; i < SALVO_JOBS; i++)
		salvo_gpu_job_free_buffers(&jobs->all[i]);
	pthread_mutex_unlock(&jobs->lock);
}
