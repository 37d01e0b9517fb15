/* SPDX-License-Identifier: MIT */
/*
 * isolation.h - what a GPU asks of the code that runs batches outside of its process
 */
#ifndef SALVO_ISOLATION_H
#define SALVO_ISOLATION_H

#include <stdbool.h>
#include <stdint.h>

struct salvo_gpu;
struct salvo_gpu_job;
struct salvo_spaces;

/**
 * struct salvo_isolation - How a GPU's batches run outside of its process; space.c does it.
 *
 * All are called by the command processor or with its lock held, but for @poll and @sample.
 */
struct salvo_isolation {
	/** @create: Before the GPU has a thread. Return: 0 or -errno. */
	int (*create)(struct salvo_gpu *gpu, struct salvo_spaces **out);
	/** @destroy: No job is in flight. */
	void (*destroy)(struct salvo_spaces *spaces);
	/** @submit: Run a job, or have it done when what it unbinds is out of reach. */
	void (*submit)(struct salvo_spaces *spaces, struct salvo_gpu_job *job);
	/** @changed: An address space has got other bindings, for jobs from now on. */
	void (*changed)(struct salvo_spaces *spaces, uint32_t asid);
	/** @kill: Jobs of a context were marked as killed. Again until none is left. */
	void (*kill)(struct salvo_spaces *spaces, uint32_t ctx);
	/** @stop: All jobs were marked as killed: end all spaces, return when they are gone. */
	void (*stop)(struct salvo_spaces *spaces);
	/**
	 * @poll: End what is done. If @stay, the caller looks again soon, and nobody is woken
	 * for that meanwhile. Return: whether jobs are on their way. No lock is held.
	 */
	bool (*poll)(struct salvo_spaces *spaces, bool stay);
	/** @sample: Show in the unit registers what the units run. */
	void (*sample)(struct salvo_spaces *spaces);
};

#endif /* SALVO_ISOLATION_H */
