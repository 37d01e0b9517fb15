// SPDX-License-Identifier: MIT
/*
 * kernels.c - how good is the code of salvo-cc?
 *
 * Common image kernels at 1920x1080, compiled by salvo-cc and by PoCL from the same text and run
 * with the same ranges and work-groups, both on all cores. The figure to compare is the CPU time of
 * the whole process, which includes threads that spin but not those that sleep. The two alternate
 * in one run, so that noise affects both; figures are medians for a dispatch, and each result is
 * checked against one computed here.
 *
 * usage: kernels [--json] [--rounds N] [--only NAME] [PROGRAM.salvo KERNELS.cl]
 */
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "cc_program.h"
#include "opencl.h"
#include "salvo.h"

#define W	1920
#define H	1080
#define PIXELS	(W * H)
/* Dispatches of a round, in one batch or queue */
#define TURN	4u
#define SUMS	64u
#define BINS	256u

/* Weights of gauss_rows and gauss_columns */
static const float weights[9] = { .02f, .06f, .11f, .19f, .24f, .19f, .11f, .06f, .02f };

enum input { FLOATS, BYTES, WORDS, NONE };

struct bench {
	const char *name;
	enum input input;
	/* Arguments after the buffers: none, the number of elements, width, or width and height. */
	enum { ELEMENTS, WIDTH, SIZE, WEIGHTED } values;
	uint32_t dims, items[2], group[2];
	/* Size of the result in bytes */
	size_t bytes;
	/* Expected value of element @i, within @slack; histogram accumulates over dispatches. */
	double (*expect)(const void *in, unsigned int i);
	double slack;
	bool is_float;
};

static double pixel(const void *in, int x, int y)
{
	return ((const float *)in)[y * W + x];
}

static double expect_copy(const void *in, unsigned int i)
{
	return ((const float *)in)[i];
}

static bool at_border(unsigned int i)
{
	return i % W < 1 || i / W < 1 || i % W >= W - 1 || i / W >= H - 1;
}

static double expect_sobel(const void *in, unsigned int i)
{
	const int x = i % W, y = i / W;
	double gx = 0, gy = 0;
	int k;

	if (at_border(i))
		return 0;
	for (k = -1; k <= 1; k++) {
		gx += (2 - k * k) * (pixel(in, x + 1, y + k) - pixel(in, x - 1, y + k));
		gy += (2 - k * k) * (pixel(in, x + k, y + 1) - pixel(in, x + k, y - 1));
	}
	return sqrt(gx * gx + gy * gy);
}

static double expect_sobel_uchar4(const void *in, unsigned int i)
{
	const uint8_t *p = in;
	unsigned int c, result = 0;
	int k;

	if (at_border(i))
		return 0;
	for (c = 0; c < 4; c++) {
		const uint8_t *at = p + 4 * i + c;
		int gx = 0, gy = 0, sum;

		for (k = -1; k <= 1; k++) {
			gx += (2 - k * k) * (at[4 * (k * W + 1)] - at[4 * (k * W - 1)]);
			gy += (2 - k * k) * (at[4 * (W + k)] - at[4 * (k - W)]);
		}
		sum = abs(gx) + abs(gy);
		result |= (unsigned int)(sum > 255 ? 255 : sum) << 8 * c;
	}
	return result;
}

static int limit(int v, int high)
{
	return v < 0 ? 0 : v > high ? high : v;
}

static double expect_rows(const void *in, unsigned int i)
{
	double sum = 0;
	int k;

	for (k = -4; k <= 4; k++)
		sum += weights[k + 4] * pixel(in, limit((int)(i % W) + k, W - 1), i / W);
	return sum;
}

static double expect_columns(const void *in, unsigned int i)
{
	double sum = 0;
	int k;

	for (k = -4; k <= 4; k++)
		sum += weights[k + 4] * pixel(in, i % W, limit((int)(i / W) + k, H - 1));
	return sum;
}

static double expect_transpose(const void *in, unsigned int i)
{
	return pixel(in, i / H, i % H);
}

static double expect_reduce(const void *in, unsigned int i)
{
	const unsigned int step = SUMS * 256;
	double sum = 0;
	unsigned int k, l;

	for (l = 256 * i; l < 256 * (i + 1); l++)
		for (k = l; k < PIXELS; k += step)
			sum += ((const float *)in)[k];
	return sum;
}

static double expect_scan(const void *in, unsigned int i)
{
	static uint32_t sum;

	/* Called for elements in order. */
	sum = (i % W ? sum : 0) + ((const uint32_t *)in)[i];
	return sum;
}

