// SPDX-License-Identifier: MIT
/*
 * interval.c - who wrote and who read each range of addresses last
 *
 * The intervals are disjoint and sorted; addresses that nobody touched are in none.
 * They lie in blocks of up to BLOCK intervals, and an array holds the first address of
 * each block, so that an access is two binary searches and a short move, whatever
 * the order of the addresses. A search begins at the block of the last one, since
 * commands that follow each other often touch neighbours.
 *
 * A read adds its command to the readers of what it meets; a write makes its range one
 * interval with itself as the writer and no readers. Both cut what reaches over their ends.
 * Cutting copies the list of readers by its head: lists are never changed, only
 * prepended to. No locks: a batch belongs to one thread.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "interval.h"

#define BLOCK 32u

struct salvo_interval_block {
	uint32_t count;
	struct salvo_interval_block *next;	/* among the spare ones */
	struct salvo_interval at[BLOCK];
};

/* A place between intervals: before the interval @i of block @b. */
struct place {
	uint32_t b;
	uint32_t i;
};

void salvo_intervals_init(struct salvo_intervals *set)
{
	memset(set, 0, sizeof(*set));
}

void salvo_intervals_clear(struct salvo_intervals *set)
{
	uint32_t b;

	for (b = 0; b < set->block_count; b++) {
		set->blocks[b]->next = set->spare;
		set->spare = set->blocks[b];
	}
	set->block_count = 0;
	set->hint = 0;
	set->reader_count = 0;
}

void salvo_intervals_fini(struct salvo_intervals *set)
{
	struct salvo_interval_block *block;

	salvo_intervals_clear(set);
	while ((block = set->spare)) {
		set->spare = block->next;
		free(block);
	}
	free(set->blocks);
	free(set->starts);
	free(set->readers);
}

/* A new empty block as number @b. */
static int add_block(struct salvo_intervals *set, uint32_t b)
{
	struct salvo_interval_block *block = set->spare, **blocks;
	uint32_t capacity;
	uint64_t *starts;

	if (set->block_count == set->block_capacity) {
		capacity = set->block_capacity ? set->block_capacity * 2 : 64;
		blocks = realloc(set->blocks, capacity * sizeof(*blocks));
		if (!blocks)
			return -ENOMEM;
		set->blocks = blocks;
		starts = realloc(set->starts, capacity * sizeof(*starts));
		if (!starts)
			return -ENOMEM;
		set->starts = starts;
		set->block_capacity = capacity;
	}
	if (block)
		set->spare = block->next;
	else
		block = malloc(sizeof(*block));
	if (!block)
		return -ENOMEM;
	block->count = 0;
	memmove(&set->blocks[b + 1], &set->blocks[b],
		(set->block_count - b) * sizeof(*set->blocks));
	memmove(&set->starts[b + 1], &set->starts[b],
		(set->block_count - b) * sizeof(*set->starts));
	set->blocks[b] = block;
	set->block_count++;
	return 0;
}

static void remove_block(struct salvo_intervals *set, uint32_t b)
{
	set->blocks[b]->next = set->spare;
	set->spare = set->blocks[b];
	set->block_count--;
	memmove(&set->blocks[b], &set->blocks[b + 1],
		(set->block_count - b) * sizeof(*set->blocks));
	memmove(&set->starts[b], &set->starts[b + 1],
		(set->block_count - b) * sizeof(*set->starts));
	set->hint = 0;
}

/* The interval at a place, or NULL after the last; steps on to the next block. */
static struct salvo_interval *look(struct salvo_intervals *set, struct place *place)
{
	if (place->b < set->block_count && place->i == set->blocks[place->b]->count) {
		place->b++;
		place->i = 0;
	}
	return place->b < set->block_count ? &set->blocks[place->b]->at[place->i] : NULL;
}

/* The first interval that ends after @address. */
static struct place find(struct salvo_intervals *set, uint64_t address)
{
	const struct salvo_interval_block *block;
	struct place place = { 0, 0 };
	uint32_t low, left, half;

	if (!set->block_count)
		return place;
	/* Searches without branches: the order of addresses is hard to predict. */
	low = set->hint;
	if (set->starts[low] > address ||
	    (low + 1 < set->block_count && set->starts[low + 1] <= address)) {
		low = 0;
		for (left = set->block_count; left > 1; left -= half) {
			half = left / 2;
			low += set->starts[low + half] <= address ? half : 0;
		}
		set->hint = low;
	}
	place.b = low;
	block = set->blocks[low];
	low = 0;
	for (left = block->count; left > 1; left -= half) {
		half = left / 2;
		low += block->at[low + half - 1].end <= address ? half : 0;
	}
	place.i = low + (block->at[low].end <= address);
	return place;
}

