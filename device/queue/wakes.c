// SPDX-License-Identifier: MIT
/*
 * wakes.c - which units look for work, which sleep, and how one is woken
 *
 * A unit that finds no work moves its bit from @looking to @sleeping, looks once more,
 * and sleeps on its futex. Who has work for it makes that visible first, and reads @looking
 * and then @sleeping afterwards; so one of the two sees the other (tests/spin/sleep.pml, bell.pml).
 * Waking takes the bit out of @sleeping, so that each sleep is ended once.
 *
 * The words of an address space's process are shared with the device, which wakes a
 * unit for a packet by itself. To wake a thread on another core takes an interrupt to
 * that core, some 20 us in a virtual machine; on the own core it takes no more than to
 * give that up.
 */
#include "wakes.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void futex(_Atomic uint32_t *word, int op, uint32_t value, const struct timespec *time)
{
	syscall(SYS_futex, word, op, value, time, NULL, 0);
}

void salvo_wakes_lie_down(struct salvo_wakes *wakes, unsigned int unit)
{
	atomic_store_explicit(&wakes->unit[unit].wake, 0, memory_order_relaxed);
	atomic_fetch_or(&wakes->sleeping, 1ull << unit);
	atomic_fetch_and(&wakes->looking, ~(1ull << unit));
}

bool salvo_wakes_sleep(struct salvo_wakes *wakes, unsigned int unit)
{
	if (!atomic_load(&wakes->unit[unit].wake))
		futex(&wakes->unit[unit].wake, FUTEX_WAIT, 0, NULL);
	return !atomic_load(&wakes->unit[unit].wake);
}

void salvo_wakes_rest(struct salvo_wakes *wakes, unsigned int unit, uint32_t ns)
{
	atomic_store_explicit(&wakes->unit[unit].wake, 0, memory_order_relaxed);
	futex(&wakes->unit[unit].wake, FUTEX_WAIT, 0, &(const struct timespec){ .tv_nsec = ns });
}

void salvo_wakes_get_up(struct salvo_wakes *wakes, unsigned int unit)
{
	atomic_fetch_and(&wakes->sleeping, ~(1ull << unit));
}

bool salvo_wakes_wake(struct salvo_wakes *wakes, unsigned int unit)
{
	const uint64_t bit = 1ull << unit;

	if (!(atomic_fetch_and(&wakes->sleeping, ~bit) & bit))
		return false;
	atomic_store(&wakes->unit[unit].wake, 1);
	futex(&wakes->unit[unit].wake, FUTEX_WAKE, 1, NULL);
	return true;
}

/* The first unit in @mask whose core is @own, or is not, else the first at all. */
static unsigned int choose(uint64_t mask, const int *core, int own, bool here)
{
	uint64_t rest;

	for (rest = mask; rest; rest &= rest - 1)
		if ((core[__builtin_ctzll(rest)] == own) == here)
			return __builtin_ctzll(rest);
	return __builtin_ctzll(mask);
}

bool salvo_wakes_wake_one(struct salvo_wakes *wakes, uint64_t mask, const int *core, bool here)
{
	const int own = mask ? sched_getcpu() : 0;
	unsigned int unit;

	for (; mask; mask &= ~(1ull << unit)) {
		unit = choose(mask, core, own, here);
		if (salvo_wakes_wake(wakes, unit))
			return true;
	}
	return false;
}
