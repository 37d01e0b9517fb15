// SPDX-License-Identifier: MIT
/*
 * context.c - contexts: devices, properties, notification
 *
 * Devices and properties do not change after creation. The context's lock protects its destructor
 * callbacks, and what queue.c says.
 */
#include "context.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "icd.h"
#include "inherit.h"
#include "platform.h"
#include "pool.h"
#include "worker.h"

/* --- destructor callbacks --------------------------------------------------------- */

cl_int salvo_cl_notify_add(struct salvo_cl_notify **list,
			   void (CL_CALLBACK *function)(void *object, void *data), void *data)
{
	struct salvo_cl_notify *notify = malloc(sizeof(*notify));

	if (!notify)
		return CL_OUT_OF_HOST_MEMORY;
	*notify = (struct salvo_cl_notify){ *list, function, data };
	*list = notify;
	return CL_SUCCESS;
}

void salvo_cl_notify_run(struct salvo_cl_notify *list, void *object)
{
	struct salvo_cl_notify *next;

	for (; list; list = next) {
		next = list->next;
		list->function(object, list->data);
		free(list);
	}
}

/* --- creation ----------------------------------------------------------------------- */

static void destroy(struct salvo_cl_object *object)
{
	cl_context context = (cl_context)object;
	unsigned int i;

	salvo_cl_inherit_remove(context);
	salvo_cl_notify_run(context->destructors, context);
	salvo_cl_worker_stop(context->worker);
	for (i = 0; context->pools && i < context->gpu_count; i++)
		salvo_cl_pool_destroy(context->pools[i]);
	free(context->pools);
	for (i = 0; i < context->device_count; i++)
		salvo_cl_device_put(context->devices[i]);
	pthread_cond_destroy(&context->changed);
	pthread_mutex_destroy(&context->lock);
	free(context->properties);
	free(context->devices);
	free(context->gpus);
	free(context);
}

static cl_int count_properties(const cl_context_properties *properties, size_t *count)
{
	bool platform = false, user_sync = false;
	size_t n = 0;

	*count = 0;
	if (!properties)
		return CL_SUCCESS;
	for (; properties[n]; n += 2) {
		bool *seen;

		switch (properties[n]) {
		case CL_CONTEXT_PLATFORM:
			if (!salvo_cl_is((void *)properties[n + 1], SALVO_CL_PLATFORM))
				return CL_INVALID_PLATFORM;
			seen = &platform;
			break;
		case CL_CONTEXT_INTEROP_USER_SYNC:
			if (properties[n + 1] != CL_TRUE && properties[n + 1] != CL_FALSE)
				return CL_INVALID_PROPERTY;
			seen = &user_sync;
			break;
		default:
			return CL_INVALID_PROPERTY;
		}
		if (*seen)
			return CL_INVALID_PROPERTY;
		*seen = true;
	}
	*count = n + 1;
	return CL_SUCCESS;
}

static cl_int create_pools(cl_context context)
{
	unsigned int i;

	context->pools = calloc(context->gpu_count, sizeof(struct salvo_cl_pool *));
	if (!context->pools)
		return CL_OUT_OF_HOST_MEMORY;
	for (i = 0; i < context->gpu_count; i++) {
		context->pools[i] = salvo_cl_pool_create(context->gpus[i]);
		if (!context->pools[i])
			return CL_OUT_OF_HOST_MEMORY;
	}
	return CL_SUCCESS;
}

static cl_int open_devices(cl_context context, const cl_device_id *devices, cl_uint count)
{
	struct salvo_device *gpu;
	unsigned int i, g;
	cl_int err;

	context->devices = calloc(count, sizeof(*context->devices));
	context->gpus = calloc(count, sizeof(struct salvo_device *));
	if (!context->devices || !context->gpus)
		return CL_OUT_OF_HOST_MEMORY;
	for (i = 0; i < count; i++) {
		if (salvo_cl_context_has(context, devices[i]))
			continue;
		err = salvo_cl_device_open(devices[i], &gpu);
		if (err)
			return err;
		salvo_cl_device_get(devices[i]);
		context->devices[context->device_count++] = devices[i];
		for (g = 0; g < context->gpu_count && context->gpus[g] != gpu; g++)
			;
		if (g == context->gpu_count)
			context->gpus[context->gpu_count++] = gpu;
	}
	return create_pools(context);
}

/* SALVO_OPENCL_ERRORS: for an application without a function of its own. */
static void CL_CALLBACK print_message(const char *message, const void *data, size_t size,
				      void *user)
{
	(void)data;
	(void)size;
	(void)user;
	fprintf(stderr, "salvo-opencl: %s\n", message);
}

static cl_context create(const cl_context_properties *properties, size_t property_count,
			 cl_uint num_devices, const cl_device_id *devices, cl_int *err)
{
	cl_context context = calloc(1, sizeof(*context));

	if (!context) {
		*err = CL_OUT_OF_HOST_MEMORY;
		return NULL;
	}
	salvo_cl_object_init(&context->base, SALVO_CL_CONTEXT, destroy);
	pthread_mutex_init(&context->lock, NULL);
	pthread_cond_init(&context->changed, NULL);
	salvo_cl_inherit_add(context);
	*err = open_devices(context, devices, num_devices);
	if (!*err && property_count) {
		context->properties = malloc(property_count * sizeof(*properties));
		if (!context->properties)
			*err = CL_OUT_OF_HOST_MEMORY;
		else
			memcpy(context->properties, properties,
			       property_count * sizeof(*properties));
		context->property_count = property_count;
	}
	if (*err) {
		salvo_cl_object_put(&context->base);
		return NULL;
	}
	return context;
}

