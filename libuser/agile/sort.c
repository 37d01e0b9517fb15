// SPDX-License-Identifier: MIT
/*
 * sort.c - sorts of fields of rank 1
 *
 * A sort sorts each run (order.h) where it is. Then it finds where each run must be cut, so that
 * the pieces for each run of the result have exactly as many elements as that has, and no element
 * of a piece belongs before one of an earlier piece. Pieces are copied to where they belong, the
 * ones of other nodes move, each element once, and each run is sorted again.
 *
 * A cut is found by bisection in all runs at once. Each rank searches in the runs that it
 * stores. In a step the ranks choose an element of the run with the widest open interval as pivot,
 * and count how many elements are before it. They do this for many cuts at once, so the number of
 * exchanges is about the logarithm of the field's size, and of the elements only pivots move.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "direct.h"
#include "move.h"
#include "order.h"

#define MOST_RUNS	4096u
/* As many cuts at once as the ranks exchange so many bytes for, but one at least. */
#define CUTS_AT_ONCE	64u
#define MOST_EXCHANGED	((size_t)64 << 20)
/* The width of a rank whose runs are in no order. */
#define NO_ORDER	(~0ull)

typedef int (*compare_fn)(const void *a, const void *b);

/** struct interval - Where a run is cut: at @low at least, at @high at most. */
struct interval {
	uint64_t low, high;
};

/** struct offer - What a rank says of a cut: how much of its runs is open. A pivot follows. */
struct offer {
	uint64_t widest, open;
};

/** struct counts - How many elements are before a pivot, and before or equal. */
struct counts {
	uint64_t before, until;
};

/** struct cut - Elements @rank of the order and on are behind the cut. */
struct cut {
	uint64_t rank;
	/** @open: How much was open in the step before. */
	uint64_t open;
	/** @spare: If elements equal to the last pivot are on both sides, how many are in front. */
	uint64_t spare;
	bool split;
	bool done;
	const uint8_t *pivot;
};

/** struct search - For some cuts at once, @count of them. */
struct search {
	const struct agile_runs *runs;
	compare_fn compare;
	size_t element;
	unsigned int ranks, count;
	/** @most: Of @count. */
	unsigned int most;
	struct cut cuts[CUTS_AT_ONCE];
	/** @open: For each cut and run; of runs of other ranks zeros. @near: Around the pivot. */
	struct interval *open, *near;
	/** @sent, @got: What is exchanged, of this rank and of all. */
	uint8_t *sent, *got;
};

/* --- cuts ----------------------------------------------------------------------- */

static int search_init(struct search *s, const struct agile_runs *runs, compare_fn compare)
{
	const struct salvo_agile *agile = runs->field->agile;
	const size_t all = runs->count * sizeof(struct interval);
	size_t bytes, fit;

	*s = (struct search){ .runs = runs, .compare = compare,
			      .element = runs->field->info.element_bytes,
			      .ranks = salvo_agile_ranks(agile) };
	bytes = sizeof(struct offer) + s->element;
	bytes = bytes > all ? bytes : all;
	fit = MOST_EXCHANGED / bytes / s->ranks;
	s->most = fit > CUTS_AT_ONCE ? CUTS_AT_ONCE : fit ? fit : 1;
	s->open = calloc(s->most, all);
	s->near = calloc(s->most, all);
	s->sent = calloc(s->most, bytes);
	s->got = calloc(s->most, s->ranks * bytes);
	return s->open && s->near && s->sent && s->got ? 0 : -ENOMEM;
}

static void search_fini(struct search *s)
{
	free(s->open);
	free(s->near);
	free(s->sent);
	free(s->got);
}

