// SPDX-License-Identifier: MIT
/*
 * ndrange.c - enqueue kernels
 *
 * The kernel's arguments are copied into the batch; the grid is 32 bits wide in each dimension.
 * Grids beyond libsalvo's limits, which OpenCL does not know, are CL_OUT_OF_RESOURCES, and the
 * context's notification function gets a message with the limit.
 */
#include <errno.h>
#include <string.h>

#include "icd.h"
#include "kernel.h"
#include "ndrange.h"
#include "submission.h"

/* In one dispatch: salvo_kernel_set_grid() takes no more. */
#define MAX_GROUPS	(1ull << 31)

static cl_int check_group(const struct salvo_device_info *info,
			  const struct salvo_kernel_properties *properties, bool uniform,
			  const struct salvo_cl_grid *grid)
{
	uint64_t items = 1;
	unsigned int d;

	for (d = 0; d < grid->dims; d++) {
		if (!grid->group[d])
			return CL_INVALID_WORK_GROUP_SIZE;
		if (grid->group[d] > info->max_group_items)
			return CL_INVALID_WORK_ITEM_SIZE;
		items *= grid->group[d];
		if (uniform && grid->items[d] % grid->group[d])
			return CL_INVALID_WORK_GROUP_SIZE;
	}
	if (items > info->max_group_items)
		return CL_INVALID_WORK_GROUP_SIZE;
	for (d = 0; d < 3 && properties->required_group[0]; d++)
		if (properties->required_group[d] != (d < grid->dims ? grid->group[d] : 1))
			return CL_INVALID_WORK_GROUP_SIZE;
	return CL_SUCCESS;
}

/* Is the grid within the limits of a dispatch? If not, notify the application. */
static cl_int check_limits(cl_kernel kernel, cl_uint dims, const size_t *offset,
			   const size_t *items, uintmax_t most)
{
	cl_uint d;

	for (d = 0; d < dims; d++) {
		const bool too_many = items && items[d] > most;

		if (!too_many && !(offset && offset[d] > most))
			continue;
		salvo_cl_context_tell(kernel->program->context,
				      too_many ?
				      "kernel %s: %zu work-items in dimension %u: at most %ju" :
				      "kernel %s: global offset %zu in dimension %u: at most %ju",
				      kernel->properties.name, too_many ? items[d] : offset[d], d,
				      most);
		return CL_OUT_OF_RESOURCES;
	}
	return CL_SUCCESS;
}

static cl_int check_count(cl_kernel kernel, const struct salvo_cl_grid *grid)
{
	uint64_t groups = 1;
	unsigned int d;

	for (d = 0; d < grid->dims; d++) {
		groups *= (grid->items[d] + (uint64_t)grid->group[d] - 1) / grid->group[d];
		if (groups <= MAX_GROUPS)
			continue;
		salvo_cl_context_tell(kernel->program->context,
				      "kernel %s: more than %llu work-groups", kernel->properties.name,
				      MAX_GROUPS);
		return CL_OUT_OF_RESOURCES;
	}
	return CL_SUCCESS;
}

/* The same grid is enqueued again and again. The caller may be one of several threads. */
static cl_int choose_group(cl_kernel kernel, const struct salvo_kernel *salvo,
			   struct salvo_cl_grid *grid)
{
	const uint32_t flags = kernel->uniform ? SALVO_GROUP_UNIFORM : 0;
	cl_int err = CL_SUCCESS;

	pthread_mutex_lock(&kernel->program->context->lock);
	if (memcmp(kernel->chosen_for, grid->items, sizeof(grid->items))) {
		memcpy(kernel->chosen_for, grid->items, sizeof(grid->items));
		err = salvo_cl_error(salvo_kernel_suggest_group(salvo, grid->dims, grid->items,
								flags, kernel->chosen));
		if (err)
			memset(kernel->chosen_for, 0, sizeof(kernel->chosen_for));
	}
	memcpy(grid->group, kernel->chosen, sizeof(grid->group));
	pthread_mutex_unlock(&kernel->program->context->lock);
	return err;
}

