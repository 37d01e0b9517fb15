/* SPDX-License-Identifier: MIT */
/*
 * node.h - compute nodes, their queues, and the batches that are made for them
 */
#ifndef SALVO_AGILE_INTERNAL_NODE_H
#define SALVO_AGILE_INTERNAL_NODE_H

#include <stdbool.h>

#include "salvo_agile.h"

struct salvo_agile_field;
struct salvo_agile_view;
struct agile_ranks;

#define AGILE_MOST_NODES 4096u

/**
 * struct agile_node - A compute node.
 */
struct agile_node {
	struct salvo_device *device;
	/** @queue: Of statements; @mover: of salvo_agile_move_memory(), beside it. */
	struct salvo_queue *queue;
	struct salvo_queue *mover;
	/** @last: Fence of the last batch on @queue and on @mover; or NULL. */
	struct salvo_fence *last[2];
	/**
	 * @next: What becomes @last at the end of a statement, so that it does not wait for
	 * itself.
	 */
	struct salvo_fence *next[2];
	unsigned int max_commands;
	struct salvo_agile_stats stats;
};

/** struct agile_written - A block that a view has written. */
struct agile_written {
	uint32_t field, block;
};

/**
 * struct salvo_agile - Nodes; @nodes[].device is NULL if they are there to plan only, or of
 * another rank.
 */
struct salvo_agile {
	struct agile_node *nodes;
	unsigned int count;
	/** @first, @local: The nodes of this process: @local of them. */
	unsigned int first, local;
	bool planning;
	/** @shared: Segments are in system memory: there are devices that cannot share theirs. */
	bool shared;
	/** @ranks: The other processes of the program, or NULL. */
	struct agile_ranks *ranks;
	/** @idle: How often all nodes of all ranks were idle, and 1: direct.c. */
	uint64_t idle;
	/** @fields, @views: All of them; @field_serial: the number of the last field. */
	struct salvo_agile_field *fields;
	struct salvo_agile_view *views;
	uint32_t field_serial;
	/** @written: @written_count blocks that views wrote, for other ranks: written.c. */
	struct agile_written *written;
	uint32_t written_count;
	/** @range: Of the statement that runs: what it computes of its result; NULL: all. */
	const struct salvo_agile_grid *range;
	/** @serial: Number of the last batch that was begun. */
	unsigned int serial;
	char error[256];
};

/** struct agile_time - How far the queues of a node must be: values of their timelines. */
struct agile_time {
	uint64_t main;
	uint64_t mover;
};

/** struct agile_fresh - A copy that a batch makes, which is not valid if the batch fails. */
struct agile_fresh {
	struct salvo_agile_field *field;
	uint32_t copy;
};

/** struct agile_use - Memory of @owner that a batch reads or writes: agile_use(). */
struct agile_use {
	struct salvo_agile_field *field;
	unsigned int owner;
	int access;
};

#define AGILE_STEAL_CHUNK 2u

/** struct agile_away - The result of a task of another rank, to be put there when it is made. */
struct agile_away {
	struct salvo_bo *bo;
	struct salvo_agile_grid task;
	uint32_t block;
};

/**
 * struct agile_aways - Those of a node, which gets so many tasks at a time where others may take
 * them.
 */
struct agile_aways {
	struct agile_away all[AGILE_STEAL_CHUNK];
	unsigned int count;
};

/**
 * struct agile_batch - Commands for one node, that go out as one batch, or more if they are many.
 */
struct agile_batch {
	struct salvo_agile *agile;
	unsigned int node;
	/** @mover: They go to the node's mover, not to its queue. */
	bool mover;
	struct salvo_batch *batch;
	/** @serial: Changes when a batch goes out: commands of other serials are ordered before. */
	unsigned int serial;
	/**
	 * @needs: For each node whether to wait for what it has been given before the statement.
	 */
	bool *needs;
	/** @bos: Memory of this batch alone. */
	struct salvo_bo **bos;
	unsigned int bo_count;
	struct agile_fresh *fresh;
	unsigned int fresh_count;
	/** @uses: Of all commands so far; those that follow a flush may be part of them. */
	struct agile_use *uses;
	unsigned int use_count;
	/** @aways: Results for other ranks; NULL if there are none. */
	struct agile_aways *aways;
};

/** agile_fail() - Keep a message. Return: @err. */
int agile_fail(struct salvo_agile *agile, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** agile_batch_init() - An empty batch. Return: 0 or an error; agile_batch_fini() in any case. */
int agile_batch_init(struct agile_batch *b, struct salvo_agile *agile, unsigned int node,
		     bool mover);
/** agile_batch_fini() - Free it; what was not flushed does not run. */
void agile_batch_fini(struct agile_batch *b);
/** agile_batch_room() - Room for @commands more; agile_batch_next() if there is none. */
int agile_batch_room(struct agile_batch *b, unsigned int commands);
/** agile_batch_flush() - Submit what there is. */
int agile_batch_flush(struct agile_batch *b);
/** agile_batch_next() - Submit what there is, and go on with a batch that uses the same memory. */
int agile_batch_next(struct agile_batch *b);
/** agile_batch_memory() - Memory that is the batch's own, freed when it is done. */
int agile_batch_memory(struct agile_batch *b, uint64_t bytes, struct salvo_bo **out);
/**
 * agile_batch_check() - Hand on the result of a salvo_batch_* call, with its message if it
 * failed.
 */
int agile_batch_check(struct agile_batch *b, int result);

/** agile_reached() - Has a node's GPU come so far? */
bool agile_reached(struct agile_node *node, const struct agile_time *time);
/** agile_wait_time() - Wait until it has. */
int agile_wait_time(struct salvo_agile *agile, unsigned int node, const struct agile_time *time);
/** agile_wait_queues() - Wait for this rank's nodes. */
int agile_wait_queues(struct salvo_agile *agile);
/** agile_end_statement() - Fences of this statement are those that the next one waits for. */
void agile_end_statement(struct salvo_agile *agile);

#endif
