/* SPDX-License-Identifier: MIT */
/*
 * salvo_agile.h - libsalvo-agile: arrays of 1 to 4 dimensions over several compute nodes
 *
 * The agile arrays of CN102609244 on the public API of libsalvo. A map (A2, A3) divides an index
 * space into segments, one compute node each. A field is an array that lies where its map says, in
 * memory blocks, which move as a whole, of blocks that one task computes (A4). A statement runs a
 * kernel over the blocks of its result where they are stored, and moves what it reads there
 * (A5). A compute node is a GPU, or some execution units of one.
 *
 * Indices are row-major: dimension 0 is that of the rows, the last one is contiguous. Functions
 * return 0, a count or a number, or a negative errno; salvo_agile_error() then names map, segment
 * and limit. Zero is the default of every flag and field. Destroy functions accept NULL.
 *
 * Threads: a struct salvo_agile and all that was made with it belongs to one thread at a time. The
 * devices of its nodes, its maps and its fields must live as long as it is used, and fields are
 * destroyed before it.
 */
#ifndef SALVO_AGILE_H
#define SALVO_AGILE_H

#include <stddef.h>
#include <stdint.h>

#include "salvo.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define SALVO_AGILE_RANKS 4

struct salvo_agile;
struct salvo_agile_map;
struct salvo_agile_field;
struct salvo_agile_kernel;
struct salvo_agile_view;

/** struct salvo_agile_index - An N-tuple; what is past the rank is 0. */
struct salvo_agile_index {
	uint64_t at[SALVO_AGILE_RANKS];
};

/** struct salvo_agile_grid - A box of indices: @extent of them from @offset on (A1). */
struct salvo_agile_grid {
	uint32_t rank;			/* 1 to SALVO_AGILE_RANKS */
	uint64_t offset[SALVO_AGILE_RANKS];
	uint64_t extent[SALVO_AGILE_RANKS];	/* not 0 up to the rank */
};

/** salvo_agile_grid_count() - How many indices a grid has. */
uint64_t salvo_agile_grid_count(const struct salvo_agile_grid *grid);
/** salvo_agile_grid_contains() - Is the index in the grid? Return: 1 or 0. */
int salvo_agile_grid_contains(const struct salvo_agile_grid *grid,
			      const struct salvo_agile_index *index);
/** salvo_agile_grid_number() - The number of an index of the grid in row-major order, from 0. */
uint64_t salvo_agile_grid_number(const struct salvo_agile_grid *grid,
				 const struct salvo_agile_index *index);
/** salvo_agile_grid_index() - The index with a number; the inverse of salvo_agile_grid_number(). */
struct salvo_agile_index salvo_agile_grid_index(const struct salvo_agile_grid *grid,
						uint64_t number);
/**
 * salvo_agile_grid_intersect() - What two grids of one rank have in common.
 *
 * Return: 1, or 0 if nothing.
 */
int salvo_agile_grid_intersect(const struct salvo_agile_grid *a, const struct salvo_agile_grid *b,
			       struct salvo_agile_grid *out);

/** struct salvo_agile_node - A compute node. Nodes may share a device. */
struct salvo_agile_node {
	struct salvo_device *device;
	uint64_t eu_mask;		/* its execution units; 0: all of the device */
};

/**
 * salvo_agile_create() - Bring compute nodes together.
 * @nodes: @count of them, not kept; NULL to plan only: then nothing is stored and nothing runs,
 *         but maps, bytes and schedules are those of so many nodes.
 *
 * Return: 0, -EINVAL (no nodes, or more than 4096), errors of salvo_queue_create(), -ENOMEM.
 */
int salvo_agile_create(const struct salvo_agile_node *nodes, unsigned int count,
		       struct salvo_agile **out);
