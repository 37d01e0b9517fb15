// SPDX-License-Identifier: MIT
/*
 * queue.c - command queues: creation, flush, finish
 */
#include "queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "icd.h"
#include "submission.h"

#define QUEUE_FLAGS (CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE)

static void destroy(struct salvo_cl_object *object)
{
	cl_command_queue queue = (cl_command_queue)object;
	struct salvo_cl_submission *submission;

	while ((submission = queue->spare)) {
		queue->spare = submission->next;
		salvo_cl_submission_destroy(submission);
	}
	if (queue->recording)
		salvo_cl_recording_destroy(queue->recording);
	salvo_queue_destroy(queue->salvo);
	salvo_cl_device_put(queue->device);
	salvo_cl_object_put(&queue->context->base);
	free(queue->properties);
	free(queue);
}

/* --- creation ------------------------------------------------------------------------------ */

struct settings {
	cl_command_queue_properties flags;
	int priority;
	size_t count;
};

static cl_int read_priority(cl_queue_properties value, int *priority)
{
	switch (value) {
	case CL_QUEUE_PRIORITY_HIGH_KHR:
		*priority = SALVO_QUEUE_HIGH;
		return CL_SUCCESS;
	case CL_QUEUE_PRIORITY_MED_KHR:
		*priority = SALVO_QUEUE_NORMAL;
		return CL_SUCCESS;
	case CL_QUEUE_PRIORITY_LOW_KHR:
		*priority = SALVO_QUEUE_LOW;
		return CL_SUCCESS;
	default:
		return CL_INVALID_VALUE;
	}
}

static cl_int read_properties(const cl_queue_properties *properties, struct settings *settings)
{
	bool flags = false, priority = false;
	cl_int err = CL_SUCCESS;
	size_t i;

	*settings = (struct settings){ .priority = SALVO_QUEUE_NORMAL };
	if (!properties)
		return CL_SUCCESS;
	for (i = 0; properties[i] && !err; i += 2) {
		const cl_queue_properties value = properties[i + 1];

		if (properties[i] == CL_QUEUE_PROPERTIES && !flags) {
			flags = true;
			settings->flags = value;
			if (value & ~(cl_queue_properties)(QUEUE_FLAGS | CL_QUEUE_ON_DEVICE |
							   CL_QUEUE_ON_DEVICE_DEFAULT))
				err = CL_INVALID_VALUE;
			else if (value & ~(cl_queue_properties)QUEUE_FLAGS)
				err = CL_INVALID_QUEUE_PROPERTIES;
		} else if (properties[i] == CL_QUEUE_PRIORITY_KHR && !priority) {
			priority = true;
			err = read_priority(value, &settings->priority);
		} else if (properties[i] == CL_QUEUE_SIZE) {
			err = CL_INVALID_QUEUE_PROPERTIES;
		} else {
			err = CL_INVALID_VALUE;
		}
	}
	settings->count = i + 1;
	return err;
}

/* The driver lets not everybody have high priority: a hint is then none. */
static int create_salvo(cl_command_queue queue)
{
	struct salvo_device *gpu = queue->context->gpus[queue->gpu];
	int err;

	err = salvo_queue_create_priority(gpu, queue->device->eu_mask, queue->priority,
					  &queue->salvo);
	if (err != -EACCES)
		return err;
	queue->priority = SALVO_QUEUE_NORMAL;
	return salvo_queue_create(gpu, queue->device->eu_mask, &queue->salvo);
}

static cl_command_queue create(cl_context context, cl_device_id device,
			       const cl_queue_properties *properties,
			       const struct settings *settings, cl_int *err)
{
	cl_command_queue queue = calloc(1, sizeof(*queue));

	*err = CL_OUT_OF_HOST_MEMORY;
	if (!queue)
		return NULL;
	salvo_cl_object_init(&queue->base, SALVO_CL_QUEUE, destroy);
	salvo_cl_object_get(&context->base);
	salvo_cl_device_get(device);
	queue->context = context;
	queue->device = device;
	queue->gpu = salvo_cl_context_gpu(context, device);
	queue->flags = settings->flags;
	queue->patience = SALVO_CL_PATIENCE;
	queue->priority = settings->priority;
	*err = salvo_cl_error(create_salvo(queue));
	if (!*err && settings->count) {
		queue->properties = malloc(settings->count * sizeof(*properties));
		if (queue->properties)
			memcpy(queue->properties, properties,
			       settings->count * sizeof(*properties));
		else
			*err = CL_OUT_OF_HOST_MEMORY;
		queue->property_count = settings->count;
	}
	if (!*err)
		return queue;
	salvo_cl_object_put(&queue->base);
	return NULL;
}