/* How many elements of a run are before @pivot, or not behind it if @equal. */
static uint64_t rank_in(const struct search *s, const struct agile_run *run, const uint8_t *pivot,
			bool equal)
{
	uint64_t low = 0, high = run->grid.extent[0];

	while (low < high) {
		const uint64_t middle = (low + high) / 2;
		const int order = s->compare(run->data + middle * s->element, pivot);

		if (order < 0 || (equal && !order))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The middle of the widest interval of this rank. */
static void make_offer(const struct search *s, unsigned int c, uint8_t *to)
{
	const struct interval *open = s->open + (size_t)c * s->runs->count;
	struct offer offer = { 0, 0 };
	unsigned int i, widest = 0;

	for (i = 0; i < s->runs->count; i++) {
		const uint64_t width = open[i].high - open[i].low;

		if (open[i].high < open[i].low) {
			offer = (struct offer){ NO_ORDER, NO_ORDER };
			break;
		}
		offer.open += width;
		if (width > offer.widest) {
			offer.widest = width;
			widest = i;
		}
	}
	memcpy(to, &offer, sizeof(offer));
	if (offer.widest && offer.widest != NO_ORDER)
		memcpy(to + sizeof(offer), s->runs->all[widest].data +
		       (open[widest].low + open[widest].high) / 2 * s->element, s->element);
}

/* Take the pivot of the rank with the widest interval. Return: 1 if the cut is open, 0, -EINVAL. */
static int choose_pivot(struct search *s, unsigned int c)
{
	const size_t row = sizeof(struct offer) + s->element;
	struct cut *cut = &s->cuts[c];
	uint64_t open = 0, widest = 0;
	struct offer offer;
	unsigned int r;

	for (r = 0; r < s->ranks; r++) {
		const uint8_t *from = s->got + ((size_t)r * s->count + c) * row;

		memcpy(&offer, from, sizeof(offer));
		if (offer.widest == NO_ORDER)
			return -EINVAL;
		open += offer.open;
		if (offer.widest > widest) {
			widest = offer.widest;
			cut->pivot = from + sizeof(offer);
		}
	}
	if (open && open >= cut->open)
		return -EINVAL;
	cut->open = open;
	cut->done = !open;
	return open > 0;
}

/* This rank's elements before the pivot. */
static struct counts count_before(const struct search *s, unsigned int c)
{
	struct interval *near = s->near + (size_t)c * s->runs->count;
	struct counts counts = { 0, 0 };
	unsigned int i;

	for (i = 0; i < s->runs->count; i++) {
		const struct agile_run *run = &s->runs->all[i];

		if (!run->data)
			continue;
		near[i].low = rank_in(s, run, s->cuts[c].pivot, false);
		near[i].high = rank_in(s, run, s->cuts[c].pivot, true);
		counts.before += near[i].low;
		counts.until += near[i].high;
	}
	return counts;
}

/* Make the intervals smaller, or end the cut among elements that are equal to the pivot. */
static void narrow(struct search *s, unsigned int c)
{
	struct interval *open = s->open + (size_t)c * s->runs->count;
	const struct interval *near = s->near + (size_t)c * s->runs->count;
	const struct counts *all = (const struct counts *)s->got;
	struct counts sum = { 0, 0 };
	struct cut *cut = &s->cuts[c];
	unsigned int i, r;

	for (r = 0; r < s->ranks; r++) {
		sum.before += all[(size_t)r * s->count + c].before;
		sum.until += all[(size_t)r * s->count + c].until;
	}
	cut->split = cut->done = sum.before <= cut->rank && cut->rank < sum.until;
	cut->spare = cut->rank - sum.before;
	for (i = 0; i < s->runs->count; i++) {
		if (!s->runs->all[i].data)
			continue;
		if (cut->split)
			open[i] = near[i];
		else if (sum.until <= cut->rank && near[i].high > open[i].low)
			open[i].low = near[i].high;
		else if (sum.before > cut->rank && near[i].low < open[i].high)
			open[i].high = near[i].low;
	}
}

/* One step of all cuts. Return: 1 if some are open, 0, or an error that all ranks have. */
static int step(struct search *s)
{
	const size_t row = sizeof(struct offer) + s->element;
	struct counts *counts = (struct counts *)s->sent;
	struct salvo_agile *agile = s->runs->field->agile;
	int err, open = 0;
	unsigned int c;

	for (c = 0; c < s->count; c++) {
		memset(s->sent + c * row, 0, sizeof(struct offer));
		if (!s->cuts[c].done)
			make_offer(s, c, s->sent + c * row);
	}
	err = agile_gather(agile, s->sent, s->count * row, s->got);
	for (c = 0; c < s->count && err >= 0; c++) {
		if (s->cuts[c].done)
			continue;
		err = choose_pivot(s, c);
		open |= err > 0;
	}
	if (err == -EINVAL)
		return agile_fail(agile, err, "field %s: the comparison is no order",
				  s->runs->field->name);
	if (err < 0 || !open)
		return err < 0 ? err : 0;
	for (c = 0; c < s->count; c++)
		counts[c] = s->cuts[c].done ? (struct counts){ 0, 0 } : count_before(s, c);
	err = agile_gather(agile, counts, s->count * sizeof(*counts), s->got);
	for (c = 0; c < s->count && !err; c++)
		if (!s->cuts[c].done)
			narrow(s, c);
	return err ? err : 1;
}

/*
 * Where each run is cut, equal elements by the order of runs. @cuts are behind those of the rank
 * before, which lie a row in front of them. Return: false if the cuts do not divide the runs.
 */
static bool finish_cut(const struct search *s, unsigned int c, uint64_t *cuts)
{
	const size_t row = s->runs->count;
	const struct interval *all = (const struct interval *)s->got;
	uint64_t sum = 0, spare = s->cuts[c].spare;
	unsigned int i, r;

	for (i = 0; i < row; i++) {
		struct interval at = { 0, 0 };
		uint64_t part;

		/* Only the rank that stores the run says more than 0. */
		for (r = 0; r < s->ranks; r++) {
			const struct interval *said = &all[((size_t)r * s->count + c) * row + i];

			at.low += said->low;
			at.high += said->high;
		}
		part = at.high - at.low < spare ? at.high - at.low : spare;
		cuts[i] = at.low;
		if (s->cuts[c].split) {
			cuts[i] += part;
			spare -= part;
		}
		sum += cuts[i];
		if (cuts[i] < (cuts - row)[i] || cuts[i] > s->runs->all[i].grid.extent[0])
			return false;
	}
	return sum == s->cuts[c].rank;
}

/* Some cuts; @ranks: of the order at their places. */
static int cut_some(struct search *s, const uint64_t *ranks, unsigned int count, uint64_t *cuts)
{
	const size_t row = s->runs->count;
	unsigned int c, i;
	int err;

	s->count = count;
	for (c = 0; c < count; c++) {
		s->cuts[c] = (struct cut){ .rank = ranks[c], .open = ~0ull };
		for (i = 0; i < row; i++)
			s->open[c * row + i] = (struct interval){
				0, s->runs->all[i].data ? s->runs->all[i].grid.extent[0] : 0 };
	}
	do {
		err = step(s);
	} while (err > 0);
	if (!err)
		err = agile_gather(s->runs->field->agile, s->open,
				   count * row * sizeof(*s->open), s->got);
	for (c = 0; c < count && !err; c++)
		if (!finish_cut(s, c, cuts + c * row))
			err = agile_fail(s->runs->field->agile, -EINVAL,
					 "field %s: the comparison is no order",
					 s->runs->field->name);
	return err;
}

/*
 * Cut the runs for each run of the result: @cuts has a row for each, from its first element on,
 * and one for the end.
 */
static int cut_runs(struct search *s, uint64_t *cuts)
{
	const size_t row = s->runs->count;
	uint64_t ranks[CUTS_AT_ONCE], rank = 0;
	unsigned int i, k;
	int err = 0;

	for (i = 0; i < row && !err; i += k) {
		for (k = 0; k < s->most && i + k < row; k++)
			ranks[k] = rank += s->runs->all[i + k].grid.extent[0];
		err = cut_some(s, ranks, k, cuts + (i + 1) * row);
	}
	return err;
}

/* --- runs ----------------------------------------------------------------------- */

/* The elements of this rank's runs, for the application to compare. */
static int see_runs(struct agile_runs *runs)
{
	struct salvo_agile_field *field = runs->field;
	unsigned int i;
	int err = 0;

	for (i = 0; i < runs->count && !err; i++) {
		struct agile_run *run = &runs->all[i];
		const unsigned int owner = agile_block_node(field, run->block);
		struct agile_part part;
		void *map;

		if (!agile_is_local(field->agile, owner))
			continue;
		err = agile_block_part(field, run->block, owner, &part);
		if (!err)
			err = salvo_bo_map(part.bo, &map);
		if (!err)
			run->data = (const uint8_t *)map + part.offset +
				    (run->grid.offset[0] - part.grid.offset[0]) *
				    field->info.element_bytes;
	}
	return err;
}

/* The pieces of one run of the result, behind each other. */
static int collect_run(struct agile_batch *b, const struct agile_runs *runs,
		       const struct agile_run *run, const uint64_t *cuts,
		       struct salvo_agile_field *to, struct agile_fetches *fetches)
{
	const size_t element = to->info.element_bytes;
	struct agile_part dst, src;
	struct agile_span span;
	unsigned int i;
	int err = agile_block_part(to, run->block, b->node, &dst);

	if (!err)
		err = agile_use(b, to, b->node, SALVO_AGILE_WRITE);
	dst.offset += (run->grid.offset[0] - dst.grid.offset[0]) * element;
	for (i = 0; i < runs->count && !err; i++) {
		const struct agile_run *from = &runs->all[i];
		const unsigned int owner = agile_block_node(runs->field, from->block);
		const uint64_t count = cuts[runs->count + i] - cuts[i];

		if (!count)
			continue;
		dst.grid = (struct salvo_agile_grid){
			1, { from->grid.offset[0] + cuts[i] }, { count } };
		if (!agile_reaches(runs->field, owner)) {
			err = agile_fetch_add(fetches, &(struct agile_fetch){
				runs->field, from->block, dst.grid, dst, b->node, AGILE_NO_COPY });
			dst.offset += count * element;
			continue;
		}
		err = agile_block_part(runs->field, from->block, b->node, &src);
		if (!err)
			err = agile_batch_room(b, 1);
		if (!err)
			err = agile_use(b, runs->field, owner, SALVO_AGILE_READ);
		if (!err)
			err = agile_copy_part(b, &dst, &src, &dst.grid, element, NULL, &span);
		dst.offset += count * element;
		if (owner != b->node)
			b->agile->nodes[b->node].stats.moved_bytes += count * element;
	}
	return err;
}

static int collect_node(struct salvo_agile *agile, const struct agile_runs *runs,
			const uint64_t *cuts, unsigned int node, struct salvo_agile_field *to,
			struct agile_fetches *fetches)
{
	struct agile_batch b;
	unsigned int i;
	int err = agile_batch_init(&b, agile, node, false);

	for (i = 0; i < runs->count && !err; i++)
		if (agile_block_node(to, runs->all[i].block) == node)
			err = collect_run(&b, runs, &runs->all[i],
					  cuts + (size_t)i * runs->count, to, fetches);
	if (!err)
		err = agile_batch_flush(&b);
	agile_batch_fini(&b);
	return err;
}

static int sort_runs(struct salvo_agile *agile, struct salvo_agile_kernel *kernel,
		     struct salvo_agile_field *field)
{
	const struct salvo_agile_statement statement = {
		.kernel = kernel, .result = field, .flags = SALVO_AGILE_SERIAL,
	};

	return salvo_agile_forall(agile, &statement);
}

/* From sorted runs of one field to those of the other. */
static int exchange(struct salvo_agile *agile, struct agile_runs *runs, compare_fn compare,
		    struct salvo_agile_field *to)
{
	const size_t row = runs->count;
	struct agile_fetches fetches = { 0 };
	uint64_t *cuts = calloc((row + 1) * row, sizeof(*cuts));
	struct search search = { 0 };
	unsigned int n;
	int err = salvo_agile_wait(agile);

	if (!err && (!cuts || search_init(&search, runs, compare)))
		err = agile_fail(agile, -ENOMEM, "out of memory");
	if (!err)
		err = see_runs(runs);
	err = agile_agree(agile, AGILE_CALL_SORT, err, NULL);
	if (!err)
		err = cut_runs(&search, cuts);
	for (n = agile->first; n < agile->first + agile->local && !err; n++)
		if (to->storage[n].bytes)
			err = collect_node(agile, runs, cuts, n, to, &fetches);
	agile_end_statement(agile);
	agile_lend(runs->field);
	agile_written(to);
	err = agile_fetch_run(agile, err, &fetches);
	agile_fetch_fini(&fetches);
	search_fini(&search);
	free(cuts);
	return err;
}

int salvo_agile_sort(struct salvo_agile *agile, struct salvo_agile_kernel *kernel,
		     int (*compare)(const void *a, const void *b), struct salvo_agile_field *field)
{
	struct salvo_agile_field *other = NULL;
	struct agile_runs runs;
	int err = agile_runs_init(&runs, field);

	if (!err && runs.count > MOST_RUNS)
		err = agile_fail(agile, -E2BIG, "field %s: a sort of %u tasks, at most %u",
				 field->name, runs.count, MOST_RUNS);
	err = agile_agree(agile, AGILE_CALL_SORT, err, NULL);
	if (!err)
		err = salvo_agile_field_create(agile, "sorted", field->map, &field->info, &other);
	if (!err)
		err = sort_runs(agile, kernel, field);
	if (!err)
		err = exchange(agile, &runs, compare, other);
	if (!err)
		err = sort_runs(agile, kernel, other);
	if (!err)
		err = salvo_agile_redistribute(agile, field, other);
	salvo_agile_field_destroy(other);
	agile_runs_fini(&runs);
	return err;
}
