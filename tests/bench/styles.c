// SPDX-License-Identifier: MIT
/*
 * styles.c - how good is the code of salvo-cc for kernels that are no filters of images?
 *
 * Irregular, sparse, dynamic programming, a stencil with a halo, a sort, a rare branch, a tiny
 * grid, a matrix by columns, rows forwards and backwards, pixels of three bytes, a histogram,
 * prefix sums, local maxima, the costs of disparities, images of a batch, built from the same text
 * by salvo-cc, for the instruction set of this machine, and by PoCL. As in kernels.c both
 * alternate in one run and CPU time is compared. The two results must be equal.
 *
 * usage: styles [--json] [--rounds N]
 */
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "cc_program.h"
#include "opencl.h"
#include "salvo.h"

#define LENGTH	(1u << 18)
#define BYTES	(4 * LENGTH)
/* Dispatches of a round, in one batch or queue */
#define TURN	8u

static const struct style {
	const char *name;
	uint32_t dims, items[3], group[3];
	int m;
} styles[] = {
	{ "visit", 1, { LENGTH / 8 }, { 256 }, 8 },
	{ "sparse", 1, { LENGTH / 8 }, { 128 }, 8 },
	{ "align", 1, { LENGTH / 16 }, { 16 }, 10 },
	{ "diffuse", 1, { LENGTH }, { 256 }, 2 },
	{ "exchange", 1, { LENGTH / 2 }, { 256 }, 16 },
	{ "suppress", 1, { LENGTH }, { 256 }, 512 },
	{ "lookup", 2, { 160, 120 }, { 16, 8 }, 160 },
	{ "eliminate", 2, { 512, 512 }, { 16, 16 }, 512 },
	{ "total", 1, { 1024 }, { 64 }, 1024 },
	{ "luma", 1, { LENGTH }, { 256 }, 0 },
	{ "delta", 1, { 512 }, { 64 }, 512 },
	{ "tally", 1, { LENGTH }, { 256 }, 255 },
	{ "prefix", 1, { LENGTH }, { 64 }, 0 },
	{ "maxima", 2, { 512, 512 }, { 16, 16 }, 512 },
	{ "disparities", 2, { 64, 4096 }, { 64, 4 }, 64 },
	{ "batch", 3, { 64, 64, 4 }, { 16, 4, 1 }, 3 },
};

#define STYLES (sizeof(styles) / sizeof(styles[0]))

struct bench {
	struct salvo_device *device;
	struct salvo_program *program;
	struct salvo_queue *queue;
	struct salvo_bo *bos[3];
	int *maps[3];
	struct opencl cl;
	cl_mem mems[3];
};

static char *read_source(void)
{
	const char *path = cc_build_path("../tests/bench/bench_styles.cl");
	char *text = calloc(1, 1 << 16);
	FILE *file = fopen(path, "r");

	need(file && text && fread(text, 1, (1 << 16) - 1, file), path);
	fclose(file);
	return text;
}

static void init(struct bench *b)
{
	char *text = read_source();
	void *map;
	int i;

	need(!salvo_device_open("soft", &b->device), "salvo_device_open");
	need(!salvo_program_build(b->device, text, 0, NULL, NULL, &b->program),
	     "salvo_program_build");
	need(!salvo_queue_create(b->device, 0, &b->queue), "salvo_queue_create");
	opencl_open(&b->cl, text);
	for (i = 0; i < 3; i++) {
		need(!salvo_bo_create(b->device, BYTES, 0, &b->bos[i]), "salvo_bo_create");
		need(!salvo_bo_map(b->bos[i], &map), "salvo_bo_map");
		b->maps[i] = map;
		b->mems[i] = opencl_buffer(&b->cl, BYTES, NULL);
	}
	free(text);
}

static void fini(struct bench *b)
{
	int i;

	for (i = 0; i < 3; i++) {
		clReleaseMemObject(b->mems[i]);
		salvo_bo_destroy(b->bos[i]);
	}
	opencl_close(&b->cl);
	salvo_queue_destroy(b->queue);
	salvo_program_destroy(b->program);
	salvo_device_close(b->device);
}

/* The same input for both: values, indices, and an output that is initialised with the values. */
static void fill(struct bench *b)
{
	uint32_t state = 1, i;

	for (i = 0; i < LENGTH; i++) {
		state = state * 1664525 + 1013904223;
		b->maps[0][i] = b->maps[2][i] = state >> 16;
		b->maps[1][i] = (state >> 7) % LENGTH;
	}
	for (i = 0; i < 3; i++)
		need(!clEnqueueWriteBuffer(b->cl.queue, b->mems[i], CL_TRUE, 0, BYTES, b->maps[i],
					   0, NULL, NULL), "clEnqueueWriteBuffer");
}

static struct salvo_batch *make_batch(struct bench *b, const struct style *s, unsigned int times)
{
	const int n = LENGTH;
	struct salvo_kernel *kernel;
	struct salvo_batch *batch;
	unsigned int i;

