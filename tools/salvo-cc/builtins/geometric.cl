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
 * A sum of squares that overflows, or in which squares vanish, is rare: for these one branch leads
 * to a sum that neither happens to, of doubles, or of doubles that are scaled.
 *
 * Of infinite elements normalize() takes the signs, and 0 for the others: of a vector of doubles
 * all floats are next to nothing beside HUGE_ELEMENT. Scaling down must not lose small elements.
 */
#define IS_EXACT(squares, LEAST, S) LIKELY((squares >= LEAST) & (squares < (S)INFINITY))
#define LEAST_FLOAT	0x1p-100f
#define LEAST_DOUBLE	0x1p-900
#define HUGE_ELEMENT	0x1p+500
#define FACTOR		0x1p+600

#define SCALAR_LENGTH(S) \
	OVERLOAD S length(S x) { return __builtin_elementwise_abs(x); } \
	OVERLOAD S distance(S a, S b) { return __builtin_elementwise_abs(a - b); } \
	OVERLOAD S normalize(S x) \
	{ return (x == (S)0) | (x != x) ? x : __builtin_elementwise_copysign((S)1, x); }
#define FLOAT_LENGTH(N) \
	OVERLOAD double##N convert_double##N(float##N); \
	OVERLOAD float##N convert_float##N(double##N); \
	OVERLOAD float length(float##N v) \
	{ \
		float squares = dot(v, v), size = __builtin_elementwise_sqrt(squares); \
		if (!IS_EXACT(squares, LEAST_FLOAT, float)) { \
			double##N d = convert_double##N(v); \
			size = (float)__builtin_elementwise_sqrt(dot(d, d)); \
		} \
		return size; \
	} \
	OVERLOAD float distance(float##N a, float##N b) { return length(a - b); } \
	OVERLOAD float##N normalize(float##N v) \
	{ \
		float squares = dot(v, v); \
		float##N unit = v * rsqrt(squares); \
		if (!IS_EXACT(squares, LEAST_FLOAT, float)) { \
			double##N d = convert_double##N(v), huge = HUGE_ELEMENT; \
			d = d > huge ? huge : d; \
			d = d < -huge ? -huge : d; \
			double sum = dot(d, d); \
			d /= sum == 0 ? 1 : __builtin_elementwise_sqrt(sum); \
			unit = convert_float##N(d); \
		} \
		return unit; \
	}
#define DOUBLE_LENGTH(N) \
	OVERLOAD double length(double##N v) \
	{ \
		double squares = dot(v, v), size = __builtin_elementwise_sqrt(squares); \
		if (!IS_EXACT(squares, LEAST_DOUBLE, double)) { \
			double scale = squares < 1 ? FACTOR : 1 / FACTOR; \
			v *= scale; \
			size = __builtin_elementwise_sqrt(dot(v, v)) / scale; \
		} \
		return size; \
	} \
	OVERLOAD double distance(double##N a, double##N b) { return length(a - b); } \
	OVERLOAD double##N normalize(double##N v) \
	{ \
		double squares = dot(v, v); \
		double##N unit = v * (1 / __builtin_elementwise_sqrt(squares)); \
		if (!IS_EXACT(squares, LEAST_DOUBLE, double)) { \
			double up = squares < 1 ? FACTOR : 1, down = squares < 1 ? 1 : 1 / FACTOR; \
			v *= up; \
			squares = dot(v * down, v * down); \
			if (squares == (double)INFINITY) { \
				v = __builtin_elementwise_abs(v) == (double##N)INFINITY ? \
				    __builtin_elementwise_copysign((double##N)1, v) : v * 0; \
				squares = dot(v, v); \
				down = 1; \
			} \
			squares = squares == 0 ? 1 : squares; \
			unit = v / __builtin_elementwise_sqrt(squares) * down; \
		} \
		return unit; \
	}
#define GEOMETRIC(T) CROSS(T) DOT(T) SCALAR_LENGTH(T)
GEOMETRIC(float)
GEOMETRIC(double)
FLOAT_LENGTH(2)
FLOAT_LENGTH(3)
FLOAT_LENGTH(4)
DOUBLE_LENGTH(2)
DOUBLE_LENGTH(3)
DOUBLE_LENGTH(4)

#define FAST(T) \
	OVERLOAD float fast_length(T v) { return native_sqrt(dot(v, v)); } \
	OVERLOAD float fast_distance(T a, T b) { return fast_length(a - b); } \
	OVERLOAD T fast_normalize(T v) { return v * rsqrt(dot(v, v)); }
OVERLOAD float native_sqrt(float);
FAST(float)
FAST(float2)
FAST(float3)
FAST(float4)
