// SPDX-License-Identifier: MIT
/*
 * written.c - blocks that views have written, for other ranks
 *
 * Each rank keeps a list of them, each block once. Where all ranks wait for each other
 * (salvo_agile_wait()) and one of them has such a list all exchange theirs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ranks.h"
#include "view.h"

int agile_block_written(struct salvo_agile_field *field, uint32_t block)
{
	struct salvo_agile *agile = field->agile;
	struct agile_written *all;

	if (!agile->ranks || field->blocks[block].written)
		return 0;
	if (agile->written_count == AGILE_MOST)
		return agile_fail(agile, -E2BIG,
				  "field %s: views have written %u blocks since salvo_agile_wait()",
				  field->name, AGILE_MOST);
	all = realloc(agile->written, (agile->written_count + 1) * sizeof(*all));
	if (!all)
		return agile_fail(agile, -ENOMEM, "out of memory");
	all[agile->written_count++] = (struct agile_written){ field->number, block };
	agile->written = all;
	field->blocks[block].written = true;
	return 0;
}

static int forget(struct salvo_agile *agile, unsigned int rank,
		  const struct agile_written *written)
{
	struct salvo_agile_field *field = agile->fields;

	while (field && field->number != written->field)
		field = field->next;
	/* It may be destroyed. */
	if (!field)
		return 0;
	if (written->block >= field->block_count)
		return agile_ranks_refuse(agile, rank, "that it wrote a block that is not there");
	field->blocks[written->block].written = false;
	agile_invalidate(field, written->block);
	return 0;
}

int agile_tell_written(struct salvo_agile *agile)
{
	const unsigned int ranks = agile->ranks->count;
	uint32_t *counts = calloc(ranks, sizeof(*counts)), most = 0, i;
	struct agile_written *mine, *all = NULL;
	unsigned int r;
	int err = counts ? agile_gather(agile, &agile->written_count, sizeof(*counts), counts) :
			   -ENOMEM;

	for (r = 0; r < ranks && !err; r++) {
		most = counts[r] > most ? counts[r] : most;
		if (most > AGILE_MOST)
			err = agile_ranks_refuse(agile, r, "that it wrote too many blocks");
	}
	mine = err ? NULL : realloc(agile->written, ((size_t)most + 1) * sizeof(*mine));
	if (mine) {
		agile->written = mine;
		memset(mine + agile->written_count, 0,
		       (most - agile->written_count) * sizeof(*mine));
	}
	all = err ? NULL : calloc((size_t)ranks * most + 1, sizeof(*all));
	if (!err)
		err = mine && all ? agile_gather(agile, mine, most * sizeof(*mine), all) : -ENOMEM;
	for (r = 0; r < ranks && !err; r++)
		for (i = 0; i < counts[r] && !err; i++)
			err = forget(agile, r, &all[(size_t)r * most + i]);
	agile->written_count = 0;
	free(counts);
	free(all);
	/* The others wait for this rank's list. */
	if (err == -ENOMEM) {
		agile->ranks->broken = true;
		agile_fail(agile, err, "out of memory");
	}
	return err;
}
