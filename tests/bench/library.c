// SPDX-License-Identifier: MIT
/*
 * library.c - what does the library itself cost?
 *
 * Microseconds of CPU time in the calling thread, medians: building a batch of 33
 * dispatches, submitting it again, patching a value, the buffer or the grid of each of them
 * and submitting it again; and finding the pipe controls of 1,024 dispatches with three
 * arguments each (B4).
 *
 * A submission is timed until its calls return, not until the fence is signalled. It includes
 * parsing, as the embedded GPU parses a packet in the thread that submits it, and waking a unit if
 * all sleep. The cost of reading the clock, a system call that takes a third of the rest, is
 * subtracted.
 *
 * usage: library [--json] [--rounds N] [--only NAME]
 *
 * --only runs one figure and no other, for callgrind:
 *	valgrind --tool=callgrind --toggle-collect='salvo_hazards_find' library --only chains
 */
#include <string.h>

#include "bench.h"
#include "cc_program.h"
#include "salvo_validate.h"
#include "hazard.h"
#include "salvo.h"

#define FRAME	33u
#define MANY	1024u
#define ARGS	3u

struct bench {
	struct salvo_device *device;
	struct salvo_program *program;
	struct salvo_kernel *kernel;
	struct salvo_queue *queue;
	struct salvo_batch *batch;
	struct salvo_bo *bo;
	struct salvo_hazards *hazards;
	uint32_t value;
	unsigned int rounds;
	bool json;
	const char *only;
	/** @clock: What it costs to read the clock. */
	double clock;
};

/* CPU time of this thread since @start. */
static double since(const struct bench *b, double start)
{
	return clock_us(CLOCK_THREAD_CPUTIME_ID) - start - b->clock;
}

static double start_now(void)
{
	return clock_us(CLOCK_THREAD_CPUTIME_ID);
}

static double clock_cost(void)
{
	static double values[1001];
	unsigned int i;

	for (i = 0; i < 1001; i++) {
		const double start = start_now();

		values[i] = start_now() - start;
	}
	return median(values, 1001);
}

/* @run returns the microseconds to record. */
static void measure(struct bench *b, const char *name, double (*run)(struct bench *b),
		    double target)
{
	double *values = calloc(b->rounds, sizeof(*values));
	unsigned int i;

	need(values, "calloc");
	if (!b->only || !strcmp(b->only, name)) {
		run(b);
		for (i = 0; i < b->rounds; i++)
			values[i] = run(b);
		printf(b->json ? "{\"name\":\"%s\",\"us\":%.2f,\"target_us\":%.0f}\n" :
				 "%-20s %10.2f %10.0f\n",
		       name, median(values, b->rounds), target);
	}
	free(values);
}

static void add_frame(struct bench *b)
{
	unsigned int i;

	for (i = 0; i < FRAME; i++) {
		salvo_kernel_set_bo(b->kernel, 0, b->bo, i * 64);
		salvo_kernel_set_value(b->kernel, 1, &i, sizeof(i));
		need(salvo_batch_dispatch(b->batch, b->kernel) >= 0, "salvo_batch_dispatch");
	}
}

static double submit(struct bench *b, double start)
{
	struct salvo_fence *fence;
	double us;

	need(!salvo_queue_submit(b->queue, b->batch, NULL, 0, &fence), "salvo_queue_submit");
	us = since(b, start);
	need(!salvo_fence_wait(fence, -1), "salvo_fence_wait");
	salvo_fence_destroy(fence);
	return us;
}

static double build(struct bench *b)
{
	const double start = start_now();

	salvo_batch_reset(b->batch);
	add_frame(b);
	return since(b, start);
}

static double resubmit(struct bench *b)
{
	if (!salvo_batch_count(b->batch))
		add_frame(b);
	return submit(b, start_now());
}

/* Patches each dispatch of the frame, alternating between two values. */
static double patch(struct bench *b, int (*one)(struct bench *b, unsigned int i))
{
	double start;
	unsigned int i;

	if (!salvo_batch_count(b->batch))
		add_frame(b);
	b->value++;
	start = start_now();
	for (i = 0; i < FRAME; i++)
		need(!one(b, i), "a patch");
	return submit(b, start);
}

static int patch_value(struct bench *b, unsigned int i)
{
	return salvo_batch_patch_value(b->batch, i, 1, &b->value, sizeof(b->value));
}

static double patch_values(struct bench *b)
{
	return patch(b, patch_value);
}

static int patch_buffer(struct bench *b, unsigned int i)
{
	return salvo_batch_patch_bo(b->batch, i, 0, b->bo, (i + b->value % 2) * 64, 0);
}

static double patch_buffers(struct bench *b)
{
	return patch(b, patch_buffer);
}

