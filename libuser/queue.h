/* SPDX-License-Identifier: MIT */
/*
 * queue.h - base of a back end's queue
 */
#ifndef SALVO_LIB_QUEUE_H
#define SALVO_LIB_QUEUE_H

#include "flight.h"

struct salvo_batch;
struct salvo_device;
struct salvo_overlap;

/**
 * struct salvo_queue - Base of a back end's queue.
 */
struct salvo_queue {
	struct salvo_device *device;
	/** @value: Of the last batch on the queue's timeline. */
	uint64_t value;
	/** @flight: Fences of batches that may not be done. */
	struct salvo_flight flight;
	/** @overlap: For batches that overlap, or NULL. */
	struct salvo_overlap *overlap;
	/** @capture: The batch that submissions are appended to instead, or NULL. */
	struct salvo_batch *capture;
};

#endif /* SALVO_LIB_QUEUE_H */
