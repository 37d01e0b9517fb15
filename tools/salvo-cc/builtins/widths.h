/* SPDX-License-Identifier: MIT */
/*
 * widths.h - includes EACH once for scalars and once for vectors of every width
 *
 * N is the width as it stands in a type's name (nothing for a scalar), LANES as a number.
 */
#define N
#define LANES 1
#include EACH
#undef N
#undef LANES
#define N 2
#define LANES 2
#include EACH
#undef N
#undef LANES
#define N 3
#define LANES 3
#include EACH
#undef N
#undef LANES
#define N 4
#define LANES 4
#include EACH
#undef N
#undef LANES
#define N 8
#define LANES 8
#include EACH
#undef N
#undef LANES
#define N 16
#define LANES 16
#include EACH
#undef N
#undef LANES