static int patch_grid(struct bench *b, unsigned int i)
{
	const uint32_t items = 1 + b->value % 2, group = 2;

	return salvo_batch_patch_grid(b->batch, i, 1, &items, &group);
}

static double patch_grids(struct bench *b)
{
	return patch(b, patch_grid);
}

/* --- hazards ---------------------------------------------------------------- */

/* Three ranges of @size bytes for each dispatch: two are read, the third is written. */
static double find(struct bench *b, uint64_t (*place)(unsigned int dispatch, unsigned int arg),
		   unsigned int size)
{
	static struct drm_salvo_command commands[MANY];
	static struct salvo_region_span spans[MANY];
	static struct salvo_region regions[MANY * ARGS];
	const struct salvo_hazard_input input = {
		commands, spans, regions, MANY * ARGS, MANY, MANY * MANY, 0,
	};
	const struct salvo_hazard_edge *edges;
	unsigned int i, j;
	double start;

	srand(1);
	for (i = 0; i < MANY; i++) {
		commands[i].type = DRM_SALVO_DISPATCH;
		spans[i] = (struct salvo_region_span){ ARGS * i, ARGS };
		for (j = 0; j < ARGS; j++) {
			struct salvo_region *region = &regions[ARGS * i + j];

			region->start = (1ull << 32) + place(i, j);
			region->end = region->start + size;
			region->argument = j;
			region->access = j == ARGS - 1 ? SALVO_REGION_WRITE : SALVO_REGION_READ;
		}
	}
	start = start_now();
	need(salvo_hazards_find(b->hazards, &input, &edges) >= 0, "salvo_hazards_find");
	return since(b, start);
}

/* Chains of three, as in a frame: each reads the result of the previous one, and a table. */
static uint64_t chain_place(unsigned int dispatch, unsigned int arg)
{
	const unsigned int input = dispatch % 3 ? dispatch - 1 : MANY + dispatch;

	return 4096ull * (arg == 0 ? input : arg == 1 ? 3 * MANY : dispatch);
}

static double chains(struct bench *b)
{
	return find(b, chain_place, 4096);
}

static uint64_t buffer_place(unsigned int dispatch, unsigned int arg)
{
	(void)dispatch;
	(void)arg;
	return rand() % 300 * 4096ull;
}

static double buffers(struct bench *b)
{
	return find(b, buffer_place, 4096);
}

static uint64_t piece_place(unsigned int dispatch, unsigned int arg)
{
	(void)dispatch;
	(void)arg;
	return rand() % 1000000;
}

static double pieces(struct bench *b)
{
	return find(b, piece_place, 500);
}

/* --- the program ------------------------------------------------------------ */

static void open_all(struct bench *b)
{
	const char *path = cc_build_path("kernels/basic.salvo");
	const uint32_t one = 1;

	need(!salvo_device_open("soft", &b->device), "salvo_device_open");
	need(!salvo_program_load_file(b->device, path, &b->program), path);
	need(!salvo_kernel_create(b->program, "tiny", &b->kernel), "salvo_kernel_create");
	need(!salvo_kernel_set_grid(b->kernel, 1, &one, &one), "salvo_kernel_set_grid");
	need(!salvo_queue_create(b->device, 0, &b->queue), "salvo_queue_create");
	need(!salvo_batch_create(b->device, &b->batch), "salvo_batch_create");
	need(!salvo_bo_create(b->device, 4096, 0, &b->bo), "salvo_bo_create");
	b->hazards = salvo_hazards_create();
	need(b->hazards, "salvo_hazards_create");
}

static void close_all(struct bench *b)
{
	salvo_hazards_destroy(b->hazards);
	salvo_bo_destroy(b->bo);
	salvo_batch_destroy(b->batch);
	salvo_queue_destroy(b->queue);
	salvo_kernel_destroy(b->kernel);
	salvo_program_destroy(b->program);
	salvo_device_close(b->device);
}

int main(int argc, char **argv)
{
	struct bench b = { .rounds = 1000 };
	int i;

	for (i = 1; i < argc; i++) {
		if (!bench_option(argv, &i, &b.json, &b.rounds) && !strcmp(argv[i], "--only") &&
		    i + 1 < argc)
			b.only = argv[++i];
	}
	b.rounds = b.rounds ? b.rounds : 1;
	open_all(&b);
	b.clock = clock_cost();
	if (!b.json)
		printf("medians of %-9u         us     target\n", b.rounds);
	measure(&b, "build", build, 5);
	measure(&b, "resubmit", resubmit, 2);
	measure(&b, "patch-values", patch_values, 2);
	measure(&b, "patch-buffers", patch_buffers, 2);
	measure(&b, "patch-grids", patch_grids, 2);
	measure(&b, "chains", chains, 200);
	measure(&b, "buffers", buffers, 200);
	measure(&b, "pieces", pieces, 200);
	close_all(&b);
	return 0;
}