static double expect_mandelbrot(const void *in, unsigned int i)
{
	const float cx = -2.2f + (int)(i % W) * (3.2f / W);
	const float cy = -1.2f + (int)(i / W) * (2.4f / H);
	float zx = 0, zy = 0;
	int n;

	for (n = 0; n < 64 && zx * zx + zy * zy < 4; n++) {
		const float t = zx * zx - zy * zy + cx;

		zy = 2 * zx * zy + cy;
		zx = t;
	}
	return n;
}

static double expect_histogram(const void *in, unsigned int i)
{
	uint32_t count = 0, k;

	for (k = 0; k < PIXELS; k++)
		count += (((const uint32_t *)in)[k] & 255) == i;
	return count;
}

/* Rows of work-groups of 16 x 16 extend beyond the image, as OpenCL 1.2 requires. */
#define GRID	2, { W, 1088 }, { 16, 16 }, 4 * PIXELS

static const struct bench benches[] = {
	{ "copy", FLOATS, SIZE, GRID, expect_copy, 0, true },
	{ "sobel_float", FLOATS, SIZE, GRID, expect_sobel, 1e-3, true },
	{ "sobel_uchar4", BYTES, SIZE, GRID, expect_sobel_uchar4, 0, false },
	{ "gauss_rows", FLOATS, WEIGHTED, GRID, expect_rows, 1e-3, true },
	{ "gauss_columns", FLOATS, WEIGHTED, GRID, expect_columns, 1e-3, true },
	{ "transpose", FLOATS, SIZE, GRID, expect_transpose, 0, true },
	{ "reduce", FLOATS, ELEMENTS, 1, { SUMS * 256 }, { 256 }, 4 * SUMS, expect_reduce, 40,
	  true },
	{ "row_scan", WORDS, WIDTH, 2, { 256, H }, { 256, 1 }, 4 * PIXELS, expect_scan, 0, false },
	{ "mandelbrot", NONE, SIZE, GRID, expect_mandelbrot, 64, false },
	{ "histogram", WORDS, ELEMENTS, 1, { SUMS * 256 }, { 256 }, 4 * BINS, expect_histogram, 0,
	  false },
};

#define BENCHES (sizeof(benches) / sizeof(benches[0]))

struct salvo_side {
	struct salvo_device *device;
	struct salvo_program *program;
	struct salvo_queue *queue;
	struct salvo_batch *batch;
	struct salvo_bo *in, *out, *weights;
	void *in_map, *out_map;
};

struct pocl_side {
	struct opencl cl;
	cl_mem in, out, weights;
};

static void make_input(void *to, enum input kind)
{
	uint32_t state = 1, i;

	for (i = 0; i < PIXELS; i++) {
		state = state * 1664525 + 1013904223;
		if (kind == FLOATS)
			((float *)to)[i] = (state >> 24) + i % W * .01f;
		else if (kind == BYTES)
			((uint32_t *)to)[i] = state ^ i;
		else
			((uint32_t *)to)[i] = state >> 20;
	}
}

static struct salvo_bo *salvo_buffer(struct salvo_side *s, size_t bytes, void **map)
{
	struct salvo_bo *bo;

	need(!salvo_bo_create(s->device, bytes, 0, &bo), "salvo_bo_create");
	need(!salvo_bo_map(bo, map), "salvo_bo_map");
	return bo;
}

static void salvo_init(struct salvo_side *s, const char *program)
{
	void *map;

	need(!salvo_device_open("soft", &s->device), "salvo_device_open");
	if (salvo_program_load_file(s->device, program, &s->program)) {
		fprintf(stderr, "kernels: cannot load %s; `make tests` builds it\n", program);
		exit(1);
	}
	need(!salvo_queue_create(s->device, 0, &s->queue), "salvo_queue_create");
	need(!salvo_batch_create(s->device, &s->batch), "salvo_batch_create");
	s->in = salvo_buffer(s, 4 * PIXELS, &s->in_map);
	s->out = salvo_buffer(s, 4 * PIXELS, &s->out_map);
	s->weights = salvo_buffer(s, sizeof(weights), &map);
	memcpy(map, weights, sizeof(weights));
}

static void salvo_fini(struct salvo_side *s)
{
	salvo_batch_destroy(s->batch);
	salvo_queue_destroy(s->queue);
	salvo_program_destroy(s->program);
	salvo_bo_destroy(s->in);
	salvo_bo_destroy(s->out);
	salvo_bo_destroy(s->weights);
	salvo_device_close(s->device);
}

