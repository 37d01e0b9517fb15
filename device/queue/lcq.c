// SPDX-License-Identifier: MIT
/*
 * lcq.c - the local command queue of a far node (N6 to N9 of CN102792271)
 *
 * Where the global command queue (GCQ) is slow to reach, one unit fetches a large
 * chunk for all units of its node, and they claim theirs from here (N6). A large
 * chunk lies in a slot with a local work-items-remaining counter (LWIR):
 *
 *	GCQ entry --fetch--> slot --take--> unit --done--> slot --> element
 *
 * Refill (N7). When less than a threshold remains the next unit that asks for work fetches;
 * it claims a flag first, so the others take what is left, or wait. The threshold
 * is what the node drains during two fetches, so the queue does not run empty meanwhile.
 *
 * Size (N8). A large chunk is to last for several fetches, and a minimum time: latency times
 * drain rate, both measured, as moving averages where a new value counts an eighth.
 * Time in which there was nothing to fetch is not counted. Near the end of an element
 * large chunks get smaller: salvo_gcq_take_large().
 *
 * One update for all (N9). The node passes a GCQ entry as one taker: its seen counter drops by the
 * number of the node's units in one operation. And when the last item of a large chunk is done, one
 * update of the element's counter accounts for all of them.
 *
 * No locks. The unit that has the flag fills a slot and publishes the bit in @open and then
 * @counters. A slot is free again when all its items are done. A unit that claims items by a
 * compare-and-swap on @counters has read the slot's other fields of the same filling,
 * since the number of fillings is part of the word. Small elements may fill all slots with few
 * items: then nobody fetches. As each unit is busy with at most one slot, and a unit that
 * wants to fetch with none, one slot has items to take.
 */
#include "lcq.h"

#include <string.h>
#include "history.h"

/* A large chunk lasts for so many fetches, the threshold for so many. */
#define LARGE_FETCHES		8u
#define THRESHOLD_FETCHES	2u
/* At least so long: handing out a chunk has a cost. */
#define LARGE_LEAST_NS		20000u
/* A unit takes its share of a large chunk in so many parts; the GCQ balances the end. */
#define LOCAL_PARTS		2u
/* Items for each unit as long as there is no history */
#define FIRST_ITEMS		4u
#define MOST_ITEMS		(1u << 30)

static uint32_t lwir_of(uint64_t counters)
{
	return (uint32_t)counters;
}

void salvo_lcq_init(struct salvo_lcq *lcq, const struct salvo_gcq *gcq, uint64_t bits,
		    uint32_t units)
{
	memset(lcq, 0, sizeof(*lcq));
	salvo_gcq_join(gcq, &lcq->taker, bits, 0, units);
	lcq->threshold = units;
}

uint64_t salvo_lcq_lwir(const struct salvo_lcq *lcq)
{
	uint64_t open = atomic_load_explicit(&lcq->open, memory_order_acquire), items = 0;

	for (; open; open &= open - 1)
		items += lwir_of(atomic_load_explicit(&lcq->slot[__builtin_ctzll(open)].counters,
						      memory_order_relaxed));
	return items;
}

/* Items that the node drains in so many nanoseconds. */
static uint32_t items_in(const struct salvo_lcq *lcq, uint64_t ns)
{
	const uint64_t items = ns * 1000 / lcq->item_ps;

	return items < lcq->taker.units ? lcq->taker.units :
	       items > MOST_ITEMS ? MOST_ITEMS : items;
}

uint32_t salvo_lcq_large(const struct salvo_lcq *lcq)
{
	const uint64_t ns = LARGE_FETCHES * lcq->latency_ns;

	if (!lcq->item_ps)
		return FIRST_ITEMS * lcq->taker.units;
	return items_in(lcq, ns > LARGE_LEAST_NS ? ns : LARGE_LEAST_NS);
}

static void learn_drain(struct salvo_lcq *lcq, uint64_t lwir)
{
	const uint64_t drained = lcq->level > lwir ? lcq->level - lwir : 0;

	if (!atomic_load_explicit(&lcq->flowing, memory_order_relaxed) || !drained ||
	    lcq->began <= lcq->ended)
		return;
	lcq->item_ps = salvo_history_add(lcq->item_ps,
					 (lcq->began - lcq->ended) * 1000 / drained + 1);
}

bool salvo_lcq_begin(struct salvo_lcq *lcq, const struct salvo_gcq *gcq, uint64_t now)
{
	const uint64_t lwir = salvo_lcq_lwir(lcq);

	if (lwir >= atomic_load_explicit(&lcq->threshold, memory_order_relaxed) ||
	    atomic_load(&lcq->fetching))
		return false;
	if (!salvo_gcq_has_entry(gcq, &lcq->taker)) {
		if (!lwir && atomic_load_explicit(&lcq->flowing, memory_order_relaxed))
			atomic_store_explicit(&lcq->flowing, false, memory_order_relaxed);
		return false;
	}
	if (atomic_exchange(&lcq->fetching, true))
		return false;
	/* Only this unit sets bits now. */
	if (!~atomic_load_explicit(&lcq->used, memory_order_relaxed)) {
		atomic_store(&lcq->fetching, false);
		return false;
	}
	lcq->began = now;
	learn_drain(lcq, lwir);
	return true;
}

