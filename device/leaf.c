// SPDX-License-Identifier: MIT
/*
 * leaf.c - execution units run leaf tasks of workers
 *
 * A slot is memory that a worker and a unit share (salvo_leaf.h; W4, W5 of US11340942). A unit that
 * is awake polls the slots that it serves between chunks of batches, by priority, and while it
 * waits for work. The primary core copies the task into its own memory, checks the copy and divides
 * it into one part for each core of the unit: an equal share of the work-groups, in order. It
 * starts the others by storing a number in a word of each, runs its own part, and waits until each
 * has stored the same number: the barrier. While it waits it does its parts of other slots, so that
 * two units that share cores cannot wait for each other.
 *
 * Before a unit sleeps it sets a flag in its slots and parts, issues a fence and polls once more; a
 * worker that rings a doorbell issues a fence and then reads the flag. So only a doorbell for a
 * sleeping unit takes a system call.
 *
 * There is no lock and no locked instruction in this file: each word has one writer, and is
 * handed over by release and acquire (tests/spin/slot.pml). Checking the entry of a kernel takes
 * a lock the first time.
 */
#include "leaf.h"

#include <sched.h>
#include <string.h>
#include "aspace.h"
#include "dispatch.h"
#include "group.h"
#include "parking.h"

/* Polls of a barrier before the core is yielded in between */
#define BARRIER_POLLS	256u

static unsigned int core_number(const struct salvo_leaf_slot *slot, unsigned int unit)
{
	return __builtin_popcountll(slot->units & ((1ull << unit) - 1));
}

static struct salvo_leaf_slot *slot_at(struct salvo_leaf_slots *slots, unsigned int number)
{
	return atomic_load_explicit(&slots->slots[number], memory_order_acquire);
}

