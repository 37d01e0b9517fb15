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
 * The process of an address space is replaced when its bindings change (device/space/space.c). A
 * unit shows that it runs a leaf, issues a fence and reads @draining; the device sets that, issues
 * a fence and reads what runs. So either the unit leaves the task to the next process, or the
 * device waits until the leaf has ended.
 *
 * There is no lock and no locked instruction in this file: each word has one writer, and is
 * handed over by release and acquire (tests/spin/slot.pml). Checking the entry of a kernel takes
 * a lock the first time.
 */
#include "leaf.h"

#include <sched.h>
#include <string.h>
#include "aspace.h"
#include "clock.h"
#include "dispatch.h"
#include "group.h"
#include "parking.h"
#include "prio_table.h"

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

static bool is_draining(const struct salvo_leaf_slots *slots)
{
	return slots->draining && atomic_load_explicit(slots->draining, memory_order_relaxed);
}

/* Does the core have a task or a part to run? */
static bool rings(const struct salvo_leaf_slots *slots, const struct salvo_leaf_slot *slot,
		  unsigned int unit)
{
	const unsigned int core = core_number(slot, unit);
	const struct salvo_leaf_part *part = &slot->parts[core];

	if (!core)
		return (__atomic_load_n(&slot->regs->doorbell, __ATOMIC_ACQUIRE) == 1 &&
			!is_draining(slots)) ||
		       atomic_load_explicit(&slot->leave, memory_order_acquire);
	return atomic_load_explicit(&part->go, memory_order_acquire) !=
	       atomic_load_explicit(&part->done, memory_order_relaxed);
}

bool salvo_leaf_slots_ring(struct salvo_leaf_slots *slots, unsigned int unit)
{
	uint64_t mask = atomic_load_explicit(&slots->member[unit], memory_order_acquire);

	for (; mask; mask &= mask - 1)
		if (rings(slots, slot_at(slots, __builtin_ctzll(mask)), unit))
			return true;
	return false;
}

static void show(uint32_t *field, uint32_t value)
{
	__atomic_store_n(field, value, __ATOMIC_RELAXED);
}

/* The core's share of the work-groups. */
static void run_groups(struct salvo_leaf_slot *slot, unsigned int core, struct salvo_runner *runner)
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

/* The same, shown in the unit's registers and in a recording. Returns the time that it took. */
static uint64_t run_part(struct salvo_leaf_slots *slots, struct salvo_leaf_slot *slot,
			 unsigned int unit, struct salvo_runner *runner)
{
	const unsigned int core = core_number(slot, unit);
	struct salvo_leaf_part *part = &slot->parts[core];
	struct salvo_unit_regs *regs = &slots->regs[unit];

	part->started = salvo_clock();
	show(&regs->ctx, slot->ctx);
	show(&regs->asid, slot->asid);
	__atomic_store_n(&regs->seqno, 0, __ATOMIC_RELAXED);
	show(&regs->state, SALVO_UNIT_BUSY);
	salvo_prio_slot_publish(slots->prio_slot, unit, SALVO_LEAF_PRIOS - 1 - slot->prio);
	run_groups(slot, core, runner);
	show(&regs->state, SALVO_UNIT_IDLE);
	part->ended = salvo_clock();
	if (atomic_load_explicit(slots->recording, memory_order_relaxed))
		salvo_leaf_slots_record(slots, slot, unit, part->started, part->ended);
	return part->ended - part->started;
}

/* A core that is not the primary one. */
static uint64_t serve_part(struct salvo_leaf_slots *slots, unsigned int number, unsigned int unit,
			   struct salvo_runner *runner)
{
	struct salvo_leaf_slot *slot = slot_at(slots, number);
	const unsigned int core = core_number(slot, unit);
	struct salvo_leaf_part *part = &slot->parts[core];
	const uint32_t go = atomic_load_explicit(&part->go, memory_order_acquire);
	uint64_t busy = 0;

	if (go == atomic_load_explicit(&part->done, memory_order_relaxed))
		return 0;
	if (part->leave)
		salvo_leaf_slots_leave(slots, unit, number);
	else
		busy = run_part(slots, slot, unit, runner);
	/* If the primary core left, the slot may be freed from here on. */
	atomic_store_explicit(&part->done, go, memory_order_release);
	return busy;
}

/* Runs the parts of this core for other primary cores; these never wait. */
static uint64_t serve_parts(struct salvo_leaf_slots *slots, unsigned int unit,
			    struct salvo_runner *runner)
{
	uint64_t busy = 0, mask = atomic_load_explicit(&slots->member[unit], memory_order_acquire);

