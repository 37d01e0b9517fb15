// SPDX-License-Identifier: MIT
/*
 * interval.c - the last writer and the readers of each range of addresses
 *
 * All addresses at which a region starts or ends are known before the first access. They are
 * sorted, and each is replaced by its rank, its place. The places are divided into
 * intervals, at first one; an interval ends where the next one starts. A bitmap has a bit for
 * each place where an interval starts, and a second one a bit for each word of the first that
 * is not zero, so the interval of a place is found in two or three words, without a search.
 *
 * Most batches access each buffer as one range only, which is disjoint from all others, as
 * buffers share no memory. Then nothing is sorted: a hash table numbers the buffers, and each has
 * an interval of its own from the start.
 *
 * A read adds its command to the readers of the intervals in its range; a write replaces
 * these by one interval with itself as the writer and no readers. Both split intervals that
 * extend over their ends. Lists of readers are immutable but for prepending, so a split copies
 * only the head. No locks: a batch belongs to one thread.
 */
#include "interval.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hazard.h"

/* Bits of a digit of the radix sort: more only if there are many addresses. */
#define DIGIT_BITS	11u
#define DIGIT_BITS_FEW	6u
#define FEW		512u

/**
 * struct salvo_address_key - An address while it is sorted.
 */
struct salvo_address_key {
	uint64_t address;
	/** @index: Of the place in the array of places. */
	uint32_t index;
};

/**
 * struct salvo_interval_buffer - A buffer in the hash table.
 */
struct salvo_interval_buffer {
	/** @memory: Its name, of struct salvo_region. */
	uint64_t memory;
	/** @run: The entry is free if this is not the run of the table. */
	uint32_t run;
	/** @region: The first region in it. */
	uint32_t region;
};

void salvo_intervals_init(struct salvo_intervals *set)
{
	memset(set, 0, sizeof(*set));
}

static void free_places(struct salvo_intervals *set)
{
	free(set->places);
	free(set->at);
	free(set->starts);
	free(set->any);
	free(set->keys);
	free(set->buffers);
	set->places = NULL;
	set->at = NULL;
	set->starts = NULL;
	set->any = NULL;
	set->keys = NULL;
	set->buffers = NULL;
	set->capacity = 0;
}

void salvo_intervals_fini(struct salvo_intervals *set)
{
	free_places(set);
	free(set->readers);
}

/* Words of a bitmap */
static size_t words(uint32_t bits)
{
	return bits / 64 + 1;
}

static int reserve_places(struct salvo_intervals *set, uint32_t count)
{
	const unsigned int bits = 32 - __builtin_clz(count);

	if (count <= set->capacity)
		return 0;
	free_places(set);
	set->places = malloc(count * sizeof(*set->places));
	set->at = malloc(count * sizeof(*set->at));
	set->starts = malloc(words(count) * sizeof(*set->starts));
	set->any = malloc(words(words(count)) * sizeof(*set->any));
	set->keys = malloc(2 * (size_t)count * sizeof(*set->keys));
	set->buffers = calloc((size_t)1 << bits, sizeof(*set->buffers));
	if (!set->places || !set->at || !set->starts || !set->any || !set->keys || !set->buffers) {
		free_places(set);
		return -ENOMEM;
	}
	set->capacity = count;
	set->buffer_bits = bits;
	set->run = 0;
	return 0;
}

/* The entry of a buffer, or the free one where it belongs. Half of the table is free. */
static struct salvo_interval_buffer *find_buffer(const struct salvo_intervals *set, uint64_t memory)
{
	const uint32_t mask = (1u << set->buffer_bits) - 1;
	/* Addresses of buffers are multiples of a page; the factor spreads them. */
	uint32_t at = (memory >> 12) * 0x9e3779b97f4a7c15ull >> (64 - set->buffer_bits);

	while (set->buffers[at].run == set->run && set->buffers[at].memory != memory)
		at = (at + 1) & mask;
	return &set->buffers[at];
}