static uint32_t read_once(const __u32 *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* Does the core have a task or a part to run? */
static bool rings(const struct salvo_leaf_slot *slot, unsigned int unit)
{
	const unsigned int core = core_number(slot, unit);
	const struct salvo_leaf_part *part = &slot->parts[core];

	if (!core)
		return __atomic_load_n(&slot->regs->doorbell, __ATOMIC_ACQUIRE) == 1 ||
		       atomic_load_explicit(&slot->leave, memory_order_acquire);
	return atomic_load_explicit(&part->go, memory_order_acquire) !=
	       atomic_load_explicit(&part->done, memory_order_relaxed);
}

bool salvo_leaf_slots_ring(struct salvo_leaf_slots *slots, unsigned int unit)
{
	uint64_t mask = atomic_load_explicit(&slots->member[unit], memory_order_acquire);

	for (; mask; mask &= mask - 1)
		if (rings(slot_at(slots, __builtin_ctzll(mask)), unit))
			return true;
	return false;
}

/* The core's share of the work-groups. */
static void run_part(struct salvo_leaf_slot *slot, unsigned int core, struct salvo_runner *runner)
{
	const uint64_t cores = __builtin_popcountll(slot->units);
	const uint64_t total = slot->element.total;
	struct salvo_leaf_part *part = &slot->parts[core];
	struct salvo_gcq_chunk chunk = { .element = &slot->element };

	chunk.first = total * core / cores;
	chunk.count = total * (core + 1) / cores - chunk.first;
	part->well = true;
	if (!chunk.count)
		return;
	runner->trap.kind = SALVO_FAULT_NONE;
	part->well = salvo_runner_run(runner, &chunk, &slot->stop) &&
		     !atomic_load_explicit(&slot->stop, memory_order_relaxed);
	if (part->well)
		return;
	part->fault = (struct salvo_slot_part){
		.kind = runner->trap.kind, .access = runner->trap.access, .item = runner->item,
		.group = runner->at, .address = runner->trap.address,
	};
	if (part->fault.kind == SALVO_FAULT_NONE)
		part->fault = (struct salvo_slot_part){ .item = SALVO_FAULT_NO_ITEM,
							.group = runner->at };
}

/* A core that is not the primary one. */
static void serve_part(struct salvo_leaf_slots *slots, unsigned int number, unsigned int unit,
		       struct salvo_runner *runner)
{
	struct salvo_leaf_slot *slot = slot_at(slots, number);
	const unsigned int core = core_number(slot, unit);
	struct salvo_leaf_part *part = &slot->parts[core];
	const uint32_t go = atomic_load_explicit(&part->go, memory_order_acquire);

	if (go == atomic_load_explicit(&part->done, memory_order_relaxed))
		return;
	if (part->leave)
		salvo_leaf_slots_leave(slots, unit, number);
	else
		run_part(slot, core, runner);
	/* If the primary core left, the slot may be freed from here on. */
	atomic_store_explicit(&part->done, go, memory_order_release);
}

/* Runs the parts of this core for other primary cores; these never wait. */
static void serve_parts(struct salvo_leaf_slots *slots, unsigned int unit,
			struct salvo_runner *runner)
{
	uint64_t mask = atomic_load_explicit(&slots->member[unit], memory_order_acquire);

	for (; mask; mask &= mask - 1) {
		const unsigned int number = __builtin_ctzll(mask);

		if (core_number(slot_at(slots, number), unit))
			serve_part(slots, number, unit, runner);
	}
}

/* Starts the parts of the other cores, or makes them leave. */
static void start_parts(struct salvo_leaf_slots *slots, struct salvo_leaf_slot *slot, bool leave)
{
	uint64_t rest = slot->units & (slot->units - 1);
	unsigned int core;

	slot->serial++;
	if (!rest)
		return;
	for (core = 1; core < (unsigned int)__builtin_popcountll(slot->units); core++) {
		slot->parts[core].leave = leave;
		atomic_store_explicit(&slot->parts[core].go, slot->serial, memory_order_release);
	}
	salvo_slot_fence();
	for (core = 1; rest; rest &= rest - 1, core++)
		if (atomic_load_explicit(&slot->parts[core].sleeping, memory_order_relaxed))
			salvo_parking_wake(slots->parking, __builtin_ctzll(rest));
}

/* The barrier of W5: returns when all other cores have done their parts. */
static void meet(struct salvo_leaf_slots *slots, struct salvo_leaf_slot *slot, unsigned int unit,
		 struct salvo_runner *runner)
{
	const unsigned int cores = __builtin_popcountll(slot->units);
	unsigned int core, polls = 0;

	for (core = 1; core < cores; core++)
		while (atomic_load_explicit(&slot->parts[core].done, memory_order_acquire) !=
		       slot->serial) {
			serve_parts(slots, unit, runner);
			if (++polls < BARRIER_POLLS)
				__builtin_ia32_pause();
			else
				sched_yield();
		}
}

static bool is_code(struct salvo_leaf_slots *slots, struct salvo_leaf_slot *slot, uint64_t entry)
{
	const uint64_t changes = atomic_load_explicit(&slots->aspaces->changes,
						      memory_order_acquire);
	uint64_t *known = &slot->entries[entry / 16 % SALVO_LEAF_ENTRIES];

	if (slot->changes != changes) {
		memset(slot->entries, 0, sizeof(slot->entries));
		slot->changes = changes;
	}
	if (!entry || *known == entry)
		return entry;
	if (!salvo_aspaces_is_code(slots->aspaces, slot->asid, entry))
		return false;
	*known = entry;
	return true;
}

/* Reads the task once and checks what it read. */
static bool take_task(struct salvo_leaf_slots *slots, struct salvo_leaf_slot *slot)
{
	const volatile uint64_t *from = (const volatile uint64_t *)&slot->regs->dispatch;
	uint64_t words[sizeof(slot->op) / sizeof(uint64_t)] = { 0 };
	uint32_t size[3];
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		words[i] = from[i];
	memcpy(&slot->op, words, sizeof(slot->op));
	if (slot->op.op.code || slot->op.op.index || slot->op.eu_mask || slot->op.args_offset ||
	    !salvo_dispatch_is_valid(&slot->op, size) || !is_code(slots, slot, slot->op.entry))
		return false;
	memcpy(slot->args, slot->regs->args, slot->op.args_size);
	salvo_element_set_range(&slot->element, size);
	return true;
}

/* Stores the result of the parts (W6 of US11340942). */
static void store_completion(struct salvo_leaf_slot *slot)
{
	const unsigned int cores = __builtin_popcountll(slot->units);
	struct salvo_slot_regs *regs = slot->regs;
	uint64_t well = 0;
	unsigned int core;

	for (core = 0; core < cores; core++)
		if (slot->parts[core].well)
			well |= 1ull << core;
		else
			regs->parts[core] = slot->parts[core].fault;
	regs->completion = well;
	regs->status = well == (~0ull >> (64 - cores)) ? SALVO_SLOT_DONE : SALVO_SLOT_FAILED;
}

/* Return the task to the worker. */
static void hand_back(struct salvo_leaf_slot *slot)
{
	struct salvo_slot_regs *regs = slot->regs;

	__atomic_store_n(&regs->doorbell, 0, __ATOMIC_RELEASE);
	salvo_slot_fence();
	if (__atomic_load_n(&regs->waiting, __ATOMIC_ACQUIRE)) {
		__atomic_store_n(&regs->waiting, 0, __ATOMIC_RELAXED);
		slot->ended(slot->cookie);
	}
}

/* W7: afterwards no core touches the slot. */
static void leave_slot(struct salvo_leaf_slots *slots, unsigned int number, unsigned int unit,
		       struct salvo_runner *runner)
{
	struct salvo_leaf_slot *slot = slot_at(slots, number);

	start_parts(slots, slot, true);
	meet(slots, slot, unit, runner);
	slot->regs->completion = 0;
	slot->regs->status = SALVO_SLOT_DETACHED;
	hand_back(slot);
	salvo_leaf_slots_leave(slots, unit, number);
	atomic_store_explicit(&slot->left, true, memory_order_release);
}

static void run_task(struct salvo_leaf_slots *slots, struct salvo_leaf_slot *slot,
		     unsigned int unit, struct salvo_runner *runner)
{
	if (!take_task(slots, slot)) {
		slot->regs->completion = 0;
		slot->regs->status = SALVO_SLOT_REFUSED;
		return;
	}
	/* While the GPU is being closed @stop stays set. */
	if (!atomic_load_explicit(&slot->leave, memory_order_acquire))
		atomic_store_explicit(&slot->stop, 0, memory_order_relaxed);
	start_parts(slots, slot, false);
	atomic_store_explicit(&slot->running, slot->serial, memory_order_relaxed);
	run_part(slot, 0, runner);
	meet(slots, slot, unit, runner);
	atomic_store_explicit(&slot->running, 0, memory_order_relaxed);
	store_completion(slot);
}

/* Returns whether there was a task. */
static bool serve_primary(struct salvo_leaf_slots *slots, unsigned int number, unsigned int unit,
			  struct salvo_runner *runner)
{
	struct salvo_leaf_slot *slot = slot_at(slots, number);
	uint32_t opcode;

	if (atomic_load_explicit(&slot->leave, memory_order_acquire)) {
		leave_slot(slots, number, unit, runner);
		return true;
	}
	if (__atomic_load_n(&slot->regs->doorbell, __ATOMIC_ACQUIRE) != 1)
		return false;
	opcode = read_once(&slot->regs->opcode);
	if (opcode == SALVO_SLOT_DISCONNECT) {
		leave_slot(slots, number, unit, runner);
		return true;
	}
	if (opcode == SALVO_SLOT_RUN) {
		run_task(slots, slot, unit, runner);
	} else {
		slot->regs->completion = 0;
		slot->regs->status = SALVO_SLOT_REFUSED;
	}
	hand_back(slot);
	return true;
}

/* Serves the slots of one priority. Returns whether there was a task. */
static bool serve_prio(struct salvo_leaf_slots *slots, unsigned int unit, unsigned int prio,
		       struct salvo_runner *runner)
{
	uint64_t mask = atomic_load_explicit(&slots->member[unit], memory_order_acquire) &
			atomic_load_explicit(&slots->prio[prio], memory_order_relaxed);
	bool found = false;

	for (; mask; mask &= mask - 1) {
		const unsigned int number = __builtin_ctzll(mask);

		/* The unit may have left this slot at an earlier barrier: it may be freed. */
		if (!(atomic_load_explicit(&slots->member[unit], memory_order_acquire) &
		      (1ull << number)))
			continue;
		if (core_number(slot_at(slots, number), unit))
			serve_part(slots, number, unit, runner);
		else
			found |= serve_primary(slots, number, unit, runner);
	}
	return found;
}

void salvo_leaf_slots_serve(struct salvo_leaf_slots *slots, unsigned int unit,
			    unsigned int lowest, struct salvo_runner *runner)
{
	unsigned int prio = SALVO_LEAF_PRIOS - 1;

	while (serve_prio(slots, unit, prio, runner))
		;
	while (prio-- > lowest)
		if (serve_prio(slots, unit, prio, runner))
			return;
}

void salvo_leaf_slots_sleep(struct salvo_leaf_slots *slots, unsigned int unit, bool sleeping)
{
	uint64_t mask = atomic_load_explicit(&slots->member[unit], memory_order_acquire);

	for (; mask; mask &= mask - 1) {
		struct salvo_leaf_slot *slot = slot_at(slots, __builtin_ctzll(mask));
		const unsigned int core = core_number(slot, unit);

		if (core)
			atomic_store_explicit(&slot->parts[core].sleeping, sleeping,
					      memory_order_relaxed);
		else
			__atomic_store_n(&slot->regs->sleeping, sleeping, __ATOMIC_RELAXED);
	}
	salvo_slot_fence();
}
