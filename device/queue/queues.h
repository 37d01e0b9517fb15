/* SPDX-License-Identifier: MIT */
/*
 * queues.h - all command queues of a GPU, and how a unit gets its next chunk
 */
#ifndef SALVO_QUEUES_H
#define SALVO_QUEUES_H

#include <stdbool.h>
#include <stdint.h>
#include "gcq.h"
#include "salvo_hw.h"
#include "topology.h"

struct salvo_element;
struct salvo_lcq;
struct salvo_prio_slot;

/* One for each priority */
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
 * struct salvo_queues - The queues of a GPU; lane 0 has the highest priority.
 */
struct salvo_queues {
	struct salvo_topology topology;
	struct salvo_prio_queue prio[SALVO_PRIOS];
};

/**
 * struct salvo_worker_queue - Where one unit gets its work; only its own thread uses it.
 */
struct salvo_worker_queue {
	struct salvo_queues *queues;
	/** @unit: Its number. */
	unsigned int unit;
	/** @slot: At the board, where the unit sees what other processes run; or NULL. */
	const struct salvo_prio_slot *slot;
	/** @node: That the unit belongs to. */
	unsigned int node;
	/** @turn: Of a unit in a far node: its own place in the global queue comes first. */
	bool turn;
	/** @most: Items that it runs in about the time that a chunk may take. */
	uint32_t most;
	/** @most_elements: The same of elements in a run, in a shorter time; 1 after a rest. */
	uint32_t most_elements;
	/** @timed: Items of the last chunk if that was timed, else 0. */
	uint32_t timed;
	/** @timed_coalesced: They were elements. */
	bool timed_coalesced;
	/** @since: When that chunk was taken. */
	uint64_t since;
	/** @own: Its places in the global queues. */
	struct salvo_gcq_taker own[SALVO_PRIOS];
};

/**
 * salvo_queues_init() - Empty queues.
 * @topology: Copied.
 *
 * Return: 0 or -ENOMEM.
 */
int salvo_queues_init(struct salvo_queues *queues, const struct salvo_topology *topology);
void salvo_queues_fini(struct salvo_queues *queues);

/**
 * salvo_queues_prio() - The lane for a SALVO_PRIORITY_*.
 */
static inline unsigned int salvo_queues_prio(int32_t priority)
{
	return SALVO_PRIORITY_HIGH - priority;
}

/**
 * salvo_queues_push() - Append an element to its lane; see salvo_gcq_push().
 */
bool salvo_queues_push(struct salvo_queues *queues, struct salvo_element *element);

/**
 * salvo_worker_queue_init() - A new unit.
 * @unit: Its number.
 */
void salvo_worker_queue_init(struct salvo_worker_queue *queue, struct salvo_queues *queues,
			     unsigned int unit);

/**
 * struct salvo_worker_events - What others may have to be woken for.
 */
struct salvo_worker_events {
	/** @admitted: Elements that waited for an entry have entered a queue. */
	bool admitted;
	/** @fetched: The unit has ended a fetch for its node. */
	bool fetched;
	/** @yield: There may be work, but the unit must leave its core to another process. */
	bool yield;
};

/**
 * salvo_worker_queue_take() - The next chunk for the unit, of the highest priority that has one.
 *
 * May fetch for the unit's node.
 */
struct salvo_gcq_chunk salvo_worker_queue_take(struct salvo_worker_queue *queue,
					       struct salvo_worker_events *events);

/**
 * salvo_worker_queue_done() - A chunk is done.
 *
 * Return: how many items of its element the caller has to account for now.
 */
uint32_t salvo_worker_queue_done(struct salvo_worker_queue *queue,
				 const struct salvo_gcq_chunk *chunk);

/**
 * salvo_worker_queue_has_work() - Is it worth to ask?
 */
bool salvo_worker_queue_has_work(const struct salvo_worker_queue *queue);

/**
 * salvo_worker_queue_may_sleep() - Has the unit looked at all there is?
 *
 * False also while an entry is being written, or a slot of the local queue.
 */
bool salvo_worker_queue_may_sleep(const struct salvo_worker_queue *queue);

/**
 * salvo_worker_queue_others() - Units among @mask that there is work for, by a look near the own place.
 */
uint64_t salvo_worker_queue_others(const struct salvo_worker_queue *queue, uint64_t mask);

#endif /* SALVO_QUEUES_H */
