/* SPDX-License-Identifier: MIT */
/*
 * eu.h - execution units
 */
#ifndef SALVO_EU_H
#define SALVO_EU_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "salvo_hw.h"

struct salvo_aspaces;
struct salvo_eu;
struct salvo_gpu_recording;
struct salvo_irqs;
struct salvo_leaf_slots;
struct salvo_prio_slot;
struct salvo_queues;

/**
 * struct salvo_eus - The execution units of a GPU.
 */
struct salvo_eus {
	/** @regs, @queues, @aspaces, @irqs, @slots, @prio_slot: Set by the owner before init. */
	struct salvo_regs *regs;
	struct salvo_queues *queues;
	struct salvo_aspaces *aspaces;
	struct salvo_irqs *irqs;
	struct salvo_leaf_slots *slots;
	const struct salvo_prio_slot *prio_slot;
	/**
	 * @poll_doorbell: Handle doorbells that have come as a word in memory. Return: whether one
	 * had. NULL if doorbells are calls. Called with no lock held, as @run_rings is.
	 */
	bool (*poll_doorbell)(void *cookie);
	/** @run_rings: A ring that had no free job has one: read its next entries. */
	void (*run_rings)(void *cookie);
	/** @cookie: Handed to @poll_doorbell and @run_rings. */
	void *cookie;

	/** @leaf_ns: Where time in leaves is added; set by the owner. */
	__u64 *leaf_ns;
	/** @recording: Where the units record what they run, or NULL. */
	struct salvo_gpu_recording *_Atomic recording;
	struct salvo_eu *units;
	/** @count: Of @units. */
	unsigned int count;
	/** @ready: Threads that have started. */
	_Atomic uint32_t ready;
	/** @stop: The units' threads are to exit. */
	_Atomic bool stop;
};

/**
 * salvo_eus_init() - Start the units of the queues' topology.
 * @eus: Zeroed, but for the fields that the owner sets.
 *
 * Return: 0, -ENOMEM or -EAGAIN.
 */
int salvo_eus_init(struct salvo_eus *eus);

/**
 * salvo_eus_fini() - Stop the units. No job may be in flight.
 */
void salvo_eus_fini(struct salvo_eus *eus);

/**
 * salvo_eus_stop_kernels() - Make units leave kernels whose jobs were killed.
 *
 * Only for a GPU that contains faults.
 */
void salvo_eus_stop_kernels(struct salvo_eus *eus);

#endif /* SALVO_EU_H */
