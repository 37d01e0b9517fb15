// SPDX-License-Identifier: MIT
/*
 * tile.c - parts of a field for the application (A6 of CN102609244: partial global view)
 *
 * A tile is decided once: all blocks of a region move, and what is in several of them is put
 * together. Then the elements are plain memory. Writing goes to the owners' memory, after all that
 * reads or writes it.
 *
 * Over several ranks a tile is opened by all of them, and so is one that was written closed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "direct.h"
#include "move.h"
#include "view.h"

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

/* Does another rank store this part of another rank's block? */
static bool store_elsewhere(const struct store *store, uint32_t block,
			    const struct salvo_agile_grid *common)
{
	const struct salvo_agile_field *field = store->tile->field;
	const struct agile_ranks *ranks = field->agile->ranks;
	const unsigned int owner = agile_block_node(field, block);
	unsigned int r;

	for (r = 0; r < ranks->count; r++)
		if ((r < ranks->rank ||
		     (owner >= ranks->first[r] && owner < ranks->first[r + 1])) &&
		    has_all(&store->grids[r], common))
			return true;
	return false;
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
	if (store->remote && store_elsewhere(store, block, common))
		return 0;
	if (!agile_reaches(field, owner)) {
		const struct agile_part from = part_of_tile(store->tile);

		return agile_put(field, block, common, &from, store->tile->data);
	}
	err = agile_block_part(field, block, store->remote ? field->agile->first : owner, &part);
	if (!err)
		err = agile_wait_storage(field, owner, SALVO_AGILE_WRITE);
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
		err = agile_wait_storage(field, n, SALVO_AGILE_WRITE);
	if (!err)
		err = agile_wait_lent(field);
	err = agile_agree_with(agile, AGILE_CALL_TILE_CLOSE, err, NULL, &tile->grid,
			       sizeof(*grids), grids);
	for (r = 0; r < agile->ranks->count && !err; r++)
		if (grids[r].rank && agile_grid_outside(&grids[r], &field->map->grid) >= 0)
			err = agile_ranks_refuse(agile, r, "a tile that is not inside of the map");
	if (err) {
		free(grids);
		return err;
	}
	if (tile->bo)
		err = agile_each_block(field, &tile->grid, store_block, &store);
	store.remote = true;
	if (!err && tile->bo)
		err = agile_access_begin(field);
	if (!err && tile->bo) {
		const int stored = agile_each_block(field, &tile->grid, store_block, &store);

		err = agile_access_end(field);
		err = stored ? stored : err;
	}
	err = agile_agree(agile, AGILE_CALL_TILE_CLOSE, err, NULL);
	field->dirty = field->lent = 0;
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
	err = err < 0 ? err : 0;
	/* All ranks meet here, also if nothing is to be waited for. */
	if (agile_dirty(field))
		err = agile_settle(field->agile, AGILE_CALL_TILE_OPEN, err, &field, 1, NULL);
	else
		err = agile_agree(field->agile, AGILE_CALL_TILE_OPEN, err, NULL);
	err = agile_fetch_run(field->agile, err, &fetches);
	agile_lend(field);
	agile_fetch_fini(&fetches);
	return err;
}

static int check_tile(struct salvo_agile_field *field, unsigned int node,
		      const struct salvo_agile_grid *grid)
{
	const int err = agile_check_node(field->agile, node);

	if (err)
		return err;
	if (grid)
		return agile_check_inside(field, "tile", grid);
	if (!field->agile->ranks)
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
	struct agile_span span;
	int err = agile_region(b, field, &tile->grid, &part, &producers);

	if (!err)
		err = salvo_bo_create(field->agile->nodes[b->node].device,
				      salvo_agile_grid_count(&tile->grid) *
				      field->info.element_bytes, 0, &tile->bo);
	own = part_of_tile(tile);
	return err ? err : agile_copy_part(b, &own, &part, &tile->grid, field->info.element_bytes,
					   &producers, &span);
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
		err = agile_batch_finish(&b);
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
