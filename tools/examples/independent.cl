// SPDX-License-Identifier: MIT
// Kernels of independent.batch: workloads that have nothing to do with each other.

kernel void scale(global const float *in, global float *out, float factor)
{
	size_t i = get_global_id(0);

	out[i] = in[i] * factor;
}

kernel void square(global const int *in, global int *out)
{
	size_t i = get_global_id(0);

	out[i] = in[i] * in[i];
}

kernel void transpose(global const uint *in, global uint *out, uint width, uint height)
{
	size_t x = get_global_id(0), y = get_global_id(1);

	out[x * height + y] = in[y * width + x];
}
