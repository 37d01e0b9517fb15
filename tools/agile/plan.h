/* SPDX-License-Identifier: MIT */
/*
 * plan.h - a map and a statement over it, as a file describes them, and what they make nodes do
 */
#ifndef AGILE_PLAN_H
#define AGILE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "json.h"
#include "salvo_agile.h"

#define TOOL "salvo-agile"

#define PLAN_MOST_FIELDS 9u

/** struct plan_field - The result, or an operand. */
struct plan_field {
	char name[64];
	struct salvo_agile_map *map;
	struct salvo_agile_field_info info;
	struct salvo_agile_field *field;
	struct salvo_agile_grid grid;
	/** @region: "same", "transposed", "halo" or "all". */
	char region[16];
	uint64_t halo;
};

/** struct plan_move - A memory block that a node reads and does not store. */
struct plan_move {
	unsigned int field;
	uint32_t block;
	uint32_t from, to;
	struct salvo_agile_grid grid;
	uint64_t bytes;
};

/** struct plan - Field 0 is the result. Planned by the owner of the result, without stealing. */
struct plan {
	struct salvo_agile *agile;
	unsigned int nodes;
	struct plan_field fields[PLAN_MOST_FIELDS];
	unsigned int field_count;
	bool steal;
	/** @speeds: Of each node, or NULL. */
	double *speeds;
	struct salvo_agile_schedule *schedule;
	struct plan_move *moves;
	unsigned int move_count;
};

/** plan_read() - Read a description; prints what is wrong with it. Return: an exit code. */
int plan_read(struct plan *plan, const char *path);
/** plan_make() - Find the schedule and the moves. Return: an exit code. */
int plan_make(struct plan *plan);
void plan_fini(struct plan *plan);

/** plan_print() - For people. */
void plan_print(const struct plan *plan);
/** plan_write() - As JSON. */
void plan_write(const struct plan *plan, struct json *json);
/** plan_draw() - As SVG. Return: an exit code: there may be too much to draw. */
int plan_draw(const struct plan *plan, FILE *file);

#endif
