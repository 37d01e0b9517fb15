// SPDX-License-Identifier: MIT
/*
 * view.c - elements of a field for the application (A6 of CN102609244)
 *
 * The full global view keeps the memory block of the last access: an index that is in it needs a
 * comparison for each dimension and no more. Another one is looked up, its block moves to the
 * view's node if there is no valid copy, and the application waits for that.
 *
 * The partial global view, a tile, is decided once: all blocks of a region move, and what is in
 * several of them is put together. Then the elements are plain memory.
 *
 * Over several ranks a tile is opened by all of them, and so is one that was written closed. A
 * view fetches blocks of other ranks without these.
 *
 * Writing goes to the owners' memory, after all that reads or writes it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "move.h"
#include "ranks.h"

struct salvo_agile_view {
	struct salvo_agile_field *field;
	unsigned int node;
	/** @data: Of the first element of @grid, or NULL; @bo stays until another block is seen. */
	uint8_t *data;
	struct salvo_agile_grid grid;
	uint64_t stride[SALVO_AGILE_RANKS];	/* bytes */
	int access;
	/** @batches: The node's batches when @data was found: a statement may write it again. */
	uint64_t batches;
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
static int wait_storage(struct salvo_agile_field *field, unsigned int owner, int access)
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
static int finish(struct agile_batch *b)
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

static int check_node(struct salvo_agile *agile, unsigned int node)
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
	int err = check_node(field->agile, node);

	*out = NULL;
	if (err)
		return err;
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return agile_fail(field->agile, -ENOMEM, "out of memory");
	(*out)->field = field;
	(*out)->node = node;
	return 0;
}

void salvo_agile_view_destroy(struct salvo_agile_view *view)
{
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
	int err = agile_is_local(view->field->agile, owner) ? 0 : fetch_block(view, block);

	if (err)
		return err;
	err = agile_batch_init(&b, view->field->agile, view->node, false);
	if (!err)
		err = agile_bring(&b, view->field, block, part, &producers);
	if (!err)
		err = finish(&b);
	agile_batch_fini(&b);
	if (!err)
		err = wait_storage(view->field, owner, SALVO_AGILE_READ);
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
	int err;

	view->data = NULL;
	view->lookups++;
	if (access == SALVO_AGILE_WRITE && field->agile->ranks)
		return agile_fail(field->agile, -ENOTSUP,
				  "field %s: over several ranks a view cannot be written, only a tile",
				  field->name);
	err = salvo_agile_field_locate(field, index, &place);
	if (err)
		return agile_fail(field->agile, err, "field %s: the index is outside of map %s",
				  field->name, field->map->name);
	if (access == SALVO_AGILE_WRITE) {
		err = agile_block_part(field, place.block, view->node, &part);
		if (!err)
			err = wait_storage(field, place.node, access);
		agile_invalidate(field, place.block);
	} else {
		err = bring_block(view, place.block, &part);
	}
	if (!err)
		err = salvo_bo_map(part.bo, &map);
	if (err)
		return err;
	view->data = (uint8_t *)map + part.offset;
	view->grid = part.grid;
	view->access = access;
	view->batches = all_batches(field->agile);
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
	    view->batches != all_batches(view->field->agile))
		if (see_block(view, index, access))
			return NULL;
	at = view->data;
	for (d = 0; d < view->grid.rank; d++)
		at += (index->at[d] - view->grid.offset[d]) * view->stride[d];
	return at;
}

/* --- tiles ---------------------------------------------------------------------------- */

/*
 * A rank stores what it owns itself, if that is in its tile; else the first rank does whose tile
 * has all of it. @grids are those of all ranks; one that takes part without a tile has rank 0.
 */
struct store {
	struct salvo_agile_tile *tile;
	const struct salvo_agile_grid *grids;
	/** @remote: What others own; or what this rank owns. */
	bool remote;
};

static bool has_all(const struct salvo_agile_grid *grid, const struct salvo_agile_grid *of)
{
	struct salvo_agile_grid common;

	return grid->rank == of->rank && salvo_agile_grid_intersect(grid, of, &common) &&
	       salvo_agile_grid_count(&common) == salvo_agile_grid_count(of);
}

