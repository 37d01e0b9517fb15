// SPDX-License-Identifier: MIT
/* missed.cl - barriers that all work-items of a group reach only if their words of @in are equal */

kernel void missed(global const uint *in, global uint *out)
{
	uint x = get_global_id(0);

	if (in[x]) {
		out[x] = 1;
		barrier(CLK_GLOBAL_MEM_FENCE);
	}
	out[x] += x;
}

kernel void missed_in_loop(global const uint *in, global uint *out)
{
	uint x = get_global_id(0), i = 0;

	do {
		out[x] = i;
		barrier(CLK_GLOBAL_MEM_FENCE);
	} while (i++ < in[x]);
}

kernel void returned(global const uint *in, global uint *out)
{
	uint x = get_global_id(0);

	if (!in[x])
		return;
	out[x] = 1;
	barrier(CLK_GLOBAL_MEM_FENCE);
	out[x] = 2;
}

kernel void nested(global const uint *in, global uint *out)
{
	uint x = get_global_id(0), other = get_group_id(0) % 2;

	if (x % 7 == 3)
		out[x] = in[x];
	barrier(CLK_GLOBAL_MEM_FENCE);
	if (other < 2) {
		if (in[x] == other) {
			barrier(CLK_GLOBAL_MEM_FENCE);
			out[x] += 1;
			if (in[x])
				barrier(CLK_GLOBAL_MEM_FENCE);
		}
	}
}
