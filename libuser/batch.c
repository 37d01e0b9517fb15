// SPDX-License-Identifier: MIT
/*
 * batch.c - build a batch: one command for each workload (B1 of CN105940388)
 *
 * A batch is an array of commands and one blob of arguments, in the form that
 * SUBMIT takes. Adding a command writes into these arrays, which grow by
 * doubling and keep their memory over salvo_batch_reset(), so the steady state
 * neither allocates nor enters the kernel. A dispatch copies its kernel's
 * arguments and grid at once: the kernel may be changed for the next dispatch.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "kernel.h"
#include "print.h"

#define FIRST_COMMANDS	64u
#define FIRST_ARGS	4096u
#define ARGS_ALIGN	16u

_Static_assert(sizeof(struct salvo_profile) == sizeof(struct drm_salvo_profile),
	       "profiles are handed out as the GPU wrote them");

int salvo_batch_create(struct salvo_device *device, struct salvo_batch **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->device = device;
	return 0;
}

void salvo_batch_destroy(struct salvo_batch *batch)
{
	if (!batch)
		return;
	salvo_bo_destroy(batch->profile);
	salvo_bo_destroy(batch->print);
	salvo_hazards_destroy(batch->hazards);
	free(batch->causes);
	free(batch->commands);
	free(batch->spans);
	free(batch->notes);
	free(batch->regions);
	free(batch->validated.packet);
	salvo_labels_put(batch->labels);
	salvo_flight_fini(&batch->flight);
	free(batch->args);
	free(batch);
}

void salvo_batch_reset(struct salvo_batch *batch)
{
	batch->count = 0;
	batch->args_size = 0;
	batch->region_count = 0;
	batch->recorded = 0;
	batch->error[0] = 0;
	salvo_batch_changed(batch);
}

unsigned int salvo_batch_count(const struct salvo_batch *batch)
{
	return batch->count;
}

const char *salvo_batch_error(const struct salvo_batch *batch)
{
	return batch->error;
}

int salvo_batch_fail(struct salvo_batch *batch, int err, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(batch->error, sizeof(batch->error), format, ap);
	va_end(ap);
	return err;
}

int salvo_batch_reject(struct salvo_batch *batch, int err, const struct salvo_reject *why)
{
	char where[32] = "the batch";

	if (!why->field)
		return salvo_batch_fail(batch, err, "submit: %s", strerror(-err));
	if (why->command != ~0u)
		snprintf(where, sizeof(where), "command %u", why->command);
	return salvo_batch_fail(batch, err, "%s: %s is %llu (0x%llx), must be %s", where,
				why->field, (unsigned long long)why->value,
				(unsigned long long)why->value, why->expected);
}

int salvo_batch_reserve(struct salvo_batch *batch, unsigned int want)
{
	const unsigned int most = batch->device->info.max_commands;
	unsigned int capacity = batch->capacity ? batch->capacity : FIRST_COMMANDS;
	struct drm_salvo_command *commands;
	struct salvo_region_span *spans;
	struct salvo_command_note *notes;

	if (want <= batch->capacity)
		return 0;
	if (want > most)
		return -E2BIG;
	while (capacity < want)
		capacity *= 2;
	if (capacity > most)
		capacity = most;
	commands = realloc(batch->commands, capacity * sizeof(*commands));
	if (!commands)
		return -ENOMEM;
	batch->commands = commands;
	spans = realloc(batch->spans, capacity * sizeof(*spans));
	if (!spans)
		return -ENOMEM;
	batch->spans = spans;
	notes = realloc(batch->notes, capacity * sizeof(*notes));
	if (!notes)
		return -ENOMEM;
	batch->notes = notes;
	batch->capacity = capacity;
	return 0;
}

int salvo_batch_reserve_regions(struct salvo_batch *batch, unsigned int more)
{
	const uint32_t want = batch->region_count + more;
	struct salvo_region *regions;
	uint32_t capacity;

	if (want <= batch->region_capacity)
		return 0;
	capacity = 2 * want + FIRST_COMMANDS;
	regions = realloc(batch->regions, capacity * sizeof(*regions));
	if (!regions)
		return -ENOMEM;
	batch->regions = regions;
	batch->region_capacity = capacity;
	return 0;
}

/*
 * Room for one more command, zeroed, that touches @regions ranges; it counts only when
 * batch->count is raised.
 */
