// SPDX-License-Identifier: MIT
/*
 * map.c - resource maps: which node stores which segment (A2 of CN102609244)
 *
 * Whatever a map was made of, it is kept in one form. The edges of all segments divide the grid
 * into a lattice of cells, each of which lies in one segment or in none. So cover and overlap are
 * checked exactly, by writing each segment's number into its cells, and an index is found by one
 * binary search for each dimension.
 *
 * A map does not change. It counts references, of its creator and of the fields that have it.
 */
#include "map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node.h"

int agile_check_grid(struct salvo_agile *agile, const char *name,
		     const struct salvo_agile_grid *grid)
{
	uint64_t count = 1;
	unsigned int d;

	if (grid->rank < 1 || grid->rank > SALVO_AGILE_RANKS)
		return agile_fail(agile, -EINVAL, "%s: rank is %u, must be 1 to %u", name,
				  grid->rank, SALVO_AGILE_RANKS);
	for (d = 0; d < grid->rank; d++) {
		if (!grid->extent[d])
			return agile_fail(agile, -EINVAL, "%s: extent %u is 0", name, d);
		if (grid->offset[d] + grid->extent[d] > UINT32_MAX ||
		    grid->offset[d] + grid->extent[d] < grid->extent[d] ||
		    __builtin_mul_overflow(count, grid->extent[d], &count))
			return agile_fail(agile, -EINVAL,
					  "%s: dimension %u ends past 2^32 - 1, or all has over 2^64 indices",
					  name, d);
	}
	return 0;
}