cl_int salvo_cl_grid_read(struct salvo_cl_grid *grid, cl_device_id device, cl_kernel kernel,
			  struct salvo_kernel *salvo, cl_uint dims, const size_t *offset,
			  const size_t *items, const size_t *group)
{
	const struct salvo_device_info *info = salvo_cl_device_limits(device);
	struct salvo_kernel_properties properties;
	unsigned int d;
	cl_int err;

	if (dims < 1 || dims > 3)
		return CL_INVALID_WORK_DIMENSION;
	*grid = (struct salvo_cl_grid){ .dims = dims, .empty = !items };
	for (d = 0; d < dims; d++) {
		const size_t size = items ? items[d] : 0, start = offset ? offset[d] : 0;

		if (size + start < size)
			return CL_INVALID_GLOBAL_OFFSET;
		if (group && group[d] > UINT32_MAX)
			return CL_INVALID_WORK_ITEM_SIZE;
		grid->empty |= !size;
		grid->items[d] = size;
		grid->offset[d] = start;
		grid->group[d] = group ? group[d] : 0;
	}
	err = check_limits(kernel, dims, offset, items, info->max_items);
	if (err)
		return err;
	if (!group && !grid->empty) {
		err = choose_group(kernel, salvo, grid);
		if (err)
			return err;
	}
	if (!group && grid->empty)
		return CL_SUCCESS;
	salvo_kernel_get_info(salvo, &properties);
	err = check_group(info, &properties, kernel->uniform, grid);
	return err ? err : check_count(kernel, grid);
}

int salvo_cl_grid_set(const struct salvo_cl_grid *grid, struct salvo_cl_kernel_on *on)
{
	int err;

	on->last.dims = 0;
	err = salvo_kernel_set_offset(on->salvo, grid->offset);
	if (err == -EINVAL && !grid->offset[0] && !grid->offset[1] && !grid->offset[2])
		err = 0;
	if (err)
		return err;
	return salvo_kernel_set_grid(on->salvo, grid->dims, grid->items, grid->group);
}

/* The same grid is enqueued again and again: then nothing has to be checked and set. */
static bool is_last(const struct salvo_cl_given *last, cl_uint dims, const size_t *offset,
		    const size_t *items, const size_t *group)
{
	cl_uint d;

	if (!last->dims || dims != last->dims || !items || !group == last->grouped)
		return false;
	for (d = 0; d < dims; d++)
		if (items[d] != last->items[d] || (offset ? offset[d] : 0) != last->offset[d] ||
		    (group && group[d] != last->group[d]))
			return false;
	return true;
}

static void remember(struct salvo_cl_given *last, cl_uint dims, const size_t *offset,
		     const size_t *items, const size_t *group)
{
	cl_uint d;

	last->dims = dims;
	last->grouped = group;
	for (d = 0; d < dims; d++) {
		last->offset[d] = offset ? offset[d] : 0;
		last->items[d] = items[d];
		last->group[d] = group ? group[d] : 0;
	}
}

static int record(struct salvo_cl_command *command, cl_kernel kernel,
		  const struct salvo_cl_kernel_on *on)
{
	const struct salvo_cl_given *given = &on->last;
	int index;

	do {
		index = salvo_batch_dispatch(command->batch, on->salvo);
	} while (salvo_cl_command_again(command, index));
	salvo_cl_kernel_use(kernel, on, command);
	command->submission->work += given->items[0] * (given->dims > 1 ? given->items[1] : 1) *
				     (given->dims > 2 ? given->items[2] : 1);
	return index;
}

