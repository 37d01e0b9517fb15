/* SPDX-License-Identifier: MIT */
/*
 * cp.h - the command processor
 */
#ifndef SALVO_CP_H
#define SALVO_CP_H

#include <stdint.h>

struct salvo_aspaces;
struct salvo_dma;
struct salvo_gpu_job;
struct salvo_isolation;
struct salvo_spaces;

/**
 * struct salvo_cp - What the command processor works with; set by the GPU, not changed later.
 */
struct salvo_cp {
	const struct salvo_dma *dma;
	struct salvo_aspaces *aspaces;
	/** @units: Mask of all units. */
	uint64_t units;
	/** @isolation, @spaces: What runs batches outside of this process, or NULL. */
	const struct salvo_isolation *isolation;
	struct salvo_spaces *spaces;
};

/**
 * salvo_cp_run() - Fetch the packet of a job's ring entry, parse it and submit the job.
 * @job: Of salvo_gpu_jobs_take(), with its ring and ring entry.
 *
 * A packet that is refused fails its own fence; nothing of it runs. The caller
 * holds the command processor's lock.
 */
void salvo_cp_run(struct salvo_cp *cp, struct salvo_gpu_job *job);

#endif /* SALVO_CP_H */
