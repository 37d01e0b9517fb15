// SPDX-License-Identifier: MIT
/*
 * icd.c - the driver as the ICD loader sees it: a table of entry points, and those of extensions
 *
 * The loader finds the table at the head of each handle, and the platform by
 * clIcdGetPlatformIDsKHR(), one of three symbols that the library exports. Entry points of
 * extensions are found by name.
 */
#include "icd.h"

#include <string.h>

#include "command_buffer.h"
#include "platform.h"

#define EXPORT __attribute__((visibility("default")))

static cl_int missing(void)
{
	return CL_INVALID_OPERATION;
}

#define MISSING(place)									\
__attribute__((unused))									\
static void *missing_##place(void *a1, void *a2, void *a3, void *a4, void *a5, void *a6,	\
			     void *a7, void *a8, void *a9, void *a10, void *a11, void *a12)	\
{											\
	cl_int *const errcode[] = { NULL, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12 };	\
											\
	salvo_cl_report(errcode[place], CL_INVALID_OPERATION);				\
	return NULL;									\
}
MISSING(2)
MISSING(3)
MISSING(4)
MISSING(5)
MISSING(6)
MISSING(7)
MISSING(8)
MISSING(9)
MISSING(10)
MISSING(12)

#define SALVO_CL_ENTRY(name)	.name = salvo_##name,
#define SALVO_CL_LATER(name)	.name = (void *)missing,
#define SALVO_CL_LATER_OBJECT(name, errcode_place) .name = (void *)missing_##errcode_place,
const struct _cl_icd_dispatch salvo_cl_dispatch = {
#include "entries_queue.h"
#include "entries_memory.h"
#include "entries_program.h"
#undef SALVO_CL_ENTRY
#undef SALVO_CL_LATER
#undef SALVO_CL_LATER_OBJECT
};

#define EXTENSION(name) { #name, (void *)salvo_##name }
static const struct extension {
	const char *name;
	void *entry;
} extensions[] = {
	{ "clIcdGetPlatformIDsKHR", (void *)salvo_clGetPlatformIDs },
	EXTENSION(clGetKernelSuggestedLocalWorkSizeKHR),
	EXTENSION(clEnqueueAcquireExternalMemObjectsKHR),
	EXTENSION(clEnqueueReleaseExternalMemObjectsKHR),
	{ "clCreateCommandQueueWithPropertiesKHR",
	  (void *)salvo_clCreateCommandQueueWithProperties },
};

static const struct salvo_cl_extension_entry *const lists[] = {
	salvo_cl_buffer_entries, salvo_cl_buffer_command_entries, salvo_cl_mutable_entries,
};

void *salvo_clGetExtensionFunctionAddress(const char *name)
{
	const struct salvo_cl_extension_entry *entry;
	size_t i;

	for (i = 0; name && i < sizeof(lists) / sizeof(lists[0]); i++)
		for (entry = lists[i]; entry->name; entry++)
			if (!strcmp(name, entry->name))
				return entry->entry;

	for (i = 0; name && i < sizeof(extensions) / sizeof(extensions[0]); i++)
		if (!strcmp(name, extensions[i].name))
			return extensions[i].entry;
	return NULL;
}

void *salvo_clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *name)
{
	return salvo_cl_is(platform, SALVO_CL_PLATFORM) ? salvo_clGetExtensionFunctionAddress(name)
							: NULL;
}

/* --- what the library exports ----------------------------------------------------- */

EXPORT cl_int clIcdGetPlatformIDsKHR(cl_uint num_entries, cl_platform_id *platforms,
				     cl_uint *num_platforms)
{
	return salvo_clGetPlatformIDs(num_entries, platforms, num_platforms);
}

EXPORT cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info param_name,
				size_t param_value_size, void *param_value,
				size_t *param_value_size_ret)
{
	return salvo_clGetPlatformInfo(platform, param_name, param_value_size, param_value,
				       param_value_size_ret);
}

EXPORT void *clGetExtensionFunctionAddress(const char *name)
{
	return salvo_clGetExtensionFunctionAddress(name);
}
