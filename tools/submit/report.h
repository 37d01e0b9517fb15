/* SPDX-License-Identifier: MIT */
/*
 * report.h - what salvo-submit prints
 */
#ifndef SUBMIT_REPORT_H
#define SUBMIT_REPORT_H

#include "json.h"
#include "options.h"
#include "text_build.h"

/** struct cost - What the submission cost. */
struct cost {
	struct salvo_device_stats stats;
	uint64_t wall_ns;
};

/** report_run() - Print results, cost and profile. Return: expectations not met. */
unsigned int report_run(const struct options *options, const struct salvo_text_build *build,
			const struct salvo_device_info *info, const struct cost *cost);

/**
 * report_error() - Print an error in the file, or of its batch, as FILE:LINE:COLUMN: MESSAGE.
 * @line, @column: 0 if unknown.
 */
void report_error(const struct options *options, unsigned int line, unsigned int column,
		  const char *message);

/** report_failure() - Print which command failed, where and why, as far as it is known. */
void report_failure(const struct options *options, struct salvo_fence *fence, int err);

/** report_hazards() - Print which arguments need which pipe controls. Return: 0 or -errno. */
int report_hazards(const struct options *options, const struct salvo_text_build *build);

#endif /* SUBMIT_REPORT_H */
