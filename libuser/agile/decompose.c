// SPDX-License-Identifier: MIT
/*
 * decompose.c - regular maps (A3 of CN102609244)
 *
 * All are made of boxes. Bands come from split points in proportion to the weights. Turns go to the
 * node that is furthest behind its share: with equal weights that is 0, 1, 2, ... over and over.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "map.h"
#include "node.h"

struct shares {
	const uint32_t *weights;
	uint64_t total;
	unsigned int nodes;
};

static uint64_t weight(const struct shares *shares, unsigned int node)
{
	return shares->weights ? shares->weights[node] : 1;
}

/* Where the share of the nodes from @first up to before @node ends. */
static uint64_t split(const struct shares *shares, unsigned int first, unsigned int end,
		      unsigned int node, uint64_t extent)
{
	uint64_t before = 0, all = 0;
	unsigned int i;

	for (i = first; i < end; i++) {
		all += weight(shares, i);
		before += i < node ? weight(shares, i) : 0;
	}
	/* To the nearest; a row of nodes without weight gets nothing. */
	return all ? ((unsigned __int128)extent * before + all / 2) / all : 0;
}

/* Deal @count segments out in turn. */
static int deal(const struct shares *shares, struct salvo_agile_segment *segments, uint64_t count)
{
	int64_t *credit = calloc(shares->nodes, sizeof(*credit));
	unsigned int n, best;
	uint64_t i;

	if (!credit)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		for (n = 0, best = 0; n < shares->nodes; n++) {
			credit[n] += weight(shares, n);
			if (credit[n] > credit[best])
				best = n;
		}
		credit[best] -= shares->total;
		segments[i].node = best;
	}
	free(credit);
	return 0;
}

/* Bands of dimension @d, one for each node that gets something. */
static unsigned int make_bands(const struct shares *shares, const struct salvo_agile_grid *grid,
			       unsigned int d, struct salvo_agile_segment *segments)
{
	unsigned int node, count = 0;

	for (node = 0; node < shares->nodes; node++) {
		const uint64_t from = split(shares, 0, shares->nodes, node, grid->extent[d]);
		const uint64_t to = split(shares, 0, shares->nodes, node + 1, grid->extent[d]);

		if (from == to)
			continue;
		segments[count].grid = *grid;
		segments[count].grid.offset[d] += from;
		segments[count].grid.extent[d] = to - from;
		segments[count++].node = node;
	}
	return count;
}

/* Bands of dimension @d for as many nodes as make a row, and in each a box for each of them. */
static unsigned int make_boxes(const struct shares *shares, const struct salvo_agile_grid *grid,
			       unsigned int d, unsigned int other,
			       struct salvo_agile_segment *segments)
{
	unsigned int across = 1, first, node, count = 0;

	/* The divisor of the number of nodes that is nearest to its root. */
	for (node = 1; node * node <= shares->nodes; node++)
		if (shares->nodes % node == 0)
			across = shares->nodes / node;
	for (first = 0; first < shares->nodes; first += across) {
		const uint64_t from = split(shares, 0, shares->nodes, first, grid->extent[d]);
		const uint64_t to = split(shares, 0, shares->nodes, first + across,
					  grid->extent[d]);

		for (node = first; node < first + across; node++) {
			const uint64_t left = split(shares, first, first + across, node,
						    grid->extent[other]);
			const uint64_t right = split(shares, first, first + across, node + 1,
						     grid->extent[other]);

			if (from == to || left == right)
				continue;
			segments[count].grid = *grid;
			segments[count].grid.offset[d] += from;
			segments[count].grid.extent[d] = to - from;
			segments[count].grid.offset[other] += left;
			segments[count].grid.extent[other] = right - left;
			segments[count++].node = node;
		}
	}
	return count;
}

/* Boxes of @block, numbered by rows or by columns. */
static void make_cyclic(const struct salvo_agile_grid *grid, const uint64_t *block, bool columns,
			const struct salvo_agile_grid *numbers,
			struct salvo_agile_segment *segments, uint64_t count)
{
	const unsigned int last = grid->rank - 1;
	uint64_t i;
	unsigned int d;

	for (i = 0; i < count; i++) {
		struct salvo_agile_index at = salvo_agile_grid_index(numbers, i);

		if (columns) {
			const uint64_t first = at.at[0];

			at.at[0] = at.at[last];
			at.at[last] = first;
		}
		segments[i].grid = *grid;
		for (d = 0; d < grid->rank; d++) {
			const uint64_t rest = grid->extent[d] - at.at[d] * block[d];

			segments[i].grid.offset[d] += at.at[d] * block[d];
			segments[i].grid.extent[d] = rest < block[d] ? rest : block[d];
		}
	}
}

static int map_cyclic(struct salvo_agile *agile, const char *name,
		      const struct salvo_agile_grid *grid,
		      const struct salvo_agile_decomposition *how, const struct shares *shares,
		      struct salvo_agile_map **out)
{
	struct salvo_agile_grid numbers = { .rank = grid->rank };
	const unsigned int last = grid->rank - 1, turn = how->columns ? last : 0;
	struct salvo_agile_segment *segments;
	uint64_t block[SALVO_AGILE_RANKS], count = 1;
	unsigned int d;

