// SPDX-License-Identifier: MIT
/*
 * program.c - programs: creation, and what they are
 *
 * A program has a build for each of its devices. What can run is loaded into the GPU's memory as a
 * struct salvo_cl_code, which kernels and commands keep while they need it, so that a program
 * may be built again or released while commands are in flight. The program's lock protects
 * its builds; it is not held while the compiler runs: a build in progress belongs to the thread
 * that has set its status.
 */
#include "program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "icd.h"

/* --- builds ---------------------------------------------------------------------------- */

static void destroy_code(struct salvo_cl_object *object)
{
	struct salvo_cl_code *code = (struct salvo_cl_code *)object;

	salvo_program_destroy(code->salvo);
	free(code);
}

/* Takes @salvo over. */
static struct salvo_cl_code *create_code(struct salvo_program *salvo)
{
	struct salvo_cl_code *code = calloc(1, sizeof(*code));

	if (!code) {
		salvo_program_destroy(salvo);
		return NULL;
	}
	code->salvo = salvo;
	salvo_cl_object_init(&code->base, SALVO_CL_CODE, destroy_code);
	return code;
}

static int load_code(struct salvo_cl_build *build, const void *image, size_t bytes,
		     struct salvo_cl_code **code)
{
	struct salvo_program *salvo;
	const int err = salvo_program_load(build->device->root->salvo, image, bytes, &salvo);

	*code = err ? NULL : create_code(salvo);
	return err ? err : *code ? 0 : -ENOMEM;
}

int salvo_cl_build_load(struct salvo_cl_build *build)
{
	size_t bytes;
	const void *image = salvo_object_image(build->object, &bytes);

	return load_code(build, image, bytes, &build->code);
}

/* Without a description its kernels are known when the code is there. */
void salvo_cl_build_describe(struct salvo_cl_build *build)
{
	struct salvo_program *salvo;

	if (!salvo_object_describe(build->object, build->device->root->salvo, &salvo))
		build->described = create_code(salvo);
}

struct salvo_cl_code *salvo_cl_build_code(struct salvo_cl_build *build)
{
	char *log = NULL;

	if (build->code || !build->object || build->status != CL_BUILD_SUCCESS ||
	    salvo_object_kind(build->object) != SALVO_OBJECT_PROGRAM)
		return build->code;
	if (!salvo_object_finish(build->object, &log) && !salvo_cl_build_load(build)) {
		free(log);
		return build->code;
	}
	if (log && *log) {
		free(build->log);
		build->log = log;
		log = NULL;
	}
	free(log);
	build->status = CL_BUILD_ERROR;
	return NULL;
}

/* The part that has a kernel. If there is none, or it cannot be had, the whole program tells. */
static void load_part(struct salvo_cl_build *build, const char *kernel)
{
	struct salvo_cl_code *part;
	size_t bytes;
	void *image;

	if (salvo_object_part(build->object, kernel, &image, &bytes))
		return;
	if (!load_code(build, image, bytes, &part)) {
		part->next = build->parts;
		build->parts = part;
	}
	free(image);
}

static struct salvo_cl_code *move_to_part(struct salvo_cl_build *build,
					  struct salvo_kernel *kernel)
{
	struct salvo_cl_code *part = build->parts;

	while (part && salvo_kernel_move(kernel, part->salvo))
		part = part->next;
	return part;
}

struct salvo_cl_code *salvo_cl_build_move(struct salvo_cl_build *build,
					  struct salvo_kernel *kernel, const char *name)
{
	struct salvo_cl_code *code = NULL;

	if (!build->code) {
		code = move_to_part(build, kernel);
		if (!code) {
			load_part(build, name);
			code = move_to_part(build, kernel);
		}
	}
	if (code)
		return code;
	code = salvo_cl_build_code(build);
	return code && !salvo_kernel_move(kernel, code->salvo) ? code : NULL;
}

struct salvo_cl_code *salvo_cl_build_kernels(struct salvo_cl_build *build)
{
	if (!build->code && build->described && build->status == CL_BUILD_SUCCESS)
		return build->described;
	return salvo_cl_build_code(build);
}

struct salvo_cl_code *salvo_cl_program_kernels(cl_program program)
{
	struct salvo_cl_code *code = NULL;
	unsigned int i;

	for (i = 0; i < program->build_count && !code; i++)
		code = salvo_cl_build_kernels(&program->builds[i]);
	return code;
}

