/* SPDX-License-Identifier: MIT */
/*
 * worker_queue.h - how a unit gets its next chunk
 */
#ifndef SALVO_WORKER_QUEUE_H
#define SALVO_WORKER_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include "gcq.h"
#include "item_times.h"
#include "queues.h"

struct salvo_prio_slot;

/**
 * struct salvo_worker_queue - Where one unit gets its work; only its own thread uses it.
 */
struct salvo_worker_queue {
	struct salvo_queues *queues;
	/** @unit: Its number. */
	unsigned int unit;
	/** @slot: In the table of what other processes run; NULL if there are none. */
	const struct salvo_prio_slot *slot;
	/** @node: That the unit belongs to. */
	unsigned int node;
	/** @turn: Of a unit in a far node: its own cursor in the global queue comes first. */
	bool turn;
	/** @most: Items that it runs in about the time that a chunk may take. */
	uint32_t most;
	/** @most_elements: The same for coalesced elements, in a shorter time; 1 after idling. */
	uint32_t most_elements;
	/** @timed: Items of the last chunk if that was timed, else 0. */
	uint32_t timed;
	/** @timed_coalesced: They were coalesced elements. */
	bool timed_coalesced;
	/** @timed_prio, @timed_position: The queue and the entry that they are from. */
	unsigned int timed_prio;
	uint64_t timed_position;
	/** @timed_kernel: Its kernel's address, or 0. */
	uint64_t timed_kernel;
	/** @timed_contends: It may contend for cache lines with work-groups on other units, */
	bool timed_contends;
	/** @timed_total: which run so many in all, */
	uint32_t timed_total;
	/** @timed_alone: unless no other unit may run the entry. */
	bool timed_alone;
	/** @since: When that chunk was taken. */
	uint64_t since;
	/** @times: Of the items of kernels. */
	struct salvo_item_times times;
	/** @wake_ns: History of how long it takes to wake a unit. */
	uint64_t wake_ns;
	/** @alone: Its bit in the queues' mask of that name is set. */
	bool alone;
	/** @chunks: That it took since it was idle last. */
	uint32_t chunks;
	/** @sleeps: Its thread has slept since the last chunk. */
	bool sleeps;
	/** @slept: It had before the first of @chunks. */
	bool slept;
	/** @rests_ns: Time of the work for which it has woken none since it was idle last. */
	uint64_t rests_ns;
	/** @rest_position: The last entry in @rests_ns, or UINT64_MAX. */
	uint64_t rest_position;
	/** @own: Its cursors in the global queues. */
	struct salvo_gcq_taker own[SALVO_PRIOS];
};

/**
 * struct salvo_worker_events - What happened while a unit asked for work.
 */
struct salvo_worker_events {
	/** @admitted: Elements that waited for an entry have entered a queue: wake their units. */
	bool admitted;
	/** @fetched: The unit has finished a fetch for its node: others may find work. */
	bool fetched;
	/** @yield: There may be work, but the unit must yield its core to another process. */
	bool yield;
};

/**
 * salvo_worker_queue_init() - Add a unit, which sees all elements that are pushed from now on.
 * @unit: Its number.
 */
void salvo_worker_queue_init(struct salvo_worker_queue *queue, struct salvo_queues *queues,
			     unsigned int unit);

/**
 * salvo_worker_queue_take() - Claim the next chunk of the highest priority that has one.
 *
 * May fetch for the unit's node, and waits as long as the topology's latency says.
 *
 * Return: a chunk; its count is 0 if there was none.
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
 * salvo_worker_queue_has_work() - Is salvo_worker_queue_take() likely to find a chunk?
 */
bool salvo_worker_queue_has_work(const struct salvo_worker_queue *queue);

/**
 * salvo_worker_queue_may_continue() - Is there no work of a higher priority than @prio?
 *
 * Neither for the unit, nor in another process.
 */
bool salvo_worker_queue_may_continue(const struct salvo_worker_queue *queue, unsigned int prio);

/**
 * salvo_worker_queue_may_sleep() - Has the unit passed all entries?
 *
 * False also while an entry, or a slot of the local queue, is being written.
 */
bool salvo_worker_queue_may_sleep(const struct salvo_worker_queue *queue);

/**
 * salvo_worker_queue_others() - Units in @mask that have work near the unit's own cursors.
 */
uint64_t salvo_worker_queue_others(const struct salvo_worker_queue *queue, uint64_t mask);

/**
 * salvo_worker_queue_wake_next() - After a take or fetch: wake units for the work that is left.
 * @chunk: What the unit took and is about to run, or NULL.
 *
 * One of the unit's node, and one of another node; none if the unit does what is left in less time
 * than to wake one costs.
 */
void salvo_worker_queue_wake_next(struct salvo_worker_queue *queue,
				  const struct salvo_gcq_chunk *chunk);

#endif /* SALVO_WORKER_QUEUE_H */
