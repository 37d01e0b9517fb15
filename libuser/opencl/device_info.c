// SPDX-License-Identifier: MIT
/*
 * device_info.c - the answers of clGetDeviceInfo()
 *
 * Limits follow from those of the GPU; the others are those of the full profile or of the compiler.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "device.h"
#include "extensions.h"
#include "icd.h"
#include "platform.h"

/* Full profile wants these sizes of images at least. */
#define IMAGE_2D_SIZE		16384
#define IMAGE_3D_SIZE		2048
#define IMAGE_LAYERS		2048
#define IMAGE_BUFFER_PIXELS	(1u << 27)
#define PRINTF_BYTES		(4u << 20)
/* Of all variables of a program, less what aligns them; salvo-cc refuses more. */
#define MAX_VARIABLE_BYTES	(63u << 20)
/* Pages, so that sub-buffers of mapped memory can be mapped, too */
#define BASE_ALIGN_BITS		1024

static cl_uint lanes(const struct salvo_device_info *info, unsigned int bytes)
{
	return (info->isa_level >= 4 ? 64 : info->isa_level == 3 ? 32 : 16) / bytes;
}

/* Can its processor convert from and to half? salvo-cc defines cl_khr_fp16 for the same. */
static bool has_half(const struct salvo_device_info *info)
{
	return info->isa_level >= 3;
}

/*
 * More than the quarter that the profile wants, and two such buffers fit: half of the memory but
 * for a small part, since programs, profiles and the bytes behind a buffer need some.
 */
static cl_ulong max_alloc(const struct salvo_device_info *info)
{
	return info->vram_bytes / 2 - info->vram_bytes / 128;
}

static cl_int answer_vectors(const struct salvo_cl_answer *answer,
			     const struct salvo_device_info *info, cl_device_info name)
{
	switch (name) {
	case CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR:
	case CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR:
		return SALVO_CL_ANSWER(answer, cl_uint, lanes(info, 4));
	case CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT:
	case CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT:
		return SALVO_CL_ANSWER(answer, cl_uint, lanes(info, 4));
	case CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF:
	case CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF:
		return SALVO_CL_ANSWER(answer, cl_uint, has_half(info));
	default:
		/* The compiler makes vectors of work-items. */
		return SALVO_CL_ANSWER(answer, cl_uint, 1);
	}
}

static cl_int answer_images(const struct salvo_cl_answer *answer, cl_device_info name)
{
	switch (name) {
	case CL_DEVICE_IMAGE_SUPPORT:
		return SALVO_CL_ANSWER(answer, cl_bool, CL_TRUE);
	case CL_DEVICE_MAX_READ_IMAGE_ARGS:
		return SALVO_CL_ANSWER(answer, cl_uint, 128);
	case CL_DEVICE_MAX_WRITE_IMAGE_ARGS:
	case CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS:
		return SALVO_CL_ANSWER(answer, cl_uint, 64);
	case CL_DEVICE_IMAGE2D_MAX_WIDTH:
	case CL_DEVICE_IMAGE2D_MAX_HEIGHT:
		return SALVO_CL_ANSWER(answer, size_t, IMAGE_2D_SIZE);
	case CL_DEVICE_IMAGE3D_MAX_WIDTH:
	case CL_DEVICE_IMAGE3D_MAX_HEIGHT:
	case CL_DEVICE_IMAGE3D_MAX_DEPTH:
		return SALVO_CL_ANSWER(answer, size_t, IMAGE_3D_SIZE);
	case CL_DEVICE_IMAGE_MAX_BUFFER_SIZE:
		return SALVO_CL_ANSWER(answer, size_t, IMAGE_BUFFER_PIXELS);
	case CL_DEVICE_IMAGE_MAX_ARRAY_SIZE:
		return SALVO_CL_ANSWER(answer, size_t, IMAGE_LAYERS);
	case CL_DEVICE_IMAGE_PITCH_ALIGNMENT:
	case CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT:
		return SALVO_CL_ANSWER(answer, cl_uint, 1);
	case CL_DEVICE_MAX_SAMPLERS:
		return SALVO_CL_ANSWER(answer, cl_uint, 32);
	case CL_DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR:
		return SALVO_CL_ANSWER(answer, cl_external_memory_handle_type_khr,
				       CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR);
	case CL_DEVICE_EXTERNAL_MEMORY_IMPORT_ASSUME_LINEAR_IMAGES_HANDLE_TYPES_KHR:
		return salvo_cl_answer(answer, NULL, 0);
	case CL_DEVICE_SEMAPHORE_TYPES_KHR:
		return SALVO_CL_ANSWER(answer, cl_semaphore_type_khr,
				       CL_SEMAPHORE_TYPE_BINARY_KHR);
	case CL_DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR:
	case CL_DEVICE_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR:
		return SALVO_CL_ANSWER(answer, cl_external_semaphore_handle_type_khr,
				       CL_SEMAPHORE_HANDLE_SYNC_FD_KHR);
	default:
		return CL_INVALID_VALUE;
	}
}

