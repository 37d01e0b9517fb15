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
}

bool salvo_flight_is_busy(struct salvo_flight *flight)
{
	unsigned int i, kept = 0;

	for (i = 0; i < flight->count; i++) {
		if (salvo_fence_is_done(flight->fences[i]))
			salvo_fence_put(flight->fences[i]);
		else
			flight->fences[kept++] = flight->fences[i];
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