	for (; mask; mask &= mask - 1) {
		const unsigned int number = __builtin_ctzll(mask);

		if (core_number(slot_at(slots, number), unit))
			busy += serve_part(slots, number, unit, runner);
	}
	return busy;
}

/* 0 is no leaf. */
static void count_leaf(struct salvo_leaf_slot *slot)
{
	slot->serial += slot->serial == UINT32_MAX ? 2 : 1;
}

/* Starts the parts of the other cores, or makes them leave. */
static void start_parts(struct salvo_leaf_slots *slots, struct salvo_leaf_slot *slot, bool leave)
{
	uint64_t rest = slot->units & (slot->units - 1);
	unsigned int core;

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
static uint64_t meet(struct salvo_leaf_slots *slots, struct salvo_leaf_slot *slot,
		     unsigned int unit, struct salvo_runner *runner)
{
	const unsigned int cores = __builtin_popcountll(slot->units);
	unsigned int core, polls = 0;
	uint64_t busy = 0;

	for (core = 1; core < cores; core++)
		while (atomic_load_explicit(&slot->parts[core].done, memory_order_acquire) !=
		       slot->serial) {
			busy += serve_parts(slots, unit, runner);
			if (++polls < BARRIER_POLLS)
				__builtin_ia32_pause();
			else
				sched_yield();
		}
	return busy;
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
	    !salvo_dispatch_has_grid(&slot->op, size) ||
	    !salvo_dispatch_has_limits(&slot->op) || !is_code(slots, slot, slot->op.entry))
		return false;
	memcpy(slot->args, slot->regs->args, slot->op.args_size);
	salvo_element_set_range(&slot->element, size);
	return true;
}

/* Nothing ran. */
static void store_status(struct salvo_slot_regs *regs, uint32_t status)
{
	regs->started = 0;
	regs->ended = 0;
	regs->completion = 0;
	regs->status = status;
}

/* Stores the result of the parts (W6 of US11340942), and when they ran. */
static void store_completion(struct salvo_leaf_slot *slot)
{
	const unsigned int cores = __builtin_popcountll(slot->units);
	struct salvo_slot_regs *regs = slot->regs;
	uint64_t well = 0, ended = 0;
	unsigned int core;

	for (core = 0; core < cores; core++) {
		if (slot->parts[core].well)
			well |= 1ull << core;
		else
			regs->parts[core] = slot->parts[core].fault;
		if (slot->parts[core].ended > ended)
			ended = slot->parts[core].ended;
	}
	regs->started = slot->parts[0].started;
	regs->ended = ended;
	regs->completion = well;
	regs->status = well == (~0ull >> (64 - cores)) ? SALVO_SLOT_DONE : SALVO_SLOT_FAILED;
}

/*
 * Return the task to the worker. The doorbell first: once nothing runs, the process may be killed.
 * The device then notifies the workers.
 */
static void hand_back(struct salvo_leaf_slots *slots, struct salvo_leaf_slot *slot)
{
	struct salvo_slot_regs *regs = slot->regs;

	__atomic_store_n(&regs->doorbell, 0, __ATOMIC_RELEASE);
	atomic_store_explicit(slot->running, 0, memory_order_release);
	salvo_slot_fence();
	if (__atomic_load_n(&regs->waiting, __ATOMIC_RELAXED)) {
		__atomic_store_n(&regs->waiting, 0, __ATOMIC_RELAXED);
		slot->ended(slot->cookie);
	}
	if (is_draining(slots))
		slots->drained(slots->cookie);
}

/* W7: afterwards no core touches the slot. */
static void leave_slot(struct salvo_leaf_slots *slots, unsigned int number, unsigned int unit,
		       struct salvo_runner *runner)
{
	struct salvo_leaf_slot *slot = slot_at(slots, number);

	count_leaf(slot);
	start_parts(slots, slot, true);
	meet(slots, slot, unit, runner);
	store_status(slot->regs, SALVO_SLOT_DETACHED);
	hand_back(slots, slot);
	salvo_leaf_slots_leave(slots, unit, number);
	atomic_store_explicit(&slot->left, true, memory_order_release);
}

/*
 * Shows that the leaf runs, unless no leaf may begin. While the GPU is being closed, or its context
 * killed, it is stopped at once.
 */
static bool begin_leaf(struct salvo_leaf_slots *slots, struct salvo_leaf_slot *slot)
{
	atomic_store_explicit(slot->running, slot->serial, memory_order_relaxed);
	atomic_store_explicit(&slot->state, (uint64_t)slot->serial << 32, memory_order_relaxed);
	salvo_slot_fence();
	if (atomic_load_explicit(&slot->closing, memory_order_relaxed))
		atomic_store_explicit(&slot->stop, 1, memory_order_relaxed);
	if (!is_draining(slots))
		return true;
	atomic_store_explicit(slot->running, 0, memory_order_release);
	/* The device may have seen it meanwhile, and wait for its end. */
	slots->drained(slots->cookie);
	return false;
}

