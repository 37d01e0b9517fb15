// SPDX-License-Identifier: MIT
/*
 * svm_pipe.c - shared virtual memory and pipes, which the devices do not have
 *
 * The functions of optional features answer as OpenCL 3.0 says for devices without them.
 */
#include "icd.h"
#include "object.h"

void *salvo_clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint alignment)
{
	(void)context;
	(void)flags;
	(void)size;
	(void)alignment;
	return NULL;
}

void salvo_clSVMFree(cl_context context, void *pointer)
{
	(void)context;
	(void)pointer;
}

cl_mem salvo_clCreatePipe(cl_context context, cl_mem_flags flags, cl_uint packet_size,
			  cl_uint max_packets, const cl_pipe_properties *properties,
			  cl_int *errcode_ret)
{
	(void)flags;
	(void)packet_size;
	(void)max_packets;
	(void)properties;
	salvo_cl_report(errcode_ret, salvo_cl_is(context, SALVO_CL_CONTEXT) ? CL_INVALID_OPERATION :
									      CL_INVALID_CONTEXT);
	return NULL;
}

cl_int salvo_clGetPipeInfo(cl_mem pipe, cl_pipe_info name, size_t size, void *value,
			   size_t *size_ret)
{
	(void)pipe;
	(void)name;
	(void)size;
	(void)value;
	(void)size_ret;
	return CL_INVALID_MEM_OBJECT;
}

/* --- commands on shared virtual memory: of no queue ------------------------------------- */

static cl_int refuse(cl_command_queue queue)
{
	return salvo_cl_is(queue, SALVO_CL_QUEUE) ? CL_INVALID_OPERATION :
						    CL_INVALID_COMMAND_QUEUE;
}

cl_int salvo_clEnqueueSVMFree(cl_command_queue queue, cl_uint count, void *pointers[],
			      void (CL_CALLBACK *free_function)(cl_command_queue, cl_uint, void *[],
								void *),
			      void *data, cl_uint wait_count, const cl_event *waits,
			      cl_event *event)
{
	(void)count;
	(void)pointers;
	(void)free_function;
	(void)data;
	(void)wait_count;
	(void)waits;
	(void)event;
	return refuse(queue);
}

cl_int salvo_clEnqueueSVMMemcpy(cl_command_queue queue, cl_bool blocking, void *dst,
				const void *src, size_t size, cl_uint wait_count,
				const cl_event *waits, cl_event *event)
{
	(void)blocking;
	(void)dst;
	(void)src;
	(void)size;
	(void)wait_count;
	(void)waits;
	(void)event;
	return refuse(queue);
}

cl_int salvo_clEnqueueSVMMemFill(cl_command_queue queue, void *pointer, const void *pattern,
				 size_t pattern_size, size_t size, cl_uint wait_count,
				 const cl_event *waits, cl_event *event)
{
	(void)pointer;
	(void)pattern;
	(void)pattern_size;
	(void)size;
	(void)wait_count;
	(void)waits;
	(void)event;
	return refuse(queue);
}

cl_int salvo_clEnqueueSVMMap(cl_command_queue queue, cl_bool blocking, cl_map_flags flags,
			     void *pointer, size_t size, cl_uint wait_count, const cl_event *waits,
			     cl_event *event)
{
	(void)blocking;
	(void)flags;
	(void)pointer;
	(void)size;
	(void)wait_count;
	(void)waits;
	(void)event;
	return refuse(queue);
}

cl_int salvo_clEnqueueSVMUnmap(cl_command_queue queue, void *pointer, cl_uint wait_count,
			       const cl_event *waits, cl_event *event)
{
	(void)pointer;
	(void)wait_count;
	(void)waits;
	(void)event;
	return refuse(queue);
}

cl_int salvo_clEnqueueSVMMigrateMem(cl_command_queue queue, cl_uint count, const void **pointers,
				    const size_t *sizes, cl_mem_migration_flags flags,
				    cl_uint wait_count, const cl_event *waits, cl_event *event)
{
	(void)count;
	(void)pointers;
	(void)sizes;
	(void)flags;
	(void)wait_count;
	(void)waits;
	(void)event;
	return refuse(queue);
}
