// SPDX-License-Identifier: MIT
/*
 * kernel.c - a kernel's arguments and thread space (B9 of CN105940388)
 *
 * Arguments are kept in the block that the kernel will read, so a dispatch is one copy.
 * Local arguments are placed after the kernel's static local memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "salvo_hw.h"
#include "argument.h"
#include "bo.h"
#include "device.h"
#include "group.h"
#include "kernel.h"

/* What the kernel does with the memory of each pointer argument, and of variables. */
static void set_accesses(struct salvo_kernel *kernel, const struct salvo_program *program)
{
	const struct salvo_bo *variables = salvo_program_variables(program);
	const struct salvo_kernel_info *info = kernel->info;
	struct salvo_region *region = kernel->regions;
	unsigned int i;

	for (i = 0; i < info->note.arg_count; i++) {
		if (!salvo_arg_is_pointer(&info->args[i]))
			continue;
		kernel->slots[i] = region - kernel->regions;
		region->argument = i;
		region->access = info->args[i].access;
		region++;
	}
	if (info->note.flags & SALVO_KERNEL_VARIABLES && variables)
		*region++ = (struct salvo_region){
			.start = variables->address, .end = variables->address + variables->size,
			.argument = SALVO_HAZARD_VARIABLES,
			.access = SALVO_REGION_READ | SALVO_REGION_WRITE,
			.memory = salvo_bo_memory(variables),
		};
	kernel->region_count = region - kernel->regions;
}

int salvo_kernel_create(struct salvo_program *program, const char *name,
			struct salvo_kernel **out)
{
	const struct salvo_kernel_info *info = salvo_program_find(program, name);
	struct salvo_kernel *kernel;
	unsigned int count, pointers = 0, i;

	*out = NULL;
	if (!info)
		return -ENOENT;
	kernel = calloc(1, sizeof(*kernel));
	if (!kernel)
		return -ENOMEM;
	count = info->note.arg_count;
	for (i = 0; i < count; i++)
		pointers += salvo_arg_is_pointer(&info->args[i]);
	kernel->device = salvo_program_device(program);
	kernel->info = info;
	kernel->args = calloc(1, info->note.args_bytes + 1);
	kernel->local_sizes = calloc(count + 1, sizeof(*kernel->local_sizes));
	kernel->set = calloc(count + 1, sizeof(*kernel->set));
	kernel->regions = calloc(pointers + 2, sizeof(*kernel->regions));
	kernel->slots = calloc(count + 1, sizeof(*kernel->slots));
	kernel->name = salvo_device_intern(kernel->device, info->name);
	if (!kernel->name || !kernel->args || !kernel->local_sizes || !kernel->set ||
	    !kernel->regions || !kernel->slots) {
		salvo_kernel_destroy(kernel);
		return -ENOMEM;
	}
	set_accesses(kernel, program);
	kernel->unset = count;
	kernel->local_size = info->note.local_bytes;
	*out = kernel;
	return 0;
}

/* Does the argument block of one do for the other? */
static bool have_same_block(const struct salvo_kernel_info *a, const struct salvo_kernel_info *b)
{
	const uint32_t hidden = SALVO_KERNEL_PRINTS | SALVO_KERNEL_OFFSET | SALVO_KERNEL_CHECKED;
	unsigned int i;

	if (a->note.arg_count != b->note.arg_count || a->note.args_bytes != b->note.args_bytes ||
	    (a->note.flags ^ b->note.flags) & hidden)
		return false;
	for (i = 0; i < a->note.arg_count; i++)
		if (a->args[i].kind != b->args[i].kind || a->args[i].size != b->args[i].size ||
		    a->args[i].offset != b->args[i].offset)
			return false;
	return true;
}

int salvo_kernel_move(struct salvo_kernel *kernel, const struct salvo_program *program)
{
	const struct salvo_kernel_info *info = salvo_program_find(program, kernel->name);

	if (!info)
		return salvo_kernel_fail(kernel, -ENOENT, "the program has no kernel %.60s",
					 kernel->name);
	if (salvo_program_device(program) != kernel->device)
		return salvo_kernel_fail(kernel, -EINVAL, "the program is of another device");
	if (!have_same_block(info, kernel->info))
		return salvo_kernel_fail(kernel, -EINVAL,
					 "kernel %.60s of the program has other arguments",
					 kernel->name);
	kernel->info = info;
	set_accesses(kernel, program);
	kernel->local_size = salvo_locals_place(info, kernel->args, kernel->local_sizes);
	memset(&kernel->grid, 0, sizeof(kernel->grid));
	return 0;
}