/**
 * salvo_agile_create_ranks() - Bring compute nodes of several processes together, the ranks.
 * @plugin: What connects them: "mpi" loads libsalvo-agile-mpi and needs a start by mpirun; NULL:
 *          the one that the environment names in SALVO_AGILE_PLUGIN, or if there is none this
 *          process alone, as by salvo_agile_create().
 * @nodes: @count nodes of this rank; another rank may have another number.
 *
 * All ranks run one program: each makes the same calls in the same order, from this one to
 * salvo_agile_destroy(), with the same maps, sizes and statements; only nodes, and the grids of
 * tiles, are its own. Nodes are numbered through all ranks. What a statement reads of other
 * ranks' memory is fetched before the tasks that need it start; other tasks run meanwhile.
 *
 * If a call fails on one rank it fails on all that meet there. If ranks make different calls,
 * both return -EPROTO, and all further calls do so, too. If a process dies, mpirun ends
 * all of them.
 *
 * Return: 0, -EINVAL (also: no valid name), -ENOENT (no such plugin), -ELIBBAD (the plugin has
 * another version), -EIO (no other ranks can be reached), and as salvo_agile_create().
 */
int salvo_agile_create_ranks(const char *plugin, const struct salvo_agile_node *nodes,
			     unsigned int count, struct salvo_agile **out);
/** salvo_agile_ranks() - How many processes there are. */
unsigned int salvo_agile_ranks(const struct salvo_agile *agile);
/** salvo_agile_rank() - The number of this process, from 0. */
unsigned int salvo_agile_rank(const struct salvo_agile *agile);
/**
 * salvo_agile_nodes() - How many nodes there are, of all ranks.
 * @first, @local: Those of this rank: @local of them, from number @first. May be NULL.
 */
unsigned int salvo_agile_nodes(const struct salvo_agile *agile, unsigned int *first,
			       unsigned int *local);
/** salvo_agile_destroy() - Wait for all nodes and forget them. */
void salvo_agile_destroy(struct salvo_agile *agile);
/** salvo_agile_error() - What was wrong with the last call that failed, one line. */
const char *salvo_agile_error(const struct salvo_agile *agile);
/**
 * salvo_agile_wait() - Wait until all nodes are idle, those of other ranks too.
 *
 * Return: 0, or how a batch failed.
 */
int salvo_agile_wait(struct salvo_agile *agile);

/**
 * salvo_agile_wait_moves() - Wait for what salvo_agile_move_memory() moves, and nothing else.
 *
 * Return: 0, or how a batch failed.
 */
int salvo_agile_wait_moves(struct salvo_agile *agile);

/** struct salvo_agile_stats - What a node has done since it was created. */
struct salvo_agile_stats {
	uint64_t moved_bytes;		/* copied to the node from the memory of others */
	uint64_t moved_blocks;		/* whole memory blocks among them */
	uint64_t reused_blocks;		/* needed, and still there from before */
	uint64_t returned_bytes;	/* results of stolen tasks, written to their owners */
	uint64_t tasks;
	uint64_t stolen;		/* tasks of other nodes among them */
	uint64_t batches;
	uint64_t commands;
};

/**
 * salvo_agile_get_stats() - Counters of a node.
 *
 * Those of other ranks' nodes are from the last salvo_agile_wait().
 *
 * Return: 0, -EINVAL (no such node).
 */
int salvo_agile_get_stats(const struct salvo_agile *agile, unsigned int node,
			  struct salvo_agile_stats *stats);

#define SALVO_AGILE_BLOCK		0	/* one band of rows for each node */
#define SALVO_AGILE_CYCLIC		1	/* rows, one at a time, to the nodes in turn */
#define SALVO_AGILE_BLOCK_BLOCK		2	/* nodes in rows and columns, one box each */
#define SALVO_AGILE_BLOCK_CYCLIC	3	/* boxes, row by row, to the nodes in turn */

/**
 * struct salvo_agile_decomposition - A regular way to divide an index space (A3).
 *
 * With @columns the last dimension takes the place of the first: bands, turns and numbers go by
 * columns. Nodes get shares in proportion to their weights.
 */
