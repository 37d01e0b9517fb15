/* SPDX-License-Identifier: MIT */
/*
 * lcq.h - the local command queue of a far node (N6 to N9 of CN102792271)
 */
#ifndef SALVO_LCQ_H
#define SALVO_LCQ_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "gcq.h"

/* Bits of a word: each unit of a node works for at most one slot. */
#define SALVO_LCQ_SLOTS 64u

/**
 * struct salvo_lcq_slot - A large chunk.
 */
struct salvo_lcq_slot {
	/** @counters: Times that the slot was filled << 32 | local work-items-remaining (LWIR). */
	_Atomic uint64_t counters;
	/** @left: Items that are not done. */
	_Atomic uint32_t left;
	/** @count: Items of the chunk. */
	_Atomic uint32_t count;
	/** @end: Number of the item behind its last. */
	_Atomic uint32_t end;
	/** @fetch: Which fetch brought it. */
	_Atomic uint32_t fetch;
	struct salvo_element *_Atomic element;
} __attribute__((aligned(64)));

/**
 * struct salvo_lcq - The queue.
 */
struct salvo_lcq {
	/** @fetching: A unit fetches; it owns the fields that say so. */
	_Atomic bool fetching;
	/** @taker: The node's cursor in the global command queue; the fetching unit's. */
	struct salvo_gcq_taker taker;
	/** @began, @ended: The fetching unit's: when the fetch began, when the last one ended. */
	uint64_t began;
	uint64_t ended;
	/** @level: The fetching unit's: LWIR when the last fetch had ended. */
	uint64_t level;
	/** @latency_ns: The fetching unit's: history of how long a fetch takes. */
	uint64_t latency_ns;
	/** @item_ps: The fetching unit's: history of the time in which the node drains one item. */
	uint64_t item_ps;
	/** @fetches: Fetches so far that brought something. */
	_Atomic uint32_t fetches;
	/** @flowing: There has been work ever since the last fetch. */
	_Atomic bool flowing;
	/** @threshold: Refill when the LWIR is below. */
	_Atomic uint32_t threshold;
	/** @used: Slots that hold a chunk. */
	_Atomic uint64_t used __attribute__((aligned(64)));
	/** @open: Those with items that nobody has taken. */
	_Atomic uint64_t open;
	struct salvo_lcq_slot slot[SALVO_LCQ_SLOTS];
};

/**
 * salvo_lcq_init() - Create an empty queue.
 * @bits: The node's in masks of @gcq.
 * @units: Units of the node.
 */
void salvo_lcq_init(struct salvo_lcq *lcq, const struct salvo_gcq *gcq, uint64_t bits,
		    uint32_t units);

/**
 * salvo_lcq_begin() - Shall the caller fetch? (N7)
 * @now: The time in nanoseconds.
 *
 * Return: true if the queue is low, has a free slot, there is something to fetch and no other
 * unit fetches. Then the caller must call salvo_lcq_fetch().
 */
bool salvo_lcq_begin(struct salvo_lcq *lcq, const struct salvo_gcq *gcq, uint64_t now);

/**
 * salvo_lcq_fetch() - Fetch a large chunk from the global command queue (N6).
 * @clock: Returns the time in nanoseconds.
 * @cookie: For @clock.
 *
 * Return: what was fetched; not yet taken by anyone.
 */
struct salvo_gcq_chunk salvo_lcq_fetch(struct salvo_lcq *lcq, struct salvo_gcq *gcq,
				       uint64_t (*clock)(void *cookie), void *cookie);

/**
 * salvo_lcq_take() - Claim items.
 * @chunk: Most items to take, or 0 for a share of what remains.
 */
struct salvo_gcq_chunk salvo_lcq_take(struct salvo_lcq *lcq, uint32_t chunk);

/**
 * salvo_lcq_done() - A chunk that was taken is done.
 *
 * Return: how many items that completes for the rest of the GPU: those of the whole
 * large chunk with its last, 0 before (N9).
 */
uint32_t salvo_lcq_done(struct salvo_lcq *lcq, const struct salvo_gcq_chunk *chunk);

/**
 * salvo_lcq_lwir() - Items that nobody has taken.
 */
uint64_t salvo_lcq_lwir(const struct salvo_lcq *lcq);

/**
 * salvo_lcq_large() - Size of the next large chunk, by the history (N8).
 */
uint32_t salvo_lcq_large(const struct salvo_lcq *lcq);

/**
 * salvo_lcq_has_work() - Are there items to take, or entries to fetch?
 */
bool salvo_lcq_has_work(const struct salvo_lcq *lcq, const struct salvo_gcq *gcq);

#endif /* SALVO_LCQ_H */
