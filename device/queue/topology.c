// SPDX-License-Identifier: MIT
/*
 * topology.c - execution units and the nodes that they form
 *
 * A unit is a logical processor. Units that share a last-level cache
 * within one NUMA node form a node: what one of them fetches is near to all. The global
 * command queue is assumed to be in the memory of the first unit's NUMA node; nodes
 * elsewhere are far and have local command queues (N6 of CN102792271). hwloc describes the
 * machine. As most machines have one node only, a text can specify any other arrangement,
 * with a latency that is added to the accesses of far nodes.
 *
 * No state is kept: callers own the result.
 */
#include "topology.h"

#include <errno.h>
#include <hwloc.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "cursor.h"
#include "machine.h"
#include "salvo_gpu.h"

/* --- the machine ------------------------------------------------------------ */

/* A core that the process may run on, with its cache and NUMA node, or NULL. */
struct place {
	int cpu;
	hwloc_obj_t cache;
	hwloc_obj_t numa;
};

static hwloc_obj_t numa_of(hwloc_topology_t machine, unsigned int cpu)
{
	hwloc_obj_t numa = NULL;

	while ((numa = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_NUMANODE, numa)))
		if (hwloc_bitmap_isset(numa->cpuset, cpu))
			break;
	return numa;
}

static unsigned int find_places(hwloc_topology_t machine, struct place *places)
{
	/* hwloc may describe a synthetic machine, whose processors do not exist. */
	const bool real = hwloc_topology_is_thissystem(machine);
	unsigned int count = 0;
	hwloc_obj_t core = NULL;
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		CPU_ZERO(&allowed);
	while (count < SALVO_MAX_UNITS &&
	       (core = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_PU, core))) {
		const unsigned int cpu = core->os_index;

		if (real && (cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &allowed)))
			continue;
		places[count].cpu = cpu;
		places[count].cache = hwloc_get_ancestor_obj_by_type(machine, HWLOC_OBJ_L3CACHE,
								     core);
		places[count].numa = numa_of(machine, cpu);
		count++;
	}
	return count;
}

static unsigned int add_node(struct salvo_topology *topology, uint64_t units, bool far)
{
	topology->node[topology->nodes] = (struct salvo_node){ .units = units, .far = far };
	return topology->nodes++;
}

static void fill(struct salvo_topology *topology, const struct place *places, unsigned int count)
{
	unsigned int node_of[SALVO_MAX_UNITS];
	unsigned int i, j;

	for (i = 0; i < topology->units; i++) {
		const struct place *place = &places[i % count];

		topology->core[i] = place->cpu;
		for (j = 0; j < i; j++)
			if (places[j % count].cache == place->cache &&
			    places[j % count].numa == place->numa)
				break;
		node_of[i] = j < i ? node_of[j] :
				     add_node(topology, 0, place->numa != places[0].numa);
		topology->node[node_of[i]].units |= 1ull << i;
	}
}

/* What is known without hwloc */
static unsigned int count_processors(void)
{
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);

	if (processors < 1)
		return 1;
	return processors < SALVO_MAX_UNITS ? processors : SALVO_MAX_UNITS;
}

int salvo_topology_detect(struct salvo_topology *topology, unsigned int units)
{
	static const struct place any = { .cpu = -1 };
	struct place places[SALVO_MAX_UNITS];
	hwloc_topology_t machine;
	unsigned int count;
	int ret;

	memset(topology, 0, sizeof(*topology));
	ret = salvo_machine_load(&machine);
	if (ret == -EPERM) {
		topology->units = units ? units : count_processors();
		fill(topology, &any, 1);
		return 0;
	}
	if (ret)
		return ret;
	count = find_places(machine, places);
	topology->units = units ? units : count ? count : 1;
	fill(topology, count ? places : &any, count ? count : 1);
	salvo_machine_unload(machine);
	return 0;
}

/* --- a text ----------------------------------------------------------------- */

struct parser {
	struct salvo_topology *topology;
	const char *at;
	char *why;
};

static int error(const struct parser *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int error(const struct parser *p, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(p->why, SALVO_GPU_WHY, format, args);
	va_end(args);
	return -EINVAL;
}

static int number(struct parser *p, const char *field, unsigned int least, unsigned int most,
		  unsigned int *out)
{
	uint64_t value;

	if (!salvo_cursor_number(&p->at, most, &value))
		return error(p, "%s: a number is missing at '%.20s'", field, p->at);
	if (value < least || value > most)
		return error(p, "%s: not from %u to %u", field, least, most);
	*out = value;
	return 0;
}

/* [ nodes "x" ] units */
static int group(struct parser *p)
{
	struct salvo_topology *topology = p->topology;
	unsigned int nodes = 1, units;
	int err = number(p, "units", 1, SALVO_MAX_UNITS, &units);

	if (!err && salvo_cursor_accept(&p->at, "x")) {
		nodes = units;
		err = number(p, "units", 1, SALVO_MAX_UNITS, &units);
	}
	if (err)
		return err;
	if (nodes * units > SALVO_MAX_UNITS - topology->units)
		return error(p, "units: more than %u in all", SALVO_MAX_UNITS);
	for (; nodes; nodes--) {
		add_node(topology, (~0ull >> (64 - units)) << topology->units, false);
		topology->units += units;
	}
	return 0;
}

/* "far=" node [ ":" latency unit ] */
static int far(struct parser *p)
{
	unsigned int node, latency = 0;
	int err;

	if (!salvo_cursor_accept(&p->at, "far="))
		return error(p, "far=NODE is missing at '%.20s'", p->at);
	err = number(p, "far", 0, p->topology->nodes - 1, &node);
	if (err)
		return err;
	if (salvo_cursor_accept(&p->at, ":")) {
		err = number(p, "latency", 0, SALVO_TOPOLOGY_MAX_NS, &latency);
		if (err)
			return err;
		if (salvo_cursor_accept(&p->at, "us")) {
			if (latency > SALVO_TOPOLOGY_MAX_NS / 1000)
				return error(p, "latency: more than %u us",
					     SALVO_TOPOLOGY_MAX_NS / 1000);
			latency *= 1000;
		} else if (!salvo_cursor_accept(&p->at, "ns")) {
			return error(p, "latency: ns or us is missing at '%.20s'", p->at);
		}
	}
	if (p->topology->node[node].far)
		return error(p, "far: node %u is named twice", node);
	p->topology->node[node].far = true;
	p->topology->node[node].latency_ns = latency;
	return 0;
}

int salvo_topology_parse(struct salvo_topology *topology, const char *text, char *why)
{
	struct parser p = { .topology = topology, .at = text, .why = why };
	unsigned int i;
	int err;

	memset(topology, 0, sizeof(*topology));
	for (i = 0; i < SALVO_MAX_UNITS; i++)
		topology->core[i] = -1;
	do
		err = group(&p);
	while (!err && salvo_cursor_accept(&p.at, "+"));
	while (!err && salvo_cursor_accept(&p.at, ","))
		err = far(&p);
	if (!err && *p.at)
		err = error(&p, "units: unexpected '%.20s'", p.at);
	return err;
}

int salvo_gpu_check_topology(const char *text, char *why)
{
	struct salvo_topology topology;

	return salvo_topology_parse(&topology, text, why);
}
