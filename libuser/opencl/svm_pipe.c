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
