// SPDX-License-Identifier: MIT
/*
 * layer.c - how the OpenCL loader and a layer meet
 */
#include "layer.h"

#include <CL/cl_layer.h>
#include <string.h>

const struct _cl_icd_dispatch *layer_driver;
static struct _cl_icd_dispatch table;

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t size, void *value,
					       size_t *size_ret)
{
	const cl_layer_api_version version = CL_LAYER_API_VERSION_100;

	if (name != CL_LAYER_API_VERSION || (value && size < sizeof(version)))
		return CL_INVALID_VALUE;
	if (value)
		memcpy(value, &version, sizeof(version));
	if (size_ret)
		*size_ret = sizeof(version);
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entries,
					    const struct _cl_icd_dispatch *target,
					    cl_uint *entries_ret,
					    const struct _cl_icd_dispatch **table_ret)
{
	if (!target || !entries_ret || !table_ret || entries * sizeof(void *) < sizeof(table))
		return CL_INVALID_VALUE;
	layer_driver = target;
	layer_init(&table);
	*entries_ret = sizeof(table) / sizeof(void *);
	*table_ret = &table;
	return CL_SUCCESS;
}
