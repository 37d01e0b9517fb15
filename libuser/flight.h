/* SPDX-License-Identifier: MIT */
/*
 * flight.h - fences of batches that may be in flight
 */
#ifndef SALVO_FLIGHT_H
#define SALVO_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

struct salvo_fence;

/**
 * struct salvo_flight - Fences, each with a reference, in the order they were added.
 */
struct salvo_flight {
	struct salvo_fence **fences;
	unsigned int count;
	unsigned int capacity;
	/** @failed: The first of the dropped ones that failed by itself, or NULL. */
	struct salvo_fence *failed;
};

/** salvo_flight_fini() - Drop all references. */
void salvo_flight_fini(struct salvo_flight *flight);

/** salvo_flight_reserve() - Make room for one more, first by dropping what is done. */
int salvo_flight_reserve(struct salvo_flight *flight);

/** salvo_flight_add() - Takes a reference; there is room. */
void salvo_flight_add(struct salvo_flight *flight, struct salvo_fence *fence);

/** salvo_flight_is_busy() - Drop those that are done. Return: are any left? */
bool salvo_flight_is_busy(struct salvo_flight *flight);

#endif /* SALVO_FLIGHT_H */
