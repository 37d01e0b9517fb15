/* SPDX-License-Identifier: MIT */
/*
 * field.h - fields: blocks, where they are stored, and who has a copy
 */
#ifndef SALVO_AGILE_INTERNAL_FIELD_H
#define SALVO_AGILE_INTERNAL_FIELD_H

#include "map.h"
#include "node.h"

#define AGILE_NO_COPY (~0u)

/**
 * struct agile_block - A memory block.
 */
struct agile_block {
	struct salvo_agile_grid grid;
	uint32_t segment;
	/** @first_task: Number of its first task. */
	uint32_t first_task;
	/** @written: By a view, and other ranks do not know. */
	bool written;
	/** @copies: First of a list. */
	uint32_t copies;
	/** @offset: Bytes from the start of its node's storage. */
	uint64_t offset;
};

/**
 * struct agile_copy - A memory block in the memory of a node that does not own it.
 */
struct agile_copy {
	struct salvo_bo *bo;
	uint32_t node;
	uint32_t next;
	bool valid;
	/** @pending: It is being fetched from another rank. */
	bool pending;
	/** @fetched: It was, and nobody has used it yet. */
	bool fetched;
	/** @filled: It was at least once. */
	bool filled;
	/** @ahead: It came by the node's mover: who uses it waits for that. */
	bool ahead;
	/** @serial: Of the batch whose commands from @first to before @end bring it. */
	unsigned int serial;
	unsigned int first, end;
};

/**
 * struct agile_storage - The segments of one node.
 */
struct agile_storage {
	uint64_t bytes;
	/** @bos: For each node that accesses it the buffer; of the owner always, if @bytes. */
	struct salvo_bo **bos;
	int fd;
	/** @map: The owner's buffer in this process, for other ranks. */
	void *map;
	/** @written: When the owner, or a task for it, will have written it. */
	struct agile_time written;
	/** @read: For each node when it will have read it. */
	struct agile_time *read;
};

/**
 * struct salvo_agile_field - An array over the nodes.
 */
struct salvo_agile_field {
	struct salvo_agile *agile;
	struct salvo_agile_field *next;
	/** @number: The same on all ranks. */
	uint32_t number;
	struct salvo_agile_map *map;
	struct salvo_agile_field_info info;
	char name[64];
	struct agile_block *blocks;
	unsigned int block_count;
	unsigned int task_count;
	/** @first_block: For each segment, and one more for the end. */
	uint32_t *first_block;
	struct agile_storage *storage;
	/** @direct: All ranks are on one machine and use each other's storage: direct.c. */
	bool direct;
	/** @dirty, @lent: When it was used last: agile_dirty(), agile_lent(). */
	uint64_t dirty, lent;
	/**
	 * @windows: Through which the ranks access each other's storage: of the first node of
	 * each rank, of the second, and so on. NULL if there is one process, not used if
	 * @direct.
	 */
	void **windows;
	struct agile_copy *copies;
	unsigned int copy_count;
	unsigned int copy_capacity;
};

/** agile_partials() - A field with what @kernel makes of each task of @field, one element each. */
int agile_partials(struct salvo_agile_kernel *kernel, struct salvo_agile_field *field,
		   const struct salvo_agile_value *values, unsigned int value_count, size_t bytes,
		   struct salvo_agile_field **out);

/** struct agile_part - A part of a field in one buffer. */
struct agile_part {
	struct salvo_bo *bo;
	uint64_t offset;		/* bytes */
	uint64_t stride[SALVO_AGILE_RANKS];	/* elements */
	struct salvo_agile_grid grid;
};

static inline uint32_t agile_block_node(const struct salvo_agile_field *field, uint32_t block)
{
	return field->map->segments[field->blocks[block].segment].node;
}

/** agile_check_inside() - Is @grid a part of a field? Return: 0, or -EINVAL with a message. */
int agile_check_inside(const struct salvo_agile_field *field, const char *what,
		       const struct salvo_agile_grid *grid);
/** agile_field_layout() - A number of what is stored where: another one for other layouts. */
uint64_t agile_field_layout(const struct salvo_agile_field *field);
/** agile_strides() - Of the elements of a grid that is stored row by row. */
void agile_strides(const struct salvo_agile_grid *grid, uint64_t stride[SALVO_AGILE_RANKS]);
/** agile_offset() - Elements from the first of @whole to that of @part. */
uint64_t agile_offset(const struct salvo_agile_grid *whole, const struct salvo_agile_grid *part,
		      const uint64_t stride[SALVO_AGILE_RANKS]);
/** agile_block_part() - Where the owner stores a block, seen by @node. Return: 0 or an error. */
int agile_block_part(struct salvo_agile_field *field, uint32_t block, unsigned int node,
		     struct agile_part *part);
/** agile_storage_bo() - What @owner stores of a field, as a buffer of @node's device. */
int agile_storage_bo(struct salvo_agile_field *field, unsigned int owner, unsigned int node,
		     struct salvo_bo **bo);
/** agile_block_place() - Where in its node's storage a block is; @part without a buffer. */
void agile_block_place(const struct salvo_agile_field *field, uint32_t block,
		       struct agile_part *part);
/** agile_task_grid() - What a task computes; @block: the memory block that holds it. */
void agile_task_grid(const struct salvo_agile_field *field, uint32_t task,
		     struct salvo_agile_grid *grid, uint32_t *block);
/** agile_invalidate() - A block is written: copies are not valid any more. */
void agile_invalidate(struct salvo_agile_field *field, uint32_t block);

typedef int (*agile_block_fn)(void *data, uint32_t block, const struct salvo_agile_grid *common);
/**
 * agile_each_block() - Call @fn for each memory block that has something of a region.
 * Return: 0, or what ended it.
 */
int agile_each_block(const struct salvo_agile_field *field, const struct salvo_agile_grid *region,
		     agile_block_fn fn, void *data);

#endif
