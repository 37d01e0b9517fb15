// SPDX-License-Identifier: MIT
/*
 * cc_pitfalls_steps.cl - values that loops with barriers carry on, for tests/cc/pitfalls
 *
 * See tools/salvo-cc/steps.cc, which takes what is the same for all work-items out of them, and
 * split.cc, where the value of the next iteration may be written over that of this one.
 */
#include "cc_pitfalls.h"

kernel void advancing(ARGS)
{
	global const uint *p = in + ITEM;
	uint i = ITEM * 3, sum = 0;

	for (uint k = 0; k < n; k++) {
		s[LID] = *p;
		barrier(CLK_LOCAL_MEM_FENCE);
		sum = sum * 5 + s[(LID + 1) % SIZE] + in[i];
		barrier(CLK_LOCAL_MEM_FENCE);
		p += n;
		i += in[k] & 7;
	}
	out[ITEM] = sum + *p;
}

/* Downwards, and by more than one step in an iteration */
kernel void receding(ARGS)
{
	global const uint *p = in + ITEM + 200;
	long i = ITEM + 100;
	uint sum = 0;

	for (uint k = 0; k < n; k++) {
		sum += *p;
		p -= n;
		s[LID] = *p ^ in[i];
		barrier(CLK_LOCAL_MEM_FENCE);
		i -= k;
		sum = sum * 3 + s[SIZE - 1 - LID] + in[i];
		p -= 2;
		i -= 3;
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	out[ITEM] = sum;
}

kernel void advancing_in_two_loops(ARGS)
{
	global const uint *p = in + ITEM;
	uint sum = 0;

	for (uint k = 0; k < n; k++) {
		global const uint *q = p;

		for (uint j = 0; j <= k; j++) {
			s[LID] = *q;
			barrier(CLK_LOCAL_MEM_FENCE);
			sum = sum * 3 + s[(LID + 3) % SIZE];
			barrier(CLK_LOCAL_MEM_FENCE);
			q += 3;
		}
		p += n;
		if (k & 1)
			p += in[k] & 3;
		s[LID] = *p;
		barrier(CLK_LOCAL_MEM_FENCE);
		sum += s[LID / 2];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	out[ITEM] = sum;
}

/* Indices of few bits, and those whose sum with the offset wraps around */
kernel void advancing_that_wraps(ARGS)
{
	ushort few = ITEM * 1000;
	uint i = ITEM + 0xfffffff0u;
	int j = 0x7ffffff0 - (int)ITEM;
	uint sum = 0;

	for (uint k = 0; k < n; k++) {
		s[LID] = in[few >> 7] + in[(i >> 1) & 1023];
		barrier(CLK_LOCAL_MEM_FENCE);
		sum = sum * 7 + s[(LID + 1) % SIZE] + in[(uint)j >> 22];
		barrier(CLK_LOCAL_MEM_FENCE);
		few += 7777;
		i += 0x40000000u + n;
		j = (int)((uint)j + 0x10000000u);
	}
	out[ITEM] = sum + few + i + j;
}

/* Each is read when the next one of another is there already. */
kernel void handed_on(ARGS)
{
	uint a = in[ITEM], b = in[ITEM + 1], c = 0, last = 0;

	for (uint k = 0; k < n; k++) {
		uint kept = a;

		s[LID] = a + c;
		barrier(CLK_LOCAL_MEM_FENCE);
		a = b;
		b = in[ITEM + k] ^ s[(LID + 1) % SIZE];
		barrier(CLK_LOCAL_MEM_FENCE);
		s[LID] = b;
		barrier(CLK_LOCAL_MEM_FENCE);
		last = c;
		c += kept * s[(LID + 2) % SIZE];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	out[ITEM] = a + b * 3 + c * 5 + last * 7;
}

/* Written in some iterations by some, and read before and behind */
kernel void written_by_some(ARGS)
{
	uint sum = in[ITEM], most = 0;

	for (uint k = 0; k < n; k++) {
		s[LID] = sum;
		barrier(CLK_LOCAL_MEM_FENCE);
		if ((in[ITEM] >> k) & 1)
			sum = sum * 3 + s[(LID + 1) % SIZE];
		most = max(most, sum);
		barrier(CLK_LOCAL_MEM_FENCE);
		if (k == 2)
			most ^= s[LID];
		s[LID] = most;
		barrier(CLK_LOCAL_MEM_FENCE);
		sum += s[SIZE - 1 - LID];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	out[ITEM] = sum + most * 3;
}

kernel void walking(ARGS)
{
	const global uint *p = in + ITEM;
	uint sum = 0;

	for (uint i = 0; i < n; i++) {
		s[LID] = p[0];
		p += n;
		barrier(CLK_LOCAL_MEM_FENCE);
		sum = sum * 3 + s[SIZE - 1 - LID] + p[1];
		p += 2;
		barrier(CLK_LOCAL_MEM_FENCE);
		p -= i & 1;
	}
	out[ITEM] = sum + *p;
}

kernel void counting(ARGS)
{
	uint at = ITEM * 5, back = n - LID;
	char small = LID;
	ulong large = ((ulong)LID << 31) + n;

	for (uint i = 0; i < n; i++) {
		s[LID] = in[at & 1023] + in[back & 1023] + small + (uint)(large >> 7);
		barrier(CLK_LOCAL_MEM_FENCE);
		out[ITEM] = out[ITEM] * 7 + s[(LID + i) % SIZE];
		at += n;
		back = back - 3 * i;
		small += 50;
		large += 0x7fffffffu + i;
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	out[ITEM + 300] = at + back + small + (uint)large;
}

/* Values of the iteration before meet one that is the same for all. */
kernel void prefetched(ARGS)
{
	const global uint *p = in + ITEM, *q = in + 2 * LID;
	uint a = p[0], b = q[0], sum = 0, done = 0;

	p += 4 * n;
	q += 3;
	do {
		uint before = a;

		s[LID] = b;
		barrier(CLK_LOCAL_MEM_FENCE);
		a = p[0];
		b = q[1];
		sum += before * s[n] + s[n - 1];
		p += 4 * n;
		q += n;
		done += n;
		barrier(CLK_LOCAL_MEM_FENCE);
	} while (done < 5 * n);
	out[ITEM] = sum + a * b;
}

/* Some advance by what work-items have found, or not in each iteration. */
kernel void uneven(ARGS)
{
	uint at = ITEM, other = LID, third = ITEM, sum = 0;

	for (uint i = 0; i < n; i++) {
		s[LID] = in[at & 1023] ^ third;
		barrier(CLK_LOCAL_MEM_FENCE);
		at += s[i] & 7;
		third += s[LID] & 3;
		if (in[ITEM] & (1u << i))
			other += 5;
		sum = sum * 3 + s[(other + i) % SIZE];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	out[ITEM] = sum + at + third;
}

kernel void walks_in_walks(ARGS)
{
	const global uint *row = in + LID;
	uint sum = 0;

	for (uint j = 0; j < n; j++) {
		const global uint *p = row;

		for (uint i = 0; i < 3; i++) {
			s[LID] = *p;
			barrier(CLK_LOCAL_MEM_FENCE);
			sum += s[(LID ^ 1) % SIZE] * (j + 1);
			p += n + j;
			barrier(CLK_LOCAL_MEM_FENCE);
		}
		s[LID] += (uint)(p - row);
		barrier(CLK_LOCAL_MEM_FENCE);
		sum ^= s[SIZE - 1 - LID];
		barrier(CLK_LOCAL_MEM_FENCE);
		row += 17;
	}
	out[ITEM] = sum + *row;
}

/* Private arrays of one region, of several, and of a region in a loop (split.cc) */
kernel void arrays_of_regions(ARGS)
{
	uint before[9], across[9], inside[9], behind[9], sum = 0;

	for (uint k = 0; k < 9; k++) {
		before[k] = in[ITEM + k] % 9;
		across[k] = in[k * n];
		inside[k] = k;
	}
	for (uint k = 1; k < n; k++)
		before[k % 9] += before[before[k - 1] % 9];
	s[LID] = before[n];
	for (uint k = 0; k < n; k++) {
		barrier(CLK_LOCAL_MEM_FENCE);
		sum += s[(LID + k) % SIZE];
		barrier(CLK_LOCAL_MEM_FENCE);
		inside[in[ITEM + k] % 9] += sum;
		s[LID] = inside[k] ^ across[k];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	for (uint k = 0; k < 9; k++)
		behind[k] = s[(LID + k) % SIZE];
	for (uint k = 1; k < n; k++)
		behind[k] += behind[k - 1] + across[in[ITEM] % 9];
	out[ITEM] = sum + behind[n - 1] + behind[in[ITEM + 1] % n];
}
