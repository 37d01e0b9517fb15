// SPDX-License-Identifier: MIT
/*
 * mutable_dispatch.c - kernels in command buffers, and changes of them
 *
 * A dispatch that may change has a clone of its kernel, whose arguments are checked and set as
 * those of any kernel; what changes is patched in the command buffer's batch. Enqueueing has copied
 * that batch, so that a change does not touch what runs. Arguments that are not set yet, as a
 * dispatch whose arguments may change allows, are null pointers until they are: the command buffer
 * cannot be enqueued before.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command_buffer.h"
#include "icd.h"
#include "image.h"
#include "cl_memory.h"
#include "sampler.h"

#define ALL_FIELDS ((cl_mutable_dispatch_fields_khr)(CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR | \
		    CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR | CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR | \
		    CL_MUTABLE_DISPATCH_ARGUMENTS_KHR | CL_MUTABLE_DISPATCH_EXEC_INFO_KHR))

/* --- recording --------------------------------------------------------------------------- */

struct dispatch {
	cl_kernel kernel;
	cl_uint dims;
	const size_t *offset;
	const size_t *items;
	const size_t *group;
};

static cl_int read_properties(const cl_command_properties_khr *properties, size_t *count,
			      cl_mutable_dispatch_fields_khr *fields)
{
	bool has_fields = false, has_asserts = false;
	size_t i;

	*fields = 0;
	*count = 0;
	for (i = 0; properties && properties[i]; i += 2) {
		const cl_bitfield value = properties[i + 1];

		if (properties[i] == CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR && !has_fields) {
			if (value & ~ALL_FIELDS)
				return CL_INVALID_VALUE;
			has_fields = true;
			*fields = value;
		} else if (properties[i] == CL_MUTABLE_DISPATCH_ASSERTS_KHR && !has_asserts) {
			if (value &
			    ~(cl_bitfield)CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR)
				return CL_INVALID_VALUE;
			has_asserts = true;
		} else {
			return CL_INVALID_VALUE;
		}
	}
	*count = properties ? i + 1 : 0;
	/* Without the property all may change. */
	if (!has_fields)
		*fields = ALL_FIELDS;
	return CL_SUCCESS;
}

/* Arguments that are not set get a value of the library's kernel only, not of OpenCL's. */
static int fill_unset(cl_kernel kernel, struct salvo_kernel *salvo)
{
	static const char zeros[4096];
	unsigned int i;
	int err = 0;

	for (i = 0; i < kernel->arg_count && !err; i++) {
		if (kernel->args[i].set)
			continue;
		switch (kernel->args[i].info.kind) {
		case SALVO_ARGUMENT_VALUE:
			err = kernel->args[i].info.size > sizeof(zeros) ? -EINVAL :
			      salvo_kernel_set_value(salvo, i, zeros, kernel->args[i].info.size);
			break;
		case SALVO_ARGUMENT_LOCAL:
			err = salvo_kernel_set_local(salvo, i, 1);
			break;
		case SALVO_ARGUMENT_SAMPLER:
			err = salvo_kernel_set_sampler(salvo, i, SALVO_SAMPLER_NEAREST);
			break;
		case SALVO_ARGUMENT_IMAGE:
			err = -EINVAL;
			break;
		default:
			err = salvo_kernel_set_bo(salvo, i, NULL, 0);
		}
	}
	return err;
}

static void destroy_command(struct salvo_cl_object *object)
{
	(void)object;
}

/* The command of a dispatch that was not recorded yet, with a clone of its kernel. */
static cl_int create_command(cl_command_buffer_khr buffer, cl_kernel kernel,
			     const struct salvo_cl_sync *sync, size_t count,
			     cl_mutable_command_khr *out)
{
	cl_mutable_command_khr command = calloc(1, sizeof(*command));
	cl_int err;

	*out = NULL;
	if (!command)
		return CL_OUT_OF_HOST_MEMORY;
	salvo_cl_object_init(&command->base, SALVO_CL_MUTABLE_COMMAND, destroy_command);
	command->buffer = buffer;
	command->original = kernel;
	command->property_count = count;
	command->properties = count ? malloc(count * sizeof(*sync->properties)) : NULL;
	command->kernel = salvo_clCloneKernel(kernel, &err);
	if (!err && count && !command->properties) {
		salvo_cl_object_put(&command->kernel->base);
		err = CL_OUT_OF_HOST_MEMORY;
	}
	if (err) {
		free(command->properties);
		free(command);
		return err;
	}
	salvo_cl_object_get(&kernel->base);
	if (count)
		memcpy(command->properties, sync->properties, count * sizeof(*sync->properties));
	*out = command;
	return CL_SUCCESS;
}

