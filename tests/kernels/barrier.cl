// SPDX-License-Identifier: MIT
/* barrier.cl - small kernels with barriers and local memory (M2, M3) */

/* Reverses each work-group's part of in[]. */
kernel void reverse_local(global const uint *in, global uint *out, local uint *scratch)
{
	size_t l = get_local_id(0), n = get_local_size(0);

	scratch[l] = in[get_global_id(0)];
	barrier(CLK_LOCAL_MEM_FENCE);
	out[get_global_id(0)] = scratch[n - 1 - l];
}

/* Sum of each work-group's part of in[], for groups of up to 1,024 work-items. */
kernel void reduce(global const uint *in, global uint *sums)
{
	local uint part[1024];
	size_t l = get_local_id(0), n = get_local_size(0);

	part[l] = in[get_global_id(0)];
	while (n > 1) {
		size_t half_up = (n + 1) / 2;

		barrier(CLK_LOCAL_MEM_FENCE);
		if (l + half_up < n)
			part[l] += part[l + half_up];
		n = half_up;
	}
	if (l == 0)
		sums[get_group_id(0)] = part[0];
}

/*
 * Each work-item adds the tasks that its group takes from a queue to out[]. Work-item 0 takes the
 * next one while others may still test the last: as GPUs do, they run in lockstep.
 */
