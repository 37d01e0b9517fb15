// SPDX-License-Identifier: MIT
/*
 * machine.c - hwloc's description of the machine
 *
 * hwloc is not called where it would not return. Where memory ends inside it, it ends the process:
 * so it is entered only if a block larger than all that it needs can be allocated. Where a
 * sandbox refuses sched_getaffinity(), it searches for a mask size without end.
 *
 * The lock is held while a thread may be inside hwloc, also across fork(): a child would find
 * hwloc's own lock taken for ever.
 */
#include "machine.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * hwloc 2.9 needs 170 KiB at most for 2 processors, 220 KiB for 64, 1.7 MiB for 1,024 and 3.9 MiB
 * for 2,048, in many small blocks.
 */
#define BASE_BYTES	(1l << 20)
#define PROCESSOR_BYTES	(4l << 10)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void lock_machine(void)
{
	pthread_mutex_lock(&lock);
}

static void unlock_machine(void)
{
	pthread_mutex_unlock(&lock);
}

static void register_fork(void)
{
	pthread_atfork(lock_machine, unlock_machine, unlock_machine);
}

static int can_enter(void)
{
	long processors = sysconf(_SC_NPROCESSORS_CONF);
	/* Volatile, or the compiler removes both calls. */
	void *volatile block;
	cpu_set_t allowed;

	/* EINVAL: more processors than a cpu_set_t has. */
	if (sched_getaffinity(0, sizeof(allowed), &allowed) && errno != EINVAL)
		return -EPERM;
	block = malloc(BASE_BYTES + (processors > 0 ? processors : 0) * PROCESSOR_BYTES);
	if (!block)
		return -ENOMEM;
	free(block);
	return 0;
}

static int load(hwloc_topology_t *machine)
{
	int ret = can_enter();

	if (ret)
		return ret;
	if (hwloc_topology_init(machine))
		return -ENOMEM;
	hwloc_topology_set_all_types_filter(*machine, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
	hwloc_topology_set_type_filter(*machine, HWLOC_OBJ_L3CACHE, HWLOC_TYPE_FILTER_KEEP_ALL);
	if (!hwloc_topology_load(*machine))
		return 0;
	hwloc_topology_destroy(*machine);
	return -ENOMEM;
}

int salvo_machine_load(hwloc_topology_t *machine)
{
	int ret;

	pthread_once(&once, register_fork);
	lock_machine();
	ret = load(machine);
	if (ret)
		unlock_machine();
	return ret;
}

void salvo_machine_unload(hwloc_topology_t machine)
{
	hwloc_topology_destroy(machine);
	unlock_machine();
}
