// SPDX-License-Identifier: MIT
/*
 * batch.c - the memory of a batch, and its error message
 *
 * A batch is an array of commands and one blob of arguments, in the form that SUBMIT takes. These
 * arrays grow by doubling and keep their memory over salvo_batch_reset(), so the steady state
 * neither allocates nor enters the kernel. command.c adds commands, submission.c completes the
 * batch for a submission, patch.c changes it in between.
 */
#include "batch.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "bo.h"
#include "deferred.h"
#include "device.h"

#define FIRST_COMMANDS	64u
#define ARGS_ALIGN	16u

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
	salvo_deferred_resolve(batch, NULL);
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
	salvo_deferred_resolve(batch, NULL);
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

int salvo_batch_set_label(struct salvo_batch *batch, unsigned int command, const char *label)
{
	const char *kept = NULL;

	if (command >= batch->count)
		return salvo_batch_fail(batch, -EINVAL, "label: there is no command %u", command);
	if (label) {
		kept = salvo_device_intern(batch->device, label);
		if (!kept)
			return salvo_batch_fail(batch, -ENOMEM, "out of memory");
	}
	batch->notes[command].label = kept;
	salvo_batch_unlabel(batch);
	return 0;
}

const char *salvo_batch_get_label(const struct salvo_batch *batch, unsigned int command)
{
	return command < batch->count ? batch->notes[command].label : NULL;
}

int salvo_batch_reject(struct salvo_batch *batch, int err, const struct salvo_reject *why)
{
	const char *label = salvo_batch_get_label(batch, why->command);
	char where[80] = "the batch";

	if (!why->field)
		return salvo_batch_fail(batch, err, "submit: %s", strerror(-err));
	if (why->command != ~0u)
		snprintf(where, sizeof(where), "command %u%s%.40s%s", why->command,
			 label ? " (" : "", label ? label : "", label ? ")" : "");
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
	return salvo_array_reserve(&batch->regions, &batch->region_capacity,
				   batch->region_count + more, sizeof(*batch->regions));
}

int salvo_batch_reserve_args(struct salvo_batch *batch, uint32_t bytes, uint32_t *offset)
{
	uint32_t limit = batch->device->info.max_argument_bytes;
	uint32_t start = (batch->args_size + ARGS_ALIGN - 1) & ~(ARGS_ALIGN - 1);

	if (start > limit || bytes > limit - start)
		return salvo_batch_fail(batch, -E2BIG,
					"the batch is full: at most %u bytes of arguments", limit);
	if (salvo_array_reserve(&batch->args, &batch->args_capacity, start + bytes, 1))
		return salvo_batch_fail(batch, -ENOMEM, "out of memory");
	memset(batch->args + batch->args_size, 0, start - batch->args_size);
	*offset = start;
	return 0;
}

int salvo_batch_check_range(struct salvo_batch *batch, const char *what,
			    const struct salvo_bo *bo, uint64_t offset, uint64_t size)
{
	if (!bo || bo->device != batch->device)
		return salvo_batch_fail(batch, -EINVAL, "%s: not a buffer of this device", what);
	if (!size)
		return salvo_batch_fail(batch, -EINVAL, "%s: size is 0", what);
	if (offset > bo->size || size > bo->size - offset)
		return salvo_batch_fail(batch, -EINVAL,
					"%s: offset %llu and size %llu are outside a buffer of %llu bytes",
					what, (unsigned long long)offset,
					(unsigned long long)size, (unsigned long long)bo->size);
	return 0;
}
