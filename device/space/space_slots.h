/* SPDX-License-Identifier: MIT */
/*
 * space_slots.h - slots of an address space whose units are in a process
 */
#ifndef SALVO_SPACE_SLOTS_H
#define SALVO_SPACE_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

struct salvo_op_attach;
struct salvo_space;

/* All are called with the lock of the address space held. */

/** salvo_space_slots_add() - Add a slot whose number is free. salvo_space_changed() follows. */
void salvo_space_slots_add(struct salvo_space *space, const struct salvo_op_attach *op);
/** salvo_space_slots_remove() - Remove the slots in @mask. salvo_space_changed() follows. */
void salvo_space_slots_remove(struct salvo_space *space, uint64_t mask);
/** salvo_space_slots_of() - Mask of the slots of a context. */
uint64_t salvo_space_slots_of(const struct salvo_space *space, uint32_t ctx);
/** salvo_space_slots_give() - Pass the slots to a process that is about to be forked. */
void salvo_space_slots_give(struct salvo_space *space);
/** salvo_space_slots_given_to() - Was the process started with slots of @ctx, or of others? */
bool salvo_space_slots_given_to(const struct salvo_space *space, uint32_t ctx, bool others);
/** salvo_space_slots_forget() - The process has left the slots of a context. */
void salvo_space_slots_forget(struct salvo_space *space, uint32_t ctx);
/** salvo_space_slots_lost() - Tell the workers of the slots in @mask that they are detached. */
void salvo_space_slots_lost(struct salvo_space *space, uint64_t mask);
/** salvo_space_slots_drain() - From now on no leaf begins in the process. */
void salvo_space_slots_drain(struct salvo_space *space);
/** salvo_space_slots_are_drained() - Does no leaf run, and will none begin? */
bool salvo_space_slots_are_drained(const struct salvo_space *space);
/** salvo_space_slots_notify() - Workers may have to be notified: let the driver check. */
void salvo_space_slots_notify(struct salvo_space *space);
/** salvo_space_slots_wake() - Wake the units of the slots that the driver asks for. */
void salvo_space_slots_wake(struct salvo_space *space);
/**
 * salvo_space_slots_count_time() - Count the time that the process spent in leaves since the last
 * call: of what it says, as much as its units can have run.
 */
void salvo_space_slots_count_time(struct salvo_space *space);
/**
 * salvo_space_slots_sample() - Show in the registers what runs, and count the time.
 * @cpu_ns: CPU time of the process.
 *
 * Return: false if the process lies about it and is to be ended.
 */
bool salvo_space_slots_sample(struct salvo_space *space, uint64_t cpu_ns);
/** salvo_space_slots_is_audit_due() - Is the process to be replaced to see which leaves run? */
bool salvo_space_slots_is_audit_due(struct salvo_space *space, uint64_t cpu_ns);

#endif /* SALVO_SPACE_SLOTS_H */