cl_context salvo_clCreateContext(const cl_context_properties *properties, cl_uint num_devices,
				 const cl_device_id *devices,
				 void (CL_CALLBACK *notify)(const char *, const void *, size_t,
							   void *),
				 void *user_data, cl_int *errcode_ret)
{
	cl_context context = NULL;
	size_t property_count;
	cl_int err;
	cl_uint i;

	err = count_properties(properties, &property_count);
	if (!err && (!devices || !num_devices || (!notify && user_data)))
		err = CL_INVALID_VALUE;
	for (i = 0; !err && i < num_devices; i++)
		if (!salvo_cl_is(devices[i], SALVO_CL_DEVICE))
			err = CL_INVALID_DEVICE;
	if (!err)
		context = create(properties, property_count, num_devices, devices, &err);
	if (context) {
		context->notify = notify || !secure_getenv("SALVO_OPENCL_ERRORS") ? notify :
										   print_message;
		context->notify_data = user_data;
	}
	salvo_cl_report(errcode_ret, err);
	return context;
}

cl_context
salvo_clCreateContextFromType(const cl_context_properties *properties, cl_device_type type,
			      void (CL_CALLBACK *notify)(const char *, const void *, size_t,
							 void *),
			      void *user_data, cl_int *errcode_ret)
{
	cl_device_id *devices = NULL;
	cl_context context = NULL;
	cl_uint count;
	cl_int err;

	err = salvo_clGetDeviceIDs(salvo_cl_platform(), type, 0, NULL, &count);
	if (!err) {
		devices = calloc(count, sizeof(*devices));
		err = devices ? salvo_clGetDeviceIDs(salvo_cl_platform(), type, count, devices,
						     NULL)
			      : CL_OUT_OF_HOST_MEMORY;
	}
	if (err)
		salvo_cl_report(errcode_ret, err);
	else
		context = salvo_clCreateContext(properties, count, devices, notify, user_data,
						errcode_ret);
	free(devices);
	return context;
}

/* --- for the other objects ------------------------------------------------------------ */

bool salvo_cl_context_has(cl_context context, cl_device_id device)
{
	unsigned int i;

	for (i = 0; i < context->device_count; i++)
		if (context->devices[i] == device)
			return true;
	return false;
}

unsigned int salvo_cl_context_gpu(cl_context context, cl_device_id device)
{
	unsigned int i;

	for (i = 0; i < context->gpu_count; i++)
		if (context->gpus[i] == device->root->salvo)
			return i;
	return 0;
}

cl_int salvo_cl_context_worker(cl_context context)
{
	if (!context->worker)
		context->worker = salvo_cl_worker_start();
	return context->worker ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

void salvo_cl_context_tell(cl_context context, const char *format, ...)
{
	char message[512];
	va_list ap;

	if (!context->notify)
		return;
	va_start(ap, format);
	vsnprintf(message, sizeof(message), format, ap);
	va_end(ap);
	context->notify(message, NULL, 0, context->notify_data);
}

/* --- entry points ----------------------------------------------------------------------- */

cl_int salvo_clRetainContext(cl_context context)
{
	if (!salvo_cl_is(context, SALVO_CL_CONTEXT))
		return CL_INVALID_CONTEXT;
	salvo_cl_object_retain(&context->base);
	return CL_SUCCESS;
}

cl_int salvo_clReleaseContext(cl_context context)
{
	if (!salvo_cl_is(context, SALVO_CL_CONTEXT) || !salvo_cl_object_release(&context->base))
		return CL_INVALID_CONTEXT;
	return CL_SUCCESS;
}

cl_int salvo_clGetContextInfo(cl_context context, cl_context_info name, size_t size, void *value,
			      size_t *size_ret)
{
	const struct salvo_cl_answer answer = { size, value, size_ret };

	if (!salvo_cl_is(context, SALVO_CL_CONTEXT))
		return CL_INVALID_CONTEXT;
	switch (name) {
	case CL_CONTEXT_REFERENCE_COUNT:
		return SALVO_CL_ANSWER(&answer, cl_uint, salvo_cl_object_count(&context->base));
	case CL_CONTEXT_NUM_DEVICES:
		return SALVO_CL_ANSWER(&answer, cl_uint, context->device_count);
	case CL_CONTEXT_DEVICES:
		return salvo_cl_answer(&answer, context->devices,
				       context->device_count * sizeof(*context->devices));
	case CL_CONTEXT_PROPERTIES:
		return salvo_cl_answer(&answer, context->properties,
				       context->property_count * sizeof(*context->properties));
	default:
		return CL_INVALID_VALUE;
	}
}

cl_int salvo_clSetContextDestructorCallback(cl_context context,
					    void (CL_CALLBACK *notify)(cl_context, void *),
					    void *user_data)
{
	cl_int err;

	if (!salvo_cl_is(context, SALVO_CL_CONTEXT))
		return CL_INVALID_CONTEXT;
	if (!notify)
		return CL_INVALID_VALUE;
	pthread_mutex_lock(&context->lock);
	err = salvo_cl_notify_add(&context->destructors, (void (*)(void *, void *))(void *)notify,
				  user_data);
	pthread_mutex_unlock(&context->lock);
	return err;
}
