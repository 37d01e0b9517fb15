/* SPDX-License-Identifier: MIT */
/*
 * report.h - what salvo-faces prints
 */
#ifndef FACES_REPORT_H
#define FACES_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct face;
struct image;
struct salvo_device;

/**
 * struct frame_stats - What one frame cost.
 */
struct frame_stats {
	unsigned int workloads;
	uint64_t packets, doorbells, interrupts, completions;
	double wall_ms;
	double cpu_ms;			/* of this process, units of the embedded GPU included */
	double busy;			/* share of the units' time, 0 to 1 */
};

/**
 * struct meter - Measures one frame.
 */
struct meter {
	uint64_t packets, doorbells, interrupts, completions, busy_ns;
	double wall_ms, cpu_ms;
};

/** meter_start() - Before a frame. Return: 0 or a negative errno. */
int meter_start(struct meter *meter, struct salvo_device *device);
/** meter_stop() - After it. Return: 0 or a negative errno. */
int meter_stop(const struct meter *meter, struct salvo_device *device, struct frame_stats *out);

/** stats_median() - Medians of times, and the last frame's counters. Reorders @stats. */
void stats_median(struct frame_stats *stats, unsigned int count, struct frame_stats *out);

/** report_json() - One line of JSON for a frame. @grouped: with the number of neighbours. */
void report_json(FILE *out, unsigned long frame, const char *file, const struct image *image,
		 const struct face *faces, unsigned int count, bool grouped);
/** report_json_error() - A line of JSON for a file that failed. */
void report_json_error(FILE *out, const char *file, const char *why);
/** report_text() - The same as text. */
void report_text(FILE *out, unsigned long frame, const char *file, bool video,
		 const struct image *image, const struct face *faces, unsigned int count,
		 bool grouped);
/** report_stats() - One column for each element of @stats, below the headings. */
void report_stats(FILE *out, const char *const *headings, const struct frame_stats *stats,
		  unsigned int columns);

#endif
