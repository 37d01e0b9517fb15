// SPDX-License-Identifier: MIT
/*
 * node.c - compute nodes, and the batches that are made for them
 *
 * A node has two queues of its device: statements go to one, and run one after the other;
 * transfers ahead of a statement go to the other, beside it. Between nodes fences order batches.
 * What a batch waits for is the last fence that a node had before the statement began, so that
 * the batches of one statement do not wait for each other. A fence of another device goes there
 * as a file descriptor; one of an embedded GPU is waited for before a batch for the driver.
 */
#include "node.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "direct.h"
#include "move.h"
#include "shared.h"
#include "view.h"

int agile_fail(struct salvo_agile *agile, int err, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(agile->error, sizeof(agile->error), format, ap);
	va_end(ap);
	return err;
}

/* The nodes of this process. */
static int make_nodes(struct salvo_agile *agile, const struct salvo_agile_node *nodes)
{
	unsigned int i;
	int err = 0;

	agile->nodes = calloc(agile->count, sizeof(*agile->nodes));
	if (!agile->nodes)
		return -ENOMEM;
	for (i = 0; nodes && i < agile->local && !err; i++) {
		struct agile_node *node = &agile->nodes[agile->first + i];
		struct salvo_device_info info;

		node->device = nodes[i].device;
		salvo_device_get_info(node->device, &info);
		node->max_commands = info.max_commands;
		err = salvo_queue_create(node->device, nodes[i].eu_mask, &node->queue);
		if (!err)
			err = salvo_queue_create(node->device, nodes[i].eu_mask, &node->mover);
	}
	if (nodes && !err)
		err = agile_shared_needed(agile->nodes + agile->first, agile->local,
					  &agile->shared);
	return err;
}

static int create(const struct salvo_agile_node *nodes, unsigned int count, const char *plugin,
		  struct salvo_agile **out)
{
	struct salvo_agile *agile;
	int err = 0;

	*out = NULL;
	if (!count || count > AGILE_MOST_NODES)
		return -EINVAL;
	agile = calloc(1, sizeof(*agile));
	if (!agile)
		return -ENOMEM;
	agile->planning = !nodes;
	agile->idle = 1;
	agile->count = agile->local = count;
	if (plugin)
		err = agile_ranks_join(agile, plugin, count);
	if (!err)
		err = agile_agree(agile, AGILE_CALL_CREATE, make_nodes(agile, nodes), NULL);
	if (err) {
		salvo_agile_destroy(agile);
		return err;
	}
	*out = agile;
	return 0;
}

int salvo_agile_create(const struct salvo_agile_node *nodes, unsigned int count,
		       struct salvo_agile **out)
{
	return create(nodes, count, NULL, out);
}

int salvo_agile_create_ranks(const char *plugin, const struct salvo_agile_node *nodes,
			     unsigned int count, struct salvo_agile **out)
{
	if (!plugin)
		plugin = secure_getenv("SALVO_AGILE_PLUGIN");
	if (!nodes && plugin) {
		*out = NULL;
		return -EINVAL;
	}
	return create(nodes, count, plugin, out);
}

unsigned int salvo_agile_ranks(const struct salvo_agile *agile)
{
	return agile->ranks ? agile->ranks->count : 1;
}

unsigned int salvo_agile_rank(const struct salvo_agile *agile)
{
	return agile->ranks ? agile->ranks->rank : 0;
}

unsigned int salvo_agile_nodes(const struct salvo_agile *agile, unsigned int *first,
			       unsigned int *local)
{
	if (first)
		*first = agile->first;
	if (local)
		*local = agile->local;
	return agile->count;
}

void salvo_agile_destroy(struct salvo_agile *agile)
{
	unsigned int i, q;

	if (!agile)
		return;
	for (i = 0; agile->nodes && i < agile->count; i++)
		for (q = 0; q < 2; q++)
			if (agile->nodes[i].last[q])
				salvo_fence_wait(agile->nodes[i].last[q], -1);
	agile_agree(agile, AGILE_CALL_DESTROY, 0, NULL);
	agile_ranks_leave(agile);
	for (i = 0; agile->nodes && i < agile->count; i++) {
		for (q = 0; q < 2; q++)
			if (agile->nodes[i].last[q])
				salvo_fence_destroy(agile->nodes[i].last[q]);
		if (agile->nodes[i].queue)
			salvo_queue_destroy(agile->nodes[i].queue);
		if (agile->nodes[i].mover)
			salvo_queue_destroy(agile->nodes[i].mover);
	}
	free(agile->written);
	free(agile->nodes);
	free(agile);
}

const char *salvo_agile_error(const struct salvo_agile *agile)
{
	return agile->error;
}

