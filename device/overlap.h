/* SPDX-License-Identifier: MIT */
/*
 * overlap.h - batches that start before the one before them in their context is done
 */
#ifndef SALVO_OVERLAP_H
#define SALVO_OVERLAP_H

#include <stdbool.h>

struct salvo_element;
struct salvo_gpu_job;

/**
 * salvo_gpu_overlap_add_previous() - A pipe control for a command of the job before was parsed.
 * @control: The element of the pipe control.
 */
void salvo_gpu_overlap_add_previous(struct salvo_gpu_job *job, struct salvo_element *control);

/**
 * salvo_gpu_overlap_add_turn() - A join waits also for the end of the job before.
 */
void salvo_gpu_overlap_add_turn(struct salvo_gpu_job *job, struct salvo_element *join);

/**
 * salvo_gpu_overlap_begin() - Let a job start early, if it may.
 * @before: The job before it in its context.
 *
 * Called with the lock of jobs.c held.
 *
 * Return: whether it may; then the caller calls salvo_gpu_overlap_start() without the lock.
 */
bool salvo_gpu_overlap_begin(struct salvo_gpu_job *before, struct salvo_gpu_job *job);

/**
 * salvo_gpu_overlap_start() - Push what is ready of a job that starts early.
 *
 * Return: enum salvo_gpu_job_events.
 */
unsigned int salvo_gpu_overlap_start(struct salvo_gpu_job *job);

/**
 * salvo_gpu_overlap_take_turn() - The job before is done: push what waited for that.
 *
 * The caller holds a reference.
 */
void salvo_gpu_overlap_take_turn(struct salvo_gpu_job *job);

/**
 * salvo_gpu_overlap_release() - An element is done: push the elements of the next job that
 *				 waited for it last.
 */
void salvo_gpu_overlap_release(struct salvo_element *element);

#endif /* SALVO_OVERLAP_H */
