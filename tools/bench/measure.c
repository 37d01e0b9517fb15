// SPDX-License-Identifier: MIT
/*
 * measure.c - run tiny dispatches in a mode, and measure what they cost
 *
 * Each dispatch is one work-item that stores a word of its own, which is checked afterwards.
 * Recording is measured separately from submitting and waiting, as an application may
 * record a batch once and submit it often. The first round is not counted: it fills caches
 * and pools.
 */
#include "measure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WORD_STRIDE	64u	/* bytes: a cache line for each dispatch */

extern const char bench_program[], bench_program_end[];

/* Stores which call failed. Return: @err. */
static int note(struct bench *bench, int err, const char *what)
{
	if (err < 0)
		bench->what = what;
	return err;
}

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

int bench_init(struct bench *bench, struct salvo_device *device, unsigned int rounds)
{
	const uint32_t one = 1;
	unsigned int i;
	void *map;
	int err;

	memset(bench, 0, sizeof(*bench));
	bench->device = device;
	salvo_device_get_info(device, &bench->info);
	bench->samples = calloc(2 * rounds, sizeof(*bench->samples));
	if (!bench->samples)
		return note(bench, -ENOMEM, "memory");
	err = note(bench, salvo_program_load(device, bench_program,
					     bench_program_end - bench_program, &bench->program),
		   "loading the kernel");
	if (!err)
		err = note(bench, salvo_kernel_create(bench->program, "touch", &bench->kernel),
			   "creating the kernel");
	if (!err)
		err = note(bench, salvo_kernel_set_grid(bench->kernel, 1, &one, &one),
			   "setting the grid");
	if (!err)
		err = note(bench, salvo_bo_create(device, (uint64_t)bench->info.max_commands *
						  WORD_STRIDE, 0, &bench->bo),
			   "creating a buffer");
	if (!err)
		err = note(bench, salvo_bo_map(bench->bo, &map), "mapping a buffer");
	if (!err)
		bench->words = map;
	for (i = 0; i < BENCH_MAX_QUEUES && !err; i++) {
		err = note(bench, salvo_queue_create(device, 0, &bench->queues[i]),
			   "creating a queue");
		if (!err)
			err = note(bench, salvo_batch_create(device, &bench->batches[i]),
				   "creating a batch");
	}
	return err;
}

void bench_fini(struct bench *bench)
{
	unsigned int i;

	for (i = 0; i < BENCH_MAX_QUEUES; i++) {
		salvo_batch_destroy(bench->batches[i]);
		salvo_queue_destroy(bench->queues[i]);
	}
	salvo_kernel_destroy(bench->kernel);
	salvo_program_destroy(bench->program);
	salvo_bo_destroy(bench->bo);
	free(bench->samples);
}

/* Record dispatches @first to @end - 1 into an empty batch. */
static int record(struct bench *bench, struct salvo_batch *batch, unsigned int first,
		  unsigned int end)
{
	unsigned int i;
	int err;

	salvo_batch_reset(batch);
	for (i = first; i < end; i++) {
		salvo_kernel_set_bo(bench->kernel, 0, bench->bo, i * WORD_STRIDE);
		salvo_kernel_set_value(bench->kernel, 1, &bench->value, sizeof(bench->value));
		err = salvo_batch_dispatch(batch, bench->kernel);
		if (err < 0)
			return note(bench, err, "adding a dispatch");
	}
	return 0;
}

static int submit(struct bench *bench, unsigned int queue, struct salvo_fence **fence)
{
	return note(bench, salvo_queue_submit(bench->queues[queue], bench->batches[queue], NULL, 0,
					      fence), "submitting");
}

static int wait_for(struct bench *bench, struct salvo_fence **fence)
{
	int err = *fence ? note(bench, salvo_fence_wait(*fence, -1), "waiting") : 0;

	salvo_fence_destroy(*fence);
	*fence = NULL;
	return err;
}

static int wait_for_all(struct bench *bench, unsigned int queues)
{
	unsigned int q;
	int err = 0, ret;

	for (q = 0; q < queues; q++) {
		ret = wait_for(bench, &bench->fences[q]);
		err = err ?: ret;
	}
	return err;
}

/* One batch for each queue; all are in flight together. */
static int round_batch(struct bench *bench, const struct bench_result *result, double *build,
		       double *run)
{
	const double start = now_us();
	double recorded;
	unsigned int q;
	int err = 0, ret;

	for (q = 0; q < result->queues && !err; q++)
		err = record(bench, bench->batches[q], q * result->dispatches,
			     (q + 1) * result->dispatches);
	recorded = now_us();
	for (q = 0; q < result->queues && !err; q++)
		err = submit(bench, q, &bench->fences[q]);
	ret = wait_for_all(bench, result->queues);
	*build = recorded - start;
	*run = now_us() - recorded;
	return err ?: ret;
}

/* A packet for each dispatch: recording and submitting alternate, and are measured separately. */
static int round_single(struct bench *bench, const struct bench_result *result, double *build,
			double *run)
{
	const unsigned int all = result->dispatches * result->queues;
	const double start = now_us();
	double at, recording = 0;
	unsigned int i, q;
	int err = 0, ret;

	for (i = 0; i < all && !err; i++) {
		q = i % result->queues;
		at = now_us();
		err = record(bench, bench->batches[q], i, i + 1);
		recording += now_us() - at;
		salvo_fence_destroy(bench->fences[q]);
		bench->fences[q] = NULL;
		if (!err)
			err = submit(bench, q, &bench->fences[q]);
		if (!err && result->mode == BENCH_WAIT)
			err = wait_for(bench, &bench->fences[q]);
	}
	ret = wait_for_all(bench, result->queues);
	*build = recording;
	*run = now_us() - start - recording;
	return err ?: ret;
}

static int one_round(struct bench *bench, const struct bench_result *result, double *build,
		     double *run)
{
	const unsigned int all = result->dispatches * result->queues;
	unsigned int i;
	int err;

	bench->value++;
	err = result->mode == BENCH_BATCH ? round_batch(bench, result, build, run) :
					    round_single(bench, result, build, run);
	for (i = 0; i < all && !err; i++)
		if (bench->words[i * (WORD_STRIDE / sizeof(uint32_t))] != bench->value)
			err = note(bench, -EBADMSG, "a dispatch did not run");
	return err;
}

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int bench_run(struct bench *bench, struct bench_result *result)
{
	const unsigned int rounds = result->rounds;
	double *builds = bench->samples, *runs = bench->samples + rounds, skip;
	struct salvo_device_stats before, after;
	unsigned int i;
	int err;

	err = one_round(bench, result, &skip, &skip);
	salvo_device_get_stats(bench->device, &before);
	for (i = 0; i < rounds && !err; i++)
		err = one_round(bench, result, &builds[i], &runs[i]);
	if (err)
		return err;
	salvo_device_get_stats(bench->device, &after);
	qsort(builds, rounds, sizeof(*builds), compare_doubles);
	qsort(runs, rounds, sizeof(*runs), compare_doubles);
	result->build = builds[rounds / 2];
	result->best = runs[0];
	result->median = runs[rounds / 2];
	result->slow = runs[rounds * 9 / 10];
	result->packets = (double)(after.packets - before.packets) / rounds;
	result->doorbells = (double)(after.doorbells - before.doorbells) / rounds;
	result->interrupts = (double)(after.interrupts - before.interrupts) / rounds;
	result->completions = (double)(after.completions - before.completions) / rounds;
	return 0;
}
