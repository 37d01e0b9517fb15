// SPDX-License-Identifier: MIT
/*
 * main.c - what the Salvo GPUs of this machine are, and their limits
 *
 * Shows each render node that the salvo driver owns and the GPU that is embedded in
 * libsalvo. What the library knows comes from salvo_device_get_info(); of a render
 * node also the driver, the hardware and the PCI function; of the embedded GPU the
 * core that each unit is pinned to, with its caches.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <xf86drm.h>

#include "cli.h"
#include "json.h"
#include "drm/salvo_drm.h"

#define TOOL		"salvo-info"
#define MAX_UNITS	64
#define MAX_NODES	64

struct options {
	const char *device;
	bool json;
};

/* Of a render node, what the library does not tell. */
struct driver {
	int version[3];
	char date[32];
	char pci[32];		/* address, or empty */
	struct drm_salvo_device_info info;
};

/* The core of a unit. */
struct core {
	int cpu;
	int node;		/* or -1 */
	char l1d[16], l2[16], l3[16];
};

struct device {
	struct salvo_device_info info;
	bool is_soft;
	struct driver driver;
	struct core cores[MAX_UNITS];
	unsigned int core_count;
};

static const char usage[] =
	"usage: salvo-info [options]\n"
	"\n"
	"Show the Salvo GPUs of this machine, their limits, and what they run on.\n"
	"\n"
	"  --device NAME    only this one: soft or a render node (default: all)\n"
	"  --json           print one JSON object\n"
	"  --help           this text\n"
	"  --version        the version\n"
	"\n"
	"Exit code: 0 done, 1 a device cannot be opened, 2 wrong usage.\n";

/* --- asking ----------------------------------------------------------------- */

/* Reads the first word of a small file. */
static bool read_word(const char *path, char *out, size_t bytes)
{
	FILE *file = fopen(path, "re");
	bool got;

	out[0] = 0;
	if (!file)
		return false;
	got = fgets(out, bytes, file);
	fclose(file);
	out[strcspn(out, " \t\n")] = 0;
	return got;
}

static void ask_caches(struct core *core)
{
	char path[128], level[8], type[16], size[16];
	unsigned int i;

	for (i = 0; i < 8; i++) {
		const char *format = "/sys/devices/system/cpu/cpu%d/cache/index%u/%s";

		snprintf(path, sizeof(path), format, core->cpu, i, "level");
		if (!read_word(path, level, sizeof(level)))
			return;
		snprintf(path, sizeof(path), format, core->cpu, i, "type");
		read_word(path, type, sizeof(type));
		snprintf(path, sizeof(path), format, core->cpu, i, "size");
		read_word(path, size, sizeof(size));
		if (!strcmp(level, "1") && !strcmp(type, "Data"))
			memcpy(core->l1d, size, sizeof(size));
		else if (!strcmp(level, "2"))
			memcpy(core->l2, size, sizeof(size));
		else if (!strcmp(level, "3"))
			memcpy(core->l3, size, sizeof(size));
	}
}

static void ask_core(struct core *core, int cpu)
{
	char path[64];
	int node;

	core->cpu = cpu;
	core->node = -1;
	for (node = 0; node < MAX_NODES && core->node < 0; node++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/node%d", cpu, node);
		if (!access(path, F_OK))
			core->node = node;
	}
	ask_caches(core);
}

/* Is this thread of ours a unit? */
static bool is_unit(int tid)
{
	char path[64], comm[32];

	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", tid);
	return read_word(path, comm, sizeof(comm)) && !strcmp(comm, "salvo-eu");
}

