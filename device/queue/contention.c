// SPDX-License-Identifier: MIT
/*
 * contention.c - kernels whose work-groups write to the same cache lines
 *
 * Units that count in the same table, or scatter into the same array, take the cache lines from
 * each other. Two of them may need several times as long as one. How long depends on the data, so
 * it is measured: the time of a work-group where units share the dispatch, and where one has it
 * for itself. It gets the next ones for itself while the others would not make it end sooner; they
 * run what else there is. Now and then some dispatches are run the other way, to measure again.
 *
 * Only kernels that the compiler has marked are measured (SALVO_DISPATCH_CONTENDS): one unit may
 * not run all work-groups if some wait for others.
 *
 * Two kernels with the same place in the table forget each other. No locks: a lost update is a lost
 * measurement.
 */
#include "contention.h"

/* The first dispatches find the caches cold, and pages that nobody has written to. */
#define COLD		2u
/* Then so many are run either way. */
#define PROBES		3u
/* After so many dispatches PROBES are run the other way: the first ones move the data. */
#define PERIOD		128u
/* Where the other way takes twice as long, so many times as rarely */
#define RARELY		8u
/* Longer dispatches are not run alone as a probe. */
#define PROBE_NS	20000000u

enum { SHARED, ALONE };

static uint64_t load(const _Atomic uint64_t *at)
{
	return atomic_load_explicit(at, memory_order_relaxed);
}

static void store(_Atomic uint64_t *at, uint64_t value)
{
	atomic_store_explicit(at, value, memory_order_relaxed);
}

/* Is this dispatch one to measure the way that seems to take @other instead of @best? */
static bool is_probe(uint32_t run, uint64_t best, uint64_t other)
{
	const uint32_t period = other > 2 * best ? RARELY * PERIOD : PERIOD;

	return run % period >= period - PROBES;
}

uint64_t salvo_contention_choose(struct salvo_contention *contention, uint64_t kernel,
				 uint32_t items, uint64_t mask, uint64_t idle)
{
	const unsigned int at = salvo_history_place(kernel), units = __builtin_popcountll(mask);
	uint64_t shared, alone, unit;
	uint32_t run;

	if (load(&contention->of[at].kernel) != kernel) {
		store(&contention->of[at].kernel, kernel);
		store(&contention->of[at].ps[SHARED], 0);
		store(&contention->of[at].ps[ALONE], 0);
		atomic_store_explicit(&contention->of[at].runs, 0, memory_order_relaxed);
	}
	run = atomic_fetch_add_explicit(&contention->of[at].runs, 1, memory_order_relaxed);
	if (run == COLD)
		store(&contention->of[at].ps[SHARED], 0);
	shared = load(&contention->of[at].ps[SHARED]);
	alone = load(&contention->of[at].ps[ALONE]) * units;
	if (!shared || units < 2)
		return mask;
	if (run < COLD + 2 * PROBES || !alone) {
		if (run < COLD + PROBES || shared * items / 1000 > PROBE_NS)
			return mask;
	} else if (alone > shared) {
		if (!is_probe(run, shared, alone) || shared * items / 1000 > PROBE_NS)
			return mask;
	} else if (is_probe(run, alone, shared)) {
		return mask;
	}

	/* The one whose caches have the data, unless it is busy and another one is not. */
	unit = load(&contention->of[at].unit) & mask;
	if (!(unit & idle) && mask & idle)
		unit = mask & idle;
	if (!unit)
		unit = mask;
	unit &= -unit;
	store(&contention->of[at].unit, unit);
	return unit;
}

/*
 * A chunk counts as much as its part of the dispatch, an eighth at most: the first ones are small,
 * and find little of their data in the caches.
 */
void salvo_contention_note(struct salvo_contention *contention, uint64_t kernel, uint32_t items,
			   uint32_t total, uint64_t ns, bool alone)
{
	const unsigned int at = salvo_history_place(kernel);
	_Atomic uint64_t *history = &contention->of[at].ps[alone ? ALONE : SHARED];
	const uint32_t parts = total / items > 8 ? total / items : 8;

	if (load(&contention->of[at].kernel) == kernel)
		store(history, salvo_history_weigh(load(history), ns * 1000 / items + 1, parts));
}

uint64_t salvo_contention_expect(const struct salvo_contention *contention, uint64_t kernel,
				 uint32_t items)
{
	const unsigned int at = salvo_history_place(kernel);
	uint64_t ps = load(&contention->of[at].ps[ALONE]);

	if (!ps)
		ps = load(&contention->of[at].ps[SHARED]);
	if (!ps || load(&contention->of[at].kernel) != kernel)
		return UINT64_MAX;
	return ps > UINT64_MAX / UINT32_MAX ? UINT64_MAX : ps * items / 1000;
}
