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

/* cl_khr_command_buffer 0.9.8 and cl_khr_command_buffer_mutable_dispatch 0.9.5 */
#define CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR	0x129A
#define CL_INVALID_SYNC_POINT_WAIT_LIST_KHR			-1139
#define CL_INCOMPATIBLE_COMMAND_QUEUE_KHR			-1140
#define CL_INVALID_MUTABLE_COMMAND_KHR				-1141
#define CL_COMMAND_BUFFER_STATE_FINALIZED_KHR			2
#define CL_COMMAND_BUFFER_CONTEXT_KHR				0x1299
#define CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR		0x12B7
#define CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR			0x12A2
#define CL_MUTABLE_DISPATCH_ASSERTS_KHR				0x12B8
#define CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR (1 << 0)

typedef cl_properties cl_command_properties_khr;
typedef cl_uint cl_command_buffer_update_type_khr;
#define SALVO_CL_UPDATE_DISPATCH				0

/* cl_mutable_dispatch_config_khr, as it is since 0.9.2; Debian's header has an older one. */
struct salvo_cl_dispatch_config {
	cl_mutable_command_khr command;
	cl_uint num_args;
	cl_uint num_svm_args;
	cl_uint num_exec_infos;
	cl_uint work_dim;
	const cl_mutable_dispatch_arg_khr *arg_list;
	const cl_mutable_dispatch_arg_khr *arg_svm_list;
	const cl_mutable_dispatch_exec_info_khr *exec_info_list;
	const size_t *global_work_offset;
	const size_t *global_work_size;
	const size_t *local_work_size;
};

/* cl_khr_external_memory 1.0.1; before, the list of devices had another name */
#ifndef CL_MEM_DEVICE_HANDLE_LIST_KHR
#define CL_MEM_DEVICE_HANDLE_LIST_KHR		0x2051
#define CL_MEM_DEVICE_HANDLE_LIST_END_KHR	0
#endif
#ifndef CL_DEVICE_EXTERNAL_MEMORY_IMPORT_ASSUME_LINEAR_IMAGES_HANDLE_TYPES_KHR
#define CL_DEVICE_EXTERNAL_MEMORY_IMPORT_ASSUME_LINEAR_IMAGES_HANDLE_TYPES_KHR 0x2052
#endif

/* cl_khr_semaphore 1.0.0 and cl_khr_external_semaphore 1.0.1 */
#ifndef CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR
#define CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR	0x2053
#define CL_SEMAPHORE_EXPORTABLE_KHR		0x2054
#endif

#endif /* SALVO_CL_KHRONOS_H */
