// SPDX-License-Identifier: MIT
/*
 * kernel_info.c - clGetKernelInfo(), clGetKernelArgInfo(), clGetKernelWorkGroupInfo() and
 * clGetKernelSubGroupInfo()
 */
#include <string.h>

#include "icd.h"
#include "kernel.h"

/* Work-items of a group should be a multiple of the lanes of a vector. */
static size_t preferred_multiple(const struct salvo_device_info *info)
{
	return info->isa_level >= 4 ? 16 : info->isa_level == 3 ? 8 : 4;
}

cl_int salvo_clGetKernelInfo(cl_kernel kernel, cl_kernel_info name, size_t size, void *value,
			     size_t *size_ret)
{
	const struct salvo_cl_answer answer = { size, value, size_ret };
	char attributes[256];
	cl_int err;

	if (!salvo_cl_is(kernel, SALVO_CL_KERNEL))
		return CL_INVALID_KERNEL;
	switch (name) {
	case CL_KERNEL_FUNCTION_NAME:
		return salvo_cl_answer_string(&answer, kernel->properties.name);
	case CL_KERNEL_NUM_ARGS:
		return SALVO_CL_ANSWER(&answer, cl_uint, kernel->arg_count);
	case CL_KERNEL_REFERENCE_COUNT:
		return SALVO_CL_ANSWER(&answer, cl_uint, salvo_cl_object_count(&kernel->base));
	case CL_KERNEL_CONTEXT:
		return SALVO_CL_ANSWER(&answer, cl_context, kernel->program->context);
	case CL_KERNEL_PROGRAM:
		return SALVO_CL_ANSWER(&answer, cl_program, kernel->program);
	case CL_KERNEL_ATTRIBUTES:
		err = salvo_cl_kernel_finish(kernel);
		if (err)
			return err;
		salvo_kernel_attributes(kernel->on[0].salvo, attributes, sizeof(attributes));
		return salvo_cl_answer_string(&answer, attributes);
	default:
		return CL_INVALID_VALUE;
	}
}

static cl_int answer_address(const struct salvo_cl_answer *answer, uint32_t kind)
{
	static const cl_kernel_arg_address_qualifier qualifiers[] = {
		[SALVO_ARGUMENT_VALUE] = CL_KERNEL_ARG_ADDRESS_PRIVATE,
		[SALVO_ARGUMENT_GLOBAL] = CL_KERNEL_ARG_ADDRESS_GLOBAL,
		[SALVO_ARGUMENT_CONSTANT] = CL_KERNEL_ARG_ADDRESS_CONSTANT,
		[SALVO_ARGUMENT_LOCAL] = CL_KERNEL_ARG_ADDRESS_LOCAL,
		[SALVO_ARGUMENT_IMAGE] = CL_KERNEL_ARG_ADDRESS_GLOBAL,
		[SALVO_ARGUMENT_SAMPLER] = CL_KERNEL_ARG_ADDRESS_PRIVATE,
	};

	return salvo_cl_answer(answer, &qualifiers[kind], sizeof(qualifiers[kind]));
}

static cl_int answer_access(const struct salvo_cl_answer *answer,
			    const struct salvo_argument_info *info)
{
	cl_kernel_arg_access_qualifier access = CL_KERNEL_ARG_ACCESS_NONE;

	if (info->kind == SALVO_ARGUMENT_IMAGE)
		access = info->access == SALVO_ARGUMENT_READ ? CL_KERNEL_ARG_ACCESS_READ_ONLY :
			 info->access == SALVO_ARGUMENT_WRITE ? CL_KERNEL_ARG_ACCESS_WRITE_ONLY :
								CL_KERNEL_ARG_ACCESS_READ_WRITE;
	return salvo_cl_answer(answer, &access, sizeof(access));
}

static cl_int answer_qualifiers(const struct salvo_cl_answer *answer, uint32_t qualifiers)
{
	return SALVO_CL_ANSWER(answer, cl_kernel_arg_type_qualifier,
		(qualifiers & SALVO_ARGUMENT_CONST ? CL_KERNEL_ARG_TYPE_CONST : 0) |
		(qualifiers & SALVO_ARGUMENT_RESTRICT ? CL_KERNEL_ARG_TYPE_RESTRICT : 0) |
		(qualifiers & SALVO_ARGUMENT_VOLATILE ? CL_KERNEL_ARG_TYPE_VOLATILE : 0));
}

cl_int salvo_clGetKernelArgInfo(cl_kernel kernel, cl_uint index, cl_kernel_arg_info name,
				size_t size, void *value, size_t *size_ret)
{
	const struct salvo_cl_answer answer = { size, value, size_ret };
	const struct salvo_argument_info *info;

	if (!salvo_cl_is(kernel, SALVO_CL_KERNEL))
		return CL_INVALID_KERNEL;
	if (index >= kernel->arg_count)
		return CL_INVALID_ARG_INDEX;
	info = &kernel->args[index].info;
	switch (name) {
	case CL_KERNEL_ARG_ADDRESS_QUALIFIER:
		return answer_address(&answer, info->kind);
	case CL_KERNEL_ARG_ACCESS_QUALIFIER:
		return answer_access(&answer, info);
	case CL_KERNEL_ARG_TYPE_NAME:
		return salvo_cl_answer_string(&answer, info->type);
	case CL_KERNEL_ARG_TYPE_QUALIFIER:
		return answer_qualifiers(&answer, info->qualifiers);
	case CL_KERNEL_ARG_NAME:
		return salvo_cl_answer_string(&answer, info->name);
	default:
		return CL_INVALID_VALUE;
	}
}

