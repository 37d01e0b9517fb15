// SPDX-License-Identifier: MIT
/*
 * space_slots.c - slots of an address space whose units are in a process
 *
 * A process serves the slots that its address space had when it was forked. To attach or detach one
 * changes the address space as a binding does: the process is replaced (space.c). A leaf is never
 * run twice, nor cut off: the device sets @draining in the block, issues a fence, and reads which
 * leaves run; a unit shows its leaf, issues a fence and reads @draining (device/leaf.c). When none
 * runs the old process is killed, and the next one finds the tasks that were not begun.
 *
 * The process can write all of that. One that hides a leaf loses it, one that makes leaves up is
 * found by their numbers while it drains, or by the driver's time limit. So that a leaf cannot
 * evade the limit by making up a new number now and then, an audit: a process that has used
 * AUDIT_NS of CPU time is replaced, as if its bindings had changed. Other leaves wait until those
 * that run have ended. If these are long, audits are rare: at most a tenth of the time is waited.
 * They would wait for batches as well, so while there are some audits are ten times as rare.
 */
#include "space_slots.h"

#include <stddef.h>
#include <string.h>
#include "clock.h"
#include "gpu.h"
#include "salvo_leaf.h"
#include "space.h"
#include "space_jobs.h"
#include "spaces.h"

/* CPU time of a process between audits, and how often its longest leaf at least */
#define AUDIT_NS	(2 * SALVO_CLOCK_HZ)
#define AUDIT_BUSY_NS	(20 * SALVO_CLOCK_HZ)
#define AUDIT_LEAVES	10

static void count_slot(struct salvo_space *space, const struct salvo_space_slot *slot, int by)
{
	const unsigned int prio = salvo_queues_prio(slot->priority);

	space->jobs[prio] += by;
	salvo_prio_table_set_pending(space->spaces->prio_table, space->prio_slot, prio,
				     space->jobs[prio]);
}

void salvo_space_slots_add(struct salvo_space *space, const struct salvo_op_attach *op)
{
	struct salvo_space_slot *slot = &space->slots[op->slot];

	*slot = (struct salvo_space_slot){
		.ctx = op->ctx, .priority = op->priority, .units = op->units,
		.address = op->address,
		.wake_seen = __atomic_load_n(&space->spaces->gpu->regs->slot_wake[op->slot],
					     __ATOMIC_RELAXED),
	};
	space->slot_mask |= 1ull << op->slot;
	atomic_fetch_add(&space->spaces->slots, 1);
	count_slot(space, slot, 1);
}

void salvo_space_slots_remove(struct salvo_space *space, uint64_t mask)
{
	for (mask &= space->slot_mask; mask; mask &= mask - 1) {
		const unsigned int number = __builtin_ctzll(mask);

		space->slot_mask &= ~(1ull << number);
		atomic_fetch_sub(&space->spaces->slots, 1);
		count_slot(space, &space->slots[number], -1);
	}
}

uint64_t salvo_space_slots_of(const struct salvo_space *space, uint32_t ctx)
{
	uint64_t mask = space->slot_mask, found = 0;

	for (; mask; mask &= mask - 1)
		if (space->slots[__builtin_ctzll(mask)].ctx == ctx)
			found |= mask & -mask;
	return found;
}

void salvo_space_slots_give(struct salvo_space *space)
{
	uint64_t mask = space->slot_mask;

	space->given = mask;
	space->leaf_ns = 0;
	space->leaf_at = salvo_clock();
	space->longest_leaf = 0;
	memset(space->shown, 0, sizeof(space->shown));
	for (; mask; mask &= mask - 1) {
		const unsigned int number = __builtin_ctzll(mask);
		const struct salvo_space_slot *slot = &space->slots[number];

		space->given_ctx[number] = slot->ctx;
		space->block->slots[number] = (struct salvo_block_slot){
			.ctx = slot->ctx, .priority = slot->priority, .units = slot->units,
			.address = slot->address,
		};
	}
}

bool salvo_space_slots_given_to(const struct salvo_space *space, uint32_t ctx, bool others)
{
	uint64_t mask = space->block ? space->given : 0;

	for (; mask; mask &= mask - 1)
		if ((space->given_ctx[__builtin_ctzll(mask)] == ctx) != others)
			return true;
	return false;
}

void salvo_space_slots_forget(struct salvo_space *space, uint32_t ctx)
{
	uint64_t mask = space->given;

	for (; mask; mask &= mask - 1)
		if (space->given_ctx[__builtin_ctzll(mask)] == ctx)
			space->given &= ~(mask & -mask);
}

