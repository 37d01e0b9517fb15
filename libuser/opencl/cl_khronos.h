/* SPDX-License-Identifier: MIT */
/*
 * cl_khronos.h - the headers of OpenCL, and what Debian's lack of newer extensions
 */
#ifndef SALVO_CL_KHRONOS_H
#define SALVO_CL_KHRONOS_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS

#include <CL/cl.h>
#include <CL/cl_ext.h>

/* cl_khr_icd 2.0.0 */
#ifndef CL_PLATFORM_ICD_SUFFIX_KHR
#define CL_PLATFORM_ICD_SUFFIX_KHR 0x0920
#endif

#endif /* SALVO_CL_KHRONOS_H */
