// SPDX-License-Identifier: MIT
/*
 * text_bind.c - replace a buffer of a batch that was built from text
 *
 * A frame of a camera or a decoder has memory of its own. Each command that uses the buffer is
 * patched to use that memory instead, in a few hundred nanoseconds per frame, without a rebuild
 * or a copy.
 */
#include <errno.h>

#include "batch.h"
#include "bo.h"
#include "text_build.h"
#include "drm/salvo_drm.h"

/* Patch the arguments or ranges of command @i that refer to @buffer. */
static int bind_command(struct salvo_text_build *build, unsigned int i, unsigned int buffer,
			struct salvo_bo *bo, uint64_t offset)
{
	const struct salvo_text_command *command = &build->text->commands[i];
	const uint64_t bytes = build->text->buffers[buffer].bytes;
	unsigned int a;
	int err = 0;

	for (a = 0; a < command->arg_count && !err; a++) {
		const struct salvo_text_arg *arg = &command->args[a];

		if (arg->kind == SALVO_TEXT_ARG_BUFFER && arg->place.buffer == buffer)
			err = salvo_batch_patch_bo(build->batch, i, a, bo,
						   offset + arg->place.offset,
						   arg->range ? arg->range :
								bytes - arg->place.offset);
	}
	if (command->type == DRM_SALVO_DISPATCH || command->type == DRM_SALVO_PIPE_CONTROL)
		return err;
	if (command->dst.buffer == buffer)
		err = salvo_batch_patch_bo(build->batch, i, 0, bo, offset + command->dst.offset, 0);
	if (!err && (command->type == DRM_SALVO_COPY || command->type == DRM_SALVO_COPY_RECT) &&
	    command->src.buffer == buffer)
		err = salvo_batch_patch_bo(build->batch, i, 1, bo, offset + command->src.offset, 0);
	return err;
}

int salvo_text_bind(struct salvo_text_build *build, unsigned int buffer, struct salvo_bo *bo,
		    uint64_t offset)
{
	const uint64_t bytes = build->text->buffers[buffer].bytes;
	unsigned int i;
	int err = 0;

	if (!bo)
		bo = build->bos[buffer];
	if (build->text->buffers[buffer].image.order && bo != build->bos[buffer])
		return -ENOTSUP;
	if (bo->size < bytes || offset > bo->size - bytes)
		return -EINVAL;
	for (i = 0; i < build->text->command_count && !err; i++)
		err = bind_command(build, i, buffer, bo, offset);
	return err;
}

bool salvo_text_writes(const struct salvo_text_build *build, unsigned int buffer)
{
	const struct salvo_bo *bo = build->bos[buffer];
	unsigned int i;

	for (i = 0; i < build->batch->region_count; i++) {
		const struct salvo_region *region = &build->batch->regions[i];

		if ((region->access & SALVO_REGION_WRITE) && region->start < region->end &&
		    region->start - bo->address < bo->size)
			return true;
	}
	return false;
}
