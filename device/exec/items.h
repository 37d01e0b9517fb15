/* SPDX-License-Identifier: MIT */
/*
 * items.h - which work-item of a compiled kernel faulted
 */
#ifndef SALVO_ITEMS_H
#define SALVO_ITEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "salvo_kernel.h"

/**
 * struct salvo_machine - A thread as a signal found it.
 */
struct salvo_machine {
	uint64_t pc;
	/** @registers: In the order of their DWARF numbers. */
	uint64_t registers[SALVO_ITEM_REGISTERS];
};

/**
 * struct salvo_items_found - The work-item, or work-items that lie side by side in a row.
 */
struct salvo_items_found {
	/** @at: Indices of the first, as struct salvo_item_place has them. */
	uint64_t at[3];
	/** @count: It is one of so many; 0 if nothing is known. */
	uint32_t count;
	/** @table: The program has a table. */
	bool table;
};

/**
 * salvo_items_find() - Whom did the instruction work for that faulted?
 * @entry: Of the kernel. What stands there, and in the table, may be anything.
 * @address: That it touched, or 0 if that is not known.
 *
 * May touch any address that the program makes it touch, so the caller is ready for faults.
 */
void salvo_items_find(const void *entry, const struct salvo_machine *machine, uint64_t address,
		      struct salvo_items_found *found);

#endif /* SALVO_ITEMS_H */
