// SPDX-License-Identifier: MIT
/*
 * fiber.c - work-items as user-level threads (M2, M3 of CN102576314)
 *
 * The items of a group run on one OS thread, each on a stack of its own, and
 * hand over to each other in a fixed ring: an item that comes to a barrier
 * switches to the next one, and so does an item that returns. When the last item
 * of a round comes to the barrier all have arrived, and the first continues. So a
 * barrier costs one switch, and there is no search for the next item.
 *
 * In a round either all items come to the barrier or all return. If some return while
 * others wait, the kernel broke the rule that all items reach a barrier;
 * the group is aborted, as its items would wait for ever.
 *
 * Only this code saves and restores registers: the kernel's source is unaware of it,
 * and a debugger unwinds its frames as those of any thread (M3).
 *
 * A canary below each stack detects an overrun. Nothing
 * is shared between units, so there are no locks.
 */
#include "fiber.h"

#include "asan.h"

void salvo_fiber_switch(void **save, void *load);
void salvo_fiber_start(void);

#define CANARY 0x5afe57ac4b0770edull

static uint64_t *canary_of(struct salvo_fibers *fibers, uint32_t item)
{
	return (uint64_t *)(fibers->stacks + item * fibers->stride);
}

/* Leaves a stack for good. */
static void leave_item(void *to)
{
	void *nowhere;

	salvo_fiber_switch(&nowhere, to);
	__builtin_unreachable();
}

static void item_main(void *arg)
{
	struct salvo_fibers *fibers = arg;
	uint32_t next;

	fibers->fn(fibers->arg, fibers->current);

	fibers->finished++;
	fibers->context[fibers->current] = NULL;
	next = fibers->current + 1;
	if (next == fibers->count)
		leave_item(fibers->home);
	fibers->current = next;
	leave_item(fibers->context[next]);
}

void salvo_fibers_barrier(struct salvo_fibers *fibers)
{
	uint32_t self = fibers->current, next = self + 1;

	if (next == fibers->count) {
		if (fibers->finished)
			leave_item(fibers->home);
		next = 0;
		if (next == self)
			return;
	}
	fibers->current = next;
	salvo_fiber_switch(&fibers->context[self], fibers->context[next]);
}

/* Builds the frame that salvo_fiber_switch() pops when the item first runs. */
static void prepare_item(struct salvo_fibers *fibers, uint32_t item)
{
	uint8_t *top = fibers->stacks + (item + 1) * fibers->stride - SALVO_FIBER_SKEW / 2;
	void **frame = (void **)((uintptr_t)top & ~(uintptr_t)63) - 7;

	frame[0] = NULL;			/* r15 */
	frame[1] = NULL;			/* r14 */
	frame[2] = fibers;			/* r13 */
	frame[3] = (void *)item_main;		/* r12 */
	frame[4] = NULL;			/* rbx */
	frame[5] = NULL;			/* rbp */
	frame[6] = (void *)salvo_fiber_start;
	fibers->context[item] = frame;
	*canary_of(fibers, item) = CANARY;
}

enum salvo_fibers_end salvo_fibers_run(struct salvo_fibers *fibers, uint32_t count,
				       void (*fn)(void *arg, uint32_t item), void *arg)
{
	uint32_t i;

	fibers->fn = fn;
	fibers->arg = arg;
	if (fibers->count != count) {
		fibers->count = count;
		fibers->stride = salvo_item_stack(count) + SALVO_FIBER_SKEW;
	}
	fibers->current = 0;
	fibers->finished = 0;
	salvo_asan_stack_is_new(fibers->stacks, SALVO_FIBER_BYTES);
	for (i = 0; i < count; i++)
		prepare_item(fibers, i);

	salvo_fiber_switch(&fibers->home, fibers->context[0]);

	for (i = 0; i < count; i++) {
		if (*canary_of(fibers, i) == CANARY)
			continue;
		fibers->current = i;
		return SALVO_FIBERS_OVERFLOW;
	}
	if (fibers->finished == count)
		return SALVO_FIBERS_DONE;
	for (i = 0; !fibers->context[i]; i++)
		;
	fibers->current = i;
	return SALVO_FIBERS_SPLIT;
}
