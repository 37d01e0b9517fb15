// SPDX-License-Identifier: MIT
/*
 * kernel.c - kernels: creation, arguments, and what a command needs of them
 *
 * A kernel has a kernel of libsalvo for each device on which its program can run. Arguments are
 * set in all of them at once, so enqueueing sets none. A kernel keeps no references of its
 * arguments, as the specification says; commands do. No locks: clSetKernelArg() is for one thread
 * at a time, and enqueueing locks the context before it uses the kernel of libsalvo.
 *
 * A program may have kernels while the compiler makes their code. Such a kernel is that of the
 * program's description, with all its arguments, until it is enqueued first or asked for what only
 * the code tells: salvo_cl_kernel_finish(). Until then the program's lock protects it.
 */
#include "kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "icd.h"
#include "image.h"
#include "cl_memory.h"
#include "sampler.h"

/* --- creation -------------------------------------------------------------------------- */

static void destroy(struct salvo_cl_object *object)
{
	cl_kernel kernel = (cl_kernel)object;
	unsigned int i;

	for (i = 0; i < kernel->device_count; i++) {
		salvo_kernel_destroy(kernel->on[i].salvo);
		salvo_cl_object_put(&kernel->on[i].code->base);
	}
	if (kernel->program) {
		atomic_fetch_sub(&kernel->program->kernels, 1);
		salvo_cl_object_put(&kernel->program->base);
	}
	free(kernel->on);
	free(kernel->args);
	free(kernel);
}

/* A kernel without devices and arguments. The program's lock is held. */
static cl_kernel make_kernel(cl_program program)
{
	cl_kernel kernel = calloc(1, sizeof(*kernel));

	if (!kernel)
		return NULL;
	kernel->on = calloc(program->build_count, sizeof(*kernel->on));
	if (!kernel->on) {
		free(kernel);
		return NULL;
	}
	salvo_cl_object_init(&kernel->base, SALVO_CL_KERNEL, destroy);
	salvo_cl_object_get(&program->base);
	kernel->program = program;
	atomic_fetch_add(&program->kernels, 1);
	return kernel;
}

static void add_device(cl_kernel kernel, cl_device_id device, struct salvo_cl_code *code,
		       struct salvo_kernel *salvo)
{
	salvo_cl_object_get(&code->base);
	kernel->on[kernel->device_count++] = (struct salvo_cl_kernel_on){
		.device = device, .code = code, .salvo = salvo,
		.gpu = salvo_cl_context_gpu(kernel->program->context, device),
	};
}

static cl_int describe(cl_kernel kernel)
{
	struct salvo_kernel *salvo = kernel->on[0].salvo;
	unsigned int i;

	salvo_kernel_get_info(salvo, &kernel->properties);
	kernel->arg_count = kernel->properties.argument_count;
	kernel->unset = kernel->arg_count;
	kernel->args = calloc(kernel->arg_count + 1, sizeof(*kernel->args));
	if (!kernel->args)
		return CL_OUT_OF_HOST_MEMORY;
	for (i = 0; i < kernel->arg_count; i++)
		salvo_kernel_get_argument(salvo, i, &kernel->args[i].info);
	return CL_SUCCESS;
}

/* The program's lock is held. */
static cl_int create(cl_program program, const char *name, cl_kernel *out)
{
	bool executable = false;
	struct salvo_cl_code *code;
	struct salvo_kernel *salvo;
	cl_int err = CL_SUCCESS;
	cl_kernel kernel;
	unsigned int i;
	int found;

	*out = NULL;
	kernel = make_kernel(program);
	if (!kernel)
		return CL_OUT_OF_HOST_MEMORY;
	for (i = 0; i < program->build_count && !err; i++) {
		struct salvo_cl_build *build = &program->builds[i];

		code = build->status == CL_BUILD_SUCCESS ? salvo_cl_build_kernels(build) : NULL;
		if (!code)
			continue;
		executable = true;
		kernel->uniform |= build->uniform;
		kernel->waits |= code == build->described;
		found = salvo_kernel_create(code->salvo, name, &salvo);
		if (!found)
			add_device(kernel, build->device, code, salvo);
		else if (found != -ENOENT)
			err = salvo_cl_error(found);
	}
	if (!err && !executable)
		err = CL_INVALID_PROGRAM_EXECUTABLE;
	if (!err && !kernel->device_count)
		err = CL_INVALID_KERNEL_NAME;
	if (!err)
		err = describe(kernel);
	if (err)
		salvo_cl_object_put(&kernel->base);
	else
		*out = kernel;
	return err;
}

