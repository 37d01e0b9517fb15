/* SPDX-License-Identifier: MIT */
/*
 * dispatch.h - is a dispatch within the limits of the hardware?
 */
#ifndef SALVO_DISPATCH_H
#define SALVO_DISPATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "salvo_hw.h"

/**
 * salvo_dispatch_has_grid() - Check the grid.
 * @op: A copy that nobody else writes to.
 * @size: Set to the number of work-groups in each dimension.
 */
static inline bool salvo_dispatch_has_grid(const struct salvo_op_dispatch *op, uint32_t size[3])
{
	uint64_t group_items = 1, groups = 1;
	unsigned int d;

	if (op->dims < 1 || op->dims > 3)
		return false;
	for (d = op->dims; d < 3; d++) {
		if (op->items[d] != 1 || op->group[d] != 1)
			return false;
		size[d] = 1;
	}
	for (d = 0; d < op->dims; d++) {
		const uint32_t items = op->items[d], group = op->group[d];

		if (!items || items > SALVO_MAX_ITEMS || !group)
			return false;
		size[d] = group == 1 ? items : (items - 1) / group + 1;
		group_items *= group;
		groups *= size[d];
		if (group_items > SALVO_MAX_GROUP_ITEMS || groups > SALVO_MAX_GROUPS)
			return false;
	}
	return true;
}

_Static_assert(offsetof(struct salvo_op_dispatch, group) ==
	       offsetof(struct salvo_op_dispatch, items) + 12, "items and group are 24 bytes");

/** salvo_dispatch_is_same_grid() - Have two dispatches the same grid? */
static inline bool salvo_dispatch_is_same_grid(const struct salvo_op_dispatch *op,
					       const struct salvo_op_dispatch *other)
{
	const size_t at = offsetof(struct salvo_op_dispatch, items);
	uint64_t a[3], b[3];

	/* The items and the group, two of them at a time */
	memcpy(a, (const char *)op + at, sizeof(a));
	memcpy(b, (const char *)other + at, sizeof(b));
	return a[0] == b[0] && a[1] == b[1] && a[2] == b[2] && op->dims == other->dims;
}

/** salvo_dispatch_has_limits() - Check the flags and sizes; not the addresses and units. */
static inline bool salvo_dispatch_has_limits(const struct salvo_op_dispatch *op)
{
	const uint32_t known = SALVO_DISPATCH_BARRIERS | SALVO_DISPATCH_CONTENDS;

	return !(op->flags & ~known) && !op->reserved &&
	       op->args_size <= SALVO_MAX_DISPATCH_ARGUMENT_BYTES &&
	       op->local_size <= SALVO_MAX_LOCAL_BYTES;
}

#endif /* SALVO_DISPATCH_H */
