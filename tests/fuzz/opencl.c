// SPDX-License-Identifier: MIT
/*
 * opencl.c - fuzz the OpenCL driver: any sequence of calls, with valid, foreign and missing handles
 *
 * The input is a list of calls: a byte chooses the call, those after it its arguments. Objects are
 * kept in a table; an argument names one by a byte, which may be of the wrong kind or NULL. Only
 * what the specification leaves undefined is kept out: handles that are gone, memory of the host
 * that is too small, waiting for what nobody completes. At the end everything is released, in any
 * order, with commands in flight. Programs are compiled and linked meanwhile, in threads of the
 * driver, and children of fork() release everything, too.
 */
#include "opencl_objects.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

/* Compiles and builds of an input, which take long, and forks */
#define MAX_BUILDS 3u
#define MAX_FORKS  1u

struct dispatch_config {
	cl_mutable_command_khr command;
	cl_uint num_args, num_svm_args, num_exec_infos, work_dim;
	const cl_mutable_dispatch_arg_khr *arg_list;
	const void *arg_svm_list, *exec_info_list;
	const size_t *offset, *items, *group;
};

static const char *const source =
	"kernel void twice(global uint *x, uint n)\n"
	"{ size_t i = get_global_id(0); if (i < n) x[i] *= 2; }\n"
	"kernel void sum(global const uint *x, global uint *y, local uint *s, uint n)\n"
	"{ uint l = get_local_id(0); s[l] = get_global_id(0) < n ? x[get_global_id(0)] : 0;\n"
	"  barrier(CLK_LOCAL_MEM_FENCE); if (!l) atomic_add(y, s[0]); }\n"
	"kernel void stray(global uint *x, ulong far) { x[far] = 1; }\n"
	"global uint total;\n"
	"kernel void count(global uint *x)\n"
	"{ if (!get_local_id(0)) atomic_add(&total, work_group_reduce_add(1)); *x = total; }\n"
	"kernel void draw(write_only image2d_t m)\n"
	"{ write_imagef(m, (int2)(get_global_id(0), get_global_id(1)), 1); }\n";

static unsigned int builds, forks;
static atomic_int builds_running;

static void create(struct input *in)
{
	const uint32_t what = take(in, 1) % 8;
	cl_context context = handle(in, CONTEXT);
	cl_image_format format = { CL_R + take(in, 1) % 16, CL_SNORM_INT8 + take(in, 1) % 16 };
	cl_image_desc desc = { .image_type = CL_MEM_OBJECT_BUFFER + take(in, 1) % 8 };
	cl_mem_flags flags = take(in, 1) | take(in, 1) << 7;
	cl_queue_properties properties[] = { CL_QUEUE_PROPERTIES, take(in, 1) % 5, 0 };
	cl_int err = 1;
	void *new = NULL;

	switch (what) {
	case 0:
		keep(QUEUE,
		     cl->clCreateCommandQueueWithProperties(context, device, properties, &err),
		     false);
		return;
	case 1:
	case 2:
		new = cl->clCreateBuffer(
			context, flags, length(in),
			flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR) ? host : NULL, &err);
		break;
	case 3: {
		cl_buffer_region region = { take(in, 2), length(in) };

		new = cl->clCreateSubBuffer(handle(in, MEM), flags, CL_BUFFER_CREATE_TYPE_REGION,
					    &region, &err);
		break;
	}
	case 4:
		desc.image_width = take(in, 1) % (MAX_DIM / 4);
		desc.image_height = take(in, 1) % (MAX_DIM / 4);
		desc.image_depth = take(in, 1) % 8;
		desc.image_array_size = take(in, 1) % 8;
		desc.mem_object = take(in, 1) & 1 ? handle(in, MEM) : NULL;
		new = cl->clCreateImage(
			context, flags, &format, &desc,
			flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR) ? host : NULL, &err);
		break;
	case 5:
		new = cl->clCreateUserEvent(context, &err);
		keep(EVENT, new, true);
		return;
	case 6:
		keep(SAMPLER,
		     cl->clCreateSampler(context, take(in, 1) & 1,
					 CL_ADDRESS_NONE + take(in, 1) % 6,
					 CL_FILTER_NEAREST + take(in, 1) % 3, &err),
		     false);
		return;
	case 7:
		keep(KERNEL,
		     cl->clCreateKernel(handle(in, PROGRAM),
					(const char *const[]){ "twice", "sum", "draw",
							       "none", "stray",
							       "count" }[take(in, 1) % 6],
					&err),
		     false);
		return;
	}
	if (!new != !!err)
		abort();
	keep(MEM, new, false);
}

