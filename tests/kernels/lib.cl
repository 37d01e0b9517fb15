// SPDX-License-Identifier: MIT
// Kernels of the library's tests.

kernel void store(global uint *out, uint index, uint value)
{
	out[index] = value;
}

kernel void add(global uint *data, uint value)
{
	data[get_global_id(0)] += value;
}

kernel void where(global uint *out)
{
	size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);

	out[(z * get_global_size(1) + y) * get_global_size(0) + x] = x | y << 10 | z << 20;
}

kernel void group_of(global uint *out)
{
	out[get_global_id(0)] = get_group_id(0) << 16 | get_local_size(0);
}

kernel void mixed(global uint *out, char c, float4 v, ulong l, local uint *a, short s,
		  local uint *b, constant uint *k)
{
	size_t i = get_local_id(0);

	a[i] = i;
	b[i] = 100 + i;
	barrier(CLK_LOCAL_MEM_FENCE);
	out[get_global_id(0)] = a[0] + b[1] + k[1] + (uint)c + (uint)s + (uint)l + (uint)v.w;
}

// 24 KB of private memory, of which few words are touched.
kernel void deep(global uint *out, uint step)
{
	size_t i = get_global_id(0);
	uint a[6000], k, sum = 0;

	for (k = 0; k < 6000; k += step)
		a[k] = i + k;
	barrier(CLK_LOCAL_MEM_FENCE);
	for (k = 0; k < 6000; k += step)
		sum += a[k];
	out[i] = sum;
}

kernel void reverse(global uint *data, local uint *part)
{
	size_t i = get_local_id(0), n = get_local_size(0);

	part[i] = data[get_global_id(0)];
	barrier(CLK_LOCAL_MEM_FENCE);
	data[get_global_id(0)] = part[n - 1 - i];
}

__attribute__((reqd_work_group_size(8, 2, 1)))
kernel void required(global uint *out)
{
	out[get_global_id(1) * get_global_size(0) + get_global_id(0)] =
		get_local_size(0) << 16 | get_local_size(1);
}

// Tell the other one that we run, and wait for it, but not for ever.
kernel void meet(volatile global uint *flags, uint me, uint other, uint patience)
{
	flags[me] = 1;
	while (patience && !flags[other])
		patience--;
	flags[me + 2] = patience ? 1 : 2;
}

// Keep a unit busy, then write.
kernel void slow(global uint *out, uint index, uint value, uint rounds)
{
	volatile uint x = 1;

	while (rounds--)
		x = x * 3 + 1;
	out[index] = value;
}

// Wait until the host writes into the buffer.
kernel void wait_for_host(volatile global uint *gate, global uint *out, uint value)
{
	while (!gate[0])
		;
	out[0] = value;
}

kernel void wild(global uint *out)
{
	*(volatile global uint *)(out + get_global_id(0)) = 1;
}

// State is chained: a wrong order gives a wrong number.
kernel void chain(global const uint *in, global uint *out, uint factor, uint term)
{
	out[0] = in[0] * factor + term;
}

/* Contiguous along y */
kernel void by_columns(global const uint *in, global uint *out, uint height)
{
	size_t x = get_global_id(0), y = get_global_id(1);

	out[x * height + y] = in[x * height + y] + 1;
}

/* Contiguous along z, and in the second one where x is, too */
kernel void by_planes(global const uint *in, global uint *out, uint width, uint depth)
{
	size_t at = (get_global_id(1) * width + get_global_id(0)) * depth + get_global_id(2);

	out[at] = in[at] + 1;
}

kernel void to_planes(global const uint *in, global uint *out, uint width, uint height, uint depth)
{
	size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);

	out[(y * width + x) * depth + z] = in[(z * height + y) * width + x] + 1;
}
