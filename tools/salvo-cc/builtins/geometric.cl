// SPDX-License-Identifier: MIT
/* geometric.cl - geometric functions of OpenCL C, 6.12.5 */

#define CROSS(T) \
	OVERLOAD T##3 cross(T##3 a, T##3 b) \
	{ return a.yzx * b.zxy - a.zxy * b.yzx; } \
	OVERLOAD T##4 cross(T##4 a, T##4 b) \
	{ return (T##4)(cross(a.xyz, b.xyz), (T)0); }
#define DOT(T) \
	OVERLOAD T dot(T a, T b) { return a * b; } \
	OVERLOAD T dot(T##2 a, T##2 b) { return a.x * b.x + a.y * b.y; } \
	OVERLOAD T dot(T##3 a, T##3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; } \
	OVERLOAD T dot(T##4 a, T##4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
/*
 * A sum of squares that overflows or vanishes is taken of a scaled vector. Of infinite elements
 * normalize() takes the signs, and 0 for the others. Scaling down must not lose small elements.
 */
#define LENGTH(T, S, LIMIT, UP) \
	OVERLOAD S length(T v) \
	{ \
		S squares = dot(v, v), scale = (S)1; \
		if (squares > LIMIT) \
			scale = (S)1 / UP; \
		else if (squares < (S)1 / LIMIT) \
			scale = UP; \
		else \
			return __builtin_elementwise_sqrt(squares); \
		v *= scale; \
		return __builtin_elementwise_sqrt(dot(v, v)) / scale; \
	} \
	OVERLOAD S distance(T a, T b) { return length(a - b); } \
	OVERLOAD T normalize(T v) \
	{ \
		S squares = dot(v, v), size; \
		if (squares > LIMIT) { \
			if (squares == (S)INFINITY && dot(v / UP, v / UP) == (S)INFINITY) \
				v = __builtin_elementwise_abs(v) == (T)INFINITY ? \
				    __builtin_elementwise_copysign((T)1, v) : v * (S)0; \
			else \
				return v / __builtin_elementwise_sqrt(dot(v / UP, v / UP)) / UP; \
			squares = dot(v, v); \
		} else if (squares < (S)1 / LIMIT) { \
			v *= UP; \
			squares = dot(v, v); \
		} \
		size = __builtin_elementwise_sqrt(squares); \
		return size == (S)0 ? v : v / size; \
	}
#define GEOMETRIC(T, LIMIT, UP) CROSS(T) DOT(T) LENGTH(T, T, LIMIT, UP) \
	LENGTH(T##2, T, LIMIT, UP) LENGTH(T##3, T, LIMIT, UP) LENGTH(T##4, T, LIMIT, UP)
GEOMETRIC(float, 0x1p+100f, 0x1p+100f)
GEOMETRIC(double, 0x1p+900, 0x1p+600)

#define FAST(T) \
	OVERLOAD float fast_length(T v) { return __builtin_elementwise_sqrt(dot(v, v)); } \
	OVERLOAD float fast_distance(T a, T b) { return fast_length(a - b); } \
	OVERLOAD T fast_normalize(T v) { return v * (1.0f / fast_length(v)); }
FAST(float)
FAST(float2)
FAST(float3)
FAST(float4)