/* The kernel on a device; NULL is the only one that there is. */
static const struct salvo_cl_kernel_on *find_device(cl_kernel kernel, cl_device_id device)
{
	if (!device)
		return kernel->device_count == 1 ? &kernel->on[0] : NULL;
	return salvo_cl_is(device, SALVO_CL_DEVICE) ? salvo_cl_kernel_on(kernel, device) : NULL;
}

/* Is it known before the kernel's code is? */
static bool is_in_source(cl_kernel_work_group_info name)
{
	return name == CL_KERNEL_COMPILE_WORK_GROUP_SIZE ||
	       name == CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE;
}

cl_int salvo_clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
				      cl_kernel_work_group_info name, size_t size, void *value,
				      size_t *size_ret)
{
	const struct salvo_cl_answer answer = { size, value, size_ret };
	const struct salvo_kernel_properties *properties;
	const struct salvo_cl_kernel_on *on;
	size_t group[3];
	cl_int err;

	if (!salvo_cl_is(kernel, SALVO_CL_KERNEL))
		return CL_INVALID_KERNEL;
	on = find_device(kernel, device);
	if (!on)
		return CL_INVALID_DEVICE;
	err = is_in_source(name) ? CL_SUCCESS : salvo_cl_kernel_finish(kernel);
	if (err)
		return err;
	properties = &kernel->properties;
	switch (name) {
	case CL_KERNEL_WORK_GROUP_SIZE:
		return SALVO_CL_ANSWER(&answer, size_t, salvo_kernel_max_group(on->salvo));
	case CL_KERNEL_COMPILE_WORK_GROUP_SIZE:
		group[0] = properties->required_group[0];
		group[1] = properties->required_group[1];
		group[2] = properties->required_group[2];
		return salvo_cl_answer(&answer, group, sizeof(group));
	case CL_KERNEL_LOCAL_MEM_SIZE:
		return SALVO_CL_ANSWER(&answer, cl_ulong,
				       properties->local_bytes + kernel->local_bytes);
	case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
		return SALVO_CL_ANSWER(&answer, size_t,
				       preferred_multiple(salvo_cl_device_limits(on->device)));
	case CL_KERNEL_PRIVATE_MEM_SIZE:
		return SALVO_CL_ANSWER(&answer, cl_ulong, properties->private_bytes);
	default:	/* CL_KERNEL_GLOBAL_WORK_SIZE: of built-in kernels only */
		return CL_INVALID_VALUE;
	}
}

/* Work-items of a group whose sizes in 1 to 3 dimensions are @input; 0 if it is none. */
static size_t group_items(const void *input, size_t bytes)
{
	const size_t *sizes = input;
	size_t items = 1, i;

	if (!input || !bytes || bytes > 3 * sizeof(size_t) || bytes % sizeof(size_t))
		return 0;
	for (i = 0; i < bytes / sizeof(size_t); i++)
		items *= sizes[i];
	return items;
}

/*
 * The sizes of the largest work-group of @count sub-groups, or zeros if there is none, in as many
 * dimensions as fit.
 */
static cl_int answer_local_size(const struct salvo_cl_answer *answer, cl_kernel kernel,
				const struct salvo_kernel *salvo, size_t count)
{
	const uint32_t *required = kernel->properties.required_group;
	const size_t bytes = answer->value ? answer->capacity : 3 * sizeof(size_t);
	size_t group[3] = { 0, 0, 0 };

	if (!bytes || bytes > sizeof(group) || bytes % sizeof(size_t))
		return CL_INVALID_VALUE;
	if (count == 1 && required[0]) {
		group[0] = required[0];
		group[1] = required[1];
		group[2] = required[2];
	} else if (count == 1) {
		group[0] = salvo_kernel_max_group(salvo);
		group[1] = group[2] = 1;
	}
	return salvo_cl_answer(answer, group, bytes);
}

/* A work-group is one sub-group. */
cl_int salvo_clGetKernelSubGroupInfo(cl_kernel kernel, cl_device_id device,
				     cl_kernel_sub_group_info name, size_t input_size,
				     const void *input, size_t size, void *value, size_t *size_ret)
{
	const struct salvo_cl_answer answer = { size, value, size_ret };
	const struct salvo_cl_kernel_on *on;
	size_t items;
	cl_int err;

	if (!salvo_cl_is(kernel, SALVO_CL_KERNEL))
		return CL_INVALID_KERNEL;
	on = find_device(kernel, device);
	if (!on)
		return CL_INVALID_DEVICE;
	err = salvo_cl_kernel_finish(kernel);
	if (err)
		return err;
	switch (name) {
	case CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE:
	case CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE:
		items = group_items(input, input_size);
		if (!items)
			return CL_INVALID_VALUE;
		return SALVO_CL_ANSWER(&answer, size_t,
				       name == CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE ? 1 : items);
	case CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT:
		if (!input || input_size != sizeof(size_t))
			return CL_INVALID_VALUE;
		return answer_local_size(&answer, kernel, on->salvo, *(const size_t *)input);
	case CL_KERNEL_MAX_NUM_SUB_GROUPS:
		return SALVO_CL_ANSWER(&answer, size_t, 1);
	case CL_KERNEL_COMPILE_NUM_SUB_GROUPS:
		return SALVO_CL_ANSWER(&answer, size_t, 0);
	default:
		return CL_INVALID_VALUE;
	}
}

cl_int salvo_clGetKernelSubGroupInfoKHR(cl_kernel kernel, cl_device_id device,
					cl_kernel_sub_group_info name, size_t input_size,
					const void *input, size_t size, void *value,
					size_t *size_ret)
{
	return salvo_clGetKernelSubGroupInfo(kernel, device, name, input_size, input, size, value,
					     size_ret);
}
