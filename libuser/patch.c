// SPDX-License-Identifier: MIT
/*
 * patch.c - change commands of a batch, append a batch to another
 *
 * A patch writes into the arrays that SUBMIT takes, where the dispatch put its arguments, so
 * a batch is submitted again without being rebuilt. Values, buffers and grids do not
 * invalidate the batch: the library checks them here, and the GPU again. A new range of a
 * copy does.
 *
 * A batch in flight cannot be patched: its errors and profiles refer to the current commands.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "argument.h"
#include "batch.h"
#include "bo.h"
#include "device.h"
#include "image.h"
#include "kernel.h"
#include "print.h"

static int check_idle(struct salvo_batch *batch)
{
	if (!batch->flight.count || !salvo_flight_is_busy(&batch->flight))
		return 0;
	return salvo_batch_fail(batch, -EBUSY,
				"patch: the batch is in flight; wait for its fence, or alternate between two batches");
}

/* The dispatch to patch, or NULL. */
static struct drm_salvo_command *find_dispatch(struct salvo_batch *batch, unsigned int command,
					       int *err)
{
	*err = check_idle(batch);
	if (*err)
		return NULL;
	if (command < batch->count && batch->commands[command].type == DRM_SALVO_DISPATCH)
		return &batch->commands[command];
	*err = salvo_batch_fail(batch, -EINVAL, "patch: command %u is not a dispatch", command);
	return NULL;
}

int salvo_batch_patch_value(struct salvo_batch *batch, unsigned int command, unsigned int index,
			    const void *value, size_t size)
{
	const struct salvo_kernel_info *kernel;
	const struct drm_salvo_command *cmd;
	uint8_t *place;
	int err;

	cmd = find_dispatch(batch, command, &err);
	if (!cmd)
		return err;
	kernel = batch->notes[command].kernel;
	if (index >= kernel->note.arg_count || kernel->args[index].kind != SALVO_ARG_VALUE ||
	    kernel->args[index].size != size || !value)
		return salvo_batch_fail(batch, -EINVAL,
					"patch: kernel %s has no value of %zu bytes as argument %u",
					batch->notes[command].name, size, index);
	place = batch->args + cmd->args_offset + kernel->args[index].offset;
	/* Most values are one word: no call of memcpy(). */
	if (size == sizeof(uint32_t))
		memcpy(place, value, sizeof(uint32_t));
	else
		memcpy(place, value, size);
	return 0;
}

/* The place of an argument of @kind in the blob, or NULL with an error message. */
static uint8_t *find_argument(struct salvo_batch *batch, unsigned int command, unsigned int index,
			      uint32_t kind, int *err)
{
	const struct drm_salvo_command *cmd = find_dispatch(batch, command, err);
	const struct salvo_kernel_info *kernel;
	char words[SALVO_ARGUMENT_WORDS];

	if (!cmd)
		return NULL;
	kernel = batch->notes[command].kernel;
	if (index < kernel->note.arg_count && kernel->args[index].kind == kind)
		return batch->args + cmd->args_offset + kernel->args[index].offset;
	salvo_argument_describe(kernel, index, words);
	*err = salvo_batch_fail(batch, -EINVAL, "patch: kernel %.40s: %s",
				batch->notes[command].name, words);
	return NULL;
}

int salvo_batch_patch_sampler(struct salvo_batch *batch, unsigned int command,
			      unsigned int index, uint32_t sampler)
{
	uint8_t *place;
	int err;

	place = find_argument(batch, command, index, SALVO_ARG_SAMPLER, &err);
	if (!place)
		return err;
	if (!salvo_sampler_is_valid(sampler))
		return salvo_batch_fail(batch, -EINVAL, "patch: there is no sampler 0x%x", sampler);
	memcpy(place, &sampler, sizeof(sampler));
	return 0;
}

/* The region of a pointer or image argument. */
static struct salvo_region *region_of(struct salvo_batch *batch, unsigned int command,
				      unsigned int index)
{
	const struct salvo_kernel_info *kernel = batch->notes[command].kernel;
	unsigned int i, slot = 0;

	for (i = 0; i < index; i++)
		slot += salvo_arg_is_pointer(&kernel->args[i]);
	return &batch->regions[batch->spans[command].first + slot];
}

int salvo_batch_patch_image(struct salvo_batch *batch, unsigned int command, unsigned int index,
			    const struct salvo_image *image)
{
	const struct salvo_image_view *view;
	uint8_t *place;
	int err;

	place = find_argument(batch, command, index, SALVO_ARG_IMAGE, &err);
	if (!place)
		return err;
	if (salvo_image_argument(batch->device, batch->notes[command].kernel, index, image,
				 region_of(batch, command, index), &view))
		return salvo_batch_fail(batch, -EINVAL,
					"patch: argument %u: not an image of this device, or of other dimensions",
					index);
	memcpy(place, view, sizeof(*view));
	salvo_batch_moved(batch);
	return 0;
}

