// SPDX-License-Identifier: MIT
/*
 * command_buffer.c - command buffers: cl_khr_command_buffer
 *
 * A command buffer is a batch, or several if it is long: its parts. Its commands are recorded by
 * the entry points of clEnqueue*(), on a queue that only records; sync points are pipe controls, or
 * nothing where the queue is in order.
 *
 * To enqueue a command buffer is to append its batch to that of the queue, so that it may be
 * enqueued again at once, and changed, while earlier ones run. Parts are batches of the queue,
 * which run one after the other; each waits for the one before.
 */
#include "command_buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A part of so many commands is full. With those that the batch of the queue may have already
 * there is room for a pipe control each.
 */
#define PART_COMMANDS	1000u

/* --- objects -------------------------------------------------------------------------- */

static void destroy(struct salvo_cl_object *object)
{
	cl_command_buffer_khr buffer = (cl_command_buffer_khr)object;
	cl_mutable_command_khr command;

	while ((command = buffer->commands)) {
		buffer->commands = command->next;
		salvo_cl_mutable_destroy(command);
	}
	while (buffer->part_count)
		salvo_cl_recording_destroy(buffer->parts[--buffer->part_count]);
	if (buffer->recorder)
		salvo_cl_object_put(&buffer->recorder->base);
	salvo_cl_object_put(&buffer->queue->base);
	free(buffer->parts);
	free(buffer->properties);
	free(buffer->points);
	free(buffer);
}

static cl_int read_properties(const cl_command_buffer_properties_khr *properties, size_t *count,
			      bool *is_mutable)
{
	const cl_command_buffer_flags_khr known = CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR |
						  CL_COMMAND_BUFFER_MUTABLE_KHR;
	bool flags = false, asserts = false;
	size_t i;

	*count = 0;
	*is_mutable = false;
	for (i = 0; properties && properties[i]; i += 2) {
		const cl_command_buffer_flags_khr value = properties[i + 1];

		if (properties[i] == CL_COMMAND_BUFFER_FLAGS_KHR && !flags) {
			if (value & ~known)
				return CL_INVALID_VALUE;
			flags = true;
			*is_mutable = value & CL_COMMAND_BUFFER_MUTABLE_KHR;
		} else if (properties[i] == CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR &&
			   !asserts) {
			if (value &
			    ~(cl_bitfield)CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR)
				return CL_INVALID_VALUE;
			asserts = true;
		} else {
			return CL_INVALID_VALUE;
		}
	}
	*count = properties ? i + 1 : 0;
	return CL_SUCCESS;
}

static cl_command_buffer_khr
create(cl_command_queue queue, const cl_command_buffer_properties_khr *properties, cl_int *err)
{
	cl_command_buffer_khr buffer;
	bool is_mutable;
	size_t count;

	*err = read_properties(properties, &count, &is_mutable);
	if (*err)
		return NULL;
	*err = CL_OUT_OF_HOST_MEMORY;
	buffer = calloc(1, sizeof(*buffer));
	if (!buffer)
		return NULL;
	salvo_cl_object_init(&buffer->base, SALVO_CL_COMMAND_BUFFER, destroy);
	salvo_cl_object_get(&queue->base);
	buffer->queue = queue;
	buffer->is_mutable = is_mutable;
	buffer->property_count = count;
	buffer->recorder = salvo_cl_queue_create_recording(queue);
	if (count) {
		buffer->properties = malloc(count * sizeof(*properties));
		if (buffer->properties)
			memcpy(buffer->properties, properties, count * sizeof(*properties));
	}
	if (buffer->recorder && (!count || buffer->properties)) {
		*err = CL_SUCCESS;
		return buffer;
	}
	salvo_cl_object_put(&buffer->base);
	return NULL;
}

static cl_command_buffer_khr
create_buffer(cl_uint num_queues, const cl_command_queue *queues,
	      const cl_command_buffer_properties_khr *properties, cl_int *errcode_ret)
{
	cl_command_buffer_khr buffer = NULL;
	cl_int err;

	if (num_queues != 1 || !queues)
		err = CL_INVALID_VALUE;
	else if (!salvo_cl_is(queues[0], SALVO_CL_QUEUE))
		err = CL_INVALID_COMMAND_QUEUE;
	else
		buffer = create(queues[0], properties, &err);
	salvo_cl_report(errcode_ret, err);
	return buffer;
}

static cl_int retain(cl_command_buffer_khr buffer)
{
	if (!salvo_cl_is(buffer, SALVO_CL_COMMAND_BUFFER))
		return CL_INVALID_COMMAND_BUFFER_KHR;
	salvo_cl_object_retain(&buffer->base);
	return CL_SUCCESS;
}

static cl_int release(cl_command_buffer_khr buffer)
{
	if (!salvo_cl_is(buffer, SALVO_CL_COMMAND_BUFFER) ||
	    !salvo_cl_object_release(&buffer->base))
		return CL_INVALID_COMMAND_BUFFER_KHR;
	return CL_SUCCESS;
}