void salvo_cl_mutable_destroy(cl_mutable_command_khr command)
{
	command->base.kind = SALVO_CL_DEAD;
	salvo_cl_object_put(&command->kernel->base);
	salvo_cl_object_put(&command->original->base);
	free(command->properties);
	free(command);
}

static cl_int record(cl_command_buffer_khr buffer, cl_mutable_command_khr command,
		     const struct dispatch *dispatch)
{
	struct salvo_cl_kernel_on *on = salvo_cl_kernel_on(command->kernel, buffer->queue->device);
	struct salvo_cl_command recorded;
	cl_int err;
	int index;

	err = salvo_cl_grid_read(&command->grid, buffer->queue->device, command->kernel,
				 command->salvo, dispatch->dims, dispatch->offset, dispatch->items,
				 dispatch->group);
	if (!err && command->grid.empty)
		err = CL_INVALID_GLOBAL_WORK_SIZE;
	if (!err)
		err = salvo_cl_command_begin(&recorded, buffer->recorder, CL_COMMAND_NDRANGE_KERNEL,
					     0, NULL, NULL);
	if (err)
		return err;
	command->given = dispatch->group;
	index = salvo_cl_grid_set(&command->grid, on);
	if (index == -E2BIG)
		return salvo_cl_command_end(&recorded, CL_INVALID_WORK_GROUP_SIZE);
	if (!index)
		index = salvo_batch_dispatch(recorded.batch, command->salvo);
	if (index >= 0) {
		command->part = buffer->recorder->recording;
		command->index = index;
		salvo_cl_kernel_use(command->kernel, on, &recorded);
	}
	return salvo_cl_command_end(&recorded, index < 0 ? salvo_cl_error(index) : CL_SUCCESS);
}

static cl_int prepare(cl_command_buffer_khr buffer, cl_mutable_command_khr command)
{
	const struct salvo_cl_kernel_on *on;

	on = salvo_cl_kernel_on(command->kernel, buffer->queue->device);
	if (!on)
		return CL_INVALID_PROGRAM_EXECUTABLE;
	command->salvo = on->salvo;
	if (!command->kernel->unset)
		return CL_SUCCESS;
	if (!buffer->is_mutable || !(command->fields & CL_MUTABLE_DISPATCH_ARGUMENTS_KHR) ||
	    fill_unset(command->kernel, command->salvo))
		return CL_INVALID_KERNEL_ARGS;
	return CL_SUCCESS;
}

static cl_int command_ndrange(cl_command_buffer_khr buffer, cl_command_queue queue,
			      const cl_command_properties_khr *properties, cl_kernel kernel,
			      cl_uint dims, const size_t *offset, const size_t *items,
			      const size_t *group, cl_uint sync_count,
			      const cl_sync_point_khr *sync_waits, cl_sync_point_khr *point,
			      cl_mutable_command_khr *handle)
{
	const struct salvo_cl_sync sync = {
		queue, properties, sync_count, sync_waits, point, handle
	};
	const struct dispatch dispatch = { kernel, dims, offset, items, group };
	cl_mutable_dispatch_fields_khr fields;
	cl_mutable_command_khr command;
	unsigned int start;
	size_t count;
	cl_int err;

	err = salvo_cl_buffer_check(buffer, &sync);
	if (!err && !salvo_cl_is(kernel, SALVO_CL_KERNEL))
		err = CL_INVALID_KERNEL;
	if (!err && kernel->program->context != buffer->queue->context)
		err = CL_INVALID_CONTEXT;
	if (!err)
		err = read_properties(properties, &count, &fields);
	if (err)
		return err;
	err = create_command(buffer, kernel, &sync, count, &command);
	if (err)
		return err;
	command->fields = fields;
	err = prepare(buffer, command);
	start = salvo_cl_buffer_count(buffer);
	if (!err)
		err = record(buffer, command, &dispatch);
	err = salvo_cl_buffer_add(buffer, &sync, start, err);
	if (err) {
		salvo_cl_mutable_destroy(command);
		return err;
	}
	command->next = buffer->commands;
	buffer->commands = command;
	if (handle)
		*handle = command;
	return CL_SUCCESS;
}

/* Can it be enqueued: are all arguments set? */
bool salvo_cl_buffer_is_complete(const struct _cl_command_buffer_khr *buffer)
{
	const struct _cl_mutable_command_khr *command;

	for (command = buffer->commands; command; command = command->next)
		if (command->kernel->unset)
			return false;
	return true;
}

