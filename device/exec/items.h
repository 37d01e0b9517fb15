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
 * struct salvo_machine - Registers of a thread at a signal.
 */
struct salvo_machine {
	uint64_t pc;
	/** @registers: In the order of their DWARF numbers. */
	uint64_t registers[SALVO_ITEM_REGISTERS];
};

/**
 * struct salvo_items_found - A work-item, or one of several that are adjacent in a row.
 */
struct salvo_items_found {
	/** @at: Indices of the first, as struct salvo_item_place has them. */
	uint64_t at[3];
	/** @count: It is one of so many; 0 if unknown. */
	uint32_t count;
	/** @table: The program has a table. */
	bool table;
};

/**
 * salvo_items_find() - Find the work-item of the instruction that faulted.
 * @entry: Of the kernel. The memory there, and the table, are untrusted.
 * @address: Address of the access, or 0 if unknown.
 *
 * Follows addresses of the program, so the caller handles faults.
 */
void salvo_items_find(const void *entry, const struct salvo_machine *machine, uint64_t address,
		      struct salvo_items_found *found);

#endif /* SALVO_ITEMS_H */
