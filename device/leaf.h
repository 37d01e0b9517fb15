/* SPDX-License-Identifier: MIT */
/*
 * leaf.h - leaf tasks of workers, which come through slots (W of US11340942)
 */
#ifndef SALVO_LEAF_H
#define SALVO_LEAF_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "element.h"
#include "salvo_hw.h"
#include "salvo_leaf.h"

struct salvo_aspaces;
struct salvo_gpu_slot_config;
struct salvo_gpu_recording;
struct salvo_parking;
struct salvo_prio_slot;
struct salvo_runner;

/* Of slots: low, normal, high */
#define SALVO_LEAF_PRIOS	3u
/* Entries of kernels that a slot remembers as checked; a power of two */
#define SALVO_LEAF_ENTRIES	16u

/**
 * struct salvo_leaf_part - What a core of the unit does of a leaf.
 */
struct salvo_leaf_part {
	/** @go: Written by the primary core: number of the leaf to do. */
	_Atomic uint32_t go __attribute__((aligned(64)));
	/** @leave: Instead, leave the slot. Stored before @go. */
	bool leave;
	/** @done: Written by the core itself: number of the leaf that it has done. */
	_Atomic uint32_t done __attribute__((aligned(64)));
	/** @sleeping: The core must be woken after @go. */
	_Atomic uint32_t sleeping;
	/** @started, @ended: When the core ran its part. Stored before @done. */
	uint64_t started;
	uint64_t ended;
	/** @well: It went well; else @fault. Stored before @done. */
	bool well;
	struct salvo_slot_part fault;
};

/**
 * struct salvo_leaf_slot - The device's side of a slot.
 */
struct salvo_leaf_slot {
	/* Fixed while it is attached. */
	/**
	 * @regs: @mapped for the slot alone, so that an unbind cannot take it away; in the process
	 * of an address space, which keeps its bindings, the memory that is bound.
	 */
	struct salvo_slot_regs *regs;
	bool mapped;
	/** @units: Cores; the lowest is the primary one. */
	uint64_t units;
	uint32_t asid;
	uint32_t ctx;
	uint32_t prio;
	/** @number: The owner's number for the slot. */
	uint32_t number;
	/** @ended: Called if the worker is to be notified. */
	void (*ended)(void *cookie);
	void *cookie;

	/** @leave: The primary core is to leave the slot. */
	_Atomic bool leave;
	/** @left: No core uses the slot any more. */
	_Atomic bool left;
	/** @closing: Leaves are stopped from now on. Set before @stop. */
	_Atomic bool closing;
	union {
		/** @state: The primary core stores the number of a leaf << 32 before it runs. */
		_Atomic uint64_t state;
		/** @stop: The lower half; not zero: the leaf of the upper half is stopped. */
		_Atomic uint32_t stop;
	};
	/** @running: Number of the leaf that runs, or 0. Written by the primary core. */
	_Atomic uint32_t *running;
	/** @own_running: What @running is, unless the owner passes a word. */
	_Atomic uint32_t own_running;
	/** @sampled, @samples: It was running so often in salvo_leaf_slots_sample(). */
	uint32_t sampled;
	uint32_t samples;

	/* Only the primary core writes these; the others read what is stored before their @go. */
	/** @serial: Number of the leaf. */
	uint32_t serial;
	/** @op, @args: Private copy of the task. */
	struct salvo_op_dispatch op;
	struct salvo_element element;
	/** @entries: Known to be code since change @changes of the address spaces. */
	uint64_t entries[SALVO_LEAF_ENTRIES];
	uint64_t changes;
	uint8_t args[SALVO_MAX_DISPATCH_ARGUMENT_BYTES] __attribute__((aligned(64)));

	/** @parts: By the number of the core in the unit. */
	struct salvo_leaf_part parts[SALVO_MAX_UNITS];
};

/**
 * struct salvo_leaf_slots - All slots of a GPU.
 */
struct salvo_leaf_slots {
	/** @aspaces, @parking, @all: Set by the owner; @all are the units that there are. */
	struct salvo_aspaces *aspaces;
	struct salvo_parking *parking;
	uint64_t all;
	/** @regs, @recording: Where the owner's units show what they run. */
	struct salvo_unit_regs *regs;
	struct salvo_gpu_recording *_Atomic *recording;
	/** @prio_slot: Where units publish the priority that they run. */
	const struct salvo_prio_slot *prio_slot;
	/**
	 * @draining: NULL, or a word of the owner's: while it is not 0 no leaf begins. Whoever sets
	 * it issues a fence and reads @running of all slots; @drained is called with @cookie when a
	 * leaf ends after that.
	 */
	const _Atomic uint32_t *draining;
	void (*drained)(void *cookie);
	void *cookie;
	/** @lock: Protects what follows against others that attach or detach; keeps slots there. */
	pthread_mutex_t lock;
	/** @slots: Those that are attached. */
	struct salvo_leaf_slot *_Atomic slots[SALVO_MAX_SLOTS];
	/** @prio: Masks of slots by priority. */
	_Atomic uint64_t prio[SALVO_LEAF_PRIOS];
	/** @member: For each core: the slots that it serves. It clears its own bits. */
	_Atomic uint64_t member[SALVO_MAX_UNITS];
	/** @turn: For each core, which alone uses it: the slot after its last leaf, by priority. */
	struct {
		uint8_t slot[SALVO_LEAF_PRIOS];
	} __attribute__((aligned(64))) turn[SALVO_MAX_UNITS];
};

