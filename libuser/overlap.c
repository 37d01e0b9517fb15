// SPDX-License-Identifier: MIT
/*
 * overlap.c - batches of a queue that overlap
 *
 * The queue keeps the commands of the batch that was submitted last, and the ranges that they
 * access. For the next one both batches are analysed as if they were one (hazard.c): a pipe
 * control that this finds between them becomes one with DRM_SALVO_PIPE_CONTROL_PREVIOUS, a link.
 * Links follow the pipe controls of the batch's own hazards. So what the tail of a frame does not
 * touch starts before that tail is done.
 *
 * The GPU overlaps two batches at a time, so links to the last batch are enough. A barrier of the
 * next batch waits for the end of the last one there; a barrier of the last batch hides what is
 * before it from the analysis, so what has no other link gets one to that.
 *
 * A batch that is submitted over and over finds its links as they were: each analysis has a
 * number, and links are kept with that of the batch before. No locks: as the queue's.
 */
#include "overlap.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "batch.h"
#include "device.h"
#include "queue.h"

#define NONE (~0u)

struct salvo_overlap {
	struct salvo_hazards *hazards;
	/** @analysis: Of the last batch; 0 if nothing is known about it. */
	uint64_t analysis;
	/** @commands, @spans, @regions: Of the last batch; behind them there is room for others. */
	struct drm_salvo_command *commands;
	struct salvo_region_span *spans;
	struct salvo_region *regions;
	uint32_t count;
	uint32_t region_count;
	uint32_t command_capacity;
	uint32_t span_capacity;
	uint32_t region_capacity;
};

int salvo_queue_enable_overlap(struct salvo_queue *queue)
{
	struct salvo_overlap *overlap;

	if (queue->overlap)
		return 0;
	if (!queue->device->overlaps)
		return -EOPNOTSUPP;
	overlap = calloc(1, sizeof(*overlap));
	if (!overlap)
		return -ENOMEM;
	overlap->hazards = salvo_hazards_create();
	if (!overlap->hazards) {
		free(overlap);
		return -ENOMEM;
	}
	queue->overlap = overlap;
	return 0;
}

void salvo_overlap_destroy(struct salvo_overlap *overlap)
{
	if (!overlap)
		return;
	salvo_hazards_destroy(overlap->hazards);
	free(overlap->commands);
	free(overlap->spans);
	free(overlap->regions);
	free(overlap);
}

static int reserve(struct salvo_overlap *o, uint32_t commands, uint32_t regions)
{
	return salvo_array_reserve(&o->commands, &o->command_capacity, commands,
				   sizeof(*o->commands)) ?:
	       salvo_array_reserve(&o->spans, &o->span_capacity, commands, sizeof(*o->spans)) ?:
	       salvo_array_reserve(&o->regions, &o->region_capacity, regions,
				   sizeof(*o->regions));
}

/* Copy the batch behind the first @count commands and @region_count regions. */
static void append(struct salvo_overlap *o, const struct salvo_batch *batch, uint32_t count,
		   uint32_t region_count)
{
	uint32_t i;

	memcpy(o->commands + count, batch->commands, batch->count * sizeof(*o->commands));
	memcpy(o->spans + count, batch->spans, batch->count * sizeof(*o->spans));
	if (batch->region_count)
		memcpy(o->regions + region_count, batch->regions,
		       batch->region_count * sizeof(*o->regions));
	for (i = count; i < count + batch->count; i++) {
		o->commands[i].consumer += count;
		o->commands[i].producer += count;
		o->spans[i].first += region_count;
	}
}

static bool is_barrier(const struct drm_salvo_command *command)
{
	return command->type == DRM_SALVO_PIPE_CONTROL &&
	       command->flags & DRM_SALVO_PIPE_CONTROL_ALL;
}

static uint32_t last_barrier(const struct salvo_overlap *o)
{
	uint32_t i;

	for (i = o->count; i--; )
		if (is_barrier(&o->commands[i]))
			return i;
	return NONE;
}

