// SPDX-License-Identifier: MIT
/*
 * leaf_slots.c - attach units to slots and detach them
 *
 * A core serves the slots in its mask. Attaching sets its bit; only the core itself clears it, when
 * it leaves the slot (leaf.c), so that a slot can be freed once its primary core reports that all
 * have left. Both are rare: they take a lock, but a detach does not hold it while it waits.
 */
#include "leaf.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "aspace.h"
#include "gpu.h"
#include "parking.h"
#include "salvo_gpu.h"

_Static_assert(sizeof(struct salvo_slot_regs) <= SALVO_SLOT_BYTES, "a slot fits in its pages");
_Static_assert(offsetof(struct salvo_slot_regs, args) % 64 == 0, "arguments are aligned");

void salvo_leaf_slots_init(struct salvo_leaf_slots *slots)
{
	pthread_mutex_init(&slots->lock, NULL);
}

void salvo_leaf_slots_fini(struct salvo_leaf_slots *slots)
{
	unsigned int i;

	for (i = 0; i < SALVO_MAX_SLOTS; i++)
		salvo_leaf_slots_detach(slots, i);
	pthread_mutex_destroy(&slots->lock);
}

static int free_number(struct salvo_leaf_slots *slots)
{
	unsigned int i;

	for (i = 0; i < SALVO_MAX_SLOTS; i++)
		if (!atomic_load(&slots->slots[i]))
			return i;
	return -ENOSPC;
}

static unsigned int prio_of(int32_t priority)
{
	return priority < 0 ? 0 : priority ? 2 : 1;
}

static void wake_units(struct salvo_leaf_slots *slots, uint64_t units)
{
	for (; units; units &= units - 1)
		salvo_parking_wake(slots->parking, __builtin_ctzll(units));
}

static struct salvo_leaf_slot *create_slot(const struct salvo_leaf_attach *attach)
{
	const struct salvo_gpu_slot_config *config = attach->config;
	struct salvo_leaf_slot *slot;

	slot = aligned_alloc(64, (sizeof(*slot) + 63) / 64 * 64);
	if (!slot)
		return NULL;
	memset(slot, 0, sizeof(*slot));
	slot->regs = attach->regs;
	slot->mapped = attach->mapped;
	slot->units = config->units;
	slot->asid = config->asid;
	slot->ctx = attach->ctx;
	slot->prio = prio_of(config->priority);
	slot->ended = config->ended;
	slot->cookie = config->cookie;
	slot->running = attach->running ? attach->running : &slot->own_running;
	slot->element.kind = SALVO_ELEMENT_DISPATCH;
	slot->element.op = &slot->op;
	slot->element.args = slot->args;
	/* The number of the first change is 0. */
	slot->changes = ~0ull;
	return slot;
}

int salvo_leaf_slots_attach(struct salvo_leaf_slots *slots, const struct salvo_leaf_attach *attach)
{
	struct salvo_leaf_slot *slot = create_slot(attach);
	uint64_t rest;
	int number;

	if (!slot)
		return -ENOMEM;
	pthread_mutex_lock(&slots->lock);
	number = free_number(slots);
	if (number >= 0) {
		slot->number = number;
		atomic_store(&slots->slots[number], slot);
		atomic_fetch_or(&slots->prio[slot->prio], 1ull << number);
		/* The primary core last: the others can serve the slot when it starts them. */
		for (rest = slot->units & (slot->units - 1); rest; rest &= rest - 1)
			atomic_fetch_or(&slots->member[__builtin_ctzll(rest)], 1ull << number);
		atomic_fetch_or(&slots->member[salvo_leaf_primary(slot)], 1ull << number);
	}
	pthread_mutex_unlock(&slots->lock);
	if (number < 0)
		free(slot);
	else
		/* From now on the cores set their flags in the slot before they sleep. */
		wake_units(slots, slot->units);
	return number;
}

void salvo_leaf_slots_record(struct salvo_leaf_slots *slots, const struct salvo_leaf_slot *slot,
			     unsigned int unit, uint64_t started, uint64_t ended)
{
	const uint64_t cores = __builtin_popcountll(slot->units);
	const uint64_t core = __builtin_popcountll(slot->units & ((1ull << unit) - 1));
	const uint64_t first = slot->element.total * core / cores;
	const struct salvo_gpu_span span = {
		.started = started, .ended = ended, .unit = unit, .command = slot->number,
		.group = first, .count = slot->element.total * (core + 1) / cores - first,
	};
	struct salvo_gpu_recording *recording = atomic_load(slots->recording);
	uint32_t place;

	if (!recording || !span.count)
		return;
	place = atomic_fetch_add_explicit(&recording->next, 1, memory_order_relaxed);
	if (place < recording->capacity)
		recording->spans[place] = span;
}

void salvo_leaf_slots_leave(struct salvo_leaf_slots *slots, unsigned int unit,
			    unsigned int number)
{
	atomic_fetch_and(&slots->member[unit], ~(1ull << number));
}

void salvo_leaf_slots_detach(struct salvo_leaf_slots *slots, unsigned int number)
{
	struct salvo_leaf_slot *slot;

	slot = atomic_load(&slots->slots[number]);
	if (!slot)
		return;
	atomic_store(&slot->leave, true);
	/* Not with the lock held: a core may run a leaf that salvo_leaf_slots_sample() gives up. */
	while (!atomic_load(&slot->left)) {
		wake_units(slots, slot->units);
		sched_yield();
	}
	pthread_mutex_lock(&slots->lock);
	atomic_fetch_and(&slots->prio[slot->prio], ~(1ull << number));
	atomic_store(&slots->slots[number], NULL);
	pthread_mutex_unlock(&slots->lock);
	if (slot->mapped)
		munmap(slot->regs, SALVO_SLOT_BYTES);
	free(slot);
}