static cl_int answer_memory(const struct salvo_cl_answer *answer,
			    const struct salvo_device_info *info, cl_device_info name)
{
	switch (name) {
	case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
		return SALVO_CL_ANSWER(answer, cl_ulong, max_alloc(info));
	case CL_DEVICE_GLOBAL_MEM_SIZE:
		return SALVO_CL_ANSWER(answer, cl_ulong, info->vram_bytes);
	case CL_DEVICE_GLOBAL_MEM_CACHE_TYPE:
		return SALVO_CL_ANSWER(answer, cl_device_mem_cache_type, CL_READ_WRITE_CACHE);
	case CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE:
		return SALVO_CL_ANSWER(answer, cl_uint, 64);
	case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE:
		return SALVO_CL_ANSWER(answer, cl_ulong, sysconf(_SC_LEVEL2_CACHE_SIZE) > 0 ?
				       sysconf(_SC_LEVEL2_CACHE_SIZE) : 1 << 20);
	case CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE:
		return SALVO_CL_ANSWER(answer, cl_ulong, max_alloc(info));
	case CL_DEVICE_MAX_CONSTANT_ARGS:
		return SALVO_CL_ANSWER(answer, cl_uint, 64);
	case CL_DEVICE_LOCAL_MEM_TYPE:
		return SALVO_CL_ANSWER(answer, cl_device_local_mem_type, CL_LOCAL);
	case CL_DEVICE_LOCAL_MEM_SIZE:
		return SALVO_CL_ANSWER(answer, cl_ulong, info->max_local_bytes);
	case CL_DEVICE_MEM_BASE_ADDR_ALIGN:
		return SALVO_CL_ANSWER(answer, cl_uint, BASE_ALIGN_BITS);
	case CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE:
		return SALVO_CL_ANSWER(answer, cl_uint, 128);
	case CL_DEVICE_HOST_UNIFIED_MEMORY:
		return SALVO_CL_ANSWER(answer, cl_bool, CL_TRUE);
	case CL_DEVICE_ERROR_CORRECTION_SUPPORT:
		return SALVO_CL_ANSWER(answer, cl_bool, CL_FALSE);
	case CL_DEVICE_MAX_PARAMETER_SIZE:
		return SALVO_CL_ANSWER(answer, size_t, 1024);
	case CL_DEVICE_PRINTF_BUFFER_SIZE:
		return SALVO_CL_ANSWER(answer, size_t, PRINTF_BYTES);
	case CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT:
	case CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT:
	case CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT:
		return SALVO_CL_ANSWER(answer, cl_uint, 0);
	default:
		return answer_images(answer, name);
	}
}

