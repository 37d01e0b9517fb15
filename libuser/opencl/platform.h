/* SPDX-License-Identifier: MIT */
/*
 * platform.h - the one platform, and its devices
 */
#ifndef SALVO_CL_PLATFORM_H
#define SALVO_CL_PLATFORM_H

#include "object.h"

/** define SALVO_CL_PLATFORM_VERSION - CL_PLATFORM_VERSION and CL_DEVICE_VERSION. */
#define SALVO_CL_PLATFORM_VERSION	"OpenCL 3.0 Salvo 1.0"
#define SALVO_CL_VENDOR			"Salvo"

/**
 * struct _cl_platform_id - The platform.
 */
struct _cl_platform_id {
	struct salvo_cl_object base;
	/** @devices: A root device for each render node, and last the embedded GPU. */
	cl_device_id *devices;
	unsigned int device_count;
};

/** salvo_cl_platform() - The platform; its devices are found when it is first asked for. */
cl_platform_id salvo_cl_platform(void);

#endif /* SALVO_CL_PLATFORM_H */