/*
 * Kernels access no more than the smallest buffer's bytes, as out of it lies host memory. A kernel
 * does not retain its arguments: one that cannot be set again may have been released.
 */
static void launch(struct input *in, cl_command_queue queue, struct waits *waits)
{
	cl_kernel kernel = handle(in, KERNEL);
	cl_mem a = handle(in, MEM), b = handle(in, MEM);
	size_t global[3], local[3], offset[3], bytes = 0;
	cl_uint count = take(in, 1), dims = take(in, 1) % 4;
	const cl_ulong far = 1ull << 45;
	char name[16] = "";

	cl->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof(name), name, NULL);
	cl->clGetMemObjectInfo(a, CL_MEM_SIZE, sizeof(bytes), &bytes, NULL);
	count = count * 4 <= bytes ? count : bytes / 4;
	if (cl->clSetKernelArg(kernel, 0, sizeof(a), &a))
		return;
	if (!strcmp(name, "twice"))
		cl->clSetKernelArg(kernel, 1, sizeof(count), &count);
	/* It fails, with what waits for it. */
	if (!strcmp(name, "stray"))
		cl->clSetKernelArg(kernel, 1, sizeof(far), &far);
	if (!strcmp(name, "sum")) {
		bytes = 0;
		cl->clGetMemObjectInfo(b, CL_MEM_SIZE, sizeof(bytes), &bytes, NULL);
		if (bytes < 4)
			return;
		if (cl->clSetKernelArg(kernel, 1, sizeof(b), &b))
			return;
		cl->clSetKernelArg(kernel, 2, MAX_DIM * 4, NULL);
		cl->clSetKernelArg(kernel, 3, sizeof(count), &count);
	}
	sizes(in, global, MAX_DIM);
	/* A local size over the local argument's would be a fault of the kernel. */
	sizes(in, local, 3);
	sizes(in, offset, MAX_DIM);
	cl->clEnqueueNDRangeKernel(queue, kernel, dims, take(in, 1) & 1 ? offset : NULL,
				   take(in, 1) & 15 ? global : NULL, take(in, 1) & 1 ? local : NULL,
				   waits->count, waits->list, waits->out);
}

static void record(struct input *in, struct object *object)
{
	cl_command_buffer_khr buffer = object->handle;
	cl_mutable_command_khr handle_out = NULL, *out = NULL;
	cl_mem a = handle(in, MEM), b = handle(in, MEM);
	const uint32_t how = take(in, 1);
	const cl_sync_point_khr points[2] = { take(in, 1) % 8, take(in, 1) % 8 };
	cl_sync_point_khr point;
	size_t at = take(in, 2) % MAX_BYTES, to = take(in, 2) % MAX_BYTES, bytes = length(in);
	const cl_uint waits = how >> 2 & 1 ? 1 + (how >> 3 & 1) : 0;
	const cl_sync_point_khr *list = waits ? points : NULL;
	cl_kernel kernel = handle(in, KERNEL);
	size_t global[3], local[3], size = 0;
	char name[16] = "";
	cl_uint count;

	if (how & 16 && object->command_count < MAX_HANDLES)
		out = &handle_out;
	sizes(in, global, MAX_DIM);
	sizes(in, local, 3);
	switch (how & 3) {
	case 0:
		cl->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof(name), name, NULL);
		cl->clGetMemObjectInfo(a, CL_MEM_SIZE, sizeof(size), &size, NULL);
		count = size / 4;
		if (strcmp(name, "twice") || cl->clSetKernelArg(kernel, 0, sizeof(a), &a))
			return;
		cl->clSetKernelArg(kernel, 1, sizeof(count), &count);
		record_ndrange(buffer, NULL, NULL, kernel, 1 + how % 3, NULL, global,
			       how & 32 ? local : NULL, waits, list, &point, out);
		break;
	case 1:
		record_copy(buffer, NULL, NULL, a, b, at, to, bytes, waits, list, &point, out);
		break;
	case 2:
		record_fill(buffer, NULL, NULL, a, host, 1u << how % 9, at, bytes, waits, list,
			    &point, out);
		break;
	case 3:
		record_barrier(buffer, NULL, NULL, waits, list, &point, out);
		break;
	}
	if (handle_out)
		object->commands[object->command_count++] = handle_out;
}

