// SPDX-License-Identifier: MIT
/*
 * report.c - a device as text and as JSON
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli.h"
#include "info.h"
#include "salvo_march.h"

static void print_bytes(uint64_t bytes)
{
	if (bytes && !(bytes & ((1 << 30) - 1)))
		printf("%" PRIu64 " GiB", bytes >> 30);
	else if (bytes && !(bytes & ((1 << 20) - 1)))
		printf("%" PRIu64 " MiB", bytes >> 20);
	else if (bytes && !(bytes & 1023))
		printf("%" PRIu64 " KiB", bytes >> 10);
	else
		printf("%" PRIu64 " bytes", bytes);
}

static void print_driver(const struct info_driver *driver)
{
	printf("  driver               salvo %d.%d.%d, %s\n", driver->version[0],
	       driver->version[1], driver->version[2], driver->date);
	if (driver->pci[0])
		printf("  PCI function         %s\n", driver->pci);
	printf("  hardware version     %u.%u\n", driver->info.hw_version >> 16,
	       driver->info.hw_version & 0xffff);
	printf("  resets so far        %" PRIu64 "\n", (uint64_t)driver->info.resets);
	printf("  fences               %u to wait for or signal in a submission\n",
	       driver->info.max_syncs);
}

static void print_cores(const struct info_device *device)
{
	unsigned int i;

	for (i = 0; i < device->core_count; i++) {
		const struct info_core *core = &device->cores[i];

		printf("  unit %-2u              core %d", i, core->cpu);
		if (core->node >= 0)
			printf(", node %d", core->node);
		if (core->l1d[0])
			printf(", L1d %s", core->l1d);
		if (core->l2[0])
			printf(", L2 %s", core->l2);
		if (core->l3[0])
			printf(", L3 %s", core->l3);
		putchar('\n');
	}
}

void info_print(const struct info_device *device)
{
	const struct salvo_device_info *info = &device->info;

	printf("%s%s\n", info->name, device->embedded ? ": the GPU embedded in libsalvo" : "");
	if (!device->embedded)
		print_driver(&device->driver);
	printf("  execution units      %u in %u node%s, %s\n", info->units, info->nodes,
	       info->nodes == 1 ? "" : "s", salvo_march(info->isa_level));
	print_cores(device);
	fputs("  video memory         ", stdout);
	print_bytes(info->vram_bytes);
	printf("\n  clock                %g MHz\n", info->clock_hz / 1e6);
	printf("  a batch              %u commands, ", info->max_commands);
	print_bytes(info->max_argument_bytes);
	printf(" of arguments\n  a dispatch           %" PRIu64 " work-items in a dimension, ",
	       info->max_items);
	print_bytes(info->max_dispatch_argument_bytes);
	printf(" of arguments\n  a work-group         %u work-items, ", info->max_group_items);
	print_bytes(info->max_local_bytes);
	puts(" of local memory");
	printf("  work stealing        %u worker%s in a pool by default, ", device->workers,
	       device->workers == 1 ? "" : "s");
	if (device->slots)
		printf("%u slots for their leaves\n", device->slots);
	else
		puts("no slots: leaves are batches");
}

static void write_driver(struct json *json, const struct info_driver *driver)
{
	char version[64];

	snprintf(version, sizeof(version), "%d.%d.%d", driver->version[0], driver->version[1],
		 driver->version[2]);
	json_string(json, "driver_version", version);
	json_string(json, "driver_date", driver->date);
	json_string(json, "pci", driver->pci);
	json_count(json, "hw_version", driver->info.hw_version);
	json_count(json, "resets", driver->info.resets);
	json_count(json, "max_syncs", driver->info.max_syncs);
}

static void write_cores(struct json *json, const struct info_device *device)
{
	unsigned int i;

	json_array(json, "cores");
	for (i = 0; i < device->core_count; i++) {
		const struct info_core *core = &device->cores[i];

		json_object(json, NULL);
		json_count(json, "unit", i);
		json_count(json, "core", core->cpu);
		if (core->node >= 0)
			json_count(json, "node", core->node);
		json_string(json, "l1d", core->l1d);
		json_string(json, "l2", core->l2);
		json_string(json, "l3", core->l3);
		json_object_end(json);
	}
	json_array_end(json);
}

void info_write(struct json *json, const struct info_device *device)
{
	const struct salvo_device_info *info = &device->info;

	json_object(json, NULL);
	json_string(json, "name", info->name);
	json_bool(json, "embedded", device->embedded);
	if (device->embedded)
		write_cores(json, device);
	else
		write_driver(json, &device->driver);
	json_count(json, "units", info->units);
	json_count(json, "nodes", info->nodes);
	json_count(json, "isa_level", info->isa_level);
	json_count(json, "vram_bytes", info->vram_bytes);
	json_count(json, "clock_hz", info->clock_hz);
	json_count(json, "max_commands", info->max_commands);
	json_count(json, "max_argument_bytes", info->max_argument_bytes);
	json_count(json, "max_dispatch_argument_bytes", info->max_dispatch_argument_bytes);
	json_count(json, "max_items", info->max_items);
	json_count(json, "max_group_items", info->max_group_items);
	json_count(json, "max_local_bytes", info->max_local_bytes);
	json_count(json, "pool_workers", device->workers);
	json_count(json, "slots", device->slots);
	json_object_end(json);
}

void info_write_error(struct json *json, const char *name)
{
	json_object(json, NULL);
	json_string(json, "name", name);
	cli_write_error(json);
	json_object_end(json);
}