cl_command_queue
salvo_clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
					 const cl_queue_properties *properties, cl_int *errcode_ret)
{
	cl_command_queue queue = NULL;
	struct settings settings;
	cl_int err;

	if (!salvo_cl_is(context, SALVO_CL_CONTEXT))
		err = CL_INVALID_CONTEXT;
	else if (!salvo_cl_is(device, SALVO_CL_DEVICE) || !salvo_cl_context_has(context, device))
		err = CL_INVALID_DEVICE;
	else
		err = read_properties(properties, &settings);
	if (!err)
		queue = create(context, device, properties, &settings, &err);
	salvo_cl_report(errcode_ret, err);
	return queue;
}

cl_command_queue salvo_cl_queue_create_recording(cl_command_queue like)
{
	cl_command_queue queue = calloc(1, sizeof(*queue));

	if (!queue)
		return NULL;
	salvo_cl_object_init(&queue->base, SALVO_CL_QUEUE, destroy);
	salvo_cl_object_get(&like->context->base);
	salvo_cl_device_get(like->device);
	queue->context = like->context;
	queue->device = like->device;
	queue->gpu = like->gpu;
	queue->flags = like->flags & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
	queue->recording = salvo_cl_recording_create(queue);
	if (queue->recording)
		return queue;
	salvo_cl_object_put(&queue->base);
	return NULL;
}

cl_command_queue salvo_clCreateCommandQueue(cl_context context, cl_device_id device,
					    cl_command_queue_properties flags, cl_int *errcode_ret)
{
	const cl_queue_properties properties[] = { CL_QUEUE_PROPERTIES, flags, 0 };
	cl_command_queue queue;

	queue = salvo_clCreateCommandQueueWithProperties(context, device, properties, errcode_ret);
	if (queue)
		queue->property_count = 0;
	return queue;
}

/* --- in the list of the context ------------------------------------------------------------ */

void salvo_cl_queue_set_busy(cl_command_queue queue)
{
	cl_context context = queue->context;

	queue->prev_busy = NULL;
	queue->next_busy = context->busy;
	if (queue->next_busy)
		queue->next_busy->prev_busy = queue;
	context->busy = queue;
}

void salvo_cl_queue_set_idle(cl_command_queue queue)
{
	if (queue->next_busy)
		queue->next_busy->prev_busy = queue->prev_busy;
	*(queue->prev_busy ? &queue->prev_busy->next_busy : &queue->context->busy) =
		queue->next_busy;
}

/* --- references, queries ------------------------------------------------------------------- */

cl_int salvo_clRetainCommandQueue(cl_command_queue queue)
{
	if (!salvo_cl_is(queue, SALVO_CL_QUEUE))
		return CL_INVALID_COMMAND_QUEUE;
	salvo_cl_object_retain(&queue->base);
	return CL_SUCCESS;
}

/* What was enqueued is still done: the last one in flight has to report, then. */
cl_int salvo_clReleaseCommandQueue(cl_command_queue queue)
{
	struct salvo_cl_submission *submission;
	cl_context context;
	bool released;

	if (!salvo_cl_is(queue, SALVO_CL_QUEUE))
		return CL_INVALID_COMMAND_QUEUE;
	context = queue->context;
	salvo_cl_object_get(&queue->base);
	salvo_cl_lock(context);
	salvo_cl_queue_flush(queue);
	salvo_cl_queue_retire(queue);
	released = salvo_cl_object_release(&queue->base);
	if (released && !salvo_cl_object_count(&queue->base))
		for (submission = queue->first; submission; submission = submission->next)
			salvo_cl_submission_watch(submission);
	/* Unlocking must not be the last that the context does. */
	salvo_cl_object_get(&context->base);
	salvo_cl_unlock(context);
	salvo_cl_object_put(&queue->base);
	salvo_cl_object_put(&context->base);
	return released ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
}

