/* SPDX-License-Identifier: MIT */
/*
 * eu.h - execution units
 */
#ifndef SALVO_EU_H
#define SALVO_EU_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

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
	/**
	 * @looking: Mask bits of the units that look for work, and of no others. It is
	 * @own_looking, or a word that is shared with who rings the bell.
	 */
	_Atomic uint64_t *looking;
	_Atomic uint64_t own_looking __attribute__((aligned(64)));
	/** @sleeping: Mask bits of the units that must be woken. */
	_Atomic uint64_t sleeping;
	/** @ready: Threads that have started. */
	_Atomic uint32_t ready;
	/** @stop: The units' threads are to end. */
	_Atomic bool stop;
};

/**
 * salvo_eus_init() - Start the units of the queues' topology.
 * @eus: Zeroed, but for @looking.
 *
 * Return: 0, -ENOMEM or -EAGAIN.
 */
int salvo_eus_init(struct salvo_eus *eus, struct salvo_gpu *gpu);

/**
 * salvo_eus_init_none() - Only count the units: they are in other processes. No fini needed.
 */
void salvo_eus_init_none(struct salvo_eus *eus, struct salvo_gpu *gpu);

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
 * salvo_eus_push() - Give a ready element to the units.
 */
void salvo_eus_push(struct salvo_eus *eus, struct salvo_element *element);

#endif /* SALVO_EU_H */
