// SPDX-License-Identifier: MIT
/*
 * enqueue.c - what do commands cost that a program of OpenCL enqueues?
 *
 * Salvo's OpenCL driver beside PoCL, in one process through the ICD loader, taking turns.
 * Microseconds for each kernel from the first call to the end of the last clFinish(), in an
 * in-order queue: N tiny kernels, each on a buffer of its own, with one clFinish(); N on one
 * buffer, which wait for each other; N with clFinish() after each; and a graph of 11 chains of 3
 * kernels. Then a kernel of some 15 us with clFinish(), after the program has computed for a while,
 * of which the time does not count. Figures are medians; the last column is the ratio.
 *
 * usage: enqueue [--json] [--rounds N] [--only salvo|pocl]
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "bench.h"

/* Consecutive runs of one kind before they alternate */
#define TURN	10u
#define CHAINS	11u
#define LENGTH	3u
#define BUFFERS	1000u
/* Of the kernel that a program waits for after a pause */
#define ITEMS	4096u
#define STEPS	200u
#define PAUSED	20u

static const char source[] =
	"kernel void tiny(global uint *out, uint value) { out[get_global_id(0)] += value; }"
	"kernel void longer(global float *out, uint steps)"
	"{"
	"	float x = out[get_global_id(0)];"
	"	for (uint i = 0; i < steps; i++)"
	"		x = x * 0.5f + 1;"
	"	out[get_global_id(0)] = x;"
	"}";

struct side {
	const char *name;
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	cl_kernel kernel, longer;
	cl_mem buffers[BUFFERS], items;
};

/* The loader reads a folder: link the drivers' files into one of our own. */
static void offer_drivers(void)
{
	char folder[] = "/tmp/salvo-bench.XXXXXX", exe[4096], path[4200], link[4200];
	ssize_t length = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	unsigned int up;

	need(length > 0 && mkdtemp(folder), "a folder for drivers");
	exe[length] = 0;
	for (up = 0; up < 3; up++)
		*strrchr(exe, '/') = 0;
	snprintf(path, sizeof(path), "%s/lib/salvo.icd", exe);
	snprintf(link, sizeof(link), "%s/salvo.icd", folder);
	need(!symlink(path, link), "salvo.icd");
	snprintf(link, sizeof(link), "%s/pocl.icd", folder);
	need(!symlink("/etc/OpenCL/vendors/pocl.icd", link), "pocl.icd");
	setenv("OCL_ICD_VENDORS", folder, 1);
}

static void withdraw_drivers(void)
{
	const char *folder = getenv("OCL_ICD_VENDORS");
	char link[4200];

	snprintf(link, sizeof(link), "%s/salvo.icd", folder);
	unlink(link);
	snprintf(link, sizeof(link), "%s/pocl.icd", folder);
	unlink(link);
	rmdir(folder);
}

static void side_open(struct side *side, const char *platform_name)
{
	cl_platform_id platforms[8];
	const char *text = source;
	cl_device_id device;
	cl_uint count, i;
	char name[128];
	cl_int err;

	need(!clGetPlatformIDs(8, platforms, &count), "clGetPlatformIDs");
	for (i = 0; i < count; i++) {
		clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof(name), name, NULL);
		if (strstr(name, platform_name))
			break;
	}
	need(i < count, platform_name);
	need(!clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
	side->name = platform_name;
	side->context = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
	need(!err, "clCreateContext");
	side->queue = clCreateCommandQueue(side->context, device, 0, &err);
	need(!err, "clCreateCommandQueue");
	side->program = clCreateProgramWithSource(side->context, 1, &text, NULL, &err);
	need(!err && !clBuildProgram(side->program, 1, &device, "", NULL, NULL), "clBuildProgram");
	side->kernel = clCreateKernel(side->program, "tiny", &err);
	need(!err, "clCreateKernel");
	side->longer = clCreateKernel(side->program, "longer", &err);
	need(!err, "clCreateKernel");
	side->items = clCreateBuffer(side->context, 0, ITEMS * sizeof(float), NULL, &err);
	need(!err, "clCreateBuffer");
	for (i = 0; i < BUFFERS; i++) {
		side->buffers[i] = clCreateBuffer(side->context, 0, 64, NULL, &err);
		need(!err, "clCreateBuffer");
	}
}