/* A kernel's count of words stays that of the buffer that was recorded. */
static void update(struct input *in, struct object *object)
{
	static const cl_uint type = CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR;
	const cl_uint few = 0;
	const cl_mutable_dispatch_arg_khr arg = { 1 + take(in, 1) % 2, sizeof(few), &few };
	size_t global[3], local[3];
	const uint32_t how = take(in, 1);
	struct dispatch_config config = { .num_args = how & 1, .arg_list = how & 1 ? &arg : NULL };
	const void *configs[] = { &config };

	sizes(in, global, MAX_DIM);
	sizes(in, local, 3);
	if (!object->command_count)
		return;
	config.command = object->commands[take(in, 1) % object->command_count];
	config.items = how & 2 ? global : NULL;
	config.group = how & 4 ? local : NULL;
	config.work_dim = how >> 3 & 3;
	update_commands(object->handle, 1, &type, configs);
}

static void use_commands(struct input *in, cl_command_queue queue, struct waits *w)
{
	static const cl_command_buffer_properties_khr flags[] = { CL_COMMAND_BUFFER_FLAGS_KHR, 3,
								  0 };
	const uint32_t what = take(in, 1) % 8;
	cl_command_buffer_khr buffer = handle(in, COMMAND_BUFFER);
	struct object *object = find(COMMAND_BUFFER, buffer);

	switch (what) {
	case 0:
		keep(COMMAND_BUFFER,
		     create_commands(1, &queue, take(in, 1) & 1 ? flags : NULL, NULL), false);
		break;
	case 1:
		finalize_commands(buffer);
		break;
	case 2:
	case 3:
		enqueue_commands(take(in, 1) & 1, &queue, buffer, w->count, w->list, w->out);
		break;
	case 4:
		if (object)
			update(in, object);
		break;
	default:
		if (object)
			record(in, object);
		break;
	}
}

static void CL_CALLBACK built(cl_program program, void *data)
{
	(void)program;
	(void)data;
	atomic_fetch_sub(&builds_running, 1);
}

/* Programs that are compiled, linked and built, here or in a thread of the driver */
static void build(struct input *in)
{
	static const char *const texts[] = {
		"int f(int x) { return x + 1; }\n",
		"int f(int x); kernel void twice(global int *x, uint n)\n"
		"{ size_t i = get_global_id(0); if (i < n) x[i] = f(x[i]); }\n",
		"#include \"h.h\"\nint g(int x) { return H + x; }\n",
		"#define H 3\n",
		"kernel void broken(global int *x) { x[0] = ; }\n",
	};
	static const char *const options[] = { "", "-create-library", "-cl-std=CL3.0", "-bad" };
	const uint32_t what = take(in, 1) % 5;
	const char *option = options[take(in, 1) % 4], *text = texts[take(in, 1) % 5];
	cl_program program = handle(in, PROGRAM);
	cl_program inputs[2] = { handle(in, PROGRAM), handle(in, PROGRAM) };
	const cl_uint count = 1 + take(in, 1) % 2;
	const bool later = take(in, 1) & 1;
	void (CL_CALLBACK *notify)(cl_program, void *) = later ? built : NULL;
	const char *name = "h.h";
	cl_int err = CL_SUCCESS;

	if (!what) {
		keep(PROGRAM,
		     cl->clCreateProgramWithSource(handle(in, CONTEXT), 1, &text, NULL, NULL),
		     false);
		return;
	}
	if (builds++ >= MAX_BUILDS)
		return;
	if (later)
		atomic_fetch_add(&builds_running, 1);
	switch (what) {
	case 1:
	case 2:
		err = cl->clCompileProgram(program, 0, NULL, option, what - 1, inputs,
					   what == 2 ? &name : NULL, notify, NULL);
		break;
	case 3:
		keep(PROGRAM,
		     cl->clLinkProgram(handle(in, CONTEXT), 0, NULL, option, count, inputs, notify,
				       NULL, &err),
		     false);
		break;
	case 4:
		err = cl->clBuildProgram(program, 0, NULL, option, notify, NULL);
		break;
	}
	/* What could not be started calls nobody. */
	if (later && err && err != CL_BUILD_PROGRAM_FAILURE && err != CL_COMPILE_PROGRAM_FAILURE &&
	    err != CL_LINK_PROGRAM_FAILURE)
		atomic_fetch_sub(&builds_running, 1);
}