int agile_grid_outside(const struct salvo_agile_grid *grid, const struct salvo_agile_grid *whole)
{
	unsigned int d;

	if (grid->rank != whole->rank)
		return 0;
	for (d = 0; d < whole->rank; d++)
		if (!grid->extent[d] || grid->extent[d] > whole->extent[d] ||
		    grid->offset[d] - whole->offset[d] > whole->extent[d] - grid->extent[d])
			return d;
	return -1;
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

unsigned int agile_map_part(const struct salvo_agile_map *map, unsigned int d, uint64_t at)
{
	unsigned int low = 0, high = map->parts[d];

	while (high - low > 1) {
		const unsigned int middle = (low + high) / 2;

		if (map->edges[d][middle] <= at)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* All different edges of a dimension. */
static int find_edges(struct salvo_agile_map *map, unsigned int d)
{
	uint64_t *edges = malloc(2 * map->count * sizeof(*edges));
	unsigned int i, n = 0;

	if (!edges)
		return -ENOMEM;
	for (i = 0; i < map->count; i++) {
		edges[2 * i] = map->segments[i].grid.offset[d];
		edges[2 * i + 1] = edges[2 * i] + map->segments[i].grid.extent[d];
	}
	qsort(edges, 2 * map->count, sizeof(*edges), compare);
	for (i = 0; i < 2 * map->count; i++)
		if (!n || edges[i] != edges[n - 1])
			edges[n++] = edges[i];
	map->edges[d] = edges;
	map->parts[d] = n - 1;
	return 0;
}

static int check_segment(struct salvo_agile *agile, const struct salvo_agile_map *map,
			 unsigned int number)
{
	const struct salvo_agile_segment *segment = &map->segments[number];
	unsigned int d;

	if (segment->node >= agile->count)
		return agile_fail(agile, -EINVAL, "map %s: segment %u is on node %u, must be below %u",
				  map->name, number, segment->node, agile->count);
	if (segment->grid.rank != map->grid.rank)
		return agile_fail(agile, -EINVAL, "map %s: segment %u has rank %u, the map %u",
				  map->name, number, segment->grid.rank, map->grid.rank);
	for (d = 0; d < map->grid.rank; d++) {
		const uint64_t from = segment->grid.offset[d] - map->grid.offset[d];

		if (!segment->grid.extent[d] || from > map->grid.extent[d] ||
		    segment->grid.extent[d] > map->grid.extent[d] - from)
			return agile_fail(agile, -EINVAL,
					  "map %s: segment %u is empty or not inside the map in dimension %u: %llu from %llu on, the limit is %llu",
					  map->name, number, d,
					  (unsigned long long)segment->grid.extent[d],
					  (unsigned long long)segment->grid.offset[d],
					  (unsigned long long)(map->grid.offset[d] +
							       map->grid.extent[d]));
	}
	return 0;
}

/* Write the number of a segment into its cells, which nobody else may have. */
static int fill_cells(struct salvo_agile *agile, struct salvo_agile_map *map, unsigned int number,
		      const struct salvo_agile_grid *lattice)
{
	const struct salvo_agile_grid *grid = &map->segments[number].grid;
	struct salvo_agile_grid cells = { .rank = grid->rank };
	uint64_t i, count;
	unsigned int d;

	for (d = 0; d < grid->rank; d++) {
		cells.offset[d] = agile_map_part(map, d, grid->offset[d]);
		cells.extent[d] = agile_map_part(map, d, grid->offset[d] + grid->extent[d] - 1) -
				  cells.offset[d] + 1;
	}
	count = salvo_agile_grid_count(&cells);
	for (i = 0; i < count; i++) {
		const struct salvo_agile_index at = salvo_agile_grid_index(&cells, i);
		uint32_t *cell = &map->cells[salvo_agile_grid_number(lattice, &at)];

		if (*cell)
			return agile_fail(agile, -EINVAL, "map %s: segments %u and %u overlap",
					  map->name, *cell - 1, number);
		*cell = number + 1;
	}
	return 0;
}

static int refuse_hole(struct salvo_agile *agile, const struct salvo_agile_map *map,
		       const struct salvo_agile_grid *lattice, uint64_t cell)
{
	const struct salvo_agile_index at = salvo_agile_grid_index(lattice, cell);
	unsigned long long index[SALVO_AGILE_RANKS] = { 0 };
	unsigned int d;

	for (d = 0; d < lattice->rank; d++)
		index[d] = map->edges[d][at.at[d]];
	return agile_fail(agile, -EINVAL,
			  "map %s: no segment covers the index %llu, %llu, %llu, %llu", map->name,
			  index[0], index[1], index[2], index[3]);
}

static int make_cells(struct salvo_agile *agile, struct salvo_agile_map *map)
{
	struct salvo_agile_grid lattice = { .rank = map->grid.rank };
	uint64_t cells = 1, i;
	unsigned int d;
	int err = 0;

	for (d = 0; d < map->grid.rank && !err; d++) {
		err = find_edges(map, d);
		if (err)
			return agile_fail(agile, err, "out of memory");
		cells *= map->parts[d];
		if (cells > AGILE_MOST)
			return agile_fail(agile, -E2BIG,
					  "map %s: its segments divide it into more than %u cells",
					  map->name, AGILE_MOST);
		lattice.extent[d] = map->parts[d];
	}
	map->cells = calloc(cells, sizeof(*map->cells));
	if (!map->cells)
		return agile_fail(agile, -ENOMEM, "out of memory");
	for (i = 0; i < map->count && !err; i++)
		err = fill_cells(agile, map, i, &lattice);
	for (i = 0; i < cells && !err; i++) {
		if (!map->cells[i]--)
			err = refuse_hole(agile, map, &lattice, i);
	}
	/* Inside of the map, all of it covered, so its edges are those of the grid. */
	for (d = 0; d < map->grid.rank && !err; d++)
		if (map->edges[d][0] != map->grid.offset[d] ||
		    map->edges[d][map->parts[d]] != map->grid.offset[d] + map->grid.extent[d])
			err = agile_fail(agile, -EINVAL,
					 "map %s: no segment covers an edge of dimension %u",
					 map->name, d);
	return err;
}

int agile_map_from_segments(struct salvo_agile *agile, const char *name,
			    const struct salvo_agile_grid *grid,
			    struct salvo_agile_segment *segments, unsigned int count,
			    struct salvo_agile_map **out)
{
	struct salvo_agile_map *map = calloc(1, sizeof(*map));
	unsigned int i;
	int err = 0;

	*out = NULL;
	if (!map) {
		free(segments);
		return agile_fail(agile, -ENOMEM, "out of memory");
	}
	snprintf(map->name, sizeof(map->name), "%s", name);
	map->grid = *grid;
	map->refs = 1;
	map->segments = segments;
	map->count = count;
	if (!count)
		err = agile_fail(agile, -EINVAL, "map %s: there is no segment", name);
	for (i = 0; i < count && !err; i++)
		err = check_segment(agile, map, i);
	if (!err)
		err = make_cells(agile, map);
	if (err) {
		salvo_agile_map_destroy(map);
		return err;
	}
	*out = map;
	return 0;
}

int salvo_agile_map_create_segments(struct salvo_agile *agile, const char *name,
				    const struct salvo_agile_grid *grid,
				    const struct salvo_agile_segment *segments, unsigned int count,
				    struct salvo_agile_map **out)
{
	struct salvo_agile_segment *own;
	int err = agile_check_grid(agile, name, grid);

	*out = NULL;
	if (err)
		return err;
	if (count > AGILE_MOST)
		return agile_fail(agile, -E2BIG, "map %s: %u segments, at most %u", name, count,
				  AGILE_MOST);
	own = malloc((count + 1) * sizeof(*own));
	if (!own)
		return agile_fail(agile, -ENOMEM, "out of memory");
	if (count)
		memcpy(own, segments, count * sizeof(*own));
	return agile_map_from_segments(agile, name, grid, own, count, out);
}

void salvo_agile_map_destroy(struct salvo_agile_map *map)
{
	unsigned int d;

	if (!map || --map->refs)
		return;
	for (d = 0; d < SALVO_AGILE_RANKS; d++)
		free(map->edges[d]);
	free(map->cells);
	free(map->segments);
	free(map);
}

unsigned int salvo_agile_map_count(const struct salvo_agile_map *map)
{
	return map->count;
}

const struct salvo_agile_segment *salvo_agile_map_segment(const struct salvo_agile_map *map,
							  unsigned int number)
{
	return number < map->count ? &map->segments[number] : NULL;
}

int salvo_agile_map_find(const struct salvo_agile_map *map, const struct salvo_agile_index *index)
{
	uint64_t cell = 0;
	unsigned int d;

	if (!salvo_agile_grid_contains(&map->grid, index))
		return -ENOENT;
	for (d = 0; d < map->grid.rank; d++)
		cell = cell * map->parts[d] + agile_map_part(map, d, index->at[d]);
	return map->cells[cell];
}
