// SPDX-License-Identifier: MIT
/*
 * vram.c - allocator for the embedded GPU's video memory
 *
 * One sorted array of ranges serves as allocator (first fit) and as the index for validation. A
 * guard page stays between two ranges, so that a kernel that runs over the end of a buffer
 * faults instead of writing into the next one. A range that can hold a huge page starts with one,
 * if there is room for it so. Allocation starts behind the ranges that are known
 * to have no hole between them, so that it does not go through all that are allocated. Not locked:
 * the device's lock is held around every call.
 */
#include "vram.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "huge.h"

#define GUARD_BYTES	SALVO_VRAM_GUARD_BYTES
#define SMALLEST_BYTES	4096u

void salvo_vram_init(struct salvo_vram *vram, uint64_t bytes)
{
	memset(vram, 0, sizeof(*vram));
	vram->bytes = bytes;
}

void salvo_vram_fini(struct salvo_vram *vram)
{
	free(vram->ranges);
	memset(vram, 0, sizeof(*vram));
}

/* Number of ranges that start at or before @offset. */
static size_t count_until(const struct salvo_vram *vram, uint64_t offset)
{
	size_t low = 0, high = vram->count, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (vram->ranges[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct salvo_vram_range *salvo_vram_find(const struct salvo_vram *vram, uint64_t offset)
{
	size_t n = count_until(vram, offset);

	if (!n || offset - vram->ranges[n - 1].offset >= vram->ranges[n - 1].bytes)
		return NULL;
	return &vram->ranges[n - 1];
}

/* The first offset at which a range may start behind the first @count ones. */
static uint64_t start_after(const struct salvo_vram *vram, size_t count)
{
	const struct salvo_vram_range *last = count ? &vram->ranges[count - 1] : NULL;

	return last ? last->offset + last->bytes + GUARD_BYTES : 0;
}

/* Where do @bytes fit, at a multiple of @align? @index: that of the range behind. */
static bool find_hole(struct salvo_vram *vram, uint64_t bytes, uint64_t align, size_t *index,
		      uint64_t *start)
{
	size_t i;

	for (i = vram->dense;; i++) {
		const uint64_t first = start_after(vram, i);
		const uint64_t aligned = (first + align - 1) / align * align;
		uint64_t end;

		*index = i;
		*start = aligned;
		if (i == vram->count)
			return aligned <= vram->bytes && bytes <= vram->bytes - aligned;
		end = vram->ranges[i].offset;
		if (end >= aligned + GUARD_BYTES && bytes <= end - aligned - GUARD_BYTES)
			return true;
		if (i == vram->dense && end < first + GUARD_BYTES + SMALLEST_BYTES)
			vram->dense++;
	}
}

int salvo_vram_alloc(struct salvo_vram *vram, uint64_t bytes, uint32_t access,
		     uint64_t *offset)
{
	uint64_t start;
	size_t i;

	if (!bytes || bytes > vram->bytes)
		return -ENOSPC;
	if (salvo_array_reserve(&vram->ranges, &vram->capacity, vram->count + 1,
				sizeof(*vram->ranges)))
		return -ENOMEM;
	if (!(bytes >= SALVO_HUGE_BYTES &&
	      find_hole(vram, bytes, SALVO_HUGE_BYTES, &i, &start)) &&
	    !find_hole(vram, bytes, SMALLEST_BYTES, &i, &start))
		return -ENOSPC;
	memmove(&vram->ranges[i + 1], &vram->ranges[i],
		(vram->count - i) * sizeof(*vram->ranges));
	vram->ranges[i] = (struct salvo_vram_range){ start, bytes, access };
	vram->count++;
	*offset = start;
	return 0;
}

void salvo_vram_free(struct salvo_vram *vram, uint64_t offset)
{
	size_t n = count_until(vram, offset);

	if (vram->dense > n - 1)
		vram->dense = n - 1;
	memmove(&vram->ranges[n - 1], &vram->ranges[n],
		(vram->count - n) * sizeof(*vram->ranges));
	vram->count--;
}