/* Returns false if the task stays in the slot. */
static bool run_task(struct salvo_leaf_slots *slots, struct salvo_leaf_slot *slot,
		     unsigned int unit, struct salvo_runner *runner, uint64_t *busy)
{
	if (!take_task(slots, slot)) {
		store_status(slot->regs, SALVO_SLOT_REFUSED);
		hand_back(slots, slot);
		return true;
	}
	count_leaf(slot);
	if (!begin_leaf(slots, slot))
		return false;
	start_parts(slots, slot, false);
	*busy += run_part(slots, slot, unit, runner);
	*busy += meet(slots, slot, unit, runner);
	store_completion(slot);
	hand_back(slots, slot);
	return true;
}

/* Returns whether there was a task. */
static bool serve_primary(struct salvo_leaf_slots *slots, unsigned int number, unsigned int unit,
			  struct salvo_runner *runner, uint64_t *busy)
{
	struct salvo_leaf_slot *slot = slot_at(slots, number);
	uint32_t opcode;

	if (atomic_load_explicit(&slot->leave, memory_order_acquire)) {
		leave_slot(slots, number, unit, runner);
		return true;
	}
	if (__atomic_load_n(&slot->regs->doorbell, __ATOMIC_ACQUIRE) != 1 || is_draining(slots))
		return false;
	opcode = read_once(&slot->regs->opcode);
	if (opcode == SALVO_SLOT_DISCONNECT) {
		leave_slot(slots, number, unit, runner);
		return true;
	}
	if (opcode == SALVO_SLOT_RUN)
		return run_task(slots, slot, unit, runner, busy);
	store_status(slot->regs, SALVO_SLOT_REFUSED);
	hand_back(slots, slot);
	return true;
}

static uint64_t rotate_right(uint64_t mask, unsigned int bits)
{
	return mask >> bits | mask << (-bits % 64);
}

/* All parts of this core, and leaves: one, unless their priority is the highest. */
static bool serve_prio(struct salvo_leaf_slots *slots, unsigned int unit, unsigned int prio,
		       struct salvo_runner *runner, uint64_t *busy)
{
	const unsigned int first = slots->turn[unit].slot[prio];
	uint64_t mask = atomic_load_explicit(&slots->member[unit], memory_order_acquire) &
			atomic_load_explicit(&slots->prio[prio], memory_order_relaxed);
	bool found = false;

	for (mask = rotate_right(mask, first); mask; mask &= mask - 1) {
		const unsigned int number = (__builtin_ctzll(mask) + first) % SALVO_MAX_SLOTS;

		/* The unit may have left this slot at an earlier barrier: it may be freed. */
		if (!(atomic_load_explicit(&slots->member[unit], memory_order_acquire) &
		      (1ull << number)))
			continue;
		if (core_number(slot_at(slots, number), unit)) {
			*busy += serve_part(slots, number, unit, runner);
		} else if ((!found || prio == SALVO_LEAF_PRIOS - 1) &&
			   serve_primary(slots, number, unit, runner, busy)) {
			slots->turn[unit].slot[prio] = (number + 1) % SALVO_MAX_SLOTS;
			found = true;
		}
	}
	return found;
}

/* Does another process run a higher priority than that of slots of @prio? */
static bool must_yield(const struct salvo_leaf_slots *slots, unsigned int unit, unsigned int prio)
{
	const unsigned int index = SALVO_LEAF_PRIOS - 1 - prio;

	return slots->prio_slot->table && salvo_prio_slot_may_yield(slots->prio_slot, index) &&
	       salvo_prio_slot_must_yield(slots->prio_slot, unit, index);
}

struct salvo_leaf_served salvo_leaf_slots_serve(struct salvo_leaf_slots *slots, unsigned int unit,
						unsigned int lowest, struct salvo_runner *runner)
{
	struct salvo_leaf_served served = { 0 };
	unsigned int prio = SALVO_LEAF_PRIOS - 1;

	while (serve_prio(slots, unit, prio, runner, &served.busy_ns))
		;
	while (prio-- > lowest) {
		/* Parts are those of leaves that have begun. */
		if (must_yield(slots, unit, prio)) {
			served.busy_ns += serve_parts(slots, unit, runner);
			served.yield = true;
			break;
		}
		if (serve_prio(slots, unit, prio, runner, &served.busy_ns))
			break;
	}
	return served;
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
