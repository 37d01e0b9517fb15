// SPDX-License-Identifier: MIT
/*
 * device_partition.c - sub-devices: some units of a GPU
 *
 * A sub-device is a mask of units that its queues may use. A mask has 64 bits, so that of a GPU
 * of more units the first 64 can be divided. The units of a NUMA node have consecutive numbers.
 */
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "icd.h"

#define MOST_PARTS 64u

/* struct partition - How many units each part gets, in turn. */
struct partition {
	unsigned int counts[MOST_PARTS];
	unsigned int parts;
	/* Elements of the property list, with the 0 at the end */
	size_t length;
};

static unsigned int divisible(const struct _cl_device_id *device)
{
	return device->units < MOST_PARTS ? device->units : MOST_PARTS;
}

static cl_int divide_equally(const struct _cl_device_id *device, cl_device_partition_property each,
			     struct partition *partition)
{
	const unsigned int units = divisible(device);

	if (each < 1)
		return CL_INVALID_VALUE;
	if ((uint64_t)each > units)
		return CL_INVALID_DEVICE_PARTITION_COUNT;
	if ((uint64_t)each == units)
		return CL_DEVICE_PARTITION_FAILED;
	while (partition->parts < units / each)
		partition->counts[partition->parts++] = each;
	partition->length = 3;
	return CL_SUCCESS;
}

static cl_int divide_by_counts(const struct _cl_device_id *device,
			       const cl_device_partition_property *counts,
			       struct partition *partition)
{
	uint64_t total = 0;

	for (; counts[partition->parts] != CL_DEVICE_PARTITION_BY_COUNTS_LIST_END;
	     partition->parts++) {
		if (counts[partition->parts] < 0 || partition->parts == divisible(device))
			return CL_INVALID_DEVICE_PARTITION_COUNT;
		total += counts[partition->parts];
		if (total > divisible(device))
			return CL_INVALID_DEVICE_PARTITION_COUNT;
		partition->counts[partition->parts] = counts[partition->parts];
	}
	if (!partition->parts)
		return CL_INVALID_DEVICE_PARTITION_COUNT;
	partition->length = partition->parts + 3;
	return CL_SUCCESS;
}

static cl_int divide_by_domain(const struct _cl_device_id *device,
			       cl_device_partition_property domain, struct partition *partition)
{
	const unsigned int nodes = salvo_cl_device_nodes(device);

	/* CL_DEVICE_PARTITION_AFFINITY_DOMAIN answers which there are. */
	if (nodes < 2 || (domain != CL_DEVICE_AFFINITY_DOMAIN_NUMA &&
			  domain != CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE))
		return CL_INVALID_VALUE;
	while (partition->parts < nodes)
		partition->counts[partition->parts++] = device->units / nodes;
	partition->length = 3;
	return CL_SUCCESS;
}

unsigned int salvo_cl_device_nodes(const struct _cl_device_id *device)
{
	const struct salvo_device_info *info = &device->root->info;

	if (device->parent || info->units > MOST_PARTS || info->units % info->nodes)
		return 1;
	return info->nodes;
}

static cl_int divide(const struct _cl_device_id *device,
		     const cl_device_partition_property *properties, struct partition *partition)
{
	cl_int err;

	*partition = (struct partition){ .parts = 0 };
	if (!properties)
		return CL_INVALID_VALUE;
	switch (properties[0]) {
	case CL_DEVICE_PARTITION_EQUALLY:
		err = divide_equally(device, properties[1], partition);
		break;
	case CL_DEVICE_PARTITION_BY_COUNTS:
		return device->units < 2 ? CL_DEVICE_PARTITION_FAILED :
					   divide_by_counts(device, properties + 1, partition);
	case CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN:
		err = divide_by_domain(device, properties[1], partition);
		break;
	default:
		return CL_INVALID_VALUE;
	}
	/* One property only */
	return err ? err : properties[2] ? CL_INVALID_VALUE :
			   device->units < 2 ? CL_DEVICE_PARTITION_FAILED : CL_SUCCESS;
}

/* The lowest @count units of @left. */
static uint64_t take_units(uint64_t *left, unsigned int count)
{
	uint64_t mask = 0;

	while (count--) {
		mask |= *left & -*left;
		*left &= *left - 1;
	}
	return mask;
}

static cl_int create_parts(cl_device_id device, const cl_device_partition_property *properties,
			   const struct partition *partition, cl_device_id *out)
{
	uint64_t left = device->eu_mask;
	unsigned int i;

	if (!left)
		left = device->units < 64 ? (1ull << device->units) - 1 : ~0ull;
	for (i = 0; i < partition->parts; i++) {
		out[i] = salvo_cl_device_create_part(
			device, take_units(&left, partition->counts[i]), partition->counts[i],
			properties, partition->length);
		if (out[i])
			continue;
		while (i--)
			salvo_cl_object_put(&out[i]->base);
		return CL_OUT_OF_HOST_MEMORY;
	}
	return CL_SUCCESS;
}

cl_int salvo_clCreateSubDevices(cl_device_id device, const cl_device_partition_property *properties,
				cl_uint num_entries, cl_device_id *devices, cl_uint *num_devices)
{
	struct partition partition;
	cl_int err;

	if (!salvo_cl_is(device, SALVO_CL_DEVICE))
		return CL_INVALID_DEVICE;
	if (!salvo_cl_device_limits(device))
		return CL_DEVICE_PARTITION_FAILED;
	err = divide(device, properties, &partition);
	if (err)
		return err;
	if (devices ? num_entries < partition.parts : !num_devices)
		return CL_INVALID_VALUE;
	if (devices)
		err = create_parts(device, properties, &partition, devices);
	if (!err && num_devices)
		*num_devices = partition.parts;
	return err;
}
