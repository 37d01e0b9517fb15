// SPDX-License-Identifier: MIT
/* place.c - the cores that workers are bound to */
#include <errno.h>
#include "machine.h"
#include "worker.h"

static int find_cores(hwloc_topology_t machine, int *cores, unsigned int room)
{
	hwloc_cpuset_t allowed = hwloc_bitmap_alloc();
	hwloc_obj_t core = NULL;
	unsigned int count = 0;

	if (!allowed)
		return -ENOMEM;
	if (!hwloc_get_cpubind(machine, allowed, HWLOC_CPUBIND_THREAD))
		while (count < room &&
		       (core = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_PU, core)))
			if (hwloc_bitmap_isset(allowed, core->os_index))
				cores[count++] = core->os_index;
	hwloc_bitmap_free(allowed);
	return count;
}

int salvo_place_cores(int *cores, unsigned int room)
{
	hwloc_topology_t machine;
	int ret = salvo_machine_load(&machine);

	if (ret)
		return ret == -EPERM ? 0 : ret;
	ret = find_cores(machine, cores, room);
	salvo_machine_unload(machine);
	return ret;
}
