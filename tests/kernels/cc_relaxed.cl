// SPDX-License-Identifier: MIT
/* cc_relaxed.cl - divisions for tests/cc/math.c: of scalars and vectors, some by a root */

#define DIVISIONS(N) \
	kernel void quotient_##N(global const float *x, global const float *y, global float *out) \
	{ \
		size_t i = get_global_id(0); \
		vstore##N(vload##N(i, x) / vload##N(i, y), i, out); \
	} \
	kernel void reciprocal_##N(global const float *x, global const float *y, \
				   global float *out) \
	{ \
		size_t i = get_global_id(0); \
		vstore##N(1 / vload##N(i, y), i, out); \
	}

kernel void quotient_1(global const float *x, global const float *y, global float *out)
{
	size_t i = get_global_id(0);

	out[i] = x[i] / y[i];
}

kernel void reciprocal_1(global const float *x, global const float *y, global float *out)
{
	size_t i = get_global_id(0);

	out[i] = 1 / y[i];
}

kernel void root_1(global const float *x, global const float *y, global float *out)
{
	size_t i = get_global_id(0);

	out[i] = x[i] / sqrt(y[i]);
}

kernel void root_4(global const float4 *x, global const float4 *y, global float4 *out)
{
	size_t i = get_global_id(0);

	out[i] = x[i] / sqrt(y[i]);
}

DIVISIONS(2)
DIVISIONS(4)
DIVISIONS(8)
DIVISIONS(16)
