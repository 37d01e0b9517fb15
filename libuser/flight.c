// SPDX-License-Identifier: MIT
/*
 * flight.c - fences of batches that may be in flight
 *
 * Queues and batches keep the fences of their submissions: queues for their timelines, batches
 * because they must not be patched in flight. Polling a fence of the driver costs a system
 * call, so completed ones are dropped only when the array is full or on demand. No locks: each
 * belongs to one queue or batch.
 */
#include "flight.h"

#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "fence.h"

void salvo_flight_fini(struct salvo_flight *flight)
{
	unsigned int i;

	for (i = 0; i < flight->count; i++)
		salvo_fence_put(flight->fences[i]);
	free(flight->fences);
	salvo_fence_put(flight->failed);
}

/* Drop a fence that is done with @err, but keep the first that failed by itself. */
static void drop(struct salvo_flight *flight, struct salvo_fence *fence, int err)
{
	struct salvo_error error;

	if (err && !flight->failed && !salvo_fence_get_error(fence, &error) &&
	    error.kind != SALVO_ERROR_NONE)
		flight->failed = fence;
	else
		salvo_fence_put(fence);
}

bool salvo_flight_is_busy(struct salvo_flight *flight)
{
	unsigned int i, kept = 0;
	int err;

	for (i = 0; i < flight->count; i++) {
		err = salvo_fence_wait(flight->fences[i], 0);
		if (err == -ETIME)
			flight->fences[kept++] = flight->fences[i];
		else
			drop(flight, flight->fences[i], err);
	}
	flight->count = kept;
	return kept;
}

int salvo_flight_reserve(struct salvo_flight *flight)
{
	if (flight->count < flight->capacity)
		return 0;
	salvo_flight_is_busy(flight);
	/* With half of it free again it is long until the fences are polled once more. */
	if (flight->count < flight->capacity / 2)
		return 0;
	return salvo_array_reserve(&flight->fences, &flight->capacity, flight->capacity + 1,
				   sizeof(*flight->fences));
}

void salvo_flight_add(struct salvo_flight *flight, struct salvo_fence *fence)
{
	flight->fences[flight->count++] = salvo_fence_get(fence);
}