static void fill(struct salvo_lcq *lcq, const struct salvo_gcq_chunk *chunk)
{
	const unsigned int free = __builtin_ctzll(~atomic_load_explicit(&lcq->used,
									memory_order_acquire));
	struct salvo_lcq_slot *slot = &lcq->slot[free];
	const uint32_t fills = atomic_load_explicit(&slot->counters, memory_order_relaxed) >> 32;
	const uint32_t fetch = atomic_load_explicit(&lcq->fetches, memory_order_relaxed);

	atomic_fetch_or(&lcq->used, 1ull << free);
	atomic_store_explicit(&slot->element, chunk->element, memory_order_relaxed);
	atomic_store_explicit(&slot->count, chunk->count, memory_order_relaxed);
	atomic_store_explicit(&slot->end, chunk->first + chunk->count, memory_order_relaxed);
	atomic_store_explicit(&slot->fetch, fetch, memory_order_relaxed);
	atomic_store_explicit(&slot->left, chunk->count, memory_order_relaxed);
	/* In this order: the taker of the last items clears the bit. */
	atomic_fetch_or(&lcq->open, 1ull << free);
	atomic_store_explicit(&slot->counters, (uint64_t)(fills + 1) << 32 | chunk->count,
			      memory_order_release);
	atomic_store_explicit(&lcq->fetches, fetch + 1, memory_order_relaxed);
}

struct salvo_gcq_chunk salvo_lcq_fetch(struct salvo_lcq *lcq, struct salvo_gcq *gcq,
				       uint64_t (*clock)(void *cookie), void *cookie)
{
	const struct salvo_gcq_chunk chunk = salvo_gcq_take_large(gcq, &lcq->taker,
								  salvo_lcq_large(lcq));

	if (chunk.count) {
		fill(lcq, &chunk);
		lcq->ended = clock(cookie);
		lcq->level = salvo_lcq_lwir(lcq);
		lcq->latency_ns = salvo_history_add(lcq->latency_ns, lcq->ended - lcq->began);
		if (lcq->item_ps)
			atomic_store_explicit(&lcq->threshold,
					      items_in(lcq, THRESHOLD_FETCHES * lcq->latency_ns),
					      memory_order_relaxed);
	}
	atomic_store_explicit(&lcq->flowing, chunk.count != 0, memory_order_relaxed);
	atomic_store(&lcq->fetching, false);
	return chunk;
}

/* Of the slots @open, not 0, the one of the oldest fetch. */
static unsigned int oldest(const struct salvo_lcq *lcq, uint64_t open)
{
	const uint32_t fetches = atomic_load_explicit(&lcq->fetches, memory_order_relaxed);
	unsigned int found = 0;
	uint32_t age = 0;

	for (; open; open &= open - 1) {
		const unsigned int i = __builtin_ctzll(open);
		const uint32_t since = fetches - atomic_load_explicit(&lcq->slot[i].fetch,
								      memory_order_relaxed);

		if (since >= age) {
			found = i;
			age = since;
		}
	}
	return found;
}

/* Claims items of a slot; none if others were faster. */
static struct salvo_gcq_chunk take_of(struct salvo_lcq *lcq, unsigned int number, uint32_t chunk)
{
	struct salvo_lcq_slot *slot = &lcq->slot[number];
	uint64_t counters = atomic_load_explicit(&slot->counters, memory_order_acquire);
	struct salvo_gcq_chunk got = { .slot = slot };
	uint32_t lwir, want;

	do {
		lwir = lwir_of(counters);
		want = chunk ? chunk :
			1 + atomic_load_explicit(&slot->count, memory_order_relaxed) /
				    (LOCAL_PARTS * lcq->taker.units);
		got.count = want < lwir ? want : lwir;
		if (!lwir)
			return got;
		got.element = atomic_load_explicit(&slot->element, memory_order_relaxed);
		got.first = atomic_load_explicit(&slot->end, memory_order_relaxed) - lwir;
	} while (!atomic_compare_exchange_weak_explicit(&slot->counters, &counters,
							counters - got.count,
							memory_order_acq_rel,
							memory_order_acquire));
	/* Before the items are reported as done: after that the slot can be filled again. */
	if (got.count == lwir)
		atomic_fetch_and(&lcq->open, ~(1ull << number));
	return got;
}

struct salvo_gcq_chunk salvo_lcq_take(struct salvo_lcq *lcq, uint32_t chunk)
{
	uint64_t open = atomic_load_explicit(&lcq->open, memory_order_acquire);
	struct salvo_gcq_chunk got = { .count = 0 };

	while (!got.count && open) {
		const unsigned int number = oldest(lcq, open);

		got = take_of(lcq, number, chunk);
		open &= ~(1ull << number);
	}
	return got;
}

uint32_t salvo_lcq_done(struct salvo_lcq *lcq, const struct salvo_gcq_chunk *chunk)
{
	struct salvo_lcq_slot *slot = chunk->slot;
	const uint32_t count = atomic_load_explicit(&slot->count, memory_order_relaxed);

	if (atomic_fetch_sub_explicit(&slot->left, chunk->count,
				      memory_order_acq_rel) != chunk->count)
		return 0;
	atomic_fetch_and(&lcq->used, ~(1ull << (slot - lcq->slot)));
	return count;
}

bool salvo_lcq_has_work(const struct salvo_lcq *lcq, const struct salvo_gcq *gcq)
{
	return atomic_load(&lcq->open) ||
	       (!atomic_load(&lcq->fetching) && salvo_gcq_has_entry(gcq, &lcq->taker));
}