struct salvo_agile_decomposition {
	uint32_t kind;			/* SALVO_AGILE_BLOCK to SALVO_AGILE_BLOCK_CYCLIC */
	uint32_t columns;		/* 0: by rows, 1: by columns */
	uint32_t nodes;			/* 0 to this - 1 take part; 0: all of them */
	const uint32_t *weights;	/* one for each node; NULL: equal ones */
	uint64_t block[SALVO_AGILE_RANKS];	/* BLOCK_CYCLIC: a box; 0: all of the dimension */
};

/** struct salvo_agile_segment - A part of an index space and who stores it. */
struct salvo_agile_segment {
	struct salvo_agile_grid grid;
	uint32_t node;
};

/**
 * salvo_agile_map_create() - Divide an index space in a regular way.
 * @name: For messages; not kept.
 *
 * Return: 0, -EINVAL, -E2BIG (more than 2^24 segments), -ENOMEM.
 */
int salvo_agile_map_create(struct salvo_agile *agile, const char *name,
			   const struct salvo_agile_grid *grid,
			   const struct salvo_agile_decomposition *how,
			   struct salvo_agile_map **out);
/**
 * salvo_agile_map_create_splits() - Divide each dimension at points of its own.
 * @splits: For each dimension @counts indices that begin a new part, ascending, inside of the grid.
 * @nodes: For each segment in row-major order its node; NULL: in turn.
 *
 * Return: as salvo_agile_map_create().
 */
int salvo_agile_map_create_splits(struct salvo_agile *agile, const char *name,
				  const struct salvo_agile_grid *grid,
				  const uint64_t *const splits[], const unsigned int counts[],
				  const uint32_t *nodes, struct salvo_agile_map **out);
/**
 * salvo_agile_map_create_segments() - A map of any boxes.
 *
 * They must cover the grid and not overlap.
 *
 * Return: as salvo_agile_map_create(); -E2BIG also if their edges divide the grid into more than
 * 2^24 cells.
 */
int salvo_agile_map_create_segments(struct salvo_agile *agile, const char *name,
				    const struct salvo_agile_grid *grid,
				    const struct salvo_agile_segment *segments, unsigned int count,
				    struct salvo_agile_map **out);
/** salvo_agile_map_destroy() - Forget a map; fields that have it keep it. */
void salvo_agile_map_destroy(struct salvo_agile_map *map);
/** salvo_agile_map_count() - Number of its segments. */
unsigned int salvo_agile_map_count(const struct salvo_agile_map *map);
/** salvo_agile_map_segment() - Segment @number of 0 to salvo_agile_map_count() - 1. */
const struct salvo_agile_segment *salvo_agile_map_segment(const struct salvo_agile_map *map,
							  unsigned int number);
/** salvo_agile_map_find() - The segment that holds an index. Return: its number, or -ENOENT. */
int salvo_agile_map_find(const struct salvo_agile_map *map, const struct salvo_agile_index *index);

/** struct salvo_agile_field_info - Elements and blocks of a field (A4). */
struct salvo_agile_field_info {
	size_t element_bytes;		/* not 0 */
	uint64_t memory_block[SALVO_AGILE_RANKS];	/* what moves; 0: all of the segment */
	uint64_t task_block[SALVO_AGILE_RANKS];	/* of a task; 0: all of the memory block */
};

/**
 * salvo_agile_field_create() - An array with elements of 0 where a map says.
 *
 * Return: 0, -EINVAL, -E2BIG (more than 2^24 tasks, or 2^64 bytes), -ENOSPC, -ENOMEM, -EPROTO
 * (ranks create it with different maps, element sizes or blocks; the next call finds them together
 * again).
 */
int salvo_agile_field_create(struct salvo_agile *agile, const char *name,
			     struct salvo_agile_map *map, const struct salvo_agile_field_info *info,
			     struct salvo_agile_field **out);
/** salvo_agile_field_destroy() - Destroy a field; statements in flight still find its memory. */
void salvo_agile_field_destroy(struct salvo_agile_field *field);
/** salvo_agile_field_tasks() - How many tasks a statement with this result has. */
unsigned int salvo_agile_field_tasks(const struct salvo_agile_field *field);

