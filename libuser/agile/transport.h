/* SPDX-License-Identifier: MIT */
/*
 * transport.h - what a plugin does for agile arrays over several ranks
 *
 * A plugin is a shared library libsalvo-agile-NAME.so.1 that exports salvo_agile_plugin. It moves
 * bytes between ranks and knows nothing of fields. Functions from open() to hide() are
 * collective: each rank calls them, in the same order; the others are not. They return 0 or a
 * negative errno; after an error the group cannot be used any more.
 */
#ifndef SALVO_AGILE_TRANSPORT_H
#define SALVO_AGILE_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "salvo_agile.h"

#define AGILE_TRANSPORT_VERSION 3u

/**
 * struct agile_box - Bytes of a box in two memories.
 *
 * @count[0] rows of @width bytes, @count[1] of these, and so on; of dimensions from @dims on
 * there is one. @to and @from are the bytes from one row to the next in each memory.
 */
struct agile_box {
	uint64_t width;
	unsigned int dims;
	uint64_t count[SALVO_AGILE_RANKS], to[SALVO_AGILE_RANKS], from[SALVO_AGILE_RANKS];
};

/** struct agile_transport - A plugin. */
struct agile_transport {
	unsigned int version;
	/** @open: Join the other ranks. */
	int (*open)(void **group, unsigned int *rank, unsigned int *ranks);
	/** @close: Leave them; @broken: they do not all leave, do not wait for them. */
	void (*close)(void *group, bool broken);
	/** @gather: @bytes of each rank, in order, to all of them. Waits for all ranks. */
	int (*gather)(void *group, const void *mine, size_t bytes, void *all);
	/** @expose: Let others access memory where it lies; @bytes may be 0. */
	int (*expose)(void *group, void *memory, uint64_t bytes, void **window);
	/** @hide: Undo @expose; @broken: do not wait for others. */
	void (*hide)(void *group, void *window, bool broken);
	/** @get: Start to copy from @offset of a rank's window to @to. */
	int (*get)(void *group, void *window, unsigned int rank, const struct agile_box *box,
		   uint64_t offset, void *to);
	/** @put: Start to copy from @from to @offset of a rank's window. */
	int (*put)(void *group, void *window, unsigned int rank, const struct agile_box *box,
		   uint64_t offset, const void *from);
	/** @get_now: As @get, complete on return; not in a window that is locked. */
	int (*get_now)(void *group, void *window, unsigned int rank,
		       const struct agile_box *box, uint64_t offset, void *to);
	/** @lock: Before get() and put(), which are complete after @flush or @unlock. */
	int (*lock)(void *group, void *window);
	int (*unlock)(void *group, void *window);
	/** @flush: Wait for this rank's accesses to a window. */
	int (*flush)(void *group, void *window);
	/**
	 * @swap: If the 8 bytes at @offset of a rank's window are @expected let them be @desired,
	 * atomically among all ranks; @seen is what they were. Complete on return. Not in a window
	 * that is locked.
	 */
	int (*swap)(void *group, void *window, unsigned int rank, uint64_t offset,
		    uint64_t expected, uint64_t desired, uint64_t *seen);
	/** @progress: Serve accesses of others; for a rank that waits for something else. */
	int (*progress)(void *group);
	/** @error: What was wrong, one line. */
	const char *(*error)(const void *group);
};

extern const struct agile_transport salvo_agile_plugin;

#endif
