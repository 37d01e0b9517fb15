/* SPDX-License-Identifier: MIT */
/*
 * text_build.h - from the human-readable form to a batch that can be submitted
 */
#ifndef SALVO_TEXT_BUILD_H
#define SALVO_TEXT_BUILD_H

#include "salvo.h"
#include "parse.h"

/**
 * struct salvo_text_build - The objects of one file on one device.
 */
struct salvo_text_build {
	const struct salvo_text *text;
	struct salvo_program **programs;
	struct salvo_bo **bos;
	/** @images: For each buffer that is an image; its buffer belongs to it. */
	struct salvo_image **images;
	uint8_t **maps;
	/** @expected: For each expectation that is a file: its bytes. */
	struct salvo_text_bytes {
		uint8_t *bytes;
		uint64_t count;
	} *expected;
	struct salvo_batch *batch;
};

/**
 * salvo_text_build() - Create a file's buffers, load its programs and build its batch.
 * @text: Must outlive @out.
 * @program_dirs: Where program files may be, in this order; ends with NULL.
 * @data_dir: Where the files that fill buffers are.
 * @error: Filled in on failure; column 0.
 *
 * Return: 0 or an error of the library; -ENOENT, -EINVAL, -E2BIG, -ENOSPC are errors of the file.
 */
int salvo_text_build(const struct salvo_text *text, struct salvo_device *device,
		     const char *const *program_dirs, const char *data_dir,
		     struct salvo_text_build **out, struct salvo_text_error *error);
void salvo_text_build_destroy(struct salvo_text_build *build);

/**
 * salvo_text_bind() - Replace a buffer of the batch by other memory.
 * @buffer: Its index in the text.
 * @bo: At least as long as the buffer from @offset on; NULL: the original buffer.
 *
 * @build->maps still has the original buffer.
 *
 * Return: 0, -EINVAL (too small, or of another device), -ENOTSUP (the buffer is an image),
 * -EBUSY (the batch is in flight). On failure some commands may have been changed: bind again.
 */
int salvo_text_bind(struct salvo_text_build *build, unsigned int buffer, struct salvo_bo *bo,
		    uint64_t offset);
/** salvo_text_writes() - May the batch write to a buffer? Call it before salvo_text_bind(). */
bool salvo_text_writes(const struct salvo_text_build *build, unsigned int buffer);

/**
 * struct salvo_text_difference - The result of a comparison with an expectation.
 */
struct salvo_text_difference {
	uint64_t count;		/* elements that differ */
	uint64_t total;		/* elements compared */
	uint64_t index;		/* the first that differs */
	uint64_t expected;
	uint64_t found;
};

/** salvo_text_compare() - Compare a buffer with an expectation, after the batch. */
void salvo_text_compare(const struct salvo_text_build *build,
			const struct salvo_text_check *check,
			struct salvo_text_difference *difference);

/** salvo_text_element() - Element @index of the range of @check. */
uint64_t salvo_text_element(const struct salvo_text_build *build,
			    const struct salvo_text_check *check, uint64_t index);

#endif /* SALVO_TEXT_BUILD_H */
