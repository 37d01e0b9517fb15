// SPDX-License-Identifier: MIT
/*
 * item_times.c - how long the work-groups of each kernel took
 *
 * A table with one place for each value of a hash; the kernel that ran last has the place.
 * The arguments may change what a work-group does. So a longer time counts at once, as
 * what is expected decides whether other units sleep on, and a shorter one by half.
 *
 * No locks: a table belongs to one unit.
 */
#include "item_times.h"

void salvo_item_times_add(struct salvo_item_times *times, uint64_t kernel, uint32_t items,
			  uint64_t ns)
{
	const unsigned int at = salvo_history_place(kernel);
	const uint64_t ps = ns * 1000 / items;

	if (times->of[at].kernel != kernel || ps > times->of[at].ps)
		times->of[at].ps = ps;
	else
		times->of[at].ps = (times->of[at].ps + ps) / 2;
	times->of[at].kernel = kernel;
}

uint64_t salvo_item_times_expect(const struct salvo_item_times *times, uint64_t kernel,
				 uint32_t items)
{
	const unsigned int at = salvo_history_place(kernel);

	if (!kernel || times->of[at].kernel != kernel)
		return UINT64_MAX;
	return times->of[at].ps > UINT64_MAX / UINT32_MAX ? UINT64_MAX :
							    times->of[at].ps * items / 1000;
}
