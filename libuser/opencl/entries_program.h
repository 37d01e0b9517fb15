/* SPDX-License-Identifier: MIT */
/*
 * entries_program.h - entry points of programs and kernels
 *
 * A list, without a guard: icd.h declares them by it, icd.c makes the table. Those that are not written
 * yet are LATER; the number is the place of their errcode_ret.
 */
SALVO_CL_LATER_OBJECT(clCreateProgramWithSource, 5)
SALVO_CL_LATER_OBJECT(clCreateProgramWithBinary, 7)
SALVO_CL_LATER_OBJECT(clCreateProgramWithBuiltInKernels, 5)
SALVO_CL_LATER_OBJECT(clCreateProgramWithIL, 4)
SALVO_CL_LATER(clRetainProgram)
SALVO_CL_LATER(clReleaseProgram)
SALVO_CL_LATER(clBuildProgram)
SALVO_CL_LATER(clCompileProgram)
SALVO_CL_LATER_OBJECT(clLinkProgram, 9)
SALVO_CL_LATER(clUnloadCompiler)
SALVO_CL_LATER(clUnloadPlatformCompiler)
SALVO_CL_LATER(clGetProgramInfo)
SALVO_CL_LATER(clGetProgramBuildInfo)
SALVO_CL_LATER(clSetProgramReleaseCallback)
SALVO_CL_LATER(clSetProgramSpecializationConstant)
SALVO_CL_LATER_OBJECT(clCreateKernel, 3)
SALVO_CL_LATER(clCreateKernelsInProgram)
SALVO_CL_LATER_OBJECT(clCloneKernel, 2)
SALVO_CL_LATER(clRetainKernel)
SALVO_CL_LATER(clReleaseKernel)
SALVO_CL_LATER(clSetKernelArg)
SALVO_CL_LATER(clSetKernelArgSVMPointer)
SALVO_CL_LATER(clSetKernelExecInfo)
SALVO_CL_LATER(clGetKernelInfo)
SALVO_CL_LATER(clGetKernelArgInfo)
SALVO_CL_LATER(clGetKernelWorkGroupInfo)
SALVO_CL_LATER(clGetKernelSubGroupInfo)
SALVO_CL_LATER(clGetKernelSubGroupInfoKHR)
