// SPDX-License-Identifier: MIT
/*
 * submission.c - complete a batch for a submission, and its profile afterwards
 *
 * Before a submission the pipe controls that are missing are added, and the profile buffer and the
 * labels for errors are made; all that can fail happens here, before the back end takes the batch.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "bo.h"
#include "deferred.h"
#include "device.h"
#include "fence.h"
#include "overlap.h"

_Static_assert(sizeof(struct salvo_profile) == sizeof(struct drm_salvo_profile),
	       "profiles are handed out as the GPU wrote them");

/* The profile buffer grows with the batch. */
static int reserve_profile(struct salvo_batch *batch, unsigned int count)
{
	struct salvo_bo *bo;
	void *map;
	int err;

	if (count <= batch->profile_capacity)
		return 0;
	err = salvo_bo_create(batch->device, batch->capacity * sizeof(*batch->profiles), 0, &bo);
	if (err)
		return err;
	err = salvo_bo_map(bo, &map);
	if (err) {
		salvo_bo_destroy(bo);
		return err;
	}
	salvo_bo_destroy(batch->profile);
	batch->profile = bo;
	batch->profiles = map;
	batch->validated.epoch = 0;
	batch->profile_capacity = batch->capacity;
	return 0;
}

int salvo_batch_enable_profile(struct salvo_batch *batch)
{
	int err = reserve_profile(batch, batch->count);

	if (err)
		return salvo_batch_fail(batch, err, "no memory for the profile");
	batch->profiled = true;
	return 0;
}

int salvo_batch_get_profile(struct salvo_batch *batch, unsigned int index,
			    struct salvo_profile *profile)
{
	if (index >= batch->recorded)
		return salvo_batch_fail(batch, -EINVAL,
					"profile: the last submission has none of command %u", index);
	if (salvo_flight_is_busy(&batch->flight))
		return salvo_batch_fail(batch, -EBUSY, "profile: the batch is in flight");
	*profile = batch->profiles[index];
	return 0;
}

/* The commands as they are now, for the errors of this submission. */
static int make_labels(struct salvo_batch *batch)
{
	struct salvo_labels *labels;
	unsigned int i;

	if (batch->labels)
		return 0;
	labels = malloc(sizeof(*labels) + batch->count * sizeof(labels->at[0]));
	if (!labels)
		return -ENOMEM;
	atomic_init(&labels->refs, 1);
	labels->count = batch->count;
	for (i = 0; i < batch->count; i++) {
		labels->at[i].kernel = batch->notes[i].name;
		labels->at[i].label = batch->notes[i].label;
		memcpy(labels->at[i].items, batch->commands[i].items,
		       sizeof(labels->at[i].items));
		memcpy(labels->at[i].group, batch->commands[i].group,
		       sizeof(labels->at[i].group));
	}
	batch->labels = labels;
	return 0;
}

int salvo_batch_finish(struct salvo_batch *batch, struct salvo_overlap *overlap,
		       struct salvo_batch_desc *desc)
{
	unsigned int count;
	int err = 0;

	/* Profiles of an earlier submission are invalid even if this one fails. */
	batch->recorded = 0;
	if (!batch->count)
		return salvo_batch_fail(batch, -EINVAL, "the batch is empty");
	if (batch->tracked)
		err = salvo_batch_track(batch);
	if (err)
		return err;
	desc->flags = salvo_overlap_link(overlap, batch);
	if (make_labels(batch) || salvo_flight_reserve(&batch->flight))
		return salvo_batch_fail(batch, -ENOMEM, "out of memory");
	count = batch->count + (batch->tracked ? batch->found + batch->links : 0);
	desc->profile = 0;
	if (batch->profiled) {
		err = reserve_profile(batch, count);
		if (err)
			return salvo_batch_fail(batch, err, "no memory for the profile");
		/* A command that does not run must not show an earlier profile. */
		if (!salvo_flight_is_busy(&batch->flight))
			memset(batch->profiles, 0, count * sizeof(*batch->profiles));
		desc->profile = batch->profile->address;
	}
	desc->commands = batch->commands;
	desc->count = count;
	desc->args = batch->args;
	desc->args_size = batch->args_size;
	return 0;
}

void salvo_batch_submitted(struct salvo_batch *batch, const struct salvo_batch_desc *desc,
			   struct salvo_fence *fence)
{
	if (desc->profile)
		batch->recorded = desc->count;
	fence->labels = salvo_labels_get(batch->labels);
	salvo_flight_add(&batch->flight, fence);
	if (batch->deferred)
		salvo_deferred_resolve(batch, fence);
}
