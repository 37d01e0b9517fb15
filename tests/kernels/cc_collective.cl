// SPDX-License-Identifier: MIT
/* cc_collective.cl - work-group and sub-group functions, for tests/cc/collective.c */
#if !defined(__opencl_c_work_group_collective_functions) || !defined(cl_khr_subgroups) || \
	(__OPENCL_C_VERSION__ >= 300 && !defined(__opencl_c_subgroups))
#error
#endif
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

/* All functions of a group, 10 results a work-item; a broadcast is from the last work-item. */
#define GROUP_FUNCTIONS(GROUP, T, FROM) \
	out[0] = GROUP##_group_reduce_add(x); \
	out[1] = GROUP##_group_reduce_min(x); \
	out[2] = GROUP##_group_reduce_max(x); \
	out[3] = GROUP##_group_scan_inclusive_add(x); \
	out[4] = GROUP##_group_scan_inclusive_min(x); \
	out[5] = GROUP##_group_scan_inclusive_max(x); \
	out[6] = GROUP##_group_scan_exclusive_add(x); \
	out[7] = GROUP##_group_scan_exclusive_min(x); \
	out[8] = GROUP##_group_scan_exclusive_max(x); \
	out[9] = GROUP##_group_broadcast FROM;

#define KERNELS(T) \
kernel void work_##T(global const T *in, global T *out) \
{ \
	const T x = in[get_global_linear_id()]; \
	const size_t i = get_local_size(0) - 1, j = get_local_size(1) - 1; \
\
	out += 10 * get_global_linear_id(); \
	GROUP_FUNCTIONS(work, T, (x, i)) \
	if (get_work_dim() == 2) \
		out[9] = work_group_broadcast(x, i, j); \
	else if (get_work_dim() == 3) \
		out[9] = work_group_broadcast(x, i, j, get_local_size(2) - 1); \
} \
kernel void sub_##T(global const T *in, global T *out) \
{ \
	const T x = in[get_global_linear_id()]; \
\
	out += 10 * get_global_linear_id(); \
	GROUP_FUNCTIONS(sub, T, (x, get_sub_group_size() - 1)) \
}
KERNELS(int)
KERNELS(uint)
KERNELS(long)
KERNELS(ulong)
KERNELS(half)
KERNELS(float)
KERNELS(double)

/* Is there a number, is each one, below @limit? */
kernel void predicates(global const int *in, global int *out, int limit)
{
	const size_t i = get_global_linear_id();

	out[4 * i] = work_group_any(in[i] < limit);
	out[4 * i + 1] = work_group_all(in[i] < limit);
	out[4 * i + 2] = sub_group_any(in[i] < limit);
	out[4 * i + 3] = sub_group_all(in[i] < limit);
}

/*
 * Bubbles the numbers of a work-group towards their sum: collective functions decide on loops and
 * branches with others in them.
 */
kernel void decide(global const int *in, global int *out)
{
	int x = in[get_global_linear_id()] & 255, rounds = 0;

	while (work_group_any(x > 3)) {
		const int most = work_group_reduce_max(x);

		if (work_group_reduce_add(x) & 1)
			x -= work_group_scan_exclusive_max(x) < most ? x / 2 : 1;
		else
			x = x > 3 ? x - 3 : x;
		rounds++;
	}
	out[get_global_linear_id()] = rounds * 16 + x;
}

kernel void ids(global uint *out)
{
	out += 7 * get_global_linear_id();
	out[0] = get_sub_group_size();
	out[1] = get_max_sub_group_size();
	out[2] = get_num_sub_groups();
	out[3] = get_enqueued_num_sub_groups();
	out[4] = get_sub_group_id();
	out[5] = get_sub_group_local_id();
	sub_group_barrier(CLK_GLOBAL_MEM_FENCE);
	sub_group_barrier(CLK_GLOBAL_MEM_FENCE, memory_scope_sub_group);
	/* What another work-item of the sub-group wrote before the barrier */
	out[6] = get_sub_group_local_id() ? out[5 - 7] : out[5];
}
