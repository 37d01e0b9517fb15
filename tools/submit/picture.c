// SPDX-License-Identifier: MIT
/*
 * picture.c - collect what a batch did and when, for trace.c and timeline.c
 *
 * Commands are assigned to lanes, one for each chain: a command follows one of its producers
 * in the producer's lane if that is its last command, else it takes a free lane. After a
 * barrier all lanes are free. So independent chains are in different lanes, and their
 * overlap in time is visible.
 */
#include "picture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "drm/salvo_drm.h"
#include "options.h"

const char *picture_command_name(const struct salvo_text_command *command)
{
	switch (command->type) {
	case DRM_SALVO_DISPATCH:
		return command->kernel;
	case DRM_SALVO_COPY:
		return "copy";
	case DRM_SALVO_FILL:
		return "fill";
	case DRM_SALVO_COPY_RECT:
		return "copy_rect";
	case DRM_SALVO_FILL_PATTERN:
		return "fill_pattern";
	case DRM_SALVO_TIMESTAMP:
		return "timestamp";
	default:
		return command->all ? "barrier" : "pipe_control";
	}
}

/* --- times ------------------------------------------------------------------ */

static double microseconds(const struct salvo_device_info *info, uint64_t origin, uint64_t at)
{
	return at > origin ? (at - origin) * 1e6 / info->clock_hz : 0;
}

/* Returns the tick at which the first command was read. */
static uint64_t take_profiles(struct picture *picture, const struct salvo_text_build *build,
			      const struct salvo_device_info *info)
{
	struct salvo_profile profile;
	uint64_t origin = 0;
	unsigned int i;

	for (i = 0; i < picture->command_count; i++) {
		const struct salvo_text_command *command = &build->text->commands[i];
		struct picture_command *drawn = &picture->commands[i];

		drawn->name = picture_command_name(command);
		drawn->label = command->label;
		drawn->index = i;
		if (command->type == DRM_SALVO_PIPE_CONTROL ||
		    salvo_batch_get_profile(build->batch, i, &profile))
			continue;
		if (!origin)
			origin = profile.queued;
		drawn->is_work = true;
		drawn->ready = microseconds(info, origin, profile.ready);
		drawn->started = microseconds(info, origin, profile.started);
		drawn->ended = microseconds(info, origin, profile.ended);
		if (drawn->ended > picture->end)
			picture->end = drawn->ended;
	}
	return origin;
}

static int take_spans(struct picture *picture, uint64_t origin,
		      const struct salvo_device_info *info,
		      const struct salvo_gpu_recording *recording)
{
	unsigned int i, count = recording->next;

	if (count > recording->capacity)
		count = recording->capacity;
	picture->spans = calloc(count + 1, sizeof(*picture->spans));
	if (!picture->spans)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		const struct salvo_gpu_span *span = &recording->spans[i];

		if (span->command >= picture->command_count || span->unit >= info->units)
			continue;
		picture->spans[picture->span_count++] = (struct picture_span){
			.unit = span->unit,
			.command = span->command,
			.groups = span->count,
			.started = microseconds(info, origin, span->started),
			.ended = microseconds(info, origin, span->ended),
		};
	}
	return 0;
}

/* --- order ------------------------------------------------------------------ */

static void add_edge(struct picture *picture, unsigned int consumer, unsigned int producer)
{
	if (consumer < picture->command_count && producer < consumer)
		picture->edges[picture->edge_count++] = (struct picture_edge){
			.consumer = consumer,
			.producer = producer,
		};
}

/* Pipe controls of the file, then those that the library found. */
static int take_edges(struct picture *picture, const struct salvo_text_build *build)
{
	const struct salvo_text *text = build->text;
	struct salvo_hazard hazard;
	unsigned int i, found = 0, last = ~0u;

	while (text->hazards && !salvo_batch_get_hazard(build->batch, found, &hazard))
		found++;
	picture->edges = calloc(text->command_count + found + 1, sizeof(*picture->edges));
	if (!picture->edges)
		return -ENOMEM;
	for (i = 0; i < text->command_count; i++)
		if (text->commands[i].type == DRM_SALVO_PIPE_CONTROL && !text->commands[i].all)
			add_edge(picture, text->commands[i].consumer, text->commands[i].producer);
	for (i = 0; i < found; i++) {
		if (salvo_batch_get_hazard(build->batch, i, &hazard))
			break;
		if (hazard.command != last)
			add_edge(picture, hazard.consumer, hazard.producer);
		last = hazard.command;
	}
	return 0;
}

