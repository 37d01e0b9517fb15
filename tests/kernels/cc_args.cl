// SPDX-License-Identifier: MIT
/* cc_args.cl - kernels whose notes and argument blocks tests/cc/args.c looks at */

struct pair {
	char small;
	double4 large;
	int list[3];
};

kernel void every_kind(char c, global int *out, double d, short s, float3 v3, uchar4 v4,
		       float16 v16, struct pair p, constant int *table, local int *scratch,
		       ulong l)
{
	uint i = get_global_id(0);

	p.list[0] += i;			/* a copy of this work-item alone */
	scratch[0] = table[1];
	out[0] = c;
	out[1] = d;
	out[2] = s;
	out[3] = v3.x + v3.y * 10 + v3.z * 100;
	out[4] = v4.x + v4.w;
	out[5] = v16.s0 + v16.sf;
	out[6] = p.small;
	out[7] = p.large.w;
	out[8 + i] = p.list[0] + p.list[2];
	out[12] = scratch[0];
	out[13] = l >> 32;
}

kernel void accesses(global int *read, global int *write, global int *both,
		     global const int *constant_one, global int *atomic, constant int *fixed,
		     global int *branch_a, global int *branch_b, global int *unused)
{
	size_t i = get_global_id(0);
	global int *chosen = i & 1 ? branch_a : branch_b;

	write[i] = read[i] + constant_one[i] + fixed[i] + *chosen;
	both[i] += 1;
	atomic_add(atomic, 1);
}

kernel __attribute__((reqd_work_group_size(8, 2, 1))) void required(global int *out)
{
	out[get_global_id(0)] = 1;
}

kernel void two_locals(global int *out, local int *a, local long *b)
{
	local char bytes[3];
	local double values[2];
	size_t l = get_local_id(0);

	a[l] = l;
	b[l] = l * 10;
	bytes[l % 3] = 1;
	values[l % 2] = 0.5;
	barrier(CLK_LOCAL_MEM_FENCE);
	out[get_global_id(0)] = a[get_local_size(0) - 1 - l] + b[l] + bytes[0] +
				(int)(values[1] * 2);
}

kernel void big_private(global int *out, int at)
{
	int values[1000];

	for (int i = 0; i < 1000; i++)
		values[i] = i * at;
	barrier(CLK_GLOBAL_MEM_FENCE);
	out[get_global_id(0)] = values[(at + get_global_id(0)) % 1000];
}

kernel void inner(global int *out, int add)
{
	out[get_global_id(0)] += add;
}

/* A kernel may call another. */
kernel void outer(global int *out)
{
	inner(out, 5);
	inner(out, 7);
}

struct shape {
	int sizes[3];
	long steps[2];
	uchar4 bytes;
};

/* Members that are read at constant places, and at others */
kernel void members_read(global int *out, struct shape a, struct shape b)
{
	uint i = get_global_id(0);

	if (i < a.sizes[0])
		out[i * a.steps[0]] = b.sizes[i % 3] + (int)b.steps[1] * a.bytes.z + b.bytes.x;
}

static void change(struct shape *s, int by)
{
	s->sizes[1] += by;
}

/* Of one work-item alone */
kernel void members_written(global int *out, struct shape a, struct shape b)
{
	uint i = get_global_id(0);

	change(&a, i);
	b.steps[i % 2] = i;
	out[i] = a.sizes[1] + (int)b.steps[0] * 1000 + (int)b.steps[1] * 100;
}

kernel void fused(global const float *x, global const float *y, global const float *z,
		  global float *out)
{
	size_t i = get_global_id(0);

	out[i] = fma(x[i], y[i], z[i]);
}

kernel void fused_doubles(global const double *x, global const double *y, global const double *z,
		  global double *out)
{
	size_t i = get_global_id(0);

	out[i] = fma(x[i], y[i], z[i]);
}
