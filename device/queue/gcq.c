// SPDX-License-Identifier: MIT
/*
 * gcq.c - the global command queue (N3 to N5 of CN102792271)
 *
 * A ring of entries in the order in which elements became ready. Every unit
 * walks along it at its own pace, with a cursor of its own:
 *
 * - The unit is not in the entry's mask of approved units: it passes the entry (N4).
 * - Items remain: it takes min(chunk, WIR) of them by one atomic decrement (N4). The first half of
 *   the approved units takes from the front, the second half from the back.
 * - None remain: it decrements the seen counter, once, as its cursor then passes
 *   the entry and never comes back (N5).
 *
 * A far node walks as one taker for all its units (lcq.c): it takes large chunks,
 * and passes an entry for all of them by one update (N9). That holds for entries
 * that approve the whole node. From one that approves only some of its units those
 * take for themselves, like near ones, so that masks are obeyed exactly.
 *
 * The two ends give affinity: a range is often run again, or another of the same size on the same
 * data. A unit then gets mostly the same items, wherever the two halves meet, and finds
 * their data in the caches of its core. Work-groups that wait for ones before them still end, as
 * the front is taken in order.
 *
 * The seen counter starts at the number of approved units. At 0 the entry is
 * free, and a producer may reuse it for the element of one lap later. There is
 * no queue for each core and nothing to rebalance.
 *
 * No locks. A producer claims a free entry by moving the tail, then
 * writes it with the top bit of its position set, then publishes the position. A
 * unit that is approved keeps the entry from being reused until it has
 * decremented the seen counter; one that is not must check, after it has read the mask,
 * that the position is still the same (tests/spin/seen.pml).
 *
 * When the entry at the tail is not free, elements wait in a list, which @lock protects,
 * and enter later; the caller wakes units that sleep and are behind.
 */
#include "gcq.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "element.h"

#define WRITING (1ull << 63)

/* In the counters */
#define ONE_ITEM	(1ull << 16)
#define ONE_OF_FRONT	(1ull << 48)
/* An entry of fewer items is taken from both ends. The data of more rarely fits into caches. */
#define MOST_OF_FRONT	(1u << 16)

static struct salvo_gcq_entry *entry_at(const struct salvo_gcq *gcq, uint64_t position)
{
	return &gcq->entries[position & (gcq->size - 1)];
}

int salvo_gcq_init(struct salvo_gcq *gcq, uint32_t size, uint32_t bit_units)
{
	uint32_t i;

	memset(gcq, 0, sizeof(*gcq));
	gcq->entries = aligned_alloc(64, size * sizeof(gcq->entries[0]));
	if (!gcq->entries)
		return -ENOMEM;
	memset(gcq->entries, 0, size * sizeof(gcq->entries[0]));
	gcq->size = size;
	gcq->bit_units = bit_units;
	/* As if one lap had passed: all entries are of the lap before, and free. */
	for (i = 0; i < size; i++)
		gcq->entries[i].position = i;
	gcq->tail = size;
	pthread_mutex_init(&gcq->lock, NULL);
	return 0;
}

void salvo_gcq_fini(struct salvo_gcq *gcq)
{
	pthread_mutex_destroy(&gcq->lock);
	free(gcq->entries);
}

void salvo_gcq_join(const struct salvo_gcq *gcq, struct salvo_gcq_taker *taker, uint64_t bits,
		    uint64_t unless, uint32_t units)
{
	taker->cursor = gcq->tail;
	taker->bits = bits;
	taker->unless = unless;
	taker->units = units;
	taker->least = 0;
	taker->least_at = 0;
}

static uint32_t units_of(const struct salvo_gcq *gcq, uint64_t mask)
{
	return __builtin_popcountll(mask) * gcq->bit_units;
}

static bool try_push(struct salvo_gcq *gcq, struct salvo_element *element)
{
	uint64_t tail = atomic_load_explicit(&gcq->tail, memory_order_relaxed);
	const uint32_t items = salvo_element_entry_items(element);
	struct salvo_gcq_entry *entry;

	for (;;) {
		uint64_t position, counters;

		entry = entry_at(gcq, tail);
		position = atomic_load_explicit(&entry->position, memory_order_acquire);
		counters = atomic_load_explicit(&entry->counters, memory_order_acquire);
		if (position == tail - gcq->size && !counters) {
			if (atomic_compare_exchange_weak(&gcq->tail, &tail, tail + 1))
				break;
		} else {
			const uint64_t now = atomic_load(&gcq->tail);

			if (now == tail)
				return false;
			tail = now;
		}
	}

	atomic_store_explicit(&entry->position, tail | WRITING, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&entry->apu_mask, element->apu_mask, memory_order_relaxed);
	atomic_store_explicit(&entry->element, element, memory_order_relaxed);
	atomic_store_explicit(&entry->total, items, memory_order_relaxed);
	atomic_store_explicit(&entry->is_coalesced, element->coalesced > 1, memory_order_relaxed);
	atomic_store_explicit(&entry->counters,
			      (uint64_t)items * ONE_ITEM | units_of(gcq, element->apu_mask),
			      memory_order_relaxed);
	atomic_store_explicit(&entry->position, tail, memory_order_release);
	return true;
}

