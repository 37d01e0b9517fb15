/* SPDX-License-Identifier: MIT */
/*
 * strassen.h - Strassen's product: seven products of quarters of two matrices instead of eight
 */
#ifndef STRASSEN_H
#define STRASSEN_H

/* The operands of the seven products: quarter + sign * quarter, of a and of b. */
static const struct strassen_operands {
	int a, a_sign, a_other, b, b_sign, b_other;
} strassen_operands[7] = {
	{ 0, 1, 3, 0, 1, 3 }, { 2, 1, 3, 0, 0, 0 }, { 0, 0, 0, 1, -1, 3 }, { 3, 0, 3, 2, -1, 0 },
	{ 0, 1, 1, 3, 0, 3 }, { 2, -1, 0, 0, 1, 1 }, { 1, -1, 3, 2, 1, 3 },
};

/* The quarters of the result as sums of products. */
static const int strassen_sums[4][7] = {
	{ 1, 0, 0, 1, -1, 0, 1 }, { 0, 0, 1, 0, 1, 0, 0 },
	{ 0, 1, 0, 1, 0, 0, 0 }, { 1, -1, 1, 0, 0, 1, 0 },
};

#endif /* STRASSEN_H */
