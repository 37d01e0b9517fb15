// SPDX-License-Identifier: MIT
/* cc_exact.cl - functions with one exact result, for tests/cc/exact.c: scalars and vectors */

#define KERNEL(T, N, NAME, STATEMENT) \
	kernel void NAME##_##T##N(global const T *a, global const T *b, global T *out, \
				  global int *whole) \
	{ \
		size_t i = get_global_id(0); \
		T##N x = LOAD(N, a), y = LOAD(N, b), r, r2 = 0; \
		INT(N) n = 0; \
		STATEMENT; \
		STORE(N, r, out); \
		STORE(N, r2, out + COUNT); \
		STORE(N, n, whole); \
	}
#define COUNT 4096
#define LOAD(N, p) LOAD##N(p)
#define LOAD1(p) p[i]
#define LOAD3(p) vload3(i, p)
#define LOAD4(p) vload4(i, p)
#define STORE(N, v, p) STORE##N(v, p)
#define STORE1(v, p) (p)[i] = v
#define STORE3(v, p) vstore3(v, i, p)
#define STORE4(v, p) vstore4(v, i, p)
#define INT(N) INT##N
#define INT1 int
#define INT3 int3
#define INT4 int4
typedef float float1;
typedef double double1;

#define ALL(T, N) \
	KERNEL(T, N, frexp, r = frexp(x, &n)) \
	KERNEL(T, N, modf, r = modf(x, &r2)) \
	KERNEL(T, N, fract, r = fract(x, &r2)) \
	KERNEL(T, N, remquo, r = remquo(x, y, &n)) \
	KERNEL(T, N, ilogb, n = ilogb(x); r = x) \
	KERNEL(T, N, nextafter, r = nextafter(x, y)) \
	KERNEL(T, N, maxmag, r = maxmag(x, y)) \
	KERNEL(T, N, minmag, r = minmag(x, y)) \
	KERNEL(T, N, lgamma_r, r = lgamma_r(x, &n)) \
	KERNEL(T, N, sincos, r = sincos(x, &r2)) \
	KERNEL(T, N, fma, r = fma(x, y, x))
ALL(float, 1)
ALL(float, 3)
ALL(double, 1)
ALL(double, 4)

/* Double, then float */
kernel void angles(global const double *y, global const double *x, global double *out)
{
	const size_t i = get_global_id(0);

	out[2 * i] = atan2pi(y[i], x[i]);
	out[2 * i + 1] = atan2pi((float)y[i], (float)x[i]);
}