static cl_int enqueue(cl_command_queue queue, cl_command_type type, cl_kernel kernel, cl_uint dims,
		      const size_t *offset, const size_t *items, const size_t *group,
		      cl_uint wait_count, const cl_event *waits, cl_event *event)
{
	struct salvo_cl_kernel_on *on;
	struct salvo_cl_command command;
	struct salvo_cl_grid grid = { .empty = false };
	bool again;
	cl_int err;
	int index = 0;

	if (!salvo_cl_is(queue, SALVO_CL_QUEUE))
		return CL_INVALID_COMMAND_QUEUE;
	if (!salvo_cl_is(kernel, SALVO_CL_KERNEL))
		return CL_INVALID_KERNEL;
	if (kernel->program->context != queue->context)
		return CL_INVALID_CONTEXT;
	err = salvo_cl_command_check(queue, wait_count, waits);
	if (!err)
		err = salvo_cl_kernel_ready(kernel, queue, &on);
	if (err)
		return err;
	salvo_cl_lock(queue->context);
	again = is_last(&on->last, dims, offset, items, group);
	if (!again) {
		salvo_cl_unlock(queue->context);
		err = salvo_cl_grid_read(&grid, queue->device, kernel, on->salvo, dims, offset,
					 items, group);
		if (err)
			return err;
		salvo_cl_lock(queue->context);
	}
	err = salvo_cl_command_begin_locked(&command, queue, type, wait_count, waits, event);
	if (err)
		return err;
	if (!again && !grid.empty) {
		index = salvo_cl_grid_set(&grid, on);
		if (index == -E2BIG)
			return salvo_cl_command_end(&command, CL_INVALID_WORK_GROUP_SIZE);
		if (!index)
			remember(&on->last, dims, offset, items, group);
	}
	if (!index && !grid.empty)
		index = record(&command, kernel, on);
	return salvo_cl_command_end(&command, index < 0 ? salvo_cl_error(index) : CL_SUCCESS);
}

cl_int salvo_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
				    const size_t *offset, const size_t *items, const size_t *group,
				    cl_uint wait_count, const cl_event *waits, cl_event *event)
{
	return enqueue(queue, CL_COMMAND_NDRANGE_KERNEL, kernel, dims, offset, items, group,
		       wait_count, waits, event);
}

cl_int salvo_clGetKernelSuggestedLocalWorkSizeKHR(cl_command_queue queue, cl_kernel kernel,
						  cl_uint dims, const size_t *offset,
						  const size_t *items, size_t *group)
{
	struct salvo_cl_kernel_on *on;
	struct salvo_cl_grid grid;
	cl_int err;
	cl_uint d;

	if (!salvo_cl_is(queue, SALVO_CL_QUEUE))
		return CL_INVALID_COMMAND_QUEUE;
	if (!salvo_cl_is(kernel, SALVO_CL_KERNEL))
		return CL_INVALID_KERNEL;
	if (kernel->program->context != queue->context)
		return CL_INVALID_CONTEXT;
	err = salvo_cl_kernel_ready(kernel, queue, &on);
	if (!err)
		err = salvo_cl_grid_read(&grid, queue->device, kernel, on->salvo, dims, offset,
					 items, NULL);
	if (err)
		return err;
	if (grid.empty)
		return CL_INVALID_GLOBAL_WORK_SIZE;
	if (!group)
		return CL_INVALID_VALUE;
	for (d = 0; d < dims; d++)
		group[d] = grid.group[d];
	return CL_SUCCESS;
}

cl_int salvo_clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint wait_count,
			   const cl_event *waits, cl_event *event)
{
	const size_t one = 1;

	return enqueue(queue, CL_COMMAND_TASK, kernel, 1, NULL, &one, &one, wait_count, waits,
		       event);
}

cl_int salvo_clEnqueueNativeKernel(cl_command_queue queue, void (CL_CALLBACK *function)(void *),
				   void *args, size_t args_size, cl_uint mem_count,
				   const cl_mem *mems, const void **places, cl_uint wait_count,
				   const cl_event *waits, cl_event *event)
{
	(void)function;
	(void)args;
	(void)args_size;
	(void)mem_count;
	(void)mems;
	(void)places;
	(void)wait_count;
	(void)waits;
	(void)event;
	/* No device has CL_EXEC_NATIVE_KERNEL. */
	return salvo_cl_is(queue, SALVO_CL_QUEUE) ? CL_INVALID_OPERATION :
						    CL_INVALID_COMMAND_QUEUE;
}
