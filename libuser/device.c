// SPDX-License-Identifier: MIT
/*
 * device.c - open a GPU, on whichever back end it is
 *
 * A struct salvo_device may be used from any thread: its information never
 * changes after open, and the back ends lock their own state.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <time.h>

#include "dump.h"
#include "winsys.h"

int salvo_device_open(const char *name, struct salvo_device **out)
{
	int err;

	*out = NULL;
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

void salvo_device_close(struct salvo_device *device)
{
	if (!device)
		return;
	salvo_dump_close(device->dump);
	device->winsys->close(device);
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

int64_t salvo_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

int64_t salvo_deadline_ns(int64_t timeout_ns)
{
	int64_t deadline;

	if (timeout_ns < 0 || __builtin_add_overflow(salvo_now_ns(), timeout_ns, &deadline))
		return INT64_MAX;
	return deadline;
}
