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
struct salvo_seat;

/* One for each priority */
#define SALVO_LANES (SALVO_PRIORITY_HIGH - SALVO_PRIORITY_LOW + 1u)

/**
 * struct salvo_lane - The queues of one priority.
 */
struct salvo_lane {
	struct salvo_gcq gcq;
	/** @lcq: One for each far node, NULL for near ones. */
	struct salvo_lcq *lcq[SALVO_MAX_UNITS];
};

/**
 * struct salvo_queues - The queues of a GPU; lane 0 has the highest priority.
 */
struct salvo_queues {
	struct salvo_topology topology;
	struct salvo_lane lane[SALVO_LANES];
};

/**
 * struct salvo_feed - Where one unit gets its work; only its own thread uses it.
 */
struct salvo_feed {
	struct salvo_queues *queues;
	/** @unit: Its number. */
	unsigned int unit;
	/** @seat: At the board, where the unit sees what other processes run; or NULL. */
	const struct salvo_seat *seat;
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
	/** @timed_run: They were elements. */
	bool timed_run;
	/** @since: When that chunk was taken. */
	uint64_t since;
	/** @own: Its places in the global queues. */
	struct salvo_gcq_taker own[SALVO_LANES];
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
 * salvo_queues_lane() - The lane for a SALVO_PRIORITY_*.
 */
static inline unsigned int salvo_queues_lane(int32_t priority)
{
	return SALVO_PRIORITY_HIGH - priority;
}

/**
 * salvo_queues_push() - Append an element to its lane; see salvo_gcq_push().
 */
bool salvo_queues_push(struct salvo_queues *queues, struct salvo_element *element);

/**
 * salvo_feed_init() - A new unit.
 * @unit: Its number.
 */
void salvo_feed_init(struct salvo_feed *feed, struct salvo_queues *queues, unsigned int unit);

/**
 * struct salvo_feed_news - What others may have to be woken for.
 */
struct salvo_feed_news {
	/** @admitted: Elements that waited for an entry have entered a queue. */
	bool admitted;
	/** @fetched: The unit has ended a fetch for its node. */
	bool fetched;
	/** @held: There may be work, but the unit must leave its core to another process. */
	bool held;
};

/**
 * salvo_feed_take() - The next chunk for the unit, of the highest priority that has one.
 *
 * May fetch for the unit's node.
 */
struct salvo_gcq_chunk salvo_feed_take(struct salvo_feed *feed, struct salvo_feed_news *news);

/**
 * salvo_feed_done() - A chunk is done.
 *
 * Return: how many items of its element the caller has to account for now.
 */
uint32_t salvo_feed_done(struct salvo_feed *feed, const struct salvo_gcq_chunk *chunk);

/**
 * salvo_feed_has_work() - Is it worth to ask?
 */
bool salvo_feed_has_work(const struct salvo_feed *feed);

/**
 * salvo_feed_may_sleep() - Has the unit looked at all there is?
 *
 * False also while an entry is being written, or a slot of the local queue.
 */
bool salvo_feed_may_sleep(const struct salvo_feed *feed);

/**
 * salvo_feed_others() - Units among @mask that there is work for, by a look near the own place.
 */
uint64_t salvo_feed_others(const struct salvo_feed *feed, uint64_t mask);

#endif /* SALVO_QUEUES_H */
