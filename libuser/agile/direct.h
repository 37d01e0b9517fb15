/* SPDX-License-Identifier: MIT */
/*
 * direct.h - ranks on one machine use each other's memory
 */
#ifndef SALVO_AGILE_INTERNAL_DIRECT_H
#define SALVO_AGILE_INTERNAL_DIRECT_H

#include "ranks.h"

/** agile_reaches() - Can nodes of this process copy from and to what @node stores of a field? */
static inline bool agile_reaches(const struct salvo_agile_field *field, unsigned int node)
{
	return field->direct || agile_is_local(field->agile, node);
}

/** agile_direct_init() - Find out whether all ranks are on this machine. All ranks call it. */
int agile_direct_init(struct salvo_agile *agile);
/**
 * agile_direct_share() - Use the storage of a field on all ranks, if they are on one machine.
 * @err: How far this rank came.
 *
 * @foreign: May be NULL. Set if all that stands against it is that a GPU cannot import what is in
 *           the memory of another.
 *
 * All ranks meet here. @field->direct says afterwards whether it is so, on all of them.
 *
 * Return: @err, or the error of another rank.
 */
int agile_direct_share(struct salvo_agile_field *field, int err, bool *foreign);

/** agile_dirty() - May a rank still write what others read directly? The same on all ranks. */
bool agile_dirty(const struct salvo_agile_field *field);
/** agile_lent() - May a rank still read what others store? The same on all ranks. */
bool agile_lent(const struct salvo_agile_field *field);
/** agile_written() - This statement writes a field, each rank what it stores. */
void agile_written(struct salvo_agile_field *field);
/** agile_lend() - This statement reads a field across ranks. */
void agile_lend(struct salvo_agile_field *field);
/** agile_idle() - All ranks have met with idle nodes: nothing is dirty or lent. */
void agile_idle(struct salvo_agile *agile);
/**
 * agile_settle() - Meet at @call if one of @reads is dirty or @writes is lent, after this rank's
 * nodes have done what they do with it.
 * @err: How far this rank came.
 * @writes: May be NULL.
 *
 * Return: @err, or an error of any rank that meets.
 */
int agile_settle(struct salvo_agile *agile, enum agile_call call, int err,
		 struct salvo_agile_field *const *reads, unsigned int count,
		 struct salvo_agile_field *writes);
/** agile_wait_lent() - Wait until this rank's nodes have read what they read of a field. */
int agile_wait_lent(struct salvo_agile_field *field);

#endif