static void side_close(struct side *side)
{
	unsigned int i;

	for (i = 0; i < BUFFERS; i++)
		clReleaseMemObject(side->buffers[i]);
	clReleaseMemObject(side->items);
	clReleaseKernel(side->longer);
	clReleaseKernel(side->kernel);
	clReleaseProgram(side->program);
	clReleaseCommandQueue(side->queue);
	clReleaseContext(side->context);
}

static void enqueue(struct side *side, cl_mem buffer, cl_uint value)
{
	const size_t one = 1;

	clSetKernelArg(side->kernel, 0, sizeof(buffer), &buffer);
	clSetKernelArg(side->kernel, 1, sizeof(value), &value);
	need(!clEnqueueNDRangeKernel(side->queue, side->kernel, 1, NULL, &one, &one, 0, NULL, NULL),
	     "clEnqueueNDRangeKernel");
}

static void reset(struct side *side, unsigned int count)
{
	const cl_uint zero = 0;
	unsigned int i;

	for (i = 0; i < count; i++)
		clEnqueueWriteBuffer(side->queue, side->buffers[i], CL_TRUE, 0, sizeof(zero), &zero,
				     0, NULL, NULL);
}

static void verify(struct side *side, unsigned int chain, cl_uint want)
{
	cl_uint got;

	need(!clEnqueueReadBuffer(side->queue, side->buffers[chain], CL_TRUE, 0, sizeof(got), &got,
				  0, NULL, NULL) &&
		     got == want,
	     "the result of the kernels");
}

/* Computes for @pause_us and waits for a kernel, PAUSED times. Returns what a kernel takes. */
static double run_paused(struct side *side, unsigned int pause_us)
{
	const size_t items = ITEMS, group = 64;
	const cl_uint steps = STEPS;
	const float zeros[ITEMS] = { 0 };
	double start, all = 0;
	unsigned int i;
	float got;

	clSetKernelArg(side->longer, 0, sizeof(side->items), &side->items);
	clSetKernelArg(side->longer, 1, sizeof(steps), &steps);
	clEnqueueWriteBuffer(side->queue, side->items, CL_TRUE, 0, sizeof(zeros), zeros, 0, NULL,
			     NULL);
	for (i = 0; i < PAUSED; i++) {
		for (start = clock_us(CLOCK_MONOTONIC);
		     clock_us(CLOCK_MONOTONIC) - start < pause_us;)
			;
		start = clock_us(CLOCK_MONOTONIC);
		need(!clEnqueueNDRangeKernel(side->queue, side->longer, 1, NULL, &items, &group, 0,
					     NULL, NULL), "clEnqueueNDRangeKernel");
		clFinish(side->queue);
		all += clock_us(CLOCK_MONOTONIC) - start;
	}
	need(!clEnqueueReadBuffer(side->queue, side->items, CL_TRUE, 0, sizeof(got), &got, 0, NULL,
				  NULL) && got == 2, "the result of the kernels");
	return all / PAUSED;
}

enum kind { OWN_BUFFER, ONE_BUFFER, FINISH_EACH, GRAPH, PAUSE };

/* @n: how many kernels, or the microseconds of a pause */
static double run(struct side *side, enum kind kind, unsigned int n)
{
	unsigned int i, c;
	double start;

	if (kind == PAUSE)
		return run_paused(side, n);
	reset(side, kind == GRAPH ? CHAINS : kind == OWN_BUFFER ? n : 1);
	start = clock_us(CLOCK_MONOTONIC);
	if (kind == GRAPH) {
		for (i = 0; i < LENGTH; i++)
			for (c = 0; c < CHAINS; c++)
				enqueue(side, side->buffers[c], c + 1);
	} else {
		for (i = 0; i < n; i++) {
			enqueue(side, side->buffers[kind == OWN_BUFFER ? i : 0], 1);
			if (kind == FINISH_EACH)
				clFinish(side->queue);
		}
	}
	clFinish(side->queue);
	start = clock_us(CLOCK_MONOTONIC) - start;
	if (kind == GRAPH)
		for (c = 0; c < CHAINS; c++)
			verify(side, c, LENGTH * (c + 1));
	else if (kind == OWN_BUFFER)
		for (i = 0; i < n; i++)
			verify(side, i, 1);
	else
		verify(side, 0, n);
	return start / n;
}

