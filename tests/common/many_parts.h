/* SPDX-License-Identifier: MIT */
/*
 * many_parts.h - a program that salvo-cc compiles in several parts: tools/salvo-cc/parts.cc
 */
#ifndef TEST_MANY_PARTS_H
#define TEST_MANY_PARTS_H

#define MANY_PARTS_KERNEL(n) \
	"kernel void k" #n "(global int *out, int x)\n" \
	"{ int i = get_global_id(0);\n" \
	"  float f = i;\n" \
	"  out[i] = sin(f + N) + tgamma(f * 1." #n "f) + pow(f, 2." #n "f) == 0.3f ? 0 :\n" \
	"           x + i + " #n "; }\n"

/** define MANY_PARTS_KERNELS - k0 and so on: x, the work-item's number and the kernel's */
#define MANY_PARTS_KERNELS 12
/** define MANY_PARTS_SOURCE - The source, in which N is a number that a build option defines */
#define MANY_PARTS_SOURCE \
	MANY_PARTS_KERNEL(0) MANY_PARTS_KERNEL(1) MANY_PARTS_KERNEL(2) MANY_PARTS_KERNEL(3) \
	MANY_PARTS_KERNEL(4) MANY_PARTS_KERNEL(5) MANY_PARTS_KERNEL(6) MANY_PARTS_KERNEL(7) \
	MANY_PARTS_KERNEL(8) MANY_PARTS_KERNEL(9) MANY_PARTS_KERNEL(10) MANY_PARTS_KERNEL(11)

#endif /* TEST_MANY_PARTS_H */
