// SPDX-License-Identifier: MIT
/*
 * report.c - results, expectations, cost and profile of a batch
 */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "picture.h"
#include "drm/salvo_drm.h"

/* JSON numbers beyond 2^53 would be read as others. */
static void write_element(struct json *json, enum salvo_text_type type, uint64_t bits)
{
	char text[64] = "";
	FILE *file;

	if (salvo_text_type_is_float(type)) {
		json_real(json, NULL, salvo_text_to_double(type, bits),
			  type == SALVO_TEXT_F32 ? 9 : 17);
		return;
	}
	file = fmemopen(text, sizeof(text), "w");
	if (!file)
		return;
	salvo_text_write_value(type, bits, file);
	fclose(file);
	json_raw(json, text);
}

static void print_elements(struct json *json, const struct salvo_text_build *build,
			   const struct salvo_text_check *check)
{
	const char *name = build->text->buffers[check->place.buffer].name;
	uint64_t i;

	if (json) {
		json_object(json, NULL);
		json_string(json, "buffer", name);
		json_count(json, "offset", check->place.offset);
		json_string(json, "type", salvo_text_type_name(check->values.type));
		json_array(json, "values");
		for (i = 0; i < check->count; i++)
			write_element(json, check->values.type,
				      salvo_text_element(build, check, i));
		json_array_end(json);
		json_object_end(json);
		return;
	}
	printf("%s[%" PRIu64 "] %s:", name, check->place.offset,
	       salvo_text_type_name(check->values.type));
	for (i = 0; i < check->count; i++) {
		putchar(' ');
		salvo_text_write_value(check->values.type, salvo_text_element(build, check, i),
				       stdout);
	}
	putchar('\n');
}

static void report_difference(const struct options *options, const struct salvo_text_build *build,
			      const struct salvo_text_check *check,
			      const struct salvo_text_difference *difference)
{
	enum salvo_text_type type = check->values.type;
	uint64_t offset = check->place.offset + difference->index * salvo_text_type_bytes(type);

	fprintf(stderr, "%s:%u: %" PRIu64 " of %" PRIu64 " values differ: %s[%" PRIu64 "] is ",
		options->file, check->line, difference->count, difference->total,
		build->text->buffers[check->place.buffer].name, offset);
	salvo_text_write_value(type, difference->found, stderr);
	fputs(", expected ", stderr);
	salvo_text_write_value(type, difference->expected, stderr);
	fputc('\n', stderr);
}

/* Prints values and checks expectations in the order of the file. Return: expectations not met. */
static unsigned int run_checks(const struct options *options, struct json *json,
			       const struct salvo_text_build *build, unsigned int *met)
{
	struct salvo_text_difference difference;
	unsigned int i, failed = 0;

	*met = 0;
	if (json)
		json_array(json, "results");
	for (i = 0; i < build->text->check_count; i++) {
		const struct salvo_text_check *check = &build->text->checks[i];

		if (check->print) {
			print_elements(json, build, check);
			continue;
		}
		salvo_text_compare(build, check, &difference);
		if (difference.count) {
			report_difference(options, build, check, &difference);
			failed++;
		} else {
			++*met;
		}
	}
	if (json)
		json_array_end(json);
	return failed;
}

static double microseconds(const struct salvo_device_info *info, uint64_t from, uint64_t to)
{
	return to > from ? (to - from) * 1e6 / info->clock_hz : 0;
}

/* When each command ran, relative to when the first one was read. */
static void print_profile(struct json *json, const struct salvo_text_build *build,
			  const struct salvo_device_info *info)
{
	struct salvo_profile profile;
	uint64_t origin = 0;
	unsigned int i;

	if (json)
		json_array(json, "profile");
	else
		printf("%5s %-16s %-16s %10s %10s %10s us\n", "index", "command", "label",
		       "ready", "started", "ended");
	for (i = 0; i < build->text->command_count; i++) {
		const struct salvo_text_command *command = &build->text->commands[i];
		double ready, started, ended;

		if (salvo_batch_get_profile(build->batch, i, &profile))
			continue;
		if (!origin)
			origin = profile.queued;
		ready = microseconds(info, origin, profile.ready);
		started = microseconds(info, origin, profile.started);
		ended = microseconds(info, origin, profile.ended);
		if (json) {
			json_object(json, NULL);
			json_count(json, "index", i);
			json_string(json, "command", picture_command_name(command));
			if (command->label)
				json_string(json, "label", command->label);
			json_real(json, "ready_us", ready, 3);
			json_real(json, "started_us", started, 3);
			json_real(json, "ended_us", ended, 3);
			json_object_end(json);
		} else if (command->type == DRM_SALVO_PIPE_CONTROL) {
			printf("%5u %-16s\n", i, picture_command_name(command));
		} else {
			printf("%5u %-16s %-16s %10.1f %10.1f %10.1f\n", i,
			       picture_command_name(command),
			       command->label ? command->label : "", ready, started, ended);
		}
	}
	if (json)
		json_array_end(json);
}

static void print_cost(struct json *json, unsigned int commands, const struct cost *cost)
{
	const struct salvo_device_stats *stats = &cost->stats;

	if (json) {
		json_object(json, "stats");
		json_count(json, "commands", commands);
		json_count(json, "packets", stats->packets);
		json_count(json, "doorbells", stats->doorbells);
		json_count(json, "interrupts", stats->interrupts);
		json_count(json, "completions", stats->completions);
		json_real(json, "wall_us", cost->wall_ns / 1e3, 1);
		json_real(json, "busy_us", stats->busy_ns / 1e3, 1);
		json_object_end(json);
	} else {
		printf("%u commands: %" PRIu64 " packets, %" PRIu64 " doorbells, %" PRIu64
		       " interrupts, %" PRIu64 " completions; %.1f us, units busy %.1f us\n",
		       commands, stats->packets, stats->doorbells, stats->interrupts,
		       stats->completions, cost->wall_ns / 1e3, stats->busy_ns / 1e3);
	}
}

