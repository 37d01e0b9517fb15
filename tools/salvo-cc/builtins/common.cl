// SPDX-License-Identifier: MIT
/* common.cl - common functions of OpenCL C, 6.12.4 */

#define COMMON(T, S) \
	OVERLOAD T degrees(T x) { return x * (S)57.295779513082320876798154814105; } \
	OVERLOAD T radians(T x) { return x * (S)0.017453292519943295769236907684886; } \
	OVERLOAD T mix(T x, T y, T a) { return x + (y - x) * a; } \
	OVERLOAD T step(T edge, T x) { return x < edge ? (T)(S)0 : (T)(S)1; } \
	OVERLOAD T sign(T x) \
	{ return x > (S)0 ? (T)(S)1 : x < (S)0 ? (T)(S)-1 : x == x ? x : (T)(S)0; } \
	OVERLOAD T smoothstep(T low, T high, T x) \
	{ \
		T t = (x - low) / (high - low); \
		t = t < (S)0 ? (T)(S)0 : t > (S)1 ? (T)(S)1 : t; \
		return t * t * ((S)3 - (S)2 * t); \
	}
#define COMMON_SCALAR(T, S) \
	OVERLOAD T mix(T x, T y, S a) { return x + (y - x) * a; } \
	OVERLOAD T step(S edge, T x) { return step((T)edge, x); } \
	OVERLOAD T smoothstep(S low, S high, T x) { return smoothstep((T)low, (T)high, x); }
#define COMMON_FLOAT(T, I, U) COMMON(T, float)
#define COMMON_FLOAT_VECTOR(T, I, U) COMMON_SCALAR(T, float)
#define COMMON_DOUBLE(T, I, U) COMMON(T, double)
#define COMMON_DOUBLE_VECTOR(T, I, U) COMMON_SCALAR(T, double)
FOR_FLOATS(COMMON_FLOAT)
FOR_FLOAT_VECTORS(COMMON_FLOAT_VECTOR)
FOR_DOUBLES(COMMON_DOUBLE)
FOR_DOUBLE_VECTORS(COMMON_DOUBLE_VECTOR)

/* These may multiply by an estimate of the reciprocal (estimates.cc). */
#pragma clang fp reciprocal(on)
#define RSQRT(T, I, U) \
	OVERLOAD T rsqrt(T x) { return (T)1 / __builtin_elementwise_sqrt(x); }
FOR_REALS(RSQRT)

#define NATIVE(T, I, U) \
	OVERLOAD T native_rsqrt(T x) { return (T)1 / __builtin_elementwise_sqrt(x); } \
	OVERLOAD T half_rsqrt(T x) { return (T)1 / __builtin_elementwise_sqrt(x); } \
	OVERLOAD T native_recip(T x) { return (T)1 / x; } \
	OVERLOAD T half_recip(T x) { return (T)1 / x; } \
	OVERLOAD T native_divide(T x, T y) { return x / y; }
FOR_FLOATS(NATIVE)
#pragma clang fp reciprocal(off)

/* The reciprocal of a number below the normal ones may be infinite, though the quotient is not. */
#define HALF_DIVIDE(T, I, U) \
	OVERLOAD T half_divide(T x, T y) { return x / y; }
FOR_FLOATS(HALF_DIVIDE)
