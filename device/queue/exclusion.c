// SPDX-License-Identifier: MIT
/*
 * exclusion.c - a unit that runs while all others are idle
 *
 * An atomic operation that locks its cache line takes ten times as long as a plain one. If a unit
 * has a dispatch for itself (contention.c) while all others sleep or poll for work, nobody else
 * updates the memory of the kernel, which may use plain operations then.
 *
 * The unit claims this for a chunk: it becomes the owner, and then checks whether the others are
 * idle. One that takes work meanwhile first leaves the masks of idle units, and then waits until
 * there is no owner. In either order one of the two sees the other (tests/spin/exclusion.pml). A
 * unit that waits is not idle, so the owner does not get the next chunk this way before it ran.
 *
 * Only where the units are all that updates memory by atomic operations: not if address spaces are
 * processes, each with units of its own.
 */
#include "exclusion.h"

#include "element.h"
#include "queues.h"

/* Longest time of a chunk, for which other units may have to wait */
#define MOST_NS		4000000u
#define POLLS		64u
#define PAUSE_NS	20000u

/* Has the unit a dispatch for itself, of which it runs a chunk in a short time? */
static bool may_claim(const struct salvo_queues *queues, const struct salvo_gcq_chunk *chunk)
{
	const struct salvo_element *element = chunk->element;

	return queues->excludes && salvo_element_has_one_unit(element) &&
	       salvo_element_contends(element) &&
	       salvo_contention_expect(&queues->contention, salvo_element_kernel(element),
				       chunk->count) <= MOST_NS;
}

bool salvo_exclusion_claim(struct salvo_queues *queues, unsigned int unit,
			   const struct salvo_gcq_chunk *chunk)
{
	const uint64_t bit = 1ull << unit;
	uint64_t none = 0, idle;

	if (!may_claim(queues, chunk) ||
	    !atomic_compare_exchange_strong(&queues->owner, &none, bit))
		return false;
	/* In this order: a unit that goes to sleep has both bits for a while. */
	idle = atomic_load(&queues->parking->polling);
	idle |= atomic_load(&queues->parking->sleeping);
	if ((idle | bit) == queues->all)
		return true;
	salvo_exclusion_release(queues);
	return false;
}

void salvo_exclusion_release(struct salvo_queues *queues)
{
	atomic_store(&queues->owner, 0);
}

void salvo_exclusion_wait(struct salvo_queues *queues, unsigned int unit)
{
	unsigned int polls = 0;

	while (atomic_load(&queues->owner))
		if (++polls < POLLS)
			__builtin_ia32_pause();
		else
			salvo_parking_pause(queues->parking, unit, PAUSE_NS);
}