void salvo_kernel_destroy(struct salvo_kernel *kernel)
{
	if (!kernel)
		return;
	free(kernel->args);
	free(kernel->local_sizes);
	free(kernel->set);
	free(kernel->regions);
	free(kernel->slots);
	free(kernel);
}

static void *copy_of(const void *data, size_t bytes)
{
	void *copy = malloc(bytes);

	return copy ? memcpy(copy, data, bytes) : NULL;
}

int salvo_kernel_clone(const struct salvo_kernel *kernel, struct salvo_kernel **out)
{
	const struct salvo_kernel_info *info = kernel->info;
	const unsigned int count = info->note.arg_count;
	struct salvo_kernel *clone;

	*out = NULL;
	clone = calloc(1, sizeof(*clone));
	if (!clone)
		return -ENOMEM;
	*clone = *kernel;
	clone->args = copy_of(kernel->args, info->note.args_bytes + 1);
	clone->local_sizes = copy_of(kernel->local_sizes,
					(count + 1) * sizeof(*kernel->local_sizes));
	clone->set = copy_of(kernel->set, (count + 1) * sizeof(*kernel->set));
	clone->regions = copy_of(kernel->regions,
				    (kernel->region_count + 1) * sizeof(*kernel->regions));
	clone->slots = copy_of(kernel->slots, (count + 1) * sizeof(*kernel->slots));
	if (!clone->args || !clone->local_sizes || !clone->set || !clone->regions ||
	    !clone->slots) {
		salvo_kernel_destroy(clone);
		return -ENOMEM;
	}
	*out = clone;
	return 0;
}

void salvo_kernel_store(struct salvo_kernel *kernel, unsigned int index, const void *value)
{
	const struct salvo_note_arg *arg = &kernel->info->args[index];

	/* Most have one of two sizes: no call of a function then. */
	if (arg->size == sizeof(uint32_t))
		memcpy(kernel->args + arg->offset, value, sizeof(uint32_t));
	else if (arg->size == sizeof(uint64_t))
		memcpy(kernel->args + arg->offset, value, sizeof(uint64_t));
	else
		memcpy(kernel->args + arg->offset, value, arg->size);
	kernel->unset -= !kernel->set[index];
	kernel->set[index] = true;
}

int salvo_kernel_set_value(struct salvo_kernel *kernel, unsigned int index,
			   const void *value, size_t size)
{
	const struct salvo_note_arg *arg = salvo_kernel_argument(kernel, index);

	if (!arg || arg->kind != SALVO_ARG_VALUE || size != arg->size || !value)
		return salvo_kernel_fail_argument(kernel, index, "a value of %zu bytes given%s",
						  size, value ? "" : ", at NULL");
	salvo_kernel_store(kernel, index, value);
	return 0;
}

int salvo_region_set(const struct salvo_device *device, const struct salvo_bo *bo,
		     uint64_t offset, uint64_t size, struct salvo_region *region)
{
	if (!bo) {
		if (offset || size)
			return -EINVAL;
		region->start = 0;
		region->end = 0;
		return 0;
	}
	if (bo->device != device || offset >= bo->size || size > bo->size - offset)
		return -EINVAL;
	region->start = bo->address + offset;
	region->end = size ? region->start + size : bo->address + bo->size;
	region->memory = salvo_bo_memory(bo);
	return 0;
}

/* Does a checked kernel have a size for the argument? */
static bool has_size(const struct salvo_note_arg *arg)
{
	return arg->kind == SALVO_ARG_GLOBAL || arg->kind == SALVO_ARG_CONSTANT ||
	       arg->kind == SALVO_ARG_LOCAL;
}

/* Bytes at the end of the argument block of a checked kernel, from the size of @first on. */
static uint64_t size_tail(const struct salvo_kernel_info *info, unsigned int first)
{
	uint64_t bytes = info->note.flags & SALVO_KERNEL_PRINTS ? sizeof(uint64_t) : 0;
	unsigned int i;

	for (i = first; i < info->note.arg_count; i++)
		bytes += has_size(&info->args[i]) ? sizeof(uint64_t) : 0;
	return bytes;
}

