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

#define SALVO_GCQ_ENTRIES 4096u

/**
 * struct salvo_gcq_entry - One work element in the queue (N3 of CN102792271).
 */
struct salvo_gcq_entry {
	/** @position: Place in the sequence of all entries; top bit: it is being written. */
	_Atomic uint64_t position;
	/**
	 * @counters: Both counters of N3 in one word, so that the unit that takes the
	 * last items counts as having seen that none remain, in the same operation:
	 * work-items-remaining (WIR) << 32 | seen.
	 */
	_Atomic uint64_t counters;
	/** @apu_mask: Approved processing units. */
	_Atomic uint64_t apu_mask;
	/** @element: The work element. */
	struct salvo_element *_Atomic element;
	/** @total: Items that WIR started with. */
	_Atomic uint32_t total;
} __attribute__((aligned(64)));

/**
 * struct salvo_gcq - The queue.
 */
struct salvo_gcq {
	struct salvo_gcq_entry *entries;
	/** @size: Number of @entries, a power of two. */
	uint32_t size;
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
 * struct salvo_gcq_chunk - What a unit took.
 */
struct salvo_gcq_chunk {
	struct salvo_element *element;
	uint32_t first;
	/** @count: 0 if there was nothing. */
	uint32_t count;
	/** @admitted: Elements that waited have entered: their units may sleep. */
	bool admitted;
};

/**
 * salvo_gcq_init() - An empty queue.
 * @size: Entries, a power of two.
 *
 * Return: 0 or -ENOMEM.
 */
int salvo_gcq_init(struct salvo_gcq *gcq, uint32_t size);
void salvo_gcq_fini(struct salvo_gcq *gcq);

/**
 * salvo_gcq_cursor() - Where a unit that comes new starts to look.
 */
uint64_t salvo_gcq_cursor(const struct salvo_gcq *gcq);

/**
 * salvo_gcq_push() - Append a work element with at least one item and one approved unit.
 *
 * Return: false if no entry is free, as units have not seen the oldest ones yet;
 * then the element waits and enters when one comes free, maybe at once and with
 * others. All units that sleep must be woken: to see the oldest entries, and those.
 */
bool salvo_gcq_push(struct salvo_gcq *gcq, struct salvo_element *element);

/**
 * salvo_gcq_take() - Ask for work (N4 of CN102792271).
 * @cursor: The unit's place in the queue.
 * @unit: Its mask bit.
 * @chunk: Most items to take, or 0 for a share of what remains.
 */
struct salvo_gcq_chunk salvo_gcq_take(struct salvo_gcq *gcq, uint64_t *cursor, uint64_t unit,
				      uint32_t chunk);

/**
 * salvo_gcq_has_entry() - Is there an entry at @cursor or after it?
 */
bool salvo_gcq_has_entry(const struct salvo_gcq *gcq, uint64_t cursor);

/**
 * salvo_gcq_mask_at() - Approved units of the entry at @cursor; 0 if there is none.
 */
uint64_t salvo_gcq_mask_at(const struct salvo_gcq *gcq, uint64_t cursor);

static inline uint32_t salvo_gcq_wir(uint64_t counters)
{
	return counters >> 32;
}

static inline uint32_t salvo_gcq_seen(uint64_t counters)
{
	return (uint32_t)counters;
}

#endif /* SALVO_GCQ_H */
