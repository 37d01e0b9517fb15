/* SPDX-License-Identifier: MIT */
/*
 * overlap.h - batches of a queue that overlap
 */
#ifndef SALVO_LIB_OVERLAP_H
#define SALVO_LIB_OVERLAP_H

#include <linux/types.h>

struct salvo_batch;
struct salvo_overlap;

void salvo_overlap_destroy(struct salvo_overlap *overlap);

/**
 * salvo_overlap_link() - Find out what of a batch has to wait for the batch before it.
 * @overlap: Of the queue, or NULL.
 * @batch: Has been analysed, if its hazards are tracked.
 *
 * Sets the batch's links, and makes room for salvo_overlap_submitted().
 *
 * Return: DRM_SALVO_SUBMIT_OVERLAP, or 0 if it has to wait for all of that batch.
 */
__u32 salvo_overlap_link(struct salvo_overlap *overlap, struct salvo_batch *batch);

/**
 * salvo_overlap_submitted() - The batch of the last salvo_overlap_link() was submitted.
 *
 * If there was no memory to remember it, the next batch waits for all of it.
 */
void salvo_overlap_submitted(struct salvo_overlap *overlap, const struct salvo_batch *batch);

#endif /* SALVO_LIB_OVERLAP_H */
