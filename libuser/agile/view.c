// SPDX-License-Identifier: MIT
/*
 * view.c - elements of a field for the application (A6 of CN102609244)
 *
 * The full global view keeps the memory block of the last access: an index that is in it needs a
 * comparison for each dimension and no more. Another one is looked up, its block moves to the
 * view's node if there is no valid copy, and the application waits for that.
 *
 * Writing goes to the owner's memory. If that is on another machine it goes to the copy of the
 * view's node, and what has changed is put to the owner when another block is seen, and at
 * salvo_agile_wait(). There the ranks tell each other which blocks were written, so that copies of
 * them are not valid any more.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "direct.h"
#include "move.h"
#include "view.h"

struct salvo_agile_view {
	struct salvo_agile *agile;
	struct salvo_agile_view *next;
	struct salvo_agile_field *field;
	unsigned int node;
	uint32_t block;
	/** @twin: The block as it came, if what is written must be put to its owner. */
	void *twin;
	/** @data: Of the first element of @grid, or NULL; @bo stays until another block is seen. */
	uint8_t *data;
	struct salvo_agile_grid grid;
	uint64_t stride[SALVO_AGILE_RANKS];	/* bytes */
	int access;
	/**
	 * @batches, @idle: When @data was found: a statement, or another rank, may write it again.
	 */
	uint64_t batches, idle;
	uint64_t lookups;
};

static uint64_t all_batches(const struct salvo_agile *agile)
{
	uint64_t batches = 0;
	unsigned int n;

	for (n = 0; n < agile->count; n++)
		batches += agile->nodes[n].stats.batches;
	return batches;
}

/* Wait until the application may access what a node stores of a field. */
int agile_wait_storage(struct salvo_agile_field *field, unsigned int owner, int access)
{
	struct agile_storage *storage = &field->storage[owner];
	unsigned int n;
	int err = agile_wait_time(field->agile, owner, &storage->written);

	for (n = 0; access == SALVO_AGILE_WRITE && storage->read && n < field->agile->count &&
	     !err; n++)
		err = agile_wait_time(field->agile, n, &storage->read[n]);
	return err;
}

/* Run what there is and wait for it. */
int agile_batch_finish(struct agile_batch *b)
{
	struct salvo_agile *agile = b->agile;
	struct salvo_fence *fence;
	int err = agile_batch_flush(b);

	agile_end_statement(agile);
	if (err)
		return err;
	fence = agile->nodes[b->node].last[0];
	err = fence ? salvo_fence_wait(fence, -1) : 0;
	return err ? agile_fail(agile, err, "node %u: %s", b->node, strerror(-err)) : 0;
}

int agile_check_node(struct salvo_agile *agile, unsigned int node)
{
	if (agile->planning)
		return agile_fail(agile, -ENOTSUP, "the nodes are there to plan only");
	if (node >= agile->count)
		return agile_fail(agile, -EINVAL, "there is no node %u, only %u", node,
				  agile->count);
	if (!agile_is_local(agile, node))
		return agile_fail(agile, -EINVAL,
				  "node %u is not of this rank, which has %u to %u", node,
				  agile->first, agile->first + agile->local - 1);
	return 0;
}

int salvo_agile_view_create(struct salvo_agile_field *field, unsigned int node,
			    struct salvo_agile_view **out)
{
	int err = agile_check_node(field->agile, node);

	*out = NULL;
	if (err)
		return err;
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return agile_fail(field->agile, -ENOMEM, "out of memory");
	(*out)->agile = field->agile;
	(*out)->field = field;
	(*out)->node = node;
	(*out)->next = field->agile->views;
	field->agile->views = *out;
	return 0;
}

