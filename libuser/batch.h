/* SPDX-License-Identifier: MIT */
/*
 * batch.h - a batch, for the files that record and submit it
 */
#ifndef SALVO_BATCH_H
#define SALVO_BATCH_H

#include "flight.h"
#include "hazard.h"
#include "labels.h"
#include "winsys.h"

/** define SALVO_ERROR_BYTES - Room for the message of salvo_batch_error(). */
#define SALVO_ERROR_BYTES 192

struct salvo_deferred;
struct salvo_kernel_info;
struct salvo_overlap;

/**
 * struct salvo_command_note - What a command was recorded from.
 */
struct salvo_command_note {
	/** @kernel: Of a dispatch, else NULL. */
	const struct salvo_kernel_info *kernel;
	/** @name: The kernel's; lives as long as the device. */
	const char *name;
	/** @label: Of the application, or NULL; lives as long as the device. */
	const char *label;
};

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
	/** @spans: The @regions that each command accesses; as many as @capacity. */
	struct salvo_region_span *spans;
	/** @notes: As many as @capacity. */
	struct salvo_command_note *notes;
	struct salvo_region *regions;
	uint32_t region_count;
	uint32_t region_capacity;
	/** @tracked: Hazards are tracked; the pipe controls for them follow the last command. */
	bool tracked;
	/** @analysed: The @found pipe controls are up to date. */
	bool analysed;
	unsigned int found;
	/** @analysis: Number of the last analysis, of all batches of the device. */
	uint64_t analysis;
	/**
	 * @links: Pipe controls after those, for the batch with the analysis @linked_to, which is
	 * the one before it on a queue; 0 if none.
	 */
	unsigned int links;
	uint64_t linked_to;
	struct salvo_hazards *hazards;
	/** @causes: For salvo_batch_get_hazard(); up to date if @explained. */
	struct salvo_hazard *causes;
	unsigned int cause_count;
	unsigned int cause_capacity;
	bool explained;
	bool profiled;
	/** @profile: One struct salvo_profile a command, or NULL. */
	struct salvo_bo *profile;
	/** @profiles: @profile as the CPU sees it, and how many fit. */
	struct salvo_profile *profiles;
	unsigned int profile_capacity;
	/** @recorded: Number of commands at the last submission with a profile. */
	unsigned int recorded;
	/** @print: The print buffer, or NULL; @printed: as the CPU sees it. */
	struct salvo_bo *print;
	struct salvo_print_buffer *printed;
	/** @flight: Fences of submissions that may not be done. */
	struct salvo_flight flight;
	/** @deferred: Fences of submissions that were captured in it. */
	struct salvo_deferred *deferred;
	/** @labels: For the fences of submissions; NULL when the batch has changed. */
	struct salvo_labels *labels;
	struct salvo_validated validated;
	char error[SALVO_ERROR_BYTES];
};

/**
 * salvo_batch_finish() - Describe the batch for the back end.
 * @overlap: Of the queue, or NULL.
 *
 * Return: 0, -EINVAL, -E2BIG, -ENOSPC, -ENOMEM.
 */
int salvo_batch_finish(struct salvo_batch *batch, struct salvo_overlap *overlap,
		       struct salvo_batch_desc *desc);

/** salvo_batch_submitted() - The back end has accepted the batch. */
void salvo_batch_submitted(struct salvo_batch *batch, const struct salvo_batch_desc *desc,
			   struct salvo_fence *fence);

/**
 * salvo_batch_reserve() - Room for so many commands.
 * Return: 0, -E2BIG (over the device's limit), -ENOMEM; sets no error message.
 */
int salvo_batch_reserve(struct salvo_batch *batch, unsigned int commands);

/** salvo_batch_reserve_regions() - Room for so many more regions. Return: 0 or -ENOMEM. */
int salvo_batch_reserve_regions(struct salvo_batch *batch, unsigned int more);

/**
 * salvo_batch_next_command() - Room for one more command, zeroed, that touches @regions ranges.
 *
 * It counts only when batch->count is raised.
 *
 * Return: the command, or NULL with @err and a message.
 */
struct drm_salvo_command *salvo_batch_next_command(struct salvo_batch *batch,
						   unsigned int regions, int *err);

/** salvo_batch_add_region() - Note what the command of salvo_batch_next_command() accesses. */
void salvo_batch_add_region(struct salvo_batch *batch, const struct salvo_bo *bo, uint64_t start,
			    uint64_t size, uint32_t argument, uint32_t access);

/** salvo_batch_reserve_args() - Room for @bytes of arguments at the next aligned @offset. */
int salvo_batch_reserve_args(struct salvo_batch *batch, uint32_t bytes, uint32_t *offset);

/** salvo_batch_check_range() - Is the range inside the buffer, and that of this device? */
int salvo_batch_check_range(struct salvo_batch *batch, const char *what,
			    const struct salvo_bo *bo, uint64_t offset, uint64_t size);

/** salvo_batch_moved() - The ranges of some commands have changed. */
static inline void salvo_batch_moved(struct salvo_batch *batch)
{
	batch->analysed = false;
	batch->explained = false;
}

/** salvo_batch_unlabel() - The labels of submissions have changed. */
static inline void salvo_batch_unlabel(struct salvo_batch *batch)
{
	salvo_labels_put(batch->labels);
	batch->labels = NULL;
}

/** salvo_batch_changed() - Invalidate all that was derived from the commands. */
static inline void salvo_batch_changed(struct salvo_batch *batch)
{
	salvo_batch_moved(batch);
	batch->validated.epoch = 0;
	salvo_batch_unlabel(batch);
}

/** salvo_batch_track() - Insert the missing pipe controls after the last command. */
int salvo_batch_track(struct salvo_batch *batch);

/** salvo_batch_fail() - Set the message of salvo_batch_error(). Return: @err. */
int salvo_batch_fail(struct salvo_batch *batch, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** salvo_batch_reject() - Set the message to what a back end rejected. Return: @err. */
int salvo_batch_reject(struct salvo_batch *batch, int err, const struct salvo_reject *why);

#endif /* SALVO_BATCH_H */
