// SPDX-License-Identifier: MIT
/* Branches below branches on which lanes differ; see tests/cc/pitfalls.c. */
#include "cc_pitfalls.h"

/*
 * Both ways of the first branch lead to both ends. A value that is chosen where the ends meet
 * differs between lanes, though neither the conditions below the first one nor what is chosen do.
 */
kernel void two_ways(PLAIN)
{
	uint x = in[ITEM], r;

	if (x & 1 ? n & 2 : n & 4) {
		if (x & 8)
			out[ITEM + 256] = in[ITEM + 1];
		else
			out[ITEM + 512] = ~x;
		out[ITEM + 768] = x;
		r = 2;
	} else {
		if (x & 16)
			out[ITEM + 256] = x;
		else if (x & 32)
			out[ITEM + 512] = x;
		else
			out[ITEM + 256] = x * 3;
		r = 1;
	}
	out[ITEM] = r * in[n];
}

/* The ends meet in a loop, and where lanes leave it. */
kernel void two_ways_in_a_loop(PLAIN)
{
	uint x = in[ITEM], r = 0, i;

	for (i = 0; i < n; i++) {
		if ((x >> i) & 1 ? n & 2 : n & 4) {
			if ((x >> i) & 8)
				out[ITEM + 256] += in[ITEM + 1];
			else
				out[ITEM + 512] ^= ~x;
			out[ITEM + 768] ^= x >> i;
			r += 2;
		} else {
			if ((x >> i) & 16)
				out[ITEM + 256] ^= x;
			else if ((x >> i) & 32)
				out[ITEM + 512] ^= x + i;
			else
				out[ITEM + 256] ^= x * 3;
			r += 1;
			if ((x >> i) & 2 ? n & 1 : n & 4) {
				out[ITEM + 512] += i;
				if ((x >> i) & 32)
					break;
			}
		}
	}
	out[ITEM] = r * 100 + i;
}

/* The ends are a barrier and the end of the kernel: as work-items agree, so must lanes. */
kernel void two_ways_to_a_barrier(ARGS)
{
	uint x = in[ITEM], same, r = x;

	s[LID] = 3 * get_group_id(0);
	barrier(CLK_LOCAL_MEM_FENCE);
	same = s[SIZE - 1 - LID];
	barrier(CLK_LOCAL_MEM_FENCE);
	if (same < n ? same & 2 : same & 1) {
		r += x & 4 ? in[ITEM + 1] : ~x;
		s[LID] = r;
		barrier(CLK_LOCAL_MEM_FENCE);
		r ^= s[(LID + 7) % SIZE];
	} else {
		switch (x & 3) {
		case 0:
			r ^= n;
			break;
		case 1:
			out[ITEM + 256] = x;
			break;
		default:
			r++;
		}
	}
	out[ITEM] = r;
}

/* A flag is stored only where its memory holds something else (by an earlier store, or by none). */
kernel void flags(PLAIN)
{
	uint x = in[ITEM];

	if (x & 1)
		out[1000] = 7;
	if ((x & 3) == 2)
		((global uchar *)out)[4004] = 255;
	if (x > 0xfffffff0)
		out[1002] = 9;
	if (!(x & 6))
		*(global ulong *)(out + 1004) = 0x100000000;
	out[ITEM] = x + n;
}

/*
 * All lanes may leave the loop where the first way would go on to values that its latch uses: the
 * code for lanes that have left is at the latch, which the values are not skipped for.
 */
kernel void left_before_values(PLAIN)
{
	uint x = in[ITEM], u = 0, i, j;

	for (i = 0; i < 3; i++) {
		for (j = 0; j < 3; j++) {
			if (in[28] & 1) {
				if (in[64 + (u & 63)] & 1)
					goto end;
				out[ITEM + 256] += u;
			}
			if (in[ITEM + 28] & 1)
				u += 3;
			u++;
		}
		u++;
	}
end:
	out[ITEM] = x + u * 11;
}
