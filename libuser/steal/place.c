// SPDX-License-Identifier: MIT
/* place.c - the cores that workers are bound to */
#include <hwloc.h>
#include "worker.h"

unsigned int salvo_place_cores(int *cores, unsigned int room)
{
	hwloc_cpuset_t allowed = hwloc_bitmap_alloc();
	hwloc_topology_t machine;
	hwloc_obj_t core = NULL;
	unsigned int count = 0;

	if (!allowed || hwloc_topology_init(&machine))
		goto out;
	hwloc_topology_set_all_types_filter(machine, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
	if (!hwloc_topology_load(machine) &&
	    !hwloc_get_cpubind(machine, allowed, HWLOC_CPUBIND_THREAD))
		while (count < room &&
		       (core = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_PU, core)))
			if (hwloc_bitmap_isset(allowed, core->os_index))
				cores[count++] = core->os_index;
	hwloc_topology_destroy(machine);
out:
	hwloc_bitmap_free(allowed);
	return count;
}
