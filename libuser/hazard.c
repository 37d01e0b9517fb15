// SPDX-License-Identifier: MIT
/*
 * hazard.c - which commands of a batch depend on which (B4 of CN105940388)
 *
 * Two commands conflict if they access the same bytes and one of them writes: RAW, WAR or WAW. One
 * pass over the batch keeps the last writer and the readers since of every range of addresses
 * (interval.c). Only these are candidates for a pipe control with the next access to the range:
 * any earlier access conflicts with one of them, and is ordered before it already.
 *
 * Most candidates are redundant. Every command has the set of its ancestors as a row of bits.
 * Candidates are visited from the latest to the earliest; one that is an ancestor of a later
 * one is dropped. The result is the transitive reduction, which is unique, so the set of pipe
 * controls is minimal. Pipe controls of the application are candidates that exist already.
 * A barrier orders everything, so nothing before it is a candidate.
 *
 * n producers and m consumers of all of their results need n * m pipe controls. If these are
 * too many the batch is divided into segments: their first commands order the segments.
 *
 * Memory is kept from one run to the next. No locks: a batch belongs to one thread.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "salvo_validate.h"
#include "array.h"
#include "hazard.h"
#include "interval.h"

#define NONE (~0u)

/* Rows are taken in pieces of four words. */
#define PIECE 4u
#define PIECES(words) (((words) + PIECE - 1) / PIECE)
typedef uint64_t piece_t __attribute__((vector_size(8 * PIECE), aligned(8), may_alias));

/* A pipe control of the application, in a list of its consumer. */
struct given {
	uint32_t producer;
	uint32_t next;
};

struct salvo_hazards {
	struct salvo_intervals intervals;
	/** @rows: Bit sets of ancestors, @words for each command; valid where @deep is set. */
	piece_t *rows;
	/** @deep: For each command: has it any ancestors? */
	bool *deep;
	/** @first_given: For each command: its first struct given, or NONE. */
	uint32_t *first_given;
	struct given *given;
	/** @candidates: Producers of the command at hand; all after the last barrier. */
	struct salvo_candidates candidates;
	/** @ordered: Bits: which of them have a pipe control of the application. */
	uint64_t *ordered;
	/** @words: Words in a row, a multiple of PIECE. */
	uint32_t words;
	/** @first: The first command of the current segment, or NONE; @in_segment: its commands. */
	uint32_t first;
	uint32_t in_segment;
	uint32_t capacity;	/* commands */
	uint32_t command;
	struct salvo_hazard_edge *edges;
	uint32_t edge_count;
	uint32_t edge_capacity;
};

struct salvo_hazards *salvo_hazards_create(void)
{
	struct salvo_hazards *h = calloc(1, sizeof(*h));

	if (h)
		salvo_intervals_init(&h->intervals);
	return h;
}

static void free_commands(struct salvo_hazards *h)
{
	free(h->rows);
	free(h->deep);
	free(h->first_given);
	free(h->given);
	free(h->candidates.bits);
	free(h->ordered);
	h->rows = NULL;
	h->deep = NULL;
	h->first_given = NULL;
	h->given = NULL;
	h->candidates.bits = NULL;
	h->ordered = NULL;
	h->capacity = 0;
}

void salvo_hazards_destroy(struct salvo_hazards *h)
{
	if (!h)
		return;
	salvo_intervals_fini(&h->intervals);
	free_commands(h);
	free(h->edges);
	free(h);
}

static int reserve_commands(struct salvo_hazards *h, uint32_t count)
{
	const uint32_t words = PIECES((count + 63) / 64) * PIECE;

	h->words = words;
	if (count <= h->capacity)
		return 0;
	free_commands(h);
	h->rows = malloc((size_t)words * 64 * words / PIECE * sizeof(*h->rows));
	h->deep = malloc(words * 64 * sizeof(*h->deep));
	h->first_given = malloc(words * 64 * sizeof(*h->first_given));
	h->given = malloc(words * 64 * sizeof(*h->given));
	h->candidates.bits = calloc(words, sizeof(*h->candidates.bits));
	h->ordered = calloc(words, sizeof(*h->ordered));
	if (!h->rows || !h->deep || !h->first_given || !h->given || !h->candidates.bits ||
	    !h->ordered) {
		free_commands(h);
		return -ENOMEM;
	}
	h->capacity = words * 64;
	return 0;
}

/* List the application's pipe controls. Invalid ones are rejected at submission. */
static void list_given(struct salvo_hazards *h, const struct salvo_hazard_input *in)
{
	uint32_t i;

	memset(h->first_given, 0xff, in->count * sizeof(*h->first_given));
	for (i = 0; i < in->count; i++) {
		const struct drm_salvo_command *cmd = &in->commands[i];

		if (cmd->type != DRM_SALVO_PIPE_CONTROL ||
		    cmd->flags & DRM_SALVO_PIPE_CONTROL_ALL ||
		    cmd->consumer >= in->count || cmd->producer >= cmd->consumer)
			continue;
		h->given[i] = (struct given){ cmd->producer, h->first_given[cmd->consumer] };
		h->first_given[cmd->consumer] = i;
	}
}