/* Optional features of 3.0 that a device may lack, and says so. */
static cl_int answer_optional(const struct salvo_cl_answer *answer,
			      const struct salvo_device_info *info, cl_device_info name)
{
	switch (name) {
	case CL_DEVICE_SVM_CAPABILITIES:
	case CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES:
	case CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES:
		return SALVO_CL_ANSWER(answer, cl_bitfield, 0);
	case CL_DEVICE_PIPE_SUPPORT:
		return SALVO_CL_ANSWER(answer, cl_bool, CL_FALSE);
	/* A work-group is one sub-group, which waits for no other. */
	case CL_DEVICE_MAX_NUM_SUB_GROUPS:
		return SALVO_CL_ANSWER(answer, cl_uint, 1);
	case CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE:
	case CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE:
	case CL_DEVICE_MAX_ON_DEVICE_QUEUES:
	case CL_DEVICE_MAX_ON_DEVICE_EVENTS:
	case CL_DEVICE_MAX_PIPE_ARGS:
	case CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS:
	case CL_DEVICE_PIPE_MAX_PACKET_SIZE:
		return SALVO_CL_ANSWER(answer, cl_uint, 0);
	case CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE:
	case CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE:
		return SALVO_CL_ANSWER(answer, size_t, MAX_VARIABLE_BYTES);
	case CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT:
	case CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT:
	case CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT:
	case CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS:
		return SALVO_CL_ANSWER(answer, cl_bool, CL_TRUE);
	case CL_DEVICE_IL_VERSION:
	case CL_DEVICE_BUILT_IN_KERNELS:
		return salvo_cl_answer_string(answer, "");
	case CL_DEVICE_ILS_WITH_VERSION:
	case CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION:
		return salvo_cl_answer(answer, NULL, 0);
	case CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES:
		return SALVO_CL_ANSWER(answer, cl_device_atomic_capabilities,
				       CL_DEVICE_ATOMIC_ORDER_RELAXED |
				       CL_DEVICE_ATOMIC_ORDER_ACQ_REL |
				       CL_DEVICE_ATOMIC_ORDER_SEQ_CST |
				       CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP |
				       CL_DEVICE_ATOMIC_SCOPE_DEVICE);
	case CL_DEVICE_ATOMIC_FENCE_CAPABILITIES:
		return SALVO_CL_ANSWER(answer, cl_device_atomic_capabilities,
				       CL_DEVICE_ATOMIC_ORDER_RELAXED |
				       CL_DEVICE_ATOMIC_ORDER_ACQ_REL |
				       CL_DEVICE_ATOMIC_ORDER_SEQ_CST |
				       CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM |
				       CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP |
				       CL_DEVICE_ATOMIC_SCOPE_DEVICE);
	default:
		return answer_memory(answer, info, name);
	}
}