static void salvo_fill(struct salvo_side *s, const struct bench *b)
{
	const int w = W, h = H, n = PIXELS;
	struct salvo_kernel *kernel;
	unsigned int at = 0, i;

	need(!salvo_kernel_create(s->program, b->name, &kernel), "salvo_kernel_create");
	if (b->input != NONE)
		salvo_kernel_set_bo(kernel, at++, s->in, 0);
	salvo_kernel_set_bo(kernel, at++, s->out, 0);
	salvo_kernel_set_value(kernel, at++, b->values == ELEMENTS ? &n : &w, sizeof(int));
	if (b->values == SIZE || b->values == WEIGHTED)
		salvo_kernel_set_value(kernel, at++, &h, sizeof(h));
	if (b->values == WEIGHTED)
		salvo_kernel_set_bo(kernel, at++, s->weights, 0);
	need(!salvo_kernel_set_grid(kernel, b->dims, b->items, b->group), "salvo_kernel_set_grid");
	salvo_batch_reset(s->batch);
	for (i = 0; i < TURN; i++) {
		need(salvo_batch_dispatch(s->batch, kernel) >= 0, "salvo_batch_dispatch");
		salvo_batch_barrier(s->batch);
	}
	salvo_kernel_destroy(kernel);
}

static void salvo_run(struct salvo_side *s)
{
	struct salvo_fence *fence;

	need(!salvo_queue_submit(s->queue, s->batch, NULL, 0, &fence), "salvo_queue_submit");
	need(!salvo_fence_wait(fence, -1), "salvo_fence_wait");
	salvo_fence_destroy(fence);
}

static char *read_text(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = calloc(1, 1 << 16);

	if (!file || !text || !fread(text, 1, (1 << 16) - 1, file)) {
		fprintf(stderr, "kernels: cannot read %s\n", path);
		exit(1);
	}
	fclose(file);
	return text;
}

static void pocl_init(struct pocl_side *p, const char *path)
{
	char *text = read_text(path);

	opencl_open(&p->cl, text);
	free(text);
	p->in = opencl_buffer(&p->cl, 4 * PIXELS, NULL);
	p->out = opencl_buffer(&p->cl, 4 * PIXELS, NULL);
	p->weights = opencl_buffer(&p->cl, sizeof(weights), weights);
}

static void pocl_fini(struct pocl_side *p)
{
	clReleaseMemObject(p->in);
	clReleaseMemObject(p->out);
	clReleaseMemObject(p->weights);
	opencl_close(&p->cl);
}

static cl_kernel pocl_kernel(struct pocl_side *p, const struct bench *b)
{
	const int w = W, h = H, n = PIXELS;
	unsigned int at = 0;
	cl_kernel kernel = opencl_kernel(&p->cl, b->name);

	if (b->input != NONE)
		clSetKernelArg(kernel, at++, sizeof(cl_mem), &p->in);
	clSetKernelArg(kernel, at++, sizeof(cl_mem), &p->out);
	clSetKernelArg(kernel, at++, sizeof(int), b->values == ELEMENTS ? &n : &w);
	if (b->values == SIZE || b->values == WEIGHTED)
		clSetKernelArg(kernel, at++, sizeof(int), &h);
	if (b->values == WEIGHTED)
		clSetKernelArg(kernel, at++, sizeof(cl_mem), &p->weights);
	return kernel;
}

static void pocl_run(struct pocl_side *p, const struct bench *b, cl_kernel kernel)
{
	const size_t items[2] = { b->items[0], b->items[1] };
	const size_t group[2] = { b->group[0], b->group[1] };
	unsigned int i;

	for (i = 0; i < TURN; i++)
		need(!clEnqueueNDRangeKernel(p->cl.queue, kernel, b->dims, NULL, items, group, 0,
					     NULL, NULL), "clEnqueueNDRangeKernel");
	need(!clFinish(p->cl.queue), "clFinish");
}

/* Prints the first error; a few pixels of mandelbrot differ by the rounding of products. */
static bool check(const struct bench *b, const char *side, const void *in, const void *out,
		  unsigned int times)
{
	unsigned int n = b->bytes / 4, wrong = 0, i;

	for (i = 0; i < n; i++) {
		const double want = b->expect(in, i) * times;
		const double got = b->is_float ? (double)((const float *)out)[i] :
						 (double)((const uint32_t *)out)[i];

		if (b->slack == 64 ? got != want : !(fabs(got - want) <= b->slack)) {
			if (!wrong++ && b->slack != 64)
				fprintf(stderr, "%s by %s: element %u is %g instead of %g\n",
					b->name, side, i, got, want);
		}
	}
	return wrong <= (b->slack == 64 ? n / 500 : 0);
}

/* For one dispatch, in milliseconds */
static double figure(double *values, unsigned int rounds)
{
	return median(values, rounds) / TURN / 1e3;
}

struct figures {
	double salvo_cpu, salvo_wall, pocl_cpu, pocl_wall;
	bool right;
};

