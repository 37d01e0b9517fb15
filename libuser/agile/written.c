// SPDX-License-Identifier: MIT
/*
 * written.c - blocks that views have written, for other ranks
 *
 * Each rank keeps a list of them, each block once. Where all ranks wait for each other
 * (salvo_agile_wait()) and one of them has such a list all exchange theirs.
 */
#include <errno.h>
#include <stdlib.h>

#include "ranks.h"
#include "view.h"

int agile_block_written(struct salvo_agile_field *field, uint32_t block)
{
	struct salvo_agile *agile = field->agile;
	struct agile_written *all;

	if (!agile->ranks || field->blocks[block].written)
		return 0;
	all = realloc(agile->written, (agile->written_count + 1) * sizeof(*all));
	if (!all)
		return agile_fail(agile, -ENOMEM, "out of memory");
	all[agile->written_count++] = (struct agile_written){ field->number, block };
	agile->written = all;
	field->blocks[block].written = true;
	return 0;
}

static void forget(struct salvo_agile *agile, const struct agile_written *written)
{
	struct salvo_agile_field *field = agile->fields;

	while (field && field->number != written->field)
		field = field->next;
	/* It may be destroyed. */
	if (!field)
		return;
	field->blocks[written->block].written = false;
	agile_invalidate(field, written->block);
}

int agile_tell_written(struct salvo_agile *agile)
{
	const unsigned int ranks = agile->ranks->count;
	uint32_t *counts = calloc(ranks, sizeof(*counts)), most = 0, i;
	struct agile_written *mine, *all = NULL;
	unsigned int r;
	int err = counts ? agile_gather(agile, &agile->written_count, sizeof(*counts), counts) :
			   -ENOMEM;

	for (r = 0; r < ranks && !err; r++)
		most = counts[r] > most ? counts[r] : most;
	mine = realloc(agile->written, (most + 1) * sizeof(*mine));
	if (mine)
		agile->written = mine;
	all = calloc((size_t)ranks * most + 1, sizeof(*all));
	if (!err)
		err = mine && all ? agile_gather(agile, mine, most * sizeof(*mine), all) : -ENOMEM;
	for (r = 0; r < ranks && !err; r++)
		for (i = 0; i < counts[r]; i++)
			forget(agile, &all[(size_t)r * most + i]);
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
