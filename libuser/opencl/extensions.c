// SPDX-License-Identifier: MIT
/*
 * extensions.c - the extensions that platform and devices have, with their versions
 *
 * Who implements one adds a line here, and its entry points to the list in icd.c.
 */
#include "extensions.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define EXTENSION(name, major, minor, patch) { CL_MAKE_VERSION(major, minor, patch), name }

const cl_name_version salvo_cl_extension_list[] = {
	EXTENSION("cl_khr_icd", 1, 0, 0),
	EXTENSION("cl_khr_extended_versioning", 1, 0, 0),
	EXTENSION("cl_khr_byte_addressable_store", 1, 0, 0),
	EXTENSION("cl_khr_global_int32_base_atomics", 1, 0, 0),
	EXTENSION("cl_khr_global_int32_extended_atomics", 1, 0, 0),
	EXTENSION("cl_khr_local_int32_base_atomics", 1, 0, 0),
	EXTENSION("cl_khr_local_int32_extended_atomics", 1, 0, 0),
	EXTENSION("cl_khr_int64_base_atomics", 1, 0, 0),
	EXTENSION("cl_khr_int64_extended_atomics", 1, 0, 0),
	EXTENSION("cl_khr_3d_image_writes", 1, 0, 0),
	EXTENSION("cl_khr_fp64", 1, 0, 0),
	EXTENSION("cl_khr_image2d_from_buffer", 1, 0, 0),
	EXTENSION("cl_khr_external_memory", 1, 0, 1),
	EXTENSION("cl_khr_external_memory_dma_buf", 1, 0, 1),
	EXTENSION("cl_khr_semaphore", 1, 0, 0),
	EXTENSION("cl_khr_external_semaphore", 1, 0, 1),
	EXTENSION("cl_khr_external_semaphore_sync_fd", 1, 0, 0),
	EXTENSION("cl_khr_create_command_queue", 1, 0, 0),
	EXTENSION("cl_khr_priority_hints", 1, 0, 0),
	EXTENSION("cl_khr_command_buffer", 0, 9, 8),
	EXTENSION("cl_khr_command_buffer_mutable_dispatch", 0, 9, 5),
	EXTENSION("cl_khr_suggested_local_work_size", 1, 0, 0),
	EXTENSION("cl_khr_subgroups", 1, 0, 0),
	/* The last one, since it depends on the device. */
	EXTENSION("cl_khr_fp16", 1, 0, 0),
};

#define COUNT (sizeof(salvo_cl_extension_list) / sizeof(salvo_cl_extension_list[0]))

/* Without and with half */
static char names[2][COUNT * CL_NAME_VERSION_MAX_NAME_SIZE];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static size_t count(bool half)
{
	return half ? COUNT : COUNT - 1;
}

static void join_names(void)
{
	size_t half, i, used;

	for (half = 0; half < 2; half++)
		for (i = used = 0; i < count(half); i++)
			used += snprintf(names[half] + used, sizeof(names[half]) - used, "%s%s",
					 i ? " " : "", salvo_cl_extension_list[i].name);
}

size_t salvo_cl_extension_bytes(bool half)
{
	return count(half) * sizeof(*salvo_cl_extension_list);
}

const char *salvo_cl_extension_names(bool half)
{
	pthread_once(&once, join_names);
	return names[half];
}
