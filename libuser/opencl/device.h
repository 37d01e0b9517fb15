/* SPDX-License-Identifier: MIT */
/*
 * device.h - devices: a GPU of libsalvo, or some units of one
 */
#ifndef SALVO_CL_DEVICE_H
#define SALVO_CL_DEVICE_H

#include <pthread.h>

#include "salvo.h"
#include "object.h"

/**
 * struct _cl_device_id - A root device, or a sub-device.
 */
struct _cl_device_id {
	struct salvo_cl_object base;
	/** @parent: Of a sub-device, else NULL; @root: the root device, for which it is itself. */
	cl_device_id parent;
	cl_device_id root;
	/** @name: Of a root device, for salvo_device_open(). */
	char name[64];
	/** @eu_mask: The units of a sub-device, 0: all; @units: how many they are. */
	uint64_t eu_mask;
	unsigned int units;
	/** @partition: How a sub-device was made, ended by 0; @partition_count with that 0. */
	cl_device_partition_property *partition;
	size_t partition_count;
	/** @lock: Protects the members below it, of a root device. */
	pthread_mutex_t lock;
	/** @salvo: Opened by the first context, and kept; NULL before. */
	struct salvo_device *salvo;
	/** @generation: salvo_cl_inherit_generation() when it was opened. */
	unsigned int generation;
	/** @known: @info was asked for. */
	bool known;
	struct salvo_device_info info;
};

/** salvo_cl_device_create() - A root device by the name of salvo_device_enumerate(), or NULL. */
cl_device_id salvo_cl_device_create(const char *name);
/**
 * salvo_cl_device_create_part() - A sub-device.
 * @partition: How it was made, @partition_count elements; copied.
 *
 * Return: it, with a reference of @device, or NULL.
 */
cl_device_id salvo_cl_device_create_part(cl_device_id device, uint64_t eu_mask, unsigned int units,
					 const cl_device_partition_property *partition,
					 size_t partition_count);
/** salvo_cl_device_nodes() - NUMA nodes that it can be divided into; 1: it cannot. */
unsigned int salvo_cl_device_nodes(const struct _cl_device_id *device);
/**
 * salvo_cl_device_open() - Open the GPU of a device; it stays open until the process ends.
 * @out: The same for a root device and all its sub-devices.
 *
 * A child of fork() opens an embedded GPU of its own.
 *
 * Return: CL_SUCCESS, CL_DEVICE_NOT_AVAILABLE, CL_OUT_OF_HOST_MEMORY. Any thread.
 */
cl_int salvo_cl_device_open(cl_device_id device, struct salvo_device **out);
/** salvo_cl_device_limits() - The limits of the GPU, or NULL if it cannot be opened. Any thread. */
const struct salvo_device_info *salvo_cl_device_limits(cl_device_id device);
/** salvo_cl_device_is_embedded() - Does it run in this process, with host memory? */
bool salvo_cl_device_is_embedded(cl_device_id device);
/** salvo_cl_device_get(), salvo_cl_device_put() - References count for sub-devices only. */
void salvo_cl_device_get(cl_device_id device);
void salvo_cl_device_put(cl_device_id device);

#endif /* SALVO_CL_DEVICE_H */
