// SPDX-License-Identifier: MIT
/* cc_language.cl - half, rounding, shuffles and copies for tests/cc/language.c */

#define STORE_HALF(NAME, T) \
	kernel void NAME##_##T(global const T *in, global ushort *out) \
	{ NAME(in[get_global_id(0)], get_global_id(0), (global half *)out); }
STORE_HALF(vstore_half, float)
STORE_HALF(vstore_half_rte, float)
STORE_HALF(vstore_half_rtz, float)
STORE_HALF(vstore_half_rtp, float)
STORE_HALF(vstore_half_rtn, float)
STORE_HALF(vstore_half, double)
STORE_HALF(vstore_half_rte, double)
STORE_HALF(vstore_half_rtz, double)
STORE_HALF(vstore_half_rtp, double)
STORE_HALF(vstore_half_rtn, double)

kernel void load_half(global const half *in, global float *out)
{
	out[get_global_id(0)] = vload_half(get_global_id(0), in);
}

/* Each width packed, then three elements in the room of four. */
kernel void half_vectors(global const half *in, global half *out, global half *padded)
{
	vstore_half2(vload_half2(0, in), 0, out);
	vstore_half3(vload_half3(1, in), 1, out);
	vstore_half4(vload_half4(2, in), 2, out);
	vstore_half8(vload_half8(2, in), 2, out);
	vstore_half16(vload_half16(2, in), 2, out);
	vstorea_half3(vloada_half3(1, in), 1, padded);
	vstorea_half8(vloada_half8(1, in), 1, padded);
}

#define CONVERT(TO, FROM, MODE) \
	kernel void TO##_##FROM##_##MODE(global const FROM *in, global TO *out) \
	{ out[get_global_id(0)] = convert_##TO##_##MODE(in[get_global_id(0)]); }
#define CONVERTS(TO, FROM) CONVERT(TO, FROM, rte) CONVERT(TO, FROM, rtz) \
	CONVERT(TO, FROM, rtp) CONVERT(TO, FROM, rtn)
CONVERTS(float, int)
CONVERTS(float, uint)
CONVERTS(float, long)
CONVERTS(float, ulong)
CONVERTS(float, double)
CONVERTS(double, long)
CONVERTS(double, ulong)

kernel void shuffles(global const int *in, global int *out)
{
	int4 a = vload4(0, in), b = vload4(1, in);
	uint16 far = (uint16)(7, 0, 5, 2, 12, 9, 3, 1, 6, 4, 15, 8, 2, 2, 0, 31);

	vstore16(shuffle2(a, b, far), 0, out);
	vstore16(shuffle(a, far), 1, out);
	vstore2(shuffle(vload16(0, in), (uint2)(14, 17)), 16, out);
}

/* The group's part comes in and goes out by copies, once whole and once every second one. */
kernel void copies(global const float4 *in, global float4 *out, global short *strided,
		   local float4 *block, local short *small)
{
	size_t n = get_local_size(0), first = get_group_id(0) * n;
	event_t e = async_work_group_copy(block, in + first, n, 0);

	e = async_work_group_strided_copy(small, strided + 2 * first, n, 2, e);
	wait_group_events(1, &e);
	size_t i = get_local_id(0), other = n - 1 - i;
	float4 v = block[other] * small[i];
	barrier(CLK_LOCAL_MEM_FENCE);
	block[i] = v;
	small[i] += 1;
	barrier(CLK_LOCAL_MEM_FENCE);
	event_t done[2];
	done[0] = async_work_group_copy(out + first, block, n, 0);
	done[1] = async_work_group_strided_copy(strided + 2 * first, small, n, 2, 0);
	prefetch(in, 1);
	wait_group_events(2, done);
}

kernel void atomics_64(global ulong *u, global long *s)
{
	atom_add(&u[0], get_global_id(0) + (1ul << 40));
	atom_max(&s[0], (long)get_global_id(0) << 33);
	atom_min(&s[1], -((long)get_global_id(0) << 33));
	atom_xor(&u[1], 1ul << (get_global_id(0) & 63));
	atom_inc(&u[2]);
	atom_cmpxchg(&u[3], 7ul, 1ul << 50);
}
