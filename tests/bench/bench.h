/* SPDX-License-Identifier: MIT */
/*
 * bench.h - what the programs of this folder share: clocks, medians, options, giving up
 */
#ifndef BENCH_H
#define BENCH_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Exits with a message that @what failed, unless @ok. */
static inline void need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s: %s failed\n", program_invocation_short_name, what);
	exit(1);
}

static inline double clock_us(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static inline int bench_compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts @values. */
static inline double median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), bench_compare);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/*
 * Waits until no thread of this process runs any more: threads of a pool that spin after their last
 * task would take cores from what is measured next, and their CPU time would be charged to that.
 */
static inline void bench_settle(void)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	double before, after = clock_us(CLOCK_PROCESS_CPUTIME_ID);

	do {
		before = after;
		nanosleep(&pause, NULL);
		after = clock_us(CLOCK_PROCESS_CPUTIME_ID);
	} while (after - before > 100);
}

/*
 * The order of @count systems in a round: each permutation has its turn, so that each system finds
 * the caches as often as the others left by each of them. After count! rounds all are through.
 */
static inline void bench_order(unsigned int round, unsigned int *order, unsigned int count)
{
	unsigned int i, at, first;

	for (i = 0; i < count; i++)
		order[i] = i;
	for (i = 0; i < count; i++) {
		at = i + round % (count - i);
		round /= count - i;
		first = order[i];
		order[i] = order[at];
		order[at] = first;
	}
}

/* Takes --json or --rounds N at argv[*i]. Returns false if there is something else. */
static inline bool bench_option(char **argv, int *i, bool *json, unsigned int *rounds)
{
	if (!strcmp(argv[*i], "--json"))
		*json = true;
	else if (!strcmp(argv[*i], "--rounds") && argv[*i + 1])
		*rounds = atoi(argv[++*i]);
	else
		return false;
	return true;
}

#endif /* BENCH_H */
