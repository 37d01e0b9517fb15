/* SPDX-License-Identifier: MIT */
/*
 * measure.h - run tiny dispatches in a mode, and measure what they cost
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "salvo.h"

#define BENCH_MAX_QUEUES	16u
#define BENCH_MAX_ROUNDS	100000u

enum bench_mode {
	BENCH_BATCH,		/* all in one batch for each queue */
	BENCH_SINGLE,		/* a packet for each dispatch, one wait at the end */
	BENCH_WAIT,		/* a packet for each dispatch, waited for before the next */
	BENCH_MODES
};

/**
 * struct bench - The objects that all measurements use.
 */
struct bench {
	struct salvo_device *device;
	struct salvo_device_info info;
	struct salvo_program *program;
	struct salvo_kernel *kernel;
	struct salvo_batch *batches[BENCH_MAX_QUEUES];
	struct salvo_queue *queues[BENCH_MAX_QUEUES];
	struct salvo_fence *fences[BENCH_MAX_QUEUES];
	struct salvo_bo *bo;
	uint32_t *words;
	uint32_t value;
	double *samples;
	/** @what: The call that failed. */
	const char *what;
};

/**
 * struct bench_result - What @dispatches on each of @queues cost, in microseconds for all.
 */
struct bench_result {
	enum bench_mode mode;
	unsigned int dispatches;
	unsigned int queues;
	unsigned int rounds;
	double build;		/* median of recording the commands */
	double best;		/* from submission to the end of the wait: minimum, */
	double median;		/* median */
	double slow;		/* 90th percentile */
	/** @stats: For each round. */
	double packets;
	double doorbells;
	double interrupts;
	double completions;
};

/** bench_init() - Return: 0, or -errno and @what. Call bench_fini() in either case. */
int bench_init(struct bench *bench, struct salvo_device *device, unsigned int rounds);
void bench_fini(struct bench *bench);

/**
 * bench_run() - Measure @result->mode, @dispatches and @queues, @rounds times.
 *
 * Return: 0, or an error and @bench->what; -EBADMSG if a result is wrong.
 */
int bench_run(struct bench *bench, struct bench_result *result);

#endif /* BENCH_MEASURE_H */
