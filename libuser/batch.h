/* SPDX-License-Identifier: MIT */
/*
 * batch.h - a batch, for the files that build and submit it
 */
#ifndef SALVO_BATCH_H
#define SALVO_BATCH_H

#include "hazard.h"
#include "winsys.h"

/**
 * struct salvo_batch - Commands and arguments, as SUBMIT takes them.
 */
struct salvo_batch {
	struct salvo_device *device;
	struct drm_salvo_command *commands;
	unsigned int count;
	unsigned int capacity;
	uint8_t *args;
	uint32_t args_size;
	uint32_t args_capacity;
	/** @spans: What each command touches: a piece of @regions; as many as @capacity. */
	struct salvo_region_span *spans;
	struct salvo_region *regions;
	uint32_t region_count;
	uint32_t region_capacity;
	/** @tracked: Pipe controls are to be found; they follow the last command. */
	bool tracked;
	/** @analysed: @found pipe controls are in place and up to date. */
	bool analysed;
	unsigned int found;
	struct salvo_hazards *hazards;
	/** @causes: For salvo_batch_get_hazard(), while @explained says that it is up to date. */
	struct salvo_hazard *causes;
	unsigned int cause_count;
	unsigned int cause_capacity;
	bool explained;
	bool profiled;
	/** @profile: One struct salvo_profile a command, or NULL. */
	struct salvo_bo *profile;
	/** @profiles: @profile as the CPU sees it, and how many fit. */
	const struct salvo_profile *profiles;
	unsigned int profile_capacity;
	/** @submitted: Number of commands at the last submission with a profile. */
	unsigned int submitted;
	char error[SALVO_ERROR_BYTES];
};

/** salvo_batch_finish() - Describe the batch for the back end. Return: 0, -EINVAL, -ENOSPC. */
int salvo_batch_finish(struct salvo_batch *batch, struct salvo_batch_desc *desc);

/**
 * salvo_batch_reserve() - Room for so many commands.
 * Return: 0, -E2BIG (over the device's limit), -ENOMEM; it leaves no message.
 */
int salvo_batch_reserve(struct salvo_batch *batch, unsigned int commands);

/** salvo_batch_changed() - What was found out about the commands does not hold any more. */
static inline void salvo_batch_changed(struct salvo_batch *batch)
{
	batch->analysed = false;
	batch->explained = false;
}

/** salvo_batch_track() - Put the pipe controls that are lacking behind the last command. */
int salvo_batch_track(struct salvo_batch *batch);

/** salvo_batch_fail() - Keep a message for salvo_batch_error(). Return: @err. */
int salvo_batch_fail(struct salvo_batch *batch, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** salvo_batch_reject() - Keep what the back end said. Return: @err. */
int salvo_batch_reject(struct salvo_batch *batch, int err, const struct salvo_reject *why);

#endif /* SALVO_BATCH_H */
