// SPDX-License-Identifier: MIT
/*
 * dependent.c - what a command that failed takes along: the commands that wait for it
 *
 * Pipe controls lead from a lower to a higher index, but may stand anywhere in the batch, so the
 * commands are passed over until no other one is found. No locks: a batch belongs to one thread.
 */
#include <errno.h>
#include <string.h>

#include "batch.h"
#include "bo.h"
#include "device.h"

/* Adds those that wait for one in @waits. Returns whether there was another one. */
static bool add_dependents(const struct salvo_batch *batch, uint8_t *waits)
{
	const unsigned int count = batch->count + (batch->tracked ? batch->found : 0);
	bool any = false, behind = false, more = false;
	unsigned int i;

	for (i = 0; i < count; i++) {
		const struct drm_salvo_command *command = &batch->commands[i];
		unsigned int consumer = i;
		bool found = behind;

		if (command->type == DRM_SALVO_PIPE_CONTROL) {
			/* A barrier waits for all before it, and all behind it for the barrier. */
			if (command->flags & DRM_SALVO_PIPE_CONTROL_ALL) {
				behind |= any;
				continue;
			}
			consumer = command->consumer;
			found = waits[command->producer];
		}
		if (found && !waits[consumer]) {
			waits[consumer] = true;
			more = true;
		}
		any |= i < batch->count && waits[i];
	}
	return more;
}

int salvo_batch_get_dependents(struct salvo_batch *batch, unsigned int command, uint8_t *waits)
{
	unsigned int i;
	int others = 0, err;

	if (command >= batch->count || batch->commands[command].type == DRM_SALVO_PIPE_CONTROL)
		return salvo_batch_fail(batch, -EINVAL,
					"dependents: command %u of %u is none, or a pipe control",
					command, batch->count);
	err = batch->tracked ? salvo_batch_track(batch) : 0;
	if (err)
		return err;
	memset(waits, 0, batch->count * sizeof(*waits));
	waits[command] = true;
	while (add_dependents(batch, waits))
		;
	for (i = 0; i < batch->count; i++)
		others += !waits[i] && batch->commands[i].type != DRM_SALVO_PIPE_CONTROL;
	return others;
}

int salvo_batch_accesses(const struct salvo_batch *batch, unsigned int command,
			 const struct salvo_bo *bo, uint64_t offset, uint64_t size, uint32_t access)
{
	const struct salvo_region_span *span;
	const struct salvo_region *region;

	if (command >= batch->count || batch->commands[command].type == DRM_SALVO_PIPE_CONTROL ||
	    !bo || bo->device != batch->device)
		return 0;
	span = &batch->spans[command];
	for (region = batch->regions + span->first;
	     region < batch->regions + span->first + span->count; region++)
		if (region->access & access && region->start < bo->address + offset + size &&
		    bo->address + offset < region->end)
			return 1;
	return 0;
}