unsigned int report_run(const struct options *options, const struct salvo_text_build *build,
			const struct salvo_device_info *info, const struct cost *cost)
{
	struct json writer = { .file = stdout }, *json = options->json ? &writer : NULL;
	unsigned int failed, met;

	if (json) {
		json_object(json, NULL);
		json_string(json, "device", info->name);
	}
	failed = run_checks(options, json, build, &met);
	if (json) {
		json_object(json, "expectations");
		json_count(json, "met", met);
		json_count(json, "failed", failed);
		json_object_end(json);
	} else if (failed + met) {
		printf("%u of %u expectations met\n", met, failed + met);
	}
	print_cost(json, build->text->command_count, cost);
	if (options->stats)
		print_profile(json, build, info);
	if (json) {
		json_object_end(json);
		json_line_end(json);
	}
	return failed;
}

static void write_id(struct json *json, const char *key, const uint32_t id[3])
{
	unsigned int d;

	json_array(json, key);
	for (d = 0; d < 3; d++)
		json_count(json, NULL, id[d]);
	json_array_end(json);
}

void report_error(const struct options *options, unsigned int line, unsigned int column,
		  const char *message)
{
	struct json json = { .file = stdout };

	fprintf(stderr, "%s:", options->file);
	if (line)
		fprintf(stderr, "%u:", line);
	if (column)
		fprintf(stderr, "%u:", column);
	fprintf(stderr, " %s\n", message);
	if (!options->json)
		return;
	json_object(&json, NULL);
	json_object(&json, "error");
	json_string(&json, "message", message);
	json_string(&json, "file", options->file);
	if (line)
		json_count(&json, "line", line);
	if (column)
		json_count(&json, "column", column);
	json_object_end(&json);
	json_object_end(&json);
	json_line_end(&json);
}

static void write_failure(const struct salvo_error *error, const char *why)
{
	struct json json = { .file = stdout };
	struct salvo_error_bounds bounds;

	json_object(&json, NULL);
	json_object(&json, "error");
	json_string(&json, "message", why);
	if (error->kind != SALVO_ERROR_NONE) {
		json_string(&json, "kind", salvo_error_name(error->kind));
		json_count(&json, "done", error->done);
		json_count(&json, "count", error->count);
		if (error->command != ~0u)
			json_count(&json, "command", error->command);
		if (error->kernel) {
			json_string(&json, "kernel", error->kernel);
			write_id(&json, "group", error->group_id);
		}
		if (error->kernel && error->items)
			write_id(&json, "item", error->item_id);
		if (error->kernel && error->items > 1)
			json_count(&json, "items", error->items);
		if (!salvo_error_get_bounds(error, &bounds)) {
			if (salvo_bounds_name(bounds.argument))
				json_string(&json, "memory", salvo_bounds_name(bounds.argument));
			else
				json_count(&json, "argument", bounds.argument);
			json_real(&json, "offset", bounds.offset, 0);
			json_count(&json, "size", bounds.size);
		} else if (error->access) {
			json_count(&json, "address", error->address);
		}
	}
	json_object_end(&json);
	json_object_end(&json);
	json_line_end(&json);
}

static void write_bounds(const struct salvo_error *error, const struct salvo_error_bounds *bounds)
{
	const char *memory = salvo_bounds_name(bounds->argument);

	fprintf(stderr, " (%s of %u bytes at offset %lld of ",
		error->access & SALVO_ERROR_WRITE ? "write" : "read", bounds->size,
		(long long)bounds->offset);
	if (memory)
		fprintf(stderr, "%s)", memory);
	else
		fprintf(stderr, "argument %u)", bounds->argument);
}

void report_failure(const struct options *options, struct salvo_fence *fence, int err)
{
	const char *why = err == -ETIME ? "it did not end in time" : strerror(-err);
	const char *file = options->file;
	struct salvo_error_bounds bounds;
	struct salvo_error error;

	if (salvo_fence_get_error(fence, &error))
		error = (struct salvo_error){ .kind = SALVO_ERROR_NONE };
	fprintf(stderr, "%s: the batch failed: %s\n", file, why);
	if (options->json)
		write_failure(&error, why);
	if (error.kind == SALVO_ERROR_NONE)
		return;
	fprintf(stderr, "%s: %u of %u commands were done; ", file, error.done, error.count);
	if (error.command != ~0u)
		fprintf(stderr, "command %u", error.command);
	if (error.kernel)
		fprintf(stderr, ", kernel %s, work-group %u,%u,%u", error.kernel,
			error.group_id[0], error.group_id[1], error.group_id[2]);
	if (error.kernel && error.items > 1)
		fprintf(stderr, ", one of the %u work-items from", error.items);
	else if (error.kernel && error.items)
		fprintf(stderr, ", work-item");
	if (error.kernel && error.items)
		fprintf(stderr, " %u,%u,%u", error.item_id[0], error.item_id[1], error.item_id[2]);
	if (error.kernel && error.items > 1)
		fprintf(stderr, " on");
	fprintf(stderr, ": %s", salvo_error_name(error.kind));
	if (!salvo_error_get_bounds(&error, &bounds))
		write_bounds(&error, &bounds);
	else if (error.access)
		fprintf(stderr, " (%s 0x%llx)", error.access & SALVO_ERROR_WRITE ? "write to" :
						error.access & SALVO_ERROR_EXEC ? "jump to" : "read of",
			(unsigned long long)error.address);
	fputc('\n', stderr);
}
