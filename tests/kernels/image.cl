// SPDX-License-Identifier: MIT
/* image.cl - reads, writes and questions for tests/lib/image.c */

kernel void sample(read_only image2d_t image, sampler_t s, global const float2 *at,
		   global float4 *out)
{
	size_t i = get_global_id(0);

	out[i] = read_imagef(image, s, at[i]);
}

/* Through local memory, so that no row of work-groups is run as one; odd work-items come later. */
#define SAMPLE_ROWS(X) \
	__attribute__((reqd_work_group_size(X, 1, 1))) \
	kernel void sample_rows_of_##X(read_only image2d_t image, sampler_t s, \
				       global const float2 *at, global float4 *out) \
	{ \
		local float4 color[X]; \
		size_t i = get_global_id(0), x = get_local_id(0); \
		if (x & 1) \
			color[x - 1] = read_imagef(image, s, at[i - 1]); \
		barrier(CLK_LOCAL_MEM_FENCE); \
		if (x & 1) \
			color[x] = read_imagef(image, s, at[i]); \
		out[i] = color[x]; \
	}

SAMPLE_ROWS(8)
SAMPLE_ROWS(4)

kernel void sample_3d(read_only image3d_t image, sampler_t s, global const float4 *at,
		      global float4 *out)
{
	size_t i = get_global_id(0);

	out[i] = read_imagef(image, s, at[i]);
}

kernel void copy_f(read_only image2d_t from, write_only image2d_t to)
{
	const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
	int2 at = (int2)(get_global_id(0), get_global_id(1));

	write_imagef(to, at - 1, read_imagef(from, s, at - 1));
}

kernel void copy_i(read_only image2d_t from, write_only image2d_t to)
{
	int2 at = (int2)(get_global_id(0), get_global_id(1));

	write_imagei(to, at, read_imagei(from, at) + 1);
}

kernel void copy_ui(read_only image2d_t from, write_only image2d_t to)
{
	int2 at = (int2)(get_global_id(0), get_global_id(1));

	write_imageui(to, at, read_imageui(from, at) + 1u);
}

kernel void layers(read_only image2d_array_t from, write_only image2d_array_t to,
		   read_only image1d_t line, global int *out)
{
	int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);

	write_imagef(to, at, read_imagef(from, at) + read_imagef(line, at.x));
	if (at.x + at.y + at.z)
		return;
	vstore8((int8)(get_image_width(from), get_image_height(to), get_image_array_size(from),
		       get_image_dim(from), get_image_channel_order(line),
		       get_image_channel_data_type(line), get_image_width(line)), 0, out);
}
