/* SPDX-License-Identifier: MIT */
/*
 * ranks.h - one program in several processes, the ranks, each with nodes of its own
 */
#ifndef SALVO_AGILE_INTERNAL_RANKS_H
#define SALVO_AGILE_INTERNAL_RANKS_H

#include "field.h"
#include "tasks.h"
#include "transport.h"

/** enum agile_call - The calls at which ranks meet. */
enum agile_call {
	AGILE_CALL_CREATE,
	AGILE_CALL_DESTROY,
	AGILE_CALL_WAIT,
	AGILE_CALL_FIELD_CREATE,
	AGILE_CALL_FIELD_DESTROY,
	AGILE_CALL_FORALL,
	AGILE_CALL_MOVE_MEMORY,
	AGILE_CALL_REDISTRIBUTE,
	AGILE_CALL_TILE_OPEN,
	AGILE_CALL_TILE_CLOSE,
	AGILE_CALL_SORT,
	AGILE_CALLS,
};

/**
 * struct agile_ranks - The processes of a program.
 */
struct agile_ranks {
	const struct agile_transport *ops;
	void *group;
	unsigned int rank;
	unsigned int count;
	/** @first: For each rank its first node, and one more for the end. */
	unsigned int *first;
	/** @most: Nodes of the rank that has most of them. */
	unsigned int most;
	/** @one_machine: They can take each other's files; @pids: by their process numbers. */
	bool one_machine;
	int32_t *pids;
	/** @moved: They have tried to have their segments in system memory. */
	bool moved;
	/** @extra: Bytes that they can tell each other where they meet: agile_agree_with(). */
	size_t extra;
	/**
	 * @queues: For statements that steal: of each of this rank's nodes the tasks that are
	 * left, the number of the first one in the upper half and that behind the last in the lower
	 * one.
	 */
	uint64_t *queues;
	void *queue_window;
	/** @serial: How often they met. */
	uint64_t serial;
	/** @broken: They did not meet at the same call, or cannot reach each other. */
	bool broken;
};

/** struct agile_fetch - A part of a block of another rank, to be copied to a node of this one. */
struct agile_fetch {
	struct salvo_agile_field *field;
	uint32_t block;
	struct salvo_agile_grid grid;
	struct agile_part to;
	/** @node: Where @to is. */
	unsigned int node;
	/** @copy: Number of the copy that it fills, or AGILE_NO_COPY. */
	uint32_t copy;
};

struct agile_fetches {
	struct agile_fetch *all;
	unsigned int count;
	unsigned int capacity;
};

/** agile_ranks_join() - Find the nodes of all ranks. Return: 0, or an error without a message. */
int agile_ranks_join(struct salvo_agile *agile, const char *plugin, unsigned int nodes);
/** agile_ranks_leave() - Undo agile_ranks_join(). */
void agile_ranks_leave(struct salvo_agile *agile);

/** agile_is_local() - Is it a node of this process? */
static inline bool agile_is_local(const struct salvo_agile *agile, unsigned int node)
{
	return node - agile->first < agile->local;
}

/**
 * agile_agree() - Meet all ranks at @call.
 * @err: How far this rank came.
 * @flags: Of this rank; then of any rank. May be NULL.
 *
 * Return: @err, or the error of another rank, or -EPROTO if a rank is at another call. For one
 * process alone @err.
 */
int agile_agree(struct salvo_agile *agile, enum agile_call call, int err, uint32_t *flags);
/**
 * agile_agree_with() - The same, with @bytes of each rank for all.
 * @all: Of each rank in order, if it returns 0.
 */
int agile_agree_with(struct salvo_agile *agile, enum agile_call call, int err, uint32_t *flags,
		     const void *mine, size_t bytes, void *all);

/**
 * agile_gather() - Exchange @bytes with all ranks, after a meeting that found them together.
 * @all: Of each rank in order.
 *
 * Return: 0 or an error, which breaks the group.
 */
