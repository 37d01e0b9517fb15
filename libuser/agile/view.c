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
 * Writing goes to the owners' memory, after all that reads or writes it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "move.h"

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

	for (n = 0; access == SALVO_AGILE_WRITE && n < field->agile->count && !err; n++)
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

/* The block's part for reading: brought to the view's node. */
static int bring_block(struct salvo_agile_view *view, uint32_t block, struct agile_part *part)
{
	struct agile_producers producers = { 0 };
	struct agile_batch b;
	int err = agile_batch_init(&b, view->field->agile, view->node, false);

	if (!err)
		err = agile_bring(&b, view->field, block, part, &producers);
	if (!err)
		err = finish(&b);
	agile_batch_fini(&b);
	if (!err)
		err = wait_storage(view->field, agile_block_node(view->field, block),
				   SALVO_AGILE_READ);
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

struct store {
	struct salvo_agile_tile *tile;
	uint8_t *from;
};

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
	int err = agile_block_part(field, block, owner, &part);

	if (!err)
		err = wait_storage(field, owner, SALVO_AGILE_WRITE);
	if (!err)
		err = salvo_bo_map(part.bo, (void **)&map);
	if (err)
		return err;
	for (i = 0; i < count; i++) {
		const struct salvo_agile_index at = salvo_agile_grid_index(common, i * row);
		const uint8_t *from = store->from;
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

int salvo_agile_tile_open(struct salvo_agile_field *field, unsigned int node,
			  const struct salvo_agile_grid *grid, int access,
			  struct salvo_agile_tile *tile)
{
	struct agile_producers producers = { 0 };
	struct salvo_agile_grid inside;
	struct agile_part part, own;
	struct agile_batch b;
	unsigned int d, n;
	int err = check_node(field->agile, node);

	*tile = (struct salvo_agile_tile){ .grid = *grid, .field = field, .access = access };
	if (err)
		return err;
	if (grid->rank != field->map->grid.rank ||
	    !salvo_agile_grid_intersect(grid, &field->map->grid, &inside) ||
	    salvo_agile_grid_count(&inside) != salvo_agile_grid_count(grid))
		return agile_fail(field->agile, -EINVAL, "field %s: the tile is not inside of map %s",
				  field->name, field->map->name);
	err = agile_batch_init(&b, field->agile, node, false);
	if (!err)
		err = agile_region(&b, field, grid, &part, &producers);
	own = part;
	own.offset = 0;
	agile_strides(grid, own.stride);
	/* A tile of its own, so that the field may change while it is open. */
	if (!err)
		err = salvo_bo_create(field->agile->nodes[node].device,
				      salvo_agile_grid_count(grid) * field->info.element_bytes, 0,
				      &tile->bo);
	own.bo = tile->bo;
	if (!err)
		err = agile_batch_room(&b, producers.count + 4);
	if (!err) {
		const unsigned int first = salvo_batch_count(b.batch);
		unsigned int end, i;

		err = agile_copy_part(&b, &own, &part, grid, field->info.element_bytes);
		end = salvo_batch_count(b.batch);
		for (i = first; i < end && !err; i++)
			err = agile_order(&b, &producers, i);
	}
	/* The node's queue orders its own memory; what others wrote is waited for. */
	for (n = 0; n < field->agile->count && !err; n++)
		if (field->storage[n].bytes)
			err = agile_wait_time(field->agile, n, &field->storage[n].written);
	if (!err)
		err = finish(&b);
	agile_batch_fini(&b);
	if (!err)
		err = salvo_bo_map(tile->bo, &tile->data);
	for (d = 0; d < grid->rank; d++)
		tile->stride[d] = own.stride[d] * field->info.element_bytes;
	if (err) {
		salvo_bo_destroy(tile->bo);
		tile->bo = NULL;
	}
	return err;
}

int salvo_agile_tile_close(struct salvo_agile_tile *tile)
{
	struct store store = { tile, tile->data };
	int err = 0;

	if (!tile->bo)
		return 0;
	if (tile->access == SALVO_AGILE_WRITE)
		err = agile_each_block(tile->field, &tile->grid, store_block, &store);
	salvo_bo_destroy(tile->bo);
	tile->bo = NULL;
	tile->data = NULL;
	return err;
}
