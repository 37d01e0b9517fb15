/* SPDX-License-Identifier: MIT */
/*
 * queues.h - all command queues of a GPU, and the units that take from them
 */
#ifndef SALVO_QUEUES_H
#define SALVO_QUEUES_H

#include <stdbool.h>
#include <stdint.h>
#include "contention.h"
#include "gcq.h"
#include "parking.h"
#include "salvo_hw.h"
#include "topology.h"

struct salvo_element;
struct salvo_lcq;

/* Number of priorities; index 0 is the highest */
#define SALVO_PRIOS (SALVO_PRIORITY_HIGH - SALVO_PRIORITY_LOW + 1u)

/**
 * struct salvo_prio_queue - The queues of one priority.
 */
struct salvo_prio_queue {
	struct salvo_gcq gcq;
	/** @lcq: One for each far node, NULL for near ones. */
	struct salvo_lcq *lcq[SALVO_MAX_UNITS];
};

/**
 * struct salvo_queues - The queues of a GPU.
 */
struct salvo_queues {
	struct salvo_topology topology;
	/** @all: Mask of all units. */
	uint64_t all;
	/** @core: Core that each unit is pinned to, or -1. */
	int core[SALVO_MAX_UNITS];
	/** @parking: @own_parking, or memory shared with a waker in another process. */
	struct salvo_parking *parking;
	struct salvo_parking own_parking;
	/** @prio: By priority index. */
	struct salvo_prio_queue prio[SALVO_PRIOS];
	/** @counts_waiters: @waiters is right, so that units may work alone. */
	bool counts_waiters;
	/** @excludes: No one else updates memory by atomic operations while the units run. */
	bool excludes;
	/** @waiters: Threads that sleep until a batch is done. */
	_Atomic uint32_t waiters __attribute__((aligned(64)));
	/** @alone: Units that have woken none for the rest of what they took. */
	_Atomic uint64_t alone;
	/** @expecter: The thread that woke a unit in advance, until it waits; or 0. */
	_Atomic uintptr_t expecter;
	/** @expected_ns: When it did. */
	_Atomic uint64_t expected_ns;
	/** @expected_here: The unit is on its own core. */
	_Atomic bool expected_here;
	/** @waiter: The thread that last waited soon after that, or 0. */
	_Atomic uintptr_t waiter;
	/** @several: So many submissions wake two units in advance. */
	_Atomic uint32_t several;
	/** @waking_ns: When a unit woke another one that has not run since, or 0. */
	_Atomic uint64_t waking_ns;
	/** @latency_ns: History of how long it takes until such a unit runs. */
	_Atomic uint64_t latency_ns;
	/** @owner: Mask of the unit that keeps others from running, or 0; see exclusion.c. */
	_Atomic uint64_t owner __attribute__((aligned(64)));
	/** @far: Some node is far. */
	bool far;
	/** @contention: Of kernels. */
	struct salvo_contention contention;
};

/**
 * salvo_queues_init() - Create empty queues.
 * @topology: Copied.
 * @parking: Zeroed memory shared with another process, or NULL.
 *
 * Return: 0 or -ENOMEM.
 */
int salvo_queues_init(struct salvo_queues *queues, const struct salvo_topology *topology,
		      struct salvo_parking *parking);
void salvo_queues_fini(struct salvo_queues *queues);

/**
 * salvo_queues_prio() - The index of a SALVO_PRIORITY_*.
 */
static inline unsigned int salvo_queues_prio(int32_t priority)
{
	return SALVO_PRIORITY_HIGH - priority;
}

/**
 * salvo_queues_push() - Append a ready element to its priority's queue and wake a unit for it.
 *
 * Publishes the element: units may run it, and its job may end, before this returns.
 * Any thread may call it.
 */
void salvo_queues_push(struct salvo_queues *queues, struct salvo_element *element);

/**
 * salvo_queues_begin_wait() - The caller is about to sleep until a batch is done.
 *
 * Wakes all units if one works alone: its kernel might wait for work-groups that it has left.
 */
void salvo_queues_begin_wait(struct salvo_queues *queues);
void salvo_queues_end_wait(struct salvo_queues *queues);

/**
 * salvo_queues_note_wait() - The caller begins to wait until a batch is done, by polling first.
 */
void salvo_queues_note_wait(struct salvo_queues *queues);

/**
 * salvo_queues_note_wake() - A unit had to wake another one for a part of its work.
 */
void salvo_queues_note_wake(struct salvo_queues *queues);

/**
 * salvo_queues_note_awake() - The calling unit has slept, and runs again.
 */
void salvo_queues_note_awake(struct salvo_queues *queues);

/**
 * salvo_queues_expect() - Elements will be pushed soon: if all units sleep, wake one now, or two.
 */
void salvo_queues_expect(struct salvo_queues *queues);

#endif /* SALVO_QUEUES_H */
