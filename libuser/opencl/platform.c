// SPDX-License-Identifier: MIT
/*
 * platform.c - the platform: its devices are those of salvo_device_enumerate()
 *
 * The list is made once, at the first call, and stays until the process ends.
 */
#include "platform.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "salvo.h"
#include "device.h"
#include "extensions.h"
#include "icd.h"

static struct _cl_platform_id platform;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void destroy(struct salvo_cl_object *object)
{
	(void)object;
}

static void find_devices(void)
{
	char name[64];
	cl_device_id device, *devices;
	unsigned int i;

	salvo_cl_object_init(&platform.base, SALVO_CL_PLATFORM, destroy);
	for (i = 0; !salvo_device_enumerate(i, name, sizeof(name)); i++) {
		devices = realloc(platform.devices, (platform.device_count + 1) * sizeof(*devices));
		if (!devices)
			return;
		platform.devices = devices;
		device = salvo_cl_device_create(name);
		if (!device)
			return;
		devices[platform.device_count++] = device;
	}
}

cl_platform_id salvo_cl_platform(void)
{
	pthread_once(&once, find_devices);
	return &platform;
}

cl_int salvo_clGetPlatformIDs(cl_uint num_entries, cl_platform_id *platforms,
			      cl_uint *num_platforms)
{
	if ((!num_entries && platforms) || (!platforms && !num_platforms))
		return CL_INVALID_VALUE;
	if (platforms)
		platforms[0] = salvo_cl_platform();
	if (num_platforms)
		*num_platforms = 1;
	return CL_SUCCESS;
}

cl_int salvo_clGetPlatformInfo(cl_platform_id id, cl_platform_info name, size_t size, void *value,
			       size_t *size_ret)
{
	const struct salvo_cl_answer answer = { size, value, size_ret };

	if (id && !salvo_cl_is(id, SALVO_CL_PLATFORM))
		return CL_INVALID_PLATFORM;
	switch (name) {
	case CL_PLATFORM_PROFILE:
		return salvo_cl_answer_string(&answer, "FULL_PROFILE");
	case CL_PLATFORM_VERSION:
		return salvo_cl_answer_string(&answer, SALVO_CL_PLATFORM_VERSION);
	case CL_PLATFORM_NUMERIC_VERSION:
		return SALVO_CL_ANSWER(&answer, cl_version, CL_MAKE_VERSION(3, 0, 0));
	case CL_PLATFORM_NAME:
		return salvo_cl_answer_string(&answer, "Salvo");
	case CL_PLATFORM_VENDOR:
		return salvo_cl_answer_string(&answer, SALVO_CL_VENDOR);
	case CL_PLATFORM_EXTENSIONS:
		return salvo_cl_answer_string(&answer, salvo_cl_extension_names(false));
	case CL_PLATFORM_EXTENSIONS_WITH_VERSION:
		return salvo_cl_answer(&answer, salvo_cl_extension_list,
				       salvo_cl_extension_bytes(false));
	case CL_PLATFORM_HOST_TIMER_RESOLUTION:
		return SALVO_CL_ANSWER(&answer, cl_ulong, 1);
	case CL_PLATFORM_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR:
		return SALVO_CL_ANSWER(&answer, cl_external_memory_handle_type_khr,
				       CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR);
	case CL_PLATFORM_SEMAPHORE_TYPES_KHR:
		return SALVO_CL_ANSWER(&answer, cl_semaphore_type_khr,
				       CL_SEMAPHORE_TYPE_BINARY_KHR);
	case CL_PLATFORM_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR:
	case CL_PLATFORM_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR:
		return SALVO_CL_ANSWER(&answer, cl_external_semaphore_handle_type_khr,
				       CL_SEMAPHORE_HANDLE_SYNC_FD_KHR);
	case CL_PLATFORM_ICD_SUFFIX_KHR:
		return salvo_cl_answer_string(&answer, "SALVO");
	default:
		return CL_INVALID_VALUE;
	}
}
