/* SPDX-License-Identifier: MIT */
/*
 * irq.h - interrupts that are due
 *
 * Code that holds a lock counts an interrupt; the thread that drops the last lock raises them,
 * since the owner's callback may ring doorbells.
 */
#ifndef SALVO_IRQ_H
#define SALVO_IRQ_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include "salvo_hw.h"

/**
 * struct salvo_irqs - Interrupts of a GPU; no lock.
 */
struct salvo_irqs {
	/** @interrupt, @cookie: Of struct salvo_gpu_config; @interrupt may be NULL. */
	void (*interrupt)(void *cookie, unsigned int vector);
	void *cookie;
	/** @fence, @fault, @slot: Interrupts to raise when no lock is held. */
	_Atomic uint32_t fence;
	_Atomic uint32_t fault;
	_Atomic uint32_t slot;
};

/**
 * salvo_irqs_raise() - Raise the interrupts that are due. The caller holds no lock.
 */
static inline void salvo_irqs_raise(struct salvo_irqs *irqs)
{
	uint32_t count;

	if (!irqs->interrupt)
		return;
	if (atomic_load(&irqs->fault))
		for (count = atomic_exchange(&irqs->fault, 0); count; count--)
			irqs->interrupt(irqs->cookie, SALVO_VECTOR_FAULT);
	if (atomic_load(&irqs->fence))
		for (count = atomic_exchange(&irqs->fence, 0); count; count--)
			irqs->interrupt(irqs->cookie, SALVO_VECTOR_FENCE);
	/* It only says to check: one is enough for any number. */
	if (atomic_load(&irqs->slot) && atomic_exchange(&irqs->slot, 0))
		irqs->interrupt(irqs->cookie, SALVO_VECTOR_SLOT);
}

#endif /* SALVO_IRQ_H */
