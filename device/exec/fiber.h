/* SPDX-License-Identifier: MIT */
/*
 * fiber.h - work-items as user-level threads (M2, M3 of CN102576314)
 */
#ifndef SALVO_FIBER_H
#define SALVO_FIBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "salvo_kernel.h"

/* Added to the distance of stacks, so that they do not share cache sets. */
#define SALVO_FIBER_SKEW	192
/* Private memory of a unit: the smallest stack for each item of the largest group */
#define SALVO_FIBER_BYTES	(SALVO_MAX_GROUP_ITEMS * \
				 (size_t)(SALVO_ITEM_STACK_LEAST + SALVO_FIBER_SKEW))

/**
 * struct salvo_fibers - The work-items of one work-group.
 */
struct salvo_fibers {
	/** @stacks: SALVO_FIBER_BYTES of private memory. */
	uint8_t *stacks;
	/** @stride: From one stack to the next in this group. */
	size_t stride;
	/** @fn, @arg: What an item runs: fn(arg, item). */
	void (*fn)(void *arg, uint32_t item);
	void *arg;
	/** @count: Items of the group. */
	uint32_t count;
	/** @current: The item that runs. */
	uint32_t current;
	/** @finished: Items that have returned. */
	uint32_t finished;
	/** @home: Context of salvo_fibers_run(). */
	void *home;
	/** @context: Of each item that is suspended; NULL once it has returned. */
	void *context[SALVO_MAX_GROUP_ITEMS];
};

/* How a group ended */
enum salvo_fibers_end {
	SALVO_FIBERS_DONE,
	SALVO_FIBERS_SPLIT,	/* some items returned while others wait at a barrier */
	SALVO_FIBERS_OVERFLOW,	/* an item overran its stack */
};

/**
 * salvo_fibers_run() - Run @count items, each from its start to its end.
 * @fibers: @stacks is set.
 * @count: 1 to SALVO_MAX_GROUP_ITEMS.
 *
 * If not SALVO_FIBERS_DONE, @current is the first item that still waits at the
 * barrier, or the first that overran its stack.
 */
enum salvo_fibers_end salvo_fibers_run(struct salvo_fibers *fibers, uint32_t count,
				       void (*fn)(void *arg, uint32_t item), void *arg);

/**
 * salvo_fibers_barrier() - Called by the running item: wait for all others.
 */
void salvo_fibers_barrier(struct salvo_fibers *fibers);

/**
 * salvo_fiber_call() - Call fn(arg) so that salvo_fiber_escape() can leave it.
 * @save: Where to keep what salvo_fiber_escape() needs.
 *
 * Return: 0, or the value of salvo_fiber_escape().
 */
int salvo_fiber_call(void **save, void (*fn)(void *arg), void *arg);

/**
 * salvo_fiber_escape() - Make salvo_fiber_call() return @value, from any stack of its thread.
 */
__attribute__((noreturn)) void salvo_fiber_escape(void *saved, int value);

/**
 * salvo_fiber_reset_flags() - Clear the direction and alignment check flags.
 *
 * salvo_fiber_call() does it too. For code that interrupts a kernel.
 */
void salvo_fiber_reset_flags(void);

/**
 * salvo_fiber_reset_fpu() - Set x87 and SSE control and status as in a new process.
 */
void salvo_fiber_reset_fpu(void);

#endif /* SALVO_FIBER_H */