cl_kernel salvo_clCreateKernel(cl_program program, const char *name, cl_int *errcode_ret)
{
	cl_kernel kernel = NULL;
	cl_int err;

	if (!salvo_cl_is(program, SALVO_CL_PROGRAM)) {
		err = CL_INVALID_PROGRAM;
	} else if (!name) {
		err = CL_INVALID_VALUE;
	} else {
		pthread_mutex_lock(&program->lock);
		err = create(program, name, &kernel);
		pthread_mutex_unlock(&program->lock);
	}
	salvo_cl_report(errcode_ret, err);
	return kernel;
}

static cl_int create_all(cl_program program, cl_uint capacity, cl_kernel *kernels,
			 cl_uint *count_ret)
{
	struct salvo_cl_code *code = salvo_cl_program_kernels(program);
	cl_int err = CL_SUCCESS;
	cl_uint count, i;

	if (!code)
		return CL_INVALID_PROGRAM_EXECUTABLE;
	count = salvo_program_kernel_count(code->salvo);
	if (kernels && capacity < count)
		return CL_INVALID_VALUE;
	for (i = 0; kernels && i < count && !err; i++)
		err = create(program, salvo_program_kernel_name(code->salvo, i), &kernels[i]);
	if (!err && count_ret)
		*count_ret = count;
	while (err && kernels && i-- > 0)
		if (kernels[i])
			salvo_cl_object_put(&kernels[i]->base);
	return err;
}

cl_int salvo_clCreateKernelsInProgram(cl_program program, cl_uint capacity, cl_kernel *kernels,
				      cl_uint *count_ret)
{
	cl_int err;

	if (!salvo_cl_is(program, SALVO_CL_PROGRAM))
		return CL_INVALID_PROGRAM;
	pthread_mutex_lock(&program->lock);
	err = create_all(program, capacity, kernels, count_ret);
	pthread_mutex_unlock(&program->lock);
	return err;
}

/* On one device. The program's lock is held. */
static cl_int take_code(cl_kernel kernel, struct salvo_cl_kernel_on *on)
{
	struct salvo_cl_build *build = salvo_cl_program_build_for(kernel->program, on->device);
	struct salvo_cl_code *code;

	if (on->code != build->described)
		return CL_SUCCESS;
	code = salvo_cl_build_move(build, on->salvo, kernel->properties.name);
	if (!code)
		return CL_INVALID_PROGRAM_EXECUTABLE;
	salvo_cl_object_get(&code->base);
	salvo_cl_object_put(&on->code->base);
	on->code = code;
	return CL_SUCCESS;
}

/* What only the code tells. Names and types stay those of the description: others may have them. */
static void describe_again(cl_kernel kernel)
{
	struct salvo_kernel *salvo = kernel->on[0].salvo;
	struct salvo_kernel_properties properties;
	struct salvo_argument_info info;
	unsigned int i;

	salvo_kernel_get_info(salvo, &properties);
	kernel->properties.flags = properties.flags;
	kernel->properties.local_bytes = properties.local_bytes;
	kernel->properties.private_bytes = properties.private_bytes;
	for (i = 0; i < kernel->arg_count; i++) {
		salvo_kernel_get_argument(salvo, i, &info);
		/* That of an image is in the source. */
		if (info.kind != SALVO_ARGUMENT_IMAGE)
			kernel->args[i].info.access = info.access;
	}
}

cl_int salvo_cl_kernel_finish(cl_kernel kernel)
{
	cl_int err = CL_SUCCESS;
	unsigned int i;

	if (!atomic_load_explicit(&kernel->waits, memory_order_acquire))
		return CL_SUCCESS;
	pthread_mutex_lock(&kernel->program->lock);
	if (kernel->waits) {
		for (i = 0; i < kernel->device_count && !err; i++)
			err = take_code(kernel, &kernel->on[i]);
		if (!err) {
			describe_again(kernel);
			atomic_store_explicit(&kernel->waits, false, memory_order_release);
		}
	}
	pthread_mutex_unlock(&kernel->program->lock);
	return err;
}

static int describe_clone(cl_kernel kernel, cl_kernel source)
{
	kernel->args = calloc(source->arg_count + 1, sizeof(*kernel->args));
	if (!kernel->args)
		return -ENOMEM;
	memcpy(kernel->args, source->args, source->arg_count * sizeof(*kernel->args));
	kernel->arg_count = source->arg_count;
	kernel->unset = source->unset;
	kernel->local_bytes = source->local_bytes;
	kernel->properties = source->properties;
	kernel->uniform = source->uniform;
	return 0;
}