static cl_int answer_compiler(const struct salvo_cl_answer *answer,
			      const struct salvo_device_info *info, cl_device_info name)
{
	static const cl_name_version versions[] = {
		{ CL_MAKE_VERSION(1, 0, 0), "OpenCL C" },
		{ CL_MAKE_VERSION(1, 1, 0), "OpenCL C" },
		{ CL_MAKE_VERSION(1, 2, 0), "OpenCL C" },
		{ CL_MAKE_VERSION(3, 0, 0), "OpenCL C" },
	};
	static const cl_name_version features[] = {
		{ CL_MAKE_VERSION(3, 0, 0), "__opencl_c_int64" },
		{ CL_MAKE_VERSION(3, 0, 0), "__opencl_c_fp64" },
		{ CL_MAKE_VERSION(3, 0, 0), "__opencl_c_images" },
		{ CL_MAKE_VERSION(3, 0, 0), "__opencl_c_3d_image_writes" },
		{ CL_MAKE_VERSION(3, 0, 0), "__opencl_c_read_write_images" },
		{ CL_MAKE_VERSION(3, 0, 0), "__opencl_c_atomic_order_acq_rel" },
		{ CL_MAKE_VERSION(3, 0, 0), "__opencl_c_atomic_order_seq_cst" },
		{ CL_MAKE_VERSION(3, 0, 0), "__opencl_c_atomic_scope_device" },
		{ CL_MAKE_VERSION(3, 0, 0), "__opencl_c_work_group_collective_functions" },
		{ CL_MAKE_VERSION(3, 0, 0), "__opencl_c_subgroups" },
		{ CL_MAKE_VERSION(3, 0, 0), "__opencl_c_program_scope_global_variables" },
		{ CL_MAKE_VERSION(3, 0, 0), "__opencl_c_generic_address_space" },
	};
	const cl_device_fp_config fp = CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_DENORM |
				       CL_FP_FMA;

	switch (name) {
	case CL_DEVICE_COMPILER_AVAILABLE:
	case CL_DEVICE_LINKER_AVAILABLE:
		return SALVO_CL_ANSWER(answer, cl_bool, CL_TRUE);
	case CL_DEVICE_OPENCL_C_VERSION:
		return salvo_cl_answer_string(answer, "OpenCL C 1.2 Salvo");
	case CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR:
		return SALVO_CL_ANSWER(answer, cl_version, CL_MAKE_VERSION(1, 2, 0));
	case CL_DEVICE_OPENCL_C_ALL_VERSIONS:
		return salvo_cl_answer(answer, versions, sizeof(versions));
	case CL_DEVICE_OPENCL_C_FEATURES:
		return salvo_cl_answer(answer, features, sizeof(features));
	case CL_DEVICE_SINGLE_FP_CONFIG:
		return SALVO_CL_ANSWER(answer, cl_device_fp_config,
				       fp | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT);
	case CL_DEVICE_HALF_FP_CONFIG:
		return has_half(info) ? SALVO_CL_ANSWER(answer, cl_device_fp_config, fp) :
					CL_INVALID_VALUE;
	case CL_DEVICE_DOUBLE_FP_CONFIG:
		return SALVO_CL_ANSWER(answer, cl_device_fp_config,
				       fp | CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF);
	default:
		return answer_optional(answer, info, name);
	}
}

static cl_int answer_partition(const struct salvo_cl_answer *answer, cl_device_id device,
			       cl_device_info name)
{
	static const cl_device_partition_property kinds[] = {
		CL_DEVICE_PARTITION_EQUALLY, CL_DEVICE_PARTITION_BY_COUNTS,
		CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN,
	};
	const bool domains = salvo_cl_device_nodes(device) > 1;

	switch (name) {
	case CL_DEVICE_PARENT_DEVICE:
		return SALVO_CL_ANSWER(answer, cl_device_id, device->parent);
	case CL_DEVICE_PARTITION_MAX_SUB_DEVICES:
		return SALVO_CL_ANSWER(answer, cl_uint, device->units < 2 ? 0 : device->units);
	case CL_DEVICE_PARTITION_PROPERTIES:
		if (device->units < 2)
			return SALVO_CL_ANSWER(answer, cl_device_partition_property, 0);
		return salvo_cl_answer(answer, kinds, (domains ? 3 : 2) * sizeof(*kinds));
	case CL_DEVICE_PARTITION_AFFINITY_DOMAIN:
		return SALVO_CL_ANSWER(answer, cl_device_affinity_domain,
				       !domains ? 0 : CL_DEVICE_AFFINITY_DOMAIN_NUMA |
				       CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE);
	case CL_DEVICE_PARTITION_TYPE:
		return salvo_cl_answer(answer, device->partition,
				       device->partition_count * sizeof(*device->partition));
	case CL_DEVICE_REFERENCE_COUNT:
		return SALVO_CL_ANSWER(answer, cl_uint,
				       device->parent ? salvo_cl_object_count(&device->base) : 1);
	default:
		return CL_INVALID_VALUE;
	}
}

/* "Salvo embedded GPU", "Salvo GPU renderD128" */
static cl_int answer_name(const struct salvo_cl_answer *answer, cl_device_id device)
{
	const char *node = strrchr(device->root->name, '/');
	char name[80];

	if (salvo_cl_device_is_embedded(device))
		return salvo_cl_answer_string(answer, "Salvo embedded GPU");
	snprintf(name, sizeof(name), "Salvo GPU %s", node ? node + 1 : device->root->name);
	return salvo_cl_answer_string(answer, name);
}

