/* SPDX-License-Identifier: MIT */
/*
 * hazard.h - which commands of a batch depend on which (B4 of CN105940388)
 */
#ifndef SALVO_HAZARD_H
#define SALVO_HAZARD_H

#include <stddef.h>
#include <stdint.h>

struct drm_salvo_command;
struct salvo_hazards;

/* struct salvo_region.access, the values of struct salvo_note_arg */
#define SALVO_REGION_READ	1u
#define SALVO_REGION_WRITE	2u

/**
 * struct salvo_region - What a command does to a range of memory.
 */
struct salvo_region {
	/** @start, @end: GPU addresses; equal for nothing (a null pointer). */
	uint64_t start;
	uint64_t end;
	/** @argument: Index of the kernel's argument; for COPY 0 is dst, 1 is src; else 0. */
	uint32_t argument;
	/** @access: SALVO_REGION_*, as in struct salvo_note_arg. */
	uint32_t access;
	/** @memory: Of its buffer, as salvo_bo_memory() names it; 0 if that is not known. */
	uint64_t memory;
};

/**
 * struct salvo_region_span - The regions of one command: @count from @first on.
 */
struct salvo_region_span {
	uint32_t first;
	uint32_t count;
};

/**
 * struct salvo_hazard_input - A batch, for the analysis.
 */
struct salvo_hazard_input {
	const struct drm_salvo_command *commands;
	/** @spans: One for each command; a pipe control's is empty. */
	const struct salvo_region_span *spans;
	const struct salvo_region *regions;
	uint32_t region_count;
	/** @count: Of commands. */
	uint32_t count;
	/** @most: The most pipe controls that are accepted. */
	uint32_t most;
	/**
	 * @segment: 0, or: the first of each so many commands waits for all before it and all that
	 * follow wait for it, which takes fewer pipe controls; 1: one for each command.
	 */
	uint32_t segment;
};

/**
 * struct salvo_hazard_edge - A missing pipe control.
 */
struct salvo_hazard_edge {
	uint32_t consumer;
	uint32_t producer;
};

/** salvo_hazards_create() - Memory of the analysis, reused by each run; or NULL. */
struct salvo_hazards *salvo_hazards_create(void);
void salvo_hazards_destroy(struct salvo_hazards *hazards);

/**
 * salvo_hazards_find() - The minimal set of pipe controls that a batch lacks; with
 * @input->segment a set that is not minimal.
 * @edges: Sorted by consumer; valid until the next call.
 *
 * Return: their number, -E2BIG (more than @input->most), -ENOMEM.
 */
int salvo_hazards_find(struct salvo_hazards *hazards, const struct salvo_hazard_input *input,
		       const struct salvo_hazard_edge **edges);

#endif /* SALVO_HAZARD_H */
