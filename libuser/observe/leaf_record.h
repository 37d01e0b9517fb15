/* SPDX-License-Identifier: MIT */
/*
 * leaf_record.h - the leaves that pools ran, for salvo-submit's pictures
 *
 * If the environment variable LEAF_RECORD_VARIABLE names a file that begins with struct
 * leaf_record_head, each pool of the process maps it and adds a record for each kernel that its
 * workers ran through a slot. The tool that made the file reads it when the process has ended,
 * however it did, and trusts nothing in it.
 */
#ifndef SALVO_LEAF_RECORD_H
#define SALVO_LEAF_RECORD_H

#include <stdint.h>

#define LEAF_RECORD_VARIABLE	"SALVO_LEAVES"
#define LEAF_RECORD_MAGIC	0x4641454cu	/* "LEAF" */

/**
 * struct leaf_record - A leaf.
 */
struct leaf_record {
	/** @started, @ended: On the units, in ticks of the device's clock. */
	uint64_t started;
	uint64_t ended;
	/** @handed, @seen: When the worker stored the task and saw its end; CLOCK_MONOTONIC. */
	uint64_t handed;
	uint64_t seen;
	/** @clock_hz: Ticks of the device's clock in a second. */
	uint64_t clock_hz;
	/** @units: Mask of the units that it was divided among. */
	uint64_t units;
	/** @pool: Number of the pool in its process. */
	uint32_t pool;
	uint32_t worker;
	uint32_t pid;
	/** @result: 0 or a negative errno. */
	int32_t result;
	/** @pool_name, @kernel: End with 0. */
	char pool_name[32];
	char kernel[44];
	/** @written: 1; stored last. */
	uint32_t written;
};

/**
 * struct leaf_record_head - The head of the file; the records follow.
 */
struct leaf_record_head {
	/** @magic: LEAF_RECORD_MAGIC. */
	uint32_t magic;
	/** @record_bytes: Of a record. */
	uint32_t record_bytes;
	/** @capacity: Number of records that the file has room for. */
	uint64_t capacity;
	/** @next: Leaves so far; those beyond @capacity have no record. */
	uint64_t next;
	uint64_t reserved[5];
};

#endif /* SALVO_LEAF_RECORD_H */
