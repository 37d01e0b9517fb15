/* SPDX-License-Identifier: MIT */
/*
 * prio_table.h - the priorities that the units of each process run, readable by all processes
 */
#ifndef SALVO_PRIO_TABLE_H
#define SALVO_PRIO_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "queues.h"
#include "salvo_hw.h"

/* Bits of a word. A process without a slot reads the others' pages but publishes nothing. */
#define SALVO_PRIO_SLOTS   64u
#define SALVO_PRIO_NO_SLOT SALVO_PRIO_SLOTS

/**
 * struct salvo_prio_page - A page that one process writes and the others read.
 */
struct salvo_prio_page {
	/** @prio: Priority index that each unit runs, plus 1; 0 if it runs nothing. */
	_Atomic uint8_t prio[SALVO_MAX_UNITS];
} __attribute__((aligned(4096)));

/**
 * struct salvo_prio_table - Memory that the device shares with all processes.
 */
struct salvo_prio_table {
	/** @pending: Written by the device: slots whose process has batches of a priority. */
	_Atomic uint64_t pending[SALVO_PRIOS];
	struct salvo_prio_page page[SALVO_PRIO_SLOTS];
};

/**
 * struct salvo_prio_slot - A process's slot in the table.
 */
struct salvo_prio_slot {
	/** @table: NULL where units are threads of the device. */
	struct salvo_prio_table *table;
	/** @index: Of its page, or SALVO_PRIO_NO_SLOT. */
	uint32_t index;
};

/**
 * salvo_prio_table_create() - Allocate an empty table.
 * @fd: Receives its file, for salvo_prio_table_map(); the caller closes it.
 *
 * Return: NULL if there is no memory.
 */
struct salvo_prio_table *salvo_prio_table_create(int *fd);

/**
 * salvo_prio_table_map() - Map the table of another process; processes forked later inherit it.
 *
 * Return: NULL if there is no memory.
 */
struct salvo_prio_table *salvo_prio_table_map(int fd);
void salvo_prio_table_destroy(struct salvo_prio_table *table);

/**
 * salvo_prio_slot_attach() - In the process: make all of the table read-only but its own page.
 *
 * Return: false with errno if mprotect() fails.
 */
bool salvo_prio_slot_attach(const struct salvo_prio_slot *slot);

/**
 * salvo_prio_table_set_pending() - In the device: a process has @count batches of a priority.
 */
void salvo_prio_table_set_pending(struct salvo_prio_table *table, uint32_t index, unsigned int prio,
				  uint32_t count);

/**
 * salvo_prio_table_clear() - In the device: clear the page before a new process gets the slot.
 */
void salvo_prio_table_clear(struct salvo_prio_table *table, uint32_t index);

/**
 * salvo_prio_slot_publish() - A unit starts to run a priority, or SALVO_PRIOS for nothing.
 */
void salvo_prio_slot_publish(const struct salvo_prio_slot *slot, unsigned int unit,
			     unsigned int prio);

/**
 * salvo_prio_slot_pending() - Slots of other processes that have batches of a priority.
 */
static inline uint64_t salvo_prio_slot_pending(const struct salvo_prio_slot *slot,
					       unsigned int prio)
{
	const uint64_t own = slot->index < SALVO_PRIO_SLOTS ? 1ull << slot->index : 0;

	return atomic_load_explicit(&slot->table->pending[prio], memory_order_relaxed) & ~own;
}

/**
 * salvo_prio_slot_may_yield() - Does another process have batches of a higher priority?
 *
 * A cheap check before salvo_prio_slot_must_yield().
 */
static inline bool salvo_prio_slot_may_yield(const struct salvo_prio_slot *slot, unsigned int prio)
{
	unsigned int above;

	for (above = 0; above < prio; above++)
		if (salvo_prio_slot_pending(slot, above))
			return true;
	return false;
}

/**
 * salvo_prio_slot_must_yield() - Does another process run a higher priority on this unit?
 *
 * May yield the core, so that a thread of the other process that was just woken can publish.
 */
bool salvo_prio_slot_must_yield(const struct salvo_prio_slot *slot, unsigned int unit,
				unsigned int prio);

#endif /* SALVO_PRIO_TABLE_H */