static struct agile_part part_of_tile(const struct salvo_agile_tile *tile)
{
	struct agile_part part = { .bo = tile->bo, .grid = tile->grid };

	agile_strides(&tile->grid, part.stride);
	return part;
}

static int store_remote(const struct store *store, uint32_t block,
			const struct salvo_agile_grid *common)
{
	struct salvo_agile_field *field = store->tile->field;
	const struct agile_ranks *ranks = field->agile->ranks;
	const struct agile_part from = part_of_tile(store->tile);
	const unsigned int owner = agile_block_node(field, block);
	unsigned int r;

	for (r = 0; r < ranks->count; r++)
		if ((r < ranks->rank ||
		     (owner >= ranks->first[r] && owner < ranks->first[r + 1])) &&
		    has_all(&store->grids[r], common))
			return 0;
	return agile_put(field, block, common, &from, store->tile->data);
}

/* Rows of a block out of the tile, into the owner's memory. */
static int store_block(void *data, uint32_t block, const struct salvo_agile_grid *common)
{
	const struct store *store = data;
	struct salvo_agile_field *field = store->tile->field;
	const size_t element = field->info.element_bytes;
	const unsigned int owner = agile_block_node(field, block), last = common->rank - 1;
	const uint64_t row = common->extent[last], count = salvo_agile_grid_count(common) / row;
	struct agile_part part;
	uint8_t *map;
	uint64_t i;
	int err;

	if (store->remote == agile_is_local(field->agile, owner))
		return 0;
	if (store->remote)
		return store_remote(store, block, common);
	err = agile_block_part(field, block, owner, &part);
	if (!err)
		err = wait_storage(field, owner, SALVO_AGILE_WRITE);
	if (!err)
		err = salvo_bo_map(part.bo, (void **)&map);
	if (err)
		return err;
	for (i = 0; i < count; i++) {
		const struct salvo_agile_index at = salvo_agile_grid_index(common, i * row);
		const uint8_t *from = store->tile->data;
		uint8_t *to = map + part.offset;
		unsigned int d;

		for (d = 0; d < common->rank; d++) {
			from += (at.at[d] - store->tile->grid.offset[d]) * store->tile->stride[d];
			to += (at.at[d] - part.grid.offset[d]) * part.stride[d] * element;
		}
		memcpy(to, from, row * element);
	}
	agile_invalidate(field, block);
	return 0;
}

static int invalidate(void *data, uint32_t block, const struct salvo_agile_grid *common)
{
	(void)common;
	agile_invalidate(data, block);
	return 0;
}

/* All ranks write what they have. */
static int store_ranks(struct salvo_agile_tile *tile)
{
	struct salvo_agile_field *field = tile->field;
	struct salvo_agile *agile = field->agile;
	struct salvo_agile_grid *grids = calloc(agile->ranks->count, sizeof(*grids));
	struct store store = { tile, grids, false };
	unsigned int r, n;
	int err = grids ? 0 : agile_fail(agile, -ENOMEM, "out of memory");

	for (n = agile->first; n < agile->first + agile->local && !err; n++)
		err = wait_storage(field, n, SALVO_AGILE_WRITE);
	err = agile_agree_with(agile, AGILE_CALL_TILE_CLOSE, err, NULL, &tile->grid,
			       sizeof(*grids), grids);
	if (err) {
		free(grids);
		return err;
	}
	if (tile->bo)
		err = agile_each_block(field, &tile->grid, store_block, &store);
	store.remote = true;
	/* Also if this rank failed alone: the others are at the fence. */
	if (agile_fence(field, true)) {
		err = -EIO;
	} else {
		if (!err && tile->bo)
			err = agile_each_block(field, &tile->grid, store_block, &store);
		if (agile_fence(field, false))
			err = -EIO;
	}
	for (r = 0; r < agile->ranks->count && !err; r++)
		if (grids[r].rank)
			err = agile_each_block(field, &grids[r], invalidate, field);
	free(grids);
	return err;
}

