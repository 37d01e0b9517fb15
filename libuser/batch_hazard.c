// SPDX-License-Identifier: MIT
/*
 * batch_hazard.c - pipe controls that the library inserts, and their causes (B4 of CN105940388)
 *
 * The analysis of hazard.c runs at submission if the batch has changed since the last one. Its
 * pipe controls are written after the last command without being counted, so the next command
 * that is added overwrites them. Their causes are computed on demand, by comparing the
 * arguments of the two commands.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "array.h"
#include "batch.h"
#include "device.h"

int salvo_batch_enable_hazards(struct salvo_batch *batch)
{
	if (!batch->hazards)
		batch->hazards = salvo_hazards_create();
	if (!batch->hazards)
		return salvo_batch_fail(batch, -ENOMEM, "out of memory");
	batch->tracked = true;
	return 0;
}

int salvo_batch_track(struct salvo_batch *batch)
{
	struct salvo_hazard_input input = {
		.commands = batch->commands,
		.spans = batch->spans,
		.regions = batch->regions,
		.region_count = batch->region_count,
		.count = batch->count,
		.most = batch->device->info.max_commands - batch->count,
	};
	const struct salvo_hazard_edge *edges;
	int found, err, i;

	if (batch->analysed)
		return 0;
	/* Fewer pipe controls order more than need be. */
	for (input.segment = 0; ; input.segment = input.segment ? input.segment / 8 : 64) {
		found = salvo_hazards_find(batch->hazards, &input, &edges);
		if (found != -E2BIG || input.segment == 1)
			break;
	}
	err = found < 0 ? found : salvo_batch_reserve(batch, batch->count + found);
	if (err == -E2BIG)
		return salvo_batch_fail(batch, err,
					"hazards: %u commands need more than %u pipe controls",
					batch->count, input.most);
	if (err)
		return salvo_batch_fail(batch, err, "out of memory");
	for (i = 0; i < found; i++)
		batch->commands[batch->count + i] = (struct drm_salvo_command){
			.type = DRM_SALVO_PIPE_CONTROL,
			.consumer = edges[i].consumer,
			.producer = edges[i].producer,
		};
	batch->found = found;
	batch->links = 0;
	batch->linked_to = 0;
	batch->analysis = atomic_fetch_add(&batch->device->analyses, 1) + 1;
	batch->validated.epoch = 0;
	batch->analysed = true;
	return 0;
}

static int add_cause(struct salvo_batch *batch, const struct salvo_hazard *cause)
{
	if (salvo_array_reserve(&batch->causes, &batch->cause_capacity, batch->cause_count + 1,
				sizeof(*batch->causes)))
		return -ENOMEM;
	batch->causes[batch->cause_count++] = *cause;
	return 0;
}

/* Add the overlap of @consumer's and @producer's regions, if one of them writes. */
static int compare_regions(struct salvo_batch *batch, struct salvo_hazard cause,
			   const struct salvo_region *consumer,
			   const struct salvo_region *producer)
{
	const uint64_t start = consumer->start > producer->start ? consumer->start :
								   producer->start;
	const uint64_t end = consumer->end < producer->end ? consumer->end : producer->end;
	int err = 0;

	if (start >= end)
		return 0;
	cause.consumer_argument = consumer->argument;
	cause.producer_argument = producer->argument;
	cause.address = start;
	cause.size = end - start;
	if (consumer->access & SALVO_REGION_READ && producer->access & SALVO_REGION_WRITE) {
		cause.kind = SALVO_HAZARD_RAW;
		err = add_cause(batch, &cause);
	}
	if (!err && consumer->access & SALVO_REGION_WRITE &&
	    producer->access & SALVO_REGION_READ) {
		cause.kind = SALVO_HAZARD_WAR;
		err = add_cause(batch, &cause);
	}
	if (!err && consumer->access & SALVO_REGION_WRITE &&
	    producer->access & SALVO_REGION_WRITE) {
		cause.kind = SALVO_HAZARD_WAW;
		err = add_cause(batch, &cause);
	}
	return err;
}

/* The causes of the pipe control @command. */
static int explain(struct salvo_batch *batch, unsigned int command)
{
	const struct drm_salvo_command *control = &batch->commands[command];
	const struct salvo_region_span *consumer = &batch->spans[control->consumer];
	const struct salvo_region_span *producer = &batch->spans[control->producer];
	const struct salvo_hazard cause = {
		.command = command,
		.consumer = control->consumer,
		.producer = control->producer,
	};
	unsigned int i, j;
	int err = 0;

	for (i = 0; i < consumer->count && !err; i++)
		for (j = 0; j < producer->count && !err; j++)
			err = compare_regions(batch, cause,
					      &batch->regions[consumer->first + i],
					      &batch->regions[producer->first + j]);
	return err;
}

int salvo_batch_get_hazard(struct salvo_batch *batch, unsigned int index,
			   struct salvo_hazard *hazard)
{
	const bool tracked = batch->tracked;
	unsigned int i;
	int err;

	if (!batch->explained) {
		err = salvo_batch_enable_hazards(batch);
		batch->tracked = tracked;
		if (!err)
			err = salvo_batch_track(batch);
		if (err)
			return err;
		batch->cause_count = 0;
		for (i = 0; i < batch->found && !err; i++)
			err = explain(batch, batch->count + i);
		if (err)
			return salvo_batch_fail(batch, err, "out of memory");
		batch->explained = true;
	}
	if (index >= batch->cause_count)
		return -ENOENT;
	*hazard = batch->causes[index];
	return 0;
}
