// SPDX-License-Identifier: MIT
/* exact.cl - the exact functions of each_real.cl for float and double of every width */
#define I		JOIN(int, N)

#define S		float
#define T		JOIN(float, N)
#define B_ELEMENT	int
#define B		JOIN(int, N)
#define UB		JOIN(uint, N)
#define CONVERT_T	convert_float
#define CONVERT_B	convert_int
#define DIGITS		23
#define BIAS		127
#define BELOW_ONE	0x1.fffffep-1f
#define EACH		"each_real.cl"
#include "widths.h"
#undef S
#undef T
#undef B_ELEMENT
#undef B
#undef UB
#undef CONVERT_T
#undef CONVERT_B
#undef DIGITS
#undef BIAS
#undef BELOW_ONE

#define S		double
#define T		JOIN(double, N)
#define B_ELEMENT	long
#define B		JOIN(long, N)
#define UB		JOIN(ulong, N)
#define CONVERT_T	convert_double
#define CONVERT_B	convert_long
#define DIGITS		52
#define BIAS		1023
#define BELOW_ONE	0x1.fffffffffffffp-1
#include "widths.h"
#undef S
#undef T
#undef B_ELEMENT
#undef B
#undef UB
#undef CONVERT_T
#undef CONVERT_B
#undef DIGITS
#undef BIAS
#undef BELOW_ONE
#undef EACH
