/* SPDX-License-Identifier: MIT */
/*
 * flight.h - fences of batches that may not be done yet
 */
#ifndef SALVO_FLIGHT_H
#define SALVO_FLIGHT_H

#include "winsys.h"

/** salvo_flight_fini() - Drop all references. */
void salvo_flight_fini(struct salvo_flight *flight);

/** salvo_flight_reserve() - Make room for one more, first by dropping what is done. */
int salvo_flight_reserve(struct salvo_flight *flight);

/** salvo_flight_add() - Takes a reference; there is room. */
void salvo_flight_add(struct salvo_flight *flight, struct salvo_fence *fence);

/** salvo_flight_is_busy() - Drop those that are done. Return: are any left? */
bool salvo_flight_is_busy(struct salvo_flight *flight);

/**
 * struct salvo_labels - What the commands of a batch were, to tell errors; counted.
 */
struct salvo_labels {
	atomic_uint refs;
	unsigned int count;
	struct salvo_label {
		/** @kernel: Its name, or NULL if the command is no dispatch. */
		const char *kernel;
		uint32_t items[3];
		uint32_t group[3];
	} at[];
};

void salvo_labels_put(struct salvo_labels *labels);

#endif /* SALVO_FLIGHT_H */
