// SPDX-License-Identifier: MIT
/*
 * transfer.c - copies, fills and timestamps
 *
 * Such a command is divided into items of about SALVO_BLOCK_BYTES, so that several units share
 * it. An item of a box (COPY_RECT) is some whole rows, counted through all slices, or a part of
 * one row where rows are longer than a block.
 *
 * The command processor has checked all ranges. A page may be gone all the same: a unit runs
 * this with its trap armed.
 */
#include "transfer.h"

#include <string.h>

#include "clock.h"
#include "element.h"
#include "salvo_hw.h"

/* Bytes of a pattern that are written at once */
#define TILE_BYTES 1024u

static void *at_address(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

/* The part of a range of @size bytes that is block @at. */
static uint64_t block_bytes(uint64_t size, uint64_t at)
{
	const uint64_t rest = size - at * SALVO_BLOCK_BYTES;

	return rest < SALVO_BLOCK_BYTES ? rest : SALVO_BLOCK_BYTES;
}

static void copy_block(const struct salvo_op_copy *op, uint64_t at)
{
	const uint64_t offset = at * SALVO_BLOCK_BYTES;

	memcpy(at_address(op->dst + offset), at_address(op->src + offset),
	       block_bytes(op->size, at));
}

static void fill_block(const struct salvo_op_fill *op, uint64_t at)
{
	uint32_t *dst = at_address(op->dst + at * SALVO_BLOCK_BYTES);
	const uint64_t count = block_bytes(op->size, at) / sizeof(*dst);
	uint64_t i;

	for (i = 0; i < count; i++)
		dst[i] = op->pattern;
}

/* A block need not begin where a pattern does: the tile begins with the pattern's byte there. */
static void fill_pattern_block(const struct salvo_op_fill_pattern *op, const uint8_t *pattern,
			       uint64_t at)
{
	const uint32_t tile_bytes = TILE_BYTES / op->args_size * op->args_size;
	const uint64_t bytes = block_bytes(op->size, at);
	uint32_t phase = at * SALVO_BLOCK_BYTES % op->args_size, i;
	uint8_t *dst = at_address(op->dst + at * SALVO_BLOCK_BYTES);
	uint8_t tile[TILE_BYTES];
	uint64_t done;

	for (i = 0; i < tile_bytes && i < bytes; i++) {
		tile[i] = pattern[phase];
		if (++phase == op->args_size)
			phase = 0;
	}
	for (done = 0; done < bytes; done += tile_bytes)
		memcpy(dst + done, tile, bytes - done < tile_bytes ? bytes - done : tile_bytes);
}

/* Rows in one item of a box, if a row is no longer than a block. */
static uint64_t rows_of_item(const struct salvo_op_copy_rect *op)
{
	return op->width < SALVO_BLOCK_BYTES ? SALVO_BLOCK_BYTES / op->width : 1;
}

static uint64_t blocks_of_row(const struct salvo_op_copy_rect *op)
{
	return (op->width - 1) / SALVO_BLOCK_BYTES + 1;
}

uint32_t salvo_transfer_rect_items(const struct salvo_op_copy_rect *op)
{
	uint64_t rows, items;

	if (!op->width || __builtin_mul_overflow(op->height, op->depth, &rows) || !rows)
		return 0;
	items = (rows - 1) / rows_of_item(op) + 1;
	if (__builtin_mul_overflow(items, blocks_of_row(op), &items) || items > SALVO_MAX_GROUPS)
		return 0;
	return items;
}

static void copy_rect_item(const struct salvo_op_copy_rect *op, uint32_t at)
{
	const uint64_t blocks = blocks_of_row(op), rows = rows_of_item(op);
	const uint64_t first = at / blocks * rows, all = op->height * op->depth;
	const uint64_t end = all - first < rows ? all : first + rows;
	const uint64_t offset = at % blocks * SALVO_BLOCK_BYTES;
	const uint64_t bytes = block_bytes(op->width, at % blocks);
	uint64_t y = first % op->height, z = first / op->height, i;

	for (i = first; i < end; i++) {
		memcpy(at_address(op->dst + z * op->dst_slice_pitch + y * op->dst_row_pitch +
				  offset),
		       at_address(op->src + z * op->src_slice_pitch + y * op->src_row_pitch +
				  offset), bytes);
		if (++y == op->height) {
			y = 0;
			z++;
		}
	}
}

static void store_clock(const struct salvo_op_timestamp *op)
{
	*(uint64_t *)at_address(op->dst) = salvo_clock();
}

void salvo_transfer_run(const struct salvo_element *element, uint32_t at)
{
	switch (element->kind) {
	case SALVO_ELEMENT_COPY:
		copy_block(element->op, at);
		break;
	case SALVO_ELEMENT_FILL:
		fill_block(element->op, at);
		break;
	case SALVO_ELEMENT_COPY_RECT:
		copy_rect_item(element->op, at);
		break;
	case SALVO_ELEMENT_FILL_PATTERN:
		fill_pattern_block(element->op, element->args, at);
		break;
	default:
		store_clock(element->op);
		break;
	}
}