/* Sizes of the local arguments: each ends where the next one starts. */
static void find_local_sizes(const struct salvo_kernel_info *kernel, const uint8_t *args,
			     uint32_t end, uint32_t *sizes)
{
	unsigned int i = kernel->note.arg_count;
	uint64_t offset;

	while (i--) {
		sizes[i] = 0;
		if (kernel->args[i].kind != SALVO_ARG_LOCAL)
			continue;
		memcpy(&offset, args + kernel->args[i].offset, sizeof(offset));
		sizes[i] = end - offset;
		end = offset;
	}
}

int salvo_batch_patch_local(struct salvo_batch *batch, unsigned int command, unsigned int index,
			    size_t bytes)
{
	const struct salvo_kernel_info *kernel;
	struct drm_salvo_command *cmd;
	uint32_t *sizes, local_size;
	uint8_t *args;
	int err;

	if (!find_argument(batch, command, index, SALVO_ARG_LOCAL, &err))
		return err;
	cmd = &batch->commands[command];
	kernel = batch->notes[command].kernel;
	if (!bytes || bytes > batch->device->info.max_local_bytes)
		return salvo_batch_fail(batch, bytes ? -E2BIG : -EINVAL,
					"patch: %zu bytes of local memory, must be 1 to %u", bytes,
					batch->device->info.max_local_bytes);
	sizes = calloc(kernel->note.arg_count, sizeof(*sizes));
	args = malloc(cmd->args_size);
	if (!sizes || !args) {
		err = salvo_batch_fail(batch, -ENOMEM, "out of memory");
		goto out;
	}
	memcpy(args, batch->args + cmd->args_offset, cmd->args_size);
	find_local_sizes(kernel, args, cmd->local_size, sizes);
	sizes[index] = bytes;
	local_size = salvo_locals_place(kernel, args, sizes);
	if (local_size > batch->device->info.max_local_bytes) {
		err = salvo_batch_fail(batch, -E2BIG,
				       "patch: %u bytes of local memory, at most %u", local_size,
				       batch->device->info.max_local_bytes);
		goto out;
	}
	memcpy(batch->args + cmd->args_offset, args, cmd->args_size);
	cmd->local_size = local_size;
	batch->validated.epoch = 0;
out:
	free(args);
	free(sizes);
	return err;
}

int salvo_batch_patch_offset(struct salvo_batch *batch, unsigned int command,
			     const uint32_t offset[3])
{
	struct salvo_global_offset block = { .reserved = 0 };
	const struct drm_salvo_command *cmd;
	int err;

	cmd = find_dispatch(batch, command, &err);
	if (!cmd)
		return err;
	err = salvo_offset_check(batch->device, batch->notes[command].kernel, offset);
	if (err)
		return salvo_batch_fail(batch, err,
					"patch: kernel %.60s has no global offset, or not this one",
					batch->notes[command].name);
	memcpy(block.first, offset, sizeof(block.first));
	memcpy(batch->args + cmd->args_offset, &block, sizeof(block));
	return 0;
}

/* The range of a copy, fill or timestamp; @index 0 is what it writes, 1 what it reads. */
static int patch_transfer(struct salvo_batch *batch, unsigned int command, unsigned int index,
			  const struct salvo_bo *bo, uint64_t offset)
{
	struct drm_salvo_command *cmd = &batch->commands[command];
	struct salvo_region *region;
	uint64_t size;
	int err;

	if (index >= batch->spans[command].count)
		return salvo_batch_fail(batch, -EINVAL, "patch: command %u has no range %u",
					command, index);
	region = &batch->regions[batch->spans[command].first + index];
	size = region->end - region->start;
	err = salvo_batch_check_range(batch, "patch", bo, offset, size);
	if (err)
		return err;
	region->start = bo->address + offset;
	region->end = region->start + size;
	region->memory = salvo_bo_memory(bo);
	if (index)
		cmd->src = region->start;
	else
		cmd->dst = region->start;
	batch->validated.epoch = 0;
	salvo_batch_moved(batch);
	return 0;
}

int salvo_batch_patch_bo(struct salvo_batch *batch, unsigned int command, unsigned int index,
			 struct salvo_bo *bo, uint64_t offset, uint64_t size)
{
	const struct salvo_kernel_info *kernel;
	struct salvo_region *region, fresh;
	int err = check_idle(batch);

