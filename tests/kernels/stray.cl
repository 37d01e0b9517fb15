// SPDX-License-Identifier: MIT
/*
 * stray.cl - kernels in which one work-item goes astray, for tests/lib/stray.c
 *
 * @where has a number for each work-item: 0, or how far beside its place it is to touch memory.
 */

#define GLOBAL_ITEM() (get_global_id(0) + get_global_size(0) * \
	(get_global_id(1) + get_global_size(1) * get_global_id(2)))
#define LOCAL_ITEM() (get_local_id(0) + get_local_size(0) * \
	(get_local_id(1) + get_local_size(1) * get_local_id(2)))
#define ARGS global const long *where, global int *data

kernel void scatter(ARGS)
{
	size_t i = GLOBAL_ITEM();

	data[i + where[i]] = i;
}

kernel void gather(ARGS)
{
	size_t i = GLOBAL_ITEM();

	data[i] = data[i + where[i]] + 1;
}

kernel void in_a_loop(ARGS)
{
	size_t i = GLOBAL_ITEM();
	int sum = 0, n;

	for (n = 0; n < 5 + (int)(i % 7); n++)
		sum += data[i + (n == 4 ? where[i] : 0)] + n;
	data[i] = sum;
}

kernel void in_a_condition(ARGS)
{
	size_t i = GLOBAL_ITEM();

	if (where[i])
		data[i + where[i]] = 7;
	else
		data[i] += 3;
}

kernel void doubles(ARGS)
{
	size_t i = GLOBAL_ITEM();
	global double *d = (global double *)data;

	d[i / 2 + where[i]] = sqrt((double)i);
}

kernel void quads(ARGS)
{
	size_t i = GLOBAL_ITEM();
	global int4 *q = (global int4 *)data;

	q[i / 4 + where[i]] = (int4)(i, i + 1, i + 2, i + 3);
}

kernel void bytes(ARGS)
{
	size_t i = GLOBAL_ITEM();
	global uchar *b = (global uchar *)data;

	b[i + where[i]] = b[i] + 1;
}

kernel void counts(ARGS)
{
	size_t i = GLOBAL_ITEM();

	atomic_add(data + i % 64 + where[i], 1);
}

kernel void pairs(ARGS)
{
	size_t i = GLOBAL_ITEM();
	global int2 *p = (global int2 *)data + i / 2 + where[i];

	p->x = i;
	p->y = i + 1;
}

kernel void split(ARGS)
{
	local int part[1024];
	size_t i = GLOBAL_ITEM();
	int me = LOCAL_ITEM();

	part[me] = i;
	barrier(CLK_LOCAL_MEM_FENCE);
	data[i + where[i]] = part[me];
}

#define MEET part[me] *= 3; barrier(CLK_LOCAL_MEM_FENCE);
#define MEET_9 MEET MEET MEET MEET MEET MEET MEET MEET MEET

kernel void split_often(ARGS)
{
	local int part[1024];
	size_t i = GLOBAL_ITEM();
	int me = LOCAL_ITEM();

	part[me] = i;
	MEET_9 MEET_9 MEET_9 MEET_9
	data[i + where[i]] = part[me];
	MEET
}

kernel void past_local(ARGS)
{
	local int part[1024];
	size_t i = GLOBAL_ITEM();
	int me = LOCAL_ITEM();

	part[me + where[i]] = i;
	data[i] = part[me];
}

/* Beyond the end of their buffers, all items from some on. */
kernel void copies(global const float *in, global float *out)
{
	size_t i = get_global_id(0);

	out[i] = in[i] * 2;
}

kernel void copies_bytes(global const uchar *in, global uchar *out)
{
	size_t i = get_global_id(0);

	out[i] = in[i] + 1;
}

kernel void clears(global const float *in, global float *out)
{
	out[get_global_id(0)] = 0;
}
