/* SPDX-License-Identifier: MIT */
/*
 * dispatch.h - is a dispatch within the limits of the hardware?
 */
#ifndef SALVO_DISPATCH_H
#define SALVO_DISPATCH_H

#include <stdbool.h>
#include <stdint.h>
#include "salvo_hw.h"

/**
 * salvo_dispatch_is_valid() - Check the grid, flags and sizes; not the addresses and units.
 * @op: A copy that nobody else writes to.
 * @size: Set to the number of work-groups in each dimension.
 */
static inline bool salvo_dispatch_is_valid(const struct salvo_op_dispatch *op, uint32_t size[3])
{
	uint64_t group_items = 1, groups = 1;
	unsigned int d;

	if (op->flags & ~SALVO_DISPATCH_BARRIERS || op->reserved || op->dims < 1 || op->dims > 3)
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
	return op->args_size <= SALVO_MAX_DISPATCH_ARGUMENT_BYTES &&
	       op->local_size <= SALVO_MAX_LOCAL_BYTES;
}

#endif /* SALVO_DISPATCH_H */
