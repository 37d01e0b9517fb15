// SPDX-License-Identifier: MIT
/*
 * fence.c - wait for batches, and get their errors
 *
 * A fence may be used from any thread: it is counted, and its result never changes once it
 * is done. The back ends wait; what both have in common is here.
 */
#include "fence.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "salvo_hw.h"
#include "salvo_kernel.h"
#include "deadline.h"
#include "device.h"
#include "labels.h"
#include "winsys.h"

void salvo_fence_put(struct salvo_fence *fence)
{
	if (!fence || atomic_fetch_sub(&fence->refs, 1) != 1)
		return;
	salvo_labels_put(fence->labels);
	fence->winsys->fence_free(fence);
}

void salvo_fence_destroy(struct salvo_fence *fence)
{
	salvo_fence_put(fence);
}

int salvo_fence_wait(struct salvo_fence *fence, int64_t timeout_ns)
{
	return fence->winsys->fence_wait(fence, timeout_ns);
}

bool salvo_fence_is_done(struct salvo_fence *fence)
{
	return salvo_fence_wait(fence, 0) != -ETIME;
}

uint64_t salvo_fence_value(const struct salvo_fence *fence)
{
	return fence->value;
}

/* All given, and all of one device? */
static bool fences_are_sane(struct salvo_fence *const *fences, unsigned int count)
{
	unsigned int i;

	if (!fences || !count)
		return false;
	for (i = 0; i < count; i++)
		if (!fences[i] || fences[i]->device != fences[0]->device)
			return false;
	return true;
}

/* Does the back end know all of them? Not the deferred ones. */
static bool are_of_back_end(struct salvo_fence *const *fences, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (fences[i]->winsys != fences[0]->device->winsys)
			return false;
	return true;
}

/* Of fences of different kinds: poll. Return: 0 or -ETIME. */
static int poll_any(struct salvo_fence *const *fences, unsigned int count, int64_t timeout_ns,
		    unsigned int *first)
{
	const struct timespec interval = { .tv_nsec = 100000 };
	const int64_t deadline = salvo_deadline_ns(timeout_ns);
	unsigned int i;

	for (;;) {
		for (i = 0; i < count; i++) {
			if (!salvo_fence_is_done(fences[i]))
				continue;
			*first = i;
			return 0;
		}
		if (!salvo_remaining_ns(deadline))
			return -ETIME;
		nanosleep(&interval, NULL);
	}
}

/* Return: 0 or -ETIME. */
static int wait_each(struct salvo_fence *const *fences, unsigned int count, int64_t timeout_ns)
{
	const int64_t deadline = salvo_deadline_ns(timeout_ns);
	unsigned int i;

	for (i = 0; i < count; i++)
		if (salvo_fence_wait(fences[i], salvo_remaining_ns(deadline)) == -ETIME)
			return -ETIME;
	return 0;
}

int salvo_fence_wait_any(struct salvo_fence *const *fences, unsigned int count,
			 int64_t timeout_ns, unsigned int *index)
{
	unsigned int first = 0;
	int err;

	if (!fences_are_sane(fences, count))
		return -EINVAL;
	if (are_of_back_end(fences, count))
		err = fences[0]->winsys->fence_wait_many(fences[0]->device, fences, count, false,
							 timeout_ns, &first);
	else
		err = poll_any(fences, count, timeout_ns, &first);
	if (!err && index)
		*index = first;
	return err;
}

int salvo_fence_wait_all(struct salvo_fence *const *fences, unsigned int count,
			 int64_t timeout_ns)
{
	unsigned int i, first;
	int err;

	if (!fences_are_sane(fences, count))
		return -EINVAL;
	if (are_of_back_end(fences, count))
		err = fences[0]->winsys->fence_wait_many(fences[0]->device, fences, count, true,
							 timeout_ns, &first);
	else
		err = wait_each(fences, count, timeout_ns);
	for (i = 0; i < count && !err; i++)
		err = salvo_fence_wait(fences[i], -1);
	return err;
}

int salvo_fence_get_fd(struct salvo_fence *fence, int *out)
{
	*out = -1;
	return fence->winsys->fence_get_fd(fence, out);
}

int salvo_fence_import_fd(struct salvo_device *device, int fd, struct salvo_fence **out)
{
	*out = NULL;
	if (fd < 0)
		return -EBADF;
	return device->winsys->fence_import_fd(device, fd, out);
}

const char *salvo_fence_get_label(const struct salvo_fence *fence, unsigned int command)
{
	if (!fence->labels || command >= fence->labels->count)
		return NULL;
	return fence->labels->at[command].label;
}