static void transfer_buffer(struct input *in, cl_command_queue queue, struct waits *w)
{
	const uint32_t what = take(in, 1) % 7;
	cl_mem a = handle(in, MEM), b = handle(in, MEM);
	size_t at = take(in, 2), to = take(in, 2), bytes = length(in);
	size_t origin[3], other[3], region[3];

	sizes(in, origin, 8);
	sizes(in, other, 8);
	sizes(in, region, 8);
	switch (what) {
	case 0:
		cl->clEnqueueReadBuffer(queue, a, blocking(in), at, bytes, host + to, w->count,
					w->list, w->out);
		break;
	case 1:
		cl->clEnqueueWriteBuffer(queue, a, blocking(in), at, bytes, host + to, w->count,
					 w->list, w->out);
		break;
	case 2:
		cl->clEnqueueCopyBuffer(queue, a, b, at, to, bytes, w->count, w->list, w->out);
		break;
	case 3:
		cl->clEnqueueFillBuffer(queue, a, host, 1u << take(in, 1) % 9, at, bytes, w->count,
					w->list, w->out);
		break;
	case 4:
		cl->clEnqueueReadBufferRect(queue, a, blocking(in), origin, other, region,
					    take(in, 1), take(in, 2) % 4096, take(in, 1),
					    take(in, 2) % 4096, host, w->count, w->list, w->out);
		break;
	case 5:
		cl->clEnqueueWriteBufferRect(queue, a, blocking(in), origin, other, region,
					     take(in, 1), take(in, 2) % 4096, take(in, 1),
					     take(in, 2) % 4096, host, w->count, w->list, w->out);
		break;
	case 6:
		cl->clEnqueueCopyBufferRect(queue, a, b, origin, other, region, take(in, 1),
					    take(in, 2), take(in, 1), take(in, 2), w->count,
					    w->list, w->out);
		break;
	}
}

static void transfer_image(struct input *in, cl_command_queue queue, struct waits *w)
{
	const uint32_t what = take(in, 1) % 6;
	cl_mem a = handle(in, MEM), b = handle(in, MEM);
	size_t origin[3], other[3], region[3];

	sizes(in, origin, MAX_DIM / 4);
	sizes(in, other, MAX_DIM / 4);
	sizes(in, region, MAX_DIM / 4);
	region[2] %= 8;
	switch (what) {
	case 0:
		cl->clEnqueueReadImage(queue, a, blocking(in), origin, region, take(in, 2) % 512,
				       take(in, 2) % 8192, host, w->count, w->list, w->out);
		break;
	case 1:
		cl->clEnqueueWriteImage(queue, a, blocking(in), origin, region, take(in, 2) % 512,
					take(in, 2) % 8192, host, w->count, w->list, w->out);
		break;
	case 2:
		cl->clEnqueueCopyImage(queue, a, b, origin, other, region, w->count, w->list,
				       w->out);
		break;
	case 3:
		cl->clEnqueueFillImage(queue, a, host, origin, region, w->count, w->list, w->out);
		break;
	case 4:
		cl->clEnqueueCopyImageToBuffer(queue, a, b, origin, region, take(in, 2), w->count,
					       w->list, w->out);
		break;
	case 5:
		cl->clEnqueueCopyBufferToImage(queue, a, b, take(in, 2), origin, region, w->count,
					       w->list, w->out);
		break;
	}
}

