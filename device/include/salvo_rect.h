/* SPDX-License-Identifier: MIT */
/*
 * salvo_rect.h - boxes in linear memory: rows at a pitch, slices of rows at a pitch
 *
 * A COPY_RECT is checked by the driver and by the device, with the arithmetic here. The pitches
 * are such that the rows of a box follow each other and do not overlap: a row pitch is at
 * least the width, a slice pitch at least the rows of a slice.
 */
#ifndef SALVO_RECT_H
#define SALVO_RECT_H

#include <linux/types.h>

/**
 * salvo_rect_span() - Bytes from the first to the last byte of a box.
 * @width: Bytes of a row.
 * @height: Rows of a slice.
 * @depth: Slices.
 * @row: Bytes from one row to the next.
 * @slice: Bytes from one slice to the next.
 *
 * Return: the bytes; 0 if a size is zero, a pitch is too small, or 64 bits are not enough.
 */
static inline __u64 salvo_rect_span(__u64 width, __u64 height, __u64 depth, __u64 row, __u64 slice)
{
	__u64 rows, rest, slices, span;

	if (!width || !height || !depth || row < width ||
	    __builtin_mul_overflow(row, height, &rows) || slice < rows ||
	    __builtin_mul_overflow(slice, depth - 1, &slices))
		return 0;
	rest = rows - row + width;
	return __builtin_add_overflow(slices, rest, &span) ? 0 : span;
}

/* Is @at, less than @pitch * @count off either way, a place at which two rows have common bytes? */
static inline int salvo_rect_row_hit(__u64 at, __u64 width, __u64 height, __u64 row)
{
	const __u64 up = at / row, over = at % row;

	return (up < height && over < width) || (over && up + 1 < height && row - over < width);
}

/**
 * salvo_rect_overlaps() - Do two boxes of one shape and the same pitches have bytes in common?
 * @distance: Of their first bytes, either way.
 * @width: As for salvo_rect_span(), which did not return 0.
 * @height: The same.
 * @depth: The same.
 * @row: The same.
 * @slice: The same.
 */
static inline int salvo_rect_overlaps(__u64 distance, __u64 width, __u64 height, __u64 depth,
				      __u64 row, __u64 slice)
{
	const __u64 up = distance / slice, over = distance % slice;

	return (up < depth && salvo_rect_row_hit(over, width, height, row)) ||
	       (over && up + 1 < depth && salvo_rect_row_hit(slice - over, width, height, row));
}

#endif /* SALVO_RECT_H */
