// SPDX-License-Identifier: MIT
/*
 * items.c - which work-item of a compiled kernel faulted
 *
 * The compiler adds a table to each program (struct salvo_items). For each instruction it has
 * expressions on registers and the stack, like those of debug information, that compute the
 * index of the work-item. It is read after a fault only, so it costs nothing
 * otherwise (M6 of CN102576314).
 *
 * An instruction of several vector lanes may have faulted for any of them. If the lanes access
 * adjacent memory, the lane follows from the address.
 *
 * The program is untrusted. The search terminates whatever the table holds, and its result is
 * three numbers, which the caller checks against the work-group. Addresses in it are
 * followed unchecked, so the caller handles faults.
 */
#include "items.h"

#include <string.h>
#include "salvo_gpu.h"

/* Operations of DWARF expressions, and the deepest that one may be */
enum { OP_DEREF = 0x06, OP_CONSTU = 0x10, OP_CONSTS = 0x11, OP_DIV = 0x1b, OP_MINUS = 0x1c,
       OP_MUL = 0x1e, OP_PLUS = 0x22, OP_PLUS_UCONST = 0x23, OP_BREG0 = 0x70 };
#define DEPTH 8u

struct reader {
	const uint8_t *at, *end;
};

/* A number in LEB128. */
static uint64_t read_number(struct reader *from, bool is_signed)
{
	unsigned int shift = 0;
	uint64_t number = 0;
	uint8_t byte;

	do {
		if (from->at == from->end || shift > 63)
			return 0;
		byte = *from->at++;
		number |= (uint64_t)(byte & 127) << shift;
		shift += 7;
	} while (byte & 128);
	if (is_signed && (byte & 64) && shift < 64)
		number |= ~0ull << shift;
	return number;
}

static bool apply(uint8_t op, uint64_t *left, uint64_t right)
{
	switch (op) {
	case OP_PLUS:
		*left += right;
		return true;
	case OP_MINUS:
		*left -= right;
		return true;
	case OP_MUL:
		*left *= right;
		return true;
	case OP_DIV:
		if (!right || right == ~0ull)
			return false;
		*left = (int64_t)*left / (int64_t)right;
		return true;
	default:
		return false;
	}
}

static bool evaluate(const uint8_t *expression, const struct salvo_machine *machine,
		     uint64_t *result)
{
	struct reader from = { expression + 1, expression + 1 + *expression };
	uint64_t stack[DEPTH];
	unsigned int depth = 0;

	while (from.at != from.end) {
		const uint8_t op = *from.at++;

		if (op == OP_CONSTU || op == OP_CONSTS ||
		    (op >= OP_BREG0 && op < OP_BREG0 + SALVO_ITEM_REGISTERS)) {
			if (depth == DEPTH)
				return false;
			stack[depth] = read_number(&from, op != OP_CONSTU);
			if (op >= OP_BREG0)
				stack[depth] += machine->registers[op - OP_BREG0];
			depth++;
		} else if (op == OP_PLUS_UCONST && depth) {
			stack[depth - 1] += read_number(&from, false);
		} else if (op == OP_DEREF && depth) {
			memcpy(&stack[depth - 1], (const void *)stack[depth - 1], sizeof(*stack));
		} else if (depth < 2 || !apply(op, &stack[depth - 2], stack[depth - 1])) {
			return false;
		} else {
			depth--;
		}
	}
	if (depth != 1)
		return false;
	*result = stack[0];
	return true;
}

static const struct salvo_items_point *points_of(const struct salvo_items *items)
{
	return (const struct salvo_items_point *)(items + 1);
}

static const struct salvo_item_place *places_of(const struct salvo_items *items)
{
	return (const struct salvo_item_place *)(points_of(items) + items->points);
}

static const uint8_t *expressions_of(const struct salvo_items *items)
{
	return (const uint8_t *)(places_of(items) + items->places);
}

static bool is_register(uint8_t number)
{
	return number < SALVO_ITEM_REGISTERS || number == SALVO_ITEM_NO_REGISTER;
}