static cl_int finalize(cl_command_buffer_khr buffer)
{
	cl_int err;

	if (!salvo_cl_is(buffer, SALVO_CL_COMMAND_BUFFER))
		return CL_INVALID_COMMAND_BUFFER_KHR;
	salvo_cl_lock(buffer->queue->context);
	err = buffer->final ? CL_INVALID_OPERATION : CL_SUCCESS;
	buffer->final = true;
	salvo_cl_unlock(buffer->queue->context);
	return err;
}

static cl_command_buffer_state_khr state_of(const struct _cl_command_buffer_khr *buffer)
{
	if (!buffer->final)
		return CL_COMMAND_BUFFER_STATE_RECORDING_KHR;
	return salvo_cl_buffer_is_complete(buffer) ? CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR :
						     CL_COMMAND_BUFFER_STATE_FINALIZED_KHR;
}

static cl_int get_info(cl_command_buffer_khr buffer, cl_command_buffer_info_khr name, size_t size,
		       void *value, size_t *size_ret)
{
	const struct salvo_cl_answer answer = { size, value, size_ret };

	if (!salvo_cl_is(buffer, SALVO_CL_COMMAND_BUFFER))
		return CL_INVALID_COMMAND_BUFFER_KHR;
	switch (name) {
	case CL_COMMAND_BUFFER_QUEUES_KHR:
		return SALVO_CL_ANSWER(&answer, cl_command_queue, buffer->queue);
	case CL_COMMAND_BUFFER_NUM_QUEUES_KHR:
		return SALVO_CL_ANSWER(&answer, cl_uint, 1);
	case CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR:
		return SALVO_CL_ANSWER(&answer, cl_uint, salvo_cl_object_count(&buffer->base));
	case CL_COMMAND_BUFFER_STATE_KHR:
		return SALVO_CL_ANSWER(&answer, cl_command_buffer_state_khr, state_of(buffer));
	case CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR:
		return salvo_cl_answer(&answer, buffer->properties,
				       buffer->property_count * sizeof(*buffer->properties));
	case CL_COMMAND_BUFFER_CONTEXT_KHR:
		return SALVO_CL_ANSWER(&answer, cl_context, buffer->queue->context);
	default:
		return CL_INVALID_VALUE;
	}
}

/* --- recording -------------------------------------------------------------------------- */

static cl_int add_part(cl_command_buffer_khr buffer)
{
	struct salvo_cl_submission **parts, *part;

	parts = realloc(buffer->parts,
			(buffer->part_count + 1) * sizeof(struct salvo_cl_submission *));
	if (!parts)
		return CL_OUT_OF_HOST_MEMORY;
	buffer->parts = parts;
	part = salvo_cl_recording_create(buffer->recorder);
	if (!part)
		return CL_OUT_OF_HOST_MEMORY;
	parts[buffer->part_count++] = buffer->recorder->recording;
	buffer->recorder->recording = part;
	return CL_SUCCESS;
}

cl_int salvo_cl_buffer_check(cl_command_buffer_khr buffer, const struct salvo_cl_sync *sync)
{
	cl_uint i;

	if (!salvo_cl_is(buffer, SALVO_CL_COMMAND_BUFFER))
		return CL_INVALID_COMMAND_BUFFER_KHR;
	if (sync->queue)
		return CL_INVALID_COMMAND_QUEUE;
	if (buffer->final)
		return CL_INVALID_OPERATION;
	if (!sync->count != !sync->waits)
		return CL_INVALID_SYNC_POINT_WAIT_LIST_KHR;
	for (i = 0; i < sync->count; i++)
		if (!sync->waits[i] || sync->waits[i] > buffer->point_count)
			return CL_INVALID_SYNC_POINT_WAIT_LIST_KHR;
	return salvo_cl_buffer_count(buffer) < PART_COMMANDS ? CL_SUCCESS : add_part(buffer);
}

unsigned int salvo_cl_buffer_count(cl_command_buffer_khr buffer)
{
	return salvo_batch_count(buffer->recorder->recording->batch);
}

/* The commands from @start to @end wait for a sync point of their part. */
static int wait_for(struct salvo_batch *batch, const struct salvo_cl_sync_point *point,
		    unsigned int start, unsigned int end)
{
	unsigned int consumer, producer;
	int err;

	for (consumer = start; consumer < end; consumer++)
		for (producer = point->first; producer < point->first + point->count; producer++) {
			err = salvo_batch_pipe_control(batch, consumer, producer);
			/* Commands may have pipe controls of their own. */
			if (err < 0 && err != -EINVAL)
				return err;
		}
	return 0;
}

