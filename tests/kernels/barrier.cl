// SPDX-License-Identifier: MIT
/* barrier.cl - small kernels with barriers and local memory (M2, M3) */

/* Reverses each work-group's part of in[]. */
kernel void reverse_local(global const uint *in, global uint *out, local uint *scratch)
{
	size_t l = get_local_id(0), n = get_local_size(0);

	scratch[l] = in[get_global_id(0)];
	barrier(CLK_LOCAL_MEM_FENCE);
	out[get_global_id(0)] = scratch[n - 1 - l];
}

/* Sum of each work-group's part of in[], for groups of up to 1,024 work-items. */
kernel void reduce(global const uint *in, global uint *sums)
{
	local uint part[1024];
	size_t l = get_local_id(0), n = get_local_size(0);

	part[l] = in[get_global_id(0)];
	while (n > 1) {
		size_t half_up = (n + 1) / 2;

		barrier(CLK_LOCAL_MEM_FENCE);
		if (l + half_up < n)
			part[l] += part[l + half_up];
		n = half_up;
	}
	if (l == 0)
		sums[get_group_id(0)] = part[0];
}
