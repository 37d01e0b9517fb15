/* SPDX-License-Identifier: MIT */
/*
 * topology.h - execution units and the nodes that they form
 */
#ifndef SALVO_TOPOLOGY_H
#define SALVO_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "salvo_hw.h"

/* Longest latency that can be added */
#define SALVO_TOPOLOGY_MAX_NS	1000000u

/**
 * struct salvo_node - Units at the same distance from the global command queue.
 */
struct salvo_node {
	/** @units: Mask of its units. */
	uint64_t units;
	/** @far: The global command queue is slow to reach: the node has local ones (N6). */
	bool far;
	/** @latency_ns: Added to each of its accesses to the global command queue. */
	uint32_t latency_ns;
};

/**
 * struct salvo_topology - The units of a GPU.
 */
struct salvo_topology {
	/** @units: 1 to SALVO_MAX_UNITS. */
	unsigned int units;
	/** @nodes: Number of nodes; each has a unit, each unit is in one. */
	unsigned int nodes;
	struct salvo_node node[SALVO_MAX_UNITS];
	/** @core: Logical processor that a unit prefers; -1 for any. */
	int core[SALVO_MAX_UNITS];
};

/**
 * salvo_topology_detect() - Describe the machine: one unit for each allowed core.
 * @units: Number of units instead, at most SALVO_MAX_UNITS; 0 for one for each core.
 *
 * Return: 0 or -ENOMEM.
 */
int salvo_topology_detect(struct salvo_topology *topology, unsigned int units);

/**
 * salvo_topology_parse() - Parse a topology.
 * @text: See salvo_gpu_check_topology().
 * @why: Gets what is wrong; SALVO_GPU_WHY bytes.
 *
 * Return: 0 or -EINVAL.
 */
int salvo_topology_parse(struct salvo_topology *topology, const char *text, char *why);

#endif /* SALVO_TOPOLOGY_H */
