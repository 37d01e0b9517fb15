/* SPDX-License-Identifier: MIT */
/*
 * examples.h - the examples of tests/steal as programs of a fork and join system, whichever it is
 */
#ifndef BENCH_EXAMPLES_H
#define BENCH_EXAMPLES_H

#ifdef __cplusplus
extern "C" {
#endif

/* @at is what the system needs to fork: a worker, or nothing. */
typedef void (*part_function)(void *at, void *data);
typedef void (*range_function)(void *at, void *data, long begin, long end);

/** struct fork_join - A system that runs tasks in parallel. */
struct fork_join {
	const char *name;
	/** @run: Run a function with its workers. */
	void (*run)(part_function function, void *data);
	/** @many: Run a function on @count objects of @bytes in parallel, and wait. */
	void (*many)(void *at, part_function function, void *objects, long bytes, long count);
	/** @range: Run a function on parts of a range in parallel, of @grain at least, and wait. */
	void (*range)(void *at, range_function function, void *data, long count, long grain);
};

extern const struct fork_join tbb_system;

#ifdef __cplusplus
}
#endif

#endif
