/* SPDX-License-Identifier: MIT */
/*
 * dump_text.h - the state of the dump, shared by dump.c and dump_text.c
 */
#ifndef SALVO_DUMP_TEXT_H
#define SALVO_DUMP_TEXT_H

#include <pthread.h>

#include "bo.h"
#include "observer.h"
#include "text.h"
#include "winsys.h"

struct dump_bo {
	struct salvo_bo *bo;
	const uint8_t *map;
	bool readonly;
};

struct dump_program {
	const struct salvo_program *program;
	const struct salvo_kernel_info *kernels;
	unsigned int count;
	char file[64];
};

struct dump {
	struct salvo_observer base;
	pthread_mutex_t lock;
	char *dir;
	struct dump_bo *bos;
	unsigned int bo_count;
	struct dump_program *programs;
	unsigned int program_count;
	/** @next_batch, @next_program: Numbers to try next. */
	unsigned int next_batch;
	unsigned int next_program;
};

/* A buffer of the current batch: its index in the list and its initial contents. */
struct dump_used {
	unsigned int bo;
	uint8_t *before;
	bool timed;		/* a timestamp is stored there */
};

struct dump_batch {
	struct dump *dump;
	struct salvo_text *text;
	struct dump_used *used;		/* as many as the text has buffers */
	unsigned int used_count;
	unsigned int number;
	/** @failed: The reason why it cannot be written, or NULL. */
	const char *failed;
};

/** salvo_dump_format() - As printf(), into new memory; or NULL. */
char *salvo_dump_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/**
 * salvo_dump_take_command() - Command @index of the text from that of a batch.
 * @label: Of the application, or NULL.
 *
 * Sets @batch->failed if the form cannot express it.
 */
void salvo_dump_take_command(struct dump_batch *batch, unsigned int index,
			     const struct drm_salvo_command *from, const uint8_t *args,
			     const char *label);
/**
 * salvo_dump_check_images() - Fail if a command accesses what lies behind an image in its buffer.
 *
 * The buffer of an image may be larger than its pixels, which are all that the text has.
 */
void salvo_dump_check_images(struct dump_batch *batch);

#endif /* SALVO_DUMP_TEXT_H */