/* Return: 0, -ENOMEM, -E2BIG. */
static int add_link(struct salvo_batch *batch, uint32_t consumer, uint32_t producer)
{
	const unsigned int at = batch->count + batch->found + batch->links;
	int err = salvo_batch_reserve(batch, at + 1);

	if (err)
		return err;
	batch->commands[at] = (struct drm_salvo_command){
		.type = DRM_SALVO_PIPE_CONTROL,
		.flags = DRM_SALVO_PIPE_CONTROL_PREVIOUS,
		.consumer = consumer,
		.producer = producer,
	};
	batch->links++;
	return 0;
}

/* Links of what has no edge at all, to the last barrier before it. */
static int link_to_barrier(const struct salvo_overlap *o, struct salvo_batch *batch,
			   const struct salvo_hazard_edge *edges, int found, uint32_t barrier)
{
	int edge = 0, err = 0;
	uint32_t i;

	for (i = 0; i < batch->count && !err; i++) {
		if (is_barrier(&batch->commands[i]))
			break;
		while (edge < found && edges[edge].consumer < o->count + i)
			edge++;
		if (batch->commands[i].type != DRM_SALVO_PIPE_CONTROL &&
		    (edge == found || edges[edge].consumer != o->count + i))
			err = add_link(batch, i, barrier);
	}
	return err;
}

static int find_links(struct salvo_overlap *o, struct salvo_batch *batch)
{
	const struct salvo_hazard_input input = {
		.commands = o->commands,
		.spans = o->spans,
		.regions = o->regions,
		.region_count = o->region_count + batch->region_count,
		.count = o->count + batch->count,
		.most = NONE,
	};
	const struct salvo_hazard_edge *edges;
	const uint32_t barrier = last_barrier(o);
	int found, err = 0, i;

	found = salvo_hazards_find(o->hazards, &input, &edges);
	if (found < 0)
		return found;
	for (i = 0; i < found && !err; i++)
		if (edges[i].consumer >= o->count && edges[i].producer < o->count)
			err = add_link(batch, edges[i].consumer - o->count, edges[i].producer);
	if (!err && barrier != NONE)
		err = link_to_barrier(o, batch, edges, found, barrier);
	return err;
}

static void drop_links(struct salvo_batch *batch)
{
	if (batch->linked_to)
		batch->validated.epoch = 0;
	batch->links = 0;
	batch->linked_to = 0;
}

__u32 salvo_overlap_link(struct salvo_overlap *o, struct salvo_batch *batch)
{
	int err;

	if (!o || !batch->tracked) {
		drop_links(batch);
		return 0;
	}
	err = reserve(o, batch->count, batch->region_count);
	if (!err && batch->linked_to == o->analysis)
		return DRM_SALVO_SUBMIT_OVERLAP;
	drop_links(batch);
	/* An analysis takes time and memory by the square of that. */
	if (o->count + batch->count > batch->device->info.max_commands)
		err = -E2BIG;
	if (!err)
		err = reserve(o, o->count + batch->count, o->region_count + batch->region_count);
	if (err)
		return 0;
	append(o, batch, o->count, o->region_count);
	batch->validated.epoch = 0;
	err = find_links(o, batch);
	batch->linked_to = o->analysis;
	if (!err)
		return DRM_SALVO_SUBMIT_OVERLAP;
	drop_links(batch);
	return 0;
}

void salvo_overlap_submitted(struct salvo_overlap *o, const struct salvo_batch *batch)
{
	const bool known = batch->tracked && batch->count <= o->command_capacity &&
			   batch->count <= o->span_capacity &&
			   batch->region_count <= o->region_capacity;
	const uint64_t analysis = known ? batch->analysis : 0;

	if (o->analysis == analysis)
		return;
	o->analysis = analysis;
	o->count = 0;
	o->region_count = 0;
	if (!analysis)
		return;
	append(o, batch, 0, 0);
	o->count = batch->count;
	o->region_count = batch->region_count;
}
