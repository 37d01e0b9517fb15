/* SPDX-License-Identifier: MIT */
/*
 * trap.h - catch the signals that a kernel causes
 */
#ifndef SALVO_TRAP_H
#define SALVO_TRAP_H

#include <sys/types.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "items.h"

/**
 * struct salvo_trap - What a unit's thread needs to leave a kernel that faulted.
 */
struct salvo_trap {
	/** @process, @thread: Ids of the unit's thread. */
	pid_t process;
	pid_t thread;
	/** @saved: Set by salvo_fiber_call(), for salvo_fiber_escape(). */
	void *saved;
	/** @armed: The thread is inside a kernel. */
	volatile bool armed;
	/** @given_up: Not zero if salvo_trap_stop() may stop the kernel. */
	const _Atomic uint32_t *given_up;
	/** @kind: SALVO_FAULT_*; SALVO_FAULT_NONE if it was stopped. */
	uint32_t kind;
	/** @access: SALVO_ACCESS_* that was tried, or 0. */
	uint32_t access;
	/** @address: Address of the access, or of the instruction. */
	uint64_t address;
	/**
	 * @locate: Finds the work-item of a fault, from @machine and the kernel's stack. A fault of
	 * its own ends it.
	 */
	void (*locate)(struct salvo_trap *trap);
	/** @locating: @locate runs. */
	volatile bool locating;
	/** @machine: State at the fault. */
	struct salvo_machine machine;
	/** @stack_end: Of the alternate stack. */
	uint8_t *stack_end;
};

/**
 * salvo_traps_get() - Install the signal handlers; counted, for the whole process.
 */
void salvo_traps_get(void);
void salvo_traps_put(void);

/**
 * salvo_trap_attach() - Handle faults of the calling thread with @trap.
 * @stack, @bytes: Alternate stack for the handler.
 */
void salvo_trap_attach(struct salvo_trap *trap, void *stack, size_t bytes);

/**
 * salvo_trap_stop() - Make a thread leave its kernel, if @given_up is not zero.
 *
 * Needs the handlers of salvo_traps_get().
 */
void salvo_trap_stop(const struct salvo_trap *trap);

#endif /* SALVO_TRAP_H */
