// SPDX-License-Identifier: MIT
/*
 * dependent.c - what commands that failed take along: the commands that wait for them
 *
 * Pipe controls lead from a lower to a higher index, but may stand anywhere in the batch. They are
 * sorted into a list for each consumer; then one pass over the commands finds all that wait. What
 * commands access is answered for many ranges at once: the accesses are sorted by address and
 * merged, and each range is searched among them. No locks: a batch belongs to one thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "bo.h"
#include "device.h"

/* A barrier waits for all before it, and all behind it for the barrier. */
static bool is_barrier(const struct drm_salvo_command *command)
{
	return command->type == DRM_SALVO_PIPE_CONTROL &&
	       command->flags & DRM_SALVO_PIPE_CONTROL_ALL;
}

/*
 * The pipe controls of command c are @first[c], @next[@first[c]] and so on, each with 1 added; 0
 * ends them.
 */
static void list_controls(const struct salvo_batch *batch, unsigned int count, uint32_t *first,
			  uint32_t *next)
{
	const struct drm_salvo_command *command;
	unsigned int i;

	for (i = 0; i < count; i++) {
		command = &batch->commands[i];
		if (command->type != DRM_SALVO_PIPE_CONTROL || is_barrier(command))
			continue;
		next[i] = first[command->consumer];
		first[command->consumer] = i + 1;
	}
}

static int add_dependents(const struct salvo_batch *batch, const uint32_t *first,
			  const uint32_t *next, uint8_t *waits)
{
	bool any = false, behind = false;
	uint32_t i, control;
	int others = 0;

	for (i = 0; i < batch->count; i++) {
		if (batch->commands[i].type == DRM_SALVO_PIPE_CONTROL) {
			behind |= any && is_barrier(&batch->commands[i]);
			waits[i] = 0;
			continue;
		}
		waits[i] = waits[i] || behind;
		for (control = first[i]; control && !waits[i]; control = next[control - 1])
			waits[i] = waits[batch->commands[control - 1].producer];
		any |= waits[i];
		others += !waits[i];
	}
	return others;
}

int salvo_batch_add_dependents(struct salvo_batch *batch, uint8_t *waits)
{
	unsigned int count = batch->count;
	uint32_t *first;
	int others, err;

	if (!count)
		return 0;
	if (batch->tracked) {
		err = salvo_batch_track(batch);
		if (err)
			return err;
		count += batch->found;
	}
	first = calloc(2 * (size_t)count + 1, sizeof(*first));
	if (!first)
		return salvo_batch_fail(batch, -ENOMEM, "out of memory");
	list_controls(batch, count, first, first + count);
	others = add_dependents(batch, first, first + count, waits);
	free(first);
	return others;
}

int salvo_batch_get_dependents(struct salvo_batch *batch, unsigned int command, uint8_t *waits)
{
	if (command >= batch->count || batch->commands[command].type == DRM_SALVO_PIPE_CONTROL)
		return salvo_batch_fail(batch, -EINVAL,
					"dependents: command %u of %u is none, or a pipe control",
					command, batch->count);
	memset(waits, 0, batch->count * sizeof(*waits));
	waits[command] = 1;
	return salvo_batch_add_dependents(batch, waits);
}

/* --- what commands access ------------------------------------------------------------------ */

/* Addresses of a GPU: those from @start, without @end. */
struct span {
	uint64_t start;
	uint64_t end;
};

static int compare_spans(const void *a, const void *b)
{
	const struct span *left = a, *right = b;

	return (left->start > right->start) - (left->start < right->start);
}

/* The accesses of @commands, in any order. Return: how many. */
static size_t collect(const struct salvo_batch *batch, const uint8_t *commands, uint32_t access,
		      struct span *spans)
{
	size_t count = 0;
	unsigned int i, r;

	for (i = 0; i < batch->count; i++) {
		if (batch->commands[i].type == DRM_SALVO_PIPE_CONTROL ||
		    (commands && !commands[i]))
			continue;
		for (r = 0; r < batch->spans[i].count; r++) {
			const struct salvo_region *region =
				&batch->regions[batch->spans[i].first + r];

			if (region->access & access && region->start < region->end)
				spans[count++] = (struct span){ region->start, region->end };
		}
	}
	return count;
}

/* Sorted, and none meets another. Return: how many are left. */
static size_t merge(struct span *spans, size_t count)
{
	size_t i, last = 0;

	qsort(spans, count, sizeof(*spans), compare_spans);
	for (i = 1; i < count; i++) {
		if (spans[i].start > spans[last].end)
			spans[++last] = spans[i];
		else if (spans[i].end > spans[last].end)
			spans[last].end = spans[i].end;
	}
	return count ? last + 1 : 0;
}

/* Does one of them have a byte of @range? */
static bool meets(const struct span *spans, size_t count, struct span range)
{
	size_t low = 0, high = count, middle;

	/* The first one that ends behind the range's start */
	while (low < high) {
		middle = low + (high - low) / 2;
		if (spans[middle].end > range.start)
			high = middle;
		else
			low = middle + 1;
	}
	return low < count && spans[low].start < range.end;
}

int salvo_batch_find_accesses(const struct salvo_batch *batch, const uint8_t *commands,
			      uint32_t access, struct salvo_bo_range *ranges, unsigned int count)
{
	struct span *spans = malloc((batch->region_count + 1) * sizeof(*spans));
	size_t found;
	unsigned int i;

	if (!spans)
		return -ENOMEM;
	found = merge(spans, collect(batch, commands, access, spans));
	for (i = 0; i < count; i++) {
		const struct salvo_bo *bo = ranges[i].bo;
		const uint64_t start = bo ? bo->address + ranges[i].offset : 0;

		ranges[i].accessed = bo && bo->device == batch->device && ranges[i].size &&
				     meets(spans, found,
					   (struct span){ start, start + ranges[i].size });
	}
	free(spans);
	return 0;
}
