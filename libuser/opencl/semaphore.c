// SPDX-License-Identifier: MIT
/*
 * semaphore.c - semaphores: objects, signal and wait commands
 *
 * A signal is a command that records nothing: its event is complete when the commands are that it
 * waits for. The semaphore keeps that event, and the next wait takes it as one more event to wait
 * for, which makes the semaphore unsignalled again. A wait that comes first waits for a user event,
 * which the signal's callback completes.
 *
 * The context's lock protects the events of a semaphore.
 */
#include "cl_semaphore.h"

#include <stdlib.h>
#include <string.h>

#include "icd.h"
#include "submission.h"
#include "transfer.h"

/* --- objects ---------------------------------------------------------------------- */

static void put_event(cl_event event)
{
	if (event)
		salvo_cl_object_put(&event->base);
}

static void destroy(struct salvo_cl_object *object)
{
	cl_semaphore_khr semaphore = (cl_semaphore_khr)object;
	cl_event wait, next;

	/* Nothing can signal it any more: who waits for it fails. */
	for (wait = semaphore->waits; wait; wait = next) {
		next = wait->next;
		salvo_clSetUserEventStatus(wait, CL_INVALID_SEMAPHORE_KHR);
		salvo_clReleaseEvent(wait);
	}
	put_event(semaphore->signal);
	salvo_cl_device_put(semaphore->device);
	salvo_cl_object_put(&semaphore->context->base);
	free(semaphore->properties);
	free(semaphore);
}

/* What the properties of a semaphore say. */
struct wishes {
	cl_semaphore_type_khr type;
	cl_device_id device;
	bool exportable;
	bool imports;
	int fd;
	size_t count;
};

/* The list of one device. */
static cl_int read_device(cl_context context, const cl_semaphore_properties_khr *properties,
			  size_t *n, struct wishes *wishes)
{
	cl_device_id device = (cl_device_id)(uintptr_t)properties[*n];

	if (wishes->device)
		return CL_INVALID_PROPERTY;
	if (!device || properties[*n + 1] || !salvo_cl_is(device, SALVO_CL_DEVICE) ||
	    !salvo_cl_context_has(context, device))
		return CL_INVALID_DEVICE;
	wishes->device = device;
	*n += 2;
	return CL_SUCCESS;
}

static cl_int read_exports(const cl_semaphore_properties_khr *properties, size_t *n,
			   struct wishes *wishes)
{
	if (wishes->exportable)
		return CL_INVALID_PROPERTY;
	for (; properties[*n]; (*n)++) {
		if (properties[*n] != CL_SEMAPHORE_HANDLE_SYNC_FD_KHR || wishes->exportable)
			return CL_INVALID_VALUE;
		wishes->exportable = true;
	}
	(*n)++;
	return CL_SUCCESS;
}

static cl_int read_property(cl_context context, const cl_semaphore_properties_khr *properties,
			    size_t *n, struct wishes *wishes)
{
	switch (properties[(*n)++]) {
	case CL_SEMAPHORE_TYPE_KHR:
		if (wishes->type || properties[*n] != CL_SEMAPHORE_TYPE_BINARY_KHR)
			return CL_INVALID_PROPERTY;
		wishes->type = properties[(*n)++];
		return CL_SUCCESS;
	case CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR:
		return read_device(context, properties, n, wishes);
	case CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR:
		return read_exports(properties, n, wishes);
	case CL_SEMAPHORE_HANDLE_SYNC_FD_KHR:
		if (wishes->imports)
			return CL_INVALID_PROPERTY;
		wishes->imports = true;
		/* Programs give -1 as a cl_properties, or as an int. */
		wishes->fd = (int)properties[(*n)++];
		return CL_SUCCESS;
	default:
		return CL_INVALID_PROPERTY;
	}
}

static cl_int read_properties(cl_context context, const cl_semaphore_properties_khr *properties,
			      struct wishes *wishes)
{
	cl_int err = CL_SUCCESS;
	size_t n = 0;

