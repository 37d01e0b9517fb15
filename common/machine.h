/* SPDX-License-Identifier: MIT */
/*
 * machine.h - hwloc's description of the machine
 */
#ifndef SALVO_MACHINE_H
#define SALVO_MACHINE_H

#include <hwloc.h>

/**
 * salvo_machine_load() - Describe the machine's cores, and its caches of level 3.
 * @machine: Set on success. Pass it to salvo_machine_unload() in the same thread, soon.
 *
 * Any thread may call it. Until it is unloaded, other threads wait here and in fork().
 *
 * Return: 0, -ENOMEM, -EPERM (a sandbox refuses sched_getaffinity()).
 */
int salvo_machine_load(hwloc_topology_t *machine);

/** salvo_machine_unload() - Free a description. */
void salvo_machine_unload(hwloc_topology_t machine);

#endif /* SALVO_MACHINE_H */
