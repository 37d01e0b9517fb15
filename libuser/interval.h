/* SPDX-License-Identifier: MIT */
/*
 * interval.h - who wrote and who read each range of addresses last
 */
#ifndef SALVO_INTERVAL_H
#define SALVO_INTERVAL_H

#include <stdint.h>

/** define SALVO_NOBODY - No command, and no list of readers. */
#define SALVO_NOBODY (~0u)

/**
 * struct salvo_interval - A range that was written and read as one.
 */
struct salvo_interval {
	uint64_t start;
	uint64_t end;
	/** @writer: The command that wrote it last, or SALVO_NOBODY. */
	uint32_t writer;
	/** @readers: Those that read it since: a list of struct salvo_reader, or SALVO_NOBODY. */
	uint32_t readers;
};

/**
 * struct salvo_reader - One that reads, and the one before it. Lists share their tails.
 */
struct salvo_reader {
	uint32_t command;
	uint32_t next;
};

struct salvo_interval_block;

/**
 * struct salvo_intervals - Disjoint intervals in the order of their addresses.
 */
struct salvo_intervals {
	/** @blocks, @starts: Runs of intervals, none empty, and the first address of each. */
	struct salvo_interval_block **blocks;
	uint64_t *starts;
	uint32_t block_count;
	uint32_t block_capacity;
	/** @hint: The block that was looked into last. */
	uint32_t hint;
	/** @spare: Blocks without use. */
	struct salvo_interval_block *spare;
	struct salvo_reader *readers;
	uint32_t reader_count;
	uint32_t reader_capacity;
};

/** salvo_interval_visit_fn - Called for each interval that an access meets, as it was before. */
typedef void (*salvo_interval_visit_fn)(void *cookie, const struct salvo_intervals *intervals,
					const struct salvo_interval *met);

void salvo_intervals_init(struct salvo_intervals *intervals);
void salvo_intervals_fini(struct salvo_intervals *intervals);
/** salvo_intervals_clear() - Forget all accesses, keeping the memory. */
void salvo_intervals_clear(struct salvo_intervals *intervals);

/**
 * salvo_intervals_read() - @command reads [@start, @end), which is not empty.
 * Return: 0 or -ENOMEM.
 */
int salvo_intervals_read(struct salvo_intervals *intervals, uint64_t start, uint64_t end,
			 uint32_t command, salvo_interval_visit_fn visit, void *cookie);
/** salvo_intervals_write() - The same for writing. */
int salvo_intervals_write(struct salvo_intervals *intervals, uint64_t start, uint64_t end,
			  uint32_t command, salvo_interval_visit_fn visit, void *cookie);

#endif /* SALVO_INTERVAL_H */