	if (err)
		return err;
	if (command >= batch->count || batch->commands[command].type == DRM_SALVO_PIPE_CONTROL)
		return salvo_batch_fail(batch, -EINVAL, "patch: command %u has no buffer",
					command);
	if (batch->commands[command].type != DRM_SALVO_DISPATCH) {
		if (size)
			return salvo_batch_fail(batch, -EINVAL,
						"patch: the size of command %u cannot be changed", command);
		return patch_transfer(batch, command, index, bo, offset);
	}
	kernel = batch->notes[command].kernel;
	if (index >= kernel->note.arg_count || !salvo_arg_is_pointer(&kernel->args[index]) ||
	    kernel->args[index].kind == SALVO_ARG_IMAGE)
		return salvo_batch_fail(batch, -EINVAL,
					"patch: kernel %s: argument %u is not a buffer",
					batch->notes[command].name, index);
	region = region_of(batch, command, index);
	fresh = *region;
	if (salvo_region_set(batch->device, bo, offset, size, &fresh))
		return salvo_batch_fail(batch, -EINVAL,
					"patch: argument %u: not a buffer of this device, or offset %llu and size %llu are outside it",
					index, (unsigned long long)offset,
					(unsigned long long)size);
	if (fresh.start == region->start && fresh.end == region->end &&
	    fresh.memory == region->memory)
		return 0;
	*region = fresh;
	memcpy(batch->args + batch->commands[command].args_offset + kernel->args[index].offset,
	       &fresh.start, sizeof(fresh.start));
	salvo_size_place(kernel, batch->args + batch->commands[command].args_offset, index,
			 fresh.end - fresh.start);
	salvo_batch_moved(batch);
	return 0;
}

/* The grid of a command has changed: note it for the packet that is kept, and for errors. */
static void note_grid(struct salvo_batch *batch, unsigned int command)
{
	struct salvo_validated *kept = &batch->validated;

	if (!kept->end || command < kept->first)
		kept->first = command;
	if (command >= kept->end)
		kept->end = command + 1;
	salvo_batch_unlabel(batch);
}

int salvo_batch_patch_grid(struct salvo_batch *batch, unsigned int command, unsigned int dims,
			   const uint32_t *items, const uint32_t *group)
{
	struct drm_salvo_command *cmd;
	struct salvo_grid grid;
	int err;

	cmd = find_dispatch(batch, command, &err);
	if (!cmd)
		return err;
	err = salvo_grid_set(batch->device, batch->notes[command].kernel, dims, items, group,
			     &grid);
	if (err)
		return salvo_batch_fail(batch, err, "patch: the grid is invalid for kernel %s",
					batch->notes[command].name);
	cmd->dims = grid.dims;
	memcpy(cmd->items, grid.items, sizeof(cmd->items));
	memcpy(cmd->group, grid.group, sizeof(cmd->group));
	note_grid(batch, command);
	return 0;
}

/* Room for all of @part at the end of @batch. */
static int reserve_part(struct salvo_batch *batch, const struct salvo_batch *part,
			unsigned int count, uint32_t *args_offset)
{
	int err = salvo_batch_reserve(batch, batch->count + count);

	if (!err)
		err = salvo_batch_reserve_regions(batch, part->region_count);
	if (err == -E2BIG)
		return salvo_batch_fail(batch, err, "the batch is full: at most %u commands",
					batch->device->info.max_commands);
	if (err)
		return salvo_batch_fail(batch, err, "out of memory");
	*args_offset = 0;
	return part->args_size ? salvo_batch_reserve_args(batch, part->args_size, args_offset) : 0;
}

int salvo_batch_append(struct salvo_batch *batch, struct salvo_batch *part)
{
	const unsigned int first = batch->count;
	unsigned int count, i;
	uint32_t args_offset;
	int err;

	if (batch == part || batch->device != part->device)
		return salvo_batch_fail(batch, -EINVAL,
					"append: the same batch, or a batch of another device");
	/* Without hazard tracking in @batch the pipe controls of @part are copied. */
	if (part->tracked && !batch->tracked) {
		err = salvo_batch_track(part);
		if (err)
			return salvo_batch_fail(batch, err, "append: %s", part->error);
	}
	count = part->count + (part->tracked && !batch->tracked ? part->found : 0);
	if (part->print) {
		err = salvo_print_prepare(batch);
		if (err)
			return salvo_batch_fail(batch, err, "no memory for the print buffer");
	}
	err = reserve_part(batch, part, count, &args_offset);
	if (err)
		return err;
	salvo_batch_changed(batch);
	for (i = 0; i < count; i++) {
		struct drm_salvo_command *cmd = &batch->commands[first + i];

		*cmd = part->commands[i];
		batch->spans[first + i] = (struct salvo_region_span){ batch->region_count, 0 };
		batch->notes[first + i] = (struct salvo_command_note){ .kernel = NULL };
		if (i < part->count) {
			batch->notes[first + i] = part->notes[i];
			batch->spans[first + i] = part->spans[i];
			batch->spans[first + i].first += batch->region_count;
		}
		if (cmd->args_size)
			cmd->args_offset += args_offset;
		if (cmd->type == DRM_SALVO_PIPE_CONTROL &&
		    !(cmd->flags & DRM_SALVO_PIPE_CONTROL_ALL)) {
			cmd->consumer += first;
			cmd->producer += first;
		}
	}
	if (part->region_count)
		memcpy(batch->regions + batch->region_count, part->regions,
		       part->region_count * sizeof(*part->regions));
	batch->region_count += part->region_count;
	if (part->args_size) {
		memcpy(batch->args + args_offset, part->args, part->args_size);
		batch->args_size = args_offset + part->args_size;
	}
	for (i = 0; i < count; i++)
		salvo_print_place(batch, first + i);
	batch->count += count;
	return first;
}
