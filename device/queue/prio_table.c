// SPDX-License-Identifier: MIT
/*
 * prio_table.c - the priorities that the units of each process run, readable by all processes
 *
 * Address spaces are processes with queues of their own, but unit n of each is a thread on
 * the same core, and the host's scheduler shares the core among them fairly. Priorities must
 * hold across processes too. So each unit publishes which priority it runs, in a page that only
 * its process can write. Before a unit takes a chunk of a lower priority it checks whether
 * unit n of another process runs a higher one, and if so yields the core until that one is
 * done. Priorities thus hold over all address spaces as they do within one: at chunk boundaries,
 * per unit. A unit without work of a higher priority blocks nobody.
 *
 * A process can publish anything, but its page counts only while the device says that it has
 * batches of that priority: a false claim gains no more than real work would. A process
 * can read how busy the units of others are, and nothing else.
 *
 * No locks: each word has one writer. A unit that checks just before another one publishes
 * takes one chunk more.
 */
#include "prio_table.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct salvo_prio_table *salvo_prio_table_map(int fd)
{
	struct salvo_prio_table *table = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE,
					      MAP_SHARED, fd, 0);

	return table == MAP_FAILED ? NULL : table;
}

struct salvo_prio_table *salvo_prio_table_create(int *fd)
{
	struct salvo_prio_table *table = NULL;

	*fd = memfd_create("salvo-prio", MFD_CLOEXEC);
	if (*fd < 0)
		return NULL;
	if (!ftruncate(*fd, sizeof(*table)))
		table = salvo_prio_table_map(*fd);
	if (!table)
		close(*fd);
	return table;
}

void salvo_prio_table_destroy(struct salvo_prio_table *table)
{
	munmap(table, sizeof(*table));
}

bool salvo_prio_slot_attach(const struct salvo_prio_slot *slot)
{
	struct salvo_prio_table *table = slot->table;

	return !mprotect(table, sizeof(*table), PROT_READ) &&
	       (slot->index >= SALVO_PRIO_SLOTS ||
		!mprotect(&table->page[slot->index], sizeof(table->page[0]),
			  PROT_READ | PROT_WRITE));
}

static uint64_t bit_of(uint32_t index)
{
	return index < SALVO_PRIO_SLOTS ? 1ull << index : 0;
}

void salvo_prio_table_set_pending(struct salvo_prio_table *table, uint32_t index, unsigned int prio,
				  uint32_t count)
{
	const uint64_t bit = bit_of(index);
	const uint64_t pending = atomic_load_explicit(&table->pending[prio], memory_order_relaxed);

	if (count && !(pending & bit))
		atomic_fetch_or(&table->pending[prio], bit);
	else if (!count && pending & bit)
		atomic_fetch_and(&table->pending[prio], ~bit);
}

void salvo_prio_table_clear(struct salvo_prio_table *table, uint32_t index)
{
	if (index < SALVO_PRIO_SLOTS)
		memset(&table->page[index], 0, sizeof(table->page[index]));
}

void salvo_prio_slot_publish(const struct salvo_prio_slot *slot, unsigned int unit,
			     unsigned int prio)
{
	const uint8_t value = prio < SALVO_PRIOS ? prio + 1 : 0;
	_Atomic uint8_t *published;

	if (!slot->table || slot->index >= SALVO_PRIO_SLOTS)
		return;
	published = &slot->table->page[slot->index].prio[unit];
	if (atomic_load_explicit(published, memory_order_relaxed) != value)
		atomic_store_explicit(published, value, memory_order_relaxed);
}

static bool any_runs(const struct salvo_prio_table *table, uint64_t slots, unsigned int unit,
		     unsigned int prio)
{
	for (; slots; slots &= slots - 1) {
		const struct salvo_prio_page *page = &table->page[__builtin_ctzll(slots)];

		if (atomic_load_explicit(&page->prio[unit], memory_order_relaxed) == prio + 1)
			return true;
	}
	return false;
}

bool salvo_prio_slot_must_yield(const struct salvo_prio_slot *slot, unsigned int unit,
				unsigned int prio)
{
	const struct salvo_prio_table *table = slot->table;
	unsigned int above;

	for (above = 0; above < prio; above++) {
		const uint64_t others = salvo_prio_slot_pending(slot, above);

		if (!others)
			continue;
		if (any_runs(table, others, unit, above))
			return true;
		/* The other process's unit may have been woken and still wait for the core. */
		sched_yield();
		if (any_runs(table, others, unit, above))
			return true;
	}
	return false;
}
