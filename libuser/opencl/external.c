// SPDX-License-Identifier: MIT
/*
 * external.c - memory of other drivers: cl_khr_external_memory_dma_buf
 *
 * A dma-buf is imported as the buffer's memory on the first GPU of the context, and stays the
 * application's descriptor. The embedded GPU imports what can be mapped, a memfd too. In a context
 * of several GPUs, acquiring and releasing bring the contents there.
 */
#include "external.h"

#include <limits.h>

#include "icd.h"
#include "map.h"
#include "cl_memory.h"

/* The devices of a list that is ended by 0. Return: false if one is not of the context. */
static bool skip_devices(cl_context context, const cl_mem_properties *properties, size_t *n)
{
	for (; properties[*n]; (*n)++) {
		cl_device_id device = (cl_device_id)(uintptr_t)properties[*n];

		if (!salvo_cl_is(device, SALVO_CL_DEVICE) || !salvo_cl_context_has(context, device))
			return false;
	}
	(*n)++;
	return true;
}

cl_int salvo_cl_external_read(cl_context context, const cl_mem_properties *properties, int *fd,
			      size_t *count)
{
	bool devices = false;
	size_t n = 0;

	*fd = -1;
	*count = 0;
	if (!properties)
		return CL_SUCCESS;
	while (properties[n]) {
		switch (properties[n++]) {
		case CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR:
			if (*fd >= 0 || properties[n] > INT_MAX)
				return CL_INVALID_PROPERTY;
			*fd = properties[n++];
			break;
		case CL_MEM_DEVICE_HANDLE_LIST_KHR:
			if (devices)
				return CL_INVALID_PROPERTY;
			devices = true;
			if (!skip_devices(context, properties, &n))
				return CL_INVALID_DEVICE;
			break;
		default:
			return CL_INVALID_PROPERTY;
		}
	}
	*count = n + 1;
	return devices && *fd < 0 ? CL_INVALID_PROPERTY : CL_SUCCESS;
}

static cl_int hand_over(const struct salvo_cl_request *request, cl_uint count, const cl_mem *mems)
{
	struct salvo_cl_request one = *request;
	cl_int err = salvo_cl_command_check(request->queue, request->wait_count, request->waits);
	cl_uint i;

	if (err)
		return err;
	if (!count != !mems)
		return CL_INVALID_VALUE;
	for (i = 0; i < count; i++)
		if (!salvo_cl_is(mems[i], SALVO_CL_MEM) || !mems[i]->root->external)
			return CL_INVALID_MEM_OBJECT;
		else if (mems[i]->context != request->queue->context)
			return CL_INVALID_CONTEXT;
	for (i = 0; i + 1 < count && !err; i++) {
		one.event = NULL;
		err = salvo_cl_bring_to_host(&one, mems[i]);
	}
	if (err)
		return err;
	return count ? salvo_cl_bring_to_host(request, mems[count - 1]) :
		       salvo_cl_nothing(request, NULL);
}

cl_int salvo_clEnqueueAcquireExternalMemObjectsKHR(cl_command_queue queue, cl_uint count,
						   const cl_mem *mems, cl_uint wait_count,
						   const cl_event *waits, cl_event *event)
{
	const struct salvo_cl_request request = {
		.queue = queue, .type = CL_COMMAND_ACQUIRE_EXTERNAL_MEM_OBJECTS_KHR,
		.wait_count = wait_count, .waits = waits, .event = event,
	};
	cl_int err = hand_over(&request, count, mems);
	cl_uint i;

	for (i = 0; i < count && !err; i++)
		salvo_cl_mem_replace(mems[i]);
	return err;
}

cl_int salvo_clEnqueueReleaseExternalMemObjectsKHR(cl_command_queue queue, cl_uint count,
						   const cl_mem *mems, cl_uint wait_count,
						   const cl_event *waits, cl_event *event)
{
	const struct salvo_cl_request request = {
		.queue = queue, .type = CL_COMMAND_RELEASE_EXTERNAL_MEM_OBJECTS_KHR,
		.wait_count = wait_count, .waits = waits, .event = event,
	};

	return hand_over(&request, count, mems);
}