cl_kernel salvo_clCloneKernel(cl_kernel source, cl_int *errcode_ret)
{
	struct salvo_kernel *salvo;
	cl_kernel kernel = NULL;
	int err = 0;
	unsigned int i;
	cl_int result;

	result = salvo_cl_is(source, SALVO_CL_KERNEL) ? salvo_cl_kernel_finish(source) :
							CL_INVALID_KERNEL;
	if (result) {
		salvo_cl_report(errcode_ret, result);
		return NULL;
	}
	kernel = make_kernel(source->program);
	if (kernel)
		err = describe_clone(kernel, source);
	for (i = 0; kernel && !err && i < source->device_count; i++) {
		err = salvo_kernel_clone(source->on[i].salvo, &salvo);
		if (!err)
			add_device(kernel, source->on[i].device, source->on[i].code, salvo);
	}
	if (!kernel)
		err = -ENOMEM;
	if (err && kernel) {
		salvo_cl_object_put(&kernel->base);
		kernel = NULL;
	}
	salvo_cl_report(errcode_ret, salvo_cl_error(err));
	return kernel;
}

cl_int salvo_clRetainKernel(cl_kernel kernel)
{
	if (!salvo_cl_is(kernel, SALVO_CL_KERNEL))
		return CL_INVALID_KERNEL;
	salvo_cl_object_retain(&kernel->base);
	return CL_SUCCESS;
}

cl_int salvo_clReleaseKernel(cl_kernel kernel)
{
	if (!salvo_cl_is(kernel, SALVO_CL_KERNEL) || !salvo_cl_object_release(&kernel->base))
		return CL_INVALID_KERNEL;
	return CL_SUCCESS;
}

/* --- arguments ------------------------------------------------------------------------- */

static cl_int set_buffer(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
	struct salvo_cl_arg *arg = &kernel->args[index];
	cl_mem mem = NULL;
	unsigned int i;
	int err = 0;

	if (size != sizeof(cl_mem))
		return CL_INVALID_ARG_SIZE;
	if (value)
		memcpy(&mem, value, sizeof(mem));
	if (mem && (!salvo_cl_is(mem, SALVO_CL_MEM) || mem->context != kernel->program->context ||
		    mem->type != CL_MEM_OBJECT_BUFFER))
		return CL_INVALID_MEM_OBJECT;
	for (i = 0; i < kernel->device_count && !err; i++)
		err = mem ? salvo_kernel_set_bo_range(kernel->on[i].salvo, index,
						      salvo_cl_mem_bo(mem, kernel->on[i].gpu),
						      mem->origin, mem->size) :
			    salvo_kernel_set_bo(kernel->on[i].salvo, index, NULL, 0);
	if (err)
		return salvo_cl_error(err);
	arg->mem = mem;
	return CL_SUCCESS;
}

static cl_int set_image(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
	struct salvo_cl_arg *arg = &kernel->args[index];
	cl_mem mem = NULL;
	unsigned int i;

	if (size != sizeof(cl_mem))
		return CL_INVALID_ARG_SIZE;
	if (value)
		memcpy(&mem, value, sizeof(mem));
	if (!salvo_cl_is(mem, SALVO_CL_MEM) || mem->context != kernel->program->context ||
	    !mem->image)
		return CL_INVALID_MEM_OBJECT;
	if ((arg->info.access & SALVO_ARGUMENT_READ && mem->flags & CL_MEM_WRITE_ONLY) ||
	    (arg->info.access & SALVO_ARGUMENT_WRITE && mem->flags & CL_MEM_READ_ONLY))
		return CL_INVALID_ARG_VALUE;
	for (i = 0; i < kernel->device_count; i++)
		if (salvo_kernel_set_image(kernel->on[i].salvo, index,
					   salvo_cl_mem_view(mem, kernel->on[i].gpu)))
			return CL_INVALID_MEM_OBJECT;
	arg->mem = mem;
	return CL_SUCCESS;
}

static cl_int set_sampler(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
	cl_sampler sampler = NULL;
	unsigned int i;

	if (size != sizeof(cl_sampler))
		return CL_INVALID_ARG_SIZE;
	if (value)
		memcpy(&sampler, value, sizeof(sampler));
	if (!salvo_cl_is(sampler, SALVO_CL_SAMPLER) || sampler->context != kernel->program->context)
		return CL_INVALID_SAMPLER;
	for (i = 0; i < kernel->device_count; i++)
		if (salvo_kernel_set_sampler(kernel->on[i].salvo, index,
					     salvo_cl_sampler_bits(sampler)))
			return CL_INVALID_ARG_VALUE;
	kernel->args[index].sampler = sampler;
	return CL_SUCCESS;
}

