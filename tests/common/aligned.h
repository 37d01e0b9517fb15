/* SPDX-License-Identifier: MIT */
/*
 * aligned.h - zeroed memory with the alignment that structures need
 */
#ifndef TEST_ALIGNED_H
#define TEST_ALIGNED_H

#include <stdlib.h>
#include <string.h>

/** aligned_zalloc() - Allocate zeroed memory aligned to 64 bytes; release it with free(). */
static inline void *aligned_zalloc(size_t count, size_t size)
{
	const size_t bytes = (count * size + 63) / 64 * 64;
	void *memory = aligned_alloc(64, bytes);

	return memory ? memset(memory, 0, bytes) : NULL;
}

#endif /* TEST_ALIGNED_H */