static int access_region(struct salvo_hazards *h, const struct salvo_region *regions, uint32_t i)
{
	const struct salvo_region *region = &regions[i];

	if (region->start >= region->end || !(region->access & 3))
		return 0;
	if (!(region->access & SALVO_REGION_WRITE))
		return salvo_intervals_read(&h->intervals, i, h->command, &h->candidates);
	salvo_intervals_write(&h->intervals, i, h->command, &h->candidates);
	return 0;
}

static int add_edge(struct salvo_hazards *h, uint32_t producer, uint32_t most)
{
	if (h->edge_count == most)
		return -E2BIG;
	if (salvo_array_reserve(&h->edges, &h->edge_capacity, h->edge_count + 1,
				sizeof(*h->edges)))
		return -ENOMEM;
	h->edges[h->edge_count++] = (struct salvo_hazard_edge){ h->command, producer };
	return 0;
}

/* Of the candidates, keep those that are no ancestors of a later one. */
static int reduce(struct salvo_hazards *h, uint32_t most)
{
	const struct salvo_candidates *candidates = &h->candidates;
	const uint32_t pieces = h->words / PIECE, floor = candidates->floor / 64 / PIECE;
	piece_t *row_pieces = h->rows + (size_t)h->command * pieces;
	uint64_t *row = (uint64_t *)row_pieces;
	uint32_t word, producer, i;
	const piece_t *other;
	uint64_t bits, bit;
	int err = 0;

	h->deep[h->command] = candidates->high > candidates->low;
	if (!h->deep[h->command])
		return 0;
	for (i = floor; i < PIECES(h->command / 64 + 1); i++)
		row_pieces[i] = (piece_t){ 0 };
	for (word = candidates->high; word-- > candidates->low; ) {
		while (!err && (bits = candidates->bits[word] & ~row[word])) {
			producer = word * 64 + 63 - __builtin_clzll(bits);
			bit = 1ull << producer % 64;
			if (!(h->ordered[word] & bit))
				err = add_edge(h, producer, most);
			row[word] |= bit;
			if (!h->deep[producer])
				continue;
			other = h->rows + (size_t)producer * pieces;
			for (i = floor; i < PIECES(word + 1); i++)
				row_pieces[i] |= other[i];
		}
		candidates->bits[word] = 0;
		h->ordered[word] = 0;
	}
	return err;
}

/* Candidates for the order of segments; those before a barrier are none. */
static void order_segments(struct salvo_hazards *h, const struct salvo_hazard_input *in)
{
	uint32_t i;

	if (h->first != NONE && h->in_segment < in->segment) {
		salvo_candidates_add(&h->candidates, h->first);
	} else {
		for (i = h->first; i < h->command; i++)
			if (in->commands[i].type != DRM_SALVO_PIPE_CONTROL)
				salvo_candidates_add(&h->candidates, i);
		h->first = h->command;
		h->in_segment = 0;
	}
	h->in_segment++;
}

static int add_command(struct salvo_hazards *h, const struct salvo_hazard_input *in)
{
	const struct salvo_region_span *span = &in->spans[h->command];
	uint32_t i, producer;
	int err = 0;

	h->candidates.low = h->words;
	h->candidates.high = 0;
	h->candidates.below = h->command;
	for (i = h->first_given[h->command]; i != NONE; i = h->given[i].next) {
		producer = h->given[i].producer;
		salvo_candidates_add(&h->candidates, producer);
		if (producer >= h->candidates.floor)
			h->ordered[producer / 64] |= 1ull << producer % 64;
	}
	if (in->segment)
		order_segments(h, in);
	for (i = 0; i < span->count && !err; i++)
		err = access_region(h, in->regions, span->first + i);
	return err ? err : reduce(h, in->most);
}

int salvo_hazards_find(struct salvo_hazards *h, const struct salvo_hazard_input *in,
		       const struct salvo_hazard_edge **edges)
{
	uint32_t i;
	int err;

	err = reserve_commands(h, in->count);
	if (!err)
		err = salvo_intervals_start(&h->intervals, in->regions, in->region_count);
	if (err)
		return err;
	list_given(h, in);
	h->edge_count = 0;
	h->first = NONE;
	h->candidates.floor = 0;
	for (i = 0; i < in->count && !err; i++) {
		const struct drm_salvo_command *cmd = &in->commands[i];

		h->deep[i] = false;
		h->command = i;
		if (cmd->type != DRM_SALVO_PIPE_CONTROL) {
			err = add_command(h, in);
		} else if (cmd->flags & DRM_SALVO_PIPE_CONTROL_ALL) {
			h->candidates.floor = i;
		}
	}
	if (err) {
		memset(h->candidates.bits, 0, h->words * sizeof(*h->candidates.bits));
		memset(h->ordered, 0, h->words * sizeof(*h->ordered));
		return err;
	}
	*edges = h->edges;
	return h->edge_count;
}
