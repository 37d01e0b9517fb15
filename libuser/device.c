// SPDX-License-Identifier: MIT
/*
 * device.c - an open GPU, on either back end
 *
 * A struct salvo_device may be used from any thread: its information never changes after open,
 * and the back ends lock their own state. Names of kernels are interned until the device is
 * closed, since struct salvo_error refers to them when program and batch may be gone.
 */
#include "device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "notifier.h"
#include "observer.h"
#include "winsys.h"

/* An interned name. */
struct salvo_name {
	struct salvo_name *next;
	char string[];
};

void salvo_device_init(struct salvo_device *device)
{
	pthread_mutex_init(&device->lock, NULL);
	device->generation = salvo_fork_generation();
}

int salvo_device_set_timeout(struct salvo_device *device, int64_t nanoseconds)
{
	if (!device->winsys->set_timeout)
		return -ENOTSUP;
	return device->winsys->set_timeout(device, nanoseconds > 0 ? nanoseconds : 0);
}

void salvo_device_close(struct salvo_device *device)
{
	struct salvo_name *names, *next;

	if (!device || salvo_device_is_inherited(device))
		return;
	if (device->observer)
		device->observer->ops->destroy(device->observer);
	/* The importer last: a callback may wait for an imported fence. */
	salvo_notifier_destroy(device->notifier);
	salvo_notifier_destroy(device->importer);
	names = device->names;
	pthread_mutex_destroy(&device->lock);
	device->winsys->close(device);
	for (; names; names = next) {
		next = names->next;
		free(names);
	}
}

const char *salvo_device_intern(struct salvo_device *device, const char *string)
{
	const size_t bytes = strlen(string) + 1;
	struct salvo_name *name;

	pthread_mutex_lock(&device->lock);
	for (name = device->names; name && strcmp(name->string, string); name = name->next)
		;
	if (!name) {
		name = malloc(sizeof(*name) + bytes);
		if (name) {
			memcpy(name->string, string, bytes);
			name->next = device->names;
			device->names = name;
		}
	}
	pthread_mutex_unlock(&device->lock);
	return name ? name->string : NULL;
}

void salvo_device_get_info(struct salvo_device *device, struct salvo_device_info *info)
{
	*info = device->info;
}

int salvo_device_get_stats(struct salvo_device *device, struct salvo_device_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
	return device->winsys->get_stats(device, stats);
}

void salvo_device_set_polling(struct salvo_device *device, int64_t nanoseconds)
{
	atomic_store_explicit(&device->polling_ns, nanoseconds, memory_order_relaxed);
}