static struct figures measure(struct salvo_side *s, struct pocl_side *p, const struct bench *b,
			      unsigned int rounds)
{
	double *values = calloc(4 * rounds, sizeof(*values));
	struct figures f = { .right = true };
	cl_kernel kernel = pocl_kernel(p, b);
	const unsigned int times = b->expect == expect_histogram ? TURN : 1;
	const uint32_t zero = 0;
	uint32_t *out = malloc(4 * PIXELS);
	unsigned int i;

	need(values && out, "malloc");
	make_input(s->in_map, b->input);
	clEnqueueWriteBuffer(p->cl.queue, p->in, CL_TRUE, 0, 4 * PIXELS, s->in_map, 0, NULL, NULL);
	clEnqueueFillBuffer(p->cl.queue, p->out, &zero, 4, 0, 4 * PIXELS, 0, NULL, NULL);
	clFinish(p->cl.queue);
	memset(s->out_map, 0, 4 * PIXELS);
	salvo_fill(s, b);

	/* The first run wakes the threads and builds PoCL's kernel. */
	salvo_run(s);
	f.right &= check(b, "salvo", s->in_map, s->out_map, times);
	pocl_run(p, b, kernel);
	clEnqueueReadBuffer(p->cl.queue, p->out, CL_TRUE, 0, 4 * PIXELS, out, 0, NULL, NULL);
	f.right &= check(b, "pocl", s->in_map, out, times);

	for (i = 0; i < rounds; i++) {
		double cpu = clock_us(CLOCK_PROCESS_CPUTIME_ID), wall = clock_us(CLOCK_MONOTONIC);

		salvo_run(s);
		values[i] = clock_us(CLOCK_PROCESS_CPUTIME_ID) - cpu;
		values[rounds + i] = clock_us(CLOCK_MONOTONIC) - wall;
		/* Units poll for more work for a moment, which must not count for PoCL. */
		usleep(300);
		cpu = clock_us(CLOCK_PROCESS_CPUTIME_ID);
		wall = clock_us(CLOCK_MONOTONIC);
		pocl_run(p, b, kernel);
		values[2 * rounds + i] = clock_us(CLOCK_PROCESS_CPUTIME_ID) - cpu;
		values[3 * rounds + i] = clock_us(CLOCK_MONOTONIC) - wall;
	}
	f.salvo_cpu = figure(values, rounds);
	f.salvo_wall = figure(values + rounds, rounds);
	f.pocl_cpu = figure(values + 2 * rounds, rounds);
	f.pocl_wall = figure(values + 3 * rounds, rounds);
	clReleaseKernel(kernel);
	free(values);
	free(out);
	return f;
}

int main(int argc, char **argv)
{
	char *const built = strdup(cc_build_path("kernels/bench_kernels.salvo"));
	char *const source = strdup(cc_build_path("../tests/bench/bench_kernels.cl"));
	const char *program = built, *text = source;
	unsigned int rounds = 15, files = 0, count = 0, i;
	const char *only = NULL;
	struct salvo_side salvo;
	struct pocl_side pocl;
	bool json = false, right = true;
	double logs = 0;
	int word;

	for (word = 1; word < argc; word++) {
		if (bench_option(argv, &word, &json, &rounds))
			continue;
		if (!strcmp(argv[word], "--only") && word + 1 < argc)
			only = argv[++word];
		else
			*(files++ ? &text : &program) = argv[word];
	}
	rounds = rounds < 1 ? 1 : rounds;

	salvo_init(&salvo, program);
	pocl_init(&pocl, text);
	if (!json)
		printf("ms a dispatch, medians of %-3u    CPU              wall\n"
		       "                         salvo    pocl    salvo    pocl   CPU, pocl/salvo\n",
		       rounds);
	for (i = 0; i < BENCHES; i++) {
		struct figures f;

		if (only && strcmp(only, benches[i].name))
			continue;
		f = measure(&salvo, &pocl, &benches[i], rounds);
		printf(json ? "{\"kernel\":\"%s\",\"salvo_cpu_ms\":%.3f,\"pocl_cpu_ms\":%.3f,"
			      "\"salvo_ms\":%.3f,\"pocl_ms\":%.3f,\"ratio\":%.3f}\n"
			    : "%-20s %9.3f %7.3f %8.3f %7.3f %8.2f\n",
		       benches[i].name, f.salvo_cpu, f.pocl_cpu, f.salvo_wall, f.pocl_wall,
		       f.pocl_cpu / f.salvo_cpu);
		fflush(stdout);
		logs += log(f.pocl_cpu / f.salvo_cpu);
		count++;
		right &= f.right;
	}
	if (count)
		printf(json ? "{\"geometric_mean\":%.3f}\n" : "geometric mean %47.2f\n",
		       exp(logs / count));
	pocl_fini(&pocl);
	salvo_fini(&salvo);
	free(built);
	free(source);
	return right ? 0 : 1;
}
