/* SPDX-License-Identifier: MIT */
/*
 * pool.h - work-stealing pools of other processes
 */
#ifndef TOP_POOL_H
#define TOP_POOL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "pool_public.h"

struct json;
struct top_entry;
struct top_sample;

/** struct top_pool - What a pool shows. */
struct top_pool {
	char name[sizeof(((struct pool_public *)0)->name)];
	uint64_t roots;
	struct pool_public_worker worker[POOL_PUBLIC_WORKERS];
};

/** pool_read() - Read a pool's public page. Return: NULL if it is none; free() it. */
struct top_pool *pool_read(int fd, pid_t pid, uint32_t *workers);

/** pool_write() - Members of a JSON object for a pool; @old: at the sample before, or NULL. */
void pool_write(struct json *json, const struct top_entry *entry, const struct top_entry *old,
		double seconds);

/** pool_print_head() - Print the columns of pool_print(). */
void pool_print_head(void);
/** pool_print() - Print a pool and its workers; pool_lines() tells how many lines these are. */
void pool_print(const struct top_entry *entry, const struct top_entry *old, double seconds);
unsigned int pool_lines(const struct top_entry *entry);

#endif /* TOP_POOL_H */
