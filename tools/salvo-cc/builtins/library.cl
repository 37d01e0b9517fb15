// SPDX-License-Identifier: MIT
/*
 * library.cl - all of the library, in one translation unit
 *
 * Only definitions that a program calls are taken from it (library.cc). What is an
 * instruction or two for every type is not here but made to measure by the compiler:
 * intrinsics.cc, convert.cc, memory.cc, atomics.cc.
 */
#include "types.h"
#include "integer.cl"
#include "relational.cl"
#include "common.cl"
#include "math.cl"
#include "float.cl"
#include "exact.cl"
#include "double.cl"
#include "half.cl"
#include "geometric.cl"
#include "sync.cl"
#include "collective.cl"
#include "print.cl"
#include "texels.cl"
#include "image.cl"
