// SPDX-License-Identifier: MIT
/* int_ids.cl - work-items that run one after the other, with global ids as ints, for int_ids.c */

int8 chosen(int which, int8 v, int i)
{
	switch (which) {
	case 0:
		return v * v + 2;
	case 1:
		return v - i;
	case 2:
		return v + v * 5;
	default:
		return 7 - v;
	}
}

kernel void choose(global const int *which, global int8 *of)
{
	int i = get_global_id(0);

	of[i] = chosen(which[i], of[i], i);
}

kernel void choose_rows(global const int *which, global int8 *of, int end)
{
	int i = get_global_id(0);

	if (i >= end && (uint)i < 0x80000000)
		return;
	of[i] = chosen(which[i] + (int)get_global_id(1), of[i], i);
}