static cl_int add_point(cl_command_buffer_khr buffer, unsigned int first, unsigned int count)
{
	struct salvo_cl_sync_point *points = buffer->points;

	if (buffer->point_count == buffer->point_capacity) {
		const unsigned int capacity = buffer->point_capacity * 2 + 16;

		points = realloc(points, capacity * sizeof(*points));
		if (!points)
			return CL_OUT_OF_HOST_MEMORY;
		buffer->points = points;
		buffer->point_capacity = capacity;
	}
	points[buffer->point_count++] = (struct salvo_cl_sync_point){
		buffer->part_count, first, count
	};
	return CL_SUCCESS;
}

cl_int salvo_cl_buffer_add(cl_command_buffer_khr buffer, const struct salvo_cl_sync *sync,
			   unsigned int start, cl_int err)
{
	struct salvo_batch *batch = buffer->recorder->recording->batch;
	const struct salvo_cl_sync_point *point;
	unsigned int end;
	cl_uint i;

	if (err)
		return err;
	salvo_cl_lock(buffer->queue->context);
	end = salvo_batch_count(batch);
	for (i = 0; !err && i < sync->count && !salvo_cl_queue_is_ordered(buffer->queue); i++) {
		point = &buffer->points[sync->waits[i] - 1];
		if (point->part == buffer->part_count)
			err = salvo_cl_error(wait_for(batch, point, start, end));
	}
	if (!err)
		err = add_point(buffer, start, end - start);
	if (!err && sync->point)
		*sync->point = buffer->point_count;
	salvo_cl_unlock(buffer->queue->context);
	return err;
}

/* --- enqueueing ---------------------------------------------------------------------------- */

static cl_int check_queue(cl_command_buffer_khr buffer, cl_uint num_queues,
			  cl_command_queue *queues)
{
	const cl_command_queue own = buffer->queue;

	if (!num_queues != !queues || num_queues > 1)
		return CL_INVALID_VALUE;
	if (!queues)
		return CL_SUCCESS;
	if (!salvo_cl_is(queues[0], SALVO_CL_QUEUE))
		return CL_INVALID_COMMAND_QUEUE;
	if (queues[0]->context != own->context)
		return CL_INVALID_CONTEXT;
	if (queues[0]->device != own->device)
		return CL_INCOMPATIBLE_COMMAND_QUEUE_KHR;
	return CL_SUCCESS;
}

/* Return: what recording gave. */
static int append(struct salvo_cl_command *command, cl_command_buffer_khr buffer,
		  const struct salvo_cl_submission *part)
{
	unsigned int i;
	int index;

	do {
		index = salvo_batch_append(command->batch, part->batch);
	} while (salvo_cl_command_again(command, index));
	for (i = 0; i < part->use_count; i++)
		if (part->uses[i].object->kind == SALVO_CL_MEM)
			salvo_cl_command_use(command, (cl_mem)part->uses[i].object,
					     part->uses[i].access);
	salvo_cl_command_hold(command, &buffer->base);
	return index;
}

static int append_all(struct salvo_cl_command *command, cl_command_buffer_khr buffer)
{
	int index = 0, err;
	unsigned int i;

	for (i = 0; i < buffer->part_count; i++) {
		index = append(command, buffer, buffer->parts[i]);
		err = index < 0 ? index : salvo_cl_command_split(command);
		if (err)
			return err;
	}
	if (salvo_batch_count(buffer->recorder->recording->batch))
		index = append(command, buffer, buffer->recorder->recording);
	return index;
}

static cl_int enqueue(cl_uint num_queues, cl_command_queue *queues, cl_command_buffer_khr buffer,
		      cl_uint wait_count, const cl_event *waits, cl_event *event)
{
	struct salvo_cl_command command;
	cl_command_queue queue;
	cl_int err;
	int index;

	if (!salvo_cl_is(buffer, SALVO_CL_COMMAND_BUFFER))
		return CL_INVALID_COMMAND_BUFFER_KHR;
	if (!buffer->final || !salvo_cl_buffer_is_complete(buffer))
		return CL_INVALID_OPERATION;
	err = check_queue(buffer, num_queues, queues);
	if (err)
		return err;
	queue = queues ? queues[0] : buffer->queue;
	err = salvo_cl_command_check(queue, wait_count, waits);
	if (!err)
		err = salvo_cl_command_begin(&command, queue, CL_COMMAND_COMMAND_BUFFER_KHR,
					     wait_count, waits, event);
	if (err)
		return err;
	index = append_all(&command, buffer);
	return salvo_cl_command_end(&command, index < 0 ? salvo_cl_error(index) : CL_SUCCESS);
}

const struct salvo_cl_extension_entry salvo_cl_buffer_entries[] = {
	{ "clCreateCommandBufferKHR", (void *)create_buffer },
	{ "clRetainCommandBufferKHR", (void *)retain },
	{ "clReleaseCommandBufferKHR", (void *)release },
	{ "clFinalizeCommandBufferKHR", (void *)finalize },
	{ "clEnqueueCommandBufferKHR", (void *)enqueue },
	{ "clGetCommandBufferInfoKHR", (void *)get_info },
	{ NULL, NULL },
};