	for (d = 0; d < grid->rank; d++) {
		block[d] = how->kind == SALVO_AGILE_CYCLIC ? d == turn : how->block[d];
		if (!block[d])
			block[d] = grid->extent[d];
		numbers.extent[d] = (grid->extent[d] - 1) / block[d] + 1;
		if (__builtin_mul_overflow(count, numbers.extent[d], &count) || count > AGILE_MOST)
			return agile_fail(agile, -E2BIG, "map %s: more than %u segments", name,
					  AGILE_MOST);
	}
	if (how->columns) {
		const uint64_t first = numbers.extent[0];

		numbers.extent[0] = numbers.extent[last];
		numbers.extent[last] = first;
	}
	segments = calloc(count, sizeof(*segments));
	if (!segments)
		return agile_fail(agile, -ENOMEM, "out of memory");
	make_cyclic(grid, block, how->columns, &numbers, segments, count);
	if (deal(shares, segments, count)) {
		free(segments);
		return agile_fail(agile, -ENOMEM, "out of memory");
	}
	return agile_map_from_segments(agile, name, grid, segments, count, out);
}

static int check_decomposition(struct salvo_agile *agile, const char *name,
			       const struct salvo_agile_decomposition *how, struct shares *shares)
{
	unsigned int i;

	if (how->kind > SALVO_AGILE_BLOCK_CYCLIC)
		return agile_fail(agile, -EINVAL, "map %s: there is no decomposition %u", name,
				  how->kind);
	if (how->columns > 1)
		return agile_fail(agile, -EINVAL, "map %s: columns is %u, must be 0 or 1", name,
				  how->columns);
	shares->nodes = how->nodes ? how->nodes : agile->count;
	shares->weights = how->weights;
	if (shares->nodes > agile->count)
		return agile_fail(agile, -EINVAL, "map %s: %u nodes, at most %u", name,
				  shares->nodes, agile->count);
	for (i = 0; i < shares->nodes; i++)
		shares->total += weight(shares, i);
	if (!shares->total)
		return agile_fail(agile, -EINVAL, "map %s: all weights are 0", name);
	return 0;
}

int salvo_agile_map_create(struct salvo_agile *agile, const char *name,
			   const struct salvo_agile_grid *grid,
			   const struct salvo_agile_decomposition *how,
			   struct salvo_agile_map **out)
{
	struct salvo_agile_segment *segments;
	struct shares shares = { 0 };
	unsigned int first, last, count;
	int err = agile_check_grid(agile, name, grid);

	*out = NULL;
	if (!err)
		err = check_decomposition(agile, name, how, &shares);
	if (err)
		return err;
	if (how->kind == SALVO_AGILE_CYCLIC || how->kind == SALVO_AGILE_BLOCK_CYCLIC)
		return map_cyclic(agile, name, grid, how, &shares, out);
	segments = calloc(shares.nodes, sizeof(*segments));
	if (!segments)
		return agile_fail(agile, -ENOMEM, "out of memory");
	first = how->columns ? grid->rank - 1 : 0;
	last = grid->rank - 1 - first;
	if (how->kind == SALVO_AGILE_BLOCK || grid->rank == 1)
		count = make_bands(&shares, grid, first, segments);
	else
		count = make_boxes(&shares, grid, first, last, segments);
	return agile_map_from_segments(agile, name, grid, segments, count, out);
}

int salvo_agile_map_create_splits(struct salvo_agile *agile, const char *name,
				  const struct salvo_agile_grid *grid,
				  const uint64_t *const splits[], const unsigned int counts[],
				  const uint32_t *nodes, struct salvo_agile_map **out)
{
	struct salvo_agile_grid numbers = { .rank = grid->rank };
	struct salvo_agile_segment *segments;
	uint64_t count = 1, i;
	unsigned int d, n;
	int err = agile_check_grid(agile, name, grid);

	*out = NULL;
	if (err)
		return err;
	for (d = 0; d < grid->rank; d++) {
		for (n = 0; n < counts[d]; n++)
			if (splits[d][n] <= (n ? splits[d][n - 1] : grid->offset[d]) ||
			    splits[d][n] >= grid->offset[d] + grid->extent[d])
				return agile_fail(agile, -EINVAL,
						  "map %s: split point %u of dimension %u is %llu, not between the one before and the end",
						  name, n, d, (unsigned long long)splits[d][n]);
		numbers.extent[d] = (uint64_t)counts[d] + 1;
		if (__builtin_mul_overflow(count, numbers.extent[d], &count) || count > AGILE_MOST)
			return agile_fail(agile, -E2BIG, "map %s: more than %u segments", name,
					  AGILE_MOST);
	}
	segments = calloc(count, sizeof(*segments));
	if (!segments)
		return agile_fail(agile, -ENOMEM, "out of memory");
	for (i = 0; i < count; i++) {
		const struct salvo_agile_index at = salvo_agile_grid_index(&numbers, i);

		segments[i].grid.rank = grid->rank;
		segments[i].node = nodes ? nodes[i] : i % agile->count;
		for (d = 0; d < grid->rank; d++) {
			const uint64_t k = at.at[d];
			const uint64_t from = k ? splits[d][k - 1] : grid->offset[d];
			const uint64_t to = k < counts[d] ? splits[d][k] :
					    grid->offset[d] + grid->extent[d];

			segments[i].grid.offset[d] = from;
			segments[i].grid.extent[d] = to - from;
		}
	}
	return agile_map_from_segments(agile, name, grid, segments, count, out);
}