void salvo_cl_build_reset(struct salvo_cl_build *build)
{
	struct salvo_cl_code *part;

	free(build->options);
	free(build->log);
	salvo_object_destroy(build->object);
	if (build->code)
		salvo_cl_object_put(&build->code->base);
	if (build->described)
		salvo_cl_object_put(&build->described->base);
	while ((part = build->parts)) {
		build->parts = part->next;
		salvo_cl_object_put(&part->base);
	}
	*build = (struct salvo_cl_build){
		.device = build->device, .status = CL_BUILD_NONE, .uniform = true,
	};
}

cl_program_binary_type salvo_cl_build_type(const struct salvo_cl_build *build)
{
	if (!build->object)
		return CL_PROGRAM_BINARY_TYPE_NONE;
	switch (salvo_object_kind(build->object)) {
	case SALVO_OBJECT_COMPILED:
		return CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT;
	case SALVO_OBJECT_LIBRARY:
		return CL_PROGRAM_BINARY_TYPE_LIBRARY;
	default:
		return CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
	}
}

struct salvo_cl_build *salvo_cl_program_build_for(cl_program program, cl_device_id device)
{
	unsigned int i;

	for (i = 0; i < program->build_count; i++)
		if (program->builds[i].device == device)
			return &program->builds[i];
	return NULL;
}

/* --- creation ---------------------------------------------------------------------------- */

static void destroy(struct salvo_cl_object *object)
{
	cl_program program = (cl_program)object;
	unsigned int i;

	salvo_cl_notify_run(program->releases, program);
	for (i = 0; i < program->build_count; i++) {
		salvo_cl_build_reset(&program->builds[i]);
		salvo_cl_device_put(program->builds[i].device);
	}
	pthread_mutex_destroy(&program->lock);
	free(program->builds);
	free(program->source);
	salvo_cl_object_put(&program->context->base);
	free(program);
}

cl_program salvo_cl_program_create(cl_context context, cl_uint count, const cl_device_id *devices)
{
	cl_program program = calloc(1, sizeof(*program));
	cl_uint i;

	if (!devices) {
		devices = context->devices;
		count = context->device_count;
	}
	if (program)
		program->builds = calloc(count, sizeof(*program->builds));
	if (!program || !program->builds) {
		free(program);
		return NULL;
	}
	salvo_cl_object_init(&program->base, SALVO_CL_PROGRAM, destroy);
	salvo_cl_object_get(&context->base);
	program->context = context;
	pthread_mutex_init(&program->lock, NULL);
	for (i = 0; i < count; i++) {
		if (salvo_cl_program_build_for(program, devices[i]))
			continue;
		salvo_cl_device_get(devices[i]);
		program->builds[program->build_count++] = (struct salvo_cl_build){
			.device = devices[i], .status = CL_BUILD_NONE, .uniform = true,
		};
	}
	return program;
}

/* All strings as one; a length of 0 is up to the final 0. */
static char *join_strings(cl_uint count, const char **strings, const size_t *lengths)
{
	size_t total = 0, length;
	char *joined;
	cl_uint i;

	for (i = 0; i < count; i++)
		total += lengths && lengths[i] ? lengths[i] : strlen(strings[i]);
	joined = malloc(total + 1);
	if (!joined)
		return NULL;
	for (i = 0, total = 0; i < count; i++) {
		length = lengths && lengths[i] ? lengths[i] : strlen(strings[i]);
		memcpy(joined + total, strings[i], length);
		total += length;
	}
	joined[total] = 0;
	return joined;
}

cl_program salvo_clCreateProgramWithSource(cl_context context, cl_uint count, const char **strings,
					   const size_t *lengths, cl_int *errcode_ret)
{
	cl_program program = NULL;
	cl_int err = CL_SUCCESS;
	cl_uint i;

	if (!salvo_cl_is(context, SALVO_CL_CONTEXT))
		err = CL_INVALID_CONTEXT;
	else if (!count || !strings)
		err = CL_INVALID_VALUE;
	for (i = 0; !err && i < count; i++)
		if (!strings[i])
			err = CL_INVALID_VALUE;
	if (!err) {
		program = salvo_cl_program_create(context, 0, NULL);
		if (program)
			program->source = join_strings(count, strings, lengths);
		if (!program || !program->source)
			err = CL_OUT_OF_HOST_MEMORY;
	}
	if (err && program) {
		salvo_cl_object_put(&program->base);
		program = NULL;
	}
	salvo_cl_report(errcode_ret, err);
	return program;
}