int salvo_agile_get_stats(const struct salvo_agile *agile, unsigned int node,
			  struct salvo_agile_stats *stats)
{
	if (node >= agile->count)
		return -EINVAL;
	*stats = agile->nodes[node].stats;
	return 0;
}

static int wait_queues(struct salvo_agile *agile, unsigned int first)
{
	unsigned int i, q;
	int err = 0;

	for (i = 0; i < agile->count; i++)
		for (q = first; q < 2; q++) {
			struct salvo_fence *fence = agile->nodes[i].last[q];
			const int ended = fence ? salvo_fence_wait(fence, -1) : 0;

			if (ended && !err)
				err = agile_fail(agile, ended, "node %u: %s", i,
						 strerror(-ended));
		}
	return err;
}

/* Meet the others, and learn what their nodes have done. */
static int meet_idle(struct salvo_agile *agile, int err, struct salvo_agile_stats *all)
{
	const struct agile_ranks *ranks = agile->ranks;
	const size_t bytes = ranks->most * sizeof(struct salvo_agile_stats);
	struct salvo_agile_stats *mine = all + (size_t)ranks->count * ranks->most;
	uint32_t flags = agile->written_count > 0;
	unsigned int r, n;

	for (n = 0; n < agile->local; n++)
		mine[n] = agile->nodes[agile->first + n].stats;
	err = agile_agree_with(agile, AGILE_CALL_WAIT, err, &flags, mine, bytes, all);
	if (!err && flags)
		err = agile_tell_written(agile);
	if (!err)
		agile_idle(agile);
	for (r = 0; r < ranks->count && !err; r++)
		for (n = ranks->first[r]; n < ranks->first[r + 1]; n++)
			agile->nodes[n].stats = all[(size_t)r * ranks->most + n - ranks->first[r]];
	return err;
}

int salvo_agile_wait(struct salvo_agile *agile)
{
	const struct agile_ranks *ranks = agile->ranks;
	struct salvo_agile_stats *all = NULL;
	int err = wait_queues(agile, 0);

	if (!ranks)
		return err;
	if (!err)
		err = agile_views_put(agile);
	all = calloc((size_t)(ranks->count + 1) * ranks->most, sizeof(*all));
	err = all ? meet_idle(agile, err, all) :
		    agile_agree(agile, AGILE_CALL_WAIT,
				agile_fail(agile, -ENOMEM, "out of memory"), NULL);
	free(all);
	return err;
}

int salvo_agile_wait_moves(struct salvo_agile *agile)
{
	return wait_queues(agile, 1);
}

int agile_wait_queues(struct salvo_agile *agile)
{
	return wait_queues(agile, 0);
}

bool agile_reached(struct agile_node *node, const struct agile_time *time)
{
	return (!time->main || salvo_queue_completed(node->queue) >= time->main) &&
	       (!time->mover || salvo_queue_completed(node->mover) >= time->mover);
}

static int wait_queue(struct salvo_queue *queue, uint64_t value)
{
	const uint64_t submitted = salvo_queue_submitted(queue);

	if (!submitted)
		return 0;
	return salvo_queue_wait(queue, value < submitted ? value : submitted, -1);
}

int agile_wait_time(struct salvo_agile *agile, unsigned int n, const struct agile_time *time)
{
	struct agile_node *node = &agile->nodes[n];
	int err = 0;

	/* A batch that could not be submitted is not waited for. */
	if (time->main)
		err = wait_queue(node->queue, time->main);
	if (!err && time->mover)
		err = wait_queue(node->mover, time->mover);
	return err ? agile_fail(agile, err, "node %u: %s", n, strerror(-err)) : 0;
}

void agile_end_statement(struct salvo_agile *agile)
{
	unsigned int i, q;

	for (i = 0; i < agile->count; i++)
		for (q = 0; q < 2; q++) {
			struct agile_node *node = &agile->nodes[i];

			if (!node->next[q])
				continue;
			if (node->last[q])
				salvo_fence_destroy(node->last[q]);
			node->last[q] = node->next[q];
			node->next[q] = NULL;
		}
}

/* --- batches ------------------------------------------------------------------ */

int agile_batch_init(struct agile_batch *b, struct salvo_agile *agile, unsigned int node,
		     bool mover)
{
	int err;

	*b = (struct agile_batch){ .agile = agile, .node = node, .mover = mover,
				   .serial = ++agile->serial };
	b->needs = calloc(agile->count, sizeof(*b->needs));
	if (!b->needs)
		return agile_fail(agile, -ENOMEM, "out of memory");
	err = salvo_batch_create(agile->nodes[node].device, &b->batch);
	return err ? agile_fail(agile, err, "out of memory") : 0;
}

