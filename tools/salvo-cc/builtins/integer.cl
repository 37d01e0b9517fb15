// SPDX-License-Identifier: MIT
/* integer.cl - integer functions of OpenCL C, 6.12.3 */

#define ABS_DIFF(T, U) \
	OVERLOAD U abs_diff(T x, T y) \
	{ return x > y ? __builtin_astype(x, U) - __builtin_astype(y, U) : \
			 __builtin_astype(y, U) - __builtin_astype(x, U); }
#define HADD(T, U) \
	OVERLOAD T hadd(T x, T y) { return (x >> (T)1) + (y >> (T)1) + (x & y & (T)1); } \
	OVERLOAD T rhadd(T x, T y) { return (x >> (T)1) + (y >> (T)1) + ((x | y) & (T)1); }
FOR_INTEGERS(ABS_DIFF)
FOR_INTEGERS(HADD)

/* The upper half of a product, through a type twice as wide. */
#define MUL_HI_WIDE(T, W, BITS) \
	OVERLOAD T mul_hi(T x, T y) { return (T)(((W)x * (W)y) >> BITS); }
#define MUL_HI_WIDE_VECTOR(T, W, N, BITS) \
	OVERLOAD T##N mul_hi(T##N x, T##N y) \
	{ return __builtin_convertvector((__builtin_convertvector(x, W##N) * \
					  __builtin_convertvector(y, W##N)) >> (W)BITS, T##N); }
#define MUL_HI(T, W, BITS) MUL_HI_WIDE(T, W, BITS) \
	MUL_HI_WIDE_VECTOR(T, W, 2, BITS) MUL_HI_WIDE_VECTOR(T, W, 3, BITS) \
	MUL_HI_WIDE_VECTOR(T, W, 4, BITS) MUL_HI_WIDE_VECTOR(T, W, 8, BITS) \
	MUL_HI_WIDE_VECTOR(T, W, 16, BITS)
MUL_HI(char, short, 8)
MUL_HI(uchar, ushort, 8)
MUL_HI(short, int, 16)
MUL_HI(ushort, uint, 16)
MUL_HI(int, long, 32)
MUL_HI(uint, ulong, 32)

/* Of 64 bits, from four products of the halves. */
#define MUL_HI_ULONG(T, U) \
	OVERLOAD T mul_hi(T x, T y) \
	{ \
		T low = (x & 0xffffffff) * (y & 0xffffffff); \
		T middle = (x >> (T)32) * (y & 0xffffffff) + (low >> (T)32); \
		T other = (x & 0xffffffff) * (y >> (T)32) + (middle & 0xffffffff); \
		return (x >> (T)32) * (y >> (T)32) + (middle >> (T)32) + (other >> (T)32); \
	}
/* The differences may wrap, so they are unsigned. */
#define MUL_HI_LONG(T, U) \
	OVERLOAD T mul_hi(T x, T y) \
	{ \
		U a = __builtin_astype(x, U), b = __builtin_astype(y, U); \
		U above = __builtin_astype((x >> (T)63) & y, U) + \
			  __builtin_astype((y >> (T)63) & x, U); \
		return __builtin_astype(mul_hi(a, b) - above, T); \
	}
WIDTHS(MUL_HI_ULONG, ulong, ulong)
WIDTHS(MUL_HI_LONG, long, ulong)

/* OpenCL C says nothing about a sum that is too large: it wraps, as on GPUs. */
#define MAD_HI(T, U) \
	OVERLOAD T mad_hi(T a, T b, T c) \
	{ return __builtin_astype((U)(__builtin_astype(mul_hi(a, b), U) + \
				      __builtin_astype(c, U)), T); }
FOR_INTEGERS(MAD_HI)

#define UPSAMPLE(W, H, L, N, BITS) \
	OVERLOAD W##N upsample(H##N high, L##N low) \
	{ return (__builtin_convertvector(high, W##N) << (W##N)BITS) | \
		 __builtin_convertvector(low, W##N); }
#define UPSAMPLES(W, H, L, BITS) \
	OVERLOAD W upsample(H high, L low) { return ((W)high << BITS) | low; } \
	UPSAMPLE(W, H, L, 2, BITS) UPSAMPLE(W, H, L, 3, BITS) UPSAMPLE(W, H, L, 4, BITS) \
	UPSAMPLE(W, H, L, 8, BITS) UPSAMPLE(W, H, L, 16, BITS)
UPSAMPLES(short, char, uchar, 8)
UPSAMPLES(ushort, uchar, uchar, 8)
UPSAMPLES(int, short, ushort, 16)
UPSAMPLES(uint, ushort, ushort, 16)
UPSAMPLES(long, int, uint, 32)
UPSAMPLES(ulong, uint, uint, 32)