/* Put an interval at a place, which then is its own. */
static int insert(struct salvo_intervals *set, struct place *place,
		  const struct salvo_interval *interval)
{
	struct salvo_interval_block *block, *upper;
	int err;

	if (place->b == set->block_count) {
		/* After the last: at the end of the last block, if there is one. */
		if (!set->block_count) {
			err = add_block(set, 0);
			if (err)
				return err;
		}
		place->b = set->block_count - 1;
		place->i = set->blocks[place->b]->count;
	}
	block = set->blocks[place->b];
	if (block->count == BLOCK) {
		err = add_block(set, place->b + 1);
		if (err)
			return err;
		upper = set->blocks[place->b + 1];
		/* Ascending addresses leave full blocks behind them. */
		upper->count = place->i == BLOCK ? 0 : BLOCK / 2;
		block->count = BLOCK - upper->count;
		memcpy(upper->at, &block->at[block->count], upper->count * sizeof(*upper->at));
		set->starts[place->b + 1] = upper->count ? upper->at[0].start : interval->start;
		if (place->i > block->count || !upper->count) {
			place->b++;
			place->i -= block->count;
			block = upper;
		}
	}
	memmove(&block->at[place->i + 1], &block->at[place->i],
		(block->count - place->i) * sizeof(*block->at));
	block->at[place->i] = *interval;
	block->count++;
	if (!place->i)
		set->starts[place->b] = interval->start;
	return 0;
}

static void erase(struct salvo_intervals *set, struct place place)
{
	struct salvo_interval_block *block = set->blocks[place.b];

	block->count--;
	memmove(&block->at[place.i], &block->at[place.i + 1],
		(block->count - place.i) * sizeof(*block->at));
	if (!block->count)
		remove_block(set, place.b);
	else if (!place.i)
		set->starts[place.b] = block->at[0].start;
}

/* Cut the interval at a place in two; the place is then that of the upper part. */
static int cut(struct salvo_intervals *set, struct place *place, uint64_t address)
{
	struct salvo_interval *lower = look(set, place);
	struct salvo_interval upper = *lower;

	lower->end = address;
	upper.start = address;
	place->i++;
	return insert(set, place, &upper);
}

static int add_reader(struct salvo_intervals *set, struct salvo_interval *interval,
		      uint32_t command)
{
	struct salvo_reader *readers;
	uint32_t capacity;

	if (interval->readers != SALVO_NOBODY &&
	    set->readers[interval->readers].command == command)
		return 0;
	if (set->reader_count == set->reader_capacity) {
		capacity = set->reader_capacity ? set->reader_capacity * 2 : 1024;
		readers = realloc(set->readers, capacity * sizeof(*readers));
		if (!readers)
			return -ENOMEM;
		set->readers = readers;
		set->reader_capacity = capacity;
	}
	set->readers[set->reader_count] = (struct salvo_reader){ command, interval->readers };
	interval->readers = set->reader_count++;
	return 0;
}

int salvo_intervals_read(struct salvo_intervals *set, uint64_t start, uint64_t end,
			 uint32_t command, salvo_interval_visit_fn visit, void *cookie)
{
	struct place place = find(set, start);
	struct salvo_interval *met, fresh;
	int err = 0;

	met = look(set, &place);
	if (met && met->start < start)
		err = cut(set, &place, start);
	while (!err && start < end) {
		met = look(set, &place);
		if (!met || met->start > start) {
			/* Nobody has touched this yet. */
			fresh = (struct salvo_interval){
				start, met && met->start < end ? met->start : end,
				SALVO_NOBODY, SALVO_NOBODY,
			};
			err = add_reader(set, &fresh, command);
			if (!err)
				err = insert(set, &place, &fresh);
			start = fresh.end;
		} else {
			if (met->end > end) {
				err = cut(set, &place, end);
				if (err)
					break;
				/* The upper part may have moved to another block. */
				if (!place.i)
					place.i = set->blocks[--place.b]->count;
				place.i--;
				met = look(set, &place);
			}
			visit(cookie, set, met);
			err = add_reader(set, met, command);
			start = met->end;
		}
		place.i++;
	}
	return err;
}

int salvo_intervals_write(struct salvo_intervals *set, uint64_t start, uint64_t end,
			  uint32_t command, salvo_interval_visit_fn visit, void *cookie)
{
	const struct salvo_interval written = { start, end, command, SALVO_NOBODY };
	struct place place = find(set, start);
	struct salvo_interval *met = look(set, &place);
	int err;

	if (met && met->start == start && met->end == end) {
		/* By far the most common: the range has been used as a whole before. */
		visit(cookie, set, met);
		*met = written;
		return 0;
	}
	if (met && met->start < start) {
		err = cut(set, &place, start);
		if (err)
			return err;
	}
	while ((met = look(set, &place)) && met->start < end) {
		visit(cookie, set, met);
		if (met->end > end) {
			met->start = end;
			if (!place.i)
				set->starts[place.b] = end;
			break;
		}
		erase(set, place);
	}
	return insert(set, &place, &written);
}