bool salvo_sizes_fit(const struct salvo_kernel_info *info)
{
	return !(info->note.flags & SALVO_KERNEL_CHECKED) ||
	       size_tail(info, 0) <= info->note.args_bytes;
}

void salvo_size_place(const struct salvo_kernel_info *info, uint8_t *args, unsigned int index,
		      uint64_t bytes)
{
	if (info->note.flags & SALVO_KERNEL_CHECKED)
		memcpy(args + info->note.args_bytes - size_tail(info, index), &bytes,
		       sizeof(bytes));
}

static int fail_buffer(struct salvo_kernel *kernel, unsigned int index, const struct salvo_bo *bo,
		       uint64_t offset, uint64_t size)
{
	if (!bo)
		return salvo_kernel_fail_argument(kernel, index,
						  "a null pointer has no offset or size");
	if (bo->device != kernel->device)
		return salvo_kernel_fail_argument(kernel, index,
						  "the buffer is of another device");
	return salvo_kernel_fail_argument(kernel, index,
					  "offset %llu and size %llu are outside %llu bytes",
					  (unsigned long long)offset, (unsigned long long)size,
					  (unsigned long long)bo->size);
}

int salvo_kernel_set_bo(struct salvo_kernel *kernel, unsigned int index,
			struct salvo_bo *bo, uint64_t offset)
{
	return salvo_kernel_set_bo_range(kernel, index, bo, offset, 0);
}

int salvo_kernel_set_bo_range(struct salvo_kernel *kernel, unsigned int index,
			      struct salvo_bo *bo, uint64_t offset, uint64_t size)
{
	const struct salvo_note_arg *arg = salvo_kernel_argument(kernel, index);
	struct salvo_region *region;

	if (!arg || !salvo_arg_is_pointer(arg) || arg->kind == SALVO_ARG_IMAGE)
		return salvo_kernel_fail_argument(kernel, index, "a buffer given");
	region = &kernel->regions[kernel->slots[index]];
	if (salvo_region_set(kernel->device, bo, offset, size, region))
		return fail_buffer(kernel, index, bo, offset, size);
	salvo_kernel_store(kernel, index, &region->start);
	salvo_size_place(kernel->info, kernel->args, index, region->end - region->start);
	return 0;
}

/*
 * Static local memory comes first. The sizes in notes and arguments are below 2^31, so a sum
 * that exceeds the GPU's local memory saturates and the dispatch is rejected.
 */
uint32_t salvo_locals_place(const struct salvo_kernel_info *info, uint8_t *args,
			    const uint32_t *sizes)
{
	uint64_t end = info->note.local_bytes, offset;
	unsigned int i;

	for (i = 0; i < info->note.arg_count; i++) {
		if (info->args[i].kind != SALVO_ARG_LOCAL || !sizes[i])
			continue;
		offset = (end + SALVO_LOCAL_ALIGN - 1) & ~(uint64_t)(SALVO_LOCAL_ALIGN - 1);
		memcpy(args + info->args[i].offset, &offset, sizeof(offset));
		salvo_size_place(info, args, i, sizes[i]);
		end = offset + sizes[i];
	}
	return end > UINT32_MAX ? UINT32_MAX : end;
}

int salvo_kernel_set_local(struct salvo_kernel *kernel, unsigned int index, size_t bytes)
{
	const struct salvo_note_arg *arg = salvo_kernel_argument(kernel, index);
	const uint64_t unplaced = 0;

	if (!arg || arg->kind != SALVO_ARG_LOCAL || !bytes || bytes > INT32_MAX)
		return salvo_kernel_fail_argument(kernel, index,
						  "%zu bytes of local memory given", bytes);
	kernel->local_sizes[index] = bytes;
	salvo_kernel_store(kernel, index, &unplaced);
	kernel->local_size = salvo_locals_place(kernel->info, kernel->args, kernel->local_sizes);
	return 0;
}

int salvo_offset_check(const struct salvo_device *device, const struct salvo_kernel_info *info,
		       const uint32_t offset[3])
{
	unsigned int d;

	if (!(info->note.flags & SALVO_KERNEL_OFFSET) || !offset)
		return -EINVAL;
	for (d = 0; d < 3; d++)
		if (offset[d] > device->info.max_items)
			return -E2BIG;
	return 0;
}