/** struct salvo_agile_place - The blocks around an index, from the inside out (A4). */
struct salvo_agile_place {
	uint32_t task, block, segment, node;	/* their numbers */
	struct salvo_agile_grid task_grid, block_grid, segment_grid;
};

/** salvo_agile_field_locate() - Which blocks hold an index. Return: 0, -ENOENT. */
int salvo_agile_field_locate(const struct salvo_agile_field *field,
			     const struct salvo_agile_index *index,
			     struct salvo_agile_place *place);
/** salvo_agile_field_task() - The place of task @number. Return: 0, -ENOENT. */
int salvo_agile_field_task(const struct salvo_agile_field *field, unsigned int number,
			   struct salvo_agile_place *place);

#define SALVO_AGILE_READ	0
#define SALVO_AGILE_WRITE	1

/**
 * salvo_agile_view_create() - See a field as if it were on one node (A6: full global view).
 *
 * Over several ranks @node is one of this rank. A block of another rank comes as it is: a view is
 * used between salvo_agile_wait() and the next statement that writes the field, or, if the view
 * writes, that reads it. What it writes is there for all ranks after the next salvo_agile_wait();
 * ranks may write different elements of one block. A block of another machine does not arrive
 * before that rank makes a call that meets others.
 *
 * Return: 0, -EINVAL, -ENOTSUP (the nodes are there to plan only), -ENOMEM.
 */
int salvo_agile_view_create(struct salvo_agile_field *field, unsigned int node,
			    struct salvo_agile_view **out);
void salvo_agile_view_destroy(struct salvo_agile_view *view);
/**
 * salvo_agile_view_at() - An element, in memory of the view's node.
 * @access: SALVO_AGILE_READ, or SALVO_AGILE_WRITE for its owner's memory; copies elsewhere are then
 *          not valid any more.
 *
 * As long as indices stay in one memory block this is one comparison for each dimension. Else the
 * block is looked up, and moves to the node if it is not there. The address is good until the next
 * statement or access to the field.
 *
 * Return: the address, or NULL: the index is outside, the block cannot be moved, or, over several
 * ranks, views have written 2^24 blocks since salvo_agile_wait().
 */
void *salvo_agile_view_at(struct salvo_agile_view *view, const struct salvo_agile_index *index,
			  int access);
/** salvo_agile_view_lookups() - How often the segment was looked up. */
uint64_t salvo_agile_view_lookups(const struct salvo_agile_view *view);

/** struct salvo_agile_tile - A part of a field in memory of a node (A6: partial global view). */
struct salvo_agile_tile {
	void *data;			/* of the first element of @grid */
	uint64_t stride[SALVO_AGILE_RANKS];	/* bytes from one index to the next */
	struct salvo_agile_grid grid;
	struct salvo_bo *bo;		/* the library's */
	struct salvo_agile_field *field;
	int access;
};

/**
 * salvo_agile_tile_open() - Move a part of a field to a node; elements are then accessed unchecked.
 * @access: SALVO_AGILE_READ or SALVO_AGILE_WRITE.
 *
 * Over several ranks each opens a tile on a node of its own, of any part of the field, or with
 * @grid NULL takes part without one. If tiles that are written overlap, what a rank owns comes from
 * its own tile, and else from that of the first rank that has all of the block's part.
 *
 * Return: 0, -EINVAL (the grid is not inside the field), -ENOTSUP, -ENOSPC, -ENOMEM, or how the
 * batch that moves it failed.
 */
int salvo_agile_tile_open(struct salvo_agile_field *field, unsigned int node,
			  const struct salvo_agile_grid *grid, int access,
			  struct salvo_agile_tile *tile);
/**
 * salvo_agile_tile_close() - Bring what was written to its owners.
 *
 * With SALVO_AGILE_WRITE all ranks meet here.
 *
 * Return: 0 or an error.
 */
int salvo_agile_tile_close(struct salvo_agile_tile *tile);

