// SPDX-License-Identifier: MIT
/*
 * many_calls.cl - kernels of 4 to 32 calls of a function: straight, of some of the lanes, of
 * arguments that are the same in all, in loops that lanes leave at different times, and before
 * barriers
 */
#define TWO(f, i)	f(i) f(i + 7)
#define FOUR(f, i)	TWO(f, i) TWO(f, i + 1)
#define DOZEN(f, i)	FOUR(f, i) FOUR(f, i + 15) FOUR(f, i + 30)
#define MANY(f, i)	FOUR(f, i) FOUR(f, i + 2) FOUR(f, i + 15) FOUR(f, i + 17) \
			FOUR(f, i + 30) FOUR(f, i + 32) FOUR(f, i + 45) FOUR(f, i + 47)

#define OVERLOAD	__attribute__((overloadable))

static OVERLOAD float first(float v) { return v; }
static OVERLOAD float first(float4 v) { return v.x; }
static OVERLOAD double first(double v) { return v; }

#define KERNELS(F, T, TIMES) \
	kernel void F##_straight(global const T *a, global T *b, T u, int n) \
	{ \
		int x = get_global_id(0); \
		T s = 0, v = a[x]; \
		TIMES(STRAIGHT_##F, 1) \
		b[x] = s; \
	} \
	kernel void F##_some(global const T *a, global T *b, T u, int n) \
	{ \
		int x = get_global_id(0); \
		T s = 0, v = a[x]; \
		if (first(v) > 0.25f) { \
			TIMES(SOME_##F, 1) \
			if (x & 4) \
				return; \
		} \
		b[x] = s; \
	} \
	kernel void F##_same(global const T *a, global T *b, T u, int n) \
	{ \
		int x = get_global_id(0); \
		T s = 0, v = a[x]; \
		if (first(v) > 5) { \
			TIMES(SAME_##F, 1) \
		} \
		TIMES(SAME_##F, 1) \
		b[x] = s; \
	} \
	kernel void F##_loops(global const T *a, global T *b, T u, int n) \
	{ \
		int x = get_global_id(0); \
		T s = 0, v = a[x]; \
		for (int i = x % 5; i < n; i++) { \
			TIMES(LOOP_##F, 1) \
			if (first(s) > 3e5f) \
				break; \
		} \
		b[x] = s; \
	} \
	kernel void F##_barrier(global const T *a, global T *b, T u, int n) \
	{ \
		local T l[64]; \
		int x = get_global_id(0), i = get_local_id(0); \
		T s = 0, v = a[x]; \
		TIMES(STRAIGHT_##F, 1) \
		l[i] = s; \
		barrier(CLK_LOCAL_MEM_FENCE); \
		v = l[i / 2]; \
		FOUR(STRAIGHT_##F, 1) \
		b[x] = s + v; \
	}

#define STRAIGHT_tgamma(k)	s += tgamma(v * (k - 30) * 0.05f);
#define SOME_tgamma(k)		if (v > k % 16) s += tgamma(v * (k - 30) * 0.02f);
#define SAME_tgamma(k)		if (v < k % 9) s += tgamma(u + k * 0.11f);
#define LOOP_tgamma(k)		s += tgamma(v * (i - k) * 0.1f) * 1e-3f;
KERNELS(tgamma, float, FOUR)

#define STRAIGHT_lgamma(k)	s += lgamma(v * (k - 30));
#define SOME_lgamma(k)		if (v > k % 16) s += lgamma(v * (k - 30));
#define SAME_lgamma(k)		if (v < k % 9) s += lgamma(u + k * 0.11f);
#define LOOP_lgamma(k)		s += lgamma(v * (i - k) * 10);
KERNELS(lgamma, float, FOUR)

#define STRAIGHT_pow(k)		s += pow(v, (k - 30) * u);
#define SOME_pow(k)		if (v > k % 16) s += pow((float)k, v);
#define SAME_pow(k)		if (v < k % 9) s += pow(u, k * 0.11f);
#define LOOP_pow(k)		s += pow(v, (i - k) * 0.01f);
KERNELS(pow, float, MANY)

#define STRAIGHT_powd(k)	s += pow(v, (k - 30) * u);
#define SOME_powd(k)		if (v > k % 16) s += pow((double)k, v);
#define SAME_powd(k)		if (v < k % 9) s += pow(u, k * 0.11);
#define LOOP_powd(k)		s += pow(v, (i - k) * 0.01);
KERNELS(powd, double, DOZEN)

#define STRAIGHT_sin(k)		s += sin(v * k * k * k * u);
#define SOME_sin(k)		if (v > k % 16) s += sin(v * k * k * 1e4f);
#define SAME_sin(k)		if (v < k % 9) s += sin(u * k * 1e4f);
#define LOOP_sin(k)		s += sin(v * (i - k) * 1e3f);
KERNELS(sin, float, MANY)

#define STRAIGHT_vector(k)	s += sin(v * k + u);
#define SOME_vector(k)		if (v.x > k % 16) s += sin(v * k * k * 1e4f);
#define SAME_vector(k)		if (v.y < k % 9) s.xz += sin(u * k * 1e4f).yw;
#define LOOP_vector(k)		s += sin(v * (i - k) * 1e3f);
KERNELS(vector, float4, MANY)

constant float numbers[8] = { 1, 3, 2, 7, 5, 8, .5f, .25f };

/* With a private array, a loop and several returns: 32 copies would be more than 16,000. */
static float own(float a, int b)
{
	float t[8], s = a;

	for (int i = 0; i < 8; i++)
		t[i] = numbers[(b + i) & 7] * a;
	for (int i = 0; i < (b & 15); i++)
		s += t[(b * i) & 7] / (i + 1);
	if (s > 100)
		return s - b;
#define STEP(k) \
	s = s * 0.99f + t[(k + b) & 7] / (s + k); \
	if (s < k) \
		s += fmax(s, t[(b + k) & 7]);
	MANY(STEP, 0)
	return s;
}

#define STRAIGHT_own(k)		s += own(v, k);
#define SOME_own(k)		if (v > k % 16) s += own(u - k, x);
#define SAME_own(k)		if (v < k % 9) s += own(u, n * k);
#define LOOP_own(k)		s += own(v + i, n + k);
KERNELS(own, float, MANY)