/* Put the elements of a row that are not as they were: @row is one of the block's. */
static int put_row(struct salvo_agile_view *view, const struct agile_part *part,
		   struct salvo_agile_grid row)
{
	const size_t element = view->field->info.element_bytes;
	const unsigned int last = row.rank - 1;
	const uint64_t first = agile_offset(&part->grid, &row, part->stride);
	const uint64_t end = row.extent[last];
	const uint8_t *now = view->data + first * element;
	const uint8_t *was = (uint8_t *)view->twin + first * element;
	const uint64_t from = row.offset[last];
	uint64_t i = 0, k;
	int err = 0;

	while (i < end && !err) {
		for (k = i; k < end && memcmp(now + k * element, was + k * element, element); k++)
			;
		row.offset[last] = from + i;
		row.extent[last] = k - i;
		if (k > i)
			err = agile_put(view->field, view->block, &row, part, view->data);
		i = k + 1;
	}
	return err;
}

static int put_rows(struct salvo_agile_view *view)
{
	const struct salvo_agile_grid *grid = &view->field->blocks[view->block].grid;
	struct salvo_agile_grid rows = *grid, row = *grid;
	struct agile_part part = { .grid = *grid };
	uint64_t i;
	int err = 0;

	agile_strides(grid, part.stride);
	rows.extent[grid->rank - 1] = 1;
	for (i = 0; i < salvo_agile_grid_count(&rows) && !err; i++) {
		const struct salvo_agile_index at = salvo_agile_grid_index(&rows, i);

		memcpy(row.offset, at.at, grid->rank * sizeof(*row.offset));
		memset(row.extent, 0, sizeof(row.extent));
		for (unsigned int d = 0; d < grid->rank; d++)
			row.extent[d] = d < grid->rank - 1 ? 1 : grid->extent[d];
		err = put_row(view, &part, row);
	}
	return err;
}

/* What was written in a copy goes to its owner, and is there. */
static int put_changes(struct salvo_agile_view *view)
{
	int err;

	if (!view->twin || view->agile->ranks->broken)
		return 0;
	err = agile_access_begin(view->field);
	if (!err) {
		const int put = put_rows(view);

		err = agile_access_end(view->field);
		err = put ? put : err;
	}
	free(view->twin);
	view->twin = NULL;
	view->data = NULL;
	return err;
}

int agile_views_put(struct salvo_agile *agile)
{
	struct salvo_agile_view *view;
	int err = 0;

	for (view = agile->views; view && !err; view = view->next)
		err = put_changes(view);
	return err;
}

void salvo_agile_view_destroy(struct salvo_agile_view *view)
{
	struct salvo_agile_view **at;

	if (!view)
		return;
	/* Of an error the next meeting tells. */
	put_changes(view);
	free(view->twin);
	for (at = &view->agile->views; *at != view; at = &(*at)->next)
		;
	*at = view->next;
	free(view);
}

uint64_t salvo_agile_view_lookups(const struct salvo_agile_view *view)
{
	return view->lookups;
}

/* A block of another rank, as it is now. */
static int fetch_block(struct salvo_agile_view *view, uint32_t block)
{
	const struct salvo_agile_grid *grid = &view->field->blocks[block].grid;
	struct salvo_agile *agile = view->field->agile;
	struct agile_fetches fetches = { 0 };
	unsigned int q;
	int err = agile_fetch_region(&fetches, view->field, grid, view->node);

	/* A statement may read the copy as it was. */
	for (q = 0; q < 2 && err > 0; q++)
		if (agile->nodes[view->node].last[q] &&
		    salvo_fence_wait(agile->nodes[view->node].last[q], -1))
			err = agile_fail(agile, -EIO, "node %u: a batch failed", view->node);
	if (err > 0 && fetches.count) {
		err = agile_fetch_now(agile, &fetches.all[0]);
		if (!err)
			fetches.count = 0;
	}
	agile_fetch_fini(&fetches);
	return err < 0 ? err : 0;
}

