/* SPDX-License-Identifier: MIT */
/*
 * info.h - what salvo-info knows about a device
 */
#ifndef INFO_INFO_H
#define INFO_INFO_H

#include <stdbool.h>

#include "json.h"
#include "salvo.h"
#include "drm/salvo_drm.h"

#define TOOL		"salvo-info"
#define INFO_MAX_UNITS	64

/** struct info_driver - What only the driver knows about a render node. */
struct info_driver {
	int version[3];
	char date[32];
	/** @pci: Address of the PCI function, or empty. */
	char pci[32];
	struct drm_salvo_device_info info;
};

/** struct info_core - The CPU core that a unit of the embedded GPU is pinned to. */
struct info_core {
	int cpu;
	/** @node: NUMA node, or -1 if unknown. */
	int node;
	/** @l1d, @l2, @l3: Cache sizes as sysfs gives them ("48K"), or empty. */
	char l1d[16], l2[16], l3[16];
};

/** struct info_device - A device; @driver is of a render node, @cores of the embedded GPU. */
struct info_device {
	struct salvo_device_info info;
	bool embedded;
	struct info_driver driver;
	struct info_core cores[INFO_MAX_UNITS];
	unsigned int core_count;
	/** @workers: Of a work-stealing pool by default; 0 if none can be created. */
	unsigned int workers;
	/** @slots: Of the GPU, through which workers reach its units; 0 if it has none. */
	unsigned int slots;
};

/** info_query() - Open and query a device; prints an error if that fails. Return: 0 or -errno. */
int info_query(const char *name, struct info_device *device);

/** info_query_driver() - Query the driver of a render node; what fails stays zero. */
void info_query_driver(const char *path, struct info_driver *driver);

/** info_query_cores() - Find the cores of the embedded GPU's units, which run in this process. */
unsigned int info_query_cores(struct info_core cores[INFO_MAX_UNITS]);

/** info_print() - Print a device as text. */
void info_print(const struct info_device *device);

/** info_write() - Write a device as a JSON object. */
void info_write(struct json *json, const struct info_device *device);

/** info_write_error() - Write a device that could not be queried, with the error, the same way. */
void info_write_error(struct json *json, const char *name);

#endif /* INFO_INFO_H */