int agile_gather(struct salvo_agile *agile, const void *mine, size_t bytes, void *all);

/** agile_expose() - Let the other ranks access what this one stores of a field. */
int agile_expose(struct salvo_agile_field *field);
/** agile_hide() - Undo agile_expose(). */
void agile_hide(struct salvo_agile_field *field);
/** agile_access_begin() - Before what other ranks store is copied through windows, if at all. */
int agile_access_begin(struct salvo_agile_field *field);
/** agile_access_end() - All of it is done, here and there. */
int agile_access_end(struct salvo_agile_field *field);
/** agile_put() - Start to copy a grid of a block to its owner on another rank. */
int agile_put(struct salvo_agile_field *field, uint32_t block,
	      const struct salvo_agile_grid *grid, const struct agile_part *from,
	      const void *memory);

/** agile_fetch_add() - Remember to copy @grid of a block to @to. */
int agile_fetch_add(struct agile_fetches *fetches, const struct agile_fetch *fetch);
/**
 * agile_fetch_region() - Remember what of a region @node has no valid copy of.
 * Return: 1 if something of it must be fetched, also for others before; 0; or an error.
 */
int agile_fetch_region(struct agile_fetches *fetches, struct salvo_agile_field *field,
		       const struct salvo_agile_grid *region, unsigned int node);
/**
 * agile_fetch_run() - Copy what is remembered, and wait for it, after agile_settle().
 * @err: How far this rank came before: if not 0 nothing is copied.
 */
int agile_fetch_run(struct salvo_agile *agile, int err, struct agile_fetches *fetches);
/** agile_fetch_start() - Start one; @now: complete on return, and without access_begin(). */
int agile_fetch_start(const struct agile_fetch *fetch, bool now);
/** agile_fetch_finish() - It has come. */
void agile_fetch_finish(const struct agile_fetch *fetch);
/** agile_ranks_broken() - The plugin failed. Return: @err. */
int agile_ranks_broken(struct salvo_agile *agile, int err);
/** agile_ranks_refuse() - A rank says @what, which cannot be. Return: -EPROTO. */
int agile_ranks_refuse(struct salvo_agile *agile, unsigned int rank, const char *what);
/** agile_rank_of() - The rank of a node. */
unsigned int agile_rank_of(const struct agile_ranks *ranks, unsigned int node);

/** agile_fetch_now() - Copy one part, without the other ranks. */
int agile_fetch_now(struct salvo_agile *agile, const struct agile_fetch *fetch);
/**
 * agile_steal_begin() - Begin a statement that steals: all ranks meet.
 * @err: How far this rank came.
 * @fields: @count of them, the same for each rank, that others may read or write.
 */
int agile_steal_begin(struct salvo_agile *agile, int err, const struct agile_tasks *tasks,
		      struct salvo_agile_field *const *fields, unsigned int count);
/** agile_steal_end() - All ranks are done. */
int agile_steal_end(struct salvo_agile *agile, int err, struct salvo_agile_field *const *fields,
		    unsigned int count);
/** agile_steal_take() - A task from the queues of all ranks. Return: 1, 0 if there is none. */
int agile_steal_take(struct salvo_agile *agile, const struct agile_tasks *tasks,
		     unsigned int node, agile_missing_fn missing, void *data, uint32_t *task);
/** agile_steal_fetch() - Get what is remembered, and wait for it, without the other ranks. */
int agile_steal_fetch(struct agile_fetches *fetches);
/** agile_steal_flush() - Wait for what was put to a field. */
int agile_steal_flush(struct salvo_agile_field *field);
/** agile_steal_progress() - Serve others while this rank waits for its nodes. */
int agile_steal_progress(struct salvo_agile *agile);

/** agile_fetch_fini() - Forget them; copies that were not filled are not valid. */
void agile_fetch_fini(struct agile_fetches *fetches);

#endif