static struct drm_salvo_command *next_command(struct salvo_batch *batch, unsigned int regions,
					      int *err)
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
	batch->notes[batch->count] = (struct salvo_command_note){ NULL, NULL };
	command = &batch->commands[batch->count];
	memset(command, 0, sizeof(*command));
	return command;
}

/* Note what the command of next_command() touches. */
static void add_region(struct salvo_batch *batch, uint64_t start, uint64_t size,
		       uint32_t argument, uint32_t access)
{
	batch->regions[batch->region_count++] = (struct salvo_region){
		start, start + size, argument, access,
	};
	batch->spans[batch->count].count++;
}

int salvo_batch_reserve_args(struct salvo_batch *batch, uint32_t bytes, uint32_t *offset)
{
	uint32_t limit = batch->device->info.max_argument_bytes;
	uint32_t start = (batch->args_size + ARGS_ALIGN - 1) & ~(ARGS_ALIGN - 1);
	uint32_t capacity = batch->args_capacity;
	uint8_t *args;

	if (start > limit || bytes > limit - start)
		return salvo_batch_fail(batch, -E2BIG,
					"the batch is full: at most %u bytes of arguments", limit);
	if (start + bytes > capacity) {
		capacity = capacity ? capacity : FIRST_ARGS;
		while (capacity < start + bytes)
			capacity *= 2;
		args = realloc(batch->args, capacity);
		if (!args)
			return salvo_batch_fail(batch, -ENOMEM, "out of memory");
		batch->args = args;
		batch->args_capacity = capacity;
	}
	memset(batch->args + batch->args_size, 0, start - batch->args_size);
	*offset = start;
	return 0;
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
			return salvo_batch_fail(batch, err, "no memory for what kernels print");
	}
	command = next_command(batch, kernel->region_count, &err);
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
	command->entry = kernel->info->entry;
	memcpy(command->items, kernel->grid.items, sizeof(command->items));
	memcpy(command->group, kernel->grid.group, sizeof(command->group));
	command->args_offset = offset;
	command->args_size = note->args_bytes;
	command->local_size = kernel->local_size;
	command->dims = kernel->grid.dims;
	memcpy(batch->regions + batch->region_count, kernel->regions,
	       kernel->region_count * sizeof(*kernel->regions));
	batch->spans[batch->count].count = kernel->region_count;
	batch->region_count += kernel->region_count;
	batch->notes[batch->count] = (struct salvo_command_note){ kernel->info, kernel->name };
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
	if (consumer >= batch->device->info.max_commands)
		return salvo_batch_fail(batch, -EINVAL, "pipe control: there is no command %u",
					consumer);
	command = next_command(batch, 0, &err);
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

	command = next_command(batch, 0, &err);
	if (!command)
		return err;
	command->type = DRM_SALVO_PIPE_CONTROL;
	command->flags = DRM_SALVO_PIPE_CONTROL_ALL;
	return batch->count++;
}

int salvo_batch_check_range(struct salvo_batch *batch, const char *what,
			    const struct salvo_bo *bo, uint64_t offset, uint64_t size)
{
	if (!bo || bo->device != batch->device)
		return salvo_batch_fail(batch, -EINVAL, "%s: no buffer of this device", what);
	if (!size)
		return salvo_batch_fail(batch, -EINVAL, "%s: size is 0", what);
	if (offset > bo->size || size > bo->size - offset)
		return salvo_batch_fail(batch, -EINVAL,
					"%s: offset %llu and size %llu do not fit in %llu bytes",
					what, (unsigned long long)offset,
					(unsigned long long)size, (unsigned long long)bo->size);
	return 0;
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
	command = next_command(batch, 2, &err);
	if (!command)
		return err;
	command->type = DRM_SALVO_COPY;
	command->dst = dst->address + dst_offset;
	command->src = src->address + src_offset;
	command->size = size;
	add_region(batch, command->dst, size, 0, SALVO_REGION_WRITE);
	add_region(batch, command->src, size, 1, SALVO_REGION_READ);
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
	command = next_command(batch, 1, &err);
	if (!command)
		return err;
	command->type = DRM_SALVO_FILL;
	command->dst = dst->address + offset;
	command->size = size;
	command->pattern = pattern;
	add_region(batch, command->dst, size, 0, SALVO_REGION_WRITE);
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
	command = next_command(batch, 1, &err);
	if (!command)
		return err;
	command->type = DRM_SALVO_TIMESTAMP;
	command->dst = dst->address + offset;
	add_region(batch, command->dst, sizeof(uint64_t), 0, SALVO_REGION_WRITE);
	return batch->count++;
}