/* Give each buffer two places. Return: false if one is accessed as several ranges. */
static bool place_buffers(struct salvo_intervals *set, const struct salvo_region *regions,
			  uint32_t count)
{
	struct salvo_interval_buffer *buffer;
	uint32_t i, places = 0;

	if (!++set->run) {
		memset(set->buffers, 0, sizeof(*set->buffers) << set->buffer_bits);
		set->run = 1;
	}
	for (i = 0; i < count; i++) {
		const struct salvo_region *region = &regions[i], *first;

		if (region->start >= region->end)
			continue;
		if (!region->memory)
			return false;
		buffer = find_buffer(set, region->memory);
		if (buffer->run != set->run) {
			*buffer = (struct salvo_interval_buffer){ region->memory, set->run, i };
			set->places[2 * i] = places;
			set->places[2 * i + 1] = places + 1;
			places += 2;
			continue;
		}
		first = &regions[buffer->region];
		if (region->start != first->start || region->end != first->end)
			return false;
		set->places[2 * i] = set->places[2 * buffer->region];
		set->places[2 * i + 1] = set->places[2 * i] + 1;
	}
	memset(set->starts, 0xff, words(places) * sizeof(*set->starts));
	memset(set->any, 0xff, words(words(places)) * sizeof(*set->any));
	/* SALVO_NOBODY in both members */
	memset(set->at, 0xff, places * sizeof(*set->at));
	return true;
}

/*
 * Radix sort, over the bits in which addresses differ. Return: the sorted keys, in either half of
 * @keys.
 */
