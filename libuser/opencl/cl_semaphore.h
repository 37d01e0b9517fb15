/* SPDX-License-Identifier: MIT */
/*
 * cl_semaphore.h - semaphores: cl_khr_semaphore, cl_khr_external_semaphore, with sync fds
 */
#ifndef SALVO_CL_SEMAPHORE_H
#define SALVO_CL_SEMAPHORE_H

#include "context.h"
#include "extensions.h"

/**
 * struct _cl_semaphore_khr - A binary semaphore. The context's lock protects its last two members.
 */
struct _cl_semaphore_khr {
	struct salvo_cl_object base;
	cl_context context;
	/** @device: The one whose queues may use it. */
	cl_device_id device;
	/** @properties: As they were given, with the 0 at the end. */
	cl_semaphore_properties_khr *properties;
	size_t property_count;
	/** @exportable, @imported: A sync fd may be taken from it, or was given to it. */
	bool exportable;
	bool imported;
	/** @signal: What the next wait waits for, with a reference; NULL: nothing has signalled. */
	cl_event signal;
	/** @waits: User events of waits that came before their signals, the first one first. */
	cl_event waits;
};

/**
 * salvo_cl_semaphore_import() - Let the work of a sync fd be what signals it.
 * @fd: Closed if this succeeds; -1 is one that has signalled.
 *
 * Return: CL_SUCCESS, CL_INVALID_VALUE (no sync fd), CL_OUT_OF_HOST_MEMORY.
 */
cl_int salvo_cl_semaphore_import(cl_semaphore_khr semaphore, int fd);

extern const struct salvo_cl_extension_entry salvo_cl_semaphore_entries[];
extern const struct salvo_cl_extension_entry salvo_cl_semaphore_fd_entries[];

#endif /* SALVO_CL_SEMAPHORE_H */
