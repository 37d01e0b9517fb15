/* SPDX-License-Identifier: MIT */
/*
 * pool_public.h - what a work-stealing pool shows to salvo-top
 *
 * A pool keeps its counters in a memfd of the name POOL_PUBLIC_NAME, which another process that may
 * trace ours finds as /proc/PID/fd/N, as it does an embedded GPU (soft_public.h). Each worker
 * writes its own cache line with plain stores, so that showing them costs nothing. Readers use
 * pread(): they must trust neither the size nor the contents.
 */
#ifndef SALVO_POOL_PUBLIC_H
#define SALVO_POOL_PUBLIC_H

#include <stdint.h>

#define POOL_PUBLIC_NAME	"salvo-pool"
#define POOL_PUBLIC_MAGIC	0x4c4f4f50u	/* "POOL" */
#define POOL_PUBLIC_WORKERS	64

/**
 * struct pool_public_worker - Counters of a worker since the pool was created.
 */
struct pool_public_worker {
	/** @steals: Tasks that it took from other workers. */
	uint64_t steals;
	/** @sleeps: How often it found nothing to do. */
	uint64_t sleeps;
	/** @leaves: Kernels that ran on its units. */
	uint64_t leaves;
	/** @leaf_ns: From when they were handed over until the worker saw their end. */
	uint64_t leaf_ns;
	/** @units: Mask of its units; 0 if it has none. */
	uint64_t units;
	/** @asleep: 1 while it sleeps. */
	uint32_t asleep;
	/** @in_leaf: 1 while a kernel runs on its units. */
	uint32_t in_leaf;
	uint64_t reserved[2];
};

/**
 * struct pool_public - A pool.
 */
struct pool_public {
	/** @magic: POOL_PUBLIC_MAGIC, written last. */
	uint32_t magic;
	/** @bytes: Of this structure, which may grow. */
	uint32_t bytes;
	/** @workers: Number of workers. */
	uint32_t workers;
	/** @pid: Process that has them: a child of fork() inherits the descriptor. */
	uint32_t pid;
	/** @name: Of the pool, ends with 0. */
	char name[32];
	/** @roots: Tasks of salvo_pool_run() that were begun. */
	uint64_t roots;
	uint64_t reserved;
	struct pool_public_worker worker[POOL_PUBLIC_WORKERS];
};

#endif /* SALVO_POOL_PUBLIC_H */
