// SPDX-License-Identifier: MIT
/*
 * element.c - work elements
 *
 * A range of one, two or three dimensions becomes a sequence of items with one
 * number (N1 of CN102792271): x counts fastest, then y, then z. A unit takes
 * consecutive numbers and finds their positions by repeated division (N2), within a row
 * by counting up. The item of a dispatch is a work-group (M1 of CN102576314).
 *
 * A range may be ragged: where its size is no multiple of the work-group's the
 * last work-group has a smaller extent, and positions outside are not run (N2).
 *
 * Handing out an element costs about as much as running a tiny one. So elements of one item
 * that become ready together and are adjacent in memory are coalesced: they enter the queue as one
 * entry, whose items are the elements. Units take their share of it as of any other entry.
 *
 * No locks: eu.c describes which thread may access an element when.
 */
#include "element.h"

#include <stddef.h>

void salvo_element_position(const struct salvo_element *element, uint32_t item,
			    uint32_t position[3])
{
	const uint32_t row = element->size[0];
	const uint64_t plane = (uint64_t)row * element->size[1];
	uint32_t rest;

	/* Most elements have few items, and divisions are slow. */
	if (!item) {
		position[0] = position[1] = position[2] = 0;
		return;
	}
	position[2] = item / plane;
	rest = item % plane;
	position[1] = rest / row;
	position[0] = rest % row;
}