int salvo_kernel_set_offset(struct salvo_kernel *kernel, const uint32_t offset[3])
{
	struct salvo_global_offset block = { .reserved = 0 };
	const int err = salvo_offset_check(kernel->device, kernel->info, offset);

	if (err == -E2BIG)
		return salvo_kernel_fail(kernel, err, "offset %u,%u,%u: at most %llu", offset[0],
					 offset[1], offset[2],
					 (unsigned long long)kernel->device->info.max_items);
	if (err)
		return salvo_kernel_fail(kernel, err,
					 "kernel %.60s has no global offset (salvo-cc --global-offset)",
					 kernel->name);
	memcpy(block.first, offset, sizeof(block.first));
	memcpy(kernel->args, &block, sizeof(block));
	return 0;
}

int salvo_kernel_set_grid(struct salvo_kernel *kernel, unsigned int dims,
			  const uint32_t *items, const uint32_t *group)
{
	const uint32_t *required = kernel->info->note.required_group;
	int err;

	if (!kernel->info->entry)
		return salvo_kernel_fail(kernel, -EINVAL,
					 "grid: kernel %.60s has no code yet (salvo_kernel_move())",
					 kernel->name);
	err = salvo_grid_set(kernel->device, kernel->info, dims, items, group, &kernel->grid);
	if (!err)
		return 0;
	if (required[0])
		return salvo_kernel_fail(kernel, err, "grid: kernel %.60s requires a work-group of %u,%u,%u",
					 kernel->name, required[0], required[1], required[2]);
	return salvo_kernel_fail(kernel, err,
				 err == -E2BIG ? "grid: over max_items or max_group_items, the kernel has sub-groups and this group over 128 work-items, or it needs more private memory than work-items of this group have" :
						 "grid: must have 1 to 3 dimensions and no 0");
}

/*
 * Private memory of a work-item must not overflow into its neighbour's (M7 of CN102576314), and a
 * work-group is a sub-group where the kernel has sub-groups.
 */
static bool fits_group(const struct salvo_note_kernel *note, uint32_t items)
{
	const uint32_t stack = note->flags & SALVO_KERNEL_BARRIERS ? salvo_item_stack(items) :
								     SALVO_UNIT_STACK_BYTES;

	if (note->flags & SALVO_KERNEL_SUB_GROUPS && items > SALVO_MAX_SUB_GROUP_ITEMS)
		return false;
	return note->private_bytes <= stack - SALVO_STACK_RESERVE;
}

uint32_t salvo_kernel_max_group(const struct salvo_kernel *kernel)
{
	const uint32_t *required = kernel->info->note.required_group;
	uint32_t most = kernel->device->info.max_group_items;

	if (required[0])
		return required[0] * required[1] * required[2];
	while (most > 1 && !fits_group(&kernel->info->note, most))
		most /= 2;
	return most;
}

int salvo_grid_set(const struct salvo_device *device, const struct salvo_kernel_info *kernel,
		   unsigned int dims, const uint32_t *items, const uint32_t *group,
		   struct salvo_grid *grid)
{
	const uint32_t *required = kernel->note.required_group;
	const struct salvo_device_info *info = &device->info;
	uint32_t new_items[3] = { 1, 1, 1 }, new_group[3] = { 1, 1, 1 };
	uint64_t in_group = 1, groups = 1;
	unsigned int d;

	if (dims < 1 || dims > 3 || !items)
		return -EINVAL;
	for (d = 0; d < dims; d++) {
		if (!items[d])
			return -EINVAL;
		if (items[d] > info->max_items)
			return -E2BIG;
		new_items[d] = items[d];
	}
	if (!group && !required[0])
		salvo_group_choose(info, kernel->note.flags, dims, new_items, new_group);
	else
		for (d = 0; d < dims; d++)
			new_group[d] = group ? group[d] : required[d];
	for (d = 0; required[0] && d < 3; d++)
		if (new_group[d] != required[d])
			return -EINVAL;
	for (d = 0; d < dims; d++) {
		if (!new_group[d])
			return -EINVAL;
		in_group *= new_group[d];
		groups *= new_group[d] == 1 ? new_items[d] : (new_items[d] - 1) / new_group[d] + 1;
		if (in_group > info->max_group_items || groups > SALVO_MAX_GROUPS)
			return -E2BIG;
	}
	if (!fits_group(&kernel->note, in_group))
		return -E2BIG;
	grid->dims = dims;
	memcpy(grid->items, new_items, sizeof(new_items));
	memcpy(grid->group, new_group, sizeof(new_group));
	return 0;
}
