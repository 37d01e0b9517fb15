// SPDX-License-Identifier: MIT
/*
 * overlap.c - what does it save that a frame starts while the tail of the one before runs?
 *
 * A frame has a wide head, copies that all units share, and a narrow tail, a chain of copies of
 * one work-group each; the first one of the tail reads what the head has written. Microseconds
 * for each of a row of frames that one queue has in flight, without and with
 * salvo_queue_enable_overlap(). The two alternate in one run; figures are medians.
 *
 * usage: overlap [--rounds N]
 */
#include "bench.h"
#include "salvo.h"

#define FRAMES	32u
#define WIDE	8u
#define NARROW	6u
#define WIDTH	(256ull << 10)
#define BLOCK	(64ull << 10)

struct side {
	struct salvo_queue *queue;
	struct salvo_batch *batch;
	double *us;
};

static void copy(struct salvo_batch *batch, struct salvo_bo *bo, uint64_t from, uint64_t to,
		 uint64_t size)
{
	need(salvo_batch_copy(batch, bo, to, bo, from, size) >= 0, "salvo_batch_copy");
}

static void side_init(struct side *side, struct salvo_device *device, struct salvo_bo *bo,
		      unsigned int rounds)
{
	const uint64_t tail = 2 * WIDE * WIDTH;
	unsigned int i;

	need(!salvo_queue_create(device, 0, &side->queue), "salvo_queue_create");
	need(!salvo_batch_create(device, &side->batch), "salvo_batch_create");
	need(!salvo_batch_enable_hazards(side->batch), "salvo_batch_enable_hazards");
	for (i = 0; i < WIDE; i++)
		copy(side->batch, bo, i * WIDTH, (WIDE + i) * WIDTH, WIDTH);
	copy(side->batch, bo, WIDE * WIDTH, tail, BLOCK);
	for (i = 0; i < NARROW; i++)
		copy(side->batch, bo, tail + i * BLOCK, tail + (i + 1) * BLOCK, BLOCK);
	side->us = calloc(rounds, sizeof(*side->us));
	need(side->us != NULL, "memory");
}

static void side_fini(struct side *side)
{
	salvo_batch_destroy(side->batch);
	salvo_queue_destroy(side->queue);
	free(side->us);
}

static double run(struct side *side)
{
	const double start = clock_us(CLOCK_MONOTONIC);
	unsigned int i;

	for (i = 0; i < FRAMES; i++)
		need(!salvo_queue_submit(side->queue, side->batch, NULL, 0, NULL),
		     "salvo_queue_submit");
	need(!salvo_queue_wait(side->queue, 0, -1), "salvo_queue_wait");
	return (clock_us(CLOCK_MONOTONIC) - start) / FRAMES;
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc == 3 && !strcmp(argv[1], "--rounds") ? atoi(argv[2]) : 50, i;
	struct salvo_device *device;
	struct side apart, overlap;
	double before, after;
	struct salvo_bo *bo;

	need(rounds > 0, "--rounds");
	need(!salvo_device_open(getenv("SALVO_DEVICE"), &device), "salvo_device_open");
	need(!salvo_bo_create(device, 2 * WIDE * WIDTH + (NARROW + 1) * BLOCK, 0, &bo),
	     "salvo_bo_create");
	side_init(&apart, device, bo, rounds);
	side_init(&overlap, device, bo, rounds);
	need(!salvo_queue_enable_overlap(overlap.queue), "salvo_queue_enable_overlap");
	for (i = 0; i < rounds; i++) {
		apart.us[i] = run(&apart);
		overlap.us[i] = run(&overlap);
	}
	before = median(apart.us, rounds);
	after = median(overlap.us, rounds);
	printf("us a frame: one after another %.1f, overlapping %.1f, ratio %.2f\n", before, after,
	       before / after);
	side_fini(&apart);
	side_fini(&overlap);
	salvo_bo_destroy(bo);
	salvo_device_close(device);
	return 0;
}