static struct salvo_address_key *sort(struct salvo_address_key *keys, uint32_t count,
				      uint64_t differ)
{
	const unsigned int bits = count < FEW ? DIGIT_BITS_FEW : DIGIT_BITS;
	const uint32_t values = 1u << bits;
	struct salvo_address_key *from = keys, *to = keys + count, *swap;
	unsigned int shift;
	uint32_t i;

	if (!differ)
		return keys;
	for (shift = __builtin_ctzll(differ); shift < 64 && differ >> shift; shift += bits) {
		uint32_t at[1u << DIGIT_BITS], sum = 0;

		memset(at, 0, values * sizeof(*at));
		for (i = 0; i < count; i++)
			at[from[i].address >> shift & (values - 1)]++;
		for (i = 0; i < values; i++) {
			const uint32_t n = at[i];

			at[i] = sum;
			sum += n;
		}
		for (i = 0; i < count; i++)
			to[at[from[i].address >> shift & (values - 1)]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	return from;
}

int salvo_intervals_start(struct salvo_intervals *set, const struct salvo_region *regions,
			  uint32_t count)
{
	const struct salvo_address_key *sorted;
	uint64_t differ = 0, last;
	uint32_t i, place = 0;

	set->reader_count = 0;
	set->reader = SALVO_NOBODY;
	if (!count)
		return 0;
	if (reserve_places(set, 2 * count))
		return -ENOMEM;
	if (place_buffers(set, regions, count))
		return 0;
	for (i = 0; i < count; i++) {
		const uint64_t start = regions[i].start, end = regions[i].end;

		set->keys[2 * i] = (struct salvo_address_key){ start, 2 * i };
		set->keys[2 * i + 1] = (struct salvo_address_key){ end, 2 * i + 1 };
		differ |= (start ^ regions[0].start) | (end ^ regions[0].start);
	}
	sorted = sort(set->keys, 2 * count, differ);
	last = sorted[0].address;
	for (i = 0; i < 2 * count; i++) {
		place += sorted[i].address != last;
		last = sorted[i].address;
		set->places[sorted[i].index] = place;
	}
	memset(set->starts, 0, words(place) * sizeof(*set->starts));
	memset(set->any, 0, words(words(place)) * sizeof(*set->any));
	set->starts[0] = 1;
	set->any[0] = 1;
	set->at[0] = (struct salvo_interval){ SALVO_NOBODY, SALVO_NOBODY };
	return 0;
}

/* The start of the interval that contains @place, which is not a start itself. */
static uint32_t start_before(const struct salvo_intervals *set, uint32_t place)
{
	uint32_t word = place / 64, group = word / 64;
	uint64_t bits = set->starts[word] & ((1ull << place % 64) - 1);

	if (!bits) {
		bits = set->any[group] & ((1ull << word % 64) - 1);
		/* One starts at place 0. */
		while (!bits)
			bits = set->any[--group];
		word = 64 * group + 63 - __builtin_clzll(bits);
		bits = set->starts[word];
	}
	return 64 * word + 63 - __builtin_clzll(bits);
}

/* The start of the next interval; there is one. */
static uint32_t start_after(const struct salvo_intervals *set, uint32_t place)
{
	uint32_t word = place / 64, group = word / 64;
	uint64_t bits = set->starts[word] & ~1ull << place % 64;

	if (!bits) {
		bits = set->any[group] & ~1ull << word % 64;
		while (!bits)
			bits = set->any[++group];
		word = 64 * group + __builtin_ctzll(bits);
		bits = set->starts[word];
	}
	return 64 * word + __builtin_ctzll(bits);
}

/* Split the interval that contains @place. */
static void split(struct salvo_intervals *set, uint32_t place)
{
	const uint32_t word = place / 64;

	if (set->starts[word] >> place % 64 & 1)
		return;
	set->at[place] = set->at[start_before(set, place)];
	set->starts[word] |= 1ull << place % 64;
	set->any[word / 64] |= 1ull << word % 64;
}

/* Merge the interval that starts at @place into the previous one. */
static void merge(struct salvo_intervals *set, uint32_t place)
{
	const uint32_t word = place / 64;

	set->starts[word] &= ~(1ull << place % 64);
	if (!set->starts[word])
		set->any[word / 64] &= ~(1ull << word % 64);
}

static int add_reader(struct salvo_intervals *set, struct salvo_interval *interval,
		      uint32_t command)
{
	/* Already added? SALVO_NOBODY is out of range. */
	if (interval->readers - set->own < set->reader_count - set->own)
		return 0;
	if (salvo_array_reserve(&set->readers, &set->reader_capacity, set->reader_count + 1,
				sizeof(*set->readers)))
		return -ENOMEM;
	set->readers[set->reader_count] = (struct salvo_reader){ command, interval->readers };
	interval->readers = set->reader_count++;
	return 0;
}

int salvo_intervals_read(struct salvo_intervals *set, uint32_t region, uint32_t command,
			 struct salvo_candidates *met)
{
	const uint32_t end = set->places[2 * region + 1];
	uint32_t at = set->places[2 * region];
	int err = 0;

	if (command != set->reader) {
		set->reader = command;
		set->own = set->reader_count;
	}
	split(set, at);
	split(set, end);
	for (; at != end && !err; at = start_after(set, at)) {
		salvo_candidates_add(met, set->at[at].writer);
		err = add_reader(set, &set->at[at], command);
	}
	return err;
}

void salvo_intervals_write(struct salvo_intervals *set, uint32_t region, uint32_t command,
			   struct salvo_candidates *met)
{
	const uint32_t start = set->places[2 * region], end = set->places[2 * region + 1];
	const struct salvo_reader *reader;
	uint32_t at, i;

	split(set, start);
	split(set, end);
	for (at = start; at != end; at = start_after(set, at)) {
		salvo_candidates_add(met, set->at[at].writer);
		for (i = set->at[at].readers; i != SALVO_NOBODY; i = reader->next) {
			reader = &set->readers[i];
			/* The rest of the list are earlier commands. */
			if (reader->command < met->floor)
				break;
			salvo_candidates_add(met, reader->command);
		}
		if (at != start)
			merge(set, at);
	}
	set->at[start] = (struct salvo_interval){ command, SALVO_NOBODY };
}