void agile_batch_fini(struct agile_batch *b)
{
	while (b->bo_count)
		salvo_bo_destroy(b->bos[--b->bo_count]);
	free(b->bos);
	/* What was submitted is no longer in the list. */
	while (b->fresh_count) {
		struct agile_fresh *fresh = &b->fresh[--b->fresh_count];

		fresh->field->copies[fresh->copy].valid = false;
	}
	free(b->fresh);
	free(b->uses);
	free(b->needs);
	salvo_batch_destroy(b->batch);
}

int agile_batch_check(struct agile_batch *b, int result)
{
	return result < 0 ? agile_fail(b->agile, result, "node %u: %s", b->node,
				       salvo_batch_error(b->batch)) : result;
}

int agile_batch_memory(struct agile_batch *b, uint64_t bytes, struct salvo_bo **out)
{
	struct salvo_bo **bos = realloc(b->bos, (b->bo_count + 1) * sizeof(*bos));
	int err;

	if (!bos)
		return agile_fail(b->agile, -ENOMEM, "out of memory");
	b->bos = bos;
	err = salvo_bo_create(b->agile->nodes[b->node].device, bytes, 0, out);
	if (err)
		return agile_fail(b->agile, err, "node %u: no memory for a tile of %llu bytes",
				  b->node, (unsigned long long)bytes);
	b->bos[b->bo_count++] = *out;
	return 0;
}

/* The fences to wait for, as this node's device knows them; those of others are made here. */
static int gather_waits(struct agile_batch *b, struct salvo_fence **waits, unsigned int *count,
			bool *own)
{
	struct salvo_agile *agile = b->agile;
	struct salvo_device *device = agile->nodes[b->node].device;
	unsigned int n, q;
	int err = 0;

	for (n = 0; n < agile->count && !err; n++) {
		for (q = 0; b->needs[n] && q < 2 && !err; q++) {
			struct salvo_fence *fence = agile->nodes[n].last[q];
			int fd;

			if (!fence)
				continue;
			own[*count] = agile->nodes[n].device != device;
			if (!own[*count]) {
				waits[(*count)++] = fence;
				continue;
			}
			err = salvo_fence_get_fd(fence, &fd);
			if (!err) {
				err = salvo_fence_import_fd(device, fd, &waits[*count]);
				close(fd);
			}
			/* Of another kind of GPU, which this one cannot wait for. */
			if (err == -EINVAL || err == -ENOTSUP)
				err = salvo_fence_wait(fence, -1);
			else if (!err)
				(*count)++;
		}
		/* Later batches of the queue are behind this one. */
		b->needs[n] = false;
	}
	return err ? agile_fail(agile, err, "node %u: a fence of another node: %s", b->node,
				strerror(-err)) : 0;
}

int agile_batch_flush(struct agile_batch *b)
{
	struct agile_node *node = &b->agile->nodes[b->node];
	struct salvo_fence **waits, *fence;
	unsigned int count = 0, i;
	bool *own;
	int err;

	if (!salvo_batch_count(b->batch))
		return 0;
	waits = calloc(2 * b->agile->count, sizeof(*waits));
	own = calloc(2 * b->agile->count, sizeof(*own));
	err = waits && own ? gather_waits(b, waits, &count, own) :
			     agile_fail(b->agile, -ENOMEM, "out of memory");
	if (!err) {
		err = salvo_queue_submit(b->mover ? node->mover : node->queue, b->batch, waits,
					 count, &fence);
		if (err)
			err = agile_fail(b->agile, err, "node %u: %s", b->node,
					 salvo_batch_error(b->batch));
	}
	for (i = 0; i < count; i++)
		if (own[i])
			salvo_fence_destroy(waits[i]);
	free(waits);
	free(own);
	if (err)
		return err;
	node->stats.batches++;
	node->stats.commands += salvo_batch_count(b->batch);
	if (node->next[b->mover])
		salvo_fence_destroy(node->next[b->mover]);
	node->next[b->mover] = fence;
	b->fresh_count = 0;
	salvo_batch_reset(b->batch);
	b->serial = ++b->agile->serial;
	return 0;
}

int agile_batch_next(struct agile_batch *b)
{
	unsigned int i;
	int err = agile_batch_flush(b);

	for (i = 0; i < b->use_count && !err; i++)
		err = agile_use(b, b->uses[i].field, b->uses[i].owner, b->uses[i].access);
	return err;
}

int agile_batch_room(struct agile_batch *b, unsigned int commands)
{
	if (salvo_batch_count(b->batch) + commands <= b->agile->nodes[b->node].max_commands)
		return 0;
	return agile_batch_next(b);
}
