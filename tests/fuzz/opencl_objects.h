/* SPDX-License-Identifier: MIT */
/*
 * opencl_objects.h - for opencl.c: the input, the table of objects, and the driver's functions
 */
#ifndef TESTS_FUZZ_OPENCL_OBJECTS_H
#define TESTS_FUZZ_OPENCL_OBJECTS_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl_icd.h>
#include <CL/cl_ext.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_OBJECTS 48u
#define MAX_WAITS   3u
/* Host memory that calls may access, and the largest size in a call that may access it */
#define HOST_BYTES (256u << 10)
#define MAX_BYTES  (16u << 10)
#define MAX_DIM	   64u

/* Commands of a command buffer whose handles are kept */
#define MAX_HANDLES 4u

/* Debian's header declares older versions of these functions. */
typedef cl_int(CL_API_CALL *record_ndrange_fn)(cl_command_buffer_khr, cl_command_queue,
					       const cl_properties *, cl_kernel, cl_uint,
					       const size_t *, const size_t *, const size_t *,
					       cl_uint, const cl_sync_point_khr *,
					       cl_sync_point_khr *, cl_mutable_command_khr *);
typedef cl_int(CL_API_CALL *record_copy_fn)(cl_command_buffer_khr, cl_command_queue,
					    const cl_properties *, cl_mem, cl_mem, size_t, size_t,
					    size_t, cl_uint, const cl_sync_point_khr *,
					    cl_sync_point_khr *, cl_mutable_command_khr *);
typedef cl_int(CL_API_CALL *record_fill_fn)(cl_command_buffer_khr, cl_command_queue,
					    const cl_properties *, cl_mem, const void *, size_t,
					    size_t, size_t, cl_uint, const cl_sync_point_khr *,
					    cl_sync_point_khr *, cl_mutable_command_khr *);
typedef cl_int(CL_API_CALL *record_barrier_fn)(cl_command_buffer_khr, cl_command_queue,
					       const cl_properties *, cl_uint,
					       const cl_sync_point_khr *, cl_sync_point_khr *,
					       cl_mutable_command_khr *);
typedef cl_int(CL_API_CALL *update_fn)(cl_command_buffer_khr, cl_uint, const cl_uint *,
				       const void **);

enum kind {
	NONE, CONTEXT, QUEUE, MEM, EVENT, SAMPLER, PROGRAM, KERNEL, SEMAPHORE, COMMAND_BUFFER
};

struct object {
	enum kind kind;
	void *handle;
	/* Of a user event: nobody has completed it yet; of a semaphore: a wait came first. */
	bool open;
	/* Signals of a semaphore without those that waits took */
	int signals;
	/* Of a command buffer: commands that can be changed, and how many */
	cl_mutable_command_khr commands[MAX_HANDLES];
	unsigned int command_count;
};

struct input {
	const uint8_t *data;
	size_t size;
};

/* The loader's part: the driver's entry point, and the table that every handle begins with. */
cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint count, cl_platform_id *platforms, cl_uint *found);

static const struct _cl_icd_dispatch *cl;
static clCreateSemaphoreWithPropertiesKHR_fn create_semaphore;
static clReleaseSemaphoreKHR_fn release_semaphore;
static clEnqueueSignalSemaphoresKHR_fn enqueue_signal;
static clEnqueueWaitSemaphoresKHR_fn enqueue_wait;
static clGetSemaphoreHandleForTypeKHR_fn get_semaphore_fd;
static clCreateCommandBufferKHR_fn create_commands;
static clReleaseCommandBufferKHR_fn release_commands;
static clFinalizeCommandBufferKHR_fn finalize_commands;
static clEnqueueCommandBufferKHR_fn enqueue_commands;
static record_ndrange_fn record_ndrange;
static record_copy_fn record_copy;
static record_fill_fn record_fill;
static record_barrier_fn record_barrier;
static update_fn update_commands;
static cl_platform_id platform;
static cl_device_id device;
static struct object objects[MAX_OBJECTS];
static unsigned int object_count;
static uint8_t host[HOST_BYTES] __attribute__((aligned(4096)));

static uint32_t take(struct input *in, unsigned int bytes)
{
	uint32_t value = 0;

	while (bytes--) {
		value = value << 8 | (in->size ? *in->data : 0);
		if (in->size) {
			in->data++;
			in->size--;
		}
	}
	return value;
}

/* Mostly an object of the kind, sometimes any, or NULL */
static void *handle(struct input *in, enum kind kind)
{
	const uint32_t which = take(in, 1);
	unsigned int i, of_kind = 0, n;

	if (which >= 0xf8 || !object_count)
		return NULL;
	if (which >= 0xf0)
		return objects[which % object_count].handle;
	for (i = 0; i < object_count; i++)
		of_kind += objects[i].kind == kind;
	if (!of_kind)
		return NULL;
	n = which % of_kind;
	for (i = 0; objects[i].kind != kind || n--;)
		i++;
	return objects[i].handle;
}

static void keep(enum kind kind, void *new, bool open)
{
	if (new)
		objects[object_count++] = (struct object){ .kind = kind, .handle = new,
							    .open = open };
}

static struct object *find(enum kind kind, const void *handle)
{
	unsigned int i;

	for (i = 0; i < object_count; i++)
		if (objects[i].kind == kind && objects[i].handle == handle)
			return &objects[i];
	return NULL;
}

static cl_int release(struct object *object)
{
	switch (object->kind) {
	case CONTEXT:
		return cl->clReleaseContext(object->handle);
	case QUEUE:
		return cl->clReleaseCommandQueue(object->handle);
	case MEM:
		return cl->clReleaseMemObject(object->handle);
	case EVENT:
		if (object->open)
			cl->clSetUserEventStatus(object->handle, CL_COMPLETE);
		return cl->clReleaseEvent(object->handle);
	case SAMPLER:
		return cl->clReleaseSampler(object->handle);
	case PROGRAM:
		return cl->clReleaseProgram(object->handle);
	case KERNEL:
		return cl->clReleaseKernel(object->handle);
	case SEMAPHORE:
		return release_semaphore(object->handle);
	case COMMAND_BUFFER:
		return release_commands(object->handle);
	default:
		return CL_SUCCESS;
	}
}

static void release_at(unsigned int i)
{
	if (release(&objects[i]))
		abort();
	objects[i] = objects[--object_count];
}

/* Is there a user event that could make a blocking call wait for ever? */
static bool may_block(void)
{
	unsigned int i;

	for (i = 0; i < object_count; i++)
		if (objects[i].open)
			return false;
	return true;
}

static cl_bool blocking(struct input *in)
{
	return take(in, 1) & 1 && may_block();
}

struct waits {
	cl_event events[MAX_WAITS];
	cl_uint count;
	const cl_event *list;
	cl_event *out, event;
};

static void take_waits(struct input *in, struct waits *waits)
{
	const uint32_t how = take(in, 1);
	cl_uint i;

	memset(waits, 0, sizeof(*waits));
	waits->count = how & 3;
	for (i = 0; i < waits->count; i++)
		waits->events[i] = handle(in, EVENT);
	waits->list = how & 64 ? NULL : waits->events;
	if (!waits->count && !(how & 8))
		waits->list = NULL;
	waits->out = how & 16 ? &waits->event : NULL;
}

static size_t length(struct input *in)
{
	return take(in, 2) % (MAX_BYTES + 2);
}

static void sizes(struct input *in, size_t out[3], unsigned int limit)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		out[i] = take(in, 1) % (limit + 1);
}

#endif /* TESTS_FUZZ_OPENCL_OBJECTS_H */
