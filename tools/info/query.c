// SPDX-License-Identifier: MIT
/*
 * query.c - query a device: limits from the library, versions from libdrm and the driver
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <xf86drm.h>

#include "cli.h"
#include "info.h"
#include "salvo_hw.h"
#include "salvo_steal.h"

void info_query_driver(const char *path, struct info_driver *driver)
{
	struct drm_salvo_dev_query query = {
		.type = DRM_SALVO_QUERY_DEVICE,
		.size = sizeof(driver->info),
		.pointer = (uintptr_t)&driver->info,
	};
	int fd = open(path, O_RDWR | O_CLOEXEC);
	drmDevicePtr bus = NULL;
	drmVersionPtr version;

	if (fd < 0)
		return;
	version = drmGetVersion(fd);
	if (version) {
		driver->version[0] = version->version_major;
		driver->version[1] = version->version_minor;
		driver->version[2] = version->version_patchlevel;
		snprintf(driver->date, sizeof(driver->date), "%s", version->date);
		drmFreeVersion(version);
	}
	if (!drmGetDevice2(fd, 0, &bus)) {
		if (bus->bustype == DRM_BUS_PCI)
			snprintf(driver->pci, sizeof(driver->pci), "%04x:%02x:%02x.%u",
				 bus->businfo.pci->domain, bus->businfo.pci->bus,
				 bus->businfo.pci->dev, bus->businfo.pci->func);
		drmFreeDevice(&bus);
	}
	if (ioctl(fd, DRM_IOCTL_SALVO_DEV_QUERY, &query))
		memset(&driver->info, 0, sizeof(driver->info));
	close(fd);
}

/* A pool as a program gets it that asks for nothing. */
static unsigned int default_workers(void)
{
	struct salvo_pool *pool;
	unsigned int workers;

	if (salvo_pool_create(NULL, &pool))
		return 0;
	workers = salvo_pool_workers(pool);
	salvo_pool_destroy(pool);
	return workers;
}

int info_query(const char *name, struct info_device *device)
{
	struct salvo_device *opened;
	int err;

	memset(device, 0, sizeof(*device));
	err = cli_open(TOOL, name, &opened);
	if (err)
		return err;
	salvo_device_get_info(opened, &device->info);
	device->embedded = !strcmp(device->info.name, "soft");
	if (device->embedded)
		device->core_count = info_query_cores(device->cores);
	else
		info_query_driver(device->info.name, &device->driver);
	salvo_device_close(opened);
	device->slots = device->embedded ? SALVO_MAX_SLOTS : device->driver.info.max_slots;
	device->workers = default_workers();
	return 0;
}
