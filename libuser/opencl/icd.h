/* SPDX-License-Identifier: MIT */
/*
 * icd.h - the entry points of the driver, and the table through which the ICD loader calls them
 *
 * The entry point of clFoo() is salvo_clFoo(), which has its type.
 */
#ifndef SALVO_CL_ICD_H
#define SALVO_CL_ICD_H

#include "cl_khronos.h"

#include <CL/cl_icd.h>

/* What is deprecated has to be there all the same. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

extern const struct _cl_icd_dispatch salvo_cl_dispatch;

#define SALVO_CL_ENTRY(name)	extern __typeof__(name) salvo_##name;
#include "entries_queue.def"
#include "entries_memory.def"
#include "entries_program.def"
#undef SALVO_CL_ENTRY

/* Entry points of extensions, which no table has */
extern __typeof__(clEnqueueAcquireExternalMemObjectsKHR)
	salvo_clEnqueueAcquireExternalMemObjectsKHR;
extern __typeof__(clEnqueueReleaseExternalMemObjectsKHR)
	salvo_clEnqueueReleaseExternalMemObjectsKHR;
extern __typeof__(clGetKernelSuggestedLocalWorkSizeKHR) salvo_clGetKernelSuggestedLocalWorkSizeKHR;

#endif /* SALVO_CL_ICD_H */
