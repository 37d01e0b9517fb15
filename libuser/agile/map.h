/* SPDX-License-Identifier: MIT */
/*
 * map.h - resource maps
 */
#ifndef SALVO_AGILE_INTERNAL_MAP_H
#define SALVO_AGILE_INTERNAL_MAP_H

#include "salvo_agile.h"

#define AGILE_MOST (1u << 24)

/**
 * struct salvo_agile_map - A lattice of cells, each inside of one segment.
 */
struct salvo_agile_map {
	struct salvo_agile_grid grid;
	unsigned int refs;
	/**
	 * @edges: For each dimension @parts + 1 ascending indices, from the grid's first to its
	 * end.
	 */
	uint64_t *edges[SALVO_AGILE_RANKS];
	unsigned int parts[SALVO_AGILE_RANKS];
	/** @cells: Segment of each cell, row-major. */
	uint32_t *cells;
	struct salvo_agile_segment *segments;
	unsigned int count;
	char name[64];
};

/** agile_check_grid() - Is this a grid? Return: 0, or -EINVAL with a message for @name. */
int agile_check_grid(struct salvo_agile *agile, const char *name,
		     const struct salvo_agile_grid *grid);

/**
 * agile_grid_outside() - Has @whole all of a grid, which may be anything?
 * Return: -1 if so, else the dimension in which it has not, or 0 if the rank is another one.
 */
int agile_grid_outside(const struct salvo_agile_grid *grid, const struct salvo_agile_grid *whole);

/** agile_map_part() - The part of dimension @d that holds an index inside the grid. */
unsigned int agile_map_part(const struct salvo_agile_map *map, unsigned int d, uint64_t at);

/** agile_map_from_segments() - A map that takes over @segments, also if it fails. */
int agile_map_from_segments(struct salvo_agile *agile, const char *name,
			    const struct salvo_agile_grid *grid,
			    struct salvo_agile_segment *segments, unsigned int count,
			    struct salvo_agile_map **out);

#endif
