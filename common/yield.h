/* SPDX-License-Identifier: MIT */
/*
 * yield.h - yield the core while polling, unless another program keeps it
 *
 * A thread that polls yields in between, since the thread that it waits for may need its core. That
 * takes less than a microsecond as long as the threads on the core all wait for each other. Where
 * another program computes, a yield hands it a whole time slice of some milliseconds, and a batch
 * that arrives meanwhile is not looked at. There a sleeping thread is better off, as the scheduler
 * runs it as soon as it is woken. So after a yield that took long, the caller should sleep instead
 * of yielding for a period, which doubles while nearly all yields take long. Where few do, as
 * beside programs of lower priority, the period stays short.
 */
#ifndef SALVO_YIELD_H
#define SALVO_YIELD_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "clock.h"

/* A yield that takes longer handed the core to another program. */
#define SALVO_YIELD_LONG_NS	500000u
/* The shortest and the longest period without yields after that */
#define SALVO_CROWDED_MIN_NS	4000000u
#define SALVO_CROWDED_MAX_NS	1000000000u

/* So many short yields between two long ones show that the core is mostly free. */
#define SALVO_YIELD_MANY	256u

/**
 * struct salvo_yield - What is known of the cores that its users yield; initially zero.
 *
 * Threads may share it without a lock: a lost update costs one more yield.
 */
struct salvo_yield {
	/** @until: Until when not to yield. */
	_Atomic uint64_t until;
	/** @period: The last period without yields. */
	_Atomic uint64_t period;
	/** @shorts: Number of short yields since the last long one. */
	_Atomic uint32_t shorts;
};

/** salvo_yield_is_crowded() - Should the caller sleep instead of yielding at time @now? */
static inline bool salvo_yield_is_crowded(struct salvo_yield *yield, uint64_t now)
{
	return now < atomic_load_explicit(&yield->until, memory_order_relaxed);
}

/** salvo_yield_account() - Learn from a yield that began at @before and returned at @after. */
static inline void salvo_yield_account(struct salvo_yield *yield, uint64_t before, uint64_t after)
{
	const uint32_t shorts = atomic_load_explicit(&yield->shorts, memory_order_relaxed);
	uint64_t period;

	if (after - before < SALVO_YIELD_LONG_NS) {
		if (shorts < SALVO_YIELD_MANY)
			atomic_store_explicit(&yield->shorts, shorts + 1, memory_order_relaxed);
		return;
	}
	period = atomic_load_explicit(&yield->period, memory_order_relaxed);
	if (!period || shorts == SALVO_YIELD_MANY)
		period = SALVO_CROWDED_MIN_NS;
	else if (2 * period <= SALVO_CROWDED_MAX_NS)
		period *= 2;
	atomic_store_explicit(&yield->shorts, 0, memory_order_relaxed);
	atomic_store_explicit(&yield->period, period, memory_order_relaxed);
	atomic_store_explicit(&yield->until, after + period, memory_order_relaxed);
}

/**
 * salvo_yield() - Yield the core.
 * @now: The time, as the caller read it last.
 *
 * Return: the time after it.
 */
static inline uint64_t salvo_yield(struct salvo_yield *yield, uint64_t now)
{
	uint64_t after;

	sched_yield();
	after = salvo_clock();
	salvo_yield_account(yield, now, after);
	return after;
}

#endif /* SALVO_YIELD_H */
