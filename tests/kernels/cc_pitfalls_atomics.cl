// SPDX-License-Identifier: MIT
/*
 * cc_pitfalls_atomics.cl - atomic operations and locks that such a compiler gets wrong
 *
 * Each kernel has the same arguments; tests/cc/pitfalls.c compares what they do in every way
 * to run them. Those that have a comment in front once went wrong.
 */
#include "cc_pitfalls.h"

kernel void atomics_apart(PLAIN)
{
	uint x = in[ITEM], old = 0;

	if (x & 1)
		old = atomic_add(&out[500 + ITEM % 5 * 0], x & 15) * 0;
	else if (x & 2)
		atomic_max(&out[501], x);
	else
		atomic_xor(&out[502], x);
	for (uint i = 0; i < (x & 7); i++) {
		if (i == 3)
			continue;
		atomic_inc(&out[503 + (i & 3)]);
	}
	if (n > 3 && (x & 8))
		atomic_sub(&out[508], 5);
	atomic_dec(&out[509]);
	out[ITEM] = old + x;
}

/* A lane with the lock waited for those that want it. */
kernel void lock(PLAIN)
{
	global volatile uint *l = out + 500;

	while (atomic_cmpxchg(l, 0, 1))
		;
	out[501] = out[501] * 1 + in[ITEM];
	atomic_xchg(l, 0);
	out[ITEM] = in[ITEM];
}

kernel void float_atomic(PLAIN)
{
	global volatile uint *l = out + 500;
	uint old, new;

	do {
		old = *l;
		new = as_uint(as_float(old) + (float)(in[ITEM] & 15));
	} while (atomic_cmpxchg(l, old, new) != old);
	out[ITEM] = 1;
}

kernel void lock_inside(PLAIN)
{
	global volatile uint *l = out + 500;
	bool done = false;

	while (!done)
		if (!atomic_cmpxchg(l, 0, 1)) {
			out[501] += in[ITEM];
			done = true;
			atomic_xchg(l, 0);
		}
	out[ITEM] = in[ITEM];
}

kernel void local_atomics(ARGS)
{
	uint x = in[ITEM], i;

	for (i = LID; i < 8; i += SIZE)
		s[i] = i;
	barrier(CLK_LOCAL_MEM_FENCE);
	if (x & 1 && atomic_add(&s[x & 3], x & 7) + 1 &&
	    (x & 2 || atomic_or(&s[4], x & 0xff0) != 1))
		atomic_max(&s[5], x);
	for (i = 0; i < (x & 3); i++)
		atomic_xor(&s[6], x << i);
	local volatile uint *l = s + 7;
	while (atomic_cmpxchg(l, 7, 8) != 7)
		;
	s[3] += x;
	atomic_xchg(l, 7);
	barrier(CLK_LOCAL_MEM_FENCE);
	out[ITEM] = s[x & 7];
}

/* Atomic operations of all lanes at one address; no result depends on the order of work-items. */
kernel void merged_atomics(ARGS)
{
	uint v = in[ITEM];

	atomic_add(&out[900], v);
	atomic_sub(&out[901], v);
	atomic_inc(&out[902]);
	atomic_max((global int *)&out[903], (int)v);
	if (v & n) {
		atomic_max(&out[904], v);
		atomic_min((global int *)&out[905], (int)v);
		atomic_xor(&out[906], v);
		atomic_or(&out[907], v & 0x0f0f0f0f);
		atomic_dec(&out[908]);
	}
	for (uint i = 0; i < (v & 3); i++)
		atomic_add(&out[909 + i], v + i);
	s[LID] = 0xffffffff;
	barrier(CLK_LOCAL_MEM_FENCE);
	atomic_and(&s[0], v | n);
	if (v & 4)
		atomic_min(&s[SIZE - 1], v);
	barrier(CLK_LOCAL_MEM_FENCE);
	out[ITEM] = s[0] ^ s[SIZE - 1];
}

/* Each work-item gets a ticket of its own; the counter may be 0. */
kernel void tickets(ARGS)
{
	uint v = in[ITEM], t = atomic_inc(&out[900]);

	out[400 + t] += 1;
	if (v & n) {
		t = atomic_add(&out[901], 2);
		out[t] |= 0x10000;
		out[t + 1] |= 0x20000;
	}
}
