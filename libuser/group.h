/* SPDX-License-Identifier: MIT */
/*
 * group.h - choose a work-group size
 */
#ifndef SALVO_GROUP_H
#define SALVO_GROUP_H

#include "kernel.h"

/**
 * salvo_group_choose() - A good size; the last groups of a dimension may be smaller.
 * @flags: SALVO_KERNEL_* of device/include/salvo_kernel.h.
 * @items: 1 past @dims, and not 0.
 */
void salvo_group_choose(const struct salvo_device_info *info, uint32_t flags, unsigned int dims,
			const uint32_t items[3], uint32_t group[3]);
/** salvo_group_choose_uniform() - A good size that divides @items. */
void salvo_group_choose_uniform(const struct salvo_device_info *info, uint32_t flags,
				unsigned int dims, const uint32_t items[3], uint32_t group[3]);

#endif /* SALVO_GROUP_H */
