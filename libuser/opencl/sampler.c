// SPDX-License-Identifier: MIT
/*
 * sampler.c - samplers: creation and infos
 */
#include "sampler.h"

#include <stdlib.h>
#include <string.h>

#include "icd.h"

static void destroy(struct salvo_cl_object *object)
{
	cl_sampler sampler = (cl_sampler)object;

	salvo_cl_object_put(&sampler->context->base);
	free(sampler->properties);
	free(sampler);
}

/* The bits of libsalvo. Return: CL_INVALID_VALUE if there is no such mode. */
static cl_int set_bits(cl_sampler sampler)
{
	uint32_t bits = sampler->normalized ? SALVO_SAMPLER_NORMALIZED : 0;

	switch (sampler->addressing) {
	case CL_ADDRESS_NONE:
		break;
	case CL_ADDRESS_CLAMP_TO_EDGE:
		bits |= SALVO_SAMPLER_CLAMP_TO_EDGE;
		break;
	case CL_ADDRESS_CLAMP:
		bits |= SALVO_SAMPLER_CLAMP;
		break;
	case CL_ADDRESS_REPEAT:
		bits |= SALVO_SAMPLER_REPEAT;
		break;
	case CL_ADDRESS_MIRRORED_REPEAT:
		bits |= SALVO_SAMPLER_MIRRORED_REPEAT;
		break;
	default:
		return CL_INVALID_VALUE;
	}
	switch (sampler->filter) {
	case CL_FILTER_NEAREST:
		bits |= SALVO_SAMPLER_NEAREST;
		break;
	case CL_FILTER_LINEAR:
		bits |= SALVO_SAMPLER_LINEAR;
		break;
	default:
		return CL_INVALID_VALUE;
	}
	sampler->bits = bits;
	return sampler->normalized == CL_TRUE || sampler->normalized == CL_FALSE ? CL_SUCCESS
										 : CL_INVALID_VALUE;
}

static cl_int read_properties(cl_sampler sampler, const cl_sampler_properties *properties)
{
	unsigned int seen = 0, bit;
	size_t n = 0;

	for (; properties && properties[n]; n += 2) {
		const cl_sampler_properties value = properties[n + 1];

		switch (properties[n]) {
		case CL_SAMPLER_NORMALIZED_COORDS:
			sampler->normalized = value;
			bit = 1;
			break;
		case CL_SAMPLER_ADDRESSING_MODE:
			sampler->addressing = value;
			bit = 2;
			break;
		case CL_SAMPLER_FILTER_MODE:
			sampler->filter = value;
			bit = 4;
			break;
		default:
			return CL_INVALID_VALUE;
		}
		if (seen & bit)
			return CL_INVALID_VALUE;
		seen |= bit;
	}
	if (!properties)
		return CL_SUCCESS;
	sampler->property_count = n + 1;
	sampler->properties = malloc((n + 1) * sizeof(*properties));
	if (!sampler->properties)
		return CL_OUT_OF_HOST_MEMORY;
	memcpy(sampler->properties, properties, (n + 1) * sizeof(*properties));
	return CL_SUCCESS;
}

static cl_sampler create(cl_context context, const cl_sampler_properties *properties,
			 bool keeps_properties, cl_int *err)
{
	cl_sampler sampler;

	*err = CL_INVALID_CONTEXT;
	if (!salvo_cl_is(context, SALVO_CL_CONTEXT))
		return NULL;
	*err = CL_OUT_OF_HOST_MEMORY;
	sampler = calloc(1, sizeof(*sampler));
	if (!sampler)
		return NULL;
	salvo_cl_object_init(&sampler->base, SALVO_CL_SAMPLER, destroy);
	salvo_cl_object_get(&context->base);
	sampler->context = context;
	sampler->normalized = CL_TRUE;
	sampler->addressing = CL_ADDRESS_CLAMP;
	sampler->filter = CL_FILTER_NEAREST;
	*err = read_properties(sampler, properties);
	if (!*err)
		*err = set_bits(sampler);
	if (*err) {
		salvo_cl_object_put(&sampler->base);
		return NULL;
	}
	if (!keeps_properties)
		sampler->property_count = 0;
	return sampler;
}

cl_sampler salvo_clCreateSamplerWithProperties(cl_context context,
					       const cl_sampler_properties *properties,
					       cl_int *errcode_ret)
{
	cl_int err;
	cl_sampler sampler = create(context, properties, true, &err);

	salvo_cl_report(errcode_ret, err);
	return sampler;
}

cl_sampler salvo_clCreateSampler(cl_context context, cl_bool normalized,
				 cl_addressing_mode addressing, cl_filter_mode filter,
				 cl_int *errcode_ret)
{
	const cl_sampler_properties properties[] = {
		CL_SAMPLER_NORMALIZED_COORDS, normalized, CL_SAMPLER_ADDRESSING_MODE, addressing,
		CL_SAMPLER_FILTER_MODE, filter, 0,
	};
	cl_int err;
	cl_sampler sampler = create(context, properties, false, &err);

	salvo_cl_report(errcode_ret, err);
	return sampler;
}

cl_int salvo_clRetainSampler(cl_sampler sampler)
{
	if (!salvo_cl_is(sampler, SALVO_CL_SAMPLER))
		return CL_INVALID_SAMPLER;
	salvo_cl_object_retain(&sampler->base);
	return CL_SUCCESS;
}

cl_int salvo_clReleaseSampler(cl_sampler sampler)
{
	if (!salvo_cl_is(sampler, SALVO_CL_SAMPLER) || !salvo_cl_object_release(&sampler->base))
		return CL_INVALID_SAMPLER;
	return CL_SUCCESS;
}

cl_int salvo_clGetSamplerInfo(cl_sampler sampler, cl_sampler_info name, size_t size, void *value,
			      size_t *size_ret)
{
	const struct salvo_cl_answer answer = { size, value, size_ret };

	if (!salvo_cl_is(sampler, SALVO_CL_SAMPLER))
		return CL_INVALID_SAMPLER;
	switch (name) {
	case CL_SAMPLER_REFERENCE_COUNT:
		return SALVO_CL_ANSWER(&answer, cl_uint, salvo_cl_object_count(&sampler->base));
	case CL_SAMPLER_CONTEXT:
		return SALVO_CL_ANSWER(&answer, cl_context, sampler->context);
	case CL_SAMPLER_NORMALIZED_COORDS:
		return SALVO_CL_ANSWER(&answer, cl_bool, sampler->normalized);
	case CL_SAMPLER_ADDRESSING_MODE:
		return SALVO_CL_ANSWER(&answer, cl_addressing_mode, sampler->addressing);
	case CL_SAMPLER_FILTER_MODE:
		return SALVO_CL_ANSWER(&answer, cl_filter_mode, sampler->filter);
	case CL_SAMPLER_PROPERTIES:
		return salvo_cl_answer(&answer, sampler->properties,
				       sampler->property_count * sizeof(*sampler->properties));
	default:
		return CL_INVALID_VALUE;
	}
}
