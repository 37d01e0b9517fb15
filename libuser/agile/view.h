/* SPDX-License-Identifier: MIT */
/*
 * view.h - fields for the application
 */
#ifndef SALVO_AGILE_INTERNAL_VIEW_H
#define SALVO_AGILE_INTERNAL_VIEW_H

#include "field.h"

/** agile_check_node() - Can the application see memory of a node? Return: 0 or an error. */
int agile_check_node(struct salvo_agile *agile, unsigned int node);
/** agile_wait_storage() - Wait until it may access what a node stores of a field. */
int agile_wait_storage(struct salvo_agile_field *field, unsigned int owner, int access);
/** agile_batch_finish() - Submit what there is and wait for it. */
int agile_batch_finish(struct agile_batch *b);

/** agile_views_put() - What views have written goes to the owners on other ranks. */
int agile_views_put(struct salvo_agile *agile);

/** agile_block_written() - Remember that a view writes a block, for agile_tell_written(). */
int agile_block_written(struct salvo_agile_field *field, uint32_t block);
/**
 * agile_tell_written() - Tell all ranks which blocks were written by views: their copies are not
 * valid any more. All ranks call it, after a meeting.
 */
int agile_tell_written(struct salvo_agile *agile);

#endif