/* The driver keeps the memory bound as long as the slot is attached. */
void salvo_space_slots_lost(struct salvo_space *space, uint64_t mask)
{
	const struct salvo_aspaces *aspaces = &space->spaces->gpu->aspaces;
	const uint32_t status = SALVO_SLOT_DETACHED, none = 0;
	const uint64_t completion = 0;

	mask &= space->slot_mask;
	salvo_space_slots_remove(space, mask);
	for (; mask; mask &= mask - 1) {
		const uint64_t at = space->slots[__builtin_ctzll(mask)].address;

		salvo_aspaces_write(aspaces, at + offsetof(struct salvo_slot_regs, completion),
				    &completion, sizeof(completion));
		salvo_aspaces_write(aspaces, at + offsetof(struct salvo_slot_regs, status),
				    &status, sizeof(status));
		salvo_aspaces_write(aspaces, at + offsetof(struct salvo_slot_regs, doorbell),
				    &none, sizeof(none));
		salvo_space_slots_notify(space);
	}
}

static uint32_t running(const struct salvo_space *space, unsigned int number)
{
	return atomic_load(&space->block->slots[number].running);
}

void salvo_space_slots_drain(struct salvo_space *space)
{
	uint64_t mask = space->given;

	if (!space->block || !mask || atomic_load(&space->block->draining))
		return;
	atomic_store(&space->block->draining, 1);
	for (; mask; mask &= mask - 1) {
		const unsigned int number = __builtin_ctzll(mask);

		space->drained_from[number] = running(space, number);
	}
}

bool salvo_space_slots_are_drained(const struct salvo_space *space)
{
	uint64_t mask = space->block ? space->given : 0;

	for (; mask; mask &= mask - 1)
		if (running(space, __builtin_ctzll(mask)))
			return false;
	return true;
}

void salvo_space_slots_notify(struct salvo_space *space)
{
	atomic_store(&space->spaces->gpu->irqs.slot, 1);
}

void salvo_space_slots_wake(struct salvo_space *space)
{
	const struct salvo_regs *regs = space->spaces->gpu->regs;
	uint64_t mask = space->slot_mask;

	for (; mask; mask &= mask - 1) {
		const unsigned int number = __builtin_ctzll(mask);
		struct salvo_space_slot *slot = &space->slots[number];
		const uint32_t wake = __atomic_load_n(&regs->slot_wake[number], __ATOMIC_ACQUIRE);

		if (wake == slot->wake_seen)
			continue;
		slot->wake_seen = wake;
		/* A process that is about to start polls its slots. */
		if (space->block)
			salvo_parking_wake(&space->block->parking, __builtin_ctzll(slot->units));
	}
}

void salvo_space_slots_count_time(struct salvo_space *space)
{
	struct salvo_gpu *gpu = space->spaces->gpu;
	uint64_t now, most, total, ns;

	if (!space->block || !space->given)
		return;
	now = salvo_clock();
	most = (now - space->leaf_at) * gpu->queues.topology.units;
	total = __atomic_load_n(&space->block->leaf_ns, __ATOMIC_RELAXED);
	ns = total - space->leaf_ns;
	if (ns > most)
		ns = most;
	__atomic_fetch_add(&gpu->regs->busy_ns, ns, __ATOMIC_RELAXED);
	__atomic_fetch_add(&gpu->regs->slot_ns[__builtin_ctzll(space->given)], ns,
			   __ATOMIC_RELAXED);
	space->leaf_ns = total;
	space->leaf_at = now;
}

/* In CPU time, as a process that others keep from running shows the same leaf for long. */
static void note_length(struct salvo_space *space, unsigned int number, uint32_t task,
			uint64_t cpu_ns)
{
	if (!task || task != space->shown[number])
		space->shown_since[number] = cpu_ns;
	space->shown[number] = task;
	if (cpu_ns - space->shown_since[number] > space->longest_leaf)
		space->longest_leaf = cpu_ns - space->shown_since[number];
}

bool salvo_space_slots_is_audit_due(struct salvo_space *space, uint64_t cpu_ns)
{
	const uint64_t audit = salvo_space_has_sent(space) ? AUDIT_BUSY_NS : AUDIT_NS;

	return !space->stale && cpu_ns > audit + AUDIT_LEAVES * space->longest_leaf;
}

bool salvo_space_slots_sample(struct salvo_space *space, uint64_t cpu_ns)
{
	struct salvo_regs *regs = space->spaces->gpu->regs;
	uint64_t mask = space->block ? space->given : 0;
	bool honest = true;

	if (!mask)
		return true;
	salvo_space_slots_count_time(space);
	for (; mask; mask &= mask - 1) {
		const unsigned int number = __builtin_ctzll(mask);
		const uint32_t task = running(space, number);

		__atomic_store_n(&regs->slot_task[number], task, __ATOMIC_RELAXED);
		note_length(space, number, task, cpu_ns);
		if (!task || !atomic_load(&space->block->draining))
			continue;
		/* A unit may show one more leaf, before it sees that none may begin. */
		if (!space->drained_from[number])
			space->drained_from[number] = task;
		honest &= task == space->drained_from[number];
	}
	return honest;
}