	if (!properties)
		return CL_INVALID_VALUE;
	while (!err && properties[n])
		err = read_property(context, properties, &n, wishes);
	if (err)
		return err;
	wishes->count = n + 1;
	if (!wishes->type)
		return CL_INVALID_VALUE;
	if (wishes->imports && wishes->exportable)
		return CL_INVALID_OPERATION;
	if (!wishes->device && context->device_count > 1)
		return CL_INVALID_PROPERTY;
	if (!wishes->device)
		wishes->device = context->devices[0];
	return CL_SUCCESS;
}

static cl_int fill_in(cl_semaphore_khr semaphore, const struct wishes *wishes,
		      const cl_semaphore_properties_khr *properties)
{
	const size_t bytes = wishes->count * sizeof(*properties);

	semaphore->properties = malloc(bytes);
	if (!semaphore->properties)
		return CL_OUT_OF_HOST_MEMORY;
	memcpy(semaphore->properties, properties, bytes);
	semaphore->property_count = wishes->count;
	semaphore->exportable = wishes->exportable;
	semaphore->imported = wishes->imports;
	if (!wishes->imports)
		return CL_SUCCESS;
	return salvo_cl_semaphore_import(semaphore, wishes->fd);
}

static cl_semaphore_khr create(cl_context context, const cl_semaphore_properties_khr *properties,
			       cl_int *errcode_ret)
{
	cl_semaphore_khr semaphore = NULL;
	struct wishes wishes = { 0 };
	cl_int err = CL_INVALID_CONTEXT;

	if (salvo_cl_is(context, SALVO_CL_CONTEXT))
		err = read_properties(context, properties, &wishes);
	if (!err) {
		semaphore = calloc(1, sizeof(*semaphore));
		err = semaphore ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
	}
	if (!err) {
		salvo_cl_object_init(&semaphore->base, SALVO_CL_SEMAPHORE, destroy);
		salvo_cl_object_get(&context->base);
		salvo_cl_device_get(wishes.device);
		semaphore->context = context;
		semaphore->device = wishes.device;
		err = fill_in(semaphore, &wishes, properties);
	}
	if (err && semaphore) {
		salvo_cl_object_put(&semaphore->base);
		semaphore = NULL;
	}
	salvo_cl_report(errcode_ret, err);
	return semaphore;
}

static cl_int retain(cl_semaphore_khr semaphore)
{
	if (!salvo_cl_is(semaphore, SALVO_CL_SEMAPHORE))
		return CL_INVALID_SEMAPHORE_KHR;
	salvo_cl_object_retain(&semaphore->base);
	return CL_SUCCESS;
}

static cl_int release(cl_semaphore_khr semaphore)
{
	if (!salvo_cl_is(semaphore, SALVO_CL_SEMAPHORE) ||
	    !salvo_cl_object_release(&semaphore->base))
		return CL_INVALID_SEMAPHORE_KHR;
	return CL_SUCCESS;
}

/* Is it signalled? What runs is submitted first, as clGetEventInfo() does. */
static cl_semaphore_payload_khr payload(cl_semaphore_khr semaphore)
{
	cl_event event;
	bool signalled;

	salvo_cl_lock(semaphore->context);
	event = semaphore->signal;
	if (event && event->submission) {
		salvo_cl_queue_flush(event->queue);
		salvo_cl_queue_retire(event->queue);
	}
	signalled = event && event->status <= CL_COMPLETE;
	salvo_cl_unlock(semaphore->context);
	return signalled;
}

