// SPDX-License-Identifier: MIT
/*
 * image_format.c - which image formats there are, their sizes, and pixels from colors
 *
 * The formats are those of libsalvo that OpenCL allows, for images of every kind and access: more
 * than the list that full profile demands.
 */
#include <math.h>
#include <string.h>

#include "icd.h"
#include "image.h"

static const cl_channel_order orders[] = {
	CL_R, CL_RG, CL_RGBA, CL_BGRA, CL_ARGB, CL_A, CL_RA, CL_INTENSITY, CL_LUMINANCE,
};

static const cl_channel_type types[] = {
	CL_UNORM_INT8, CL_UNORM_INT16, CL_SNORM_INT8, CL_SNORM_INT16, CL_SIGNED_INT8,
	CL_SIGNED_INT16, CL_SIGNED_INT32, CL_UNSIGNED_INT8, CL_UNSIGNED_INT16, CL_UNSIGNED_INT32,
	CL_HALF_FLOAT, CL_FLOAT,
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static size_t channels_of(cl_channel_order order)
{
	switch (order) {
	case CL_R:
	case CL_A:
	case CL_INTENSITY:
	case CL_LUMINANCE:
		return 1;
	case CL_RG:
	case CL_RA:
		return 2;
	case CL_RGBA:
	case CL_BGRA:
	case CL_ARGB:
		return 4;
	default:
		return 0;
	}
}

static size_t type_bytes(cl_channel_type type)
{
	switch (type) {
	case CL_UNORM_INT8:
	case CL_SNORM_INT8:
	case CL_SIGNED_INT8:
	case CL_UNSIGNED_INT8:
		return 1;
	case CL_UNORM_INT16:
	case CL_SNORM_INT16:
	case CL_SIGNED_INT16:
	case CL_UNSIGNED_INT16:
	case CL_HALF_FLOAT:
		return 2;
	case CL_SIGNED_INT32:
	case CL_UNSIGNED_INT32:
	case CL_FLOAT:
		return 4;
	default:
		return 0;
	}
}

size_t salvo_cl_format_bytes(const cl_image_format *format)
{
	return channels_of(format->image_channel_order) *
	       type_bytes(format->image_channel_data_type);
}

/* Does OpenCL let an order have a type? */
static bool is_allowed(cl_channel_order order, cl_channel_type type)
{
	switch (order) {
	case CL_BGRA:
	case CL_ARGB:
		return type_bytes(type) == 1;
	case CL_INTENSITY:
	case CL_LUMINANCE:
		return type < CL_SIGNED_INT8 || type > CL_UNSIGNED_INT32;
	default:
		return true;
	}
}

bool salvo_cl_format_is_supported(const cl_image_format *format)
{
	return salvo_cl_format_bytes(format) &&
	       is_allowed(format->image_channel_order, format->image_channel_data_type);
}

static bool is_image_type(cl_mem_object_type type)
{
	switch (type) {
	case CL_MEM_OBJECT_IMAGE1D:
	case CL_MEM_OBJECT_IMAGE1D_BUFFER:
	case CL_MEM_OBJECT_IMAGE1D_ARRAY:
	case CL_MEM_OBJECT_IMAGE2D:
	case CL_MEM_OBJECT_IMAGE2D_ARRAY:
	case CL_MEM_OBJECT_IMAGE3D:
		return true;
	default:
		return false;
	}
}

cl_int salvo_clGetSupportedImageFormats(cl_context context, cl_mem_flags flags,
					cl_mem_object_type type, cl_uint num_entries,
					cl_image_format *formats, cl_uint *num_formats)
{
	cl_uint count = 0;
	size_t o, t;

	if (!salvo_cl_is(context, SALVO_CL_CONTEXT))
		return CL_INVALID_CONTEXT;
	if (salvo_cl_mem_check_flags(flags) || !is_image_type(type) || (!num_entries && formats))
		return CL_INVALID_VALUE;
	for (o = 0; o < COUNT(orders); o++)
		for (t = 0; t < COUNT(types); t++) {
			if (!is_allowed(orders[o], types[t]))
				continue;
			if (formats && count < num_entries)
				formats[count] = (cl_image_format){ orders[o], types[t] };
			count++;
		}
	if (num_formats)
		*num_formats = count;
	return CL_SUCCESS;
}

/* --- pixels --------------------------------------------------------------------------- */

static uint16_t to_half(float x)
{
	uint32_t bits, mantissa, sign;
	int exponent, shift;
	uint16_t half;

	memcpy(&bits, &x, sizeof(bits));
	sign = bits >> 16 & 0x8000;
	exponent = (int)(bits >> 23 & 255) - 127 + 15;
	mantissa = bits & 0x7fffff;
	if (exponent == 255 - 127 + 15)
		return sign | 0x7c00 | (mantissa ? 0x200 | mantissa >> 13 : 0);
	if (exponent > 30)
		return sign | 0x7c00;
	if (exponent < -10)
		return sign;
	/* A subnormal number has its leading bit among the others. */
	shift = exponent > 0 ? 13 : 14 - exponent;
	if (exponent > 0)
		mantissa |= (uint32_t)exponent << 23;
	else
		mantissa |= 0x800000;
	half = mantissa >> shift;
	mantissa &= (1u << shift) - 1;
	if (mantissa > 1u << (shift - 1) || (mantissa == 1u << (shift - 1) && (half & 1)))
		half++;
	return sign | half;
}

static float norm(float x, float least, float scale)
{
	return rintf((x >= least ? x > 1 ? 1 : x : least) * scale);
}

static int64_t clamp(int64_t x, int64_t least, int64_t most)
{
	return x < least ? least : x > most ? most : x;
}

/* A channel @i of @color, as it lies in memory: its lowest bytes. */
static uint32_t channel(cl_channel_type type, const void *color, unsigned int i)
{
	const float f = ((const float *)color)[i];
	const int32_t n = ((const int32_t *)color)[i];
	const uint32_t u = ((const uint32_t *)color)[i];

	switch (type) {
	case CL_UNORM_INT8:
		return norm(f, 0, 255);
	case CL_UNORM_INT16:
		return norm(f, 0, 65535);
	case CL_SNORM_INT8:
		return (int32_t)norm(f, -1, 127);
	case CL_SNORM_INT16:
		return (int32_t)norm(f, -1, 32767);
	case CL_SIGNED_INT8:
		return clamp(n, INT8_MIN, INT8_MAX);
	case CL_SIGNED_INT16:
		return clamp(n, INT16_MIN, INT16_MAX);
	case CL_UNSIGNED_INT8:
		return clamp(u, 0, UINT8_MAX);
	case CL_UNSIGNED_INT16:
		return clamp(u, 0, UINT16_MAX);
	case CL_HALF_FLOAT:
		return to_half(f);
	default:
		return u;
	}
}

void salvo_cl_format_pack(const cl_image_format *format, const void *color, void *pixel)
{
	static const uint8_t rgba[] = { 0, 1, 2, 3 }, bgra[] = { 2, 1, 0, 3 };
	static const uint8_t argb[] = { 3, 0, 1, 2 }, ra[] = { 0, 3 }, a[] = { 3 };
	const size_t bytes = type_bytes(format->image_channel_data_type);
	const cl_channel_order order = format->image_channel_order;
	const uint8_t *from = rgba;
	size_t i;

	if (order == CL_BGRA)
		from = bgra;
	else if (order == CL_ARGB)
		from = argb;
	else if (order == CL_RA)
		from = ra;
	else if (order == CL_A)
		from = a;
	for (i = 0; i < channels_of(order); i++) {
		const uint32_t value = channel(format->image_channel_data_type, color, from[i]);

		memcpy((char *)pixel + i * bytes, &value, bytes);
	}
}