/**
 * salvo_agile_kernel_create() - A kernel on all nodes.
 * @image: A program made by salvo-cc; not kept.
 *
 * For the result and then each operand a kernel has four arguments: the address of the first
 * element of its part, and as uint4 the strides, the first index and the extent of that part, in
 * elements, dimension 0 in .x. The values of the statement follow. Work-items are the elements of
 * the task: get_global_id(0) is its last dimension; of rank 4 dimensions 0 and 1 are one, the
 * highest.
 *
 * Return: as salvo_program_load() and salvo_kernel_create().
 */
int salvo_agile_kernel_create(struct salvo_agile *agile, const void *image, size_t bytes,
			      const char *name, struct salvo_agile_kernel **out);
void salvo_agile_kernel_destroy(struct salvo_agile_kernel *kernel);

/**
 * struct salvo_agile_operand - What tasks read.
 *
 * @region says which part of @field the task that computes @task needs; NULL: the same indices.
 * What is outside of the field is cut off.
 */
struct salvo_agile_operand {
	struct salvo_agile_field *field;
	void (*region)(void *data, const struct salvo_agile_grid *task,
		       struct salvo_agile_grid *region);
	void *data;
};

/** salvo_agile_transposed() - A region: the first and the last dimension change places. */
void salvo_agile_transposed(void *data, const struct salvo_agile_grid *task,
			    struct salvo_agile_grid *region);
/** salvo_agile_halo() - A region: @data is the uint64_t by how much it is larger on all sides. */
void salvo_agile_halo(void *data, const struct salvo_agile_grid *task,
		      struct salvo_agile_grid *region);
/** salvo_agile_fixed() - A region: @data is the struct salvo_agile_grid that all tasks read. */
void salvo_agile_fixed(void *data, const struct salvo_agile_grid *task,
		       struct salvo_agile_grid *region);

/** struct salvo_agile_value - An argument by value. */
struct salvo_agile_value {
	const void *value;
	size_t size;
};

#define SALVO_AGILE_STEAL	(1u << 0)	/* nodes without tasks take those of others (A8) */
#define SALVO_AGILE_SERIAL	(1u << 1)	/* one work-item for each task */

/** struct salvo_agile_statement - Compute @result with @kernel. */
struct salvo_agile_statement {
	struct salvo_agile_kernel *kernel;
	struct salvo_agile_field *result;
	const struct salvo_agile_operand *operands;
	const struct salvo_agile_value *values;
	unsigned int operand_count;	/* at most 8 */
	unsigned int value_count;	/* at most 8 */
	uint32_t flags;			/* SALVO_AGILE_STEAL, SALVO_AGILE_SERIAL */
};

/**
 * salvo_agile_forall() - Run a kernel over all tasks of a field (A5).
 *
 * Each task runs on the node that stores its result. Each node gets one batch (several, if it has
 * more commands than a batch can): transfers, kernels, and the pipe controls between them. Memory
 * blocks that are read and not on the node move there as a whole, once, and stay until they are
 * written. It returns when the batches are submitted; statements that follow wait for what they
 * need. With SALVO_AGILE_STEAL it returns when all is done, and the kernel must not read its
 * result.
 *
 * @result may be an operand only with the same indices.
 *
 * Where nodes are there to plan only, nothing runs, and the counters of nodes go on as if it had.
 *
 * Return: 0, -EINVAL, -ENOSPC, -ENOMEM, errors of salvo_queue_submit().
 */
int salvo_agile_forall(struct salvo_agile *agile, const struct salvo_agile_statement *statement);

/**
 * salvo_agile_forall_range() - Run a kernel over a part of a field.
 * @range: The elements to compute, inside of the result's map; not kept.
 *
 * As salvo_agile_forall(); a task that has some of @range computes these, and its operands are what
 * they need.
 *
 * Return: as salvo_agile_forall(), -EINVAL also if @range is not inside of the map.
 */
int salvo_agile_forall_range(struct salvo_agile *agile,
			     const struct salvo_agile_statement *statement,
			     const struct salvo_agile_grid *range);

/**
 * salvo_agile_move_memory() - Move what a statement will read, beside what runs now (A7).
 * @result: Of the statement.
 * @operand: One of its operands.
 *
 * Return: as salvo_agile_forall().
 */