/* Maps are unmapped at once, or never: then the release of the object ends them. */
static void map(struct input *in, cl_command_queue queue, struct waits *w)
{
	cl_mem mem = handle(in, MEM);
	cl_map_flags flags = take(in, 1) % 6;
	size_t at = take(in, 2), bytes = length(in), origin[3], region[3], row, slice;
	cl_bool wait = blocking(in);
	cl_int err;
	void *mapped;

	sizes(in, origin, 16);
	sizes(in, region, 16);
	if (take(in, 1) & 1)
		mapped = cl->clEnqueueMapBuffer(queue, mem, wait, flags, at, bytes, w->count,
						w->list, w->out, &err);
	else
		mapped = cl->clEnqueueMapImage(queue, mem, wait, flags, origin, region, &row,
					       &slice, w->count, w->list, w->out, &err);
	if (!mapped != !!err)
		abort();
	if (mapped && wait)
		*(volatile uint8_t *)mapped;
	if (take(in, 1) & 3)
		cl->clEnqueueUnmapMemObject(queue, mem, mapped, 0, NULL, NULL);
}

static void CL_CALLBACK called(cl_event event, cl_int status, void *data)
{
	(void)event;
	(void)status;
	__atomic_add_fetch((unsigned int *)data, 1, __ATOMIC_RELAXED);
}

static void order(struct input *in, cl_command_queue queue, struct waits *w)
{
	static unsigned int calls;
	cl_event event = handle(in, EVENT);
	cl_mem mems[2] = { handle(in, MEM), handle(in, MEM) };
	struct object *object;

	switch (take(in, 1) % 8) {
	case 0:
		cl->clEnqueueMarkerWithWaitList(queue, w->count, w->list, w->out);
		break;
	case 1:
		cl->clEnqueueBarrierWithWaitList(queue, w->count, w->list, w->out);
		break;
	case 2:
		cl->clEnqueueMigrateMemObjects(queue, take(in, 1) % 3, mems, take(in, 1) % 4,
					       w->count, w->list, w->out);
		break;
	case 3:
		cl->clFlush(queue);
		break;
	case 4:
		if (may_block())
			cl->clFinish(queue);
		break;
	case 5:
		if (may_block())
			cl->clWaitForEvents(w->count, w->list);
		break;
	case 6:
		cl->clSetEventCallback(event, take(in, 1) % 4, called, &calls);
		break;
	case 7:
		object = find(EVENT, event);
		if (object && object->open) {
			cl->clSetUserEventStatus(event, -(cl_int)take(in, 1) % 3);
			object->open = false;
		}
		break;
	}
}

/* A wait that comes before its signal may wait for ever. */
static void use_semaphore(struct input *in, cl_command_queue queue, struct waits *w)
{
	static const cl_semaphore_properties_khr properties[] = {
		CL_SEMAPHORE_TYPE_KHR,
		CL_SEMAPHORE_TYPE_BINARY_KHR,
		CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR,
		CL_SEMAPHORE_HANDLE_SYNC_FD_KHR,
		0,
		0,
	};
	const uint32_t what = take(in, 1) % 4;
	cl_semaphore_khr semaphore = handle(in, SEMAPHORE);
	struct object *object = find(SEMAPHORE, semaphore);
	int fd = -1;

	switch (what) {
	case 0:
		keep(SEMAPHORE, create_semaphore(handle(in, CONTEXT), properties, NULL), false);
		break;
	case 1:
		/* After a wait it could wait for itself. */
		if ((!object || !object->open) &&
		    !enqueue_signal(queue, 1, &semaphore, NULL, w->count, w->list, w->out))
			object->signals = 1;
		break;
	case 2:
		if (enqueue_wait(queue, 1, &semaphore, NULL, w->count, w->list, w->out))
			break;
		object->open |= !object->signals;
		object->signals = 0;
		break;
	case 3:
		if (object && may_block() &&
		    !get_semaphore_fd(semaphore, device, CL_SEMAPHORE_HANDLE_SYNC_FD_KHR,
				      sizeof(fd), &fd, NULL)) {
			object->signals = 0;
			close(fd);
		}
		break;
	}
}