/* --- changes ------------------------------------------------------------------------------- */

static cl_int check_change(const struct salvo_cl_dispatch_config *config,
			   const struct _cl_command_buffer_khr *buffer)
{
	const struct _cl_mutable_command_khr *command = config->command;
	cl_mutable_dispatch_fields_khr fields = 0;

	if (!salvo_cl_is(command, SALVO_CL_MUTABLE_COMMAND) || command->buffer != buffer)
		return CL_INVALID_MUTABLE_COMMAND_KHR;
	if (!config->num_args != !config->arg_list ||
	    !config->num_svm_args != !config->arg_svm_list ||
	    !config->num_exec_infos != !config->exec_info_list)
		return CL_INVALID_VALUE;
	if (config->work_dim && config->work_dim != command->grid.dims)
		return CL_INVALID_VALUE;
	fields |= config->global_work_offset ? CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR : 0;
	fields |= config->global_work_size ? CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR : 0;
	fields |= config->local_work_size ? CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR : 0;
	fields |= config->num_args || config->num_svm_args ? CL_MUTABLE_DISPATCH_ARGUMENTS_KHR : 0;
	fields |= config->num_exec_infos ? CL_MUTABLE_DISPATCH_EXEC_INFO_KHR : 0;
	if (fields & ~command->fields || config->num_svm_args || config->num_exec_infos)
		return CL_INVALID_OPERATION;
	return CL_SUCCESS;
}

/* @arg was set in the clone; the batch follows. */
static int patch_arg(cl_mutable_command_khr command, const cl_mutable_dispatch_arg_khr *change)
{
	struct salvo_cl_submission *recording = command->part;
	const struct salvo_cl_arg *arg = &command->kernel->args[change->arg_index];
	const unsigned int gpu = recording->queue->gpu;
	struct salvo_batch *batch = recording->batch;
	int err = 0;

	if (arg->mem)
		err = salvo_cl_submission_use(recording, &arg->mem->base, arg->info.access);
	if (err)
		return err;
	switch (arg->info.kind) {
	case SALVO_ARGUMENT_VALUE:
		return salvo_batch_patch_value(batch, command->index, change->arg_index,
					       change->arg_value, change->arg_size);
	case SALVO_ARGUMENT_LOCAL:
		return salvo_batch_patch_local(batch, command->index, change->arg_index,
					       change->arg_size);
	case SALVO_ARGUMENT_IMAGE:
		return salvo_batch_patch_image(batch, command->index, change->arg_index,
					       salvo_cl_mem_view(arg->mem, gpu));
	case SALVO_ARGUMENT_SAMPLER:
		err = salvo_cl_submission_use(recording, (struct salvo_cl_object *)arg->sampler, 0);
		return err ? err
			   : salvo_batch_patch_sampler(batch, command->index, change->arg_index,
						       salvo_cl_sampler_bits(arg->sampler));
	default:
		return salvo_batch_patch_bo(batch, command->index, change->arg_index,
					    arg->mem ? salvo_cl_mem_bo(arg->mem, gpu) : NULL,
					    arg->mem ? arg->mem->origin : 0,
					    arg->mem ? arg->mem->size : 0);
	}
}

static cl_int change_args(cl_mutable_command_khr command,
			  const struct salvo_cl_dispatch_config *config)
{
	cl_int err = CL_SUCCESS;
	cl_uint i;

	for (i = 0; i < config->num_args && !err; i++) {
		const cl_mutable_dispatch_arg_khr *change = &config->arg_list[i];

		err = salvo_clSetKernelArg(command->kernel, change->arg_index, change->arg_size,
					   change->arg_value);
		if (err)
			break;
		salvo_cl_lock(command->buffer->queue->context);
		err = salvo_cl_error(patch_arg(command, change));
		salvo_cl_unlock(command->buffer->queue->context);
	}
	return err;
}

