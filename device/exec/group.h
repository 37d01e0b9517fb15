/* SPDX-License-Identifier: MIT */
/*
 * group.h - run work-groups on a core
 */
#ifndef SALVO_GROUP_H
#define SALVO_GROUP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "fault.h"
#include "fiber.h"
#include "gcq.h"
#include "salvo_kernel.h"
#include "trap.h"

/* Inaccessible memory between allocations of units; an index easily skips a single page. */
#define SALVO_GUARD_BYTES	(64u << 10)

/* Accessible memory before local memory, for the inactive lanes of a vector of 16 long */
#define SALVO_LOCAL_MARGIN	128u

/**
 * struct salvo_runner - The memory of a unit, and the work-group that it runs.
 */
struct salvo_runner {
	/** @group: What the kernel sees. */
	struct salvo_group group;
	/** @fibers: The items of a work-group with barriers. */
	struct salvo_fibers fibers;
	/** @trap: How the kernel is left when it faults. */
	struct salvo_trap trap;
	/** @excludes: All other units are idle until the chunk is done. */
	bool excludes;
	/** @chunk: The items of the work element that are run. */
	struct salvo_gcq_chunk chunk;
	/** @at: The one that runs. */
	volatile uint32_t at;
	/** @found: Which item of a group without barriers faulted. */
	struct salvo_items_found found;
	/** @item: As in struct salvo_fault_regs. */
	uint32_t item;
	/** @memory: Local memory, private memory and signal stack, with guards between. */
	uint8_t *memory;
	/** @stack, @stack_bytes: Of the unit's thread, where items without barriers run. */
	uint8_t *stack;
	size_t stack_bytes;
	void *signal_stack;
};

/**
 * salvo_runner_init() - Allocate all memory of a unit (M5 of CN102576314).
 *
 * Return: 0 or -ENOMEM.
 */
int salvo_runner_init(struct salvo_runner *runner);
void salvo_runner_fini(struct salvo_runner *runner);

/**
 * salvo_runner_attach() - Make the calling thread the unit.
 */
void salvo_runner_attach(struct salvo_runner *runner);

/**
 * salvo_runner_run() - Run the items of a chunk, one after the other.
 * @stop: Stop between two items when it is not zero, or when the element has failed.
 *
 * Return: true, or false if one faulted: @trap, @at and @item say how and which.
 */
bool salvo_runner_run(struct salvo_runner *runner, const struct salvo_gcq_chunk *chunk,
		      const _Atomic uint32_t *stop);

#endif /* SALVO_GROUP_H */