/* A buffer that holds the profile of all commands; grows with the batch. */
static int reserve_profile(struct salvo_batch *batch, unsigned int count)
{
	struct salvo_bo *bo;
	void *map;
	int err;

	if (count <= batch->profile_capacity)
		return 0;
	err = salvo_bo_create(batch->device, batch->capacity * sizeof(*batch->profiles), 0, &bo);
	if (err)
		return err;
	err = salvo_bo_map(bo, &map);
	if (err) {
		salvo_bo_destroy(bo);
		return err;
	}
	salvo_bo_destroy(batch->profile);
	batch->profile = bo;
	batch->profiles = map;
	batch->validated.epoch = 0;
	batch->profile_capacity = batch->capacity;
	return 0;
}

int salvo_batch_enable_profile(struct salvo_batch *batch)
{
	int err = reserve_profile(batch, batch->count);

	if (err)
		return salvo_batch_fail(batch, err, "no memory for the profile");
	batch->profiled = true;
	return 0;
}

int salvo_batch_get_profile(struct salvo_batch *batch, unsigned int index,
			    struct salvo_profile *profile)
{
	if (index >= batch->recorded)
		return salvo_batch_fail(batch, -EINVAL, "profile: command %u was not recorded",
					index);
	if (salvo_flight_is_busy(&batch->flight))
		return salvo_batch_fail(batch, -EBUSY, "profile: the batch is in flight");
	*profile = batch->profiles[index];
	return 0;
}

/* What the commands are, for the errors of fences. */
static int make_labels(struct salvo_batch *batch)
{
	struct salvo_labels *labels;
	unsigned int i;

	if (batch->labels)
		return 0;
	labels = malloc(sizeof(*labels) + batch->count * sizeof(labels->at[0]));
	if (!labels)
		return -ENOMEM;
	atomic_init(&labels->refs, 1);
	labels->count = batch->count;
	for (i = 0; i < batch->count; i++) {
		labels->at[i].kernel = batch->notes[i].name;
		memcpy(labels->at[i].items, batch->commands[i].items,
		       sizeof(labels->at[i].items));
		memcpy(labels->at[i].group, batch->commands[i].group,
		       sizeof(labels->at[i].group));
	}
	batch->labels = labels;
	return 0;
}

int salvo_batch_finish(struct salvo_batch *batch, struct salvo_batch_desc *desc)
{
	unsigned int count;
	int err = 0;

	/* Whatever happens now, the records of before are not those of this submission. */
	batch->recorded = 0;
	if (!batch->count)
		return salvo_batch_fail(batch, -EINVAL, "the batch is empty");
	if (batch->tracked)
		err = salvo_batch_track(batch);
	if (err)
		return err;
	if (make_labels(batch) || salvo_flight_reserve(&batch->flight))
		return salvo_batch_fail(batch, -ENOMEM, "out of memory");
	count = batch->count + (batch->tracked ? batch->found : 0);
	desc->profile = 0;
	if (batch->profiled) {
		err = reserve_profile(batch, count);
		if (err)
			return salvo_batch_fail(batch, err, "no memory for the profile");
		/* What does not run leaves no record of an earlier run. */
		if (!salvo_flight_is_busy(&batch->flight))
			memset(batch->profiles, 0, count * sizeof(*batch->profiles));
		desc->profile = batch->profile->address;
	}
	desc->commands = batch->commands;
	desc->count = count;
	desc->args = batch->args;
	desc->args_size = batch->args_size;
	return 0;
}

void salvo_batch_submitted(struct salvo_batch *batch, const struct salvo_batch_desc *desc,
			   struct salvo_fence *fence)
{
	if (desc->profile)
		batch->recorded = desc->count;
	atomic_fetch_add_explicit(&batch->labels->refs, 1, memory_order_relaxed);
	fence->labels = batch->labels;
	salvo_flight_add(&batch->flight, fence);
}
