// SPDX-License-Identifier: MIT
/*
 * command.c - add commands to a batch: one for each workload (B1 of CN105940388)
 *
 * A dispatch copies its kernel's arguments and grid, so the kernel may be changed at once for the
 * next dispatch.
 */
#include <errno.h>
#include <string.h>

#include "batch.h"
#include "bo.h"
#include "device.h"
#include "kernel.h"
#include "print.h"

struct drm_salvo_command *salvo_batch_next_command(struct salvo_batch *batch,
						   unsigned int regions, int *err)
{
	struct drm_salvo_command *command;

	*err = salvo_batch_reserve(batch, batch->count + 1);
	if (!*err)
		*err = salvo_batch_reserve_regions(batch, regions);
	if (*err == -E2BIG)
		salvo_batch_fail(batch, *err, "the batch is full: at most %u commands",
				 batch->device->info.max_commands);
	else if (*err)
		salvo_batch_fail(batch, *err, "out of memory");
	if (*err)
		return NULL;
	salvo_batch_changed(batch);
	batch->spans[batch->count] = (struct salvo_region_span){ batch->region_count, 0 };
	batch->notes[batch->count] = (struct salvo_command_note){ .kernel = NULL };
	command = &batch->commands[batch->count];
	memset(command, 0, sizeof(*command));
	return command;
}

void salvo_batch_add_region(struct salvo_batch *batch, const struct salvo_bo *bo, uint64_t start,
			    uint64_t size, uint32_t argument, uint32_t access)
{
	batch->regions[batch->region_count++] = (struct salvo_region){
		start, start + size, argument, access, salvo_bo_memory(bo),
	};
	batch->spans[batch->count].count++;
}

static int missing_argument(struct salvo_batch *batch, const struct salvo_kernel *kernel)
{
	unsigned int i;

	for (i = 0; kernel->set[i]; i++)
		;
	return salvo_batch_fail(batch, -EINVAL, "kernel %s: argument %u is not set",
				kernel->info->name, i);
}

int salvo_batch_dispatch(struct salvo_batch *batch, const struct salvo_kernel *kernel)
{
	const struct salvo_note_kernel *note = &kernel->info->note;
	struct drm_salvo_command *command;
	uint32_t offset = 0;
	int err;

	if (kernel->device != batch->device)
		return salvo_batch_fail(batch, -EINVAL, "kernel %s is of another device",
					kernel->info->name);
	if (kernel->unset)
		return missing_argument(batch, kernel);
	if (!kernel->grid.dims)
		return salvo_batch_fail(batch, -EINVAL, "kernel %s: the grid is not set",
					kernel->info->name);
	if (kernel->local_size > batch->device->info.max_local_bytes)
		return salvo_batch_fail(batch, -E2BIG,
					"kernel %s: %u bytes of local memory, at most %u",
					kernel->info->name, kernel->local_size,
					batch->device->info.max_local_bytes);
	if (note->flags & SALVO_KERNEL_PRINTS) {
		err = salvo_print_prepare(batch);
		if (err)
			return salvo_batch_fail(batch, err, "no memory for the print buffer");
	}
	command = salvo_batch_next_command(batch, kernel->region_count, &err);
	if (!command)
		return err;
	if (note->args_bytes) {
		err = salvo_batch_reserve_args(batch, note->args_bytes, &offset);
		if (err)
			return err;
		memcpy(batch->args + offset, kernel->args, note->args_bytes);
		batch->args_size = offset + note->args_bytes;
	}

	command->type = DRM_SALVO_DISPATCH;
	command->flags = note->flags & SALVO_KERNEL_BARRIERS ? DRM_SALVO_DISPATCH_BARRIERS : 0;
	if (note->flags & SALVO_KERNEL_CONTENDS && batch->device->contends)
		command->flags |= DRM_SALVO_DISPATCH_CONTENDS;
	command->entry = kernel->info->entry;
	memcpy(command->items, kernel->grid.items, sizeof(command->items));
	memcpy(command->group, kernel->grid.group, sizeof(command->group));
	command->args_offset = offset;
	command->args_size = note->args_bytes;
	command->local_size = kernel->local_size;
	command->dims = kernel->grid.dims;
	if (kernel->region_count)
		memcpy(batch->regions + batch->region_count, kernel->regions,
		       kernel->region_count * sizeof(*kernel->regions));
	batch->spans[batch->count].count = kernel->region_count;
	batch->region_count += kernel->region_count;
	batch->notes[batch->count] = (struct salvo_command_note){
		.kernel = kernel->info, .name = kernel->name,
	};
	salvo_print_place(batch, batch->count);
	return batch->count++;
}

