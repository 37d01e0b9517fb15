// SPDX-License-Identifier: MIT
/*
 * program_build.c - clBuildProgram(), clCompileProgram(), clLinkProgram()
 *
 * All three are a task: for each device of a list run the compiler, keep what it made, and load it
 * if it can run. A build is done when the compiler has found no error; it goes on to make the code,
 * and who needs that waits for it: salvo_cl_build_code(). Without a callback the task runs in the
 * calling thread, with one in a thread of its own, so that several builds use several cores; the
 * compiler is a process anyway. While a build is in progress its status says so and only the task
 * touches it; what it made is stored with the program's lock held.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "icd.h"
#include "options.h"
#include "program.h"

typedef void (CL_CALLBACK *salvo_cl_built)(cl_program program, void *user_data);

enum action { BUILD, COMPILE, LINK };

struct task {
	enum action action;
	cl_program program;
	struct salvo_cl_options options;
	/** @text: The options as they were given. */
	char *text;
	cl_device_id *devices;
	/** @results: What was compiled for each of @devices, and the log: see find_result(). */
	struct result {
		struct salvo_object *object;
		char *log;
	} *results;
	unsigned int device_count;
	/** @headers: Of COMPILE; @inputs: of LINK; @input_count is that of either. */
	struct salvo_header *headers;
	cl_program *inputs;
	unsigned int input_count;
	salvo_cl_built notify;
	void *user_data;
};

static void free_task(struct task *task)
{
	unsigned int i;

	if (!task)
		return;
	for (i = 0; i < task->input_count; i++) {
		if (task->headers) {
			free((char *)task->headers[i].name);
			free((char *)task->headers[i].text);
		}
		if (task->inputs && task->inputs[i])
			salvo_cl_object_put(&task->inputs[i]->base);
	}
	for (i = 0; i < task->device_count; i++) {
		salvo_object_destroy(task->results[i].object);
		free(task->results[i].log);
	}
	if (task->program)
		salvo_cl_object_put(&task->program->base);
	free(task->headers);
	free(task->inputs);
	free(task->devices);
	free(task->results);
	free(task->options.words);
	free(task->text);
	free(task);
}

/* Is the device, or one that it is a part of, in the list? */
static bool is_meant(cl_device_id device, cl_uint count, const cl_device_id *devices)
{
	cl_uint i;

	for (; device; device = device->parent)
		for (i = 0; i < count; i++)
			if (devices[i] == device)
				return true;
	return false;
}

/* The devices of a call: all of the program, or those in a list and their sub-devices. */
static cl_int set_devices(struct task *task, cl_program program, cl_uint count,
			  const cl_device_id *devices)
{
	unsigned int i;

	task->devices = calloc(program->build_count, sizeof(*task->devices));
	task->results = calloc(program->build_count, sizeof(*task->results));
	if (!task->devices || !task->results)
		return CL_OUT_OF_HOST_MEMORY;
	for (i = 0; i < program->build_count; i++)
		if (!devices || is_meant(program->builds[i].device, count, devices))
			task->devices[task->device_count++] = program->builds[i].device;
	return CL_SUCCESS;
}

static cl_int make_task(enum action action, cl_program program, cl_uint count,
			const cl_device_id *devices, const char *options, salvo_cl_built notify,
			void *user_data, struct task **out)
{
	struct task *task = calloc(1, sizeof(*task));
	cl_int err = CL_OUT_OF_HOST_MEMORY;

	*out = NULL;
	if (!task)
		return err;
	*task = (struct task){ .action = action, .notify = notify, .user_data = user_data };
	switch (salvo_cl_options_read(&task->options, options,
				      action == LINK ? SALVO_CL_LINK : SALVO_CL_COMPILE)) {
	case 0:
		task->text = strdup(options ? options : "");
		err = task->text ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
		break;
	case -EINVAL:
		err = action == LINK ? CL_INVALID_LINKER_OPTIONS :
		      action == COMPILE ? CL_INVALID_COMPILER_OPTIONS : CL_INVALID_BUILD_OPTIONS;
	}
	if (!err)
		err = set_devices(task, program, count, devices);
	if (err) {
		free_task(task);
		return err;
	}
	salvo_cl_object_get(&program->base);
	task->program = program;
	*out = task;
	return CL_SUCCESS;
}

/* --- what a task does ------------------------------------------------------------------ */

/*
 * What was compiled for a device of the same instruction set; the compiler may still be at work on
 * it. The program's build for that device may be another one by now.
 */
static const struct result *find_result(const struct task *task, unsigned int index)
{
	const cl_device_id *devices = task->devices;
	const unsigned int level = salvo_cl_device_limits(devices[index])->isa_level;
	unsigned int i;

	for (i = 0; i < index; i++)
		if (task->results[i].object &&
		    (task->action == COMPILE ||
		     salvo_cl_device_limits(devices[i])->isa_level == level))
			return &task->results[i];
	return NULL;
}