static cl_int answer_groups(const struct salvo_cl_answer *answer,
			    const struct salvo_device_info *info, cl_device_info name)
{
	size_t sizes[3];

	switch (name) {
	case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS:
		return SALVO_CL_ANSWER(answer, cl_uint, 3);
	case CL_DEVICE_MAX_WORK_GROUP_SIZE:
		return SALVO_CL_ANSWER(answer, size_t, info->max_group_items);
	case CL_DEVICE_MAX_WORK_ITEM_SIZES:
		sizes[0] = info->max_group_items;
		sizes[1] = info->max_group_items;
		sizes[2] = info->max_group_items;
		return salvo_cl_answer(answer, sizes, sizeof(sizes));
	case CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
		return SALVO_CL_ANSWER(answer, size_t, lanes(info, 4));
	default:
		return CL_INVALID_VALUE;
	}
}

static cl_int answer_execution(const struct salvo_cl_answer *answer, cl_device_info name)
{
	switch (name) {
	case CL_DEVICE_EXECUTION_CAPABILITIES:
		return SALVO_CL_ANSWER(answer, cl_device_exec_capabilities, CL_EXEC_KERNEL);
	case CL_DEVICE_QUEUE_ON_HOST_PROPERTIES:
		return SALVO_CL_ANSWER(answer, cl_command_queue_properties,
				       CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE |
				       CL_QUEUE_PROFILING_ENABLE);
	case CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR:
		return SALVO_CL_ANSWER(answer, cl_command_queue_properties,
				       CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE |
				       CL_QUEUE_PROFILING_ENABLE);
	case CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR:
		return SALVO_CL_ANSWER(answer, cl_command_queue_properties, 0);
	case CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR:
		return SALVO_CL_ANSWER(answer, cl_device_command_buffer_capabilities_khr,
				       CL_COMMAND_BUFFER_CAPABILITY_KERNEL_PRINTF_KHR |
				       CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR);
	case CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR:
		return SALVO_CL_ANSWER(answer, cl_mutable_dispatch_fields_khr,
				       CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR |
				       CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR |
				       CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR |
				       CL_MUTABLE_DISPATCH_ARGUMENTS_KHR);
	case CL_DEVICE_PROFILING_TIMER_RESOLUTION:
		return SALVO_CL_ANSWER(answer, size_t, 1);
	case CL_DEVICE_ENDIAN_LITTLE:
	case CL_DEVICE_AVAILABLE:
	case CL_DEVICE_PREFERRED_INTEROP_USER_SYNC:
		return SALVO_CL_ANSWER(answer, cl_bool, CL_TRUE);
	case CL_DEVICE_MAX_CLOCK_FREQUENCY:
		return SALVO_CL_ANSWER(answer, cl_uint, 1000);
	case CL_DEVICE_ADDRESS_BITS:
		return SALVO_CL_ANSWER(answer, cl_uint, 64);
	default:
		return CL_INVALID_VALUE;
	}
}

