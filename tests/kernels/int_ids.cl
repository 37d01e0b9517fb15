// SPDX-License-Identifier: MIT
/* int_ids.cl - work-items that run one after the other, with global ids as ints, for int_ids.c */

kernel void choose(global const int *which, global int8 *of)
{
	int i = get_global_id(0);
	int8 v = of[i];

	switch (which[i]) {
	case 0:
		v = v * v + 2;
		break;
	case 1:
		v -= i;
		break;
	case 2:
		v += v * 5;
		break;
	default:
		v = 7 - v;
	}
	of[i] = v;
}

kernel void choose_rows(global const int *which, global int8 *of, int end)
{
	int i = get_global_id(0);
	int8 v = of[i];

	if (i >= end && (uint)i < 0x80000000)
		return;
	switch (which[i] + (int)get_global_id(1)) {
	case 0:
		v = v * v + 2;
		break;
	case 1:
		v -= i;
		break;
	case 2:
		v += v * 5;
		break;
	default:
		v = 7 - v;
	}
	of[i] = v;
}