/* An image of a program is loaded at once, so that a damaged one is found here. */
static cl_int load_binary(struct salvo_cl_build *build, const unsigned char *binary, size_t length)
{
	int err;

	if (!binary || !length)
		return CL_INVALID_VALUE;
	err = salvo_object_load(binary, length, &build->object);
	if (!err && salvo_object_kind(build->object) == SALVO_OBJECT_PROGRAM)
		err = salvo_cl_build_load(build);
	return err == -ENOEXEC || err == -ENOTSUP ? CL_INVALID_BINARY : salvo_cl_error(err);
}

static cl_int load_binaries(cl_program program, cl_uint count, const cl_device_id *devices,
			    const size_t *lengths, const unsigned char **binaries, cl_int *status)
{
	cl_int err = CL_SUCCESS, one;
	cl_uint i;

	for (i = 0; i < count; i++) {
		struct salvo_cl_build *build = salvo_cl_program_build_for(program, devices[i]);

		one = build->object ? CL_SUCCESS : load_binary(build, binaries[i], lengths[i]);
		if (status)
			status[i] = one;
		err = err ? err : one;
	}
	return err;
}

cl_program salvo_clCreateProgramWithBinary(cl_context context, cl_uint count,
					   const cl_device_id *devices, const size_t *lengths,
					   const unsigned char **binaries, cl_int *status,
					   cl_int *errcode_ret)
{
	cl_program program = NULL;
	cl_int err = CL_SUCCESS;
	cl_uint i;

	if (!salvo_cl_is(context, SALVO_CL_CONTEXT))
		err = CL_INVALID_CONTEXT;
	else if (!devices || !count || !lengths || !binaries)
		err = CL_INVALID_VALUE;
	for (i = 0; !err && i < count; i++)
		if (!salvo_cl_is(devices[i], SALVO_CL_DEVICE) ||
		    !salvo_cl_context_has(context, devices[i]))
			err = CL_INVALID_DEVICE;
	if (!err) {
		program = salvo_cl_program_create(context, count, devices);
		err = program ? load_binaries(program, count, devices, lengths, binaries, status) :
				CL_OUT_OF_HOST_MEMORY;
	}
	if (err && program) {
		salvo_cl_object_put(&program->base);
		program = NULL;
	}
	salvo_cl_report(errcode_ret, err);
	return program;
}

cl_program salvo_clCreateProgramWithBuiltInKernels(cl_context context, cl_uint count,
						   const cl_device_id *devices, const char *names,
						   cl_int *errcode_ret)
{
	cl_int err = CL_INVALID_VALUE;	/* no device has one of any name */
	cl_uint i;

	if (!salvo_cl_is(context, SALVO_CL_CONTEXT))
		err = CL_INVALID_CONTEXT;
	else if (devices && count && names)
		for (i = 0; i < count; i++)
			if (!salvo_cl_is(devices[i], SALVO_CL_DEVICE) ||
			    !salvo_cl_context_has(context, devices[i]))
				err = CL_INVALID_DEVICE;
	salvo_cl_report(errcode_ret, err);
	return NULL;
}

cl_program salvo_clCreateProgramWithIL(cl_context context, const void *il, size_t length,
				       cl_int *errcode_ret)
{
	(void)il;
	(void)length;
	salvo_cl_report(errcode_ret, salvo_cl_is(context, SALVO_CL_CONTEXT) ? CL_INVALID_OPERATION :
									      CL_INVALID_CONTEXT);
	return NULL;
}

cl_int salvo_clRetainProgram(cl_program program)
{
	if (!salvo_cl_is(program, SALVO_CL_PROGRAM))
		return CL_INVALID_PROGRAM;
	salvo_cl_object_retain(&program->base);
	return CL_SUCCESS;
}

cl_int salvo_clReleaseProgram(cl_program program)
{
	if (!salvo_cl_is(program, SALVO_CL_PROGRAM) || !salvo_cl_object_release(&program->base))
		return CL_INVALID_PROGRAM;
	return CL_SUCCESS;
}

/* No program has destructors of its own, so this has nothing to wait for. */
cl_int salvo_clSetProgramReleaseCallback(cl_program program,
					 void (CL_CALLBACK *notify)(cl_program, void *),
					 void *user_data)
{
	(void)notify;
	(void)user_data;
	return salvo_cl_is(program, SALVO_CL_PROGRAM) ? CL_INVALID_OPERATION : CL_INVALID_PROGRAM;
}

cl_int salvo_clSetProgramSpecializationConstant(cl_program program, cl_uint id, size_t size,
						const void *value)
{
	(void)id;
	(void)size;
	(void)value;
	return salvo_cl_is(program, SALVO_CL_PROGRAM) ? CL_INVALID_OPERATION : CL_INVALID_PROGRAM;
}