static cl_int get_info(cl_semaphore_khr semaphore, cl_semaphore_info_khr name, size_t size,
		       void *value, size_t *size_ret)
{
	const struct salvo_cl_answer answer = { size, value, size_ret };
	const cl_external_semaphore_handle_type_khr type = CL_SEMAPHORE_HANDLE_SYNC_FD_KHR;

	if (!salvo_cl_is(semaphore, SALVO_CL_SEMAPHORE))
		return CL_INVALID_SEMAPHORE_KHR;
	switch (name) {
	case CL_SEMAPHORE_CONTEXT_KHR:
		return SALVO_CL_ANSWER(&answer, cl_context, semaphore->context);
	case CL_SEMAPHORE_REFERENCE_COUNT_KHR:
		return SALVO_CL_ANSWER(&answer, cl_uint, salvo_cl_object_count(&semaphore->base));
	case CL_SEMAPHORE_PROPERTIES_KHR:
		return salvo_cl_answer(&answer, semaphore->properties,
				       semaphore->property_count * sizeof(*semaphore->properties));
	case CL_SEMAPHORE_PAYLOAD_KHR:
		return SALVO_CL_ANSWER(&answer, cl_semaphore_payload_khr, payload(semaphore));
	case CL_SEMAPHORE_TYPE_KHR:
		return SALVO_CL_ANSWER(&answer, cl_semaphore_type_khr,
				       CL_SEMAPHORE_TYPE_BINARY_KHR);
	case CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR:
		return SALVO_CL_ANSWER(&answer, cl_device_id, semaphore->device);
	case CL_SEMAPHORE_EXPORTABLE_KHR:
		return SALVO_CL_ANSWER(&answer, cl_bool, semaphore->exportable);
	case CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR:
		return salvo_cl_answer(&answer, &type, semaphore->exportable ? sizeof(type) : 0);
	default:
		return CL_INVALID_VALUE;
	}
}

/* --- commands --------------------------------------------------------------------- */

static cl_int check(const struct salvo_cl_request *request, cl_uint count,
		    const cl_semaphore_khr *semaphores)
{
	cl_uint i;
	cl_int err;

	if (!salvo_cl_is(request->queue, SALVO_CL_QUEUE))
		return CL_INVALID_COMMAND_QUEUE;
	if (!count || !semaphores)
		return CL_INVALID_VALUE;
	for (i = 0; i < count; i++)
		if (!salvo_cl_is(semaphores[i], SALVO_CL_SEMAPHORE))
			return CL_INVALID_SEMAPHORE_KHR;
	for (i = 0; i < count; i++) {
		if (semaphores[i]->context != request->queue->context)
			return CL_INVALID_CONTEXT;
		if (semaphores[i]->device != request->queue->device)
			return CL_INVALID_COMMAND_QUEUE;
	}
	err = salvo_cl_command_check(request->queue, request->wait_count, request->waits);
	for (i = 0; !err && i < request->wait_count; i++)
		if (__atomic_load_n(&request->waits[i]->status, __ATOMIC_ACQUIRE) < 0)
			err = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
	return err;
}

/* The signal of @event is complete, which a wait that came first waits for: @data. */
static void CL_CALLBACK pass_on(cl_event event, cl_int status, void *data)
{
	(void)event;
	salvo_clSetUserEventStatus(data, status < 0 ? status : CL_COMPLETE);
	salvo_clReleaseEvent(data);
}

/* Let a wait that is there have the signal, or else keep it for the next one. */
static void signal_one(cl_semaphore_khr semaphore, cl_event event)
{
	cl_event wait, old = NULL;

	salvo_cl_lock(semaphore->context);
	wait = semaphore->waits;
	if (wait) {
		semaphore->waits = wait->next;
		wait->next = NULL;
	} else {
		salvo_cl_object_get(&event->base);
		old = semaphore->signal;
		semaphore->signal = event;
	}
	salvo_cl_unlock(semaphore->context);
	put_event(old);
	if (wait && salvo_clSetEventCallback(event, CL_COMPLETE, pass_on, wait))
		pass_on(event, CL_OUT_OF_HOST_MEMORY, wait);
}