/* A copy: another thread may compile the input again. */
static int copy_input(cl_program input, cl_device_id device, struct salvo_object **out,
		      bool *uniform)
{
	struct salvo_cl_build *build = salvo_cl_program_build_for(input, device);
	const void *image;
	size_t bytes;
	int err = -ENOEXEC;

	pthread_mutex_lock(&input->lock);
	if (build->object) {
		image = salvo_object_image(build->object, &bytes);
		err = salvo_object_load(image, bytes, out);
		*uniform |= build->uniform;
	}
	pthread_mutex_unlock(&input->lock);
	return err;
}

/* Link what the programs have on the device. */
static int link_inputs(const struct task *task, cl_device_id device, struct salvo_cl_build *made)
{
	struct salvo_object **objects = calloc(task->input_count, sizeof(struct salvo_object *));
	unsigned int i;
	int err = 0;

	if (!objects)
		return -ENOMEM;
	made->uniform = false;
	for (i = 0; i < task->input_count; i++) {
		err = copy_input(task->inputs[i], device, &objects[i], &made->uniform);
		if (err)
			goto out;
	}
	err = salvo_object_link(device->root->salvo, task->options.library ? SALVO_OBJECT_LIBRARY :
									       SALVO_OBJECT_PROGRAM,
				objects, task->input_count, task->options.words, &made->log,
				&made->object);
out:
	for (i = 0; i < task->input_count; i++)
		salvo_object_destroy(objects[i]);
	free(objects);
	return err;
}

/* clBuildProgram() of a binary: a program is ready, an object is linked. */
static int build_binary(const struct task *task, struct salvo_cl_build *build,
			struct salvo_cl_build *made)
{
	struct salvo_cl_options none;
	const void *image;
	size_t bytes;
	int err;

	made->uniform = task->options.uniform;
	if (salvo_object_kind(build->object) == SALVO_OBJECT_PROGRAM) {
		image = salvo_object_image(build->object, &bytes);
		return salvo_object_load(image, bytes, &made->object);
	}
	err = salvo_cl_options_read(&none, NULL, SALVO_CL_LINK);
	if (!err)
		err = salvo_object_link(build->device->root->salvo, SALVO_OBJECT_PROGRAM,
					&build->object, 1, none.words, &made->log, &made->object);
	free(none.words);
	return err;
}

static int compile_source(const struct task *task, unsigned int index, struct salvo_cl_build *made)
{
	struct salvo_device *device = made->device->root->salvo;
	const struct result *same = find_result(task, index);
	const char *source = task->program->source;
	int err;

	if (same) {
		made->object = salvo_object_get(same->object);
		made->log = strdup(same->log ? same->log : "");
		return 0;
	}
	if (task->action == COMPILE)
		err = salvo_object_compile(source, 0, task->headers, task->input_count,
					   task->options.words, &made->log, &made->object);
	else
		err = salvo_object_begin(device, source, 0, task->options.words, &made->log,
					 &made->object);
	if (!err) {
		task->results[index].object = salvo_object_get(made->object);
		task->results[index].log = made->log ? strdup(made->log) : NULL;
	}
	return err;
}

static int make_object(const struct task *task, unsigned int index, struct salvo_cl_build *build,
		       struct salvo_cl_build *made)
{
	if (task->action == LINK)
		return link_inputs(task, build->device, made);
	if (!task->program->source)
		return build_binary(task, build, made);
	made->uniform = task->options.uniform;
	return compile_source(task, index, made);
}

/* Build for one device, and store the result. */
static int run_for(const struct task *task, unsigned int index)
{
	cl_program program = task->program;
	struct salvo_cl_build *build = salvo_cl_program_build_for(program, task->devices[index]);
	struct salvo_cl_build made = { .device = build->device }, old;
	int err;

	err = make_object(task, index, build, &made);
	if (!err && salvo_object_kind(made.object) == SALVO_OBJECT_PROGRAM) {
		if (salvo_object_is_done(made.object))
			err = salvo_cl_build_load(&made);
		else
			salvo_cl_build_describe(&made);
	}
	made.options = strdup(task->text);
	made.status = err ? CL_BUILD_ERROR : CL_BUILD_SUCCESS;
	if (err) {
		salvo_object_destroy(made.object);
		made.object = NULL;
	}
	pthread_mutex_lock(&program->lock);
	old = *build;
	*build = made;
	/* A binary stays, so that it can be built again. */
	if (err && !program->source && !program->linked) {
		build->object = old.object;
		old.object = NULL;
	}
	pthread_mutex_unlock(&program->lock);
	salvo_cl_build_reset(&old);
	return err;
}

