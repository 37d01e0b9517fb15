// SPDX-License-Identifier: MIT
/* many_barriers.cl - kernels of more barriers than salvo-cc compiles as one function (M2) */

#define PASS(k) part[l] = v + k; barrier(CLK_LOCAL_MEM_FENCE); \
		v = v * 3 + part[(l + k) % size]; barrier(CLK_LOCAL_MEM_FENCE);
#define PASSES(k) PASS(k) PASS(k + 1) PASS(k + 2) PASS(k + 3)

/* A loop and a condition span some of these functions. */
kernel void pass_around(global const uint *in, global uint *out, local uint *part, uint turns)
{
	const uint size = get_local_size(0) * get_local_size(1);
	const uint l = get_local_id(1) * get_local_size(0) + get_local_id(0);
	const uint at = get_global_id(1) * get_global_size(0) + get_global_id(0);
	uint v = in[at];

	PASSES(1)
	for (uint i = 0; i < turns; i++) {
		v ^= i;
		PASSES(2)
		if (i % 2) {
			PASSES(7)
			if (i == 3)
				break;
		}
		PASSES(3)
	}
	PASSES(4)
	out[at] = v;
}

#define MEET out[x] += 3; barrier(CLK_GLOBAL_MEM_FENCE);
#define MEET_9 MEET MEET MEET MEET MEET MEET MEET MEET MEET

/* All work-items of a group reach all barriers only if their words of @in are equal. */
kernel void missed_late(global const uint *in, global uint *out)
{
	uint x = get_global_id(0);

	MEET_9 MEET_9 MEET_9 MEET_9
	if (in[x]) {
		MEET
	}
	out[x] += x;
}