/* The last command of each lane, and whether a command after the last barrier is in it. */
struct lanes {
	unsigned int tail[PICTURE_MAX_LANES];
	bool taken[PICTURE_MAX_LANES];
	unsigned int count;
};

static unsigned int lane_behind(const struct picture *picture, const struct lanes *lanes,
				unsigned int index)
{
	unsigned int i, lane;

	for (i = 0; i < picture->edge_count; i++) {
		if (picture->edges[i].consumer != index)
			continue;
		lane = picture->commands[picture->edges[i].producer].lane;
		if (lanes->tail[lane] == picture->edges[i].producer)
			return lane;
	}
	return PICTURE_MAX_LANES;
}

static unsigned int free_lane(const struct picture *picture, struct lanes *lanes,
			      unsigned int index)
{
	unsigned int lane;

	for (lane = 0; lane < lanes->count; lane++)
		if (!lanes->taken[lane])
			return lane;
	if (lanes->count < PICTURE_MAX_LANES)
		return lanes->count++;
	for (lane = 0; lane < lanes->count; lane++)
		if (picture->commands[lanes->tail[lane]].ended <= picture->commands[index].started)
			return lane;
	return index % PICTURE_MAX_LANES;
}

static void take_lanes(struct picture *picture, const struct salvo_text *text)
{
	struct lanes lanes = { .count = 0 };
	double before = 0;
	unsigned int i;

	for (i = 0; i < picture->command_count; i++) {
		struct picture_command *command = &picture->commands[i];

		if (command->is_work) {
			command->lane = lane_behind(picture, &lanes, i);
			if (command->lane == PICTURE_MAX_LANES)
				command->lane = free_lane(picture, &lanes, i);
			lanes.tail[command->lane] = i;
			lanes.taken[command->lane] = true;
			if (command->ended > before)
				before = command->ended;
		} else if (text->commands[i].all) {
			picture->barriers[picture->barrier_count++] = before;
			memset(lanes.taken, 0, sizeof(lanes.taken));
		}
	}
	picture->lanes = lanes.count;
}

int picture_make(struct picture *picture, const char *title, const struct salvo_text_build *build,
		 const struct salvo_device_info *info,
		 const struct salvo_gpu_recording *recording)
{
	uint64_t origin;
	int err = 0;

	memset(picture, 0, sizeof(*picture));
	picture->title = title;
	memcpy(picture->device, info->name, sizeof(picture->device));
	picture->units = info->units;
	picture->command_count = build->text->command_count;
	picture->commands = calloc(picture->command_count + 1, sizeof(*picture->commands));
	picture->barriers = calloc(picture->command_count + 1, sizeof(*picture->barriers));
	if (!picture->commands || !picture->barriers)
		err = -ENOMEM;
	if (!err) {
		origin = take_profiles(picture, build, info);
		err = take_edges(picture, build);
		if (!err && recording)
			err = take_spans(picture, origin, info, recording);
	}
	if (err) {
		picture_fini(picture);
		return err;
	}
	take_lanes(picture, build->text);
	return 0;
}

void picture_fini(struct picture *picture)
{
	free(picture->commands);
	free(picture->edges);
	free(picture->barriers);
	free(picture->spans);
	free(picture->lane_names);
	memset(picture, 0, sizeof(*picture));
}

static int write_file(const char *path, const struct picture *picture,
		      void (*write)(const struct picture *picture, FILE *file))
{
	FILE *file = fopen(path, "we");
	bool good;

	if (!file)
		return cli_fail(TOOL, "%s: %s", path, strerror(errno));
	write(picture, file);
	good = !ferror(file);
	if (fclose(file) || !good)
		return cli_fail(TOOL, "%s: %s", path, strerror(errno));
	return EXIT_OK;
}

int picture_write(const struct picture *picture, const char *trace, const char *timeline)
{
	int code = EXIT_OK;

	if (trace)
		code = write_file(trace, picture, trace_write);
	if (timeline)
		code |= write_file(timeline, picture, timeline_write);
	return code;
}
