/* SPDX-License-Identifier: MIT */
/*
 * space_jobs.h - batches on their way to the process of an address space and back
 */
#ifndef SALVO_SPACE_JOBS_H
#define SALVO_SPACE_JOBS_H

#include "space.h"

/**
 * salvo_space_sent_at() - What was sent with a seqno of the process's ring.
 */
struct salvo_sent *salvo_space_sent_at(struct salvo_channel *channel, uint64_t seqno);

/** salvo_space_has_sent() - Has the process jobs? Killed ones do not count. */
bool salvo_space_has_sent(struct salvo_space *space);

/**
 * salvo_space_first_sent() - The first job of a context whose seqno is at least @from.
 *
 * Return: its seqno in the process, or 0.
 */
uint64_t salvo_space_first_sent(struct salvo_space *space, uint32_t ctx, uint64_t from);

/**
 * salvo_space_ring() - Ring the process's doorbell: for its rings, and for a kill request.
 */
void salvo_space_ring(struct salvo_space *space);

/**
 * salvo_space_send() - Send a job to the process.
 *
 * Return: false if there is no room now.
 */
bool salvo_space_send(struct salvo_space *space, struct salvo_gpu_job *job);

/**
 * salvo_space_add_done() - Add a job to a list of jobs to end.
 * @job: May be NULL.
 */
void salvo_space_add_done(struct salvo_gpu_job **done, struct salvo_gpu_job *job);

/**
 * salvo_space_fail() - A job faulted or could not be run.
 * @result: Details.
 */
void salvo_space_fail(struct salvo_gpu_job *job, uint32_t command, uint32_t kind,
		      const struct salvo_packet_result *result);

/**
 * salvo_space_collect() - Collect the jobs whose fences have moved.
 */
void salvo_space_collect(struct salvo_space *space, struct salvo_gpu_job **done);

/**
 * salvo_space_end_kill() - Check whether the jobs that the process was to kill have ended.
 */
void salvo_space_end_kill(struct salvo_space *space, struct salvo_gpu_job **done);

/**
 * salvo_space_reap() - The process has exited: fail its jobs, unmap its block.
 */
void salvo_space_reap(struct salvo_space *space, struct salvo_gpu_job **done);

#endif /* SALVO_SPACE_JOBS_H */
