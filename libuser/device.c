// SPDX-License-Identifier: MIT
/*
 * device.c - open a GPU, on whichever back end it is
 *
 * A struct salvo_device may be used from any thread: its information never
 * changes after open, and the back ends lock their own state. The names of kernels are
 * kept, each once, until the device is closed: errors are told with them, maybe long after
 * program and batch are gone.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "notifier.h"
#include "winsys.h"

/* A kernel's name that someone may still hold. */
struct salvo_name {
	struct salvo_name *next;
	char string[];
};

static int open_back_end(const char *name, struct salvo_device **out)
{
	int err;

	if (name && !strcmp(name, "soft"))
		err = salvo_winsys_soft_open(out);
	else
		err = salvo_winsys_drm_open(name, out);
	if (!name && err == -ENODEV)
		err = salvo_winsys_soft_open(out);
	if (!err)
		(*out)->dump = salvo_dump_open();
	return err;
}

/* SALVO_TIMEOUT_MS: for programs that nobody wants to change. */
static void set_timeout_from_environment(struct salvo_device *device)
{
	const char *text = getenv("SALVO_TIMEOUT_MS");
	const long milliseconds = text ? strtol(text, NULL, 10) : 0;

	if (milliseconds > 0 && milliseconds < INT32_MAX)
		salvo_device_set_timeout(device, milliseconds * 1000000ll);
}

int salvo_device_open(const char *name, struct salvo_device **out)
{
	int err;

	*out = NULL;
	err = open_back_end(name, out);
	if (err)
		return err;
	pthread_mutex_init(&(*out)->lock, NULL);
	set_timeout_from_environment(*out);
	return 0;
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

	if (!device)
		return;
	salvo_dump_close(device->dump);
	/* The importer last: a callback may be waiting for what it watches. */
	salvo_notifier_destroy(device->notifier);
	salvo_notifier_destroy(device->importer);
	pthread_mutex_destroy(&device->lock);
	names = device->names;
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
