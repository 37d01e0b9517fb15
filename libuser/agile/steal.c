// SPDX-License-Identifier: MIT
/*
 * steal.c - tasks for the nodes of several ranks (A8 of CN102609244)
 *
 * All ranks know which tasks each queue has, as they know the map. What is left of a queue is two
 * numbers in one word of its owner's memory, which owner and thieves change by compare and swap:
 * the owner the top, thieves the bottom. A thief of another rank gets what it lacks, computes the
 * task and puts the result where it belongs, while the owner goes on.
 */
#include <errno.h>
#include <stdlib.h>

#include "direct.h"

#define WORD(top, bottom) ((uint64_t)(top) << 32 | (bottom))

static int each_field(struct salvo_agile_field *const *fields, unsigned int count,
		      int (*call)(struct salvo_agile_field *field))
{
	unsigned int i, k;
	int err = 0;

	for (i = 0; i < count && !err; i++) {
		for (k = 0; k < i && fields[k] != fields[i]; k++)
			;
		if (k == i)
			err = call(fields[i]);
	}
	return err;
}

static int swap(struct salvo_agile *agile, const struct agile_tasks *tasks, unsigned int node,
		uint64_t expected, uint64_t desired, uint64_t *seen)
{
	const struct agile_ranks *ranks = agile->ranks;
	const unsigned int rank = agile_rank_of(ranks, node);

	if (ranks->ops->swap(ranks->group, ranks->queue_window, rank,
			     (node - ranks->first[rank]) * sizeof(uint64_t), expected, desired,
			     seen))
		return agile_ranks_broken(agile, -EIO);
	return (uint32_t)*seen <= tasks->queues[node].bottom ? 0 :
	       agile_ranks_refuse(agile, rank, "that it has more tasks than there are");
}

int agile_steal_begin(struct salvo_agile *agile, int err, const struct agile_tasks *tasks,
		      struct salvo_agile_field *const *fields, unsigned int count)
{
	unsigned int n;

	/* Nobody accesses a queue before all have met. */
	for (n = 0; n < agile->local && !err; n++)
		agile->ranks->queues[n] = WORD(0, tasks->queues[agile->first + n].bottom);
	err = agile_agree(agile, AGILE_CALL_FORALL, err, NULL);
	if (!err)
		agile_idle(agile);
	return err ? err : each_field(fields, count, agile_access_begin);
}

int agile_steal_end(struct salvo_agile *agile, int err, struct salvo_agile_field *const *fields,
		    unsigned int count)
{
	int ended;

	if (agile->ranks->broken)
		return err;
	ended = agile_agree(agile, AGILE_CALL_FORALL, err, NULL);
	if (!ended)
		agile_idle(agile);
	if (agile->ranks->broken)
		return ended;
	err = each_field(fields, count, agile_access_end);
	return ended ? ended : err;
}

/* Take from one queue, if it has tasks. Return: 1, 0, or an error. */
static int take(struct salvo_agile *agile, const struct agile_tasks *tasks, unsigned int node,
		bool own, uint64_t word, uint32_t *number)
{
	uint64_t seen;
	int err;

	for (; word >> 32 < (uint32_t)word; word = seen) {
		const uint32_t top = word >> 32, bottom = word;
		const uint64_t next = own ? WORD(top + 1, bottom) : WORD(top, bottom - 1);

		err = swap(agile, tasks, node, word, next, &seen);
		if (err)
			return err;
		if (seen == word) {
			*number = own ? top : bottom - 1;
			return 1;
		}
	}
	return 0;
}

/* How many tasks a word says are left. */
static uint32_t left_in(uint64_t word)
{
	return word >> 32 < (uint32_t)word ? (uint32_t)word - (uint32_t)(word >> 32) : 0;
}

/*
 * As agile_tasks_take() chooses: of the queues at least half as long as the longest the one whose
 * last task lacks the fewest bytes. @words: what is left of all. Return: false if nothing is.
 */
static bool choose_queue(const struct agile_tasks *tasks, const uint64_t *words, unsigned int node,
			 agile_missing_fn missing, void *data, unsigned int *best)
{
	uint64_t least = 0;
	uint32_t most = 0;
	bool found = false;
	unsigned int n;

	for (n = 0; n < tasks->nodes; n++)
		most = left_in(words[n]) > most ? left_in(words[n]) : most;
	for (n = 0; n < tasks->nodes; n++) {
		const uint32_t left = left_in(words[n]);
		uint64_t lacks;

		if (!left || 2 * left < most)
			continue;
		lacks = missing(data, tasks->queues[n].tasks[(uint32_t)words[n] - 1], node);
		if (!found || lacks < least) {
			*best = n;
			least = lacks;
		}
		found = true;
	}
	return found;
}

int agile_steal_take(struct salvo_agile *agile, const struct agile_tasks *tasks,
		     unsigned int node, agile_missing_fn missing, void *data, uint32_t *task)
{
	uint64_t *words = calloc(agile->count, sizeof(*words));
	unsigned int n, from = node;
	uint32_t number = 0;
	int got = words ? swap(agile, tasks, node, 0, 0, &words[node]) :
			  agile_fail(agile, -ENOMEM, "out of memory");

	if (!got)
		got = take(agile, tasks, node, true, words[node], &number);
	/* A queue may be empty when it is its turn. */
	while (!got) {
		for (n = 0; n < agile->count && !got; n++)
			got = swap(agile, tasks, n, 0, 0, &words[n]);
		if (got || !choose_queue(tasks, words, node, missing, data, &from))
			break;
		got = take(agile, tasks, from, false, words[from], &number);
	}
	free(words);
	if (got > 0)
		*task = tasks->queues[from].tasks[number];
	return got;
}

int agile_steal_fetch(struct agile_fetches *fetches)
{
	unsigned int f;
	int err = 0;

	for (f = 0; f < fetches->count && !err; f++)
		err = agile_fetch_start(&fetches->all[f], false);
	for (f = 0; f < fetches->count && !err; f++)
		err = agile_steal_flush(fetches->all[f].field);
	for (f = 0; f < fetches->count && !err; f++)
		agile_fetch_finish(&fetches->all[f]);
	if (!err)
		fetches->count = 0;
	return err;
}

int agile_steal_flush(struct salvo_agile_field *field)
{
	struct salvo_agile *agile = field->agile;
	const struct agile_ranks *ranks = agile->ranks;
	unsigned int k;
	int err = 0;

	for (k = 0; k < ranks->most && !err; k++)
		err = ranks->ops->flush(ranks->group, field->windows[k]);
	return err ? agile_ranks_broken(agile, err) : 0;
}

int agile_steal_progress(struct salvo_agile *agile)
{
	return agile->ranks->ops->progress(agile->ranks->group) ?
	       agile_ranks_broken(agile, -EIO) : 0;
}
