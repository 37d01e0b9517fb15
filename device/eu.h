/* SPDX-License-Identifier: MIT */
/*
 * eu.h - execution units
 */
#ifndef SALVO_EU_H
#define SALVO_EU_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "parking.h"

struct salvo_element;
struct salvo_eu;
struct salvo_gpu;

/**
 * struct salvo_eus - The execution units of a GPU.
 */
struct salvo_eus {
	struct salvo_gpu *gpu;
	struct salvo_eu *units;
	unsigned int count;
	/** @all: Mask bits of all units. */
	uint64_t all;
	/** @core: That a unit is pinned to. */
	int core[SALVO_MAX_UNITS];
	/** @parking: It is @own_parking, or is shared with who rings the bell. */
	struct salvo_parking *parking;
	struct salvo_parking own_parking;
	/** @ready: Threads that have started. */
	_Atomic uint32_t ready;
	/** @stop: The units' threads are to end. */
	_Atomic bool stop;
};

/**
 * salvo_eus_init() - Start the units of the queues' topology.
 * @eus: Zeroed, but for @parking.
 *
 * Return: 0, -ENOMEM or -EAGAIN.
 */
int salvo_eus_init(struct salvo_eus *eus, struct salvo_gpu *gpu);

/**
 * salvo_eus_init_none() - Only count the units: they are in other processes. No fini needed.
 *
 * Return: 0 or -EAGAIN.
 */
int salvo_eus_init_none(struct salvo_eus *eus, struct salvo_gpu *gpu);

/**
 * salvo_eus_fini() - Stop the units. No job may be in flight.
 */
void salvo_eus_fini(struct salvo_eus *eus);

/**
 * salvo_eus_stop_kernels() - Make every unit that is inside a kernel leave it.
 *
 * Only for a GPU that contains faults.
 */
void salvo_eus_stop_kernels(struct salvo_eus *eus);

/**
 * salvo_eus_expect() - Elements will be pushed soon: if all units sleep, wake one already.
 */
void salvo_eus_expect(struct salvo_eus *eus);

/**
 * salvo_eus_push() - Give a ready element to the units.
 */
void salvo_eus_push(struct salvo_eus *eus, struct salvo_element *element);

#endif /* SALVO_EU_H */