static cl_int answer_identity(const struct salvo_cl_answer *answer, cl_device_id device,
			      cl_device_info name)
{
	const bool half = has_half(salvo_cl_device_limits(device));

	switch (name) {
	case CL_DEVICE_TYPE:
		return SALVO_CL_ANSWER(answer, cl_device_type, CL_DEVICE_TYPE_GPU);
	case CL_DEVICE_VENDOR_ID:
		return SALVO_CL_ANSWER(answer, cl_uint, 0x1af4);
	case CL_DEVICE_MAX_COMPUTE_UNITS:
		return SALVO_CL_ANSWER(answer, cl_uint, device->units);
	case CL_DEVICE_NAME:
		return answer_name(answer, device);
	case CL_DEVICE_VENDOR:
		return salvo_cl_answer_string(answer, SALVO_CL_VENDOR);
	case CL_DRIVER_VERSION:
		return salvo_cl_answer_string(answer, "1.0");
	case CL_DEVICE_PROFILE:
		return salvo_cl_answer_string(answer, "FULL_PROFILE");
	case CL_DEVICE_VERSION:
		return salvo_cl_answer_string(answer, SALVO_CL_PLATFORM_VERSION);
	case CL_DEVICE_NUMERIC_VERSION:
		return SALVO_CL_ANSWER(answer, cl_version, CL_MAKE_VERSION(3, 0, 0));
	case CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED:
		/* None was passed by Khronos' process. */
		return salvo_cl_answer_string(answer, "v0000-01-01-00");
	case CL_DEVICE_EXTENSIONS:
		return salvo_cl_answer_string(answer, salvo_cl_extension_names(half));
	case CL_DEVICE_EXTENSIONS_WITH_VERSION:
		return salvo_cl_answer(answer, salvo_cl_extension_list,
				       salvo_cl_extension_bytes(half));
	case CL_DEVICE_PLATFORM:
		return SALVO_CL_ANSWER(answer, cl_platform_id, salvo_cl_platform());
	default:
		return CL_INVALID_VALUE;
	}
}

cl_int salvo_clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t size, void *value,
			     size_t *size_ret)
{
	const struct salvo_cl_answer answer = { size, value, size_ret };
	const struct salvo_device_info *info;

	if (!salvo_cl_is(device, SALVO_CL_DEVICE))
		return CL_INVALID_DEVICE;
	info = salvo_cl_device_limits(device);
	if (!info)
		return name == CL_DEVICE_AVAILABLE ? SALVO_CL_ANSWER(&answer, cl_bool, CL_FALSE) :
						     CL_DEVICE_NOT_AVAILABLE;
	switch (name) {
	case CL_DEVICE_TYPE:
	case CL_DEVICE_VENDOR_ID:
	case CL_DEVICE_MAX_COMPUTE_UNITS:
	case CL_DEVICE_NAME:
	case CL_DEVICE_VENDOR:
	case CL_DRIVER_VERSION:
	case CL_DEVICE_PROFILE:
	case CL_DEVICE_VERSION:
	case CL_DEVICE_NUMERIC_VERSION:
	case CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED:
	case CL_DEVICE_EXTENSIONS:
	case CL_DEVICE_EXTENSIONS_WITH_VERSION:
	case CL_DEVICE_PLATFORM:
		return answer_identity(&answer, device, name);
	case CL_DEVICE_PARENT_DEVICE:
	case CL_DEVICE_PARTITION_MAX_SUB_DEVICES:
	case CL_DEVICE_PARTITION_PROPERTIES:
	case CL_DEVICE_PARTITION_AFFINITY_DOMAIN:
	case CL_DEVICE_PARTITION_TYPE:
	case CL_DEVICE_REFERENCE_COUNT:
		return answer_partition(&answer, device, name);
	case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS:
	case CL_DEVICE_MAX_WORK_GROUP_SIZE:
	case CL_DEVICE_MAX_WORK_ITEM_SIZES:
	case CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
		return answer_groups(&answer, info, name);
	case CL_DEVICE_EXECUTION_CAPABILITIES:
	case CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR:
	case CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR:
	case CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR:
	case CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR:
	case CL_DEVICE_QUEUE_ON_HOST_PROPERTIES:
	case CL_DEVICE_PROFILING_TIMER_RESOLUTION:
	case CL_DEVICE_ENDIAN_LITTLE:
	case CL_DEVICE_AVAILABLE:
	case CL_DEVICE_PREFERRED_INTEROP_USER_SYNC:
	case CL_DEVICE_MAX_CLOCK_FREQUENCY:
	case CL_DEVICE_ADDRESS_BITS:
		return answer_execution(&answer, name);
	case CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR ... CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE:
	case CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF:
	case CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR ... CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF:
		return answer_vectors(&answer, info, name);
	default:
		return answer_compiler(&answer, info, name);
	}
}
