/* SPDX-License-Identifier: MIT */
/*
 * tables_make.h - make the tables of tables.h
 */
#ifndef FACES_TABLES_MAKE_H
#define FACES_TABLES_MAKE_H

#include <stdbool.h>
#include <stddef.h>

struct cascade;
struct pyramid;

/* Stages that run on whole blocks of windows, found by measuring; 2 to 5 differ little. */
#define TABLES_DENSE_LBP	3
#define TABLES_DENSE_HAAR	3

/**
 * struct tables - The layout of the block of tables and of the integral images.
 */
struct tables {
	int planes, stride, odd, pitch;		/* see tables.h */
	size_t cascade, stages, levels, weights;	/* byte offsets in the block */
	size_t nodes[3];			/* by step, 1 or 2 */
	bool used[3];				/* a level has that step */
	size_t bytes;
};

void tables_plan(struct tables *tables, const struct cascade *cascade,
		 const struct pyramid *pyramid);
/**
 * tables_fill() - Write the block.
 * @memory: Zeroed, of tables->bytes.
 *
 * Return: 0, or -1 without memory.
 */
int tables_fill(const struct tables *tables, const struct cascade *cascade,
		const struct pyramid *pyramid, int width, int height, void *memory);

#endif