/* An answer is no longer than it says, and fits where it was said to fit. */
static void ask(struct input *in)
{
	const uint32_t what = take(in, 1) % 11;
	const cl_uint name = 0x1000 + take(in, 2) % 0x400;
	size_t sizes[4];
	const size_t capacity = take(in, 1);
	void *answer = malloc(capacity ? capacity : 1);
	size_t needed = 0;
	cl_int err = CL_INVALID_VALUE;
	unsigned int i;

	switch (what) {
	case 0:
		err = cl->clGetDeviceInfo(device, name, capacity, answer, &needed);
		break;
	case 1:
		err = cl->clGetContextInfo(handle(in, CONTEXT), name, capacity, answer, &needed);
		break;
	case 2:
		err = cl->clGetCommandQueueInfo(handle(in, QUEUE), name, capacity, answer, &needed);
		break;
	case 3:
		err = cl->clGetMemObjectInfo(handle(in, MEM), name, capacity, answer, &needed);
		break;
	case 4:
		err = cl->clGetImageInfo(handle(in, MEM), name, capacity, answer, &needed);
		break;
	case 5:
		err = cl->clGetEventInfo(handle(in, EVENT), name, capacity, answer, &needed);
		break;
	case 6:
		err = cl->clGetKernelInfo(handle(in, KERNEL), name, capacity, answer, &needed);
		break;
	case 7:
		err = cl->clGetKernelArgInfo(handle(in, KERNEL), take(in, 1), name, capacity,
					     answer, &needed);
		break;
	case 8:
		err = cl->clGetProgramInfo(handle(in, PROGRAM), CL_PROGRAM_SOURCE, capacity, answer,
					   &needed);
		break;
	case 9:
		err = cl->clGetKernelWorkGroupInfo(handle(in, KERNEL), device, name, capacity,
						   answer, &needed);
		break;
	case 10:
		for (i = 0; i < 4; i++)
			sizes[i] = take(in, 1);
		err = cl->clGetKernelSubGroupInfo(handle(in, KERNEL), device,
						  name % 0x80 < 0x40 ? 0x11b0 + name % 16 :
								       0x2030 + name % 16,
						  take(in, 1) % 5 * sizeof(size_t), sizes, capacity,
						  answer, &needed);
		break;
	}
	if (!err && needed > capacity)
		abort();
	free(answer);
}

static void end(size_t seed)
{
	unsigned int i;

	/* What is in flight may wait for a user event: none may be left that nobody completes. */
	for (i = 0; i < object_count; i++)
		if (objects[i].kind == EVENT && objects[i].open) {
			cl->clSetUserEventStatus(objects[i].handle, CL_COMPLETE);
			objects[i].open = false;
		}
	while (object_count)
		release_at((seed * 7 + object_count * 5) % object_count);
}

/* The fuzzer's handler would let it go on. */
static void stuck(int signal)
{
	(void)signal;
	abort();
}

/* A child waits for what it has inherited, and releases it; it ends, and the parent goes on. */
static void fork_child(struct input *in)
{
	const uint32_t how = take(in, 1);
	unsigned int i;
	int status;
	pid_t child;

	if (forks++ >= MAX_FORKS)
		return;
	child = fork();
	if (child < 0)
		return;
	if (!child) {
		signal(SIGALRM, stuck);
		alarm(15);
		for (i = 0; i < object_count && may_block(); i++)
			if (objects[i].kind == QUEUE && how & 1)
				cl->clFinish(objects[i].handle);
		end(how);
		_exit(0);
	}
	/* The fuzzer's timer interrupts it. */
	while (waitpid(child, &status, 0) != child)
		if (errno != EINTR)
			abort();
	if (status)
		abort();
}

