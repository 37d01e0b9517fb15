// SPDX-License-Identifier: MIT
/*
 * trace.c - a batch, or leaves of pools, as trace events for Perfetto and chrome://tracing
 *
 * Two groups of tracks: one track for each execution unit, if the GPU is embedded, and one
 * for each chain of commands, or for each worker. Pipe controls are flow arrows from the
 * producer to the consumer. An arrow must start and end inside slices, so it starts a
 * nanosecond before the producer's end, and no slice is shorter than that.
 */
#include "json.h"
#include "picture.h"

#define NANOSECOND 0.001

enum { UNITS = 1, CHAINS = 2 };

static void write_name(struct json *json, const char *kind, unsigned int process,
		       unsigned int thread, const char *name)
{
	json_object(json, NULL);
	json_string(json, "ph", "M");
	json_string(json, "name", kind);
	json_count(json, "pid", process);
	json_count(json, "tid", thread);
	json_object(json, "args");
	json_string(json, "name", name);
	json_object_end(json);
	json_object_end(json);
}

static void write_names(struct json *json, const struct picture *picture)
{
	char name[64];
	unsigned int i;

	if (picture->span_count)
		write_name(json, "process_name", UNITS, 0, "execution units");
	for (i = 0; picture->span_count && i < picture->units; i++) {
		snprintf(name, sizeof(name), "unit %u", i);
		write_name(json, "thread_name", UNITS, i, name);
	}
	write_name(json, "process_name", CHAINS, 0,
		   picture->lane_names ? "workers" : "chains of commands");
	for (i = 0; i < picture->lanes; i++) {
		if (picture->lane_names)
			snprintf(name, sizeof(name), "%s", picture->lane_names[i]);
		else
			snprintf(name, sizeof(name), "chain %u", i);
		write_name(json, "thread_name", CHAINS, i, name);
	}
}

/* Writes what all slices have; leaves "args" open. */
static void open_slice(struct json *json, const char *category, unsigned int process,
		       unsigned int thread, const struct picture_command *command, double started,
		       double ended)
{
	json_object(json, NULL);
	json_string(json, "ph", "X");
	json_string(json, "name", command->label ? command->label : command->name);
	json_string(json, "cat", category);
	json_count(json, "pid", process);
	json_count(json, "tid", thread);
	json_real(json, "ts", started, 3);
	json_real(json, "dur", ended - started > NANOSECOND ? ended - started : NANOSECOND, 3);
	json_object(json, "args");
	json_count(json, "index", command->index);
	json_string(json, "command", command->name);
}

static void close_slice(struct json *json)
{
	json_object_end(json);
	json_object_end(json);
}

static void write_flow(struct json *json, unsigned int id, const char *phase,
		       const struct picture_command *command, double at)
{
	json_object(json, NULL);
	json_string(json, "ph", phase);
	json_string(json, "name", "pipe control");
	json_string(json, "cat", "pipe_control");
	json_count(json, "id", id);
	if (*phase == 'f')
		json_string(json, "bp", "e");
	json_count(json, "pid", CHAINS);
	json_count(json, "tid", command->lane);
	json_real(json, "ts", at, 3);
	json_object_end(json);
}

static void write_edge(struct json *json, const struct picture *picture, unsigned int i)
{
	const struct picture_command *producer = &picture->commands[picture->edges[i].producer];
	const struct picture_command *consumer = &picture->commands[picture->edges[i].consumer];
	double leaves = producer->ended - NANOSECOND;

	if (!producer->is_work || !consumer->is_work)
		return;
	if (leaves < producer->started)
		leaves = producer->started;
	write_flow(json, i + 1, "s", producer, leaves);
	write_flow(json, i + 1, "f", consumer, consumer->started);
}

void trace_write(const struct picture *picture, FILE *file)
{
	struct json json = { .file = file };
	unsigned int i;

	json_object(&json, NULL);
	json_string(&json, "displayTimeUnit", "ns");
	json_object(&json, "otherData");
	json_string(&json, "batch", picture->title);
	json_string(&json, "device", picture->device);
	json_object_end(&json);
	json_array(&json, "traceEvents");
	write_names(&json, picture);
	for (i = 0; i < picture->span_count; i++) {
		const struct picture_span *span = &picture->spans[i];

		open_slice(&json, "unit", UNITS, span->unit, &picture->commands[span->command],
			   span->started, span->ended);
		if (span->groups)
			json_count(&json, "work_groups", span->groups);
		close_slice(&json);
	}
	for (i = 0; i < picture->command_count; i++) {
		const struct picture_command *command = &picture->commands[i];

		if (!command->is_work)
			continue;
		open_slice(&json, "command", CHAINS, command->lane, command, command->started,
			   command->ended);
		json_real(&json, "ready_us", command->ready, 3);
		json_real(&json, "waited_for_a_unit_us", command->started - command->ready, 3);
		close_slice(&json);
	}
	for (i = 0; i < picture->edge_count; i++)
		write_edge(&json, picture, i);
	json_array_end(&json);
	json_object_end(&json);
	json_line_end(&json);
}
