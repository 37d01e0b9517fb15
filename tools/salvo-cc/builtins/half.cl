// SPDX-License-Identifier: MIT
/*
 * half.cl - each_half.cl for every width, and selections of half
 *
 * Only what cannot be had by way of float: half.cc makes the other functions from those of float.
 */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

SELECTS(half, short, ushort)
BITSELECT_REAL(half, int, ushort)
BITSELECT_REAL(half2, short2, ushort2)
BITSELECT_REAL(half3, short3, ushort3)
BITSELECT_REAL(half4, short4, ushort4)
BITSELECT_REAL(half8, short8, ushort8)
BITSELECT_REAL(half16, short16, ushort16)

#define H		JOIN(half, N)
#define B		JOIN(short, N)
#define UB		JOIN(ushort, N)
#define COMPARED	JOIN(INT_OR_SHORT_, LANES)
#define INT_OR_SHORT_1	int
#define INT_OR_SHORT_2	short2
#define INT_OR_SHORT_3	short3
#define INT_OR_SHORT_4	short4
#define INT_OR_SHORT_8	short8
#define INT_OR_SHORT_16	short16
#define EACH		"each_half.cl"
#include "widths.h"
#undef EACH
#undef H
#undef B
#undef UB
#undef COMPARED