int salvo_batch_pipe_control(struct salvo_batch *batch, unsigned int consumer,
			     unsigned int producer)
{
	struct drm_salvo_command *command;
	int err;

	if (producer >= consumer)
		return salvo_batch_fail(batch, -EINVAL,
					"pipe control: the producer %u must come before the consumer %u",
					producer, consumer);
	if (consumer >= batch->count)
		return salvo_batch_fail(batch, -EINVAL,
					"pipe control: there is no consumer %u, the batch has %u commands",
					consumer, batch->count);
	if (batch->commands[consumer].type == DRM_SALVO_PIPE_CONTROL ||
	    batch->commands[producer].type == DRM_SALVO_PIPE_CONTROL)
		return salvo_batch_fail(batch, -EINVAL,
					"pipe control: command %u is a pipe control itself",
					batch->commands[consumer].type == DRM_SALVO_PIPE_CONTROL ?
					consumer : producer);
	command = salvo_batch_next_command(batch, 0, &err);
	if (!command)
		return err;
	command->type = DRM_SALVO_PIPE_CONTROL;
	command->consumer = consumer;
	command->producer = producer;
	return batch->count++;
}

int salvo_batch_barrier(struct salvo_batch *batch)
{
	struct drm_salvo_command *command;
	int err;

	command = salvo_batch_next_command(batch, 0, &err);
	if (!command)
		return err;
	command->type = DRM_SALVO_PIPE_CONTROL;
	command->flags = DRM_SALVO_PIPE_CONTROL_ALL;
	return batch->count++;
}

int salvo_batch_copy(struct salvo_batch *batch, struct salvo_bo *dst, uint64_t dst_offset,
		     struct salvo_bo *src, uint64_t src_offset, uint64_t size)
{
	struct drm_salvo_command *command;
	int err;

	err = salvo_batch_check_range(batch, "copy to", dst, dst_offset, size);
	if (!err)
		err = salvo_batch_check_range(batch, "copy from", src, src_offset, size);
	if (err)
		return err;
	if (dst == src && dst_offset < src_offset + size && src_offset < dst_offset + size)
		return salvo_batch_fail(batch, -EINVAL, "copy: the ranges overlap");
	command = salvo_batch_next_command(batch, 2, &err);
	if (!command)
		return err;
	command->type = DRM_SALVO_COPY;
	command->dst = dst->address + dst_offset;
	command->src = src->address + src_offset;
	command->size = size;
	salvo_batch_add_region(batch, dst, command->dst, size, 0, SALVO_REGION_WRITE);
	salvo_batch_add_region(batch, src, command->src, size, 1, SALVO_REGION_READ);
	return batch->count++;
}

int salvo_batch_fill(struct salvo_batch *batch, struct salvo_bo *dst, uint64_t offset,
		     uint64_t size, uint32_t pattern)
{
	struct drm_salvo_command *command;
	int err;

	err = salvo_batch_check_range(batch, "fill", dst, offset, size);
	if (err)
		return err;
	if (offset % 4 || size % 4)
		return salvo_batch_fail(batch, -EINVAL,
					"fill: offset and size must be multiples of 4");
	command = salvo_batch_next_command(batch, 1, &err);
	if (!command)
		return err;
	command->type = DRM_SALVO_FILL;
	command->dst = dst->address + offset;
	command->size = size;
	command->pattern = pattern;
	salvo_batch_add_region(batch, dst, command->dst, size, 0, SALVO_REGION_WRITE);
	return batch->count++;
}

int salvo_batch_timestamp(struct salvo_batch *batch, struct salvo_bo *dst, uint64_t offset)
{
	struct drm_salvo_command *command;
	int err;

	err = salvo_batch_check_range(batch, "timestamp", dst, offset, sizeof(uint64_t));
	if (err)
		return err;
	if (offset % 8)
		return salvo_batch_fail(batch, -EINVAL,
					"timestamp: offset must be a multiple of 8");
	command = salvo_batch_next_command(batch, 1, &err);
	if (!command)
		return err;
	command->type = DRM_SALVO_TIMESTAMP;
	command->dst = dst->address + offset;
	salvo_batch_add_region(batch, dst, command->dst, sizeof(uint64_t), 0, SALVO_REGION_WRITE);
	return batch->count++;
}