static void call(struct input *in)
{
	const uint32_t byte = take(in, 1), what = byte < 0xe0 ? byte % 9 : 9 + byte % 3;
	cl_command_queue queue;
	struct waits waits;

	if (what < 2) {
		create(in);
		return;
	}
	if (what == 2) {
		if (take(in, 1) & 1)
			ask(in);
		else if (object_count)
			release_at(take(in, 1) % object_count);
		return;
	}
	if (what == 10) {
		build(in);
		return;
	}
	if (what == 11) {
		fork_child(in);
		return;
	}
	queue = handle(in, QUEUE);
	take_waits(in, &waits);
	switch (what) {
	case 9:
		use_commands(in, queue, &waits);
		break;
	case 3:
		launch(in, queue, &waits);
		break;
	case 4:
		transfer_buffer(in, queue, &waits);
		break;
	case 5:
		transfer_image(in, queue, &waits);
		break;
	case 6:
		map(in, queue, &waits);
		break;
	case 7:
		order(in, queue, &waits);
		break;
	case 8:
		use_semaphore(in, queue, &waits);
		break;
	}
	keep(EVENT, waits.event, false);
}

static void *entry(const char *name)
{
	return cl->clGetExtensionFunctionAddressForPlatform(platform, name);
}

static void open_device(void)
{
	/* The compiler, if this is run from the root of the tree and it was built. */
	if (!access("build/bin/salvo-cc", X_OK))
		setenv("SALVO_CC", "build/bin/salvo-cc", 0);
	setenv("SALVO_TOPOLOGY", "2", 0);
	if (clIcdGetPlatformIDsKHR(1, &platform, NULL))
		abort();
	cl = *(const struct _cl_icd_dispatch **)platform;
	if (cl->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
		abort();
	create_semaphore = entry("clCreateSemaphoreWithPropertiesKHR");
	release_semaphore = entry("clReleaseSemaphoreKHR");
	enqueue_signal = entry("clEnqueueSignalSemaphoresKHR");
	enqueue_wait = entry("clEnqueueWaitSemaphoresKHR");
	get_semaphore_fd = entry("clGetSemaphoreHandleForTypeKHR");
	create_commands = entry("clCreateCommandBufferKHR");
	release_commands = entry("clReleaseCommandBufferKHR");
	finalize_commands = entry("clFinalizeCommandBufferKHR");
	enqueue_commands = entry("clEnqueueCommandBufferKHR");
	record_ndrange = entry("clCommandNDRangeKernelKHR");
	record_copy = entry("clCommandCopyBufferKHR");
	record_fill = entry("clCommandFillBufferKHR");
	record_barrier = entry("clCommandBarrierWithWaitListKHR");
	update_commands = entry("clUpdateMutableCommandsKHR");
}

/* Two contexts, so that handles can be foreign to each other. */
static void begin(void)
{
	static const char *text;
	static unsigned char *binary;
	static size_t binary_bytes;
	unsigned int i;

	text = source;
	for (i = 0; i < 2; i++) {
		cl_context context = cl->clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
		cl_program program;

		if (!context)
			abort();
		keep(CONTEXT, context, false);
		/* Compiled once: an input takes no time in the compiler. */
		program = binary_bytes
				  ? cl->clCreateProgramWithBinary(
					    context, 1, &device, &binary_bytes,
					    (const unsigned char **)&binary, NULL, NULL)
				  : cl->clCreateProgramWithSource(context, 1, &text, NULL, NULL);
		if (!program)
			continue;
		keep(PROGRAM, program, false);
		if (cl->clBuildProgram(program, 1, &device, "-cl-std=CL3.0", NULL, NULL) ||
		    binary_bytes)
			continue;
		if (!cl->clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(binary_bytes),
					  &binary_bytes, NULL)) {
			binary = malloc(binary_bytes);
			cl->clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(binary), &binary,
					     NULL);
		}
	}
	keep(QUEUE, cl->clCreateCommandQueue(objects[0].handle, device, 0, NULL), false);
	for (i = 0; i < 2; i++)
		keep(MEM,
		     cl->clCreateBuffer(objects[0].handle, CL_MEM_READ_WRITE, 4096, NULL, NULL),
		     false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	unsigned int calls = 0;

	if (!cl)
		open_device();
	builds = 0;
	forks = 0;
	begin();
	while (in.size && object_count < MAX_OBJECTS - 1 && ++calls < 200)
		call(&in);
	end(size);
	/* A build in a thread has a program of its own. */
	while (atomic_load(&builds_running))
		usleep(100);
	return 0;
}