/* What the tile lacks from other ranks. */
static int fetch_tile(struct salvo_agile_field *field, unsigned int node,
		      const struct salvo_agile_grid *grid, int err)
{
	struct agile_fetches fetches = { 0 };

	if (!field->agile->ranks)
		return err;
	if (!err && grid)
		err = agile_fetch_region(&fetches, field, grid, node);
	err = agile_fetch_run(field->agile, AGILE_CALL_TILE_OPEN, err < 0 ? err : 0, false,
			      &fetches, &field, 1);
	agile_fetch_fini(&fetches);
	return err;
}

static int check_tile(struct salvo_agile_field *field, unsigned int node,
		      const struct salvo_agile_grid *grid)
{
	struct salvo_agile_grid inside;
	const int err = check_node(field->agile, node);

	if (err)
		return err;
	if (grid && (grid->rank != field->map->grid.rank ||
		     !salvo_agile_grid_intersect(grid, &field->map->grid, &inside) ||
		     salvo_agile_grid_count(&inside) != salvo_agile_grid_count(grid)))
		return agile_fail(field->agile, -EINVAL, "field %s: the tile is not inside of map %s",
				  field->name, field->map->name);
	if (!grid && !field->agile->ranks)
		return agile_fail(field->agile, -EINVAL, "field %s: no grid for a tile",
				  field->name);
	return 0;
}

/* A tile of its own, so that the field may change while it is open. */
static int fill_tile(struct agile_batch *b, struct salvo_agile_tile *tile)
{
	struct salvo_agile_field *field = tile->field;
	struct agile_producers producers = { 0 };
	struct agile_part part = { .bo = NULL }, own;
	unsigned int first, i;
	int err = agile_region(b, field, &tile->grid, &part, &producers);

	if (!err)
		err = salvo_bo_create(field->agile->nodes[b->node].device,
				      salvo_agile_grid_count(&tile->grid) *
				      field->info.element_bytes, 0, &tile->bo);
	own = part_of_tile(tile);
	if (!err)
		err = agile_batch_room(b, agile_copy_commands(&tile->grid) *
				       (1 + producers.count) + 4);
	if (err)
		return err;
	first = salvo_batch_count(b->batch);
	err = agile_copy_part(b, &own, &part, &tile->grid, field->info.element_bytes);
	for (i = salvo_batch_count(b->batch); i-- > first && !err;)
		err = agile_order(b, &producers, i);
	return err;
}

int salvo_agile_tile_open(struct salvo_agile_field *field, unsigned int node,
			  const struct salvo_agile_grid *grid, int access,
			  struct salvo_agile_tile *tile)
{
	struct agile_batch b;
	unsigned int d, n;
	int err = fetch_tile(field, node, grid, check_tile(field, node, grid));

	*tile = (struct salvo_agile_tile){ .field = field, .access = err ? 0 : access };
	if (err || !grid)
		return err;
	tile->grid = *grid;
	err = agile_batch_init(&b, field->agile, node, false);
	if (!err)
		err = fill_tile(&b, tile);
	/* The node's queue orders its own memory; what others wrote is waited for. */
	for (n = 0; n < field->agile->count && !err; n++)
		if (field->storage[n].bytes)
			err = agile_wait_time(field->agile, n, &field->storage[n].written);
	if (!err)
		err = finish(&b);
	agile_batch_fini(&b);
	if (!err)
		err = salvo_bo_map(tile->bo, &tile->data);
	agile_strides(grid, tile->stride);
	for (d = 0; d < grid->rank; d++)
		tile->stride[d] *= field->info.element_bytes;
	if (err) {
		salvo_bo_destroy(tile->bo);
		*tile = (struct salvo_agile_tile){ .field = field };
	}
	return err;
}

int salvo_agile_tile_close(struct salvo_agile_tile *tile)
{
	struct store store = { tile, NULL, false };
	int err = 0;

	if (tile->access == SALVO_AGILE_WRITE && tile->field->agile->ranks)
		err = store_ranks(tile);
	else if (tile->access == SALVO_AGILE_WRITE && tile->bo)
		err = agile_each_block(tile->field, &tile->grid, store_block, &store);
	salvo_bo_destroy(tile->bo);
	*tile = (struct salvo_agile_tile){ .field = tile->field };
	return err;
}