static cl_int enqueue_signal(cl_command_queue queue, cl_uint count,
			     const cl_semaphore_khr *semaphores,
			     const cl_semaphore_payload_khr *payloads, cl_uint wait_count,
			     const cl_event *waits, cl_event *event)
{
	cl_event signal = NULL;
	const struct salvo_cl_request request = {
		.queue = queue, .type = CL_COMMAND_SEMAPHORE_SIGNAL_KHR,
		.wait_count = wait_count, .waits = waits, .event = &signal,
	};
	cl_int err = check(&request, count, semaphores);
	cl_uint i;

	(void)payloads;
	if (!err)
		err = salvo_cl_nothing(&request, NULL);
	if (err)
		return err;
	for (i = 0; i < count; i++)
		signal_one(semaphores[i], signal);
	if (event)
		*event = signal;
	else
		salvo_clReleaseEvent(signal);
	return CL_SUCCESS;
}

/* The event to wait for, with a reference; the semaphore loses it. */
static cl_event take(cl_semaphore_khr semaphore)
{
	cl_event promise = salvo_clCreateUserEvent(semaphore->context, NULL), event, *end;

	if (!promise)
		return NULL;
	salvo_cl_lock(semaphore->context);
	event = semaphore->signal;
	semaphore->signal = NULL;
	if (!event) {
		salvo_cl_object_get(&promise->base);
		for (end = &semaphore->waits; *end; end = &(*end)->next)
			;
		*end = promise;
	}
	salvo_cl_unlock(semaphore->context);
	if (!event)
		return promise;
	salvo_clReleaseEvent(promise);
	return event;
}

/*
 * Undo take(), of which @event came. If a signal has taken what waited meanwhile, the event is
 * complete when that signal is, and stands for it. Else what was enqueued of the wait must not
 * block its queue.
 */
static void give_back(cl_semaphore_khr semaphore, cl_event event)
{
	cl_event *link, old = NULL;

	salvo_cl_lock(semaphore->context);
	for (link = &semaphore->waits; *link && *link != event; link = &(*link)->next)
		;
	if (*link) {
		*link = event->next;
		event->next = NULL;
		old = event;
	}
	salvo_cl_unlock(semaphore->context);
	if (old)
		salvo_clSetUserEventStatus(old, CL_OUT_OF_HOST_MEMORY);
	else
		/* Another wait may have come meanwhile. */
		signal_one(semaphore, event);
	put_event(old);
}

static cl_int enqueue_wait(cl_command_queue queue, cl_uint count,
			   const cl_semaphore_khr *semaphores,
			   const cl_semaphore_payload_khr *payloads, cl_uint wait_count,
			   const cl_event *waits, cl_event *event)
{
	struct salvo_cl_request request = {
		.queue = queue, .type = CL_COMMAND_SEMAPHORE_WAIT_KHR,
		.wait_count = wait_count, .waits = waits, .event = event,
	};
	cl_int err = check(&request, count, semaphores);
	cl_event *all;
	cl_uint i;

	(void)payloads;
	if (err)
		return err;
	all = malloc(((size_t)wait_count + count) * sizeof(*all));
	if (!all)
		return CL_OUT_OF_HOST_MEMORY;
	for (i = 0; i < count && !err; i++) {
		all[i] = take(semaphores[i]);
		if (!all[i])
			err = CL_OUT_OF_HOST_MEMORY;
	}
	count = err ? i - 1 : i;
	if (wait_count)
		memcpy(all + count, waits, wait_count * sizeof(*all));
	request.waits = all;
	request.wait_count = count + wait_count;
	if (!err)
		err = salvo_cl_nothing(&request, NULL);
	for (i = 0; i < count; i++) {
		if (err)
			give_back(semaphores[i], all[i]);
		put_event(all[i]);
	}
	free(all);
	return err;
}

const struct salvo_cl_extension_entry salvo_cl_semaphore_entries[] = {
	{ "clCreateSemaphoreWithPropertiesKHR", (void *)create },
	{ "clRetainSemaphoreKHR", (void *)retain },
	{ "clReleaseSemaphoreKHR", (void *)release },
	{ "clGetSemaphoreInfoKHR", (void *)get_info },
	{ "clEnqueueSignalSemaphoresKHR", (void *)enqueue_signal },
	{ "clEnqueueWaitSemaphoresKHR", (void *)enqueue_wait },
	{ NULL, NULL },
};
