/* SPDX-License-Identifier: MIT */
/*
 * huge.h - huge pages for a shared mapping of a file in memory
 */
#ifndef SALVO_HUGE_H
#define SALVO_HUGE_H

#include <stddef.h>

/** define SALVO_HUGE_BYTES - A huge page, where pages have 4 KiB. */
#define SALVO_HUGE_BYTES (2ull << 20)

/**
 * salvo_huge_reserve() - Reserve inaccessible addresses.
 * @bytes: Whole pages.
 * @offset: Whole pages: the address that is aligned to a huge page, from the start on.
 *
 * Return: their start, to be given back with munmap(), or NULL: errno says why.
 */
void *salvo_huge_reserve(size_t bytes, size_t offset);

/**
 * salvo_huge_populate() - Allocate the huge pages that lie in a range.
 * @start: In a writable shared mapping of a memfd. Nothing of the range is in memory yet, and no
 *	   other thread uses it. A page's offset in the file is aligned as its address is.
 * @bytes: From there on. What is no whole huge page stays as it is.
 *
 * Any thread may call it. Nothing is lost where there are none: Linux before 6.1, no contiguous
 * memory, a system or a process without huge pages. The memory reads as zeros in any case.
 */
void salvo_huge_populate(void *start, size_t bytes);

#endif /* SALVO_HUGE_H */