/* The median of each side, which take turns. */
static void measure(struct side *sides, unsigned int count, enum kind kind, unsigned int n,
		    unsigned int rounds, double *result)
{
	double *times[2] = { NULL, NULL };
	unsigned int i, s;

	for (s = 0; s < count; s++) {
		times[s] = calloc(rounds, sizeof(double));
		need(times[s], "memory");
	}
	for (i = 0; i < rounds; i += TURN)
		for (s = 0; s < count; s++) {
			unsigned int j;

			for (j = i; j < i + TURN && j < rounds; j++)
				times[s][j] = run(&sides[s], kind, n);
		}
	for (s = 0; s < count; s++) {
		result[s] = median(times[s], rounds);
		free(times[s]);
	}
}

static void show(bool json, bool last, const char *what, unsigned int n, const double *median,
		 unsigned int count)
{
	if (json)
		printf("  { \"run\": \"%s\", \"n\": %u, \"us\": [ %.3f, %.3f ] }%s\n", what, n,
		       median[0], count > 1 ? median[1] : 0, last ? "" : ",");
	else if (count > 1)
		printf("%-20s %6u %10.3f %10.3f %8.2f\n", what, n, median[0], median[1],
		       median[0] / median[1]);
	else
		printf("%-20s %6u %10.3f\n", what, n, median[0]);
}

int main(int argc, char **argv)
{
	static const unsigned int counts[] = { 1, 8, 33, 100, 1000 };
	static const unsigned int pauses[] = { 30, 100, 300, 1000 };
	unsigned int rounds = 200, sides = 2, n;
	const char *only = NULL;
	struct side side[2];
	double us[2];
	bool json = false;
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--only") && argv[i + 1]) {
			only = argv[++i];
		} else if (!bench_option(argv, &i, &json, &rounds)) {
			fprintf(stderr,
				"usage: enqueue [--json] [--rounds N] [--only salvo|pocl]\n");
			return 2;
		}
	}
	offer_drivers();
	sides = only ? 1 : 2;
	side_open(&side[0], only && !strcmp(only, "pocl") ? "Portable" : "Salvo");
	if (!only)
		side_open(&side[1], "Portable");
	if (json)
		printf("[\n");
	else
		printf("%-20s %6s %10s %10s %8s\n", "us a kernel", "N", side[0].name,
		       only ? "" : side[1].name, only ? "" : "ratio");
	for (n = 0; n < sizeof(counts) / sizeof(counts[0]); n++) {
		measure(side, sides, OWN_BUFFER, counts[n], rounds, us);
		show(json, false, "one clFinish", counts[n], us, sides);
	}
	for (n = 0; n < sizeof(counts) / sizeof(counts[0]); n++) {
		measure(side, sides, ONE_BUFFER, counts[n], rounds, us);
		show(json, false, "one buffer", counts[n], us, sides);
	}
	for (n = 0; n < sizeof(counts) / sizeof(counts[0]); n++) {
		measure(side, sides, FINISH_EACH, counts[n], rounds / (counts[n] / 100 + 1), us);
		show(json, false, "clFinish after each", counts[n], us, sides);
	}
	measure(side, sides, GRAPH, CHAINS * LENGTH, rounds, us);
	show(json, false, "11 chains of 3", CHAINS * LENGTH, us, sides);
	for (n = 0; n < sizeof(pauses) / sizeof(pauses[0]); n++) {
		measure(side, sides, PAUSE, pauses[n], rounds / 10 + 1, us);
		show(json, n == sizeof(pauses) / sizeof(pauses[0]) - 1, "after a pause of us",
		     pauses[n], us, sides);
	}
	if (json)
		printf("]\n");
	for (n = 0; n < sides; n++)
		side_close(&side[n]);
	withdraw_drivers();
	return 0;
}
