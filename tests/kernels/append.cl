// SPDX-License-Identifier: MIT
/*
 * append.cl - work-items that take places in a list by a counter
 */

/* out: the elements of in above a bound */
kernel void above(global const int *in, global int *out, global int *count, int n, int bound)
{
	int i = get_global_id(0) + get_global_id(1) * get_global_size(0);

	if (i < n && in[i] > bound)
		out[atomic_inc(count + 1)] = in[i];
}

/* Several at a time, behind loops, and ways that miss the list with values of their own */
kernel void several(global const int *in, global int *out, global int *count, int n, int bound)
{
	int i = get_global_id(0) + get_global_id(1) * get_global_size(0);

	if (i >= n)
		return;
	int v = in[i], sum = v * 3;
	if (v < bound) {
		if (v & 1) {
			out[4 * n + i] = sum + in[(i + 7) % n];
			return;
		}
		sum -= 5;
	} else {
		int k = v & 3;

		for (int j = 0; j < k; j++)
			sum += in[(i + j) % n];
		int at = atomic_add(count + 1, k);
		for (int j = 0; j < k; j++)
			out[at + j] = i * 4 + j;
		sum += k;
	}
	out[4 * n + i] = sum;
}

/* From the end of a list down; by the ids and size of the work-group */
kernel void below(global const int *in, global int *out, global int *count, int n, int bound)
{
	int x = get_group_id(0) * get_local_size(0) + get_local_id(0);
	int i = x + get_global_id(1) * get_global_size(0);

	if (i < n && in[i] < bound)
		out[n - 1 + atomic_dec(count + 1)] = in[i];
}

/* A place for each */
kernel void places(global const int *in, global int *out, global int *count, int n, int bound)
{
	int i = get_global_id(0) + get_global_id(1) * get_global_size(0);
	int at = atomic_add(count + 1, 1);

	if (at < n)
		out[at] = i + bound + in[0];
}

/* Adds what may be 0, or cancel out, to a counter that may be NULL */
kernel void sums(global const int *in, global int *out, global int *count, int n, int bound)
{
	int i = get_global_id(0) + get_global_id(1) * get_global_size(0);

	if (i < n && in[i] > bound)
		out[i] = atomic_add(count + 1, in[i] / 40 * (in[i] % 3 - 1));
}

/* Not shared: a work-item may wait for the counter. */
kernel void waits(global const int *in, global int *out, volatile global int *count, int n,
		  int bound)
{
	int i = get_global_id(0) + get_global_id(1) * get_global_size(0);
	int at = atomic_inc(count + 1);

	while (count[1] <= at)
		;
	if (i < n)
		out[i] = in[i] + bound;
}
