// SPDX-License-Identifier: MIT
/* report.c - a plan as text, and as JSON */
#include <stdio.h>
#include <stdlib.h>

#include "plan.h"

static unsigned int count_moves(const struct plan *plan, unsigned int field, uint64_t *bytes)
{
	unsigned int i, count = 0;

	*bytes = 0;
	for (i = 0; i < plan->move_count; i++)
		if (plan->moves[i].field == field) {
			*bytes += plan->moves[i].bytes;
			count++;
		}
	return count;
}

void plan_print(const struct plan *plan)
{
	uint64_t bytes;
	unsigned int i, count;

	for (i = 0; i < plan->field_count; i++) {
		const struct plan_field *field = &plan->fields[i];

		printf("%s: ", field->name);
		for (unsigned int d = 0; d < field->grid.rank; d++)
			printf("%s%llu", d ? " x " : "",
			       (unsigned long long)field->grid.extent[d]);
		printf(" elements of %zu bytes, %u tasks", field->info.element_bytes,
		       salvo_agile_field_tasks(field->field));
		count = count_moves(plan, i, &bytes);
		if (i)
			printf(", read %s: %u moves of memory blocks, %llu bytes", field->region, count,
			       (unsigned long long)bytes);
		putchar('\n');
	}
	printf("\n%6s %8s %8s %8s %16s %12s\n", "node", "queued", "tasks", "stolen",
	       "bytes moved to", "ends at");
	for (i = 0; i < plan->nodes; i++)
		printf("%6u %8u %8u %8u %16llu %12.6g\n", i, plan->schedule[i].queued,
		       plan->schedule[i].tasks, plan->schedule[i].stolen,
		       (unsigned long long)plan->schedule[i].moved_bytes,
		       plan->schedule[i].finish);
}

static void write_grid(struct json *json, const struct salvo_agile_grid *grid)
{
	json_array(json, "offset");
	for (unsigned int d = 0; d < grid->rank; d++)
		json_count(json, NULL, grid->offset[d]);
	json_array_end(json);
	json_array(json, "extent");
	for (unsigned int d = 0; d < grid->rank; d++)
		json_count(json, NULL, grid->extent[d]);
	json_array_end(json);
}

static void write_field(const struct plan *plan, unsigned int number, struct json *json)
{
	const struct plan_field *field = &plan->fields[number];
	const struct salvo_agile_map *map = field->map ? field->map : plan->fields[0].map;
	unsigned int i;

	json_object(json, NULL);
	json_string(json, "name", field->name);
	if (number)
		json_string(json, "region", field->region);
	json_count(json, "element_bytes", field->info.element_bytes);
	json_count(json, "tasks", salvo_agile_field_tasks(field->field));
	json_array(json, "segments");
	for (i = 0; i < salvo_agile_map_count(map); i++) {
		const struct salvo_agile_segment *segment = salvo_agile_map_segment(map, i);

		json_object(json, NULL);
		json_count(json, "node", segment->node);
		write_grid(json, &segment->grid);
		json_object_end(json);
	}
	json_array_end(json);
	json_object_end(json);
}

void plan_write(const struct plan *plan, struct json *json)
{
	unsigned int i;

	json_object(json, NULL);
	json_string(json, "version", TOOL_VERSION);
	json_array(json, "fields");
	for (i = 0; i < plan->field_count; i++)
		write_field(plan, i, json);
	json_array_end(json);
	json_array(json, "nodes");
	for (i = 0; i < plan->nodes; i++) {
		json_object(json, NULL);
		json_count(json, "queued", plan->schedule[i].queued);
		json_count(json, "tasks", plan->schedule[i].tasks);
		json_count(json, "stolen", plan->schedule[i].stolen);
		json_count(json, "moved_bytes", plan->schedule[i].moved_bytes);
		json_real(json, "finish", plan->schedule[i].finish, 3);
		json_object_end(json);
	}
	json_array_end(json);
	json_array(json, "moves");
	for (i = 0; i < plan->move_count; i++) {
		const struct plan_move *move = &plan->moves[i];

		json_object(json, NULL);
		json_string(json, "field", plan->fields[move->field].name);
		json_count(json, "block", move->block);
		json_count(json, "from", move->from);
		json_count(json, "to", move->to);
		json_count(json, "bytes", move->bytes);
		write_grid(json, &move->grid);
		json_object_end(json);
	}
	json_array_end(json);
	json_object_end(json);
	json_line_end(json);
}