static int compare_ints(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* The units of the embedded GPU are threads of this process, started in order. */
static void ask_units(struct device *device)
{
	DIR *dir = opendir("/proc/self/task");
	int tids[MAX_UNITS], cpu;
	unsigned int i, count = 0;
	struct dirent *entry;
	cpu_set_t set;

	while (dir && (entry = readdir(dir)) && count < MAX_UNITS)
		if (entry->d_name[0] != '.' && is_unit(atoi(entry->d_name)))
			tids[count++] = atoi(entry->d_name);
	if (dir)
		closedir(dir);
	qsort(tids, count, sizeof(tids[0]), compare_ints);
	for (i = 0; i < count; i++) {
		if (sched_getaffinity(tids[i], sizeof(set), &set))
			break;
		for (cpu = 0; cpu < CPU_SETSIZE && !CPU_ISSET(cpu, &set); cpu++)
			;
		ask_core(&device->cores[device->core_count++], cpu);
	}
}

static void ask_driver(const char *path, struct driver *driver)
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

static int ask(const char *name, struct device *device)
{
	struct salvo_device *opened;
	int err;

	memset(device, 0, sizeof(*device));
	err = cli_open(TOOL, name, &opened);
	if (err)
		return err;
	salvo_device_get_info(opened, &device->info);
	device->is_soft = !strcmp(device->info.name, "soft");
	if (device->is_soft)
		ask_units(device);
	else
		ask_driver(device->info.name, &device->driver);
	salvo_device_close(opened);
	return 0;
}

/* --- telling ---------------------------------------------------------------- */

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

static void print_driver(const struct driver *driver)
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

static void print_cores(const struct device *device)
{
	unsigned int i;

	for (i = 0; i < device->core_count; i++) {
		const struct core *core = &device->cores[i];

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

static void print_device(const struct device *device)
{
	const struct salvo_device_info *info = &device->info;

	printf("%s%s\n", info->name, device->is_soft ? ": the GPU embedded in libsalvo" : "");
	if (!device->is_soft)
		print_driver(&device->driver);
	printf("  execution units      %u in %u node%s, x86-64-v%u\n", info->units, info->nodes,
	       info->nodes == 1 ? "" : "s", info->isa_level);
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
}

static void write_driver(struct json *json, const struct driver *driver)
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

static void write_cores(struct json *json, const struct device *device)
{
	unsigned int i;

	json_array(json, "cores");
	for (i = 0; i < device->core_count; i++) {
		const struct core *core = &device->cores[i];

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

static void write_device(struct json *json, const struct device *device)
{
	const struct salvo_device_info *info = &device->info;

	json_object(json, NULL);
	json_string(json, "name", info->name);
	json_bool(json, "embedded", device->is_soft);
	if (device->is_soft)
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
	json_object_end(json);
}

/* --- the command line --------------------------------------------------------- */

/* Does the salvo driver own this render node? Without opening it. */
static bool is_ours(const char *node)
{
	char path[PATH_MAX], target[PATH_MAX];
	const char *name;
	ssize_t length;

	snprintf(path, sizeof(path), "/sys/class/drm/%s/device/driver", node);
	length = readlink(path, target, sizeof(target) - 1);
	if (length < 0)
		return false;
	target[length] = 0;
	name = strrchr(target, '/');
	return !strcmp(name ? name + 1 : target, "salvo");
}

static int show(const struct options *options, struct json *json, const char *name, bool first)
{
	struct device device;

	if (ask(name, &device))
		return EXIT_FAILED;
	if (options->json) {
		write_device(json, &device);
	} else {
		if (!first)
			putchar('\n');
		print_device(&device);
	}
	return EXIT_OK;
}

static int show_all(const struct options *options, struct json *json)
{
	int code = EXIT_OK, i, nodes = 0;
	struct dirent **entries;
	int count = scandir("/dev/dri", &entries, NULL, versionsort);

	for (i = 0; i < count; i++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "/dev/dri/%s", entries[i]->d_name);
		if (!strncmp(entries[i]->d_name, "renderD", 7) && is_ours(entries[i]->d_name))
			code |= show(options, json, path, !nodes++);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	code |= show(options, json, "soft", !nodes);
	if (!nodes && !options->json)
		puts("\nNo render node belongs to the salvo driver.");
	return code;
}

static int run(const struct options *options)
{
	struct json json = { .file = stdout };
	int code;

	if (options->json) {
		json_object(&json, NULL);
		json_string(&json, "version", TOOL_VERSION);
		json_array(&json, "devices");
	}
	if (options->device)
		code = show(options, &json, options->device, true);
	else
		code = show_all(options, &json);
	if (options->json) {
		json_array_end(&json);
		json_object_end(&json);
		json_line_end(&json);
	}
	return cli_finish(TOOL, code);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	struct options options = { 0 };
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 'd':
			options.device = optarg;
			break;
		case 'j':
			options.json = true;
			break;
		default:
			return cli_other(TOOL, usage, c);
		}
	}
	if (optind != argc)
		return cli_usage(TOOL, usage);
	return run(&options);
}
