/* SPDX-License-Identifier: MIT */
/*
 * cp.h - the command processor
 */
#ifndef SALVO_CP_H
#define SALVO_CP_H

struct salvo_gpu;
struct salvo_gpu_job;

/**
 * salvo_cp_run() - Fetch the packet of a job's ring entry, parse it and submit the job.
 * @job: Of salvo_gpu_jobs_take(), with its ring and ring entry.
 *
 * A packet that is refused fails its own fence; nothing of it runs. The caller
 * holds the command processor's lock.
 */
void salvo_cp_run(struct salvo_gpu *gpu, struct salvo_gpu_job *job);

#endif /* SALVO_CP_H */