int salvo_agile_move_memory(struct salvo_agile *agile, struct salvo_agile_field *result,
			    const struct salvo_agile_operand *operand);

/**
 * salvo_agile_redistribute() - Copy a field into one of another map.
 *
 * Only elements whose owners differ move between nodes, each once.
 *
 * Return: 0, -EINVAL (not the same grid and element size), -ENOSPC, -ENOMEM, errors of
 * salvo_queue_submit().
 */
int salvo_agile_redistribute(struct salvo_agile *agile, struct salvo_agile_field *to,
			     struct salvo_agile_field *from);

/**
 * salvo_agile_reduce() - Combine all elements of a field.
 * @kernel: Its result is one element of @bytes for each task; its operand is the task's part.
 *          It runs with one work-item for a task.
 * @combine: Adds a partial result to the accumulated one; called in the order of the tasks.
 * @accumulated: The initial value, and then the result.
 *
 * Return: as salvo_agile_forall(), or how a batch failed.
 */
int salvo_agile_reduce(struct salvo_agile *agile, struct salvo_agile_kernel *kernel,
		       struct salvo_agile_field *field, const struct salvo_agile_value *values,
		       unsigned int value_count, size_t bytes,
		       void (*combine)(void *accumulated, const void *partial), void *accumulated);

/** struct salvo_agile_scan - How elements are combined, for salvo_agile_scan(). */
struct salvo_agile_scan {
	struct salvo_agile_kernel *total;	/* as for salvo_agile_reduce() */
	struct salvo_agile_kernel *scan;	/* reads elements, and what is before */
	void (*combine)(void *accumulated, const void *partial);
	const void *identity;			/* what is before the first element */
	size_t bytes;				/* of a partial result */
};

/**
 * salvo_agile_scan() - Combine all elements up to each one; of fields of rank 1.
 * @from: The elements.
 * @to: The result; of the same map and blocks.
 *
 * The kernels run with one work-item for each task.
 *
 * Return: 0, -EINVAL, -ENOTSUP (nodes that are there to plan only), and as salvo_agile_reduce().
 */
int salvo_agile_scan(struct salvo_agile *agile, const struct salvo_agile_scan *scan,
		     struct salvo_agile_field *from, struct salvo_agile_field *to);

/**
 * salvo_agile_sort() - Sort a field of rank 1, in ascending order.
 * @kernel: Sorts its result, the part of a task, in place, with one work-item.
 * @compare: The same order for the application, as for qsort().
 *
 * Elements that belong to another node move there directly, each once. If @kernel is stable
 * so is the sort. Over several ranks all must compare alike.
 *
 * Return: 0, -EINVAL (also: @compare is no order), -E2BIG (more than 4096 tasks), -ENOTSUP,
 * -ENOSPC, -ENOMEM, or how a batch failed.
 */
int salvo_agile_sort(struct salvo_agile *agile, struct salvo_agile_kernel *kernel,
		     int (*compare)(const void *a, const void *b), struct salvo_agile_field *field);

/** struct salvo_agile_schedule - How tasks go to the nodes, without running them. */
struct salvo_agile_schedule {
	double finish;			/* when the node ends: elements over its speed */
	uint32_t queued;		/* tasks in its queue at first */
	uint32_t tasks;			/* that it computes */
	uint32_t stolen;		/* tasks of others among them */
	uint64_t moved_bytes;		/* that it needs from others, whole memory blocks, once */
};

/**
 * salvo_agile_schedule() - Plan a statement, with the queues that run it (A8).
 * @speeds: Elements for each unit of time, one for each node; NULL: all 1.
 * @nodes: One for each node.
 *
 * For nodes that are there to plan only. No memory block has a copy at first.
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int salvo_agile_schedule(struct salvo_agile *agile, const struct salvo_agile_statement *statement,
			 const double *speeds, struct salvo_agile_schedule *nodes);

#if defined(__cplusplus)
}
#endif

#endif /* SALVO_AGILE_H */
