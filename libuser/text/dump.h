/* SPDX-License-Identifier: MIT */
/*
 * dump.h - write the batches of an application in the human-readable form
 */
#ifndef SALVO_DUMP_H
#define SALVO_DUMP_H

#include "winsys.h"

struct salvo_dump;
struct salvo_dump_batch;
struct salvo_program;
struct salvo_kernel_info;

/** salvo_dump_open() - NULL unless the environment's SALVO_DUMP names a folder. */
struct salvo_dump *salvo_dump_open(void);
void salvo_dump_close(struct salvo_dump *dump);

/*
 * What exists: buffers and programs come and go. All functions below accept a NULL @dump,
 * and what they cannot do (no memory, no room on disk) they leave out.
 */
void salvo_dump_add_bo(struct salvo_dump *dump, struct salvo_bo *bo, bool readonly);
void salvo_dump_drop_bo(struct salvo_dump *dump, struct salvo_bo *bo);
/** salvo_dump_add_program() - @kernels and @code live until salvo_dump_drop_program(). */
void salvo_dump_add_program(struct salvo_dump *dump, const struct salvo_program *program,
			    const struct salvo_kernel_info *kernels, unsigned int count,
			    const void *image, size_t bytes);
void salvo_dump_drop_program(struct salvo_dump *dump, const struct salvo_program *program);

/** salvo_dump_begin() - Remember the buffers of a submission. Return: NULL if nothing is dumped. */
struct salvo_dump_batch *salvo_dump_begin(struct salvo_dump *dump,
					  const struct salvo_batch_desc *batch);

/**
 * salvo_dump_end() - After a submission: wait for it and write it with what it changed.
 * @batch: May be NULL; freed.
 * @fence: NULL if it was refused; then nothing is written.
 */
void salvo_dump_end(struct salvo_dump_batch *batch, struct salvo_fence *fence);

#endif /* SALVO_DUMP_H */