	need(!salvo_kernel_create(b->program, s->name, &kernel), "salvo_kernel_create");
	for (i = 0; i < 3; i++)
		need(!salvo_kernel_set_bo(kernel, i, b->bos[i], 0), "salvo_kernel_set_bo");
	need(!salvo_kernel_set_value(kernel, 3, &n, sizeof(n)), "salvo_kernel_set_value");
	need(!salvo_kernel_set_value(kernel, 4, &s->m, sizeof(s->m)), "salvo_kernel_set_value");
	need(!salvo_kernel_set_grid(kernel, s->dims, s->items, s->group), "salvo_kernel_set_grid");
	need(!salvo_batch_create(b->device, &batch), "salvo_batch_create");
	for (i = 0; i < times; i++) {
		need(salvo_batch_dispatch(batch, kernel) >= 0, "salvo_batch_dispatch");
		salvo_batch_barrier(batch);
	}
	salvo_kernel_destroy(kernel);
	return batch;
}

static cl_kernel make_kernel(struct bench *b, const struct style *s)
{
	const int n = LENGTH;
	cl_kernel kernel = opencl_kernel(&b->cl, s->name);
	unsigned int i;

	for (i = 0; i < 3; i++)
		clSetKernelArg(kernel, i, sizeof(cl_mem), &b->mems[i]);
	clSetKernelArg(kernel, 3, sizeof(n), &n);
	clSetKernelArg(kernel, 4, sizeof(s->m), &s->m);
	return kernel;
}

static void run_salvo(struct bench *b, const struct salvo_batch *batch)
{
	struct salvo_fence *fence;

	need(!salvo_queue_submit(b->queue, (struct salvo_batch *)batch, NULL, 0, &fence),
	     "salvo_queue_submit");
	need(!salvo_fence_wait(fence, -1), "salvo_fence_wait");
	salvo_fence_destroy(fence);
}

static void run_pocl(struct bench *b, const struct style *s, cl_kernel kernel, unsigned int times)
{
	const size_t items[3] = { s->items[0], s->items[1], s->items[2] };
	const size_t group[3] = { s->group[0], s->group[1], s->group[2] };
	unsigned int i;

	for (i = 0; i < times; i++)
		need(!clEnqueueNDRangeKernel(b->cl.queue, kernel, s->dims, NULL, items, group, 0,
					     NULL, NULL), "clEnqueueNDRangeKernel");
	need(!clFinish(b->cl.queue), "clFinish");
}

/* One dispatch on each side must give the same result. */
static bool check(struct bench *b, const struct style *s, cl_kernel kernel)
{
	struct salvo_batch *one = make_batch(b, s, 1);
	int *out = malloc(BYTES);
	unsigned int i;

	need(out, "malloc");
	fill(b);
	run_salvo(b, one);
	run_pocl(b, s, kernel, 1);
	need(!clEnqueueReadBuffer(b->cl.queue, b->mems[2], CL_TRUE, 0, BYTES, out, 0, NULL, NULL),
	     "clEnqueueReadBuffer");
	for (i = 0; i < LENGTH && out[i] == b->maps[2][i]; i++)
		;
	if (i < LENGTH)
		fprintf(stderr, "%s: element %u is %d by Salvo, %d by PoCL\n", s->name, i,
			b->maps[2][i], out[i]);
	free(out);
	salvo_batch_destroy(one);
	return i == LENGTH;
}

static bool measure(struct bench *b, const struct style *s, unsigned int rounds, bool json,
		    double *ratio)
{
	double *ours = calloc(rounds, sizeof(*ours)), *theirs = calloc(rounds, sizeof(*theirs));
	struct salvo_batch *batch = make_batch(b, s, TURN);
	cl_kernel kernel = make_kernel(b, s);
	const bool right = check(b, s, kernel);
	unsigned int i;

	need(ours && theirs, "calloc");
	for (i = 0; i < rounds; i++) {
		double cpu = clock_us(CLOCK_PROCESS_CPUTIME_ID);

		run_salvo(b, batch);
		ours[i] = clock_us(CLOCK_PROCESS_CPUTIME_ID) - cpu;
		/* Units poll for more work for a moment, which must not count for PoCL. */
		usleep(300);
		cpu = clock_us(CLOCK_PROCESS_CPUTIME_ID);
		run_pocl(b, s, kernel, TURN);
		theirs[i] = clock_us(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	}
	const double salvo = median(ours, rounds) / TURN, pocl = median(theirs, rounds) / TURN;
	*ratio = pocl / salvo;
	printf(json ? "{\"kernel\":\"%s\",\"salvo_cpu_us\":%.1f,\"pocl_cpu_us\":%.1f,"
		      "\"ratio\":%.3f}\n" : "%-12s %10.1f %10.1f %8.2f\n",
	       s->name, salvo, pocl, *ratio);
	fflush(stdout);
	clReleaseKernel(kernel);
	salvo_batch_destroy(batch);
	free(ours);
	free(theirs);
	return right;
}

int main(int argc, char **argv)
{
	unsigned int rounds = 15, i;
	bool json = false, right = true;
	double logs = 0, ratio;
	struct bench b;
	int word;

	for (word = 1; word < argc; word++)
		if (!bench_option(argv, &word, &json, &rounds)) {
			fprintf(stderr, "usage: styles [--json] [--rounds N]\n");
			return 2;
		}
	rounds = rounds < 1 ? 1 : rounds;
	init(&b);
	if (!json)
		printf("CPU us a dispatch, medians of %u\n"
		       "                  salvo       pocl   pocl/salvo\n", rounds);
	for (i = 0; i < STYLES; i++) {
		right &= measure(&b, &styles[i], rounds, json, &ratio);
		logs += log(ratio);
	}
	printf(json ? "{\"geometric_mean\":%.3f}\n" : "geometric mean %27.2f\n",
	       exp(logs / STYLES));
	fini(&b);
	return right ? 0 : 1;
}
