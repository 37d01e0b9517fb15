/* SPDX-License-Identifier: MIT */
/*
 * steal.h - the programs of steal.c as oneTBB runs them, in C++
 */
#ifndef BENCH_STEAL_H
#define BENCH_STEAL_H

#ifdef __cplusplus
extern "C" {
#endif

/** tbb_threads() - How many threads work, the caller among them. */
void tbb_threads(unsigned int count);
long tbb_fib(long n);
long tbb_queens(int rows, int row, unsigned int columns, unsigned int left, unsigned int right);
long tbb_skynet(long first, long count);
/** tbb_items() - items[i] = i for all @count, by parallel_for. */
void tbb_items(unsigned int *items, long count);

#ifdef __cplusplus
}
#endif

#endif
