/* SPDX-License-Identifier: MIT */
/* random_field.h - random maps and fields, the same for the same seed */
#ifndef RANDOM_FIELD_H
#define RANDOM_FIELD_H

#include "agile_test.h"

/* Cut the grid in two at random, again and again. */
static inline struct salvo_agile_map *random_map(struct salvo_agile *agile, uint64_t *seed,
						 const struct salvo_agile_grid *grid)
{
	struct salvo_agile_segment segments[12];
	const unsigned int nodes = salvo_agile_nodes(agile, NULL, NULL);
	unsigned int count = 1, tries;
	struct salvo_agile_map *map;

	segments[0] = (struct salvo_agile_segment){ *grid, pick(seed, nodes) };
	for (tries = pick(seed, 12); tries && count < 12; tries--) {
		struct salvo_agile_grid *part = &segments[pick(seed, count)].grid;
		const unsigned int d = pick(seed, grid->rank);
		uint64_t at;

		if (part->extent[d] < 2)
			continue;
		at = 1 + pick(seed, part->extent[d] - 1);
		segments[count] = (struct salvo_agile_segment){ *part, pick(seed, nodes) };
		segments[count].grid.offset[d] += at;
		segments[count++].grid.extent[d] -= at;
		part->extent[d] = at;
	}
	if (!salvo_agile_map_create_segments(agile, "random", grid, segments, count, &map))
		return map;
	printf("# %s\n", salvo_agile_error(agile));
	return NULL;
}

static inline struct salvo_agile_field *random_field(struct salvo_agile *agile, uint64_t *seed,
						     const struct salvo_agile_grid *grid,
						     size_t element)
{
	struct salvo_agile_map *map = random_map(agile, seed, grid);
	struct salvo_agile_field_info info = { .element_bytes = element };
	struct salvo_agile_field *field = NULL;

	for (unsigned int d = 0; d < grid->rank; d++)
		info.memory_block[d] = pick(seed, 9);
	if (map && salvo_agile_field_create(agile, "F", map, &info, &field))
		printf("# %s\n", salvo_agile_error(agile));
	salvo_agile_map_destroy(map);
	return field;
}

#endif