static cl_int run_task(struct task *task)
{
	static const cl_int failures[] = {
		[BUILD] = CL_BUILD_PROGRAM_FAILURE, [COMPILE] = CL_COMPILE_PROGRAM_FAILURE,
		[LINK] = CL_LINK_PROGRAM_FAILURE,
	};
	cl_int result = CL_SUCCESS;
	unsigned int i;
	int err;

	for (i = 0; i < task->device_count; i++) {
		err = run_for(task, i);
		if (!err || result)
			continue;
		result = err == -ENOENT ? CL_COMPILER_NOT_AVAILABLE :
			 err == -ENOMEM ? CL_OUT_OF_HOST_MEMORY : failures[task->action];
	}
	if (task->notify)
		task->notify(task->program, task->user_data);
	free_task(task);
	return result;
}

static void *run_thread(void *data)
{
	run_task(data);
	return NULL;
}

/* Run it here, or in a thread if somebody is to be called. */
static cl_int start_task(struct task *task)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int err;

	if (!task->notify)
		return run_task(task);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	err = pthread_create(&thread, &attributes, run_thread, task);
	pthread_attr_destroy(&attributes);
	if (err)
		run_task(task);
	return CL_SUCCESS;
}

/* --- entry points ---------------------------------------------------------------------- */

static cl_int check_call(cl_program program, cl_uint count, const cl_device_id *devices,
			 salvo_cl_built notify, void *user_data)
{
	cl_uint i;

	if (!salvo_cl_is(program, SALVO_CL_PROGRAM))
		return CL_INVALID_PROGRAM;
	if (!devices != !count || (!notify && user_data))
		return CL_INVALID_VALUE;
	for (i = 0; i < count; i++)
		if (!salvo_cl_is(devices[i], SALVO_CL_DEVICE) ||
		    !salvo_cl_program_build_for(program, devices[i]))
			return CL_INVALID_DEVICE;
	return CL_SUCCESS;
}

/* Mark the builds of a task as being in progress. */
static cl_int claim_builds(struct task *task, bool needs_binary)
{
	cl_program program = task->program;
	cl_int err = CL_SUCCESS;
	unsigned int i;

	pthread_mutex_lock(&program->lock);
	if (atomic_load(&program->kernels))
		err = CL_INVALID_OPERATION;
	for (i = 0; i < task->device_count && !err; i++) {
		struct salvo_cl_build *build =
			salvo_cl_program_build_for(program, task->devices[i]);

		if (build->status == CL_BUILD_IN_PROGRESS)
			err = CL_INVALID_OPERATION;
		else if (needs_binary && !build->object)
			err = CL_INVALID_BINARY;
	}
	for (i = 0; i < task->device_count && !err; i++)
		salvo_cl_program_build_for(program, task->devices[i])->status =
			CL_BUILD_IN_PROGRESS;
	pthread_mutex_unlock(&program->lock);
	return err;
}

cl_int salvo_clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
			    const char *options, salvo_cl_built notify, void *user_data)
{
	struct task *task;
	cl_int err;

	err = check_call(program, count, devices, notify, user_data);
	if (!err && program->linked)
		err = CL_INVALID_OPERATION;
	if (!err)
		err = make_task(BUILD, program, count, devices, options, notify, user_data, &task);
	if (err)
		return err;
	err = claim_builds(task, !program->source);
	if (err) {
		free_task(task);
		return err;
	}
	return start_task(task);
}

static cl_int add_headers(struct task *task, cl_uint count, const cl_program *headers,
			  const char **names)
{
	cl_uint i;

	task->headers = calloc(count + 1, sizeof(*task->headers));
	if (!task->headers)
		return CL_OUT_OF_HOST_MEMORY;
	for (i = 0; i < count; i++) {
		struct salvo_header *header = &task->headers[task->input_count++];

		header->name = strdup(names[i]);
		header->text = strdup(headers[i]->source);
		if (!header->name || !header->text)
			return CL_OUT_OF_HOST_MEMORY;
	}
	return CL_SUCCESS;
}

static cl_int check_headers(cl_uint count, const cl_program *headers, const char **names)
{
	cl_uint i;

	if (count ? !headers || !names : headers || names)
		return CL_INVALID_VALUE;
	for (i = 0; i < count; i++) {
		if (!salvo_cl_is(headers[i], SALVO_CL_PROGRAM))
			return CL_INVALID_PROGRAM;
		if (!headers[i]->source)
			return CL_INVALID_OPERATION;
		if (!names[i])
			return CL_INVALID_VALUE;
	}
	return CL_SUCCESS;
}