/* The block's part for reading: brought to the view's node. */
static int bring_block(struct salvo_agile_view *view, uint32_t block, struct agile_part *part)
{
	const unsigned int owner = agile_block_node(view->field, block);
	struct agile_producers producers = { 0 };
	struct agile_batch b;
	int err = agile_reaches(view->field, owner) ? 0 : fetch_block(view, block);

	if (err)
		return err;
	err = agile_batch_init(&b, view->field->agile, view->node, false);
	if (!err)
		err = agile_bring(&b, view->field, block, part, &producers);
	if (!err)
		err = agile_batch_finish(&b);
	agile_batch_fini(&b);
	if (!err)
		err = agile_wait_storage(view->field, owner, SALVO_AGILE_READ);
	return err;
}

/* Where a block can be written: its owner's memory, or the copy of the view's node. */
static int open_block(struct salvo_agile_view *view, const struct salvo_agile_place *place,
		      struct agile_part *part)
{
	struct salvo_agile_field *field = view->field;
	const size_t bytes = salvo_agile_grid_count(&place->block_grid) *
			     field->info.element_bytes;
	uint32_t copy;
	void *map;
	int err;

	if (agile_reaches(field, place->node)) {
		err = agile_block_part(field, place->block, view->node, part);
		if (!err)
			err = agile_wait_storage(field, place->node, SALVO_AGILE_WRITE);
		agile_invalidate(field, place->block);
		return err ? err : agile_block_written(field, place->block);
	}
	err = bring_block(view, place->block, part);
	if (!err)
		err = salvo_bo_map(part->bo, &map);
	if (!err)
		err = agile_block_written(field, place->block);
	if (err)
		return err;
	view->twin = malloc(bytes);
	if (!view->twin)
		return agile_fail(field->agile, -ENOMEM, "out of memory");
	memcpy(view->twin, (uint8_t *)map + part->offset, bytes);
	agile_invalidate(field, place->block);
	/* This one is as the owner's will be. */
	err = agile_copy_find(field, place->block, view->node, &copy);
	if (!err)
		field->copies[copy].valid = true;
	return err;
}

static int see_block(struct salvo_agile_view *view, const struct salvo_agile_index *index,
		     int access)
{
	struct salvo_agile_field *field = view->field;
	struct salvo_agile_place place;
	struct agile_part part;
	unsigned int d;
	void *map;
	int err = put_changes(view);

	view->data = NULL;
	view->lookups++;
	if (err)
		return err;
	err = salvo_agile_field_locate(field, index, &place);
	if (err)
		return agile_fail(field->agile, err,
				  "field %s: the index %llu, %llu, %llu, %llu is outside of map %s, which has rank %u",
				  field->name, (unsigned long long)index->at[0],
				  (unsigned long long)index->at[1],
				  (unsigned long long)index->at[2],
				  (unsigned long long)index->at[3], field->map->name,
				  field->map->grid.rank);
	view->block = place.block;
	err = access == SALVO_AGILE_WRITE ? open_block(view, &place, &part) :
					    bring_block(view, place.block, &part);
	if (!err)
		err = salvo_bo_map(part.bo, &map);
	if (err)
		return err;
	view->data = (uint8_t *)map + part.offset;
	view->grid = part.grid;
	view->access = access;
	view->batches = all_batches(field->agile);
	view->idle = field->agile->idle;
	for (d = 0; d < part.grid.rank; d++)
		view->stride[d] = part.stride[d] * field->info.element_bytes;
	return 0;
}

void *salvo_agile_view_at(struct salvo_agile_view *view, const struct salvo_agile_index *index,
			  int access)
{
	uint8_t *at;
	unsigned int d;

	if (!view->data || view->access < access ||
	    !salvo_agile_grid_contains(&view->grid, index) ||
	    view->batches != all_batches(view->field->agile) ||
	    view->idle != view->field->agile->idle)
		if (see_block(view, index, access))
			return NULL;
	at = view->data;
	for (d = 0; d < view->grid.rank; d++)
		at += (index->at[d] - view->grid.offset[d]) * view->stride[d];
	return at;
}
