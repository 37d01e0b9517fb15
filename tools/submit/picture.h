/* SPDX-License-Identifier: MIT */
/*
 * picture.h - what a batch did and when, for trace.c and timeline.c
 */
#ifndef SUBMIT_PICTURE_H
#define SUBMIT_PICTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "salvo_gpu.h"
#include "text_build.h"

/** define PICTURE_MAX_LANES - Chains beyond this share lanes. */
#define PICTURE_MAX_LANES 64u

/**
 * struct picture_command - A command of work; times in microseconds from the first that was read.
 */
struct picture_command {
	const char *name;	/* kernel, or kind of command */
	const char *label;	/* or NULL */
	unsigned int index;	/* in the batch */
	bool is_work;		/* only work is drawn */
	unsigned int lane;
	double ready;
	double started;
	double ended;
};

/** struct picture_edge - A pipe control between two commands. */
struct picture_edge {
	unsigned int consumer;
	unsigned int producer;
};

/** struct picture_span - Unit @unit worked on command @command. */
struct picture_span {
	unsigned int unit;
	unsigned int command;
	uint32_t groups;
	double started;
	double ended;
};

struct picture {
	const char *title;
	char device[64];
	struct picture_command *commands;
	unsigned int command_count;
	struct picture_edge *edges;
	unsigned int edge_count;
	/** @barriers: For each barrier the time when the commands after it were ready. */
	double *barriers;
	unsigned int barrier_count;
	/** @spans: Empty unless the GPU is embedded. */
	struct picture_span *spans;
	unsigned int span_count;
	unsigned int units;
	unsigned int lanes;
	/** @lane_names: Lanes are workers of pools, with these names; NULL: chains of commands. */
	char (*lane_names)[48];
	double end;
};

/** picture_command_name() - Kernel, or kind of command. */
const char *picture_command_name(const struct salvo_text_command *command);

/**
 * picture_make() - Make a picture of a batch that has run with profiling enabled.
 * @recording: What the units ran, or NULL.
 *
 * Return: 0 or -ENOMEM. Strings are those of @build's text.
 */
int picture_make(struct picture *picture, const char *title, const struct salvo_text_build *build,
		 const struct salvo_device_info *info,
		 const struct salvo_gpu_recording *recording);
void picture_fini(struct picture *picture);

/** picture_write() - Write the files that are not NULL. Return: exit code. */
int picture_write(const struct picture *picture, const char *trace, const char *timeline);

/** trace_write() - Write trace events for Perfetto and chrome://tracing. */
void trace_write(const struct picture *picture, FILE *file);

/** timeline_write() - Write an SVG picture of units and chains against time. */
void timeline_write(const struct picture *picture, FILE *file);

#endif /* SUBMIT_PICTURE_H */
