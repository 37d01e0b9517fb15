/* SPDX-License-Identifier: MIT */
/*
 * sample.h - who uses Salvo GPUs, at one moment
 */
#ifndef TOP_SAMPLE_H
#define TOP_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TOP_MAX_UNITS	64u

enum top_kind {
	TOP_CLIENT,	/* a file of a render node, from its fdinfo */
	TOP_SOFT,	/* an embedded GPU, from its public page */
	TOP_GPU,	/* a salvo-gpu process: the GPU of a virtual machine */
	TOP_POOL,	/* a work-stealing pool, from its public page */
};

/**
 * struct top_counters - Since the client began; of a TOP_GPU only @busy_ns and @packets.
 */
struct top_counters {
	uint64_t busy_ns;
	uint64_t packets;
	uint64_t doorbells;
	uint64_t interrupts;
	uint64_t completions;
};

/** struct top_unit - An execution unit of a process that has it as a thread. */
struct top_unit {
	/** @cpu_ns: Processor time of the thread. */
	uint64_t cpu_ns;
	/** @busy, @ctx, @command: From its status register. */
	bool busy;
	uint32_t ctx;
	uint32_t command;
};

/**
 * struct top_entry - One user of a GPU. The same one has the same @kind and @id later.
 */
struct top_entry {
	enum top_kind kind;
	uint64_t id[2];
	pid_t pid;
	char command[32];
	char device[32];
	uint64_t client;		/* number that the driver gave it */
	uint32_t units;			/* of a TOP_POOL its workers */
	struct top_pool *pool;		/* of a TOP_POOL, else NULL */
	bool has_queues;		/* @queues, @slots and @batches are known */
	uint64_t queues;
	uint64_t slots;			/* of work-stealing pools and others */
	uint64_t batches;		/* in flight */
	uint64_t vram_bytes;
	struct top_counters counters;
	struct top_unit unit[TOP_MAX_UNITS];
	uint32_t unit_count;
};

struct top_sample {
	struct top_entry *entries;
	unsigned int count;
	uint64_t time_ns;
};

/** top_sample_take() - Sample all processes that may be inspected. Return: 0 or -errno. */
int top_sample_take(struct top_sample *sample);
void top_sample_free(struct top_sample *sample);

/** top_sample_find() - The same entry at another moment, or NULL. */
const struct top_entry *top_sample_find(const struct top_sample *sample,
					const struct top_entry *entry);

#endif /* TOP_SAMPLE_H */
