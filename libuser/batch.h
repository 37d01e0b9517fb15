/* SPDX-License-Identifier: MIT */
/*
 * batch.h - a batch, for the files that build and submit it
 */
#ifndef SALVO_BATCH_H
#define SALVO_BATCH_H

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

/** salvo_batch_fail() - Keep a message for salvo_batch_error(). Return: @err. */
int salvo_batch_fail(struct salvo_batch *batch, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** salvo_batch_reject() - Keep what the back end said. Return: @err. */
int salvo_batch_reject(struct salvo_batch *batch, int err, const struct salvo_reject *why);

#endif /* SALVO_BATCH_H */