static cl_int change_grid(cl_mutable_command_khr command,
			  const struct salvo_cl_dispatch_config *config)
{
	size_t offset[3] = {}, items[3] = {}, group[3] = {};
	struct salvo_batch *batch = command->part->batch;
	const bool given = config->local_work_size || command->given;
	struct salvo_cl_grid grid;
	cl_int err;
	int result;
	unsigned int d;

	if (!config->global_work_offset && !config->global_work_size && !config->local_work_size)
		return CL_SUCCESS;
	for (d = 0; d < command->grid.dims; d++) {
		offset[d] = config->global_work_offset ? config->global_work_offset[d] :
							 command->grid.offset[d];
		items[d] = config->global_work_size ? config->global_work_size[d] :
						      command->grid.items[d];
		group[d] = config->local_work_size ? config->local_work_size[d] :
						     command->grid.group[d];
	}
	err = salvo_cl_grid_read(&grid, command->buffer->queue->device, command->kernel,
				 command->salvo, command->grid.dims, offset, items,
				 given ? group : NULL);
	if (!err && grid.empty)
		err = CL_INVALID_GLOBAL_WORK_SIZE;
	if (err)
		return err;
	salvo_cl_lock(command->buffer->queue->context);
	result = salvo_batch_patch_grid(batch, command->index, grid.dims, grid.items, grid.group);
	if (!result && memcmp(grid.offset, command->grid.offset, sizeof(grid.offset)))
		result = salvo_batch_patch_offset(batch, command->index, grid.offset);
	salvo_cl_unlock(command->buffer->queue->context);
	if (result)
		return result == -E2BIG ? CL_INVALID_WORK_GROUP_SIZE : salvo_cl_error(result);
	command->grid = grid;
	command->given = given;
	return CL_SUCCESS;
}

static cl_int update(cl_command_buffer_khr buffer, cl_uint count,
		     const cl_command_buffer_update_type_khr *types, const void **configs)
{
	const struct salvo_cl_dispatch_config *config;
	cl_int err = CL_SUCCESS;
	cl_uint i;

	if (!salvo_cl_is(buffer, SALVO_CL_COMMAND_BUFFER))
		return CL_INVALID_COMMAND_BUFFER_KHR;
	if (!buffer->final || !buffer->is_mutable)
		return CL_INVALID_OPERATION;
	if (!count != !types || !count != !configs)
		return CL_INVALID_VALUE;
	for (i = 0; i < count && !err; i++)
		err = types[i] != SALVO_CL_UPDATE_DISPATCH || !configs[i] ? CL_INVALID_VALUE :
		      check_change(configs[i], buffer);
	for (i = 0; i < count && !err; i++) {
		config = configs[i];
		err = change_args(config->command, config);
		if (!err)
			err = change_grid(config->command, config);
	}
	return err;
}

/* --- queries -------------------------------------------------------------------------------- */

static cl_int answer_sizes(const struct salvo_cl_answer *answer, const uint32_t *sizes,
			   unsigned int dims)
{
	const size_t wide[3] = { sizes[0], sizes[1], sizes[2] };

	return salvo_cl_answer(answer, wide, dims * sizeof(*wide));
}

static cl_int get_info(cl_mutable_command_khr command, cl_mutable_command_info_khr name,
		       size_t size, void *value, size_t *size_ret)
{
	const struct salvo_cl_answer answer = { size, value, size_ret };
	static const uint32_t none[3];

	if (!salvo_cl_is(command, SALVO_CL_MUTABLE_COMMAND))
		return CL_INVALID_MUTABLE_COMMAND_KHR;
	switch (name) {
	case CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR:
		return SALVO_CL_ANSWER(&answer, cl_command_queue, command->buffer->queue);
	case CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR:
		return SALVO_CL_ANSWER(&answer, cl_command_buffer_khr, command->buffer);
	case CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR:
		return SALVO_CL_ANSWER(&answer, cl_command_type, CL_COMMAND_NDRANGE_KERNEL);
	case CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR:
		return salvo_cl_answer(&answer, command->properties,
				       command->property_count * sizeof(*command->properties));
	case CL_MUTABLE_DISPATCH_KERNEL_KHR:
		return SALVO_CL_ANSWER(&answer, cl_kernel, command->original);
	case CL_MUTABLE_DISPATCH_DIMENSIONS_KHR:
		return SALVO_CL_ANSWER(&answer, cl_uint, command->grid.dims);
	case CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR:
		return answer_sizes(&answer, command->grid.offset, command->grid.dims);
	case CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR:
		return answer_sizes(&answer, command->grid.items, command->grid.dims);
	case CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR:
		return answer_sizes(&answer, command->given ? command->grid.group : none,
				    command->grid.dims);
	default:
		return CL_INVALID_VALUE;
	}
}

const struct salvo_cl_extension_entry salvo_cl_mutable_entries[] = {
	{ "clCommandNDRangeKernelKHR", (void *)command_ndrange },
	{ "clUpdateMutableCommandsKHR", (void *)update },
	{ "clGetMutableCommandInfoKHR", (void *)get_info },
	{ NULL, NULL },
};