static cl_int set_local(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
	unsigned int i;

	if (value)
		return CL_INVALID_ARG_VALUE;
	if (!size)
		return CL_INVALID_ARG_SIZE;
	for (i = 0; i < kernel->device_count; i++)
		if (salvo_kernel_set_local(kernel->on[i].salvo, index, size))
			return CL_INVALID_ARG_SIZE;
	kernel->local_bytes += size - kernel->args[index].local_bytes;
	kernel->args[index].local_bytes = size;
	return CL_SUCCESS;
}

static cl_int set_value(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
	unsigned int i;

	if (!value)
		return CL_INVALID_ARG_VALUE;
	if (size != kernel->args[index].info.size)
		return CL_INVALID_ARG_SIZE;
	for (i = 0; i < kernel->device_count; i++)
		salvo_kernel_set_value(kernel->on[i].salvo, index, value, size);
	return CL_SUCCESS;
}

static cl_int set_arg(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
	static cl_int (*const set[])(cl_kernel, cl_uint, size_t, const void *) = {
		[SALVO_ARGUMENT_VALUE] = set_value, [SALVO_ARGUMENT_GLOBAL] = set_buffer,
		[SALVO_ARGUMENT_CONSTANT] = set_buffer, [SALVO_ARGUMENT_LOCAL] = set_local,
		[SALVO_ARGUMENT_IMAGE] = set_image, [SALVO_ARGUMENT_SAMPLER] = set_sampler,
	};
	cl_int err;

	err = set[kernel->args[index].info.kind](kernel, index, size, value);
	if (err)
		return err;
	kernel->unset -= !kernel->args[index].set;
	kernel->args[index].set = true;
	return CL_SUCCESS;
}

cl_int salvo_clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
	bool waits;
	cl_int err;

	if (!salvo_cl_is(kernel, SALVO_CL_KERNEL))
		return CL_INVALID_KERNEL;
	if (index >= kernel->arg_count)
		return CL_INVALID_ARG_INDEX;
	/* Another thread may ask what the code tells. */
	waits = atomic_load_explicit(&kernel->waits, memory_order_acquire);
	if (waits)
		pthread_mutex_lock(&kernel->program->lock);
	err = set_arg(kernel, index, size, value);
	if (waits)
		pthread_mutex_unlock(&kernel->program->lock);
	return err;
}

/* No device has shared virtual memory. */
cl_int salvo_clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint index, const void *value)
{
	(void)index;
	(void)value;
	return salvo_cl_is(kernel, SALVO_CL_KERNEL) ? CL_INVALID_OPERATION : CL_INVALID_KERNEL;
}

cl_int salvo_clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info name, size_t size,
				 const void *value)
{
	(void)name;
	(void)size;
	(void)value;
	return salvo_cl_is(kernel, SALVO_CL_KERNEL) ? CL_INVALID_OPERATION : CL_INVALID_KERNEL;
}

/* --- for commands -------------------------------------------------------------------------- */

struct salvo_cl_kernel_on *salvo_cl_kernel_on(cl_kernel kernel, cl_device_id device)
{
	unsigned int i;

	for (i = 0; i < kernel->device_count; i++)
		if (kernel->on[i].device == device)
			return &kernel->on[i];
	return NULL;
}

cl_int salvo_cl_kernel_ready(cl_kernel kernel, cl_command_queue queue,
			     struct salvo_cl_kernel_on **out)
{
	*out = salvo_cl_kernel_on(kernel, queue->device);
	if (!*out)
		return CL_INVALID_PROGRAM_EXECUTABLE;
	return kernel->unset ? CL_INVALID_KERNEL_ARGS : salvo_cl_kernel_finish(kernel);
}

void salvo_cl_kernel_use(cl_kernel kernel, const struct salvo_cl_kernel_on *on,
			 struct salvo_cl_command *command)
{
	unsigned int i;

	salvo_cl_command_hold(command, &on->code->base);
	for (i = 0; i < kernel->arg_count; i++) {
		const struct salvo_cl_arg *arg = &kernel->args[i];

		if (arg->mem)
			salvo_cl_command_use(command, arg->mem, arg->info.access);
		else if (arg->sampler)
			salvo_cl_command_hold(command, (struct salvo_cl_object *)arg->sampler);
	}
}
