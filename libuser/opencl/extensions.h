/* SPDX-License-Identifier: MIT */
/*
 * extensions.h - the extensions that platform and devices have
 */
#ifndef SALVO_CL_EXTENSIONS_H
#define SALVO_CL_EXTENSIONS_H

#include "object.h"

/**
 * salvo_cl_extension_list - The answer to CL_DEVICE_EXTENSIONS_WITH_VERSION.
 *
 * @half: with cl_khr_fp16, which not every device has.
 */
extern const cl_name_version salvo_cl_extension_list[];
size_t salvo_cl_extension_bytes(bool half);
/** salvo_cl_extension_names() - The answer to CL_DEVICE_EXTENSIONS. Any thread. */
const char *salvo_cl_extension_names(bool half);

/** struct salvo_cl_extension_entry - An entry point that is found by its name. */
struct salvo_cl_extension_entry {
	const char *name;
	void *entry;
};

#endif /* SALVO_CL_EXTENSIONS_H */