cl_int salvo_clCompileProgram(cl_program program, cl_uint count, const cl_device_id *devices,
			      const char *options, cl_uint header_count, const cl_program *headers,
			      const char **header_names, salvo_cl_built notify, void *user_data)
{
	struct task *task;
	cl_int err;

	err = check_call(program, count, devices, notify, user_data);
	if (!err)
		err = check_headers(header_count, headers, header_names);
	if (!err && !program->source)
		err = CL_INVALID_OPERATION;
	if (!err)
		err = make_task(COMPILE, program, count, devices, options, notify, user_data,
				&task);
	if (err)
		return err;
	err = add_headers(task, header_count, headers, header_names);
	if (!err)
		err = claim_builds(task, false);
	if (err) {
		free_task(task);
		return err;
	}
	return start_task(task);
}

/* Has the program an object or library on the device? Another thread may compile it. */
static bool can_be_linked(cl_program input, cl_device_id device)
{
	const struct salvo_cl_build *build = salvo_cl_program_build_for(input, device);
	bool can;

	if (!build)
		return false;
	pthread_mutex_lock(&input->lock);
	can = build->status != CL_BUILD_IN_PROGRESS && build->object &&
	      salvo_object_kind(build->object) != SALVO_OBJECT_PROGRAM;
	pthread_mutex_unlock(&input->lock);
	return can;
}

/* Each input has an object or library on each of the devices. */
static cl_int check_inputs(cl_uint device_count, const cl_device_id *devices, cl_uint input_count,
			   const cl_program *inputs)
{
	cl_uint d, i;

	for (d = 0; d < device_count; d++)
		for (i = 0; i < input_count; i++)
			if (!can_be_linked(inputs[i], devices[d]))
				return CL_INVALID_OPERATION;
	return CL_SUCCESS;
}

static cl_int check_link(cl_context context, cl_uint count, const cl_device_id *devices,
			 cl_uint input_count, const cl_program *inputs, salvo_cl_built notify,
			 void *user_data)
{
	cl_uint i;

	if (!salvo_cl_is(context, SALVO_CL_CONTEXT))
		return CL_INVALID_CONTEXT;
	if (!devices != !count || !input_count || !inputs || (!notify && user_data))
		return CL_INVALID_VALUE;
	for (i = 0; i < input_count; i++)
		if (!salvo_cl_is(inputs[i], SALVO_CL_PROGRAM))
			return CL_INVALID_PROGRAM;
	for (i = 0; i < count; i++)
		if (!salvo_cl_is(devices[i], SALVO_CL_DEVICE) ||
		    !salvo_cl_context_has(context, devices[i]))
			return CL_INVALID_DEVICE;
	return check_inputs(devices ? count : context->device_count,
			    devices ? devices : context->devices, input_count, inputs);
}

static cl_int add_inputs(struct task *task, cl_uint count, const cl_program *inputs)
{
	cl_uint i;

	task->inputs = calloc(count, sizeof(*task->inputs));
	if (!task->inputs)
		return CL_OUT_OF_HOST_MEMORY;
	task->input_count = count;
	for (i = 0; i < count; i++) {
		salvo_cl_object_get(&inputs[i]->base);
		task->inputs[i] = inputs[i];
	}
	return CL_SUCCESS;
}

cl_program salvo_clLinkProgram(cl_context context, cl_uint count, const cl_device_id *devices,
			       const char *options, cl_uint input_count, const cl_program *inputs,
			       salvo_cl_built notify, void *user_data, cl_int *errcode_ret)
{
	cl_program program = NULL;
	struct task *task = NULL;
	cl_int err;

	err = check_link(context, count, devices, input_count, inputs, notify, user_data);
	if (!err) {
		program = salvo_cl_program_create(context, count, devices);
		if (!program)
			err = CL_OUT_OF_HOST_MEMORY;
	}
	if (!err) {
		program->linked = true;
		err = make_task(LINK, program, 0, NULL, options, notify, user_data, &task);
	}
	if (!err)
		err = add_inputs(task, input_count, inputs);
	if (!err)
		err = claim_builds(task, false);
	if (err) {
		free_task(task);
		if (program)
			salvo_cl_object_put(&program->base);
		salvo_cl_report(errcode_ret, err);
		return NULL;
	}
	/* A program is returned even if linking fails, for its log. */
	err = start_task(task);
	salvo_cl_report(errcode_ret, err);
	return program;
}

/* The compiler is a process that has ended when a build has. */
cl_int salvo_clUnloadCompiler(void)
{
	return CL_SUCCESS;
}

cl_int salvo_clUnloadPlatformCompiler(cl_platform_id platform)
{
	return salvo_cl_is(platform, SALVO_CL_PLATFORM) ? CL_SUCCESS : CL_INVALID_PLATFORM;
}