kernel void take_tasks(global const uint *tasks, global uint *taken, global uint *out, uint count)
{
	local uint next, task;
	uint sum = 0;

	if (get_local_id(0) == 0) {
		next = atomic_inc(taken);
		task = tasks[next];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	while (next < count) {
		sum += task;
		if (get_local_id(0) == 0) {
			next = atomic_inc(taken);
			task = tasks[next];
		}
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	out[get_global_id(0)] = sum;
}

/* The same where a work-group takes tasks of its own instead if there are many. */
kernel void take_or_share_tasks(global const uint *tasks, global uint *taken, global uint *out,
				uint count)
{
	local uint next;
	uint sum = 0, task = get_group_id(0);

	if (count < 1000) {
		if (get_local_id(0) == 0)
			next = atomic_inc(taken);
		barrier(CLK_LOCAL_MEM_FENCE);
		task = next;
	}
	while (task < count) {
		sum += tasks[task];
		if (count < 1000) {
			if (get_local_id(0) == 0)
				next = atomic_inc(taken);
			barrier(CLK_LOCAL_MEM_FENCE);
			task = next;
		} else {
			task += get_num_groups(0);
		}
	}
	out[get_global_id(0)] = sum;
}

/* The same where each work-item reads the number of tasks by an atomic operation. */
kernel void take_agreed_tasks(global const uint *tasks, global uint *taken, global uint *out,
			      uint count)
{
	local uint next, task, most;
	uint sum = 0, all, taking;

	if (get_local_id(0) == 0) {
		next = atomic_inc(taken);
		task = tasks[next];
		most = count;
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	all = atomic_or(&most, 0);
	taking = next;
	while (taking < all) {
		sum += task;
		if (get_local_id(0) == 0) {
			next = atomic_inc(taken);
			task = tasks[next];
		}
		barrier(CLK_LOCAL_MEM_FENCE);
		taking = next;
	}
	out[get_global_id(0)] = sum;
}

/* The same where they read the number of the task by one. */
kernel void take_published_tasks(global const uint *tasks, global uint *taken, global uint *out,
				 uint count)
{
	local uint next, task;
	uint sum = 0;

	if (get_local_id(0) == 0) {
		next = atomic_inc(taken);
		task = tasks[next];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	while (atomic_or(&next, 0) < count) {
		sum += task;
		if (get_local_id(0) == 0) {
			task = tasks[atomic_inc(taken)];
			atomic_inc(&next);
		}
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	out[get_global_id(0)] = sum;
}

/* The same with a task to skip, a barrier in each way, and a loop that ends by its work. */
kernel void follow_tasks(global const uint *tasks, global uint *taken, global uint *out, uint count)
{
	local uint next, done;
	uint sum = 0;

	if (get_local_id(0) == 0)
		next = atomic_inc(taken);
	barrier(CLK_LOCAL_MEM_FENCE);
	while (next < count) {
		uint task = tasks[next];

		if (task & 1) {
			if (get_local_id(0) == 0)
				next = atomic_inc(taken);
			barrier(CLK_LOCAL_MEM_FENCE);
			continue;
		}
		if (get_local_id(0) == 0)
			done = 0;
		barrier(CLK_LOCAL_MEM_FENCE);
		while (!done) {
			sum += task;
			task /= 2;
			if (get_local_id(0) == 0)
				done = task < 10;
			barrier(CLK_LOCAL_MEM_FENCE);
		}
		if (get_local_id(0) == 0)
			next = atomic_inc(taken);
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	out[get_global_id(0)] = sum;
}

/* Whether work-item 0 takes the next one depends on what is the same for all work-items. */
kernel void choose_tasks(global const uint *tasks, global uint *taken, global uint *out, uint count)
{
	local uint next, stop;
	uint sum = 0;

	if (get_local_id(0) == 0) {
		next = atomic_inc(taken);
		stop = 0;
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	while (!stop && next < count) {
		sum += tasks[next];
		if (get_local_id(0) == 0) {
			if (tasks[next] & 1) {
				taken[0] += 2;
				next = atomic_inc(taken);
			} else {
				next = atomic_inc(taken);
				if (next > count / 2)
					stop = 1;
			}
		}
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	out[get_global_id(0)] = sum;
}

/* The same where they read both conditions by atomic operations, each in a block of its own. */
kernel void choose_published_tasks(global const uint *tasks, global uint *taken, global uint *out,
				   uint count)
{
	local uint next, task, stop;
	uint sum = 0;

	if (get_local_id(0) == 0) {
		next = atomic_inc(taken);
		task = tasks[next];
		stop = 0;
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	while (!atomic_or(&stop, 0) && atomic_or(&next, 0) < count) {
		sum += task;
		if (get_local_id(0) == 0) {
			if (task & 1)
				taken[0] += 2;
			else if (taken[0] > count / 2)
				stop = 1;
			next = atomic_inc(taken);
			task = tasks[next];
		}
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	out[get_global_id(0)] = sum;
}

/* And where one of two is enough */
kernel void finish_published_tasks(global const uint *tasks, global uint *taken, global uint *out,
				   uint count)
{
	local uint next, task, busy;
	uint sum = 0;

	if (get_local_id(0) == 0) {
		next = atomic_inc(taken);
		task = tasks[next];
		busy = 1;
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	while (atomic_max(&next, 0) < count / 2 || atomic_and(&busy, -1)) {
		sum += task;
		if (get_local_id(0) == 0) {
			task = tasks[atomic_inc(taken)];
			busy = atomic_inc(&next) < count - 2;
		}
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	out[get_global_id(0)] = sum + task;
}

/*
 * All work-items clear what they share, each all of it, and go on with no barrier in between: on
 * GPUs, in lockstep.
 */
kernel void clear_all(global const uint *in, global uint *out)
{
	local uint part[64];

	for (uint i = 0; i < 64; i++)
		part[i] = 7;
	part[get_local_id(0)] = in[get_global_id(0)];
	barrier(CLK_LOCAL_MEM_FENCE);
	out[get_global_id(0)] = part[(get_local_id(0) * 5 + 1) % 64];
}

/* The same again and again, in memory of an argument, after a write that some make. */
kernel void clear_often(global const uint *in, global uint *out, local uint *part)
{
	uint sum = 0;

	for (uint turn = 0; turn < 5; turn++) {
		for (uint i = 0; i < 64 + turn; i++)
			part[i] = turn;
		if (in[get_global_id(0)] & 1)
			part[(get_local_id(0) + turn) % 64] = in[get_global_id(0)];
		barrier(CLK_LOCAL_MEM_FENCE);
		for (uint i = 0; i < 64; i++)
			sum = sum * 5 + part[i];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	out[get_global_id(0)] = sum;
}

/* A flag and a counter */
kernel void clear_flags(global const uint *in, global uint *out)
{
	local uint flag, count;

	flag = 0;
	count = 0;
	if (in[get_global_id(0)] == 49 * 9)
		flag = 1;
	if (in[get_global_id(0)] & 1)
		atomic_inc(&count);
	barrier(CLK_LOCAL_MEM_FENCE);
	out[get_global_id(0)] = flag * 1000 + count;
}

/* No barrier once a wave of a GPU, in lockstep, has all that is left to do. */
kernel void sum_in_a_wave(global const uint *in, global uint *out, local uint *part)
{
	uint l = get_local_id(0);

	part[l] = in[get_global_id(0)];
	barrier(CLK_LOCAL_MEM_FENCE);
	for (uint all = get_local_size(0), rest; all > 1; all = rest) {
		rest = (all + 1) / 2;
		if (l + rest < all)
			part[l] += part[l + rest];
		if (rest > 32)
			barrier(CLK_LOCAL_MEM_FENCE);
	}
	out[get_global_id(0)] = l ? l : part[0];
}

/*
 * Flags of the next round are written while others may search those of the last one. Rounds flag
 * the first and the last work-items by turns, so that the last search where new flags are written.
 */
kernel void search_flags(global const uint *in, global uint *out, local uint *flags)
{
	uint l = get_local_id(0), sum = 0;

	for (uint round = 0; round < 4; round++) {
		flags[l] = l / 30 == round % 2 ? (in[get_global_id(0)] ^ sum) >> round * 2 & 1 : 0;
		barrier(CLK_LOCAL_MEM_FENCE);
		for (uint i = 0; i < 60; i++) {
			while (i < 60 && !flags[i])
				i++;
			if (i < 60) {
				sum = sum * 5 + i * flags[i];
				barrier(CLK_LOCAL_MEM_FENCE);
			}
		}
	}
	out[get_global_id(0)] = sum;
}

/* What a wave of a GPU has read is overwritten for the next turn with no barrier in between. */
kernel void add_rows(global const uint *in, global uint *out, local uint *part)
{
	uint l = get_local_id(0), sum = 0;

	for (uint turn = 0; turn < 3; turn++) {
		part[l] = in[get_global_id(0)] + turn;
		barrier(CLK_LOCAL_MEM_FENCE);
		if (l < 50)
			sum = sum * 5 + part[l + 10] + part[59 - l];
	}
	out[get_global_id(0)] = sum;
}

/* Contiguous along y, as x is the row of a matrix */
kernel void mirror_columns(global const uint *in, global uint *out, local uint *s, int n)
{
	const int x = get_local_id(0), y = get_local_id(1), h = get_local_size(1);
	const int row = get_global_id(0), column = get_global_id(1), at = row * n + column;

	s[x * h + y] = in[at];
	barrier(CLK_LOCAL_MEM_FENCE);
	out[at] = s[x * h + h - 1 - y] + 3 * s[x * h + y] + x;
}

/* All work-items along x share local memory, as it is meant for work-groups that are one wide. */
kernel void mirror_shared_columns(global const uint *in, global uint *out, local uint *s, int n)
{
	const int y = get_local_id(1), h = get_local_size(1);
	const int row = get_global_id(0), column = get_global_id(1);
	const int first = row - get_local_id(0);

	for (int i = y; i < h; i += get_local_size(1))
		s[i] = in[first * n + column];
	barrier(CLK_LOCAL_MEM_FENCE);
	if (column < n)
		out[row * n + column] = s[h - 1 - y] + 3 * s[y] + row - first;
}
