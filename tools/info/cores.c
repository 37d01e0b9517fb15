// SPDX-License-Identifier: MIT
/*
 * cores.c - the CPU cores that the units of the embedded GPU are pinned to, and their caches
 */
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "info.h"

#define MAX_NODES 64

static void query_caches(struct info_core *core)
{
	char path[128], level[8], type[16], size[16];
	unsigned int i;

	for (i = 0; i < 8; i++) {
		const char *format = "/sys/devices/system/cpu/cpu%d/cache/index%u/%s";

		snprintf(path, sizeof(path), format, core->cpu, i, "level");
		if (!file_read_word(path, level, sizeof(level)))
			return;
		snprintf(path, sizeof(path), format, core->cpu, i, "type");
		file_read_word(path, type, sizeof(type));
		snprintf(path, sizeof(path), format, core->cpu, i, "size");
		file_read_word(path, size, sizeof(size));
		if (!strcmp(level, "1") && !strcmp(type, "Data"))
			memcpy(core->l1d, size, sizeof(size));
		else if (!strcmp(level, "2"))
			memcpy(core->l2, size, sizeof(size));
		else if (!strcmp(level, "3"))
			memcpy(core->l3, size, sizeof(size));
	}
}

static void query_core(struct info_core *core, int cpu)
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
	query_caches(core);
}

/* Is this thread of our process an execution unit? */
static bool is_unit(int tid)
{
	char path[64], comm[32];

	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", tid);
	return file_read_word(path, comm, sizeof(comm)) && !strcmp(comm, "salvo-eu");
}

static int compare_ints(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* The units are threads of this process, started in order. */
unsigned int info_query_cores(struct info_core cores[INFO_MAX_UNITS])
{
	int tids[INFO_MAX_UNITS], cpu;
	DIR *dir = opendir("/proc/self/task");
	unsigned int i, count = 0;
	struct dirent *entry;
	cpu_set_t set;

	while (dir && (entry = readdir(dir)) && count < INFO_MAX_UNITS)
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
		query_core(&cores[i], cpu);
	}
	return i;
}
