// SPDX-License-Identifier: MIT
/*
 * dispatch.c - what does a tiny dispatch cost?
 *
 * Microseconds for each of N tiny independent dispatches, from the first call that submits to the
 * end of the wait: one batch on Salvo's embedded GPU, beside PoCL's in-order queue with one
 * clFinish. For Salvo there are two figures: "build" counts building the batch too (as an enqueue
 * of OpenCL does), "submit" starts with salvo_queue_submit(). The two alternate in one run, so that
 * noise affects both; figures are medians.
 *
 * usage: dispatch [--json] [--rounds N] [PROGRAM.salvo]
 */
#include <string.h>
#include "cc_program.h"
#include "opencl.h"
#include "salvo.h"

/* Consecutive runs of one kind before they alternate */
#define TURN 20u

static const unsigned int counts[] = { 1, 8, 33, 100, 1000 };
#define COUNTS (sizeof(counts) / sizeof(counts[0]))

static const char source[] =
	"kernel void tiny(global uint *out, uint value) { out[get_global_id(0)] = value; }";

struct salvo_side {
	struct salvo_device *device;
	struct salvo_program *program;
	struct salvo_kernel *kernel;
	struct salvo_queue *queue;
	struct salvo_batch *batch;
	struct salvo_bo *bo;
	uint32_t *data;
};

struct pocl_side {
	struct opencl cl;
	cl_kernel kernel;
	cl_mem buffer;
};

static void salvo_init(struct salvo_side *s, const char *program)
{
	const uint32_t one = 1;
	void *map;

	need(!salvo_device_open("soft", &s->device), "salvo_device_open");
	if (salvo_program_load_file(s->device, program, &s->program)) {
		fprintf(stderr, "dispatch: cannot load %s; `make tests` builds it\n", program);
		exit(1);
	}
	need(!salvo_kernel_create(s->program, "tiny", &s->kernel), "salvo_kernel_create");
	need(!salvo_queue_create(s->device, 0, &s->queue), "salvo_queue_create");
	need(!salvo_batch_create(s->device, &s->batch), "salvo_batch_create");
	need(!salvo_bo_create(s->device, 4096 * 64, 0, &s->bo), "salvo_bo_create");
	need(!salvo_bo_map(s->bo, &map), "salvo_bo_map");
	s->data = map;
	need(!salvo_kernel_set_grid(s->kernel, 1, &one, &one), "salvo_kernel_set_grid");
}

static void salvo_fini(struct salvo_side *s)
{
	salvo_batch_destroy(s->batch);
	salvo_queue_destroy(s->queue);
	salvo_kernel_destroy(s->kernel);
	salvo_program_destroy(s->program);
	salvo_bo_destroy(s->bo);
	salvo_device_close(s->device);
}

/* Returns the total in microseconds; *submit gets the part from the submission on. */
static double salvo_run(struct salvo_side *s, unsigned int n, uint32_t value, double *submit)
{
	const double start = clock_us(CLOCK_MONOTONIC);
	struct salvo_fence *fence;
	double submitted, end;
	unsigned int i;

	salvo_batch_reset(s->batch);
	for (i = 0; i < n; i++) {
		salvo_kernel_set_bo(s->kernel, 0, s->bo, i * 64);
		salvo_kernel_set_value(s->kernel, 1, &value, sizeof(value));
		need(salvo_batch_dispatch(s->batch, s->kernel) >= 0, "salvo_batch_dispatch");
	}
	submitted = clock_us(CLOCK_MONOTONIC);
	need(!salvo_queue_submit(s->queue, s->batch, NULL, 0, &fence), "salvo_queue_submit");
	need(!salvo_fence_wait(fence, -1), "salvo_fence_wait");
	end = clock_us(CLOCK_MONOTONIC);
	salvo_fence_destroy(fence);
	for (i = 0; i < n; i++)
		need(s->data[16 * i] == value, "a dispatch");
	*submit = end - submitted;
	return end - start;
}

static void pocl_init(struct pocl_side *p)
{
	opencl_open(&p->cl, source);
	p->kernel = opencl_kernel(&p->cl, "tiny");
	p->buffer = opencl_buffer(&p->cl, 4096, NULL);
	need(!clSetKernelArg(p->kernel, 0, sizeof(p->buffer), &p->buffer), "clSetKernelArg");
}

static void pocl_fini(struct pocl_side *p)
{
	clReleaseMemObject(p->buffer);
	clReleaseKernel(p->kernel);
	opencl_close(&p->cl);
}

static double pocl_run(struct pocl_side *p, unsigned int n, cl_uint value)
{
	const double start = clock_us(CLOCK_MONOTONIC);
	const size_t one = 1;
	unsigned int i;

	for (i = 0; i < n; i++) {
		clSetKernelArg(p->kernel, 1, sizeof(value), &value);
		need(!clEnqueueNDRangeKernel(p->cl.queue, p->kernel, 1, NULL, &one, &one, 0, NULL,
					     NULL), "clEnqueueNDRangeKernel");
	}
	need(!clFinish(p->cl.queue), "clFinish");
	return clock_us(CLOCK_MONOTONIC) - start;
}

struct figures {
	double build, submit, pocl;
};

static struct figures measure(struct salvo_side *s, struct pocl_side *p, unsigned int n,
			      unsigned int rounds)
{
	double *build = calloc(3 * rounds, sizeof(*build));
	double *submit = build + rounds, *pocl = submit + rounds;
	struct figures figures;
	unsigned int i, j;

	need(build, "calloc");
	for (i = 0; i < rounds; i += TURN) {
		/* The first run of a turn wakes the threads and is not counted. */
		salvo_run(s, n, i, &submit[i]);
		for (j = i; j < i + TURN; j++)
			build[j] = salvo_run(s, n, j, &submit[j]);
		pocl_run(p, n, i);
		for (j = i; j < i + TURN; j++)
			pocl[j] = pocl_run(p, n, j);
	}
	figures.build = median(build, rounds) / n;
	figures.submit = median(submit, rounds) / n;
	figures.pocl = median(pocl, rounds) / n;
	free(build);
	return figures;
}

int main(int argc, char **argv)
{
	const char *program = cc_build_path("kernels/basic.salvo");
	unsigned int rounds = 400, i;
	struct salvo_side salvo;
	struct pocl_side pocl;
	bool json = false;
	int word;

	for (word = 1; word < argc; word++)
		if (!bench_option(argv, &word, &json, &rounds))
			program = argv[word];
	rounds = rounds < TURN ? TURN : rounds / TURN * TURN;

	salvo_init(&salvo, program);
	pocl_init(&pocl);
	if (!json)
		printf("us a dispatch, medians of %u    salvo     salvo      pocl    submit\n"
		       "dispatches                     build    submit  in-order   of pocl\n",
		       rounds);
	for (i = 0; i < COUNTS; i++) {
		const struct figures f = measure(&salvo, &pocl, counts[i], rounds);

		printf(json ? "{\"dispatches\":%u,\"salvo_build_us\":%.3f,\"salvo_submit_us\":%.3f,"
			      "\"pocl_us\":%.3f,\"ratio\":%.3f}\n"
			    : "%10u %24.3f %9.3f %9.3f %9.3f\n",
		       counts[i], f.build, f.submit, f.pocl, f.submit / f.pocl);
	}
	pocl_fini(&pocl);
	salvo_fini(&salvo);
	return 0;
}
