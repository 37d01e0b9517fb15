// SPDX-License-Identifier: MIT
/* cc_denormals.cl - results that are denormal numbers, for tests/cc/exact.c */

kernel void halves(global const float *in, global float *out)
{
	size_t i = get_global_id(0);

	out[i] = in[i] * 0.5f;
}

kernel void halves_of_neighbours(global const float *in, global float *out)
{
	local float near[64];
	size_t i = get_global_id(0), x = get_local_id(0);

	near[x] = in[i] * 0.5f;
	barrier(CLK_LOCAL_MEM_FENCE);
	out[i] = near[x ^ 1] * 0.5f;
}
