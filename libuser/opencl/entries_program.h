/* SPDX-License-Identifier: MIT */
/*
 * entries_program.h - entry points of programs and kernels
 *
 * A list, without a guard: icd.h declares them by it, icd.c makes the table.
 */
SALVO_CL_ENTRY(clCreateProgramWithSource)
SALVO_CL_ENTRY(clCreateProgramWithBinary)
SALVO_CL_ENTRY(clCreateProgramWithBuiltInKernels)
SALVO_CL_ENTRY(clCreateProgramWithIL)
SALVO_CL_ENTRY(clRetainProgram)
SALVO_CL_ENTRY(clReleaseProgram)
SALVO_CL_ENTRY(clBuildProgram)
SALVO_CL_ENTRY(clCompileProgram)
SALVO_CL_ENTRY(clLinkProgram)
SALVO_CL_ENTRY(clUnloadCompiler)
SALVO_CL_ENTRY(clUnloadPlatformCompiler)
SALVO_CL_ENTRY(clGetProgramInfo)
SALVO_CL_ENTRY(clGetProgramBuildInfo)
SALVO_CL_ENTRY(clSetProgramReleaseCallback)
SALVO_CL_ENTRY(clSetProgramSpecializationConstant)
SALVO_CL_ENTRY(clCreateKernel)
SALVO_CL_ENTRY(clCreateKernelsInProgram)
SALVO_CL_ENTRY(clCloneKernel)
SALVO_CL_ENTRY(clRetainKernel)
SALVO_CL_ENTRY(clReleaseKernel)
SALVO_CL_ENTRY(clSetKernelArg)
SALVO_CL_ENTRY(clSetKernelArgSVMPointer)
SALVO_CL_ENTRY(clSetKernelExecInfo)
SALVO_CL_ENTRY(clGetKernelInfo)
SALVO_CL_ENTRY(clGetKernelArgInfo)
SALVO_CL_ENTRY(clGetKernelWorkGroupInfo)
SALVO_CL_ENTRY(clGetKernelSubGroupInfo)
SALVO_CL_ENTRY(clGetKernelSubGroupInfoKHR)