/* Moves waiting elements into the queue, oldest first. Returns whether any moved. */
static bool admit(struct salvo_gcq *gcq)
{
	bool any = false;

	pthread_mutex_lock(&gcq->lock);
	while (gcq->first) {
		/* Read before the push: after it the job may end. */
		struct salvo_element *next = gcq->first->next;

		if (!try_push(gcq, gcq->first))
			break;
		gcq->first = next;
		atomic_fetch_sub(&gcq->waiting, 1);
		any = true;
	}
	pthread_mutex_unlock(&gcq->lock);
	return any;
}

bool salvo_gcq_push(struct salvo_gcq *gcq, struct salvo_element *element)
{
	if (!atomic_load_explicit(&gcq->waiting, memory_order_relaxed) && try_push(gcq, element))
		return true;

	pthread_mutex_lock(&gcq->lock);
	element->next = NULL;
	if (gcq->first)
		gcq->last->next = element;
	else
		gcq->first = element;
	gcq->last = element;
	atomic_fetch_add(&gcq->waiting, 1);
	pthread_mutex_unlock(&gcq->lock);

	/* An entry may have become free before the element was in the list. */
	admit(gcq);
	return false;
}

static bool is_approved(const struct salvo_gcq_taker *taker, uint64_t mask)
{
	return (mask & taker->bits) == taker->bits &&
	       (!taker->unless || (mask & taker->unless) != taker->unless);
}

/* What limits a chunk besides the remaining items and the request */
enum bound {
	NOTHING,
	SHARE,	/* part of a unit's share, so that all units end at about the same time */
	LARGE,	/* half of a node's share, for the same reason */
};

/*
 * To take a chunk costs about as much as a tiny element: a share of coalesced elements is at least
 * this part of the most that may be taken.
 */
#define LEAST_PART 16u

static uint32_t wanted(const struct salvo_gcq *gcq, const struct salvo_gcq_taker *taker,
		       uint64_t mask, uint32_t wir, uint32_t chunk, uint32_t least,
		       enum bound bound)
{
	const uint32_t units = units_of(gcq, mask);
	uint64_t part = wir;

	if (bound == SHARE) {
		part = 1 + wir / (4 * units);
		if (part < least)
			part = least;
	} else if (bound == LARGE) {
		part = (uint64_t)wir * taker->units / (2 * units);
		if (part < taker->units)
			part = taker->units;
	}
	if (part > chunk)
		part = chunk;
	return part < wir ? part : wir;
}

/*
 * The taker has seen that the entry at its cursor has no items left (N5). Returns
 * whether elements entered that had waited for it.
 */
static bool pass(struct salvo_gcq *gcq, uint64_t *cursor, uint64_t counters)
{
	(*cursor)++;
	return !counters && atomic_load(&gcq->waiting) && admit(gcq);
}

/* Moves the cursor to the next entry that the taker is approved for; false if there is none. */
static bool find_entry(struct salvo_gcq *gcq, const struct salvo_gcq_taker *taker,
		       uint64_t *cursor, uint64_t *mask)
{
	for (;;) {
		const struct salvo_gcq_entry *entry = entry_at(gcq, *cursor);
		const uint64_t position = atomic_load_explicit(&entry->position,
							       memory_order_acquire);

		if (position != *cursor) {
			if ((position & ~WRITING) <= *cursor)
				return false;
			/* Reused: all entries a lap before its new position are done. */
			*cursor = (position & ~WRITING) - gcq->size + 1;
			continue;
		}
		*mask = atomic_load_explicit(&entry->apu_mask, memory_order_relaxed);
		atomic_thread_fence(memory_order_acquire);
		if (is_approved(taker, *mask) &&
		    atomic_load_explicit(&entry->position, memory_order_relaxed) == position)
			return true;
		(*cursor)++;
	}
}

/* Does the taker belong to the second half of the units that the mask approves? */
static bool is_second_half(const struct salvo_gcq_taker *taker, uint64_t mask)
{
	const uint64_t before = mask & ((taker->bits & -taker->bits) - 1);

	return 2 * __builtin_popcountll(before) >= __builtin_popcountll(mask);
}

