// SPDX-License-Identifier: MIT
/*
 * pool.c - work-stealing pools of other processes, from their public pages (pool_public.h)
 *
 * Their owners may write anything there: numbers are bounded, and names are made printable.
 */
#include "pool.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "sample.h"

/* Workers in a line */
#define COLUMNS		4

struct top_pool *pool_read(int fd, pid_t pid, uint32_t *workers)
{
	struct pool_public public;
	struct top_pool *pool;
	char *c;

	if (pread(fd, &public, sizeof(public), 0) != sizeof(public) ||
	    public.magic != POOL_PUBLIC_MAGIC || public.bytes < sizeof(public) ||
	    public.pid != (uint32_t)pid || !public.workers ||
	    public.workers > POOL_PUBLIC_WORKERS)
		return NULL;
	pool = calloc(1, sizeof(*pool));
	if (!pool)
		return NULL;
	memcpy(pool->name, public.name, sizeof(pool->name) - 1);
	for (c = pool->name; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = '?';
	pool->roots = public.roots;
	memcpy(pool->worker, public.worker, sizeof(pool->worker));
	*workers = public.workers;
	return pool;
}

/* What a worker, or all, did in a second */
struct pool_rates {
	double steals, leaves;
	/* Part of the time, in percent, with a leaf on the units */
	double leaf_percent;
};

static double per_second(uint64_t before, uint64_t now, double seconds)
{
	return now > before ? (now - before) / seconds : 0;
}

static struct pool_rates worker_rates(const struct top_entry *entry, const struct top_entry *old,
				      double seconds, uint32_t i)
{
	const struct pool_public_worker *now = &entry->pool->worker[i], *before;

	if (!old)
		return (struct pool_rates){ 0 };
	before = &old->pool->worker[i];
	return (struct pool_rates){
		.steals = per_second(before->steals, now->steals, seconds),
		.leaves = per_second(before->leaves, now->leaves, seconds),
		.leaf_percent = per_second(before->leaf_ns, now->leaf_ns, seconds) / 1e7,
	};
}

static struct pool_rates all_rates(const struct top_entry *entry, const struct top_entry *old,
				   double seconds)
{
	struct pool_rates all = { 0 };
	uint32_t i;

	for (i = 0; i < entry->units; i++) {
		const struct pool_rates one = worker_rates(entry, old, seconds, i);

		all.steals += one.steals;
		all.leaves += one.leaves;
		all.leaf_percent += one.leaf_percent / entry->units;
	}
	return all;
}

void pool_write(struct json *json, const struct top_entry *entry, const struct top_entry *old,
		double seconds)
{
	const struct pool_rates all = all_rates(entry, old, seconds);
	uint32_t i;

	json_string(json, "name", entry->pool->name);
	json_count(json, "roots", entry->pool->roots);
	json_real(json, "steals_per_s", all.steals, 1);
	json_real(json, "leaves_per_s", all.leaves, 1);
	json_real(json, "leaf_percent", all.leaf_percent, 2);
	json_array(json, "workers");
	for (i = 0; i < entry->units; i++) {
		const struct pool_public_worker *worker = &entry->pool->worker[i];
		const struct pool_rates one = worker_rates(entry, old, seconds, i);

		json_object(json, NULL);
		json_bool(json, "asleep", worker->asleep);
		json_bool(json, "in_leaf", worker->in_leaf);
		json_count(json, "units", worker->units);
		json_count(json, "steals", worker->steals);
		json_count(json, "sleeps", worker->sleeps);
		json_count(json, "leaves", worker->leaves);
		json_count(json, "leaf_ns", worker->leaf_ns);
		json_real(json, "leaves_per_s", one.leaves, 1);
		json_real(json, "leaf_percent", one.leaf_percent, 2);
		json_object_end(json);
	}
	json_array_end(json);
}

void pool_print_head(void)
{
	printf("%7s %-20s %7s %6s %9s %9s %6s  %s\n", "PID", "POOL", "WORKERS", "AWAKE",
	       "STOLEN/s", "LEAVES/s", "LEAF%", "COMMAND");
}

void pool_print(const struct top_entry *entry, const struct top_entry *old, double seconds)
{
	const struct pool_rates all = all_rates(entry, old, seconds);
	unsigned int awake = 0;
	uint32_t i;

	for (i = 0; i < entry->units; i++)
		awake += !entry->pool->worker[i].asleep;
	printf("%7d %-20.20s %7u %6u %9.0f %9.0f %6.1f  %s\n", entry->pid, entry->pool->name,
	       entry->units, awake, all.steals, all.leaves, all.leaf_percent, entry->command);
	for (i = 0; i < entry->units; i++) {
		const struct pool_public_worker *worker = &entry->pool->worker[i];
		const struct pool_rates one = worker_rates(entry, old, seconds, i);

		if (!(i % COLUMNS))
			printf("%s%8s workers", i ? "\n" : "", "");
		printf("  %2u: %-6s %5.1f%%%s", i, worker->asleep ? "asleep" : "awake",
		       one.leaf_percent, worker->in_leaf ? "*" : " ");
	}
	putchar('\n');
}

unsigned int pool_lines(const struct top_entry *entry)
{
	return 1 + (entry->units + COLUMNS - 1) / COLUMNS;
}
