/* SPDX-License-Identifier: MIT */
/*
 * wakes.h - which units look for work, which sleep, and how one is woken
 */
#ifndef SALVO_WAKES_H
#define SALVO_WAKES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "salvo_hw.h"

/**
 * struct salvo_wakes - What the units share with those who wake them. May be shared by processes.
 */
struct salvo_wakes {
	/** @looking: Mask bits of the units that look for work, and at the bell, by themselves. */
	_Atomic uint64_t looking __attribute__((aligned(64)));
	/** @sleeping: Mask bits of the units that must be woken. */
	_Atomic uint64_t sleeping;
	struct {
		/** @wake: Futex: 1 when the unit is to wake. */
		_Atomic uint32_t wake __attribute__((aligned(64)));
	} unit[SALVO_MAX_UNITS];
};

/**
 * salvo_wakes_lie_down() - A unit says that it will sleep. It has to look for work once more then.
 */
void salvo_wakes_lie_down(struct salvo_wakes *wakes, unsigned int unit);

/**
 * salvo_wakes_sleep() - Sleep until woken; now and then without a reason.
 *
 * Return: false if the unit was woken.
 */
bool salvo_wakes_sleep(struct salvo_wakes *wakes, unsigned int unit);

/**
 * salvo_wakes_rest() - A unit that neither looks nor sleeps waits for so long; nobody wakes it.
 */
void salvo_wakes_rest(struct salvo_wakes *wakes, unsigned int unit, uint32_t ns);

/**
 * salvo_wakes_get_up() - The unit does not sleep any more.
 */
void salvo_wakes_get_up(struct salvo_wakes *wakes, unsigned int unit);

/**
 * salvo_wakes_wake() - Wake a unit, unless it is awake.
 *
 * Return: was it asleep?
 */
bool salvo_wakes_wake(struct salvo_wakes *wakes, unsigned int unit);

/**
 * salvo_wakes_wake_one() - Wake one of the units in @mask, which were seen to sleep.
 * @core: Of each unit.
 * @here: One of the caller's core if that can be, as that one is woken at once when the caller
 *	  is about to wait; else one of another core, as the caller goes on.
 *
 * Return: false if all were awake.
 */
bool salvo_wakes_wake_one(struct salvo_wakes *wakes, uint64_t mask, const int *core, bool here);

#endif /* SALVO_WAKES_H */
