/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_wait.h - waits of jobs for fences of other drivers
 */
#ifndef SALVO_WAIT_H
#define SALVO_WAIT_H

struct dma_fence;
struct salvo_dev;
struct salvo_job;

int salvo_wait_add(struct salvo_job *job, struct dma_fence *fence);
void salvo_wait_end_all(struct salvo_job *job);
void salvo_wait_abort_all(struct salvo_dev *sdev);

#endif /* SALVO_WAIT_H */