static bool expression_fits(const struct salvo_items *items, uint16_t at)
{
	return at < items->bytes && expressions_of(items)[at] < items->bytes - at;
}

static bool place_is_sane(const struct salvo_items *items, const struct salvo_item_place *place)
{
	unsigned int d;

	if (place->what == SALVO_ITEM_NONE)
		return true;
	if (place->what > SALVO_ITEM_ROW || !place->lanes || place->lane >= place->lanes ||
	    (place->what == SALVO_ITEM_ROW && !place->each) || !is_register(place->base) ||
	    !is_register(place->index))
		return false;
	for (d = 0; d < 3; d++)
		if (!expression_fits(items, place->at[d]))
			return false;
	return true;
}

bool salvo_items_check(const struct salvo_items *items, size_t bytes)
{
	const struct salvo_items_point *points;
	uint32_t i;

	if (bytes < sizeof(*items) || items->version != SALVO_ITEMS_VERSION)
		return false;
	/* The numbers have 32 bits, so sums of 64 bits cannot wrap. */
	if (sizeof(*items) + items->points * (uint64_t)sizeof(struct salvo_items_point) +
	    items->places * (uint64_t)sizeof(struct salvo_item_place) + items->bytes > bytes)
		return false;
	points = points_of(items);
	for (i = 0; i < items->points; i++)
		if (points[i].place >= items->places || (i && points[i].at < points[i - 1].at))
			return false;
	for (i = 0; i < items->places; i++)
		if (!place_is_sane(items, &places_of(items)[i]))
			return false;
	return true;
}

static const struct salvo_items *table_of(const void *entry)
{
	struct salvo_items_link link;
	uintptr_t table;

	memcpy(&link, (const uint8_t *)entry - sizeof(link), sizeof(link));
	table = (uintptr_t)entry + link.items;
	if (link.magic != SALVO_ITEMS_MAGIC || table % sizeof(uint32_t))
		return NULL;
	return (const struct salvo_items *)table;
}

/* The place of the last point up to @pc, or NULL. */
static const struct salvo_item_place *find_place(const struct salvo_items *items, uint64_t pc)
{
	const uint64_t at = pc - ((uintptr_t)items + items->code);
	const struct salvo_items_point *points = points_of(items);
	uint32_t low = 0, high = items->points;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (points[middle].at <= at)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || points[low - 1].place >= items->places)
		return NULL;
	return &places_of(items)[points[low - 1].place];
}

/* Which lane of a row accessed @address? */
static bool find_lane(const struct salvo_item_place *place, const struct salvo_machine *machine,
		      uint64_t address, uint64_t *lane)
{
	uint64_t start = (int64_t)place->displacement;

	if (!address || !place->each)
		return false;
	if (place->base < SALVO_ITEM_REGISTERS)
		start += machine->registers[place->base];
	if (place->index < SALVO_ITEM_REGISTERS)
		start += machine->registers[place->index] * place->scale;
	*lane = (address - start) / place->each;
	return *lane < place->lanes;
}

void salvo_items_find(const void *entry, const struct salvo_machine *machine, uint64_t address,
		      struct salvo_items_found *found)
{
	const struct salvo_items *items = table_of(entry);
	const struct salvo_item_place *place;
	uint64_t at[3], lane = 0;
	unsigned int d;

	found->count = 0;
	found->table = items;
	if (!items || items->version != SALVO_ITEMS_VERSION)
		return;
	place = find_place(items, machine->pc);
	if (!place || !place_is_sane(items, place))
		return;
	for (d = 0; d < 3; d++)
		if (!evaluate(expressions_of(items) + place->at[d], machine, &at[d]))
			return;
	found->at[0] = at[0];
	found->at[1] = at[1];
	found->at[2] = at[2];
	if (place->what == SALVO_ITEM_LANE)
		lane = place->lane;
	if (place->what == SALVO_ITEM_LANE ||
	    (place->what == SALVO_ITEM_ROW && find_lane(place, machine, address, &lane))) {
		found->at[0] += lane;
		found->count = 1;
	} else {
		found->count = place->lanes;
	}
}
