// SPDX-License-Identifier: MIT
/*
 * huge.c - huge pages for a shared mapping of a file in memory
 *
 * A file in memory has huge pages as it is written to only if the administrator says so in
 * shmem_enabled, which is "never" by default. MADV_COLLAPSE (Linux 6.1) does not ask: it replaces
 * the pages of an aligned range by a huge page, and holes by zeros, which costs a tenth of the
 * page faults that it saves. It finds nothing to do in a range without any page, so one is
 * written first.
 */
#include "huge.h"

#include <stdint.h>
#include <sys/mman.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

static uintptr_t align_up(uintptr_t address)
{
	return (address + SALVO_HUGE_BYTES - 1) & ~(uintptr_t)(SALVO_HUGE_BYTES - 1);
}

void *salvo_huge_reserve(size_t bytes, size_t offset)
{
	uintptr_t first, start, end;
	void *map;

	map = mmap(NULL, bytes + SALVO_HUGE_BYTES, PROT_NONE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return NULL;
	first = (uintptr_t)map;
	start = align_up(first + offset) - offset;
	end = first + bytes + SALVO_HUGE_BYTES;
	if (start > first)
		munmap(map, start - first);
	if (end > start + bytes)
		munmap((void *)(start + bytes), end - start - bytes);
	return (void *)start;
}

void salvo_huge_populate(void *start, size_t bytes)
{
	const uintptr_t end = (uintptr_t)start + bytes;
	uintptr_t page;

	for (page = align_up((uintptr_t)start); page + SALVO_HUGE_BYTES <= end;
	     page += SALVO_HUGE_BYTES) {
		*(volatile char *)page = 0;
		if (madvise((void *)page, SALVO_HUGE_BYTES, MADV_COLLAPSE))
			return;
	}
}
