/* SPDX-License-Identifier: MIT */
/*
 * parking.h - which units poll for work, which sleep, and how one is woken
 */
#ifndef SALVO_PARKING_H
#define SALVO_PARKING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "salvo_hw.h"

/**
 * struct salvo_parking - State that units share with their wakers, possibly in other processes.
 */
struct salvo_parking {
	/** @polling: Mask of the units that poll the queues and the doorbell word. */
	_Atomic uint64_t polling __attribute__((aligned(64)));
	/** @sleeping: Mask of the units that must be woken. */
	_Atomic uint64_t sleeping;
	struct {
		/** @wake: Futex: 1 when the unit is to wake. */
		_Atomic uint32_t wake __attribute__((aligned(64)));
	} unit[SALVO_MAX_UNITS];
};

/**
 * salvo_parking_prepare_wait() - Mark a unit as sleeping. It must check for work once more then.
 */
void salvo_parking_prepare_wait(struct salvo_parking *parking, unsigned int unit);

/**
 * salvo_parking_wait() - Sleep until woken. May return spuriously.
 *
 * Return: false if the unit was woken.
 */
bool salvo_parking_wait(struct salvo_parking *parking, unsigned int unit);

/**
 * salvo_parking_pause() - Sleep for @ns while neither polling nor sleeping: nobody wakes the unit.
 */
void salvo_parking_pause(struct salvo_parking *parking, unsigned int unit, uint32_t ns);

/**
 * salvo_parking_finish_wait() - Undo salvo_parking_prepare_wait().
 *
 * Return: whether the unit counts as polling.
 */
bool salvo_parking_finish_wait(struct salvo_parking *parking, unsigned int unit);

/**
 * salvo_parking_wake() - Wake a unit if it sleeps.
 *
 * Return: whether it did.
 */
bool salvo_parking_wake(struct salvo_parking *parking, unsigned int unit);

/**
 * salvo_parking_wake_one() - Wake one of the units in @mask, which the caller saw sleeping.
 * @core: Core of each unit.
 * @here: Prefer a unit on the caller's core: it runs at once when the caller is about to sleep.
 *	  Otherwise prefer another core, as the caller keeps running.
 *
 * Return: false if none of them slept any more.
 */
bool salvo_parking_wake_one(struct salvo_parking *parking, uint64_t mask, const int *core,
			    bool here);

/**
 * salvo_parking_wake_to_poll() - The same, but the unit counts as polling at once.
 */
bool salvo_parking_wake_to_poll(struct salvo_parking *parking, uint64_t mask, const int *core,
				bool here);

/**
 * salvo_parking_wake_all() - Wake every unit that sleeps.
 */
void salvo_parking_wake_all(struct salvo_parking *parking);

#endif /* SALVO_PARKING_H */
