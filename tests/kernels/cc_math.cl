// SPDX-License-Identifier: MIT
/* cc_math.cl - each mathematical function for tests/cc/math.c, as scalar and as float4 */

#define ONE(NAME) \
	kernel void NAME##_1(global const float *x, global const float *y, global float *out) \
	{ \
		size_t i = get_global_id(0); \
		out[i] = NAME(x[i]); \
	} \
	kernel void NAME##_4(global const float *x, global const float *y, global float *out) \
	{ \
		size_t i = get_global_id(0); \
		vstore4(NAME(vload4(i, x)), i, out); \
	}
#define TWO(NAME) \
	kernel void NAME##_1(global const float *x, global const float *y, global float *out) \
	{ \
		size_t i = get_global_id(0); \
		out[i] = NAME(x[i], y[i]); \
	} \
	kernel void NAME##_4(global const float *x, global const float *y, global float *out) \
	{ \
		size_t i = get_global_id(0); \
		vstore4(NAME(vload4(i, x), vload4(i, y)), i, out); \
	}

ONE(exp)
ONE(exp2)
ONE(exp10)
ONE(expm1)
ONE(log)
ONE(log2)
ONE(log10)
ONE(log1p)
ONE(sin)
ONE(cos)
ONE(tan)
ONE(sinpi)
ONE(cospi)
ONE(asin)
ONE(acos)
ONE(atan)
ONE(sinh)
ONE(cosh)
ONE(tanh)
ONE(asinh)
ONE(acosh)
ONE(atanh)
ONE(cbrt)
ONE(sqrt)
ONE(rsqrt)
ONE(floor)
ONE(ceil)
ONE(trunc)
ONE(rint)
ONE(round)
ONE(fabs)
TWO(pow)
TWO(atan2)
TWO(hypot)
TWO(fmin)
TWO(fmax)
TWO(copysign)

/* Each function in a row of its own, as its results; the exponents are those of math.c. */
#define EXPONENTS(E) \
	E(1) E(2) E(3) E(8) E(-1) E(-2) E(-7) E(.5) E(1.5) E(-.5) E(-1.5) E(7.5) E(-7.5)
#define POW(E) *out++ = pow(x, (type)(E));
#define POWR(E) *out++ = powr(x, (type)(E));
#define POWN(E) if (E == (int)(E)) *out = pown(x, (int)(E)); out++;
#define POWERS(TYPE) \
	kernel void powers_##TYPE(global const float *in, global TYPE *out) \
	{ \
		typedef TYPE type; \
		const size_t i = get_global_id(0); \
		TYPE x = in[i]; \
		out += 3 * 13 * i; \
		EXPONENTS(POW) \
		EXPONENTS(POWR) \
		EXPONENTS(POWN) \
	}
POWERS(float)
POWERS(double)
