// SPDX-License-Identifier: MIT
/* cc_standard.cl - what OpenCL C 3.0 has beyond 1.2, for tests/cc/standard.c */
#if __OPENCL_C_VERSION__ != 300
#error
#endif
#if !defined(__opencl_c_atomic_order_seq_cst) || !defined(__opencl_c_atomic_scope_device)
#error
#endif
#if defined(cl_khr_subgroup_shuffle) || defined(__opencl_c_pipes)
#error features that the device lacks
#endif

#define ORDERS(M) M(relaxed) M(acq_rel) M(seq_cst)

/* Each work-item adds to and takes from each counter, in every order. */
kernel void count(volatile global atomic_int *i, volatile global atomic_uint *u,
		  volatile global atomic_long *l, volatile global atomic_ulong *m)
{
	int id = get_global_id(0);

#define COUNT(order) \
	atomic_fetch_add_explicit(i, id, memory_order_##order, memory_scope_device); \
	atomic_fetch_sub_explicit(i, 1, memory_order_##order); \
	atomic_fetch_or_explicit(u, 1u << (id & 31), memory_order_##order, \
				 memory_scope_work_group); \
	atomic_fetch_max_explicit(l, (long)id - 50, memory_order_##order, memory_scope_device); \
	atomic_fetch_min_explicit(l + 1, (long)id - 50, memory_order_##order, \
				  memory_scope_device); \
	atomic_fetch_max_explicit(m, (ulong)id << 40, memory_order_##order, memory_scope_device);
	ORDERS(COUNT)
	atomic_fetch_xor(u + 1, 1u << (id & 31));
	atomic_fetch_and(u + 2, ~(1u << (id & 31)));
}

/* A float sum by compare and exchange. */
kernel void sum(volatile global atomic_float *total, const global float *in)
{
	float expected = atomic_load(total);

	while (!atomic_compare_exchange_weak(total, &expected, expected + in[get_global_id(0)]))
		;
}

/* A lock that is a flag; the sum that it protects is plain memory. */
kernel void lock(volatile global atomic_flag *flag, global int *plain)
{
	bool done = false;

	while (!done)
		if (!atomic_flag_test_and_set_explicit(flag, memory_order_acquire,
						       memory_scope_device)) {
			*plain += 1;
			atomic_flag_clear_explicit(flag, memory_order_release,
						   memory_scope_device);
			done = true;
		}
}

/* Work-items of a group give a value to their neighbours. */
kernel void rotate_ids(global int *out, local int *shared, volatile local atomic_int *counter)
{
	size_t local_id = get_local_linear_id();

	if (!local_id)
		atomic_init(counter, 5);
	shared[local_id] = get_global_linear_id();
	work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_group);
	atomic_fetch_add(counter, 1);
	atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_seq_cst, memory_scope_work_group);
	work_group_barrier(CLK_LOCAL_MEM_FENCE);
	out[get_global_linear_id()] = shared[(local_id + 1) % get_enqueued_local_size(0)] * 1000 +
				      atomic_load_explicit(counter, memory_order_relaxed,
							   memory_scope_work_group);
}

kernel void swap(volatile global atomic_int *word, volatile global atomic_double *real,
		 global int *out)
{
	out[0] = atomic_exchange(word, 7);
	atomic_store_explicit(word + 1, 8, memory_order_release, memory_scope_device);
	atomic_store(word + 2, 9);
	out[1] = (int)atomic_exchange(real, 2.5);
	out[2] = ctz(8u);
}

/* Arguments of two types, which other compilers take. */
kernel void mixed(global int *out)
{
	out[0] = min(get_global_id(0) + 9, 7);
	out[1] = max(3u, -1 + (int)get_local_id(0));
	out[2] = mul24(get_global_size(0), 3);
	out[3] = (int)min(2.5f, 2);
	out[4] = max((uchar)200, (short)-1);
}
