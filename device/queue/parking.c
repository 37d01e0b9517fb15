// SPDX-License-Identifier: MIT
/*
 * parking.c - which units poll for work, which sleep, and how one is woken
 *
 * A unit that finds no work moves its bit from @polling to @sleeping, checks for work once more,
 * and sleeps on its futex. A producer publishes its work first and then reads @polling and
 * @sleeping, in this order; so at least one of the two sees the other (tests/spin/parking.pml,
 * space_doorbell.pml). A wake clears the bit in @sleeping, so that each sleep is ended once.
 *
 * Before a submission is parsed a unit is woken in advance, and counts as polling at once, so that
 * the push does not wake another one. It clears that bit when it takes work, as after it has
 * polled.
 *
 * The words of an address space's process are shared with the device, which wakes a
 * unit for a packet directly. Waking a thread on another core takes an interrupt to
 * that core, some 20 us in a virtual machine; on the same core it runs as soon as the
 * waker sleeps.
 */
#include "parking.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void futex(_Atomic uint32_t *word, int op, uint32_t value, const struct timespec *time)
{
	syscall(SYS_futex, word, op, value, time, NULL, 0);
}

void salvo_parking_prepare_wait(struct salvo_parking *parking, unsigned int unit)
{
	atomic_store_explicit(&parking->unit[unit].wake, 0, memory_order_relaxed);
	atomic_fetch_or(&parking->sleeping, 1ull << unit);
	atomic_fetch_and(&parking->polling, ~(1ull << unit));
}

bool salvo_parking_wait(struct salvo_parking *parking, unsigned int unit)
{
	if (!atomic_load(&parking->unit[unit].wake))
		futex(&parking->unit[unit].wake, FUTEX_WAIT, 0, NULL);
	return !atomic_load(&parking->unit[unit].wake);
}

void salvo_parking_pause(struct salvo_parking *parking, unsigned int unit, uint32_t ns)
{
	const struct timespec time = { .tv_nsec = ns };

	atomic_store_explicit(&parking->unit[unit].wake, 0, memory_order_relaxed);
	futex(&parking->unit[unit].wake, FUTEX_WAIT, 0, &time);
}

static bool claim(struct salvo_parking *parking, unsigned int unit)
{
	const uint64_t bit = 1ull << unit;

	return atomic_fetch_and(&parking->sleeping, ~bit) & bit;
}

bool salvo_parking_finish_wait(struct salvo_parking *parking, unsigned int unit)
{
	/* Another one has, and perhaps not yet done what else it does. */
	if (!claim(parking, unit))
		while (salvo_parking_wait(parking, unit))
			;
	return atomic_load(&parking->polling) & (1ull << unit);
}

static bool wake(struct salvo_parking *parking, unsigned int unit, bool polls)
{
	if (!claim(parking, unit))
		return false;
	if (polls)
		atomic_fetch_or(&parking->polling, 1ull << unit);
	atomic_store(&parking->unit[unit].wake, 1);
	futex(&parking->unit[unit].wake, FUTEX_WAKE, 1, NULL);
	return true;
}

bool salvo_parking_wake(struct salvo_parking *parking, unsigned int unit)
{
	return wake(parking, unit, false);
}

/* The first unit in @mask that is on core @own, or is not, depending on @here; else the first. */
static unsigned int choose(uint64_t mask, const int *core, int own, bool here)
{
	uint64_t rest;

	for (rest = mask; rest; rest &= rest - 1)
		if ((core[__builtin_ctzll(rest)] == own) == here)
			return __builtin_ctzll(rest);
	return __builtin_ctzll(mask);
}

static bool wake_one(struct salvo_parking *parking, uint64_t mask, const int *core, bool here,
		     bool polls)
{
	const int own = mask ? sched_getcpu() : 0;
	unsigned int unit;

	for (; mask; mask &= ~(1ull << unit)) {
		unit = choose(mask, core, own, here);
		if (wake(parking, unit, polls))
			return true;
	}
	return false;
}

bool salvo_parking_wake_one(struct salvo_parking *parking, uint64_t mask, const int *core,
			    bool here)
{
	return wake_one(parking, mask, core, here, false);
}

bool salvo_parking_wake_to_poll(struct salvo_parking *parking, uint64_t mask, const int *core,
				bool here)
{
	return wake_one(parking, mask, core, here, true);
}

void salvo_parking_wake_all(struct salvo_parking *parking)
{
	uint64_t mask = atomic_load(&parking->sleeping);

	for (; mask; mask &= mask - 1)
		salvo_parking_wake(parking, __builtin_ctzll(mask));
}