cl_int salvo_clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info name, size_t size,
				   void *value, size_t *size_ret)
{
	const struct salvo_cl_answer answer = { size, value, size_ret };

	if (!salvo_cl_is(queue, SALVO_CL_QUEUE))
		return CL_INVALID_COMMAND_QUEUE;
	switch (name) {
	case CL_QUEUE_CONTEXT:
		return SALVO_CL_ANSWER(&answer, cl_context, queue->context);
	case CL_QUEUE_DEVICE:
		return SALVO_CL_ANSWER(&answer, cl_device_id, queue->device);
	case CL_QUEUE_REFERENCE_COUNT:
		return SALVO_CL_ANSWER(&answer, cl_uint, salvo_cl_object_count(&queue->base));
	case CL_QUEUE_PROPERTIES:
		return SALVO_CL_ANSWER(&answer, cl_command_queue_properties, queue->flags);
	case CL_QUEUE_PROPERTIES_ARRAY:
		return salvo_cl_answer(&answer, queue->properties,
				       queue->property_count * sizeof(*queue->properties));
	case CL_QUEUE_SIZE:
		/* Of queues on the device */
		return CL_INVALID_COMMAND_QUEUE;
	case CL_QUEUE_DEVICE_DEFAULT:
		return SALVO_CL_ANSWER(&answer, cl_command_queue, NULL);
	default:
		return CL_INVALID_VALUE;
	}
}

cl_int salvo_clSetCommandQueueProperty(cl_command_queue queue, cl_command_queue_properties flags,
				       cl_bool enable, cl_command_queue_properties *old)
{
	(void)flags;
	(void)enable;
	if (!salvo_cl_is(queue, SALVO_CL_QUEUE))
		return CL_INVALID_COMMAND_QUEUE;
	if (old)
		*old = queue->flags;
	/* OpenCL 1.1 took it out. */
	return CL_INVALID_OPERATION;
}

cl_int salvo_clSetDefaultDeviceCommandQueue(cl_context context, cl_device_id device,
					    cl_command_queue queue)
{
	if (!salvo_cl_is(context, SALVO_CL_CONTEXT))
		return CL_INVALID_CONTEXT;
	if (!salvo_cl_is(device, SALVO_CL_DEVICE) || !salvo_cl_context_has(context, device))
		return CL_INVALID_DEVICE;
	(void)queue;
	/* No queues on the device */
	return CL_INVALID_OPERATION;
}

/* --- flush and finish ------------------------------------------------------------------------ */

cl_int salvo_clFlush(cl_command_queue queue)
{
	if (!salvo_cl_is(queue, SALVO_CL_QUEUE))
		return CL_INVALID_COMMAND_QUEUE;
	salvo_cl_lock(queue->context);
	salvo_cl_queue_flush(queue);
	salvo_cl_queue_retire(queue);
	salvo_cl_unlock(queue->context);
	return CL_SUCCESS;
}

/* Commands that other threads enqueue meanwhile are not waited for. */
cl_int salvo_clFinish(cl_command_queue queue)
{
	struct salvo_cl_submission *submission;
	cl_int err = CL_SUCCESS;
	uint64_t last;

	if (!salvo_cl_is(queue, SALVO_CL_QUEUE))
		return CL_INVALID_COMMAND_QUEUE;
	salvo_cl_lock(queue->context);
	salvo_cl_queue_flush(queue);
	last = queue->last ? queue->last->serial : 0;
	for (;;) {
		submission = queue->last;
		while (submission && submission->serial > last)
			submission = submission->prev;
		if (!submission)
			break;
		salvo_cl_queue_wait(submission);
	}
	if (queue->failed)
		err = CL_OUT_OF_RESOURCES;
	queue->failed = false;
	salvo_cl_unlock(queue->context);
	return err;
}
