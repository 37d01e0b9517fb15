// SPDX-License-Identifier: MIT
/* fibers.cl - a kernel whose work-items are user-level threads (M2): built with --fibers */

/*
 * Moves each work-group's part of in[] down by @rounds, round its end, one place at a time.
 * Work-item @odd, if there is one, does so once more. For groups of up to 1,024 work-items.
 */
kernel void rotate_down(global const uint *in, global uint *out, uint rounds, uint odd)
{
	local uint part[1024];
	size_t l = get_local_id(0), n = get_local_size(0);
	uint value = in[get_global_id(0)], k;

	for (k = 0; k < rounds + (l == odd); k++) {
		part[l] = value;
		barrier(CLK_LOCAL_MEM_FENCE);
		value = part[(l + 1) % n];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	out[get_global_id(0)] = value;
}
