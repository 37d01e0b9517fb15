// SPDX-License-Identifier: MIT
/*
 * marker.c - markers and barriers
 *
 * In an in-order queue both are only events. In an out-of-order queue a barrier is one in the
 * batch, if all that it orders is there or on the GPU; else it holds back a submission.
 */
#include "command.h"
#include "icd.h"

static cl_int enqueue(cl_command_queue queue, cl_command_type type, cl_uint wait_count,
		      const cl_event *waits, cl_event *event)
{
	struct salvo_cl_command command;
	int index = 0;
	cl_int err;

	err = salvo_cl_command_check(queue, wait_count, waits);
	if (!err)
		err = salvo_cl_command_begin(&command, queue, type, wait_count, waits, event);
	if (err)
		return err;
	if (type == CL_COMMAND_BARRIER && !salvo_cl_queue_is_ordered(queue) && command.start)
		index = salvo_batch_barrier(command.batch);
	return salvo_cl_command_end(&command, index < 0 ? salvo_cl_error(index) : CL_SUCCESS);
}

cl_int salvo_clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint wait_count,
					 const cl_event *waits, cl_event *event)
{
	return enqueue(queue, CL_COMMAND_MARKER, wait_count, waits, event);
}

cl_int salvo_clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint wait_count,
					  const cl_event *waits, cl_event *event)
{
	return enqueue(queue, CL_COMMAND_BARRIER, wait_count, waits, event);
}

cl_int salvo_clEnqueueMarker(cl_command_queue queue, cl_event *event)
{
	if (!salvo_cl_is(queue, SALVO_CL_QUEUE))
		return CL_INVALID_COMMAND_QUEUE;
	return event ? enqueue(queue, CL_COMMAND_MARKER, 0, NULL, event) : CL_INVALID_VALUE;
}

cl_int salvo_clEnqueueBarrier(cl_command_queue queue)
{
	return enqueue(queue, CL_COMMAND_BARRIER, 0, NULL, NULL);
}

cl_int salvo_clEnqueueWaitForEvents(cl_command_queue queue, cl_uint count, const cl_event *events)
{
	cl_int err;

	if (!salvo_cl_is(queue, SALVO_CL_QUEUE))
		return CL_INVALID_COMMAND_QUEUE;
	if (!count || !events)
		return CL_INVALID_VALUE;
	err = enqueue(queue, CL_COMMAND_BARRIER, count, events, NULL);
	return err == CL_INVALID_EVENT_WAIT_LIST ? CL_INVALID_EVENT : err;
}
