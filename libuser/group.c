// SPDX-License-Identifier: MIT
/*
 * group.c - choose a work-group size (M1 of CN102576314)
 *
 * Each unit should get several groups, for load balance, and a group should fill the vector lanes,
 * x first, or y or z where that is along contiguous memory. Where lanes along x access what is
 * contiguous along z, work-items along z are next. A kernel with barriers has a stack for each
 * work-item: smaller groups. Where all groups must have one size, it is the largest divisor that
 * the same goals allow.
 */
#include <errno.h>
#include <string.h>

#include "device.h"
#include "group.h"

static uint32_t lanes_of(const struct salvo_device_info *info)
{
	return info->isa_level >= 4 ? 16 : info->isa_level == 3 ? 8 : 4;
}

/* Work-items that a group should have. */
static uint64_t wanted(const struct salvo_device_info *info, uint32_t flags, uint64_t total)
{
	const uint32_t lanes = lanes_of(info);
	uint32_t most = flags & SALVO_KERNEL_BARRIERS ? 64 : 1024;
	uint64_t want;

	if (flags & SALVO_KERNEL_SUB_GROUPS && most > SALVO_MAX_SUB_GROUP_ITEMS)
		most = SALVO_MAX_SUB_GROUP_ITEMS;
	if (most > info->max_group_items)
		most = info->max_group_items;
	want = total / (info->units * 8ull);
	if (want < lanes)
		want = lanes;
	return want > most ? most : want;
}

/* The dimension that is the @nth to be divided */
static unsigned int dimension(uint32_t flags, unsigned int dims, unsigned int nth)
{
	static const unsigned int lanes_along_z[] = { 2, 0, 1 }, blocks_along_z[] = { 0, 2, 1 };
	const bool columns = flags & SALVO_KERNEL_COLUMNS;

	if (!(flags & SALVO_KERNEL_PLANES))
		return columns && dims > 1 && nth < 2 ? 1 - nth : nth;
	if (dims < 3)
		return nth;
	return columns ? lanes_along_z[nth] : blocks_along_z[nth];
}

/* How many of the @want work-items should be along the @nth dimension at most? */
static uint64_t share(uint32_t flags, unsigned int dims, unsigned int nth, uint64_t want,
		      uint32_t lanes)
{
	const bool blocks = flags & SALVO_KERNEL_PLANES && !(flags & SALVO_KERNEL_COLUMNS);

	return blocks && dims > 2 && nth == 0 && want > lanes ? lanes : want;
}

static uint64_t total_items(unsigned int dims, const uint32_t items[3])
{
	uint64_t total = 1;
	unsigned int d;

	for (d = 0; d < dims; d++)
		total = total > UINT32_MAX ? total : total * items[d];
	return total;
}

void salvo_group_choose(const struct salvo_device_info *info, uint32_t flags, unsigned int dims,
			const uint32_t items[3], uint32_t group[3])
{
	const uint64_t total = total_items(dims, items);
	const uint32_t lanes = lanes_of(info);
	uint64_t want = wanted(info, flags, total);
	unsigned int nth;

	if (total <= lanes) {
		memcpy(group, items, 3 * sizeof(*group));
		return;
	}
	for (nth = 0; nth < 3; nth++) {
		const unsigned int d = dimension(flags, dims, nth);
		uint64_t most, pieces, size;

		if (d >= dims || want <= 1) {
			group[d] = 1;
			continue;
		}
		most = share(flags, dims, nth, want, lanes);
		pieces = (items[d] + most - 1) / most;
		size = (items[d] + pieces - 1) / pieces;
		if (nth == 0 && pieces > 1 && (size + lanes - 1) / lanes * lanes <= most)
			size = (size + lanes - 1) / lanes * lanes;
		group[d] = size;
		want /= size;
	}
}

/*
 * The largest divisor up to @most; one that is a multiple of @step, unless that is a lot smaller.
 */
static uint32_t divisor(uint32_t number, uint32_t most, uint32_t step)
{
	uint32_t size, stepped = most / step * step;

	if (number <= most)
		return number;
	for (size = most; size > 1 && number % size; size--)
		;
	while (stepped && number % stepped)
		stepped -= step;
	return stepped >= size / 4 && stepped ? stepped : size;
}

void salvo_group_choose_uniform(const struct salvo_device_info *info, uint32_t flags,
				unsigned int dims, const uint32_t items[3], uint32_t group[3])
{
	const uint32_t lanes = lanes_of(info);
	uint64_t want = wanted(info, flags, total_items(dims, items));
	unsigned int nth;

	for (nth = 0; nth < 3; nth++) {
		const unsigned int d = dimension(flags, dims, nth);

		group[d] = d >= dims ? 1 :
			   divisor(items[d], share(flags, dims, nth, want, lanes),
				   nth ? 1 : lanes);
		want /= group[d];
		if (!want)
			want = 1;
	}
}

int salvo_kernel_suggest_group(const struct salvo_kernel *kernel, unsigned int dims,
			       const uint32_t *items, uint32_t flags, uint32_t group[3])
{
	const struct salvo_note_kernel *note = &kernel->info->note;
	uint32_t all[3] = { 1, 1, 1 };
	unsigned int d;

	if (dims < 1 || dims > 3 || !items || flags & ~SALVO_GROUP_UNIFORM)
		return -EINVAL;
	for (d = 0; d < dims; d++) {
		if (!items[d])
			return -EINVAL;
		all[d] = items[d];
	}
	if (note->required_group[0])
		memcpy(group, note->required_group, sizeof(note->required_group));
	else if (flags & SALVO_GROUP_UNIFORM)
		salvo_group_choose_uniform(&kernel->device->info, note->flags, dims, all, group);
	else
		salvo_group_choose(&kernel->device->info, note->flags, dims, all, group);
	return 0;
}
