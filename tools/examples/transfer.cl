// SPDX-License-Identifier: MIT
// Kernels of transfer.batch.

kernel void add(global const uint *a, global const uint *b, global uint *out)
{
	size_t i = get_global_id(0);

	out[i] = a[i] + b[i];
}

// Each work-group reverses its part through local memory.
kernel void reverse(global uint *data, local uint *part)
{
	size_t i = get_local_id(0), n = get_local_size(0);

	part[i] = data[get_global_id(0)];
	barrier(CLK_LOCAL_MEM_FENCE);
	data[get_global_id(0)] = part[n - 1 - i];
}
