// SPDX-License-Identifier: MIT
/* branchy_loop.cl - a loop of more than 250 blocks, for tests/cc/branchy_loop.c */

#define STEP(j) \
	if (from[(x + i * (j + 3)) & 1023] == j) \
		break; \
	if (i + j > limit) \
		s += from[(i + j) & 1023];
#define STEPS(j) STEP(j) STEP(j + 1) STEP(j + 2) STEP(j + 3)
#define STEPS_16(j) STEPS(j) STEPS(j + 4) STEPS(j + 8) STEPS(j + 12)
#define STEPS_64(j) STEPS_16(j) STEPS_16(j + 16) STEPS_16(j + 32) STEPS_16(j + 48)

kernel void leave(global const int *from, global int *to, int n, int limit)
{
	int x = get_global_id(0), s = 0, i;

	for (i = 0; i < n; i++) {
		STEPS_64(0) STEPS_64(64) STEPS_16(128) STEPS_16(144)
	}
	to[x] = s * 31 + i;
}