/* Takes items of an entry that approves the taker; @after becomes the counters. */
static struct salvo_gcq_chunk take_of(struct salvo_gcq *gcq, struct salvo_gcq_taker *taker,
				      uint64_t mask, uint64_t cursor, uint32_t most,
				      uint32_t elements, enum bound bound, uint64_t *after)
{
	/* Approved: the entry is not reused until this taker has counted it as seen. */
	struct salvo_gcq_entry *entry = entry_at(gcq, cursor);
	const uint32_t total = atomic_load_explicit(&entry->total, memory_order_relaxed);
	const bool is_coalesced = atomic_load_explicit(&entry->is_coalesced, memory_order_relaxed);
	const bool two_ends = total < MOST_OF_FRONT && !is_coalesced;
	const bool back = two_ends && is_second_half(taker, mask);
	struct salvo_gcq_chunk got = { .position = cursor };
	uint32_t least = taker->least_at == cursor ? taker->least : 0;
	uint64_t counters;
	uint32_t wir;

	if (is_coalesced) {
		most = elements;
		least = elements / LEAST_PART;
	}
	got.element = atomic_load_explicit(&entry->element, memory_order_relaxed);
	counters = atomic_load_explicit(&entry->counters, memory_order_acquire);
	do {
		wir = salvo_gcq_wir(counters);
		if (!wir)
			break;
		got.count = wanted(gcq, taker, mask, wir, most, least, bound);
		got.first = !two_ends ? total - wir :
			    counters / ONE_OF_FRONT + (back ? wir - got.count : 0);
		*after = counters - got.count * ONE_ITEM;
		if (got.count == wir)
			*after = salvo_gcq_seen(counters) - taker->units;
		else if (two_ends && !back)
			*after += got.count * ONE_OF_FRONT;
	} while (!atomic_compare_exchange_weak_explicit(&entry->counters, &counters, *after,
							memory_order_acq_rel,
							memory_order_acquire));
	if (!wir) {
		got.count = 0;
		*after = atomic_fetch_sub_explicit(&entry->counters, taker->units,
						   memory_order_acq_rel) - taker->units;
	}
	got.left = wir - got.count;
	return got;
}

static struct salvo_gcq_chunk take(struct salvo_gcq *gcq, struct salvo_gcq_taker *taker,
				   uint32_t chunk, uint32_t elements, enum bound bound)
{
	uint64_t cursor = atomic_load_explicit(&taker->cursor, memory_order_relaxed), mask, after;
	struct salvo_gcq_chunk got = { .count = 0 };
	bool admitted = false;

	while (!got.count && find_entry(gcq, taker, &cursor, &mask)) {
		got = take_of(gcq, taker, mask, cursor, chunk, elements, bound, &after);
		if (!salvo_gcq_wir(after))
			admitted |= pass(gcq, &cursor, after);
	}
	got.admitted = admitted;
	atomic_store_explicit(&taker->cursor, cursor, memory_order_relaxed);
	return got;
}

struct salvo_gcq_chunk salvo_gcq_take(struct salvo_gcq *gcq, struct salvo_gcq_taker *taker,
				      uint32_t chunk)
{
	return take(gcq, taker, chunk, chunk, NOTHING);
}

struct salvo_gcq_chunk salvo_gcq_take_share(struct salvo_gcq *gcq, struct salvo_gcq_taker *taker,
					    uint32_t chunk, uint32_t elements)
{
	return take(gcq, taker, chunk, elements, SHARE);
}

struct salvo_gcq_chunk salvo_gcq_take_large(struct salvo_gcq *gcq, struct salvo_gcq_taker *taker,
					    uint32_t chunk)
{
	return take(gcq, taker, chunk, chunk, LARGE);
}

bool salvo_gcq_pass_done(struct salvo_gcq *gcq, struct salvo_gcq_taker *taker, bool *admitted)
{
	uint64_t cursor = atomic_load_explicit(&taker->cursor, memory_order_relaxed), mask;
	bool items = false;

	while (find_entry(gcq, taker, &cursor, &mask)) {
		struct salvo_gcq_entry *entry = entry_at(gcq, cursor);
		uint64_t counters = atomic_load_explicit(&entry->counters, memory_order_acquire);

		items = salvo_gcq_wir(counters);
		if (items)
			break;
		counters = atomic_fetch_sub_explicit(&entry->counters, taker->units,
						     memory_order_acq_rel) - taker->units;
		*admitted |= pass(gcq, &cursor, counters);
	}
	atomic_store_explicit(&taker->cursor, cursor, memory_order_relaxed);
	return items;
}

bool salvo_gcq_has_entry(const struct salvo_gcq *gcq, const struct salvo_gcq_taker *taker)
{
	const uint64_t cursor = atomic_load_explicit(&taker->cursor, memory_order_relaxed);
	const uint64_t position = atomic_load_explicit(&entry_at(gcq, cursor)->position,
						       memory_order_acquire);

	return position == cursor || (position & ~WRITING) > cursor;
}

bool salvo_gcq_is_behind(const struct salvo_gcq *gcq, const struct salvo_gcq_taker *taker)
{
	return atomic_load(&gcq->tail) != atomic_load(&taker->cursor);
}

uint64_t salvo_gcq_mask_at(const struct salvo_gcq *gcq, const struct salvo_gcq_taker *taker,
			   uint32_t index)
{
	const uint64_t cursor = atomic_load_explicit(&taker->cursor, memory_order_relaxed);
	const uint64_t position = cursor + index;
	const struct salvo_gcq_entry *entry = entry_at(gcq, position);

	if (atomic_load_explicit(&entry->position, memory_order_acquire) != position)
		return 0;
	return atomic_load_explicit(&entry->apu_mask, memory_order_relaxed);
}
