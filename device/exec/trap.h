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
	/** @process, @thread: That it catches for. */
	pid_t process;
	pid_t thread;
	/** @saved: Of salvo_fiber_call(), to escape to. */
	void *saved;
	/** @armed: The thread is inside a kernel. */
	volatile bool armed;
	/** @given_up: Not zero when the kernel may be left by salvo_trap_stop(). */
	const _Atomic uint32_t *given_up;
	/** @kind: SALVO_FAULT_*; SALVO_FAULT_NONE if it was stopped. */
	uint32_t kind;
	/** @access: SALVO_ACCESS_* that was tried, or 0. */
	uint32_t access;
	/** @address: That was touched, or of the instruction. */
	uint64_t address;
	/**
	 * @locate: Finds out more about a fault, from @machine and what is still on the kernel's
	 * stack. A fault of its own ends it.
	 */
	void (*locate)(struct salvo_trap *trap);
	/** @locating: It is @locate that runs. */
	volatile bool locating;
	/** @machine: As the fault found it. */
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
 * salvo_trap_attach() - From now on @trap catches for the calling thread.
 * @stack, @bytes: Alternate stack for the handler.
 */
void salvo_trap_attach(struct salvo_trap *trap, void *stack, size_t bytes);

/**
 * salvo_trap_stop() - Make a thread leave the kernel that it is inside, if that was given up.
 *
 * Needs the handlers of salvo_traps_get().
 */
void salvo_trap_stop(const struct salvo_trap *trap);

#endif /* SALVO_TRAP_H */
