// SPDX-License-Identifier: MIT
/*
 * command_buffer_commands.c - clCommand*KHR(): copies and fills in command buffers
 *
 * Each enqueues on the command buffer's recorder, whose checks are those of the queue's commands.
 */
#include "command_buffer.h"
#include "icd.h"

#define SYNC_PARAMETERS									\
	cl_uint sync_count, const cl_sync_point_khr *sync_waits, cl_sync_point_khr *point,	\
	cl_mutable_command_khr *handle
#define SYNC { queue, properties, sync_count, sync_waits, point, handle }

/* These commands have no properties, and cannot be changed. */
static cl_int check(cl_command_buffer_khr buffer, const struct salvo_cl_sync *sync)
{
	cl_int err = salvo_cl_buffer_check(buffer, sync);

	if (err)
		return err;
	return sync->handle || (sync->properties && sync->properties[0]) ? CL_INVALID_VALUE :
									   CL_SUCCESS;
}

#define RECORD(call) do {								\
	const struct salvo_cl_sync sync = SYNC;						\
	unsigned int start;								\
	cl_int err = check(buffer, &sync);						\
											\
	if (err)									\
		return err;								\
	start = salvo_cl_buffer_count(buffer);						\
	return salvo_cl_buffer_add(buffer, &sync, start, call);				\
} while (0)

static cl_int barrier(cl_command_buffer_khr buffer, cl_command_queue queue,
		      const cl_command_properties_khr *properties, SYNC_PARAMETERS)
{
	RECORD(salvo_clEnqueueBarrierWithWaitList(buffer->recorder, 0, NULL, NULL));
}

static cl_int copy_buffer(cl_command_buffer_khr buffer, cl_command_queue queue,
			  const cl_command_properties_khr *properties, cl_mem src, cl_mem dst,
			  size_t src_offset, size_t dst_offset, size_t size, SYNC_PARAMETERS)
{
	RECORD(salvo_clEnqueueCopyBuffer(buffer->recorder, src, dst, src_offset, dst_offset, size,
					 0, NULL, NULL));
}

static cl_int copy_buffer_rect(cl_command_buffer_khr buffer, cl_command_queue queue,
			       const cl_command_properties_khr *properties, cl_mem src, cl_mem dst,
			       const size_t *src_origin, const size_t *dst_origin,
			       const size_t *region, size_t src_row_pitch, size_t src_slice_pitch,
			       size_t dst_row_pitch, size_t dst_slice_pitch, SYNC_PARAMETERS)
{
	RECORD(salvo_clEnqueueCopyBufferRect(buffer->recorder, src, dst, src_origin, dst_origin,
					     region, src_row_pitch, src_slice_pitch, dst_row_pitch,
					     dst_slice_pitch, 0, NULL, NULL));
}

static cl_int copy_buffer_to_image(cl_command_buffer_khr buffer, cl_command_queue queue,
				   const cl_command_properties_khr *properties, cl_mem src,
				   cl_mem dst, size_t src_offset, const size_t *dst_origin,
				   const size_t *region, SYNC_PARAMETERS)
{
	RECORD(salvo_cl_dispatch.clEnqueueCopyBufferToImage(buffer->recorder, src, dst, src_offset,
							    dst_origin, region, 0, NULL, NULL));
}

static cl_int copy_image(cl_command_buffer_khr buffer, cl_command_queue queue,
			 const cl_command_properties_khr *properties, cl_mem src, cl_mem dst,
			 const size_t *src_origin, const size_t *dst_origin, const size_t *region,
			 SYNC_PARAMETERS)
{
	RECORD(salvo_cl_dispatch.clEnqueueCopyImage(buffer->recorder, src, dst, src_origin,
						    dst_origin, region, 0, NULL, NULL));
}

static cl_int copy_image_to_buffer(cl_command_buffer_khr buffer, cl_command_queue queue,
				   const cl_command_properties_khr *properties, cl_mem src,
				   cl_mem dst, const size_t *src_origin, const size_t *region,
				   size_t dst_offset, SYNC_PARAMETERS)
{
	RECORD(salvo_cl_dispatch.clEnqueueCopyImageToBuffer(buffer->recorder, src, dst, src_origin,
							    region, dst_offset, 0, NULL, NULL));
}

static cl_int fill_buffer(cl_command_buffer_khr buffer, cl_command_queue queue,
			  const cl_command_properties_khr *properties, cl_mem mem,
			  const void *pattern, size_t pattern_size, size_t offset, size_t size,
			  SYNC_PARAMETERS)
{
	RECORD(salvo_clEnqueueFillBuffer(buffer->recorder, mem, pattern, pattern_size, offset, size,
					 0, NULL, NULL));
}

static cl_int fill_image(cl_command_buffer_khr buffer, cl_command_queue queue,
			 const cl_command_properties_khr *properties, cl_mem image,
			 const void *color, const size_t *origin, const size_t *region,
			 SYNC_PARAMETERS)
{
	RECORD(salvo_cl_dispatch.clEnqueueFillImage(buffer->recorder, image, color, origin, region,
						    0, NULL, NULL));
}

/* No device has shared virtual memory. */
static cl_int refuse_svm(cl_command_buffer_khr buffer)
{
	return salvo_cl_is(buffer, SALVO_CL_COMMAND_BUFFER) ? CL_INVALID_OPERATION :
							      CL_INVALID_COMMAND_BUFFER_KHR;
}

const struct salvo_cl_extension_entry salvo_cl_buffer_command_entries[] = {
	{ "clCommandBarrierWithWaitListKHR", (void *)barrier },
	{ "clCommandCopyBufferKHR", (void *)copy_buffer },
	{ "clCommandCopyBufferRectKHR", (void *)copy_buffer_rect },
	{ "clCommandCopyBufferToImageKHR", (void *)copy_buffer_to_image },
	{ "clCommandCopyImageKHR", (void *)copy_image },
	{ "clCommandCopyImageToBufferKHR", (void *)copy_image_to_buffer },
	{ "clCommandFillBufferKHR", (void *)fill_buffer },
	{ "clCommandFillImageKHR", (void *)fill_image },
	{ "clCommandSVMMemcpyKHR", (void *)refuse_svm },
	{ "clCommandSVMMemFillKHR", (void *)refuse_svm },
	{ NULL, NULL },
};
