/* SPDX-License-Identifier: MIT */
/*
 * interval.h - the last writer and the readers of each range of addresses
 */
#ifndef SALVO_INTERVAL_H
#define SALVO_INTERVAL_H

#include <stdint.h>

/** define SALVO_NOBODY - No command, or an empty list of readers. */
#define SALVO_NOBODY (~0u)

struct salvo_region;

/**
 * struct salvo_candidates - A set of commands on which an access may depend.
 */
struct salvo_candidates {
	/** @bits: One for each command. */
	uint64_t *bits;
	/** @low, @high: Words of @bits in use: from @low to before @high. */
	uint32_t low;
	uint32_t high;
	/** @floor, @below: Only commands from @floor to before @below are added. */
	uint32_t floor;
	uint32_t below;
};

static inline void salvo_candidates_add(struct salvo_candidates *set, uint32_t command)
{
	const uint32_t word = command / 64;

	/* SALVO_NOBODY is out of this range. */
	if (command - set->floor >= set->below - set->floor)
		return;
	set->bits[word] |= 1ull << command % 64;
	set->low = word < set->low ? word : set->low;
	set->high = word >= set->high ? word + 1 : set->high;
}

/**
 * struct salvo_interval - A range of addresses with the same writer and readers.
 */
struct salvo_interval {
	/** @writer: The command that wrote it last, or SALVO_NOBODY. */
	uint32_t writer;
	/** @readers: Of it since: head of a list of struct salvo_reader, or SALVO_NOBODY. */
	uint32_t readers;
};

/**
 * struct salvo_reader - An element of a list of readers. Lists share their tails.
 */
struct salvo_reader {
	uint32_t command;
	uint32_t next;
};

/**
 * struct salvo_intervals - All addresses, divided into intervals.
 */
struct salvo_intervals {
	/** @places: Of the start and the end of each region, among all such addresses. */
	uint32_t *places;
	/** @at: The interval that starts at a place, if one does. */
	struct salvo_interval *at;
	/** @starts: A bit for each place: does an interval start there? */
	uint64_t *starts;
	/** @any: A bit for each word of @starts: is it not 0? */
	uint64_t *any;
	/** @keys: For sorting: twice as many as places. */
	struct salvo_address_key *keys;
	/** @buffers: Hash table of buffers with 2^@buffer_bits entries, those of @run in use. */
	struct salvo_interval_buffer *buffers;
	unsigned int buffer_bits;
	uint32_t run;
	/** @capacity: Places that there is room for. */
	uint32_t capacity;
	struct salvo_reader *readers;
	uint32_t reader_count;
	uint32_t reader_capacity;
	/** @reader: The command that read last; its places in @readers are from @own on. */
	uint32_t reader;
	uint32_t own;
};

void salvo_intervals_init(struct salvo_intervals *set);
void salvo_intervals_fini(struct salvo_intervals *set);

/**
 * salvo_intervals_start() - Clear all accesses, and prepare for accesses to @regions.
 *
 * Return: 0 or -ENOMEM.
 */
int salvo_intervals_start(struct salvo_intervals *set, const struct salvo_region *regions,
			  uint32_t count);

/**
 * salvo_intervals_read() - A command reads a region, which is not empty.
 * @region: Its index.
 * @met: Gets the last writers of parts of it.
 *
 * Return: 0 or -ENOMEM.
 */
int salvo_intervals_read(struct salvo_intervals *set, uint32_t region, uint32_t command,
			 struct salvo_candidates *met);
/**
 * salvo_intervals_write() - The same for writing.
 * @met: Gets the last writers of parts of it, and the readers since.
 */
void salvo_intervals_write(struct salvo_intervals *set, uint32_t region, uint32_t command,
			   struct salvo_candidates *met);

#endif /* SALVO_INTERVAL_H */
