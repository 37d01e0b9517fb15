// SPDX-License-Identifier: MIT
/* relational.cl - comparisons and selections of OpenCL C, 6.12.6 */

/* 1 for scalars, -1 for the elements of vectors: as the operators themselves. */
#define COMPARE(T, I, U) \
	OVERLOAD I isequal(T x, T y) { return x == y; } \
	OVERLOAD I isnotequal(T x, T y) { return x != y; } \
	OVERLOAD I isgreater(T x, T y) { return x > y; } \
	OVERLOAD I isgreaterequal(T x, T y) { return x >= y; } \
	OVERLOAD I isless(T x, T y) { return x < y; } \
	OVERLOAD I islessequal(T x, T y) { return x <= y; } \
	OVERLOAD I islessgreater(T x, T y) { return (x < y) | (x > y); } \
	OVERLOAD I isnan(T x) { return x != x; } \
	OVERLOAD I isordered(T x, T y) { return (x == x) & (y == y); } \
	OVERLOAD I isunordered(T x, T y) { return (x != x) | (y != y); }
FOR_REALS(COMPARE)

#define CLASSIFY(T, I, U, MAGNITUDE, INFINITE, LEAST, SIGN) \
	OVERLOAD I isinf(T x) { return (__builtin_astype(x, U) & MAGNITUDE) == INFINITE; } \
	OVERLOAD I isfinite(T x) { return (__builtin_astype(x, U) & MAGNITUDE) < INFINITE; } \
	OVERLOAD I isnormal(T x) \
	{ return ((__builtin_astype(x, U) & MAGNITUDE) < INFINITE) & \
		 ((__builtin_astype(x, U) & MAGNITUDE) >= LEAST); } \
	OVERLOAD I signbit(T x) { return (__builtin_astype(x, U) & SIGN) != (U)0; }
#define CLASSIFY_FLOAT(T, I, U) \
	CLASSIFY(T, I, U, (U)0x7fffffffu, (U)0x7f800000u, (U)0x00800000u, (U)0x80000000u)
#define CLASSIFY_DOUBLE(T, I, U) \
	CLASSIFY(T, I, U, (U)0x7fffffffffffffffu, (U)0x7ff0000000000000u, \
		 (U)0x0010000000000000u, (U)0x8000000000000000u)
FOR_FLOATS(CLASSIFY_FLOAT)
FOR_DOUBLES(CLASSIFY_DOUBLE)

#define ANY_ALL(T) \
	OVERLOAD int any(T x) { return x < 0; } \
	OVERLOAD int all(T x) { return x < 0; } \
	OVERLOAD int any(T##2 x) { return (x.x | x.y) < 0; } \
	OVERLOAD int all(T##2 x) { return (x.x & x.y) < 0; } \
	OVERLOAD int any(T##3 x) { return (x.x | x.y | x.z) < 0; } \
	OVERLOAD int all(T##3 x) { return (x.x & x.y & x.z) < 0; } \
	OVERLOAD int any(T##4 x) { return any(x.lo | x.hi); } \
	OVERLOAD int all(T##4 x) { return all(x.lo & x.hi); } \
	OVERLOAD int any(T##8 x) { return any(x.lo | x.hi); } \
	OVERLOAD int all(T##8 x) { return all(x.lo & x.hi); } \
	OVERLOAD int any(T##16 x) { return any(x.lo | x.hi); } \
	OVERLOAD int all(T##16 x) { return all(x.lo & x.hi); }
ANY_ALL(char)
ANY_ALL(short)
ANY_ALL(int)
ANY_ALL(long)

/* The operator ?: looks at a scalar's value and at the top bits of a vector. */
#define SELECT(T, C) OVERLOAD T select(T a, T b, C c) { return c ? b : a; }
#define SELECTS(T, S, U) WIDTHS(SELECT, T, S) WIDTHS(SELECT, T, U)
SELECTS(char, char, uchar)
SELECTS(uchar, char, uchar)
SELECTS(short, short, ushort)
SELECTS(ushort, short, ushort)
SELECTS(int, int, uint)
SELECTS(uint, int, uint)
SELECTS(long, long, ulong)
SELECTS(ulong, long, ulong)
SELECTS(float, int, uint)
SELECTS(double, long, ulong)

#define BITSELECT(T, U) OVERLOAD T bitselect(T a, T b, T c) { return (a & ~c) | (b & c); }
FOR_INTEGERS(BITSELECT)
#define BITSELECT_REAL(T, I, U) \
	OVERLOAD T bitselect(T a, T b, T c) \
	{ return __builtin_astype(bitselect(__builtin_astype(a, U), __builtin_astype(b, U), \
					    __builtin_astype(c, U)), T); }
FOR_REALS(BITSELECT_REAL)
