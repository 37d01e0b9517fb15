/* SPDX-License-Identifier: MIT */
/*
 * move.h - parts of fields to where they are needed
 */
#ifndef SALVO_AGILE_INTERNAL_MOVE_H
#define SALVO_AGILE_INTERNAL_MOVE_H

#include "field.h"
#include "transport.h"

#define AGILE_MOST_PRODUCERS 1024u

/** struct agile_producers - Commands of a batch that what comes next must wait for. */
struct agile_producers {
	unsigned int serial;
	unsigned int count;
	unsigned int at[AGILE_MOST_PRODUCERS];
};

/** agile_make_box() - The box that a grid is in two parts, of as few dimensions as can be. */
void agile_make_box(struct agile_box *box, const struct agile_part *to,
		    const struct agile_part *from, const struct salvo_agile_grid *grid,
		    size_t element);

/** struct agile_span - Commands of the batch that is being made: from @first to before @end. */
struct agile_span {
	unsigned int first, end;
};

/**
 * agile_copy_part() - Copy a box between two parts, as one command if its rank is at most 3.
 * @after: What each of the commands waits for; NULL: nothing.
 * @span: Those of the commands that have not gone out.
 *
 * What it reads and writes has been said to agile_use() before.
 */
int agile_copy_part(struct agile_batch *b, const struct agile_part *to,
		    const struct agile_part *from, const struct salvo_agile_grid *grid,
		    size_t element, struct agile_producers *after, struct agile_span *span);

/** agile_copy_find() - The copy of a block on a node, made if there is none; may be not valid. */
int agile_copy_find(struct salvo_agile_field *field, uint32_t block, unsigned int node,
		    uint32_t *out);
/** agile_copy_filled() - A copy has come from another rank. */
void agile_copy_filled(struct agile_copy *copy);

/** agile_bring() - See to it that a memory block is on the batch's node. */
int agile_bring(struct agile_batch *b, struct salvo_agile_field *field, uint32_t block,
		struct agile_part *part, struct agile_producers *producers);

/** agile_region() - A region of a field in one buffer on the batch's node. */
int agile_region(struct agile_batch *b, struct salvo_agile_field *field,
		 const struct salvo_agile_grid *region, struct agile_part *part,
		 struct agile_producers *producers);

/** agile_order() - @consumer waits for the producers that are in the same batch. */
int agile_order(struct agile_batch *b, struct agile_producers *producers, int consumer);

/**
 * agile_use() - The batch reads or writes the memory of @owner: wait, and have others wait.
 * Return: 0 or -ENOMEM.
 */
int agile_use(struct agile_batch *b, struct salvo_agile_field *field, unsigned int owner,
	      int access);

#endif
