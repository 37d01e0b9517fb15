// SPDX-License-Identifier: MIT
/*
 * program_info.c - clGetProgramInfo(), clGetProgramBuildInfo()
 */
#include <stdlib.h>
#include <string.h>

#include "icd.h"
#include "program.h"

static cl_int answer_devices(const struct salvo_cl_answer *answer, cl_program program)
{
	cl_device_id *devices = calloc(program->build_count, sizeof(*devices));
	unsigned int i;
	cl_int err;

	if (!devices)
		return CL_OUT_OF_HOST_MEMORY;
	for (i = 0; i < program->build_count; i++)
		devices[i] = program->builds[i].device;
	err = salvo_cl_answer(answer, devices, program->build_count * sizeof(*devices));
	free(devices);
	return err;
}

static size_t binary_size(struct salvo_cl_build *build)
{
	size_t bytes = 0;

	/* If its code cannot be made the image is empty, and the build has failed. */
	salvo_cl_build_code(build);
	if (build->object)
		salvo_object_image(build->object, &bytes);
	return bytes;
}

static cl_int answer_sizes(const struct salvo_cl_answer *answer, cl_program program)
{
	size_t *sizes = calloc(program->build_count, sizeof(*sizes));
	unsigned int i;
	cl_int err;

	if (!sizes)
		return CL_OUT_OF_HOST_MEMORY;
	for (i = 0; i < program->build_count; i++)
		sizes[i] = binary_size(&program->builds[i]);
	err = salvo_cl_answer(answer, sizes, program->build_count * sizeof(*sizes));
	free(sizes);
	return err;
}

/* The value is an array of pointers to where each binary goes; NULL leaves one out. */
static cl_int answer_binaries(const struct salvo_cl_answer *answer, cl_program program)
{
	const size_t bytes = program->build_count * sizeof(unsigned char *);
	unsigned char **to = answer->value;
	unsigned int i;

	if (to && answer->capacity < bytes)
		return CL_INVALID_VALUE;
	for (i = 0; to && i < program->build_count; i++) {
		const size_t size = to[i] ? binary_size(&program->builds[i]) : 0;

		if (size)
			memcpy(to[i], salvo_object_image(program->builds[i].object, NULL), size);
	}
	if (answer->size_ret)
		*answer->size_ret = bytes;
	return CL_SUCCESS;
}

/* "a;b;c" */
static cl_int answer_names(const struct salvo_cl_answer *answer, struct salvo_program *salvo)
{
	const unsigned int count = salvo_program_kernel_count(salvo);
	size_t total = 1;
	unsigned int i;
	char *names;
	cl_int err;

	for (i = 0; i < count; i++)
		total += strlen(salvo_program_kernel_name(salvo, i)) + 1;
	names = malloc(total);
	if (!names)
		return CL_OUT_OF_HOST_MEMORY;
	names[0] = 0;
	for (i = 0; i < count; i++) {
		if (i)
			strcat(names, ";");
		strcat(names, salvo_program_kernel_name(salvo, i));
	}
	err = salvo_cl_answer_string(answer, names);
	free(names);
	return err;
}

static cl_int get_info(cl_program program, cl_program_info name,
		       const struct salvo_cl_answer *answer)
{
	struct salvo_cl_code *code;

	switch (name) {
	case CL_PROGRAM_REFERENCE_COUNT:
		return SALVO_CL_ANSWER(answer, cl_uint, salvo_cl_object_count(&program->base));
	case CL_PROGRAM_CONTEXT:
		return SALVO_CL_ANSWER(answer, cl_context, program->context);
	case CL_PROGRAM_NUM_DEVICES:
		return SALVO_CL_ANSWER(answer, cl_uint, program->build_count);
	case CL_PROGRAM_DEVICES:
		return answer_devices(answer, program);
	case CL_PROGRAM_SOURCE:
		return salvo_cl_answer_string(answer, program->source);
	case CL_PROGRAM_IL:
		return salvo_cl_answer(answer, NULL, 0);
	case CL_PROGRAM_BINARY_SIZES:
		return answer_sizes(answer, program);
	case CL_PROGRAM_BINARIES:
		return answer_binaries(answer, program);
	case CL_PROGRAM_NUM_KERNELS:
		code = salvo_cl_program_kernels(program);
		return code ? SALVO_CL_ANSWER(answer, size_t,
					      salvo_program_kernel_count(code->salvo)) :
			      CL_INVALID_PROGRAM_EXECUTABLE;
	case CL_PROGRAM_KERNEL_NAMES:
		code = salvo_cl_program_kernels(program);
		return code ? answer_names(answer, code->salvo) : CL_INVALID_PROGRAM_EXECUTABLE;
	case CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT:
	case CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT:
		return SALVO_CL_ANSWER(answer, cl_bool, CL_FALSE);
	default:
		return CL_INVALID_VALUE;
	}
}

cl_int salvo_clGetProgramInfo(cl_program program, cl_program_info name, size_t size, void *value,
			      size_t *size_ret)
{
	const struct salvo_cl_answer answer = { size, value, size_ret };
	cl_int err;

	if (!salvo_cl_is(program, SALVO_CL_PROGRAM))
		return CL_INVALID_PROGRAM;
	pthread_mutex_lock(&program->lock);
	err = get_info(program, name, &answer);
	pthread_mutex_unlock(&program->lock);
	return err;
}

cl_int salvo_clGetProgramBuildInfo(cl_program program, cl_device_id device,
				   cl_program_build_info name, size_t size, void *value,
				   size_t *size_ret)
{
	const struct salvo_cl_answer answer = { size, value, size_ret };
	const struct salvo_cl_code *code;
	struct salvo_cl_build *build;
	cl_int err;

	if (!salvo_cl_is(program, SALVO_CL_PROGRAM))
		return CL_INVALID_PROGRAM;
	build = salvo_cl_is(device, SALVO_CL_DEVICE) ? salvo_cl_program_build_for(program, device) :
						       NULL;
	if (!build)
		return CL_INVALID_DEVICE;
	pthread_mutex_lock(&program->lock);
	switch (name) {
	case CL_PROGRAM_BUILD_STATUS:
		err = SALVO_CL_ANSWER(&answer, cl_build_status, build->status);
		break;
	case CL_PROGRAM_BUILD_OPTIONS:
		err = salvo_cl_answer_string(&answer, build->options);
		break;
	case CL_PROGRAM_BUILD_LOG:
		err = salvo_cl_answer_string(&answer, build->log);
		break;
	case CL_PROGRAM_BINARY_TYPE:
		err = SALVO_CL_ANSWER(&answer, cl_program_binary_type, salvo_cl_build_type(build));
		break;
	case CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE:
		code = salvo_cl_build_code(build);
		err = SALVO_CL_ANSWER(&answer, size_t,
				      code ? salvo_program_variable_bytes(code->salvo) : 0);
		break;
	default:
		err = CL_INVALID_VALUE;
	}
	pthread_mutex_unlock(&program->lock);
	return err;
}