void salvo_leaf_slots_wake(struct salvo_leaf_slots *slots, unsigned int number)
{
	struct salvo_leaf_slot *slot = atomic_load(&slots->slots[number]);

	if (slot)
		salvo_parking_wake(slots->parking, salvo_leaf_primary(slot));
}

/* A leaf of the primary core either sees @closing, or has stored its state before. */
static void close_slot(struct salvo_leaf_slot *slot)
{
	atomic_store(&slot->closing, true);
	atomic_store(&slot->stop, 1);
	atomic_store(&slot->leave, true);
}

bool salvo_leaf_slots_close(struct salvo_leaf_slots *slots)
{
	bool any = false;
	unsigned int i;

	pthread_mutex_lock(&slots->lock);
	for (i = 0; i < SALVO_MAX_SLOTS; i++) {
		struct salvo_leaf_slot *slot = atomic_load(&slots->slots[i]);

		if (!slot)
			continue;
		close_slot(slot);
		any = true;
	}
	pthread_mutex_unlock(&slots->lock);
	return any;
}

bool salvo_leaf_slots_kill(struct salvo_leaf_slots *slots, uint32_t ctx)
{
	bool found = false;
	unsigned int i;

	pthread_mutex_lock(&slots->lock);
	for (i = 0; i < SALVO_MAX_SLOTS; i++) {
		struct salvo_leaf_slot *slot = atomic_load(&slots->slots[i]);

		if (!slot || slot->ctx != ctx || atomic_load(&slot->left))
			continue;
		close_slot(slot);
		wake_units(slots, slot->units);
		found = true;
	}
	pthread_mutex_unlock(&slots->lock);
	return found;
}

static bool sample(struct salvo_leaf_slot *slot, uint32_t limit)
{
	const uint32_t running = atomic_load(slot->running);
	uint64_t state = (uint64_t)running << 32;

	if (!running || running != slot->sampled)
		slot->samples = 0;
	slot->sampled = running;
	if (!running || ++slot->samples < limit)
		return false;
	/* Unless it has ended just now: the next one has another number. */
	atomic_compare_exchange_strong(&slot->state, &state, state | 1);
	return true;
}

bool salvo_leaf_slots_sample(struct salvo_leaf_slots *slots, uint32_t limit)
{
	bool found = false;
	unsigned int i;

	pthread_mutex_lock(&slots->lock);
	for (i = 0; i < SALVO_MAX_SLOTS; i++) {
		struct salvo_leaf_slot *slot = atomic_load(&slots->slots[i]);

		if (slot)
			found |= sample(slot, limit);
	}
	pthread_mutex_unlock(&slots->lock);
	return found;
}

/* --- of a GPU */

int salvo_gpu_slot_attach(struct salvo_gpu *gpu, const struct salvo_gpu_slot_config *config)
{
	const uint64_t offset = config->address - (uintptr_t)gpu->aspaces.base;
	struct salvo_leaf_attach attach = { .config = config, .mapped = true };
	struct salvo_slot_regs *regs;
	bool covered;
	int ret;

	if (gpu->spaces || atomic_load(&gpu->doorbell_seq) || gpu->aspaces.given)
		return -ENOTSUP;
	if (!config->units || config->units & ~gpu->slots.all || config->address % 4096)
		return -EINVAL;
	pthread_mutex_lock(&gpu->cp_lock);
	covered = salvo_aspaces_in_vram(&gpu->aspaces, config->address, SALVO_SLOT_BYTES) &&
		  salvo_aspaces_covers(&gpu->aspaces, config->asid, config->address,
				       SALVO_SLOT_BYTES, SALVO_ACCESS_READ | SALVO_ACCESS_WRITE);
	pthread_mutex_unlock(&gpu->cp_lock);
	/* Doorbells that came while the lock was held. */
	salvo_gpu_run_rings(gpu, 0);
	if (!covered)
		return -EINVAL;
	regs = mmap(NULL, SALVO_SLOT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		    gpu->config.vram_fd, (off_t)(gpu->config.vram_offset + offset));
	if (regs == MAP_FAILED)
		return -ENOMEM;
	attach.regs = regs;
	ret = salvo_leaf_slots_attach(&gpu->slots, &attach);
	if (ret < 0)
		munmap(regs, SALVO_SLOT_BYTES);
	return ret;
}

void salvo_gpu_slot_detach(struct salvo_gpu *gpu, unsigned int slot)
{
	if (slot < SALVO_MAX_SLOTS)
		salvo_leaf_slots_detach(&gpu->slots, slot);
}

void salvo_gpu_slot_wake(struct salvo_gpu *gpu, unsigned int slot)
{
	if (slot < SALVO_MAX_SLOTS)
		salvo_leaf_slots_wake(&gpu->slots, slot);
}

void salvo_gpu_slot_sample(struct salvo_gpu *gpu, uint32_t limit)
{
	if (salvo_leaf_slots_sample(&gpu->slots, limit) && gpu->config.contain_faults)
		salvo_eus_stop_kernels(&gpu->eus);
}
