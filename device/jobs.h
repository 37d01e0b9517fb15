/* SPDX-License-Identifier: MIT */
/*
 * jobs.h - all packets in the device: order of rings and contexts, fences
 */
#ifndef SALVO_JOBS_H
#define SALVO_JOBS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "inject.h"
#include "job.h"
#include "salvo_hw.h"

struct salvo_aspaces;
struct salvo_dma;
struct salvo_faults;
struct salvo_irqs;
struct salvo_isolation;
struct salvo_queues;
struct salvo_regs;
struct salvo_spaces;

/* Packets of one ring, and of all, in the device at one time; further ones wait in the ring. */
#define SALVO_RING_JOBS 128u
#define SALVO_JOBS (SALVO_MAX_RINGS * SALVO_RING_JOBS)

/**
 * struct salvo_gpu_jobs - All packets in the device.
 */
struct salvo_gpu_jobs {
	/** @regs, @dma, @aspaces, @faults, @irqs, @queues: Set by the owner before init. */
	struct salvo_regs *regs;
	const struct salvo_dma *dma;
	struct salvo_aspaces *aspaces;
	struct salvo_faults *faults;
	struct salvo_irqs *irqs;
	struct salvo_queues *queues;
	/** @isolation, @spaces: What runs batches instead of @queues, or NULL. */
	const struct salvo_isolation *isolation;
	struct salvo_spaces *spaces;
	struct salvo_gpu_job *all;
	/** @lock: Protects all below, and the jobs' fields that say so. */
	pthread_mutex_t lock;
	/** @idle: Signalled when @in_flight becomes 0. */
	pthread_cond_t idle;
	unsigned int in_flight;
	struct salvo_gpu_job *free;
	struct {
		struct salvo_gpu_job *first;
		struct salvo_gpu_job *last;
		/** @room: Jobs that the ring may still take. */
		unsigned int room;
		/** @starved: The command processor waits for one of them to become free. */
		bool starved;
	} ring[SALVO_MAX_RINGS];
	/** @contexts: Those with a job in flight, and their last job. */
	struct {
		uint64_t key;
		struct salvo_gpu_job *last;
	} contexts[SALVO_JOBS];
	unsigned int context_count;
	/** @inject: Faults that batches are to have. */
	struct salvo_inject inject;
};

/**
 * salvo_gpu_jobs_init() - Allocate the jobs.
 *
 * Return: 0 or -ENOMEM.
 */
int salvo_gpu_jobs_init(struct salvo_gpu_jobs *jobs);
void salvo_gpu_jobs_fini(struct salvo_gpu_jobs *jobs);

/**
 * salvo_gpu_jobs_take() - Get a job for a new packet of a ring.
 *
 * Return: NULL if all jobs of the ring are in flight. Once one is free the last put or
 * salvo_gpu_jobs_end() returns SALVO_GPU_JOB_STARVED.
 */
struct salvo_gpu_job *salvo_gpu_jobs_take(struct salvo_gpu_jobs *jobs, unsigned int ring);

/**
 * salvo_gpu_jobs_discard() - Give back a job that was not submitted.
 */
void salvo_gpu_jobs_discard(struct salvo_gpu_job *job);

/**
 * salvo_gpu_jobs_submit() - Put a job into the order of its ring and context.
 *
 * A job with a status, or of context 0, is done at once, unless it unmaps memory of a process.
 * Others start when the previous job of their context is done, or overlap with it.
 */
void salvo_gpu_jobs_submit(struct salvo_gpu_job *job);

/**
 * salvo_gpu_jobs_finish() - The last reference to a job that ran on @queues is gone: retire it.
 * @next: Gets the next job of its context, which the caller starts; or NULL.
 * @early: Gets the one after that if it may start early: the caller starts it, too; or NULL.
 *
 * Return: whether the job's ring was starved and has a free job now.
 */
bool salvo_gpu_jobs_finish(struct salvo_gpu_job *job, struct salvo_gpu_job **next,
			   struct salvo_gpu_job **early);

/**
 * salvo_gpu_jobs_end() - A job that another process ran is done: retire it.
 *
 * Return: whether the job's ring was starved and has a free job now.
 */
bool salvo_gpu_jobs_end(struct salvo_gpu_job *job);

/**
 * salvo_gpu_jobs_kill() - Mark jobs of a context as killed.
 * @from: Seqno of the first that is killed.
 *
 * Return: whether a unit may work for any. The caller stops their kernels and asks again later.
 */
bool salvo_gpu_jobs_kill(struct salvo_gpu_jobs *jobs, uint32_t ctx, uint64_t from);

/**
 * salvo_gpu_jobs_inject() - Replace the faults that batches are to have.
 */
void salvo_gpu_jobs_inject(struct salvo_gpu_jobs *jobs, const struct salvo_inject *inject);

/**
 * salvo_gpu_jobs_retire() - Retire jobs whose injected delay has passed.
 *
 * Return: whether a ring was starved and has a free job now.
 */
bool salvo_gpu_jobs_retire(struct salvo_gpu_jobs *jobs);

/**
 * salvo_gpu_jobs_kill_all() - Mark all jobs as killed. No ring takes further ones meanwhile.
 */
void salvo_gpu_jobs_kill_all(struct salvo_gpu_jobs *jobs);

/**
 * salvo_gpu_jobs_wait_idle() - Wait until no job is in flight, at most for @ns.
 *
 * Return: whether none is.
 */
bool salvo_gpu_jobs_wait_idle(struct salvo_gpu_jobs *jobs, uint64_t ns);

/**
 * salvo_gpu_jobs_reset() - Forget starved rings and free all buffers. No job is in flight.
 */
void salvo_gpu_jobs_reset(struct salvo_gpu_jobs *jobs);

#endif /* SALVO_JOBS_H */
