// SPDX-License-Identifier: MIT
/*
 * cc_relaxed.cl - divisions and roots for tests/cc/math.c, of scalars and vectors, in relaxed
 * mathematics or by functions that need not be exact
 */

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

/* Of n arguments each: the results of one function after those of the other */
#define ESTIMATES(T, NAME) \
	kernel void NAME(global const T *x, global const T *y, global T *out) \
	{ \
		size_t i = get_global_id(0), n = get_global_size(0); \
		out[i] = rsqrt(x[i]); \
		out[n + i] = native_rsqrt(x[i]); \
		out[2 * n + i] = half_rsqrt(x[i]); \
		out[3 * n + i] = native_sqrt(x[i]); \
		out[4 * n + i] = half_sqrt(x[i]); \
		out[5 * n + i] = native_recip(x[i]); \
		out[6 * n + i] = half_recip(x[i]); \
		out[7 * n + i] = native_divide(x[i], y[i]); \
		out[8 * n + i] = half_divide(x[i], y[i]); \
	}
ESTIMATES(float, estimates_1)
ESTIMATES(float4, estimates_4)
ESTIMATES(float2, estimates_2)

kernel void half_quotient(global const float *x, global const float *y, global float *out)
{
	size_t i = get_global_id(0);

	out[i] = half_divide(x[i], y[i]);
}
