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
#include "cl_semaphore.h"

#define EXPORT __attribute__((visibility("default")))

/* Entry points of extensions that share objects with OpenGL and EGL, which no device has. */
static cl_int refuse(void)
{
	return CL_INVALID_OPERATION;
}

/* The same where the result is an object: @place is that of errcode_ret among the parameters. */
#define REFUSE_OBJECT(place)								\
static void *refuse_object_##place(void *a1, void *a2, void *a3, void *a4, void *a5, void *a6)	\
{											\
	cl_int *const errcode[] = { NULL, a1, a2, a3, a4, a5, a6 };			\
											\
	salvo_cl_report(errcode[place], CL_INVALID_OPERATION);				\
	return NULL;									\
}
REFUSE_OBJECT(3)
REFUSE_OBJECT(4)
REFUSE_OBJECT(6)

#define SALVO_CL_ENTRY(name)	.name = salvo_##name,
const struct _cl_icd_dispatch salvo_cl_dispatch = {
#include "entries_queue.def"
#include "entries_memory.def"
#include "entries_program.def"
#undef SALVO_CL_ENTRY
	.clCreateFromGLBuffer = (void *)refuse_object_4,
	.clCreateFromGLTexture2D = (void *)refuse_object_6,
	.clCreateFromGLTexture3D = (void *)refuse_object_6,
	.clCreateFromGLTexture = (void *)refuse_object_6,
	.clCreateFromGLRenderbuffer = (void *)refuse_object_4,
	.clGetGLObjectInfo = (void *)refuse,
	.clGetGLTextureInfo = (void *)refuse,
	.clEnqueueAcquireGLObjects = (void *)refuse,
	.clEnqueueReleaseGLObjects = (void *)refuse,
	.clGetGLContextInfoKHR = (void *)refuse,
	.clCreateEventFromGLsyncKHR = (void *)refuse_object_3,
	.clCreateFromEGLImageKHR = (void *)refuse_object_6,
	.clEnqueueAcquireEGLObjectsKHR = (void *)refuse,
	.clEnqueueReleaseEGLObjectsKHR = (void *)refuse,
	.clCreateEventFromEGLSyncKHR = (void *)refuse_object_4,
	.clCreateSubDevicesEXT = (void *)refuse,
	.clRetainDeviceEXT = salvo_clRetainDevice,
	.clReleaseDeviceEXT = salvo_clReleaseDevice,
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
	salvo_cl_semaphore_entries, salvo_cl_semaphore_fd_entries,
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
