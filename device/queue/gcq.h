/* SPDX-License-Identifier: MIT */
/*
 * gcq.h - the global command queue (N3 to N5 of CN102792271)
 */
#ifndef SALVO_GCQ_H
#define SALVO_GCQ_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct salvo_element;
struct salvo_lcq_slot;

#define SALVO_GCQ_ENTRIES 1024u

/**
 * struct salvo_gcq_entry - One work element in the queue (N3 of CN102792271).
 */
struct salvo_gcq_entry {
	/** @position: In the sequence of all entries; the top bit is set while it is written. */
	_Atomic uint64_t position;
	/**
	 * @counters: Both counters of N3 in one word, so that the unit that takes the
	 * last items counts as having seen that none remain, in the same operation:
	 * items taken from the front << 48 | work-items-remaining (WIR) << 16 | seen.
	 * The first is 0 when none remain, and always where nothing is taken from the back.
	 */
	_Atomic uint64_t counters;
	/** @apu_mask: Approved processing units; a bit is a unit, or a whole node. */
	_Atomic uint64_t apu_mask;
	/** @element: The work element; not to be dereferenced by a taker without items of it. */
	struct salvo_element *_Atomic element;
	/** @total: Items that WIR started with. */
	_Atomic uint32_t total;
	/** @is_coalesced: The items are coalesced elements. */
	_Atomic bool is_coalesced;
} __attribute__((aligned(64)));

/**
 * struct salvo_gcq - The queue.
 */
struct salvo_gcq {
	struct salvo_gcq_entry *entries;
	/** @size: Number of @entries, a power of two. */
	uint32_t size;
	/** @bit_units: Units that a bit of a mask represents: 1, or those of a node. */
	uint32_t bit_units;
	/** @tail: Position of the next entry. */
	_Atomic uint64_t tail __attribute__((aligned(64)));
	/** @waiting: Number of elements in the list of those that found no free entry. */
	_Atomic uint32_t waiting __attribute__((aligned(64)));
	/** @lock: Protects the list. */
	pthread_mutex_t lock;
	struct salvo_element *first;
	struct salvo_element *last;
};

/**
 * struct salvo_gcq_taker - A consumer of the queue: a unit, or a node as a whole.
 */
struct salvo_gcq_taker {
	/** @cursor: Position of its next entry; only the taker writes it. */
	_Atomic uint64_t cursor;
	/** @bits: A mask approves it if it has all of these bits, */
	uint64_t bits;
	/** @unless: but not all of these, which the unit's node takes as a whole; or 0. */
	uint64_t unless;
	/** @units: Units that it counts for in the seen counter. */
	uint32_t units;
	/** @least: Fewest items to claim of the entry at @least_at, as they take little time. */
	uint32_t least;
	uint64_t least_at;
};

/**
 * struct salvo_gcq_chunk - Items that a unit took.
 */
struct salvo_gcq_chunk {
	struct salvo_element *element;
	uint32_t first;
	/** @count: 0 if there was nothing. */
	uint32_t count;
	/** @left: Items of its entry that nobody had taken then. */
	uint32_t left;
	/** @position: Of its entry in the global command queue. */
	uint64_t position;
	/** @slot: In the local command queue that it came through, or NULL. */
	struct salvo_lcq_slot *slot;
	/** @admitted: Elements that waited have entered the queue: wake their units. */
	bool admitted;
};

/**
 * salvo_gcq_init() - Create an empty queue.
 * @size: Entries, a power of two.
 * @bit_units: Units that a bit of a mask stands for.
 *
 * Return: 0 or -ENOMEM.
 */
int salvo_gcq_init(struct salvo_gcq *gcq, uint32_t size, uint32_t bit_units);
void salvo_gcq_fini(struct salvo_gcq *gcq);

/**
 * salvo_gcq_join() - Add a taker, which starts behind all entries.
 * @bits, @unless, @units: See struct salvo_gcq_taker.
 */
void salvo_gcq_join(const struct salvo_gcq *gcq, struct salvo_gcq_taker *taker, uint64_t bits,
		    uint64_t unless, uint32_t units);

/**
 * salvo_gcq_push() - Append a work element with at least one item and one approved unit.
 *
 * Publishes the element: it may be taken, and its job may end, before this returns.
 *
 * Return: false if no entry was free, as units have not passed the oldest ones yet;
 * then the element waits and enters when one becomes free, possibly at once and with
 * others. The caller must wake all units that sleep.
 */
bool salvo_gcq_push(struct salvo_gcq *gcq, struct salvo_element *element);

/**
 * salvo_gcq_take() - Claim items (N4 of CN102792271).
 * @chunk: Most items to take.
 */
struct salvo_gcq_chunk salvo_gcq_take(struct salvo_gcq *gcq, struct salvo_gcq_taker *taker,
				      uint32_t chunk);

/**
 * salvo_gcq_take_share() - Claim a part of the unit's share.
 * @chunk: Most items to take.
 * @elements: Most items to take if they are coalesced elements.
 */
struct salvo_gcq_chunk salvo_gcq_take_share(struct salvo_gcq *gcq, struct salvo_gcq_taker *taker,
					    uint32_t chunk, uint32_t elements);

/**
 * salvo_gcq_take_large() - Claim items for a whole node (N6).
 * @chunk: Most items to take; limited to the node's share of half of what remains (N8).
 */
struct salvo_gcq_chunk salvo_gcq_take_large(struct salvo_gcq *gcq, struct salvo_gcq_taker *taker,
					    uint32_t chunk);

/**
 * salvo_gcq_pass_done() - Pass the entries that have no items left.
 * @admitted: Becomes true when elements that waited for an entry have entered the queue.
 *
 * For a taker that takes nothing for now: entries are reused only after all have passed (N5).
 *
 * Return: true if there is an entry with items for the taker.
 */
bool salvo_gcq_pass_done(struct salvo_gcq *gcq, struct salvo_gcq_taker *taker, bool *admitted);

/**
 * salvo_gcq_has_entry() - Is there an entry at the taker's cursor or after it?
 */
bool salvo_gcq_has_entry(const struct salvo_gcq *gcq, const struct salvo_gcq_taker *taker);

/**
 * salvo_gcq_is_behind() - Has an entry been claimed that the taker has not passed?
 *
 * Unlike salvo_gcq_has_entry() also while it is being written: entries behind it may
 * be there already.
 */
bool salvo_gcq_is_behind(const struct salvo_gcq *gcq, const struct salvo_gcq_taker *taker);

/**
 * salvo_gcq_mask_at() - Approved units of the entry @index after the cursor; 0 if there is none.
 */
uint64_t salvo_gcq_mask_at(const struct salvo_gcq *gcq, const struct salvo_gcq_taker *taker,
			   uint32_t index);

static inline uint32_t salvo_gcq_wir(uint64_t counters)
{
	return (uint32_t)(counters >> 16);
}

static inline uint32_t salvo_gcq_seen(uint64_t counters)
{
	return (uint16_t)counters;
}

#endif /* SALVO_GCQ_H */
