// SPDX-License-Identifier: MIT
// The kernel of shrink.batch: half the size, each pixel the mean of four. The sampler does it.

kernel void shrink(read_only image2d_t from, sampler_t sampler, write_only image2d_t to)
{
	const int2 at = (int2)(get_global_id(0), get_global_id(1));
	const float2 size = (float2)(get_image_width(to), get_image_height(to));

	write_imagef(to, at, read_imagef(from, sampler, (convert_float2(at) + 0.5f) / size));
}