void salvo_error_set_label(struct salvo_error *error, const struct salvo_label *label)
{
	uint64_t group = error->group, groups, extent;
	uint64_t item = error->item & ((1u << SALVO_FAULT_MORE_SHIFT) - 1);
	unsigned int d;

	error->kernel = label->kernel;
	if (!label->kernel)
		return;
	for (d = 0; d < 3; d++) {
		groups = ((uint64_t)label->items[d] + label->group[d] - 1) / label->group[d];
		error->group_id[d] = group % groups;
		group /= groups;
		/* The last work-group of a dimension may be smaller. */
		extent = label->items[d] - (uint64_t)error->group_id[d] * label->group[d];
		if (extent > label->group[d])
			extent = label->group[d];
		if (!error->items)
			continue;
		error->item_id[d] = item % extent;
		item /= extent;
	}
}

/* Name and position, from the labels of the submission. */
static void add_label(const struct salvo_fence *fence, struct salvo_error *error)
{
	if (!fence->labels)
		return;
	error->count = fence->labels->count;
	if (error->command < fence->labels->count)
		salvo_error_set_label(error, &fence->labels->at[error->command]);
}

/* @item as the GPU tells it: see struct salvo_fault_regs. */
void salvo_error_set_item(struct salvo_error *error, uint32_t item)
{
	error->item = item;
	error->items = item == ~0u ? 0 : (item >> SALVO_FAULT_MORE_SHIFT) + 1;
}

void salvo_error_find_bounds(struct salvo_error *error)
{
	if (error->kind == SALVO_ERROR_PAGE && error->access && error->address >= SALVO_STRAY_BASE)
		error->kind = SALVO_ERROR_BOUNDS;
}

int salvo_error_get_bounds(const struct salvo_error *error, struct salvo_error_bounds *bounds)
{
	const uint64_t place = error->address - SALVO_STRAY_BASE;
	const unsigned int size = (place >> SALVO_STRAY_SIZE_SHIFT) & 7;

	memset(bounds, 0, sizeof(*bounds));
	if (error->kind != SALVO_ERROR_BOUNDS)
		return -EINVAL;
	bounds->argument = place >> SALVO_STRAY_ARGUMENT_SHIFT;
	if (bounds->argument >= SALVO_STRAY_PRIVATE)
		bounds->argument = SALVO_BOUNDS_PRIVATE - (bounds->argument - SALVO_STRAY_PRIVATE);
	bounds->size = 1u << size;
	bounds->offset = (int64_t)(place & (2 * SALVO_STRAY_ZERO - 1)) - (int64_t)SALVO_STRAY_ZERO;
	return 0;
}

const char *salvo_bounds_name(uint32_t argument)
{
	switch (argument) {
	case SALVO_BOUNDS_PRIVATE:
		return "a private variable";
	case SALVO_BOUNDS_LOCAL:
		return "a local variable";
	case SALVO_BOUNDS_CONSTANT:
		return "a variable of the program";
	case SALVO_BOUNDS_POINTER:
		return "a pointer from memory";
	default:
		return NULL;
	}
}

int salvo_fence_get_error(struct salvo_fence *fence, struct salvo_error *error)
{
	const int err = salvo_fence_wait(fence, 0);

	memset(error, 0, sizeof(*error));
	error->command = ~0u;
	error->item = ~0u;
	if (err == -ETIME)
		return -EBUSY;
	error->error = err;
	if (err)
		fence->winsys->fence_get_error(fence, error);
	/* The GPU gives the address of the instruction where there was no access. */
	if (!error->access)
		error->address = 0;
	salvo_error_find_bounds(error);
	add_label(fence, error);
	if (error->items > 1)
		error->item = ~0u;
	if (!err)
		error->done = error->count;
	return 0;
}

const char *salvo_error_name(uint32_t kind)
{
	static const char *const names[] = {
		[SALVO_ERROR_NONE] = "cancelled because of another batch",
		[SALVO_ERROR_RING] = "the GPU could not read its ring",
		[SALVO_ERROR_DMA] = "an access to system memory failed",
		[SALVO_ERROR_PACKET] = "the GPU rejected the packet",
		[SALVO_ERROR_PAGE] = "access to memory outside its buffers, or not allowed there",
		[SALVO_ERROR_KERNEL] = "fault in the kernel",
		[SALVO_ERROR_STACK] = "out of private memory",
		[SALVO_ERROR_LOCAL] = "access past local memory",
		[SALVO_ERROR_ARITHMETIC] = "division by zero",
		[SALVO_ERROR_INSTRUCTION] = "illegal instruction",
		[SALVO_ERROR_BARRIER] = "a barrier that not all work-items reached",
		[SALVO_ERROR_SYSCALL] = "a system call in the kernel",
	};

	if (kind == SALVO_ERROR_BOUNDS)
		return "access outside of its buffer or variable";
	if (kind == SALVO_ERROR_HANG)
		return "it exceeded the time limit";
	return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "unknown fault";
}
