// SPDX-License-Identifier: MIT
/*
 * device.c - devices: found, opened, kept
 *
 * A root device opens its GPU for a moment to learn its limits, and for good with the first
 * context: the last reference of a context may be dropped by a callback, which must not close a
 * device. Root devices live as long as the process, sub-devices are counted. The lock of the root
 * device protects its limits and its open GPU.
 */
#include "device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "icd.h"
#include "inherit.h"
#include "platform.h"

static void destroy(struct salvo_cl_object *object)
{
	cl_device_id device = (cl_device_id)object;

	salvo_cl_device_put(device->parent);
	free(device->partition);
	pthread_mutex_destroy(&device->lock);
	free(device);
}

cl_device_id salvo_cl_device_create(const char *name)
{
	cl_device_id device = calloc(1, sizeof(*device));

	if (!device)
		return NULL;
	salvo_cl_object_init(&device->base, SALVO_CL_DEVICE, destroy);
	pthread_mutex_init(&device->lock, NULL);
	strncpy(device->name, name, sizeof(device->name) - 1);
	device->root = device;
	return device;
}

cl_device_id salvo_cl_device_create_part(cl_device_id device, uint64_t eu_mask, unsigned int units,
					 const cl_device_partition_property *partition,
					 size_t partition_count)
{
	cl_device_id part = salvo_cl_device_create(device->name);

	if (!part)
		return NULL;
	part->partition = malloc(partition_count * sizeof(*partition));
	if (!part->partition) {
		salvo_cl_object_put(&part->base);
		return NULL;
	}
	memcpy(part->partition, partition, partition_count * sizeof(*partition));
	part->partition_count = partition_count;
	part->parent = device;
	part->root = device->root;
	part->eu_mask = eu_mask;
	part->units = units;
	salvo_cl_device_get(device);
	return part;
}

/* The caller holds the lock. */
static void learn_limits(cl_device_id device, struct salvo_device *salvo)
{
	if (device->known)
		return;
	salvo_device_get_info(salvo, &device->info);
	device->units = device->info.units;
	device->known = true;
}

cl_int salvo_cl_device_open(cl_device_id device, struct salvo_device **out)
{
	int err = 0;

	device = device->root;
	pthread_mutex_lock(&device->lock);
	/* An embedded GPU of the parent does not run in a child. */
	if (salvo_cl_device_is_embedded(device) &&
	    device->generation != salvo_cl_inherit_generation())
		device->salvo = NULL;
	device->generation = salvo_cl_inherit_generation();
	if (!device->salvo) {
		err = salvo_device_open(device->name, &device->salvo);
		if (!err)
			learn_limits(device, device->salvo);
	}
	*out = device->salvo;
	pthread_mutex_unlock(&device->lock);
	if (err == -ENOMEM || err == -EAGAIN)
		return CL_OUT_OF_HOST_MEMORY;
	return err ? CL_DEVICE_NOT_AVAILABLE : CL_SUCCESS;
}

const struct salvo_device_info *salvo_cl_device_limits(cl_device_id device)
{
	struct salvo_device *salvo;

	device = device->root;
	pthread_mutex_lock(&device->lock);
	if (!device->known && !salvo_device_open(device->name, &salvo)) {
		learn_limits(device, salvo);
		salvo_device_close(salvo);
	}
	pthread_mutex_unlock(&device->lock);
	return device->known ? &device->info : NULL;
}

bool salvo_cl_device_is_embedded(cl_device_id device)
{
	return !strcmp(device->root->name, "soft");
}

void salvo_cl_device_get(cl_device_id device)
{
	if (device && device->parent)
		salvo_cl_object_get(&device->base);
}

void salvo_cl_device_put(cl_device_id device)
{
	if (device && device->parent)
		salvo_cl_object_put(&device->base);
}

cl_int salvo_clRetainDevice(cl_device_id device)
{
	if (!salvo_cl_is(device, SALVO_CL_DEVICE))
		return CL_INVALID_DEVICE;
	if (device->parent)
		salvo_cl_object_retain(&device->base);
	return CL_SUCCESS;
}

cl_int salvo_clReleaseDevice(cl_device_id device)
{
	if (!salvo_cl_is(device, SALVO_CL_DEVICE))
		return CL_INVALID_DEVICE;
	if (device->parent && !salvo_cl_object_release(&device->base))
		return CL_INVALID_DEVICE;
	return CL_SUCCESS;
}

static bool is_type(cl_device_type type)
{
	const cl_device_type all = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU |
				   CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR |
				   CL_DEVICE_TYPE_CUSTOM;

	return type == CL_DEVICE_TYPE_ALL || (type && !(type & ~all));
}

cl_int salvo_clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint num_entries,
			    cl_device_id *devices, cl_uint *num_devices)
{
	cl_uint count, i;

	if (platform && !salvo_cl_is(platform, SALVO_CL_PLATFORM))
		return CL_INVALID_PLATFORM;
	if (!is_type(type))
		return CL_INVALID_DEVICE_TYPE;
	if ((!num_entries && devices) || (!devices && !num_devices))
		return CL_INVALID_VALUE;
	platform = salvo_cl_platform();
	count = platform->device_count;
	if (type != CL_DEVICE_TYPE_ALL && !(type & CL_DEVICE_TYPE_GPU))
		count = (type & CL_DEVICE_TYPE_DEFAULT) && count ? 1 : 0;
	if (!count)
		return CL_DEVICE_NOT_FOUND;
	for (i = 0; devices && i < count && i < num_entries; i++)
		devices[i] = platform->devices[i];
	if (num_devices)
		*num_devices = count;
	return CL_SUCCESS;
}

/* The host's timer is CLOCK_MONOTONIC, to which profiles are converted. */
static cl_ulong host_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

cl_int salvo_clGetDeviceAndHostTimer(cl_device_id device, cl_ulong *device_timestamp,
				     cl_ulong *host_timestamp)
{
	if (!salvo_cl_is(device, SALVO_CL_DEVICE))
		return CL_INVALID_DEVICE;
	if (!device_timestamp || !host_timestamp)
		return CL_INVALID_VALUE;
	*host_timestamp = host_time();
	*device_timestamp = *host_timestamp;
	return CL_SUCCESS;
}

cl_int salvo_clGetHostTimer(cl_device_id device, cl_ulong *host_timestamp)
{
	if (!salvo_cl_is(device, SALVO_CL_DEVICE))
		return CL_INVALID_DEVICE;
	if (!host_timestamp)
		return CL_INVALID_VALUE;
	*host_timestamp = host_time();
	return CL_SUCCESS;
}