/**
 * struct salvo_leaf_served - What a unit did for slots.
 */
struct salvo_leaf_served {
	/** @busy_ns: Time in leaves and parts of them. */
	uint64_t busy_ns;
	/** @yield: Another process runs a higher priority on this core. */
	bool yield;
};

/* --- leaf.c: on units; no locked instruction there, see tests/steal/instructions.sh */

/** salvo_leaf_slots_ring() - Is there something to serve for @unit? */
bool salvo_leaf_slots_ring(struct salvo_leaf_slots *slots, unsigned int unit);
/**
 * salvo_leaf_slots_serve() - Serve slots by priority, from the highest down to @lowest.
 *
 * All leaves of high priority that are there, then at most one other one. Slots of one priority
 * take turns.
 */
struct salvo_leaf_served salvo_leaf_slots_serve(struct salvo_leaf_slots *slots, unsigned int unit,
						unsigned int lowest, struct salvo_runner *runner);
/**
 * salvo_leaf_slots_sleep() - The unit goes to sleep, or has woken up.
 *
 * Before it sleeps it has to ask salvo_leaf_slots_ring() once more.
 */
void salvo_leaf_slots_sleep(struct salvo_leaf_slots *slots, unsigned int unit, bool sleeping);

/** salvo_leaf_slots_serves() - Does @unit serve any slot? */
static inline bool salvo_leaf_slots_serves(struct salvo_leaf_slots *slots, unsigned int unit)
{
	return atomic_load_explicit(&slots->member[unit], memory_order_acquire);
}

/** salvo_leaf_primary() - The core that a worker's doorbell rings for. */
static inline unsigned int salvo_leaf_primary(const struct salvo_leaf_slot *slot)
{
	return __builtin_ctzll(slot->units);
}

/* --- leaf_slots.c */

void salvo_leaf_slots_init(struct salvo_leaf_slots *slots);
/** salvo_leaf_slots_record() - By a unit: it has run its part of a leaf. */
void salvo_leaf_slots_record(struct salvo_leaf_slots *slots, const struct salvo_leaf_slot *slot,
			     unsigned int unit, uint64_t started, uint64_t ended);
/** salvo_leaf_slots_leave() - By a unit: it does not serve a slot any more. */
void salvo_leaf_slots_leave(struct salvo_leaf_slots *slots, unsigned int unit,
			    unsigned int number);
/** salvo_leaf_slots_fini() - Detach all slots, whose leaves were stopped. Units are running. */
void salvo_leaf_slots_fini(struct salvo_leaf_slots *slots);

/**
 * struct salvo_leaf_attach - What the owner of the GPU says of a slot.
 */
struct salvo_leaf_attach {
	/** @config: Checked, but for the units and the address. */
	const struct salvo_gpu_slot_config *config;
	/** @regs: The slot's memory; unmapped by salvo_leaf_slots_detach() if @mapped. */
	struct salvo_slot_regs *regs;
	bool mapped;
	/** @ctx: Its context, for salvo_leaf_slots_kill(). */
	uint32_t ctx;
	/** @running: Gets the number of the leaf that runs; may be NULL. */
	_Atomic uint32_t *running;
};

/**
 * salvo_leaf_slots_attach() - Attach units to a slot.
 *
 * Return: its number, -ENOSPC, -ENOMEM.
 */
int salvo_leaf_slots_attach(struct salvo_leaf_slots *slots, const struct salvo_leaf_attach *attach);
/** salvo_leaf_slots_detach() - Wait until the units have left a slot, and free it; once a slot. */
void salvo_leaf_slots_detach(struct salvo_leaf_slots *slots, unsigned int number);
/** salvo_leaf_slots_wake() - The worker has seen that the unit sleeps. */
void salvo_leaf_slots_wake(struct salvo_leaf_slots *slots, unsigned int number);
/** salvo_leaf_slots_close() - Stop all leaves, the units leave all slots. Return: had it any? */
bool salvo_leaf_slots_close(struct salvo_leaf_slots *slots);
/**
 * salvo_leaf_slots_kill() - Stop the leaves of a context; the units leave its slots.
 *
 * Return: whether a unit has yet to leave one. The caller stops kernels and asks again later.
 */
bool salvo_leaf_slots_kill(struct salvo_leaf_slots *slots, uint32_t ctx);
/**
 * salvo_leaf_slots_sample() - Stop leaves that were running in @limit samples in a row.
 *
 * Return: whether there was one.
 */
bool salvo_leaf_slots_sample(struct salvo_leaf_slots *slots, uint32_t limit);

#endif /* SALVO_LEAF_H */
