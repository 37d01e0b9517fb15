/* SPDX-License-Identifier: MIT */
/*
 * isolation.h - what a GPU needs from the code that runs batches outside of its process
 */
#ifndef SALVO_ISOLATION_H
#define SALVO_ISOLATION_H

#include <stdbool.h>
#include <stdint.h>

struct salvo_gpu;
struct salvo_gpu_job;
struct salvo_op_attach;
struct salvo_spaces;

/**
 * struct salvo_isolation - How a GPU's batches run outside of its process; spaces.c does it.
 *
 * All but @poll, @sample and @wake_slots are called with the command processor's lock held.
 */
struct salvo_isolation {
	/** @create: Called before the GPU has a thread. Return: 0 or -errno. */
	int (*create)(struct salvo_gpu *gpu, struct salvo_spaces **out);
	/** @destroy: No job is in flight. */
	void (*destroy)(struct salvo_spaces *spaces);
	/** @submit: Run a job, or end it once what it unbinds is mapped nowhere. */
	void (*submit)(struct salvo_spaces *spaces, struct salvo_gpu_job *job);
	/** @refused: A batch of an address space was refused: the next one overlaps none. */
	void (*refused)(struct salvo_spaces *spaces, uint32_t asid);
	/** @changed: The bindings of an address space have changed, for jobs from now on. */
	void (*changed)(struct salvo_spaces *spaces, uint32_t asid);
	/**
	 * @attach: Attach units to a slot; the command is checked but for its address. Return:
	 * false if its number is in use, its memory is not bound, or there is no memory.
	 */
	bool (*attach)(struct salvo_spaces *spaces, uint32_t asid,
		       const struct salvo_op_attach *op);
	/** @detach: Detach a slot of an address space; a job that @unbinds waits for it. */
	void (*detach)(struct salvo_spaces *spaces, uint32_t asid, uint32_t slot);
	/** @end_slots: An address space ends: no slot of it is used any more. */
	void (*end_slots)(struct salvo_spaces *spaces, uint32_t asid);
	/** @wake_slots: Wake the units of slots whose slot_wake has changed. No lock is held. */
	void (*wake_slots)(struct salvo_spaces *spaces);
	/**
	 * @kill: End what runs of a context from seqno @from on, and its slots. @jobs: Some of its
	 * jobs were marked as killed and have not ended. Return: whether anything is left; then it
	 * is repeated.
	 */
	bool (*kill)(struct salvo_spaces *spaces, uint32_t ctx, uint64_t from, bool jobs);
	/** @stop: All jobs were marked as killed: end all processes, return when they are gone. */
	void (*stop)(struct salvo_spaces *spaces);
	/**
	 * @poll: End the jobs that are done. With @stay the caller polls again soon, and
	 * processes need not wake a thread meanwhile. Return: whether jobs are in flight. No lock
	 * is held.
	 */
	bool (*poll)(struct salvo_spaces *spaces, bool stay);
	/** @sample: Write into the unit registers what the units run. */
	void (*sample)(struct salvo_spaces *spaces);
};

#endif /* SALVO_ISOLATION_H */
